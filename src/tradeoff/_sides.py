"""Two values that belong together, one for each side: real first, generated second."""

from __future__ import annotations

from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Generic, NamedTuple, ParamSpec, TypeVar

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Sides", "by_name"]

P = ParamSpec("P")
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


def by_name(function: Callable[P, T]) -> Callable[P, T]:
    """Refuse sides that are passed by position, and unknown arguments; say what to write instead.

    Precision and recall change places when the sides do, so a swap would go unnoticed. The
    signature that `help` and editors show is that of the function.

    Example:
        >>> from tradeoff import pr_curve
        >>> pr_curve([[0.0]], [[1.0]])
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.InvalidInputError: Name the two sides: pr_curve(real=..., ...
    """
    parameters = signature(function).parameters.values()
    names = [one.name for one in parameters if one.kind is not Parameter.KEYWORD_ONLY]
    positional = len(names)
    known = [one.name for one in parameters]
    takes_more = any(one.kind is Parameter.VAR_KEYWORD for one in parameters)
    shown = ["..." for name in names if name not in ("cls", "self")]
    call = ", ".join((*shown, "real=...", "generated=..."))

    @wraps(function)
    def checked(*args: P.args, **named: P.kwargs) -> T:
        if len(args) > positional:
            raise InvalidInputError(f"Name the two sides: {function.__name__}({call}).")
        if takes_more:
            return function(*args, **named)
        for name in named:
            if name not in known:
                close = get_close_matches(name, known, n=1)
                meant = f"Did you mean `{close[0]}`?" if close else f"It has {', '.join(known)}."
                raise InvalidInputError(f"`{function.__name__}` has no argument `{name}`. {meant}")
        return function(*args, **named)

    return checked
