"""Which way does a loss push? Frozen gradients against finite differences of what they stand for.

The ratio is exact and frozen, gradients flow through the samples alone, expectations are sums over
grids. Families: a Gaussian against a Gaussian and against two modes, by location and scale, and
random mixtures in the plane, moved and widened. A sign is wrong if the inner product with the
true gradient of the PR-divergence is not positive though its norm exceeds 1e-4.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from benchmarks.harness import Row, run
from tests.known.gradients import (
    DIVERGENCES,
    budgeted_row,
    in_the_plane,
    on_the_line,
    printed,
    published,
    smoothed,
    smoothed_error,
    wrong_signs,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    Generator = Callable[[torch.Tensor], torch.Tensor]

TEMPERATURES = (0.1, 0.25, 0.5, 1.0)


def _signs(make: Callable[[float], Generator]) -> Row:
    return wrong_signs(make, [*on_the_line(), *in_the_plane()])


def _smoothed(temperature: float) -> Row:
    row = _signs(partial(smoothed, temperature=temperature))
    error = smoothed_error(temperature, on_the_line()[::3])
    return row | {"error": error, "ratio": error, "bar": 1e-4}


CASES: dict[str, Callable[[], Row]] = {
    **{f"smoothed, τ = {tau:g}": partial(_smoothed, tau) for tau in TEMPERATURES},
    "published code, −min(λr, 1)": lambda: _signs(published),
    "printed, f_λ(r)": lambda: _signs(printed),
    **{
        f"rejection, {divergence!r}, K = {budget:g}": partial(budgeted_row, divergence, budget)
        for divergence, budget in product(DIVERGENCES, (1.5, 2.0, 4.0))
    },
}

if __name__ == "__main__":
    run("gradients", "Frozen gradients of generator losses", CASES)
