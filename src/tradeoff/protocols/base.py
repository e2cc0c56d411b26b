"""One door to every recipe, and one kind of result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tradeoff._validation import check_choice, check_features, check_seed
from tradeoff.exceptions import InvalidInputError
from tradeoff.protocols.sajjadi import Sajjadi2018
from tradeoff.protocols.simon import Simon2019
from tradeoff.provenance import software_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from tradeoff.core.curve import PRCurve

__all__ = ["PROTOCOLS", "Reproduction", "reproduce"]

_FEWEST_SAMPLES = 20

PROTOCOLS: dict[str, Callable[[], Sajjadi2018 | Simon2019]] = {
    "sajjadi-2018": Sajjadi2018,
    "simon-2019": Simon2019,
}
"""Makers of every recipe with its published settings, by name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reproduction:
    """What a recipe of the literature gives.

    Args:
        protocol: name of the recipe.
        scores: its numbers, by names that say which quantity they are.
        curve: its precision-recall curve.
        provenance: settings, seed, sizes and versions.

    Example:
        >>> import numpy as np
        >>> from tradeoff import reproduce
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (200, 2)), rng.normal(0, 1, (200, 2))
        >>> result = reproduce("sajjadi-2018", real=real, generated=generated, progress=False)
        >>> result.provenance["settings"]
        'Sajjadi2018(clusters=20, runs=10, angles=1001)'
    """

    protocol: str
    scores: Mapping[str, float]
    curve: PRCurve
    provenance: Mapping[str, Any]


def reproduce(
    protocol: str,
    *,
    real: npt.ArrayLike,
    generated: npt.ArrayLike,
    seed: int = 0,
    progress: bool = True,
) -> Reproduction:
    """Score samples as a paper did, by its name.

    Such numbers are comparable with published ones, and inherit the biases of their recipe.

    Args:
        protocol: one of `PROTOCOLS`.
        real: features of real samples, shape (n, d).
        generated: features of generated samples, shape (n, d).
        seed: of everything random.
        progress: False silences the progress line.

    Example:
        Two samples of one law: the histogram is compared on the data that made it, and falls
        short of 1.

        >>> import numpy as np
        >>> from tradeoff import reproduce
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(0, 1, (1000, 2))
        >>> result = reproduce("sajjadi-2018", real=real, generated=generated, progress=False)
        >>> 0.85 < result.curve.precision(1.0) < 0.97
        True
    """
    check_choice("protocol", protocol, PROTOCOLS)
    x, y = check_features(real=real, generated=generated)
    if len(x) != len(y):
        raise InvalidInputError(
            f"`{protocol}` compares samples of one size. Got {len(x)} real and {len(y)} "
            "generated: leave out some of the larger side at random."
        )
    if len(x) < _FEWEST_SAMPLES:
        raise InvalidInputError(
            f"`{protocol}` must have at least {_FEWEST_SAMPLES} samples of each side. Got {len(x)}."
        )
    recipe, seed = PROTOCOLS[protocol](), check_seed(seed)
    curve, scores = recipe.run(x, y, seed=seed, progress=progress)
    return Reproduction(
        protocol=protocol,
        scores=scores,
        curve=curve,
        provenance={
            "measured": f"precision-recall curve by {protocol}",
            "settings": repr(recipe),
            "seed": seed,
            "real_samples": len(x),
            "generated_samples": len(y),
            "columns": x.shape[1],
            "versions": software_versions(),
        },
    )
