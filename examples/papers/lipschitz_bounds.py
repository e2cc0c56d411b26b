r"""Lower bounds on the PR-divergence of a generator with a Lipschitz constant.

A generator :math:`G` of Gaussian latents in :math:`m` dimensions that is :math:`L`-Lipschitz
must put mass near :math:`G(0)`; one whose inverse is :math:`L`-Lipschitz cannot put much mass in
any ball. Where the real data differ from that, some PR-divergence is unavoidable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammainc

from tradeoff._validation import (
    FloatArray,
    check_count,
    check_lam,
    check_number,
    check_positive,
    check_shares,
    check_vector,
)
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["forward_lipschitz_bound", "inverse_lipschitz_bound"]


def forward_lipschitz_bound(
    lam: float,
    *,
    lipschitz: float,
    latent_dim: int,
    radii: npt.ArrayLike,
    mass: npt.ArrayLike,
) -> float:
    r"""Lower bound for a generator with :math:`\|G(z) - G(z')\| \le L\|z - z'\|`.

    .. math:: D_\lambda \ge \sup_R \left[\gamma_m(R/L) - \lambda P(B_R(G(0)))\right] - (1-\lambda)_+

    with :math:`\gamma_m(\rho)` the mass of the ball of radius :math:`\rho` under
    :math:`N(0, I_m)`. Any set of radii gives a valid bound.

    Args:
        lam: Slope λ.
        lipschitz: Constant L of the generator.
        latent_dim: Dimension m of the latents.
        radii: Radii R, shape (n,).
        mass: Share :math:`P(B_R(G(0)))` of the real data in each closed ball, shape (n,).

    Example:
        Real data with two modes at ±3, far from G(0) = 0: a 1-Lipschitz generator must also
        generate samples between them.

        >>> bound = forward_lipschitz_bound(
        ...     2.0, lipschitz=1.0, latent_dim=1, radii=[1.0, 2.0], mass=[0.0, 0.02]
        ... )
        >>> round(bound, 4)
        0.9145

    References:
        :cite:`verine2024`.
    """
    lam, radii, masses = _checked(lam, radii, mass)
    lipschitz = check_positive("lipschitz", lipschitz)
    model_mass = _gaussian_ball(latent_dim, radii / lipschitz)
    return max(0.0, float(np.max(model_mass - lam * masses)) - max(1.0 - lam, 0.0))


def inverse_lipschitz_bound(
    lam: float,
    *,
    lipschitz: float,
    latent_dim: int,
    radii: npt.ArrayLike,
    mass: npt.ArrayLike,
) -> float:
    r"""Lower bound for a generator whose inverse is L-Lipschitz.

    .. math:: D_\lambda \ge \sup_{R, x} \left[\lambda P(B_R(x)) - \gamma_m(LR)\right]
              - (\lambda - 1)_+

    Args:
        lam: Slope λ.
        lipschitz: Constant L of the inverse.
        latent_dim: Dimension m of the latents.
        radii: Radii R of balls around any points, shape (n,).
        mass: Share :math:`P(B_R(x))` of the real data in each ball, shape (n,).

    Example:
        Real data much more concentrated than the model can be:

        >>> bound = inverse_lipschitz_bound(
        ...     1.0, lipschitz=1.0, latent_dim=1, radii=[0.4], mass=[0.954]
        ... )
        >>> round(bound, 4)
        0.6432

    References:
        :cite:`verine2024`.
    """
    lam, radii, masses = _checked(lam, radii, mass)
    lipschitz = check_positive("lipschitz", lipschitz)
    model_mass = _gaussian_ball(latent_dim, radii * lipschitz)
    return max(0.0, float(np.max(lam * masses - model_mass)) - max(lam - 1.0, 0.0))


def _gaussian_ball(dim: int, radius: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(gammainc(check_count("latent_dim", dim) / 2.0, radius**2 / 2.0))


def _checked(
    lam: float, radii: npt.ArrayLike, mass: npt.ArrayLike
) -> tuple[float, FloatArray, FloatArray]:
    radii = check_lam(check_vector("radii", radii), name="radii")
    masses = check_shares("mass", check_vector("mass", mass))
    if radii.size != masses.size:
        raise InvalidInputError(
            f"`radii` and `mass` must be of one length. Got {radii.size} and {masses.size}."
        )
    return check_number("lam", lam, at_least=0.0), radii, masses
