"""Every public result: short texts, read-only arrays, and round trips by pickle and JSON."""

import copy
import dataclasses
import html.parser
import importlib
import inspect
import json
import pickle
from functools import cache
from types import MappingProxyType

import numpy as np
import pytest

from tests.package.test_surface import PUBLIC_MODULES
from tradeoff import diagnose, evaluate, pr_curve, reproduce, support_metrics
from tradeoff._result import Result
from tradeoff._sides import Sides
from tradeoff.comparison import Comparison, compare, compare_curves
from tradeoff.comparison.models import Difference
from tradeoff.comparison.sweep import sweep
from tradeoff.core import AcceptanceRule, HeldOutLogRatios, PRCurve, RatioProfile, renyi_frontier
from tradeoff.core.counts import HeldOutCounts, count_errors
from tradeoff.core.piecewise import PiecewiseLinear
from tradeoff.core.roc import ROCCurve
from tradeoff.curves import Diagnosis
from tradeoff.curves.counted import CountedCurve, EstimatedCurve
from tradeoff.curves.estimate import HeldOut
from tradeoff.curves.views import SeenView
from tradeoff.data import Broken
from tradeoff.embedding.embed import Embedded
from tradeoff.evaluation import Finding, Reference, SampleValues
from tradeoff.evaluation.copied import Copied, CopiedPair
from tradeoff.evaluation.training import TrainingOutcome
from tradeoff.evaluation.verdict import Outcome
from tradeoff.exceptions import InvalidInputError
from tradeoff.explain.result import (
    ClassLoss,
    ClosePair,
    Example,
    Explanation,
    Filtered,
    Group,
    GroupedLoss,
    Preview,
)
from tradeoff.goals import Above, Below, Best
from tradeoff.inference.losses import Balance, Loss
from tradeoff.inference.randomization import Owed, Votes
from tradeoff.metrics import Measured, Score
from tradeoff.metrics.family import MeasuredCurve, Request, measure
from tradeoff.metrics.memorization import OWED
from tradeoff.metrics.moments import Moments, PartScores
from tradeoff.metrics.neighbors import OwnNeighbors, SupportScore, own_neighbors
from tradeoff.prompts import (
    Mismatch,
    Part,
    PromptReport,
    Prompts,
    PromptVariety,
    Share,
    ShownPrompt,
    Variety,
)
from tradeoff.ratio import reliability
from tradeoff.samples import Pair, Side, View
from tradeoff.sampling import Accounting, filter_pool, plan_budget
from tradeoff.sampling.sampled import Sampled
from tradeoff.sequential.questions import Decision, Look
from tradeoff.tables import (
    BrokenOrder,
    ColumnDifference,
    PairDifference,
    TableReport,
    Usefulness,
)
from tradeoff.tracking import TrackedStep

pytestmark = pytest.mark.torch  # some results need it

RNG = np.random.default_rng(0)
REAL, GENERATED = RNG.normal(size=(200, 2)), RNG.normal(0.5, 1, size=(200, 2))
BOTH = {"real": REAL, "generated": GENERATED}
FAST = {"estimator": "logistic", "progress": False}
LONG = "a very long sentence with <b>markup</b> " * 200

# Public dataclasses that hold no results: configurations, sources, declarations and fitted models.
NO_RESULTS = {
    "ArraySource",
    "BoostedTrees",
    "BudgetedSampler",
    "Calibrated",
    "Classifier",
    "CountingPlan",
    "Discriminator",
    "EncoderDeclaration",
    "EstimatorDeclaration",
    "EfficientNetLite0",
    "Family",
    "FeatureStore",
    "FrozenRule",
    "GrowingFolder",
    "Function",
    "Gaussians",
    "HubImages",
    "HubTexts",
    "Identity",
    "ImageArchive",
    "ImageFolder",
    "Isotonic",
    "Items",
    "KernelDensity",
    "Logistic",
    "Metric",
    "MiniLM",
    "Neighbors",
    "NetworkFile",
    "Pixels",
    "Published",
    "Quantized",
    "Records",
    "Request",
    "Sample",
    "Settings",
    "Stack",
    "TableEncoder",
    "TextFile",
    "Views",
    "EmbedSettings",
    "MeasureSettings",
}
# What JSON leaves out or cannot hold: `Reference.save` writes files, `Evaluation.save` the samples.
NO_JSON = {"Reference"}


