from .base import Encoder
from .files import NetworkFile
from .open import open_encoder
from .plain import Function
from .registry import ENCODERS, EncoderDeclaration
from .views import Views

__all__ = [
    "ENCODERS",
    "Encoder",
    "EncoderDeclaration",
    "Function",
    "NetworkFile",
    "Views",
    "open_encoder",
]
