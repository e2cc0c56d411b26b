"""Counts of others, broken parts of the data, and more rows than one word can count."""

import io

import numpy as np
import pytest

from tradeoff import evaluate
from tradeoff.counting import CountingPlan, CountingState
from tradeoff.engines import LocalEngine
from tradeoff.exceptions import InvalidInputError
from tradeoff.metrics.moments.exact import ExactSums, Grid


@pytest.fixture(scope="module")
def counted():
    rng = np.random.default_rng(0)
    real, generated = rng.normal(size=(2000, 2)), rng.normal(0.5, 1, (2000, 2))
    plan = CountingPlan.of(real=real, generated=generated, estimator="logistic", moments=True)
    state = CountingState(plan)
    state.update("real", real)
    state.update("generated", generated)
    with np.load(io.BytesIO(state.to_bytes())) as file:
        return plan, {name: file[name] for name in file.files}


def packed(arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **{k: v for k, v in arrays.items() if v is not None})
    return file.getvalue()


def test_a_state_as_it_was_written_is_read(counted):
    plan, arrays = counted
    assert CountingState.from_bytes(packed(arrays), plan).sizes == {"real": 2000, "generated": 2000}


CRAFTED = {
    "no counts": {"real.counts": lambda x: None},
    "no keys": {"real.sampled.keys": lambda x: None},
    "no sums": {"real.sums.sums": lambda x: None},
    "negative counts": {"real.counts": lambda x: -x},
    "one negative count": {"real.counts": lambda x: x - (np.arange(x.size).reshape(x.shape) == 0)},
    "other shape": {"real.counts": lambda x: x[..., :3]},
    "fractions": {"real.counts": lambda x: x * 0.5},
    "floats": {"real.counts": lambda x: x.astype(float)},
    "moved counts": {"real.counts": lambda x: x + (np.arange(x.size).reshape(x.shape) == 5)},
    "huge counts": {"real.counts": lambda x: np.full_like(x, 2**62)},
    "more rows": {"real.rows": lambda x: np.array([10**9, 0])},
    "negative rows": {"real.rows": lambda x: np.array([-5, -5])},
    "more fitted than read": {"real.rows": lambda x: x[::-1].copy()},
    "three rows": {"real.rows": lambda x: np.array([1, 2, 3])},
    "rows without the rest": {"generated.rows": lambda x: None},
    "not JSON": {"real.sampled.ids": lambda x: np.frombuffer(b"not json", np.uint8)},
    "fewer names": {"real.sampled.ids": lambda x: np.frombuffer(b'["a"]', np.uint8)},
    "names that are numbers": {"real.sampled.ids": lambda x: np.frombuffer(b"[1, 2]", np.uint8)},
    "fewer features": {"real.sampled.features": lambda x: x[:5]},
    "other columns": {"real.sampled.features": lambda x: x[:, :1]},
    "NaN": {"real.sampled.features": lambda x: x * np.nan},
    "NaN ratios": {"real.sampled.log_ratios": lambda x: x * np.nan},
    "keys out of order": {"real.sampled.keys": lambda x: x[::-1].copy()},
    "negative squares": {"real.sums.products": lambda x: -x},
    "huge squares": {"real.sums.products": lambda x: x + 2**60},
    "huge sums": {"real.sums.sums": lambda x: x + 2**60},
    "another number of rows in the sums": {"real.sums.count": lambda x: x + 1},
    "a bomb": {"real.more": lambda x: np.zeros(80_000_000)},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CRAFTED)
def test_impossible_states_are_refused(counted, name):
    plan, arrays = counted
    changed = {key: change(arrays.get(key)) for key, change in CRAFTED[name].items()}
    with pytest.raises(InvalidInputError, match="The bytes of a state are damaged"):
        CountingState.from_bytes(packed(arrays | changed), plan)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04" + bytes(100)])
def test_bytes_that_are_no_state_are_refused(counted, content):
    with pytest.raises(InvalidInputError, match="The bytes of a state are damaged"):
        CountingState.from_bytes(content, counted[0])


