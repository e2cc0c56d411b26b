"""Recipes that count neighbors, with the rank, the inequality and the metrics of each tool.

Improved precision and recall :cite:p:`kynkaanniemi2019`, its copies in the ADM suite and in
torch-fidelity, density and coverage :cite:p:`naeem2020`, PR-cover :cite:p:`cheema2023`, and clipped
density and coverage :cite:p:`salvy2026`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tradeoff.neighbors import support_metrics

__all__ = ["NeighborRecipe"]

_PLAIN = ("precision", "recall", "density", "coverage")
_SMALLEST_SUM = 1e-5


@dataclass(frozen=True)
class NeighborRecipe:
    """Neighbor metrics with published settings.

    Args:
        k: rank of the neighbor that a ball reaches.
        strict: whether a point on the surface of a ball is outside.
        metrics: what is reported.
        cover: multiple of k that balls of PR-cover reach.
        f_score: whether the harmonic mean of precision and recall is reported too.
    """

    k: int = 3
    strict: bool = False
    metrics: tuple[str, ...] = ("precision", "recall")
    cover: int = 3
    f_score: bool = False

    def run(
        self, real: Any, generated: Any, *, seed: int, progress: bool
    ) -> tuple[None, dict[str, float]]:
        """Scores of samples of shape (n, d) and (m, d); nothing is random."""
        result = support_metrics(
            real=real,
            generated=generated,
            k=self.k,
            metrics=self.metrics,
            strict=self.strict,
            cover=self.cover,
            progress=progress,
        )
        scores = {
            f"knn.{name}" if name in _PLAIN else name.replace("_", "."): result[name].value
            for name in self.metrics
        }
        if self.f_score:
            both = result.precision + result.recall
            scores["knn.f_score"] = 2 * result.precision * result.recall / max(_SMALLEST_SUM, both)
        return None, scores
