"""The sampler: optimal, exact in its accounting, and never endless."""

import numpy as np
import pytest

from tests.known.sampling import DIVERGENCES, excess, masses
from tradeoff import AcceptanceRule, InvalidInputError, RatioProfile
from tradeoff.sampling import Accounting, BudgetedSampler
from tradeoff.sampling.rules import mh_acceptance


def discrete(rng, atoms=6):
    return rng.dirichlet(np.ones(atoms)), rng.dirichlet(np.ones(atoms))


def atom_sampler(p, q, seed=0, **options):
    """Atoms by number, with their exact ratio."""
    rng = np.random.default_rng(seed)
    log_ratio = np.log(p) - np.log(q)
    return BudgetedSampler(
        lambda n: rng.choice(q.size, n, p=q), lambda x: log_ratio[x], seed=seed, **options
    )


# Steps of the oldest SciPy's optimizer leave the bounds by rounding, and it clips them.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
@pytest.mark.parametrize("divergence", DIVERGENCES, ids=repr)
def test_no_acceptance_of_the_same_rate_is_better(divergence):
    """Against convex optimization over all acceptance functions."""
    assert excess(divergence, pairs=3) < 1e-8


def test_masses_of_kept_samples():
    assert masses(100_000)["standard errors"] < 5


@pytest.mark.parametrize("budget", [1.0, 1.5, 2.0, 4.0])
def test_kept_samples_have_the_refined_law(budget):
    p, q = discrete(np.random.default_rng(1))
    sampler = atom_sampler(p, q, budget=budget, calibration=200_000, batch=50_000)
    sampled = sampler.sample(100_000, progress=False)
    rule = AcceptanceRule.from_profile(RatioProfile.from_masses(p, q), budget=budget)
    refined = q * rule.acceptance(np.log(p / q))
    refined /= refined.sum()
    share = np.bincount(sampled.samples, minlength=q.size) / 100_000
    error = np.sqrt(refined * (1 - refined) / 100_000) + 2e-3  # calibration varies too
    assert (np.abs(share - refined) < 5 * error).all()
    low, high = sampled.accounting.rate_interval(0.9999)
    assert low - 0.01 < max(1 / budget, rule.rate) < high + 0.01


@pytest.mark.parametrize("method", ["obrs", "rejection", "drs", "mh"])
def test_every_method_comes_closer(method):
    p, q = discrete(np.random.default_rng(2))
    sampled = atom_sampler(p, q, budget=3.0, method=method).sample(20_000, progress=False)
    share = np.bincount(sampled.samples, minlength=q.size) / 20_000
    assert np.abs(share - p).sum() < 0.8 * np.abs(q - p).sum()
    accounting = sampled.accounting
    assert accounting.calibration_draws == 10_000
    if method != "rejection":
        assert accounting.rate == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.parametrize("budget", [1.0, 2.5, 7.0, 100.0, 255.0])
def test_chains_waste_no_draws(budget):
    p, q = discrete(np.random.default_rng(2))
    sampler = atom_sampler(p, q, budget=budget, method="mh", batch=256)
    accounting = sampler.sample(200, progress=False).accounting
    assert accounting.draws == int(accounting.accepted * budget)


@pytest.mark.parametrize(("far", "rate"), [(-3000.0, 1 / 1.2), (-np.inf, 0.6)])
def test_drs_spends_its_budget_though_ratios_are_far_apart(far, rate):
    """What has no chance at all cannot be kept by a shift, and the rest is."""
    rng = np.random.default_rng(0)
    sampler = BudgetedSampler(
        lambda n: rng.random((n, 1)),
        lambda x: np.where(x[:, 0] < 0.6, x[:, 0], far),
        budget=1.2,
        method="drs",
    )
    sampled = sampler.sample(5000, progress=False)
    assert sampled.accounting.rate == pytest.approx(rate, abs=0.03)


