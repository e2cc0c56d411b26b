"""The directive `api-glance`: every public name with its signature and its first sentence.

The rows come from the source, so the page cannot go out of date. The functions that make them need
no Sphinx.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

MODULES = (
    "tradeoff.evaluation",
    "tradeoff.comparison",
    "tradeoff.sequential",
    "tradeoff.goals",
    "tradeoff.counting",
    "tradeoff.explain",
    "tradeoff.metrics",
    "tradeoff.samples",
    "tradeoff.prompts",
    "tradeoff.tables",
    "tradeoff.settings",
    "tradeoff.curves",
    "tradeoff.ratio",
    "tradeoff.sampling",
    "tradeoff.training",
    "tradeoff.tracking",
    "tradeoff.integrations.loggers",
    "tradeoff.integrations.torchmetrics",
    "tradeoff.integrations.lightning",
    "tradeoff.integrations.transformers",
    "tradeoff.metrics.neighbors",
    "tradeoff.metrics.moments",
    "tradeoff.protocols",
    "tradeoff.inference",
    "tradeoff.data",
    "tradeoff.features",
    "tradeoff.core",
    "tradeoff.core.divergence",
    "tradeoff.report",
    "tradeoff.exceptions",
)
"""Public modules with names, in the order of the page."""


def rows(module: str) -> list[tuple[str, str, str]]:
    """Name, signature and first sentence of everything public in a module, all in Markdown."""
    found = import_module(module)
    return [
        (_link(module, name, getattr(found, name)), *_about(found, name))
        for name in sorted(found.__all__, key=str.lower)
    ]


def signature(thing: Any) -> str:
    """Parameters and defaults without annotations; empty for values and protocols."""
    if not callable(thing) or getattr(thing, "_is_protocol", False):
        return ""
    if inspect.isclass(thing) and issubclass(thing, Exception):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    bare = [
        one.replace(annotation=inspect.Parameter.empty, default=_default(one.default))
        for one in found.parameters.values()
        if not one.name.startswith("_")
    ]
    return str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def first_sentence(thing: Any) -> str:
    """The summary line of a docstring."""
    return (inspect.getdoc(thing) or "").partition("\n\n")[0].replace("\n", " ")


def markdown() -> str:
    """The whole page below its title."""
    parts = []
    for module in MODULES:
        parts += [f"## `{module}`", "", "| name | signature | returns or is |", "|---|---|---|"]
        parts += ["| " + " | ".join(row) + " |" for row in rows(module)]
        parts.append("")
    return "\n".join(parts)


class _Default:
    """A default in a signature, as short as it can be read."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        text = repr(self.value)
        return "…" if len(text) > 30 or "<" in text or "(" in text else text


def _default(value: Any) -> Any:
    return value if value is inspect.Parameter.empty else _Default(value)


def _about(module: Any, name: str) -> tuple[str, str]:
    thing = getattr(module, name)
    call = signature(thing)
    return (f"`{_cell(call)}`" if call else "", _cell(_in_markdown(_sentence(module, name))))


def _sentence(module: Any, name: str) -> str:
    thing = getattr(module, name)
    if inspect.isclass(thing) or callable(thing):
        return first_sentence(thing)
    return f"Registry of every {thing.noun}, by name." if hasattr(thing, "noun") else "By name."


def _link(module: str, name: str, thing: Any) -> str:
    role = "class" if inspect.isclass(thing) else "func" if callable(thing) else ""
    return f"{{py:{role}}}`~{module}.{name}`" if role else f"`{name}`"


def _in_markdown(text: str) -> str:
    """Text of a docstring: roles and literals of reStructuredText as Markdown."""
    text = re.sub(r":math:`([^`]*)`", lambda found: f"${found[1]}$".replace(r"\|", r"\Vert "), text)
    text = re.sub(r":\w+:`(?:[^`<]*<)?~?(?:[\w.]*\.)?(\w+)>?`", r"`\1`", text)
    return text.replace("``", "`")


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def setup(app):
    from sphinx.util.docutils import SphinxDirective

    class Glance(SphinxDirective):
        """Renders one table for each public module."""

        def run(self):
            return self.parse_text_to_nodes(markdown(), allow_section_headings=True)

    app.add_directive("api-glance", Glance)
    return {"parallel_read_safe": True}
