"""Where a number comes from: the versions of everything that computed it."""

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from tradeoff._version import __version__

__all__ = ["software_versions"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "array-api-compat", "matplotlib", "torch")


def software_versions() -> dict[str, str]:
    """Versions of tradeoff, Python and the installed packages it computes with.

    Example:
        >>> from tradeoff.provenance import software_versions
        >>> sorted(software_versions())[:3]
        ['array-api-compat', 'matplotlib', 'numpy']
    """
    return {"tradeoff": __version__, "python": platform.python_version()} | _installed()


@cache  # parsing the metadata of all packages takes 50 ms, longer than many a measurement
def _installed() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
