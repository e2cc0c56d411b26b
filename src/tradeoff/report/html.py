"""Results as HTML tables, for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff._result import html_table
from tradeoff._text import printable
from tradeoff.report.text import HEADER, HEADLINE_KEYS, holds_for, rows_of, sentences_of, title_of

if TYPE_CHECKING:
    from tradeoff.evaluation.comparison import Comparison
    from tradeoff.evaluation.result import Evaluation

__all__ = ["comparison_html_of", "html_of"]


def html_of(evaluation: Evaluation) -> str:
    """The scores and the sentences of an evaluation, each as a table."""
    sentences = [*sentences_of(evaluation), ("holds for", holds_for(evaluation))]
    scores = html_table(title_of(evaluation), ("score", *HEADER[1:]), rows_of(evaluation))
    return scores + html_table("Findings", ("finding", "meaning"), sentences)


def comparison_html_of(comparison: Comparison) -> str:
    """The headline scores of each model, what was found of it, and the verdicts, as tables."""
    models = comparison.evaluations
    measured = [key for evaluation in models.values() for key in evaluation.scores]
    keys = [key for key in HEADLINE_KEYS if key in measured] or list(dict.fromkeys(measured))
    rows = [
        (printable(name), *(_score(evaluation, key) for key in keys), _findings(evaluation))
        for name, evaluation in models.items()
    ]
    about = holds_for(next(iter(models.values())))
    verdicts = [(printable(verdict),) for verdict in (*comparison.verdicts, about)]
    return html_table("Models", ("model", *keys, "findings"), rows) + html_table(
        "Verdicts", ("verdict",), verdicts
    )


def _score(evaluation: Evaluation, key: str) -> str:
    if key not in evaluation.scores:
        return ""
    score = evaluation[key]
    return f"{score.value_text} {score.interval_text}".rstrip()


def _findings(evaluation: Evaluation) -> str:
    return " ".join(f"{found.name}: {found.sentence}" for found in evaluation.findings)
