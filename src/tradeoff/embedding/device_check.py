"""Whether a device computes the features of the CPU, and how fast: a check to run and to send."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.data.base import Sample
from tradeoff.embedding.batches import throughputs
from tradeoff.exceptions import InvalidInputError, TradeoffError, first_line
from tradeoff.features.open import open_encoder
from tradeoff.features.registry import ENCODERS, PACKAGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tradeoff.data.base import Kind

__all__ = ["check_device", "find_gpu"]

_SAMPLES = 48  # a whole batch, and one that has to be filled up
_TOLERANCE = 1e-3  # of the largest feature; GPUs round products to fewer bits than CPUs


def find_gpu() -> str:
    """The device of a GPU that PyTorch can use.

    Raises:
        InvalidInputError: if there is none.
    """
    torch = import_extra("torch", extra="torch", purpose="The check of a GPU")
    if torch.cuda.is_available():
        return "cuda"
    built = torch.version.cuda or getattr(torch.version, "hip", None)
    why = f"a build for {built}" if built else "a build without support for GPUs"
    raise InvalidInputError(
        f"PyTorch must find a GPU here. It finds none: PyTorch {torch.__version__} is {why}. Check "
        "the driver (nvidia-smi), or install the build of PyTorch for your GPU."
    )


def check_device(device: str) -> Iterator[tuple[str, str]]:
    """What was tried on a device, and what came out, line by line.

    Args:
        device: Device of PyTorch.

    Example:
        >>> from tradeoff.embedding.device_check import check_device
        >>> next(check_device("cpu"))[0]
        'PyTorch'
    """
    import torch

    yield "PyTorch", f"{torch.__version__}, CUDA {torch.version.cuda or 'none'}"
    if torch.device(device).type == "cuda":
        about = torch.cuda.get_device_properties(device)
        memory = f"{about.total_memory / 2**30:.0f} GiB"
        yield "device", f"{about.name}, {memory}, capability {about.major}.{about.minor}"
    else:
        yield "device", device
    for kind, name in PACKAGED.items():
        if ENCODERS[name].is_installed:
            yield name, _attempted(partial(_compared, name, kind, device))
    yield from _speeds(device)


def _attempted(check: Callable[[], str]) -> str:
    """What a check says, or why it failed: the others are made in any case."""
    try:
        return check()
    except TradeoffError as error:
        return f"FAILS: {error}"
    except Exception as error:  # of PyTorch's and drivers' own kinds
        return f"FAILS: {type(error).__name__}: {first_line(error)}"


def _compared(name: str, kind: Kind, device: str) -> str:
    """Features on the device, next to those on the CPU, and in another order."""
    expected = _features(name, kind, "cpu")
    found = _features(name, kind, device)
    backwards = _features(name, kind, device, step=-1)[::-1]
    gap = float(np.abs(found - expected).max() / np.abs(expected).max())
    same = "same bits" if np.array_equal(found, backwards) else "OTHER BITS"
    verdict = "works" if gap <= _TOLERANCE else "DIFFERS"
    return f"{verdict}: {gap:.1g} from the CPU, of the largest feature; {same} in another order"


def _features(name: str, kind: Kind, device: str, step: int = 1) -> Any:
    encoder = open_encoder(name, kind=kind, device=device, runtime="torch")
    return encoder.embed([encoder.prepare(one) for one in _samples(kind)[::step]])


def _samples(kind: Kind) -> Sequence[Sample]:
    rng = np.random.default_rng(0)
    if kind == "image":
        pixels = rng.integers(0, 256, (_SAMPLES, 64, 64, 3), dtype=np.uint8)
        return [Sample(str(i), one) for i, one in enumerate(pixels)]
    return [Sample(str(i), "A rose is a rose. " * (1 + i % 9)) for i in range(_SAMPLES)]


def _speeds(device: str) -> Iterator[tuple[str, str]]:
    """Images per second of the packaged encoder, by size of the batch, until that stops to pay."""
    name = PACKAGED["image"]
    if not ENCODERS[name].is_installed:
        return
    encoder: Any = open_encoder(name, kind="image", device=device, runtime="torch")
    prepared = [encoder.prepare(one) for one in _samples("image")]
    for size, speed in throughputs(encoder.embed_in, prepared):
        yield f"images/s, batch {size}", "out of memory" if speed is None else f"{speed:,.0f}"
