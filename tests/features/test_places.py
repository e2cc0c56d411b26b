"""Places say what a dictionary would say, in a fraction of its memory."""

import random
import tracemalloc

import numpy as np

from tradeoff.features.store import Places


def test_the_same_as_a_dictionary():
    rng = random.Random(0)
    known = [rng.randbytes(15) + rng.choice([b"\0", b"\1"]) for _ in range(400)]
    known += [bytes(16), b"\0" * 15 + b"\1"]
    places, wanted, first = Places(), dict[bytes, int](), 0
    many = [np.array(known[:50], "S16"), np.array(known[40:80], "S16")]
    places.learn_many(many, [0, 1000])
    for start, keys in ((0, known[:50]), (1000, known[40:80])):
        for i, key in enumerate(keys):
            wanted.setdefault(key, start + i)
    for first in range(2000, 9000, 500):
        keys = rng.sample(known, 60)
        places.learn(keys, first=first)
        for i, key in enumerate(keys):
            wanted.setdefault(key, first + i)
        if first % 3000 == 0:
            places.forget(lambda numbers: numbers // 500 % 4 == 1)
            wanted = {key: n for key, n in wanted.items() if n // 500 % 4 != 1}
        asked = rng.sample(known, 300)
        assert places.find(asked).tolist() == [wanted.get(key, -1) for key in asked]
        assert len(places) == len(wanted)


def test_a_million_places_take_little_memory():
    rng = np.random.default_rng(0)
    keys = rng.bytes(16 * 1_000_000)
    tracemalloc.start()
    places = Places()
    parts = np.frombuffer(keys, "S16").reshape(10, -1)
    places.learn_many(list(parts), list(range(0, 10_000_000, 1_000_000)))
    size, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(places) == 1_000_000
    assert size < 30e6
    assert peak < 100e6
    assert places.find([bytes(parts[3, 5].ljust(16, b"\0"))]).tolist() == [3_000_005]
