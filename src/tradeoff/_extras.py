"""Optional packages, imported where they are needed, with a sentence when they are missing."""

from importlib import import_module
from typing import Any

from tradeoff.exceptions import MissingExtraError

__all__ = ["import_extra"]


def import_extra(package: str, *, extra: str, purpose: str) -> Any:
    """An optional package, or the command that installs it."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(
            f"{purpose} requires the package {error.name}, which is not installed: "
            f"pip install 'tradeoff[{extra}]'."
        ) from None
