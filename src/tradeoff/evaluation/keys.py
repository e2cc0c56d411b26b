"""What can be measured, by names that say which quantity they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tradeoff.core.headline import HEADLINE_PRECISION_LAM, HEADLINE_RECALL_LAM
from tradeoff.exceptions import InvalidInputError
from tradeoff.neighbors.metrics import METRIC_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["KEYS", "NEIGHBOR_METRICS", "Meaning", "resolve_keys"]


class Meaning(NamedTuple):
    """What a key means, and the side that its values for single samples are about."""

    text: str
    side: str | None = None


KEYS: dict[str, Meaning] = {
    "curve.precision": Meaning(f"realistic, at λ = {HEADLINE_PRECISION_LAM:g}"),
    "curve.recall": Meaning(f"covered, at λ = {HEADLINE_RECALL_LAM:g}"),
    "curve.f_score": Meaning("best balance of both"),
    "curve.area": Meaning("the whole trade-off"),
    "knn.precision": Meaning("generated near a real one", "generated"),
    "knn.recall": Meaning("real near a generated one", "real"),
    "knn.density": Meaning("depth among real, may pass 1", "generated"),
    "knn.coverage": Meaning("real balls that are hit", "real"),
    "knn.authenticity": Meaning("not too close to a real one", "generated"),
    "knn.realism": Meaning("median depth, 1 is the edge", "generated"),
    "clipped.density": Meaning("density without outliers", "generated"),
    "clipped.coverage": Meaning("coverage without outliers", "real"),
    "cover.precision": Meaning("generated amid real ones", "generated"),
    "cover.recall": Meaning("real amid generated ones", "real"),
    "frechet.distance": Meaning("of Gaussians, 0 is best"),
    "kernel.distance": Meaning("unbiased, 0 is best"),
    "copies.of_real": Meaning("identical to a real one", "generated"),
    "copies.within": Meaning("identical to an earlier one", "generated"),
}
"""Every quantity that `evaluate` knows."""

_LEFT_OUT = ("knn.realism",)  # of a family, unless asked for by its own name


def resolve_keys(metrics: Sequence[str]) -> tuple[str, ...]:
    """Keys of metrics and families, in the order of `KEYS`."""
    families = list(dict.fromkeys(key.partition(".")[0] for key in KEYS))
    wanted = set()
    for name in metrics:
        same = [key for key in KEYS if key.partition(".")[2] == name]
        if name in KEYS:
            wanted.add(name)
        elif name in families:
            wanted |= {k for k in KEYS if k.startswith(f"{name}.") and k not in _LEFT_OUT}
        elif same:
            raise InvalidInputError(
                f"`{name}` is several quantities: say which of {', '.join(same)}."
                if len(same) > 1
                else f"`{name}` has a full name: {same[0]}."
            )
        else:
            raise InvalidInputError(
                f"`metrics` must be families ({', '.join(families)}) or keys such as "
                f"knn.density. Got {name!r}."
            )
    if not wanted:
        raise InvalidInputError("`metrics` must name at least one metric or family. Got none.")
    return tuple(key for key in KEYS if key in wanted)


NEIGHBOR_METRICS = {key: name for name, key in METRIC_KEYS.items()}
"""Names of neighbor metrics by their key."""
