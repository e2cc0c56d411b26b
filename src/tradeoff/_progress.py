"""Progress of long steps: on stderr, on a terminal or in a notebook, and nowhere else."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, TypeGuard, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sized

__all__ = ["track"]

T = TypeVar("T")

_QUIET_SECONDS = 2.0
_REFRESH_SECONDS = 0.2
_BAR_CELLS = 24


def track(
    steps: Iterable[T],
    label: str,
    *,
    total: int | None = None,
    size: Callable[[T], int] | None = None,
    progress: bool = True,
) -> Iterator[T]:
    """Yield the steps, and show how far they are once they have taken two seconds.

    Args:
        steps: what to iterate over.
        label: what is being done.
        total: what the steps add up to, if `steps` has no length.
        size: what a step adds; 1 if not given.
        progress: False silences it.
    """
    if not (progress and _is_watched()):
        yield from steps
        return
    total = len(steps) if total is None and _is_sized(steps) else total
    start = last = time.monotonic()
    shown, done = False, 0
    for step in steps:
        now = time.monotonic()
        if now - start > _QUIET_SECONDS and now - last > _REFRESH_SECONDS:
            line = _line(label, done, total, now - start)
            sys.stderr.write("\r" + line[: shutil.get_terminal_size().columns - 1] + "\x1b[K")
            sys.stderr.flush()
            last, shown = now, True
        yield step
        done += 1 if size is None else size(step)
    if shown:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def _line(label: str, done: int, total: int | None, seconds: float) -> str:
    rate = done / seconds
    speed = f"{rate:.3g}/s" if rate >= 1 or not done else f"{1 / rate:.3g} s each"
    if not total:
        return f"{label}: {done:,} in {_time(seconds)}, {speed}"
    done = min(done, total)
    filled = _BAR_CELLS * done // total
    left = f"{speed}, {_time((total - done) / rate)} left" if done else "..."
    return f"{label} [{'#' * filled}{'.' * (_BAR_CELLS - filled)}] {done:,}/{total:,}, {left}"


def _time(seconds: float) -> str:
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 6000 else f"{whole // 3600} h {whole % 3600 // 60} min"


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _is_sized(steps: object) -> TypeGuard[Sized]:
    return hasattr(steps, "__len__")
