"""One run at a time uses a ledger, and damage costs what it hits."""

import contextlib
import json
import random
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

from tradeoff.counting.ledger import Ledger
from tradeoff.exceptions import InvalidInputError, UnavailableError

NAMES = [f"shard {i}" for i in range(6)]


@pytest.fixture
def path(tmp_path):
    with Ledger(tmp_path / "ledger", plan="p") as ledger:
        for i, name in enumerate(NAMES):
            ledger.add(name, bytes([i]) * (10 + i))
    return tmp_path / "ledger"


def test_a_second_run_is_refused_and_changes_nothing(path):
    with Ledger(path, plan="p") as first:
        before = path.read_bytes()
        with pytest.raises(InvalidInputError, match="in use by another run"):
            Ledger(path, plan="p")
        assert path.read_bytes() == before
        first.add("one more", b"content")
    with Ledger(path, plan="p") as second:
        assert second["one more"] == b"content"


def test_every_flipped_bit_costs_one_record_at_most(path):
    content = path.read_bytes()
    whole = {name: bytes([i]) * (10 + i) for i, name in enumerate(NAMES)}
    lost = []
    for place in range(len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with warned_or_not(), Ledger(path, plan="p") as ledger:
            found = {name: ledger[name] for name in ledger}
            assert found.items() <= whole.items()
            lost.append(len(whole) - len(found))
            for name in whole.keys() - found.keys():
                ledger.add(name, whole[name])
        with warned_or_not(), Ledger(path, plan="p") as ledger:
            assert {name: ledger[name] for name in ledger} == whole
    assert set(lost) == {0, 1}
    assert lost[0] == 0  # the header can be written again


@contextlib.contextmanager
def warned_or_not():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_damage_in_the_middle_is_told(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.warns(UserWarning, match="is damaged in 1 places"):
        Ledger(path, plan="p").__exit__()


def test_every_read_is_verified(path):
    with Ledger(path, plan="p") as ledger:
        content = bytearray(path.read_bytes())
        place = content.index(bytes([3]) * 13)
        content[place] ^= 1
        path.write_bytes(content)
        with pytest.raises(UnavailableError, match="damaged during the run"):
            ledger[NAMES[3]]
        assert ledger[NAMES[4]] == bytes([4]) * 14


def test_records_of_another_plan_are_not_taken(path):
    """Also if someone writes our header over theirs."""
    theirs = path.read_bytes()
    ours = theirs.replace(b"\np\n", b"\nq\n", 1)
    path.write_bytes(ours)
    with Ledger(path, plan="q") as ledger:
        assert not list(ledger)


@pytest.mark.slow
def test_several_runs_in_one_folder_count_right_or_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    for side, shift in (("real", 0.0), ("generated", 0.5)):
        (tmp_path / side).mkdir()
        for i in range(12):
            x = rng.normal(shift, 1, (500, 4)).astype(np.float32)
            rows = pa.FixedSizeListArray.from_arrays(pa.array(x.ravel()), 4)
            pq.write_table(pa.table({"features": rows}), tmp_path / side / f"{i:02d}.parquet")

    def start(seed, ledger):
        command = [sys.executable, "-W", "ignore", "-m", "tests.attacks.test_ledgers"]
        return subprocess.Popen(
            [*command, str(tmp_path), str(seed), str(ledger)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    truth = start(0, tmp_path / "alone").communicate()[0]
    assert json.loads(truth)[0] == {"real": 6000, "generated": 6000}
    shared = tmp_path / "shared"
    shared.mkdir()
    for file in ("plan.json", "rule.npz"):
        shutil.copy(tmp_path / "alone" / file, shared)
    ends = [run.communicate() for run in [start(seed, shared) for seed in (1, 2, 3)]]
    assert any(out == truth for out, _ in ends)
    assert all(out == truth or "in use by another run" in err for out, err in ends)
    assert start(5, shared).communicate()[0] == truth


class Shuffled:
    """An engine may return results in any order."""

    def __init__(self, seed):
        self.seed = seed

    def run(self, task, shared, items, *, stays=False):
        from tradeoff.engines import LocalEngine

        order = list(range(len(items)))
        random.Random(self.seed).shuffle(order)
        for i in order:
            for _, result in LocalEngine(1).run(task, shared, [items[i]]):
                yield i, result


if __name__ == "__main__":
    from tradeoff import evaluate

    folder, seed, ledger = sys.argv[1:]
    result = evaluate(
        real=f"{folder}/real",
        generated=f"{folder}/generated",
        rule="frozen",
        estimator="logistic",
        metrics=("curve", "frechet"),
        engine=Shuffled(int(seed)),
        ledger=ledger,
        progress=False,
    )
    area, distance = result["curve.area"].value, result["frechet.distance"].value
    print(json.dumps([result.provenance["samples"], area, distance]))  # noqa: T201
