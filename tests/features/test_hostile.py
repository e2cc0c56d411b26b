"""Model files that try to run code: every payload here is real, and must not run."""

import contextlib
import json
import os
import pickle
import shutil
import zipfile

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff._extras import HOLES, known_hole
from tradeoff.data import Sample
from tradeoff.features import NetworkFile
from tradeoff.features.hub import HubImages, HubTexts

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]

IMAGE = np.zeros((24, 24, 3), np.uint8)


class Touch:
    """Creates a folder when it is unpickled."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def embed(encoder, content):
    return encoder.embed([encoder.prepare(Sample("0", content))])


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "code-was-run"


@pytest.fixture
def hostile_export(tmp_path, marker):
    """A valid `.pt2` file, one of whose weights is replaced by a pickle."""
    import torch

    network = torch.nn.Sequential(torch.nn.Conv2d(3, 5, 3), torch.nn.AdaptiveAvgPool2d(1)).eval()
    valid, hostile = tmp_path / "valid.pt2", tmp_path / "hostile.pt2"
    torch.export.save(torch.export.export(network, (torch.zeros(32, 3, 24, 24),)), valid)
    with zipfile.ZipFile(valid) as source, zipfile.ZipFile(hostile, "w") as target:
        if not any(name.endswith("weights_config.json") for name in source.namelist()):
            pytest.skip("Older versions of PyTorch pickle all weights together.")
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("weights_config.json"):
                fields = json.loads(content)
                fields["config"]["0.weight"]["use_pickle"] = True
                content = json.dumps(fields).encode()
            elif name.endswith("weights/weight_0"):
                content = pickle.dumps(Touch(marker), protocol=2)
            target.writestr(name, content)
    return hostile


def test_an_exported_network_is_not_unpickled_without_trust(hostile_export, marker):
    with pytest.raises(InvalidInputError, match="is a torch.export file, and loading it can run"):
        embed(NetworkFile(hostile_export, 24), IMAGE)
    assert not marker.exists()


def test_the_hostile_export_would_run_code(hostile_export, marker):
    """Otherwise the test above proves nothing."""
    with pytest.raises(InvalidInputError, match="cannot be loaded"):
        embed(NetworkFile(hostile_export, 24, trusted=True), IMAGE)
    assert marker.exists()


@pytest.mark.parametrize("name", ["network.pt2", "network.pt", "network.ts", "network.torchscript"])
def test_files_that_can_run_code_are_refused_before_pytorch_sees_them(name, tmp_path, monkeypatch):
    monkeypatch.setattr("torch.jit.load", pytest.fail)
    monkeypatch.setattr("torch.export.load", pytest.fail)
    (tmp_path / name).write_bytes(b"anything")
    with pytest.raises(InvalidInputError, match="Only ONNX files and safetensors weights"):
        embed(NetworkFile(tmp_path / name, 24), IMAGE)


@pytest.fixture(scope="module")
def sentences(tmp_path_factory):
    """A tiny valid model of sentence-transformers, with weights as safetensors."""
    import torch
    import transformers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    root = tmp_path_factory.mktemp("models")
    torch.manual_seed(0)
    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    bert = transformers.BertConfig(**small, vocab_size=7, intermediate_size=64)
    transformers.BertModel(bert).save_pretrained(root / "bert")
    (root / "bert" / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\na\ncat\ndog")
    transformers.BertTokenizer(str(root / "bert" / "vocab.txt")).save_pretrained(root / "bert")
    SentenceTransformer(modules=[Transformer(str(root / "bert")), Pooling(32)]).save(
        str(root / "sentences")
    )
    return root / "sentences"


@pytest.fixture
def copy(sentences, tmp_path, marker):
    """A copy of the model with a Python file that creates the marker as soon as it is imported."""
    folder = tmp_path / "copy"
    shutil.copytree(sentences, folder)
    (folder / "evil.py").write_text(
        f"import os\nos.mkdir({str(marker)!r})\n"
        "from sentence_transformers.models import Normalize\n"
        "class Evil(Normalize):\n    pass\n"
    )
    return folder


def change(path, **fields):
    found = json.loads(path.read_text()) if path.exists() else {}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found | fields))


def add_module(folder, **fields):
    path = folder / "modules.json"
    modules = json.loads(path.read_text())
    path.write_text(json.dumps([*modules, {"idx": 2, "name": "2", "path": ""} | fields]))


def test_the_model_itself_is_accepted(copy, marker):
    add_module(copy, path="2_Normalize", type="sentence_transformers.models.Normalize")
    (copy / "2_Normalize").mkdir()
    assert embed(HubTexts(str(copy)), "a cat").shape == (1, 32)
    assert not marker.exists()


NORMALIZE = "sentence_transformers.models.Normalize"
ROUTER = "sentence_transformers.base.modules.router.Router"
HOSTILE = {
    "a class in a file of the folder": (
        lambda folder: add_module(folder, type="evil.Evil"),
        "modules.json names the class 'evil.Evil', which is not part of sentence-transformers",
    ),
    "a class of another package": (
        lambda folder: add_module(folder, type="sentence_transformers_evil.Evil"),
        "names the class 'sentence_transformers_evil.Evil'",
    ),
    "a module that the package imports": (
        lambda folder: add_module(folder, type="sentence_transformers.base.model.torch"),
        "names the class 'sentence_transformers.base.model.torch'",
    ),
    "a folder outside the model": (
        lambda folder: add_module(
            folder, path="../elsewhere", type="sentence_transformers.models.Normalize"
        ),
        "names the folder '../elsewhere', which is outside the model",
    ),
    "a class inside a router": (
        lambda folder: (
            add_module(folder, path="2_Router", type=ROUTER),
            change(
                folder / "2_Router" / "router_config.json",
                types={"query_0": "evil.Evil"},
                structure={"query": ["query_0"]},
                parameters={},
            ),
        ),
        "2_Router/router_config.json names the class 'evil.Evil'",
    ),
    "a folder inside a router": (
        lambda folder: change(folder / "config.json", types={"../../x": NORMALIZE}),
        "names the folder '../../x'",
    ),
    "a tokenizer of word embeddings": (
        lambda folder: change(folder / "3" / "config.json", tokenizer_class="evil.Evil"),
        "3/config.json names the class 'evil.Evil'",
    ),
    "an activation that is a function": (
        lambda folder: change(
            folder / "2" / "config.json", activation_function="torch.utils.collect_env.main"
        ),
        "names the activation 'torch.utils.collect_env.main'",
    ),
    "a kernel of the hub": (
        lambda folder: change(folder / "config.json", _attn_implementation_internal="evil/kernel"),
        "config.json fetches a kernel from 'evil/kernel'",
    ),
    "a model type with its own code": (
        lambda folder: change(
            folder / "config.json", model_type="odd", auto_map={"AutoModel": "evil.Evil"}
        ),
        "config.json needs Python files of the model for its type 'odd'",
    ),
    "remote code": (
        lambda folder: change(
            folder / "sentence_bert_config.json", config_args={"trust_remote_code": True}
        ),
        "sentence_bert_config.json sets trust_remote_code to true",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_folder_with_code_is_refused(name, copy, marker):
    attack, message = HOSTILE[name]
    attack(copy)
    with pytest.raises(InvalidInputError) as caught:
        embed(HubTexts(str(copy)), "a cat")
    assert message in str(caught.value)
    assert "must not bring code of its own" in str(caught.value)
    assert not marker.exists()


def pickle_weights(folder, marker):
    import torch

    (folder / "model.safetensors").unlink()
    torch.save({"payload": Touch(marker)}, folder / "pytorch_model.bin")


def test_pickled_weights_are_not_unpickled(copy, marker):
    pickle_weights(copy, marker)
    for encoder, content in ((HubTexts(str(copy)), "a cat"), (HubImages(str(copy)), IMAGE)):
        change(copy / "preprocessor_config.json", size={"height": 8, "width": 8})
        change(copy / "preprocessor_config.json", image_mean=[0.5] * 3, image_std=[0.5] * 3)
        refused = "must be a model in the format of the hub"
        if known_hole("torch"):  # such weights are then not even looked at
            refused = "must have only safetensors weights"
        with pytest.raises(InvalidInputError, match=refused):
            embed(encoder, content)
    assert not marker.exists()


def test_a_folder_cannot_ask_for_unpickling(copy, marker):
    """sentence-transformers passes these arguments on to the function that loads weights."""
    pickle_weights(copy, marker)
    change(copy / "sentence_bert_config.json", model_args={"weights_only": False})
    with pytest.raises(InvalidInputError, match="sets weights_only to false"):
        embed(HubTexts(str(copy)), "a cat")
    assert not marker.exists()


@pytest.mark.parametrize("file", ["tokenizer_config.json", "processor_config.json"])
def test_code_of_a_tokenizer_is_not_run(file, copy, marker):
    change(copy / file, auto_map={"AutoTokenizer": ["evil.Evil", None], "AutoProcessor": "evil.E"})
    change(copy / file, tokenizer_class="EvilTokenizer", processor_class="EvilProcessor")
    refused = pytest.raises(InvalidInputError, match="contains custom code which must be executed")
    if known_hole("transformers"):  # older versions do not read all of these files
        refused = contextlib.suppress(InvalidInputError)
    with refused:
        embed(HubTexts(str(copy)), "a cat")
    assert not marker.exists()


PICKLED = {
    "weights": lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
    "weights next to safetensors": lambda folder: (folder / "pytorch_model.bin").touch(),
    "weights of a module": lambda folder: (folder / "1_Pooling" / "pytorch_model.bin").touch(),
    "weights that an index names": lambda folder: change(
        folder / "model.safetensors.index.json", weight_map={"layer": "pytorch_model.dat"}
    ),
}


@pytest.mark.parametrize("name", PICKLED)
def test_pickled_weights_are_refused_if_pytorch_would_run_their_code(name, copy, monkeypatch):
    """They are read with `weights_only=True`, which PyTorch 2.9 could be made to ignore."""
    monkeypatch.setattr("tradeoff.features.trust.known_hole", lambda _: ("2.9.1", HOLES["torch"]))
    monkeypatch.setattr("torch.load", pytest.fail)
    (copy / "1_Pooling").mkdir(exist_ok=True)
    PICKLED[name](copy)
    with pytest.raises(InvalidInputError) as caught:
        embed(HubTexts(str(copy)), "a cat")
    assert "must have only safetensors weights to be loaded with torch 2.9.1" in str(caught.value)
    assert "CVE-2026-24747" in str(caught.value)
    assert "pip install -U 'torch>=2.10'" in str(caught.value)


def test_safetensors_weights_load_with_every_pytorch(copy, monkeypatch):
    monkeypatch.setattr("tradeoff.features.trust.known_hole", lambda _: ("2.9.1", HOLES["torch"]))
    assert embed(HubTexts(str(copy)), "a cat").shape == (1, 32)
