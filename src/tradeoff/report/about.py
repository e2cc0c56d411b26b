"""What a result was made of and with, for its page."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from tradeoff._text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tradeoff.evaluation import Evaluation

__all__ = ["about_of", "provenance_of"]


def provenance_of(evaluation: Evaluation, command: str, **options: Any) -> list[tuple[str, str]]:
    """What an evaluation was made of and with, and the command with options that repeats it."""
    about, settings = evaluation.provenance, evaluation.settings.to_dict() | options
    generated = {"compare": "NAME=GENERATED …", "sweep": "VALUE=GENERATED …"}.get(
        command, "GENERATED"
    )
    given = "".join(_option(name, value) for name, value in settings.items())
    written = f"tradeoff {command} --real REAL --generated {generated}{given}"
    return [*about_of(about), ("command", written)]


def about_of(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a result was made of and with, a row for each part that is known."""
    versions = about.get("versions", {})
    rows = [
        ("samples", ", ".join(f"{n:,} {side}" for side, n in about.get("samples", {}).items())),
        ("encoder", printable(str(about.get("encoder", "")))),
        ("columns", f"{about.get('columns', '')}"),
        ("estimator", printable(str(about.get("estimator", "")))),
        ("seed", str(about.get("seed", 0))),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions.items())),
    ]
    return [(name, text) for name, text in rows if text]


def _option(name: str, value: Any) -> str:
    if value is True or value is False:
        return f" --{'' if value else 'no-'}{name}"
    if name == "store":
        return ""
    if isinstance(value, dict):
        return f" --{name} …"  # an estimator with its fields, which only a file can name
    text = ",".join(value) if isinstance(value, list) else str(value)
    return f" --{name} {shlex.quote(printable(text))}"
