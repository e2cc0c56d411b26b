"""Outputs of torch-fidelity 0.4.0 on samples that anyone can draw again, kept for the tests.

torch-fidelity needs torchvision, which does not belong among our dependencies: run this in an
environment of its own, with ``torch==2.13.0 torchvision==0.28.0 torch-fidelity==0.4.0``, as
``python -m benchmarks.parity_torch_fidelity``; it writes
``benchmarks/tests/parity/torch_fidelity.json``.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

FIXTURE = Path(__file__).parent / "tests" / "parity" / "torch_fidelity.json"
CASES = {
    "Gaussians, 1,000 + 1,000, 64 columns": (1000, 1000, 64, 0.1),
    "Gaussians, 500 + 1,500, 16 columns": (500, 1500, 16, 0.3),
    "Gaussians, 800 + 800, 512 columns": (800, 800, 512, 0.05),
    "8 binary features, 1,000 + 1,000": (1000, 1000, 8, None),
    "grid of tenths, 1,000 + 1,000, 6 columns": (1000, 1000, 6, None),
}


def samples(case: str) -> dict[str, np.ndarray]:
    """Real and generated features in single precision."""
    n, m, d, shift = CASES[case]
    rng = np.random.default_rng([n, m, d])
    if shift is None:
        steps, step = (2, 1.0) if d == 8 else (4, 0.1)
        real, generated = (step * rng.integers(0, steps, (size, d)) for size in (n, m))
    else:
        real, generated = rng.normal(size=(n, d)), 0.9 * rng.normal(size=(m, d)) + shift
    return {"real": real.astype(np.float32), "generated": generated.astype(np.float32)}


def probabilities() -> np.ndarray:
    """Class probabilities of 1,000 samples."""
    return np.random.default_rng(0).dirichlet(np.full(10, 0.3), 1000)


def main() -> None:
    """Run torch-fidelity."""
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):  # operators that its import asks for and never calls
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric
    from torch_fidelity.metric_isc import isc_features_to_metric
    from torch_fidelity.metric_kid import kid_features_to_metric
    from torch_fidelity.metric_prc import prc_features_to_metric

    outputs: dict[str, dict[str, float]] = {}
    for case in CASES:
        sides = {side: torch.from_numpy(x) for side, x in samples(case).items()}
        generated, real = sides["generated"], sides["real"]
        found = prc_features_to_metric(generated, real, verbose=False)
        first, second = (fid_features_to_statistics(x) for x in (generated, real))
        found |= fid_statistics_to_metric(first, second, verbose=False)
        if len(real) == len(generated):
            found |= kid_features_to_metric(
                generated, real, kid_subsets=1, kid_subset_size=len(real), verbose=False
            )
        outputs[case] = {name: float(value) for name, value in found.items()}
    logits = torch.from_numpy(np.log(probabilities()))
    outputs["class probabilities"] = {
        name: float(value)
        for name, value in isc_features_to_metric(logits, splits=1, shuffle=False).items()
    }
    FIXTURE.write_text(json.dumps({"torch-fidelity": "0.4.0", "outputs": outputs}, indent=2) + "\n")


if __name__ == "__main__":
    main()
