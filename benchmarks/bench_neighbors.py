"""Time of the four neighbor metrics over that of three bare matrix products, in one run.

Bare are the products of all tiles, real × real, generated × generated and real × generated, by
``torch.mm`` without symmetry: what a plain implementation needs before it has counted anything.
Peers run on the same samples. Each time is the best of several, taken in turn.
"""

from __future__ import annotations

import contextlib
import io
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from benchmarks.harness import Row, run
from tradeoff import support_metrics

if TYPE_CHECKING:
    from collections.abc import Callable

N = 10_000
K = 5
TILE = 1024
_REPEATS = 5


def samples(n: int, d: int) -> dict[str, np.ndarray]:
    """Gaussian features in single precision, a little apart."""
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(2, n, d)).astype(np.float32)
    return {"real": real, "generated": generated + np.float32(0.05)}


def bare_products(real: torch.Tensor, generated: torch.Tensor) -> None:
    """Three products, tile by tile."""
    for x, y in ((real, real), (generated, generated), (real, generated)):
        for rows in x.split(TILE):
            for columns in y.split(TILE):
                torch.mm(rows, columns.T)


def seconds(task: Callable[[], object]) -> float:
    """Of one call."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def ours(d: int, bar: float, *, n: int = N, repeats: int = _REPEATS) -> Row:
    """All four metrics with errors, exactness included."""
    sides = samples(n, d)
    tensors = [torch.from_numpy(side) for side in sides.values()]
    tasks = (
        lambda: bare_products(*tensors),
        lambda: support_metrics(**sides, k=K, progress=False),
    )
    times = np.array([[seconds(task) for task in tasks] for _ in range(repeats)])
    bare, metrics = times.min(0)
    return {"seconds": metrics, "bare products": bare, "ratio": metrics / bare, "bar": bar}


def peer(name: str, d: int, *, n: int = N, repeats: int = 2) -> Row:
    """A published tool; `prdc` has all four metrics, the others precision and recall alone."""
    sides = samples(n, d)
    tensors = [torch.from_numpy(side) for side in sides.values()]
    tasks = (lambda: bare_products(*tensors), partial(PEERS[name], **sides))
    times = np.array([[seconds(task) for task in tasks] for _ in range(repeats)])
    bare, taken = times.min(0)
    return {"seconds": taken, "bare products": bare, "ratio": taken / bare}


def _prdc(*, real: np.ndarray, generated: np.ndarray) -> None:
    from prdc import compute_prdc

    with contextlib.redirect_stdout(io.StringIO()):
        compute_prdc(real, generated, nearest_k=K)


def _plain(*, real: np.ndarray, generated: np.ndarray) -> None:
    """Blocks of distances by ``torch.cdist``, as torch-fidelity computes them."""
    x, y = torch.from_numpy(real), torch.from_numpy(generated)
    for a, b in ((x, y), (y, x)):
        radii = torch.cdist(a, a).kthvalue(K + 1).values
        (torch.cdist(a, b) <= radii[:, None]).any(0).float().mean()


PEERS = {"prdc 0.2": _prdc, "torch.cdist and kthvalue": _plain}

CASES: dict[str, Callable[[], Row]] = {
    "2,048 columns": lambda: ours(2048, 0.9),
    "384 columns": lambda: ours(384, 1.5),
    **{f"{name}, {d:,} columns": partial(peer, name, d) for d in (2048, 384) for name in PEERS},
}

if __name__ == "__main__":
    run("neighbors", f"Four metrics over bare products, N = M = {N:,}, k = {K}", CASES)
