"""A ledger keeps what is on disk, whatever happens to the process that writes it."""

import pytest

from tradeoff.counting.ledger import Ledger
from tradeoff.exceptions import InvalidInputError

CONTENTS = {"b": b"second", "a": b"first" * 100, "c": b""}


@pytest.fixture
def path(tmp_path):
    with Ledger(tmp_path / "ledger", plan="p") as ledger:
        for name, content in CONTENTS.items():
            ledger.add(name, content)
    return tmp_path / "ledger"


def test_what_was_added_is_there_in_the_order_of_names(path):
    with Ledger(path, plan="p") as ledger:
        assert list(ledger.values()) == [CONTENTS[name] for name in "abc"]
        assert "a" in ledger
        assert "d" not in ledger
        assert len(ledger) == 3


def test_nothing_is_added_twice(path):
    with Ledger(path, plan="p") as ledger, pytest.raises(InvalidInputError, match="already"):
        ledger.add("a", b"again")


def test_a_torn_end_is_cut_off_at_every_byte(path, tmp_path):
    whole = path.read_bytes()
    added = list(CONTENTS)
    torn = tmp_path / "torn"
    for size in range(len(whole) + 1):
        torn.write_bytes(whole[:size])
        with Ledger(torn, plan="p") as ledger:
            kept = [name for name in added if name in ledger]
            assert kept == added[: len(kept)]
            assert list(ledger.values()) == [CONTENTS[name] for name in sorted(kept)]
            for name in added[len(kept) :]:
                ledger.add(name, CONTENTS[name])
        assert torn.read_bytes() == whole


def test_a_flipped_bit_drops_what_comes_after_it(path):
    content = bytearray(path.read_bytes())
    content[-20] ^= 1  # in the checksum of the last
    path.write_bytes(content)
    with Ledger(path, plan="p") as ledger:
        assert [name for name in CONTENTS if name in ledger] == ["b", "a"]


def test_other_runs_and_other_files_are_refused(path):
    with pytest.raises(InvalidInputError, match="belongs to another run"):
        Ledger(path, plan="q")
    path.write_bytes(b"something else entirely, long enough to be one")
    with pytest.raises(InvalidInputError, match="is not a ledger"):
        Ledger(path, plan="p")
