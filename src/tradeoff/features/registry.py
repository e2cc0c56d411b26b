"""Encoders by name, declared without importing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tradeoff._registry import Registry

if TYPE_CHECKING:
    from tradeoff.data.base import Kind

__all__ = ["DEFAULTS", "ENCODERS", "EncoderDeclaration"]


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


ENCODERS: Registry[EncoderDeclaration] = Registry(
    "encoder",
    "tradeoff.encoders",
    (
        EncoderDeclaration(
            "efficientnet-lite0",
            "image",
            "EfficientNet-Lite0, trained on ImageNet; needs no download",
            "tradeoff.features.offline:EfficientNetLite0",
        ),
        EncoderDeclaration(
            "all-minilm-l6-v2",
            "text",
            "all-MiniLM-L6-v2, a sentence encoder; needs no download",
            "tradeoff.features.offline:MiniLM",
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
"""Encoder of each kind of samples unless the user chooses one, whatever is installed."""
