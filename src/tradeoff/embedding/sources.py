"""Sources of samples, and the encoder that settings ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, get_args

from tradeoff._files import check_local
from tradeoff._validation import check_choice, check_count, check_type
from tradeoff.data import Sample, open_source
from tradeoff.data.base import Kind, MissingColumnError
from tradeoff.data.parts import open_part
from tradeoff.embedding.embed import embed_source
from tradeoff.embedding.schema import Schema, TypedRows, check_no_dates
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import open_encoder
from tradeoff.features.default import available_default
from tradeoff.features.network import Dtype
from tradeoff.features.runtime import RUNTIMES
from tradeoff.features.store import FeatureStore
from tradeoff.features.table import TableEncoder
from tradeoff.features.views import with_low_level
from tradeoff.samples import Side

if TYPE_CHECKING:
    from tradeoff.data.base import Source
    from tradeoff.data.parts import Part
    from tradeoff.embedding.embed import Embedded
    from tradeoff.features import Encoder
    from tradeoff.settings import EmbedSettings

__all__ = [
    "IDENTITY",
    "check_embedding",
    "embed_with",
    "encoder_for",
    "encoder_of",
    "identity_of",
    "open_as_set",
    "open_generated",
    "open_part_as_set",
    "open_samples",
    "schema_warnings",
    "side_of",
]

IDENTITY = {"encoder": "name", "preprocessing": "preprocessing", "weights": "weights"}
"""What tells encoders apart, and the attributes that hold it."""


def check_embedding(settings: EmbedSettings) -> None:
    """Settings of reading and embedding must have the right types before anything is read."""
    for name in ("trusted", "low_level"):
        check_type(name, getattr(settings, name), bool)
    check_type("device", settings.device, str)
    check_choice("dtype", settings.dtype, get_args(Dtype))
    check_choice("runtime", settings.runtime, RUNTIMES)
    check_choice("broken", settings.broken, ("skip", "stop"))
    if settings.store is not None:
        check_local("store", settings.store)
    if settings.kind is not None:
        check_choice("kind", settings.kind, get_args(Kind))
    for name in ("column", "label"):
        if getattr(settings, name) is not None:
            check_type(name, getattr(settings, name), str)
    for name in ("size", "limit", "batch_size"):
        if getattr(settings, name) is not None:
            check_count(name, getattr(settings, name))
    _check_schema(settings)


def _check_schema(settings: EmbedSettings) -> None:
    """A schema must be readable, and describe what is read."""
    if settings.schema is None:
        return
    if not isinstance(settings.schema, (str, Mapping)):
        raise InvalidInputError(
            "`schema` must be the path of a metadata.json, or what is in it. Got a "
            f"{type(settings.schema).__name__}: pass metadata.to_dict()."
        )
    if settings.kind not in (None, "table"):
        raise InvalidInputError(
            f"`schema` describes the columns of a table, and `kind` is {settings.kind}: leave one "
            "of them out."
        )
    if settings.column is not None:
        raise InvalidInputError(
            "`schema` describes all columns of a table, and `column` reads one of them: leave one "
            "of them out."
        )
    Schema.of(settings.schema)


def identity_of(embedder: Encoder) -> dict[str, str]:
    """Name, preprocessing and weights of an encoder."""
    return {key: str(getattr(embedder, name)) for key, name in IDENTITY.items()}


def open_samples(value: Any, name: str, settings: EmbedSettings) -> Source:
    """A source of samples, of which there is at least one."""
    source = open_as_set(value, name, settings)
    if not isinstance(value, Iterator):  # which can be read only once
        next(iter(source), None)  # an empty source says so
        if isinstance(source, TypedRows):
            source.check()
    return source


def open_as_set(value: Any, name: str, settings: EmbedSettings) -> Source:
    """A source, read as settings say; of a table with a schema, rows of the kinds that it names."""
    return _typed(open_source(value, name=name, **_fields(settings)), name, settings)


def open_part_as_set(part: Part, settings: EmbedSettings) -> Source:
    """The same for a part of a source."""
    return _typed(open_part(part, **_fields(settings)), str(part), settings)


def _fields(settings: EmbedSettings) -> dict[str, Any]:
    kind: Kind | None = settings.kind if settings.schema is None else "table"
    return {"kind": kind, "column": settings.column, "label": settings.label}


def _typed(source: Source, name: str, settings: EmbedSettings) -> Source:
    if settings.schema is None:
        return source
    return TypedRows(source, Schema.of(settings.schema), name, settings.label)


def schema_warnings(settings: EmbedSettings) -> tuple[str, ...]:
    """Columns that a schema leaves out besides identifiers."""
    left_out = {} if settings.schema is None else Schema.of(settings.schema).left_out
    names = [f"`{name}`" for name, kind in left_out.items() if kind != "id"]
    if not names:
        return ()
    return (
        "Columns that are left out, because the schema calls them personal data: "
        f"{', '.join(names)}.",
    )


def open_generated(value: Any, name: str, settings: EmbedSettings) -> Source:
    """The same for samples of a model, which need not have the labels of the real ones."""
    try:
        return open_samples(value, name, settings)
    except MissingColumnError as error:
        if error.column != settings.label:
            raise
        return open_samples(value, name, _without_label(settings))


def _without_label(settings: EmbedSettings) -> EmbedSettings:
    if settings.schema is None:
        return replace(settings, label=None)
    schema = Schema.of(settings.schema).to_dict()
    schema["columns"].pop(settings.label, None)
    return replace(settings, label=None, schema=schema)


def side_of(found: Embedded, name: str) -> Side:
    """Embedded samples as a side."""
    return Side(
        name=name, features=found.features, ids=found.ids, labels=found.labels, views=found.views
    )


def embed_with(
    embedder: Encoder, source: Source, name: str, settings: EmbedSettings, *, progress: bool
) -> Embedded:
    """Features of a source by an encoder."""
    return embed_source(
        source,
        embedder,
        name=name,
        store=None if settings.store is None else FeatureStore(settings.store),
        limit=settings.limit,
        broken=settings.broken,
        seed=settings.seed,
        progress=progress,
    )


def encoder_for(real: Source, settings: EmbedSettings, *more: Source) -> Encoder:
    """The encoder that settings ask for; that of a table is fitted on the real samples.

    Args:
        real: Real samples.
        settings: Settings of the run.
        more: Further real samples, which a table must not tell from the others.
    """
    if real.kind == "table" and settings.encoder in (None, "table"):
        rows = (item.content for item in chain(real, *more) if isinstance(item, Sample))
        return TableEncoder.fit(_without_dates(row) for row in rows if isinstance(row, Mapping))
    return encoder_of(real.kind, settings)


def _without_dates(row: Mapping[str, object]) -> Mapping[str, object]:
    check_no_dates(row)
    return row


def encoder_of(kind: Kind, settings: EmbedSettings) -> Encoder:
    """The encoder of a kind of samples that settings ask for, or the default that can be had.

    Next to a single one is that of low-level views, unless settings leave it out.
    """
    found = open_encoder(
        available_default(kind) if settings.encoder is None else settings.encoder,
        kind=kind,
        size=settings.size,
        trusted=settings.trusted,
        device=settings.device,
        dtype=settings.dtype,
        runtime=settings.runtime,
        batch_size=settings.batch_size,
    )
    return with_low_level(found) if settings.low_level else found
