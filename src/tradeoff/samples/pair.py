"""The two samples that are compared, checked once, and what is derived from each once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tradeoff._result import Result
from tradeoff._validation import (
    FloatArray,
    check_choice,
    check_matrix,
    check_same_columns,
    check_views,
    read_only,
)
from tradeoff.inference import policy
from tradeoff.samples.keys import draw_keys, group_keys, mixed_keys, row_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["Pair", "Side", "View", "views_of"]

T = TypeVar("T")

_OTHER_SIDE = 2**40  # more than any side has samples


@dataclass(frozen=True)
class View(Result):
    """A named block of columns: what one encoder sees of a sample.

    Args:
        name: Name of the view.
        start: First of its columns.
        stop: The column after its last one.

    Example:
        >>> from tradeoff.samples import View
        >>> View("pixels", 768, 828).width
        60
    """

    name: str
    start: int
    stop: int

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.stop - self.start

    @property
    def columns(self) -> slice:
        """Its columns among those of all views."""
        return slice(self.start, self.stop)


def views_of(widths: Mapping[str, int]) -> tuple[View, ...]:
    """Views that follow each other, from the number of columns of each by name.

    Example:
        >>> from tradeoff.samples import views_of
        >>> views_of({"meaning": 384, "surface": 64})[1]
        View(name='surface', start=384, stop=448)
    """
    stops = list(accumulate(widths.values()))
    starts = [0, *stops[:-1]]
    return tuple(View(*one) for one in zip(widths, starts, stops, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Side(Result):
    """Samples of one side.

    Args:
        name: "real", "generated" or "train", for messages.
        features: One row per sample, of any precision, shape (n, d); a read-only view, not a copy,
            so that an array must not change while it is measured.
        ids: Name of each sample; empty if they have none.
        labels: Class of each sample, None where it has none; empty if there are no labels.
        groups: Group of each sample, whose members are not independent; None if all are.
        views: Named blocks of columns, in their order; empty if all columns are one view.

    Example:
        >>> import numpy as np
        >>> from tradeoff.samples import Side
        >>> side = Side.of("real", np.array([[1.0], [2.0], [1.0]]))
        >>> len(side), side.distinct
        (3, 2)
    """

    _shared = frozenset({"features"})

    name: str
    features: npt.NDArray[Any]
    ids: tuple[str, ...] = ()
    labels: tuple[str | None, ...] = ()
    groups: Sequence[object] | None = None
    views: tuple[View, ...] = ()
    _memo: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        name: str,
        features: Any,
        *,
        groups: Sequence[object] | None = None,
        views: Mapping[str, int] | None = None,
    ) -> Side:
        """Check features given as an array, a tensor, a DataFrame or a list.

        Args:
            name: Name of the side.
            features: Features, shape (n, d).
            groups: Group of each sample.
            views: Number of columns of each view by name, in the order of the columns.
        """
        found = check_matrix(name, features)
        blocks = () if views is None else views_of(check_views(views, found.shape[1]))
        return cls(name=name, features=found, groups=groups, views=blocks)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def columns(self) -> int:
        """Number of features of a sample."""
        return int(self.features.shape[1])

    @cached_property
    def x(self) -> FloatArray:
        """The features in float64, shape (n, d)."""
        return read_only(np.ascontiguousarray(self.features, np.float64))

    def remember(self, what: Hashable, compute: Callable[[], T]) -> T:
        """Something that depends on this side alone, computed when it is first asked for."""
        if what not in self._memo:
            self._memo[what] = compute()
        return cast("T", self._memo[what])

    def remembered(self, what: Hashable) -> Any:
        """Something that was computed before, or None."""
        return self._memo.get(what)

    def forget(self, what: Hashable) -> None:
        """Drop something, so that it is computed anew."""
        self._memo.pop(what, None)

    def view(self, name: str) -> Side:
        """The samples as one view sees them, whose columns are hashed and measured on their own."""
        by_name = {view.name: view for view in self.views}
        check_choice("view", name, by_name)
        return self.remember(
            ("view", name),
            lambda: Side(
                name=self.name,
                features=np.ascontiguousarray(self.features[:, by_name[name].columns]),
                ids=self.ids,
                labels=self.labels,
                groups=self.groups,
            ),
        )

    @property
    def first(self) -> Side:
        """The samples as the first view sees them; the samples themselves if there is one view."""
        return self.view(self.views[0].name) if len(self.views) > 1 else self

    @property
    def keys(self) -> npt.NDArray[np.uint64]:
        """A hash of each sample's features, shape (n,)."""
        return self.remember("keys", lambda: row_keys(self.x))

    def keys_for(self, seed: int) -> npt.NDArray[np.uint64]:
        """The same for a seed."""
        return self.remember(("keys", seed), lambda: mixed_keys(self.keys, seed))

    def group_keys_for(self, seed: int) -> npt.NDArray[np.uint64] | None:
        """A hash of each sample's group for a seed, shape (n,); None if there are no groups."""
        if self.groups is None:
            return None
        keys = group_keys(self.groups, len(self), name=f"{self.name}_groups")
        return mixed_keys(keys, seed)

    def draws_for(self, seed: int) -> npt.NDArray[np.uint64]:
        """Like `keys_for`, but different for copies of a sample, and independent of other sides."""
        first = 0 if self.name == "real" else _OTHER_SIDE
        return self.remember(("draws", seed), lambda: draw_keys(self.keys_for(seed), first=first))

    def order_for(self, seed: int) -> npt.NDArray[np.intp]:
        """Indices in a random order that depends on the samples, not on the order of the rows."""
        return np.argsort(self.draws_for(seed), kind="stable")

    @property
    def distinct(self) -> int:
        """Number of samples with different features."""
        return self.remember("distinct", lambda: int(np.unique(self.keys).size))

    @property
    def has_few_values(self) -> bool:
        """Whether so few distinct samples are repeated that they are as many samples, and no more.

        Copies stay in one fold, so they cannot be divided into folds in a useful way.
        """
        return self.distinct < min(policy.FEWEST_CONTROLLED, 0.5 * len(self))

    def digest_for(self, seed: int) -> str:
        """The same for two sides, at one seed, only if they hold the same rows in one order."""
        return blake2b(self.keys_for(seed).tobytes(), digest_size=8).hexdigest()

    def halves(self, seed: int) -> tuple[Side, Side]:
        """Two halves by content, each in an order that follows content too."""

        def compute() -> tuple[Side, Side]:
            order = self.order_for(seed)
            return self.take(order[::2]), self.take(order[1::2])

        return self.remember(("halves", seed), compute)

    def parted(self, first: int, second: int, seed: int) -> tuple[Side, Side]:
        """Two disjoint parts of given sizes by content, each in an order that follows it too."""
        order = self.order_for(seed)
        return self.take(order[:first]), self.take(order[first : first + second])

    def take(self, rows: npt.NDArray[np.integer[Any]] | slice) -> Side:
        """Some of the samples, which keep their keys."""
        index = np.arange(len(self))[rows]
        return Side(
            name=self.name,
            features=self.x[index],
            ids=tuple(self.ids[i] for i in index) if self.ids else (),
            labels=tuple(self.labels[i] for i in index) if self.labels else (),
            groups=None if self.groups is None else [self.groups[i] for i in index],
            views=self.views,
            _memo={"keys": self.keys[index]},
        )


