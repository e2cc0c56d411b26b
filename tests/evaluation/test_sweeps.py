"""A knob chosen by measurement: the right value, its equals, and what is refuted."""

import json

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tradeoff import Above, Best, sweep
from tradeoff.cli.goals import parse_best
from tradeoff.comparison import Sweep
from tradeoff.exceptions import InvalidInputError

OPTIONS = {"estimator": "gaussians", "progress": False}
SCALES = (0.15, 0.5, 1.0, 1.05, 4.0)


@pytest.fixture(scope="module")
def real():
    return np.random.default_rng(0).normal(0, 1, (1500, 1))


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(1)
    return {scale: rng.normal(0, scale, (1500, 1)) for scale in SCALES}


@pytest.mark.slow
def test_the_value_that_fits_is_recommended_with_those_that_cannot_be_told_from_it(real, made):
    found = sweep(real=real, generated=made, **OPTIONS)
    assert found.best in ("1.0", "1.05")
    assert set(found.alike) == {"1.0", "1.05"}
    assert found.refuted == ()
    assert found.sentences[0] == f"{found.best} has the largest area."
    assert "it cannot be distinguished from" in found.sentences[1]


@pytest.mark.slow
def test_a_condition_can_be_refuted_and_is_never_called_certain(real, made):
    found = sweep(
        real=real, generated=made, goal=Best("precision", given=Above("recall", 0.8)), **OPTIONS
    )
    assert "0.15" in found.refuted
    assert found.best not in found.refuted
    assert "does not reach 0.8, but it cannot prove that it does" in found.sentences[-1]
    two = {scale: made[scale] for scale in (0.15, 1.0)}
    alone = sweep(
        real=real, generated=two, goal=Best("precision", given=Above("recall", 0.8)), **OPTIONS
    )
    assert alone.refuted == ("0.15",)
    assert "better than" not in " ".join(alone.sentences)  # its precision may be lower
    narrow = {scale: made[scale] for scale in (0.15, 4.0)}
    goal = Best("precision", given=Above("recall", 0.99))
    nothing = sweep(real=real[:, :1] * 20, generated=narrow, goal=goal, **OPTIONS)
    assert nothing.best is None
    assert "No value qualifies" in nothing.sentences[0]


@pytest.mark.slow
def test_if_no_value_reaches_a_condition_the_closest_one_is_named():
    """Few samples refute none of them."""
    real, rng = np.random.default_rng(3).normal(size=(300, 2)), np.random.default_rng(0)
    few = {scale: rng.normal(0, scale, (60, 2)) for scale in (0.45, 0.55, 1.9)}
    goal = Best("precision", given=Above("recall", 0.9))
    found = sweep(real=real, generated=few, goal=goal, **OPTIONS)
    reached = {point.value: point.recall for point in found.points}
    assert found.best is not None
    assert reached[found.best] == max(reached.values()) < 0.9
    assert found.sentences[0].startswith("No value has a measured recall of 0.9 or more; ")
    assert f"{found.best} is closest, with {reached[found.best]:.3f}" in found.sentences[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": "logistc"}, "logistc"),
        ({"metrics": "knn"}, "must contain the curve"),
        ({"level": 95}, "`level`"),
        ({"real": "nowhere.npy"}, "does not exist"),
        ({"n": 5}, "at least 20 samples"),
        ({"values": (0.5,)}, "at least two values of the knob. Got 1"),
        ({"values": 0.5}, "must list values"),
        ({"generate": 3}, "must be a function"),
        ({"values": (0.5, 0.50)}, "given once"),
    ],
)
def test_mistakes_are_told_before_anything_is_generated(real, options, message):
    called = []

    def generate(value, n):
        called.append(value)
        return real

    given = {"real": real, "generate": generate, "values": (0.5, 1.0)} | OPTIONS | options
    with pytest.raises(InvalidInputError, match=message):
        sweep(**given)
    assert called == []


