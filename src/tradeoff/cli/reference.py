"""`tradeoff reference`: real data embedded once, for any number of models."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003, Typer reads annotations
from typing import Annotated, Any

import typer

from tradeoff.cli.command import Command, Group
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import (
    EMBEDDING,
    Config,
    Overwrite,
    Quiet,
    Real,
    check_output,
    inputs_of,
    take_source,
    tell_warnings,
    with_settings,
)

__all__ = ["app"]

app = typer.Typer(
    help="Embed real data once, and use it for any number of models.",
    cls=Group,
    no_args_is_help=True,
)


@app.command("make", cls=Command)
@with_settings(*EMBEDDING, "k")
def make(
    *,
    real: Real = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for the reference.")],
    config: Config = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Embed real samples, find their neighbors, and save both."""
    from importlib.util import find_spec

    from tradeoff._validation import check_count
    from tradeoff.embedding.sources import open_samples
    from tradeoff.evaluation.reference import Reference, embed_settings
    from tradeoff.evaluation.reference_files import reference_files
    from tradeoff.settings import Settings

    source = take_source(chosen, "real", real)
    chosen.pop("generated", None)  # of a file that describes a whole run
    k = check_count("k", chosen.pop("k", Settings().k))
    inputs = inputs_of(chosen, {"real": source}, config)
    check_output(inputs, results=reference_files(out), out=out, overwrite=overwrite)
    settings = embed_settings(chosen)
    opened = open_samples(source, "real", settings)
    reference = Reference.embed(opened, settings, progress=not quiet)
    if find_spec("torch") is not None:
        reference.prepare(k, progress=not quiet)
    reference.save(out, overwrite=True)  # checked before the work
    kept.add_folder(out, reference_files(out))
    tell_warnings(reference.warnings)
    typer.echo(_line(reference))


@app.command("show", cls=Command)
def show(folder: Annotated[Path, typer.Argument(help="Folder of a reference.")]) -> None:
    """Check a reference, and show what it holds."""
    from tradeoff.cli.output import print_table
    from tradeoff.evaluation import Reference

    reference = Reference.load(folder)
    neighbors = reference.side.first.remembered("neighbors")
    rows = [
        ("samples", f"{len(reference.side):,} {reference.kind}"),
        ("broken", f"{len(reference.broken):,}"),
        ("columns", f"{reference.side.columns:,}"),
        *((name, text) for name, text in reference.encoder.items() if text),
        ("neighbors", "none" if neighbors is None else f"up to rank {neighbors.index.shape[1]}"),
    ]
    print_table(("property", "value"), rows)


def _line(reference: Any) -> str:
    return (
        f"{len(reference.side):,} real samples by {reference.encoder['encoder']}, "
        f"{reference.side.columns:,} columns, {len(reference.broken):,} broken"
    )
