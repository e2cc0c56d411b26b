"""From a measured pair to what the model misses and invents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from tradeoff._sides import Sides
from tradeoff.explain.classes import class_losses, classes_of
from tradeoff.explain.filtering import filtering_of
from tradeoff.explain.groups import (
    Formed,
    coordinates_of,
    examples_of,
    flags_enough,
    form_groups,
    nearest_of_other,
)
from tradeoff.explain.names import class_name, rule_name, words_name
from tradeoff.explain.previews import contents_of, name_of, preview_of
from tradeoff.explain.result import ClosePair, Example, Explanation, Group, GroupedLoss
from tradeoff.explain.shares import Counted, Flagged
from tradeoff.features.table import TableEncoder
from tradeoff.inference import policy

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.curves.estimate import CurveEstimate
    from tradeoff.data.base import Sample, Source
    from tradeoff.inference.losses import Loss, Losses
    from tradeoff.samples import Pair

__all__ = ["closest_pairs", "explain_pair"]


def explain_pair(
    pair: Pair,
    estimate: CurveEstimate,
    single: CurveEstimate,
    *,
    losses: Losses,
    sources: Sides[Source | None],
    encoder: Any = None,
    estimator: Any = "stack",
    level: float = 0.95,
    seed: int = 0,
) -> Explanation:
    """What a model misses and invents, at the slopes at which losses are established.

    Args:
        pair: The two samples.
        estimate: Their curve.
        single: Their curve from a single split, of which the training half forms groups and the
            other half counts them.
        losses: What is established of losses.
        sources: Sources of both sides, from which shown samples are read; None where they are gone.
        encoder: Encoder of the samples, which names the columns of tables.
        estimator: Estimator of log p/q.
        level: Confidence level of the limits.
        seed: Seed of everything random.
    """
    missed = _flagged("recall", losses.recall, single)
    invented = _flagged("precision", losses.precision, single)
    places = coordinates_of(_clearest(pair, single), single)
    found = [form_groups(places, single, one, level=level, seed=seed) for one in (missed, invented)]
    formed = [one for one in found if one is not None]
    nearness = coordinates_of(pair.first, single) if pair.views else places
    shown = _Shown.of(pair, places, nearness, formed, sources, encoder)
    classes = classes_of(pair, estimate, seed=seed)
    return Explanation(
        level=level,
        missed=shown.grouped(found[0], estimate, single, level),
        invented=shown.grouped(found[1], estimate, single, level),
        classes=()
        if classes is None
        else class_losses(*classes[:2], estimate, (missed, invented), level=level),
        classes_by="" if classes is None else classes[2],
        filtering=filtering_of(
            pair,
            single,
            estimator=estimator,
            factors=(missed.factor, invented.factor),
            level=level,
            seed=seed,
        ),
        closest=shown.closest(),
    )


def _clearest(pair: Pair, single: CurveEstimate) -> Pair:
    """The samples in the view that alone shows the smallest overlap, where groups are formed."""
    overlaps = {name: alone.headline["curve.overlap"] for name, alone in single.views.items()}
    return pair.view(min(overlaps, key=lambda name: overlaps[name])) if overlaps else pair


def _flagged(kind: str, losses: tuple[Loss, ...], single: CurveEstimate) -> Flagged:
    """Samples in question at the largest established factor up to 5 that flags enough of them.

    What is established at a larger factor is so at 5, too, which is taken without any.
    """
    clear = sorted({min(loss.factor, policy.CLEAR_FACTOR) for loss in losses}, reverse=True)
    factors = clear or [policy.CLEAR_FACTOR]
    candidates = [Flagged(kind, factor) for factor in factors]
    return next((one for one in candidates if flags_enough(one, single)), candidates[0])


@dataclass(frozen=True, eq=False)
class _Shown:
    """Samples that are shown, with their content, and the ways to name groups of them."""

    pair: Pair
    coordinates: Sides[FloatArray]
    contents: Sides[Mapping[str, Sample]]
    encoder: Any
    pairs: list[tuple[int, int, float, float]]

    @classmethod
    def of(
        cls,
        pair: Pair,
        coordinates: Sides[FloatArray],
        nearness: Sides[FloatArray],
        found: list[Formed],
        sources: Sides[Source | None],
        encoder: Any,
    ) -> _Shown:
        pairs = closest_pairs(nearness)
        wanted: list[set[int]] = [{j for _, j, *_ in pairs}, {i for i, *_ in pairs}]
        for formed in found:
            own = formed.flagged.own
            x, other = coordinates[own], coordinates[1 - own]
            for members in formed.members:
                chosen = examples_of(x, members)
                wanted[own].update(chosen.tolist())
                wanted[1 - own].update(nearest_of_other(x[chosen], other)[0].tolist())
        contents = [
            contents_of(source, _needed(source, side.ids, wanted[i]))
            for i, (source, side) in enumerate(zip(sources, pair, strict=True))
        ]
        return cls(pair, coordinates, Sides(*contents), encoder, pairs)

    def grouped(
        self, formed: Formed | None, estimate: CurveEstimate, single: CurveEstimate, level: float
    ) -> GroupedLoss | None:
        """Groups with their names and examples, the largest contribution first."""
        if formed is None:
            return None
        flagged, counted = formed.flagged, formed.counted
        lam = flagged.factor if flagged.kind == "precision" else 1.0 / flagged.factor
        low, high = 1.0 - getattr(single.interval([lam], level=level), flagged.kind)[0, ::-1]
        order = np.argsort(-counted.share, kind="stable")
        side = tuple(self.pair)[flagged.own]
        groups = []
        for number, group in enumerate(order, 1):
            name, kind = self._name(formed, group)
            groups.append(
                Group(
                    name=name or f"Group {number}",
                    kind=kind if name else "number",
                    share=float(counted.share[group]),
                    at_least=float(counted.at_least[group]),
                    size=len(formed.members[group]),
                    counted=int(counted.own[group]),
                    other=int(counted.other[group]),
                    times_needed=_needed_times(counted, group),
                    members=tuple(name_of(side, int(i)) for i in formed.members[group]),
                    examples=self._examples(formed, group, rule=name if kind == "rule" else None),
                )
            )
        return GroupedLoss(
            kind=flagged.kind,
            factor=flagged.factor,
            loss=float(counted.share.sum()),
            low=max(0.0, float(low)),
            high=float(high),
            overall=1.0 - float(getattr(estimate.raw, flagged.kind)(lam)),
            groups=tuple(groups),
        )

    def _name(self, formed: Formed, group: int) -> tuple[str | None, str]:
        own, members = formed.flagged.own, formed.members[group]
        side, contents = tuple(self.pair)[own], self.contents[own]
        if name := class_name(side.labels, members) if side.labels else None:
            return name, "classes"
        if isinstance(self.encoder, TableEncoder):
            other = tuple(self.pair)[1 - own].x
            return rule_name(self.encoder, side.x, members, other=other), "rule"
        texts = [contents[one].content if one in contents else None for one in side.ids]
        if texts and all(isinstance(text, str) for text in texts):
            return words_name([str(text) for text in texts], members), "words"
        return None, "number"

    def _examples(self, formed: Formed, group: int, *, rule: str | None) -> tuple[Example, ...]:
        own = formed.flagged.own
        sides = tuple(self.pair)
        x, other = self.coordinates[own], self.coordinates[1 - own]
        chosen = examples_of(x, formed.members[group])
        nearest, distance = nearest_of_other(x[chosen], other)
        return tuple(
            Example(
                sample=preview_of(sides[own], int(i), self.contents[own], rule=rule),
                nearest=preview_of(sides[1 - own], int(j), self.contents[1 - own], rule=rule),
                distance=float(d),
            )
            for i, j, d in zip(chosen, nearest, distance, strict=True)
        )

    def closest(self) -> tuple[ClosePair, ...]:
        """Generated samples next to the real ones that they lie close to."""
        return tuple(
            ClosePair(
                generated=preview_of(self.pair.generated, i, self.contents.generated),
                real=preview_of(self.pair.real, j, self.contents.real),
                distance=distance,
                usual=usual,
            )
            for i, j, distance, usual in self.pairs
        )


def _needed_times(counted: Counted, group: int) -> float | None:
    """How many times as many samples would establish a group that is not."""
    times = float(counted.times_needed[group])
    return None if counted.at_least[group] > 0 or np.isnan(times) else times


def _needed(source: Source | None, ids: tuple[str, ...], wanted: set[int]) -> set[str] | None:
    """Names of samples whose content is needed; None for all, as words need all texts."""
    if source is not None and source.kind == "text":
        return None
    return {ids[i] for i in wanted} if ids else set()


_SHOWN = 6


def closest_pairs(
    coordinates: Sides[FloatArray],
) -> list[tuple[int, int, float, float]]:
    """Indices of generated and real samples, their distance, and the usual one; closest first.

    The usual distance is that of the real sample from its nearest real neighbor. Each real sample
    occurs once.
    """
    real, generated = coordinates
    search = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(real)
    usual = _own(search, real)
    distance, nearest = (found[:, 0] for found in search.kneighbors(generated))
    relative = distance / np.maximum(usual[nearest], 1e-12)
    found: list[tuple[int, int, float, float]] = []
    taken = set[int]()
    for i in np.argsort(relative, kind="stable"):
        j = int(nearest[i])
        if relative[i] >= 1.0 or len(found) == _SHOWN:
            break
        if j not in taken:
            taken.add(j)
            found.append((int(i), j, float(distance[i]), float(usual[j])))
    return found


def _own(search: NearestNeighbors, real: FloatArray) -> npt.NDArray[np.float64]:
    """Distance of each real sample from its nearest other one that is not a copy of it."""
    distance: FloatArray = search.kneighbors(real)[0][:, 1]
    return np.where(distance > 0, distance, np.median(distance))
