"""The same number through every door: each way of keeping the same samples, each way of asking."""

import json
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tests.known.real import images as real_images
from tests.known.scenarios import Images, write_folder, write_npz
from tradeoff import Settings
from tradeoff.evaluation.pipeline import evaluate_sources
from tradeoff.settings import write_config

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

SETTINGS = Settings(
    encoder="efficientnet-lite0",
    size=48,
    estimator="logistic",
    diagnose=False,
    metrics=("curve", "knn", "frechet", "kernel", "copies"),
)


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    """The same images of both sides, kept in every way; order and all."""
    import datasets
    import pyarrow as arrow
    import pyarrow.parquet as parquet
    import torch

    root = tmp_path_factory.mktemp("doors")
    pixels, labels = real_images()
    half = len(pixels) // 2
    kept = half + np.flatnonzero(~np.isin(labels[half:], (8, 9)))  # neither ships nor trucks
    sides = {"real": pixels[:120], "generated": pixels[kept[:120]]}
    found = {}
    for side, images in sides.items():
        ordered = Images(images, np.zeros(len(images), int))  # one folder, one order
        folder = write_folder(ordered, root / side)
        files = sorted(folder.rglob("*.png"))
        with zipfile.ZipFile(root / f"{side}.zip", "w") as archive:
            for file in files:
                archive.write(file, file.name)
        with tarfile.open(root / f"{side}.tar", "w") as archive:
            for file in files:
                archive.add(file, file.name)
        encoded = [file.read_bytes() for file in files]
        parquet.write_table(arrow.table({"image": encoded}), root / f"{side}.parquet")
        ways = {
            "folder": folder,
            "npz": write_npz(ordered, root / f"{side}.npz"),
            "zip": root / f"{side}.zip",
            "tar": root / f"{side}.tar",
            "parquet": root / f"{side}.parquet",
            "array": images,
            "tensor": torch.from_numpy(images),
            "encoded": encoded,
            "dataset": datasets.Dataset.from_dict(
                {"image": [{"bytes": b, "path": None} for b in encoded]}
            ),
        }
        for way, value in ways.items():
            found.setdefault(way, {})[side] = value
    return found, root


def numbers(result):
    return json.loads(result.to_json())["scores"]


@pytest.fixture(scope="module")
def expected(doors):
    return numbers(evaluate_sources(**doors[0]["folder"], settings=SETTINGS, progress=False))


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", ["npz", "zip", "tar", "parquet", "array", "tensor", "encoded", "dataset"]
)
def test_every_way_of_keeping_images(doors, expected, way):
    assert numbers(evaluate_sources(**doors[0][way], settings=SETTINGS, progress=False)) == expected


@pytest.mark.slow
def test_ready_made_features(doors, expected, tmp_path):
    from tradeoff.data import open_source
    from tradeoff.embedding import embed_source
    from tradeoff.features.offline import EfficientNetLite0

    encoder = EfficientNetLite0(size=48)
    paths = {}
    for side, pixels in doors[0]["array"].items():
        paths[side] = tmp_path / f"{side}.npy"
        np.save(paths[side], embed_source(open_source(pixels), encoder).features)
    plain = replace(SETTINGS, encoder=None, size=None)
    result = evaluate_sources(**paths, settings=plain, progress=False)
    assert numbers(result) == expected


@pytest.mark.slow
def test_command_and_file(doors, expected, tmp_path):
    paths = doors[0]["npz"]
    options = ["--encoder", "efficientnet-lite0", "--size", "48", "--estimator", "logistic"]
    sources = ["--real", paths["real"], "--generated", paths["generated"]]
    done = tradeoff("evaluate", *sources, *options, "--no-diagnose", "--json")
    assert json.loads(done.stdout)["scores"] == expected
    config = tmp_path / "run.toml"
    config.write_text(write_config(SETTINGS, **paths))
    done = tradeoff("evaluate", "--config", config, "--json", "--store", tmp_path / "store")
    assert json.loads(done.stdout)["scores"] == expected
    again = tradeoff("evaluate", "--config", config, "--json", "--store", tmp_path / "store")
    assert json.loads(again.stdout)["scores"] == expected
