"""`tradeoff report`: the page of a result that was saved before."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003, Typer reads annotations
from typing import Annotated

import typer

from tradeoff._text import printable
from tradeoff.cli.options import NoSamples, Overwrite, Report  # noqa: TC001, Typer reads them

__all__ = ["run"]


def run(
    folder: Annotated[Path, typer.Argument(help="Folder or JSON file that --out of a run wrote.")],
    *,
    report: Report = None,
    no_samples: NoSamples = False,
    overwrite: Overwrite = False,
) -> None:
    """Write the HTML report of a saved result.

    It shows groups of samples if the run that was saved used --explain.
    """
    from tradeoff import load

    result = load(folder)
    page = folder / "report.html" if folder.is_dir() else folder.with_suffix(".html")
    page = page if report is None else report
    result.report(page, samples=not no_samples, overwrite=overwrite)
    typer.echo(f"Written: {printable(str(page))}", err=True)
