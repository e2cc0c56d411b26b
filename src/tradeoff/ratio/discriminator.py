r"""The log-ratio that a network has learned while it told real from generated samples.

A discriminator trained on the dual of an f-divergence outputs :math:`w` with
:math:`a(w) = f'(p/q)`, so :math:`p/q = (f^*)'(a(w))`. One trained with the hinge or the Wasserstein
loss has learned a sign or a slope, and no ratio.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._validation import FloatArray, check_type, to_array
from tradeoff.core.divergence import Divergence
from tradeoff.exceptions import InvalidInputError, UndefinedError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Discriminator"]

_WITHOUT_RATIO = ("hinge", "wasserstein", "wgan", "wgan-gp")


@dataclass(frozen=True, eq=False)
class Discriminator:
    """The output of a trained network as a log-ratio.

    Args:
        network: Function from samples of shape (n, …) to outputs of shape (n,) or (n, 1), before
            any activation, as an array, a tensor or a list.
        divergence: Divergence on whose dual the network was trained; `GAN` for the GAN loss
            (binary cross-entropy).

    Example:
        A logit that was trained by cross-entropy is the log-ratio itself:

        >>> import numpy as np
        >>> from tradeoff.core.divergence import GAN
        >>> from tradeoff.ratio import Discriminator
        >>> ratio = Discriminator(lambda x: 2.0 * x[:, 0], GAN())
        >>> ratio.log_ratio(np.array([[0.5], [-1.0]])).round(6)
        array([ 1., -2.])
        >>> Discriminator(lambda x: x[:, 0], "hinge")
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.UndefinedError: A network trained with the hinge loss carries no ratio:
        fit one on its features, calibrated_ratio(real=..., generated=...).
    """

    network: Callable[[Any], Any]
    divergence: Divergence

    def __post_init__(self) -> None:
        loss: object = self.divergence
        if loss in _WITHOUT_RATIO:
            raise UndefinedError(
                f"A network trained with the {loss} loss carries no ratio: fit one on its "
                "features, calibrated_ratio(real=..., generated=...)."
            )
        check_type("divergence", loss, Divergence)

    def log_ratio(self, x: Any) -> FloatArray:
        """Log p/q of samples, shape (n,)."""
        values = np.asarray(to_array(self.network(x)), dtype=np.float64)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.shape != (len(x),):
            raise InvalidInputError(
                f"`network` must return one output per sample, {len(x)}. Got shape {values.shape}."
            )
        return np.asarray(self.divergence.log_ratio(values))
