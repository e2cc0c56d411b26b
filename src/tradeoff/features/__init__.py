"""From samples to features: embedders behind one small interface."""

from tradeoff.features.base import Embedder
from tradeoff.features.files import NetworkFile
from tradeoff.features.hub import HubImages, HubTexts
from tradeoff.features.images import Pixels, decode_image
from tradeoff.features.offline import EfficientNetLite0, MiniLM
from tradeoff.features.open import open_embedder
from tradeoff.features.plain import Function, Identity
from tradeoff.features.store import FeatureStore, Shelf
from tradeoff.features.table import TableEncoder

__all__ = [
    "EfficientNetLite0",
    "Embedder",
    "FeatureStore",
    "Function",
    "HubImages",
    "HubTexts",
    "Identity",
    "MiniLM",
    "NetworkFile",
    "Pixels",
    "Shelf",
    "TableEncoder",
    "decode_image",
    "open_embedder",
]
