"""From sources of samples to features: encoders run over streams, batch by batch."""

from tradeoff.embedding.embed import Embedded, embed_source

__all__ = ["Embedded", "embed_source"]