@cache
def estimate():
    return pr_curve(**BOTH, **FAST)


@cache
def evaluation():
    return evaluate(**BOTH, metrics=("curve", "knn", "copies"), diagnose=False, **FAST)


@cache
def comparison():
    models = {"<near>": GENERATED, "far": GENERATED + 2.0}
    return compare(real=REAL, generated=models, metrics="curve", diagnose=False, **FAST)


@cache
def diagnosis():
    return diagnose(**BOTH, **FAST)


def held_out():
    return HeldOutLogRatios(real=[1.0, -np.inf, 3.0], generated=[0.5, 0.2], real_weights=[1, 2, 3])


def counts():
    both = [count_errors(RNG.normal(size=300), np.arange(300) % 256) for _ in range(2)]
    return HeldOutCounts(real=both[0], generated=both[1], groups=Sides(20.0, None))


@cache
def a_sweep():
    rng = np.random.default_rng(0)
    made = {scale: rng.normal(0, scale, (200, 1)) for scale in (0.2, 1.0)}
    return sweep(
        real=rng.normal(0, 1, (200, 1)), generated=made, estimator="gaussians", progress=False
    )


LOOK = Look(samples=500, value=0.7, low=0.6, high=0.8, capital=40.0)
PREVIEW = Preview(id="cats/1.png", label="cat", image="data:image/webp;base64," + LONG)
MISSED = GroupedLoss(
    kind="recall",
    factor=5.0,
    loss=0.06,
    low=0.04,
    high=0.08,
    groups=(
        Group(
            name="cat (96%)",
            share=0.06,
            at_least=0.03,
            size=150,
            examples=(Example(sample=PREVIEW, nearest=PREVIEW, distance=0.5),),
        ),
    ),
)
COLUMN = ColumnDifference(
    name="kind",
    value=0.3,
    at_least=0.2,
    statistic=0.3,
    cells=("a", "b"),
    real=(0.5, 0.5),
    generated=(1.0, 0.0),
    never=(("b", 0.4),),
)
PAIR_OF_COLUMNS = PairDifference(
    first="x", second="y", value=0.3, at_least=0.2, real=0.7, generated=0.0
)
OWED_SHARE = Owed(value=0.05, at_least=0.03, p_value=0.001, detectable=0.01)
COPIED_PAIR = CopiedPair(
    generated=PREVIEW,
    training=PREVIEW,
    held_out=PREVIEW,
    distance=0.1,
    to_held_out=2.0,
    ratio=0.05,
    votes=1,
)


def measured_training():
    pair = Pair.of(**BOTH, train=RNG.normal(size=(60, 2)))
    return measure(pair, Request(keys=(OWED,), progress=False)).training


