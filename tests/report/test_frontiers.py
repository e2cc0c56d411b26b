"""The picture of a frontier."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from tradeoff import InvalidInputError, PRCurveDisplay, RatioProfile
from tradeoff.core import renyi_frontier
from tradeoff.report import FrontierDisplay
from tradeoff.report.base import Display

mpl.use("agg")

WEIGHT = np.linspace(0.001, 0.999, 199)


def frontier(kind="exclusive", p=(0.5, 0.5), q=(1.0, 0.0)):
    return renyi_frontier(RatioProfile.from_masses(p, q), order=1, kind=kind, weight=WEIGHT)


def line(ax, label):
    (found,) = [one for one in ax.get_lines() if one.get_label() == label]
    return found


def test_recall_is_on_x_and_precision_on_y():
    """A model that drops a mode reaches precision 1 at recall ½, not the other way round."""
    ax = FrontierDisplay({"drops": frontier("inclusive")}).plot().ax_
    x, y = line(ax, "drops").get_data()
    assert x[0] == pytest.approx(0.5, abs=0.01)
    assert y[0] == pytest.approx(1.0, abs=0.01)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")


def test_the_frame_is_the_one_of_curves():
    ours = FrontierDisplay(frontier()).plot().ax_
    theirs = PRCurveDisplay(RatioProfile.from_masses([0.5, 0.5], [1.0, 0.0]).curve()).plot().ax_
    for one in ("get_xlim", "get_ylim", "get_aspect", "get_xlabel", "get_ylabel"):
        assert getattr(ours, one)() == getattr(theirs, one)()
    assert ours.texts[0].get_text() == theirs.texts[0].get_text()


def test_order_infinity_lies_on_the_curve():
    profile = RatioProfile.from_masses([0.2, 0.3, 0.5], [0.5, 0.25, 0.25])
    slopes = np.geomspace(0.5, 2.5, 50)
    found = renyi_frontier(profile, order=np.inf, kind="exclusive", lam=slopes)
    drawn = line(FrontierDisplay({"limit": found}).plot().ax_, "limit")
    np.testing.assert_allclose(drawn.get_xdata(), profile.curve().recall(slopes))
    np.testing.assert_allclose(drawn.get_ydata(), profile.curve().precision(slopes))


def test_draws_on_given_axes_in_given_colors_and_saves(tmp_path):
    axes = Figure().add_subplot()
    display = FrontierDisplay({"a": frontier(), "b": frontier("inclusive")})
    assert isinstance(display, Display)
    assert display.plot(axes, color=["#123456", "red"]) is display
    assert (display.ax_, display.figure_) == (axes, axes.figure)
    assert same_color(line(axes, "a").get_color(), "#123456")
    assert same_color(line(axes, "b").get_color(), "red")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    display.figure_.savefig(tmp_path / "frontiers.png")
    assert (tmp_path / "frontiers.png").stat().st_size > 5000


def test_one_frontier_needs_no_legend_and_shows_as_png():
    display = FrontierDisplay(frontier())
    assert display._repr_png_().startswith(b"\x89PNG")
    assert display.ax_.get_legend() is None


def test_a_single_point_is_visible():
    profile = RatioProfile.from_masses([0.5, 0.5], [0.9, 0.1])
    point = renyi_frontier(profile, order=2, kind="inclusive", weight=[0.5])
    assert line(FrontierDisplay({"point": point}).plot().ax_, "point").get_marker() == "o"
    assert line(FrontierDisplay({"line": frontier()}).plot().ax_, "line").get_marker() == "None"


def test_names_are_drawn_as_they_are():
    display = FrontierDisplay({"$a_{1$": frontier(), "_two": frontier()}).plot()
    display.figure_.canvas.draw()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == [r"\$a_{1\$", " _two"]


def test_only_frontiers_are_drawn():
    profile = RatioProfile.from_masses([0.5, 0.5], [0.6, 0.4])
    with pytest.raises(InvalidInputError, match="`frontiers` must be a Mapping. Got a list"):
        FrontierDisplay([frontier()])
    with pytest.raises(InvalidInputError, match="`frontiers` must be a RenyiFrontier. Got a PRC"):
        FrontierDisplay({"curve": profile.curve()})
    with pytest.raises(InvalidInputError, match="at least one frontier"):
        FrontierDisplay({})
