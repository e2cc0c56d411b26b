"""Answers while sampling, simulated: their errors, and the samples of a test of fixed size.

One model against a bar, or A against B, with 20,000 real samples. Looks are taken every 25
generated samples up to 1,000 (250 at λ = 1), then every 250 up to 20,000.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from tradeoff.inference.betting import ONE_MODEL, TWO_MODELS, BettingTest

if TYPE_CHECKING:
    from collections.abc import Callable

REAL, LAST = 20_000, 20_000
FIRST = {1.0: 250, 20.0: 25, 0.4: 25}  # generated samples at the first look, by slope
ERRORS = (0.05, 0.01)
_POWER = 0.95
_LONGEST = 200_000


@dataclass(frozen=True, kw_only=True)
class Question:
    """A bar, or A against B, at a slope: probabilities of values of both sides."""

    name: str
    lam: float
    values: tuple[float, ...]
    real: tuple[float, ...]
    generated: Callable[[float], tuple[float, ...]]

    def bar(self, gap: float) -> float:
        """The bar that lies a gap below the truth."""
        made = float(np.dot(self.values, self.generated(gap)))
        return self.lam * float(np.dot(self.values, self.real)) + made - gap

    @property
    def looks(self) -> np.ndarray:
        """As often as at the beginning up to 1,000, then every 250."""
        first = FIRST[self.lam]
        return np.concatenate((np.arange(first, 1000, first), np.arange(1000, LAST + 1, 250)))

    def spread(self) -> tuple[float, float]:
        """Standard deviations of both sides, as a pilot would tell."""
        return _deviation(self.values, self.real), _deviation(self.values, self.generated(0.0))


def one_model(lam: float, made: float, real: float) -> Question:
    """A bar for one model."""
    return Question(
        name="bar",
        lam=lam,
        values=ONE_MODEL,
        real=(1 - real, real),
        generated=lambda _: (1 - made, made),
    )


def two_models(lam: float, made: float, differing: float) -> Question:
    """A against B; real samples on which their rules differ, half of them for either."""

    def pairs(gap: float) -> tuple[float, ...]:
        a, b = made + gap / 2, made - gap / 2
        return b * (1 - a), a * b + (1 - a) * (1 - b), a * (1 - b)

    half = differing / 2
    return Question(
        name="A against B",
        lam=lam,
        values=TWO_MODELS,
        real=(half, 1 - differing, half),
        generated=pairs,
    )


QUESTIONS = (
    one_model(1.0, 0.35, 0.35),
    one_model(20.0, 0.7, 0.002),
    one_model(0.4, 0.02, 0.7),
    two_models(1.0, 0.35, 0.12),
    two_models(20.0, 0.7, 0.001),
    two_models(0.4, 0.1, 0.2),
)


def _deviation(values: tuple[float, ...], shares: tuple[float, ...]) -> float:
    x = np.array(values)
    return float(np.sqrt(np.dot(x**2, shares) - np.dot(x, shares) ** 2))


def simulate(question: Question, gap: float, seed: int) -> dict[float, tuple[int, int]]:
    """For each error: the answer (1, -1, or 0 for none) and the samples that it took."""
    rng = np.random.default_rng(seed)
    test = BettingTest(
        question.lam,
        question.values,
        real=rng.multinomial(REAL, question.real),
        spread=question.spread(),
        looks=(FIRST[question.lam], LAST),
    )
    bar, shares = question.bar(gap), question.generated(gap)
    found: dict[float, tuple[int, int]] = {}
    counts, seen = np.zeros(len(shares)), 0
    for look in question.looks:
        counts += rng.multinomial(look - seen, shares)
        seen = look
        wanted = np.log(2 / next(error for error in ERRORS if error not in found))
        above, below = test.log_capitals(counts, bar, wanted=wanted)
        for error in ERRORS:
            if error not in found and max(above, below) >= np.log(2 / error):
                found[error] = (1 if above > below else -1, int(look))
        if len(found) == len(ERRORS):
            break
    return {error: found.get(error, (0, LAST)) for error in ERRORS}


def fixed_size(question: Question, gap: float, error: float) -> float | None:
    """Generated samples of a single look with the same error and a power of 95%.

    None if no number is enough, or if the real side alone exceeds the bar.

    The generated side is exact; the mean of 20,000 real samples is taken as Gaussian.
    """
    real = question.lam * _deviation(question.values, question.real) / np.sqrt(REAL)
    shares = {"true": question.generated(gap), "null": question.generated(0.0)}
    if question.values == ONE_MODEL:
        made = shares["true"][1] - gap
        if not 0 <= made <= 1:
            return None
        shares["null"] = (1 - made, made)

    def power(size: int) -> float:
        means, mass = zip(
            *(_distribution(question.values, one, size) for one in shares.values()), strict=True
        )
        center = float(np.dot(means[1], mass[1]))

        def beyond(which: int, limit: float) -> float:
            z = (np.sign(gap) * (means[which] - center) - limit) / real
            return float(norm.cdf(z) @ mass[which])

        low, high = 0.0, abs(gap) + 6 * real + 6 / np.sqrt(size)
        for _ in range(30):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if beyond(1, middle) > error / 2 else (low, middle)
        return beyond(0, high)

    low, high = 10, _LONGEST
    if power(high) < _POWER:
        return None
    while high - low > max(1, low // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= _POWER else (middle, high)
    return float(high)


def _distribution(
    values: tuple[float, ...], shares: tuple[float, ...], size: int
) -> tuple[np.ndarray, np.ndarray]:
    """Means of so many values and their probabilities, without those that are nearly impossible."""
    length = size * (len(values) - 1) + 1
    mass = np.fft.irfft(np.fft.rfft(shares, 2 * length) ** size, 2 * length)[:length]
    means = values[0] + np.arange(length) / size
    likely = mass > 1e-12
    return means[likely], mass[likely] / mass[likely].sum()


class Shifted:
    """The exact log-ratio of a Gaussian and one that is shifted."""

    def __init__(self, distance: float) -> None:
        self.distance = distance

    def log_ratio(self, x: np.ndarray) -> np.ndarray:
        """Of samples of shape (n, 1)."""
        return self.distance * (0.5 * self.distance - np.asarray(x)[:, 0])
