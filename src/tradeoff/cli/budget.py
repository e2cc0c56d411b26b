"""`tradeoff budget`: what draws per kept sample would buy."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradeoff.cli.options import Config, Quiet, take_sources, with_settings

__all__ = ["run"]


@with_settings
def run(
    *,
    real: Annotated[str | None, typer.Option("--real", help="Real samples: a path.")] = None,
    generated: Annotated[
        str | None, typer.Option("--generated", help="Samples of the model: a path.")
    ] = None,
    config: Config = None,
    quiet: Quiet = False,
    chosen: dict[str, Any],
) -> None:
    """Predict what rejection under a budget would buy."""
    from tradeoff.cli.output import print_table
    from tradeoff.core.divergence import JensenShannon
    from tradeoff.evaluation.pipeline import Pipeline
    from tradeoff.sampling import plan_budget
    from tradeoff.settings import Settings

    sources = take_sources(chosen, real=real, generated=generated)
    pipeline = Pipeline(
        Settings.of(chosen), {"metrics": "curve", "diagnose": False}, progress=not quiet
    )
    pipeline.take_real(sources["real"])
    _, measured = pipeline.evaluate(sources["generated"], "generated")
    if measured.estimate is None:  # a protocol was asked for
        return
    plan = plan_budget(measured.estimate.errors)
    columns = (plan.precision, plan.recall, plan.divergence(JensenShannon()))
    rows = [
        (f"{budget:g}", *(f"{value:.3f}" for value in values))
        for budget, *values in zip(plan.budgets, *columns, strict=True)
    ]
    print_table(("draws", "curve.precision", "curve.recall", "jensen-shannon"), rows)
    typer.echo(f"beyond {plan.enough:g} draws per kept sample hardly anything is gained", err=True)
