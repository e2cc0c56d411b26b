"""The command line: one file per command, options from the settings that Python shares."""

from tradeoff.cli.app import app, main

__all__ = ["app", "main"]
