r"""Any scikit-learn classifier: the log-odds of "real", with the prior taken out.

:math:`\log r = \log\frac{s}{1-s} + \log\frac mn` for a share :math:`s` of "real", and n real and m
generated training samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from tradeoff._validation import FloatArray, check_features
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio.base import Estimator, FittedRatio, Standardizer

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Classifier"]

_SMALLEST_PROBABILITY = 1e-9


@dataclass(frozen=True)
class Classifier(Estimator):
    """A scikit-learn classifier on standardized columns.

    Args:
        classifier: unfitted, with `predict_proba` or `decision_function`; it is cloned, and its
            `random_state`, if it has one, is set from the seed.

    Example:
        >>> import numpy as np
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> from tradeoff.ratio import Classifier
        >>> rng = np.random.default_rng(0)
        >>> estimator = Classifier(KNeighborsClassifier(50))
        >>> fitted = estimator.fit(
        ...     real=rng.normal(0, 1, (500, 2)), generated=rng.normal(3, 1, (500, 2)), seed=0
        ... )
        >>> bool(fitted.log_ratio(np.zeros((1, 2)))[0] > 2)
        True
    """

    classifier: Any

    def __post_init__(self) -> None:
        if not any(
            hasattr(self.classifier, name) for name in ("predict_proba", "decision_function")
        ):
            raise InvalidInputError(
                "`classifier` must have `predict_proba` or `decision_function`. "
                f"Got {type(self.classifier).__name__}."
            )

    def fit(self, *, real: FloatArray, generated: FloatArray, seed: int) -> ClassifierLogRatio:
        """Fit on samples of shape (n, d) and (m, d)."""
        real, generated = check_features(real=real, generated=generated)
        standardize = Standardizer.fit(real, generated)
        model = clone(self.classifier)
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        x = np.concatenate((real, generated))
        model.fit(standardize(x), np.arange(len(x)) < len(real))
        return ClassifierLogRatio(standardize, model, float(np.log(len(generated) / len(real))))


@dataclass(frozen=True, eq=False)
class ClassifierLogRatio(FittedRatio):
    """The log-odds of a fitted classifier, with the prior taken out."""

    prepare: Callable[[FloatArray], FloatArray]
    model: Any
    log_prior: float

    def log_ratio(self, x: FloatArray) -> FloatArray:
        """Log p/q of samples of shape (n, d)."""
        x = self.prepare(x)
        if hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(x), dtype=np.float64) + self.log_prior
        share = np.clip(
            self.model.predict_proba(x)[:, 1], _SMALLEST_PROBABILITY, 1 - _SMALLEST_PROBABILITY
        )
        return np.asarray(np.log(share) - np.log1p(-share) + self.log_prior)
