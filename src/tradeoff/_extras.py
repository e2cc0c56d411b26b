"""Optional packages, imported where they are needed, with a sentence when they are missing.

The lower bounds in `pyproject.toml` are the oldest versions that work, so that tradeoff installs
next to other packages. Versions with known holes are told of here, when they are used.
"""

import re
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from typing import Any

from tradeoff.exceptions import MissingExtraError

__all__ = ["HOLES", "Hole", "import_extra", "known_hole"]


@dataclass(frozen=True)
class Hole:
    """A vulnerability of a package that files given to tradeoff can reach.

    Args:
        package: Name of the package for pip.
        fixed: First version without it.
        what: What a file can do, with the number of the advisory if there is one.
        runs_code: Whether a file could run code. Then nothing is said when the package is imported:
            the function that would open such a file refuses to.
    """

    package: str
    fixed: str
    what: str
    runs_code: bool = False

    @property
    def way_out(self) -> str:
        """The command that installs a version without it."""
        return f"pip install -U '{self.package}>={self.fixed}'"


HOLES = {
    "PIL": Hole(
        "pillow", "12.3", "CVE-2026-59199: pasting and cropping can write outside of an image"
    ),
    # No advisory names versions. Crafted networks corrupted memory as late as 1.28.2, a patch that
    # is newer than 1.29.0.
    "onnxruntime": Hole("onnxruntime", "1.30", "a crafted network can corrupt memory"),
    # `features.trust` refuses folders that use one of these two; `tests/features/test_hostile.py`
    # tries them, also on the lower bounds.
    "transformers": Hole(
        "transformers", "5.5", "CVE-2026-4372, CVE-2026-5241: a configuration can fetch code"
    ),
    "sentence_transformers": Hole(
        "sentence-transformers", "6.2", "CVE-2026-68770: a model can run its own Python files"
    ),
    "torch": Hole(
        "torch",
        "2.10",
        "CVE-2025-32434, CVE-2026-24747: pickled weights can run code despite weights_only=True",
        runs_code=True,
    ),
}
"""By the name under which a package is imported. `docs/security.md` shows this table."""


def import_extra(package: str, *, extra: str, purpose: str) -> Any:
    """An optional package, or the command that installs it."""
    try:
        found = import_module(package)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{package}.".startswith(f"{error.name}."):
            raise
        raise MissingExtraError(
            f"{purpose} requires the package {error.name}, which is not installed: "
            f"pip install 'tradeoff[{extra}]'."
        ) from None
    _warn_of_hole(package.partition(".")[0])
    return found


def known_hole(name: str) -> tuple[str, Hole] | None:
    """The installed version of a package and its hole, None if that version has none.

    Args:
        name: Name under which the package is imported.
    """
    hole = HOLES.get(name)
    if hole is None:
        return None
    try:
        version = metadata.version(hole.package)
    except metadata.PackageNotFoundError:  # built under another name, such as onnxruntime-gpu
        return None
    return (version, hole) if _numbers(version) < _numbers(hole.fixed) else None


@cache  # once per process
def _warn_of_hole(name: str) -> None:
    found = known_hole(name)
    if found is not None and not found[1].runs_code:
        version, hole = found
        warnings.warn(
            f"{hole.package} {version} has a known vulnerability ({hole.what}): upgrade with "
            f"{hole.way_out}.",
            stacklevel=3,
        )


def _numbers(version: str) -> tuple[int, ...]:
    """The leading numbers of a version, of which trailing zeros do not count."""
    release = re.match(r"\d+(\.\d+)*", version)
    numbers = [int(part) for part in release[0].split(".")] if release else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
