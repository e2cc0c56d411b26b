r"""Which view of a sample shows a difference, when several encoders look at it?

Each view alone has its own held-out curve, counted on the same samples in the same folds. What a
view hides is the overlap that it shows alone minus that of all views together, and what is lost
without it is the overlap that the others show minus that of all. Both have a paired variance; as in
comparisons, :math:`S^2 / (K - 1)` is added for the fits :cite:p:`nadeau2003`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tradeoff._result import Result
from tradeoff.curves.overlaps import overlap_difference
from tradeoff.inference import policy
from tradeoff.inference.shares import normal_quantile

if TYPE_CHECKING:
    from tradeoff.curves.estimate import CurveEstimate

__all__ = ["SeenView", "seen_views"]


@dataclass(frozen=True, kw_only=True)
class SeenView(Result):
    """What one view shows of the difference between two sets.

    Args:
        name: Name of the view.
        overlap: Overlap that this view alone shows.
        at_most: Upper confidence limit of the overlap by this view alone; 1 if it establishes no
            difference.
        hidden: Overlap that this view alone shows minus that of all views together.
        hidden_at_least: Lower confidence limit of it.
        lost: Overlap that the other views show without this one minus that of all views together.
        lost_at_least: Lower confidence limit of it.

    Example:
        >>> from tradeoff.curves import SeenView
        >>> shown = {"overlap": 1.0, "at_most": 1.0, "hidden": 0.3, "hidden_at_least": 0.2}
        >>> one = SeenView(name="pixels", lost=0.0, lost_at_least=-0.01, **shown)
        >>> one.sees, one.is_blind
        (False, True)
    """

    name: str
    overlap: float
    at_most: float
    hidden: float
    hidden_at_least: float
    lost: float
    lost_at_least: float

    @property
    def sees(self) -> bool:
        """Whether this view alone establishes a difference."""
        return self.at_most < 1.0

    @property
    def is_blind(self) -> bool:
        """Whether this view establishes none, while all together surely show more than it does."""
        return not self.sees and self.hidden_at_least > policy.SMALLEST_LOSS


def seen_views(estimate: CurveEstimate, *, level: float = 0.95) -> tuple[SeenView, ...]:
    """What each view of an estimate shows, in their order; empty if there is one view.

    Args:
        estimate: Estimate of samples with several views.
        level: Confidence level of each limit.

    Example:
        The two sets differ in the last of three columns, which only one view sees:

        >>> import numpy as np
        >>> from tradeoff import pr_curve
        >>> from tradeoff.curves import seen_views
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(size=(2, 500, 3))
        >>> generated[:, 2] += 1.5
        >>> views = {"meaning": 2, "style": 1}
        >>> found = seen_views(pr_curve(real=real, generated=generated, views=views))
        >>> [(view.name, view.sees) for view in found]
        [('meaning', False), ('style', True)]
    """
    distance = normal_quantile(2.0 * level - 1.0)
    most = 1.0 - min(estimate.headline["curve.overlap"], 1.0)  # counts at λ = 1 may exceed 1
    found = []
    for name, alone in estimate.views.items():
        hidden, hidden_error = overlap_difference(alone, estimate)
        lost, lost_error = overlap_difference(estimate.without[name], estimate)
        found.append(
            SeenView(
                name=name,
                overlap=min(alone.headline["curve.overlap"], 1.0),
                at_most=alone.losses(level=level).at_most("overlap"),
                hidden=min(hidden, most),
                hidden_at_least=min(hidden - distance * hidden_error, most),
                lost=min(lost, most),
                lost_at_least=min(lost - distance * lost_error, most),
            )
        )
    return tuple(found)