@dataclass(frozen=True, eq=False)
class Pair(Result):
    """Real and generated samples with the same columns.

    Args:
        real: Samples of real data; with a training set, samples that were held out from it.
        generated: Samples of a model.
        train: Real samples on which the model was trained; None if they are not known.

    Example:
        >>> import numpy as np
        >>> from tradeoff.samples import Pair
        >>> pair = Pair.of(real=np.zeros((3, 2)), generated=np.ones((4, 2)))
        >>> [len(side) for side in pair], pair.columns
        ([3, 4], 2)
    """

    real: Side
    generated: Side
    train: Side | None = None

    @classmethod
    def of(
        cls,
        *,
        real: Any,
        generated: Any,
        train: Any = None,
        real_groups: Sequence[object] | None = None,
        generated_groups: Sequence[object] | None = None,
        train_groups: Sequence[object] | None = None,
        views: Mapping[str, int] | None = None,
    ) -> Pair:
        """Check features of both sides, and of the training set if it is given."""
        sides = [
            Side.of("real", real, groups=real_groups, views=views),
            Side.of("generated", generated, groups=generated_groups, views=views),
        ]
        if train is not None:
            sides.append(Side.of("train", train, groups=train_groups, views=views))
        check_same_columns(**{side.name: side.columns for side in sides})
        return cls(*sides)

    def __iter__(self) -> Iterator[Side]:
        return iter((self.real, self.generated))

    @property
    def columns(self) -> int:
        """Number of features of a sample."""
        return self.real.columns

    @property
    def views(self) -> tuple[View, ...]:
        """Views of the samples; empty if all columns are one."""
        return self.real.views

    def view(self, name: str) -> Pair:
        """Both sides as one view sees them."""
        return Pair(
            self.real.view(name),
            self.generated.view(name),
            None if self.train is None else self.train.view(name),
        )

    @property
    def first(self) -> Pair:
        """Both sides as the first view sees them; the pair itself if there is one view."""
        return self.view(self.views[0].name) if len(self.views) > 1 else self

    @property
    def sizes(self) -> dict[str, int]:
        """Number of samples by side."""
        return {"real": len(self.real), "generated": len(self.generated)}

    def real_against_real(self, seed: int) -> Pair:
        """The baseline: one half of the real samples in the role of the model."""
        half, rest = self.real.halves(seed)
        return Pair(half, replace(rest, name="generated"))
