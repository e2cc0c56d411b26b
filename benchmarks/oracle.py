r"""The log-ratio that a classifier with true class labels finds: what the features allow.

P and Q are mixtures of classes whose shares :math:`p_c` and :math:`q_c` are known. With posteriors
:math:`\pi_c` of a classifier that was trained on a pool with class shares :math:`m_c`,

.. math:: r(x) = \sum_c \frac{p_c}{m_c} \pi_c(x) \Big/ \sum_c \frac{q_c}{m_c} \pi_c(x) .

The posteriors are cross-fitted over the whole pool: no image is used to fit its own. The other
judged images are, with their classes, which the oracle is allowed to know.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from benchmarks import datasets
from tradeoff import HeldOutLogRatios, RatioProfile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff import PRCurve
    from tradeoff._sides import Sides

FOLDS = 5
LANDMARKS = 1000
_COMPONENTS = 128  # of the input of the kernel
_CALIBRATED = 0.1  # share of the training rows on which posteriors are recalibrated
_LINEAR_PENALTIES = (1e-3, 1e-2, 1e-1)
_KERNEL_PENALTIES = (1e-6, 1e-5, 1e-4)
_STEPS = 60
_SAMPLED = 8000  # rows for principal components and for the preconditioner


@dataclass(frozen=True, eq=False)
class Softmax:
    """Multinomial logistic regression, as a map from features to log-posteriors."""

    center: np.ndarray
    weights: np.ndarray
    bias: np.ndarray

    @classmethod
    def fit(
        cls, x: np.ndarray, labels: np.ndarray, penalty: float, basis: np.ndarray | None = None
    ) -> Softmax:
        """Minimize the mean log-loss + penalty/2 · squared weights of the centered x @ basis."""
        center, observed = x.mean(0), np.eye(int(labels.max()) + 1, dtype=x.dtype)[labels]
        x = x - center
        axes, ridge = _preconditioned(x[:_SAMPLED], basis, penalty)

        def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
            weights = flat.reshape(-1, observed.shape[1])
            bias, inner = weights[0], (axes @ weights[1:]).astype(x.dtype)
            scores = log_softmax(x @ inner + bias.astype(x.dtype), axis=1)
            excess = (np.exp(scores) - observed) / len(x)
            slope = np.vstack([excess.sum(0), axes.T @ (x.T @ excess) + ridge * weights[1:]])
            value = -np.vdot(scores, observed) / len(x) + 0.5 * (ridge * weights[1:] ** 2).sum()
            return value, slope.ravel().astype(np.float64)

        start = np.zeros((1 + axes.shape[1]) * observed.shape[1])
        found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        weights = found.x.reshape(-1, observed.shape[1])
        return cls(center, (axes @ weights[1:]).astype(x.dtype), weights[0].astype(x.dtype))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Log-posteriors, shape (n, classes)."""
        return log_softmax((x - self.center) @ self.weights + self.bias, axis=1)


