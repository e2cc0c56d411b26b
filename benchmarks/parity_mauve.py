"""Outputs of mauve-text 0.4.0 on samples that anyone can draw again, kept for the tests.

mauve-text needs FAISS, which does not belong among our dependencies: run this in an environment of
its own, with ``mauve-text==0.4.0 faiss-cpu==1.15.1``, as ``python -m benchmarks.parity_mauve``; it
writes ``benchmarks/tests/parity/mauve.json``. The texts are those that ``make data`` embeds.
"""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURE = Path(__file__).parent / "tests" / "parity" / "mauve.json"
CACHE = Path(os.environ.get("TRADEOFF_BENCHMARK_CACHE", Path(__file__).parent / "cache"))
SEEDS = range(30)
CASES = {
    "Gaussians, one distribution, 1,000 + 1,000, 16 columns": (1000, 1000, 16, 0.0),
    "Gaussians, moved, 1,000 + 1,000, 32 columns": (1000, 1000, 32, 0.3),
    "Gaussians, moved far, 1,000 + 1,000, 64 columns": (1000, 1000, 64, 0.6),
    "Gaussians, 600 + 1,200, 24 columns": (600, 1200, 24, 0.2),
    "8 modes, 2 of them dropped, 1,000 + 1,000, 20 columns": (1000, 1000, 20, None),
}
MODES = "4 modes that k-means always finds, 44 + 40, 10 columns"
TEXTS = ("texts, all four sources, 800 + 800", "texts, one source removed, 800 + 600")
EVERY = (MODES, *CASES, *TEXTS)


def samples(case: str) -> dict[str, np.ndarray]:
    """Real and generated features in single precision."""
    if case in TEXTS:
        return _texts(range(4) if case == TEXTS[0] else range(1, 4))
    if case == MODES:
        return _modes()
    n, m, d, shift = CASES[case]
    rng = np.random.default_rng([n, m, d])
    if shift is None:
        modes = 3 * rng.normal(size=(8, d))
        real, generated = (
            modes[rng.integers(0, kept, size)] + rng.normal(size=(size, d))
            for size, kept in ((n, 8), (m, 6))
        )
    else:
        real, generated = rng.normal(size=(n, d)), rng.normal(size=(m, d))
        generated[:, 0] += shift * np.sqrt(d)
    return {"real": real.astype(np.float32), "generated": generated.astype(np.float32)}


def _modes() -> dict[str, np.ndarray]:
    """Four directions, in other shares on each side: every run has the same four clusters."""
    rng = np.random.default_rng(0)
    shares = {"real": (20, 12, 8, 4), "generated": (2, 8, 15, 15)}
    return {
        side: (6 * np.eye(4, 10)[np.repeat(range(4), counts)]).astype(np.float32)
        + rng.normal(0, 0.2, (sum(counts), 10)).astype(np.float32)
        for side, counts in shares.items()
    }


def _texts(sources: range) -> dict[str, np.ndarray]:
    """Half of the texts of every source, and the other half of those of some."""
    found = np.load(CACHE / "texts-400.npz")
    features, labels = found["x"], found["y"]
    half = np.arange(len(labels)) % 2 == 0
    return {"real": features[half], "generated": features[~half & np.isin(labels, sources)]}


def main() -> None:
    """Run mauve-text."""
    import mauve

    outputs = {case: _outputs(samples(case), mauve.compute_mauve) for case in EVERY}
    versions = {name: version(name) for name in ("mauve-text", "faiss-cpu")}
    lines = ",\n".join(f"    {json.dumps(case)}: {json.dumps(outputs[case])}" for case in EVERY)
    head = "".join(
        f"  {json.dumps(name)}: {json.dumps(found)},\n" for name, found in versions.items()
    )
    FIXTURE.write_text(f'{{\n{head}  "outputs": {{\n{lines}\n  }}\n}}\n')


def _outputs(sides: dict[str, np.ndarray], compute: Callable[..., Any]) -> dict[str, Any]:
    """Scores over all seeds, and the clusters of the first seed."""
    p, q = sides["real"], sides["generated"]
    found = [compute(p_features=p, q_features=q, seed=seed) for seed in SEEDS]
    first = found[0]
    return {
        "mauve": [float(one.mauve) for one in found],
        "frontier_integral": [float(one.frontier_integral) for one in found],
        "clusters": {
            "real": np.rint(first.p_hist * len(p)).astype(int).tolist(),
            "generated": np.rint(first.q_hist * len(q)).astype(int).tolist(),
        },
    }


if __name__ == "__main__":
    main()
