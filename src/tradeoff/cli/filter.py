"""`tradeoff filter`: the best of samples that exist already."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003, Typer reads annotations
from typing import Annotated, Any

import typer

from tradeoff._files import replacing
from tradeoff._text import printable
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    EMBEDDING,
    BothPaths,
    Config,
    Overwrite,
    Plot,
    Quiet,
    Real,
    check_output,
    embed_sources,
    inputs_of,
    placed_sources,
    take_sources,
    with_settings,
)

__all__ = ["run"]

_NOTE = (
    "Both rows are measured on real samples that were not used for the selection. All values are "
    "upper bounds: the filter cannot remove flaws that the estimator does not detect, so look at "
    "the samples that were kept."
)


@with_settings(*EMBEDDING, "estimator")
def run(
    samples: BothPaths = None,
    *,
    real: Real = None,
    generated: Annotated[
        str | None, typer.Option("--generated", help="The pool to choose from: a path.")
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Samples of the pool per kept one.")
    ] = None,
    keep: Annotated[int | None, typer.Option("--keep", help="Number of samples to keep.")] = None,
    ids: Annotated[
        Path | None, typer.Option("--ids", help="File for the chosen ids, one per line.")
    ] = None,
    curves: Annotated[
        Path | None, typer.Option("--curves", help="JSON file for the curves before and after.")
    ] = None,
    plot: Plot = None,
    config: Config = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Choose the best of a pool of generated samples."""
    from tradeoff.cli.output import print_table, trade_off_table
    from tradeoff.sampling import filter_pool
    from tradeoff.sampling.pool import check_amount

    check_amount(budget=budget, keep=keep)
    real, generated = placed_sources(samples or [], real=real, generated=generated)
    sources = take_sources(chosen, real=real, generated=generated)
    inputs = inputs_of(chosen, sources, config)
    check_output(inputs, files=[plot, ids, curves], overwrite=overwrite)
    settings, pool, reference = embed_sources(chosen, sources, progress=not quiet)
    found = filter_pool(
        real=reference.side.features,
        generated=pool.features,
        budget=budget,
        keep=keep,
        estimator=settings.estimator,
        seed=settings.seed,
        progress=not quiet,
    )
    names = [pool.ids[i] for i in found.index]
    both = {"before": found.before, "after": found.after}
    if curves is not None:
        written = {name: json.loads(estimate.curve.to_json()) for name, estimate in both.items()}
        with replacing(curves) as fresh:
            fresh.write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
        kept.add(curves)
    if plot is not None:
        from tradeoff.report import PRCurveDisplay

        balanced = {name: estimate.balance.lam for name, estimate in both.items()}
        shown = {name: estimate.curve for name, estimate in both.items()}
        PRCurveDisplay(shown, balanced=balanced).save(plot)
        kept.add(plot)
    lines = "".join(f"{printable(name)}\n" for name in names)
    if ids is None:
        typer.echo(lines, nl=False)
    else:
        with replacing(ids) as fresh:
            fresh.write_text(lines, encoding="utf-8")
        kept.add(ids)
        rows = {word: (estimate.curve, estimate.losses()) for word, estimate in both.items()}
        print_table(*trade_off_table(rows))
        typer.echo("" if quiet else f"{_NOTE}\n", err=True, nl=False)
    typer.echo(f"kept {len(names):,} of {len(pool.ids):,}", err=True)
