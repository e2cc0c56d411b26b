"""From samples to features: embedders behind one small interface."""

from tradeoff.features.base import Embedder
from tradeoff.features.images import decode_image
from tradeoff.features.offline import EfficientNetLite0, MiniLM
from tradeoff.features.plain import Function, Identity
from tradeoff.features.table import TableEncoder

__all__ = [
    "EfficientNetLite0",
    "Embedder",
    "Function",
    "Identity",
    "MiniLM",
    "TableEncoder",
    "decode_image",
]
