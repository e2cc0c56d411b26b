"""`tradeoff sweep`: several values of a knob, and the one to take."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradeoff._text import printable
from tradeoff.cli.compare import named_sources
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    CROSS_FITTED,
    Config,
    Json,
    NoSamples,
    Overwrite,
    Plot,
    Quiet,
    Real,
    Report,
    Train,
    check_output,
    explained_settings,
    inputs_of,
    placed_real,
    take_sources,
    take_training,
    tell_warnings,
    with_settings,
)

__all__ = ["run"]


@with_settings(*(name for name in CROSS_FITTED if name != "protocol"))
def run(
    samples: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REAL] [VALUE=PATH]...",
            help="Further values, as VALUE=PATH, after the real samples if there is no --real.",
        ),
    ] = None,
    *,
    real: Real = None,
    generated: Annotated[
        list[str] | None,
        typer.Option(
            "--generated", metavar="VALUE=PATH", help="Samples at each value of the parameter."
        ),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(
            "--goal",
            help='What to choose for: "largest area", "highest F-score", "best at λ = 2", or '
            '"highest precision with recall at least 0.8".',
        ),
    ] = "largest area",
    train: Train = None,
    config: Config = None,
    json: Json = False,
    plot: Plot = None,
    report: Report = None,
    no_samples: NoSamples = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Choose a value of a sampling parameter, such as a temperature.

    The model is measured at several values, and one of them is recommended.
    """
    from tradeoff.cli.goals import parse_best
    from tradeoff.cli.output import print_result, write_result
    from tradeoff.comparison.sweep import defaults, sweep_sources
    from tradeoff.report import SweepDisplay
    from tradeoff.report.text import shared_warnings

    asked = parse_best(goal)
    real, samples = placed_real(samples, chosen, real=real)
    named = named_sources([*(generated or ()), *samples])
    sources = take_sources(chosen, real=real, generated=named or None)
    sources |= take_training(chosen, train)
    given = defaults(sources.get("train")) | chosen
    settings = explained_settings(given, plot=plot, report=report)
    check_output(
        inputs_of(chosen, sources, config),
        files=[plot, report],
        overwrite=overwrite,
    )
    result = sweep_sources(**sources, goal=asked, settings=settings, progress=not quiet)
    if json:
        typer.echo(result.to_json())
    elif quiet:
        typer.echo("\n".join(map(printable, result.sentences)))
        tell_warnings(shared_warnings(result.comparison))
    else:
        print_result(result)
    write_result(result, SweepDisplay, plot=plot, report=report, samples=not no_samples, kept=kept)
