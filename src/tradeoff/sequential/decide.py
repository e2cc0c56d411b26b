"""Generate samples until a question is answered, with an error that holds at every look."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from hashlib import blake2b
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._files import check_local, check_outputs, working_folder
from tradeoff._progress import track, whole_run
from tradeoff._validation import advising, check_count
from tradeoff.counting.ledger import Ledger
from tradeoff.data import GrowingFolder
from tradeoff.evaluation.pipeline import open_both
from tradeoff.exceptions import InvalidInputError
from tradeoff.goals import Above, Below, Best
from tradeoff.inference import policy
from tradeoff.provenance import software_versions
from tradeoff.sequential.models import PROBED, Contest, SampledModel
from tradeoff.sequential.questions import Answer, Decision, Look
from tradeoff.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from tradeoff._validation import FloatArray
    from tradeoff.evaluation.pipeline import Opened
    from tradeoff.evaluation.reference import Reference
    from tradeoff.ratio.base import LogRatio

__all__ = ["decide", "decide_sources"]

_LEDGER = "samples.ledger"


@advising('Ask by a goal, such as `Above("precision", 0.8)`.')
def decide(
    real: Any,
    generated: Any,
    goal: Above | Below | Best,
    *,
    encoder: Any = None,
    estimator: Any = "stack",
    rule: LogRatio | Mapping[str, LogRatio] | None = None,
    pilot: int = 1000,
    every: int = 250,
    limit: int = 20_000,
    level: float = 0.95,
    seed: int = 0,
    ledger: str | Path | None = None,
    progress: bool = True,
) -> Decision:
    """Generate samples until a question about a model, or several, is answered.

    One may look after every batch: the level holds for all looks together. A function must return
    independent samples, not for example one class after the other.

    Args:
        real: Samples of real data, as for :func:`~tradeoff.evaluate`; all are counted except those
            that the rule is fitted on.
        generated: A function of n that returns n samples, a
            :class:`~tradeoff.data.GrowingFolder`, or samples that exist already, which are taken
            in a random order; several of them by name to find the best model.
        goal: Such as ``Above("recall", 0.6)`` or ``Below("precision", 0.9, lam=2)`` for one model,
            or ``Best("recall")`` for several.
        encoder: Encoder of the samples.
        estimator: Estimator of the likelihood ratio, fitted on samples that are not counted.
        rule: Log-ratio in place of a fit, for example the `FrozenRule` of an earlier checkpoint;
            by name for several models.
        pilot: Number of generated samples of each model that its rule is fitted on, and of real
            ones.
        every: Number of new generated samples before each look at the answer.
        limit: Largest number of generated samples of each model that are counted.
        level: Probability with which an answer is right.
        seed: Seed of the rule, and of the choice of real samples that it is fitted on.
        ledger: Folder in which batches are kept, so that an interrupted run goes on where it
            stopped.
        progress: Whether to show progress lines.

    Example:
        The better of two models:

        >>> import numpy as np
        >>> from tradeoff import Best, decide
        >>> rng = np.random.default_rng(0)
        >>> models = {
        ...     "near": lambda n: rng.normal(0.2, 1, (n, 1)),
        ...     "far": lambda n: rng.normal(1.0, 1, (n, 1)),
        ... }
        >>> found = decide(
        ...     real=rng.normal(0, 1, (4000, 1)), generated=models,
        ...     goal=Best("precision", lam=1.0), estimator="logistic", progress=False,
        ... )
        >>> found.answer, found.best
        ('best found', ('near',))
    """
    named = dict(generated) if isinstance(generated, Mapping) else {"generated": generated}
    if isinstance(rule, Mapping) and (missing := [name for name in named if name not in rule]):
        raise InvalidInputError(f"`rule` must have a rule for each model. {missing[0]} has none.")
    return decide_sources(
        real,
        named,
        goal,
        Settings(metrics=("curve",), encoder=encoder, estimator=estimator, level=level, seed=seed),
        rule=rule,
        counts={"pilot": pilot, "every": every, "limit": limit},
        ledger=ledger,
        progress=progress,
    )


def decide_sources(
    real: Any,
    generated: Mapping[str, Any],
    goal: Above | Below | Best,
    settings: Settings,
    *,
    rule: LogRatio | Mapping[str, LogRatio] | None = None,
    counts: Mapping[str, int],
    ledger: str | Path | None = None,
    progress: bool = True,
) -> Decision:
    """The same for models by name and settings."""
    _check_goal(goal, generated)
    counts = {name: check_count(name, n) for name, n in counts.items()}
    with ExitStack() as stack:
        stack.enter_context(whole_run(progress=progress))
        if ledger is not None:
            inputs = [getattr(source, "path", source) for source in (real, *generated.values())]
            files = [source for source in inputs if isinstance(source, (str, Path))]
            place = check_local("ledger", ledger) / _LEDGER
            check_outputs([place], inputs=files, overwrite=True)
            stack.enter_context(working_folder(ledger))
        opened = open_both(real, _existing(generated), settings, progress=progress)
        settings, level = opened.settings, opened.settings.level
        rows, fitting = _parts(
            opened.reference, counts["pilot"], fits=rule is None, seed=settings.seed
        )
        asking = [str(goal), counts, list(generated)]
        kept = stack.enter_context(_open_ledger(ledger, asking, opened))
        models = {
            name: SampledModel.start(
                name,
                made,
                opened.reference,
                settings,
                rule=rule.get(name) if isinstance(rule, Mapping) else rule,
                real=fitting,
                pilot=counts["pilot"],
                threshold=-np.log(goal.slope),
                ledger=kept,
            )
            for name, made in track(generated.items(), "first samples", progress=progress)
        }
        for model in models.values():
            model.count_real(rows)
        if isinstance(goal, Best):
            found = _best_of(goal, models, level, counts, progress)
        else:
            found = _against_bar(goal, models, level, counts, progress)
    return replace(
        found,
        warnings=opened.reference.warnings + _warnings(models.values(), generated),
        provenance=_provenance(opened, found, fits=rule is None),
    )


def _existing(generated: Mapping[str, Any]) -> dict[str, Any]:
    """Samples that are there already, and can be checked before the work."""
    return {
        name: made
        for name, made in generated.items()
        if not callable(made) and not isinstance(made, GrowingFolder)
    }


def _provenance(opened: Opened, found: Decision, *, fits: bool) -> dict[str, Any]:
    side, settings = opened.reference.side, opened.settings
    return {
        **opened.reference.encoder,
        "columns": side.columns,
        "samples": {"real": len(side), **found.samples},
        "estimator": str(settings.estimator) if fits else "given rule",
        "seed": settings.seed,
        "versions": software_versions(),
    }


def _open_ledger(
    folder: str | Path | None, asked: Sequence[Any], opened: Opened
) -> AbstractContextManager[Ledger | None]:
    """The ledger of a question about these real samples with these settings."""
    if folder is None:
        return nullcontext()
    settings, reference = opened.settings, opened.reference
    about = [
        *asked,
        settings.level,
        settings.seed,
        repr(settings.estimator),
        dict(reference.encoder),
        reference.side.digest_for(settings.seed),
    ]
    plan = blake2b(json.dumps(about, default=str).encode(), digest_size=16).hexdigest()
    return Ledger(Path(folder) / _LEDGER, plan=plan)


def _check_goal(goal: Any, generated: Mapping[str, Any]) -> None:
    if not isinstance(goal, (Above, Below, Best)):
        raise InvalidInputError(f'`goal` must be one such as Above("recall", 0.6). Got {goal!r}.')
    if isinstance(goal, Best) and (goal.is_summary or goal.given is not None):
        raise InvalidInputError(
            f'`goal` must be about precision or recall alone, such as Best("recall"). Got {goal!r}.'
        )
    if isinstance(goal, Best) and len(generated) < 2:
        raise InvalidInputError(
            "The goal must have a threshold for one model, such as recall > 0.6. Without one, "
            "give several models by name."
        )
    if not isinstance(goal, Best) and len(generated) > 1:
        raise InvalidInputError(
            "The goal must not have a threshold for several models: ask for the best recall, for "
            "example."
        )


def _parts(
    reference: Reference, pilot: int, *, fits: bool, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Real samples that are counted, and those that rules are fitted on, chosen by content."""
    side = reference.side
    size = min(pilot, len(side) // 2)
    if size < policy.FEWEST_DECIDED:
        raise InvalidInputError(
            f"`real` must hold at least {2 * policy.FEWEST_DECIDED} samples. Got {len(side)}."
        )
    order = np.argsort(side.keys_for(seed), kind="stable")
    chosen = order[:size] if fits else order[: size // PROBED]
    return side.x[order[len(chosen) :]], side.x[chosen]


def _against_bar(
    goal: Above | Below,
    models: Mapping[str, SampledModel],
    level: float,
    counts: Mapping[str, int],
    progress: bool,
) -> Decision:
    (model,) = models.values()
    error = 1.0 - level
    contest = Contest(model, None, goal.slope, (counts["every"], counts["limit"]))
    bar = goal.bar * goal.scale
    looks: list[Look] = []
    hidden, enough = contest.hides(bar, error)
    answer: Answer = "undecidable" if hidden else "undecided"
    steps = () if hidden else _batches(counts)
    for size in track(steps, str(goal), progress=progress):
        if not model.more(size):
            break
        above, below = contest.look(bar, error / 2)
        looks.append(contest.known(goal, error, max(above, below)))
        if max(above, below) >= np.log(2.0 / error):
            answer = "yes" if (above > below) == isinstance(goal, Above) else "no"
            break
    return Decision(
        goal=goal,
        answer=answer,
        best=(model.name,),
        looks=tuple(looks),
        samples={model.name: model.used},
        level=level,
        enough=enough,
    )


def _best_of(
    goal: Best,
    models: Mapping[str, SampledModel],
    level: float,
    counts: Mapping[str, int],
    progress: bool,
) -> Decision:
    """Models are dropped when another one is established to be better, and sampled no more.

    The best one is dropped only if one of the others wins against it by mistake; of two, neither
    may win by mistake.
    """
    error = 1.0 - level
    each = error / max(len(models) - 1, 2)
    ends = (counts["every"], counts["limit"])
    contests = {
        pair: Contest(models[pair[0]], models[pair[1]], goal.slope, ends)
        for pair in combinations(models, 2)
    }
    looks: list[Look] = []
    left = list(models)
    for size in track(_batches(counts), str(goal), progress=progress):
        if not all(models[name].more(size) for name in left):
            break
        lost = set()
        for (first, second), contest in contests.items():
            if first in left and second in left:
                above, below = contest.look(0.0, each)
                lost |= {second} if above >= np.log(1.0 / each) else set()
                lost |= {first} if below >= np.log(1.0 / each) else set()
                if len(models) == 2:
                    looks.append(contest.known(goal, error, max(above, below)))
        left = [name for name in left if name not in lost]
        if len(left) <= 1:
            break
    return Decision(
        goal=goal,
        answer="best found" if len(left) == 1 else "undecided",
        best=tuple(left),
        looks=tuple(looks),
        samples={name: model.used for name, model in models.items()},
        level=level,
    )


def _batches(counts: Mapping[str, int]) -> list[int]:
    """Numbers of samples between looks, which make up the limit together."""
    every, limit = counts["every"], counts["limit"]
    return [min(every, limit - start) for start in range(0, limit, every)]


def _warnings(models: Iterable[SampledModel], generated: Mapping[str, Any]) -> tuple[str, ...]:
    drifting = [
        f"The samples of {model.name} drift as more are drawn, so the confidence level does not "
        "hold: shuffle them."
        for model in models
        if model.drifts()
    ]
    if any(isinstance(made, GrowingFolder) for made in generated.values()):
        drifting.append(
            "Images were used in the order in which they were written. The answer is valid only if "
            "that order is random, and not for example one class after another."
        )
    return tuple(drifting)