@pytest.mark.slow
def test_lists_are_values_of_two_knobs(real):
    found = sweep(real=real, generate=lambda _, n: real[:n], values=([1, 2], [3, 4]), **OPTIONS)
    assert [point.value for point in found.points] == ["1, 2", "3, 4"]


@pytest.mark.slow
def test_the_f_score_is_highest_where_its_known_value_is(real, made):
    found = sweep(real=real, generated=made, goal=Best("f_score"), **OPTIONS)
    assert found.best in ("1.0", "1.05")
    assert set(found.alike) == {"1.0", "1.05"}


@pytest.mark.slow
def test_a_slope_moves_the_choice(real):
    """Narrow samples are realistic and miss the tails; wide ones the other way round."""
    rng = np.random.default_rng(2)
    made = {scale: rng.normal(0, scale, (1500, 1)) for scale in (0.4, 3.0)}
    few = sweep(real=real, generated=made, goal=Best("precision", lam=20.0), **OPTIONS)
    many = sweep(real=real, generated=made, goal=Best("recall", lam=0.05), **OPTIONS)
    assert (few.best, many.best) == ("0.4", "3.0")


@pytest.mark.slow
def test_points_that_no_other_dominates_are_marked_and_limits_hold_the_estimate(real, made):
    found = sweep(real=real, generated=made, **OPTIONS)
    marked = {point.value for point in found.points if point.is_pareto}
    assert marked & {"1.0", "1.05"}
    assert "4.0" not in marked
    for point in found.points:
        assert point.precision_limits[0] <= point.precision <= point.precision_limits[1]
        assert point.recall_limits[0] <= point.recall <= point.recall_limits[1]


@pytest.mark.slow
def test_samples_are_generated_for_each_value_and_two_knobs_are_named(real):
    asked = []

    def generate(value, n):
        asked.append((value, n))
        return np.random.default_rng(3).normal(value[1], value[0], (n, 1))

    values = ((1.0, 0.0), (1.0, 3.0))
    found = sweep(real=real, generate=generate, values=values, n=800, **OPTIONS)
    assert asked == [(value, 800) for value in values]
    assert found.best == "1.0, 0.0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Either `generated` or `generate` must be given"),
        ({"generate": lambda value, n: None}, "`values` must hold at least two"),
        ({"generated": {1.0: [[0.0]]}, "goal": "the best"}, "`goal` must be a goal such as Best"),
        ({"generated": {1.0: [[0.0]]}}, "at least two models"),
        ({"generated": {1: [[0.0]], "1": [[0.0]]}}, "must be given once. Got 1 twice"),
        (
            {"generate": lambda value, n: None, "values": np.array([0.5, 0.5])},
            "must be given once. Got 0.5 twice",
        ),
    ],
)
def test_mistakes_are_told(real, options, message):
    with pytest.raises(InvalidInputError, match=message):
        sweep(real=real, **options, **OPTIONS)


