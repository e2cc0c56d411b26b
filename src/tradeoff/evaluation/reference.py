"""Real data embedded once: made, saved, loaded, and shared between runs and models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tradeoff._result import Result
from tradeoff.data.base import Broken, Kind
from tradeoff.embedding.schema import Schema
from tradeoff.embedding.sources import (
    IDENTITY,
    check_embedding,
    embed_with,
    encoder_for,
    encoder_of,
    identity_of,
    open_samples,
    side_of,
)
from tradeoff.evaluation.reference_files import read_reference, write_reference
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import Encoder
from tradeoff.features.default import default_warnings
from tradeoff.features.runtime import runtime_of
from tradeoff.features.table import TableEncoder
from tradeoff.features.views import first_name, parts_of, without_low_level
from tradeoff.metrics.neighbors.baselines import neighbors_of
from tradeoff.samples import Side
from tradeoff.settings import EmbedKeywords, EmbedSettings, Settings, with_keywords

if TYPE_CHECKING:
    from tradeoff.data.base import Source

__all__ = ["Reference", "embed_settings"]

_OF_THE_ENCODER = ("encoder", "size", "dtype", "runtime", "batch_size")
_OWN = ("seed", "trusted")  # settings that a reference does not decide


@dataclass(frozen=True, eq=False, kw_only=True)
class Reference(Result):
    """Real samples with their features, against which any number of models is measured.

    Pass it as ``real=`` to `evaluate` or `compare`. What depends on the real samples alone, such as
    their nearest neighbors, is computed once and saved with it. It holds all features,
    which can be large, so `save` writes a folder of files and `to_json` is refused.

    Args:
        side: The samples.
        kind: What they are: image, text, table or features.
        encoder: Name, preprocessing and weights of the encoder.
        settings: Settings with which they were read and embedded.
        broken: Items that could not be read.
        table: Encoding of a table, which is fitted on the real side; None for other kinds.
        embedder: The encoder itself; opened by its name if not given.
        reused: Number of samples whose features were in the store.

    Example:
        >>> import numpy as np
        >>> from tradeoff import evaluate
        >>> from tradeoff.evaluation import Reference
        >>> rng = np.random.default_rng(0)
        >>> reference = Reference.make(rng.normal(size=(500, 2)))
        >>> near, far = (
        ...     evaluate(real=reference, generated=rng.normal(shift, 1, (500, 2)),
        ...              metrics="knn.precision")["knn.precision"].value
        ...     for shift in (0.0, 3.0)
        ... )
        >>> near > 0.9 > 0.5 > far
        True
    """

    side: Side
    kind: Kind
    encoder: Mapping[str, str]
    settings: EmbedSettings
    broken: tuple[Broken, ...] = ()
    table: TableEncoder | None = None
    embedder: Encoder | None = field(default=None, repr=False)
    reused: int = 0

    @classmethod
    @with_keywords(EmbedSettings)
    def make(
        cls, real: Any, *, progress: bool = True, **settings: Unpack[EmbedKeywords]
    ) -> Reference:
        """Read and embed real samples; samples of models are read and embedded in the same way.

        Args:
            real: Samples as `evaluate` accepts them.
            progress: Whether to show a progress line.
            **settings: Settings of reading and embedding.
        """
        found = embed_settings(settings)
        return cls.embed(open_samples(real, "real", found), found, progress=progress)

    @classmethod
    def embed(
        cls,
        source: Source,
        settings: EmbedSettings,
        opened: Encoder | None = None,
        *,
        progress: bool,
    ) -> Reference:
        """Embed a source that has been opened and checked, with the encoder of the settings."""
        embedder = encoder_for(source, settings) if opened is None else opened
        found = embed_with(embedder, source, "real", settings, progress=progress)
        return cls(
            side=side_of(found, "real"),
            kind=source.kind,
            encoder=identity_of(embedder),
            settings=_without_places(settings),
            broken=found.broken,
            table=embedder if isinstance(embedder, TableEncoder) else None,
            embedder=embedder,
            reused=found.reused,
        )

    def completed(self, settings: Settings) -> Settings:
        """Settings whose way of reading and embedding is that of the reference where they say none.

        What settings say themselves, such as another device or another column of the generated
        samples, comes first.
        """
        plain = EmbedSettings()
        if settings.schema is not None and not _is_same_schema(settings, self.settings):
            raise InvalidInputError(
                "`schema` must be that of the reference: leave it out, or create the reference "
                "again."
            )
        taken = {
            f.name: getattr(self.settings, f.name)
            for f in fields(EmbedSettings)
            if f.name not in _OWN and getattr(settings, f.name) == getattr(plain, f.name)
        }
        if "encoder" in taken and not _is_named(taken["encoder"]):
            taken["encoder"] = None  # an object, which the reference holds
        return replace(settings, **taken)

    def adapted(self, settings: EmbedSettings) -> Reference:
        """The reference with the encoder that settings ask for, which must be its own."""
        plain = EmbedSettings()
        asked = [n for n in _OF_THE_ENCODER if getattr(settings, n) != getattr(plain, n)]
        if not asked and self.embedder is not None:
            return self
        own = {name: getattr(self.settings, name) for name in _OF_THE_ENCODER}
        if own["encoder"] is None and self.table is None:  # whatever was the default then
            own["encoder"] = first_name(self.encoder["encoder"])
        if _is_named(settings.encoder if "encoder" in asked else own["encoder"]):
            own["runtime"] = runtime_of(self.encoder["preprocessing"])
        wanted = replace(
            settings,
            low_level=self.settings.low_level,
            **{n: own[n] for n in _OF_THE_ENCODER if n not in asked},
        )
        if self.table is not None and wanted.encoder in (None, "table"):
            return replace(self, embedder=self.table)
        embedder = encoder_of(self.kind, wanted)
        if _is_unversioned(embedder) and not _is_same_function(embedder, self.embedder):
            raise InvalidInputError(
                "The encoder must be the very function that made the reference: a function has no "
                'weights to compare. Wrap it as Function(..., version="1").'
            )
        for name, attribute in IDENTITY.items():
            found = getattr(embedder, attribute)
            if found != self.encoder[name]:
                raise InvalidInputError(
                    f"The {attribute} of the encoder must be that of the reference, "
                    f"{self.encoder[name]!r}. Got {found!r}: choose the same encoder, or "
                    "create the reference again."
                )
        return replace(self, embedder=embedder)

    def closed(self) -> Reference:
        """The reference without its encoder, if that can be opened again by its name elsewhere."""
        named = self.settings.encoder is None or _is_named(self.settings.encoder)
        is_unversioned = self.embedder is not None and _is_unversioned(self.embedder)
        return replace(self, embedder=None) if named and not is_unversioned else self

    def without_low_level(self) -> Reference:
        """The reference as the encoder of content alone sees it, if another was added to that."""
        alone = without_low_level(self.opened)
        if alone is self.opened:
            return self
        return replace(
            self,
            side=self.side.first,
            encoder=identity_of(alone),
            settings=replace(self.settings, low_level=False),
            embedder=alone,
        )

    @cached_property
    def opened(self) -> Encoder:
        """The encoder, ready to embed other samples."""
        found = self if self.embedder is not None else self.adapted(self.settings)
        assert found.embedder is not None
        return found.embedder

    @property
    def warnings(self) -> tuple[str, ...]:
        """What every result of this reference should say: that it was not made by the default."""
        return default_warnings(self.settings.encoder, self.encoder["encoder"])

    def prepare(self, k: int = 5, *, progress: bool = True) -> None:
        """Find the neighbors of all samples now, so that they are saved with the reference.

        Args:
            k: Rank k of the neighbor that a neighborhood reaches, as in `evaluate`.
            progress: False silences the progress line.
        """
        neighbors_of(self.side.first, min(k + 1, len(self.side) - 1), progress=progress)

    def save(self, folder: str | Path, *, overwrite: bool = False) -> None:
        """Write the reference into a folder, with a checksum of each file.

        Args:
            folder: Folder of the files, created if needed.
            overwrite: Whether an earlier reference in it is replaced.
        """
        if self.embedder is not None and _is_unversioned(self.embedder):
            raise InvalidInputError(
                "The encoder of a saved reference must be recognized later: wrap the function as "
                'Function(..., version="1").'
            )
        write_reference(
            folder,
            self.side,
            {
                "kind": self.kind,
                "encoder": dict(self.encoder),
                "settings": self._plain_settings(),
                "broken": [[item.id, item.reason] for item in self.broken],
                "table": None if self.table is None else asdict(self.table),
            },
            overwrite=overwrite,
        )

    def _plain_settings(self) -> dict[str, Any]:
        values = {f.name: getattr(self.settings, f.name) for f in fields(self.settings)}
        if values["encoder"] is not None and not _is_named(values["encoder"]):
            values["encoder"] = first_name(self.encoder["encoder"])
        return Settings(**values | {"store": None}).to_dict()  # a place of this machine

    @classmethod
    def load(cls, folder: str | Path) -> Reference:
        """Read what `save` wrote; damaged files are refused by name."""
        side, about = read_reference(folder)
        return cls(
            side=side,
            kind=about["kind"],
            encoder=about["encoder"],
            # Whoever made the reference grants no trust, and chooses no place to write to.
            settings=replace(EmbedSettings(**about["settings"]), trusted=False, store=None),
            broken=tuple(about["broken"]),
            table=_table_from(about["table"]),
        )


def _table_from(fields: Mapping[str, Any] | None) -> TableEncoder | None:
    if fields is None:
        return None
    return TableEncoder(
        numbers=tuple((name, mean, deviation) for name, mean, deviation in fields["numbers"]),
        categories=tuple((name, tuple(values)) for name, values in fields["categories"]),
        optional=tuple(fields["optional"]),
    )


def _without_places(settings: EmbedSettings) -> EmbedSettings:
    """Settings with the content of the schema in place of the path of its file."""
    if settings.schema is None:
        return settings
    return replace(settings, schema=Schema.of(settings.schema).to_dict())


def _is_same_schema(settings: EmbedSettings, other: EmbedSettings) -> bool:
    schemas = [None if one.schema is None else Schema.of(one.schema) for one in (settings, other)]
    return schemas[0] == schemas[1]


def _is_named(encoder: Any) -> bool:
    """Whether an encoder, or each of several, is given by a name or a path."""
    several = encoder.values() if isinstance(encoder, Mapping) else encoder
    if isinstance(several, (str, Path)):
        return True
    return isinstance(several, Iterable) and all(isinstance(one, (str, Path)) for one in several)


def _is_unversioned(embedder: Encoder) -> bool:
    return any(getattr(one, "version", "") is None for _, one in parts_of(embedder))


def _is_same_function(embedder: Encoder, other: Encoder | None) -> bool:
    ours, theirs = (
        [getattr(one, "function", None) for _, one in parts_of(encoder)] if encoder else []
        for encoder in (embedder, other)
    )
    return len(ours) == len(theirs) and all(a is b for a, b in zip(ours, theirs, strict=True))


def embed_settings(values: Mapping[str, Any]) -> EmbedSettings:
    """Checked settings of reading and embedding, of which each must be known."""
    found = Settings.of(values)
    check_embedding(found)
    return EmbedSettings(**{one.name: getattr(found, one.name) for one in fields(EmbedSettings)})