def test_the_accounting_is_exact():
    calls = []

    def generator(n):
        calls.append(n)
        return np.zeros((n, 1))

    sampler = BudgetedSampler(generator, lambda x: np.zeros(len(x)), budget=2.0, calibration=1000)
    sampled = sampler.sample(500, progress=False)
    accounting = sampled.accounting
    assert sum(calls) == accounting.draws + accounting.calibration_draws
    assert accounting.accepted >= 500 == len(sampled.samples)
    assert accounting.stopped == ""
    assert "acceptance cannot distinguish them" in accounting.warnings[0]


def test_labels_stay_with_their_samples():
    rng = np.random.default_rng(0)

    def conditional(n):
        labels = rng.integers(0, 3, n)
        return labels[:, None] + 0.0, labels

    sampler = BudgetedSampler(conditional, lambda x: -x[:, 0], budget=2.0)
    sampled = sampler.sample(1000, progress=False)
    np.testing.assert_array_equal(sampled.samples[:, 0], sampled.labels)
    np.testing.assert_array_equal(sampled.log_ratios, -sampled.labels)


def test_the_same_seed_gives_the_same_samples():
    p, q = discrete(np.random.default_rng(3))
    one, two = (atom_sampler(p, q, seed=5).sample(300, progress=False).samples for _ in range(2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.filterwarnings("ignore:The mean ratio of draws")
@pytest.mark.torch
def test_tensors_and_lists_stay_what_they_are():
    import torch

    module = torch.nn.Linear(2, 3)
    latent = torch.Generator().manual_seed(0)
    tensors = BudgetedSampler(
        lambda n: module(torch.randn(n, 2, generator=latent)), lambda x: x[:, 0], budget=2.0
    ).sample(50, progress=False)
    assert isinstance(tensors.samples, torch.Tensor)
    assert tensors.samples.shape == (50, 3)
    words = BudgetedSampler(
        lambda n: ["a", "bb"] * (n // 2), lambda x: [float(len(w)) for w in x], budget=1.5
    ).sample(50, progress=False)
    assert isinstance(words.samples, list)
    assert set(words.samples) <= {"a", "bb"}


@pytest.mark.parametrize(
    ("ratio", "message"),
    [
        (lambda x: np.full(len(x), np.nan), "must not return NaN. It did for 256 of 256 draws"),
        (lambda x: np.zeros(3), "must return a number per sample, 256. Got shape .3,."),
        (lambda x: np.full(len(x), -np.inf), "must be positive and finite. Got zero"),
        (lambda x: np.full(len(x), np.inf), "must be positive and finite. Got infinite"),
    ],
)
def test_ratios_that_are_none(ratio, message):
    with pytest.raises(InvalidInputError, match=message):
        BudgetedSampler(lambda n: np.zeros((n, 1)), ratio).sample(10, progress=False)
    if "Got zero" in message or "Got infinite" in message:
        with pytest.raises(InvalidInputError, match=message):
            BudgetedSampler(lambda n: np.zeros((n, 1)), ratio, method="drs").sample(10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0.5}, "`budget` must be at least 1"),
        ({"method": "magic"}, "`method` must be one of obrs, rejection, drs, mh"),
        ({"calibration": 0}, "`calibration` must be a whole number"),
        ({"method": "mh", "budget": 300}, "`batch` must be at least 301 for method=.mh.. Got 256"),
    ],
)
def test_settings_that_are_none(options, message):
    with pytest.raises(InvalidInputError, match=message):
        BudgetedSampler(lambda n: np.zeros((n, 1)), lambda x: x[:, 0], **options)


def test_a_generator_that_ends():
    with pytest.raises(InvalidInputError, match="`generator` must return samples. It returned non"):
        BudgetedSampler(lambda n: [], lambda x: x).sample(1, progress=False)
    with pytest.raises(InvalidInputError, match="must return a label per sample, 256. Got 1"):
        BudgetedSampler(lambda n: (np.zeros((n, 1)), [1]), lambda x: x[:, 0]).sample(1)


