"""One function for every recipe, and one kind of result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tradeoff._result import Result
from tradeoff._sides import by_name
from tradeoff._validation import check_choice, check_seed
from tradeoff.core.curve import PRCurve
from tradeoff.metrics.neighbors.support import FOUR
from tradeoff.protocols.neighbors import NeighborRecipe
from tradeoff.protocols.sajjadi import Sajjadi2018
from tradeoff.protocols.simon import Simon2019
from tradeoff.protocols.text import LeBronnec2024, Pillutla2021
from tradeoff.provenance import software_versions

__all__ = ["PROTOCOLS", "Published", "Reproduction", "reproduce"]


class Recipe(Protocol):
    """Settings of a published recipe, and how it scores samples."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of its scores."""

    def run(
        self, real: Any, generated: Any, *, seed: int, progress: bool
    ) -> tuple[PRCurve | None, dict[str, float]]:
        """Check samples of shape (n, d) and (m, d); their curve, if it has one, and scores."""


@dataclass(frozen=True)
class Published:
    """A recipe of the literature, and the features with which its numbers were published.

    Args:
        recipe: Recipe with its published settings.
        source: Publication.
        encoder: Encoder of images; "any" if the source leaves it open.
        samples: Usual number of samples of each side; None if that is left open.

    Example:
        >>> from tradeoff.protocols import PROTOCOLS
        >>> PROTOCOLS["adm"].encoder
        'inception-2015-12-05.pt'
    """

    recipe: Recipe
    source: str
    encoder: str = "any"
    samples: str | None = None


_INCEPTION = "inception-2015-12-05.pt"
_VGG = "vgg16.pt"
_GPT2 = "gpt2-large, last token"

PROTOCOLS: dict[str, Published] = {
    "sajjadi-2018": Published(
        Sajjadi2018(), "Sajjadi et al. 2018", _INCEPTION, "as many real as generated"
    ),
    "simon-2019": Published(Simon2019(), "Simon et al. 2019", samples="as many real as generated"),
    "kynkaanniemi-2019": Published(
        NeighborRecipe(), "Kynkäänniemi et al. 2019", _VGG, "50,000 of each"
    ),
    "adm": Published(
        NeighborRecipe(),
        "guided-diffusion evaluator, Dhariwal and Nichol 2021",
        _INCEPTION,
        "10,000 real, 50,000 generated",
    ),
    "torch-fidelity": Published(NeighborRecipe(f_score=True), "torch-fidelity 0.4", _INCEPTION),
    "prdc-2020": Published(
        NeighborRecipe(k=5, metrics=FOUR, strict=FOUR),
        "Naeem et al. 2020",
        samples="10,000 of each",
    ),
    "cheema-2023": Published(
        NeighborRecipe(metrics=("cover_precision", "cover_recall")), "Cheema and Urner 2023"
    ),
    "salvy-2026": Published(
        NeighborRecipe(
            k=5, metrics=("clipped_density", "clipped_coverage"), strict=("clipped_coverage",)
        ),
        "Salvy et al. 2026",
    ),
    "pillutla-2021": Published(
        Pillutla2021(), "MAUVE, Pillutla et al. 2021, mauve-text 0.4", _GPT2, "5,000 of each"
    ),
    "lebronnec-2024": Published(LeBronnec2024(), "Le Bronnec et al. 2024", _GPT2, "4,000 of each"),
}
"""Every recipe with its published settings, by name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reproduction(Result):
    """What a recipe of the literature gives.

    Args:
        protocol: Name of the recipe.
        scores: Values by names that say which quantity they are.
        curve: Precision-recall curve; None if there is none.
        provenance: Settings, seed, sizes and versions.

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
    curve: PRCurve | None
    provenance: Mapping[str, Any]


@by_name
def reproduce(
    protocol: str,
    *,
    real: Any,
    generated: Any,
    seed: int = 0,
    progress: bool = True,
) -> Reproduction:
    """Score samples as a paper did, by its name.

    Such numbers are comparable with published ones, and inherit the biases of their recipe.

    Args:
        protocol: Name in `PROTOCOLS`.
        real: Features of real samples, shape (n, d).
        generated: Features of generated samples, shape (m, d); some recipes require m = n.
        seed: Seed of everything random.
        progress: False silences the progress line.

    Example:
        Two samples of the same distribution: the histogram is compared on the data that made
        it, and falls short of 1.

        >>> import numpy as np
        >>> from tradeoff import reproduce
        >>> rng = np.random.default_rng(0)
        >>> real, generated = rng.normal(0, 1, (1000, 2)), rng.normal(0, 1, (1000, 2))
        >>> result = reproduce("sajjadi-2018", real=real, generated=generated, progress=False)
        >>> 0.85 < result.curve.precision(1.0) < 0.97
        True
        >>> result = reproduce("prdc-2020", real=real, generated=generated, progress=False)
        >>> sorted(result.scores)
        ['knn.coverage', 'knn.density', 'knn.precision', 'knn.recall']
    """
    check_choice("protocol", protocol, PROTOCOLS)
    recipe, seed = PROTOCOLS[protocol].recipe, check_seed(seed)
    curve, scores = recipe.run(real, generated, seed=seed, progress=progress)
    (n, d), (m, _) = np.shape(real), np.shape(generated)
    return Reproduction(
        protocol=protocol,
        scores=scores,
        curve=curve,
        provenance={
            "measured": f"{', '.join(scores)} by {protocol}",
            "settings": repr(recipe),
            "seed": seed,
            "samples": {"real": n, "generated": m},
            "columns": d,
            "versions": software_versions(),
        },
    )
