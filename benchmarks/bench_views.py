"""Several views of a text against a known truth, and which of them is said to see a fault.

The texts are those of a character model with exact probabilities (`benchmarks.textgenrnn`), at
temperature 1 (real) and at other settings (generated). The views are the meaning of a sentence
encoder, the surface of the texts, and their surprisal: statistics of the log-probabilities of
their characters at temperature 1. A row is the mean over five seeds of the overlap and the highest
F-score; all views together may exceed the best single one by 0.03 and the sentence encoder by 0.01.
At T = 0.7 and N = 600, their overlap may be 0.50, twice the truth.

Further rows plant a fault in sentences of four sources that one view should see and the other
should not, and count false alarms of equal sets.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import joblib
import numpy as np
from scipy.stats import binom

from benchmarks import textgenrnn
from benchmarks.harness import Row, run
from benchmarks.text_views import MEANING, SETTINGS, SURFACE, all_texts, embedded, sources
from benchmarks.textgenrnn import Knob
from tradeoff import HeldOutLogRatios
from tradeoff.curves.estimate import estimate_curve
from tradeoff.curves.views import seen_views
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.text_views import Features, Texts
    from tradeoff import CurveEstimate, PRCurve

SEEDS, SIZE, LARGER = 5, 600, 2000
PLANTED, PLANTED_SIZE = 20, 500
EQUAL, EQUAL_SIZE = 200, 200
_ABOVE_BEST, _ABOVE_MEANING = 0.03, 0.01
_AT_MOST = {("T = 0.7", SIZE): np.array([0.50, np.inf])}  # overlap, F-score
_REJECTED = 0.01


def figures(curve: PRCurve) -> np.ndarray:
    """Overlap and the highest F-score."""
    return np.array([curve.precision(1.0), curve.f_score(1.0)])


def true_figures(name: str, real: Texts, generated: Texts) -> np.ndarray:
    """Figures of the true curve."""
    number = list(SETTINGS).index(name)
    true = HeldOutLogRatios(
        real=textgenrnn.log_ratio(real.drawn, 0, 1 + number),
        generated=textgenrnn.log_ratio(generated.drawn, 1, 0),
    )
    return figures(true.curve())


def estimated_figures(real: Features, generated: Features, seed: int) -> np.ndarray:
    """Figures of the estimated curve of one view or of several."""
    return figures(_together(real, generated, seed).curve)


def _together(real: Features, generated: Features, seed: int) -> CurveEstimate:
    sides = (np.concatenate(list(side.values()), axis=1) for side in (real, generated))
    widths = {view: x.shape[1] for view, x in real.items()}
    pair = Pair.of(**dict(zip(("real", "generated"), sides, strict=True)), views=widths)
    return estimate_curve(pair, seed=seed, jobs=1, progress=False)


def language_model(name: str, *, size: int = SIZE, seeds: int = SEEDS) -> Row:
    """Means over seeds, and how far all views together lie above what is allowed."""
    number = list(SETTINGS).index(name)
    wanted = [(Knob(), 1000 + seed, size) for seed in range(seeds)]
    wanted += [(SETTINGS[name], 2000 + 100 * number + seed, size) for seed in range(seeds)]
    found = all_texts(wanted)
    drawn = list(zip(found[:seeds], found[seeds:], strict=True))
    views = list(drawn[0][0].views)
    shown = {view: [view] for view in views} | {"together": views}
    tasks = [
        joblib.delayed(estimated_figures)(
            *({view: side.views[view] for view in chosen} for side in sides), seed
        )
        for chosen in shown.values()
        for seed, sides in enumerate(drawn)
    ]
    estimates = np.reshape(joblib.Parallel(n_jobs=-1)(tasks), (len(shown), seeds, -1))
    means = {"truth": np.mean([true_figures(name, *sides) for sides in drawn], axis=0)}
    means |= dict(zip(shown, estimates.mean(1), strict=True))
    row: Row = {"runs": seeds}
    for i, score in enumerate(("overlap", "F-score")):
        row |= {f"{key}, {score}": float(value[i]) for key, value in means.items()}
    single = [value for key, value in means.items() if key not in ("truth", "together")]
    allowed = np.minimum(np.min(single, 0) + _ABOVE_BEST, means[MEANING] + _ABOVE_MEANING)
    allowed = np.minimum(allowed, _AT_MOST.get((name, size), np.inf))
    return row | {"ratio": float((means["together"] / allowed).max()), "bar": 1.0}


def planted(kind: str, seed: int) -> tuple[bool, bool, bool]:
    """Whether the right view sees a fault, whether the other does, and the right one is blind."""
    rng = np.random.default_rng(seed)
    pool = sources()
    changed = int(rng.integers(len(pool)))

    def drawn(of: Sequence[int]) -> list[str]:
        which = rng.choice(of, PLANTED_SIZE)
        return [pool[i][rng.integers(len(pool[i]))] for i in which]

    real = drawn(range(len(pool)))
    if kind == "topic":
        made = drawn([i for i in range(len(pool)) if i != changed])
    else:
        made = [plain(text) for text in drawn(range(len(pool)))]
    views = [embedded(side) for side in (real, made)]
    found = {one.name: one for one in seen_views(_together(*views, seed=seed))}
    right, other = (MEANING, SURFACE) if kind == "topic" else (SURFACE, MEANING)
    return found[right].sees, found[other].sees, found[right].is_blind


def plain(text: str) -> str:
    """Lower case without punctuation."""
    return "".join(one for one in text.lower() if one.isalnum() or one.isspace())


def named(kind: str, *, runs: int = PLANTED) -> Row:
    """How often the right view is said to see a planted fault."""
    found = joblib.Parallel(n_jobs=-1)(joblib.delayed(planted)(kind, seed) for seed in range(runs))
    right, other, wrong = (int(sum(column)) for column in zip(*found, strict=True))
    allowed = int(binom.ppf(1.0 - _REJECTED, runs, 0.1))
    row: Row = {"runs": runs, "seen in the right view": right, "seen in the other one, too": other}
    return row | {"called blind": wrong, "ratio": (runs - right) / max(allowed, 1), "bar": 1.0}


def equal(pool: Features, seed: int) -> bool:
    """Whether a difference is established between two equal sets of texts."""
    order = np.random.default_rng(seed).permutation(len(pool[MEANING]))
    sides = [
        {name: x[order[start : start + EQUAL_SIZE]] for name, x in pool.items()}
        for start in (0, EQUAL_SIZE)
    ]
    return _together(*sides, seed=seed).losses().difference is not None


def false_alarms(views: int, *, runs: int = EQUAL) -> Row:
    """Differences that are established between equal sets."""
    kept = all_texts([(Knob(), 1000 + seed, SIZE) for seed in range(SEEDS)])
    drawn = [one.views for one in kept]
    names = list(drawn[0])[:views]
    pool = {name: np.concatenate([one[name] for one in drawn]) for name in names}
    alarms = sum(
        joblib.Parallel(n_jobs=-1)(
            joblib.delayed(equal)(pool, 5_000 + seed) for seed in range(runs)
        )
    )
    allowed = int(binom.ppf(1.0 - _REJECTED, runs, 0.05))
    return {"runs": runs, "alarms": alarms, "ratio": alarms / allowed, "bar": 1.0}


CASES: dict[str, Callable[[], Row]] = {
    f"language model, {name}, N = {SIZE}": partial(language_model, name) for name in SETTINGS
}
CASES |= {
    f"equal texts, {views} views, N = {EQUAL_SIZE}": partial(false_alarms, views)
    for views in (2, 3)
}
CASES |= {
    f"{kind} changed, N = {PLANTED_SIZE}": partial(named, kind) for kind in ("style", "topic")
}
CASES |= {
    f"language model, {name}, N = {LARGER:,}": partial(language_model, name, size=LARGER)
    for name in SETTINGS
}

if __name__ == "__main__":
    run(
        "views", "Overlap of several views against a known truth, and which one sees a fault", CASES
    )
