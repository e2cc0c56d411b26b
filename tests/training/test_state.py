"""Checkpoints: a training that is interrupted continues as if it had not been."""

import pytest

torch = pytest.importorskip("torch")

from tradeoff import InvalidInputError  # noqa: E402
from tradeoff.training import BudgetedLoss, Monitor, NonSaturatingLoss, PRLoss  # noqa: E402

pytestmark = pytest.mark.torch


def batch(step):
    return torch.randn(64, generator=torch.Generator().manual_seed(step))


def reloaded(thing, fresh, path):
    """A fresh object with the state of another, by way of a file that runs no code."""
    torch.save(thing.state_dict(), path)
    fresh.load_state_dict(torch.load(path, weights_only=True))
    return fresh


@pytest.mark.parametrize("interrupted", [0, 1, 3, 4, 5])
def test_a_budgeted_loss_continues_identically(interrupted, tmp_path):
    whole = BudgetedLoss(2.0, refresh=3)
    expected = [whole.generator_loss(batch(step)).item() for step in range(12)]
    loss = BudgetedLoss(2.0, refresh=3)
    found = [loss.generator_loss(batch(step)).item() for step in range(interrupted)]
    loss = reloaded(loss, BudgetedLoss(2.0, refresh=3), tmp_path / "loss.pt")
    found += [loss.generator_loss(batch(step)).item() for step in range(interrupted, 12)]
    assert found == expected
    assert loss.log_constant == whole.log_constant


def test_the_state_of_a_budgeted_loss_matters():
    # Without it, the constant would be computed again from the first batch after the interruption.
    whole, fresh = BudgetedLoss(2.0, refresh=3), BudgetedLoss(2.0, refresh=3)
    for step in range(5):
        whole.generator_loss(batch(step))
    assert whole.generator_loss(batch(5)) != fresh.generator_loss(batch(5))


def test_a_monitor_continues_identically(tmp_path):
    whole = Monitor(PRLoss(2.0), window=4)
    for step in range(9):
        whole.update(batch(step), batch(100 + step))
    part = Monitor(PRLoss(2.0), window=4)
    for step in range(6):
        part.update(batch(step), batch(100 + step))
    part = reloaded(part, Monitor(PRLoss(2.0), window=4), tmp_path / "monitor.pt")
    for step in range(6, 9):
        part.update(batch(step), batch(100 + step))
    assert part.compute() == whole.compute()


def test_a_saved_state_does_not_change_with_the_training():
    loss = BudgetedLoss(2.0, refresh=3)
    loss.generator_loss(batch(0))
    loss.generator_loss(batch(1))
    saved = loss.state_dict()
    for step in range(2, 6):
        loss.generator_loss(batch(step))
    assert len(saved["recent"]) == 1
    assert saved["log_constant"] != loss.log_constant


def test_losses_without_a_state_have_an_empty_one():
    loss = NonSaturatingLoss()
    assert loss.state_dict() == {}
    loss.load_state_dict({})


@pytest.mark.parametrize("thing", [BudgetedLoss(2.0), NonSaturatingLoss(), Monitor(PRLoss(1.0))])
def test_the_state_of_something_else_is_refused(thing):
    with pytest.raises(InvalidInputError, match=r"`state` must be what `state_dict` returned"):
        thing.load_state_dict({"weights": 1})
