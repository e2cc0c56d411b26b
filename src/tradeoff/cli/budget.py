"""`tradeoff budget`: what draws per kept sample would bring."""

from __future__ import annotations

from typing import Any

import typer

from tradeoff.cli.options import (
    EMBEDDING,
    Config,
    Generated,
    Quiet,
    Real,
    embed_sources,
    take_sources,
    with_settings,
)

__all__ = ["run"]


@with_settings(*EMBEDDING, "estimator", "folds")
def run(
    *,
    real: Real = None,
    generated: Generated = None,
    config: Config = None,
    quiet: Quiet = False,
    chosen: dict[str, Any],
) -> None:
    """Predict how much rejection under a budget would improve samples."""
    import numpy as np

    from tradeoff.cli.output import print_table, trade_off_table
    from tradeoff.core.divergence import JensenShannon
    from tradeoff.curves import pr_curve
    from tradeoff.sampling import plan_budget

    sources = take_sources(chosen, real=real, generated=generated)
    settings, made, reference = embed_sources(chosen, sources, progress=not quiet)
    estimate = pr_curve(
        real=reference.side.features,
        generated=made.features,
        estimator=settings.estimator,
        folds=settings.folds,
        seed=settings.seed,
        progress=not quiet,
    )
    plan = plan_budget(estimate.held_out)
    header, rows = trade_off_table(
        {f"{budget:g}": plan.held_out[budget] for budget in plan.budgets}
    )
    # A lower bound of a divergence may be negative, and says nothing then.
    left = np.maximum(plan.divergence(JensenShannon()), 0.0)
    rows = [(*row, f"{value:.3f}") for row, value in zip(rows, left, strict=True)]
    print_table(("draws", *header[1:], "jensen-shannon"), rows)
    few = f"Beyond {plan.enough:g} draws per kept sample the area under the curve hardly grows."
    none = "Rejection hardly changes the area under the curve."
    typer.echo(few if plan.enough > 1.0 else none, err=True)
