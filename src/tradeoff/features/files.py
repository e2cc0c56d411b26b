"""Networks in a file: ONNX, `torch.export`, and TorchScript, which must be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tradeoff._extras import import_extra
from tradeoff._validation import check_count
from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.features.images import Pixels
from tradeoff.features.network import ImageNetwork, hash_files

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["NETWORK_SUFFIXES", "NetworkFile"]

NETWORK_SUFFIXES = (".onnx", ".pt2", ".pt", ".ts", ".torchscript")


@dataclass(frozen=True)
class NetworkFile(ImageNetwork):
    """A network in a file, from images of shape (32, 3, size, size) to features.

    A TorchScript network whose `forward` takes `return_features`, as those do that NVIDIA
    distributes for FID and improved precision and recall, is called with it and is given bytes: it
    resizes and normalizes by itself, so `size` should be that of the images.

    Args:
        path: of an ``.onnx``, ``.pt2`` (`torch.export`) or TorchScript file.
        size: pixels to which images are resized, antialiased, whatever their shape.
        mean: subtracted from values between 0 and 255.
        deviation: by which they are divided then.
        trusted: whether a TorchScript file, which may run any code, is to be loaded.
        device: on which it runs; "auto" is a GPU if there is one; ONNX runs on the CPU.
        dtype: of products inside a network of PyTorch.

    Example:
        >>> from tradeoff.features import NetworkFile
        >>> print(NetworkFile("encoder.onnx", size=64).preprocessing)
        resized to 64 × 64 by bicubic filter with antialiasing, (x - 0) / 255
        >>> NetworkFile("encoder.onnx").weights
        Traceback (most recent call last):
        ...
        tradeoff.exceptions.InvalidInputError: `encoder.onnx` does not exist.
    """

    path: str | Path
    size: int = 224
    mean: float = 0.0
    deviation: float = 255.0
    trusted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("size", self.size)
        if self._suffix not in NETWORK_SUFFIXES:
            raise InvalidInputError(
                f"`{self.path}` must end in {', '.join(NETWORK_SUFFIXES)} to be a network."
            )

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    @cached_property
    def weights(self) -> str:
        """A hash of the file, and of the data that ONNX may keep beside it."""
        path = self._found
        beside = (path.with_name(path.name + end) for end in (".data", "_data"))
        return hash_files([path, *(file for file in beside if file.is_file())])

    @property
    def pixels(self) -> Pixels:
        """As the arguments say; of bytes, no more than their size."""
        script = self._suffix not in (".onnx", ".pt2")
        mean, deviation = self.mean, self.deviation
        if script and _returns_features(self._network):
            mean, deviation = 0.0, 1.0
        return Pixels(
            height=self.size, width=self.size, mean=(mean,) * 3, deviation=(deviation,) * 3
        )

    def forward(self, x: Any) -> Any:
        """What the network returns; the first of several outputs."""
        network = self._network
        output = (
            network(x.byte(), return_features=True) if _returns_features(network) else network(x)
        )
        return output[0] if isinstance(output, (tuple, list)) else output

    @property
    def _suffix(self) -> str:
        return Path(self.path).suffix.lower()

    @property
    def _found(self) -> Path:
        path = Path(self.path)
        if not path.is_file():
            raise InvalidInputError(f"`{path}` does not exist.")
        return path

    @cached_property
    def _network(self) -> Callable[..., Any]:
        path = self._found
        load = {".onnx": _onnx, ".pt2": self._exported}.get(self._suffix, self._script)
        try:
            return load(path)
        except (InvalidInputError, ImportError):
            raise
        except Exception as error:  # of each library's own kinds
            raise InvalidInputError(
                f"`{path}` must be a network. It cannot be loaded: {first_line(error)}."
            ) from None

    def _exported(self, path: Path) -> Callable[..., Any]:
        torch = import_extra("torch", extra="torch", purpose="A network")
        module: Callable[..., Any] = torch.export.load(str(path)).module().to(self.torch_device)
        return module

    def _script(self, path: Path) -> Callable[..., Any]:
        if not self.trusted:
            raise InvalidInputError(
                f"`{path}` is TorchScript, which may run any code: pass trusted=True (--trusted) "
                "if you trust where it comes from, or use ONNX or torch.export."
            )
        torch = import_extra("torch", extra="torch", purpose="A network")
        module: Callable[..., Any] = torch.jit.load(str(path), self.torch_device).eval()
        return module


def _returns_features(network: Any) -> bool:
    schema = getattr(getattr(network, "forward", None), "schema", None)
    return schema is not None and "return_features" in {a.name for a in schema.arguments}


def _onnx(path: Path) -> Callable[..., Any]:
    import torch

    runtime = import_extra("onnxruntime", extra="onnx", purpose="An ONNX network")
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (entry, *_) = session.get_inputs()

    def run(x: Any) -> Any:
        try:
            (output, *_) = session.run(None, {entry.name: x.cpu().numpy()})
        except Exception as error:  # of the runtime's own kinds
            raise InvalidInputError(
                f"`{path}` must take float32 images of shape {tuple(x.shape)}. {first_line(error)}."
            ) from None
        return torch.from_numpy(np.asarray(output))

    return run
