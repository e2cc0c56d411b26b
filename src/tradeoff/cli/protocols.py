"""`tradeoff protocols`: the published evaluation protocols."""

from __future__ import annotations

__all__ = ["run"]


def run() -> None:
    """List the published evaluation protocols."""
    from tradeoff.cli.output import print_table
    from tradeoff.protocols import PROTOCOLS

    rows = [
        (name, published.source, published.encoder, published.samples or "any number")
        for name, published in PROTOCOLS.items()
    ]
    print_table(("protocol", "about", "encoder", "samples"), rows)
