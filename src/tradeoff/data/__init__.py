"""Reading samples: one source for each way of keeping them, and one entry point to all."""

from tradeoff.data.base import Broken, Sample, Source
from tradeoff.data.growing import GrowingFolder
from tradeoff.data.open import open_source

__all__ = [
    "Broken",
    "GrowingFolder",
    "Sample",
    "Source",
    "open_source",
]
