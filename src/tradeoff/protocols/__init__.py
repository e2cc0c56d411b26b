"""Named recipes of the literature, with the settings that gave the published numbers."""

from tradeoff.protocols.base import PROTOCOLS, Reproduction, reproduce

__all__ = ["PROTOCOLS", "Reproduction", "reproduce"]
