"""The command `tradeoff`; nothing heavy is imported before a command runs."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
import traceback
import warnings
from typing import Annotated, Any, NoReturn

import typer

from tradeoff._progress import clear_line
from tradeoff._text import printable
from tradeoff._version import __version__
from tradeoff.cli import (
    budget,
    compare,
    decide,
    doctor,
    embed,
    encoders,
    evaluate,
    filter,  # noqa: A004
    protocols,
    reference,
    report,
    sweep,
)
from tradeoff.cli.command import Command, Group
from tradeoff.exceptions import TradeoffError

__all__ = ["app", "main"]

_DEFECT = 70  # as sysexits.h calls an internal error

app = typer.Typer(
    name="tradeoff",
    cls=Group,
    help="Measure the quality/diversity trade-off of generative models.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("evaluate", cls=Command)(evaluate.run)
app.command("compare", cls=Command)(compare.run)
app.command("sweep", cls=Command)(sweep.run)
app.command("decide", cls=Command)(decide.run)
app.command("embed", cls=Command)(embed.run)
app.add_typer(reference.app, name="reference")
app.command("budget", cls=Command)(budget.run)
app.command("filter", cls=Command)(filter.run)
app.command("report", cls=Command)(report.run)
app.command("protocols", cls=Command)(protocols.run)
app.command("encoders", cls=Command)(encoders.run)
app.command("doctor", cls=Command)(doctor.run)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tradeoff {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Options before a command."""


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one sentence, without the line of code that it comes from."""
    clear_line()
    typer.echo(printable(f"warning: {message}"), err=True)


def _open_streams() -> None:
    """Lead streams that were closed, as cron and daemons may do, to nowhere.

    Else the next file that is opened would take the place of one, and get what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def _terminate(number: int, _: Any) -> NoReturn:
    """End like after an error, so that workers and temporary files do not stay behind."""
    raise SystemExit(128 + number)


def main() -> None:
    """Run a command.

    A failed gate ends with exit code 1, a mistake in one sentence with 2, an interruption with 130,
    a termination with 143, and a bug in tradeoff itself in a traceback with 70.
    """
    _open_streams()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where λ cannot be written
    warnings.showwarning = _show_warning
    try:
        app(prog_name="tradeoff")
    except TradeoffError as error:
        typer.echo(printable(f"error: {error}"), err=True)
        sys.exit(2)
    except OSError as error:
        told = f"error: {error.filename or 'A file'}: {error.strerror or error}."
        typer.echo(printable(told), err=True)
        sys.exit(2)
    except Exception:
        traceback.print_exc()
        typer.echo(
            "error: This is a bug in tradeoff. Please report it with the lines above.", err=True
        )
        sys.exit(_DEFECT)
