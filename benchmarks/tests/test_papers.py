"""The experiments of the papers agree with their claims at reduced size."""

import importlib
import json

import pytest
from matplotlib import pyplot as plt

from benchmarks.harness import RESULTS
from examples.papers import MODULES
from examples.papers.gallery import Claim, Experiment, Measured, main

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

EXPERIMENTS = [
    experiment
    for module in MODULES
    for experiment in importlib.import_module(f"examples.papers.{module}").EXPERIMENTS
]


@pytest.mark.slow
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda one: one.name)
def test_claims_hold_at_reduced_size(experiment, tmp_path):
    measured = experiment.measure(True)
    assert measured.values.keys() == experiment.claims.keys()
    for name, claim in experiment.claims.items():
        as_known = claim.is_as_known(measured.values[name], quick=True)
        assert as_known, f"{name}: {measured.values[name]}"
    experiment.draw(measured.shown).savefig(tmp_path / "picture.png")


def test_the_record_is_judged_by_the_present_claims():
    """`python -m benchmarks.bench_papers --claims` repairs what this finds, except new numbers."""
    from benchmarks.bench_papers import CASES, claims, judged

    rows = {row["case"]: row for row in json.loads((RESULTS / "papers.json").read_text())["rows"]}
    known = claims()
    assert list(CASES) == list(rows)
    for name, claim in known.items():
        assert rows[name].items() >= judged(claim, rows[name]["ours"]).items()
        assert claim.is_as_known(rows[name]["ours"]), name
    kinds = [row for case, row in rows.items() if case.startswith("kind: ")]
    assert sum(row["statements"] for row in kinds) == len(known)
    agreed = sum(row["hold"] for row in kinds)
    status = (RESULTS.parents[1] / "docs" / "status.md").read_text(encoding="utf-8")
    assert f"{len(known)} statements of four papers, of which {agreed} hold" in status


def test_a_claim_knows_how_far_a_number_is_from_its_limits():
    tested = Claim("it is about one", 0.9, 1.2)
    assert tested.distance(1.0) == pytest.approx(0.1)
    assert tested.distance(2.0) == pytest.approx(0.8)
    assert Claim("it is large", 0.9).distance(2.0) == pytest.approx(1.1)
    assert tested.verdict(1.0) == "yes"
    assert Claim("it can be anything").verdict(1.0) == "shown"


def test_every_tested_claim_has_a_number_that_agrees_and_one_that_does_not():
    for experiment in EXPERIMENTS:
        for name, claim in experiment.claims.items():
            ends = (-1e9, 1e9)
            assert not claim.is_tested or not all(claim.holds(end) for end in ends), name
            assert claim.low <= claim.high, name


def test_names_are_unique():
    names = [experiment.name for experiment in EXPERIMENTS]
    assert len(set(names)) == len(names)


def test_a_claim_that_does_not_hold_is_told(tmp_path, monkeypatch, capsys):
    experiment = Experiment(
        "demo",
        "exact",
        "A demonstration",
        {"one": Claim("it is one", 0.9, 1.1), "two": Claim("it is two", 1.9, 2.1, (0.0, 1.0))},
        lambda quick: Measured({"one": 1.0, "two": 2.0}, quick),
        lambda _: plt.figure(),
    )
    monkeypatch.setattr("sys.argv", ["demo", "--quick", "--output", str(tmp_path / "new")])
    main([experiment], "A demonstration")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in lines[1:3]] == ["agrees", "differs"]
    assert (tmp_path / "new" / "demo.png").exists()
