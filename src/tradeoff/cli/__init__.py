"""The command line: one file per command, options from the settings that Python shares."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run a command; see :func:`tradeoff.cli.app.main`."""
    try:
        from tradeoff.cli.app import main as run

        run()
    except KeyboardInterrupt:  # before a command has begun, or after its end
        sys.exit(130)
