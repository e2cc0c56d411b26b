"""The same as for Fashion-MNIST with the digits of MNIST, settings unchanged."""

from __future__ import annotations

from benchmarks.bench_images import cases
from benchmarks.harness import run

CASES = cases("mnist")

if __name__ == "__main__":
    run("digits", "MNIST, a flow tuned for a trade-off", CASES)
