"""Samples as a report shows them: small images without metadata, beginnings of texts, rows."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from contextlib import suppress
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._text import printable
from tradeoff.data.base import Sample
from tradeoff.exceptions import InvalidInputError, UnreadableError
from tradeoff.explain.result import Preview
from tradeoff.features.images import color_image

if TYPE_CHECKING:
    from tradeoff.data.base import Source
    from tradeoff.samples import Side

__all__ = ["contents_of", "name_of", "preview_of"]

_PIXELS = 96
_QUALITY = 70
_TEXT = 240
_FIELDS = 12


def contents_of(source: Source | None, ids: Iterable[str] | None = None) -> dict[str, Sample]:
    """Samples of a source by name, all of them or those that are named.

    A source that can be read only once, or that is gone, has none.
    """
    wanted = None if ids is None else set(ids)
    found: dict[str, Sample] = {}
    with suppress(InvalidInputError):  # nothing is left to read
        for item in source or ():
            if isinstance(item, Sample) and (wanted is None or item.id in wanted):
                found[item.id] = item
                if wanted is not None and len(found) == len(wanted):
                    break
    return found


def name_of(side: Side, index: int) -> str:
    """Name of a sample of a side; its number where samples have no names."""
    return side.ids[index] if side.ids else f"{side.name}[{index}]"


def preview_of(
    side: Side, index: int, contents: Mapping[str, Sample], *, rule: str | None = None
) -> Preview:
    """A sample of a side, with its content where that is known; columns of a rule come first."""
    name = name_of(side, index)
    label = side.labels[index] if side.labels else None
    if name not in contents:
        return Preview(id=name, label=label, text=None, image=None)
    shown = contents[name]
    fields, named = _row(shown.content, rule or "")
    return Preview(
        id=name,
        label=label,
        text=_text(shown.content),
        image=_image(shown),
        fields=fields,
        named=named,
    )


def _text(content: Any) -> str | None:
    if not isinstance(content, str):
        return None
    text = printable(" ".join(content[: 2 * _TEXT].split()))
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _row(content: Any, rule: str) -> tuple[tuple[tuple[str, str], ...], int]:
    """Columns of a row and what they hold, and how many of the first ones the rule names."""
    if not isinstance(content, Mapping):
        return (), 0
    named = [name for name in content if f"{name} " in rule]
    others = [name for name in content if name not in named]
    shown = [*named, *others][:_FIELDS]
    row = tuple((printable(str(one)), printable(_cell(content[one]))) for one in shown)
    return row, min(len(named), _FIELDS)


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:60]


def _image(sample: Sample) -> str | None:
    """A small copy of an image as WebP, which keeps nothing of the file but its pixels."""
    if not isinstance(sample.content, (bytes, np.ndarray)):
        return None
    try:
        image = color_image(sample)
    except UnreadableError:  # features, for example
        return None
    image.thumbnail((_PIXELS, _PIXELS))
    encoded = BytesIO()
    image.save(encoded, "WEBP", quality=_QUALITY, method=4)
    return "data:image/webp;base64," + base64.b64encode(encoded.getvalue()).decode("ascii")
