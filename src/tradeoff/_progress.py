"""Progress of a run on stderr: one line on a terminal or in a notebook, lines in a pipe.

A run has steps, such as embedding a side or fitting a curve, and a step counts what it has done.
The time left comes from the steps of the same kind that are done, so it is told of the whole run
only when each kind has begun.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Sized
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["Step", "clear_line", "columns_of", "expect", "step", "track", "whole_run"]

T = TypeVar("T")

_QUIET_SECONDS = 2.0
_LINE_SECONDS = 10.0  # between lines in a pipe
_DRAW_SECONDS = 0.25  # between drawings of the line on a terminal
_WORTH_TELLING = 1.0  # seconds
_MINUTE, _HOUR = 60.0, 3600.0
_NOTEBOOK_COLUMNS = 100


class Step(NamedTuple):
    """A step that a run expects.

    Args:
        label: What is being done.
        kind: Steps of a kind take time in proportion to their weights.
        weight: How long it takes, next to others of its kind.
    """

    label: str
    kind: str = "measuring"
    weight: float = 1.0


@dataclass
class _Place:
    """A step that is under way, and how far it is."""

    step: Step
    total: int | None = None
    done: int = 0
    begun: float = field(default_factory=lambda: time.monotonic())
    is_named: bool = False  # by its caller, so that what is tracked inside counts for it
    latest: int = 0  # how much was done at once, the last time
    since: float = 0.0  # seconds until then

    def start(self, total: int | None) -> None:
        """Begin to count."""
        self.done, self.latest, self.since, self.total = 0, 0, 0.0, total

    def advance(self, count: int) -> None:
        """So much more is done."""
        self.done += count
        self.latest, self.since = count, time.monotonic() - self.begun

    def left(self) -> float | None:
        """Seconds that the rest will take; None if nothing is known.

        Between two counts it goes down, until the next one is later than expected.
        """
        if not (self.total and self.done):
            return None
        passed, rest = time.monotonic() - self.begun, max(0, self.total - self.done)
        late = passed - self.since * (1.0 + self.latest / self.done)
        if late <= 0.0:
            return self.since * rest / self.done - (passed - self.since)
        return passed * max(0, rest - self.latest) / (self.done + self.latest)


class _Run:
    """The steps of a run, and the line that shows where it is."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.expected: list[Step] = []
        self.passed = 0  # number of expected steps that are done or skipped
        self.place: _Place | None = None
        self.has_begun = False  # a step, before which modules are imported and files opened
        self.spent: dict[str, tuple[float, float]] = {}  # seconds and weights of each kind
        self.stream: Any = sys.stderr
        self.is_line = "ipykernel" in sys.modules or _is_terminal(self.stream)
        self.shown = 0  # characters of the line
        self.lock, self.ended = threading.Lock(), threading.Event()

    @contextlib.contextmanager
    def inside(self, label: str, total: int | None, *, is_named: bool) -> Iterator[_Place]:
        """Be in a step; expected steps that come before it are skipped."""
        ahead = [one.label for one in self.expected[self.passed :]]
        if label in ahead:
            self.passed += ahead.index(label)
        found = self.expected[self.passed] if label in ahead else Step(label, kind="")
        around, self.place = self.place, _Place(found, total, is_named=is_named)
        self.has_begun = True
        place = self.place
        try:
            yield place
        finally:
            self.place = around
            if found.kind:
                seconds, weights = self.spent.get(found.kind, (0.0, 0.0))
                seconds += time.monotonic() - place.begun
                self.spent[found.kind] = seconds, weights + found.weight
                self.passed += 1
            if around is None:
                self.clear()

    def text(self, columns: int | None = None) -> str:
        """Where the run is, and how long it will take; without its counts where these do not fit.

        Args:
            columns: Largest number of characters; None for any number.
        """
        if (place := self.place) is None:
            return "" if self.has_begun else "starting"
        count = len(self.expected)
        told = place.step.label
        if self.passed < count > 1:
            told = f"[{self.passed + 1}/{count}] {told}"
        counts = ""
        if (place.total or 0) > 1:
            counts = f": {place.done:,} of {place.total:,}"
        elif place.done and place.total is None:
            counts = f": {place.done:,}"
        left = self._time_left(place)
        if columns is None or len(told + counts + left) <= columns:
            return told + counts + left
        return (told + left)[:columns]

    def _time_left(self, place: _Place) -> str:
        kind, weight = place.step.kind, place.step.weight
        passed = time.monotonic() - place.begun
        rates = {name: seconds / weights for name, (seconds, weights) in self.spent.items()}
        if (counted := place.left()) is not None:
            left = counted
            if kind:
                rates[kind] = (passed + left) / weight
        elif kind in rates:
            left = max(0.0, rates[kind] * weight - passed)
        else:
            return ""
        later = self.expected[self.passed + bool(kind) :]
        is_whole = all(one.kind in rates for one in later)
        if is_whole:
            left += sum(rates[one.kind] * one.weight for one in later)
        if left < _WORTH_TELLING:
            return ""
        return f", about {_duration(left)} left{'' if is_whole else ' in this step'}"

    def draw(self) -> None:
        """Show the line, or add one in a pipe."""
        with self.lock:
            text = self.text(columns_of(self.stream) - 1 if self.is_line else None)
            if not text:
                return
            if not self.is_line:
                self._write(f"{text}\n")
                return
            self._write(f"\r{text.ljust(self.shown)}")
            self.shown = len(text)

    def clear(self) -> None:
        """Remove the line from the terminal."""
        with self.lock:
            if self.shown:
                # What a terminal echoes, such as ^C, goes with it.
                rest = "\x1b[K" if _is_terminal(self.stream) else ""
                self._write(f"\r{' ' * self.shown}{rest}\r")
                self.shown = 0

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):  # nobody reads any more
            self.stream.write(text)
            self.stream.flush()

    def watch(self) -> None:
        """Draw until the run has ended; in a thread, since a step can be silent for long."""
        pause = _DRAW_SECONDS if self.is_line else _LINE_SECONDS
        if self.is_line:
            self.ended.wait(_QUIET_SECONDS)
        while not self.ended.wait(pause):
            self.draw()


