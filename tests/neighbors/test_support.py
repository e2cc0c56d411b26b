"""Support metrics: their definitions, their expectations, their errors, and users' mistakes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

from tests.known.neighbors import brute_force  # noqa: E402
from tradeoff import InvalidInputError, UndefinedError, support_metrics  # noqa: E402
from tradeoff.metrics.neighbors import OwnNeighbors, SupportScore, own_neighbors  # noqa: E402
from tradeoff.metrics.neighbors.expectations import expected_coverage  # noqa: E402
from tradeoff.metrics.neighbors.metrics import METRICS  # noqa: E402

K = 4


def measure(real, generated, **options):
    return support_metrics(real=real, generated=generated, progress=False, **options)


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(0)
    return rng.normal(size=(300, 6)), 0.8 * rng.normal(size=(240, 6)) + 0.3


@pytest.fixture(scope="module")
def result(samples):
    return measure(*samples, k=K, metrics=tuple(METRICS), cover=2)


def radii(x, rank):
    own = brute_force(x, x)
    np.fill_diagonal(own, np.inf)
    return np.sort(own, 1)[:, rank - 1]


def test_definitions(samples, result):
    """Every metric, written down once more with full matrices."""
    real, generated = samples
    pairs = brute_force(real, generated)
    rho, sigma = radii(real, K), radii(generated, K)
    inside = pairs <= rho[:, None]
    np.testing.assert_array_equal(result["precision"].samples, inside.any(0))
    np.testing.assert_array_equal(result["recall"].samples, (pairs <= sigma).any(1))
    np.testing.assert_array_equal(result["density"].samples, inside.sum(0) / K)
    np.testing.assert_array_equal(result["coverage"].samples, inside.any(1))
    wide = pairs <= radii(generated, 2 * K)
    np.testing.assert_array_equal(result["cover_precision"].samples, wide.sum(0) >= K)
    wide = pairs <= radii(real, 2 * K)[:, None]
    np.testing.assert_array_equal(result["cover_recall"].samples, wide.sum(1) >= K)
    kept = np.sqrt(rho) <= np.median(np.sqrt(rho))
    realism = np.sqrt((rho[kept, None] / pairs[kept]).max(0))
    np.testing.assert_allclose(result["realism"].samples, realism, rtol=1e-14)
    assert ((realism >= 1) <= inside.any(0)).all()
    nearest = pairs.argmin(0)
    np.testing.assert_array_equal(result.nearest_index, nearest)
    np.testing.assert_array_equal(result.nearest_distance, np.sqrt(pairs.min(0)))
    authentic = pairs.min(0) > radii(real, 1)[nearest]
    np.testing.assert_array_equal(result["authenticity"].samples, authentic)


def test_clipped_metrics(samples, result):
    real, generated = samples
    pairs, own = brute_force(real, generated), brute_force(real, real)
    np.fill_diagonal(own, np.inf)
    rho = radii(real, K)
    clipped = np.minimum(rho, np.median(np.sqrt(rho)) ** 2)
    held = np.minimum((pairs <= clipped[:, None]).sum(0), K) / K
    own_held = np.minimum((own <= clipped[:, None]).sum(0), K) / K
    np.testing.assert_allclose(result["clipped_density"].samples, held / own_held.mean())
    assert result.clipped_density == min(1.0, result["clipped_density"].samples.mean())
    hits = np.minimum((pairs <= rho[:, None]).sum(1), K) / K
    np.testing.assert_array_equal(result["clipped_coverage"].samples, hits)


def test_clipped_coverage_is_the_share_of_good_samples():
    """Half of the generated samples are far away: about half is left, whatever the size."""
    rng = np.random.default_rng(0)
    values = []
    for m in (500, 1500):
        real, generated = rng.normal(size=(1000, 2)), rng.normal(size=(m, 2))
        generated[m // 2 :] += 100
        values.append(measure(real, generated, metrics="clipped_coverage").clipped_coverage)
    assert values == pytest.approx([0.5, 0.5], abs=0.06)


@pytest.mark.parametrize("n", [30, 31])
def test_the_median_ball_keeps_its_surface(n):
    """On a lattice all radii are √3, whose square is not 3."""
    lattice = np.arange(n)[:, None] * np.ones((1, 3))
    names = ("precision", "realism", "clipped_density")
    found = measure(lattice, lattice + 0.5, k=1, metrics=names)
    assert found.precision == 1.0
    np.testing.assert_allclose(found["realism"].samples, 2.0)
    assert found.clipped_density == 1.0
    assert measure(lattice, lattice + 1000, k=1, metrics=names).clipped_density == 0.0
    copies = measure(lattice, lattice, k=1, metrics="realism")
    assert np.isinf(copies["realism"].samples).all()


def test_odd_numbers_of_samples(samples):
    real, generated = samples[0][:299], samples[1]
    rho = radii(real, K)
    kept = rho <= np.sort(rho)[149]
    realism = np.sqrt((rho[kept, None] / brute_force(real, generated)[kept]).max(0))
    found = measure(real, generated, k=K, metrics="realism")
    np.testing.assert_allclose(found["realism"].samples, realism, rtol=1e-14)


def test_the_order_of_metrics_changes_nothing(samples):
    names = tuple(METRICS)
    forward, backward = (measure(*samples, metrics=order) for order in (names, names[::-1]))
    alone = {name: measure(*samples, metrics=name)[name] for name in names}
    for name in names:
        for other in (backward[name], alone[name]):
            np.testing.assert_array_equal(forward[name].samples, other.samples)
            assert (forward[name].value, forward[name].error) == (other.value, other.error)


def test_intervals_are_narrow_where_everything_is_covered():
    score = SupportScore(value=1.0, samples=np.ones(1000), error=0.002, is_share=True)
    assert score.interval()[0] > 0.99
    rounded = SupportScore(value=1.0, samples=np.ones(1000), error=1e-17, is_share=True)
    assert rounded.interval()[0] > 0.99
    near = SupportScore(value=0.999, samples=np.ones(1000), error=0.0036, is_share=True)
    assert 0.97 < near.interval()[0] < 0.999


def test_few_samples_have_expectations_too():
    rng = np.random.default_rng(0)
    found = measure(
        rng.normal(size=(6, 2)), rng.normal(size=(6, 2)), k=5, metrics="clipped_coverage"
    )
    hits = found["clipped_coverage"].samples.mean()
    assert (found.clipped_coverage > 0) == (hits > 0)
    one = measure(rng.normal(size=(10, 2)), rng.normal(size=(1, 2)), k=3, metrics="cover_recall")
    assert one["cover_recall"].expected == 0.0


@pytest.mark.parametrize(
    "kind",
    ["bool", "uint8", "uint16", "uint64", "int8", "float16", "structured", "bfloat16", "strided"],
)
def test_every_type_of_numbers(kind):
    rng = np.random.default_rng(0)
    plain = [rng.integers(0, 2 if kind == "bool" else 100, (60, 5)) for _ in range(2)]
    expected = measure(*[x.astype(float) for x in plain])
    if kind == "bfloat16":
        given = [torch.from_numpy(x).to(torch.bfloat16) for x in plain]
    elif kind == "strided":
        given = [np.repeat(x.astype(float), 3, axis=1)[:, ::3] for x in plain]
    elif kind == "structured":
        packed = [np.zeros(x.shape, [("pad", "u1"), ("x", "f8")]) for x in plain]
        for record, x in zip(packed, plain, strict=True):
            record["x"] = x
        given = [record["x"] for record in packed]
    else:
        given = [x.astype(kind) for x in plain]
    found = measure(*given)
    for name, score in expected.scores.items():
        np.testing.assert_array_equal(score.samples, found[name].samples)


def test_values_are_means_of_samples(result):
    for name in set(METRICS) - {"clipped_density", "clipped_coverage", "realism"}:
        assert result[name].value == result[name].samples.mean()
        assert getattr(result, name) == result[name].value
    assert result.realism == np.median(result["realism"].samples)


@pytest.mark.slow
def test_expectations_under_one_law():
    """Means over draws of both sides; thresholds are five standard errors."""
    names = ("density", "coverage", "cover_precision", "cover_recall")
    values, expected = [], None
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = measure(rng.normal(size=(60, 3)), rng.normal(size=(90, 3)), k=3, metrics=names)
        values.append([found[name].value for name in names])
        expected = [found[name].expected for name in names]
    mean, error = np.mean(values, 0), np.std(values, 0) / len(values) ** 0.5
    assert (np.abs(mean - expected) < 5 * error).all()
    assert (error < 0.01).all()


def test_expected_coverage_of_more_than_one_hit():
    """Ranks by shuffling: how often the third other comes before the fifth own."""
    rng = np.random.default_rng(0)
    labels = np.repeat([True, False], [29, 20])
    shuffled = rng.permuted(np.tile(labels, (20_000, 1)), axis=1)
    own, other = np.cumsum(shuffled, 1), np.cumsum(~shuffled, 1)
    before = (other * (own < 5)).max(1)
    share = (before >= 3).mean()
    expected = expected_coverage(own=30, other=20, k=5, at_least=3)
    assert share == pytest.approx(expected, abs=5 * 0.5 / 20_000**0.5)


@pytest.mark.slow
def test_ties_separate_the_inequalities():
    """Eight binary features: closed balls hold everything, open ones are nearly empty."""
    rng = np.random.default_rng(0)
    real, generated = (rng.integers(0, 2, (5000, 8)) for _ in range(2))
    closed, opened = (measure(real, generated, strict=strict) for strict in (False, True))
    assert closed.precision == 1.0
    assert opened.precision < 0.1
    same = np.ones((20, 3))
    assert measure(same, same, strict=True).precision == 0.0
    assert measure(same, same).precision == 1.0


def test_copies_are_not_authentic():
    rng = np.random.default_rng(0)
    real = rng.normal(size=(500, 4))
    copies = np.repeat(real[:1], 200, axis=0)
    assert measure(real, copies, metrics="authenticity").authenticity == 0.0
    fresh = measure(real, rng.normal(size=(500, 4)), metrics=("authenticity",))
    assert 0.35 < fresh.authenticity < 0.65


def test_a_stored_reference_gives_the_same(samples):
    real, generated = samples
    stored = own_neighbors(real, ranks=6, progress=False)
    fresh, known = (
        measure(real, generated, metrics=tuple(METRICS)[:4], real_neighbors=neighbors)
        for neighbors in (None, stored)
    )
    for name, score in fresh.scores.items():
        np.testing.assert_array_equal(score.samples, known[name].samples)
        assert score.error == known[name].error


def test_arrays_maps_and_tensors_are_alike(tmp_path, samples):
    expected = measure(*samples)
    files = []
    for i, side in enumerate(samples):
        np.save(tmp_path / f"{i}.npy", side)
        files.append(np.load(tmp_path / f"{i}.npy", mmap_mode="r"))
    kinds = [files, [torch.from_numpy(s) for s in samples], [s.tolist() for s in samples]]
    kinds += [[s[::-1][::-1] for s in samples], [s.astype(">f8") for s in samples]]
    for kind in kinds:
        found = measure(*kind)
        for name, score in expected.scores.items():
            np.testing.assert_array_equal(score.samples, found[name].samples)
    assert found.provenance["dtypes"] == ["float64", "float64"]


def test_inputs_are_left_alone(samples):
    copies = [side.copy() for side in samples]
    measure(*copies, metrics=tuple(METRICS))
    for copy, side in zip(copies, samples, strict=True):
        np.testing.assert_array_equal(copy, side)


@pytest.mark.slow
def test_errors_are_those_of_leaving_samples_out(samples):
    """The jackknife by formula, and by measuring without each sample in turn."""
    real, generated = samples[0][:60], samples[1][:50]
    found = measure(real, generated, k=3)
    for name in ("density", "coverage"):
        values = [
            [measure(np.delete(real, i, 0), generated, k=3)[name].value for i in range(60)],
            [measure(real, np.delete(generated, j, 0), k=3)[name].value for j in range(50)],
        ]
        variance = sum((len(v) - 1) * np.var(v) for v in values)
        assert found[name].error == pytest.approx(variance**0.5, rel=1e-9)


@pytest.mark.slow
def test_intervals_cover_at_reduced_size():
    """Bars at 300 runs are 92% to 98%; here, at 60, three standard errors below."""
    rng = np.random.default_rng(0)
    truth = measure(rng.normal(size=(200, 3)), rng.normal(0.5, 1, (200, 3)))
    covered = dict.fromkeys(truth.scores, 0)
    runs, means = [], {name: [] for name in truth.scores}
    for _ in range(60):
        real, generated = rng.normal(size=(200, 3)), rng.normal(0.5, 1, (200, 3))
        found = measure(real, generated)
        fresh = measure(real, rng.normal(0.5, 1, (20_000, 3)), metrics="precision").precision
        low, high = found["precision"].interval()
        covered["precision"] += low <= fresh <= high
        runs.append(found)
        for name in ("density", "coverage"):
            means[name].append(found[name].value)
    for name in ("density", "coverage"):
        for found in runs:
            low, high = found[name].interval()
            covered[name] += low <= np.mean(means[name]) <= high
    assert min(covered[name] for name in ("precision", "density", "coverage")) >= 50
    widths = [np.ptp(found["density"].interval()) for found in runs]
    assert np.mean(widths) < 3 * 2 * 1.96 * np.std(means["density"])


def test_what_was_not_asked_for_is_named(samples):
    found = measure(*samples, metrics=("precision",))
    told = r"`realism` was not measured: pass metrics=\('precision', 'realism'\)"
    with pytest.raises(UndefinedError, match=told):
        _ = found.realism
    with pytest.raises(UndefinedError, match="its error is not known"):
        measure(*samples, metrics="realism")["realism"].interval()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"metrics": ("precison",)}, "`metrics` must be one of precision, recall"),
        ({"metrics": ()}, "`metrics` must name at least one of precision"),
        ({"k": 0}, "`k` must be a whole number of at least 1"),
        ({"k": 300}, "reach the 300-th, and `real` has 300 samples"),
        ({"real": [[0.0, np.nan] * 3] * 3}, "`real` must be finite .* Row 0 does not"),
        (
            {"generated": np.ones((5, 2))},
            "same number of columns. Got 6 in `real` and 2 in `generated`",
        ),
        ({"generated": np.ones(5)}, r"one row per sample .* Got shape \(5,\)"),
        (
            {"generated": np.ones((5, 6), complex)},
            "must be an array of numbers. Got complex numbers",
        ),
        ({"generated": [["a"] * 6]}, "`generated` must be an array of numbers"),
        ({"real_neighbors": 3}, "`real_neighbors` must be a OwnNeighbors. Got a int"),
        (
            {"real_neighbors": OwnNeighbors(np.ones((300, 2)), np.ones((300, 2), int))},
            "must hold 6 neighbors of 300 samples. Got 2 of 300: call own_neighbors with ranks=6",
        ),
        (
            {"real_neighbors": OwnNeighbors(np.ones((300, 6)), np.ones((300, 6), int))},
            "`real_neighbors` must be those of `real`",
        ),
        ({"real": None}, "`real` must be an array of numbers. Got None"),
        ({"real": 3.0}, r"`real` must have one row per sample .* Got shape \(\)"),
        ({"real": torch.eye(6).to_sparse()}, "`real` must be a dense array of real numbers"),
        ({"tile": -1}, "`tile` must be a whole number of at least 1"),
        ({"tile": "a"}, "`tile` must be"),
        ({"metrics": 5}, "`metrics` must be a list of names. Got 5"),
        ({"metrics": None}, "`metrics` must be a list of names. Got None"),
    ],
)
def test_mistakes_get_a_sentence(samples, options, sentence):
    arguments = {"real": samples[0], "generated": samples[1]} | options
    with pytest.raises(InvalidInputError, match=sentence):
        support_metrics(**arguments, progress=False)


@pytest.mark.parametrize(
    ("squares", "index", "sentence"),
    [
        (np.ones(3), np.ones(3, int), "one row per sample and one column per rank"),
        (np.ones((3, 1)), np.ones((3, 1)), "`index` whole numbers"),
        (np.ones((3, 1)), np.full((3, 1), 7), "`index` must lie between 0 and 2"),
    ],
)
def test_stored_neighbors_are_checked(squares, index, sentence):
    with pytest.raises(InvalidInputError, match=sentence):
        OwnNeighbors(squares, index)


def test_expected_coverage_is_checked():
    with pytest.raises(InvalidInputError, match="`k` must be below the number of own points, 3"):
        expected_coverage(own=3, other=5, k=3)


def test_too_many_ranks_get_a_sentence():
    with pytest.raises(InvalidInputError, match="`ranks` must be below the number of samples, 3"):
        own_neighbors(np.ones((3, 2)), ranks=3)
