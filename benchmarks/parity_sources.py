"""Outputs of the code of two papers on inputs that anyone can draw again, kept for the tests.

Their code, on GitHub under the Apache license, is not part of this project. Check it out at the
`COMMITS` below, in another folder. It requires an environment of its own with Python 3.7 and the
versions of its time: ``numpy==1.17.2 scipy==1.3.1 scikit-learn==0.19.2 matplotlib==3.1.1
pillow==6.2.2 tqdm==4.36.1 torch==1.2.0 torchvision==0.4.0``. There,

    python -m benchmarks.parity_sources "sajjadi-2018, scikit-learn 0.19.2" PATH
    python -m benchmarks.parity_sources simon-2019 PATH
    python -m benchmarks.parity_sources "simon-2019, early stopping" PATH

add what is missing in ``benchmarks/tests/parity/sources.json``; nothing is downloaded. Classifiers
are trained for the 50 epochs of the paper. With early stopping they are trained as in the script of
the authors for CIFAR-10, which halves the learning rate and stops by errors on the samples that are
counted. The recipe ``sajjadi-2018`` alone is for an environment with ``scikit-learn==1.9.1``, whose
k-means differs; the former default of 100 samples in a batch is set.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np

FIXTURE = Path(__file__).parent / "tests" / "parity" / "sources.json"
CACHE = Path(os.environ.get("TRADEOFF_BENCHMARK_CACHE", Path(__file__).parent / "cache"))
SEEDS = 10
SIZE = 400
CASES = (
    "Gaussians, 16 columns",
    "ring, 4 of 8 modes, 2 columns",
    "30 of 60 classes, 64 columns",
    "CIFAR-10, 3 of 5 classes",
    "CIFAR-10, 7 classes for 5",
)
EXACT = "masses"  # no clusters or training: masses, or scores, that both turn into a curve
ANGLES = {"recall at λ = 0.32": 200, "precision at λ = 1": 500, "precision at λ = 3.1": 800}
SLOPES = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
COMMITS = {
    "msmsajjadi/precision-recall-distributions": "df840ada10614f725d9c47ffc8508b80c196a4f1",
    "DrLSimon/precision-recall-distributions-icml19": "364188eaa26ac1bf39ebf038136c79aeee97da3a",
}


def inputs(case: str) -> dict[str, np.ndarray]:
    """Real and generated features, shape (400, d) each."""
    rng = np.random.RandomState(CASES.index(case))  # draws the same with every version
    if case.startswith("CIFAR-10"):
        return _images(made=3 if "3 of 5" in case else 7)
    if case.startswith("Gaussians"):
        shift = 1.5 * (np.arange(16) == 0)
        return {"real": rng.normal(size=(SIZE, 16)), "generated": rng.normal(shift, 1, (SIZE, 16))}
    if case.startswith("ring"):
        angle = np.pi / 4 * np.arange(8)
        means, sd = 3 * np.stack((np.cos(angle), np.sin(angle)), axis=1), 0.4
    else:
        means, sd = rng.normal(size=(60, 64)), 0.4
    modes = {"real": len(means), "generated": len(means) // 2}
    return {
        side: means[rng.randint(0, count, SIZE)] + sd * rng.normal(size=(SIZE, means.shape[1]))
        for side, count in modes.items()
    }


def _images(made: int) -> dict[str, np.ndarray]:
    """Features of five classes, and of so many first classes of other images."""
    with np.load(str(CACHE / f"cifar10-{SIZE}.npz")) as found:
        real, features, labels = found["x"], found["u"], found["v"]
    counts = np.diff(np.linspace(0, SIZE, made + 1).round().astype(int))
    rows = [np.flatnonzero(labels == c)[:count] for c, count in enumerate(counts)]
    return {"real": real, "generated": features[np.concatenate(rows)]}


def masses() -> dict[str, np.ndarray]:
    """Masses of 20 clusters, some of them empty on one side."""
    rng = np.random.RandomState(0)
    drawn = {side: rng.dirichlet(np.full(20, 0.3)).round(3) for side in ("real", "generated")}
    return {side: mass / mass.sum() for side, mass in drawn.items()}


def scores() -> tuple[np.ndarray, np.ndarray]:
    """Scores of 300 samples in steps of a tenth, and whether each sample is real."""
    rng = np.random.RandomState(0)
    is_real = rng.rand(300) < 0.5
    return (rng.normal(size=300) + is_real).round(1), is_real


def sajjadi(case: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall on the grid of angles, from ten runs of k-means."""
    source = import_module("prd_score")
    clusters = source.sklearn.cluster
    if not isinstance(clusters.MiniBatchKMeans, partial):
        clusters.MiniBatchKMeans = partial(clusters.MiniBatchKMeans, batch_size=100)
    if case == EXACT:
        return source.compute_prd(masses()["generated"], masses()["real"])
    np.random.seed(seed)  # noqa: NPY002
    return source.compute_prd_from_embedding(inputs(case)["generated"], inputs(case)["real"])


