"""Equal rows: copies of one sample, or independent draws of one value?

Copies (a file that is listed twice) must stay in one fold, or a fit would see the samples it is
judged on. Draws (categories, counts, rounded numbers) must be divided among folds, or a fit would
never see the values it is judged on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tradeoff._validation import check_choice
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy

if TYPE_CHECKING:
    from tradeoff.samples import Pair

__all__ = ["Repeats", "check_distinct"]


@dataclass(frozen=True)
class Repeats:
    """How much rows repeat, and what equal rows are taken for.

    Args:
        real: Share of real rows that are equal to another real row.
        generated: The same for generated rows.
        shared: Share of repeated rows whose value repeats on the other side too, on the side where
            it is larger.
        assumed: "copies" of one sample, or independent "draws" of one value.

    Example:
        Dice show the same six faces on both sides, a list with every file twice does not:

        >>> import numpy as np
        >>> from tradeoff.curves.repeats import Repeats
        >>> from tradeoff.samples import Pair
        >>> rng = np.random.default_rng(0)
        >>> dice = rng.integers(1, 7, (2, 500, 1)).astype(float)
        >>> Repeats.of(Pair.of(real=dice[0], generated=dice[1])).assumed
        'draws'
        >>> real, generated = rng.normal(size=(2, 500, 1))
        >>> twice = np.concatenate((generated, generated))
        >>> Repeats.of(Pair.of(real=real, generated=twice)).assumed
        'copies'
    """

    real: float
    generated: float
    shared: float
    assumed: Literal["copies", "draws"]

    @classmethod
    def of(cls, pair: Pair, asked: str = "auto") -> Repeats:
        """Count equal rows, and decide what they are where the caller does not say.

        They are draws if at least half of the rows of each side repeat, and, on one side at least,
        a third of those have values that repeat on the other side too.

        Args:
            pair: Samples of both sides.
            asked: "copies", "draws", or "auto" to decide by how rows repeat.
        """
        check_choice("repeats", asked, ("auto", "copies", "draws"))
        repeated = []
        for side in pair:
            values, counts = np.unique(side.keys, return_counts=True)
            repeated.append(values[counts > 1])
        shares, shared = [], []
        for side, own, other in zip(pair, repeated, repeated[::-1], strict=True):
            rows = side.keys[np.isin(side.keys, own)]
            shares.append(len(rows) / len(side))
            shared.append(float(np.isin(rows, other).mean()) if len(rows) else 0.0)
        divided = min(shares) >= policy.MANY_REPEATS and max(shared) >= policy.SHARED_REPEATS
        assumed: Literal["copies", "draws"] = "copies"
        if asked == "draws" or (asked == "auto" and divided):
            assumed = "draws"
        return cls(shares[0], shares[1], max(shared), assumed)

    def leave_few(self, pair: Pair) -> bool:
        """Whether copies leave too few distinct samples for a curve."""
        return not self.are_draws and any(side.has_few_values for side in pair)

    @property
    def are_draws(self) -> bool:
        """Whether equal rows are divided among folds."""
        return self.assumed == "draws"


def check_distinct(pair: Pair, asked: str = "auto", *, generated: str = "generated") -> None:
    """Check that copies leave enough distinct samples for a curve; `generated` names a model."""
    if Repeats.of(pair, asked).leave_few(pair):
        (side, *_) = (side for side in pair if side.has_few_values)
        raise InvalidInputError(
            f"`{'real' if side is pair.real else generated}` must hold more distinct samples for a "
            f"curve. Got {side.distinct} among {len(side):,}: remove the copies, or leave it out."
        )