def test_goals_are_read_from_sentences():
    assert parse_best("highest recall with precision at least .9") == Best(
        "recall", given=Above("precision", 0.9)
    )
    assert parse_best("best at 3") == Best("precision", lam=3.0)
    assert parse_best("best at λ = 0.5") == Best("recall", lam=0.5)
    for goal in (Best("area"), Best("f_score"), Best("recall", given=Above("precision", 0.5))):
        assert parse_best(str(goal)) == goal
    with pytest.raises(InvalidInputError, match="must lie between 0 and 1"):
        parse_best("highest precision with recall at least 80")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Best("area", lam=2.0), "`lam` must be None for area"),
        (lambda: Best("mass"), "`key` must be"),
        (lambda: Best("recall", lam=0.0), "`lam` must be"),
        (lambda: Best("recall", given="precision"), "`given` must be a bar such as Above"),
        (lambda: Above("area", 0.5), "`key` must be"),
        (lambda: Above("recall", 0.5, lam=2.0), "must lie between 0 and 0.5"),
        (lambda: Above("recall", "0.5"), "`above` must be"),
        (lambda: Best("recall", lam="2"), "`lam` must be"),
    ],
)
def test_goals_are_checked_when_they_are_made(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.slow
def test_the_command(real, made, tmp_path):
    np.save(tmp_path / "real.npy", real)
    models = []
    for scale in (0.15, 1.0):
        np.save(tmp_path / f"{scale}.npy", made[scale])
        models.append(f"{scale}={tmp_path / f'{scale}.npy'}")
    command = ("sweep", "--real", tmp_path / "real.npy", "--estimator", "gaussians")
    files = ("--plot", tmp_path / "path.png", "--report", tmp_path / "path.html")
    done = tradeoff(*command, *models, *files)
    assert "The path of the knob" in (tmp_path / "path.html").read_text(encoding="utf-8")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("1.0 has the largest area.\nIt is better than every other value")
    assert (tmp_path / "path.png").read_bytes().startswith(b"\x89PNG")
    printed = json.loads(tradeoff(*command, *models, "--json").stdout)
    assert Sweep.from_json(json.dumps(printed)).best == "1.0"
    assert "The goal must read like" in tradeoff(*command, *models, "--goal", "more").stderr


@pytest.mark.torch
def test_copies_of_the_training_set_are_told_for_each_value(tmp_path):
    pytest.importorskip("torch")
    train, real, new = np.random.default_rng(0).normal(size=(3, 200, 8))
    copies = np.concatenate((train[:40] + 0.01, new[40:]))
    found = sweep(real=real, generated={"0.5": copies, "1.0": new}, train=train, **OPTIONS)
    states = {name: one.training.state for name, one in found.comparison.evaluations.items()}
    assert states == {"0.5": "copies", "1.0": "nothing found"}
    assert "0.5: Copies: at least " in " ".join(str(found).split())
    for name, x in (("real", real), ("train", train), ("low", copies), ("high", new)):
        np.save(tmp_path / f"{name}.npy", x)
    paths = [f"{value}={tmp_path / name}.npy" for value, name in (("0.5", "low"), ("1.0", "high"))]
    given = ("--real", tmp_path / "real.npy", "--train", tmp_path / "train.npy", *paths)
    done = tradeoff("sweep", *given, "--estimator", "gaussians")
    assert done.exit_code == 0
    assert "0.5: Copies: at least " in " ".join(done.stdout.split())


@pytest.mark.slow
def test_values_that_collapse_are_rows_with_a_reason(real):
    """Ten values, of which three collapse, each in its way, and one raises."""
    rng = np.random.default_rng(5)
    ways = {
        0.0: lambda n: np.zeros((n, 1)),
        0.001: lambda n: np.full((n, 1), np.nan),
        0.01: lambda n: np.zeros((0, 1)),
        9.0: lambda n: 1 / 0,
    }

    def generate(scale, n):
        return ways[scale](n) if scale in ways else rng.normal(0, scale, (n, 1))

    values = (0.0, 0.001, 0.01, 0.3, 0.6, 1.0, 2.0, 3.0, 9.0, 4.0)
    found = sweep(real=real, generate=generate, values=values, n=1500, **OPTIONS)
    assert found.best == "1.0"
    assert [point.value for point in found.points] == ["0.3", "0.6", "1.0", "2.0", "3.0", "4.0"]
    assert set(found.failed) == {"0.0", "0.001", "0.01", "9.0"}
    assert "must hold more distinct samples" in found.failed["0.0"]
    assert found.failed["9.0"] == "`generate` raised ZeroDivisionError: division by zero."
    assert "Not measured: " in " ".join(found.sentences)
    for value, reason in found.failed.items():
        (row,) = [line for line in str(found).splitlines() if line.strip().startswith(f"{value} ")]
        assert "not measured" in row
        assert reason.split(":")[0] in str(found).replace("\n  ", " ")
    assert Sweep.from_json(found.to_json()).failed == found.failed


def test_a_sweep_of_which_nothing_is_left_says_why(real):
    with pytest.raises(InvalidInputError, match="Fewer than two values can be measured. 1: `1` "):
        sweep(real=real, generated={1: np.empty((0, 1)), 2: real[:500]}, **OPTIONS)