def simon(case: str, seed: int, *, patience: int) -> tuple[np.ndarray, np.ndarray]:
    """Precision and recall on the grid of angles, from ten linear classifiers."""
    import torch

    torch.set_num_threads(1)
    source = import_module("prd_score_classifier")
    if case == EXACT:
        values, is_real = scores()
        pairs = torch.from_numpy(values).float()[:, None]
        return source.estimatePRD(torch.nn.Identity(), _Scored(pairs, is_real), len(SLOPES))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    sides = {side: torch.from_numpy(np.float32(x)) for side, x in inputs(case).items()}

    class Trainer(source.ClassifierTrainer):  # without its Inception network
        def _ClassifierTrainer__load(self) -> None:  # noqa: N802
            self.feat_size, self.batch_size = sides["real"].shape[1], 64

    with tempfile.TemporaryDirectory() as folder:
        for number in range(SIZE):  # its data set counts images; features are set below
            Path(folder, f"{number}.png").touch()
        data = source.SourceTargetDataset(folder, folder)
    data.source_features, data.target_features = sides["generated"], sides["real"]
    source.createTrainTestSets, source.ClassifierTrainer = lambda *_: data, Trainer
    try:
        return source.computePRD("", "", num_epochs=50, patience=patience)
    finally:
        source.ClassifierTrainer = Trainer.__base__


class _Scored(list):
    """Pairs of a score and whether its sample is real, as its data set has them."""

    def __init__(self, values: np.ndarray, is_real: np.ndarray) -> None:
        super().__init__((values[i], int(is_real[i])) for i in range(len(is_real)))

    def eval(self) -> None:
        """Nothing to switch."""


RECIPES = {
    "sajjadi-2018": sajjadi,
    "sajjadi-2018, scikit-learn 0.19.2": sajjadi,
    "simon-2019": partial(simon, patience=0),
    "simon-2019, early stopping": partial(simon, patience=10),
}


def measure(recipe: str, case: str, seed: int) -> dict[str, float]:
    """Numbers of one run."""
    precision, recall = RECIPES[recipe](case, seed)
    f_8, f_eighth = import_module("prd_score").prd_to_max_f_beta_pair(precision, recall, 8)
    found = {"f_8": f_8, "f_1/8": f_eighth}
    for name, angle in ANGLES.items():
        found[name] = (recall if name.startswith("recall") else precision)[angle]
    return {name: float(value) for name, value in found.items()}


def main() -> None:
    """Run what is missing, and write it after each run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipe", choices=sorted(RECIPES))
    parser.add_argument("path", type=Path, help="checkout of its code")
    parser.add_argument("--runs", type=int, default=1000, help="largest number of new runs")
    options = parser.parse_args()
    sys.path.insert(0, str(options.path))
    record = json.loads(FIXTURE.read_text()) if FIXTURE.exists() else {"commits": COMMITS}
    kept, left = record.setdefault("outputs", {}), options.runs
    for case in (EXACT, *CASES):
        runs = kept.setdefault(options.recipe, {}).setdefault(case, [])
        while len(runs) < (1 if case == EXACT else SEEDS) and left:
            runs.append(measure(options.recipe, case, len(runs)))
            left -= 1
            FIXTURE.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
