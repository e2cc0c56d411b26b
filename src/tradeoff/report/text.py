"""The sentences and tables of results; `blocks` puts them in order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tradeoff._text import in_percent, percent_up, printable
from tradeoff.inference import policy
from tradeoff.metrics.registry import find_metric

if TYPE_CHECKING:
    from tradeoff.comparison.models import Comparison
    from tradeoff.comparison.sweep import Sweep
    from tradeoff.evaluation.result import Evaluation

__all__ = [
    "HEADER",
    "advice_of",
    "comparison_notes_of",
    "exact_of",
    "leaderboard_of",
    "named_advice_of",
    "notes_of",
    "rows_of",
    "shared_warnings",
    "sweep_rows_of",
    "title_of",
    "verdict_of",
    "views_of",
]

_HEADLINE_KEYS = ("curve.precision", "curve.recall")
_REPEATS = {"copies": "copies of one sample", "draws": "independent draws of the same value"}
_OTHERWISE = {
    "copies": "Only where values repeat by nature, such as categories, counts or rounded numbers, "
    'use `repeats="draws"` (--repeats draws).',
    "draws": "If they are the same file or row several times, use "
    '`repeats="copies"` (--repeats copies).',
}
HEADER = ("", "value", "limits", "expected", "meaning")


def title_of(*evaluations: Evaluation) -> str:
    """Sizes, encoder and estimator; of several models, the range of their sizes."""
    about, protocol = evaluations[0].provenance, evaluations[0].settings.protocol
    counts = {
        side: sorted({one.provenance["samples"][side] for one in evaluations})
        for side in about["samples"]
    }
    sizes = " and ".join(
        f"{found[0]:,}{f' to {found[-1]:,}' if len(found) > 1 else ''} {side}"
        for side, found in counts.items()
    )
    train = f", {about['train']:,} training samples" if "train" in about else ""
    by = f"estimator {about['estimator']}" if protocol is None else f"protocol {protocol}"
    names = str(about["encoder"]).split(" + ")
    seen_by = f"encoder {names[0]}" if len(names) == 1 else f"views {', '.join(names)}"
    return f"{sizes} samples{train}, {seen_by}, {by}"


def verdict_of(evaluation: Evaluation) -> list[str]:
    """What the numbers mean, the most important first: a sentence each."""
    verdict, training = evaluation.verdict, evaluation.training
    is_unharmed = verdict is None or verdict.name == "nothing found"
    found = list(verdict.sentences) if verdict else []
    found += evaluation.table.sentences if evaluation.table else ()
    if (prompts := evaluation.prompts) is not None:
        if prompts.unfit is not None and is_unharmed:
            found = found[1:]  # that there is no difference: the same is said of samples alone
        is_worst = prompts.of_prompts.differs or (is_unharmed and bool(prompts.faults))
        found = [*prompts.sentences, *found] if is_worst else [*found, *prompts.sentences]
    if training is not None:
        is_worst = is_unharmed and bool(training.faults)
        found = [*training.sentences, *found] if is_worst else [*found, *training.sentences]
    return found + [f.sentence for f in evaluation.findings if f.sentence not in found]


def exact_of(evaluation: Evaluation) -> tuple[str, ...]:
    """The exact statements behind the sentences."""
    parts = (evaluation.verdict, evaluation.training)
    return tuple(sentence for one in parts if one is not None for sentence in one.exact)


def rows_of(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Key with the direction of better values, value, interval, expected value, and meaning."""
    return [
        (
            f"{key} {_arrow(key)}".rstrip(),
            score.value_text,
            score.interval_text,
            score.expected_text,
            _meaning(key),
        )
        for key, score in evaluation.scores.items()
    ]


def views_of(evaluation: Evaluation) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header, and a row for each of several views and for all of them; no rows for a single one."""
    views = () if evaluation.verdict is None else evaluation.verdict.views
    rows: list[tuple[str, ...]] = [
        (
            printable(view.name),
            f"{view.overlap:.3f}",
            f"at most {_up(view.at_most)}" if view.sees else "no difference established",
            _lost(view.hidden, view.hidden_at_least),
            _lost(view.lost, view.lost_at_least),
        )
        for view in views
    ]
    whole = evaluation.scores.get("curve.overlap")
    if rows and whole is not None:
        rows.append(("all together", whole.value_text, whole.interval_text, "", ""))
    return ("view", "overlap alone", "limits", "hides", "lost without it"), rows


def _lost(value: float, at_least: float) -> str:
    """Overlap that is too high by a value, and the lower limit of it if that is not 0."""
    established = f" (at least {_down(at_least)})" if at_least >= policy.SMALLEST_LOSS else ""
    return f"{value:.3f}".replace("-", "−") + established


def _up(value: float) -> str:
    return f"{math.ceil(value * 1000 - 1e-9) / 1000:.3f}"


def _down(value: float) -> str:
    return f"{math.floor(value * 1000 + 1e-9) / 1000:.3f}"


def _arrow(key: str) -> str:
    metric = find_metric(key)
    return "" if metric is None else metric.arrow


def _meaning(key: str) -> str:
    """What a metric says; nothing for numbers that only a protocol has."""
    metric = find_metric(key)
    return "" if metric is None else metric.meaning


def notes_of(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What to know about the numbers: a word for the kind of note, and a sentence."""
    found = []
    if any(key in evaluation.scores for key in _HEADLINE_KEYS):
        found.append(
            (
                "at most",
                f"guaranteed with {in_percent(evaluation.settings.level)} confidence. True values "
                "can be lower than the values that are shown, because the estimator does not "
                "detect every loss.",
            )
        )
    if any(score.expected is not None for score in evaluation.scores.values()):
        found.append(("expected", "value when both sides come from the real data."))
    if evaluation.certificate is not None:
        limit = evaluation.certificate.precision(1.0)
        if limit < 1.0:
            found.append(
                (
                    "certified",
                    f"a limit that assumes only that samples are independent: the overlap is at "
                    f"most {percent_up(limit)} with {in_percent(evaluation.settings.level)} "
                    "confidence.",
                )
            )
    if evaluation.prompts is not None:
        limited = "limits of the scores hold for the prompts that were asked, not for new ones."
        found.append(("prompts", limited))
    found += _equal_samples(evaluation)
    found += [("warning", warning) for warning in evaluation.warnings]
    for side, items in evaluation.broken.items():
        if items:
            found.append(
                (
                    "broken",
                    f"{len(items):,} {side} samples could not be read and are left out; the first "
                    "is " + printable(f"`{items[0].id}`: {items[0].reason}"),
                )
            )
    return found


