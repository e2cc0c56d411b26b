"""Damaged models of the hub end in a sentence, when they are loaded or when they embed."""

import json

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.features.hub_files import check_depth
from tradeoff.features.hub_pixels import pixels_of_config, read_pixels

# Older tokenizers warn about how transformers calls them.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FIELDS = {
    "size": {"shortest_edge": 10},
    "resample": 3,
    "do_center_crop": True,
    "crop_size": {"height": 8, "width": 8},
    "rescale_factor": 1 / 255,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.2, 0.2, 0.2],
}


def test_a_valid_configuration_is_read():
    pixels = pixels_of_config("tiny", FIELDS)
    assert (pixels.height, pixels.width, pixels.shorter, pixels.filter) == (8, 8, 10, "bicubic")
    np.testing.assert_allclose(pixels.mean, [127.5] * 3)
    np.testing.assert_allclose(pixels.deviation, [51.0] * 3)
    raw = pixels_of_config("tiny", FIELDS | {"do_normalize": False})
    np.testing.assert_allclose((raw.mean, raw.deviation), ([0.0] * 3, [255.0] * 3))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("size", value) for value in ("x", [8], 0, -1, 10**9, {"shortest_edge": 1.5}, True)),
        *(("crop_size", value) for value in ({"height": 8, "width": None}, {"height": "8"}, 5000)),
        *(("resample", value) for value in (None, -1, 9, "bicubic", 1.0, True)),
        *(("rescale_factor", value) for value in (0, -1.0, "x", None, float("nan"), [1.0])),
        *(("image_mean", value) for value in (None, 0.5, [0.5] * 2, ["a"] * 3, [10**400] * 3)),
        *(("image_std", value) for value in ([0.0] * 3, [-1.0] * 3, [float("inf")] * 3, {})),
    ],
)
def test_values_of_a_configuration_are_checked(key, value):
    with pytest.raises(InvalidInputError, match=f"`{key}` in the configuration of `tiny` must"):
        pixels_of_config("tiny", FIELDS | {key: value})


def test_configurations_that_are_no_objects(tmp_path):
    with pytest.raises(InvalidInputError, match="must say how images are prepared"):
        read_pixels("tiny", tmp_path)
    for text, message in (("[]", "must be an object"), ("[" * 100_000, "is not JSON")):
        (tmp_path / "preprocessor_config.json").write_text(text)
        with pytest.raises(InvalidInputError, match=message):
            read_pixels("tiny", tmp_path)


@pytest.mark.parametrize(
    "config",
    [
        {"num_hidden_layers": 10**30},
        {"vision_config": {"depths": [2, 10**6]}},
        {"n_layer": 1001},
        {"num_labels": 10**9},
    ],
)
def test_models_of_endless_layers_are_refused(tmp_path, config):
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 1000, "vocab": 10**6}))
    check_depth("tiny", tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InvalidInputError, match="in config.json of `tiny` must be at most 1,0"):
        check_depth("tiny", tmp_path)


@pytest.mark.torch
def test_a_model_that_fails_at_its_first_text_is_named(tmp_path):
    """The vocabulary has more words than the network: it loads, and fails while it embeds."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("sentence_transformers")
    from tradeoff.features.hub import HubTexts

    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(**small, vocab_size=5, intermediate_size=8)
    transformers.BertModel(config).save_pretrained(tmp_path)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat"]
    (tmp_path / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    with pytest.raises(InvalidInputError, match="cannot embed samples: check the files"):
        HubTexts(str(tmp_path)).embed(["a cat"])


@pytest.mark.torch
def test_a_model_that_fails_at_its_first_image_is_named(tmp_path):
    """The network takes images of another size than its configuration prepares."""
    transformers = pytest.importorskip("transformers")
    from tradeoff.features.hub import HubImages

    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(**small, intermediate_size=8, image_size=16, patch_size=4)
    transformers.ViTModel(config, add_pooling_layer=False).save_pretrained(tmp_path)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(FIELDS))
    with pytest.raises(InvalidInputError, match="cannot embed samples: check the files"):
        HubImages(str(tmp_path)).embed([np.zeros((8, 8, 3), np.uint8)])
