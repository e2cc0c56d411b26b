"""The score loss: what a step costs, and what a baseline of the whole batch would do.

Bias and noise are those of the mean gradient of a model of three values by its logits, relative
to the length of the true gradient, from a million samples of each side.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.harness import Row, run
from examples.parts.latents import LATENTS, Flow, make_network
from examples.parts.loop import descend
from tradeoff.training import PRLoss

if TYPE_CHECKING:
    from collections.abc import Callable

P = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
Q = torch.tensor([0.45, 0.12, 0.43], dtype=torch.float64)
SAMPLES = 1_000_000
SIZES = (2, 8, 64, 512)
LAM = 1.0


def gradients(n: int, *, leave_out: bool, seed: int = 0) -> torch.Tensor:
    """Gradients by the logits for many batches of n + n samples, shape (batches, 3)."""
    rng = torch.Generator().manual_seed(seed)
    batches = SAMPLES // n
    drawn = [
        torch.multinomial(law, n * batches, replacement=True, generator=rng).view(batches, n)
        for law in (P, Q)
    ]
    x = torch.stack(drawn, 1)
    log_ratio = torch.log(P / Q)[x]
    weight = 2 * torch.sigmoid(-log_ratio)
    gain = PRLoss(LAM).gain(log_ratio)
    weights, gains = weight.sum(1, keepdim=True), (weight * gain).sum(1, keepdim=True)
    totals = [part.sum(2, keepdim=True) for part in (weights, gains)]
    if leave_out:
        totals = [total - part for total, part in zip(totals, (weights, gains), strict=True)]
    force = weight * (gain - totals[1] / totals[0])
    score = torch.eye(3, dtype=torch.float64)[x] - Q
    return -(force[..., None] * score).mean((1, 2))


def baseline_row(n: int, *, leave_out: bool) -> Row:
    """Bias, its standard error and the noise of a batch, over the true gradient."""
    gain = PRLoss(LAM).gain(torch.log(P / Q))
    true = -Q * (gain - Q @ gain)
    found = gradients(n, leave_out=leave_out)
    length = true.norm()
    noise = found.var(0).sum().sqrt() / length
    row = {
        "bias": float((found.mean(0) - true).norm() / length),
        "error of bias": float(noise / np.sqrt(len(found))),
        "noise": float(noise),
    }
    if leave_out:
        row |= {"ratio": row["bias"] / row["error of bias"], "bar": 4.0}
    return row


def cost_row(steps: int = 20, turns: int = 15, batch: int = 512) -> Row:
    """Seconds of a step with the score loss over those through the discriminator's gradient."""
    torch.manual_seed(0)
    flow, start, discriminator = Flow(), Flow(), make_network(LATENTS, 192, 192, 1)
    ours, theirs = (torch.optim.Adam(n.parameters(), 1e-5) for n in (flow, discriminator))
    loss = PRLoss(LAM)

    def by_score() -> None:
        x = torch.cat((torch.randn(batch, LATENTS), flow.sample(batch)))
        log_density = flow.log_prob(x)
        with torch.no_grad():
            before = start.log_prob(x)
        log_ratio = loss.log_ratio(discriminator(x)[:, 0], start=before, now=log_density)
        descend(theirs, loss.discriminator_loss(*log_ratio.chunk(2)))
        descend(ours, loss.score_loss(log_ratio, log_density))

    def by_path() -> None:
        made = flow(torch.randn(batch, LATENTS))
        outputs = discriminator(torch.randn(batch, LATENTS)), discriminator(made.detach())
        descend(theirs, loss.discriminator_loss(*outputs))
        descend(ours, loss.generator_loss(discriminator(made)))

    seconds: dict[Callable[[], None], list[float]] = {by_score: [], by_path: []}
    for turn in range(turns + 1):
        for step, found in seconds.items():
            begun = time.process_time()
            for _ in range(steps):
                step()
            if turn:  # the first one warms up
                found.append((time.process_time() - begun) / steps)
    score, path = (float(np.median(found)) for found in seconds.values())
    return {"seconds": score, "seconds through the discriminator": path, "over it": score / path}


CASES: dict[str, Callable[[], Row]] = {
    **{
        f"{name}, {n} + {n} samples": partial(baseline_row, n, leave_out=leave_out)
        for n in SIZES
        for name, leave_out in (("pair left out", True), ("whole batch", False))
    },
    "cost of a step": cost_row,
}

if __name__ == "__main__":
    run("score", "The score loss: baselines, and the cost of a step", CASES)
