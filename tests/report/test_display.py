"""The picture of a curve."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from tradeoff import HeldOutLogRatios, InvalidInputError, PRCurve, PRCurveDisplay, RatioProfile

mpl.use("agg")


def curve(p=(0.5, 0.5), q=(1.0, 0.0)):
    return RatioProfile.from_masses(p, q).curve()


def banded():
    middle = curve((0.5, 0.5), (0.7, 0.3))
    return PRCurve(
        breakpoints=middle.breakpoints,
        intercepts=middle.intercepts,
        slopes=middle.slopes,
        max_precision=1.0,
        max_recall=1.0,
        lower=curve((0.5, 0.5), (0.8, 0.2)),
        upper=curve((0.5, 0.5), (0.6, 0.4)),
    )


def lines(ax, label):
    return [line for line in ax.get_lines() if line.get_label() == label]


def test_recall_is_on_x_and_precision_on_y():
    """A model that drops a mode ends at recall ½ and precision 1, not the other way round."""
    ax = PRCurveDisplay({"drops": curve()}).plot().ax_
    (line,) = lines(ax, "drops")
    x, y = line.get_data()
    assert (max(x), max(y)) == (0.5, 1.0)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")
    assert ax.get_aspect() == 1.0
    corner = np.argmin(np.hypot(x - 0.5, y - 1.0))
    assert (x[corner], y[corner]) == pytest.approx((0.5, 1.0))  # the breakpoint is drawn


@pytest.mark.parametrize(("given", "lam"), [({}, 2.0), ({"": 0.8}, 0.8)])
def test_headline_points_lie_on_the_curve_around_its_balanced_slope(given, lam):
    """That of the highest F-score, unless an estimate knows it."""
    drops = curve((0.5, 0.5), (1.0, 0.0))
    ax = PRCurveDisplay(drops, balanced=given).plot().ax_
    points = {
        line.get_marker(): line.get_xydata()[0]
        for line in ax.get_lines()
        if line.get_marker() in "^>" and line.get_xydata().size
    }
    for marker, slope in (("^", 1.5 * lam), (">", lam / 1.5)):
        expected = (drops.recall(slope), drops.precision(slope))
        np.testing.assert_allclose(points[marker], expected)


def test_headline_can_be_left_out():
    ax = PRCurveDisplay(curve()).plot(headline=False).ax_
    assert not [line for line in ax.get_lines() if line.get_marker() in ("^", ">")]
    assert ax.get_legend() is None


def test_bands_are_filled():
    ax = PRCurveDisplay({"model": banded()}).plot().ax_
    assert len(ax.patches) == 1
    assert len(PRCurveDisplay(curve()).plot().ax_.patches) == 0


def test_draws_on_given_axes_and_saves(tmp_path):
    ax = Figure().add_subplot()
    display = PRCurveDisplay({"a": curve(), "b": banded()}).plot(ax)
    assert display.ax_ is ax
    display.figure_.savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 5000


def test_a_million_breakpoints_are_thinned():
    rng = np.random.default_rng(0)
    p, q = rng.random(1_000_000), rng.random(1_000_000)
    many = RatioProfile.from_masses(p / p.sum(), q / q.sum()).curve()
    (line,) = lines(PRCurveDisplay({"many": many}).plot().ax_, "many")
    assert len(line.get_xdata()) < 10_000


def test_raw_counts_beyond_one_are_drawn_within_the_frame(tmp_path):
    rng = np.random.default_rng(0)
    real, generated = 5 * rng.normal(0.1, 1, 500), 5 * rng.normal(-0.1, 1, 500)
    raw = HeldOutLogRatios(real=real, generated=generated).curve()
    assert raw.precision(20.0) > 1
    display = PRCurveDisplay(raw).plot()
    display.figure_.savefig(tmp_path / "raw.png")
    assert display.ax_.get_ylim()[1] < 1.1


def test_only_curves_are_drawn():
    with pytest.raises(InvalidInputError, match="`curves` must be a Mapping. Got a list"):
        PRCurveDisplay([curve()])
    with pytest.raises(InvalidInputError, match="`curves` must be a PRCurve. Got a RatioProfile"):
        PRCurveDisplay({"profile": RatioProfile.from_masses([1.0], [1.0])})


def test_nothing_to_draw():
    with pytest.raises(InvalidInputError, match="at least one curve"):
        PRCurveDisplay({})


def test_names_are_drawn_as_they_are():
    """A dollar sign does not begin a formula, and an underscore does not hide a line."""
    curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[0.9, 0.1]).curve()
    display = PRCurveDisplay({"$model_{1$": curve, "_two": curve, "three\nlines": curve}).plot()
    display.figure_.canvas.draw()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[:3] == [r"\$model_{1\$", " _two", r"three\nlines"]
