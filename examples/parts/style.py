"""Pictures that read on white and on black pages: no background, gray text, labels on the lines."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.axes import Axes

INK = "#767676"
"""A gray with a contrast of more than 4 on white and on the dark pages of the site."""

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Blue, orange, green and pink of Okabe and Ito, told apart by color-blind readers."""


@contextmanager
def neutral() -> Iterator[None]:
    """Draw and save figures with text and axes in `INK`, without a background."""
    parts = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    with mpl.rc_context(dict.fromkeys(parts, INK) | {"savefig.transparent": True}):
        yield


def name(ax: Axes, text: str, at: tuple[float, float], color: str, side: str = "left") -> None:
    """Write the name of a line next to it; `side` of the point on which the text begins."""
    align = {"left": "right", "right": "left", "middle": "center"}[side]
    ax.annotate(text, at, color=color, ha=align, va="center", fontsize="medium")
