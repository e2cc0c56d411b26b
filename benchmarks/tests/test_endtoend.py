"""Real images and texts, through the command line, with models of known faults."""

import pytest

from benchmarks.scenarios import (
    FOREIGN,
    QUICK_IMAGES,
    QUICK_TEXTS,
    STORE,
    cifar_models,
    text_models,
)
from tests.cli.faults import compare, findings, limits
from tests.known.scenarios import write_folder, write_jsonl, write_npz

pytestmark = [
    pytest.mark.slow,
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

IMAGES = ["--encoder", "efficientnet-lite0", "--size", "128", "--store", STORE]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Folders of PNG files for some, and arrays for others, as users have them."""
    root = tmp_path_factory.mktemp("images")
    real, models = cifar_models(QUICK_IMAGES)
    write = {"two classes dropped": write_npz, "another data set": write_npz}
    paths = {
        name: write.get(name, write_folder)(
            model.samples, root / (f"{name}.npz" if name in write else name)
        )
        for name, model in models.items()
    }
    return compare(write_folder(real, root / "real"), paths, *IMAGES), models


@pytest.mark.parametrize(
    "name",
    ["all classes", "two classes dropped", "noise and blur", "ten images", "another data set"],
)
def test_every_fault_of_images_is_found(images, name):
    result, models = images
    found = findings(result, name)
    assert models[name].wrong <= found
    assert not models[name].right & found


def test_intervals_separate_the_models(images):
    result, _ = images
    recall = {name: limits(result, name, "curve.recall") for name in result["evaluations"]}
    precision = {name: limits(result, name, "curve.precision") for name in result["evaluations"]}
    assert recall["two classes dropped"][1] < recall["all classes"][0]
    assert recall["noise and blur"][1] < recall["two classes dropped"][0]
    assert precision["noise and blur"][1] < precision["another data set"][0]
    assert precision["another data set"][1] < precision["all classes"][0]
    low, high = precision["another data set"]
    assert high > 1 - FOREIGN  # the curve is an upper bound: never surely below the truth
    assert low < 1 - 0.5 * FOREIGN
    low, _ = limits(result, "ten images", "copies.of_real")
    assert low > 0.99
    verdicts = " ".join(result["verdicts"])
    assert "all classes has higher recall than two classes dropped" in verdicts
    assert "all classes has higher precision than another data set" in verdicts
    assert "the precision of all classes and two classes dropped cannot be told apart" in verdicts


def test_a_removed_source_of_texts_is_found(tmp_path):
    real, models = text_models(QUICK_TEXTS)
    result = compare(
        write_jsonl(real, tmp_path / "real.jsonl"),
        {n: write_jsonl(m, tmp_path / f"{n}.jsonl") for n, m in models.items()},
        *("--encoder", "all-minilm-l6-v2", "--store", STORE),
    )
    assert "recall lost" in findings(result, "a source removed")
    assert "precision lost" not in findings(result, "a source removed")
    assert not findings(result, "all sources") & {"recall lost", "precision lost"}
    assert (
        limits(result, "a source removed", "curve.recall")[1]
        < (limits(result, "all sources", "curve.recall")[0])
    )
