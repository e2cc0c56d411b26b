"""25 Gaussians: what each way of improving samples makes of the same generator, and what it costs.

2,500 samples by each method, 100 times. Recall is the share of modes with a sample within three
standard deviations, precision that of samples within three standard deviations of a mode (98.9% for
the law itself), mode TV the total variation between the shares of the modes and even ones, and
duplicates the share of samples with another one closer than a thousandth of a standard deviation.
Calls count samples through a network; calibration is what a method spends before its first sample,
once per model, and is not among the calls, though in the seconds. Steps of DOT and DGflow have the
length that gives the best precision on other seeds among those that keep every mode.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from scipy.spatial import KDTree

from benchmarks.gaussians import CENTERS, SCALE, draw_real, modes, trained
from benchmarks.harness import Row, run
from benchmarks.movers import Calls, flowed, lipschitz, transported, truncated
from tradeoff.core.divergence import GAN
from tradeoff.ratio import Discriminator
from tradeoff.sampling import BudgetedSampler

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.movers import Network

BUDGET = 2.5
KEPT = 2500
REPEATS = 100
CALIBRATION = 10_000
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""Among which the length of a step is chosen."""


class Made(NamedTuple):
    """Samples, and what they cost."""

    samples: torch.Tensor
    calls: Calls
    calibration: int = 0


class Bench:
    """A generator and a network that knows log p/q, and every method on them."""

    def __init__(self, generator: Network, discriminator: Network) -> None:
        self.generator, self.discriminator = generator, discriminator
        ratio = Discriminator(self.discriminator, GAN())
        self.log_ratio = torch.inference_mode()(ratio.log_ratio)

    def critic(self, x: torch.Tensor) -> torch.Tensor:
        """Log p/q, through which gradients flow."""
        return self.discriminator(x)[:, 0]

    def target(self, seed: int) -> Made:
        """The law itself."""
        return Made(draw_real(KEPT, torch.Generator().manual_seed(seed)), Calls())

    def plain(self, seed: int, limit: float = np.inf) -> Made:
        """What the generator makes, of latents that may be truncated."""
        latents = truncated((KEPT, 2), limit, torch.Generator().manual_seed(seed))
        with torch.inference_mode():
            return Made(self.generator(latents), Calls(generator=KEPT))

    def kept(self, seed: int, method: Any, budget: float = BUDGET) -> Made:
        """By one of the rules of the package."""
        rng = torch.Generator().manual_seed(seed)

        @torch.inference_mode()
        def generate(n: int) -> torch.Tensor:
            return self.generator(torch.randn(n, 2, generator=rng))

        sampler = BudgetedSampler(generate, self.log_ratio, budget=budget, method=method, seed=seed)
        sampled = sampler.sample(KEPT, progress=False)
        assert len(sampled.samples) == KEPT
        draws = sampled.accounting.draws
        calls = Calls(generator=draws, discriminator=draws)
        return Made(sampled.samples, calls, sampled.accounting.calibration_draws)

    def moved(self, seed: int, steps: int, rate: float) -> Made:
        """Discriminator optimal transport."""
        start = self.plain(seed)
        slope = lipschitz(self._calibration(), self.critic)
        samples = transported(
            start.samples.clone(),
            self.critic,
            slope=slope,
            steps=steps,
            rate=rate,
            calls=start.calls,
        )
        return Made(samples, start.calls, CALIBRATION)

    def flowed(self, seed: int, steps: int, rate: float) -> Made:
        """Discriminator gradient flow, with the noise of its authors."""
        rng, calls = torch.Generator().manual_seed(seed), Calls()
        samples = flowed(
            torch.randn(KEPT, 2, generator=rng),
            *(self.generator, self.critic),
            steps=steps,
            rate=rate,
            noise=0.01,
            rng=rng,
            calls=calls,
        )
        return Made(samples, calls)

    def _calibration(self) -> torch.Tensor:
        latents = torch.randn(CALIBRATION, 2, generator=torch.Generator().manual_seed(10**6))
        with torch.inference_mode():
            return self.generator(latents)


def judged(x: torch.Tensor) -> dict[str, float]:
    """Recall, precision, total variation over modes, duplicates."""
    nearest, within = modes(x)
    counts = np.bincount(nearest, minlength=len(CENTERS)) / len(nearest)
    points = x.numpy().astype(np.float64)
    apart = KDTree(points).query(points, k=2)[0][:, 1]
    return {
        "recall": 100 * len(np.unique(nearest[within])) / len(CENTERS),
        "precision": 100 * float(within.mean()),
        "mode TV": 0.5 * float(np.abs(counts - 1 / len(CENTERS)).sum()),
        "duplicates": 100 * float((apart < SCALE / 1000).mean()),
    }


def measure(method: Callable[[int], Made], repeats: int = REPEATS) -> Row:
    """Means over repeats, the standard error of precision, calls and seconds."""
    found, seconds = [], []
    for seed in range(repeats):
        start = time.perf_counter()
        made = method(seed)
        seconds.append(time.perf_counter() - start)
        found.append(
            judged(made.samples)
            | {
                "calls of G": made.calls.generator,
                "calls of D": made.calls.discriminator,
                "gradients": made.calls.gradient,
                "calibration": made.calibration,
            }
        )
    table = {name: np.array([row[name] for row in found], dtype=float) for name in found[0]}
    means = {name: round(float(values.mean()), 4) for name, values in table.items()}
    error = float(table["precision"].std(ddof=1) / np.sqrt(repeats))
    return means | {"error of precision": error, "seconds": float(np.median(seconds))}


def best_rate(method: Callable[[int, float], Made]) -> float:
    """The length of a step that gives the best precision among those that keep most modes."""

    def merit(rate: float) -> tuple[float, float]:
        rows = [judged(method(10_000 + i, rate).samples) for i in range(3)]
        return min(row["recall"] for row in rows), float(np.mean([r["precision"] for r in rows]))

    return max(RATES, key=merit)


def tuned(method: Callable[[int, float], Made], repeats: int = REPEATS) -> Row:
    """A method with steps of its best length."""
    rate = best_rate(method)
    return measure(lambda seed: method(seed, rate), repeats) | {"step": rate}


def lead(row: Row, other: Row) -> float:
    """How much more precise a row is than another one, in standard errors."""
    error = np.hypot(row["error of precision"], other["error of precision"])
    return float((row["precision"] - other["precision"]) / error)


bench = cache(lambda: Bench(*trained()))

CASES: dict[str, Callable[[], Row]] = {
    "the law": lambda: measure(bench().target),
    "the generator": lambda: measure(bench().plain),
    "OBRS": lambda: measure(partial(bench().kept, method="obrs")),
    "DRS": lambda: measure(partial(bench().kept, method="drs")),
    "MH": lambda: measure(partial(bench().kept, method="mh")),
    "latents within 1.5": lambda: measure(partial(bench().plain, limit=1.5)),
    "DOT, 3 steps": lambda: tuned(lambda seed, rate: bench().moved(seed, 3, rate)),
    "DGflow, 2 steps": lambda: tuned(lambda seed, rate: bench().flowed(seed, 2, rate)),
    "DOT, 25 steps": lambda: tuned(lambda seed, rate: bench().moved(seed, 25, rate)),
    "DGflow, 25 steps": lambda: tuned(lambda seed, rate: bench().flowed(seed, 25, rate)),
    "OBRS, K = 4.5": lambda: measure(partial(bench().kept, method="obrs", budget=4.5)),
}

if __name__ == "__main__":
    run("gaussians", "25 Gaussians, 2,500 samples by each method, 100 times", CASES)
