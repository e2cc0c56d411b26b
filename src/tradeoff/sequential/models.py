"""Models that are being sampled, and tests of their curves while the samples come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import kruskal

from tradeoff._validation import check_same_columns
from tradeoff.data import GrowingFolder
from tradeoff.embedding.sources import embed_with, open_generated, side_of
from tradeoff.exceptions import InvalidInputError
from tradeoff.inference import policy
from tradeoff.inference.betting import ONE_MODEL, TWO_MODELS, BettingTest
from tradeoff.ratio.frozen import FrozenRule
from tradeoff.sequential.questions import Look

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray
    from tradeoff.counting.ledger import Ledger
    from tradeoff.evaluation.reference import Reference
    from tradeoff.goals import Goal
    from tradeoff.ratio.base import LogRatio
    from tradeoff.samples import Side
    from tradeoff.settings import Settings

    BoolArray = npt.NDArray[np.bool_]
    Drawn = tuple[int, FloatArray]

__all__ = ["PROBED", "Contest", "SampledModel"]

PROBED = 5
"""One of so many pilot samples is not fitted, and tells the rates to expect."""
_BLOCKS = 8
_MOST_MORE = 100
_COUNT = 8  # bytes of a number in the ledger


@dataclass(eq=False)
class SampledModel:
    """A model that is being sampled: its rule, and which samples pass it."""

    name: str
    batches: Batches
    rule: LogRatio
    threshold: float
    probed_real: BoolArray
    probed: FloatArray
    rejects: BoolArray = field(default_factory=lambda: np.zeros(0, bool))
    log_ratios: FloatArray = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def start(
        cls,
        name: str,
        made: Any,
        reference: Reference,
        settings: Settings,
        *,
        rule: LogRatio | None,
        real: FloatArray,
        pilot: int,
        threshold: float,
        ledger: Ledger | None,
    ) -> SampledModel:
        """Fit the rule on four fifths of the pilot samples; the others tell rates to expect."""
        drawing = Drawing.of(name, made, reference, settings)
        batches = Batches(name, drawing.draw, ledger)
        batches.check("samples", drawing.content, f"other samples of `{name}`")
        probe = max(len(real) // PROBED, 1) if rule is None else len(real)
        size = pilot if rule is None else max(pilot // PROBED, 1)
        if drawing.size is not None:
            size = min(size, drawing.size // 2)
        first = batches.rows(size, reference.side.columns)
        seen = max(len(first) // PROBED, 1) if rule is None else len(first)
        if len(first) < policy.FEWEST_PILOTS:
            raise InvalidInputError(
                f"`{name}` must give at least {policy.FEWEST_PILOTS} samples before the first "
                f"look. Got {len(first)}."
            )
        if rule is None:
            rule = FrozenRule.fit(
                real=real[probe:],
                generated=first[seen:],
                estimator=settings.estimator,
                seed=settings.seed,
            )
        if isinstance(rule, FrozenRule):
            batches.check("rule", rule.digest, "another rule, or with other versions of packages")
        return cls(
            name,
            batches,
            rule,
            threshold,
            probed_real=rule.log_ratio(real[:probe]) < threshold,
            probed=rule.log_ratio(first[:seen]),
        )

    def count_real(self, rows: FloatArray) -> None:
        """Which real samples the rule takes for generated ones."""
        self.rejects = self.rule.log_ratio(rows) < self.threshold

    def more(self, n: int) -> bool:
        """Count more samples; False if there are none left."""
        found = self.batches.log_ratios(n, self.rule)
        self.log_ratios = np.concatenate((self.log_ratios, found))
        return bool(len(found))

    @property
    def used(self) -> int:
        """Number of samples so far, including those that the rule was fitted on."""
        return self.batches.taken

    @property
    def passes(self) -> BoolArray:
        """Which generated samples the rule takes for real ones."""
        return np.asarray(self.log_ratios >= self.threshold)

    @property
    def probed_passes(self) -> BoolArray:
        """The same for samples that were not fitted nor are counted."""
        return np.asarray(self.probed >= self.threshold)

    def drifts(self) -> bool:
        """Whether log-ratios change along the way, from the pilot samples on."""
        blocks = [self.probed, *np.array_split(self.log_ratios, _BLOCKS)]
        if len(self.log_ratios) < policy.FEWEST_BLOCKED or np.ptp(np.concatenate(blocks)) == 0:
            return False
        return bool(kruskal(*blocks).pvalue < policy.DRIFT)


class Batches:
    """Samples of a model batch by batch, those first that a ledger of an earlier run holds.

    Args:
        name: Name of the model.
        draw: A function that draws n samples after so many, and returns their features, of which
            there may be fewer.
        ledger: Where batches are kept; None to keep none.
    """

    def __init__(self, name: str, draw: Callable[[int, int], Drawn], ledger: Ledger | None) -> None:
        self.name, self.draw, self.ledger = name, draw, ledger
        self.taken = self.drawn = self.count = 0

    def rows(self, n: int, columns: int) -> FloatArray:
        """Features of the next n samples."""
        return self._next(lambda: self.draw(self.drawn, n), columns)

    def log_ratios(self, n: int, rule: LogRatio) -> FloatArray:
        """Log-ratios of the next n samples."""

        def score() -> Drawn:
            drawn, rows = self.draw(self.drawn, n)
            return drawn, rule.log_ratio(rows) if len(rows) else np.zeros(0)

        return self._next(score)

    def _next(self, make: Callable[[], Drawn], *shape: int) -> FloatArray:
        title = f"{self.name}: batch {self.count}"
        if self.ledger is not None and title in self.ledger:
            content = self.ledger[title]
            drawn = int.from_bytes(content[:_COUNT], "little")
            found = np.frombuffer(content, offset=_COUNT).reshape(-1, *shape)
        else:
            drawn, made = make()
            found = np.ascontiguousarray(made, float)
            if self.ledger is not None and len(found):
                self.ledger.add(title, drawn.to_bytes(_COUNT, "little") + found.tobytes())
        self.taken += len(found)
        self.drawn += drawn
        self.count += 1
        return found

    def check(self, what: str, content: str | None, others: str) -> None:
        """Batches of one rule, or of some samples, must not be mixed with those of others."""
        if self.ledger is None or content is None:
            return
        title = f"{self.name}: {what}"
        if title not in self.ledger:
            self.ledger.add(title, content.encode())
        elif self.ledger[title] != content.encode():
            raise InvalidInputError(
                f"`{self.ledger.path}` was begun with {others}: choose another folder."
            )


@dataclass(frozen=True)
class Drawing:
    """Where samples of a model come from.

    Args:
        draw: A function that draws n samples after so many; the number that was drawn, and the
            features of those that could be read.
        size: Number of samples, if they exist already.
        content: What tells the samples from others; None for a function.
    """

    draw: Callable[[int, int], Drawn]
    size: int | None = None
    content: str | None = None

    @classmethod
    def of(cls, name: str, made: Any, reference: Reference, settings: Settings) -> Drawing:
        """Samples that exist already come in an order by content."""

        def embedded(samples: Any) -> Side:
            source = open_generated(samples, name, settings)
            found = embed_with(reference.opened, source, name, settings, progress=False)
            check_same_columns(**{"real": reference.side.columns, name: found.features.shape[1]})
            return side_of(found, name)

        def generate(drawn: int, n: int) -> Drawn:
            if isinstance(made, GrowingFolder):
                made.skip(drawn)
            samples = made(n)
            if hasattr(samples, "__len__") and not len(samples):
                return 0, np.zeros((0, reference.side.columns))
            rows = embedded(samples).x
            return len(samples) if isinstance(made, GrowingFolder) else len(rows), rows

        if isinstance(made, GrowingFolder):
            return cls(generate, content=str(Path(made.path).absolute()))
        if callable(made):
            return cls(generate)
        side = embedded(made)
        rows = side.x[side.order_for(settings.seed)]

        def take(drawn: int, n: int) -> Drawn:
            found = rows[drawn : drawn + n]
            return len(found), found

        return cls(take, len(rows), side.digest_for(settings.seed))


@dataclass(eq=False)
class Contest:
    """One model, or the difference of two, and the test of its curve at a slope."""

    first: SampledModel
    second: SampledModel | None
    lam: float
    looks: tuple[int, int]

    def __post_init__(self) -> None:
        self.values = ONE_MODEL if self.second is None else TWO_MODELS
        probe = [
            _counted(self._difference(which), self.values)
            for which in ("probed_real", "probed_passes")
        ]
        self.real = _counted(self._difference("rejects"), self.values)
        self.test = BettingTest(
            self.lam,
            self.values,
            real=self.real,
            spread=(_spread(probe[0], self.values), _spread(probe[1], self.values)),
            looks=self.looks,
        )
        self.expected = self.lam * self.test.mean + float(probe[1] @ self.values) / probe[1].sum()
        self.uncertain = _spread(probe[1], self.values) / np.sqrt(probe[1].sum())

    def _difference(self, which: str) -> npt.NDArray[np.int8]:
        found = getattr(self.first, which).astype(np.int8)
        if self.second is None:
            return np.asarray(found)
        other = getattr(self.second, which).astype(np.int8)
        size = min(len(found), len(other))
        return np.asarray(found[:size] - other[:size])

    def hides(self, bar: float, error: float) -> tuple[bool, int | None]:
        """Whether the real side alone hides the difference, and how many real samples would do."""
        gap = self.expected - bar
        resolved = self.test.resolvable(error=error)[0 if gap > 0 else 1]
        if abs(gap) + policy.PROBE_ERRORS * self.uncertain >= resolved:
            return False, None
        times = (resolved / max(abs(gap), 1e-12)) ** 2
        return True, round(self.real.sum() * times) if times <= _MOST_MORE else None

    def look(self, bar: float, error: float) -> tuple[float, float]:
        """Logarithms of the capitals for "above" and "below" the bar."""
        made = _counted(self._difference("passes"), self.values)
        return self.test.log_capitals(made, bar, wanted=np.log(1.0 / error))

    def known(self, goal: Goal, error: float, log_capital: float) -> Look:
        """Estimate and limits."""
        made = _counted(self._difference("passes"), self.values)
        value = self.lam * self.test.mean + float(made @ self.values) / made.sum()
        low, high = (limit / goal.scale for limit in self.test.limits(made, error=error))
        if goal.bar is not None:
            low, high = max(low, 0.0), min(high, goal.largest)
        return Look(
            samples=int(made.sum()),
            value=float(value / goal.scale),
            low=low,
            high=high,
            capital=float(np.exp(min(log_capital, 700.0))),
        )


def _counted(found: npt.NDArray[Any], values: Sequence[float]) -> FloatArray:
    """How often each value occurs."""
    return np.array([(found == value).sum() for value in values], float)


def _spread(counts: FloatArray, values: Sequence[float]) -> float:
    """Standard deviation, as if one more sample had each value."""
    shares = (counts + 1.0) / (counts + 1.0).sum()
    mean = float(shares @ values)
    return float(np.sqrt(shares @ (np.array(values) - mean) ** 2))
