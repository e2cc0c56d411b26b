"""Folds from a seeded hash of each sample's content, or of its group.

They do not move when rows are permuted or added, exact copies share a fold, and a group stays
together.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = ["content_halves", "content_keys", "draw_keys", "group_keys"]


def content_keys(x: FloatArray, *, seed: int) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row, shape (n,)."""
    rows = np.ascontiguousarray(x + 0.0)  # no negative zeros, which would hash differently
    return _keys((row.tobytes() for row in rows), seed)


def group_keys(
    groups: Sequence[object], size: int, *, seed: int, name: str
) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row's group, shape (n,)."""
    named = len(groups) if hasattr(groups, "__len__") else None
    if named != size:
        found = type(groups).__name__ if named is None else named
        raise InvalidInputError(f"`{name}` must name a group per sample, {size}. Got {found}.")
    return _keys((str(group).encode() for group in groups), seed)


def draw_keys(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A hash of each key and of how many equal ones come before it: copies part ways.

    Where one part alone is counted, a value that many samples share must be in it in proportion.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    before = np.arange(keys.size) - np.repeat(starts, np.diff(np.append(starts, keys.size)))
    mixed = np.empty_like(keys)
    mixed[order] = before.astype(np.uint64)
    pairs = np.stack((keys, mixed), axis=1)
    return _keys((pair.tobytes() for pair in pairs), 0)


def content_halves(x: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Two halves of the rows by content, each in an order that follows content too."""
    order = np.argsort(draw_keys(content_keys(x, seed=seed)), kind="stable")
    return x[order[::2]], x[order[1::2]]


def _keys(contents: Iterable[bytes], seed: int) -> npt.NDArray[np.uint64]:
    key = int(seed).to_bytes(16, "little", signed=True)
    digests = b"".join(blake2b(content, digest_size=8, key=key).digest() for content in contents)
    return np.frombuffer(digests, dtype="<u8")
