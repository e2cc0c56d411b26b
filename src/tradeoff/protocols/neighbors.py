"""Recipes that count neighbors, with the rank, the inequality and the metrics of each tool.

Improved precision and recall :cite:p:`kynkaanniemi2019`, its copies in the ADM suite and in
torch-fidelity, density and coverage :cite:p:`naeem2020`, PR-cover :cite:p:`cheema2023`, and clipped
density and coverage :cite:p:`salvy2026`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tradeoff.metrics.neighbors.metrics import METRIC_KEYS
from tradeoff.metrics.neighbors.support import support_metrics

__all__ = ["NeighborRecipe"]

_SMALLEST_SUM = 1e-5


@dataclass(frozen=True)
class NeighborRecipe:
    """Neighbor metrics with published settings.

    Args:
        k: Rank of the neighbor that a ball reaches.
        metrics: Metrics that are reported.
        strict: Metrics for which a point on the surface of a ball is outside.
        cover: Multiple of k that balls of PR-cover reach.
        f_score: Whether the harmonic mean of precision and recall is reported too.
    """

    k: int = 3
    metrics: tuple[str, ...] = ("precision", "recall")
    strict: tuple[str, ...] = ()
    cover: int = 3
    f_score: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of its scores."""
        found = tuple(METRIC_KEYS[name] for name in self.metrics)
        return (*found, "knn.f_score") if self.f_score else found

    def run(
        self, real: Any, generated: Any, *, seed: int, progress: bool
    ) -> tuple[None, dict[str, float]]:
        """Scores of samples of shape (n, d) and (m, d); nothing is random."""
        values: dict[str, float] = {}
        for strict in (False, True):
            metrics = [name for name in self.metrics if (name in self.strict) == strict]
            if metrics:
                result = support_metrics(
                    real=real,
                    generated=generated,
                    k=self.k,
                    metrics=metrics,
                    strict=strict,
                    cover=self.cover,
                    progress=progress,
                )
                values |= {name: result[name].value for name in metrics}
        scores = {METRIC_KEYS[name]: values[name] for name in self.metrics}
        if self.f_score:
            precision, recall = values["precision"], values["recall"]
            f_score = 2 * precision * recall / max(_SMALLEST_SUM, precision + recall)
            scores["knn.f_score"] = f_score
        return None, scores
