"""`tradeoff embed`: make and inspect a feature store."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tradeoff.cli.options import Quiet, with_settings

__all__ = ["run"]


@with_settings
def run(
    source: Annotated[str | None, typer.Argument(help="Samples to embed: a path.")] = None,
    *,
    quiet: Quiet = False,
    chosen: dict[str, Any],
) -> None:
    """Make a store of features, or show what it holds."""
    from tradeoff.cli.output import print_table
    from tradeoff.exceptions import InvalidInputError
    from tradeoff.features import FeatureStore
    from tradeoff.settings import Settings

    settings = Settings.of(chosen)
    if settings.store is None:
        raise InvalidInputError("`--store` must name the folder in which features are kept.")
    if source is not None:
        from tradeoff.evaluation.pipeline import Pipeline

        pipeline = Pipeline(settings, {"metrics": "curve"}, progress=not quiet)
        pipeline.take_real(source)
        if pipeline.embedder.kind == "features":
            raise InvalidInputError(f"`{source}` holds features already: there is nothing to keep.")
        found = pipeline.real
        fresh = len(found.ids) - found.reused
        typer.echo(
            f"{len(found.ids):,} samples by {pipeline.embedder.name}, {found.features.shape[1]} "
            f"columns: {fresh:,} embedded, {found.reused:,} found in the store, "
            f"{len(found.broken):,} broken"
        )
        for item in found.broken:
            typer.echo(f"broken: {item.id}: {item.reason}", err=True)
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
