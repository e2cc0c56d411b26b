"""The score loss: the gradient of the true divergence, without bias, from values alone."""

from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.integrate import quad  # noqa: E402

from tests.known.gradients import refined_value  # noqa: E402
from tests.laws.divergences import SMOOTH  # noqa: E402
from tradeoff import AcceptanceRule, InvalidInputError, RatioProfile  # noqa: E402
from tradeoff.core.divergence import GAN, KL, Pearson  # noqa: E402
from tradeoff.core.divergence.mixture import FrontierIntegral  # noqa: E402
from tradeoff.training import BudgetedLoss, DivergenceLoss, PRLoss  # noqa: E402

pytestmark = pytest.mark.torch

P = np.array([0.5, 0.3, 0.2])
LOGITS = np.array([0.4, -0.9, 0.3])
STEP = 1e-5
TRAINABLE = [name for name, d in SMOOTH.items() if not isinstance(d, FrontierIntegral)]


def masses(logits):
    return np.exp(logits) / np.exp(logits).sum()


def true_gradient(value):
    """Central differences of a function of the profile, by the logits of the model."""

    def at(logits):
        return value(RatioProfile.from_masses(P, masses(logits)))

    steps = STEP * np.eye(3)
    return np.array([(at(LOGITS + step) - at(LOGITS - step)) / (2 * STEP) for step in steps])


def smoothed_value(profile, lam, temperature):
    """PR-divergences averaged over log λ with a logistic kernel, integrated up to every kink."""
    kinks = (np.log([1.0, *(profile.q / profile.p)]) - np.log(lam)) / temperature
    ends = [-60.0, *sorted(kinks), 60.0]

    def weighted(u):
        kernel = np.exp(-abs(u)) / (1 + np.exp(-abs(u))) ** 2
        slope = lam * np.exp(temperature * u)
        return kernel * (min(1.0, slope) - np.minimum(slope * profile.p, profile.q).sum())

    return sum(quad(weighted, *part, epsabs=1e-13)[0] for part in pairwise(ends))


def expected_gradient(score_loss):
    """The mean gradient over every possible batch of two real and two generated samples."""
    q = masses(LOGITS)
    total = np.zeros(3)
    for real_and_made in product(range(3), repeat=4):
        x = torch.tensor(real_and_made)
        logits = torch.tensor(LOGITS, requires_grad=True)
        log_density = logits.log_softmax(0)[x]
        score_loss(torch.log(torch.tensor(P / q))[x], log_density).backward()
        total += P[x[:2]].prod() * q[x[2:]].prod() * logits.grad.numpy()
    return total


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("temperature", [0.25, 0.5])
def test_its_mean_is_the_gradient_of_the_smoothed_divergence(lam, temperature):
    loss = PRLoss(lam, temperature=temperature)
    value = partial(smoothed_value, lam=lam, temperature=temperature)
    np.testing.assert_allclose(expected_gradient(loss.score_loss), true_gradient(value), atol=1e-7)


@pytest.mark.parametrize("name", TRAINABLE)
def test_its_mean_is_the_gradient_of_a_divergence(name):
    loss = DivergenceLoss(SMOOTH[name])
    np.testing.assert_allclose(
        expected_gradient(loss.score_loss), true_gradient(SMOOTH[name].of), atol=1e-7
    )


@pytest.mark.parametrize("budget", [1.2, 2.0])
def test_its_mean_is_the_gradient_after_rejection(budget):
    rule = AcceptanceRule.from_profile(RatioProfile.from_masses(P, masses(LOGITS)), budget=budget)
    loss = BudgetedLoss(budget, KL(), refresh=10**6)
    loss.log_constant = rule.log_constant
    value = partial(refined_value, divergence=KL(), budget=budget)
    np.testing.assert_allclose(expected_gradient(loss.score_loss), true_gradient(value), atol=1e-6)


def batch_baseline(loss, log_ratio, log_density):
    """The same with one baseline for the whole batch, which depends on every sample in it."""
    weight, gain = 2 * torch.sigmoid(-log_ratio), loss.gain(log_ratio)
    baseline = (weight * gain).sum() / weight.sum()
    return -(weight * (gain - baseline) * log_density).mean()


def test_a_baseline_of_the_whole_batch_is_biased():
    loss = PRLoss(1.0)
    unbiased, biased = (
        expected_gradient(score) for score in (loss.score_loss, partial(batch_baseline, loss))
    )
    assert np.linalg.norm(biased - unbiased) > 0.1 * np.linalg.norm(unbiased)


