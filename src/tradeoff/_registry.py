"""Things by name: declared without importing them, found when they are used.

What other packages declare under an entry point of the registry's group is found too.
"""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Declaration", "Registry", "resolve", "suggestion"]


class Declaration(Protocol):
    """What a registry holds: a name and whatever else is known without importing anything."""

    @property
    def name(self) -> str:
        """Name by which it is asked for."""


D = TypeVar("D", bound=Declaration)


class Registry(Generic[D]):
    """Declarations by name, in the order in which they were made.

    Args:
        noun: What is declared, for messages.
        group: Entry point under which other packages declare theirs.
        declared: The ones that tradeoff brings.

    Example:
        >>> from tradeoff.ratio.registry import ESTIMATORS
        >>> "logistic" in ESTIMATORS
        True
        >>> ESTIMATORS["logistik"]
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.InvalidInputError: Unknown estimator `logistik`. Did you mean
        `logistic`?
    """

    def __init__(self, noun: str, group: str, declared: Iterable[D]) -> None:
        self.noun, self.group = noun, group
        self._declared = {declaration.name: declaration for declaration in declared}

    @cached_property
    def _found(self) -> dict[str, D]:
        found = dict(self._declared)
        for entry in entry_points(group=self.group):
            try:
                declaration = entry.load()
            except Exception as error:  # of a package of somebody else
                warnings.warn(
                    f"The {self.noun} `{entry.name}` of {entry.value} cannot be loaded: {error}.",
                    stacklevel=2,
                )
                continue
            if declaration.name in self._declared:
                warnings.warn(
                    f"The {self.noun} `{declaration.name}` of {entry.value} is ignored: there is "
                    "one of this name already.",
                    stacklevel=2,
                )
                continue
            found[declaration.name] = declaration
        return found

    def register(self, declaration: D) -> D:
        """Add a declaration; a name can be taken only once."""
        if declaration.name in self._found:
            raise InvalidInputError(f"There is a {self.noun} `{declaration.name}` already.")
        self._found[declaration.name] = declaration
        return declaration

    def unregister(self, name: str) -> None:
        """Remove a declaration that `register` added."""
        del self._found[self[name].name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __getitem__(self, name: str) -> D:
        if name not in self._found:
            raise InvalidInputError(f"Unknown {self.noun} `{name}`. {suggestion(name, self)}")
        return self._found[name]

    def values(self) -> list[D]:
        """All declarations."""
        return list(self._found.values())


def resolve(target: Any) -> Any:
    """What ``package.module:name`` names; anything that is not text as it is."""
    if not isinstance(target, str):
        return target
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def suggestion(name: object, known: Iterable[str]) -> str:
    """A sentence with the known name that is closest, or with all of them."""
    names = list(known)
    close = get_close_matches(str(name).lower(), names, n=1)
    return f"Did you mean `{close[0]}`?" if close else f"Choose one of {', '.join(names)}."
