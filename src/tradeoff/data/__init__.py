"""Reading samples: one source for each way of keeping them, and one entry point to all."""

from tradeoff.data.archives import ImageArchive
from tradeoff.data.arrays import ArraySource
from tradeoff.data.base import Broken, Sample, Source
from tradeoff.data.images import ImageFolder
from tradeoff.data.items import Items
from tradeoff.data.open import open_source
from tradeoff.data.records import Records
from tradeoff.data.text import TextFile

__all__ = [
    "ArraySource",
    "Broken",
    "ImageArchive",
    "ImageFolder",
    "Items",
    "Records",
    "Sample",
    "Source",
    "TextFile",
    "open_source",
]
