"""Progress of long steps: on stderr, on a terminal or in a notebook, and nowhere else."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sized
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["track"]

T = TypeVar("T")

_QUIET_SECONDS = 2.0


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
        steps: What to iterate over.
        label: What is being done.
        total: What the steps add up to, if `steps` has no length.
        size: What a step adds; 1 if not given.
        progress: False silences it.
    """
    if not (progress and (sys.stderr.isatty() or "ipykernel" in sys.modules)):
        yield from steps
        return
    with warnings.catch_warnings():  # in a notebook without ipywidgets the bar is a line of text
        warnings.filterwarnings("ignore", "IProgress not found")
        from tqdm.auto import tqdm

    known = len(steps) if total is None and isinstance(steps, Sized) else total
    with tqdm(
        total=known, desc=label, delay=_QUIET_SECONDS, leave=False, file=sys.stderr, unit=""
    ) as bar:
        for step in steps:
            yield step
            bar.update(1 if size is None else size(step))
