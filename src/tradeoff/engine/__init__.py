"""Running embedders over streams of samples."""

from tradeoff.engine.local import Embedded, embed_source

__all__ = ["Embedded", "embed_source"]
