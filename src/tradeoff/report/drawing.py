"""Curves and points as SVG: lines, bands and labels that a page writes without any script."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._text import printable, shortened
from tradeoff.core.counts import BAND_SLOPES
from tradeoff.inference import policy
from tradeoff.report.base import COLORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tradeoff.comparison import Sweep
    from tradeoff.core.curve import PRCurve
    from tradeoff.evaluation import Evaluation
    from tradeoff.sequential import Decision

    WithLimits = tuple[float, float, float]

__all__ = [
    "LEFT",
    "SIZE",
    "TOP",
    "Plot",
    "curve_data",
    "curve_plot",
    "looks_plot",
    "model_plot",
    "path_plot",
]

SIZE, LEFT, TOP = 400.0, 52.0, 14.0
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
_NARROWEST = 0.2
_MARGIN = 0.05
_LONGEST_NAME = 24
_LINE, _WIDE = 16.0, 60.0  # of labels, which must not cover each other


@dataclass(frozen=True)
class Plot:
    """What a template needs to draw a square of precision over recall.

    Args:
        ticks: Positions and texts of the ticks of both axes.
        series: Lines, bands and markers, each with its color and label.
        low: Smallest value of both axes.
        path: Corners of a line through the markers; empty without one.
    """

    ticks: list[dict[str, Any]]
    series: list[dict[str, Any]]
    low: float = 0.0
    path: str = ""


def curve_plot(curves: Mapping[str, PRCurve], balanced: Mapping[str, float]) -> Plot:
    """Curves with their bands and, where the balanced slope is known, the points of the headline.

    Args:
        curves: Curves by name.
        balanced: Balanced slopes by name.
    """
    series = []
    for number, (name, curve) in enumerate(curves.items()):
        band = ""
        if curve.lower is not None and curve.upper is not None:
            band = f"{_points(curve.lower)} {_points(curve.upper, backwards=True)}"
        series.append(
            {
                "name": shortened(name, _LONGEST_NAME),
                "color": COLORS[number % len(COLORS)],
                "line": _points(curve),
                "band": band,
                "points": {
                    kind: _place(curve.recall(factor * slope), curve.precision(factor * slope))
                    for kind, factor in policy.COMMON_SLOPES.items()
                    if (slope := balanced.get(name)) is not None
                },
            }
        )
    return Plot(_ticks(0.0), series)


def model_plot(evaluations: Mapping[str, Evaluation]) -> Plot:
    """Models as points of precision over recall, with their upper limits."""
    return _point_plot(
        {
            name: [
                (s.value, s.value, s.high or s.value)
                for s in (e["curve.recall"], e["curve.precision"])
            ]
            for name, e in evaluations.items()
            if {"curve.recall", "curve.precision"} <= e.scores.keys()
        }
    )


def path_plot(sweep: Sweep) -> Plot:
    """Values of a knob as points on a line in their order; hollow if another value dominates."""
    plot = _point_plot(
        {
            point.value: [
                (point.recall, point.recall, point.recall_limits[1]),
                (point.precision, point.precision, point.precision_limits[1]),
            ]
            for point in sweep.points
        }
    )
    for point, one in zip(sweep.points, plot.series, strict=True):
        one |= {
            "color": COLORS[0],
            "is_hollow": not point.is_pareto,
            "is_best": point.value == sweep.best,
        }
    return replace(plot, path=_line((one["x"], one["y"]) for one in plot.series))


def looks_plot(decision: Decision, bar: float, name: str) -> Plot:
    """Values and limits against the number of samples, and the bar they are compared with."""
    looks = decision.looks
    last = looks[-1].samples
    values = [bar, *(end for look in looks for end in (look.low, look.high))]
    low, high = min(values) - _MARGIN, max(values) + _MARGIN

    def at(samples: float, value: float) -> tuple[float, float]:
        return _place(samples / last, (value - low) / (high - low))

    upper = [at(look.samples, look.high) for look in looks]
    lower = [at(look.samples, look.low) for look in looks]
    ticks = [
        {
            "x": at(step * last, 0.0)[0],
            "y": at(0.0, value)[1],
            "across": f"{step * last:,.0f}",
            "text": f"{value:.2f}",
        }
        for step, value in zip(_STEPS, np.linspace(low, high, len(_STEPS)), strict=True)
    ]
    series = {
        "name": name,
        "color": COLORS[0],
        "line": _line(at(look.samples, look.value) for look in looks),
        "band": _line([*upper, *lower[::-1]]),
        "bar": at(0.0, bar)[1],
        "end": at(last, looks[-1].value),
    }
    return Plot(ticks, [series])


def _point_plot(found: Mapping[str, list[WithLimits]]) -> Plot:
    """Points of recall and precision, each with its limits."""
    lowest = min((low for both in found.values() for _, low, _ in both), default=0.0)
    low = float(np.clip(np.floor((lowest - _MARGIN) * 10) / 10, 0.0, 1.0 - _NARROWEST))
    series: list[dict[str, Any]] = []
    for number, (name, (recall, precision)) in enumerate(found.items()):
        x, y = _place(recall[0], precision[0], low)
        label = y + _LINE
        while any(abs(x - s["x"]) < _WIDE and abs(label - s["label"]) < _LINE for s in series):
            label += _LINE
        series.append(
            {
                "name": shortened(printable(name), _LONGEST_NAME),
                "color": COLORS[number % len(COLORS)],
                "is_hollow": False,
                "is_best": False,
                "x": x,
                "y": y,
                "label": label,
                "across": (_place(recall[1], 0, low)[0], _place(recall[2], 0, low)[0]),
                "along": (_place(0, precision[1], low)[1], _place(0, precision[2], low)[1]),
            }
        )
    return Plot(_ticks(low), series, low)


def curve_data(curve: PRCurve) -> dict[str, list[float]]:
    """Numbers by which a script moves along the curve: slopes, values and limits."""
    lines = {"": curve, "Low": curve.lower or curve, "High": curve.upper or curve}
    data = {"lam": [_short(lam) for lam in BAND_SLOPES]}
    for kind in ("precision", "recall"):
        for end, line in lines.items():
            values = np.minimum(getattr(line, kind)(BAND_SLOPES), 1.0)
            data[f"{kind}{end}"] = [round(float(value), 4) for value in values]
    return data


def _points(curve: PRCurve, *, backwards: bool = False) -> str:
    slopes = BAND_SLOPES[::-1] if backwards else BAND_SLOPES
    return _line(map(_place, curve.recall(slopes), curve.precision(slopes)))


def _line(places: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _place(recall: float, precision: float, low: float = 0.0) -> tuple[float, float]:
    x, y = ((min(max(float(v), low), 1.0) - low) / (1.0 - low) for v in (recall, precision))
    return round(LEFT + SIZE * x, 1), round(TOP + SIZE * (1.0 - y), 1)


def _ticks(low: float) -> list[dict[str, Any]]:
    values = [low + (1.0 - low) * step for step in _STEPS]
    places = [_place(value, value, low) for value in values]
    return [{"x": x, "y": y, "text": f"{v:.2g}"} for (x, y), v in zip(places, values, strict=True)]


def _short(lam: float) -> float:
    return float(f"{lam:.3g}")
