"""Tables with a schema: kinds of columns, dates, identifiers, and mistakes."""

import datetime as dt
import json
import re
from collections import Counter

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tradeoff import InvalidInputError, evaluate
from tradeoff.embedding.schema import Schema
from tradeoff.evaluation import Reference

pd = pytest.importorskip("pandas")

COLUMNS = {
    "customer": {"sdtype": "id", "regex_format": "[0-9]{4}"},
    "zip": {"sdtype": "categorical"},
    "start": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"},
    "end": {"sdtype": "datetime", "datetime_format": "%d.%m.%Y"},
    "member": {"sdtype": "boolean"},
    "email": {"sdtype": "email", "pii": True},
    "age": {"sdtype": "numerical", "computer_representation": "Float"},
}
KEY = {"primary_key": "customer"}
OF_ONE_TABLE = {"METADATA_SPEC_VERSION": "SINGLE_TABLE_V1", "columns": COLUMNS, **KEY}
OF_TABLES = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {"customers": {"columns": COLUMNS, **KEY}},
    "relationships": [],
}
OF_SDV_2 = {
    "METADATA_SPEC_VERSION": "V2",
    "tables": {
        "customers": {
            "columns": COLUMNS | {"age": {"sdtype": "numerical", "range_min": 1, "range_max": 99}},
            **KEY,
        }
    },
    "relationships": [],
}
QUICK = {"metrics": "curve", "estimator": "fast", "diagnose": False, "progress": False}


def customers(n, seed, *, lost=False):
    """Rows in which `end` follows `start`, or no longer does."""
    rng = np.random.default_rng(seed)
    start = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D")
    end = start + pd.to_timedelta(rng.integers(1, 60, n), unit="D")
    return pd.DataFrame(
        {
            "customer": rng.permutation(n),
            "zip": rng.choice([2134, 10001, 60601, 94105], n),
            "start": start.strftime("%d.%m.%Y"),
            "end": end[rng.permutation(n) if lost else slice(None)].strftime("%d.%m.%Y"),
            "member": rng.choice([True, False], n),
            "email": [f"{i}@example.com" for i in rng.integers(0, 10**6, n)],
            "age": rng.normal(40, 9, n),
        }
    )


@pytest.mark.parametrize(
    "schema", [OF_ONE_TABLE, OF_TABLES, OF_SDV_2], ids=["single table", "V1", "V2"]
)
def test_all_formats_read_the_same(schema, tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(schema))
    assert Schema.of(path) == Schema.of(str(path)) == Schema.of(OF_ONE_TABLE)
    assert Schema.of(Schema.of(path).to_dict()).kinds == Schema.of(OF_ONE_TABLE).kinds


def test_personal_data_is_left_out_unless_it_is_not():
    """Of `city`, SDV makes up values, unless `pii` is false."""
    columns = {
        "age": {"sdtype": "numerical"},
        "rank": {"sdtype": "ordinal", "range_values": [1, 2, 3]},
        "city": {"sdtype": "city"},
        "born": {"sdtype": "city", "pii": False},
        "note": {"sdtype": "unknown", "pii": True},
        "other": {"sdtype": "unknown"},
        "passport": {"sdtype": "categorical"},
    }
    schema = Schema.of({"columns": columns, "alternate_keys": ["passport"]})
    row = dict.fromkeys(columns, 2)
    assert schema.typed(row) == {"age": 2.0, "rank": 2, "born": 2, "other": 2}
    assert Schema.of(schema.to_dict()) == schema


def test_values_become_what_the_schema_names():
    row = {
        "customer": 17,
        "zip": 94105.0,
        "start": "31.12.1969",
        "end": None,
        "member": 1,
        "email": "a@b.c",
        "age": "39.5",
        "other": 3,
    }
    assert Schema.of(OF_ONE_TABLE).typed(row) == {
        "zip": "94105",
        "start": -1.0,
        "end": None,
        "member": True,
        "age": 39.5,
        "other": 3,
    }


@pytest.mark.parametrize(
    ("value", "form", "days"),
    [
        ("1970-01-11", None, 10),
        ("1970-01-11T12:00:00", None, 10.5),
        ("1970-01-11T12:00:00+12:00", None, 10),
        ("11/1/70", "%-d/%-m/%y", 10),
        (19700111.0, "%Y%m%d", 10),  # as CSV files are read
        (1971, "%Y", 365),
        (dt.date(1970, 1, 11), None, 10),
        (dt.datetime(1970, 1, 11, 6), "%Y-%m-%d", 10.25),
        (dt.time(18), "%H:%M", 0.75),
        (np.datetime64("1970-01-11T00:00:00.000000000"), None, 10),
        (pd.Timestamp("1970-01-11"), None, 10),
        (pd.NaT, None, None),
        (np.datetime64("NaT"), None, None),
        ("NaT", None, "broken"),
        ("", None, None),
        ("31.02.1970", "%d.%m.%Y", "broken"),
        (5, None, "broken"),
    ],
)
def test_dates(value, form, days):
    column = {"sdtype": "datetime"} | ({} if form is None else {"datetime_format": form})
    schema = Schema.of({"columns": {"when": column}})
    if days == "broken":
        with pytest.raises(Exception, match="`when` must be a date"):
            schema.typed({"when": value})
    else:
        assert schema.typed({"when": value})["when"] == days


