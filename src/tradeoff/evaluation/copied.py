"""Generated samples next to the training samples that they resemble most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tradeoff._result import Result
from tradeoff.explain.previews import contents_of, preview_of
from tradeoff.explain.result import Preview
from tradeoff.inference import policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tradeoff.data.base import Source
    from tradeoff.metrics.family import MeasuredTraining
    from tradeoff.samples import Pair, Side

__all__ = ["Copied", "CopiedPair", "copied_of"]

_MOST = 50
_CONTENTS = 12  # pairs of which samples are shown, not only named


@dataclass(frozen=True, kw_only=True)
class CopiedPair(Result):
    """A generated sample, its nearest training sample, and the nearest held-out sample.

    Args:
        generated: The generated sample.
        training: The nearest training sample.
        held_out: The nearest held-out sample.
        distance: Distance to the training sample.
        to_held_out: Distance to the held-out sample.
        ratio: Distance to the training sample over that to the next other real one.
        votes: Number of generated samples that are this close to the same training sample.

    Example:
        >>> from tradeoff.evaluation.copied import CopiedPair
        >>> from tradeoff.explain.result import Preview
        >>> names = {name: Preview(id=name) for name in ("generated", "training", "held_out")}
        >>> CopiedPair(**names, distance=0.1, to_held_out=2.0, ratio=0.05, votes=1).ratio
        0.05
    """

    generated: Preview
    training: Preview
    held_out: Preview
    distance: float
    to_held_out: float
    ratio: float
    votes: int


@dataclass(frozen=True, kw_only=True)
class Copied(Result):
    """Pairs that may be copies, the least probable closeness first.

    Args:
        pairs: The pairs; each training sample occurs once.

    Example:
        >>> from tradeoff.evaluation.copied import Copied
        >>> Copied(pairs=()).often
        ()
    """

    _version = 3

    pairs: tuple[CopiedPair, ...]

    @property
    def often(self) -> tuple[CopiedPair, ...]:
        """Pairs whose training sample has many generated samples close to it, most first.

        For the test, which permutes real samples, each of them is a single observation.
        """
        found = [pair for pair in self.pairs if pair.votes >= policy.OFTEN]
        return tuple(sorted(found, key=lambda pair: -pair.votes))


def copied_of(
    pair: Pair,
    found: MeasuredTraining,
    *,
    sources: Sequence[Source | None],
    shows_samples: bool,
) -> Copied:
    """The closest pairs of generated and training samples.

    Args:
        pair: The samples.
        found: Their nearest real samples.
        sources: Sources of held-out, generated and training samples, from which shown samples are
            read; None where they are gone.
        shows_samples: Whether the first pairs hold their samples, and not only names.
    """
    assert pair.train is not None
    train, held_out, ratio = found.nearest.train, found.nearest.held_out, found.nearest.ratio
    is_near = (ratio < policy.COPY_RATIO) & found.nearest.of_train
    votes = np.bincount(train.rows[is_near, 0], minlength=len(pair.train))
    order = np.lexsort((pair.generated.keys, ratio))
    near = order[is_near[order]]
    _, first = np.unique(train.rows[near, 0], return_index=True)
    chosen = near[np.sort(first)][:_MOST]
    rows = (held_out.rows[chosen, 0], chosen, train.rows[chosen, 0])
    previews = [
        _previews(side, of_side, source if shows_samples else None)
        for side, of_side, source in zip(
            (pair.real, pair.generated, pair.train), rows, sources, strict=True
        )
    ]
    return Copied(
        pairs=tuple(
            CopiedPair(
                held_out=shown[0],
                generated=shown[1],
                training=shown[2],
                distance=float(np.sqrt(train.squares[i, 0])),
                to_held_out=float(np.sqrt(held_out.squares[i, 0])),
                ratio=float(ratio[i]),
                votes=int(votes[train.rows[i, 0]]),
            )
            for i, *shown in zip(chosen, *previews, strict=True)
        )
    )


def _previews(side: Side, rows: np.ndarray, source: Source | None) -> list[Preview]:
    """Samples by name, the first ones with their content where there is a source."""
    wanted = {side.ids[i] for i in rows[:_CONTENTS]} if side.ids else set()
    contents = contents_of(source, wanted) if wanted else {}
    return [preview_of(side, int(i), contents) for i in rows]
