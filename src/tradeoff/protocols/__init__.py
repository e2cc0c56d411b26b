"""Named recipes of the literature, with the settings that gave the published numbers."""

from tradeoff.protocols.base import PROTOCOLS, reproduce

__all__ = ["PROTOCOLS", "reproduce"]
