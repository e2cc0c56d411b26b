"""Results as HTML tables, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff._result import html_table
from tradeoff._text import printable
from tradeoff.report.text import (
    HEADER,
    advice_of,
    leaderboard_of,
    notes_of,
    rows_of,
    title_of,
    verdict_of,
)

if TYPE_CHECKING:
    from tradeoff.comparison.models import Comparison
    from tradeoff.evaluation.result import Evaluation

__all__ = ["comparison_html_of", "html_of"]


def html_of(evaluation: Evaluation) -> str:
    """The verdict, the scores and the notes of an evaluation, each as a table."""
    verdict = [(sentence,) for sentence in verdict_of(evaluation)]
    notes = [*notes_of(evaluation), *(("next", line) for line in advice_of(evaluation))]
    return (
        (html_table("Verdict", ("",), verdict) if verdict else "")
        + html_table(title_of(evaluation), HEADER, rows_of(evaluation))
        + (html_table("Notes", ("", ""), notes) if notes else "")
    )


def comparison_html_of(comparison: Comparison) -> str:
    """The verdicts, and the scores and findings of each model, as tables."""
    header, rows = leaderboard_of(comparison)
    found = [
        (printable(name), finding.sentence)
        for name, evaluation in comparison.evaluations.items()
        for finding in evaluation.findings
    ]
    title = title_of(*comparison.evaluations.values())
    return (
        html_table("Verdict", ("",), [(printable(verdict),) for verdict in comparison.verdicts])
        + html_table(title, header, rows)
        + (html_table("Findings", ("model", "finding"), found) if found else "")
    )
