"""Progress of long steps: on stderr, on a terminal or in a notebook, and nowhere else."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized

__all__ = ["track"]

T = TypeVar("T")

_QUIET_SECONDS = 2.0
_REFRESH_SECONDS = 0.2
_BAR_CELLS = 24


def track(
    steps: Iterable[T], label: str, *, total: int | None = None, progress: bool = True
) -> Iterator[T]:
    """Yield the steps, and show how far they are once they have taken two seconds.

    Args:
        steps: what to iterate over.
        label: what is being done.
        total: number of steps, if `steps` has no length.
        progress: False silences it.
    """
    if not (progress and _is_watched()):
        yield from steps
        return
    total = len(steps) if total is None and _is_sized(steps) else total
    start = last = time.monotonic()
    shown = False
    for done, step in enumerate(steps):
        now = time.monotonic()
        if now - start > _QUIET_SECONDS and now - last > _REFRESH_SECONDS:
            sys.stderr.write("\r" + _line(label, done, total, now - start) + "\x1b[K")
            sys.stderr.flush()
            last, shown = now, True
        yield step
    if shown:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _line(label: str, done: int, total: int | None, seconds: float) -> str:
    if not total:
        return f"{label}: {done} in {seconds:.0f} s"
    filled = _BAR_CELLS * done // total
    left = f"{seconds * (total - done) / done:.0f} s left" if done else "..."
    return f"{label} [{'#' * filled}{'.' * (_BAR_CELLS - filled)}] {done}/{total}, {left}"


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _is_sized(steps: object) -> TypeGuard[Sized]:
    return hasattr(steps, "__len__")
