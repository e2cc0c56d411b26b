"""Divergences in PyTorch: the same numbers as NumPy, and exact gradients."""

import numpy as np
import pytest

from tests.laws.divergences import ALL, SMOOTH
from tradeoff import UndefinedError
from tradeoff.core.divergence.mixture import FrontierIntegral
from tradeoff.core.divergence.special import lambert_w

pytestmark = pytest.mark.torch

RATIOS = np.geomspace(1e-3, 1e3, 41) * 1.01  # off the kinks at 1/λ and off 1
OUTPUTS = np.linspace(-4, 4, 33)


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch")


def discriminator_values(divergence):
    """Values inside the conjugate's range, away from its ends."""
    low, high = divergence.discriminator_range
    return np.linspace(max(low, -3.0) + 0.05, min(high, 3.0) - 0.05, 25)


def calls(divergence):
    """Each function of a divergence with arguments inside its domain."""
    yield divergence.generator, RATIOS
    yield divergence.derivative, RATIOS
    yield divergence.second_derivative, RATIOS
    yield divergence.conjugate, discriminator_values(divergence)
    yield divergence.ratio, discriminator_values(divergence)
    yield divergence.activation, OUTPUTS
    yield divergence.weight, RATIOS
    yield divergence.log_ratio, OUTPUTS
    yield divergence.dual, OUTPUTS


@pytest.mark.parametrize("name", ALL)
def test_numpy_and_torch_agree(torch, name):
    for function, values in calls(ALL[name]):
        try:
            expected = function(values)
        except UndefinedError:
            with pytest.raises(UndefinedError):
                function(torch.tensor(values))
            continue
        actual = function(torch.tensor(values))
        assert isinstance(actual, torch.Tensor)
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_generators_pass_gradcheck(torch, name):
    values = torch.tensor(RATIOS[(RATIOS > 0.02) & (RATIOS < 50)], requires_grad=True)
    assert torch.autograd.gradcheck(ALL[name].generator, (values,))


@pytest.mark.parametrize("name", ALL)
def test_conjugates_pass_gradcheck(torch, name):
    if isinstance(ALL[name], FrontierIntegral):
        return
    values = torch.tensor(discriminator_values(ALL[name]), requires_grad=True)
    assert torch.autograd.gradcheck(ALL[name].conjugate, (values,))


@pytest.mark.parametrize("name", ALL)
def test_activations_pass_gradcheck(torch, name):
    if isinstance(ALL[name], FrontierIntegral):
        return
    assert torch.autograd.gradcheck(
        ALL[name].activation, (torch.tensor(OUTPUTS, requires_grad=True),)
    )


@pytest.mark.parametrize("name", SMOOTH)
def test_functions_of_outputs_pass_gradcheck(torch, name):
    outputs = torch.tensor(OUTPUTS, requires_grad=True)
    assert torch.autograd.gradcheck(SMOOTH[name].dual, (outputs,))
    if not isinstance(SMOOTH[name], FrontierIntegral):
        assert torch.autograd.gradcheck(SMOOTH[name].log_ratio, (outputs,))


@pytest.mark.parametrize(
    "name", ["GAN()", "JensenShannon()", "ReverseKL()", "Pearson()", "Hellinger()"]
)
def test_large_outputs_neither_overflow_nor_lose_their_gradient(torch, name):
    """In single precision, where f*(a(w)) as printed is infinite from w = 17 on."""
    divergence = SMOOTH[name]
    w = torch.tensor([-80.0, -20.0, 20.0, 40.0], requires_grad=True)
    log_ratio = divergence.log_ratio(w)
    value = divergence.dual(log_ratio)
    (gradient,) = torch.autograd.grad(value.sum(), w)
    assert torch.isfinite(log_ratio).all()
    assert torch.isfinite(value).all()
    assert (gradient[2:] > 0).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_are_the_derivatives(torch, name):
    divergence = SMOOTH[name]
    u = torch.tensor(RATIOS, requires_grad=True)
    (gradient,) = torch.autograd.grad(divergence.generator(u).sum(), u)
    np.testing.assert_allclose(
        gradient.numpy(), divergence.derivative(RATIOS), rtol=1e-9, atol=1e-9
    )
    if isinstance(divergence, FrontierIntegral):
        return
    t = torch.tensor(discriminator_values(divergence), requires_grad=True)
    (gradient,) = torch.autograd.grad(divergence.conjugate(t).sum(), t)
    np.testing.assert_allclose(gradient.numpy(), divergence.ratio(t.detach().numpy()), rtol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_gradients_are_finite_at_the_edge(torch, name):
    """Ratios that underflow must not poison a training step with NaN."""
    u = torch.tensor([0.0, 1e-30, 1.0, 1e30], dtype=torch.float32, requires_grad=True)
    value = ALL[name].generator(u)
    assert not torch.isnan(value).any()
    value[1:].sum().backward()
    assert not torch.isnan(u.grad).any()


def test_lambert_w_gradient(torch):
    x = torch.tensor([1e-3, 0.5, 1.0, 10.0, 1e4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambert_w, (x,))


def test_tensors_keep_their_type(torch):
    u = torch.tensor([0.5, 2.0], dtype=torch.float32)
    for divergence in ALL.values():
        assert divergence.generator(u).dtype == torch.float32
        assert divergence.derivative(u).dtype == torch.float32
