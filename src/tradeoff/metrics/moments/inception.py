r"""The inception score of given class probabilities.

.. math:: \exp \mathbb{E}_Q\bigl[\mathrm{KL}(p(y \mid x) \,\|\, p(y))\bigr], \qquad
    p(y) = \mathbb{E}_Q[p(y \mid x)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import rel_entr

from tradeoff._validation import check_count, check_features
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.moments.parts import PartScores

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["inception_score"]

_ROUNDING = 1e-4


def inception_score(probabilities: npt.ArrayLike, *, splits: int = 10) -> PartScores:
    """The inception score of generated samples, given the class probabilities of each.

    It knows nothing of the real data: a model that makes one perfect image per class scores best,
    memorized or not. It depends on the classifier and its classes, rises with the size of a split,
    and consecutive splits depend on the order of the samples: shuffle them if they are sorted.

    Args:
        probabilities: Probabilities of classes for each generated sample, shape (n, classes).
        splits: Number of consecutive parts that are scored one by one; 1 scores all together.

    Example:
        Samples that a classifier is sure about, evenly over four classes:

        >>> import numpy as np
        >>> from tradeoff.metrics.moments import inception_score
        >>> round(inception_score(np.tile(np.eye(4), (25, 1)), splits=1).mean, 6)
        4.0
    """
    (p,) = check_features(probabilities=probabilities)
    splits = check_count("splits", splits)
    if splits > len(p):
        raise InvalidInputError(
            f"`splits` must be at most the number of samples, {len(p)}. Got {splits}."
        )
    if (p < 0).any() or np.abs(p.sum(1) - 1.0).max() > _ROUNDING:
        raise InvalidInputError(
            "`probabilities` must be non-negative and sum to 1 in every row. Apply a softmax to "
            "logits first."
        )
    values = np.array(
        [np.exp(rel_entr(part, part.mean(0)).sum(1).mean()) for part in np.array_split(p, splits)]
    )
    return PartScores(values)
