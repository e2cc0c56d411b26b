"""What commands print: tables on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from tradeoff._text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tradeoff.evaluation import Comparison, Evaluation

__all__ = ["print_comparison", "print_evaluation", "print_table", "write_result"]

_STYLES = {
    "precision lost": "bold red",
    "recall lost": "bold red",
    "memorized": "bold red",
    "repeats itself": "bold red",
    "no loss found": "bold green",
    "warning": "yellow",
    "broken": "yellow",
}


def print_evaluation(evaluation: Evaluation) -> None:
    """Title, scores and sentences."""
    from tradeoff.report.text import HEADER, holds_for, rows_of, sentences_of, title_of

    if not sys.stdout.isatty():
        typer.echo(str(evaluation))
        return
    console = _console()
    console.print(title_of(evaluation), style="bold")
    print_table(HEADER, rows_of(evaluation))
    _print_sentences(console, sentences_of(evaluation))
    console.print(holds_for(evaluation), style="dim")


def print_comparison(comparison: Comparison) -> None:
    """Scores and findings of every model, then the verdicts."""
    from tradeoff.report.text import HEADLINE_KEYS, holds_for

    if not sys.stdout.isatty():
        typer.echo(str(comparison))
        return
    console = _console()
    first = next(iter(comparison.evaluations.values()))
    shown = list(first.scores)
    wide = console.width >= 28 * (1 + len(shown))
    keys = shown if wide else [key for key in shown if key in HEADLINE_KEYS] or shown[:2]
    rows = [
        (printable(name), *(f"{e[key].value_text} {e[key].interval_text}".rstrip() for key in keys))
        for name, e in comparison.evaluations.items()
    ]
    print_table(("", *keys), rows)
    for name, evaluation in comparison.evaluations.items():
        found = [(f.name, f.sentence) for f in evaluation.findings]
        if found:
            console.print(printable(name), style="bold")
            _print_sentences(console, found)
    for verdict in comparison.verdicts:
        console.print(printable(verdict))
    console.print(holds_for(first), style="dim")


_READABLE = 28


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns that fit the terminal; in a pipe, separated by tabs."""
    if not sys.stdout.isatty():
        for row in rows:
            typer.echo("\t".join(row))
        return
    from rich.table import Table

    console = _console()
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    widths = {i: max(len(header[i]), *(len(row[i]) for row in rows)) + 2 for i in kept}
    while len(kept) > 3 and sum(widths[i] for i in kept[:-1]) + _READABLE > console.width:
        kept.pop()  # words first, then what is least needed
    table = Table(box=None, pad_edge=False, header_style="dim")
    for i in kept:
        is_text = i == 0 or header[i] in ("meaning", "about", "features", "preprocessing")
        table.add_column(
            header[i], justify="left" if is_text else "right", no_wrap=not is_text or i == 0
        )
    for row in rows:
        table.add_row(*(row[i] for i in kept))
    console.print(table)


def write_result(
    result: Evaluation | Comparison,
    display: Callable[[Any], Any],
    *,
    out: Path | None,
    plot: Path | None,
    config: str,
) -> None:
    """The result with the file that repeats its run, and its picture, where they are wanted."""
    if out is not None:
        result.save(out, overwrite=True)  # checked before the work
        (out / "run.toml").write_text(config, encoding="utf-8")
    if plot is not None:
        display(result).plot().figure_.savefig(plot, dpi=150)


def _print_sentences(console: Any, sentences: Sequence[tuple[str, str]]) -> None:
    from rich.text import Text

    for name, sentence in sentences:
        console.print(Text.assemble((f"{name}: ", _STYLES.get(name, "bold")), sentence))


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, markup=False)
