"""Groups of the size that a control states: how often are they found when they are missing?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.known.curves import curve_in_one_process
from tradeoff.curves.diagnosis import diagnose_pair
from tradeoff.samples import Pair, Side

if TYPE_CHECKING:
    import numpy.typing as npt

GROUPS, COLUMNS = 24, 8
_SPREAD = 2.5


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, npt.NDArray[np.intp]]:
    """Samples of groups that overlap, of unequal shares, and the group of each."""
    setup = np.random.default_rng(11)
    means = setup.normal(size=(GROUPS, COLUMNS)) * _SPREAD
    shares = setup.dirichlet(np.full(GROUPS, 5.0))
    group = rng.choice(GROUPS, n, p=shares)
    return means[group] + rng.normal(size=(n, COLUMNS)), group


def found_at_the_stated_size(n: int, seed: int, *, labeled: bool) -> dict[str, Any]:
    """The size that a control states, and whether other groups of that size are found.

    They are missing from generated samples ("recall"), or from the real ones ("precision").

    Args:
        n: Number of samples of each side.
        seed: Seed of the samples.
        labeled: Whether the control knows the groups, or forms clusters.
    """
    rng = np.random.default_rng(seed)
    x, group = drawn(rng, n)
    y, _ = drawn(rng, n)
    labels = tuple(map(str, group)) if labeled else ()
    pair = Pair(Side(name="real", features=x, labels=labels), Side(name="generated", features=y))
    stated = diagnose_pair(pair, seed=seed, jobs=1, progress=False).smallest_reliable
    if stated is None:
        return {"stated": None}
    whole, part = _sides_without(rng, n, stated)
    found: dict[str, Any] = {"stated": stated}
    for kind, sides in (("recall", (whole, part)), ("precision", (part, whole))):
        both = dict(zip(("real", "generated"), sides, strict=True))
        losses = curve_in_one_process(both, seed=seed).losses()
        found[kind] = bool(getattr(losses, kind))
    return found


def _sides_without(rng: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Fresh samples of all groups, and of all but random ones that make up about a share."""
    whole, group = drawn(rng, n)
    shares = np.bincount(group, minlength=GROUPS) / n
    missing: list[int] = []
    for one in rng.permutation(GROUPS):
        if abs(shares[[*missing, one]].sum() - share) <= abs(shares[missing].sum() - share):
            missing.append(int(one))
    more, group = drawn(rng, 2 * n)
    return whole, more[~np.isin(group, missing)][:n]
