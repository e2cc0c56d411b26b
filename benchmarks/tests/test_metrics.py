"""The benchmark of metrics at reduced size: one check, few points."""

import pytest

from benchmarks.bench_metrics import GROUPS, cases, row, total
from benchmarks.sanity import checks

pytestmark = pytest.mark.torch


@pytest.mark.slow
def test_supports_pass_where_they_are_known_to_pass_and_fail_where_they_fail():
    """Coverage falls with modes that are dropped; an outlier keeps improved precision up."""
    dropped = next(one for one in checks(5, 4) if one.name == "modes dropped one by one")
    found = row(GROUPS["supports"], dropped, repeats=1)
    assert found["density and coverage, diversity"].split()[1] == "pass"
    shifted = next(one for one in checks(5, 4) if one.name == "mean shift with an outlier")
    found = row(GROUPS["supports"], shifted, repeats=1)
    assert found["improved precision and recall, fidelity"].split()[0] == "fail"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in GROUPS if not name.startswith("supports")])
def test_curves_see_modes_that_are_dropped(name):
    check = next(one for one in checks(3, 3) if one.name == "modes dropped and invented")
    found = row(GROUPS[name], check, repeats=1)
    (pair,) = GROUPS[name].pairs
    assert found[f"{pair}, fidelity"].split()[1] == "pass"
    assert found[f"{pair}, diversity"].split()[1] == "pass"


def test_totals_count_rows():
    rows = {
        f"supports: {i}": {
            "PR-cover, fidelity": "pass fail",
            "PR-cover, diversity": "pass pass" if i else "fail fail",
        }
        for i in range(3)
    }
    found = total(rows, "PR-cover", "supports")
    assert (found["fidelity"], found["diversity"]) == (3, 4)
    assert len(cases()) == 15 * len(GROUPS) + sum(len(group.pairs) for group in GROUPS.values())
