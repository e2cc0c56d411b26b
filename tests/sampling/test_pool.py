"""The best of a pool: chosen by one half of the real samples, judged by the other."""

import json

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tradeoff import InvalidInputError, PRCurve
from tradeoff.sampling import filter_pool
from tradeoff.sampling.pool import _systematic

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(1000, 2))
POOL = np.concatenate((RNG.normal(size=(600, 2)), RNG.normal(7, 1, (600, 2))))


QUICK = {"estimator": "logistic", "progress": False}


@pytest.mark.slow
def test_invented_samples_are_dropped_and_the_rest_is_kept_as_it_is():
    chosen = filter_pool(real=REAL, generated=POOL, budget=2.0, **QUICK)
    assert len(chosen.index) == 600
    assert (chosen.index < 600).mean() > 0.97
    kept = POOL[chosen.index]
    assert np.abs(kept.mean(0)).max() < 0.3
    assert chosen.before.curve.precision(20.0) < 0.6
    assert chosen.after.curve.precision(20.0) > 0.9
    assert chosen.after.curve.recall(0.4) > 0.9
    assert chosen.before.provenance["samples"]["real"] == 500  # the half that had no say


@pytest.mark.slow
def test_a_number_to_keep():
    for keep in (100, 599, 1200):
        chosen = filter_pool(real=REAL, generated=POOL, keep=keep, **QUICK)
        assert abs(len(chosen.index) - keep) <= 1
        assert (np.diff(chosen.index) > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Either `budget` or `keep` must be given"),
        ({"budget": 2.0, "keep": 3}, "and not both"),
        ({"keep": 5000}, "`keep` must be at most the pool, 1200"),
        ({"budget": 0.5}, "`budget` must be at least 1"),
        ({"keep": 10}, "`keep` must be at least 20"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(InvalidInputError, match=message):
        filter_pool(real=REAL, generated=POOL, **QUICK, **options)


def test_too_few_kept_samples_have_no_curve():
    """Ten samples of the real distribution among ninety that are far from it."""
    pool = np.concatenate((REAL[:10], REAL[10:100] + 30.0)) + 0.01
    with pytest.raises(InvalidInputError, match="At least 20 samples must be kept"):
        filter_pool(real=REAL, generated=pool, budget=10.0, **QUICK)


@pytest.mark.slow
def test_rows_are_chosen_with_their_probability():
    chance = np.array([0.0, 1.0, 0.25, 0.5, 0.75, 1.0])
    counts = np.zeros(6)
    for seed in range(4000):
        index = _systematic(chance, np.random.default_rng(seed))
        assert index.size in (3, 4)  # they add up to 3.5
        counts[index] += 1
    error = np.sqrt(chance * (1 - chance) / 4000)
    assert (np.abs(counts / 4000 - chance) <= 4 * error).all()


@pytest.mark.slow
def test_commands(tmp_path):
    for name, x in (("real", REAL), ("pool", POOL)):
        np.save(tmp_path / f"{name}.npy", x)
    sources = ("--real", tmp_path / "real.npy", "--generated", tmp_path / "pool.npy")
    options = ("--estimator", "logistic", "-q")
    files = {name: tmp_path / name for name in ("ids.txt", "curves.json", "curves.png")}
    written = [
        part
        for name, path in zip(("ids", "curves", "plot"), files.values(), strict=True)
        for part in (f"--{name}", path)
    ]
    done = tradeoff("filter", *sources, *options, "--budget", 2, *written)
    assert done.exit_code == 0
    kept, told = done.stderr.splitlines()
    assert kept == "kept 600 of 1,200"
    assert told.startswith("Written: ")
    assert all(name in told for name in files)
    ids = (tmp_path / "ids.txt").read_text().splitlines()
    assert len(ids) == 600
    assert sum(int(i.removeprefix("pool.npy[")[:-1]) < 600 for i in ids) > 580
    header, before, after = (line.split("\t") for line in done.stdout.splitlines())
    assert header[1:] == ["precision", "recall", "overlap"]
    values = [[float(cell.split()[0]) for cell in row[1:]] for row in (before, after)]
    limits = [[float(cell.rstrip(")").split()[-1]) for cell in row[1:]] for row in (before, after)]
    assert (np.array(limits) >= values).all()
    assert limits[0][0] < values[1][0]  # precision rises beyond what was possible before
    assert values[0][2] < values[1][2]
    curves = {
        name: PRCurve.from_json(json.dumps(fields))
        for name, fields in json.loads(files["curves.json"].read_text()).items()
    }
    assert [one.precision(1.0) for one in curves.values()] == pytest.approx(
        [values[0][2], values[1][2]], abs=1e-3
    )
    assert curves["before"].precision(20.0) < 0.6
    assert files["curves.png"].stat().st_size > 10_000
    lost = tradeoff(
        "filter", *sources, *options, "--keep", 30, "--ids", tmp_path / "no" / "ids.txt"
    )
    assert "does not exist: create it first" in lost.stderr
    shown = tradeoff("filter", *sources, *options, "--keep", 100)
    assert len(shown.stdout.splitlines()) in (99, 100, 101)
    plan = tradeoff("budget", *sources, *options)
    header, *rows = [line.split("\t") for line in plan.stdout.splitlines()]
    assert header[:4] == ["draws", "precision", "recall", "overlap"]
    assert header[-1] == "jensen-shannon"
    assert {len(row) for row in rows} == {len(header)}
    assert [row[0] for row in rows][:4] == ["1", "1.25", "1.5", "2"]
    one, two = (float(rows[i][1].split()[0]) for i in (0, 3))
    assert two > one + 0.3  # precision doubles with two draws
    assert all(float(row[-1]) >= 0 for row in rows)
    assert "the area under the curve hardly grows" in plan.stderr
    assert tradeoff("filter", *sources, *options).exit_code == 2
    (tmp_path / "none.npy").write_bytes(b"")
    broken = ("--real", tmp_path / "none.npy", "--generated", tmp_path / "none.npy")
    early = tradeoff("filter", *broken, *options, "--budget", 0.5)
    assert "`budget` must be at least 1" in early.stderr  # before a source is opened
    for command in (("budget",), ("filter", "--keep", 100)):
        refused = tradeoff(*command, *sources, *options, "--protocol", "adm")
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert "has no option `--protocol`" in refused.stderr
