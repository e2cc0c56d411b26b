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


def value_and_limit(result, name, key):
    found = result["evaluations"][name]["scores"][key]
    assert found["low"] is None
    return found["value"], found["high"]


def test_limits_separate_the_models(images):
    result, _ = images
    names = result["evaluations"].keys() - {"ten images"}  # of which no curve can be estimated
    recall = {name: value_and_limit(result, name, "curve.recall") for name in names}
    precision = {name: value_and_limit(result, name, "curve.precision") for name in names}
    assert recall["two classes dropped"][1] < recall["all classes"][0]
    assert recall["noise and blur"][1] < recall["two classes dropped"][0]
    assert precision["noise and blur"][1] < precision["another data set"][0]
    assert precision["another data set"][1] < precision["all classes"][0]
    value, high = precision["another data set"]
    assert high > 1 - FOREIGN  # the curve is an upper bound: never surely below the truth
    assert value < 1 - 0.5 * FOREIGN
    low, _ = limits(result, "ten images", "copies.of_real")
    assert low > 0.99
    verdicts = " ".join(result["verdicts"])
    for worse in ("two classes dropped", "another data set", "noise and blur"):
        assert f"all classes is better than {worse}: a larger overlap, +0." in verdicts


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
    _, limit = value_and_limit(result, "a source removed", "curve.recall")
    value, _ = value_and_limit(result, "all sources", "curve.recall")
    assert limit < value
