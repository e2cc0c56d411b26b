"""Running embedders over streams of samples, and tasks over parts of them."""

from tradeoff.engine.local import Embedded, embed_source
from tradeoff.engine.tasks import LocalEngine, RayEngine

__all__ = ["Embedded", "LocalEngine", "RayEngine", "embed_source"]
