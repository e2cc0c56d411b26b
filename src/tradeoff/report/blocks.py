"""What is said of a result, as blocks that text, HTML and terminals only lay out."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, NamedTuple

from tradeoff._result import html_table
from tradeoff._text import printable
from tradeoff.comparison.models import Comparison
from tradeoff.comparison.sweep import Sweep
from tradeoff.report.text import (
    HEADER,
    advice_of,
    comparison_notes_of,
    exact_of,
    leaderboard_of,
    notes_of,
    rows_of,
    shared_warnings,
    sweep_rows_of,
    title_of,
    verdict_of,
    views_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tradeoff.evaluation.result import Evaluation

__all__ = ["Block", "Notes", "Sentences", "Table", "blocks_of", "html_of", "lines_of", "text_of"]

_WIDTH = 92


class Sentences(NamedTuple):
    """Sentences, a paragraph each.

    Args:
        title: Word above them; without one they are the verdict.
        sentences: The sentences, the most important one first.
        is_fault: Whether they tell of a fault.
    """

    title: str
    sentences: Sequence[str]
    is_fault: bool = False


class Table(NamedTuple):
    """A table whose first columns name what a row is about.

    Args:
        title: Line above the table.
        header: Names of the columns.
        rows: Texts of the cells.
        names: Number of the first columns that are repeated if a table is cut in two.
        is_right: Whether columns hold numbers, but for the first one, and sentences in the last.
    """

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    is_right: bool = False


class Notes(NamedTuple):
    """Sentences with a word before each.

    Args:
        title: What the words are, for a caption.
        notes: Word and sentence of each note.
    """

    title: str
    notes: Sequence[tuple[str, str]]


Block = Sentences | Table | Notes


def blocks_of(
    result: Evaluation | Comparison | Sweep, *, page: str = "", verbose: bool = False
) -> list[Block]:
    """Everything that is said of a result, in order; blocks with nothing in them are left out.

    Args:
        result: The result.
        page: Name of its page; empty if there is none.
        verbose: Whether the exact statements behind a verdict are among them.
    """
    if isinstance(result, Sweep):
        found = _sweep_blocks(result)
    elif isinstance(result, Comparison):
        found = _comparison_blocks(result)
    else:
        found = _evaluation_blocks(result, page, verbose)
    return [block for block in found if _is_filled(block)]


def _is_filled(block: Block) -> bool:
    if isinstance(block, Table):
        return True
    return bool(block.notes if isinstance(block, Notes) else block.sentences)


def _evaluation_blocks(evaluation: Evaluation, page: str, verbose: bool) -> Iterator[Block]:
    yield Sentences("", verdict_of(evaluation), is_fault=bool(evaluation.findings))
    if verbose:
        yield Sentences("Exactly", exact_of(evaluation))
        header, rows = views_of(evaluation)
        if rows:
            yield Table("What each view sees", header, rows)
    yield Table(title_of(evaluation), HEADER, rows_of(evaluation), is_right=True)
    yield Notes("Notes", notes_of(evaluation))
    yield Sentences("Next", advice_of(evaluation, page))


def _comparison_blocks(comparison: Comparison) -> Iterator[Block]:
    models = comparison.evaluations
    yield Sentences("", comparison.verdicts)
    yield Table(title_of(*models.values()), *leaderboard_of(comparison), names=2)
    found = [(name, one.sentence) for name, model in models.items() for one in model.findings]
    yield Notes("Findings", found)
    yield Notes("Notes", comparison_notes_of(comparison))


def _sweep_blocks(sweep: Sweep) -> Iterator[Block]:
    yield Sentences("", sweep.sentences)
    yield Table("", *sweep_rows_of(sweep))
    yield Notes("Not measured", list(sweep.failed.items()))
    models = sweep.comparison.evaluations
    told = {value: one.training.sentences for value, one in models.items() if one.training}
    yield Notes("Training set", [(value, one) for value, said in told.items() for one in said])
    yield Notes("Notes", [("warning", one) for one in shared_warnings(sweep.comparison)])


def text_of(result: Evaluation | Comparison | Sweep, *, exact: bool = False) -> str:
    """A result on one screen, of which no line can control a terminal.

    Args:
        result: The result.
        exact: Whether the exact statements behind a verdict are in it.
    """
    return lines_of(blocks_of(result, verbose=exact))


def lines_of(blocks: Sequence[Block]) -> str:
    """Blocks as plain text."""
    return "\n\n".join("\n".join(map(printable, _lines(block))) for block in blocks)


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield from [block.title, ""] if block.title else []
        yield from _table_lines(block)
    elif isinstance(block, Notes):
        for name, sentence in block.notes:
            yield from _wrapped(f"{name}: {sentence}", rest="  ")
    else:
        yield from [f"{block.title}:"] if block.title else []
        first, rest = ("  ", "    ") if block.title else ("", "")
        for sentence in block.sentences:
            yield from _wrapped(sentence, first, rest)


def _wrapped(text: str, first: str = "", rest: str = "") -> list[str]:
    """Lines of a text; paths and options stay whole, so that they can be copied."""
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=rest,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _table_lines(table: Table) -> Iterator[str]:
    """The columns that hold something; sentences in the last one need no name."""
    last = len(table.header) - 1
    numbers = range(1, last) if table.is_right else range(0)
    header = [*table.header[:last], ""] if table.is_right else table.header
    lines = [header, *([printable(cell) for cell in row] for row in table.rows)]
    widths = {
        i: max(len(line[i]) for line in lines)
        for i in range(last + 1)
        if any(line[i] for line in lines[1:])
    }
    for line in lines:
        cells = [
            line[i].rjust(width) if i in numbers else line[i].ljust(width)
            for i, width in widths.items()
        ]
        yield "  ".join(cells).rstrip()


def html_of(result: Evaluation | Comparison | Sweep) -> str:
    """A result as HTML tables, for notebooks."""
    found = []
    for block in blocks_of(result):
        if isinstance(block, Table):
            found.append(html_table(block.title, block.header, block.rows))
        elif isinstance(block, Notes):
            found.append(html_table(block.title, ("", ""), block.notes))
        else:
            rows = [(sentence,) for sentence in block.sentences]
            found.append(html_table(block.title or "Verdict", ("",), rows))
    return "".join(found)