def test_lost_dependence_and_broken_order_of_dates_are_found():
    real, generated = customers(800, 0), customers(800, 1, lost=True)
    found = evaluate(real, generated.drop(columns="customer"), schema=OF_TABLES, **QUICK)
    assert {found.table.pairs[0].first, found.table.pairs[0].second} == {"start", "end"}
    assert found.table.pairs[0].is_established
    assert [(one.smaller, one.larger) for one in found.table.orders] == [("start", "end")]
    assert not found.table.different
    names = {one.name for one in found.table.columns}
    assert names == {"zip", "start", "end", "member", "age"}
    assert any("`email`" in warning for warning in found.warnings)
    assert not any("`customer`" in warning for warning in found.warnings)


def test_equal_tables_of_dates_and_codes_are_not_accused():
    """At 5% for each run, more than 4 alarms in 20 runs have a probability of 0.3%."""
    alarms = Counter()
    for seed in range(20):
        real, generated = customers(300, 100 + seed), customers(300, 200 + seed)
        found = evaluate(real, generated, schema=OF_ONE_TABLE, **QUICK)
        alarms["tables"] += bool(found.table.faults)
    assert alarms["tables"] <= 4


def test_codes_are_categories_only_with_a_schema():
    real, generated = customers(300, 3), customers(300, 4)
    columns = ["zip", "age"]
    kinds = {name: COLUMNS[name] for name in columns}
    without = evaluate(real[columns], generated[columns], **QUICK)
    told = evaluate(real[columns], generated[columns], schema={"columns": kinds}, **QUICK)
    assert "2 numeric columns" in without.provenance["preprocessing"]
    assert "1 numeric columns standardized, 1 others" in told.provenance["preprocessing"]


def test_shown_rows_have_dates():
    found = evaluate(
        customers(400, 5),
        customers(400, 6).query("zip != 94105"),
        schema=OF_ONE_TABLE,
        explain=True,
        **QUICK,
    )
    group = found.explanation.missed.groups[0]
    shown = [example.sample.summary for example in group.examples]
    assert all("start: 202" in row for row in shown)


def test_a_page_names_the_schema_without_its_folder(tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(OF_TABLES))
    both = customers(300, 21), customers(300, 22, lost=True)
    evaluate(*both, schema=path, **QUICK).report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    words = re.sub("<[^>]*>", "", page)
    assert "--schema metadata.json" in words
    assert "--no-low-level" in words  # as the command has it
    assert str(tmp_path) not in page


def test_a_row_that_does_not_fit_is_broken():
    real, generated = customers(200, 7), customers(200, 8)
    generated.loc[3, "end"] = "soon"
    found = evaluate(real, generated, schema=OF_ONE_TABLE, **QUICK)
    (broken,) = found.broken["generated"]
    assert broken.id == "generated[3]"
    assert broken.reason == "`end` must be a date in the format %d.%m.%Y. Got 'soon'."


def test_a_reference_keeps_the_schema_and_not_its_place(tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(OF_TABLES))
    real, generated = customers(300, 9), customers(300, 10)
    directly = evaluate(real, generated, schema=path, **QUICK)
    Reference.make(real, schema=path, progress=False).save(tmp_path / "ref")
    path.unlink()
    loaded = Reference.load(tmp_path / "ref")
    assert str(tmp_path) not in (tmp_path / "ref" / "reference.json").read_text()
    for schema in (None, OF_ONE_TABLE):
        again = evaluate(loaded, generated, schema=schema, **QUICK)
        assert again.table == directly.table
    with pytest.raises(InvalidInputError, match="`schema` must be that of the reference"):
        evaluate(loaded, generated, schema={"columns": {"age": {"sdtype": "numerical"}}}, **QUICK)


def test_labels_are_not_asked_of_generated_rows():
    real, generated = customers(300, 11), customers(300, 12).drop(columns="zip")
    found = evaluate(real, generated, schema=OF_ONE_TABLE, label="zip", **QUICK)
    assert {one.name for one in found.table.columns} == {"start", "end", "member", "age"}


def test_the_command_reads_a_schema_and_does_not_overwrite_it(tmp_path):
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(OF_TABLES))
    for name, table in {"real": customers(300, 13), "made": customers(300, 14, lost=True)}.items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    sources = ("--real", tmp_path / "real.csv", "--generated", tmp_path / "made.csv")
    quick = ("--estimator", "fast", "--no-diagnose", "--metrics", "curve", "--quiet")
    schema = ("--schema", path)
    gate = ("--fail-on", "columns")
    done = tradeoff("evaluate", *sources, *quick, *schema, *gate, "--out", tmp_path / "kept")
    assert done.exit_code == 1
    assert "`end` and `start` is lost" in done.stderr
    again = tradeoff("evaluate", "--config", tmp_path / "kept" / "run.toml", *quick, *gate)
    assert (again.exit_code, again.stdout) == (1, done.stdout)
    refused = tradeoff("evaluate", *sources, *quick, *schema, "--out", path, "--overwrite")
    assert refused.exit_code == 2
    assert json.loads(path.read_text()) == OF_TABLES