MAKE = {
    "AcceptanceRule": lambda: AcceptanceRule.from_log_ratios([-np.inf, 0.0, 1.0], budget=1.1),
    "Accounting": lambda: Accounting(draws=10, accepted=3, warnings=(LONG, "two")),
    "Broken": lambda: Broken("id", LONG),
    "Comparison": comparison,
    "Control": lambda: diagnosis().controls[0],
    "Copied": lambda: Copied(pairs=(COPIED_PAIR,)),
    "CopiedPair": lambda: COPIED_PAIR,
    "CountedCurve": lambda: CountedCurve.of(counts(), {"plan": "a"}),
    "CurveComparison": lambda: compare_curves(estimate(), pr_curve(**BOTH, **FAST)),
    "CurveEstimate": estimate,
    "CurveInterval": lambda: estimate().interval([0.5, 1.0]),
    "Sweep": a_sweep,
    "SweepPoint": lambda: a_sweep().points[0],
    "TrackedStep": lambda: TrackedStep(
        step=500,
        score=0.7,
        f_score=0.7,
        f_score_at_most=0.8,
        precision=0.6,
        precision_limits=(0.5, 0.7),
        recall=0.8,
        recall_limits=(0.7, 0.9),
        knn_precision=0.9,
        knn_recall=0.9,
    ),
    "Above": lambda: Above("recall", 0.4, lam=2.0),
    "Below": lambda: Below("precision", 0.9),
    "Look": lambda: LOOK,
    "Decision": lambda: Decision(
        goal=Above("recall", 0.5), answer="yes", best=(LONG,), looks=(LOOK,), samples={LONG: 500},
        level=0.95, warnings=(LONG,),
    ),
    "Balance": lambda: Balance(lam=2.0, low=1.0, high=4.0),
    "Best": lambda: Best("precision", given=Above("recall", 0.8)),
    "ClassLoss": lambda: ClassLoss(name="cat", real=0.1, generated=0.05, missed=0.05),
    "ClosePair": lambda: ClosePair(generated=PREVIEW, real=PREVIEW, distance=0.1, usual=0.8),
    "Example": lambda: Example(sample=PREVIEW, nearest=PREVIEW, distance=0.5),
    "Explanation": lambda: Explanation(level=0.95, missed=MISSED),
    "Filtered": lambda: Filtered(dropped=0.05, precision_loss=0.01, recall_loss=0.2),
    "Group": lambda: MISSED.groups[0],
    "GroupedLoss": lambda: MISSED,
    "Preview": lambda: PREVIEW,
    "Loss": lambda: Loss(factor=3.0, at_least=0.2),
    "Losses": lambda: estimate().losses(),
    "Outcome": lambda: Outcome(
        value=0.7, losses=(Loss(factor=3.0, at_least=0.2),), enough=300, groups=(LONG, "two")
    ),
    "BrokenOrder": lambda: BrokenOrder(smaller="a", larger="b", broken=0.1, at_least=0.08),
    "ColumnDifference": lambda: COLUMN,
    "PairDifference": lambda: PAIR_OF_COLUMNS,
    "TableReport": lambda: TableReport(columns=(COLUMN,), pairs=(PAIR_OF_COLUMNS,)),
    "Usefulness": lambda: Usefulness(
        target="kind", measure="accuracy", real=0.97, generated=0.62, low=0.3, high=0.4
    ),
    "TrainingOutcome": lambda: TrainingOutcome(
        samples=100, owed=OWED_SHARE, close=OWED_SHARE, gain=0.1, duplicates=0.02, often=3
    ),
    "View": lambda: View("pixels", 0, 2),
    "Votes": lambda: Votes(
        closeness=np.array([0.1]),
        sample=np.array([0]),
        unit=np.array([0]),
        weight=np.array([1.0]),
        is_training=np.array([True]),
        units=10,
        training=5,
    ),
    "Mismatch": lambda: Mismatch(sample=PREVIEW, prompt=LONG, better="a boot"),
    "Part": lambda: Part(overlap=0.9, overlap_at_most=0.95),
    "PromptReport": lambda: PromptReport(prompts={"real": 9, "generated": 9}, shared=9),
    "Prompts": lambda: Prompts.of(real=["a", LONG], generated=["a", "a"]),
    "PromptVariety": lambda: PromptVariety(prompt=LONG, variety=0.2, low=0.1, high=0.4),
    "Share": lambda: Share(value=0.4, low=0.3, high=0.5),
    "ShownPrompt": lambda: ShownPrompt(prompt=LONG, real=(PREVIEW,), generated=(PREVIEW,)),
    "Variety": lambda: Variety(within=Share(value=0.4, low=0.3, high=0.5)),
    "Verdict": lambda: evaluation().verdict,
    "Diagnosis": diagnosis,
    "Difference": lambda: Difference(
        first=LONG, second="b", key="curve.recall", value=0.1, low=0.0, high=0.2, p_value=0.01,
        resolvable=float("inf"),
    ),
    "Embedded": lambda: Embedded(
        features=REAL.astype(np.float32), ids=tuple(map(str, range(200))), labels=(None,) * 200,
        broken=(Broken("x", "Empty."),), reused=3, provenance={"encoder": "identity", "size": None},
    ),
    "Evaluation": evaluation,
    "Finding": lambda: Finding("recall lost", LONG),
    "HeldOut": lambda: HeldOut(
        log_ratios=np.array([0.1, np.nan, np.inf]), folds=np.array([0, 1, 1]),
        groups=np.array([0, 0, 1]),
    ),
    "HeldOutCounts": lambda: counts(),
    "HeldOutLogRatios": held_out,
    "Measured": lambda: Measured(
        scores={"a.b": Score(value=0.5)}, provenance={"seed": 0},
        curve=MeasuredCurve.of(estimate()),
    ),
    "MeasuredCurve": lambda: MeasuredCurve.of(estimate(), certificate=estimate().curve),
    "MeasuredTraining": measured_training,
    "NearestOfPart": lambda: measured_training().nearest.train,
    "NearestReal": lambda: measured_training().nearest,
    "Moments": lambda: Moments.of(REAL),
    "Owed": lambda: OWED_SHARE,
    "OwnNeighbors": lambda: own_neighbors(REAL, ranks=2, progress=False),
    "PRCurve": lambda: estimate().with_band(),
    "Pair": lambda: Pair.of(**BOTH),
    "PartScores": lambda: PartScores(np.array([1.0, np.inf])),
    "Plan": lambda: plan_budget(estimate().held_out, budgets=[1.0, 2.0]),
    "PoolSelection": lambda: filter_pool(**BOTH, budget=2.0, **FAST),
    "ROCCurve": lambda: estimate().raw.roc(),
    "RatioProfile": lambda: RatioProfile.from_masses([0.5, 0.5], [0.2, 0.8]),
    "Reference": lambda: Reference.make(REAL, progress=False),
    "Reliability": lambda: reliability(real=RNG.normal(size=50), generated=RNG.normal(size=50)),
    "RenyiFrontier": lambda: renyi_frontier(
        RatioProfile.from_masses([0.5, 0.5], [0.2, 0.8]), order=1, kind="exclusive", weight=[0.5]
    ),
    "Reproduction": lambda: reproduce("sajjadi-2018", **BOTH, progress=False),
    "SampleValues": lambda: SampleValues(
        ("a", "b"), (None, "cat"),
        {"log_ratio": np.array([0.3, np.nan]), "nearest": np.array(["x", "yy"], dtype=object)},
    ),
    "Sampled": lambda: Sampled(
        samples=REAL, labels=None, log_ratios=REAL[:, 0], accounting=Accounting(draws=300)
    ),
    "SeenView": lambda: SeenView(
        name=LONG, overlap=0.9, at_most=1.0, hidden=0.2, hidden_at_least=0.1, lost=0.0,
        lost_at_least=-0.01,
    ),
    "Score": lambda: Score(value=0.5, low=0.4, high=0.6),
    "Side": lambda: Side(name="real", features=REAL, groups=["a"] * 200),
    "SupportMetrics": lambda: support_metrics(**BOTH, progress=False),
    "SupportScore": lambda: SupportScore(value=0.5, samples=np.array([0.0, 1.0]), is_share=True),
    "TestedDifference": lambda: compare_curves(estimate(), pr_curve(**BOTH, **FAST)).area,
}  # fmt: skip


