"""The directive `cli-reference`: every command with its options, from the program itself.

The functions that make the text need no Sphinx.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tradeoff.cli.app import app as program

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands() -> Iterator[tuple[str, Any]]:
    """Name and declaration of every command that does something."""
    waiting = [("tradeoff", typer.main.get_command(program))]
    while waiting:
        name, command = waiting.pop(0)
        parts = getattr(command, "commands", {})
        waiting = [(f"{name} {part}", found) for part, found in parts.items()] + waiting
        if not parts:
            yield name, command


def markdown() -> str:
    """One section for each command."""
    parts = []
    for name, command in commands():
        parts += [f"## `{name}`", "", command.help.partition("\f")[0], ""]
        rows = [_row(one) for one in command.params if one.name != "help"]
        if rows:
            parts += ["| option | meaning |", "|---|---|", *rows, ""]
    return "\n".join(parts)


def _row(parameter: Any) -> str:
    options = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        options = [parameter.name.upper()]
    text = (getattr(parameter, "help", "") or "").replace("|", r"\|")
    return f"| {', '.join(f'`{option}`' for option in options)} | {text} |"


def setup(app):
    from sphinx.util.docutils import SphinxDirective

    class Reference(SphinxDirective):
        """Renders one table for each command."""

        def run(self):
            return self.parse_text_to_nodes(markdown(), allow_section_headings=True)

    app.add_directive("cli-reference", Reference)
    return {"parallel_read_safe": True}
