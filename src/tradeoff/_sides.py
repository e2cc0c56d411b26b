"""Two values that belong together, one for each side: real first, generated second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Sides"]

T = TypeVar("T")
U = TypeVar("U")


class Sides(NamedTuple, Generic[T]):
    """The same thing of both sides; it iterates in this order.

    Args:
        real: Value of the real side.
        generated: Value of the generated side.

    Example:
        >>> from tradeoff.samples import Sides
        >>> Sides(real=[1, 2, 3], generated=[4]).map(len)
        Sides(real=3, generated=1)
    """

    real: T
    generated: T

    def map(self, function: Callable[[T], U]) -> Sides[U]:
        """Apply a function to both."""
        return Sides(function(self.real), function(self.generated))