TWO = {"tables": {"a": {"columns": COLUMNS}, "b": {"columns": COLUMNS}}, "relationships": [{}]}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        (TWO, "must describe one table. It describes 2: compare the tables one by one"),
        ({"tables": {}}, "must describe one table. It describes 0"),
        ({"fields": {"age": {"type": "numerical"}}}, "as SDV 1.0 or later saves it"),
        ({"columns": {"age": "numerical"}}, "an `sdtype` for each of them"),
        ({"columns": {"age": {"sdtype": None}}}, "an `sdtype` for each of them"),
        ({"columns": COLUMNS, "alternate_keys": 3}, "an `sdtype` for each of them"),
        ({"columns": {"age": {"sdtype": "numeric"}}}, "Did you mean `numerical`?"),
        ({"columns": {"customer": {"sdtype": "id"}}}, "must name columns to compare"),
        ({"columns": {"aged": {"sdtype": "numerical"}}}, "`real` must have a column `aged`"),
        ({"columns": {"aged": {"sdtype": "numerical"}}}, "Did you mean `age`?"),
        ({"columns": {"email": {"sdtype": "numerical"}}}, "must be a number. Got '"),
        ({"columns": {"start": {"sdtype": "datetime"}}}, "must be a date as in ISO 8601"),
        (
            {"columns": {"start": {"sdtype": "datetime", "datetime_format": "%Q"}}},
            "The `datetime_format` of the column `start` in `schema` must be one of Python",
        ),
        ("nowhere.json", "nowhere.json"),
        (7, "pass metadata.to_dict()"),
    ],
)
def test_mistakes_are_told_before_the_work(schema, told, monkeypatch):
    monkeypatch.setattr(
        "tradeoff.evaluation.pipeline.encoder_for", lambda *_: pytest.fail("the work was begun")
    )
    with pytest.raises(InvalidInputError) as error:
        evaluate(customers(50, 15), customers(50, 16), schema=schema, **QUICK)
    assert told in str(error.value)


def test_generated_rows_must_have_the_columns_too():
    with pytest.raises(InvalidInputError, match="`generated` must have a column `age`, since"):
        evaluate(
            customers(50, 17), customers(50, 18).drop(columns="age"), schema=OF_ONE_TABLE, **QUICK
        )


@pytest.mark.parametrize("content", [b"\xff\xfe", b"[1]", b"{", b"[" * 100_000])
def test_a_damaged_file_is_told(tmp_path, content):
    path = tmp_path / "metadata.json"
    path.write_bytes(content)
    with pytest.raises(InvalidInputError, match=r"metadata\.json"):
        Schema.of(path)


def test_a_schema_is_for_tables():
    with pytest.raises(InvalidInputError, match="must hold table samples"):
        evaluate(np.zeros((50, 2)), np.zeros((50, 2)), schema=OF_ONE_TABLE, **QUICK)
    with pytest.raises(InvalidInputError, match="`kind` is text"):
        evaluate(["a"] * 50, ["b"] * 50, schema=OF_ONE_TABLE, kind="text", **QUICK)


def test_dates_without_a_schema_are_told_what_to_do():
    table = pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None] * 40), "x": range(80)})
    with pytest.raises(InvalidInputError, match="`when` must hold numbers.*pass `schema`"):
        evaluate(table, table, **QUICK)
    found = evaluate(table, table, schema={"columns": {"when": {"sdtype": "datetime"}}}, **QUICK)
    (when,) = (one for one in found.table.columns if one.name == "when")
    assert set(when.cells) == {"18262", "missing"}  # days since 1970


def test_polars_frames_are_tables():
    """Also with dates, categories and missing values of polars itself."""
    polars = pytest.importorskip("polars")
    real, generated = customers(300, 19), customers(300, 20, lost=True)
    real.loc[:30, "start"] = None
    expected = evaluate(real, generated, schema=OF_ONE_TABLE, **QUICK)
    tables = (t.astype(object).where(t.notna(), None) for t in (real, generated))
    frames = [polars.DataFrame({name: t[name].tolist() for name in t}) for t in tables]
    assert evaluate(*frames, schema=OF_ONE_TABLE, **QUICK).table == expected.table
    dates = polars.col("start", "end").str.to_date("%d.%m.%Y")
    frames = [
        frame.with_columns(dates, polars.col("zip").cast(polars.String).cast(polars.Categorical))
        for frame in frames
    ]
    assert evaluate(*frames, schema=OF_ONE_TABLE, **QUICK).table == expected.table
    plain = [frame.select("zip", "age", "member") for frame in frames]
    assert len(evaluate(*plain, **QUICK).table.columns) == 3
