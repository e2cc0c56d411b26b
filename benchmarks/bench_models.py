"""Real generators with a known truth: SmolLM2, a DCGAN of faces, and all metrics on textgenrnn.

Titles of textgenrnn are also seen by the surprisal of SmolLM2, a language model that did not make
them. Answers of SmolLM2 at a temperature have exact probabilities. Faces of a DCGAN whose latents
are scaled have a closed form in latent space, which bounds their overlap from below. The overlap of
all views is an upper bound of the truth; a row fails if it lies below it by three standard errors.

The last rows hold every metric that needs no labels, of the sentence encoder or of all views. The
errors are against the true curve at the same slopes, and those of neighborhoods, which estimate
supports, against the true share of samples in the support of the other side.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import datasets, generators, text_views, textgenrnn
from benchmarks.datasets import Labeled, Parts
from benchmarks.harness import Row, run
from benchmarks.textgenrnn import Knob
from tradeoff import HeldOutLogRatios
from tradeoff.curves.estimate import CurveEstimate, estimate_curve
from tradeoff.data import Sample
from tradeoff.features import open_encoder
from tradeoff.features.surprisal import Surprisal
from tradeoff.metrics.family import Request, measure
from tradeoff.metrics.registry import FAMILIES, resolve_keys
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff import PRCurve
    from tradeoff.data.base import Kind

    Views = dict[str, np.ndarray]

SIZE, ANSWERS, FACES = 600, 300, 500
TITLES = Knob(0.7)
ANSWERED = Knob(0.85)
SCALES = (0.95, 0.9)
_SURPRISAL = "surprisal of SmolLM2"
_SUPPORTS = {
    "precision": ("knn.precision", "cover.precision"),
    "recall": ("knn.recall", "knn.coverage", "clipped.coverage", "cover.recall"),
}
_BATCH = 64


def pair_of(real: Views, generated: Views) -> Pair:
    """Both sides, with the columns of all views side by side."""
    widths = {name: x.shape[1] for name, x in real.items()}
    sides = (np.concatenate([*side.values()], axis=1) for side in (real, generated))
    return Pair.of(**dict(zip(("real", "generated"), sides, strict=True)), views=widths)


def embedded(name: str, encoder: Any, contents: Sequence[Any]) -> np.ndarray:
    """Features that are kept under a name."""

    def embed() -> Parts:
        samples = [encoder.prepare(Sample(str(i), one)) for i, one in enumerate(contents)]
        rows = [encoder.embed(samples[i : i + _BATCH]) for i in range(0, len(samples), _BATCH)]
        nothing = Labeled(np.empty((0, 1)), np.empty(0))
        return Parts(Labeled(np.concatenate(rows), np.zeros(len(samples))), nothing)

    return datasets.cached(name, embed).test.features.astype(float)


def by(encoders: Sequence[str], kind: Kind, name: str, contents: Sequence[Any]) -> Views:
    """Features by view."""
    return {
        one: embedded(f"{name}-{one}", open_encoder(one, kind=kind), contents) for one in encoders
    }


@cache
def read_by_smollm2(name: str, texts: tuple[str, ...]) -> np.ndarray:
    """Surprisal of texts under SmolLM2 in bfloat16."""
    encoder = Surprisal(str(generators.smollm2()), dtype="bfloat16")
    return embedded(f"{name}-surprisal", encoder, texts)


def against(truth: float, estimate: CurveEstimate, size: int) -> Row:
    """Overlap of each view and of all of them; all must not lie below the truth beyond noise."""
    views = {name: float(one.curve.precision(1.0)) for name, one in estimate.views.items()}
    together = float(estimate.curve.precision(1.0))
    row: Row = {"samples": size, "truth": truth}
    row |= {f"{name}, overlap": value for name, value in views.items()}
    error = (2.0 * max(truth * (1.0 - truth), 0.01) / size) ** 0.5
    row |= {"together, overlap": together, "ratio": (truth - together) / (3.0 * error), "bar": 1.0}
    return row


def true_curve(real: np.ndarray, generated: np.ndarray) -> PRCurve:
    """The curve of exact log-ratios."""
    return HeldOutLogRatios(real=real, generated=generated).curve()


def estimated(pair: Pair) -> CurveEstimate:
    """The curve of all views."""
    return estimate_curve(pair, seed=0, jobs=1, progress=False)


def titles() -> Row:
    """Titles at a temperature, by an encoder, their surface and the surprisal of SmolLM2."""
    drawn = [
        textgenrnn.draw(SIZE, knob, (other,), seed)
        for knob, other, seed in ((Knob(), TITLES, 1000), (TITLES, Knob(), 2100))
    ]
    sides = [
        text_views.embedded(one.texts)
        | {_SURPRISAL: read_by_smollm2(f"titles-{i}-{SIZE}", tuple(one.texts))}
        for i, one in enumerate(drawn)
    ]
    truth = true_curve(
        textgenrnn.log_ratio(drawn[0], 0, 1), textgenrnn.log_ratio(drawn[1], 1, 0)
    ).precision(1.0)
    return against(float(truth), estimated(pair_of(*sides)), SIZE)


def answered() -> Row:
    """Answers of SmolLM2 at a temperature; one answer in several sequences counts as one text."""
    drawn = [
        generators.answers(ANSWERS, knob, (other,), seed)
        for knob, other, seed in ((Knob(), ANSWERED, 1), (ANSWERED, Knob(), 2))
    ]
    names = [f"answers-{i}-{ANSWERS}" for i in range(2)]
    sides = [
        text_views.embedded(one.texts) | {_SURPRISAL: read_by_smollm2(name, tuple(one.texts))}
        for name, one in zip(names, drawn, strict=True)
    ]
    truth = true_curve(
        textgenrnn.log_ratio(drawn[0], 0, 1), textgenrnn.log_ratio(drawn[1], 1, 0)
    ).precision(1.0)
    return against(float(truth), estimated(pair_of(*sides)), ANSWERS)


def faces(scale: float) -> Row:
    """Faces of latents that are scaled."""
    encoders = ("efficientnet-lite0", "pixels")
    sides = [
        by(encoders, "image", f"faces-{one:g}-{FACES}", generators.faces(FACES, one, seed))
        for one, seed in ((1.0, 1), (scale, 2))
    ]
    return against(generators.face_overlap(scale), estimated(pair_of(*sides)), FACES)


def every_metric(name: str) -> Row:
    """All metrics of one pair, and their errors."""
    knob, number = text_views.SETTINGS[name], list(text_views.SETTINGS).index(name)
    real = text_views.texts(Knob(), 1000, SIZE)
    generated = text_views.texts(knob, 2000 + 100 * number, SIZE)
    keys = resolve_keys([name for name in FAMILIES if name != "training"])
    request = Request(keys=keys, diagnose=False)
    found = measure(pair_of(real.views, generated.views), request)
    assert found.curve is not None
    ratios = {
        "real": textgenrnn.log_ratio(real.drawn, 0, 1 + number),
        "generated": textgenrnn.log_ratio(generated.drawn, 1, 0),
    }
    true = true_curve(**ratios)
    truths = found.curve.estimate.balance.headline(true)
    truths["curve.f_score"] = float(true.f_score(1.0))
    shares = {"precision": ratios["generated"] > -np.inf, "recall": ratios["real"] < np.inf}
    for kind, metrics in _SUPPORTS.items():
        truths |= dict.fromkeys(metrics, float(shares[kind].mean()))
    row: Row = {"samples": SIZE}
    for key, score in found.scores.items():
        row[key] = float(score.value)
        if key in truths:
            row[f"{key}, error"] = float(score.value) - truths[key]
    return row


CASES: dict[str, Callable[[], Row]] = {
    f"titles, T = {TITLES.temperature}, N = {SIZE}": titles,
    **{f"faces, latents × {one}, N = {FACES}": partial(faces, one) for one in SCALES},
    f"answers, T = {ANSWERED.temperature}, N = {ANSWERS}": answered,
    **{
        f"all metrics, {name}, N = {SIZE}": partial(every_metric, name)
        for name in text_views.SETTINGS
    },
}

if __name__ == "__main__":
    run("models", "Real generators with a known truth", CASES)
