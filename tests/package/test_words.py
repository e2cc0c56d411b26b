"""One word for one thing: no parameter of the public surface is a synonym of another."""

import importlib
import inspect

import pytest

from tests.package.test_surface import LOADABLE

BANNED = {
    "pool": "generated",
    "fake": "generated",
    "miss": "level",
    "alpha": "level",
    "confidence": "level",
    "embedder": "encoder",
    "feature_extractor": "encoder",
    "model": "estimator",
    "errors": "held_out",
    "random_state": "seed",
    "rng": "seed",
    "verbose": "progress",
    "jobs": "nothing: the library chooses",
    "n_jobs": "nothing: the library chooses",
    "n_folds": "folds",
    "n_neighbors": "k",
    "nearest_k": "k",
}
"""Synonyms, and what to write instead."""

RESULTS = {
    "AcceptanceRule", "Accounting", "Broken", "Calibrated", "Comparison", "Control",
    "CurveEstimate", "CurveInterval", "Diagnosis", "Difference", "Evaluation", "Finding", "Loss",
    "Losses", "Measured", "Moments", "Outcome", "OwnNeighbors", "PRCurve", "PartScores", "Plan",
    "PoolSelection", "RatioProfile", "Reference", "Reliability", "RenyiFrontier", "Reproduction",
    "Sample", "SampleValues", "Sampled", "Score", "SupportMetrics", "SupportScore", "Verdict",
}  # fmt: skip
"""Classes that functions of the library make: their fields are documented, not called."""


def callables(module):
    """Public functions, constructors of configurations, and public methods of all classes."""
    found = importlib.import_module(module)
    for name in found.__all__:
        thing = getattr(found, name)
        if not inspect.isclass(thing):
            if callable(thing):
                yield name, thing
            continue
        if issubclass(thing, Exception):
            continue
        if name not in RESULTS and not getattr(thing, "_is_protocol", False):
            yield name, thing
        for method in vars(thing):
            bound = getattr(thing, method)
            if not method.startswith("_") and (
                inspect.isfunction(bound) or inspect.ismethod(bound)
            ):
                yield f"{name}.{method}", bound


def parameters(thing):
    named = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    for one in inspect.signature(thing).parameters.values():
        if one.name != "self" and not one.name.startswith("_"):
            if one.kind in named and one.name in ("args", "kwargs", "options"):
                continue  # what torchmetrics requires of its metrics
            yield one.name


PARAMETERS = [
    (where, word)
    for module in LOADABLE
    for where, thing in callables(module)
    for word in parameters(thing)
]


def test_no_synonyms():
    found = {f"{where}({word}=)": BANNED[word] for where, word in PARAMETERS if word in BANNED}
    assert not found


def test_the_two_sides_are_keywords():
    """Precision and recall would silently be exchanged with the sides."""
    for module in LOADABLE:
        for where, thing in callables(module):
            found = inspect.signature(thing).parameters
            if {"real", "generated"} <= set(found) and where not in (
                "Pair",
                "Sides",
                "Monitor.check",
                "Monitor.update",
                "compare",
                "decide",
                "evaluate",
                "filter_pool",
                "sweep",
            ):
                for side in ("real", "generated"):
                    positional = found[side].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
                    assert not positional or "_loss" in where or "fit_members" in where, where


@pytest.mark.parametrize(
    ("word", "default"), [("level", 0.95), ("folds", 5), ("k", 5), ("progress", True)]
)
def test_a_word_has_one_default(word, default):
    for module in LOADABLE:
        for where, thing in callables(module):
            found = inspect.signature(thing).parameters.get(word)
            if found is not None and found.default is not inspect.Parameter.empty:
                assert found.default == default or where == "Request", f"{where}({word}=)"
