"""Our numbers beside those of the published tools, on the same features.

On continuous data they agree but for the last digits of the tool's arithmetic, and on integers,
which products of matrices do not round. On a grid of tenths many points lie on the surface of a
ball; there the tools take distances from products, whose rounding puts some of them outside and
others inside, while ours compares squares in one order. The evaluator of guided-diffusion rounds
distances to half precision, which moves single samples across the surface of a ball. Features of
images differ in their last digits between machines, which may move another one.
"""

from __future__ import annotations

import contextlib
import io
import json
from functools import partial
from typing import TYPE_CHECKING

from prdc import compute_prdc

from benchmarks.datasets import QUICK, cifar10
from benchmarks.harness import Row, run
from benchmarks.parity_evaluators import CASES as FEATURES
from benchmarks.parity_evaluators import FIXTURE as EVALUATORS
from benchmarks.parity_sources import SIZE, inputs
from benchmarks.parity_torch_fidelity import CASES as SAMPLES
from benchmarks.parity_torch_fidelity import FIXTURE, probabilities, samples
from tradeoff import frechet_distance, kernel_distance, reproduce, support_metrics
from tradeoff.metrics.moments import inception_score

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

OUTPUTS = json.loads(FIXTURE.read_text())["outputs"]
EVALUATED = json.loads(EVALUATORS.read_text())["outputs"]
_NAMES = {"knn.precision": "precision", "knn.recall": "recall", "knn.f_score": "f_score"}


def _row(ours: dict[str, float], theirs: dict[str, float], bar: float | None) -> Row:
    differences = {name: abs(ours[name] - theirs[name]) for name in ours}
    row: Row = {name: f"{ours[name]:.4f} / {theirs[name]:.4f}" for name in ours}
    row["ratio"] = float(max(differences.values()))
    return row if bar is None else row | {"bar": bar}


def prdc(case: str, bar: float | None) -> Row:
    """Precision, recall, density and coverage beside `prdc` 0.2."""
    sides = samples(case)
    with contextlib.redirect_stdout(io.StringIO()):
        theirs = compute_prdc(sides["real"], sides["generated"], nearest_k=5)
    found = reproduce("prdc-2020", **sides, progress=False).scores
    return _row({name.removeprefix("knn."): v for name, v in found.items()}, theirs, bar)


def torch_fidelity(case: str, bar: float | None) -> Row:
    """Precision, recall and their F-score beside torch-fidelity 0.4.0."""
    found = reproduce("torch-fidelity", **samples(case), progress=False).scores
    return _row({_NAMES[name]: v for name, v in found.items()}, OUTPUTS[case], bar)


def frechet(case: str) -> Row:
    """The Fréchet distance beside torch-fidelity 0.4.0."""
    ours = frechet_distance(**samples(case))
    return _row({"distance": ours}, {"distance": OUTPUTS[case]["frechet_inception_distance"]}, 1e-4)


def kernel(case: str) -> Row:
    """The kernel distance of all samples beside torch-fidelity 0.4.0."""
    sides = samples(case)
    ours = kernel_distance(**sides, subsets=1, subset_size=len(sides["real"]))
    theirs = OUTPUTS[case]["kernel_inception_distance_mean"]
    return _row({"distance": ours.mean}, {"distance": theirs}, 1e-5)


def inception() -> Row:
    """The inception score beside torch-fidelity 0.4.0."""
    theirs = OUTPUTS["class probabilities"]["inception_score_mean"]
    ours = inception_score(probabilities(), splits=1).mean
    return _row({"distance": ours}, {"distance": theirs}, 1e-9)


def guided_diffusion(case: str) -> Row:
    """Precision and recall beside the evaluator of guided-diffusion; two samples may differ."""
    found = reproduce("adm", **_features(case), progress=False).scores
    ours = {name.removeprefix("knn."): value for name, value in found.items()}
    return _row(ours, EVALUATED["guided-diffusion"][case], 2.001 / SIZE)


def dgm_eval(case: str) -> Row:
    """Four shares and the share of authentic samples beside dgm-eval; one sample may differ."""
    sides = _features(case)
    scores = reproduce("prdc-2020", **sides, progress=False).scores
    scores["knn.authenticity"] = support_metrics(
        **sides, metrics=("authenticity",), progress=False
    )["authenticity"].value
    ours = {name.removeprefix("knn."): value for name, value in scores.items()}
    return _row(ours, EVALUATED["dgm-eval"][case], 1.001 / SIZE)


def frechet_of(evaluator: str, case: str) -> Row:
    """The Fréchet distance beside one of both; the difference is relative."""
    theirs = EVALUATED[evaluator][case]
    row = _row({"distance": frechet_distance(**_features(case))}, theirs, 1e-5)
    return row | {"ratio": row["ratio"] / theirs["distance"]}


def _features(case: str) -> dict[str, np.ndarray]:
    cifar10(QUICK)  # makes the file that `inputs` reads
    return inputs(case)


def _cases() -> dict[str, Callable[[], Row]]:
    found: dict[str, Callable[[], Row]] = {}
    for case, (n, m, *_) in SAMPLES.items():
        exact, single = (None, None) if "tenths" in case else (1e-12, 1e-6)
        found[f"prdc 0.2: {case}"] = partial(prdc, case, exact)
        found[f"torch-fidelity 0.4.0: {case}"] = partial(torch_fidelity, case, single)
        found[f"torch-fidelity 0.4.0, Fréchet: {case}"] = partial(frechet, case)
        if n == m:
            found[f"torch-fidelity 0.4.0, kernel: {case}"] = partial(kernel, case)
    found["torch-fidelity 0.4.0, inception score"] = inception
    for case in FEATURES:
        found[f"guided-diffusion: {case}"] = partial(guided_diffusion, case)
        found[f"dgm-eval: {case}"] = partial(dgm_eval, case)
        for evaluator in EVALUATED:
            found[f"{evaluator}, Fréchet: {case}"] = partial(frechet_of, evaluator, case)
    return found


CASES = _cases()

if __name__ == "__main__":
    run("parity", "Ours / theirs, and the largest difference", CASES)
