"""What all displays share: axes, colors, and how they show in a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from tradeoff._files import check_local, replacing
from tradeoff._validation import check_type
from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tradeoff.evaluation import Evaluation

__all__ = ["COLORS", "Display", "axes_or_new", "balanced_of", "colors_of", "legend_below", "named"]

# Okabe-Ito, told apart by color-blind readers and on paper; black first would hide the axes.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DPI = 100
_FILE_DPI = 150

T = TypeVar("T")


class Display(ABC):
    """Draws a result with Matplotlib, and shows in a notebook when it is the value of a cell.

    Figures are made without `pyplot`, so that no figure stays open behind the scenes. After
    `plot`, `figure_` is the figure and `ax_` the axes.
    """

    figure_: Figure
    ax_: Axes

    @abstractmethod
    def plot(self, ax: Any = None, *, color: str | Sequence[str] | None = None) -> Self:
        """Draw on the given axes, or on a new figure; `figure_` and `ax_` hold the result.

        Args:
            ax: Matplotlib axes.
            color: Color of what is drawn, or a color for each part.
        """

    def _repr_png_(self) -> bytes:
        if not hasattr(self, "figure_"):
            self.plot()
        image = BytesIO()
        self.figure_.savefig(image, format="png", dpi=_DPI)
        return image.getvalue()

    def save(self, path: str | Path) -> None:
        """Draw to a file, whose suffix says the format: .png, .pdf or .svg."""
        if not hasattr(self, "figure_"):
            self.plot()
        path = check_local("path", path)
        with replacing(path) as fresh:
            self.figure_.savefig(fresh, format=path.suffix[1:].lower(), dpi=_FILE_DPI)

    def savefig(self, path: str | Path) -> None:
        """The same as `save`, as figures of Matplotlib call it."""
        self.save(path)

    def _finish(self, ax: Axes) -> Self:
        self.ax_ = ax
        self.figure_ = ax.figure.figure  # the root, also from within a subfigure
        return self


def named(argument: str, things: T | Mapping[str, T], kind: type[T], noun: str) -> dict[str, T]:
    """Things by name, from one of them (without a name) or several by name."""
    if isinstance(things, kind):
        return {"": things}
    check_type(argument, things, Mapping)
    found = dict(cast("Mapping[str, T]", things))
    if not found:
        raise InvalidInputError(f"`{argument}` must hold at least one {noun}. Got none.")
    for thing in found.values():
        check_type(argument, thing, kind)
    return found


def axes_or_new(ax: Axes | None, *, height: float) -> Axes:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(5, height), layout="constrained").add_subplot()


def legend_below(ax: Axes) -> None:
    """A legend under the axes, where it hides no line."""
    ax.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, -0.14),
        ncols=2,
        fontsize="small",
        frameon=False,
        borderaxespad=0.0,
    )


def colors_of(color: str | Sequence[str] | None, count: int) -> list[str]:
    """A color for each of `count` parts; colors that are too few are repeated."""
    from matplotlib.colors import is_color_like

    given = COLORS if color is None else (color,) if isinstance(color, str) else tuple(color)
    if bad := [one for one in given if not is_color_like(one)]:
        raise InvalidInputError(
            f'`color` must be a Matplotlib color, such as "tab:blue", or several. Got {bad[0]!r}.'
        )
    if not given:
        raise InvalidInputError("`color` must hold at least one color. Got none.")
    return [given[i % len(given)] for i in range(count)]


def balanced_of(evaluations: Mapping[str, Evaluation]) -> dict[str, float]:
    """Balanced slopes of models whose curve was estimated, by name."""
    return {
        name: one.verdict.balance.lam
        for name, one in evaluations.items()
        if one.verdict is not None
    }
