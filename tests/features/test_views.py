"""Several encoders of one sample: their names, their columns, and what a store keeps of each."""

import json

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tradeoff import compare, evaluate
from tradeoff.data import open_source
from tradeoff.embedding import embed_source
from tradeoff.evaluation import Reference
from tradeoff.exceptions import InvalidInputError
from tradeoff.features import Function, Views, open_encoder
from tradeoff.features.store import FeatureStore
from tradeoff.metrics.registry import resolve_keys
from tradeoff.samples import views_of
from tradeoff.settings import Settings, read_config, write_config

TEXTS = [f"text number {i} {'x' * (i % 7)}" for i in range(40)]


class Counting:
    """A function that knows how many texts it has seen."""

    def __init__(self, function):
        self.function, self.seen = function, 0

    def __call__(self, texts):
        self.seen += len(set(texts))
        return [self.function(text) for text in texts]


@pytest.fixture
def counting():
    length = Counting(lambda text: [len(text), text.count("1")])
    crosses = Counting(lambda text: [text.count("x"), hash(text) % 1, text.count("0")])
    return length, crosses


def encoders(counting):
    return [
        Function(function, name, "text", "1")
        for function, name in zip(counting, ("org/length", "crosses"), strict=True)
    ]


def test_features_of_views_stand_side_by_side(counting):
    found = embed_source(open_source(TEXTS), Views.of(encoders(counting)), progress=False)
    assert found.views == views_of({"length": 2, "crosses": 3})
    assert found.features.shape == (40, 5)
    for view, encoder in zip(found.views, encoders(counting), strict=True):
        alone = embed_source(open_source(TEXTS), encoder, progress=False)
        np.testing.assert_array_equal(found.features[:, view.columns], alone.features)
        assert alone.views == ()
    assert found.provenance["encoder"] == "org/length + crosses"


def test_a_store_keeps_each_view_on_its_own(tmp_path, counting):
    store = FeatureStore(tmp_path)
    first, second = encoders(counting)
    embed_source(open_source(TEXTS), first, store=store, progress=False)
    seen = counting[0].seen
    both = embed_source(open_source(TEXTS), Views.of([first, second]), store=store, progress=False)
    assert counting[0].seen == seen  # only the new view is computed
    assert counting[1].seen > 0
    assert both.reused == 0
    again = embed_source(open_source(TEXTS), Views.of([second, first]), store=store, progress=False)
    assert again.reused == 40
    assert again.views == views_of({"crosses": 3, "length": 2})
    np.testing.assert_array_equal(again.features[:, 3:], both.features[:, :2])


def test_a_view_without_a_version_is_computed_anew(tmp_path, counting):
    first, _ = encoders(counting)
    fresh = Function(counting[1], "crosses", "text", None)
    store = FeatureStore(tmp_path)
    for _ in range(2):
        found = embed_source(
            open_source(TEXTS), Views.of([first, fresh]), store=store, progress=False
        )
    assert found.features.shape == (40, 5)
    assert found.reused == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["identity", "identity"], "must embed text samples"),
        ([], "must name at least one encoder"),
        ({"a@b": len, "c": len}, "must not be empty or contain @"),
        ([len, len], "must have different views"),
    ],
)
def test_encoders_that_do_not_fit_are_refused(given, message):
    with pytest.raises(InvalidInputError, match=message):
        open_encoder(given, kind="text")


def length(texts):
    return [[len(text), text.lower().count("e")] for text in texts]


def case(texts):
    return [[sum(map(str.isupper, text)), len(text.split())] for text in texts]


def sentences(seed, *, upper=0.0):
    rng = np.random.default_rng(seed)
    letters = np.array(list("abcdefghijklmnop"))
    words = ["".join(rng.choice(letters, rng.integers(3, 30))) for _ in range(200)]
    return [word.upper() if rng.random() < upper else word for word in words]


BOTH = {"length": length, "case": case}
FAST = {"diagnose": False, "progress": False}


@pytest.mark.torch
def test_metrics_name_the_view_that_they_see():
    result = evaluate(
        sentences(0), sentences(1, upper=0.5), encoder=BOTH, metrics="knn,knn@case,fid", **FAST
    )
    first = evaluate(
        sentences(0), sentences(1, upper=0.5), encoder=length, metrics="knn,fid", **FAST
    )
    second = evaluate(sentences(0), sentences(1, upper=0.5), encoder=case, metrics="knn", **FAST)
    for key, score in first.scores.items():
        assert result[key] == score
    for key, score in second.scores.items():
        assert result[f"{key}@case"] == score
    assert "views length, case" in str(result)


