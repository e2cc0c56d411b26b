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
from tradeoff.metrics.moments.parts import PartScores

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["kernel_distance"]

_OFFSET = 1.0
_ROWS = 1000


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
    """Unbiased kernel distances between two sets of samples, one for each random subset.

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
            f"Got {subset_size}: pass another one."
        )
    rng = np.random.default_rng(check_seed(seed))
    drawn = [[rng.choice(len(z), size, replace=False) for z in (x, y)] for _ in range(subsets)]
    of_x, of_y = (np.array(chosen) for chosen in zip(*drawn, strict=True))
    with np.errstate(over="ignore", invalid="ignore"):
        within = sum(
            _sums(z, z, chosen, chosen, progress) - _diagonal(z)[chosen].sum(1)
            for z, chosen in ((x, of_x), (y, of_y))
        )
        values = within / (size * (size - 1)) - 2.0 * _sums(x, y, of_x, of_y, progress) / size**2
    if not np.isfinite(values).all():
        raise InvalidInputError("Features are too large for their cubes: scale both sides down.")
    return PartScores(values)


def _sums(
    x: FloatArray,
    y: FloatArray,
    of_x: npt.NDArray[np.intp],
    of_y: npt.NDArray[np.intp],
    progress: bool,
) -> FloatArray:
    """Sums of the kernel over subsets; by way of all pairs of samples where these are fewer."""
    subsets, size = of_x.shape
    if len(x) * len(y) >= subsets * size**2:
        pairs = track(list(zip(of_x, of_y, strict=True)), "kernel distance", progress=progress)
        return np.array([_kernel(x[a], y[b]).sum() for a, b in pairs])
    in_x, in_y = (np.zeros((len(z), subsets)) for z in (x, y))
    for chosen, member in ((of_x, in_x), (of_y, in_y)):
        member[chosen, np.arange(subsets)[:, None]] = 1.0
    found = np.zeros(subsets)
    is_symmetric = x is y and of_x is of_y
    for start in track(range(0, len(x), _ROWS), "kernel distance", progress=progress):
        rows = slice(start, start + _ROWS)
        columns = slice(start if is_symmetric else 0, None)  # what is left of it was counted before
        sums = _kernel(x[rows], y[columns])
        if is_symmetric:
            sums[:, len(x[rows]) :] *= 2.0
        found += np.einsum("ij,ij->j", in_x[rows], sums @ in_y[columns])
    return found


def _kernel(x: FloatArray, y: FloatArray) -> FloatArray:
    return _cubed(x @ y.T, x.shape[1])


def _diagonal(x: FloatArray) -> FloatArray:
    return _cubed(np.einsum("ij,ij->i", x, x), x.shape[1])


def _cubed(products: FloatArray, columns: int) -> FloatArray:
    products /= columns
    products += _OFFSET
    return products * products * products  # several times as fast as a power
