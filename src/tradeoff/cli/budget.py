"""`tradeoff budget`: what draws per kept sample would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    EMBEDDING,
    BothPaths,
    Config,
    Generated,
    Quiet,
    Real,
    embed_sources,
    placed_sources,
    take_sources,
    with_settings,
)

if TYPE_CHECKING:
    from tradeoff.curves.estimate import CurveEstimate
    from tradeoff.inference.losses import Losses
    from tradeoff.sampling import Plan

__all__ = ["run"]


@with_settings(*EMBEDDING, "estimator", "folds")
def run(
    samples: BothPaths = None,
    *,
    real: Real = None,
    generated: Generated = None,
    config: Config = None,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Predict how much rejection under a budget would improve samples."""
    import numpy as np

    from tradeoff.cli.output import print_table, trade_off_table
    from tradeoff.core.divergence import JensenShannon
    from tradeoff.curves.estimate import estimate_curve
    from tradeoff.curves.repeats import check_distinct
    from tradeoff.samples import Pair
    from tradeoff.sampling import plan_budget

    real, generated = placed_sources(samples or [], real=real, generated=generated)
    sources = take_sources(chosen, real=real, generated=generated)
    settings, made, reference = embed_sources(chosen, sources, progress=not quiet)
    pair = Pair.of(real=reference.side.features, generated=made.features)
    check_distinct(pair)
    estimate = estimate_curve(
        pair,
        estimator=settings.estimator,
        folds=settings.folds,
        seed=settings.seed,
        progress=not quiet,
    )
    plan = plan_budget(estimate.held_out)
    shown = {
        f"{budget:g}": (plan.curve(budget), _losses(estimate, plan, budget))
        for budget in plan.budgets
    }
    header, rows = trade_off_table(shown)
    # A lower bound of a divergence may be negative, and says nothing then.
    left = np.maximum(plan.divergence(JensenShannon()), 0.0)
    rows = [(*row, f"{value:.3f}") for row, value in zip(rows, left, strict=True)]
    print_table(("draws", *header[1:], "jensen-shannon"), rows)
    few = f"Beyond {plan.enough:g} draws per kept sample the area under the curve hardly grows."
    none = "Rejection hardly changes the area under the curve."
    typer.echo(few if plan.enough > 1.0 else none, err=True)


def _losses(estimate: CurveEstimate, plan: Plan, budget: float) -> Losses:
    """What is established under a budget, which knows copies."""
    from tradeoff.inference.losses import established_losses

    groups = estimate.groups
    if groups.generated is not None:
        keeps = plan.rules[budget].acceptance(estimate.held_out.generated) > 0
        groups = groups._replace(generated=groups.generated[keeps])
    return established_losses(plan.held_out[budget], groups=groups)
