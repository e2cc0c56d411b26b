"""Several views of a sample: what all show together, and which of them shows a difference."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import binom, norm

from tests.known.curves import over_seeds
from tradeoff import pr_curve
from tradeoff.curves import seen_views
from tradeoff.curves.estimate import estimate_curve
from tradeoff.samples import Pair

VIEWS = {"meaning": 6, "style": 3}
THREE = VIEWS | {"surprisal": 2}


def drawn(seed, n, *, views=VIEWS, **shifts):
    """Two sets that differ by a shift of the first column of some views."""
    rng = np.random.default_rng(seed)
    real, generated = rng.normal(size=(2, n, sum(views.values())))
    starts = np.cumsum([0, *views.values()])
    for name, start in zip(views, starts[:-1], strict=True):
        generated[:, start] += shifts.get(name, 0.0)
    return {"real": real, "generated": generated}


def estimate(seed, n, *, views=VIEWS, **shifts):
    pair = Pair.of(**drawn(seed, n, views=views, **shifts), views=views)
    return estimate_curve(pair, seed=seed, jobs=1, progress=False)


def test_a_view_alone_is_the_curve_of_its_columns_alone():
    """The same folds and the same rows, but for members that see other rows' content in order."""
    both = drawn(0, 400, style=1.5)
    found = pr_curve(**both, views=VIEWS, progress=False)
    assert list(found.views) == list(VIEWS)
    columns = slice(VIEWS["meaning"], None)
    alone = pr_curve(**{name: x[:, columns] for name, x in both.items()}, progress=False)
    assert abs(found.views["style"].curve.precision(1.0) - alone.curve.precision(1.0)) < 0.04


def test_the_view_that_sees_a_difference_is_named():
    for name, other in (("style", "meaning"), ("meaning", "style")):
        found = {view.name: view for view in seen_views(estimate(1, 500, **{name: 1.5}))}
        assert found[name].sees
        assert found[other].is_blind
        assert not found[name].is_blind
        true = 2 * norm.cdf(-0.75)
        assert true <= found[name].at_most
        assert abs(found[name].overlap - true) < 0.1  # five standard errors
        assert found[other].hidden_at_least <= 1.0 - true <= found[other].hidden + 0.15


def test_equal_sets_are_seen_by_no_view():
    for view in seen_views(estimate(2, 300)):
        assert (view.sees, view.is_blind) == (False, False)


def test_of_two_views_one_loses_what_the_other_hides():
    first, second = seen_views(estimate(1, 300, style=1.0))
    assert (first.lost, first.lost_at_least) == (second.hidden, second.hidden_at_least)
    assert (second.lost, second.lost_at_least) == (first.hidden, first.hidden_at_least)


def test_of_three_views_the_one_that_cannot_be_left_out_is_known():
    found = estimate(5, 400, views=THREE, style=1.5)
    assert list(found.views) == list(found.without) == list(THREE)
    views = {view.name: view for view in seen_views(found)}
    assert views["style"].lost_at_least > 0.2  # of 0.55
    for name in ("meaning", "surprisal"):
        assert views[name].hidden_at_least > 0.2
        assert abs(views[name].lost) < 0.06  # nothing; five standard errors


def test_an_estimator_without_members_sees_the_columns_side_by_side():
    both = drawn(0, 300, style=1.5)
    found = pr_curve(**both, views=VIEWS, estimator="logistic", progress=False)
    assert seen_views(found) == ()
    assert found.headline == pr_curve(**both, estimator="logistic", progress=False).headline


def test_one_view_is_no_view():
    both = drawn(0, 200, style=1.0)
    one = pr_curve(**both, views={"all": 9}, progress=False)
    assert one.headline == pr_curve(**both, progress=False).headline
    assert one.views == {}


def test_views_do_not_depend_on_the_order_of_rows():
    both = drawn(3, 200, style=1.0)
    order = np.random.default_rng(0).permutation(200)
    moved = {name: x[order] for name, x in both.items()}
    found, other = (pr_curve(**x, views=VIEWS, progress=False) for x in (both, moved))
    np.testing.assert_array_equal(found.real.log_ratios[order], other.real.log_ratios)
    np.testing.assert_array_equal(
        found.views["style"].real.log_ratios[order], other.views["style"].real.log_ratios
    )


@pytest.mark.parametrize("folds", [1, 5])
def test_samples_of_a_split_have_log_ratios_in_every_view(folds):
    found = pr_curve(**drawn(4, 200), views=VIEWS, folds=folds, progress=False)
    for one in (found, *found.views.values()):
        assert np.isfinite(one.real.log_ratios[one.real.counted]).all()
        if folds == 1:
            assert np.isfinite(one.real.training_log_ratios[~one.real.counted]).all()


def outcome(views, seed):
    found = estimate(10_000 + seed, 150, views=views)
    return found.losses().difference is not None


@pytest.mark.slow
@pytest.mark.parametrize("views", [VIEWS, THREE], ids=len)
def test_false_alarms_of_equal_sets_are_rare(views):
    runs = 25
    alarms = over_seeds(partial(outcome, views), runs)
    assert sum(alarms) <= binom.ppf(0.999, runs, 0.05)


SHIFTS = {"in one view": {"style": 1.5}, "in both": {"style": 1.0, "meaning": 1.0}}


def overlaps(shifts, seed):
    found = estimate(30_000 + seed, 300, **shifts)
    alone = [view.headline["curve.overlap"] for view in found.views.values()]
    return found.headline["curve.overlap"], min(alone)


@pytest.mark.slow
@pytest.mark.parametrize("shifts", SHIFTS.values(), ids=SHIFTS)
def test_all_views_together_are_not_worse_than_the_best_one(shifts):
    """Means over five seeds; the standard error of their difference is about 0.005."""
    together, best = np.mean(over_seeds(partial(overlaps, shifts), 5), axis=0)
    distance = np.sqrt(sum(shift**2 for shift in shifts.values()))
    assert together <= best + 0.03
    assert together >= 2 * norm.cdf(-distance / 2) - 0.06  # four standard errors
    if len(shifts) > 1:
        assert together <= best - 0.05  # in truth 0.14


def named(seed):
    found = {view.name: view for view in seen_views(estimate(20_000 + seed, 300, style=1.0))}
    return found["style"].sees, found["meaning"].sees or found["style"].is_blind


@pytest.mark.slow
def test_the_right_view_is_named_in_nearly_all_runs():
    runs = 20
    right, wrong = np.array(over_seeds(named, runs)).T
    assert runs - right.sum() <= binom.ppf(0.999, runs, 0.1)
    assert wrong.sum() <= binom.ppf(0.999, runs, 0.05)
