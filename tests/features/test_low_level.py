"""Low-level views that are added to an encoder of content, and what is said of files of images."""

import json

import numpy as np
import pytest
from PIL import Image

from tests.cli.run import tradeoff
from tradeoff import evaluate
from tradeoff.data import open_source
from tradeoff.embedding.forms import form_warnings
from tradeoff.embedding.sources import encoder_of
from tradeoff.evaluation import Reference
from tradeoff.evaluation.pipeline import checked
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import Function
from tradeoff.settings import EmbedSettings, Settings

FAST = {"diagnose": False, "progress": False}


def length(texts):
    return [[len(text), text.lower().count("e")] for text in texts]


def color(images):
    return np.array([np.asarray(image, float).mean((0, 1)) for image in images])


LENGTH = Function(length, "length", "text", "1")


def sentences(seed, *, upper=0.0):
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnop"))
    words = ["".join(rng.choice(letters, rng.integers(3, 30))) for _ in range(200)]
    return [word.upper() if rng.random() < upper else word for word in words]


@pytest.mark.torch
def test_what_the_encoder_cannot_see_is_found():
    found, without = (
        evaluate(
            sentences(0),
            sentences(1, upper=0.5),
            encoder=LENGTH,
            metrics="curve,knn,frechet,kernel",
            low_level=low_level,
            **FAST,
        )
        for low_level in (True, False)
    )
    said = "Seen in surface (length, case, punctuation, repetition), not in length."
    assert said in found.verdict.sentences
    assert without.verdict.difference is None
    assert found.provenance["encoder"] == "length + surface"
    assert found.provenance["columns"] > without.provenance["columns"]
    for key, score in without.scores.items():  # other metrics see the first view alone
        assert found[key] == score or key.startswith("curve.")
    assert not [one for one in found.warnings if "feature dimensions" in one]


@pytest.mark.torch
@pytest.mark.parametrize(
    ("kind", "settings", "name"),
    [
        ("text", {"encoder": LENGTH}, "length + surface"),
        ("image", {"encoder": color}, "color + pixels"),
        ("image", {"encoder": Function(color, "a/b@c+d", "image", "1")}, "b-c-d + pixels"),
        ("text", {"encoder": LENGTH, "low_level": False}, "length"),
        ("text", {"encoder": {"mine": LENGTH}}, "mine"),
        ("text", {"encoder": [LENGTH, "surface"], "low_level": False}, "length + surface"),
        ("text", {"encoder": "surface"}, "surface"),
        ("image", {"encoder": "pixels"}, "pixels"),
        ("features", {}, "identity"),
        ("text", {"encoder": LENGTH, "estimator": "trees"}, "length"),
        ("text", {"encoder": LENGTH, "protocol": "kynkaanniemi-2019"}, "length"),
    ],
)
def test_to_what_it_is_added(kind, settings, name):
    assert encoder_of(kind, checked(Settings(**settings))).name == name


def test_settings_of_a_wrong_type_are_refused():
    with pytest.raises(InvalidInputError, match="`low_level` must be a bool. Got a str"):
        evaluate(sentences(0), sentences(1), encoder=LENGTH, low_level="no")


def test_a_reference_keeps_it_and_can_do_without(tmp_path):
    Reference.make(sentences(0), encoder=LENGTH, progress=False).save(tmp_path)
    loaded = Reference.load(tmp_path)
    assert [view.name for view in loaded.side.views] == ["length", "surface"]
    made = sentences(1, upper=0.5)
    for low_level in (True, False):
        options = {"encoder": LENGTH, "low_level": low_level, "metrics": "curve", **FAST}
        direct, reused = (evaluate(real, made, **options) for real in (sentences(0), loaded))
        assert direct.scores == reused.scores
        assert direct.provenance["encoder"] == reused.provenance["encoder"]


def test_a_reference_without_it_decides():
    reference = Reference.make(sentences(0), encoder=LENGTH, low_level=False, progress=False)
    found = evaluate(reference, sentences(1), metrics="frechet", **FAST)
    assert found.provenance["encoder"] == "length"


def test_a_frozen_rule_sees_it_and_other_metrics_do_not():
    real, made = sentences(0), sentences(1, upper=0.9)
    options = {"encoder": LENGTH, "rule": "frozen", "metrics": "curve,frechet", "progress": False}
    found, without = (evaluate(real, made, low_level=one, **options) for one in (True, False))
    assert found["curve.overlap"].value < without["curve.overlap"].value - 0.3
    assert found["frechet.distance"].value == pytest.approx(
        without["frechet.distance"].value, rel=1e-6
    )


@pytest.mark.torch
def test_the_command_can_leave_it_out(tmp_path):
    for name, texts in (("real", sentences(0)), ("made", sentences(1))):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts))
    sides = [tmp_path / "real.txt", tmp_path / "made.txt", "--encoder", "all-minilm-l6-v2"]
    done = tradeoff(
        "evaluate", *sides, "--no-low-level", "--metrics", "frechet", "--out", tmp_path / "o"
    )
    assert done.exit_code == 0, done.stderr
    assert "encoder all-minilm-l6-v2" in done.stdout
    assert "low_level = false" in (tmp_path / "o" / "run.toml").read_text()
    again = tradeoff("evaluate", "--config", tmp_path / "o" / "run.toml", "--json")
    assert json.loads(again.stdout)["provenance"]["encoder"] == "all-minilm-l6-v2"


def pictures(folder, suffix, size, count=60):
    folder.mkdir()
    rng = np.random.default_rng(count)
    for i in range(count):
        side = size if isinstance(size, int) else int(rng.integers(*size))
        Image.new("RGB", (side, side)).save(folder / f"{i}{suffix}")
    return open_source(folder)


@pytest.mark.parametrize(
    ("real", "made", "words"),
    [
        ((".jpg", 32), (".png", 32), ["mostly JPEG, generated ones mostly lossless"]),
        ((".png", 64), (".png", 32), ["real images have 64 × 64 pixels, generated ones 32 × 32"]),
        ((".jpg", 64), (".webp", 32), ["mostly JPEG, generated ones mostly WEBP", "64 × 64"]),
        ((".png", 32), (".bmp", 32), []),
        ((".png", (20, 60)), (".png", (20, 60), 61), []),
        ((".jpg", 64, 20), (".png", 32, 20), []),
    ],
)
def test_other_formats_and_sizes_are_told(tmp_path, real, made, words):
    found = form_warnings(pictures(tmp_path / "real", *real), pictures(tmp_path / "made", *made))
    assert len(found) == len(words)
    assert all(word in one for word, one in zip(words, found, strict=True))


def test_they_are_told_first_and_broken_images_are_not_counted(tmp_path):
    pictures(tmp_path / "real", ".png", 32)
    pictures(tmp_path / "made", ".jpg", 32)
    (tmp_path / "made" / "0.jpg").write_bytes(b"nothing")
    found = evaluate(
        tmp_path / "real", tmp_path / "made", encoder=color, metrics="copies", progress=False
    )
    assert found.warnings[0].startswith("The file formats differ: real images are mostly lossless")


def test_features_and_iterators_are_not_read_again():
    images = np.zeros((60, 8, 8, 3), np.uint8)
    source = open_source(images, kind="image")
    assert form_warnings(None, source) == ()
    assert form_warnings(source, open_source(iter(list(images)), kind="image")) == ()
    assert form_warnings(source, source) == ()
    assert EmbedSettings().low_level
