"""Named recipes of the literature, with the settings that gave the published numbers."""

from tradeoff.protocols.base import PROTOCOLS, Published, Reproduction, reproduce

__all__ = ["PROTOCOLS", "Published", "Reproduction", "reproduce"]
