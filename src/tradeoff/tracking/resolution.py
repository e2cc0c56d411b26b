r"""Whether the score of a step can be trusted.

A held-out curve is an upper bound, so a weak estimator may score an untrained generator with 1. A
score is *resolved* if the estimator would not have overlooked a fault of 20%, neither one that is
planted nor one that is there:

* The first control withholds a fifth of the real data in groups, at this number of samples. The
  estimator must be able to find this loss four times in five.
* Nearest neighbors bound the same curve. Let a be the share of real samples that lie in balls
  around other real ones and b that of generated samples; let c be the share of real samples that
  lie in balls around generated ones, and d that of generated samples in balls around other
  generated ones. Who lies in a ball is a rule like any other, so

  .. math:: \alpha(\lambda) \le \lambda (1 - a) + b, \qquad \alpha(\lambda) \le \lambda c + (1 - d).

  If the F-score that these bounds leave is lower by a fault of more than 20%, the estimator misses
  something that neighbors see. An F-score F is that of a model without a share
  :math:`(2 - 2F) / (2 - F)` of the data, by which faults are subtracted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tradeoff.inference import policy

if TYPE_CHECKING:
    from tradeoff.curves import Diagnosis

__all__ = ["fault_of", "missed_by_control", "missed_by_estimator", "neighbors_f_score"]

_SLOPES = np.geomspace(1e-3, 1e3, 2001)


def fault_of(f_score: float) -> float:
    """The share of the data that a model with this F-score misses, if it does nothing else."""
    return (2.0 - 2.0 * f_score) / (2.0 - f_score)


def neighbors_f_score(*, precision: float, expected: float, recall: float, own: float) -> float:
    """The highest F-score that nearest neighbors leave.

    Args:
        precision: Share of generated samples in balls around real ones.
        expected: Share of real samples in balls around other real ones.
        recall: Share of real samples in balls around generated ones.
        own: Share of generated samples in balls around other generated ones.

    Example:
        >>> from tradeoff.tracking.resolution import neighbors_f_score
        >>> perfect = neighbors_f_score(precision=0.9, expected=0.9, recall=0.9, own=0.9)
        >>> untrained = neighbors_f_score(precision=0.025, expected=0.9, recall=0.0, own=0.9)
        >>> perfect, round(untrained, 2)
        (1.0, 0.11)
    """
    alpha = np.minimum(_SLOPES * (1.0 - expected) + precision, _SLOPES * recall + (1.0 - own))
    alpha = np.minimum(alpha, np.minimum(1.0, _SLOPES))
    return float((2.0 * alpha / (1.0 + _SLOPES)).max())


def missed_by_control(diagnosis: Diagnosis | None) -> str:
    """What the estimator did not see of a fault that was planted; empty if it saw it."""
    if diagnosis is None:
        return (
            "There are too few samples to plant a fault and look for it: both sides must have at "
            f"least {policy.FEWEST_CONTROLLED}."
        )
    if not diagnosis.controls:
        return "No fault could be planted, because the real samples form too few groups."
    first = diagnosis.controls[0]
    if first.is_reliable:
        return ""
    size = (diagnosis.decisive_count or 0.0) / first.share
    # A control compares two halves of the real samples.
    more = f"about {_rounded(2.0 * size)} real and {_rounded(size)} generated samples"
    return (
        f"The estimator would not find a planted loss of {first.share:.0%} with this many samples: "
        f"use {more}, or a stronger estimator or encoder."
    )


def missed_by_estimator(f_score: float, by_neighbors: float) -> str:
    """What nearest neighbors see and the estimator does not; empty if that is little."""
    if fault_of(by_neighbors) - fault_of(f_score) <= policy.PLANTED_FAULT:
        return ""
    return (
        f"The estimator allows an F-score of {f_score:.2f}, and nearest neighbors at most "
        f'{by_neighbors:.2f}: use a stronger estimator, such as "stack", or another encoder.'
    )


def _rounded(count: float) -> str:
    """A number of samples with two digits."""
    digits = max(len(str(int(count))) - 2, 0)
    return f"{int(np.ceil(count / 10**digits)) * 10**digits:,}"
