"""25 Gaussians: optimal rejection leads, at full size in the record and here on a known model."""

import json
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from benchmarks import harness  # noqa: E402
from benchmarks.bench_gaussians import Bench, lead, measure  # noqa: E402
from benchmarks.gaussians import CENTERS, SCALE, draw_real, modes  # noqa: E402
from benchmarks.movers import Calls, flowed, lipschitz, transported, truncated  # noqa: E402

pytestmark = pytest.mark.torch

SHIFTS, WIDTHS = (1.5 * SCALE, 0.0), (0.7 * SCALE, 8 * SCALE)


def generate(latents):
    """The grid, half of it too narrow and beside its place, half eight times too wide.

    It takes two latents, and is no network.
    """
    uniform = torch.special.ndtr(latents.double()).clamp(1e-9, 1 - 1e-9)
    half = 2 * uniform[:, 0]
    place = 25 * (half % 1)
    noise = torch.special.ndtri(torch.stack((place % 1, uniform[:, 1]), 1).clamp(1e-9, 1 - 1e-9))
    shift, width = (torch.where(half < 1, *pair)[:, None] for pair in (SHIFTS, WIDTHS))
    return (CENTERS[place.long().clamp(0, 24)] + shift + width * noise).float()


def log_ratio(x):
    """Exactly log p/q, shape (n, 1)."""

    def log_density(shift, width):
        squares = torch.cdist(x.double(), CENTERS.double() + shift).square()
        return torch.logsumexp(-squares / (2 * width**2), 1) - 2 * np.log(width)

    parts = (log_density(*part) for part in zip(SHIFTS, WIDTHS, strict=True))
    return (log_density(0.0, SCALE) - torch.logaddexp(*parts) + np.log(2.0))[:, None]


@pytest.mark.slow
def test_optimal_rejection_leads_at_an_equal_budget():
    bench = Bench(generate, log_ratio)
    rows = {
        method: measure(partial(bench.kept, method=method), repeats=8)
        for method in ("obrs", "drs", "mh")
    }
    plain = measure(bench.plain, repeats=8)
    assert lead(rows["obrs"], rows["drs"]) > 2
    assert lead(rows["obrs"], rows["mh"]) > 2
    assert lead(rows["drs"], plain) > 2
    for row in rows.values():
        assert row["calls of G"] == row["calls of D"] == pytest.approx(6250, rel=0.05)
        assert row["recall"] == 100


def test_the_committed_table_shows_the_lead():
    record = json.loads((harness.RESULTS / "gaussians.json").read_text())
    rows = {row["case"]: row for row in record["rows"]}
    for other in ("DRS", "MH", "latents within 1.5", "DOT, 3 steps", "DGflow, 2 steps"):
        assert lead(rows["OBRS"], rows[other]) > 2, other
        assert rows["OBRS"]["recall"] >= rows[other]["recall"] - 0.1
    assert rows["the law"]["precision"] == pytest.approx(98.9, abs=0.2)


def test_judging_counts_modes():
    x = torch.cat(
        (draw_real(500, torch.Generator().manual_seed(0)), torch.tensor([[1.0, 1.0], [4.0, 4.16]]))
    )
    nearest, within = modes(x)
    assert within[:-2].mean() > 0.96
    assert not within[-2:].any()
    assert nearest[-1] == 24


def hill(x):
    """A critic with its top at (1, 1)."""
    return -(x - 1).square().sum(1)


def test_transport_climbs_the_critic_and_counts_its_calls():
    calls, start = Calls(), torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    slope = lipschitz(start, hill)
    moved = transported(start, hill, slope=slope / 10, steps=5, rate=0.05, calls=calls)
    assert (hill(moved) > hill(start)).float().mean() > 0.9
    assert (calls.generator, calls.discriminator, calls.gradient) == (0, 250, 250)


def test_the_flow_climbs_the_critic_and_counts_its_calls():
    calls, start = Calls(), torch.randn(50, 2, generator=torch.Generator().manual_seed(0))
    rng = torch.Generator().manual_seed(0)
    moved = flowed(
        *(start, lambda z: z, hill),
        steps=20,
        rate=0.05,
        noise=1e-4,
        rng=rng,
        calls=calls,
    )
    assert hill(moved).mean() > 0.1 * hill(start).mean()
    assert (calls.generator, calls.discriminator, calls.gradient) == (1050, 1000, 2000)


def test_truncated_latents_stay_within_their_limit():
    latents = truncated((2000, 2), 1.5, torch.Generator().manual_seed(0))
    assert latents.abs().max() <= 1.5
    assert latents.std().item() == pytest.approx(0.75, abs=0.05)
