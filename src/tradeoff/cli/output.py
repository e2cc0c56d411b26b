"""What commands print: tables on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from tradeoff._files import replacing
from tradeoff._progress import step
from tradeoff._text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tradeoff.cli.kept import Kept
    from tradeoff.comparison import Comparison, Sweep
    from tradeoff.core.curve import PRCurve
    from tradeoff.evaluation import Evaluation
    from tradeoff.inference.losses import Losses
    from tradeoff.report.blocks import Sentences, Table

__all__ = [
    "print_result",
    "print_table",
    "print_verdict",
    "print_warnings",
    "trade_off_table",
    "write_result",
]

_CONFIG = "run.toml"
_STYLES = {"warning": "yellow", "broken": "yellow"}


def print_result(
    result: Evaluation | Comparison | Sweep, *, page: Path | None = None, verbose: bool = False
) -> None:
    """Everything that is said of a result: styled on a terminal, plain text in a pipe.

    Args:
        result: The result.
        page: File of the page that is written.
        verbose: Whether exact statements are printed, too.
    """
    from tradeoff.report.blocks import Notes, Table, blocks_of, lines_of

    blocks = blocks_of(result, page="" if page is None else str(page), verbose=verbose)
    if not sys.stdout.isatty():
        typer.echo(lines_of(blocks))
        return
    console, hidden = _console(), set[str]()
    for number, block in enumerate(blocks):
        if number:
            console.print()
        if isinstance(block, Table):
            hidden |= _print_block(console, block)
        elif isinstance(block, Notes):
            _print_notes(console, [note for note in block.notes if note[0] not in hidden])
        else:
            _print_sentences(console, block)


def print_verdict(evaluation: Evaluation) -> None:
    """What is said before the table."""
    from tradeoff.report.blocks import Sentences, lines_of
    from tradeoff.report.text import verdict_of

    typer.echo(lines_of([Sentences("", verdict_of(evaluation))]))


def print_warnings(evaluation: Evaluation) -> None:
    """What to know before the numbers are trusted, on stderr."""
    from tradeoff.report.text import notes_of

    for name, sentence in notes_of(evaluation):
        if name in _STYLES:
            typer.echo(printable(f"{name}: {sentence}"), err=True)


def trade_off_table(
    curves: Mapping[str, tuple[PRCurve, Losses]],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header, and a row for each curve: its headline, with what is guaranteed of the truth.

    Args:
        curves: For each row, a shown curve and what is established of its losses.
    """
    from tradeoff.metrics.curve import headline_scores

    rows = []
    for name, one in curves.items():
        scores = headline_scores(*one)
        rows.append((name, *(score.text for score in scores.values())))
    return ("", "precision", "recall", "overlap"), rows


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
    result: Any,
    display: Callable[[Any], Any],
    *,
    out: Path | None = None,
    document: Path | None = None,
    files: Sequence[Path] = (),
    plot: Path | None,
    report: Path | None,
    samples: bool,
    config: str = "",
    kept: Kept,
) -> None:
    """Write the page, the picture, and the result with the file that repeats its run.

    Args:
        result: The result.
        display: Class that draws it.
        out: Folder for the result; None without one.
        document: JSON file for the result alone; None without one.
        files: Files of the result in that folder.
        plot: File for the picture; None without one.
        report: File for the page; None without one.
        samples: Whether the page shows samples.
        config: Text of the file that repeats the run.
        kept: Where written files are noted.
    """
    if out is not None:
        result.save(out, overwrite=True)  # checked before the work
        with replacing(out / _CONFIG) as fresh:
            fresh.write_text(config, encoding="utf-8")
        kept.add_folder(out, [*files, out / _CONFIG])
    if document is not None:
        result.save(document, overwrite=True)
        kept.add(document)
    if plot is not None:
        display(result).save(plot)
        kept.add(plot)
    if report is not None:
        with step(f"writing {report}"):
            result.report(report, samples=samples, overwrite=True)
        kept.add(report)


def _print_block(console: Any, table: Table) -> set[str]:
    """A table, in parts if its columns are more than fit; returns the names of hidden columns."""
    if table.title:
        console.print(printable(table.title), style="dim")
    header, rows, names = table.header, table.rows, table.names
    if names == 1:
        return set(header) - set(print_table(header, rows))
    at_a_time = max((console.width - _SCORES) // _MODEL, 1)
    for i in range(names, len(header), at_a_time):
        shown = slice(i, i + at_a_time)
        print_table(
            (*header[:names], *header[shown]), [(*row[:names], *row[shown]) for row in rows]
        )
    return set()


def _print_sentences(console: Any, block: Sentences) -> None:
    from rich.padding import Padding

    style = "bold red" if block.is_fault else "bold"
    if block.title:
        console.print(f"{block.title}:", style=style)
    for number, sentence in enumerate(block.sentences):
        indent = (0, 0, 0, 2 if block.title else 0)
        is_first = number == 0 and not block.title
        text = Padding(printable(sentence), indent, expand=False)
        console.print(text, style=style if is_first else "")


def _print_notes(console: Any, notes: Sequence[tuple[str, str]]) -> None:
    from rich.text import Text

    for name, sentence in notes:
        word = (f"{printable(name)}: ", _STYLES.get(name, "bold"))
        console.print(Text.assemble(word, printable(sentence)))


def _console() -> Any:
    from rich.console import Console

    return Console(highlight=False, markup=False)
