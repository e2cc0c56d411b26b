r"""The kernel distance: an unbiased squared maximum mean discrepancy.

With the kernel :math:`k(x, y) = (\langle x, y\rangle / d + 1)^3` it is KID on Inception features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff._progress import track
from tradeoff._sides import by_name
from tradeoff._validation import FloatArray, check_count, check_features, check_seed
from tradeoff.exceptions import InvalidInputError
from tradeoff.moments.parts import PartScores

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["kernel_distance"]

_OFFSET = 1.0


@by_name
def kernel_distance(
    *,
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    subsets: int = 100,
    subset_size: int = 1000,
    seed: int = 0,
    progress: bool = True,
) -> PartScores:
    """The unbiased kernel distance of two samples, over random subsets.

    Unlike the Fréchet distance it is unbiased at any size, and may be negative for equal
    distributions.

    Args:
        real: Features of real samples, shape (n, d).
        generated: Features of generated samples, shape (m, d).
        subsets: Number of random subsets of both sides.
        subset_size: Number of samples of each side in a subset.
        seed: Seed of the subsets.
        progress: False silences the progress line.

    Example:
        >>> import numpy as np
        >>> from tradeoff import kernel_distance
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (500, 4)), rng.normal(1, 1, (500, 4))
        >>> near = kernel_distance(real=real[:250], generated=real[250:], subset_size=200)
        >>> far = kernel_distance(real=real, generated=generated, subset_size=200)
        >>> abs(near.mean) < 0.1 < 1.0 < far.mean
        True
    """
    x, y = check_features(real=real, generated=generated)
    size, subsets = check_count("subset_size", subset_size), check_count("subsets", subsets)
    if not 2 <= size <= min(len(x), len(y)):
        raise InvalidInputError(
            f"`subset_size` must lie between 2 and the smaller side, {min(len(x), len(y))}. "
            f"Got {subset_size}."
        )
    rng = np.random.default_rng(check_seed(seed))
    values = np.empty(subsets)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in track(range(subsets), "kernel distance", progress=progress):
            a, b = (side[rng.choice(len(side), size, replace=False)] for side in (x, y))
            values[i] = _unbiased(a, b)
    if not np.isfinite(values).all():
        raise InvalidInputError("Features are too large for their cubes: scale both sides down.")
    return PartScores(values)


def _unbiased(x: FloatArray, y: FloatArray) -> float:
    n = len(x)
    within = sum((kernel.sum() - kernel.trace()) / (n * (n - 1)) for kernel in map(_kernel, (x, y)))
    return float(within - 2.0 * _kernel(x, y).mean())


def _kernel(x: FloatArray, y: FloatArray | None = None) -> FloatArray:
    kernel: FloatArray = x @ (x if y is None else y).T
    kernel /= x.shape[1]
    kernel += _OFFSET
    return kernel * kernel * kernel  # several times as fast as a power
