"""The certificate holds, is not wide, and refutes what it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness import Row, run
from tests.known.certificates import refutes, violated
from tests.known.distributions import gaussians

if TYPE_CHECKING:
    from collections.abc import Callable


CASES: dict[str, Callable[[], Row]] = {
    **{
        f"Gaussians, d = 4, distance {distance}": (lambda x=distance: violated(gaussians(4, x)))
        for distance in (0, 1, 2)
    },
    "ring, one Gaussian, N = 5,000": refutes,
}

if __name__ == "__main__":
    run("certificate", "Certificates at 95%, 1,000 runs of a single split, N = 1,000", CASES)
