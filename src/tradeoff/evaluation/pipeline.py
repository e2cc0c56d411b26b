"""The only way from sources of samples to a result.

Sources are opened and checked, samples become features, two sides become a pair, and families of
metrics measure it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tradeoff._sides import Sides, by_name
from tradeoff._validation import (
    check_choice,
    check_count,
    check_same_columns,
    check_seed,
    check_share,
    check_type,
)
from tradeoff.curves.estimate import CurveEstimate
from tradeoff.curves.folds import Split
from tradeoff.engine.tasks import open_engine
from tradeoff.evaluation.counting import Counted, count_pair
from tradeoff.evaluation.findings import (
    findings_of,
    near_copy_warnings,
    protocol_warnings,
    warnings_of,
)
from tradeoff.evaluation.reference import (
    Reference,
    check_embedding,
    embed_with,
    open_generated,
    open_samples,
    side_of,
)
from tradeoff.evaluation.reference_files import is_reference
from tradeoff.evaluation.result import Evaluation, SampleValues
from tradeoff.evaluation.sharded import evaluate_shards
from tradeoff.evaluation.verdict import verdict_of
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain.explain import explain_pair
from tradeoff.metrics.family import Measured, Request, check_families, measure
from tradeoff.metrics.registry import check_counted, resolve_keys
from tradeoff.metrics.score import Score
from tradeoff.protocols import PROTOCOLS, reproduce
from tradeoff.provenance import software_versions
from tradeoff.ratio.registry import find_estimator
from tradeoff.ratio.stack import combines
from tradeoff.samples import Pair
from tradeoff.settings import Settings, as_names

if TYPE_CHECKING:
    from tradeoff.core.curve import PRCurve
    from tradeoff.data.base import Source
    from tradeoff.engine import Embedded
    from tradeoff.explain import Explanation

__all__ = ["Opened", "checked", "evaluate", "evaluate_sources", "open_both", "open_real"]

_LOWEST_LEVEL = 0.5


@by_name
def evaluate(
    *,
    real: Any,
    generated: Any,
    metrics: str | Sequence[str] | None = None,
    encoder: Any = None,
    estimator: Any = "stack",
    rule: Literal["cross-fitted", "frozen"] = "cross-fitted",
    protocol: str | None = None,
    k: int = 5,
    folds: int = 5,
    repeats: Literal["auto", "copies", "draws"] = "auto",
    level: float = 0.95,
    diagnose: bool = True,
    explain: bool = False,
    seed: int = 0,
    engine: Any = None,
    ledger: str | Path | None = None,
    progress: bool = True,
) -> Evaluation:
    """Evaluate generated against real samples; returns scores with intervals, a verdict and advice.

    Args:
        real: Samples of real data: a path (a folder of images, an archive, ``.npz``, Parquet,
            texts, a table), an array of features or pixels, a DataFrame, a dataset, a list of
            samples, or a :class:`~tradeoff.evaluation.Reference`, which also says how samples of
            both sides are read.
        generated: Samples of the model, of the same kind.
        metrics: Keys such as ``knn.density``, or families such as ``knn``; the families that
            `FAMILIES` declares as defaults if not given.
        encoder: Encoder of the samples: a name in `ENCODERS`, a file, a folder or an id of the
            Hugging Face hub, a function, or an encoder object. Each kind of samples has a default.
        estimator: Estimator of the likelihood ratio behind the curve: a name in `ESTIMATORS`, a
            configuration, or a scikit-learn classifier.
        rule: How errors are counted: "cross-fitted" scores every sample with estimators that were
            not fitted on it; "frozen" fits one estimator on at most 20,000 samples of each side,
            for very large data sets.
        protocol: Published evaluation protocol to run instead of metrics, a name in `PROTOCOLS`.
        k: Rank k of the neighbor that a neighborhood reaches.
        folds: Number of cross-fitting folds.
        repeats: What equal samples are for the curve: "copies" of one sample, independent "draws"
            of one value, or "auto" to decide by how they repeat.
        level: Confidence level of the intervals.
        diagnose: Whether to plant known losses in the real data, to test which would be detected.
        explain: Whether to find groups of samples that the model misses and invents; see
            :class:`~tradeoff.explain.Explanation`.
        seed: Seed of everything random.
        engine: Where the samples of many Parquet files or archives are counted with a frozen rule:
            "local" for processes on this machine, "ray" for a cluster that is started here, or a
            :class:`~tradeoff.engine.LocalEngine` or :class:`~tradeoff.engine.RayEngine`. If not
            given, all features are held in memory.
        ledger: Folder in which an engine keeps what was counted, so that an interrupted run goes
            on, and more files can be added later.
        progress: Whether to show progress lines.

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
        >>> print(result.verdict.sentences[0][:71])
        Precision is lost: with 95% confidence at least 30% of the generated sa
    """
    settings = Settings(
        metrics=as_names(metrics),
        encoder=encoder,
        estimator=estimator,
        rule=rule,
        protocol=protocol,
        k=k,
        folds=folds,
        repeats=repeats,
        level=level,
        diagnose=diagnose,
        explain=explain,
        seed=seed,
    )
    return evaluate_sources(
        real, generated, settings, engine=engine, ledger=ledger, progress=progress
    )


def evaluate_sources(
    real: Any,
    generated: Any,
    settings: Settings,
    *,
    engine: Any = None,
    ledger: str | Path | None = None,
    progress: bool,
) -> Evaluation:
    """One model by complete settings; see `evaluate`."""
    if isinstance(generated, Mapping):
        raise InvalidInputError(
            "`generated` must hold the samples of one model. Got several by name: use `compare`."
        )
    if engine is not None:
        if settings.rule != "frozen":
            raise InvalidInputError(
                '`engine` requires a frozen rule: pass rule="frozen" (--rule frozen).'
            )
        return evaluate_shards(
            real, generated, checked(settings), open_engine(engine), ledger, progress=progress
        )
    if ledger is not None:
        raise InvalidInputError("`ledger` requires an engine: pass `engine` too.")
    opened = open_both(real, {"generated": generated}, settings, progress=progress)
    if opened.settings.rule == "frozen":
        return opened.count("generated").evaluation()
    return opened.evaluate("generated", opened.embed("generated"))[0]


def checked(found: Settings) -> Settings:
    """Settings whose mistakes come to light before anything is read."""
    if found.protocol is not None:
        check_choice("protocol", found.protocol, PROTOCOLS)
    check_embedding(found)
    check_choice("repeats", found.repeats, ("auto", "copies", "draws"))
    check_choice("rule", found.rule, ("cross-fitted", "frozen"))
    for name in ("diagnose", "explain"):
        check_type(name, getattr(found, name), bool)
    keys = resolve_keys(found.metrics or ())
    level = check_share("level", found.level)
    if level < _LOWEST_LEVEL:
        raise InvalidInputError(f"`level` must be at least {_LOWEST_LEVEL}. Got {found.level}.")
    every_pair = combines(find_estimator(found.estimator))
    right = replace(
        found,
        level=level,
        folds=Split.of(found.folds, every_pair=every_pair).folds,
        k=check_count("k", found.k),
        seed=check_seed(found.seed),
        limit=None if found.limit is None else check_count("limit", found.limit),
        store=None if found.store is None else str(found.store),
    )
    if found.explain and not found.has_curve:
        raise InvalidInputError("`explain` needs the curve: add curve to the metrics.")
    if found.rule == "frozen":
        if found.protocol is not None:
            raise InvalidInputError(
                "`rule` cannot be combined with `protocol`, which has its own: leave `rule` out."
            )
        check_counted(keys)
    if found.protocol is None:
        check_families(keys)
    return right


def open_both(
    real: Any, generated: Mapping[str, Any], settings: Settings, *, progress: bool
) -> Opened:
    """Open all sources and check them against each other, then embed the real side."""
    settings = checked(settings)
    known = open_real(real, settings)
    if isinstance(known, Reference):
        settings = known.completed(settings)
    sources = {name: open_generated(value, name, settings) for name, value in generated.items()}
    for name, source in sources.items():
        if source.kind != known.kind:
            raise InvalidInputError(
                f"`{name}` must hold {known.kind} samples, like the real ones. Got {source.kind}."
            )
    _check_protocol(settings, known.kind)
    if isinstance(known, Reference):
        return Opened(known.adapted(settings), None, sources, settings, progress)
    embedded = Reference.embed(known, settings, progress=progress)
    return Opened(embedded, known, sources, settings, progress)


def open_real(real: Any, settings: Settings) -> Reference | Source:
    """The real side as it was given, opened."""
    if isinstance(real, (str, Path)) and is_reference(Path(real)):
        return Reference.load(real)
    return real if isinstance(real, Reference) else open_samples(real, "real", settings)


def _check_protocol(settings: Settings, kind: str) -> None:
    published = PROTOCOLS[settings.protocol].encoder if settings.protocol else "any"
    if kind == "image" and settings.encoder is None and published != "any":
        raise InvalidInputError(
            f"`encoder` must be given for {settings.protocol}, whose numbers are those of "
            f"{published}: pass NetworkFile(path of that file, trusted=True), or --encoder PATH "
            "--trusted, or another encoder."
        )


@dataclass(frozen=True)
class Opened:
    """The embedded real side, and the sources of the models that are measured against it.

    `real` is the source of the real side; None where there are only features of it.
    """

    reference: Reference
    real: Source | None
    sources: Mapping[str, Source]
    settings: Settings
    progress: bool

    def embed(self, name: str) -> Embedded:
        """Features of a model's samples."""
        made = embed_with(
            self.reference.opened,
            self.sources[name],
            name,
            self.settings,
            progress=self.progress,
        )
        columns = {"real": self.reference.side.columns, name: made.features.shape[1]}
        check_same_columns(**columns)
        return made

    def pair_of(self, made: Embedded) -> Pair:
        """Features of a model's samples with the real ones."""
        return Pair(self.reference.side, side_of(made, "generated"))

    def evaluate(self, name: str, made: Embedded) -> tuple[Evaluation, Measured]:
        """A model against the real samples."""
        pair = self.pair_of(made)
        measured, curve = self._measure(pair)
        return self._evaluation(name, made, pair, measured, curve), measured

    def count(self, name: str) -> Counted:
        """The same with a frozen rule, part by part."""
        made = self.embed(name)
        return Counted(
            state=count_pair(self.pair_of(made), self.settings, self.reference.encoder),
            settings=self.settings,
            encoder=self.reference.encoder,
            broken={"real": self.reference.broken, "generated": made.broken},
            sources=Sides(self.real, self.sources[name]),
            embedder=self.reference.opened,
        )

    def _measure(self, pair: Pair) -> tuple[Measured, PRCurve | None]:
        settings = self.settings
        if settings.protocol is not None:
            found = reproduce(
                settings.protocol,
                real=pair.real.features,
                generated=pair.generated.features,
                seed=settings.seed,
                progress=self.progress,
            )
            scores = {key: Score(value=value) for key, value in found.scores.items()}
            about = {"recipe": dict(found.provenance)}
            return Measured(scores=scores, provenance=about), found.curve
        request = Request(
            keys=resolve_keys(settings.metrics or ()),
            estimator=settings.estimator,
            folds=settings.folds,
            repeats=settings.repeats,
            k=settings.k,
            diagnose=settings.diagnose,
            explain=settings.explain,
            level=settings.level,
            seed=settings.seed,
            progress=self.progress,
        )
        measured = measure(pair, request)
        return measured, None if measured.curve is None else measured.curve.band

    def _evaluation(
        self, name: str, made: Embedded, pair: Pair, measured: Measured, curve: PRCurve | None
    ) -> Evaluation:
        settings, reference = self.settings, self.reference
        verdict = None
        if measured.curve is not None:
            verdict = verdict_of(measured.curve, pair.sizes, settings.level)
        values = {"real": dict(measured.values.real), "generated": dict(measured.values.generated)}
        if "nearest_real" in values["generated"]:
            ids = np.array(pair.real.ids, dtype=object)
            values["generated"]["nearest_real"] = ids[values["generated"]["nearest_real"]]
        return Evaluation(
            scores=measured.scores,
            verdict=verdict,
            findings=findings_of(verdict, measured.scores),
            warnings=warnings_of(measured, settings, pair.sizes, pair.columns)
            + near_copy_warnings(verdict, pair, settings)
            + self._table_warnings(pair)
            + protocol_warnings(settings.protocol, reference.encoder["encoder"]),
            curve=curve,
            certificate=None if measured.curve is None else measured.curve.certificate,
            broken={"real": reference.broken, "generated": made.broken},
            explanation=self._explanation(name, pair, measured),
            samples={
                side.name: SampleValues(side.ids, side.labels, values[side.name]) for side in pair
            },
            settings=settings,
            provenance={
                "measured": list(measured.scores),
                **reference.encoder,
                "columns": pair.columns,
                "samples": pair.sizes,
                "broken": {"real": len(reference.broken), "generated": len(made.broken)},
                "estimator": str(settings.estimator),
                "protocol": settings.protocol,
                "seed": settings.seed,
                **measured.provenance,
                "versions": software_versions(),
            },
        )

    def _explanation(self, name: str, pair: Pair, measured: Measured) -> Explanation | None:
        curve, settings = measured.curve, self.settings
        if not settings.explain or curve is None or curve.single is None:
            return None
        assert isinstance(curve.estimate, CurveEstimate)
        return explain_pair(
            pair,
            curve.estimate,
            curve.single,
            losses=curve.estimate.losses(level=settings.level),
            sources=Sides(self.real, self.sources[name]),
            encoder=self.reference.opened,
            estimator=settings.estimator,
            level=settings.level,
            seed=settings.seed,
        )

    def _table_warnings(self, pair: Pair) -> tuple[str, ...]:
        if (table := self.reference.table) is None:
            return ()
        return table.warnings(real=pair.real.x, generated=pair.generated.x)