@pytest.mark.filterwarnings("ignore:The mean ratio of draws")
def test_no_loop_is_endless():
    """A ratio that was large in calibration and never again: the cap ends it, and says so."""
    state = {"draws": 0}

    def fading(x):
        state["draws"] += len(x)
        return np.where(np.arange(len(x)) % 2, 0.0, 40.0 if state["draws"] <= 1000 else -40.0)

    sampler = BudgetedSampler(
        lambda n: np.zeros((n, 1)), fading, budget=4.0, calibration=1000, method="rejection"
    )
    with pytest.raises(InvalidInputError, match="No sample was kept of 2,000 draws"):
        sampler.sample(10, max_draws=2000, progress=False)
    p, q = discrete(np.random.default_rng(0))
    few = atom_sampler(p, q, budget=4.0).sample(1000, max_draws=500, progress=False)
    assert few.accounting.stopped == "the cap of 500 draws was reached"
    assert 0 < len(few.samples) < 300
    assert few.accounting.draws == 500


@pytest.mark.filterwarnings("ignore:The mean ratio of draws")
def test_a_ratio_of_another_scale_is_told_and_changes_nothing():
    p, q = discrete(np.random.default_rng(4))
    log_ratio = np.log(p / q)
    results = []
    for shift in (0.0, 3.0):
        rng = np.random.default_rng(0)
        sampler = BudgetedSampler(
            lambda n, rng=rng: rng.choice(q.size, n, p=q),
            lambda x, shift=shift: log_ratio[x] + shift,
        )
        results.append(sampler.sample(500, progress=False))
    np.testing.assert_array_equal(results[0].samples, results[1].samples)
    assert results[0].accounting.warnings == ()
    assert (
        "that of a true ratio is at most 1: calibrate the ratio"
        in results[1].accounting.warnings[0]
    )


def test_more_than_the_largest_ratio_is_plain_rejection():
    """Beyond it, further draws buy nothing and are not spent."""
    p, q = discrete(np.random.default_rng(5))
    sampled = atom_sampler(p, q, budget=1000.0).sample(5000, progress=False)
    assert sampled.accounting.rate == pytest.approx(1 / (p / q).max(), rel=0.1)


def test_ratios_beyond_calibration_are_counted():
    rng = np.random.default_rng(0)
    sampler = BudgetedSampler(
        lambda n: rng.normal(size=(n, 1)), lambda x: x[:, 0], calibration=20, budget=2.0
    )
    accounting = sampler.sample(2000, progress=False).accounting
    assert accounting.exceeded > 0
    assert accounting.log_max_ratio > 2.5


def test_a_chain_moves_by_the_ratio_of_its_states():
    assert mh_acceptance(-np.inf, -3.0) == 1.0
    assert mh_acceptance(1.0, 2.0) == 1.0
    assert mh_acceptance(0.0, -np.inf) == 0.0


@pytest.mark.slow
@pytest.mark.torch
def test_a_diffusers_pipeline():
    """A small one with random weights; images come as arrays or as pictures, and stay so."""
    import torch
    from diffusers import DDIMPipeline, DDIMScheduler, UNet2DModel

    torch.manual_seed(0)
    network = UNet2DModel(
        sample_size=8,
        layers_per_block=1,
        block_out_channels=(8, 8),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "UpBlock2D"),
    )
    pipeline = DDIMPipeline(network, DDIMScheduler(num_train_timesteps=20))
    pipeline.set_progress_bar_config(disable=True)
    seed = torch.Generator().manual_seed(0)

    def brightness(images):
        return np.array([100.0 * (np.asarray(image) / 1.0).mean() for image in images])

    def kept(output_type, scale, count=60):
        def generator(n):
            drawn = pipeline(
                batch_size=n, num_inference_steps=2, output_type=output_type, generator=seed
            )
            return drawn.images

        sampler = BudgetedSampler(
            generator,
            lambda images: brightness(images) * scale,
            budget=3.0,
            calibration=128,
            batch=32,
        )
        return generator(200), sampler.sample(count, progress=False)

    plain, arrays = kept("np", 1.0)
    assert arrays.samples.shape == (60, 8, 8, 3)
    error = brightness(plain).std() / np.sqrt(60)
    assert brightness(arrays.samples).mean() > brightness(plain).mean() + 4 * error
    _, pictures = kept("pil", 1 / 255)
    assert {picture.size for picture in pictures.samples} == {(8, 8)}