def _preconditioned(
    x: np.ndarray, basis: np.ndarray | None, penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Axes in which the Hessian is close to a multiple of the identity, and the penalty there."""
    z = x if basis is None else x @ basis.astype(x.dtype)
    variance, axes = np.linalg.eigh((z.T @ z / len(z)).astype(np.float64))
    scale = np.maximum(variance, 0) + penalty
    axes = axes / np.sqrt(scale)
    return axes if basis is None else basis @ axes, (penalty / scale)[:, None]


@dataclass(frozen=True, eq=False)
class Kernel:
    """Columns exp(−‖x − c‖² / median squared distance of landmarks), one for each landmark c.

    Columns times `basis` are Nyström features, whose products approximate the kernel.
    """

    center: np.ndarray
    axes: np.ndarray
    landmarks: np.ndarray
    width: float
    basis: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, landmarks: int, rng: np.random.Generator) -> Kernel:
        """Landmarks are random rows, in the principal components of all rows."""
        center = x.mean(0)
        sampled = x[:_SAMPLED] - center
        axes = np.linalg.eigh(sampled.T @ sampled)[1][:, -_COMPONENTS:]
        chosen = rng.choice(len(x), min(landmarks, len(x)), replace=False)
        marks = (x[chosen] - center) @ axes
        square = _squared_distances(marks, marks)
        width = float(np.median(square[~np.eye(len(marks), dtype=bool)]))
        values, vectors = np.linalg.eigh(np.exp(-square / width).astype(np.float64))
        kept = values > 1e-5 * values[-1]
        return cls(center, axes, marks, width, vectors[:, kept] / np.sqrt(values[kept]))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Kernel with the landmarks, shape (n, landmarks)."""
        square = _squared_distances((x - self.center) @ self.axes, self.landmarks)
        return np.exp(-square / self.width, out=square)


def _tuned(
    x: tuple[np.ndarray, np.ndarray],
    labels: tuple[np.ndarray, np.ndarray],
    penalties: Sequence[float],
    basis: np.ndarray | None = None,
) -> Softmax:
    """The regression on the first rows whose penalty suits the second ones best."""
    fitted = [Softmax.fit(x[0], labels[0], penalty, basis) for penalty in penalties]
    own = np.arange(len(labels[1])), labels[1]
    return max(fitted, key=lambda one: one(x[1])[own].mean())


@dataclass(frozen=True, eq=False)
class Classifier:
    """A linear and a kernel regression, combined and recalibrated on rows that neither has seen.

    The log-posterior is a weighted sum of theirs, normalized: a weighted average and a temperature.
    """

    scale: np.ndarray
    kernel: Kernel
    members: tuple[Softmax, Softmax]
    weights: np.ndarray

    @classmethod
    def fit(cls, x: np.ndarray, labels: np.ndarray, landmarks: int, seed: int) -> Classifier:
        """Fit on features of shape (n, d) and labels 0, 1, … of shape (n,)."""
        rng = np.random.default_rng(seed)
        held, fitted = np.split(rng.permutation(len(x)), [int(_CALIBRATED * len(x))])
        rows = x[fitted]
        variance = rows.var(0)
        scale = np.sqrt(variance + 0.1 * variance.mean())  # nearly constant columns stay small
        kernel = Kernel.fit(rows, landmarks, rng)
        sides = labels[fitted], labels[held]
        members = (
            _tuned((rows / scale, x[held] / scale), sides, _LINEAR_PENALTIES),
            _tuned((kernel(rows), kernel(x[held])), sides, _KERNEL_PENALTIES, kernel.basis),
        )
        raw = cls(scale, kernel, members, np.ones(2))
        return replace(raw, weights=_calibrated(raw.members_of(x[held]), labels[held]))

    def members_of(self, x: np.ndarray) -> np.ndarray:
        """Log-posteriors of the members, shape (2, n, classes)."""
        linear, curved = self.members
        return np.stack([linear(x / self.scale), curved(self.kernel(x))]).astype(np.float64)

    def posteriors(self, x: np.ndarray) -> np.ndarray:
        """Probabilities of the classes, shape (n, classes)."""
        return softmax(np.tensordot(self.weights, self.members_of(x), 1), axis=1)


def _calibrated(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights of the members, at least 0, that fit held-out labels best; they need not sum to 1."""
    own = np.arange(len(labels)), labels

    def loss(weights: np.ndarray) -> float:
        return -float(log_softmax(np.tensordot(weights, scores, 1), axis=1)[own].mean())

    start = np.full(len(scores), 1 / len(scores))
    return minimize(loss, start, method="L-BFGS-B", bounds=[(0, 10)] * len(scores)).x


def cross_fitted(
    pool: datasets.Labeled, *, folds: int = FOLDS, landmarks: int = LANDMARKS, seed: int = 0
) -> np.ndarray:
    """Posteriors of every sample by a classifier fitted on the other folds, shape (n, classes)."""
    x, labels = pool
    classes = int(labels.max()) + 1
    parts = fold_of(len(x), folds, seed)
    found = np.empty((len(x), classes))
    for part in range(folds):
        rest, own = np.flatnonzero(parts != part), np.flatnonzero(parts == part)
        fitted = Classifier.fit(x[rest], labels[rest], landmarks, seed)
        found[own] = fitted.posteriors(x[own])
    return found


def fold_of(size: int, folds: int = FOLDS, seed: int = 0) -> np.ndarray:
    """The fold of each sample, by chance and never by its label, shape (size,)."""
    return np.random.default_rng(seed).permutation(np.arange(size) % folds)


def posteriors(name: str, load: Callable[[], datasets.Labeled]) -> np.ndarray:
    """Cross-fitted posteriors of a pool, computed once and cached by the name of the pool."""
    path = datasets.CACHE / f"{name}-oracle.npy"
    if not path.exists():
        fresh = path.with_suffix(".tmp.npy")
        np.save(fresh, cross_fitted(load()))
        fresh.replace(path)
    return np.load(path)


def log_ratio(
    posterior: np.ndarray, shares: Sides[np.ndarray], pool_shares: np.ndarray
) -> np.ndarray:
    """Log p/q of samples by their posteriors of shape (n, classes), shape (n,)."""
    present = pool_shares > 0
    real, generated = (
        posterior[:, present] @ (side[present] / pool_shares[present]) for side in shares
    )
    return np.log(np.maximum(real, 1e-300)) - np.log(np.maximum(generated, 1e-300))


def counted(log_ratios: Sides[np.ndarray]) -> PRCurve:
    """The curve counted on the judged samples, as `pr_curve` counts that of an estimator."""
    return HeldOutLogRatios(**log_ratios._asdict()).curve().clipped()


def plug_in(log_ratios: Sides[np.ndarray]) -> PRCurve:
    r"""The curve of the ratios themselves, taken at their word on the judged samples.

    A sample of the mixture (P + Q)/2 weighs r/(1 + r) among real and 1/(1 + r) among generated
    ones, and :math:`\alpha(\lambda) = \sum_i \min(\lambda p_i, q_i)`. No label is counted: it is
    the precision that an ideal classifier of these features would have if the posteriors were true.
    """
    ratio = np.concatenate(log_ratios)
    weight = np.concatenate([np.full(side.size, 1 / side.size) for side in log_ratios])
    p, q = (weight / (1 + np.exp(np.clip(sign * ratio, -700, 700))) for sign in (-1, 1))
    return RatioProfile.from_masses(p / p.sum(), q / q.sum()).curve()


def _squared_distances(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    square = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y) - 2 * x @ y.T
    return np.maximum(square, 0, out=square)
