"""Log-ratios of samples with their prompts, of samples alone, and of prompts alone.

For pairs, members see components of the sample and of the prompt, their products, and how far the
prompt is from the one that the sample suggests. For samples alone they see the same with the real
prompt that is closest to the suggested one in place of the prompt, so that what the samples show by
themselves is not taken for a wrong prompt. All members have weights that are not negative: where
answers to one prompt lie in different folds, a weight of either sign could turn what is always
wrong into what is always right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from tradeoff.ratio.base import Estimator, FittedRatio, Projection, squared_distances
from tradeoff.ratio.gaussian import Gaussians
from tradeoff.ratio.kernel_logistic import KernelLogistic, LandmarkKernel
from tradeoff.ratio.logistic import Logistic
from tradeoff.ratio.stack import FittedMembers, Stack
from tradeoff.ratio.trees import BoostedTrees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff._validation import FloatArray
    from tradeoff.samples import View

__all__ = ["Conditioned", "Seen", "Suggestion"]

Seen = Literal["prompts", "samples", "pairs"]
_COMPONENTS = 9  # of sample and prompt each, which go together most
_PENALTY = 0.1  # in units of the mean variance of a component
_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
_LANDMARKS = 400
_LEAST_LEFT = 0.01  # of the leverage of a row that is told as if it had been left out
_TOGETHER = (Logistic(), BoostedTrees(), Gaussians(shrunk=True), KernelLogistic())


@dataclass(frozen=True)
class Conditioned(Estimator):
    """An estimator for rows that hold the views of a sample and then its prompt.

    Args:
        sees: What it looks at.
        views: Columns of each view of the sample.
        prompt: Columns of the prompt.
    """

    sees: Seen
    views: tuple[View, ...]
    prompt: View

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> FittedConditioned:
        """Fit members on each block of columns, and on sample and prompt together."""
        blocks = (self.prompt,) if self.sees == "prompts" else self.views
        fitted = [
            (view, _fit(Stack().members, _columns(view, real, generated), seed)) for view in blocks
        ]
        if self.sees == "prompts":
            return FittedConditioned(self, fitted)
        samples, prompts = (
            _columns(view, real, generated) for view in (self.views[0], self.prompt)
        )
        suggest = Suggestion.fit(samples, prompts)
        joined = [
            suggest.joined(x, y, is_real=is_real, is_known=self.sees == "pairs")
            for x, y, is_real in zip(samples, prompts, (True, False), strict=True)
        ]
        return FittedConditioned(self, fitted, suggest, _fit(_TOGETHER, joined, seed))


def _fit(members: Sequence[Estimator], sides: Sequence[FloatArray], seed: int) -> FittedMembers:
    real, generated = sides
    return FittedMembers.fit(members, real, generated, seed)


def _columns(view: View, *sides: FloatArray) -> list[FloatArray]:
    return [np.ascontiguousarray(x[:, view.columns]) for x in sides]


@dataclass(frozen=True, eq=False)
class FittedConditioned(FittedRatio):
    """Members on each block of columns, and on the columns that join sample and prompt."""

    made_by: Conditioned
    blocks: Sequence[tuple[View, FittedMembers]]
    suggest: Suggestion | None = None
    together: FittedMembers | None = None

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """The mean of all members."""
        return np.asarray(self.log_ratio_of_each(x).mean(1))

    def log_ratio_of_each(self, x: FloatArray) -> FloatArray:
        """Log p/q by each member, shape (n, members)."""
        found = [members(*_columns(view, x)).log_ratios for view, members in self.blocks]
        if self.suggest is not None and self.together is not None:
            by = self.made_by
            samples, prompts = (_columns(view, x)[0] for view in (by.views[0], by.prompt))
            joined = self.suggest.joined(samples, prompts, is_known=by.sees == "pairs")
            found.append(self.together(joined).log_ratios)
        return np.concatenate(found, axis=1)


@dataclass(frozen=True, eq=False)
class Suggestion:
    """Which prompt a sample suggests, by components that go together among real rows.

    Components come from a canonical correlation analysis with a ridge penalty; those of the prompt
    are predicted from the components of the sample and from kernels at some of the real samples.
    """

    sample: Projection
    prompt: Projection
    centers: tuple[FloatArray, FloatArray]
    axes: tuple[FloatArray, FloatArray]
    kernel: LandmarkKernel
    predicted: Ridge
    known: FloatArray

    @classmethod
    def fit(cls, samples: Sequence[FloatArray], prompts: Sequence[FloatArray]) -> Self:
        """Learn from samples and prompts of the real and the generated side.

        The generated side only helps to choose principal components.
        """
        sample, prompt = (Projection.fit(real, made) for real, made in (samples, prompts))
        x, y = sample(samples[0]), prompt(prompts[0])
        centers = x.mean(0), y.mean(0)
        x, y = x - centers[0], y - centers[1]
        root_x, root_y = (np.linalg.cholesky(_covariance(z)) for z in (x, y))
        cross = np.linalg.solve(root_x, np.linalg.solve(root_y, y.T @ x / len(x)).T)
        left, strength, right = np.linalg.svd(cross, full_matrices=False)
        kept = slice(min(_COMPONENTS, strength.size))
        axes = (
            np.linalg.solve(root_x.T, left[:, kept]),
            np.linalg.solve(root_y.T, right[kept].T),
        )
        landmarks = x[:: -(-len(x) // min(_LANDMARKS, max(1, len(x) // 3)))]
        kernel = LandmarkKernel.fit(landmarks, 1.0)
        columns = np.hstack((x, kernel(x) @ kernel.whiten))
        of_y = y @ axes[1]
        predicted, known = Ridge.fit(columns, of_y), np.unique(of_y, axis=0)
        return cls(sample, prompt, centers, axes, kernel, predicted, known)

    def of_prompts(self, prompts: FloatArray) -> FloatArray:
        """Components of prompts, shape (n, components)."""
        return np.asarray((self.prompt(prompts) - self.centers[1]) @ self.axes[1])

    def of_samples(self, samples: FloatArray) -> FloatArray:
        """Components of the prompts that samples suggest, shape (n, components)."""
        x = self.sample(samples) - self.centers[0]
        return self.predicted(np.hstack((x, self.kernel(x) @ self.kernel.whiten)))

    def joined(
        self, samples: FloatArray, prompts: FloatArray, *, is_known: bool, is_real: bool = False
    ) -> FloatArray:
        """Columns of sample and prompt together, shape (n, columns).

        Args:
            samples: Samples.
            prompts: Their prompts.
            is_known: Whether prompts are seen; else, the real one that is closest to what the
                sample suggests is used instead.
            is_real: Whether these are the rows that were learned from, of which each is told as if
                it had been left out.
        """
        used, suggested = self.of_prompts(prompts), self.of_samples(samples)
        if is_real:
            left = np.maximum(1.0 - self.predicted.leverage, _LEAST_LEFT)[:, None]
            suggested = used - (used - suggested) / left
        if not is_known:
            used = self.known[squared_distances(suggested, self.known).argmin(1)]
        of_sample = (self.sample(samples) - self.centers[0]) @ self.axes[0]
        products = of_sample[:, :, None] * used[:, None, :]
        apart = used - suggested
        fits = (apart**2).sum(1), (used * suggested).sum(1)
        return np.column_stack((of_sample, used, products.reshape(len(used), -1), *fits, apart))


@dataclass(frozen=True, eq=False)
class Ridge:
    """Linear prediction with a penalty that is chosen by leaving out each row."""

    center: FloatArray
    constant: FloatArray
    weights: FloatArray
    leverage: FloatArray

    @classmethod
    def fit(cls, x: FloatArray, y: FloatArray) -> Self:
        """Learn to predict the columns of y."""
        center, constant = x.mean(0), y.mean(0)
        left, scales, right = np.linalg.svd(x - center, full_matrices=False)
        seen = left.T @ (y - constant)
        best = None
        for penalty in _PENALTIES:
            shrunk = scales**2 / (scales**2 + penalty * len(x))
            leverage = (left**2) @ shrunk + 1.0 / len(x)
            rest = (y - constant) - left @ (shrunk[:, None] * seen)
            error = float(((rest / np.maximum(1.0 - leverage, _LEAST_LEFT)[:, None]) ** 2).mean())
            if best is None or error < best[0]:
                weights = right.T @ ((shrunk / np.maximum(scales, 1e-12))[:, None] * seen)
                best = error, weights, leverage
        assert best is not None
        return cls(center, constant, best[1], best[2])

    def __call__(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - self.center) @ self.weights + self.constant)


def _covariance(x: FloatArray) -> FloatArray:
    return np.asarray(x.T @ x / len(x) + (_PENALTY * x.var() + 1e-9) * np.eye(x.shape[1]))
