"""Models whose fault is plain get the verdict of common sense, through every door.

A model that collapsed to one mode, or drops modes, is precise and recalls little; one that is
ridden with outliers is not precise and recalls.
"""

import json
import tempfile

import numpy as np
import pytest

from tests.cli.run import tradeoff
from tradeoff import evaluate, pr_curve, reproduce, support_metrics
from tradeoff.protocols import PROTOCOLS


def real(rng, n=800):
    return 6.0 * rng.integers(0, 4, (n, 1)) + rng.normal(size=(n, 3))


def collapsed(rng):
    return rng.normal(size=(800, 3))


def mode_dropping(rng):
    return 6.0 * rng.integers(0, 2, (800, 1)) + rng.normal(size=(800, 3))


def outlier_ridden(rng):
    good = real(rng)
    good[::2] += 60 * rng.normal(size=(400, 3))
    return good


def with_constant(x):
    """Recipes for texts compare directions only: a constant column keeps the modes apart."""
    return np.column_stack((x, np.full(len(x), 20.0)))


def of_recipe(curve):
    """Where a recipe draws its curve, precision is read far to the right and recall to the left."""
    return curve.precision(20.0), curve.recall(0.4)


def curve_door(**samples):
    found = pr_curve(**samples, progress=False).headline
    return found["curve.precision"], found["curve.recall"]


def evaluate_door(**samples):
    found = evaluate(**samples, metrics="curve", diagnose=False, progress=False)
    return found["curve.precision"].value, found["curve.recall"].value


def command_door(**samples):
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for side, x in samples.items():
            np.save(f"{folder}/{side}.npy", x)
            sources += [f"--{side}", f"{folder}/{side}.npy"]
        done = tradeoff("evaluate", *sources, "--metrics", "curve", "--no-diagnose", "--json")
    scores = json.loads(done.stdout)["scores"]
    return scores["curve.precision"]["value"], scores["curve.recall"]["value"]


def neighbor_door(quality, diversity):
    def door(**samples):
        found = support_metrics(**samples, metrics=(quality, diversity), progress=False)
        return found[quality].value, found[diversity].value

    return door


def protocol_door(name):
    def door(**samples):
        if name in OF_DIRECTIONS:
            samples = {side: with_constant(x) for side, x in samples.items()}
        result = reproduce(name, **samples, progress=False)
        if result.curve is not None:
            return of_recipe(result.curve)
        both = [
            next(value for key, value in result.scores.items() if key.endswith(wanted))
            for wanted in (("precision", "density"), ("recall", "coverage"))
        ]
        return tuple(both)

    return door


torch = pytest.mark.torch
OF_DIRECTIONS = {"pillutla-2021", "lebronnec-2024"}
DOORS = {
    "pr_curve": curve_door,
    "evaluate": evaluate_door,
    "command line": command_door,
    "knn.precision and recall": neighbor_door("precision", "recall"),
    "knn.density and coverage": neighbor_door("density", "coverage"),
    "clipped": neighbor_door("clipped_density", "clipped_coverage"),
    "cover": neighbor_door("cover_precision", "cover_recall"),
    **{name: protocol_door(name) for name in PROTOCOLS},
}
WITHOUT_TORCH = {"pr_curve", "evaluate", "command line", "sajjadi-2018", "simon-2019"}
WITHOUT_TORCH |= {"pillutla-2021"}
every_door = pytest.mark.parametrize(
    "door",
    [
        pytest.param(door, id=name, marks=() if name in WITHOUT_TORCH else torch)
        for name, door in DOORS.items()
    ],
)


def verdict(door, model):
    rng = np.random.default_rng(0)
    return door(real=real(rng), generated=model(rng))


@pytest.mark.slow
@every_door
def test_a_mode_dropping_model(door):
    precision, recall = verdict(door, mode_dropping)
    assert precision > 0.7
    assert recall < 0.65


@pytest.mark.slow
@every_door
def test_an_outlier_ridden_model(door):
    precision, recall = verdict(door, outlier_ridden)
    assert precision < 0.85  # swapped sides would give about 1
    assert recall > 0.45


@pytest.mark.slow
@every_door
def test_a_collapsed_model(door, request):
    """PR-cover calls a model precise only as long as q is below C = 3 times p; here it is 4."""
    precision, recall = verdict(door, collapsed)
    assert recall < 0.4
    if request.node.callspec.id not in ("cover", "cheema-2023"):
        assert precision > 0.9
