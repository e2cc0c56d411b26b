"""`tradeoff embed`: make and inspect a feature store."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradeoff._text import printable
from tradeoff.cli.kept import Kept  # noqa: TC001, Typer reads annotations
from tradeoff.cli.options import EMBEDDING, Quiet, tell_warnings, with_settings

__all__ = ["run"]


@with_settings(*EMBEDDING)
def run(
    source: Annotated[str | None, typer.Argument(help="Samples to embed: a path.")] = None,
    *,
    quiet: Quiet = False,
    chosen: dict[str, Any],
    kept: Kept,
) -> None:
    """Make a store of features, or show what it holds."""
    from tradeoff.cli.output import print_table
    from tradeoff.evaluation.reference import embed_settings
    from tradeoff.exceptions import InvalidInputError
    from tradeoff.features.store import FeatureStore

    settings = embed_settings(chosen)
    if settings.store is None:
        raise InvalidInputError("`--store` must name the folder in which features are kept.")
    if source is not None:
        from tradeoff.embedding.sources import open_samples
        from tradeoff.evaluation.reference import Reference

        opened = open_samples(source, "samples", settings)
        if opened.kind == "features":
            raise InvalidInputError(
                f"`{source}` already holds features: there is nothing to embed."
            )
        found = Reference.embed(opened, settings, progress=not quiet)
        tell_warnings(found.warnings)
        fresh = len(found.side) - found.reused
        typer.echo(
            f"{len(found.side):,} samples by {found.encoder['encoder']}, {found.side.columns} "
            f"columns: {fresh:,} embedded, {found.reused:,} found in the store, "
            f"{len(found.broken):,} broken"
        )
        for item in found.broken:
            typer.echo(printable(f"broken: {item.id}: {item.reason}"), err=True)
        return
    rows = [
        (
            shelf["name"],
            f"{shelf['samples']:,}",
            str(shelf["shards"]),
            f"{shelf['bytes'] / 1e6:.1f} MB",
            shelf["weights"][:12],
            shelf["preprocessing"],
        )
        for shelf in FeatureStore(settings.store).contents()
    ]
    if not rows:
        typer.echo(f"{settings.store} holds no features.")
    else:
        print_table(("features", "samples", "shards", "size", "weights", "preprocessing"), rows)
