"""Boosted trees: a log-ratio of axis-aligned steps, stopped early on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from tradeoff._validation import FloatArray, check_features
from tradeoff.ratio.base import Estimator, Floats, Part, Projection, singles, thin
from tradeoff.ratio.classifier import ClassifierLogRatio

__all__ = ["BoostedTrees"]

# Shallow trees of few bins: half the time of the defaults of scikit-learn, and no worse here.
_LEAVES = 15
_BINS = 64
_BITS = 16  # leaves of a tree in a part, one more than a tree has
_FINEST = 16_000  # of columns in 16 bits, such that differences fit too
_DE_BRUIJN = 0x09AF  # times a power of two: its highest four bits number the power
_RANK = np.zeros(_BITS, np.int16)
_RANK[[(1 << i) * _DE_BRUIJN % 2**16 >> 12 for i in range(_BITS)]] = np.arange(_BITS)


@dataclass(frozen=True, eq=False)
class Trees(Part):
    """Boosted trees of at most 16 leaves, by the leaves that each node rules out.

    A node whose condition fails rules out the leaves on its left; of those that are left, the
    first is the one that a sample falls into. Columns are rounded to 16 bits.
    """

    kind = "trees"
    by_columns = True
    scale: Floats  # (columns,)
    column: npt.NDArray[np.int16]  # (trees, nodes)
    threshold: npt.NDArray[np.int16]
    ruled_out: npt.NDArray[np.int16]
    values: Floats  # (trees, 16)
    constant: Floats

    def __call__(self, columns: Floats) -> Floats:
        """Log-ratios of columns of shape (k, n), shape (n, 1)."""
        scaled = columns * self.scale[:, None]
        fine = np.rint(np.clip(scaled, -_FINEST, _FINEST, out=scaled), out=scaled).astype(np.int16)
        total = np.full(columns.shape[1], self.constant[0])
        beyond, out = np.empty((2, total.size), np.int16)
        for tree in range(len(self.values)):
            out.fill(0)
            for node in range(self.column.shape[1]):
                if not self.ruled_out[tree, node]:
                    break
                # The sign of the difference, as 16 equal bits, keeps or drops the mask.
                np.subtract(self.threshold[tree, node], fine[self.column[tree, node]], out=beyond)
                np.right_shift(beyond, 15, out=beyond)
                np.bitwise_and(beyond, self.ruled_out[tree, node], out=beyond)
                np.bitwise_or(out, beyond, out=out)
            left = ~out.view(np.uint16)
            left &= -left
            total += self.values[tree, _RANK[(left * np.uint16(_DE_BRUIJN)) >> 12]]
        return total[:, None]


@dataclass(frozen=True)
class BoostedTrees(Estimator):
    """Histogram gradient boosting; above 64 columns on principal components.

    Args:
        learning_rate: Weight of each tree.
        most_iterations: Number of trees at most.
        most_rows: Rows of each side that are used at most.

    Example:
        Trees see a ring that no linear rule sees:

        >>> import numpy as np
        >>> from tradeoff.ratio import BoostedTrees
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (2000, 2)), rng.normal(0, 2, (2000, 2))
        >>> fitted = BoostedTrees().fit(real=real, generated=generated, seed=0)
        >>> near, far = fitted.log_ratio(np.array([[0.0, 0.0], [4.0, 4.0]]))
        >>> bool(near > 0 > far)
        True
    """

    projects = True
    part = Trees
    learning_rate: float = 0.2
    most_iterations: int = 100
    most_rows: int = 20_000

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> TreesLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        rng = np.random.default_rng(seed)
        real, generated = (thin(rng, side, self.most_rows) for side in (real, generated))
        project = Projection.fit(real, generated)
        x = project(np.concatenate((real, generated)))
        is_real = np.arange(len(x)) < len(real)
        smallest = min(len(real), len(generated))
        model = HistGradientBoostingClassifier(
            learning_rate=self.learning_rate,
            max_iter=self.most_iterations if smallest >= 50 else 20,
            max_leaf_nodes=_LEAVES,
            max_bins=_BINS,
            min_samples_leaf=max(2, min(20, smallest // 5)),
            early_stopping=smallest >= 50,
            validation_fraction=0.15,
            n_iter_no_change=8,
            random_state=seed,
        ).fit(x, is_real)
        # Weights would slow the trees down fifteenfold; the prior is taken out of the odds instead.
        return TreesLogRatio(project, model, float(np.log(len(generated) / len(real))))


class TreesLogRatio(ClassifierLogRatio):
    """The log-odds of boosted trees, with the prior taken out."""

    prepare: Projection

    def to_arrays(self, project: Projection) -> dict[str, npt.NDArray[Any]]:
        """Of columns that are projected already; scikit-learn's trees as arrays."""
        center, scale = self.prepare.standardize.center, self.prepare.standardize.scale
        trees = [_unfold(tree[0].nodes) for tree in self.model._predictors]
        nodes = max(len(tree[0]) for tree in trees)
        column, ruled_out = (np.zeros((len(trees), nodes), np.int64) for _ in range(2))
        threshold = np.zeros((len(trees), nodes))
        values = np.zeros((len(trees), _BITS))
        for i, (found, leaves) in enumerate(trees):
            values[i, : len(leaves)] = leaves
            for j, node in enumerate(found):
                column[i, j], threshold[i, j], ruled_out[i, j] = node
        at = np.where(np.isinf(scale[column]), 0.0, threshold * scale[column]) + center[column]
        largest = np.full(len(center), 1e-30)
        np.maximum.at(largest, column.ravel(), np.abs(at).ravel())
        by = _FINEST / 1.02 / largest
        return {
            "scale": singles(by),
            "column": column.astype(np.int16),
            "threshold": np.rint(at * by[column]).astype(np.int16),
            "ruled_out": ruled_out.astype(np.uint16).view(np.int16),
            "values": singles(values),
            "constant": singles([float(self.model._baseline_prediction.item()) + self.log_prior]),
        }


def _unfold(nodes: npt.NDArray[Any]) -> tuple[list[tuple[int, float, int]], list[float]]:
    """Column, threshold and leaves on the left of each inner node; and values of the leaves."""
    inner: list[tuple[int, float, int]] = []
    leaves: list[float] = []

    def visit(i: int) -> int:
        """The leaves below a node, as bits."""
        node = nodes[i]
        if node["is_leaf"]:
            leaves.append(float(node["value"]))
            return 1 << (len(leaves) - 1)
        left = visit(int(node["left"]))
        inner.append((int(node["feature_idx"]), float(node["num_threshold"]), left))
        return left | visit(int(node["right"]))

    visit(0)
    return inner, leaves
