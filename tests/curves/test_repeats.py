"""Equal rows: copies of one sample, or draws of one value."""

import numpy as np
import pytest

from tests.known.repeats import SLOPES, atoms, bytes_of, copies, table
from tradeoff import InvalidInputError, evaluate, pr_curve
from tradeoff.curves.repeats import Repeats
from tradeoff.samples import Pair

DRAWS = {
    "40 values": lambda: atoms(40, 0, 800),
    "200 values": lambda: atoms(200, 0, 800),
    "categories": lambda: table(0, 2000),
    "eight bits": lambda: bytes_of(0, 2000),
}
COPIES = {
    "10% twice": {"repeated": 0.1},
    "all twice": {"repeated": 1.0},
    "10% leaked": {"leaked": 0.1},
    "all twice, 10% leaked": {"repeated": 1.0, "leaked": 0.1},
}


@pytest.mark.parametrize("name", DRAWS)
def test_values_that_repeat_on_both_sides_are_draws(name):
    samples, _ = DRAWS[name]()
    assert Repeats.of(Pair.of(**samples)).assumed == "draws"


@pytest.mark.parametrize("name", COPIES)
def test_rows_that_repeat_on_one_side_are_copies(name):
    samples = copies(0, **COPIES[name], n=500)
    assert Repeats.of(Pair.of(**samples)).assumed == "copies"


def test_a_model_that_repeats_a_few_samples_makes_copies():
    rng = np.random.default_rng(0)
    real = rng.normal(size=(500, 3))
    found = Repeats.of(Pair.of(real=real, generated=real[rng.integers(0, 10, 500)]))
    assert (found.real, found.generated, found.assumed) == (0.0, 1.0, "copies")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["40 values", "categories"])
def test_the_curve_of_draws_is_close_to_the_truth(name):
    """As copies, whole values would be held out, and the curve would say nothing of them."""
    samples, truth = DRAWS[name]()
    found = pr_curve(**samples, progress=False)
    assert found.provenance["repeats"]["assumed"] == "draws"
    error = (found.raw.precision(SLOPES) - truth) / np.minimum(1.0, SLOPES)
    assert np.abs(error[1:4]).max() < 0.15
    held_together = pr_curve(**samples, repeats="copies", estimator="quantized", progress=False)
    assert held_together.raw.precision(1.0) > truth[2] + 0.15


def test_copies_divided_among_folds_would_betray_themselves():
    """With every row twice a kernel density knows the held-out rows; together, it does not."""
    samples = copies(0, repeated=1.0, n=400)
    kept = pr_curve(**samples, estimator="kernel", progress=False)
    divided = pr_curve(**samples, estimator="kernel", repeats="draws", progress=False)
    assert kept.raw.precision(1.0) > 0.9
    assert divided.raw.precision(1.0) < 0.6


def test_what_equal_rows_are_can_be_said():
    samples, _ = DRAWS["40 values"]()
    assert Repeats.of(Pair.of(**samples), "copies").assumed == "copies"
    with pytest.raises(InvalidInputError, match="`repeats` must be one of auto, copies, draws"):
        pr_curve(**samples, repeats="atoms")


@pytest.mark.slow
def test_an_evaluation_of_draws_has_intervals():
    """Few values are no reason for an interval of [0, 1] if they are draws."""
    samples, truth = DRAWS["40 values"]()
    options = {"metrics": ("curve",), "diagnose": False, "progress": False}
    found = evaluate(**samples, **options)
    assert found.overlap.low is None
    assert found.overlap.value <= found.overlap.high < 1.0
    assert found.provenance["curve"]["repeats"]["assumed"] == "draws"
    as_copies = evaluate(**samples, repeats="copies", **options)
    for result, words, other in (
        (found, "independent draws", "copies"),
        (as_copies, "copies of one sample", "draws"),
    ):
        text = " ".join(str(result).split())
        assert f"treated as {words}" in text
        assert f'use `repeats="{other}"` (--repeats {other})' in text
    assert (as_copies["curve.recall"].low, as_copies["curve.recall"].high) == (0.0, 1.0)
    assert found["curve.recall"].value == pytest.approx(truth[1] / 0.4, abs=0.15)


def test_equal_rows_of_both_sides_are_placed_independently():
    """Held out together, they would be missing exactly where they contradict a fit."""
    values = np.repeat(np.arange(300.0), 2)[:, None]
    options = {"estimator": "gaussians", "repeats": "draws", "progress": False}
    found = pr_curve(real=values, generated=values.copy(), **options)
    same = (found.real.folds == found.generated.folds).mean()
    assert 0.12 < same < 0.28  # 1/5 of 600, but for a chance below 1 in 100,000
