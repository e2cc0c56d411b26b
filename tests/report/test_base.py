"""What all displays share."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure

from tradeoff import HeldOutLogRatios, RatioProfile, compare, evaluate
from tradeoff.exceptions import InvalidInputError
from tradeoff.ratio import reliability
from tradeoff.report import (
    ComparisonDisplay,
    EvaluationDisplay,
    PlanDisplay,
    PRCurveDisplay,
    ReliabilityDisplay,
)
from tradeoff.report.base import Display
from tradeoff.sampling import plan_budget

RNG = np.random.default_rng(0)
REAL, GENERATED = RNG.normal(1, 1, (200, 1)), RNG.normal(-1, 1, (200, 1))
OPTIONS = {"metrics": "curve", "estimator": "logistic", "diagnose": False, "progress": False}


def curve():
    return RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve()


def errors():
    return HeldOutLogRatios(real=REAL[:, 0], generated=GENERATED[:, 0])


DISPLAYS = {
    "curve": lambda: PRCurveDisplay(curve()),
    "evaluation": lambda: EvaluationDisplay(evaluate(real=REAL, generated=GENERATED, **OPTIONS)),
    "comparison": lambda: ComparisonDisplay(
        compare(real=REAL, generated={"a": GENERATED, "b": REAL + 1}, **OPTIONS)
    ),
    "plan": lambda: PlanDisplay(plan_budget(errors(), budgets=[1.0, 2.0])),
    "reliability": lambda: ReliabilityDisplay(
        reliability(real=REAL[:, 0], generated=GENERATED[:, 0])
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_draw_where_and_in_the_color_they_are_told(name):
    display = DISPLAYS[name]()
    figure = Figure()
    axes = tuple(figure.subplots(1, 2))
    found = display.plot(ax=axes if name == "comparison" else axes[0], color="#123456")
    assert isinstance(display, Display)
    assert found is display
    assert (display.ax_, display.figure_) == (axes[0], figure)
    drawn = axes[0].lines + (axes[1].lines if name == "comparison" else [])
    assert any(same_color(line.get_color(), "#123456") for line in drawn)


@pytest.mark.slow
@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_show_as_png(name):
    display = DISPLAYS[name]()
    assert display._repr_png_().startswith(b"\x89PNG")
    figure = display.figure_
    assert display._repr_png_().startswith(b"\x89PNG")
    assert display.figure_ is figure


def test_a_color_for_each_curve():
    ax = PRCurveDisplay({"a": curve(), "b": curve()}).plot(color=["red", "blue"]).ax_
    found = {line.get_label(): line.get_color() for line in ax.lines}
    assert (found["a"], found["b"]) == ("red", "blue")


@pytest.mark.parametrize("color", ["reddish", ["red", "reddish"], []])
def test_colors_must_be_colors(color):
    with pytest.raises(InvalidInputError, match="`color` must"):
        PRCurveDisplay(curve()).plot(color=color)


def test_a_comparison_needs_two_axes():
    with pytest.raises(InvalidInputError, match="`ax` must hold two axes"):
        DISPLAYS["comparison"]().plot(ax=Figure().add_subplot())


@pytest.mark.slow
def test_showing_a_display_does_not_load_pyplot():
    program = (
        "import sys; from tradeoff import PRCurveDisplay, RatioProfile; "
        "curve = RatioProfile.from_masses(p=[0.5, 0.5], q=[1.0, 0.0]).curve(); "
        "assert PRCurveDisplay(curve)._repr_png_(); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
