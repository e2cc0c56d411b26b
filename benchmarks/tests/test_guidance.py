"""Guidance and rejection on a small diffusion model: the known truth, and what the records show."""

import json

import numpy as np
import pytest
from scipy.stats import kstest

torch = pytest.importorskip("torch")

from benchmarks import harness, pretrained  # noqa: E402
from examples.parts.diffusion import Velocity  # noqa: E402
from examples.parts.guided_classes import GuidedClasses  # noqa: E402

pytestmark = pytest.mark.torch

MEANS = torch.tensor([[-1.0], [0.5], [2.0]], dtype=torch.float64)
LINE = torch.linspace(-9.0, 11.0, 1001, dtype=torch.float64)[:, None]


def rows_of(name):
    record = json.loads((harness.RESULTS / f"{name}.json").read_text())
    return {row["case"]: row for row in record["rows"]}


def test_without_guidance_the_density_is_that_of_the_classes():
    found = GuidedClasses(MEANS, 0.7, steps=50).log_density(LINE)
    parts = torch.distributions.Normal(MEANS.T, 0.7).log_prob(LINE)
    assert torch.allclose(found.exp(), parts.exp().mean(1), atol=1e-3)


@pytest.mark.parametrize("guidance", [0.5, 2.0])
def test_the_density_of_guided_samples_is_that_of_their_sampler(guidance):
    classes = GuidedClasses(MEANS, 0.7, guidance, steps=50)
    masses = classes.log_density(LINE).exp().numpy() * 0.02
    assert masses.sum() == pytest.approx(1.0, abs=2e-3)
    torch.manual_seed(0)
    drawn = classes.sample(4000)[:, 0].numpy()
    cdf = np.cumsum(masses)
    found = kstest(drawn, lambda x: np.interp(x, LINE[:, 0].numpy(), cdf))
    assert found.pvalue > 1e-3


def test_without_guidance_a_sample_follows_its_class():
    torch.manual_seed(0)
    network = Velocity(8)
    labels = torch.arange(10)
    drawn = []
    for guidance in (0.0, 1e-6, 1.0):
        torch.manual_seed(1)
        drawn.append(network.sample(labels, guidance=guidance, steps=3))
    assert torch.allclose(drawn[0], drawn[1], atol=1e-4)
    assert not torch.allclose(drawn[0], drawn[2], atol=1e-4)


def test_a_published_file_is_read_only_if_it_is_the_one_of_the_record(tmp_path, monkeypatch):
    monkeypatch.setattr(pretrained, "FOLDER", tmp_path)
    with pytest.raises(FileNotFoundError, match="at commit 9b6401e"):
        pretrained.digits_gan()
    (tmp_path / "G--300.ckpt").write_bytes(b"something else")
    with pytest.raises(OSError, match="SHA-256"):
        pretrained.digits_gan()


def assert_all_seeds(row, *, p_value=0.01):
    assert row["p-value"] < p_value
    assert row["seeds that do"] == 5


@pytest.mark.parametrize("data", ["fashion", "mnist"])
def test_rejection_improves_the_diffusion_model_by_the_curve(data):
    rows = rows_of("guidance")
    for budget in (2, 4):
        for key in ("area", "overlap"):
            assert_all_seeds(rows[f"{data}, w = 0 to K = {budget}: {key}"])


@pytest.mark.parametrize("data", ["fashion", "mnist"])
def test_guidance_is_a_trade_off_by_neighbors_and_only_costs_by_the_curve(data):
    rows = rows_of("guidance")
    for key in ("k-NN precision", "k-NN recall"):
        assert_all_seeds(rows[f"{data}, w = 0 to w = 1: {key}"])
    for key in ("area", "overlap", "precision"):
        assert rows[f"{data}, w = 0 to w = 1: {key}"]["change"] < -0.1


def test_neighbors_call_typical_images_more_precise_although_all_are_real():
    rows = rows_of("guidance")
    plain, typical = (rows[f"fashion, typical images, strength {s}"] for s in ("0", "0.5"))
    assert typical["exact precision at λ = 20"] == plain["exact precision at λ = 20"] == 1.0
    assert typical["k-NN precision"] > plain["k-NN precision"] + 0.01
    assert typical["exact overlap"] < 0.7
    for case, row in rows.items():
        # The curve is an upper bound. Test images of MNIST are not like its training images.
        if "exact overlap" in row and "mnist" not in case:
            assert row["measured overlap"] > row["exact overlap"] - 0.03, case


def test_the_discriminator_of_a_published_gan_improves_it():
    rows = rows_of("digits_gan")
    for budget in (2, 4):
        for key in ("area", "recall"):
            assert_all_seeds(rows[f"digits, all draws to OBRS, K = {budget}: {key}"])
