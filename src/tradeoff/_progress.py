"""Progress of long steps, on stderr: a line on a terminal or in a notebook, lines in a pipe."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sized
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["track"]

T = TypeVar("T")

_QUIET_SECONDS = 2.0
_LINE_SECONDS = 10.0
_MINUTE = 60.0


def track(
    steps: Iterable[T],
    label: str,
    *,
    total: int | None = None,
    size: Callable[[T], int] | None = None,
    progress: bool = True,
) -> Iterator[T]:
    """Yield the steps, and show how far they are.

    On a terminal and in a notebook, a line shows it once they have taken two seconds; elsewhere, a
    line is added every ten seconds.

    Args:
        steps: What to iterate over.
        label: What is being done.
        total: What the steps add up to, if `steps` has no length.
        size: What a step adds; 1 if not given.
        progress: False silences it.
    """
    known = len(steps) if total is None and isinstance(steps, Sized) else total
    if not progress:
        yield from steps
    elif sys.stderr.isatty() or "ipykernel" in sys.modules:
        yield from _on_a_line(steps, label, known, size)
    else:
        yield from _in_lines(steps, label, known, size)


def _on_a_line(
    steps: Iterable[T], label: str, total: int | None, size: Callable[[T], int] | None
) -> Iterator[T]:
    with warnings.catch_warnings():  # in a notebook without ipywidgets the bar is a line of text
        warnings.filterwarnings("ignore", "IProgress not found")
        from tqdm.auto import tqdm

    with tqdm(
        total=total, desc=label, delay=_QUIET_SECONDS, leave=False, file=sys.stderr, unit=""
    ) as bar:
        for step in steps:
            yield step
            bar.update(1 if size is None else size(step))


def _in_lines(
    steps: Iterable[T], label: str, total: int | None, size: Callable[[T], int] | None
) -> Iterator[T]:
    begun = told = time.monotonic()
    done = 0
    for step in steps:
        yield step
        done += 1 if size is None else size(step)
        now = time.monotonic()
        if now - told >= _LINE_SECONDS:
            told = now
            sys.stderr.write(f"{_line(label, done, total, now - begun)}\n")
            sys.stderr.flush()


def _line(label: str, done: int, total: int | None, seconds: float) -> str:
    if not total:
        return f"{label}: {done:,}"
    left = seconds * max(0, total - done) / max(1, done)
    time_left = f"{left:.0f} s" if left < _MINUTE else f"{left / _MINUTE:.0f} min"
    return f"{label}: {done:,} of {total:,}, about {time_left} left"
