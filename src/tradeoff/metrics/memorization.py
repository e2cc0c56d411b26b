"""Generated samples next to the training set of their model and to held-out samples.

All measures look at the first view. The ones of the literature are here for comparison: none of
them tells whether a model that is also bad in other ways copies a few samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import mannwhitneyu
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from tradeoff._extras import import_extra
from tradeoff._sides import Sides
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.randomization import Owed, Votes, owed_to_training
from tradeoff.metrics.family import Measured, MeasuredTraining, Request
from tradeoff.metrics.neighbors.baselines import authentic, neighbors_of
from tradeoff.metrics.neighbors.parts import NearestReal, near_duplicates, nearest_real
from tradeoff.metrics.score import Score

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.samples import Pair, Side

__all__ = ["OWED", "measure"]

OWED = "copies.owed_to_training"
_MOST = 2000  # samples of each set of which FLD is computed
_STEPS, _RATE = 50, 0.5  # of its fit, as published
_BACKGROUND = 0.9  # its wide component lies at so much of the distance to the mean
_CELL = 100  # held-out samples of a cell of C_T
_MOST_CELLS = 50
_FEWEST_IN_CELL = 20  # generated samples, as published


def measure(pair: Pair, request: Request) -> Measured:
    """Measures that need the training set."""
    import_extra("torch", extra="torch", purpose="Comparing with the training set")
    given = _Given.of(pair, request)
    scores = {key: _SCORES[key](given) for key in request.keys}
    values = {key: given.values[key] for key in request.keys if key in given.values}
    return Measured(
        scores=scores,
        values=Sides({}, values),
        training=given.tested if OWED in request.keys else None,
    )


@dataclass(frozen=True, eq=False)
class _Given:
    """The three sets in the first view, and what several measures share."""

    train: Side
    held_out: Side
    generated: Side
    request: Request

    @classmethod
    def of(cls, pair: Pair, request: Request) -> _Given:
        seen = pair.first
        assert seen.train is not None  # keys that need it are refused without it
        return cls(seen.train, seen.real, seen.generated, request)

    @cached_property
    def nearest(self) -> NearestReal:
        return self.generated.remember(
            "nearest real",
            lambda: nearest_real(
                train=self.train,
                held_out=self.held_out,
                generated=self.generated,
                progress=self.request.progress,
            ),
        )

    @cached_property
    def is_close(self) -> npt.NDArray[np.bool_]:
        """Whether each generated sample is closer to a real one than real ones to one another."""
        return (self.nearest.ratio < policy.COPY_RATIO) & self.nearest.is_single

    @cached_property
    def is_authentic(self) -> npt.NDArray[np.bool_]:
        """Whether each sample is farther from its training sample than that one's neighbor."""
        own = neighbors_of(self.train, 1, progress=self.request.progress).squares[:, 0]
        found = self.nearest.train
        return np.asarray(found.squares[:, 0] > own[found.rows[:, 0]])

    @property
    def values(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Values of single samples by key, of measures that have them."""
        return {
            "copies.near_training": self.is_close & self.nearest.of_train,
            **(
                {"training.authenticity": self.is_authentic}
                if "training.authenticity" in self.request.keys
                else {}
            ),
        }

    @cached_property
    def tested(self) -> MeasuredTraining:
        votes = _votes(self)
        close = np.where(self.is_close, votes.closeness, np.inf)
        return MeasuredTraining(
            owed=self._owed(votes, votes.closeness),
            close=self._owed(votes, close),
            nearest=self.nearest,
            is_close=self.is_close,
            duplicates=float(
                near_duplicates(
                    self.held_out,
                    self.train,
                    ratio=policy.SAME_RATIO,
                    progress=self.request.progress,
                ).mean()
            ),
        )

    def _owed(self, votes: Votes, closeness: FloatArray) -> Owed:
        fields = {name: getattr(votes, name) for name in vars(votes) if name != "closeness"}
        return owed_to_training(
            Votes(closeness=closeness, **fields),
            level=self.request.level,
            seed=self.request.seed,
        )


def _votes(given: _Given) -> Votes:
    """Votes for real samples, or for their groups, in an order that follows content.

    Votes of copies, and of all that is closer to its real sample than to any other, come first.
    """
    seed, nearest = given.request.seed, given.nearest
    sample, unit, keys = [], [], []
    sizes: list[int] = []
    for side, part in zip((given.train, given.held_out), nearest.parts, strict=True):
        of_groups = side.group_keys_for(seed)
        of_units = side.keys_for(seed)
        number = np.arange(len(side))
        if of_groups is not None:
            of_units, number = np.unique(of_groups, return_inverse=True)
        sample.append(part.sample)
        unit.append(sum(sizes) + number[part.row])
        keys.append(of_units)
        sizes.append(of_units.size)
    _check_groups(given, *keys)
    key = np.concatenate(keys)
    voted, place = np.unique(np.concatenate(unit), return_inverse=True)
    order = np.argsort(key[voted], kind="stable")  # not by which part they belong to
    rank = np.argsort(order, kind="stable")
    samples = np.concatenate(sample)
    return Votes(
        closeness=nearest.ratio,
        sample=samples,
        unit=rank[place],
        weight=nearest.weight[samples],
        is_training=voted[order] < sizes[0],
        units=sum(sizes),
        training=sizes[0],
    )


def _check_groups(
    given: _Given, train: npt.NDArray[np.uint64], held_out: npt.NDArray[np.uint64]
) -> None:
    if given.train.groups is None or given.held_out.groups is None:
        return
    if shared := np.intersect1d(train, held_out).size:
        raise InvalidInputError(
            f"A group must belong to the training set or to the held-out samples. {shared} groups "
            "have samples in both: divide the data by groups."
        )


def _owed_score(given: _Given) -> Score:
    owed = given.tested.owed
    return Score(value=owed.value, low=owed.at_least)


def _near_training(given: _Given) -> Score:
    """As many are expected as for held-out samples, in proportion to the sizes of both sets."""
    of_held_out = float((given.is_close & ~given.nearest.of_train).mean())
    expected = min(of_held_out * len(given.train) / len(given.held_out), 1.0)
    return Score(value=float((given.is_close & given.nearest.of_train).mean()), expected=expected)


def _authenticity(given: _Given) -> Score:
    own = neighbors_of(given.train, 1, progress=given.request.progress)
    return Score(value=float(given.is_authentic.mean()), expected=float(authentic(own).mean()))


def _distance(given: _Given) -> Score:
    """Of equally many held-out samples, the same median is expected."""
    train, held_out = (float(np.sqrt(np.median(p.squares[:, 0]))) for p in given.nearest.parts)
    sizes = sorted((len(given.train), len(given.held_out)))
    is_same = sizes[1] <= policy.SAME_SIZE * sizes[0]
    return Score(value=train, expected=held_out if is_same else None)


def _protection(given: _Given) -> Score:
    """Twice the share of samples that are not closer to a training sample, at most 1."""
    return Score(value=min(2.0 * float(1.0 - given.nearest.of_train.mean()), 1.0))


def _c_t(given: _Given) -> Score:
    """Mean over cells of the z-score by which generated samples are closer than held-out ones."""
    seed = given.request.seed
    train, test, made = (
        side.x[side.order_for(seed)] for side in (given.train, given.held_out, given.generated)
    )
    count = int(np.clip(min(len(test), len(train)) // _CELL, 1, _MOST_CELLS))
    cells = KMeans(count, n_init=1, random_state=seed).fit(train)
    of_train, of_test, of_made = (cells.predict(x) for x in (train, test, made))
    scores, weights = [], []
    for cell in range(count):
        t, p, q = train[of_train == cell], test[of_test == cell], made[of_made == cell]
        if len(t) and len(p) and len(q) > _FEWEST_IN_CELL:
            search = NearestNeighbors(n_neighbors=1, algorithm="brute").fit(t)
            distances = (search.kneighbors(x)[0][:, 0] for x in (q, p))
            statistic = mannwhitneyu(*distances, alternative="less").statistic
            both = len(p) * len(q)
            error = np.sqrt(both * (len(p) + len(q) + 1) / 12)
            scores.append((statistic - both / 2 + 0.5) / error)
            weights.append(len(p))
    return Score(value=float(np.average(scores, weights=weights)) if scores else 0.0)


def _fld_gap(given: _Given) -> Score:
    """Log-likelihood of held-out minus that of training samples, per column, times 100.

    The density has a Gaussian around each generated sample, whose variance is fitted to the
    training samples, and a wide one around their mean while it is fitted.
    """
    import torch

    seed = given.request.seed
    sides = (given.train, given.held_out, given.generated)
    train, test, made = (side.x[side.order_for(seed)[:_MOST]] for side in sides)
    center, scale = test.mean(0), test.std(0, ddof=1)
    scale = np.where(scale > 0, scale, 1.0)
    x, held_out, means = (torch.tensor((one - center) / scale) for one in (train, test, made))
    columns = x.shape[1]

    def log_density(squares: torch.Tensor, log_variance: torch.Tensor) -> torch.Tensor:
        constant = columns * (log_variance + np.log(2 * np.pi))
        density: torch.Tensor = -0.5 * (squares / log_variance.exp() + constant)
        return density

    squares = torch.cdist(x, means) ** 2
    wide_squares = _BACKGROUND**2 * ((x - x.mean(0)) ** 2).sum(1, keepdim=True)
    spread = ((squares.min(0).values + 1e-3) / columns).log().requires_grad_()
    wide = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([spread, wide], lr=_RATE)
    for _ in range(_STEPS):
        optimizer.zero_grad()
        parts = log_density(squares, spread) - np.log(len(means))
        mixed = torch.cat((parts, log_density(wide_squares, wide)), 1).logsumexp(1)
        (-mixed.mean() / columns).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        with torch.no_grad():
            spread.clamp_(-40.0, 20.0)
    with torch.no_grad():
        found = [
            float(log_density(torch.cdist(one, means) ** 2, spread).logsumexp(1).mean())
            for one in (x, held_out)
        ]
    return Score(value=100.0 * (found[1] - found[0]) / columns)


_SCORES: dict[str, Callable[[_Given], Score]] = {
    OWED: _owed_score,
    "copies.near_training": _near_training,
    "training.c_t": _c_t,
    "training.authenticity": _authenticity,
    "training.fld_gap": _fld_gap,
    "training.distance": _distance,
    "training.protection": _protection,
}
