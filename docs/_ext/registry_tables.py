"""Directives that render what is registered: `metric-table`, `settings-table` and others.

They render the registries, so that no page has to list their contents by hand. The functions that
make the rows need no Sphinx.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from tradeoff.features.registry import ENCODERS
from tradeoff.metrics.registry import FAMILIES, default_metrics
from tradeoff.protocols import PROTOCOLS
from tradeoff.ratio.registry import ESTIMATORS
from tradeoff.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

Table = tuple[tuple[str, ...], list[tuple[str, ...]]]
"""Titles of the columns, and the rows, in Markdown."""


def metric_table() -> Table:
    """Every metric of every family."""
    header = ("key", "better", "range", "values of", "measured", "meaning")
    rows = [
        (
            f"`{metric.key}`",
            metric.arrow,
            _interval(metric.range),
            f"{metric.side} samples" if metric.side else "",
            "by default" if family.by_default and not metric.on_request else "on request",
            metric.meaning,
        )
        for family in FAMILIES.values()
        for metric in family.metrics
    ]
    return header, rows


def estimator_table() -> Table:
    """Every estimator of the likelihood ratio."""
    return ("name", "about"), [(f"`{e.name}`", e.about) for e in ESTIMATORS.values()]


def encoder_table() -> Table:
    """Every encoder that has a name."""
    rows = [(f"`{e.name}`", e.kind, e.about) for e in ENCODERS.values()]
    return ("name", "kind of samples", "about"), rows


def protocol_table() -> Table:
    """Every published recipe."""
    rows = [
        (f"`{name}`", recipe.source, recipe.encoder, recipe.samples or "any number")
        for name, recipe in PROTOCOLS.items()
    ]
    return ("name", "published by", "encoder", "samples"), rows


def settings_table() -> Table:
    """Every setting, with the words of the command line."""
    names = {"families": ", ".join(FAMILIES), "estimators": ", ".join(ESTIMATORS)}
    rows = []
    for setting in fields(Settings):
        default = default_metrics() if setting.name == "metrics" else setting.default
        words = setting.metadata["help"].format(**names)
        rows.append((f"`{setting.name}`", _default(default), words))
    return ("setting", "default", "meaning"), rows


TABLES: dict[str, Callable[[], Table]] = {
    "metric-table": metric_table,
    "estimator-table": estimator_table,
    "encoder-table": encoder_table,
    "protocol-table": protocol_table,
    "settings-table": settings_table,
}


def markdown(table: Table) -> str:
    """A table as Markdown."""
    header, rows = table
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def _interval(limits: tuple[float, float]) -> str:
    low, high = limits
    left = "(−∞" if low == -math.inf else f"[{low:g}"
    right = "∞)" if high == math.inf else f"{high:g}]"
    return f"{left}, {right}"


def _default(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(f"`{entry}`" for entry in value)
    return f"`{value}`"


def setup(app):
    from sphinx.util import logging
    from sphinx.util.docutils import SphinxDirective

    class RegistryTable(SphinxDirective):
        """Renders the table that the directive is called after."""

        def run(self):
            table = TABLES[self.name]()
            if not table[1]:
                logging.getLogger(__name__).warning(
                    "%s has no rows: the registry is empty", self.name, location=self.get_location()
                )
                return []
            return self.parse_text_to_nodes(markdown(table))

    for name in TABLES:
        app.add_directive(name, RegistryTable)
    return {"parallel_read_safe": True}
