"""Streams of samples, embedded: order, ids, broken items, choices, and overlap."""

import itertools
import threading

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Broken, Sample, open_source
from tradeoff.data.items import Items
from tradeoff.embedding import chunks, embed_source
from tradeoff.exceptions import UnreadableError
from tradeoff.features import Function
from tradeoff.features.plain import Identity


def letters(texts):
    return [[text.count("a"), len(text)] for text in texts]


LETTERS = Function(letters, "letters", "text", "1")
TEXTS = [f"{'a' * (i % 7)}{'b' * (i % 11)}." for i in range(1300)]
CHUNK = 64  # images that are embedded together


class Some:
    kind = "text"

    def __iter__(self):
        yield Sample("first", "aa", "x")
        yield Broken("second", "The file is empty.")
        yield Sample("third", "ab", None)


def test_features_come_in_the_order_of_the_source():
    embedded = embed_source(open_source(TEXTS, name="t"), LETTERS)
    np.testing.assert_array_equal(embedded.features, letters(TEXTS))
    assert embedded.ids == tuple(f"t[{i}]" for i in range(1300))
    assert embedded.reused == 0
    assert embedded.provenance["encoder"] == "letters"
    assert embedded.provenance["samples"] == 1300


def test_broken_items_are_named_or_end_the_run():
    embedded = embed_source(Some(), LETTERS, name="generated")
    assert embedded.ids == ("first", "third")
    assert embedded.labels == ("x", None)
    assert embedded.broken == (Broken("second", "The file is empty."),)
    with pytest.raises(InvalidInputError, match="`second` of generated is broken: The file is"):
        embed_source(Some(), LETTERS, name="generated", broken="stop")
    with pytest.raises(InvalidInputError, match="`broken` must be one of skip, stop"):
        embed_source(Some(), LETTERS, broken="ignore")


def test_what_cannot_be_prepared_is_broken_too():
    class Picky:
        name, kind, preprocessing, weights = "picky", "text", "none", ""

        def prepare(self, sample):
            if "b" in sample.content:
                raise UnreadableError("It has a b.")
            return sample.content

        def embed(self, prepared):
            return np.array(letters(prepared), dtype=float)

    embedded = embed_source(open_source(["a", "ab", "aa"], name="t"), Picky())
    assert embedded.ids == ("t[0]", "t[2]")
    np.testing.assert_array_equal(embedded.features, letters(["a", "aa"]))
    with pytest.raises(InvalidInputError, match="All 1 are broken, `t.0.` among them: It has a b"):
        embed_source(open_source(["b"], name="t"), Picky(), name="real")


def test_a_limit_chooses_at_random_and_keeps_the_order():
    source = open_source(TEXTS, name="t")
    few, same, other = (embed_source(source, LETTERS, limit=100, seed=s) for s in (0, 0, 1))
    assert few.ids == same.ids != other.ids
    assert len(few.ids) == len(other.ids) == 100
    numbers = [int(i[2:-1]) for i in few.ids]
    assert numbers == sorted(numbers)
    assert max(numbers) > 1000  # not the first ones; misses once in 10⁶
    assert embed_source(source, LETTERS, limit=5000).ids == tuple(f"t[{i}]" for i in range(1300))
    with pytest.raises(InvalidInputError, match="an iterator can be read only once"):
        embed_source(Items(iter(TEXTS), "t", "text"), LETTERS, limit=10)


def test_a_limit_holds_where_ids_repeat():
    source = open_source([("same", row) for row in np.arange(200.0).reshape(100, 2)])
    assert len(embed_source(source, Identity(), limit=50).ids) == 50


def test_features_must_have_one_length():
    rows = [np.zeros(3)] * 512 + [np.zeros(2)]
    with pytest.raises(InvalidInputError, match="features of one length. Got 3 and 2 columns"):
        embed_source(Items(rows, "t", "features"), Identity())


def test_kinds_must_agree():
    with pytest.raises(
        InvalidInputError, match="features samples for the encoder `identity`. Got text"
    ):
        embed_source(open_source(["a"]), Identity(), name="real")


def test_errors_of_the_source_and_of_the_embedder_come_through():
    threads = threading.active_count()

    class Failing:
        kind = "text"

        def __iter__(self):
            for text in TEXTS:
                yield Sample("a", text)
            raise InvalidInputError("The source ends badly.")

    with pytest.raises(InvalidInputError, match="ends badly"):
        embed_source(Failing(), LETTERS)
    with pytest.raises(ZeroDivisionError):
        embed_source(
            open_source(TEXTS), Function(lambda texts: [[1 / 0] for _ in texts], "f", "text", "1")
        )
    assert threading.active_count() == threads  # none is left behind


def test_features_do_not_depend_on_how_chunks_are_closed(monkeypatch):
    """A product chooses its algorithm by its shape, so each batch must have one shape."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (100, 8, 8, 3), dtype=np.uint8)
    weights = rng.normal(size=(192, 50)).astype(np.float32)

    def project(pixels):
        return np.stack(pixels).reshape(len(pixels), -1).astype(np.float32) @ weights

    function = Function(project, "project", "image", "1")
    found = []
    for most in (10**9, 192 * 5, 1):
        monkeypatch.setattr(chunks, "_CHUNK_BYTES", most)
        found.append(embed_source(open_source(images), function, progress=False).features)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_preparing_overlaps_with_embedding():
    """A chunk is embedded only once a sample of the next one is being prepared."""

    class Waiting:
        name, kind, preprocessing, weights = "waiting", "image", "none", ""
        prepared, next_chunk = itertools.count(1), threading.Event()

        def prepare(self, sample):
            if next(self.prepared) > CHUNK:
                self.next_chunk.set()
            return sample.content

        def embed(self, prepared):
            assert self.next_chunk.wait(60), "nothing is prepared while a chunk is embedded"
            return np.zeros((len(prepared), 1))

    images = np.zeros((CHUNK * 3, 4, 4, 3), np.uint8)
    assert (
        embed_source(open_source(images), Waiting(), progress=False).features.shape[0] == CHUNK * 3
    )


class Odd:
    name, kind, preprocessing, weights = "odd", "text", "", ""

    def prepare(self, sample):
        return sample.content

    def embed(self, prepared):
        return np.array([[np.inf if text == "b" else 0.0] for text in prepared])


def test_features_must_be_finite_and_the_sample_is_named():
    """Also those of samples after the first one."""
    with pytest.raises(InvalidInputError, match=r"features of `poems\[1\]` must be finite.*`odd`"):
        embed_source(open_source(["a", "b"], name="poems"), Odd(), progress=False)
