"""Columns and pairs of columns of tables with known faults."""

from collections import Counter

import numpy as np
import pytest

from tests.known.tables import (
    broken,
    equal,
    missing_by_rule,
    mixed_table,
    other_marginals,
    other_shares,
    pair_of,
    rows_of,
    shifted,
    shuffled,
    violated,
    without_category,
)
from tradeoff import evaluate
from tradeoff.exceptions import InvalidInputError
from tradeoff.tables import compare_columns, usefulness_of

N = 1000


def report(fault, seed, n=N):
    rng = np.random.default_rng(seed)
    real, made = mixed_table(n, rng), mixed_table(n, rng)
    return compare_columns(*pair_of(rows_of(real), rows_of(fault(made, rng))), seed=seed)


@pytest.mark.parametrize(
    ("fault", "column"),
    [(shifted, "level"), (without_category, "kind"), (missing_by_rule, None)],
)
def test_the_column_that_differs_comes_first(fault, column):
    found = report(fault, 1)
    assert [one.name for one in found.different] == ([column] if column else [])


def test_equal_tables_are_not_accused():
    alarms = Counter()
    for seed in range(40):
        found = report(equal, 100 + seed, n=200)
        alarms["columns"] += bool(found.different)
        alarms["pairs"] += bool(found.dependent)
        alarms["orders"] += bool(found.orders)
    assert all(count <= 5 for count in alarms.values())  # of 40, at 2.5% each: 1 in 1,000 more


def test_a_dependence_that_is_broken_is_named():
    found = report(broken, 2)
    assert not found.different
    assert {found.pairs[0].first, found.pairs[0].second} == {"x", "y"}
    assert found.pairs[0].change == "lost"
    assert found.sentences == (
        "Each column looks right; the dependence between `x` and `y` is lost.",
    )
    assert 0.15 < found.pairs[0].at_least < 0.3 < found.pairs[0].value + 0.05


def test_missing_values_of_another_pattern_are_a_dependence():
    found = report(missing_by_rule, 3)
    assert {found.pairs[0].first, found.pairs[0].second} == {"size", "x"}
    assert found.pairs[0].change == "invented"


@pytest.mark.parametrize("fault", [other_marginals, other_shares])
def test_other_columns_alone_do_not_make_a_dependence(fault):
    accused = sum(bool(report(fault, 200 + seed).dependent) for seed in range(10))
    assert accused <= 2
    assert report(fault, 4).different


def test_an_order_that_is_broken_is_told():
    found = report(violated, 5)
    assert [(one.smaller, one.larger) for one in found.orders] == [("start", "end")]
    assert 0.05 < found.orders[0].at_least < 0.15 < found.orders[0].broken + 0.05
    assert any("`start` never exceeds `end`" in text for text in found.sentences)


def test_categories_and_ranges_that_are_missing_are_told():
    def cut(made, rng):
        return made | {
            "x": np.minimum(made["x"], 0.5).tolist(),
            "kind": ["z" if one == "d" else one for one in made["kind"]],
        }

    found = {one.name: one for one in report(cut, 6).different}
    assert found["x"].above > 0.2
    assert found["x"].below == 0.0
    assert [name for name, _ in found["kind"].never] == ["d"]
    assert 0.05 < found["kind"].never[0][1] < 0.1
    assert [name for name, _ in found["kind"].unknown] == ["other"]


def test_limits_are_below_the_truth():
    """Of x and y with correlation 0.7, against independent ones, and of a shift."""
    grid = np.random.default_rng(0).normal(size=(200_000, 2))
    dependent = grid @ np.linalg.cholesky([[1, 0.7], [0.7, 1]]).T
    x, y = dependent.T
    quadratic = x**2 - 1.4 * x * y + y**2
    ratio = -0.5 * quadratic / 0.51 - 0.5 * np.log(0.51) + 0.5 * (dependent**2).sum(1)
    true = float(np.maximum(1 - np.exp(-ratio), 0).mean())
    limits = [report(broken, 300 + seed).pairs[0].at_least for seed in range(20)]
    assert max(limits) < true
    assert np.mean(limits) > 0.5 * true


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(0)
    real, made = mixed_table(300, rng), shuffled(mixed_table(300, rng), rng)
    rows = rows_of(made)
    one = compare_columns(*pair_of(rows_of(real), rows))
    other = compare_columns(*pair_of(rows_of(real), rows[::-1]))
    for name in ("columns", "pairs"):
        values = [[(c.value, c.at_least) for c in getattr(r, name)] for r in (one, other)]
        np.testing.assert_allclose(*values, atol=1e-12)


