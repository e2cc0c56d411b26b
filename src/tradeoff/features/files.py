"""Networks in a file: ONNX, and `torch.export` and TorchScript files that you trust."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._extras import import_extra
from tradeoff._validation import check_count
from tradeoff.exceptions import InvalidInputError, first_line
from tradeoff.features.images import Pixels
from tradeoff.features.network import ImageNetwork, hash_files
from tradeoff.features.runtime import open_network
from tradeoff.features.trust import leaves_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NETWORK_SUFFIXES", "NetworkFile"]

NETWORK_SUFFIXES = (".onnx", ".pt2", ".pt", ".ts", ".torchscript")
_SAFE = "Only ONNX files and safetensors weights can be loaded without trust."


@dataclass(frozen=True)
class NetworkFile(ImageNetwork):
    """A network in a file, from images of shape (32, 3, size, size) to features.

    Loading a ``.pt2`` or TorchScript file can run any code that its author put into it, so both
    require `trusted=True`. An ONNX file holds no code.

    A TorchScript network whose `forward` accepts `return_features` is called with it and receives
    bytes, because it resizes and normalizes images itself: set `size` to the size of your images.
    The networks that NVIDIA distributes for FID and improved precision and recall are like this.

    Args:
        path: ``.onnx``, ``.pt2`` (`torch.export`) or TorchScript file.
        size: Height and width in pixels to which images are resized, with antialiasing.
        mean: Value subtracted from pixels, which lie between 0 and 255.
        deviation: Value by which pixels are divided afterwards.
        trusted: Whether to load a ``.pt2`` or TorchScript file, which can run any code.
        device: Device of the network; "auto" is a GPU if there is one; ONNX runs on the CPU.
        dtype: Precision of products inside a PyTorch network; an ONNX file has its own.

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
        if self._suffix == ".onnx" and self.dtype != "float32":
            raise InvalidInputError(
                f"`dtype` must be float32 for an ONNX file. Got {self.dtype}: convert the file."
            )

    @property
    def name(self) -> str:
        """The file's name."""
        return Path(self.path).name

    @cached_property
    def weights(self) -> str:
        """A hash of the file and of all files in which an ONNX network keeps its weights."""
        path = self._found
        return hash_files([path, *(_external_files(path) if self._suffix == ".onnx" else ())])

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
        if load is not _onnx:
            self._check_trust(path)
        try:
            return load(path)
        except (InvalidInputError, ImportError):
            raise
        except Exception as error:  # of each library's own kinds
            raise InvalidInputError(
                f"`{path}` must be a network. It cannot be loaded: {first_line(error)}."
            ) from None

    def _check_trust(self, path: Path) -> None:
        """Refuse a file that can run code, before any library opens it."""
        if not self.trusted:
            written = "a torch.export" if self._suffix == ".pt2" else "a TorchScript"
            raise InvalidInputError(
                f"`{path}` is {written} file, and loading it can run any code. Pass trusted=True "
                f"(--trusted) if you trust its author, or convert it to ONNX. {_SAFE}"
            )

    def _exported(self, path: Path) -> Callable[..., Any]:
        torch = import_extra("torch", extra="torch", purpose="A network")
        module: Callable[..., Any] = torch.export.load(str(path)).module().to(self.torch_device)
        return module

    def _script(self, path: Path) -> Callable[..., Any]:
        torch = import_extra("torch", extra="torch", purpose="A network")
        module: Callable[..., Any] = torch.jit.load(str(path), self.torch_device).eval()
        return module


def _returns_features(network: Any) -> bool:
    schema = getattr(getattr(network, "forward", None), "schema", None)
    return schema is not None and "return_features" in {a.name for a in schema.arguments}


def _onnx(path: Path) -> Callable[..., Any]:
    import torch

    import_extra("onnxruntime", extra="onnx", purpose="An ONNX network")
    _external_files(path)  # the runtime must not open a file that we would refuse
    network = open_network(str(path))

    def run(x: Any) -> Any:
        try:
            output = network(x.cpu().numpy())
        except Exception as error:  # of the runtime's own kinds
            raise InvalidInputError(
                f"`{path}` must take float32 images of shape {tuple(x.shape)}. {first_line(error)}."
            ) from None
        return torch.from_numpy(output)

    return run


def _external_files(path: Path) -> list[Path]:
    """Files next to an ONNX network that hold some of its weights, in a fixed order."""
    onnx = import_extra("onnx", extra="onnx", purpose="An ONNX network")
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # of protobuf's own kinds
        raise InvalidInputError(
            f"`{path}` must be a network. It cannot be loaded: {first_line(error)}."
        ) from None
    locations = {
        entry.value
        for message in _messages(model)
        if isinstance(message, onnx.TensorProto)
        for entry in message.external_data
        if entry.key == "location"
    }
    return [_beside(path, location) for location in sorted(locations)]


def _messages(message: Any) -> Iterator[Any]:
    """A protobuf message and all messages inside it, however deep."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in (value,) if hasattr(value, "ListFields") else value:
                yield from _messages(part)


def _beside(path: Path, location: str) -> Path:
    """A file of weights, which must be in the folder of its network."""
    found = path.parent / location
    # A cache of the hub links every file to a folder of contents: there, both lie in that folder.
    homes = (path.parent.resolve(), path.resolve().parent)
    if leaves_folder(location) or not any(found.resolve().is_relative_to(home) for home in homes):
        raise InvalidInputError(
            f"`{path}` must keep its weights in its own folder. It names {location!r}, which is "
            "outside: save the network with weights next to it."
        )
    if not found.is_file():
        raise InvalidInputError(
            f"`{path}` needs {location!r}, which holds its weights and does not exist. Copy it to "
            "the folder of the network."
        )
    return found
