"""How many samples a network should see at once on this machine."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff.exceptions import UnreadableError
from tradeoff.features.network import BATCH, BatchedNetwork
from tradeoff.features.views import Views, parts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tradeoff.data.base import Sample
    from tradeoff.features.base import Encoder

__all__ = ["find_batch_sizes", "throughputs", "with_batch_sizes"]

_GROWTH = 1.05  # of throughput, below which larger batches are not worth it
_LARGEST = 1024
_MOST_BYTES = 160 * 2**20  # of the prepared samples of a batch: a chunk holds as many
_TURNS = 3


def throughputs(
    embed: Callable[[int, Sequence[Any]], Any], prepared: Sequence[Any]
) -> Iterator[tuple[int, float | None]]:
    """Samples per second by size of the batch, doubled until that stops to pay.

    The last one is None where memory did not suffice.

    Args:
        embed: Features of samples in batches of a size, see `BatchedNetwork.embed_in`.
        prepared: Prepared samples, repeated as often as needed.
    """
    import torch

    each = max(one.nbytes if isinstance(one, np.ndarray) else 0 for one in prepared)
    size, before = BATCH, 0.0
    while size <= _LARGEST and size * each <= _MOST_BYTES:
        batch = list(islice(cycle(prepared), size))
        try:
            embed(size, batch)
            start = time.perf_counter()
            for _ in range(_TURNS):
                embed(size, batch)  # features are copied to the host, so that the device is done
        except (torch.OutOfMemoryError, MemoryError):
            yield size, None
            return
        now = _TURNS * size / (time.perf_counter() - start)
        yield size, now
        if now < _GROWTH * before:
            return
        size, before = 2 * size, now


def find_batch_sizes(encoder: Encoder, samples: Sequence[Sample]) -> dict[str, int]:
    """Size of the batch with the highest throughput, for each view whose encoder lets one choose.

    Args:
        encoder: Encoder of the samples, or of several views of them.
        samples: Some samples.
    """
    found = {}
    for view, one in parts_of(encoder):
        if not isinstance(one, BatchedNetwork):
            continue
        prepared = []
        for sample in samples:
            with suppress(UnreadableError):  # which is told when the sample is embedded
                prepared.append(one.prepare(sample))
        if prepared:
            measured = throughputs(one.embed_in, prepared)
            speeds = {size: speed for size, speed in measured if speed is not None}
            found[view] = max(speeds, key=speeds.__getitem__, default=BATCH)
    return found


def with_batch_sizes(encoder: Encoder, sizes: Mapping[str, int]) -> Encoder:
    """The encoder with batches of these sizes, by view."""
    parts = tuple(
        (view, replace(one, batch_size=sizes.get(view, one.batch_size)))
        if isinstance(one, BatchedNetwork)
        else (view, one)
        for view, one in parts_of(encoder)
    )
    return replace(encoder, encoders=parts) if isinstance(encoder, Views) else parts[0][1]
