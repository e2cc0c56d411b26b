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

__all__ = ["content_keys", "group_keys"]


def content_keys(x: FloatArray, *, seed: int) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row, shape (n,)."""
    rows = np.ascontiguousarray(x + 0.0)  # no negative zeros, which would hash differently
    return _keys((row.tobytes() for row in rows), seed)


def group_keys(
    groups: Sequence[object], size: int, *, seed: int, name: str
) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each row's group, shape (n,)."""
    if len(groups) != size:
        raise InvalidInputError(
            f"`{name}` must name a group per sample, {size}. Got {len(groups)}."
        )
    return _keys((str(group).encode() for group in groups), seed)


def _keys(contents: Iterable[bytes], seed: int) -> npt.NDArray[np.uint64]:
    key = int(seed).to_bytes(16, "little", signed=True)
    digests = b"".join(blake2b(content, digest_size=8, key=key).digest() for content in contents)
    return np.frombuffer(digests, dtype="<u8")
