r"""Frontiers of order 1 and Rényi divergences inside an exponential family.

For densities :math:`\exp(\langle\theta, T(x)\rangle - A(\theta))` the best exclusive reference has
mixed natural parameters, the best inclusive one within the family mixed mean parameters
:math:`\eta = \nabla A(\theta)`. All divergences are differences of :math:`A`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._validation import (
    FloatArray,
    check_choice,
    check_count,
    check_features,
    check_number,
    check_numbers,
    check_shares,
    check_vector,
)
from tradeoff.core.frontier import Kind, RenyiFrontier
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

__all__ = ["ExponentialFamily", "GaussianFamily"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ExponentialFamily:
    r"""An exponential family, given by its log-partition function and two gradient maps.

    Args:
        log_partition: Function :math:`A(\theta)` of a natural parameter of shape (k,); ∞ outside
            its domain.
        to_mean: Gradient :math:`\eta = \nabla A(\theta)`.
        to_natural: Inverse of `to_mean`, :math:`\theta = \nabla A^*(\eta)`.

    Example:
        Poisson distributions of rates 2 (real) and 3 (generated):

        >>> import numpy as np
        >>> from examples.papers.exponential_family import ExponentialFamily
        >>> poisson = ExponentialFamily(
        ...     log_partition=lambda t: np.exp(t).sum(), to_mean=np.exp, to_natural=np.log
        ... )
        >>> real, generated = np.log([2.0]), np.log([3.0])
        >>> round(poisson.kl(real, generated), 6)
        0.18907
        >>> poisson.frontier(
        ...     real=real, generated=generated, kind="exclusive", weight=[0.5]
        ... ).precision.round(4)
        array([0.9475])

    References:
        :cite:`djolonga2020`.
    """

    log_partition: Callable[[FloatArray], Any]
    to_mean: Callable[[FloatArray], FloatArray]
    to_natural: Callable[[FloatArray], FloatArray]

    def renyi(self, first: FloatArray, second: FloatArray, order: float) -> float:
        r"""The Rényi divergence of any order.

        .. math:: D_a = \frac{A(a\theta_1 + (1-a)\theta_2) - aA(\theta_1) - (1-a)A(\theta_2)}{a-1}

        It is infinite where :math:`a\theta_1 + (1-a)\theta_2` leaves the domain.
        """
        order = check_number("order", order, at_least=0.0)
        if order == 1:
            return self.kl(first, second)
        between = float(self.log_partition(order * first + (1.0 - order) * second))
        if math.isinf(between):
            return math.inf
        ends = order * self.log_partition(first) + (1.0 - order) * self.log_partition(second)
        return (between - float(ends)) / (order - 1.0)

    def kl(self, first: FloatArray, second: FloatArray) -> float:
        r""":math:`A(\theta_2) - A(\theta_1) - \langle\eta_1, \theta_2 - \theta_1\rangle`."""
        gap = self.log_partition(second) - self.log_partition(first)
        return float(gap - self.to_mean(first) @ (second - first))

    def reference(
        self, *, real: FloatArray, generated: FloatArray, kind: Kind, weight: float
    ) -> FloatArray:
        """The natural parameter of the best reference for a weight on Q."""
        check_choice("kind", kind, ("exclusive", "inclusive"))
        w = float(check_shares("weight", weight))
        if kind == "exclusive":
            return (1.0 - w) * real + w * generated
        return self.to_natural((1.0 - w) * self.to_mean(real) + w * self.to_mean(generated))

    def frontier(
        self, *, real: FloatArray, generated: FloatArray, kind: Kind, weight: npt.ArrayLike
    ) -> RenyiFrontier:
        """The frontier of order 1; the inclusive one among references within the family."""
        references = [
            self.reference(real=real, generated=generated, kind=kind, weight=w)
            for w in check_shares("weight", check_vector("weight", weight))
        ]
        if kind == "exclusive":
            costs = [(self.kl(r, generated), self.kl(r, real)) for r in references]
        else:
            costs = [(self.kl(real, r), self.kl(generated, r)) for r in references]
        precision, recall = np.exp(-np.array(costs)).T
        return RenyiFrontier(order=1.0, kind=kind, precision=precision, recall=recall)


class GaussianFamily(ExponentialFamily):
    r"""Gaussians in d dimensions, with :math:`\theta = (\Sigma^{-1}\mu, -\frac12\Sigma^{-1})`.

    Args:
        dim: Dimension d.

    Example:
        >>> from examples.papers.exponential_family import GaussianFamily
        >>> family = GaussianFamily(1)
        >>> real, generated = family.natural([0.0], [[1.0]]), family.natural([1.0], [[1.0]])
        >>> family.kl(real, generated), family.renyi(real, generated, 2.0)
        (0.5, 1.0)
    """

    def __init__(self, dim: int) -> None:
        object.__setattr__(self, "dim", check_count("dim", dim))
        super().__init__(
            log_partition=self._log_partition,
            to_mean=self._to_mean,
            to_natural=self._to_natural,
        )

    dim: int

    def __repr__(self) -> str:
        return f"GaussianFamily({self.dim})"

    def natural(self, mean: npt.ArrayLike, covariance: npt.ArrayLike) -> FloatArray:
        """The natural parameter of a Gaussian.

        Args:
            mean: Mean, shape (d,).
            covariance: Covariance, positive definite, shape (d, d).
        """
        mean, covariance = check_numbers("mean", mean), check_numbers("covariance", covariance)
        if mean.shape != (self.dim,) or covariance.shape != (self.dim, self.dim):
            raise InvalidInputError(
                f"A Gaussian of dimension {self.dim} needs a mean of shape ({self.dim},) and a "
                f"covariance of shape ({self.dim}, {self.dim}). "
                f"Got {mean.shape} and {covariance.shape}."
            )
        if not np.isfinite(mean).all():
            raise InvalidInputError("`mean` must be finite.")
        if not (np.isfinite(covariance).all() and np.allclose(covariance, covariance.T)):
            raise InvalidInputError("`covariance` must be finite and symmetric.")
        if not np.all(np.linalg.eigvalsh(covariance) > 0):
            raise InvalidInputError("`covariance` must be positive definite.")
        precision = np.linalg.inv(covariance)
        return np.concatenate((precision @ mean, -0.5 * precision.ravel()))

    def fit(self, samples: npt.ArrayLike) -> FloatArray:
        """The natural parameter of the Gaussian of maximum likelihood.

        It has the mean of the samples, and their covariance with divisor n.

        Args:
            samples: Samples, shape (n, d), with more samples than dimensions.

        Example:
            >>> import numpy as np
            >>> from examples.papers.exponential_family import GaussianFamily
            >>> family = GaussianFamily(1)
            >>> mean, covariance = family.moments(family.fit([[-1.0], [1.0], [3.0], [5.0]]))
            >>> mean, covariance
            (array([2.]), array([[5.]]))
        """
        (rows,) = check_features(samples=samples)
        if rows.shape[1] != self.dim:
            raise InvalidInputError(
                f"A Gaussian of dimension {self.dim} needs samples of shape (n, {self.dim}). "
                f"Got {rows.shape}."
            )
        mean = rows.mean(axis=0)
        if np.linalg.matrix_rank(rows - mean) < self.dim:
            raise InvalidInputError(
                f"`samples` must vary in all {self.dim} directions, which takes at least "
                f"{self.dim + 1} samples. Got {len(rows)}."
            )
        return self.natural(mean, np.atleast_2d(np.cov(rows, rowvar=False, bias=True)))

    def moments(self, natural: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of shape (d,) and covariance of shape (d, d) of a natural parameter."""
        shift, precision = self._split(natural, -2.0)
        covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
        return covariance @ shift, covariance

    def _log_partition(self, natural: FloatArray) -> float:
        shift, precision = self._split(natural, -2.0)
        if not np.all(np.linalg.eigvalsh(precision) > 0):
            return math.inf
        mean = np.linalg.solve(precision, shift)
        return 0.5 * float(shift @ mean - np.linalg.slogdet(precision)[1])

    def _to_mean(self, natural: FloatArray) -> FloatArray:
        mean, covariance = self.moments(natural)
        return np.concatenate((mean, (covariance + np.outer(mean, mean)).ravel()))

    def _to_natural(self, moments: FloatArray) -> FloatArray:
        mean, second = self._split(moments, 1.0)
        return self.natural(mean, second - np.outer(mean, mean))

    def _split(self, flat: FloatArray, scale: float) -> tuple[FloatArray, FloatArray]:
        square = scale * flat[self.dim :].reshape(self.dim, self.dim)
        return flat[: self.dim], 0.5 * (square + square.T)
