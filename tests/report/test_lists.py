"""Lists of samples: complete, and never a formula, whatever samples are called."""

import csv
import io
from urllib.parse import unquote

import pytest

from tradeoff.explain.result import Group, GroupedLoss
from tradeoff.report.lists import csv_of, list_of


def loss_of(*groups):
    return GroupedLoss(kind="recall", factor=5.0, loss=0.1, low=0.05, high=0.2, groups=groups)


def rows_of(address):
    head, _, text = address.partition(",")
    assert head == "data:text/csv;charset=utf-8"
    return list(csv.reader(io.StringIO(unquote(text).removeprefix("\ufeff"))))


@pytest.mark.parametrize("lead", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\r", "\n", "a,", "a;", "a|", 'a"', 'a", ', "a; "]
)
def test_no_part_of_a_cell_begins_a_formula(lead, before):
    """Spreadsheets may take another character than a comma to separate cells."""
    text = csv_of([(f"{before}{lead}cmd|' /C calc'!A0", "b")])
    for separator in ",;|\t":
        for row in csv.reader(io.StringIO(text), delimiter=separator):
            assert not any(cell.lstrip(' "').startswith(lead) for cell in row)


def test_harmless_names_stay_as_they_are():
    names = ("cats/été 1-2.png", 'a "quoted" name, with a comma', "real[12]", "猫.png")
    assert next(csv.reader(io.StringIO(csv_of([names])))) == list(names)
    assert csv_of([("a\nb\x00",)]) == "a\\nb\\x00\r\n"


def test_a_list_names_all_samples_with_their_groups():
    found = list_of(
        loss_of(
            Group(name="trück", share=0.1, at_least=0.05, size=2, members=("a&b<c>.png", "=x")),
            Group(name="hint", share=0.1, at_least=0.0, size=1, members=("50%#1.png",)),
        )
    )
    assert rows_of(found.address) == [
        ["group", "established", "sample"],
        ["trück", "yes", "a&b<c>.png"],
        ["trück", "yes", "'=x"],
        ["hint", "no", "50%#1.png"],
    ]
    assert (found.shown, found.size) == (3, 3)


def test_a_long_list_is_cut_and_says_so():
    members = tuple(f"{i:06}{'x' * 94}" for i in range(5000))
    found = list_of(loss_of(Group(name="g", share=0.1, at_least=0.0, size=5000, members=members)))
    assert found.size == 5000
    assert 2000 < found.shown < 2500
    assert len(rows_of(found.address)) == 1 + found.shown
    assert len(found.address) < 2_000_000


def test_without_names_there_is_no_list():
    assert list_of(loss_of(Group(name="g", share=0.1, at_least=0.0, size=5))) is None
