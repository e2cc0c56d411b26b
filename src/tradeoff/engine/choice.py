"""A random choice of samples by their ids, the same wherever the samples lie."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

from tradeoff.exceptions import InvalidInputError

if TYPE_CHECKING:
    from tradeoff.data.base import Broken, Sample, Source

__all__ = ["choose_by_id", "only_chosen"]


def choose_by_id(source: Source, limit: int, seed: int) -> set[int]:
    """Places of the samples that a seeded hash of their ids puts first."""
    if isinstance(getattr(source, "values", None), Iterator):
        raise InvalidInputError(
            "`limit` chooses among all samples, and an iterator can be read only once: pass a list."
        )
    key = seed.to_bytes(8, "little")
    ranks = (
        (blake2b(item.id.encode(errors="surrogatepass"), digest_size=16, key=key).digest(), place)
        for place, item in enumerate(source)
    )
    return {place for _, place in heapq.nsmallest(limit, ranks)}


def only_chosen(source: Source, chosen: set[int] | None) -> Iterator[Sample | Broken]:
    """Items at the given places, or all of them."""
    return (item for i, item in enumerate(source) if chosen is None or i in chosen)
