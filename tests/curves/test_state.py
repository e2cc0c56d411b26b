"""States add up to the same bytes in any order, count nothing twice, and refuse other plans."""

from dataclasses import replace

import numpy as np
import pytest

from tests.known.distributions import gaussians
from tradeoff.counting import CountingPlan, CountingState
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.moments import frechet_distance
from tradeoff.metrics.moments.frechet import Moments
from tradeoff.samples.keys import quick_keys

COLUMNS = 6


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(3, 1, (9000, COLUMNS)), rng.normal(3.3, 1.2, (8000, COLUMNS))
    return {"real": real.astype(np.float32), "generated": generated.astype(np.float32)}


@pytest.fixture(scope="module")
def plan(samples):
    return CountingPlan.of(**samples, estimator="gaussians", moments=True)


def state_of(plan, parts, batch=10_000):
    state = CountingState(plan)
    for side, rows, first in parts:
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            ids = [f"{side}-{first + start + i}" for i in range(len(some))]
            state.update(side, some, ids=ids, labels=[f"class {i[-1]}" for i in ids])
    return state


def split(samples, count):
    return [
        (side, rows[first : first + len(rows) // count + 1], first)
        for side, rows in samples.items()
        for first in range(0, len(rows), len(rows) // count + 1)
    ]


@pytest.fixture(scope="module")
def whole(plan, samples):
    return state_of(plan, split(samples, 1))


@pytest.mark.slow
@pytest.mark.parametrize("batch", [37, 512, 3000])
def test_bytes_do_not_depend_on_batches_parts_or_order(plan, samples, whole, batch):
    for count, seed in ((1, 0), (5, 1), (7, 2)):
        parts = split(samples, count)
        order = np.random.default_rng(seed).permutation(len(parts))
        states = [state_of(plan, [parts[i]], batch) for i in order]
        merged = CountingState(plan)
        for state in states:
            merged.merge(CountingState.from_bytes(state.to_bytes(), plan))
        assert merged.to_bytes() == whole.to_bytes()


def test_merging_is_associative(plan, samples, whole):
    a, b, c = (lambda i=i: state_of(plan, split(samples, 2)[i : i + 1 + i // 2]) for i in range(3))
    left = a().merge(b()).merge(c())
    right = a().merge(b().merge(c()))
    assert left.to_bytes() == right.to_bytes() == whole.to_bytes()


def test_samples_that_fitted_the_rule_are_not_counted(plan, samples, whole):
    for number, (side, rows) in enumerate(samples.items()):
        fitted = quick_keys(rows) < np.uint64(plan.fitted_below[number])
        assert 0.4 < fitted.mean() < 0.6  # half of a small side
        state = whole.sides[number]
        assert (state.rows, state.fitted) == (len(rows), fitted.sum())
        assert state.counts.sum() == len(rows) - fitted.sum()
        names = {f"{side}-{i}" for i in np.flatnonzero(fitted)}
        assert not names & set(state.sampled.ids.tolist())


def test_kept_samples_come_with_what_belongs_to_them(plan, samples, whole):
    kept = whole.sides.generated.sampled
    assert 3000 < kept.keys.size <= 5000
    for i in range(0, kept.keys.size, 97):
        row = samples["generated"][int(kept.ids[i].partition("-")[2])]
        np.testing.assert_array_equal(row, kept.features[i])
        assert kept.log_ratios[i] == plan.rule.log_ratio(row[None])[0]
        assert kept.labels[i] == f"class {kept.ids[i][-1]}"


def test_moments_are_those_of_all_samples(samples, whole):
    found = whole.moments()
    for moments, rows in zip(found, samples.values(), strict=True):
        wanted = Moments.of(rows)
        assert moments.count == len(rows)
        np.testing.assert_allclose(moments.mean, wanted.mean, atol=1e-6)
        np.testing.assert_allclose(moments.covariance, wanted.covariance, atol=1e-5)
    distance = frechet_distance(real=found.real, generated=found.generated)
    assert distance == pytest.approx(frechet_distance(**samples), rel=1e-4)


def test_a_far_value_does_not_overflow(plan):
    state = CountingState(plan)
    state.update("real", np.full((2000, COLUMNS), 1e30, np.float32))
    assert (np.diagonal(state.sides.real.sums.products[1]) > 0).all()


def test_copies_widen_intervals():
    pair = gaussians(3, 1)
    plain = pair.draw(3000, 1)
    widths = []
    for times in (1, 4):
        samples = {side: np.repeat(x, times, axis=0) for side, x in plain.items()}
        plan = CountingPlan.of(**samples, estimator="logistic")
        state = CountingState(plan)
        for side, x in samples.items():
            state.update(side, x)
        result = state.result()
        assert result.is_grouped == (times > 1)
        widths.append(np.diff(result.interval([0.5, 1.0, 2.0]).precision).ravel())
    assert ((widths[1] / widths[0] > 0.8) & (widths[1] / widths[0] < 1.4)).all()


def test_groups_stay_together():
    pair = gaussians(3, 1)
    samples = pair.draw(4000, 1)
    groups = np.arange(4000) // 4
    plan = CountingPlan.of(**samples, estimator="logistic")
    state = CountingState(plan)
    for side, x in samples.items():
        state.update(side, x, groups=[f"{side} {group}" for group in groups])
    assert state.result().is_grouped
    assert all(side.fitted % 4 == 0 for side in state.sides)
    with pytest.raises(InvalidInputError, match="`real_groups` must name a group per sample"):
        state.update("real", samples["real"], groups=[1, 2])


def test_another_plan_is_refused(plan, samples, whole):
    for other in (
        replace(plan, seed=1),
        replace(plan, about={"encoder": "another"}),
        replace(plan, grid=None),
        replace(plan, fitted_below=plan.fitted_below._replace(real=1)),
        CountingPlan.of(**samples, estimator="logistic", moments=True),
    ):
        with pytest.raises(InvalidInputError, match="States must have the same plan"):
            CountingState(plan).merge(CountingState(other))
        with pytest.raises(InvalidInputError, match="States must have the same plan"):
            CountingState.from_bytes(whole.to_bytes(), other)


def test_a_saved_plan_is_the_same_plan(plan, whole, tmp_path):
    plan.save(tmp_path)
    again = CountingPlan.load(tmp_path)
    assert again.digest == plan.digest
    assert CountingState.from_bytes(whole.to_bytes(), again).to_bytes() == whole.to_bytes()
    text = (tmp_path / "plan.json").read_text()
    (tmp_path / "plan.json").write_text(text.replace('"seed": 0', '"seed": 3'))
    with pytest.raises(InvalidInputError, match="damaged"):
        CountingPlan.load(tmp_path)


def test_mistakes_get_a_sentence(plan, whole):
    with pytest.raises(InvalidInputError, match="The bytes of a state are damaged"):
        CountingState.from_bytes(whole.to_bytes()[:-100], plan)
    with pytest.raises(InvalidInputError, match="No samples of `real` were counted"):
        CountingState(plan).result()
    with pytest.raises(InvalidInputError, match="`side` must be one of real, generated"):
        CountingState(plan).update("fake", np.zeros((3, COLUMNS)))
    with pytest.raises(InvalidInputError, match="`real` must be finite"):
        CountingState(plan).update("real", np.full((3, COLUMNS), np.nan))
    with pytest.raises(InvalidInputError, match="Got 6 in `rule` and 2 in `real`"):
        CountingState(plan).update("real", np.zeros((3, 2)))
