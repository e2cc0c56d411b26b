"""`tradeoff protocols`: the recipes of the literature."""

from __future__ import annotations

__all__ = ["run"]


def run() -> None:
    """List the recipes of the literature."""
    from tradeoff.cli.output import print_table
    from tradeoff.protocols import PROTOCOLS

    rows = [
        (name, published.source, published.encoder, published.samples or "any number")
        for name, published in PROTOCOLS.items()
    ]
    print_table(("protocol", "about", "encoder", "samples"), rows)
