"""The only way from sources of samples to a result.

Sources are opened and checked, samples become features, two sides become a pair, and families of
metrics measure it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from tradeoff._extras import import_extra
from tradeoff._files import check_outputs
from tradeoff._progress import Step, expect, step, whole_run
from tradeoff._registry import suggestion
from tradeoff._remote import Place, place_of
from tradeoff._sides import Sides
from tradeoff._validation import (
    check_choice,
    check_count,
    check_same_columns,
    check_seed,
    check_share,
    check_type,
)
from tradeoff.counting.run import CountedRun, count_files, count_pair
from tradeoff.counting.shards import ShardReader
from tradeoff.counting.workplace import working_place
from tradeoff.curves.diagnosis import CONTROL_STEPS
from tradeoff.curves.folds import Split
from tradeoff.data.open import samples_of
from tradeoff.data.parts import first_file
from tradeoff.embedding.embed import embedding_steps
from tradeoff.embedding.files import embed_files, suit_workers
from tradeoff.embedding.forms import form_warnings
from tradeoff.embedding.sources import (
    check_embedding,
    embed_with,
    encoder_for,
    identity_of,
    open_as_set,
    open_generated,
    open_samples,
    schema_warnings,
    side_of,
)
from tradeoff.engines import RayEngine, open_engine
from tradeoff.evaluation.assemble import (
    COLUMNS,
    EXPLAINING,
    FITTING,
    FRECHET,
    Context,
    assemble_counted,
    assemble_measured,
)
from tradeoff.evaluation.prompted import Asked, answers_in, grouped_by, prompts_by_id
from tradeoff.evaluation.reference import Reference
from tradeoff.evaluation.reference_files import is_reference
from tradeoff.evaluation.training import COMPARING
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import open_encoder
from tradeoff.features.default import default_warnings
from tradeoff.features.table import TableEncoder
from tradeoff.features.views import parts_of
from tradeoff.inference import policy
from tradeoff.metrics.family import Measured, Request, check_families, measure, steps_of
from tradeoff.metrics.registry import check_counted, find_metric, resolve_keys
from tradeoff.metrics.score import Score
from tradeoff.protocols import PROTOCOLS, reproduce
from tradeoff.ratio.registry import find_estimator
from tradeoff.samples import Pair
from tradeoff.settings import Keywords, Settings, placed, with_keywords

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.core.curve import PRCurve
    from tradeoff.data.base import Broken, Source
    from tradeoff.embedding import Embedded
    from tradeoff.engines import Engine
    from tradeoff.evaluation.result import Evaluation
    from tradeoff.features import Encoder
    from tradeoff.samples import Side

__all__ = [
    "Opened",
    "checked",
    "evaluate",
    "evaluate_sources",
    "measuring_steps",
    "open_both",
    "open_real",
]

_COUNTING = "counting"


@with_keywords()
def evaluate(
    real: Any,
    generated: Any,
    *,
    train: Any = None,
    engine: Any = None,
    ledger: str | Path | None = None,
    progress: bool = True,
    **settings: Unpack[Keywords],
) -> Evaluation:
    """Evaluate generated against real samples; returns scores with intervals, a verdict and advice.

    The real side comes first, like the true values in scikit-learn.

    Args:
        real: Samples of real data: a path (a folder of images, an archive, ``.npz``, Parquet,
            texts, a table), an array of features or pixels, a DataFrame, a dataset, a list of
            samples, or a :class:`~tradeoff.evaluation.Reference`, which also says how samples of
            both sides are read.
        generated: Samples of the model, of the same kind.
        train: Real samples on which the model was trained, to test whether it copies them or
            overfits. `real` must then be held-out data: the other part of a random split.
        engine: Where the samples of many Parquet files or archives are counted with a frozen rule:
            "local" for processes on this machine, "ray" for a cluster that is started here, or a
            :class:`~tradeoff.engines.LocalEngine` or :class:`~tradeoff.engines.RayEngine`. If not
            given, all features are held in memory.
        ledger: Folder in which an engine keeps features and counts, so that an interrupted run goes
            on, and more files can be added later; a path, or an address in object storage.
        progress: Whether to show progress lines.
        **settings: Settings of the evaluation.

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
        >>> print(result.verdict.sentences[0])
        At least 30% of the generated samples are not realistic.
    """
    found = Settings.of(settings)
    return evaluate_sources(
        real, generated, found, train=train, engine=engine, ledger=ledger, progress=progress
    )


def evaluate_sources(
    real: Any,
    generated: Any,
    settings: Settings,
    *,
    train: Any = None,
    engine: Any = None,
    ledger: str | Path | None = None,
    progress: bool,
) -> Evaluation:
    """One model by complete settings; see `evaluate`."""
    generated = samples_of(generated)
    if isinstance(generated, Mapping):
        raise InvalidInputError(
            "`generated` must hold the samples of one model. Got several by name: use `compare`."
        )
    with whole_run(progress=progress):
        return _evaluated(real, generated, settings, train, engine, ledger, progress=progress)


def _evaluated(
    real: Any,
    generated: Any,
    settings: Settings,
    train: Any,
    engine: Any,
    ledger: str | Path | None,
    *,
    progress: bool,
) -> Evaluation:
    if engine is not None:
        if train is not None:
            raise InvalidInputError(
                "`train` cannot be combined with `engine`, which reads file by file: leave it out."
            )
        if settings.rule != "frozen":
            raise InvalidInputError(
                '`engine` requires a frozen rule: pass rule="frozen" (--rule frozen).'
            )
        return _evaluate_files(
            real, generated, checked(settings), open_engine(engine), ledger, progress=progress
        )
    if ledger is not None:
        raise InvalidInputError("`ledger` requires an engine: pass `engine` too.")
    opened = open_both(
        real,
        {"generated": generated},
        settings,
        train=train,
        then=measuring_steps,
        progress=progress,
    )
    made = opened.embed("generated")
    if opened.settings.rule == "frozen":
        with step(_COUNTING):
            state = count_pair(
                opened.pair_of(made), _counted_run(opened.settings, opened.reference.encoder)
            )
        return assemble_counted(opened.context("generated", made), state)
    return opened.evaluate("generated", made)[0]


def _evaluate_files(
    real: Any,
    generated: Any,
    settings: Settings,
    engine: Engine,
    ledger: str | Path | None,
    *,
    progress: bool,
) -> Evaluation:
    """A model whose samples lie in many files, counted by a frozen rule."""
    if settings.limit is not None:
        raise InvalidInputError(
            "`limit` cannot be combined with `engine`, which reads file by file: leave it out."
        )
    both = Sides(*map(_address, ("real", "generated"), (real, generated)))
    if ledger is not None:
        _check_ledger(place_of(ledger), both)
    sources = both.map(lambda address: _source_of(address, settings))
    kinds = {"features" if source is None else source.kind for source in sources}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise InvalidInputError(f"Both sides must hold the same kind of samples. Got {found}.")
    with working_place(ledger) as place:
        broken: dict[str, tuple[Broken, ...]] = {"real": (), "generated": ()}
        reader = ShardReader(settings.column, settings.label)
        embeds = [] if sources.real is None else ["embedding"]
        expect(Step(label, label) for label in (*embeds, "choosing", _COUNTING))
        if sources.real is None:
            embedder = open_encoder(settings.encoder, kind="features")
        else:
            on_gpus = isinstance(engine, RayEngine) and engine.gpus > 0
            if on_gpus and settings.runtime == "auto":  # which would look for GPUs here
                settings = replace(settings, runtime="torch")
            embedder = encoder_for(sources.real, settings)
            embedder = suit_workers(embedder, both.real, settings, engine, place, progress=progress)
            both, broken = embed_files(both, embedder, settings, engine, place, progress=progress)
            reader = ShardReader("features", "label", id="id")
        state, unread = count_files(
            both,
            _counted_run(settings, identity_of(embedder)),
            engine=engine,
            reader=reader,
            folder=place,
            skips=settings.broken == "skip",
            keeps=ledger is not None,
            progress=progress,
        )
        context = Context(
            settings=settings,
            encoder=identity_of(embedder),
            broken={side: (*broken[side], *unread[side]) for side in broken},
            sources=sources,
            embedder=embedder,
            warnings=default_warnings(settings.encoder, embedder.name)
            + form_warnings(*sources)
            + _unread_warnings(unread, ledger),
        )
        return assemble_counted(context, state)


def _check_ledger(place: Place, inputs: Sequence[str]) -> None:
    """Nothing is written into an input."""
    if isinstance(place, Path):
        check_outputs([place / "counts.ledger"], inputs=inputs, overwrite=True)
        return
    for given in inputs:
        if f"{place}/".startswith(f"{given.rstrip('/')}/"):
            raise InvalidInputError(
                f"`{place}` would be written over or into the input `{given}`: choose another "
                "place."
            )


def _counted_run(settings: Settings, encoder: Mapping[str, str]) -> CountedRun:
    """What is counted with a frozen rule."""
    columns = {"column": settings.column or "", "label": settings.label or ""}
    return CountedRun(
        estimator=settings.estimator,
        moments=FRECHET in resolve_keys(settings.metrics or ()),
        seed=settings.seed,
        about={**encoder, **columns, "estimator": str(settings.estimator)},
    )


def _address(name: str, value: Any) -> str:
    if not isinstance(value, (str, Path)):
        raise InvalidInputError(
            f"`{name}` must be a path or an address, for an engine to read it. "
            f"Got a {type(value).__name__}."
        )
    return placed(value, Path.cwd())


def _source_of(address: str, settings: Settings) -> Source | None:
    """The source of samples that are to be embedded; None for features in Parquet files."""
    first = first_file(address)
    with suppress(InvalidInputError):  # a damaged file is told of below
        if first is not None and open_as_set(first, address, settings).kind == "features":
            return None  # of which there may be thousands of files
    source = open_samples(address, address, settings)
    return None if source.kind == "features" else source


def _unread_warnings(unread: Mapping[str, Sequence[Broken]], ledger: Any) -> tuple[str, ...]:
    again = "" if ledger is None else " Repair them, and run again with the same ledger."
    return tuple(
        f"{len(files)} of the files of `{side}` could not be read, `{files[0].id}` among them, and "
        f"are not counted.{again}"
        for side, files in unread.items()
        if files
    )


def checked(found: Settings) -> Settings:
    """Settings whose mistakes come to light before anything is read."""
    if found.protocol is not None:
        check_choice("protocol", found.protocol, PROTOCOLS)
    check_embedding(found)
    check_choice("repeats", found.repeats, ("auto", "copies", "draws"))
    check_choice("rule", found.rule, ("cross-fitted", "frozen"))
    for name in ("diagnose", "explain"):
        check_type(name, getattr(found, name), bool)
    for name in ("target", "prompt"):
        if getattr(found, name) is not None:
            _check_alone(name, found)
    keys = resolve_keys(found.metrics or ())
    level = check_share("level", found.level)
    if level < policy.LOWEST_LEVEL:
        raise InvalidInputError(
            f"`level` must be at least {policy.LOWEST_LEVEL}. Got {found.level}."
        )
    combines = find_estimator(found.estimator).combines
    right = replace(
        found,
        level=level,
        folds=Split.of(found.folds, every_pair=combines).folds,
        # Published scores are those of one encoder, and only a stack keeps views apart.
        low_level=found.low_level and combines and found.protocol is None,
        k=check_count("k", found.k),
        seed=check_seed(found.seed),
        limit=None if found.limit is None else check_count("limit", found.limit),
    )
    if found.prompt is not None:
        check_type("prompt", found.prompt, str)
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
    real: Any,
    generated: Mapping[str, Any],
    settings: Settings,
    *,
    train: Any = None,
    then: Callable[[Settings, int], list[Step]] | None = None,
    progress: bool,
) -> Opened:
    """Open all sources and check them against each other, then embed the real side.

    Args:
        real: Real samples, or a reference.
        generated: Samples of each model by name.
        settings: Settings of the run.
        train: Samples on which the models were trained; None if they are not given.
        then: Steps that follow, from the settings and the number of models, for its progress.
        progress: Whether progress is shown.
    """
    settings = checked(settings)
    _check_train(settings, train)
    given = {name: samples_of(value) for name, value in {"real": real, **generated}.items()}
    given = {name: answers_in(value, name, settings) for name, value in given.items()}
    known = open_real(given["real"], settings)
    if isinstance(known, Reference):
        settings = known.completed(settings)
    sources = {name: open_generated(given[name], name, settings) for name in generated}
    learned = {} if train is None else {"train": open_generated(train, "train", settings)}
    for name, source in (sources | learned).items():
        if source.kind != known.kind:
            raise InvalidInputError(
                f"`{name}` must hold {known.kind} samples, like the real ones. Got {source.kind}."
            )
    _check_protocol(settings, known.kind)
    asked = _asked(given, known, sources, settings)
    embedded = {} if isinstance(known, Reference) else {"real": known}
    expect(embedding_steps(embedded | learned | sources, settings.limit))
    if then is not None:
        expect(then(settings, len(generated)))
    if known.kind == "table" and settings.protocol is None and settings.rule != "frozen":
        expect([Step(COLUMNS)] * len(generated))
    if asked is not None:
        expect([Step(FITTING, weight=0.5)] * len(generated))
    if learned:
        expect([Step(COMPARING)] * len(generated))
    if isinstance(known, Reference):
        found = known.adapted(settings)
        found = found if settings.low_level else found.without_low_level()
        _check_views(settings, found.opened)
        _check_target(settings, found.opened)
        return Opened(found, None, sources, settings, progress).with_train(learned.get("train"))
    embedder = encoder_for(known, settings, *learned.values())
    _check_views(settings, embedder)
    _check_target(settings, embedder)
    prompts = None if asked is None else Asked.of(asked, embedder, settings)
    reference = Reference.embed(known, settings, embedder, progress=progress)
    opened = Opened(reference, known, sources, settings, progress, asked=prompts)
    return opened.with_train(learned.get("train"))


def _asked(
    given: Mapping[str, Any],
    known: Reference | Source,
    sources: Mapping[str, Source],
    settings: Settings,
) -> Mapping[str, Mapping[str, str]] | None:
    """Prompts by side and name of the sample; None if none are asked for."""
    if settings.prompt is None:
        return None
    if isinstance(known, Reference):
        raise InvalidInputError(
            "A reference holds no prompts: pass the real samples themselves, or leave `prompt` out."
        )
    opened = {"real": known, **sources}
    return {name: prompts_by_id(given[name], opened[name], name, settings) for name in opened}


def _check_train(settings: Settings, train: Any) -> None:
    """What is measured must fit to whether there is a training set."""
    if train is None:
        if settings.protocol is None:
            resolve_keys(settings.metrics or (), train=False)
        return
    _check_alone("train", settings)
    keys = resolve_keys(settings.metrics or (), train=True)
    metrics = [metric for key in keys if (metric := find_metric(key)) is not None]
    if not any(metric.needs_train for metric in metrics):
        raise InvalidInputError(
            "`train` is compared with generated samples by the metrics of copies: add copies to "
            "the metrics."
        )
    import_extra("torch", extra="torch", purpose="Comparing with the training set")


def _check_alone(name: str, settings: Settings) -> None:
    """What only a full evaluation does cannot be combined with a protocol or a frozen rule."""
    if settings.protocol is not None or settings.rule == "frozen":
        other = "protocol" if settings.protocol is not None else "rule"
        raise InvalidInputError(
            f"`{name}` cannot be combined with `{other}`: leave one of them out."
        )


def measuring_steps(settings: Settings, models: int) -> list[Step]:
    """Steps that follow the embedding; controls are shared by the models.

    Args:
        settings: Settings of the run.
        models: Number of models.
    """
    if settings.rule == "frozen":
        return [Step(_COUNTING)]
    if settings.protocol is not None:
        return []
    explaining = [Step(EXPLAINING, weight=0.4)] * settings.explain
    first = [*steps_of(_request(settings)), *explaining]
    shared = [one for one in first if one.label not in CONTROL_STEPS]
    return [*first, *shared * (models - 1)]


def open_real(real: Any, settings: Settings) -> Reference | Source:
    """The real side as it was given, opened."""
    if isinstance(real, (str, Path)) and is_reference(Path(real)):
        return Reference.load(real)
    return real if isinstance(real, Reference) else open_samples(real, "real", settings)


def _request(settings: Settings, *, train: bool = False) -> Request:
    """What the settings ask for, with a training set or without."""
    return Request(
        keys=resolve_keys(settings.metrics or (), train=train or None),
        estimator=settings.estimator,
        folds=settings.folds,
        repeats=settings.repeats,
        k=settings.k,
        diagnose=settings.diagnose,
        explain=settings.explain,
        level=settings.level,
        seed=settings.seed,
    )


def _check_protocol(settings: Settings, kind: str) -> None:
    published = PROTOCOLS[settings.protocol].encoder if settings.protocol else "any"
    if kind == "image" and settings.encoder is None and published != "any":
        raise InvalidInputError(
            f"`encoder` must be given for {settings.protocol}, whose numbers are those of "
            f"{published}: pass NetworkFile(path of that file, trusted=True), or --encoder PATH "
            "--trusted, or another encoder."
        )


def _check_target(settings: Settings, embedder: Encoder) -> None:
    """The column that is predicted must be there, which is known before anything is measured."""
    if settings.target is None:
        return
    if not isinstance(embedder, TableEncoder):
        raise InvalidInputError(
            "`target` names a column of a table, and these samples are not rows of one: leave it "
            "out."
        )
    if settings.target == settings.label:
        raise InvalidInputError(
            f"`target` and `label` both name `{settings.target}`: a label is not among the columns "
            "that are compared, so leave `label` out."
        )
    if settings.target not in embedder.names:
        raise InvalidInputError(
            f"Unknown column `{settings.target}`. {suggestion(settings.target, embedder.names)}"
        )


def _check_views(settings: Settings, embedder: Encoder) -> None:
    """Views that metrics name must be there, which is known before anything is embedded."""
    known = [view for view, _ in parts_of(embedder)]
    for key in resolve_keys(settings.metrics or ()):
        view = key.partition("@")[2]
        if view and view not in known:
            raise InvalidInputError(f"Unknown view in `{key}`. {suggestion(view, known)}")


@dataclass(frozen=True)
class Opened:
    """The embedded real side, and the sources of the models that are measured against it.

    `real` is the source of the real side; None where there are only features of it. `train` are the
    samples on which the models were trained, and `learned` is their source.
    """

    reference: Reference
    real: Source | None
    sources: Mapping[str, Source]
    settings: Settings
    progress: bool
    train: Side | None = None
    learned: Source | None = None
    unread: tuple[Broken, ...] = ()
    asked: Asked | None = None

    def with_train(self, source: Source | None) -> Opened:
        """The same with the embedded training set."""
        if source is None:
            return self
        embedded = self._embedded(source, "train")
        side = side_of(embedded, "train")
        for name, one in (("train", side), ("real", self.reference.side)):
            if len(one) < policy.FEWEST_SAMPLES:
                raise InvalidInputError(
                    f"`{name}` must hold at least {policy.FEWEST_SAMPLES} samples to be compared "
                    f"with the other part of the real data. Got {len(one)}."
                )
        return replace(self, train=side, learned=source, unread=embedded.broken)

    def embed(self, name: str) -> Embedded:
        """Features of a model's samples."""
        return self._embedded(self.sources[name], name)

    def _embedded(self, source: Source, name: str) -> Embedded:
        made = embed_with(
            self.reference.opened, source, name, self.settings, progress=self.progress
        )
        columns = {"real": self.reference.side.columns, name: made.features.shape[1]}
        check_same_columns(**columns)
        return made

    def pair_of(self, made: Embedded) -> Pair:
        """Features of a model's samples with the real ones."""
        return Pair(self.reference.side, side_of(made, "generated"), self.train)

    def evaluate(self, name: str, made: Embedded) -> tuple[Evaluation, Measured]:
        """A model against the real samples."""
        pair, context = self.pair_of(made), self.context(name, made)
        if self.asked is not None:
            prompts = self.asked.of_pair(pair, name, progress=self.progress)
            pair, context = grouped_by(pair, prompts), replace(context, prompts=prompts)
        measured, curve = self._measure(pair, context.estimator)
        context = replace(context, warnings=context.warnings + self._table_warnings(pair))
        return assemble_measured(context, pair, measured, curve), measured

    def context(self, name: str, made: Embedded) -> Context:
        """What belongs to the result of a model besides what is measured."""
        return Context(
            settings=self.settings,
            encoder=self.reference.encoder,
            broken={"real": self.reference.broken, "generated": made.broken}
            | ({} if self.train is None else {"train": self.unread}),
            sources=Sides(self.real, self.sources[name]),
            learned=self.learned,
            embedder=self.reference.opened,
            warnings=self.reference.warnings
            + schema_warnings(self.settings)
            + form_warnings(self.real, self.sources[name]),
            progress=self.progress,
        )

    def _measure(self, pair: Pair, estimator: Any) -> tuple[Measured, PRCurve | None]:
        settings = self.settings
        if settings.protocol is not None:
            seen = pair.first
            found = reproduce(
                settings.protocol,
                real=seen.real.features,
                generated=seen.generated.features,
                seed=settings.seed,
                progress=self.progress,
            )
            scores = {key: Score(value=value) for key, value in found.scores.items()}
            about = {"recipe": dict(found.provenance)}
            return Measured(scores=scores, provenance=about), found.curve
        request = _request(settings, train=pair.train is not None)
        measured = measure(pair, replace(request, estimator=estimator, progress=self.progress))
        return measured, None if measured.curve is None else measured.curve.band

    def _table_warnings(self, pair: Pair) -> tuple[str, ...]:
        if (table := self.reference.table) is None:
            return ()
        return table.warnings(real=pair.real.x, generated=pair.generated.x)
