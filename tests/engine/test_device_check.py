"""The check of a GPU, on the CPU: nothing here has run on a GPU."""

import numpy as np
import pytest

from tests.cli.test_commands import tradeoff
from tradeoff.embedding import batches, device_check
from tradeoff.embedding.device_check import check_device

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
]


def test_without_a_gpu_it_says_so(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    shown = tradeoff("doctor", "--gpu")
    assert shown.exit_code == 2
    assert "PyTorch must find a GPU here. It finds none" in shown.stderr


@pytest.mark.slow
def test_a_device_is_compared_and_measured(monkeypatch):
    monkeypatch.setattr(batches, "_LARGEST", 32)
    found = dict(check_device("cpu"))
    for name in ("efficientnet-lite0", "all-minilm-l6-v2"):
        assert found[name].startswith("works: 0 from the CPU")
        assert found[name].endswith("same bits in another order")
    assert int(found["images/s, batch 32"].replace(",", "")) > 0


@pytest.mark.slow
def test_each_failure_is_told_and_the_others_are_tried(monkeypatch):
    monkeypatch.setattr(batches, "_LARGEST", 0)
    found = dict(check_device("meta"))
    assert found["efficientnet-lite0"].startswith("FAILS: ")
    assert found["all-minilm-l6-v2"].startswith("FAILS: ")


def test_other_features_are_told(monkeypatch):
    made = {"cpu": np.ones((4, 2)), "same": np.ones((4, 2)), "other": np.full((4, 2), 1.1)}
    made["order"] = np.linspace(1, 1 + 1e-5, 8).reshape(4, 2)  # the order of the batch decides
    monkeypatch.setattr(device_check, "_features", lambda name, kind, device, step=1: made[device])
    told = {device: device_check._compared("any", "image", device) for device in made}
    assert (
        told["same"] == "works: 0 from the CPU, of the largest feature; same bits in another order"
    )
    assert told["other"].startswith("DIFFERS: 0.1 from the CPU")
    assert told["order"].endswith("OTHER BITS in another order")
    assert told["order"].startswith("works")