def test_an_interrupted_stream_has_lost_nothing():
    """What was kept before is at hand, and the accounting is exact."""
    calls = []

    def generator(n):
        if len(calls) == 10:
            raise KeyboardInterrupt
        calls.append(n)
        return np.zeros((n, 1))

    accounting = Accounting()
    sampler = BudgetedSampler(
        generator, lambda x: np.arange(len(x)) % 2 * -1.0, calibration=512, batch=256
    )
    parts = []
    with pytest.raises(KeyboardInterrupt):
        parts.extend(sampler.stream(max_draws=100_000, accounting=accounting))
    assert accounting.draws == 8 * 256
    assert accounting.accepted == sum(len(part.samples) for part in parts) > 0
    with pytest.raises(KeyboardInterrupt):
        sampler.sample(10, progress=False)


def invented(n, rng):
    """A third of the samples are not realistic."""
    return np.where(rng.random((n, 1)) < 1 / 3, 3.0, 0.0) + rng.normal(0, 1, (n, 1))


def true_log_ratio(x):
    return -np.log(2 / 3 + np.exp(3 * x[:, 0] - 4.5) / 3)


@pytest.mark.parametrize(
    "raw", [lambda v: 0.1 * v, lambda v: 1 / (1 + np.exp(-v)), lambda v: 3 * v]
)
def test_real_samples_calibrate_the_ratio(raw):
    """The kept samples are those that the true ratio keeps, up to the noise of 4,000 samples."""
    rng = np.random.default_rng(0)
    options = {"generator": lambda n: invented(n, rng), "budget": 2.0}
    true = BudgetedSampler(log_ratio=true_log_ratio, **options).sample(4000, progress=False)
    found = BudgetedSampler(
        log_ratio=lambda x: raw(true_log_ratio(x)), real=rng.normal(0, 1, (4000, 1)), **options
    ).sample(4000, progress=False)
    share = [(one.samples > 2.0).mean() for one in (true, found)]
    assert abs(share[0] - share[1]) < 0.02  # 0.02 and 0.12 without any calibration
    assert np.median(np.abs(found.log_ratios - true_log_ratio(found.samples))) < 0.2


def test_what_cannot_be_a_ratio_is_told_before_it_is_used():
    rng = np.random.default_rng(0)
    drawn = []

    def generator(n):
        drawn.append(n)
        return invented(n, rng)

    def sigmoid(x):
        return 1 / (1 + np.exp(-true_log_ratio(x)))

    with pytest.warns(UserWarning, match="like the outputs of a sigmoid: pass the discriminator"):
        BudgetedSampler(generator, sigmoid, calibration=2000).sample(10, progress=False)
    with pytest.warns(UserWarning, match="calibrate the ratio on held-out samples, by `real=`"):
        BudgetedSampler(generator, lambda x: 1.0 + true_log_ratio(x)).sample(10, progress=False)
    with pytest.raises(InvalidInputError, match="`real` must hold at least 40 samples"):
        BudgetedSampler(generator, sigmoid, real=np.zeros((9, 1))).sample(10)


def test_too_few_real_samples_are_told_before_anything_is_drawn():
    sampler = BudgetedSampler(
        lambda n: pytest.fail("drawn"), lambda x: x[:, 0], real=np.zeros((3, 1))
    )
    with pytest.raises(InvalidInputError, match="`real` must hold at least"):
        sampler.sample(10)
