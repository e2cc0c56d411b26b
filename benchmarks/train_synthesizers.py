"""Tables made by the generators of SDV, kept for `benchmarks.bench_synthesizers`.

SDV is not part of this project: its license (BUSL-1.1) does not permit production use, and it
requires pandas below 3. Install it into an environment of its own (``pip install sdv==2.0.0
palmerpenguins``). There, from the root of this repository,

    python -m benchmarks.train_synthesizers

divides each real table into two halves, trains the generators on one of them, and writes both
halves, generated rows, the metadata that SDV detects and its quality score to the cache.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

CACHE = Path(__file__).parent / "cache" / "synthesizers"
TABLES = ("breast cancer", "penguins")
MODELS = {"Gaussian copula": "GaussianCopulaSynthesizer", "CTGAN": "CTGANSynthesizer"}
ROWS, SEED = 1000, 0


def real_table(name: str) -> pd.DataFrame:
    """All rows of a real table, in random order."""
    if name == "penguins":
        from palmerpenguins import load_penguins

        frame = load_penguins()
    else:
        from sklearn.datasets import load_breast_cancer

        frame = load_breast_cancer(as_frame=True).frame
        frame["diagnosis"] = np.where(frame.pop("target") == 1, "benign", "malignant")
    return frame.sample(frac=1, random_state=SEED, ignore_index=True)


def place_of(table: str, what: str, suffix: str = "csv") -> Path:
    """File of a part of a table: "train", "real", "schema" or the name of a model."""
    return CACHE / f"{table}-{what}.{suffix}".replace(" ", "-").lower()


def train(name: str) -> dict[str, float]:
    """Write the halves of a table and what each model makes of one of them; quality scores."""
    import torch
    from sdmetrics.reports import QualityReport
    from sdv import single_table
    from sdv.metadata import Metadata

    torch.set_num_threads(1)
    frame = real_table(name)
    half = len(frame) // 2
    frame[:half].to_csv(place_of(name, "train"), index=False)
    frame[half:].to_csv(place_of(name, "real"), index=False)
    metadata = Metadata.detect_from_dataframes({"table": frame[:half]})
    place_of(name, "schema", "json").unlink(missing_ok=True)
    metadata.save_to_json(place_of(name, "schema", "json"))
    scores = {}
    for model, kind in MODELS.items():
        np.random.seed(SEED)  # noqa: NPY002, SDV draws from the global generator
        torch.manual_seed(SEED)
        synthesizer = getattr(single_table, kind)(metadata)
        synthesizer.fit({"table": frame[:half]})
        made = synthesizer.sample(ROWS)["table"]
        made.to_csv(place_of(name, model), index=False)
        report = QualityReport()
        both = ({"table": frame[half:]}, {"table": made})
        report.generate(*both, metadata.to_dict(), verbose=False)
        scores[model] = float(report.get_score())
    return scores


if __name__ == "__main__":
    CACHE.mkdir(parents=True, exist_ok=True)
    found = {name: train(name) for name in TABLES}
    packages = {name: version(name) for name in ("sdv", "ctgan", "copulas", "sdmetrics", "pandas")}
    about = {"versions": packages, "quality": found}
    (CACHE / "about.json").write_text(json.dumps(about, indent=2) + "\n")
