"""The only way from sources of samples to a result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._validation import (
    check_choice,
    check_count,
    check_same_columns,
    check_seed,
    check_share,
    check_type,
)
from tradeoff.data import Sample, open_source
from tradeoff.engine import Embedded, embed_source
from tradeoff.evaluation.findings import findings_of, warnings_of
from tradeoff.evaluation.keys import resolve_keys
from tradeoff.evaluation.measure import Measured, measure
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import FeatureStore, TableEncoder, open_embedder
from tradeoff.protocols import PROTOCOLS
from tradeoff.provenance import software_versions
from tradeoff.ratio.crossfit import Split, check_estimator
from tradeoff.settings import Options, Settings

if TYPE_CHECKING:
    from tradeoff.data.base import Source
    from tradeoff.features import Embedder

__all__ = ["Pipeline", "evaluate"]

_LOWEST_LEVEL = 0.5


def evaluate(
    *,
    real: Any,
    generated: Any,
    settings: Settings | None = None,
    progress: bool = True,
    **options: Unpack[Options],
) -> Evaluation:
    """Measure a model: from two sources of samples to a result that says what it means.

    Args:
        real: samples of real data: a path (a folder of images, an archive, ``.npz``, Parquet,
            texts, a table), an array of features or pixels, a dataset, or an iterable.
        generated: samples of the model, of the same kind.
        settings: of reading, embedding and measuring; see :class:`~tradeoff.settings.Settings`.
        progress: False silences progress lines.
        options: single settings by name, which override those.

    Example:
        A model that invents a third of its samples:

        >>> import numpy as np
        >>> from tradeoff import evaluate
        >>> rng = np.random.default_rng(0)
        >>> real = rng.normal(0, 1, (1500, 2))
        >>> generated = np.concatenate((rng.normal(0, 1, (1000, 2)), rng.normal(9, 1, (500, 2))))
        >>> result = evaluate(
        ...     real=real, generated=generated, estimator="trees", diagnose=False, progress=False
        ... )
        >>> print(result.findings[0].sentence[:37])
        At least 31% [25%, 35%] of generated
    """
    if isinstance(generated, Mapping):
        raise InvalidInputError("`generated` must be one model: `compare` takes several by name.")
    pipeline = Pipeline(settings, options, progress=progress)
    pipeline.take_real(real)
    return pipeline.evaluate(generated, "generated")[0]


class Pipeline:
    """Real samples are embedded once, and any number of models is measured against them."""

    def __init__(
        self, settings: Settings | None, options: Options, *, progress: bool = True
    ) -> None:
        changed = Settings.of({**options})
        base = Settings() if settings is None else settings
        self.settings = _checked(
            replace(base, **{name: getattr(changed, name) for name in options})
        )
        self.progress = progress
        self.keys = resolve_keys(self.settings.metrics)
        families = {key.partition(".")[0] for key in self.keys}
        if self.settings.protocol is None and families & {"knn", "clipped", "cover"}:
            import_extra("torch", extra="torch", purpose="The family knn of metrics")

    def take_real(self, real: Any) -> None:
        """Open and embed the real samples, and choose the encoder by their kind."""
        source = self._open(real, "real")
        self.kind = source.kind
        self.embedder = self._embedder(source)
        self.real = self.embed(source, "real")

    def evaluate(self, generated: Any, name: str) -> tuple[Evaluation, Measured]:
        """A model against the real samples."""
        made, real = self.embed_like_real(generated, name), self.real
        measured = measure(
            real.features, made.features, self.keys, self.settings, progress=self.progress
        )
        return self._evaluation(made, measured), measured

    def embed_like_real(self, samples: Any, name: str) -> Embedded:
        """Features of samples that must be of the same kind as the real ones."""
        source = self._open(samples, name)
        if source.kind != self.kind:
            raise InvalidInputError(
                f"`{name}` must hold {self.kind} samples, like the real ones. Got {source.kind}."
            )
        made = self.embed(source, name)
        columns = {"real": self.real.features.shape[1], name: made.features.shape[1]}
        check_same_columns(**columns)
        return made

    def embed(self, source: Source, name: str) -> Embedded:
        """Features of a source."""
        settings = self.settings
        return embed_source(
            source,
            self.embedder,
            name=name,
            store=None if settings.store is None else FeatureStore(settings.store),
            limit=settings.limit,
            broken=settings.broken,
            seed=settings.seed,
            progress=self.progress,
        )

    def _open(self, value: Any, name: str) -> Source:
        settings = self.settings
        return open_source(
            value, name=name, kind=settings.kind, column=settings.column, label=settings.label
        )

    def _embedder(self, real: Source) -> Embedder:
        settings = self.settings
        if real.kind == "table" and settings.features in (None, "table"):
            rows = (item.content for item in real if isinstance(item, Sample))
            return TableEncoder.fit(row for row in rows if isinstance(row, Mapping))
        published = PROTOCOLS[settings.protocol].features if settings.protocol else "any"
        if real.kind == "image" and settings.features is None and published != "any":
            raise InvalidInputError(
                f"`features` must be given for {settings.protocol}, whose published numbers are "
                f"those of {published}: pass the path of that file with trusted=True (--trusted), "
                "or another encoder."
            )
        return open_embedder(
            settings.features,
            kind=real.kind,
            size=settings.size,
            trusted=settings.trusted,
            device=settings.device,
            dtype=settings.dtype,
        )

    def _evaluation(self, made: Embedded, measured: Measured) -> Evaluation:
        real, settings = self.real, self.settings
        sizes: dict[str, Any] = {
            "real_samples": len(real.ids),
            "generated_samples": len(made.ids),
        }
        warnings = warnings_of(
            measured.scores,
            settings,
            columns=real.features.shape[1],
            few_values=measured.has_few_values,
            **sizes,
        )
        diagnosis = measured.diagnosis
        if "nearest_real" in measured.generated:
            ids = np.array(real.ids, dtype=object)
            measured.generated["nearest_real"] = ids[measured.generated["nearest_real"]]
        return Evaluation(
            scores=measured.scores,
            findings=findings_of(measured.scores),
            warnings=warnings + self._protocol_warnings(),
            tightness=None if diagnosis is None else diagnosis.verdict,
            curve=measured.curve,
            ceiling=None if diagnosis is None else diagnosis.ceiling.curve,
            certificate=measured.certificate,
            broken={"real": real.broken, "generated": made.broken},
            samples={
                "real": SampleValues(real.ids, real.labels, measured.real),
                "generated": SampleValues(made.ids, made.labels, measured.generated),
            },
            settings=settings,
            provenance={
                "measured": list(measured.scores),
                **{key: real.provenance[key] for key in ("features", "preprocessing", "weights")},
                "columns": real.features.shape[1],
                **sizes,
                "broken": {"real": len(real.broken), "generated": len(made.broken)},
                "estimator": str(settings.estimator),
                "protocol": settings.protocol,
                "seed": settings.seed,
                **measured.provenance,
                "versions": software_versions(),
            },
        )

    def _protocol_warnings(self) -> tuple[str, ...]:
        protocol = self.settings.protocol
        if protocol is None:
            return ()
        published, found = PROTOCOLS[protocol], []
        if published.features not in ("any", self.embedder.name):
            found.append(
                f"Published numbers of {protocol} are those of {published.features}; these "
                f"features are {self.embedder.name}: the numbers cannot be compared."
            )
        if published.samples is not None:
            found.append(f"Published numbers of {protocol} took {published.samples}.")
        return tuple(found)


def _checked(settings: Settings) -> Settings:
    """Mistakes come to light before anything is read."""
    if settings.protocol is not None:
        check_choice("protocol", settings.protocol, PROTOCOLS)
    check_choice("broken", settings.broken, ("skip", "stop"))
    check_type("trusted", settings.trusted, bool)
    resolve_keys(settings.metrics)
    level = check_share("level", settings.level)
    if level < _LOWEST_LEVEL:
        raise InvalidInputError(f"`level` must be at least {_LOWEST_LEVEL}. Got {settings.level}.")
    return replace(
        settings,
        level=level,
        folds=Split.of(settings.folds, check_estimator(settings.estimator)).folds,
        k=check_count("k", settings.k),
        seed=check_seed(settings.seed),
        limit=None if settings.limit is None else check_count("limit", settings.limit),
        store=None if settings.store is None else str(settings.store),
    )
