r"""Which step is kept, and when later ones are shown to be worse.

Step j has the error probability :math:`\alpha_j = \alpha / (j (j + 1))`, and all steps together,
however many there will be, have :math:`\alpha`. It is shared by the test of the condition of the
goal, if there is one, and by the comparisons with the j - 1 steps before: which one of them is kept
depends on the measurements, so a test must hold for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tradeoff._text import in_percent
from tradeoff.comparison.curves import difference_of

if TYPE_CHECKING:
    from tradeoff.goals import Best
    from tradeoff.tracking.measuring import MeasuredStep

__all__ = ["Selection"]

Rank = tuple[bool, float]


class Selection:
    """The kept step, and how many later ones in a row are shown to be worse.

    Args:
        goal: What steps are chosen for.
        level: Confidence level of all tests together.
        patience: Number of worse steps in a row after which to stop.
    """

    def __init__(self, goal: Best, *, level: float, patience: int) -> None:
        self.goal, self.level, self.patience = goal, level, patience
        self.kept: MeasuredStep | None = None
        self.rank: Rank | None = None
        self.looks = self.worse = 0

    @property
    def stop_reason(self) -> str:
        """Why to stop; empty if there is no reason."""
        if self.kept is None or self.worse < self.patience:
            return ""
        return (
            f"The last {self.worse} evaluated steps are worse than step {self.kept.row.step:,} by "
            f"the {self.goal}, with {in_percent(self.level)} confidence for all steps together."
        )

    def add(self, found: MeasuredStep) -> bool:
        """Take a step in, in the order of the steps; whether it is kept."""
        if not found.row.resolved:
            # An unknown score is no evidence; broken samples after better ones are.
            broken = found.row.is_broken and self.kept is not None
            self.worse = self.worse + 1 if broken else 0
            return False
        self.looks += 1
        rank = self._rank(found)
        is_worse = rank is None or self._is_surely_worse(found)
        if rank is not None and not is_worse and (self.rank is None or rank > self.rank):
            self.kept, self.rank, self.worse = found, rank, 0
            return True
        self.worse = self.worse + 1 if is_worse else 0
        return False

    @property
    def _error(self) -> float:
        """Error probability of each kind of test at this step."""
        kinds = 1 if self.goal.given is None else 2
        return (1.0 - self.level) / (self.looks * (self.looks + 1) * kinds)

    def _rank(self, found: MeasuredStep) -> Rank | None:
        """Whether the condition is met, and the score; None if the step surely violates it."""
        given, score = self.goal.given, found.row.score
        assert score is not None
        assert found.estimate is not None
        if given is None:
            return True, score
        level = 1.0 - 2.0 * self._error  # of an interval, of which one end is looked at
        value, _, highest = found.estimate.shown(given.key, given.slope, level=level)
        if highest < given.above:
            return None
        return (True, score) if value >= given.above else (False, value)

    def _is_surely_worse(self, found: MeasuredStep) -> bool:
        if self.kept is None:
            return False
        assert found.estimate is not None
        assert self.kept.estimate is not None
        tested = difference_of(self.goal, found.estimate, self.kept.estimate)
        return bool(tested.value < 0 and tested.p_value < self._error / (self.looks - 1))