COLUMNS = {
    "uniform": lambda rng: rng.uniform(-1, 1, (4096, 4)),
    "binary": lambda rng: rng.choice([0.0, 1.0], (4096, 4)),
    "far off": lambda rng: np.where(rng.random((4096, 4)) < 0.01, 1e6, rng.normal(size=(4096, 4))),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_sums_of_any_number_of_rows_are_right(name):
    """Doubled by merging, up to 70 trillion rows; one word would overflow at 4 billion."""
    x = COLUMNS[name](np.random.default_rng(0)).astype("f4")
    grid, sums = Grid.of(x), ExactSums.empty(4)
    sums.update(grid(x))
    first = sums.moments(grid)
    for doubled in range(1, 35):
        sums.merge(ExactSums(sums.count, sums.sums.copy(), sums.products.copy()))
        found = sums.moments(grid)
        assert found.count == 4096 * 2**doubled
        np.testing.assert_array_equal(found.mean, first.mean)
        np.testing.assert_allclose(found.scatter / 2**doubled, first.scatter, rtol=1e-12)


def test_sums_are_those_of_whole_numbers_in_any_order():
    rng = np.random.default_rng(0)
    x = np.concatenate([make(rng) for make in COLUMNS.values()]).astype("f4")
    grid = Grid.of(x)
    rows = grid(x).astype(np.int64).astype(object)
    exact = rows.T @ rows
    for cuts in ([], [1], [100, 101, 5000], list(range(512, len(x), 512))):
        sums = ExactSums.empty(4)
        for part in np.split(x, cuts):
            other = ExactSums.empty(4)
            other.update(grid(part))
            sums.merge(other)
        low, high = (word.astype(object) for word in sums.products)
        assert ((high * 2**40 + low) == exact).all()
        assert (sums.sums == rows.sum(0)).all()


def write(path, x):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path.parent.mkdir(exist_ok=True)
    flat = pa.array(np.float32(x).ravel())
    table = pa.table({"features": pa.FixedSizeListArray.from_arrays(flat, x.shape[1])})
    pq.write_table(table, path)


@pytest.fixture
def shards(tmp_path):
    rng = np.random.default_rng(0)
    for side in ("real", "generated"):
        for i in range(3):
            write(tmp_path / side / f"{i}.parquet", rng.normal(size=(400, 3)))
    return tmp_path


def run(folder, **options):
    from tradeoff.evaluation.pipeline import evaluate_sources
    from tradeoff.settings import Settings

    settings = Settings(rule="frozen", estimator="logistic", metrics=("curve",), **options)
    return evaluate_sources(
        folder / "real", folder / "generated", settings, engine=LocalEngine(1), progress=False
    )


def with_nan(rng, row):
    x = rng.normal(size=(400, 3))
    x[row, 1] = np.nan
    return x


BAD = {f"NaN in row {row}": lambda rng, row=row: with_nan(rng, row) for row in range(0, 12, 2)}
BAD |= {f"{d} columns": lambda rng, d=d: rng.normal(size=(400, d)) for d in (2, 4)}
BAD["too large"] = lambda rng: rng.normal(size=(400, 3)).astype("f8") * np.inf


@pytest.mark.parametrize("place", ["0-bad.parquet", "9-bad.parquet"])
@pytest.mark.parametrize("side", ["real", "generated"])
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_file_is_named_and_skipped_or_stops(shards, bad, side, place):
    with np.errstate(invalid="ignore"):
        write(shards / side / place, BAD[bad](np.random.default_rng(1)))
    found = run(shards)
    assert [item.id for item in found.broken[side]] == [str(shards / side / place)]
    assert found.provenance["samples"] == {"real": 1200, "generated": 1200}
    assert any(place in warning for warning in found.warnings)
    with pytest.raises(InvalidInputError, match=place):
        run(shards, broken="stop")


def test_sides_of_different_columns_are_told(shards):
    for i in range(3):
        write(shards / "generated" / f"{i}.parquet", np.random.default_rng(1).normal(size=(400, 4)))
    with pytest.raises(InvalidInputError, match=r"columns.*3.*4|3 .*4"):
        run(shards)


@pytest.mark.torch
def test_one_definition_of_the_expected_value():
    """On a lattice and among copies, where distances are tied, and without ties."""
    pytest.importorskip("torch")
    from tradeoff import support_metrics

    rng = np.random.default_rng(0)
    names = {"density": "knn.density", "coverage": "knn.coverage", "cover_recall": "cover.recall"}
    copies = rng.normal(size=(30, 4))
    pairs = {
        "lattice": (rng.integers(0, 3, (300, 2)), rng.integers(0, 3, (300, 2))),
        "copies": (copies[rng.integers(0, 30, 300)], rng.normal(size=(200, 4))),
        "continuous": (rng.normal(size=(300, 4)), rng.normal(size=(200, 4))),
    }
    for real, generated in pairs.values():
        sides = {"real": real.astype(float), "generated": generated.astype(float)}
        found = support_metrics(**sides, metrics=tuple(names), progress=False)
        result = evaluate(**sides, metrics=tuple(names.values()), progress=False)
        for name, key in names.items():
            assert found[name].expected == result[key].expected
    lattice = support_metrics(
        **dict(zip(("real", "generated"), pairs["lattice"], strict=True)), progress=False
    )
    assert lattice["density"].expected == pytest.approx(lattice.density, rel=0.1)
    assert lattice["density"].expected > 5.0
