"""Matrix products whose rounding does not depend on the number of threads."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["single_threaded"]

P = ParamSpec("P")
R = TypeVar("R")


def single_threaded(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function with one thread per product, so that its sums round the same everywhere."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with threadpool_limits(1):
            return function(*args, **kwargs)

    return run
