"""64-bit hashes of content, by which samples are placed in folds and halves.

They depend on content and seed alone, so that placement does not change when rows are permuted or
added. Rows are hashed once; another seed mixes the hashes.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from tradeoff._validation import FloatArray

__all__ = ["draw_keys", "group_keys", "mixed_keys", "quick_keys", "row_keys"]

_HASH_KEY = bytes(16)
_BLOCK = 512  # rows, which stay in the cache while they are hashed
_SALT = 20_261_116
_GOLDEN = 0x9E3779B97F4A7C15


def row_keys(x: FloatArray) -> npt.NDArray[np.uint64]:
    """A hash of each row, shape (n,)."""
    return _hashed(_contents(x))


def quick_keys(x: npt.NDArray[np.float32], seed: int = 0) -> npt.NDArray[np.uint64]:
    """A hash of each row in single precision, shape (n,): ten times as fast as `row_keys`.

    A sum of products of 32-bit words with random odd numbers, modulo 2⁶⁴, mixed. It is made for
    samples as they come, not for rows that were chosen to collide.
    """
    factors = np.random.default_rng(_SALT).integers(
        0, 2**64, x.shape[1] + 1, dtype=np.uint64
    ) | np.uint64(1)
    found = np.empty(len(x), np.uint64)
    for start in range(0, len(x), _BLOCK):
        rows = np.ascontiguousarray(x[start : start + _BLOCK] + np.float32(0))
        words = rows.view(np.uint32).astype(np.uint64)
        words *= factors[:-1]
        found[start : start + _BLOCK] = words.sum(1, dtype=np.uint64)
    return mixed_keys(found + factors[-1], seed + 1)


def _contents(x: FloatArray) -> Iterator[memoryview]:
    """The bytes of each row, block by block."""
    for start in range(0, len(x), _BLOCK):
        rows = np.ascontiguousarray(x[start : start + _BLOCK] + 0.0)  # without negative zeros
        raw, width = memoryview(rows.data).cast("B"), rows.strides[0]
        yield from (raw[place : place + width] for place in range(0, len(raw), width))


def group_keys(groups: Sequence[object], size: int, *, name: str) -> npt.NDArray[np.uint64]:
    """A hash of each row's group, shape (n,)."""
    named = len(groups) if hasattr(groups, "__len__") else None
    if named != size:
        found = type(groups).__name__ if named is None else named
        raise InvalidInputError(f"`{name}` must name a group per sample, {size}. Got {found}.")
    return _hashed(str(group).encode(errors="surrogatepass") for group in groups)


def mixed_keys(keys: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """Keys for a seed: those of seed 0 as they are, otherwise mixed by the rounds of splitmix64."""
    if seed == 0:
        return keys
    mixed = keys + np.uint64((seed * _GOLDEN) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def draw_keys(keys: npt.NDArray[np.uint64], *, first: int = 0) -> npt.NDArray[np.uint64]:
    """A hash of each key and of how many equal ones come before it, so that copies part ways.

    Where one part alone is counted, a value that many samples share must be in it in proportion.

    Args:
        keys: Key of each sample, shape (n,).
        first: Number of the first of equal samples. It must differ between sides: equal samples of
            both would otherwise be held out together, and a fit would miss exactly those that
            contradict it.
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    # Number of each row within its run of equal keys: its place minus the place of the run.
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    before = first + np.arange(keys.size) - np.repeat(starts, np.diff(np.append(starts, keys.size)))
    number = np.empty_like(keys)
    number[order] = before.astype(np.uint64)
    return _hashed(pair.tobytes() for pair in np.stack((keys, number), axis=1))


def _hashed(contents: Iterable[bytes | memoryview]) -> npt.NDArray[np.uint64]:
    digests = [blake2b(content, digest_size=8, key=_HASH_KEY).digest() for content in contents]
    return np.frombuffer(b"".join(digests), dtype="<u8")