_RUN: ContextVar[_Run | None] = ContextVar("run", default=None)


@contextlib.contextmanager
def whole_run(*, progress: bool = True) -> Iterator[None]:
    """Show everything inside as one run; a run inside of another one is a part of it.

    Args:
        progress: False silences all that is inside.
    """
    if _active() is not None:
        yield
        return
    with _shown(progress=progress) as run:
        token = _RUN.set(run)
        try:
            yield
        finally:
            _RUN.reset(token)


def expect(steps: Iterable[Step]) -> None:
    """Tell the run that is under way which steps follow those that it knows; some may be left out.

    Args:
        steps: Steps in their order.
    """
    if (run := _active()) is not None:
        run.expected += steps


@contextlib.contextmanager
def step(label: str) -> Iterator[None]:
    """A step of the run that is under way, if there is one; what is tracked inside counts for it.

    Args:
        label: What is being done.
    """
    if (run := _active()) is None:
        yield
        return
    with run.inside(label, None, is_named=True):
        yield


def track(
    steps: Iterable[T],
    label: str,
    *,
    total: int | None = None,
    size: Callable[[T], int] | None = None,
    progress: bool = True,
) -> Iterator[T]:
    """Yield what is iterated over, and show how far it is.

    On a terminal and in a notebook, a line shows it once it has taken two seconds; elsewhere, a
    line is added every ten seconds. Inside of a run, it is part of the line of that run.

    Args:
        steps: What to iterate over.
        label: What is being done; inside of a step, the name of the step is shown.
        total: What the steps add up to, if `steps` has no length.
        size: What a step adds; 1 if not given.
        progress: False silences it.
    """
    if not progress:
        yield from steps
        return
    known = len(steps) if total is None and isinstance(steps, Sized) else total
    with contextlib.ExitStack() as stack:
        # A run of its own is never in the context, where a generator that is left would leave it.
        run = _active() or stack.enter_context(_shown(progress=True))
        place = run.place
        if place is None or not place.is_named:
            place = stack.enter_context(run.inside(label, known, is_named=False))
        place.start(known)
        for each in steps:
            yield each
            place.advance(1 if size is None else size(each))
        place.start(None)  # the step around it may have more to do


def clear_line() -> None:
    """Remove the line of the run that is under way, before something else is written."""
    if (run := _active()) is not None:
        run.clear()


def _active() -> _Run | None:
    """The run of this context; a process that was forked from it does not write into it."""
    run = _RUN.get()
    return run if run is not None and run.process == os.getpid() else None


@contextlib.contextmanager
def _shown(*, progress: bool) -> Iterator[_Run]:
    run = _Run()
    watching = threading.Thread(target=run.watch, daemon=True, name="tradeoff progress")
    if progress:
        watching.start()
    try:
        yield run
    finally:
        run.ended.set()
        if progress:
            watching.join(1.0)
        run.clear()


def _is_terminal(stream: Any) -> bool:
    with contextlib.suppress(Exception):  # whatever stands in for a stream
        return bool(stream.isatty())
    return False


def columns_of(stream: Any) -> int:
    """Width of the terminal or notebook that a stream writes to.

    Args:
        stream: A text stream.
    """
    if "ipykernel" in sys.modules:
        return _NOTEBOOK_COLUMNS
    if (given := os.environ.get("COLUMNS", "")).isdecimal() and int(given) > 0:
        return int(given)
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.get_terminal_size(stream.fileno()).columns or _NOTEBOOK_COLUMNS
    return shutil.get_terminal_size().columns


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < _HOUR else f"{seconds / _HOUR:.1f} h"
