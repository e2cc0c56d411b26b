"""What all commands share: options in groups, and suggestions for options that do not exist."""

from __future__ import annotations

import os
from difflib import get_close_matches
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from tradeoff._registry import suggestion
from tradeoff.exceptions import InvalidInputError

__all__ = ["INTERRUPTED", "Command", "Group"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_GROUPS = {
    "Input": "real generated config kind column label schema encoder size trusted limit broken",
    "What to measure": (
        "metrics protocol explain target prompt diagnose level fail_under fail_over fail_on goal"
    ),
    "Output": "json plot report no_samples out ids curves overwrite quiet verbose",
    "Advanced": (
        "estimator rule folds repeats k seed device dtype runtime batch_size store engine address "
        "workers ledger"
    ),
}
_MEANT = {
    "--fake": ("--generated",),
    "--gen": ("--generated",),
    "--model": ("--generated",),
    "--samples": ("--generated",),
    "--synthetic": ("--generated",),
    "--reference": ("--real",),
    "--output": ("--out", "--ids", "--report", "--plot"),
    "--save": ("--out", "--ids", "--report", "--plot"),
    "--html": ("--report",),
    "--features": ("--encoder",),
    "--gpu": ("--device",),
    "--cuda": ("--device",),
    "--metric": ("--metrics",),
    "--fid": ("--metrics",),
    "--out": ("--ids",),
    "-o": ("--out", "--ids", "--report"),
    "-e": ("--encoder",),
    "-m": ("--metrics",),
    "-k": ("--k",),
    "--nearest-k": ("--k",),
    "--neighbors": ("--k",),
    "--class": ("--label",),
    "--format": ("--json",),
    "--threshold": ("--fail-under",),
    "--min-precision": ("--fail-under",),
    "--min-recall": ("--fail-under",),
}
"""Options that other tools have, and ours that mean the same."""
_ANSWERED = {
    **dict.fromkeys(
        ("--num-workers", "--jobs", "--n-jobs", "--threads"),
        "threads are as many as cores, or OMP_NUM_THREADS",
    ),
}
"""Options that other tools have, and why there are none here."""


class Group(TyperGroup):
    """Commands, of which an unknown one gets one sentence.

    `help` and `version` are read as options, and two paths alone as those of `evaluate`.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read arguments, with `help COMMAND` as `COMMAND --help`."""
        if args[:1] in (["help"], ["version"]):
            args = [*args[1:], f"--{args[0]}"]
        elif "evaluate" in self.commands and len(args) > 1 and all(map(os.path.exists, args[:2])):
            args = ["evaluate", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named first."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            shown = f"`{ctx.command_path}` has no command `{args[0]}`."
            raise InvalidInputError(f"{shown} {suggestion(args[0], names)}")
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command that groups its options and suggests the right one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read arguments; an option that does not exist gets one sentence."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if type(error).__name__ != "NoSuchOption":  # Typer may bring a Click of its own
                raise
            name = str(error.option_name)  # type: ignore[attr-defined]
            raise InvalidInputError(self._unknown(name, ctx.command_path)) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the command; one that says nothing of an interruption itself has kept nothing."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("interrupted. Nothing was kept.", err=True)
            raise typer.Exit(INTERRUPTED) from None

    def _unknown(self, name: str, command: str) -> str:
        own = [option for one in self.params for option in one.opts if option.startswith("--")]
        meant = [option for option in _MEANT.get(name, ()) if option in own]
        meant = meant or get_close_matches(name, own, n=1)
        sentence = f"`{command}` has no option `{name}`"
        if name in _ANSWERED:
            return f"{sentence}: {_ANSWERED[name]}."
        if not meant:
            return f"{sentence}: `{command} --help` lists all of them."
        return f"{sentence}. Did you mean `{'`, `'.join(meant)}`?"

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options by what they are about."""
        groups: dict[str, list[tuple[str, str]]] = {
            name: [] for name in ("Arguments", *_GROUPS, "Options")
        }
        places = {option: name for name, line in _GROUPS.items() for option in line.split()}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is None:
                continue
            is_argument = one.param_type_name == "argument"
            group = "Arguments" if is_argument else places.get(str(one.name), "Options")
            groups[group].append(record)
        for name, records in groups.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)
