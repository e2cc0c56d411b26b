"""File formats and sizes of images: how both sides were saved, which says nothing about a model.

An encoder can see either, and then takes it for an error of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tradeoff._pictures import image_form
from tradeoff.data import Sample
from tradeoff.exceptions import UnreadableError

if TYPE_CHECKING:
    from tradeoff.data.base import Source

__all__ = ["form_warnings"]

_FEWEST, _MOST = 50, 200  # images of each side that are looked at
_LOSSLESS = frozenset({"PNG", "BMP", "PPM", "TIFF", "pixels in memory"})
_APART = 0.5  # of the images of a side that have no counterpart on the other one


class _Forms(NamedTuple):
    """Formats of some images, and their sizes, width and height."""

    formats: Counter[str]
    sizes: Counter[tuple[int, int]]

    @classmethod
    def of(cls, source: Source) -> _Forms:
        """What the headers of the first images say; broken images say nothing."""
        formats, sizes = Counter[str](), Counter[tuple[int, int]]()
        for item in islice(source, _MOST):
            if not isinstance(item, Sample):
                continue
            try:
                name, size = image_form(item.content)
            except UnreadableError:
                continue
            formats["lossless" if name in _LOSSLESS else name] += 1
            sizes[size] += 1
        return cls(formats, sizes)

    @property
    def format(self) -> str:
        """The most common format."""
        name = self.formats.most_common(1)[0][0]
        return "lossless (such as PNG)" if name == "lossless" else name

    @property
    def size(self) -> str:
        """Median width and height."""
        width, height = np.median(list(self.sizes.elements()), axis=0)
        return f"{width:.0f} × {height:.0f}"


def form_warnings(real: Source | None, generated: Source | None) -> tuple[str, ...]:
    """What to say if most images of one side have another format or another size than the other.

    Args:
        real: Real images; None if only their features are known.
        generated: Generated images.
    """
    sources = (real, generated)
    if not all(_can_be_read_again(one) for one in sources):
        return ()
    ours, theirs = (_Forms.of(one) for one in sources if one is not None)
    if min(ours.sizes.total(), theirs.sizes.total()) < _FEWEST:
        return ()
    found = []
    if _share_apart(ours.formats, theirs.formats) > _APART:
        found.append(
            f"The file formats differ: real images are mostly {ours.format}, generated ones mostly "
            f"{theirs.format}. Traces of compression count as errors of the model: convert both "
            "sides in the same way, from originals."
        )
    if _sizes_differ(ours.sizes, theirs.sizes):
        found.append(
            f"The sizes differ: real images have {ours.size} pixels, generated ones {theirs.size} "
            "(medians). Traces of resizing count as errors of the model: resize both sides in the "
            "same way, from originals."
        )
    return tuple(found)


def _can_be_read_again(source: Source | None) -> bool:
    if source is None or source.kind != "image":
        return False
    return not isinstance(getattr(source, "values", None), Iterator)


def _share_apart(ours: Counter[str], theirs: Counter[str]) -> float:
    """Total variation distance."""
    names = ours.keys() | theirs.keys()
    return sum(abs(ours[one] / ours.total() - theirs[one] / theirs.total()) for one in names) / 2


def _sizes_differ(ours: Counter[tuple[int, int]], theirs: Counter[tuple[int, int]]) -> bool:
    """Whether most images of one side are larger than nearly all of the other.

    Sizes of photographs vary, so equal ones are not to be expected.
    """
    areas = [
        np.sort([width * height for width, height in one.elements()]) for one in (ours, theirs)
    ]
    places = np.unique(np.concatenate(areas))
    shares = [np.searchsorted(one, places, side="right") / one.size for one in areas]
    return bool(np.abs(shares[0] - shares[1]).max() > _APART)
