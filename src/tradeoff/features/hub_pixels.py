"""Preparation of images as the configuration of a model of the Hugging Face hub describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.features.images import Filter, Pixels

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["pixels_of_config", "read_pixels"]

_FILES = ("preprocessor_config.json", "processor_config.json")
_FILTERS: tuple[Filter, ...] = ("nearest", "lanczos", "bilinear", "bicubic")  # as Pillow numbers
_LONGEST_EDGE = 4096
_COLORS = 3


def read_pixels(name: str, folder: Path) -> Pixels:
    """Preparation of images for the model in a folder.

    Args:
        name: Name of the model in messages.
        folder: Folder of the model.
    """
    for path in (folder / file for file in _FILES):
        if path.exists():
            try:
                fields = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError, RecursionError) as error:
                raise InvalidInputError(
                    f"`{name}` must be a model in the format of the hub. Its {path.name} is not "
                    f"JSON: {first_line(error)}."
                ) from None
            if isinstance(fields, dict):
                fields = fields.get("image_processor", fields)
            return pixels_of_config(name, fields)
    raise InvalidInputError(
        f"`{name}` must say how images are prepared, in preprocessor_config.json."
    )


def pixels_of_config(name: str, fields: Any) -> Pixels:
    """Preparation of images from the fields of an image processor.

    Args:
        name: Name of the model in messages.
        fields: Fields of its ``preprocessor_config.json``.

    Example:
        >>> from tradeoff.features.hub_pixels import pixels_of_config
        >>> fields = {"size": 64, "image_mean": [0.5] * 3, "image_std": [0.25] * 3}
        >>> print(pixels_of_config("tiny", fields))
        resized to 64 × 64 by bicubic filter with antialiasing, (x - 127.5) / 63.75
    """
    if not isinstance(fields, dict):
        raise _wrong(name, "image_processor", "be an object", fields)
    crops = bool(fields.get("do_center_crop"))
    size = _edges(name, "size", fields, "shortest_edge" if crops else None)
    crop = _edges(name, "crop_size", fields, None) if crops else {}
    shorter = size.get("shortest_edge")
    seen = crop or size
    if not {"height", "width"} <= seen.keys() or (shorter is None and size != seen):
        raise InvalidInputError(
            f"`{name}` must resize images to one size. Its configuration says {size}."
        )
    scale = 1.0
    if fields.get("do_rescale", True):
        (factor,) = _numbers(name, "rescale_factor", [fields.get("rescale_factor", 1 / 255)], 1)
        scale = 1.0 / _positive(name, "rescale_factor", factor)
    mean, deviation = [0.0] * _COLORS, [1.0] * _COLORS
    if fields.get("do_normalize", True):
        mean = _numbers(name, "image_mean", fields.get("image_mean"), _COLORS)
        deviation = _numbers(name, "image_std", fields.get("image_std"), _COLORS)
    return Pixels(
        height=seen["height"],
        width=seen["width"],
        shorter=shorter,
        filter=_filter(name, fields.get("resample", 3)),
        mean=tuple(scale * value for value in mean),
        deviation=tuple(scale * _positive(name, "image_std", value) for value in deviation),
    )


def _edges(name: str, key: str, fields: dict[str, Any], number_is: str | None) -> dict[str, int]:
    """Lengths by name; a single number is a square, or the shorter edge if an image is cropped."""
    size = fields.get(key)
    if type(size) is int:
        size = {"height": size, "width": size} if number_is is None else {number_is: size}
    size = {} if size is None else size
    if not isinstance(size, dict):
        raise _wrong(name, key, "be a number or an object", size)
    for value in size.values():
        if type(value) is not int or not 1 <= value <= _LONGEST_EDGE:
            raise _wrong(name, key, f"hold whole numbers from 1 to {_LONGEST_EDGE:,}", value)
    return size


def _filter(name: str, number: Any) -> Filter:
    if type(number) is not int or not 0 <= number < len(_FILTERS):
        raise _wrong(name, "resample", f"be a number from 0 to {len(_FILTERS) - 1}", number)
    return _FILTERS[number]


def _numbers(name: str, key: str, values: Any, count: int) -> list[float]:
    if not isinstance(values, list) or len(values) != count or not all(map(_is_number, values)):
        raise _wrong(name, key, f"hold finite numbers, {count} in all", values)
    return [float(value) for value in values]


def _is_number(value: Any) -> bool:
    """Whether a value is a number that float32 holds well; NaN and infinity are not."""
    return type(value) in (int, float) and abs(value) < 1e15


def _positive(name: str, key: str, value: float) -> float:
    if not value > 1e-15:
        raise _wrong(name, key, "be positive", value)
    return value


def _wrong(name: str, key: str, expected: str, value: Any) -> InvalidInputError:
    found = repr(value) if isinstance(value, (int, float)) else f"a {type(value).__name__}"
    return InvalidInputError(
        f"`{key}` in the configuration of `{name}` must {expected}. Got {found[:80]}."
    )
