"""Names next to the points of a picture, where they cover as little as possible."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

SIZE = 8.0
"""Of the text, in points."""


class Labeled(NamedTuple):
    """A point with a name.

    Args:
        text: The name.
        at: The point, in data coordinates.
        color: Of the text.
    """

    text: str
    at: np.ndarray
    color: str


def place_labels(ax: Axes, points: Sequence[Labeled], lines: Sequence[np.ndarray] = ()) -> None:
    """Write the names of points one by one, each where it covers least; call it last.

    Args:
        ax: With its final limits.
        points: In order of importance; the first ones choose first.
        lines: That names should not cover, each of shape (n, 2), in data coordinates.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # the layout decides how far points are apart
    scale = 72 / figure.dpi
    markers = scale * ax.transData.transform(np.array([point.at for point in points]))
    drawn = [_dense(scale * ax.transData.transform(line)) for line in lines]
    crossed = np.concatenate([markers, *drawn])
    low, high = scale * ax.transAxes.transform([(0, 0), (1, 1)])
    taken: list[np.ndarray] = []
    for point, marker in zip(points, markers, strict=True):
        shifts = _shifts(point.text)
        boxes = marker + shifts[:, None] + _half(point.text) * np.array([[-1], [1]])
        own = np.linalg.norm(shifts, axis=1)
        nearest = np.linalg.norm(marker + shifts - markers[:, None], axis=2).min(0)
        cost = own + 20 * (nearest < own - 1e-9)  # it would be taken for the name of another point
        cost += 10 * _inside(boxes, markers, margin=4) + 3 * _inside(boxes, crossed, margin=1)
        cost += 1000 * (np.any(boxes[:, 0] < low, 1) | np.any(boxes[:, 1] > high, 1))
        cost += 1000 * sum((_overlap(boxes, box) for box in taken), np.zeros(len(boxes)))
        best = int(cost.argmin())
        taken.append(boxes[best])
        ax.annotate(
            point.text,
            point.at,
            xytext=tuple(shifts[best]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=SIZE,
            color=point.color,
            arrowprops={"arrowstyle": "-", "color": point.color, "linewidth": 0.5, "shrinkB": 4},
        )


def _half(text: str) -> np.ndarray:
    """Half of the width and height of a text, in points."""
    return SIZE * np.array([0.3 * len(text), 0.6])


def _shifts(text: str) -> np.ndarray:
    """Centers of a text around its point, closest first, shape (n, 2)."""
    angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    around = np.stack([np.cos(angles), np.sin(angles)], 1)
    return np.concatenate([around * (_half(text) + gap) for gap in (4, 10, 18, 28, 40)])


def _dense(line: np.ndarray) -> np.ndarray:
    """A line as points that are about 4 points apart."""
    steps = np.arange(len(line))
    ends = np.abs(np.diff(line, axis=0)).sum(1)
    at = np.linspace(0, len(line) - 1, 1 + int(ends.sum() / 4))
    return np.stack([np.interp(at, steps, column) for column in line.T], 1)


def _inside(boxes: np.ndarray, points: np.ndarray, *, margin: float) -> np.ndarray:
    """How many points each box contains."""
    low, high = boxes[:, None, 0] - margin, boxes[:, None, 1] + margin
    return np.all((points >= low) & (points <= high), 2).sum(1).astype(float)


def _overlap(boxes: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Whether each box overlaps with another one."""
    return np.all((boxes[:, 0] < other[1]) & (boxes[:, 1] > other[0]), 1).astype(float)
