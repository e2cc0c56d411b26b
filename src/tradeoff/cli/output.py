"""What commands print: tables on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from tradeoff._files import replacing
from tradeoff._text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tradeoff.comparison import Comparison
    from tradeoff.evaluation import Evaluation

__all__ = [
    "print_comparison",
    "print_evaluation",
    "print_table",
    "print_warnings",
    "trade_off_table",
    "write_result",
]

_STYLES = {"warning": "yellow", "broken": "yellow"}


def print_evaluation(evaluation: Evaluation) -> None:
    """Verdict, title, scores, notes, and what to do next."""
    from rich.padding import Padding

    from tradeoff.report.text import HEADER, advice_of, notes_of, rows_of, title_of, verdict_of

    if not sys.stdout.isatty():
        typer.echo(str(evaluation))
        return
    console = _console()
    style = "bold red" if evaluation.findings else "bold"
    for number, sentence in enumerate(verdict_of(evaluation)):
        console.print(printable(sentence), style=style if number == 0 else "")
    console.print()
    console.print(printable(title_of(evaluation)), style="dim")
    hidden = set(HEADER) - set(print_table(HEADER, rows_of(evaluation)))
    console.print()
    _print_sentences(console, [note for note in notes_of(evaluation) if note[0] not in hidden])
    if advice := advice_of(evaluation):
        console.print("Next:", style="bold")
    for line in advice:
        console.print(Padding(printable(line), (0, 0, 0, 2), expand=False))


def print_warnings(evaluation: Evaluation) -> None:
    """What to know before the numbers are trusted, on stderr."""
    from tradeoff.report.text import notes_of

    for name, sentence in notes_of(evaluation):
        if name in _STYLES:
            typer.echo(printable(f"{name}: {sentence}"), err=True)


def print_comparison(comparison: Comparison) -> None:
    """Verdicts, scores of every model, and what was found."""
    from tradeoff.report.text import comparison_notes_of, leaderboard_of, title_of

    if not sys.stdout.isatty():
        typer.echo(str(comparison))
        return
    console = _console()
    for verdict in comparison.verdicts:
        console.print(printable(verdict), style="bold")
    console.print()
    console.print(printable(title_of(*comparison.evaluations.values())), style="dim")
    header, rows = leaderboard_of(comparison)
    at_a_time = max((console.width - _SCORES) // _MODEL, 1)
    for i in range(2, len(header), at_a_time):
        shown = slice(i, i + at_a_time)
        print_table((*header[:2], *header[shown]), [(*row[:2], *row[shown]) for row in rows])
    for name, evaluation in comparison.evaluations.items():
        if evaluation.findings:
            console.print(printable(name), style="bold")
            for finding in evaluation.findings:
                console.print(printable(finding.sentence))
    console.print()
    _print_sentences(console, comparison_notes_of(comparison))


def trade_off_table(
    curves: Mapping[str, Callable[[str, float], tuple[float, float, float]]], factor: float
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header, and a row for each curve: precision at a factor, and the headline.

    Args:
        curves: For each row, a function of "precision" or "recall" and a slope that returns the
            value and its limits.
        factor: Slope at which a loss of precision shows.
    """
    from tradeoff.inference import policy

    columns = (
        ("precision", factor),
        ("precision", policy.PRECISION_LAM),
        ("recall", policy.RECALL_LAM),
    )
    rows = []
    for name, shown in curves.items():
        found = [shown(kind, lam) for kind, lam in columns]
        rows.append((name, *(f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in found)))
    return ("", *(f"{kind} at λ = {lam:.2g}" for kind, lam in columns)), rows


_READABLE = 28
_TEXT_COLUMNS = ("meaning", "about", "features", "preprocessing", "status", "value")
_SCORES, _MODEL = 30, 24  # columns of names and expected values of scores, and of a model


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Print columns that fit the terminal, in a pipe all with tabs between; return their names."""
    rows = [tuple(map(printable, row)) for row in rows]
    if not sys.stdout.isatty():
        for row in (header, *rows):
            typer.echo("\t".join(row))
        return list(header)
    from rich.table import Table

    console = _console()
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    widths = {i: max(len(header[i]), *(len(row[i]) for row in rows)) + 2 for i in kept}
    for i in kept[1:]:
        if header[i] in _TEXT_COLUMNS:
            widths[i] = min(widths[i], _READABLE)  # longer texts are wrapped
    while len(kept) > 3 and sum(widths[i] for i in kept) > console.width:
        kept.pop()  # words first, then what is least needed
    table = Table(box=None, pad_edge=False, header_style="dim")
    for i in kept:
        is_text = i == 0 or header[i] in _TEXT_COLUMNS
        table.add_column(
            header[i], justify="left" if is_text else "right", no_wrap=not is_text or i == 0
        )
    for row in rows:
        table.add_row(*(row[i] for i in kept))
    console.print(table)
    return [header[i] for i in kept]


def write_result(
    result: Evaluation | Comparison,
    display: Callable[[Any], Any],
    *,
    out: Path | None,
    plot: Path | None,
    report: Path | None,
    samples: bool,
    config: str,
) -> None:
    """The result with the file that repeats its run, its picture and its page, where wanted."""
    if out is not None:
        result.save(out, overwrite=True)  # checked before the work
        with replacing(out / "run.toml") as fresh:
            fresh.write_text(config, encoding="utf-8")
    if plot is not None:
        display(result).save(plot)
    if report is not None:
        result.report(report, samples=samples, overwrite=True)


def _print_sentences(console: Any, sentences: Sequence[tuple[str, str]]) -> None:
    from rich.text import Text

    for name, sentence in sentences:
        told = printable(sentence)
        console.print(Text.assemble((f"{name}: ", _STYLES.get(name, "bold")), told))


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, markup=False)
