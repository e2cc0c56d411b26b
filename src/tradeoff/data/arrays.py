"""Arrays of pixels or features: in memory, as ``.npy`` and ``.npz``, and as tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._validation import check_array
from tradeoff.data.base import Broken, Kind, Sample
from tradeoff.exceptions import InvalidInputError, first_line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

__all__ = ["ArraySource", "load_array"]

_CHANNELS = (1, 3, 4)
_BEGINNINGS = (b"\x93NUMPY", b"PK")
_MOST_RATIO = 100
_MOST_INFLATED = 1 << 30  # bytes of an array that may be compressed further than that


@dataclass(frozen=True, eq=False)
class ArraySource:
    """Rows of an array: features of shape (n, d), or pixels of shape (n, height, width, 3).

    Args:
        values: Numbers; pixels are whole numbers from 0 to 255.
        name: Name of the array, and prefix of the ids.
        labels: Class of each row, if known.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data.arrays import ArraySource
        >>> [sample.id for sample in ArraySource(np.zeros((2, 3)), name="real")]
        ['real[0]', 'real[1]']
    """

    values: npt.NDArray[Any]
    name: str = "array"
    labels: npt.NDArray[Any] | None = None

    def __post_init__(self) -> None:
        shape = self.values.shape
        if self.values.dtype.kind not in "fiub" or len(shape) not in (2, 4) or 0 in shape:
            raise InvalidInputError(
                f"`{self.name}` must be numbers: features of shape (n, d), or pixels of shape "
                f"(n, height, width, 3). Got {self.values.dtype} of shape {shape}."
            )
        if len(shape) == 4 and (shape[3] not in _CHANNELS or self.values.dtype != np.uint8):
            raise InvalidInputError(
                f"`{self.name}` must hold pixels as uint8 of shape (n, height, width, 3). "
                f"Got {self.values.dtype} of shape {shape}."
            )
        if self.labels is not None and len(self.labels) != len(self.values):
            raise InvalidInputError(
                f"`{self.name}` must have a label per row, {len(self.values)}. "
                f"Got {len(self.labels)}."
            )

    @property
    def kind(self) -> Kind:
        """Pixels have four dimensions, features two."""
        return "image" if self.values.ndim == 4 else "features"

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Sample | Broken]:
        for i, row in enumerate(self.values):
            label = None if self.labels is None else str(self.labels[i])
            name = f"{self.name}[{i}]"
            if self.kind == "features" and not np.isfinite(row).all():
                yield Broken(name, "The row holds NaN or infinity.")
            else:
                yield Sample(name, np.asarray(row), label)


def load_array(path: Path) -> ArraySource:
    """An array from a file; ``arr_0`` of an ``.npz``, as in the ADM suite, with its labels."""
    with path.open("rb") as file:
        if not file.read(6).startswith(_BEGINNINGS):
            raise InvalidInputError(f"`{path}` must be a NumPy file. Its first bytes are not.")
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return ArraySource(check_array(path.name, loaded), name=path.name)
        with loaded:
            return _from_archive(path, loaded)
    except InvalidInputError:
        raise
    except Exception as error:  # of the many kinds that NumPy, zipfile and zlib raise
        raise _refused(path, error) from None


def _from_archive(path: Path, loaded: Any) -> ArraySource:
    """The one array of an archive, or ``arr_0``, with ``arr_1`` as its labels."""
    names = list(loaded.files)
    if {"mu", "sigma"} <= set(names):
        raise InvalidInputError(
            f"`{path}` holds mean and covariance alone, which give a Fréchet distance but no "
            "precision or recall: pass the samples or their features."
        )
    if "arr_0" not in names and len(names) != 1:
        raise InvalidInputError(
            f"`{path}` must hold one array, or one named arr_0. Got {', '.join(names) or 'none'}."
        )
    for entry in loaded.zip.infolist():
        if entry.file_size > max(_MOST_INFLATED, _MOST_RATIO * entry.compress_size):
            raise InvalidInputError(
                f"`{entry.filename}` in `{path}` would take {entry.file_size / 1e9:.1f} GB, more "
                f"than {_MOST_RATIO} times its compressed size: if this is right, save it as .npy."
            )
    values = loaded["arr_0" if "arr_0" in names else names[0]]
    labels = loaded["arr_1"] if "arr_1" in names else None
    return ArraySource(check_array(path.name, values), name=path.name, labels=labels)


def _refused(path: Path, error: Exception) -> InvalidInputError:
    if "object" in str(error).lower():
        return InvalidInputError(
            f"`{path}` must hold plain numbers. It holds pickled objects, which could run any code "
            "and are not loaded."
        )
    return InvalidInputError(f"`{path}` must be a NumPy file. {first_line(error)}.")
