"""Losses: exact gradients, the right sign, and sentences for mistakes."""

from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from tests.known import gradients  # noqa: E402
from tests.laws.divergences import SMOOTH  # noqa: E402
from tradeoff import InvalidInputError, UndefinedError  # noqa: E402
from tradeoff.core.divergence import (  # noqa: E402
    GAN,
    KL,
    Amari,
    Hellinger,
    Pearson,
    PRDivergence,
    TotalVariation,
)
from tradeoff.core.divergence.mixture import FrontierIntegral  # noqa: E402
from tradeoff.training import (  # noqa: E402
    BudgetedLoss,
    DivergenceLoss,
    Monitor,
    PRLoss,
    TruncatedPRLoss,
    likelihood_loss,
)

pytestmark = pytest.mark.torch

REAL = np.linspace(-2.0, 3.0, 7)
MADE = np.linspace(-3.0, 2.0, 9) + 0.01
TRAINABLE = [name for name, d in SMOOTH.items() if not isinstance(d, FrontierIntegral)]


def outputs(values=MADE):
    return torch.tensor(values, requires_grad=True)


@pytest.mark.parametrize("name", TRAINABLE)
def test_losses_of_divergences_pass_gradcheck(name):
    loss = DivergenceLoss(SMOOTH[name])
    assert torch.autograd.gradcheck(loss.discriminator_loss, (outputs(REAL), outputs()))
    assert torch.autograd.gradcheck(loss.generator_loss, (outputs(),))


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("auxiliary", [GAN(), KL(), Pearson()], ids=repr)
def test_losses_of_trade_offs_pass_gradcheck(lam, auxiliary):
    for loss in (PRLoss(lam, auxiliary=auxiliary), TruncatedPRLoss(lam, auxiliary=auxiliary)):
        assert torch.autograd.gradcheck(loss.generator_loss, (outputs(),))
        assert torch.autograd.gradcheck(loss.discriminator_loss, (outputs(REAL), outputs()))


@pytest.mark.parametrize("budget", [1.0, 1.5, 4.0])
@pytest.mark.parametrize("name", ["KL()", "ReverseKL()", "GAN()", "Pearson()", "Hellinger()"])
def test_budgeted_losses_pass_gradcheck(name, budget):
    loss = BudgetedLoss(budget, SMOOTH[name], refresh=1000)
    loss.calibrate(MADE)
    assert torch.autograd.gradcheck(lambda w: -loss.gain(loss.log_ratio(w)).mean(), (outputs(),))


@pytest.mark.parametrize("name", TRAINABLE)
def test_the_discriminator_that_knows_the_ratio_has_the_least_loss(name):
    """On masses: the dual at the true ratio is the divergence, and every other one is less."""
    divergence = SMOOTH[name]
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.full(5, 3.0), 2)

    def dual(log_ratio):
        critic = divergence.derivative(np.exp(log_ratio))
        return p @ critic - q @ divergence.dual(log_ratio)

    best = dual(np.log(p / q))
    assert best == pytest.approx(q @ divergence.generator(p / q), abs=1e-12)
    assert all(dual(np.log(p / q) + 0.1 * rng.normal(size=5)) < best for _ in range(20))


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.25, 0.5, 1.0])
def test_the_smoothed_loss_is_the_gradient_of_the_smoothed_divergence(temperature):
    assert gradients.smoothed_error(temperature, gradients.on_the_line(quick=True)) < 1e-4


