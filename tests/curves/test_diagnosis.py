"""Baseline and controls: what is withheld, what is remembered, and what is said of it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from tests.known.distributions import ring_mixture
from tradeoff import InvalidInputError, diagnose
from tradeoff.curves import diagnosis
from tradeoff.curves.diagnosis import Control, Diagnosis, diagnose_pair
from tradeoff.inference import policy
from tradeoff.inference.losses import Balance, Loss, Losses
from tradeoff.samples import Pair, Side

OPTIONS = {"estimator": "gaussians", "progress": False}
RNG = np.random.default_rng(0)
BLOBS = 30.0 * RNG.normal(size=(20, 4))
AT_ONE = Balance(lam=1.0, low=1.0, high=1.0)
NONE = Losses(balance=AT_ONE)
LOST = Losses(balance=AT_ONE, difference=0.1, recall=(Loss(factor=2.0, at_least=0.1),))


def rotated_ring(seed, n):
    turn = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    return ring_mixture(8, 0.2)(np.random.default_rng(seed), n) @ turn


def labeled(classes, n=600, shares=None):
    """Real samples in twenty blobs, with classes that have nothing to do with these."""
    rng = np.random.default_rng(1)
    x = BLOBS[rng.integers(0, 20, n)] + rng.normal(size=(n, 4))
    equal = rng.permutation(np.arange(n) % classes)
    drawn = equal if shares is None else rng.choice(classes, n, p=shares)
    return Side(name="real", features=x, labels=tuple(f"class {one}" for one in drawn))


def against(real, n=400):
    return Pair(real, Side.of("generated", np.random.default_rng(2).normal(size=(n, 4))))


class Recorder:
    """In the place of `estimate_curve`: keeps the pairs, and establishes losses or none."""

    def __init__(self, losses):
        self.pairs, self.losses = [], losses

    def __call__(self, pair, **_):
        self.pairs.append(pair)
        samples = {"samples": pair.sizes}
        return SimpleNamespace(losses=lambda level: self.losses, provenance=samples)


@pytest.fixture(params=["reliable", "lucky", "missed"])
def recorder(request, monkeypatch):
    """Losses that are found, four times in five or by luck, or that are not."""
    found = Recorder(NONE if request.param == "missed" else LOST)
    found.is_reliable = request.param == "reliable"
    monkeypatch.setattr(diagnosis, "estimate_curve", found)
    monkeypatch.setattr(Control, "strength", 2.0 if request.param == "reliable" else 1.1)
    return found


@pytest.mark.parametrize("classes", [8, 10, 60])
def test_small_classes_are_withheld_whole(recorder, classes):
    real = labeled(classes)
    found = diagnose_pair(against(real), progress=False)
    baseline, *controls = recorder.pairs
    assert [control.groups for control in found.controls] == ["classes", "classes"]
    everything = {*baseline.real.keys, *baseline.generated.keys}
    assert everything == {*real.keys}
    assert len(everything) == len(baseline.real) + len(baseline.generated)
    before = np.array(baseline.generated.labels)
    for pair, control in zip(controls, found.controls, strict=True):
        np.testing.assert_array_equal(pair.real.keys, baseline.real.keys)
        kept = set(pair.generated.labels)
        missing = set(real.labels) - kept
        assert missing
        assert len(pair.generated) == np.isin(before, list(kept)).sum()
        assert control.share == pytest.approx(np.isin(real.labels, list(missing)).mean())


@pytest.mark.parametrize(
    "make",
    [
        lambda: labeled(7),
        lambda: labeled(10, shares=[0.28, *[0.08] * 9]),
        lambda: Side.of("real", labeled(10).x),
        lambda: Side(name="real", features=labeled(9).x, labels=(None, *labeled(9).labels[1:])),
    ],
    ids=["seven classes", "one large class", "no labels", "one label missing"],
)
def test_clusters_are_withheld_where_classes_do_not_do(recorder, make):
    """The nearest neighbor of a withheld sample is withheld too, not one in five of them."""
    found = diagnose_pair(against(make()), progress=False)
    assert {control.groups for control in found.controls} == {"clusters"}
    baseline, first, _ = recorder.pairs
    x = baseline.generated.x
    is_missing = ~np.isin(baseline.generated.keys, first.generated.keys)
    distance = ((x[:, None] - x[None]) ** 2).sum(-1)
    np.fill_diagonal(distance, np.inf)
    assert is_missing[np.argmin(distance[is_missing], axis=1)].mean() > 0.8


def test_the_second_control_follows_the_first(recorder):
    found = diagnose_pair(against(labeled(10)), progress=False)
    assert len(recorder.pairs) == 3
    first, second = found.controls
    assert first.share == pytest.approx(0.2, abs=0.06)
    assert second.share == pytest.approx(0.1 if recorder.is_reliable else 0.4, abs=0.06)
    assert (first.is_established, second.is_established) == (bool(recorder.losses.recall),) * 2
    assert (first.is_reliable, second.is_reliable) == (recorder.is_reliable,) * 2


def test_a_diagnosis_is_remembered_for_models_of_one_size(recorder):
    real = labeled(10)
    found = diagnose_pair(against(real, 200), progress=False)
    assert len(recorder.pairs[0].generated) == 200
    assert diagnose_pair(against(real, 200), progress=False) is found
    assert len(recorder.pairs) == 3
    other = diagnose_pair(against(real, 250), progress=False)
    assert len(recorder.pairs) == 6
    assert other is not found
    assert len(recorder.pairs[3].generated) == 250
    # No more than half of the real samples take the role of the model.
    large = diagnose_pair(against(real, 400), progress=False)
    assert len(recorder.pairs[-1].real) == len(real) // 2
    assert diagnose_pair(against(real, 5000), progress=False) is large
    for option in ({"seed": 1}, {"folds": 4}, {"estimator": "gaussians"}, {"repeats": "draws"}):
        assert diagnose_pair(against(real, 200), progress=False, **option) is not found, option


def test_where_there_are_too_few_groups_nothing_is_planted(recorder):
    found = diagnose_pair(against(Side.of("real", np.ones((200, 4)))), progress=False)
    assert found.controls == ()
    assert found.sentence == "No loss was planted: the real samples form too few groups."
    assert found.smallest_reliable is found.decisive_count is None


@pytest.mark.slow
def test_a_weak_estimator_is_known_by_its_controls():
    """Two Gaussians cannot tell that modes of a ring are missing, and trees can."""
    ring = {"real": rotated_ring(0, 2000), "generated": rotated_ring(1, 2000)}
    weak = diagnose(**ring, estimator="gaussians", progress=False)
    assert weak.smallest_reliable is None
    assert weak.sentence.endswith("none would be found four times in five.")
    able = diagnose(**ring, estimator="trees", progress=False)
    assert able.controls[0].seen > weak.controls[0].seen + 0.05
    assert able.smallest_reliable == able.controls[-1].share == pytest.approx(0.1, abs=0.06)
    assert able.sentence.endswith(f"four times in five is {able.smallest_reliable:.0%}.")
    assert able.decisive_count < weak.decisive_count


@pytest.mark.slow
def test_the_order_of_rows_does_not_matter():
    real = labeled(10)
    turned = Side(name="real", features=real.x[::-1].copy(), labels=real.labels[::-1])
    lam = np.array([0.1, 1.0, 10.0])
    for bare in (True, False):
        sides = [Side.of("real", one.x) if bare else one for one in (real, turned)]
        plain, other = (diagnose_pair(against(side), **OPTIONS) for side in sides)
        assert plain.controls[0].groups == ("clusters" if bare else "classes")
        assert [c.share for c in plain.controls] == [c.share for c in other.controls]
        for one, two in (
            (plain.baseline, other.baseline),
            *(
                (a.estimate, b.estimate)
                for a, b in zip(plain.controls, other.controls, strict=True)
            ),
        ):
            np.testing.assert_array_equal(one.raw.precision(lam), two.raw.precision(lam))


@pytest.mark.parametrize("side", ["real", "generated"])
def test_too_few_samples_get_a_sentence(side):
    ring = {"real": rotated_ring(0, 200), "generated": rotated_ring(1, 200)}
    ring[side] = ring[side][:159]
    with pytest.raises(
        InvalidInputError, match=f"`{side}` must hold at least 160 samples.*Got 159"
    ):
        diagnose(**ring)


def planted(*outcomes):
    """Controls of these shares, established or not."""
    return Diagnosis(
        baseline=None,
        controls=tuple(
            Control(
                share=share,
                groups="classes",
                estimate=SimpleNamespace(
                    losses=lambda level, found=found: LOST if found else NONE,
                    provenance={"samples": {"real": 1500, "generated": 750}},
                ),
            )
            for share, found in outcomes
        ),
    )


@pytest.mark.parametrize(
    ("outcomes", "smallest"),
    [
        ([(0.2, True), (0.1, True)], 0.1),
        ([(0.2, True), (0.1, False)], 0.2),
        ([(0.2, False), (0.4, True)], 0.4),
        ([(0.2, False), (0.4, False)], None),
        ([(0.2, False), (0.1, True)], None),  # by chance, since a larger one was missed
        ([], None),
    ],
)
def test_the_smallest_reliable_has_no_larger_one_missed(outcomes, smallest, monkeypatch):
    monkeypatch.setattr(Control, "strength", 2.0)
    assert planted(*outcomes).smallest_reliable == smallest
    # What was found by luck is not stated.
    monkeypatch.setattr(Control, "strength", 1.4)
    assert planted(*outcomes).smallest_reliable is None


@pytest.mark.parametrize(
    ("is_found", "strength", "is_reliable"),
    [(True, 1.44, True), (True, 1.42, False), (False, 1.44, False), (False, 0.5, False)],
)
def test_a_control_is_reliable_where_it_is_found_with_room_for_luck(
    is_found, strength, is_reliable, monkeypatch
):
    """Seen 1.43 times as large as needed, a loss is found four times in five."""
    monkeypatch.setattr(Control, "strength", strength)
    (control,) = planted((0.2, is_found)).controls
    assert control.is_established == is_found
    assert control.is_reliable == is_reliable
    needed = norm.ppf(0.975)
    assert norm.cdf(policy.CONTROL_POWER * needed - needed) == pytest.approx(0.8, abs=0.005)


def test_only_reliable_controls_are_called_found_four_times_in_five(monkeypatch):
    strengths = {0.2: 1.2, 0.4: 3.0}
    monkeypatch.setattr(Control, "strength", property(lambda one: strengths[one.share]))
    monkeypatch.setattr(Control, "seen", 0.15)
    found = planted((0.2, True), (0.4, True))
    assert [one.is_established for one in found.controls] == [True, True]
    assert found.smallest_reliable == 0.4
    assert found.sentence.endswith("found four times in five is 40%.")
    assert [line.split()[-1] for line in str(found).splitlines()[-2:]] == ["no", "yes"]


@pytest.mark.slow
def test_controls_are_judged_at_the_level_that_is_asked_for():
    real = np.random.default_rng(0).normal(0, 1, (2000, 2))
    sides = {"real": real, "generated": real, "estimator": "trees", "progress": False}
    usual, strict = (diagnose(**sides, level=level) for level in (0.95, 1 - 1e-9))
    assert usual.controls[0].is_established
    assert not strict.controls[0].is_established


def test_the_decisive_count_follows_the_strengths(monkeypatch):
    """Sides of 1,000, four times as strong with twice as many: 1.43 is reached at 239."""
    monkeypatch.setattr(Control, "strength", property(lambda control: 25.0 * control.share**2))
    assert planted((0.2, False), (0.4, True)).decisive_count == pytest.approx(200 * 1.43**0.5)
    assert planted((0.2, False)).decisive_count == pytest.approx(200 * 1.43**0.5)
    assert planted().decisive_count is None


def test_a_control_that_is_not_seen_counts_as_a_weak_one(monkeypatch):
    """A strength of nothing is noise, and would advise any number of samples."""
    monkeypatch.setattr(Control, "strength", property(lambda control: -0.1))
    assert planted((0.2, False)).decisive_count == pytest.approx(200 * (1.43 / 0.35) ** 0.5)
