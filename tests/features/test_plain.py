"""Embedders without weights: given features, functions and tables."""

import numpy as np
import pytest

from tradeoff import InvalidInputError
from tradeoff.data import Sample, open_source
from tradeoff.exceptions import UnreadableError
from tradeoff.features import Function, Identity, TableEncoder

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
    row = encode(encoder, [{"age": None, "color": "green"}])[0]
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
        encode(encoder, [{"age": "5"}])
