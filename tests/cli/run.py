"""The command line in this process, mistakes included."""

import contextlib
import io
import sys
from typing import NamedTuple
from unittest import mock

from tradeoff.cli import main


class Done(NamedTuple):
    """How a command ended and what it printed."""

    exit_code: int
    stdout: str
    stderr: str


def tradeoff(*arguments):
    """Run the command with these arguments."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["tradeoff", *map(str, arguments)]),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    return Done(code, out.getvalue(), err.getvalue())
