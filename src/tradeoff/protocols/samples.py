"""Samples as the published curves take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff._validation import FloatArray, check_features
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["check_equal_samples"]

_FEWEST_SAMPLES = 20


def check_equal_samples(
    protocol: str, *, real: npt.ArrayLike, generated: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Both sides, of one size and not too small."""
    x, y = check_features(real=real, generated=generated)
    if len(x) != len(y):
        raise InvalidInputError(
            f"`{protocol}` compares samples of one size. Got {len(x)} real and {len(y)} "
            "generated: leave out some of the larger side at random."
        )
    if len(x) < _FEWEST_SAMPLES:
        raise InvalidInputError(
            f"`{protocol}` must have at least {_FEWEST_SAMPLES} samples on each side. Got {len(x)}."
        )
    return x, y
