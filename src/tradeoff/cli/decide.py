"""`tradeoff decide`: take samples until a question is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tradeoff.cli.compare import named_sources
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    EMBEDDING,
    Config,
    Json,
    LedgerFolder,
    LooksReport,
    MoreModels,
    Overwrite,
    Plot,
    Quiet,
    Real,
    check_output,
    inputs_of,
    placed_real,
    take_source,
    with_settings,
)

__all__ = ["run"]


@with_settings(*(name for name in EMBEDDING if name != "limit"), "estimator", "level")
def run(
    question: Annotated[
        str,
        typer.Argument(
            help='Such as "curve.recall > 0.6" for one model, or "curve.recall" for several.'
        ),
    ],
    models: MoreModels = None,
    *,
    real: Real = None,
    generated: Annotated[
        list[str] | None,
        typer.Option(
            "--generated",
            metavar="[NAME=]PATH",
            help="Path of the model's samples; for several models, NAME=PATH for each.",
        ),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            "--wait",
            help="Read folders that are still being written, in the order in which images are "
            "finished, until no new image has appeared for this many seconds.",
        ),
    ] = None,
    pilot: Annotated[
        int,
        typer.Option(
            "--pilot", help="Number of samples that the rule is fitted on; they are not counted."
        ),
    ] = 1000,
    every: Annotated[
        int, typer.Option("--every", help="Number of new samples before each look at the answer.")
    ] = 250,
    limit: Annotated[
        int,
        typer.Option("--limit", help="Largest number of samples of each model that are counted."),
    ] = 20_000,
    ledger: LedgerFolder = None,
    config: Config = None,
    json: Json = False,
    plot: Plot = None,
    report: LooksReport = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Take samples until a question about one model or several is answered."""
    from tradeoff.cli.goals import parse_question
    from tradeoff.data import GrowingFolder
    from tradeoff.exceptions import InvalidInputError
    from tradeoff.report import DecisionDisplay
    from tradeoff.sequential.decide import decide_sources
    from tradeoff.settings import Settings

    asked = parse_question(question)
    real, models = placed_real(models, chosen, real=real)
    sources = {
        "real": take_source(chosen, "real", real),
        "generated": _by_name(
            take_source(chosen, "generated", [*(generated or ()), *models] or None)
        ),
    }
    settings = Settings.of(chosen | {"metrics": "curve"})
    check_output(inputs_of(chosen, sources, config), files=[plot, report], overwrite=overwrite)
    by_name = sources["generated"]
    if plot is not None and len(by_name) > 2:
        raise InvalidInputError(
            f"`--plot` can draw at most two models. Got {len(by_name)}: leave it out."
        )
    if wait is not None:
        by_name = {name: GrowingFolder(path, wait=wait) for name, path in by_name.items()}
    result = decide_sources(
        sources["real"],
        by_name,
        asked,
        settings,
        counts={"pilot": pilot, "every": every, "limit": limit},
        ledger=ledger,
        progress=not quiet,
    )
    typer.echo(result.to_json() if json else result)
    if plot is not None and result.looks:
        DecisionDisplay(result).save(plot)
        kept.add(plot)
    elif plot is not None:
        typer.echo(f"`{plot}` was not written: there was no look at the answer to draw.", err=True)
    if report is not None:
        result.report(report, overwrite=True)
        kept.add(report)


def _by_name(given: str | list[str] | dict[str, str]) -> dict[str, str]:
    """Paths by name; a single path needs none."""
    if isinstance(given, dict):
        return given
    texts = [given] if isinstance(given, str) else given
    if len(texts) == 1 and ("=" not in texts[0] or Path(texts[0]).exists()):
        return {"generated": texts[0]}
    return named_sources(texts)
