"""Several encoders of one sample, whose features are named views, side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._registry import resolve
from tradeoff.exceptions import InvalidInputError
from tradeoff.features.registry import ENCODERS, LOW_LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample
    from tradeoff.features.base import Encoder

__all__ = ["Views", "first_name", "parts_of", "with_low_level", "without_low_level"]

_AND = " + "
_RESERVED = frozenset("@,+")  # of keys of metrics, of lists of them, and of names of several views


@dataclass(frozen=True)
class Views:
    """Several encoders of samples of one kind; the features of each are a view with a name.

    Args:
        encoders: Encoders by the names of their views, at least two.
        added: Number of columns of the last one, if it is a low-level view that was added to an
            encoder of content; 0 if not.

    Example:
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import Function, Views
        >>> length = Function(lambda texts: [[len(text)] for text in texts], "length", "text", "1")
        >>> capitals = Function(
        ...     lambda texts: [[sum(map(str.isupper, text))] for text in texts], "case", "text", "1"
        ... )
        >>> both = Views.of([length, capitals])
        >>> both.embed([both.prepare(Sample("0", "A Rose"))]).tolist()
        [[6.0, 2.0]]
    """

    encoders: tuple[tuple[str, Encoder], ...]
    added: int = 0

    @classmethod
    def of(cls, encoders: Mapping[str, Encoder] | Sequence[Encoder]) -> Views:
        """Encoders with the names of their views, or with the last part of their own names."""
        if isinstance(encoders, Mapping):
            named = tuple(encoders.items())
        else:
            named = tuple((_view_name(one), one) for one in encoders)
        names = [name for name, _ in named]
        if len(set(names)) < len(names):
            raise InvalidInputError(
                f"`encoder` must have different views. Got {', '.join(names)}: leave one out, or "
                "name them in a dictionary."
            )
        kinds = {name: one.kind for name, one in named}
        if len(set(kinds.values())) > 1:
            found = ", ".join(f"{kind} samples by `{name}`" for name, kind in kinds.items())
            raise InvalidInputError(f"`encoder` must embed samples of one kind. Got {found}.")
        if unsuitable := [name for name in names if set(name) & _RESERVED or not name]:
            raise InvalidInputError(
                f"Names of views must not be empty or contain @, comma or +. Got {unsuitable[0]!r}."
            )
        return cls(named)

    @property
    def name(self) -> str:
        """Names of the encoders; of those whose views the user named, the names of the views."""
        return _AND.join(
            one.name if view == _view_name(one) else view for view, one in self.encoders
        )

    @property
    def kind(self) -> Kind:
        """What all of them embed."""
        return self.encoders[0][1].kind

    @property
    def preprocessing(self) -> str:
        """What each of them does to a sample beforehand."""
        return "; ".join(f"{name}: {one.preprocessing}" for name, one in self.encoders)

    @property
    def weights(self) -> str:
        """Name and hash of the weights of each, where it has some."""
        return "; ".join(f"{one.name}: {one.weights}" for _, one in self.encoders if one.weights)

    def prepare(self, sample: Sample) -> tuple[Any, ...]:
        """One sample, ready for each encoder."""
        return tuple(one.prepare(sample) for _, one in self.encoders)

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[Any]:
        """Features of all views side by side, shape (n, d)."""
        parts = zip(*prepared, strict=True)
        pairs = zip(self.encoders, parts, strict=True)
        return np.concatenate([one.embed(part) for (_, one), part in pairs], axis=1)


def parts_of(encoder: Encoder) -> tuple[tuple[str, Encoder], ...]:
    """The encoders of several views with their names, or the one encoder with its own."""
    return encoder.encoders if isinstance(encoder, Views) else ((_view_name(encoder), encoder),)


def first_name(name: str) -> str:
    """Name of the first of several encoders, from the name of all of them."""
    return name.partition(_AND)[0]


def with_low_level(encoder: Encoder) -> Encoder:
    """An encoder of content, and the one that sees how samples of its kind are made.

    Several encoders, the low-level encoder itself, and those of other kinds stay as they are.
    """
    low_level = LOW_LEVEL.get(encoder.kind)
    if low_level is None or isinstance(encoder, Views) or _view_name(encoder) == low_level:
        return encoder
    view = "".join("-" if one in _RESERVED else one for one in _view_name(encoder))
    other = resolve(ENCODERS[low_level].encoder)()
    both = Views.of({view or "encoder": encoder, low_level: other})
    return replace(both, added=len(other.columns))


def without_low_level(encoder: Encoder) -> Encoder:
    """The encoder of content alone, of one to which `with_low_level` added another."""
    return encoder.encoders[0][1] if isinstance(encoder, Views) and encoder.added else encoder


def _view_name(encoder: Encoder) -> str:
    return encoder.name.rstrip("/").rpartition("/")[2]
