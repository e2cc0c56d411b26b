"""States of the processes of `torch.distributed` as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._validation import check_type
from tradeoff.counting.state import CountingState

if TYPE_CHECKING:
    from tradeoff.counting.plan import CountingPlan

__all__ = ["merge_across_processes"]


def merge_across_processes(state: CountingState, group: Any = None) -> CountingState:
    """The state of all samples that any process of `torch.distributed` has counted.

    Every process must call it, and every process gets the same state. States of different plans
    are refused in all of them.

    Args:
        state: What this process has counted.
        group: Group of processes; all if None.
    """
    torch = import_extra("torch", extra="torch", purpose="Merging states of several processes")
    check_type("state", state, CountingState)
    dist = torch.distributed
    content = torch.from_numpy(np.frombuffer(state.to_bytes(), np.uint8).copy())
    device = torch.device("cuda") if dist.get_backend(group) == "nccl" else torch.device("cpu")
    size = torch.tensor([content.numel()], device=device)
    sizes = [torch.zeros_like(size) for _ in range(dist.get_world_size(group))]
    dist.all_gather(sizes, size, group=group)
    longest = max(int(one) for one in sizes)
    padded = torch.zeros(longest, dtype=torch.uint8, device=device)
    padded[: content.numel()] = content.to(device)
    contents = [torch.zeros_like(padded) for _ in sizes]
    dist.all_gather(contents, padded, group=group)
    return _merged(
        [one[: int(n)].cpu().numpy().tobytes() for one, n in zip(contents, sizes, strict=True)],
        state.plan,
    )


def _merged(contents: list[bytes], plan: CountingPlan) -> CountingState:
    whole = CountingState(plan)
    return whole.merge(*(CountingState.from_bytes(content, plan) for content in contents))
