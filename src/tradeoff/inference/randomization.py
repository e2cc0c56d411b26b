r"""Whether generated samples depend on which real samples a model was trained on.

Training and held-out samples are two random parts of one set. Each generated sample votes for its
nearest real sample of both parts. A model that does not depend on the training part leaves the
labels of the *real* samples exchangeable, so the number of votes for training samples is compared
with that under random labels. With :math:`v_i` votes for real sample :math:`i` of :math:`N`, of
which a share :math:`\pi` are training samples, it has mean :math:`\pi \sum_i v_i` and variance

.. math:: \pi (1 - \pi) \frac{N}{N - 1}
   \Bigl(\sum_i v_i^2 - \tfrac{1}{N} \bigl(\sum_i v_i\bigr)^2\Bigr) .

A real sample with many votes counts as one coin, not as many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from tradeoff._result import Result
from tradeoff._threads import single_threaded
from tradeoff._validation import FloatArray
from tradeoff.inference import policy

__all__ = ["Owed", "Votes", "owed_to_training"]

_SIZES = 12
_FEWEST = 10  # votes that are counted first
_ROUNDING = 1e-9
_LABELS_AT_ONCE = 2**22
_CANDIDATES = 200  # shares of copies whose power is computed


@dataclass(frozen=True, eq=False, kw_only=True)
class Votes(Result):
    """Votes of generated samples for real samples, of which only those with votes are listed.

    Args:
        closeness: How close each generated sample is to what it votes for, shape (n,), the closest
            first to be counted; infinite for samples whose votes are not counted.
        sample: Generated sample of each vote, shape (votes,).
        unit: Real sample, or group of real samples, of each vote, shape (votes,). Their numbers
            must not depend on which of them are training samples.
        weight: Weight of each vote, shape (votes,); those of a generated sample add up to 1.
        is_training: Whether each unit with votes belongs to the training set, shape (voted units,).
        units: Number of all units, with votes or without.
        training: Number of those that belong to the training set.

    Example:
        >>> import numpy as np
        >>> from tradeoff.inference.randomization import Votes
        >>> votes = Votes(
        ...     closeness=np.array([0.1, 0.9]), sample=np.array([0, 1, 1]),
        ...     unit=np.array([0, 1, 2]), weight=np.array([1.0, 0.5, 0.5]),
        ...     is_training=np.array([True, True, False]), units=100, training=50,
        ... )
        >>> votes.counted(1), votes.counted(2)
        (array([1., 0., 0.]), array([1. , 0.5, 0.5]))
    """

    closeness: FloatArray
    sample: npt.NDArray[np.intp]
    unit: npt.NDArray[np.intp]
    weight: FloatArray
    is_training: npt.NDArray[np.bool_]
    units: int
    training: int

    def counted(self, closest: int) -> FloatArray:
        """Votes of the closest generated samples for each unit, and of all that are as close."""
        limit = np.partition(self.closeness, closest - 1)[closest - 1]
        is_counted = self.closeness[self.sample] <= limit
        unit, weight = self.unit[is_counted], self.weight[is_counted]
        return np.bincount(unit, weight, minlength=self.is_training.size).astype(float)


@dataclass(frozen=True, kw_only=True)
class Owed(Result):
    """The share of generated samples that owe their closeness to the training set.

    Args:
        value: Estimate of the share, where its lower limit is largest.
        at_least: Lower confidence limit of the share; 0 if none is established.
        p_value: P-value of the hypothesis that samples do not depend on the training set.
        detectable: Share of copies, each of another training sample and closer than other
            generated samples, that would be found four times in five; None if no share would be.

    Example:
        >>> from tradeoff.inference.randomization import Owed
        >>> Owed(value=0.05, at_least=0.03, p_value=0.001, detectable=0.01).is_established
        True
    """

    value: float
    at_least: float
    p_value: float
    detectable: float | None

    @property
    def is_established(self) -> bool:
        """Whether samples surely depend on the training set."""
        return self.at_least > 0.0


@single_threaded
def owed_to_training(
    votes: Votes,
    *,
    level: float = 0.95,
    permutations: int = policy.PERMUTATIONS,
    seed: int = 0,
) -> Owed:
    """Test whether generated samples depend on the training set, and how many of them do.

    The votes of the m closest generated samples are counted for twelve numbers m, in standard
    errors. The largest of these counts is compared with that of permuted labels, so p-value and
    limit hold for all of them together.

    Args:
        votes: Votes of generated samples for real ones.
        level: Confidence level of the limit.
        permutations: Number of random labels.
        seed: Seed of the random labels.

    Example:
        Of 1,000 generated samples, 50 are copies of different training samples, and the others
        vote for any real sample:

        >>> import numpy as np
        >>> from tradeoff.inference.randomization import Votes, owed_to_training
        >>> rng = np.random.default_rng(0)
        >>> unit = np.concatenate((np.arange(50), rng.integers(0, 2000, 950)))
        >>> votes = Votes(
        ...     closeness=np.arange(1000.0), sample=np.arange(1000), unit=unit,
        ...     weight=np.ones(1000), is_training=np.arange(2000) < 1000, units=2000, training=1000,
        ... )
        >>> found = owed_to_training(votes)
        >>> found.p_value, found.is_established, found.value >= found.at_least
        (0.0005, True, True)
    """
    size, able = votes.closeness.size, int(np.isfinite(votes.closeness).sum())
    share = votes.training / votes.units
    if not able or not 0.0 < share < 1.0:
        return Owed(value=0.0, at_least=0.0, p_value=1.0, detectable=None)
    sizes = np.unique(np.geomspace(min(_FEWEST, able), able, _SIZES).round().astype(int))
    counts = np.stack([votes.counted(int(closest)) for closest in sizes])
    mean, error = _moments(counts, share, votes.units)
    excess = counts @ votes.is_training - mean
    null = _largest(counts, mean, error, votes, permutations, np.random.default_rng(seed))
    observed = float(_standardized(excess, error).max())
    p_value = (1 + int((null >= observed - _ROUNDING).sum())) / (permutations + 1)
    rank = min(int(np.ceil(level * (permutations + 1) - _ROUNDING)), permutations)
    critical = float(np.sort(null)[rank - 1]) + _ROUNDING
    owed = excess / (1.0 - share) / size
    limits = owed - critical * error / (1.0 - share) / size
    best = int(limits.argmax())
    return Owed(
        value=max(float(owed[best]), 0.0),
        at_least=max(float(limits[best]), 0.0),
        p_value=p_value,
        detectable=_detectable(counts, error, share, critical, size),
    )


def _moments(counts: FloatArray, share: float, units: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard error of votes for training samples under permuted labels."""
    total = counts.sum(1)
    spread = np.maximum((counts**2).sum(1) - total**2 / units, 0.0)
    return share * total, np.sqrt(share * (1.0 - share) * spread * units / (units - 1))


