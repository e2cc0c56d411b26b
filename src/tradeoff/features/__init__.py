"""From samples to features: embedders behind one small interface."""

from tradeoff.features.base import Embedder
from tradeoff.features.images import decode_image
from tradeoff.features.plain import Function, Identity
from tradeoff.features.table import TableEncoder

__all__ = ["Embedder", "Function", "Identity", "TableEncoder", "decode_image"]
