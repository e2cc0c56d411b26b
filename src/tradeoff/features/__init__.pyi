from .base import Encoder
from .files import NetworkFile
from .open import open_encoder
from .plain import Function
from .registry import ENCODERS, EncoderDeclaration

__all__ = [
    "ENCODERS",
    "Encoder",
    "EncoderDeclaration",
    "Function",
    "NetworkFile",
    "open_encoder",
]