def _standardized(excess: FloatArray, error: FloatArray) -> FloatArray:
    """Excess in standard errors; 0 where every label gives the same count."""
    return np.where(error > _ROUNDING, excess / np.maximum(error, _ROUNDING), 0.0)


def _largest(
    counts: FloatArray,
    mean: FloatArray,
    error: FloatArray,
    votes: Votes,
    permutations: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Largest standardized count for each permutation of the labels, shape (permutations,).

    Only units with votes matter: how many of them are training samples is hypergeometric.
    """
    voted = votes.is_training.size
    others = votes.units - votes.training
    chosen = rng.hypergeometric(votes.training, others, voted, permutations)
    at_once = max(1, _LABELS_AT_ONCE // voted)
    found = np.empty(permutations)
    for start in range(0, permutations, at_once):
        part = slice(start, min(start + at_once, permutations))
        labels = np.zeros((part.stop - start, voted))
        for row, number in zip(labels, chosen[part], strict=True):
            row[rng.permutation(voted)[:number]] = 1.0
        found[part] = _standardized(labels @ counts.T - mean, error).max(1)
    return found


def _detectable(
    counts: FloatArray, error: FloatArray, share: float, critical: float, size: int
) -> float | None:
    """Smallest share of copies that is found four times in five.

    Copies of different training samples take the places of the closest votes. They vote for the
    training set whatever the labels, and only the other votes that are counted with them vary.
    """
    total = counts.sum(1)
    step = np.sqrt(share * (1.0 - share))
    for copies in np.unique(np.geomspace(1, size, _CANDIDATES).round()):
        kept = 1.0 - np.minimum(copies / total, 1.0)  # of other votes
        noise = error * np.sqrt(kept)
        spread = np.sqrt(noise**2 + step**2 * np.minimum(copies, total))
        excess = np.minimum(copies, total) * (1.0 - share) - critical * spread
        power = np.where(noise > 0, ndtr(excess / np.maximum(noise, _ROUNDING)), excess > 0)
        if power.max() >= policy.FOUND:
            return float(copies / size)
    return None
