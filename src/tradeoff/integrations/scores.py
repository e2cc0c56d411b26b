"""What the integrations log: the curve's headline and the neighbors' four numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tradeoff.neighbors import SupportMetrics, support_metrics
from tradeoff.ratio import CurveEstimate, pr_curve

__all__ = ["Scored", "score_features"]


@dataclass(frozen=True, eq=False)
class Scored:
    """An estimated curve, and neighbor metrics.

    Args:
        estimate: of the curve.
        support: precision, recall, density and coverage by neighbors.

    Example:
        >>> import numpy as np
        >>> from tradeoff.integrations.scores import score_features
        >>> rng = np.random.default_rng(0)
        >>> scored = score_features(
        ...     real=rng.normal(size=(300, 2)), generated=rng.normal(size=(300, 2))
        ... )
        >>> sorted(scored.values())[:2]
        ['neighbor_coverage', 'neighbor_density']
    """

    estimate: CurveEstimate
    support: SupportMetrics

    def values(self) -> dict[str, float]:
        """Numbers by name, fit for a logger."""
        precision, recall = self.estimate.headline.values()
        neighbors = {f"neighbor_{name}": s.value for name, s in self.support.scores.items()}
        return {"precision": precision, "recall": recall, **neighbors}


def score_features(
    *, real: Any, generated: Any, k: int = 5, estimator: Any = "stack", seed: int = 0
) -> Scored:
    """Both from features of either side, without a progress line.

    Args:
        real: features of real samples, shape (n, d).
        generated: features of generated samples, shape (m, d).
        k: rank of the neighbor that a ball reaches.
        estimator: of the log-ratio.
        seed: of folds and estimator.

    Example:
        >>> import numpy as np
        >>> from tradeoff.integrations.scores import score_features
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(size=(2, 300, 2))
        >>> scored = score_features(real=real, generated=generated, estimator="gaussians")
        >>> scored.support.precision > 0.9
        True
    """
    return Scored(
        pr_curve(real=real, generated=generated, estimator=estimator, seed=seed, progress=False),
        support_metrics(real=real, generated=generated, k=k, progress=False),
    )
