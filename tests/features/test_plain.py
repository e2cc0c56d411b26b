"""Embedders without weights: given features, functions and tables."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample, open_source
from tradeoff.exceptions import UnreadableError
from tradeoff.features import Function
from tradeoff.features.plain import Identity
from tradeoff.features.table import TableEncoder

REAL = [{"age": float(i), "color": "red" if i % 2 else "blue", "flag": True} for i in range(10)]


def encode(encoder, rows):
    return encoder.embed([encoder.prepare(sample) for sample in open_source(rows)])


def test_tables_are_encoded_by_the_real_side():
    encoder = TableEncoder.fit(REAL)
    features = encode(encoder, REAL)
    assert features.shape == (10, len(encoder.columns))
    age = encoder.columns.index("age")
    assert features[:, age].mean() == pytest.approx(0.0)
    assert features[:, age].std() == pytest.approx(1.0)
    shifted = encode(encoder, [row | {"age": row["age"] + 100} for row in REAL])
    assert (shifted[:, age] > 10).all()


def test_what_is_missing_or_new_has_its_own_column():
    encoder = TableEncoder.fit(REAL)
    names = encoder.columns
    row = encode(encoder, [{"age": None, "color": "green", "flag": None}])[0]
    assert dict(zip(names, row, strict=True)) == {
        "age": 0.0,
        "age is missing": 1.0,
        "color = blue": 0.0,
        "color = red": 0.0,
        "color: other": 1.0,
        "color is missing": 0.0,
        "flag = True": 0.0,
        "flag: other": 0.0,
        "flag is missing": 1.0,
    }


def test_words_among_numbers_make_categories():
    encoder = TableEncoder.fit([{"size": 1}, {"size": "large"}, {"size": float("nan")}])
    assert encoder.numbers == ()
    assert encoder.categories == (("size", ("1", "large")),)


@pytest.mark.parametrize("values", [("true", "false"), ("TRUE", "FALSE"), (1, 0), (1.0, 0.0)])
def test_truth_values_are_the_same_however_they_are_written(values):
    encoder = TableEncoder.fit([{"ok": True}, {"ok": False}])
    written = encode(encoder, [{"ok": value} for value in values])
    np.testing.assert_array_equal(written, encode(encoder, [{"ok": True}, {"ok": False}]))


def test_columns_of_which_nothing_is_known_are_warned_of():
    days = [{"day": f"2020-01-{i:03d}", "color": "red"} for i in range(300)]
    encoder = TableEncoder.fit(days)
    later = [{"day": f"2035-01-{i:03d}", "color": "Red"} for i in range(300)]
    sides = {"real": encode(encoder, days), "generated": encode(encoder, later)}
    color, day = encoder.warnings(**sides)
    assert color.startswith("Most generated values of the column `color` do not occur")
    assert day.startswith("Most values of the column `day` are not told apart")
    assert encoder.warnings(real=sides["real"], generated=sides["real"]) == (day,)


def test_many_categories_share_a_column():
    encoder = TableEncoder.fit([{"id": f"row {i}"} for i in range(200)] + [{"id": "row 7"}])
    assert len(encoder.columns) == 52
    assert "id = row 7" in encoder.columns


def test_the_encoding_is_part_of_the_hash():
    one, two = TableEncoder.fit(REAL), TableEncoder.fit(REAL[:9])
    assert one.weights == TableEncoder.fit(REAL).weights != two.weights
    assert "fitted on the real side" in one.preprocessing
    constant = TableEncoder.fit([{"x": 3}, {"x": 3}])
    assert encode(constant, [{"x": 3}])[0, 0] == 0.0


def test_functions_are_checked():
    short = Function(lambda texts: np.zeros((1, 2)), "short", "text", "1")
    with pytest.raises(InvalidInputError, match="`short` must return a row per sample, 32. Got 1"):
        short.embed(["a", "b"])
    broken = Function(lambda texts: [[np.nan]] * len(texts), "broken", "text", "1")
    with pytest.raises(InvalidInputError, match="`broken` must be finite"):
        broken.embed(["a"])
    assert short.weights == "1"


def test_given_features_are_checked():
    with pytest.raises(UnreadableError, match="NaN or infinity"):
        Identity().prepare(Sample("0", np.array([np.inf])))
    with pytest.raises(UnreadableError, match=r"a row of numbers. Got shape \(2, 2\)"):
        Identity().prepare(Sample("0", np.eye(2)))
    with pytest.raises(InvalidInputError, match="one length. Got 1 and 2 columns"):
        Identity().embed([np.zeros(1), np.zeros(2)])
    with pytest.raises(InvalidInputError, match="`0` must be a row of a table"):
        TableEncoder.fit(REAL).prepare(Sample("0", "text"))
    with pytest.raises(InvalidInputError, match="`real` must hold rows"):
        TableEncoder.fit([])


def test_infinity_is_as_good_as_missing():
    encoder = TableEncoder.fit([{"size": 1.0}, {"size": 3.0}, {"size": float("inf")}])
    assert encoder.numbers == (("size", 2.0, 1.0),)
    assert encode(encoder, [{"size": float("-inf")}]).tolist() == [[0.0, 1.0]]


def test_columns_must_be_those_of_the_real_side():
    encoder = TableEncoder.fit(REAL)
    with pytest.raises(InvalidInputError, match="has a column `Age` that the real side does not"):
        encode(encoder, [{"Age": 3.0}])
    with pytest.raises(UnreadableError, match="`age` must be a number. Got '5'"):
        encode(encoder, [REAL[0] | {"age": "5"}])


def test_a_column_that_the_real_side_has_must_not_be_left_out():
    """It counted as missing in every row."""
    encoder = TableEncoder.fit(REAL)
    with pytest.raises(InvalidInputError, match=r"`samples\[0\]` must have a column `flag`, since"):
        encode(encoder, [{"age": 3.0, "color": "red"}])
    sparse = TableEncoder.fit([*REAL, {"age": 3.0, "color": "red"}])
    assert sparse.optional == ("flag",)
    assert sparse.columns == encoder.columns
    assert encode(sparse, [{"age": 3.0, "color": "red"}])[0, -1] == 1.0


def test_numbers_of_every_type_are_numbers():
    """Decimals were categories, whole numbers beyond 10³⁰⁸ a traceback."""
    encoder = TableEncoder.fit([{"x": Decimal("1.5")}, {"x": np.float32(2.5)}, {"x": 10**400}])
    assert encoder.numbers == (("x", 2.0, 0.5),)
    rows = [{"x": Decimal("2.5")}, {"x": 10**400}, {"x": Decimal("NaN")}, {"x": None}]
    assert encode(encoder, rows).tolist() == [[1, 0], [0, 1], [0, 1], [0, 1]]


def test_whole_numbers_are_one_category_in_every_format():
    """A CSV file gives 1.0 where Parquet gives 1; one was new to the other."""
    encoder = TableEncoder.fit([{"size": 1}, {"size": "large"}])
    assert encode(encoder, [{"size": 1.0}, {"size": np.int64(1)}])[:, 0].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("value", [[1.0, 2.0], np.zeros(3), {"a": 1}, b"abc"])
def test_columns_of_lists_are_refused(value):
    """Their text was a category."""
    with pytest.raises(InvalidInputError, match="column `x` must hold numbers, texts or truth"):
        TableEncoder.fit([{"x": value}])


@pytest.mark.parametrize(
    "value",
    [date(2020, 1, 2), datetime(2020, 1, 2), time(3), timedelta(1), np.datetime64("2020-01-02")],
)
def test_columns_of_dates_are_refused(value):
    """Every date was a category of its own."""
    message = "column `born` must hold numbers.*convert dates and times to numbers"
    with pytest.raises(InvalidInputError, match=message):
        TableEncoder.fit([{"born": value}])
    with pytest.raises(InvalidInputError, match=message):
        TableEncoder.fit([{"born": "x"}]).prepare(Sample("0", {"born": value}))


def test_numbers_too_large_to_standardize():
    with pytest.raises(InvalidInputError, match="`x` must hold numbers that can be standardized"):
        TableEncoder.fit([{"x": 1.7e308}, {"x": -1.7e308}])
    encoder = TableEncoder.fit([{"x": 0.0}, {"x": 1e-9}])
    with pytest.raises(UnreadableError, match="too large to be standardized"):
        encode(encoder, [{"x": 1e308}])
