"""`tradeoff compare`: several models against the same real data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tradeoff._text import printable
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    CROSS_FITTED,
    Config,
    Json,
    MoreModels,
    NoSamples,
    Out,
    Overwrite,
    Plot,
    Quiet,
    Real,
    Report,
    Train,
    check_output,
    explained_settings,
    inputs_of,
    placed_output,
    placed_real,
    repeating,
    take_sources,
    take_training,
    tell_warnings,
    with_settings,
)

__all__ = ["named_sources", "run"]


@with_settings(*CROSS_FITTED)
def run(
    models: MoreModels = None,
    *,
    real: Real = None,
    generated: Annotated[
        list[str] | None,
        typer.Option(
            "--generated",
            "-g",
            metavar="[NAME=]PATH",
            help="Samples of a model; its name is that of the path if not given.",
        ),
    ] = None,
    train: Train = None,
    config: Config = None,
    json: Json = False,
    plot: Plot = None,
    report: Report = None,
    no_samples: NoSamples = False,
    out: Out = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Measure several models and tell them apart."""
    from tradeoff.cli.output import print_result, write_result
    from tradeoff.comparison.models import compare_sources, comparison_files
    from tradeoff.exceptions import InvalidInputError
    from tradeoff.report import ComparisonDisplay
    from tradeoff.report.text import shared_warnings
    from tradeoff.settings import write_config

    real, models = placed_real(models, chosen, real=real)
    named = named_sources([*(generated or ()), *models], by_path=True)
    if saved := [path for path in named.values() if path.endswith(".json")]:
        raise InvalidInputError(
            f"Saved results cannot be compared. Got {saved[0]}: give the samples of each model, "
            "`tradeoff compare REAL NAME=PATH NAME=PATH`."
        )
    out, report, document = placed_output(out, report)
    sources = take_sources(chosen, real=real, generated=named or None)
    sources |= take_training(chosen, train)
    settings = explained_settings(chosen, plot=plot, report=report)
    files = [] if out is None else comparison_files(out, sources["generated"])
    check_output(
        inputs_of(chosen, sources, config),
        out=out,
        results=[] if out is None else [*files, out / "run.toml"],
        files=[plot, report, document],
        overwrite=overwrite,
    )
    result = compare_sources(**sources, settings=settings, progress=not quiet)
    if json:
        typer.echo(result.to_json(curves=False))
    elif quiet:
        for verdict in result.verdicts:
            typer.echo(printable(verdict))
        tell_warnings(shared_warnings(result))
    else:
        print_result(result)
    write_result(
        result,
        ComparisonDisplay,
        out=out,
        document=document,
        files=files,
        plot=plot,
        report=report,
        samples=not no_samples,
        config=write_config(repeating(settings, result.encoder), **sources),
        kept=kept,
    )


def named_sources(texts: list[str], *, by_path: bool = False) -> dict[str, str]:
    """Paths by name, each given as NAME=PATH.

    Args:
        texts: What was given.
        by_path: Whether a path without a name is called like its file or folder.
    """
    from tradeoff.exceptions import InvalidInputError

    found: dict[str, str] = {}
    for text in texts:
        name, _, path = text.partition("=")
        if by_path and ("=" not in text or Path(text).exists()):
            name, path = Path(text).stem, text
        if not (name and path) or name in found:
            raise InvalidInputError(
                "`--generated` must be NAME=PATH, with a different name for each path, such as "
                f"A={path or text}. Got {text!r}."
            )
        found[name] = path
    return found
