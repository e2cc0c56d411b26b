from .base import Encoder
from .files import NetworkFile
from .hub import HubImages, HubTexts
from .images import Pixels, decode_image
from .offline import EfficientNetLite0, MiniLM
from .open import open_encoder
from .plain import Function, Identity
from .store import FeatureStore, Shelf
from .table import TableEncoder

__all__ = [
    "EfficientNetLite0",
    "Encoder",
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
    "open_encoder",
]