def _equal_samples(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What equal samples were treated as, if there are some."""
    repeats = evaluation.provenance.get("curve", {}).get("repeats")
    if repeats is None or max(repeats["real"], repeats["generated"]) < policy.TOLD_REPEATS:
        return []
    sentence = (
        f"{repeats['real']:.0%} of the real and {repeats['generated']:.0%} of the generated "
        "samples are identical to another sample on the same side. They were treated as "
        f"{_REPEATS[repeats['assumed']]}. {_OTHERWISE[repeats['assumed']]}"
    )
    return [("equal samples", sentence)]


def advice_of(evaluation: Evaluation, page: str = "") -> list[str]:
    """What to do next, a line each; with the page that is written, it is named."""
    found = dict.fromkeys(f"{name}: {advice}" for name, advice in named_advice_of(evaluation))
    return [line.replace("--report page.html", page) for line in found] if page else [*found]


def named_advice_of(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What each advice is about, and the advice."""
    found: list[tuple[str, str]] = [
        (one.name, one.advice) for one in evaluation.findings if one.advice
    ]
    verdict = evaluation.verdict
    if verdict is not None and verdict.recall.advised and verdict.name == "nothing found":
        found.append(
            (
                "to detect a loss of 10%",
                f"use {verdict.recall.advised} on each side, or a stronger encoder.",
            )
        )
    return found


def comparison_notes_of(comparison: Comparison) -> list[tuple[str, str]]:
    """What to know about the numbers of all models, and about their differences."""
    first = next(iter(comparison.evaluations.values()))
    found = [note for note in notes_of(first) if note[0] in ("at most", "expected", "prompts")]
    found += [("warning", warning) for warning in shared_warnings(comparison)]
    if comparison.differences:
        found.append(
            (
                "difference",
                "computed from curves before they are smoothed, and for the area between λ = 1/20 "
                "and 20, so it can deviate slightly from the difference of two scores.",
            )
        )
    return found


def shared_warnings(comparison: Comparison) -> list[str]:
    """Warnings that hold for all models."""
    first, *others = (one.warnings for one in comparison.evaluations.values())
    return [warning for warning in first if all(warning in other for other in others)]


def sweep_rows_of(sweep: Sweep) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of a sweep; values that no other one dominates are marked."""
    header = (
        "value",
        "precision",
        "recall",
        "area",
        "Pareto",
    )
    rows: list[tuple[str, ...]] = [
        (
            printable(point.value),
            f"{point.precision:.3f} (at most {point.precision_limits[1]:.3f})",
            f"{point.recall:.3f} (at most {point.recall_limits[1]:.3f})",
            f"{point.area:.3f}",
            "yes" if point.is_pareto else "",
        )
        for point in sweep.points
    ]
    rows += [(printable(value), "not measured", "", "", "") for value in sweep.failed]
    return header, rows


def leaderboard_of(comparison: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows: what is expected of each score, and every model in the given order."""
    models = comparison.evaluations
    keys = dict.fromkeys(key for found in models.values() for key in found.scores)
    rows = [
        (
            f"{key} {_arrow(key)}".rstrip(),
            _expected(comparison, key),
            *(_with_interval(one, key) for one in models.values()),
        )
        for key in keys
    ]
    return ("score", "expected", *map(printable, models)), rows


def _expected(comparison: Comparison, key: str) -> str:
    """The value between real samples, if it is the same for all models."""
    found = {one[key].expected_text for one in comparison.evaluations.values() if key in one.scores}
    return found.pop() if len(found) == 1 else ""


def _with_interval(evaluation: Evaluation, key: str) -> str:
    if key not in evaluation.scores:
        return ""
    score = evaluation[key]
    return score.text
