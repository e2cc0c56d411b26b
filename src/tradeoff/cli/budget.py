"""`tradeoff budget`: what draws per kept sample would buy."""

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
    """Predict what rejection under a budget would buy."""
    from tradeoff.cli.output import print_table
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
    columns = (*plan.headline.values(), plan.divergence(JensenShannon()))
    rows = [
        (f"{budget:g}", *(f"{value:.3f}" for value in values))
        for budget, *values in zip(plan.budgets, *columns, strict=True)
    ]
    print_table(("draws", *plan.headline, "jensen-shannon"), rows)
    typer.echo(f"beyond {plan.enough:g} draws per kept sample hardly anything is gained", err=True)
