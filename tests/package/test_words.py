"""One word for one thing: every parameter of the public surface is on a list with its meaning.

A new word is a decision: a parameter that is not on the list fails, and so does a synonym of a word
that is.
"""

import importlib
import inspect

import pytest

from tests.package.test_surface import LOADABLE

WORDS = {
    # What is measured, and with what.
    "real": "samples of the real data, or what belongs to them",
    "generated": "samples of the model, or what belongs to them",
    "real_groups": "group of each real sample",
    "generated_groups": "group of each generated sample",
    "real_weights": "weight of each real sample",
    "generated_weights": "weight of each generated sample",
    "real_neighbors": "neighbors among the real samples, computed before",
    "metrics": "keys of metrics and families",
    "encoder": "what turns samples into features",
    "estimator": "estimator of the likelihood ratio",
    "protocol": "recipe of the literature, by name",
    "folds": "number of folds",
    "repeats": "what equal samples are",
    "k": "rank of neighbors",
    "level": "probability with which an interval or a bound holds",
    "diagnose": "whether to plant known losses in the real data",
    "explain": "whether to find groups of samples that are missed and invented",
    "explanation": "what a model misses and invents",
    "seed": "seed of everything random",
    "progress": "whether to show progress lines",
    # How samples are read and encoded.
    "kind": "kind of the samples; of a frontier, which one",
    "column": "column that holds the samples",
    "label": "column or value of labels",
    "size": "side of resized images in pixels",
    "trusted": "whether to load files that can run code",
    "device": "where a network runs",
    "dtype": "type of products inside a network",
    "store": "folder in which features are kept",
    "limit": "largest number of samples",
    "broken": "what to do with unreadable samples",
    "value": "whatever holds samples",
    "path": "a file",
    "folder": "a folder",
    "overwrite": "whether existing files may be replaced",
    "text": "JSON",
    "mean": "mean of the pixels or of the features",
    "deviation": "standard deviation of the pixels",
    "function": "function from samples to features",
    "version": "version of a function",
    "sample": "one sample",
    "prepared": "samples as an encoder has prepared them",
    # Stopping early.
    "question": "what samples are generated for",
    "answer": "the answer to a question",
    "looks": "what was known after so many samples",
    "enough": "number of samples that would decide",
    "warnings": "reasons not to trust a result",
    "pilot": "number of samples that fit a rule",
    "decision": "an answer and what it took",
    "wait": "seconds without a new file",
    "provenance": "what a result was made of and with",
    "settle": "seconds without a change of a file",
    # Counting part by part.
    "rule": "how errors are counted: cross-fitted, or frozen",
    "engine": "where parts of the data are counted",
    "ledger": "folder in which an engine keeps what was counted",
    "arrays": "what a frozen rule is made of, by name",
    "sizes": "number of samples of both sides",
    "fitted_below": "bounds of the keys of samples that fitted a rule",
    "grid": "how columns are rounded to integers",
    "moments": "whether moments are counted too",
    "chosen": "samples that fit a rule",
    "is_counted": "whether a family can be counted part by part",
    "columns": "number of columns of an array",
    "scale": "what numbers are multiplied by",
    "within": "largest distance from zero",
    "content": "what was written as bytes",
    # Curves.
    "lam": "slope λ",
    "precision": "precision that is asked for",
    "recall": "recall that is asked for",
    "held_out": "held-out log-ratios of both sides",
    "simultaneous": "whether all intervals cover together",
    "always_widen": "whether intervals are valid tests of identical distributions",
    "groups": "group of each sample",
    "weights": "weight of each sample",
    "weight": "weight of recall against precision, or of P against Q",
    "curve": "a precision-recall curve",
    "frontiers": "one Rényi frontier, or several by name",
    "first": "the first of two models",
    "second": "the second of two models",
    "others": "more of the same",
    "other": "one more of the same",
    "profile": "a ratio profile",
    "profiles": "several ratio profiles",
    "source": "what has log-ratios on both sides; of a reference, what holds samples",
    "order": "order of a Rényi frontier or of Amari's divergence",
    "scaling": "MAUVE's scaling constant",
    "divergence": "an f-divergence",
    "p": "masses of the real data",
    "q": "masses of the model",
    "bins": "number of bins",
    # Sweeps of a knob.
    "n": "number of samples for each value",
    "wish": "what a value is chosen for",
    "points": "values in the plane of precision and recall",
    "best": "value that fits a wish best",
    "alike": "values that cannot be told from the best",
    "refuted": "values that surely miss a condition",
    "sweep": "sweep of a knob",
    # Explanations.
    "missed": "real samples that the model misses",
    "invented": "generated samples that are not realistic",
    "classes": "losses by class",
    "classes_by": "where classes come from",
    "filtering": "what dropping samples would do",
    "closest": "generated samples close to real ones",
    # Log-ratios and estimators.
    "x": "samples, shape (n, d)",
    "u": "likelihood ratio, argument of f",
    "t": "argument of the conjugate of f",
    "w": "output of a network",
    "log_ratio": "log p/q of samples, or a function that returns it",
    "log_ratios": "log p/q of samples, shape (n,)",
    "ratio": "a fitted log-ratio",
    "members": "estimators of a stack",
    "classifier": "a scikit-learn classifier",
    "network": "a trained network",
    "ranks": "ranks of neighbors",
    "penalties": "strengths of regularization to choose from",
    "validation": "share of samples for that choice",
    "choice_rows": "largest number of samples for that choice",
    "learning_rate": "learning rate of boosting or of a network",
    "most_iterations": "largest number of iterations",
    "most_rows": "largest number of samples of a fit",
    "shrunk": "whether covariances are shrunk",
    # Neighbors and moments.
    "samples": "samples of one side",
    "strict": "whether the edge of a neighborhood is excluded",
    "cover": "number of neighbors that cover a sample",
    "tile": "rows of a tile of the distance matrix",
    "subsets": "number of random subsets",
    "subset_size": "samples of a subset",
    "splits": "number of parts",
    "probabilities": "class probabilities of each sample",
    "covariance": "covariance of the features",
    "count": "number of samples",
    # Sampling and training.
    "budget": "draws per kept sample",
    "budgets": "several budgets",
    "keep": "number of samples to keep",
    "generator": "function that draws samples",
    "generate": "function that draws samples of the model in training",
    "method": "rule of acceptance, by name",
    "calibration": "number of draws for calibration",
    "batch": "number of draws or of samples at a time",
    "max_draws": "largest number of draws",
    "accounting": "counts of draws and kept samples",
    "rows": "which samples",
    "auxiliary": "divergence that trains the discriminator",
    "temperature": "width of the smoothing over trade-offs",
    "refresh": "steps between calibrations",
    "outputs": "outputs of the discriminator",
    "state": "what `state_dict` returned",
    "log_density": "log-density of samples under a flow",
    "start": "log-density under a flow when tuning began",
    "now": "log-density under a flow in training",
    "discriminator": "network that returns log p/q",
    "most_steps": "largest number of steps",
    "loss": "a loss to watch",
    "window": "number of steps in running figures",
    # Integrations.
    "every": "epochs between evaluations",
    "prefix": "beginning of the logged names",
    "reset_real": "whether `reset` also forgets the real samples",
    "trainer": "Lightning's trainer",
    "pl_module": "Lightning's module",
    # Extending the library.
    "name": "name by which something is found",
    "about": "a few words for tables",
    "configuration": "class of an estimator, or where it is",
    "options": "arguments of that class",
    "has_weights": "whether an encoder has weights to load",
    "features": "features of samples, shape (n, d)",
    "ids": "id of each sample",
    "labels": "label of each sample",
    "keys": "keys of the metrics to measure",
    "key": "key of a metric",
    "meaning": "what a metric says",
    "better": "which values are better",
    "range": "smallest and largest value",
    "side": "side whose samples have values",
    "on_request": "whether it is measured only by name",
    "measure": "function that measures a family",
    "by_default": "whether a family is measured by default",
    "extra": "package and extra that a family needs",
    "needs_labels": "whether both sides must have labels",
    "what": "key of something remembered",
    "compute": "function that computes it",
    "settings": "complete settings",
    "values": "settings by name",
    # Displays.
    "ax": "axes to draw on",
    "color": "Color of what is drawn.",
    "headline": "whether to mark the headline points",
    "curves": "one curve, or several by name",
    "evaluation": "an evaluation",
    "comparison": "a comparison",
    "plan": "a plan",
    "reliability": "a reliability",
}
"""Every word with its meaning."""

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

ONLY_IN = {"features": {"Side", "Side.of", "CountingState.update"}}
"""Words that mean an array here and something else in other libraries."""

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


def test_every_word_is_an_agreed_one():
    unknown = {
        word: where for where, word in PARAMETERS if word not in WORDS and word not in BANNED
    }
    assert not unknown, f"put the word and its meaning on the list, or use one that is: {unknown}"


def test_no_synonyms():
    found = {f"{where}({word}=)": BANNED[word] for where, word in PARAMETERS if word in BANNED}
    assert not found


def test_words_with_two_meanings_stay_where_they_are_clear():
    for where, word in PARAMETERS:
        assert where in ONLY_IN.get(word, {where}), f"{where}({word}=)"


@pytest.mark.torch
def test_the_list_has_no_word_that_nothing_uses():
    assert set(WORDS) - {word for _, word in PARAMETERS} == set()


def test_the_two_sides_are_keywords():
    """Precision and recall would silently be exchanged with the sides."""
    for module in LOADABLE:
        for where, thing in callables(module):
            found = inspect.signature(thing).parameters
            if {"real", "generated"} <= set(found) and where not in (
                "Pair",
                "Sides",
                "Monitor.update",
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
