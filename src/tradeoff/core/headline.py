"""Slopes at which precision and recall are reported, and the keys that they are reported under."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tradeoff.core.curve import PRCurve

__all__ = ["HEADLINE_PRECISION_LAM", "HEADLINE_RECALL_LAM", "HEADLINE_SLOPES", "headline_of"]

HEADLINE_PRECISION_LAM = 20.0
"""Slope at which precision is reported."""
HEADLINE_RECALL_LAM = 0.4
"""Slope at which recall is reported."""
HEADLINE_SLOPES = {"precision": HEADLINE_PRECISION_LAM, "recall": HEADLINE_RECALL_LAM}
"""Both of them, by what is reported."""


def headline_of(curve: PRCurve) -> dict[str, float]:
    """The headline numbers of a curve, by the keys that they have in every result."""
    return {
        f"curve.{kind}": float(getattr(curve, kind)(lam)) for kind, lam in HEADLINE_SLOPES.items()
    }
