"""Model files that try to run code: every payload here is real, and must not run."""

import json
import os
import pickle
import zipfile

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample
from tradeoff.features import NetworkFile

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