def test_tables_are_reported_by_evaluate(tmp_path):
    rng = np.random.default_rng(0)
    real, made = mixed_table(400, rng), mixed_table(400, rng)
    result = evaluate(
        rows_of(real), rows_of(broken(made, rng)), metrics="curve", diagnose=False, progress=False
    )
    sentence = "Each column looks right; the dependence between `x` and `y` is lost."
    assert result.table.sentences == (sentence,)
    assert sentence in " ".join(str(result).split())
    assert type(result).from_json(result.to_json()).table == result.table
    page = tmp_path / "page.html"
    result.report(page, samples=False)
    assert "Columns and pairs" in page.read_text()
    assert result.table.without_values().columns[0].cells == ()


def useful(made, seed):
    """What generated rows are worth to predict a category that depends on a number."""
    real = with_target(mixed_table(400, np.random.default_rng(seed)))
    rows = (rows_of(real), rows_of(made))
    return usefulness_of(*pair_of(*rows), "answer", seed=seed)


def with_target(columns):
    return columns | {"answer": ["yes" if one > 0 else "no" for one in columns["x"]]}


def test_a_good_table_is_as_useful_as_real_rows_and_a_shuffled_one_is_not():
    misses = 0
    for seed in range(20):
        rng = np.random.default_rng(1000 + seed)
        made = with_target(mixed_table(400, rng))
        good, bad = useful(made, seed), useful(shuffled(made, rng, "answer"), seed)
        misses += not good.low <= 0.0 <= good.high
        assert good.real > 0.95
        assert bad.low > 0.2
        assert bad.generated < 0.7
    assert misses <= 6  # of 20 at 5%, with room for intervals over rows that are given both models


def test_numbers_are_predicted_too():
    rng = np.random.default_rng(0)
    real, made = mixed_table(600, rng, rho=0.9), mixed_table(600, rng, rho=0.9)
    found = usefulness_of(*pair_of(rows_of(real), rows_of(made)), "y")
    assert found.measure == "R²"
    assert 0.6 < found.generated < 0.85  # 0.81 is the best
    broken_one = usefulness_of(*pair_of(rows_of(real), rows_of(broken(made, rng))), "y")
    assert broken_one.generated < 0.1
    assert broken_one.low > 0.5


def test_a_target_is_named_and_mistakes_are_told():
    rng = np.random.default_rng(0)
    sides = {name: rows_of(with_target(mixed_table(100, rng))) for name in ("real", "generated")}
    options = {"metrics": "copies", "progress": False}
    result = evaluate(**sides, target="answer", **options)
    assert result.table.use.target == "answer"
    assert result.table.use.sentence in " ".join(str(result).split())
    with pytest.raises(InvalidInputError, match="Unknown column `answr`. Did you mean `answer`"):
        evaluate(**sides, target="answr", **options)
    with pytest.raises(InvalidInputError, match="`target` names a column of a table"):
        evaluate(rng.normal(size=(50, 2)), rng.normal(size=(50, 2)), target="answer", **options)
    few = {name: rows[:50] for name, rows in sides.items()}
    few["real"] = [row | {"answer": None} for row in few["real"][:30]] + few["real"][30:]
    with pytest.raises(InvalidInputError, match="needs at least 40 real"):
        evaluate(**few, target="answer", **options)


def test_a_target_is_no_fault():
    rng = np.random.default_rng(0)
    real, made = (rows_of(with_target(mixed_table(200, rng))) for _ in range(2))
    options = {"metrics": "curve", "diagnose": False, "progress": False}
    result = evaluate(real, made, target="answer", **options)
    assert result.table.faults == ()
    assert result.table.sentences == (result.table.use.sentence,)
    assert result.findings == ()
    for other in ({"protocol": "sajjadi-2018"}, {"rule": "frozen"}):
        with pytest.raises(InvalidInputError, match="`target` cannot be combined with"):
            evaluate(real, made, target="answer", progress=False, **other)


def test_both_models_of_a_target_learn_from_as_many_rows():
    """With few generated rows of the same distribution, neither has an advantage."""
    lost = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sizes = (800, 40)
        real, made = (rows_of(with_target(mixed_table(n, rng))) for n in sizes)
        found = usefulness_of(*pair_of(real, made), "level", seed=seed)
        lost.append(found.real - found.generated)
    assert abs(np.mean(lost)) < 0.25  # 360 more rows would add 0.5 and more
