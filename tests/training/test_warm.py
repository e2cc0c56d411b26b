"""Warm starts: the discriminator is trained until its held-out dual is flat."""

import pytest

torch = pytest.importorskip("torch")

from tradeoff import InvalidInputError  # noqa: E402
from tradeoff.training import BudgetedLoss, Monitor, NonSaturatingLoss, PRLoss  # noqa: E402

pytestmark = pytest.mark.torch


def drawn(n, mean=0.0, seed=0):
    return mean + torch.randn(n, 1, generator=torch.Generator().manual_seed(seed))


def warmed(**options):
    """A linear discriminator of N(0, 1) against N(1, 1), whose log-ratio is 1/2 - x."""
    torch.manual_seed(0)
    discriminator = torch.nn.Linear(1, 1)
    rng = torch.Generator().manual_seed(1)
    settings = {"real": drawn(5000), "learning_rate": 1e-2, "progress": False} | options
    duals = NonSaturatingLoss().warm_start(
        discriminator, generate=lambda n: 1 + torch.randn(n, 1, generator=rng), **settings
    )
    return discriminator, duals


@pytest.mark.slow
def test_it_stops_when_the_dual_is_flat():
    discriminator, duals = warmed()
    assert discriminator.weight.item() == pytest.approx(-1.0, abs=0.1)
    assert discriminator.bias.item() == pytest.approx(0.5, abs=0.1)
    assert max(duals) - duals[-1] < 0.01
    assert 3 <= len(duals) < 60


@pytest.mark.slow
def test_it_depends_on_its_seed_alone():
    state = torch.random.get_rng_state()
    first, second = warmed(seed=3), warmed(seed=3)
    assert first[1] == second[1]
    assert warmed(seed=4)[1] != first[1]
    torch.random.set_rng_state(state)


def test_it_says_when_the_dual_is_not_flat():
    with pytest.warns(UserWarning, match="not flat after 150 steps. Raise `most_steps`"):
        _, duals = warmed(most_steps=150, learning_rate=1e-4)
    assert len(duals) == 2


@pytest.mark.slow
def test_the_mode_of_the_network_is_kept():
    network = torch.nn.Sequential(torch.nn.BatchNorm1d(1), torch.nn.Linear(1, 1)).train()
    PRLoss(1.0).warm_start(network, real=drawn(500), generate=drawn, progress=False)
    assert network.training


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"real": drawn(4)}, "`real` must have at least 5 samples"),
        ({"real": [0.0]}, "`real` must be a Tensor"),
        ({"batch": 0}, "`batch` must be"),
        ({"most_steps": 0}, "`most_steps` must be"),
        ({"learning_rate": 0.0}, "`learning_rate` must be positive"),
    ],
)
def test_mistakes_end_in_one_sentence(options, message):
    with pytest.raises(InvalidInputError, match=message):
        warmed(**options)


def watched(slope):
    """A monitor of outputs that separate the sides better and better, by `slope` a step."""
    monitor = Monitor(PRLoss(1.0))
    for step in range(400):
        scale = 0.2 + slope * step
        monitor.update(
            scale * (0.5 - drawn(128, seed=step)), scale * (0.5 - drawn(128, 1.0, 10**6 + step))
        )
    return monitor.warnings()


def test_the_monitor_tells_that_the_dual_still_rises():
    (sentence,) = watched(0.001)
    assert sentence.startswith("The dual still rises, from")
    assert "`warm_start`" in sentence
    assert watched(0.0) == ()


@pytest.mark.parametrize(("size", "warned"), [(16, True), (1024, False)])
def test_the_monitor_tells_that_a_single_sample_has_a_gradient(size, warned):
    loss = BudgetedLoss(8.0)
    monitor = Monitor(loss)
    for step in range(30):
        made = 2.0 * drawn(size, seed=step)
        loss.generator_loss(made)
        monitor.update(2.0 * drawn(size, seed=100 + step), made)
    assert any("of 16 generated samples in a step" in text for text in monitor.warnings()) == warned


@pytest.mark.filterwarnings("ignore:The held-out dual is not flat")
def test_no_more_samples_than_a_batch_at_once():
    sizes = []

    def generate(n):
        sizes.append(n)
        return drawn(n)

    PRLoss(1.0).warm_start(
        torch.nn.Linear(1, 1),
        real=drawn(500),
        generate=generate,
        batch=16,
        most_steps=100,
        learning_rate=1e-2,
        progress=False,
    )
    assert max(sizes) == 16
