"""Fifteen sanity checks for fidelity and diversity, thirty rows for each, after Räisä et al. 2025.

A check sweeps a parameter of two laws whose answer is plain; a row is a rule on the values of the
sweep, and passes if it passes in every scenario of the check.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

N = 1000
_CLOSE = 0.05
_NEAR = 0.1
_CLEAR = 0.2


class Sides(NamedTuple):
    """Samples of both sides, shape (n, d)."""

    real: np.ndarray
    generated: np.ndarray

    def standardized(self) -> Sides:
        """By the mean and the standard deviation of the real side."""
        mean, sd = self.real.mean(0), self.real.std(0)
        return Sides(*((x - mean) / np.where(sd > 0, sd, 1.0) for x in self))


@dataclass(frozen=True)
class Scenario:
    """A sweep of one parameter: its values, and samples for each of them."""

    name: str
    sweep: np.ndarray
    draw: Callable[[np.random.Generator, float], Sides]


@dataclass(frozen=True)
class Check:
    """Scenarios, and two rules each for fidelity and diversity.

    Args:
        name: what is checked.
        scenarios: sweeps, all of which must pass.
        fidelity: two rules on the values of all scenarios.
        diversity: two rules; a metric may be density-like or support-like where both are listed.
    """

    name: str
    scenarios: tuple[Scenario, ...]
    fidelity: tuple[Rule, Rule]
    diversity: tuple[Rule, Rule]


class Rule(NamedTuple):
    """Readings of a row, any one of which must hold in all scenarios."""

    readings: tuple[Callable[[Sequence[np.ndarray]], bool], ...]

    def passes(self, values: Sequence[np.ndarray]) -> bool:
        """Whether one reading holds."""
        return any(reading(values) for reading in self.readings)


def each(*tests: Callable[[np.ndarray], bool]) -> Rule:
    """All tests hold in every scenario; several tests are alternatives for the whole row."""
    return Rule(tuple((lambda values, t=t: all(t(v) for v in values)) for t in tests))


def both(first: Callable[[np.ndarray], bool], second: Callable[[np.ndarray], bool]) -> Rule:
    """The first half of the scenarios obeys one test and the second half another."""

    def reading(values: Sequence[np.ndarray]) -> bool:
        half = len(values) // 2
        return all(first(v) for v in values[:half]) and all(second(v) for v in values[half:])

    return Rule((reading,))


def at(places: Mapping[int, float], tolerance: float = _CLOSE) -> Callable[[np.ndarray], bool]:
    """Values at places of the sweep, within a tolerance."""
    return lambda v: all(abs(v[i] - wanted) <= tolerance for i, wanted in places.items())


def bell(v: np.ndarray) -> bool:
    """High in the middle, low at the ends."""
    middle = v[len(v) // 2]
    return bool(
        middle - max(v[0], v[-1]) >= _CLEAR
        and middle >= v.max() - _NEAR
        and min(v[0], v[-1]) <= v.min() + _NEAR
    )


def falling(v: np.ndarray) -> bool:
    """From high to low."""
    return bool(v[0] - v[-1] >= _CLEAR and v[0] >= v.max() - _NEAR and v[-1] <= v.min() + _NEAR)


def rising(v: np.ndarray) -> bool:
    """From low to high."""
    return falling(v[::-1])


def flat(v: np.ndarray) -> bool:
    """The same everywhere."""
    return bool(np.ptp(v) <= _CLOSE)


def settled(v: np.ndarray) -> bool:
    """The same over the upper half of the sizes."""
    return flat(v[len(v) // 2 :])


def falling_by(index: int) -> Callable[[np.ndarray], bool]:
    """Falling, and visibly so at a place of the sweep."""
    return lambda v: falling(v) and bool(v[0] - v[index] >= _NEAR)


def middle(points: int) -> int:
    """Index of the middle of a sweep."""
    return points // 2


def checks(points: int = 51, sizes: int = 20) -> list[Check]:
    """All fifteen, with so many points in a sweep and so many sizes."""
    ends_zero = at({0: 0.0, middle(points): 1.0, -1: 0.0})
    shift = (each(ends_zero), each(bell))
    axis = _mean_shift(1, 6.0, points)
    return [
        Check("mean shift", _mean_shifts(points), shift, shift),
        Check(
            "mean shift with an outlier",
            tuple(
                _with_outlier(s, side)
                for side in ("real", "generated")
                for s in _mean_shifts(points)
            ),
            shift,
            shift,
        ),
        Check(
            "spread",
            tuple(_spread(d, s, points) for d, s in ((1, 3.0), (8, 1.0), (64, 0.5))),
            (each(at({0: 1.0, middle(points): 1.0, -1: 0.0})), each(falling)),
            (each(ends_zero, at({0: 0.0, middle(points): 1.0, -1: 1.0})), each(bell, rising)),
        ),
        Check(
            "modes dropped one by one",
            tuple(_sequential(d, sd) for d, sd in _MODES),
            (each(at({0: 1.0, -1: 1.0})), each(flat)),
            (each(at({0: 1.0})), each(falling_by(4))),
        ),
        Check(
            "modes dropped together",
            tuple(_simultaneous(d, sd, points) for d, sd in _MODES),
            (each(at({0: 1.0, -1: 1.0})), each(flat)),
            (each(at({0: 1.0})), each(falling_by(_reduced(points).searchsorted(_LATE)))),
        ),
        Check(
            "modes dropped and invented",
            (_invention(),),
            (each(at({0: 1.0, 4: 1.0})), each(falling)),
            (each(at({4: 1.0, 9: 1.0})), each(rising)),
        ),
        Check("surface of a sphere", tuple(_sphere(d, points) for d in (2, 16, 128)), shift, shift),
        Check("cubes, growing", _cubes(sizes, both_grow=True), _CUBE, _CUBE),
        Check("cubes, growing generated", _cubes(sizes, both_grow=False), _CUBE, _CUBE),
        Check("ball and torus", _ball_and_torus(sizes), _APART, _APART),
        Check(
            "one mode or two",
            tuple(_one_or_two(d, min(points, 20)) for d in (1, 8, 64)),
            (each(at({0: 1.0})), each(falling)),
            (each(at({0: 1.0})), each(falling, flat)),
        ),
        Check("axis rescaled", (_rescaled(min(points, 20)),), _DISJOINT, _DISJOINT),
        Check("heavy-tailed nuisance", (_with_pareto(axis),), shift, shift),
        Check("one disjoint axis", (_one_axis(min(points, 20)),), _DISJOINT, _DISJOINT),
        Check(
            "rounded and continuous",
            tuple(_rounded(min(points, 20), side) for side in ("real", "generated")),
            (both(at({0: 0.0, -1: 0.0}), at({0: 1.0, -1: 1.0})), each(flat)),
            (
                Rule(
                    both(at({0: 1.0, -1: 1.0}), at({0: 0.0, -1: 0.0})).readings
                    + each(at({0: 0.0, -1: 0.0})).readings
                ),
                each(flat),
            ),
        ),
    ]


_LATE = 0.95
_MODES = ((1, 1 / 6), (8, 1 / 3), (64, 1.0))
_CUBE = (each(settled), each(at({-1: 0.2})))
_APART = (each(at({-1: 0.0})), each(settled))
_DISJOINT = (each(at({0: 0.0, -1: 0.0})), each(flat))


def _normal(rng: np.random.Generator, d: int, n: int = N) -> np.ndarray:
    return rng.normal(size=(n, d))


def _mean_shift(d: int, largest: float, points: int) -> Scenario:
    return Scenario(
        f"d = {d}",
        np.linspace(-largest, largest, points),
        lambda rng, m: Sides(_normal(rng, d), _normal(rng, d) + m),
    )


def _mean_shifts(points: int) -> tuple[Scenario, ...]:
    return tuple(_mean_shift(d, m, points) for d, m in ((1, 6.0), (8, 3.0), (64, 1.0)))


def _with_outlier(scenario: Scenario, side: str) -> Scenario:
    def draw(rng: np.random.Generator, value: float) -> Sides:
        sides = scenario.draw(rng, value)
        outlier = np.full((1, sides.real.shape[1]), scenario.sweep[-1])
        return sides._replace(**{side: np.concatenate((getattr(sides, side), outlier))})

    return Scenario(f"{scenario.name}, outlier among {side}", scenario.sweep, draw)


def _spread(d: int, decades: float, points: int) -> Scenario:
    return Scenario(
        f"d = {d}",
        np.logspace(-decades, decades, points),
        lambda rng, s: Sides(_normal(rng, d), s * _normal(rng, d)),
    )


def _ten_modes(rng: np.random.Generator, d: int, sd: float, weights: np.ndarray) -> np.ndarray:
    mode = rng.choice(10, N, p=weights)
    return np.linspace(0, 10, 10)[mode, None] + sd * _normal(rng, d)


def _first(k: int) -> np.ndarray:
    return (np.arange(10) < k) / k


def _sequential(d: int, sd: float) -> Scenario:
    def draw(rng: np.random.Generator, dropped: float) -> Sides:
        kept = _first(10 - int(dropped))
        return Sides(_ten_modes(rng, d, sd, _first(10)), _ten_modes(rng, d, sd, kept))

    return Scenario(f"d = {d}", np.arange(10.0), draw)


def _simultaneous(d: int, sd: float, points: int) -> Scenario:
    def draw(rng: np.random.Generator, fraction: float) -> Sides:
        weights = np.where(np.arange(10) == 0, 1.0, 1.0 - fraction)
        reduced = weights / weights.sum()
        return Sides(_ten_modes(rng, d, sd, _first(10)), _ten_modes(rng, d, sd, reduced))

    return Scenario(f"d = {d}", _reduced(points), draw)


def _reduced(points: int) -> np.ndarray:
    """Fractions from 0 to 1; the one at which the check looks is always among them."""
    return np.sort(np.append(np.linspace(0, 1, points - 1), _LATE))


def _invention() -> Scenario:
    angle = 2 * np.pi * np.arange(10) / 10
    means = 10 * np.stack((np.cos(angle), np.sin(angle)), axis=1)

    def sample(rng: np.random.Generator, modes: int) -> np.ndarray:
        return means[rng.integers(0, modes, N)] + 0.25 * _normal(rng, 2)

    return Scenario(
        "d = 2", np.arange(1.0, 11.0), lambda rng, k: Sides(sample(rng, 5), sample(rng, int(k)))
    )


def _sphere(d: int, points: int) -> Scenario:
    def surface(rng: np.random.Generator) -> np.ndarray:
        x = _normal(rng, d)
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    return Scenario(
        f"d = {d}",
        np.linspace(0.1, 1.9, points),
        lambda rng, radius: Sides(surface(rng), radius * surface(rng)),
    )


def _cubes(sizes: int, *, both_grow: bool) -> tuple[Scenario, ...]:
    def scenario(d: int) -> Scenario:
        shift = 1 - 0.2 ** (1 / d)

        def draw(rng: np.random.Generator, n: float) -> Sides:
            real = rng.random((int(n) if both_grow else N, d))
            return Sides(real, shift + rng.random((int(n), d)))

        return Scenario(f"d = {d}", np.geomspace(100, 10_000, sizes).round(), draw)

    return tuple(scenario(d) for d in (1, 8, 64))


def _ball_and_torus(sizes: int) -> tuple[Scenario, ...]:
    def ball(rng: np.random.Generator, n: int) -> np.ndarray:
        x = _normal(rng, 3, n)
        radius = 0.8 * rng.random((n, 1)) ** (1 / 3)
        return radius * x / np.linalg.norm(x, axis=1, keepdims=True)

    def torus(rng: np.random.Generator, n: int) -> np.ndarray:
        # Uniform in the tube: a point of its disc is kept in proportion to its way around.
        disc = rng.uniform(-0.1, 0.1, (8 * n + 64, 2))
        inside = (disc**2).sum(1) <= 0.01
        kept = rng.random(len(disc)) < (1 + disc[:, 0]) / 1.1
        disc = disc[inside & kept][:n]
        angle = rng.uniform(0, 2 * np.pi, n)
        radius = 1 + disc[:, 0]
        return np.stack((radius * np.cos(angle), radius * np.sin(angle), disc[:, 1]), axis=1)

    def scenario(name: str, real: Callable[..., np.ndarray], generated: Callable[..., np.ndarray]):
        return Scenario(
            name,
            np.geomspace(100, 10_000, sizes).round(),
            lambda rng, n: Sides(real(rng, N), generated(rng, int(n))),
        )

    return scenario("real ball", ball, torus), scenario("real torus", torus, ball)


def _one_or_two(d: int, points: int) -> Scenario:
    def draw(rng: np.random.Generator, mu: float) -> Sides:
        modes = rng.choice([-0.5, 0.5], (N, 1)) * mu + _normal(rng, d)
        return Sides(modes, np.sqrt(1 + mu**2) * _normal(rng, d))

    return Scenario(f"d = {d}", np.linspace(0, 5, points), draw)


def _rescaled(points: int) -> Scenario:
    def draw(rng: np.random.Generator, scale: float) -> Sides:
        factor = np.array([1.0, scale])
        return Sides(_normal(rng, 2) * factor, (_normal(rng, 2) + np.array([6.0, 0.0])) * factor)

    return Scenario("d = 2", np.logspace(-3, 3, points), draw)


def _with_pareto(scenario: Scenario) -> Scenario:
    def draw(rng: np.random.Generator, value: float) -> Sides:
        sides = scenario.draw(rng, value)
        return Sides(*(np.hstack((x, 1 + rng.pareto(1.01, (len(x), 1)))) for x in sides))

    return Scenario("d = 2", scenario.sweep, draw)


def _one_axis(points: int) -> Scenario:
    def draw(rng: np.random.Generator, axes: float) -> Sides:
        d = 1 + int(axes)
        return Sides(_normal(rng, d), _normal(rng, d) + 6.0 * (np.arange(d) == 0))

    return Scenario("", np.geomspace(1, 1000, points).round(), draw)


def _rounded(points: int, side: str) -> Scenario:
    def draw(rng: np.random.Generator, scale: float) -> Sides:
        sides = Sides(scale * _normal(rng, 1), scale * _normal(rng, 1))
        return sides._replace(**{side: getattr(sides, side).round()})

    return Scenario(f"{side} rounded", np.geomspace(1, 1000, points), draw)