@pytest.mark.parametrize("budget", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("divergence", gradients.DIVERGENCES, ids=repr)
def test_the_budgeted_loss_is_the_gradient_after_rejection(divergence, budget):
    row = gradients.budgeted_row(divergence, budget)
    assert row["ratio"] < row["bar"]


@pytest.mark.slow
def test_losses_push_the_right_way_and_the_printed_one_does_not():
    families = [*gradients.on_the_line(quick=True), *gradients.in_the_plane(3)]
    sharp = partial(gradients.smoothed, temperature=0.1)
    assert gradients.wrong_signs(sharp, families)["wrong signs"] == 0
    assert gradients.wrong_signs(gradients.printed, families)["share"] > 0.8


@pytest.mark.parametrize("name", TRAINABLE)
def test_the_weight_of_a_dual_loss_is_that_of_its_divergence(name):
    lam = np.geomspace(0.05, 20, 9)
    weight = DivergenceLoss(SMOOTH[name]).weight(lam)
    np.testing.assert_allclose(weight, SMOOTH[name].weight(lam), rtol=1e-9)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_the_weight_does_not_depend_on_whether_gradients_are_on(mode):
    slopes = np.geomspace(0.1, 10, 5)
    with mode():
        found = PRLoss(2.0).weight(slopes)
    np.testing.assert_array_equal(found, PRLoss(2.0).weight(slopes))


@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_the_weight_of_the_smoothed_loss_is_one_around_its_slope(lam):
    slopes = np.geomspace(1e-9, 1e9, 200_001)
    weight = PRLoss(lam, temperature=0.5).weight(slopes)
    assert np.trapezoid(weight * slopes, np.log(slopes)) == pytest.approx(1.0, abs=1e-6)
    assert slopes[np.argmax(weight * slopes)] == pytest.approx(lam, rel=1e-3)


def test_a_budget_of_one_is_the_dual_loss():
    loss = BudgetedLoss(1.0, Hellinger())
    found = loss.generator_loss(outputs())
    assert found.item() == pytest.approx(
        DivergenceLoss(Hellinger()).generator_loss(outputs()).item()
    )


def test_the_constant_is_refreshed():
    loss = BudgetedLoss(2.0, GAN(), refresh=3)
    found = []
    for shift in (0.0, 5.0, 5.0, 5.0):
        loss.generator_loss(outputs(MADE + shift))
        found.append(loss.log_constant)
    assert found[0] == found[1] == found[2]
    assert found[3] == pytest.approx(found[0] - 5.0)


def test_a_step_with_nan_can_be_skipped():
    """The outputs that were refused used to stay, and every later step was refused, too."""
    loss = BudgetedLoss(2.0, GAN())
    with pytest.raises(InvalidInputError, match="NaN"):
        loss.generator_loss(outputs(MADE * float("nan")))
    assert loss.generator_loss(outputs()).isfinite()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_widened(dtype):
    """Gradients arrive in the type of the outputs, and are numbers."""
    w = torch.tensor([-20.0, 13.0, 0.0], dtype=dtype, requires_grad=True)
    losses = (PRLoss(1.0, auxiliary=Pearson()), BudgetedLoss(2.0, KL()), DivergenceLoss(Amari(0.5)))
    for loss in losses:
        total = loss.generator_loss(w) + loss.discriminator_loss(w, w)
        (gradient,) = torch.autograd.grad(total, w)
        assert torch.isfinite(total)
        assert torch.isfinite(gradient).all()
        assert gradient.dtype == dtype


def test_likelihood():
    assert likelihood_loss(torch.tensor([-1.0, -3.0])).item() == 2.0


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PRLoss(0.0), InvalidInputError, "`lam` must be positive and finite. Got 0"),
        (lambda: PRLoss(1.0, temperature=-1), InvalidInputError, "`temperature` must be positive"),
        (lambda: PRLoss(1.0, auxiliary="gan"), InvalidInputError, "`auxiliary` must be a Diverg"),
        (lambda: DivergenceLoss(2 * TotalVariation()), UndefinedError, "no ratio.*GAN.. for one"),
        (lambda: DivergenceLoss(PRDivergence(2.0)), UndefinedError, "no ratio.*GAN.. for one"),
        (lambda: PRLoss(1.0, auxiliary=FrontierIntegral()), UndefinedError, "GAN.. for one"),
        (lambda: BudgetedLoss(0.5), InvalidInputError, "`budget` must be at least 1"),
        (lambda: BudgetedLoss(2.0).gain(outputs()), InvalidInputError, "`calibrate` must be call"),
        (lambda: PRLoss(1.0).generator_loss([0.0]), InvalidInputError, "must be a Tensor"),
        (lambda: PRLoss(1.0).generator_loss(outputs([])), InvalidInputError, "must not be empty"),
        (lambda: PRLoss(1.0).weight([0.0]), InvalidInputError, "`lam` must be positive"),
        (lambda: Monitor(PRLoss(1.0)).compute(), InvalidInputError, "`update` must be called"),
    ],
)
def test_mistakes_end_in_one_sentence(make, error, message):
    with pytest.raises(error, match=message):
        make()