@cache
def made(name):
    return MAKE[name]()


def public_dataclasses():
    for module in PUBLIC_MODULES:
        package = importlib.import_module(module)
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) and dataclasses.is_dataclass(thing):
                yield name, thing


def arrays_in(value):
    """All arrays of a result, at any depth."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Result):
        for field in dataclasses.fields(value):
            if not field.name.startswith("_"):
                yield from arrays_in(getattr(value, field.name))
    elif isinstance(value, (dict, MappingProxyType)):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from arrays_in(item)


def assert_same(found, expected):
    """The same values, types and arrays, field by field."""
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    elif isinstance(expected, Result):
        for field in dataclasses.fields(expected):
            if not field.name.startswith("_") and field.name != "embedder":
                assert_same(getattr(found, field.name), getattr(expected, field.name))
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_same(found[key], expected[key])
    elif isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    else:
        assert found == expected or (found != found and expected != expected)


def assert_read_only(result):
    for array in arrays_in(result):
        assert not array.flags.writeable
        if array.size:
            with pytest.raises(ValueError, match="read-only"):
                array.flat[0] = array.flat[0]


def test_every_public_dataclass_is_a_result_or_listed_as_none():
    results = {name for name, thing in public_dataclasses() if issubclass(thing, Result)}
    others = {name for name, thing in public_dataclasses() if not issubclass(thing, Result)}
    assert others - NO_RESULTS == set(), "derive them from Result, and make one in MAKE"
    assert results <= MAKE.keys()


def test_every_result_class_is_made_here():
    defined = {c for c in all_subclasses(Result) if c.__module__.startswith("tradeoff.")}
    assert {c.__name__ for c in defined - {PiecewiseLinear, EstimatedCurve}} == MAKE.keys()


def all_subclasses(cls):
    return {c for sub in cls.__subclasses__() for c in {sub, *all_subclasses(sub)}}


@pytest.mark.parametrize("name", MAKE)
def test_the_repr_is_short_and_names_the_class(name):
    text = repr(made(name))
    assert text.startswith(f"{name}(")
    assert len(text) < 1500
    assert "array([" not in text


class Tags(html.parser.HTMLParser):
    """Tags and text of a page, which must be balanced."""

    def __init__(self):
        super().__init__()
        self.seen, self.open, self.text = set(), [], ""

    def handle_starttag(self, tag, attrs):
        assert not [value for key, value in attrs if key in ("src", "href") or key[:2] == "on"]
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", MAKE)
def test_the_html_is_a_table_without_scripts(name):
    page = made(name)._repr_html_()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert tags.seen == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "<script" not in page


def test_the_html_of_an_evaluation_holds_what_its_text_holds():
    tags = Tags()
    tags.feed(evaluation()._repr_html_())
    for key, score in evaluation().scores.items():
        assert key in tags.text
        assert score.value_text in tags.text
    assert evaluation().verdict.sentences
    for sentence in evaluation().verdict.sentences:
        assert sentence in tags.text
    for finding in evaluation().findings:
        assert finding.sentence in tags.text
    first = evaluation().verdict.sentences[0]
    assert f">{html.escape(first)}</td>" in evaluation()._repr_html_(), "not a heading"


def test_the_html_of_a_comparison_escapes_names_and_holds_the_verdicts():
    page, tags = comparison()._repr_html_(), Tags()
    tags.feed(page)
    assert "<near>" not in page
    assert "<near>" in tags.text
    for verdict in comparison().verdicts:
        assert verdict in tags.text


@pytest.mark.parametrize("name", MAKE)
def test_arrays_are_read_only(name):
    assert_read_only(made(name))


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("through", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_pickles_and_copies_are_equal_and_read_only(name, through):
    found = through(made(name))
    assert_same(found, made(name))
    assert_read_only(found)


@pytest.mark.parametrize("name", sorted(MAKE.keys() - NO_JSON))
def test_json_is_read_back_equal_and_read_only(name):
    result = made(name)
    text = result.to_json()
    assert json.loads(text)["schema"] == f"tradeoff.{name}"
    found = type(result).from_json(text)
    assert found.to_json() == text
    assert_read_only(found)
    if name not in ("Evaluation", "Comparison", "Sweep"):  # whose samples are in files of their own
        assert_same(found, result)


def test_what_json_cannot_hold_is_said():
    with pytest.raises(InvalidInputError, match="cannot hold this Reference, .* EmbedSettings"):
        made("Reference").to_json()
    with pytest.raises(InvalidInputError, match="must hold numbers or texts"):
        SampleValues(("a",), (None,), {"x": np.array([{}], dtype=object)}).to_json()


def test_fractions_in_an_array_of_whole_numbers_are_refused():
    text = HeldOut(log_ratios=np.array([0.5]), folds=np.array([7])).to_json()
    with pytest.raises(InvalidInputError, match="an array of numbers holds something else"):
        HeldOut.from_json(text.replace("[7]", "[7.5]"))


def test_one_item_and_many_items_of_a_tuple():
    assert repr(Accounting(warnings=("one",))).endswith("warnings=('one',))")
    assert "'3', ... 200 in all)" in repr(made("Embedded"))
    assert "embedder" not in repr(made("Reference"))


DAMAGED = {
    "no JSON": "{",
    "another schema": Score(value=1.0).to_json(),
    "another version": held_out().to_json().replace('"version": 2', '"version": 99'),
    "a missing field": held_out().to_json().replace('"real"', '"unreal"', 1),
    "a text for a number": held_out().to_json().replace("3.0", '"three"'),
    "a number for an array": json.dumps(json.loads(held_out().to_json()) | {"real": 3}),
    "another dtype": held_out().to_json().replace("float64", "object"),
    "a wrong shape": held_out().to_json().replace('"shape": [3]', '"shape": [4]'),
    "a huge shape": held_out().to_json().replace('"shape": [3]', '"shape": [99999999999]'),
    "NaN": held_out().to_json().replace("3.0", "NaN"),
    "a deep text": "[" * 100_000,
    "nothing": "{}",
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_damaged_json_ends_in_one_sentence(text):
    with pytest.raises(InvalidInputError) as caught:
        HeldOutLogRatios.from_json(text)
    assert "\n" not in str(caught.value)


def test_a_file_cannot_choose_a_class():
    document = json.loads(MAKE["Measured"]().to_json())
    document["scores"]["a.b"] = {"schema": "subprocess:Popen", "version": 1, "args": "true"}
    with pytest.raises(InvalidInputError, match=r"scores: Score has the fields value, low"):
        Measured.from_json(json.dumps(document))


def test_callers_cannot_write_through_their_own_arrays():
    mine = np.array([0.5, 1.5])
    view = mine[:]
    view.flags.writeable = False
    results = [
        PartScores(mine),
        PartScores(view),
        SupportScore(value=0.5, samples=mine),
        PRCurve(
            breakpoints=mine, intercepts=[0, 0, 0], slopes=[0, 0, 0], max_precision=1, max_recall=1
        ),
        ROCCurve(generated=mine, real=view),
        HeldOutLogRatios(real=mine, generated=mine, real_weights=mine),
        SampleValues(("a", "b"), (None, None), {"x": mine}),
    ]
    before = [result.to_json() for result in results]
    mine[:] = 0.25
    assert [result.to_json() for result in results] == before
    assert mine.flags.writeable


def test_large_features_are_shared_and_read_only():
    mine = REAL.copy()
    side = Side.of("real", mine)
    assert np.shares_memory(side.features, mine)
    assert mine.flags.writeable
    assert not pickle.loads(pickle.dumps(side)).x.flags.writeable


def test_replacing_a_field_keeps_the_arrays():
    curve = made("PRCurve")
    changed = dataclasses.replace(curve, lower=None)
    assert changed.slopes is curve.slopes
    assert OwnNeighbors(np.ones((2, 1)), np.array([[1], [0]])).index.tolist() == [[1], [0]]


def test_a_comparison_is_loaded_as_it_was_saved(tmp_path):
    pytest.importorskip("pyarrow")
    comparison().save(tmp_path)
    found = Comparison.load(tmp_path)
    assert found.to_json() == comparison().to_json()
    assert_same(found["far"].samples, comparison()["far"].samples)
    assert_read_only(found)
    with pytest.raises(InvalidInputError, match="must hold a comparison"):
        Comparison.load(tmp_path / "far")


def test_a_diagnosis_prints_its_sentence_and_a_line_for_each_control():
    lines = str(diagnosis()).splitlines()
    assert lines[0] == diagnosis().sentence
    assert len(diagnosis().controls) == 2
    assert len(lines) == 2 + len(diagnosis().controls)
    for line, control in zip(lines[2:], diagnosis().controls, strict=True):
        assert line.split()[0] == f"{control.share:.1%}"
        assert line.split()[-1] == ("yes" if control.is_established else "no")
    assert isinstance(diagnosis(), Diagnosis)
