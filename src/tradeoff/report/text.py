"""Results on one screen, as plain text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tradeoff._text import printable
from tradeoff.core.headline import HEADLINE_PRECISION_LAM
from tradeoff.metrics.registry import find_metric

if TYPE_CHECKING:
    from tradeoff.evaluation.comparison import Comparison
    from tradeoff.evaluation.result import Evaluation

__all__ = [
    "HEADER",
    "HEADLINE_KEYS",
    "comparison_summary_of",
    "holds_for",
    "rows_of",
    "sentences_of",
    "summary_of",
    "title_of",
]

_WIDTH = 88
HEADLINE_KEYS = ("curve.precision", "curve.recall")
HEADER = ("", "value", "interval", "real/real", "meaning")


def title_of(evaluation: Evaluation) -> str:
    """Sizes and features."""
    about = evaluation.provenance
    sizes = " and ".join(f"{size:,} {side}" for side, size in about["samples"].items())
    return f"{sizes} samples, {about['encoder']}"


def rows_of(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Key, value, interval, real against real, and meaning of every score."""
    return [
        (key, score.value_text, score.interval_text, score.expected_text, _meaning(key))
        for key, score in evaluation.scores.items()
    ]


def _meaning(key: str) -> str:
    """What a metric says; nothing for numbers that only a protocol has."""
    metric = find_metric(key)
    return "" if metric is None else metric.meaning


def sentences_of(evaluation: Evaluation) -> list[tuple[str, str]]:
    """What the numbers mean: a word for the kind of sentence, and the sentence."""
    found = [(finding.name, finding.sentence) for finding in evaluation.findings]
    settings = evaluation.settings
    lows = [evaluation.scores[key].low for key in HEADLINE_KEYS if key in evaluation.scores]
    if not found and len(lows) == len(HEADLINE_KEYS) and evaluation.curve is not None:
        limits = " and ".join(f"{low or 0.0:.3f}" for low in lows)
        sentence = f"Precision and recall look like {limits} or more; the true ones may be lower."
        found.append(("no loss found", sentence))
    if evaluation.certificate is not None:
        limit = evaluation.certificate.precision(HEADLINE_PRECISION_LAM)
        if limit < 1.0:
            found.append(
                (
                    "certified",
                    f"Precision at λ = {HEADLINE_PRECISION_LAM:g} is at most {limit:.3f}, whatever "
                    f"the features' law, but for a chance of {1 - settings.level:.2g}.",
                )
            )
    if evaluation.tightness is not None:
        found.append(("tightness", evaluation.tightness))
    found += [("warning", warning) for warning in evaluation.warnings]
    for side, items in evaluation.broken.items():
        if items:
            found.append(
                (
                    "broken",
                    f"{len(items):,} of {side} left out, since they cannot be read; the first is "
                    + printable(f"`{items[0].id}`: {items[0].reason}"),
                )
            )
    if any(score.expected is not None for score in evaluation.scores.values()):
        found.append(
            ("real/real", "one half of real samples against the other, or expected of one law.")
        )
    return found


def summary_of(evaluation: Evaluation) -> str:
    """Title, table and sentences."""
    rows = [HEADER[:-1], *(row[:-1] for row in rows_of(evaluation))]
    if not any(row[3] for row in rows[1:]):
        rows = [row[:3] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [title_of(evaluation), ""]
    for row, meaning in zip(rows, ["", *(r[-1] for r in rows_of(evaluation))], strict=True):
        cells = [
            row[0].ljust(widths[0]),
            *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
        ]
        lines.append(f"{'  '.join(cells)}  {meaning}".rstrip())
    lines.append("")
    for name, sentence in sentences_of(evaluation):
        lines += textwrap.wrap(f"{name}: {sentence}", _WIDTH, subsequent_indent="  ")
    return "\n".join([*lines, holds_for(evaluation)])


def holds_for(evaluation: Evaluation) -> str:
    """What every verdict depends on."""
    about, protocol = evaluation.provenance, evaluation.settings.protocol
    by = f"estimator ({about['estimator']})" if protocol is None else f"protocol ({protocol})"
    return f"This holds for these features ({about['encoder']}) and this {by}."


def comparison_summary_of(comparison: Comparison) -> str:
    """A line of headline scores for each model, what was found of it, and every verdict."""
    lines = []
    width = max(len(printable(name)) for name in comparison.evaluations)
    for name, evaluation in comparison.evaluations.items():
        headline = [key for key in HEADLINE_KEYS if key in evaluation.scores]
        scores = ", ".join(
            f"{key} {evaluation[key].value_text} {evaluation[key].interval_text}".rstrip()
            for key in headline or evaluation.scores
        )
        lines.append(f"{printable(name).ljust(width)}  {scores}")
        for finding in evaluation.findings:
            text = f"{finding.name}: {finding.sentence}"
            lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    lines.append("")
    for verdict in comparison.verdicts:
        lines += textwrap.wrap(printable(verdict), _WIDTH, subsequent_indent="  ")
    return "\n".join([*lines, holds_for(next(iter(comparison.evaluations.values())))])
