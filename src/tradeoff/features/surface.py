"""Statistics of the surface of a text: lengths, characters, case, repetition and spelling.

Shares of characters and words, how repetitive a text is, and the characters in sequences of one to
three, hashed into a fixed number of columns. Nothing is fitted, and no language is assumed.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from math import log, log1p, log2, sqrt
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tradeoff._validation import check_count
from tradeoff.exceptions import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from tradeoff.data.base import Kind, Sample

    Array = npt.NDArray[np.float32]
    Named = Iterator[tuple[str, float]]

__all__ = ["SurfaceStatistics"]

_VERSION = 1
_MARKS = ".,;:!?'\"()-/@#&%$*_\n"
_CLASSES = {
    "lower case": ("Ll",),
    "upper case": ("Lu", "Lt"),
    "other letters": ("Lo", "Lm", "Mn", "Mc", "Me"),
    "digits": ("Nd", "Nl", "No"),
    "space": ("Zs", "Zl", "Zp", "Cc"),
    "punctuation": ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po"),
    "symbols": ("Sm", "Sc", "Sk", "So"),
}
_CLASS_OF = {category: name for name, codes in _CLASSES.items() for category in codes}
_SENTENCE = re.compile(r"[.!?…。！？]+(?=\s|$)")
_LONGEST = 100_000
"""Characters of a text that are read; what follows changes shares little, and costs time."""


@dataclass(frozen=True)
class SurfaceStatistics:
    """Statistics of how a text is written, whatever it says; nothing is learned.

    Args:
        hashed: Number of columns into which sequences of characters are hashed.

    Example:
        >>> from tradeoff.data import Sample
        >>> from tradeoff.features.surface import SurfaceStatistics
        >>> encoder = SurfaceStatistics()
        >>> texts = [Sample("0", "A cat. A dog."), Sample("1", "a cat a dog")]
        >>> features = encoder.embed([encoder.prepare(text) for text in texts])
        >>> features[:, encoder.columns.index("characters: upper case")].round(2)
        array([0.39, 0.  ], dtype=float32)
    """

    name: ClassVar[str] = "surface"
    kind: ClassVar[Kind] = "text"
    weights: ClassVar[str] = ""
    hashed: int = 96

    def __post_init__(self) -> None:
        check_count("hashed", self.hashed)

    @property
    def preprocessing(self) -> str:
        """In words, with the version of the definition."""
        return (
            f"statistics of characters and words, version {_VERSION}; 1 to 3 characters hashed "
            f"into {self.hashed} columns; cut at {_LONGEST:,} characters"
        )

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        hashed = (f"sequences of characters: {i}" for i in range(self.hashed))
        return (*(name for name, _ in _statistics("")), *hashed)

    def prepare(self, sample: Sample) -> Array:
        """The features of one text, shape (d,)."""
        if not isinstance(sample.content, str):
            raise UnreadableError("A text was expected.")
        text = sample.content[:_LONGEST]
        counted = [value for _, value in _statistics(text)]
        return np.concatenate((counted, _sequences(text, self.hashed))).astype(np.float32)

    def embed(self, prepared: Sequence[Array]) -> Array:
        """Features of prepared texts, shape (n, d)."""
        return np.stack(prepared)


def _statistics(text: str) -> Named:
    """Features with their names, all but the hashed ones."""
    words = text.split()
    yield from _lengths(text, words)
    yield from _characters(text)
    yield from _words(words)
    yield from _repetition(text, words)


def _lengths(text: str, words: list[str]) -> Named:
    sentences = len(_SENTENCE.findall(text))
    yield "length: characters", log1p(len(text))
    yield "length: words", log1p(len(words))
    yield "length: sentences", log1p(sentences)
    yield "length: lines", log1p(text.count("\n"))
    yield "length: words of a sentence", log1p(len(words) / max(sentences, 1))


def _characters(text: str) -> Named:
    """Square roots of shares, whose spread does not depend on the share."""
    counts, size = Counter(text), max(len(text), 1)
    classes = dict.fromkeys(_CLASSES, 0)
    for character, count in counts.items():
        name = _CLASS_OF.get(unicodedata.category(character))
        if name is not None:
            classes[name] += count
    for name, count in classes.items():
        yield f"characters: {name}", sqrt(count / size)
    beyond = sum(count for character, count in counts.items() if character > "\x7f")
    yield "characters: not ASCII", sqrt(beyond / size)
    for mark in _MARKS:
        yield f"characters: {mark!r}", sqrt(counts[mark] / size)
    yield "characters: entropy", _entropy(counts, size)


def _entropy(counts: Counter[str], size: int) -> float:
    return sum(count / size * log2(size / count) for count in counts.values())


def _words(words: list[str]) -> Named:
    number = max(len(words), 1)
    lengths = np.array([len(word) for word in words] or [0])
    yield "words: mean length", float(np.log1p(lengths).mean())
    yield "words: deviation of lengths", float(np.log1p(lengths).std())
    yield "words: longest", log1p(int(lengths.max()))
    kinds = {
        "lower case": sum(word.islower() for word in words),
        "capitalized": sum(word[:1].isupper() and not word.isupper() for word in words),
        "upper case": sum(word.isupper() for word in words),
        "only letters": sum(word.isalpha() for word in words),
        "with digits": sum(any(c.isdigit() for c in word) for word in words),
    }
    for name, count in kinds.items():
        yield f"words: {name}", sqrt(count / number)
    yield "first character is upper case", float(words[0][0].isupper() if words else 0)
    yield (
        "last character is punctuation",
        float(_CLASS_OF.get(unicodedata.category(words[-1][-1])) == "punctuation" if words else 0),
    )


def _repetition(text: str, words: list[str]) -> Named:
    """How much of a text was there before: words, sequences of words, and characters."""
    lower = [word.lower() for word in words]
    for length in (1, 2, 3):
        grams = list(zip(*(lower[i:] for i in range(length)), strict=False))
        yield (
            f"repetition: {length} words",
            sqrt(1 - len(set(grams)) / max(len(grams), 1)) if grams else 0.0,
        )
    yield "repetition: characters in a row", log(_longest_run(text) + 1)
    phrases = _phrases(text)
    yield "repetition: compressed size", phrases * log2(phrases + 1) / max(len(text), 1)


def _longest_run(text: str) -> int:
    return max(
        (found.end() - found.start() for found in re.finditer(r"(.)\1*", text, re.S)), default=0
    )


def _phrases(text: str) -> int:
    """Phrases into which Lempel and Ziv (1978) divide a text: unlike zlib, the same everywhere."""
    known, phrase = set[str](), ""
    for character in text:
        phrase += character
        if phrase not in known:
            known.add(phrase)
            phrase = ""
    return len(known) + bool(phrase)


def _sequences(text: str, columns: int) -> npt.NDArray[np.float64]:
    """Sequences of 1, 2 and 3 characters, each with a sign in one of the columns."""
    encoded = f" {text} ".encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(encoded, np.uint32).astype(np.uint64)
    total = np.zeros(columns)
    for length in (1, 2, 3):
        keys = np.full(max(codes.size - length + 1, 0), length, np.uint64)
        for i in range(length):
            keys = _mixed(keys ^ codes[i : i + keys.size])
        distinct, counts = np.unique(keys, return_counts=True)
        place = (distinct >> np.uint64(1)) % np.uint64(columns)
        signs = 1.0 - 2.0 * (distinct & np.uint64(1)).astype(np.float64)
        values = np.sqrt(counts / max(keys.size, 1)) * signs
        total += np.bincount(place.astype(np.intp), values, minlength=columns)
    return total


def _mixed(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014): a stable hash of numbers."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
