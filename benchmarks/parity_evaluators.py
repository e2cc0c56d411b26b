"""Outputs of two evaluators of image models on features of CIFAR-10, kept for the tests.

Their code, on GitHub under the MIT license, is not part of this project. Check it out at the
`COMMITS` below, in another folder. It requires an environment of its own: ``tensorflow-cpu==2.21.0
requests`` for guided-diffusion, ``scikit-learn scipy tqdm torch`` for dgm-eval. There,

    python -m benchmarks.parity_evaluators guided-diffusion PATH
    python -m benchmarks.parity_evaluators dgm-eval PATH

write to ``benchmarks/tests/parity/evaluators.json``; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import runpy
from pathlib import Path

import numpy as np

from benchmarks.parity_sources import inputs

FIXTURE = Path(__file__).parent / "tests" / "parity" / "evaluators.json"
CASES = ("CIFAR-10, 3 of 5 classes", "CIFAR-10, 7 classes for 5")
COMMITS = {
    "guided-diffusion": "22e0df8183507e13a7813f8d38d51b072ca1e67c",
    "dgm-eval": "74c79f7527fbf38fdccfbac51f25d759bc02ab07",
}


def guided_diffusion(path: Path, sides: dict[str, np.ndarray]) -> dict[str, float]:
    """Precision, recall and Fréchet distance of its evaluator."""
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    code = runpy.run_path(str(path / "evaluations" / "evaluator.py"))
    real, generated = (sides[side].astype(np.float32) for side in ("real", "generated"))
    evaluator = object.__new__(code["Evaluator"])  # without its Inception network
    evaluator.manifold_estimator = code["ManifoldEstimator"](tf.Session())
    precision, recall = evaluator.compute_prec_recall(real, generated)
    of_real, of_generated = (evaluator.compute_statistics(x) for x in (real, generated))
    distance = of_generated.frechet_distance(of_real)
    return {"precision": precision, "recall": recall, "distance": distance}


def dgm_eval(path: Path, sides: dict[str, np.ndarray]) -> dict[str, float]:
    """Its precision, recall, density, coverage, share of authentic samples, and distance."""
    prdc, authentic, frechet = (
        runpy.run_path(str(path / "dgm_eval" / "metrics" / f"{name}.py"))
        for name in ("prdc", "authpct", "fd")
    )
    real, generated = (sides[side].astype(np.float32) for side in ("real", "generated"))
    found = prdc["compute_prdc"](real, generated, nearest_k=5)
    found["authenticity"] = authentic["compute_authpct"](real, generated) / 100
    found["distance"] = frechet["compute_FD_with_reps"](real, generated)
    return found


EVALUATORS = {"guided-diffusion": guided_diffusion, "dgm-eval": dgm_eval}


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("evaluator", choices=sorted(EVALUATORS))
    parser.add_argument("path", type=Path, help="checkout of its code")
    options = parser.parse_args()
    record = json.loads(FIXTURE.read_text()) if FIXTURE.exists() else {"commits": COMMITS}
    run = EVALUATORS[options.evaluator]
    record.setdefault("outputs", {})[options.evaluator] = {
        case: {name: float(value) for name, value in run(options.path, inputs(case)).items()}
        for case in CASES
    }
    FIXTURE.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
