"""Where features lie, by the hash of a sample's content: 24 bytes for each sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

__all__ = ["Places"]

_MOST_RECENT = 1 << 16
_NOWHERE = -1


class Places:
    """Numbers by 16-byte keys; the first number that a key was given stays.

    Numbers of many keys are kept in arrays that are sorted by key, those that came last in a
    dictionary.

    Example:
        >>> from tradeoff.features.places import Places
        >>> places = Places()
        >>> places.learn([b"0123456789abcdef"], first=7)
        >>> len(places), places.find([b"0123456789abcdef", bytes(16)])
        (1, array([ 7, -1]))
    """

    def __init__(self) -> None:
        # Keys in order and their numbers; both are replaced at once, while other threads look up.
        self._sorted = np.empty(0, "S16"), np.empty(0, np.int64)
        self._recent: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._sorted[0]) + len(self._recent)

    def learn(self, keys: Sequence[bytes], *, first: int) -> None:
        """Give keys the numbers that follow `first`, unless they have one."""
        known = self.find(keys)
        for i in np.flatnonzero(known == _NOWHERE).tolist():
            self._recent.setdefault(keys[i], first + i)
        if len(self._recent) > _MOST_RECENT:
            self._settle()

    def learn_many(self, keys: list[npt.NDArray[np.bytes_]], firsts: Sequence[int]) -> None:
        """The same for many parts at once, without an object for each key; empties the list."""
        if not keys:
            return
        numbers = [first + np.arange(len(part)) for part, first in zip(keys, firsts, strict=True)]
        together = np.concatenate(keys)
        keys.clear()  # as large as what was made of it
        self._merge(together, np.concatenate(numbers))

    def find(self, keys: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """Numbers of keys, -1 for those that have none, shape (n,)."""
        wanted = np.array(keys, "S16")
        found = np.full(len(wanted), _NOWHERE)
        known, numbers = self._sorted
        if known.size:
            place = np.minimum(np.searchsorted(known, wanted), known.size - 1)
            found = np.where(known[place] == wanted, numbers[place], _NOWHERE)
        if self._recent:
            for i in np.flatnonzero(found == _NOWHERE).tolist():
                found[i] = self._recent.get(keys[i], _NOWHERE)
        return found

    def forget(self, gone: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.bool_]]) -> None:
        """Drop the keys whose numbers are gone."""
        self._settle()
        keys, numbers = self._sorted
        kept = ~gone(numbers)
        self._sorted = keys[kept], numbers[kept]

    def _settle(self) -> None:
        if self._recent:
            keys = np.array(list(self._recent), "S16")
            self._merge(keys, np.fromiter(self._recent.values(), np.int64, len(keys)))
            self._recent = {}

    def _merge(self, keys: npt.NDArray[np.bytes_], numbers: npt.NDArray[np.int64]) -> None:
        if self._sorted[0].size:
            keys = np.concatenate((self._sorted[0], keys))
            numbers = np.concatenate((self._sorted[1], numbers))
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
        fresh = np.append(True, keys[1:] != keys[:-1])
        if not fresh.all():
            keys, numbers = keys[fresh], numbers[fresh]
        self._sorted = keys, numbers
