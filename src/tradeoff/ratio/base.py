r"""What estimators of :math:`\log p/q` share.

An estimator is a frozen configuration whose ``fit(real=, generated=, seed=)`` returns a log-ratio:
an object that maps samples to :math:`\log p/q`. Roles are keywords, seeds are explicit. What an
estimator can do besides, in a stack or in a frozen rule, are methods of `Estimator` with defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, qr

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tradeoff._validation import FloatArray

__all__ = ["Adapted", "Estimator", "FittedRatio", "LogRatio", "Part"]

T = TypeVar("T", bound=np.generic)
Floats = npt.NDArray[np.float32]

MOST_COMPONENTS = 64
"""Above this many columns, estimators of densities and trees see principal components."""
_MOST_SINGLE = 8
_MOST_ROWS = 4000
_BLOCK = 256
_SPARE = 16
_ITERATIONS = 8
_SMALLEST_VARIANCE = 1e-6
PREDICTED_AT_ONCE = 512
"""Rows of a block of predictions, which stays in the cache."""


@runtime_checkable
class LogRatio(Protocol):
    """Anything that maps samples to log p/q.

    Example:
        Known densities, two Gaussians one apart:

        >>> import numpy as np
        >>> from tradeoff.ratio import LogRatio
        >>> class Known:
        ...     def log_ratio(self, x):
        ...         return 0.5 - x[:, 0]
        >>> isinstance(Known(), LogRatio)
        True
    """

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d), shape (n,)."""