def test_the_verdict_names_the_view_that_sees():
    result = evaluate(sentences(0), sentences(1, upper=0.5), encoder=BOTH, metrics="curve", **FAST)
    assert "Seen in case, not in length." in result.verdict.sentences
    assert [view.name for view in result.verdict.views] == ["length", "case"]
    assert type(result).from_json(result.to_json()).verdict.views == result.verdict.views


def test_models_are_compared_in_all_views():
    models = {"same": sentences(1), "loud": sentences(2, upper=0.5)}
    found = compare(real=sentences(0), generated=models, encoder=BOTH, metrics="curve", **FAST)
    overlaps = {name: one.overlap.value for name, one in found.evaluations.items()}
    assert overlaps["same"] > overlaps["loud"] + 0.2


@pytest.mark.torch
@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("knn@cases", "Unknown view in `knn.precision@cases`. Did you mean `case`?"),
        ("curve@case", "`curve@case` cannot be measured in one view"),
    ],
)
def test_unknown_views_are_refused_before_the_work(metrics, message):
    def never(texts):
        raise AssertionError

    with pytest.raises(InvalidInputError) as error:
        evaluate(TEXTS, TEXTS, encoder={"length": never, "case": never}, metrics=metrics)
    assert message in str(error.value)


def test_keys_keep_their_view_and_their_order():
    assert resolve_keys(["fid@b", "knn.recall", "fid"]) == (
        "knn.recall",
        "frechet.distance@b",
        "frechet.distance",
    )


@pytest.mark.torch
def test_a_reference_keeps_its_views(tmp_path):
    versioned = {
        "length": Function(length, "length", "text", "1"),
        "case": Function(case, "case", "text", "1"),
    }
    made = Reference.make(sentences(0), encoder=versioned, progress=False)
    made.prepare(progress=False)
    made.save(tmp_path / "reference")
    loaded = Reference.load(tmp_path / "reference")
    assert loaded.side.views == views_of({"length": 2, "case": 2})
    assert loaded.side.first.remembered("neighbors") is not None
    options = {"encoder": versioned, "metrics": "curve,knn.precision", **FAST}
    direct, reused = (
        evaluate(real, sentences(1, upper=0.5), **options) for real in (sentences(0), loaded)
    )
    assert direct.scores == reused.scores


def test_the_command_takes_several_encoders(tmp_path):
    for name, texts in (("real", sentences(0)), ("made", sentences(1, upper=0.5))):
        (tmp_path / f"{name}.txt").write_text("\n".join(texts))
    sides = ["--real", tmp_path / "real.txt", "--generated", tmp_path / "made.txt"]
    found = tradeoff(
        "evaluate", *sides, "--encoder", "surface", "--encoder", "surface", "--metrics", "copies"
    )
    assert found.exit_code == 2
    assert "must have different views" in found.stderr
    alone, listed = (
        tradeoff("evaluate", *sides, *encoders, "--metrics", "frechet", "--json")
        for encoders in (
            ["--encoder", "surface"],
            ["--encoder", "surface", "--out", tmp_path / "o"],
        )
    )
    assert alone.exit_code == listed.exit_code == 0
    assert json.loads(alone.stdout)["scores"] == json.loads(listed.stdout)["scores"]
    again = tradeoff("evaluate", "--config", tmp_path / "o" / "run.toml", "--json")
    assert json.loads(again.stdout)["scores"] == json.loads(alone.stdout)["scores"]


def test_a_file_names_several_encoders(tmp_path):
    (tmp_path / "run.toml").write_text('encoder = ["surface", "identity"]\nseed = 3\n')
    assert read_config(tmp_path / "run.toml")["encoder"] == ["surface", "identity"]
    written = write_config(Settings(encoder=["surface", length]), real="/a", generated="/b")
    assert 'encoder = [\n    "surface",\n' in written
    (tmp_path / "run.toml").write_text("encoder = 3\n")
    with pytest.raises(InvalidInputError, match="`encoder` in `.*` must be text. Got 3."):
        read_config(tmp_path / "run.toml")
