"""Statistics of how texts are written."""

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample
from tradeoff.exceptions import UnreadableError
from tradeoff.features import open_encoder
from tradeoff.features.surface import SurfaceStatistics

TEXTS = [
    "",
    " ",
    "a",
    "A cat sleeps. Then it (42 years old!) wakes up, and runs.",
    "日本語の文章です。とても短い。",
    "👩‍👩‍👧 e\u0301 \u202e x",
    "\ud800 alone",
    "\x00\x1b[31m",
    "the the the the the the",
    "x" * 5000,
    "One line.\nAnother line.\n",
]


def features_of(contents, encoder=None):
    encoder = encoder or SurfaceStatistics()
    return encoder.embed([encoder.prepare(Sample(str(i), c)) for i, c in enumerate(contents)])


def value(text, name):
    return features_of([text])[0, SurfaceStatistics().columns.index(name)]


def test_shape_names_and_identity():
    encoder = SurfaceStatistics()
    found = features_of(TEXTS)
    assert found.shape == (len(TEXTS), len(encoder.columns))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    assert len(set(encoder.columns)) == len(encoder.columns)
    assert "version 1" in encoder.preprocessing
    assert open_encoder("surface", kind="text") == encoder
    assert features_of(TEXTS, SurfaceStatistics(hashed=8)).shape[1] == found.shape[1] - 88


def test_features_depend_on_nothing_but_the_sample():
    whole = features_of(TEXTS)
    np.testing.assert_array_equal(np.concatenate([features_of([text]) for text in TEXTS]), whole)
    np.testing.assert_array_equal(features_of(TEXTS[::-1])[::-1], whole)


def test_hashing_is_the_same_on_every_machine():
    """Features in stores and references are used elsewhere."""
    hashed = features_of(["A rose is a rose."], SurfaceStatistics(hashed=4))[0, -4:]
    np.testing.assert_allclose(hashed, HASHED, rtol=1e-6)


HASHED = [-0.041493386, 0.0062865265, 1.4387976, 1.0498774]


def test_numbers_are_what_their_names_say():
    text = "Two words. THREE more words!"
    assert value(text, "length: characters") == pytest.approx(np.log1p(28))
    assert value(text, "length: words") == pytest.approx(np.log1p(5))
    assert value(text, "length: sentences") == pytest.approx(np.log1p(2))
    assert value(text, "characters: upper case") == pytest.approx(np.sqrt(6 / 28))
    assert value(text, "characters: '!'") == pytest.approx(np.sqrt(1 / 28))
    assert value(text, "words: upper case") == pytest.approx(np.sqrt(1 / 5))
    assert value(text, "words: capitalized") == pytest.approx(np.sqrt(1 / 5))
    assert value(text, "last character is punctuation") == 1
    assert value("a b a b a b", "repetition: 1 words") == pytest.approx(np.sqrt(4 / 6))
    assert value("abbbb", "repetition: characters in a row") == pytest.approx(np.log(5))


def test_repetition_makes_a_text_small():
    name = "repetition: compressed size"
    rng = np.random.default_rng(0)
    random = "".join(rng.choice(list("abcdefghij"), 1000))
    assert value("abcdefghij" * 100, name) < 0.5 * value(random, name)


def test_style_is_seen_whatever_the_topic():
    texts = [
        f"The {a}, as {b} said, met {a} in 1990." for a in ("cat", "dog") for b in ("Al", "Jo")
    ]
    plain = ["".join(c for c in text.lower() if c.isalnum() or c == " ") for text in texts]
    before, after = features_of(texts), features_of(plain)
    changed = np.abs((before - after).mean(0)) > 5 * (before.std(0) + after.std(0) + 1e-3)
    names = np.array(SurfaceStatistics().columns)[changed]
    assert {"characters: upper case", "characters: ','", "characters: punctuation"} <= set(names)


def test_a_long_text_takes_no_longer_than_its_beginning():
    long = "word " * 1_000_000
    np.testing.assert_array_equal(features_of([long]), features_of([long[:100_000]]))


def test_what_is_no_text_is_refused():
    with pytest.raises(UnreadableError, match="A text was expected"):
        features_of([b"bytes"])
    with pytest.raises(InvalidInputError, match="`hashed` must be"):
        SurfaceStatistics(hashed=0)