class FittedRatio:
    """A log-ratio that an estimator has fitted, and what a stack or a frozen rule needs of it."""

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d), shape (n,)."""
        raise NotImplementedError

    def log_ratio_of_each(self, x: FloatArray) -> FloatArray:
        """Log p/q by each of several fits, shape (n, fits), which a stack combines."""
        return self.log_ratio(x)[:, None]

    def to_arrays(self, project: Projection) -> dict[str, npt.NDArray[Any]]:
        """Arrays of which `Estimator.part` is made, for columns as `project` makes them."""
        raise InvalidInputError(f"{type(self).__name__} cannot be frozen.")


class Part:
    """A fitted log-ratio of plain arrays, applied to blocks of rows in single precision.

    A subclass is a dataclass whose fields are arrays, so that it is saved and loaded without
    running code. Rows are standardized before.
    """

    kind: ClassVar[str]
    """Name under which it is saved."""
    is_wide: ClassVar[bool] = False
    """Whether it sees all columns, rather than the projected ones."""
    by_columns: ClassVar[bool] = False
    """Whether it is applied to columns of a large block at once, shape (k, n)."""
    is_hint: ClassVar[bool] = False
    """Whether its scores are hints, rather than log-ratios."""

    @property
    def outputs(self) -> int:
        """Number of log-ratios of a sample."""
        return 1

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """A part of arrays by the names of its fields."""
        return cls(**arrays)

    def to_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Its arrays by name."""
        return dict(vars(self))

    def __call__(self, rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Scores of shape (n, outputs)."""
        raise NotImplementedError


class Estimator:
    """A configuration that fits a log-ratio to samples; the base class of estimators.

    Only `fit` must be written. The rest has defaults that are right for an estimator that is used
    alone, or in a stack.

    Example:
        >>> import numpy as np
        >>> from tradeoff.ratio import Estimator, Gaussians
        >>> estimator: Estimator = Gaussians()
        >>> rng = np.random.default_rng(0)
        >>> fitted = estimator.fit(
        ...     real=rng.normal(0, 1, (2000, 1)), generated=rng.normal(1, 1, (2000, 1)), seed=0
        ... )
        >>> bool(fitted.log_ratio(np.zeros((1, 1)))[0] > 0)
        True
    """

    projects: ClassVar[bool] = False
    """Whether it sees principal components in place of more than 64 columns."""
    combines: ClassVar[bool] = False
    """Whether it has members whose scores are combined."""
    sees_views_together: ClassVar[bool] = False
    """Whether it sees all views at once in a stack, too, for what no single view shows."""
    part: ClassVar[type[Part] | None] = None
    """What its fitted log-ratio becomes in a frozen rule; None if it cannot be frozen."""
    most_rows: int | None = None
    """Rows of each side that it uses at most."""

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> FittedRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        raise NotImplementedError

    def fit_projected(self, *, real: FloatArray, generated: FloatArray, seed: int) -> FittedRatio:
        """Fit on columns that are projected already."""
        return self.fit(real=real, generated=generated, seed=seed)

    def with_share(self, share: float) -> Estimator:
        """One of several fits whose mean is taken: with fewer rows if it is slow to apply."""
        return self

    def cheaper(self) -> Estimator:
        """What takes its place in a frozen stack, where a sample must cost little."""
        return self

    def counting_values(self) -> Estimator:
        """What takes its place where samples repeat few values."""
        return self

    @property
    def name(self) -> str:
        """Name of its class."""
        return type(self).__name__


@dataclass(frozen=True, repr=False)
class Adapted(Estimator):
    """An estimator from another package, which has only `fit`."""

    estimator: Any

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> FittedRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        return AdaptedRatio(self.estimator.fit(real=real, generated=generated, seed=seed))

    @property
    def name(self) -> str:
        """Name of its class."""
        return type(self.estimator).__name__

    def __repr__(self) -> str:
        return repr(self.estimator)


@dataclass(frozen=True, eq=False)
class AdaptedRatio(FittedRatio):
    """A log-ratio from another package."""

    ratio: LogRatio

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        return self.ratio.log_ratio(x)


@dataclass(frozen=True, eq=False)
class Standardizer:
    """Columns centered and scaled by both sides together; constant columns become zero."""

    center: FloatArray
    scale: FloatArray

    @classmethod
    def fit(cls, real: FloatArray, generated: FloatArray) -> Standardizer:
        """Each side counts the same, whatever its size."""
        center = 0.5 * (real.mean(0) + generated.mean(0))
        variance = np.zeros_like(center)
        for side in (real, generated):
            for rows in _blocks(side):
                z = rows - center
                variance += 0.5 * np.einsum("ij,ij->j", z, z) / len(side)
        constant = variance <= (1e-12 * np.abs(center)) ** 2
        return cls(center, np.where(constant, np.inf, np.sqrt(np.where(constant, 1.0, variance))))

    def __call__(self, x: FloatArray) -> FloatArray:
        x = x - self.center
        x /= self.scale
        return x

    def both(
        self, real: FloatArray, generated: FloatArray, dtype: npt.DTypeLike = np.float64
    ) -> npt.NDArray[Any]:
        """Both sides, one after the other; block by block, without copies on the way."""
        x = np.empty((len(real) + len(generated), len(self.center)), dtype)
        start = 0
        for side in (real, generated):
            for rows in _blocks(side):
                x[start : start + len(rows)] = self(rows)
                start += len(rows)
        return x


@dataclass(frozen=True, eq=False)
class Projection:
    """Standardized columns; above 64 of them, those that differ most and principal components.

    A difference in one column of a thousand is lost in principal components, and one that is
    spread over all of them is lost in single columns.
    """

    standardize: Standardizer
    axes: FloatArray | None

    @classmethod
    def fit(
        cls, real: FloatArray, generated: FloatArray, most: int = MOST_COMPONENTS
    ) -> Projection:
        """Components of both sides together, each counting the same."""
        standardize = Standardizer.fit(real, generated)
        if real.shape[1] <= most:
            return cls(standardize, None)
        thinned = (side[:: -(-len(side) // _MOST_ROWS)] for side in (real, generated))
        scaled = [
            standardize(side).astype(np.float32) / np.float32(len(side) ** 0.5) for side in thinned
        ]
        components = _principal_axes(np.concatenate(scaled), most - _MOST_SINGLE)
        single = np.zeros((real.shape[1], _MOST_SINGLE))
        constant = np.isinf(standardize.scale)
        difference = np.where(constant, 0.0, _difference(real, generated))
        chosen = np.argsort(-difference, kind="stable")[:_MOST_SINGLE]
        single[chosen, np.arange(_MOST_SINGLE)] = 1.0
        return cls(standardize, np.concatenate((single, components), axis=1))

    def __call__(self, x: FloatArray) -> FloatArray:
        x = self.standardize(x)
        return x if self.axes is None else x @ self.axes


def _principal_axes(x: npt.NDArray[np.float32], count: int) -> FloatArray:
    """Directions in which rows vary most, as columns, largest first; fewer if the rank is lower.

    By subspace iteration: where variances are nearly equal, any of their directions will do.
    """
    few_rows = len(x) < x.shape[1]
    product = x @ x.T if few_rows else x.T @ x
    start = np.random.default_rng(0).normal(size=(len(product), min(len(product), count + _SPARE)))
    basis = start.astype(np.float32)
    for _ in range(_ITERATIONS):
        basis = qr(product @ basis, mode="economic", overwrite_a=True, check_finite=False)[0]
    values, vectors = eigh((basis.T @ product @ basis).astype(np.float64))
    kept = np.flatnonzero(values > _SMALLEST_VARIANCE * values[-1])[::-1][:count]
    axes: FloatArray = basis @ vectors[:, kept]
    return x.T @ axes / np.sqrt(values[kept]) if few_rows else axes


def _difference(real: FloatArray, generated: FloatArray) -> FloatArray:
    """How much the means and the spreads of each column differ, in standard errors."""
    n, m = len(real), len(generated)
    means, variances = zip(*((x.mean(0), x.var(0)) for x in (real, generated)), strict=True)
    error = np.sqrt(variances[0] / n + variances[1] / m)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.abs(means[0] - means[1]) / error
        spread = np.abs(np.log(variances[0] / variances[1])) / np.sqrt(2 / n + 2 / m)
    return np.asarray(np.nan_to_num(np.maximum(shift, spread)))


def _blocks(x: FloatArray) -> Iterator[FloatArray]:
    return (x[i : i + _BLOCK] for i in range(0, len(x), _BLOCK))


def in_padded_blocks(function: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """A function of rows, applied to blocks of 512, the last one filled up.

    Products of matrices round differently for other shapes; this way a row has the same value in
    any batch.
    """
    found = [np.empty(0)]
    for start in range(0, len(x), PREDICTED_AT_ONCE):
        rows = x[start : start + PREDICTED_AT_ONCE]
        missing = PREDICTED_AT_ONCE - len(rows)
        block = np.pad(rows, ((0, missing), (0, 0)), mode="edge") if missing else rows
        found.append(function(np.ascontiguousarray(block))[: len(rows)])
    return np.concatenate(found)


def squared_distances(x: npt.NDArray[Any], centers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """By a matrix product: a kernel forgives the rounding that exact neighbors would not."""
    squares: npt.NDArray[Any] = x @ (-2.0 * centers.T)
    squares += np.einsum("ij,ij->i", x, x)[:, None]
    squares += np.einsum("ij,ij->i", centers, centers)
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def singles(values: npt.ArrayLike) -> Floats:
    """Values in single precision."""
    return np.asarray(values, np.float32)


def count_log_ratio(
    counts: Iterable[npt.NDArray[Any]], sizes: tuple[int, int] = (1, 1)
) -> FloatArray:
    """Log p/q of counts of real and generated samples, by the number of samples of each side.

    Half a sample of each side more keeps it finite, and at 0 where sizes are equal and nothing was
    counted.
    """
    real, generated = (
        np.log((count + 0.5) / size) for count, size in zip(counts, sizes, strict=True)
    )
    return np.asarray(real - generated)


def thin(rng: np.random.Generator, x: npt.NDArray[T], most: int) -> npt.NDArray[T]:
    """At most so many rows, chosen without replacement, in their order."""
    return x if len(x) <= most else x[np.sort(rng.choice(len(x), most, replace=False))]