def test_the_baseline_takes_most_of_the_noise_away():
    rng = np.random.default_rng(0)
    q = masses(LOGITS)
    loss = PRLoss(1.0)
    gradients = {True: [], False: []}
    for _, with_baseline in product(range(200), (True, False)):
        x = torch.tensor(np.append(rng.choice(3, 16, p=P), rng.choice(3, 16, p=q)))
        logits = torch.tensor(LOGITS, requires_grad=True)
        log_ratio, log_density = torch.log(torch.tensor(P / q))[x], logits.log_softmax(0)[x]
        if with_baseline:
            loss.score_loss(log_ratio, log_density).backward()
        else:
            weight = 2 * torch.sigmoid(-log_ratio)
            (-weight * loss.gain(log_ratio) * log_density).mean().backward()
        gradients[with_baseline].append(logits.grad.numpy())
    variance = {key: np.var(values, axis=0).sum() for key, values in gradients.items()}
    assert variance[True] < 0.5 * variance[False]


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("auxiliary", [GAN(), KL(), Pearson()], ids=repr)
def test_it_passes_gradcheck(lam, auxiliary):
    rng = np.random.default_rng(0)
    log_density = torch.tensor(rng.normal(size=12), requires_grad=True)
    log_ratio = torch.tensor(rng.normal(0, 2, 12), requires_grad=True)
    loss = PRLoss(lam, auxiliary=auxiliary)
    assert torch.autograd.gradcheck(partial(loss.score_loss, log_ratio.detach()), (log_density,))
    loss.score_loss(log_ratio, log_density).backward()
    assert log_ratio.grad is None  # values of the discriminator, never its gradient


def test_a_budgeted_loss_calibrates_itself_on_the_generated_half():
    loss, other = BudgetedLoss(2.0), BudgetedLoss(2.0)
    log_ratio = torch.linspace(-2, 2, 20)
    loss.score_loss(log_ratio, torch.zeros(20))
    other.calibrate(log_ratio[10:])
    assert loss.log_constant == other.log_constant


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_extreme_ratios_and_half_precision_stay_finite(dtype):
    log_ratio = torch.tensor([900.0, 900.0, -900.0, 900.0], dtype=dtype)
    log_density = torch.zeros(4, dtype=dtype, requires_grad=True)
    for v in (log_ratio, log_ratio.abs()):
        loss = PRLoss(1.0).score_loss(v, log_density)
        (gradient,) = torch.autograd.grad(loss, log_density)
        assert torch.isfinite(gradient).all()


def test_a_ratio_that_knows_the_flow():
    """The discriminator of the first flow is right for every later one."""
    x = torch.linspace(-3, 3, 9, dtype=torch.float64)
    real, start, now = (torch.distributions.Normal(mean, 1.0) for mean in (0.0, 1.0, 0.3))
    outputs = (real.log_prob(x) - start.log_prob(x))[:, None].requires_grad_()
    density = now.log_prob(x).requires_grad_()
    found = PRLoss(1.0).log_ratio(outputs, start=start.log_prob(x), now=density)
    assert found.shape == (9, 1)
    torch.testing.assert_close(found[:, 0], real.log_prob(x) - now.log_prob(x))
    found.sum().backward()
    assert density.grad is None
    assert (outputs.grad == 1).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PRLoss(1.0).score_loss(torch.zeros(4), torch.zeros(5)), "Got 4 and 5 values"),
        (lambda: PRLoss(1.0).score_loss(torch.zeros(5), torch.zeros(5)), "n real and n generated"),
        (lambda: PRLoss(1.0).score_loss(torch.zeros(2), torch.zeros(2)), "with n at least 2"),
        (lambda: PRLoss(1.0).score_loss([0.0], torch.zeros(2)), "`log_ratio` must be a Tensor"),
        (lambda: PRLoss(1.0).log_ratio(torch.zeros(4), now=torch.zeros(4)), "given together"),
        (
            lambda: PRLoss(1.0).log_ratio(torch.zeros(4), start=torch.zeros(4), now=torch.zeros(1)),
            "`now` must have one entry per sample, 4. Got 1",
        ),
        (
            lambda: PRLoss(1.0, auxiliary=Pearson()).log_ratio(
                torch.ones(4), start=torch.zeros(4), now=torch.zeros(4)
            ),
            r"such as GAN\(\). Got Pearson\(\)",
        ),
    ],
)
def test_mistakes_end_in_one_sentence(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
