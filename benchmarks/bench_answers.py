"""Answers of a language model at two temperatures: the truth, what is measured, and other scores.

SmolLM2-135M-Instruct answers a hundred questions (`benchmarks.questions`). Between two temperatures
the overlap of answers with their questions is known, for every prefix. Views are the meaning of an
answer (all-MiniLM-L6-v2), its surface, and its surprisal: statistics of the log-probabilities of
its tokens at temperature 1. An overlap above the truth is a loss that is not seen; it may lie below
the truth by three standard errors over questions at most. As a control, two halves of the answers
at one temperature are compared, and answers of which one half got the questions of others.

Further rows have scores of variety that are common for texts, as means over questions: distinct
pairs of words, self-BLEU, the Vendi score and the mean cosine similarity, without limits.
"""

from __future__ import annotations

from collections import Counter
from functools import cache, partial
from typing import TYPE_CHECKING

import joblib
import numpy as np

from benchmarks import datasets, text_views
from benchmarks.datasets import Labeled, Parts
from benchmarks.harness import Row, run
from benchmarks.questions import EACH, LONGEST, QUESTIONS, TEMPERATURES, Answered, answered
from tradeoff.prompts import Prompts, compare_prompts
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.prompts import PromptReport

PAIRS = ((1.0, 0.7), (1.0, 0.3), (0.7, 0.3))
PREFIXES = (1, 4, 8, 16, 32)
MEANING, SURFACE, SURPRISAL = "all-minilm-l6-v2", "surface", "surprisal"
VIEWS = (MEANING, SURFACE, SURPRISAL)
_SHORTEST, _LONGEST_GRAM = 2, 4

Views = dict[str, np.ndarray]


@cache
def drawn() -> dict[float, Answered]:
    """Answers by temperature."""
    return answered()


@cache
def views(temperature: float) -> Views:
    """Features of the answers by view, kept in a file."""

    def embed() -> Parts:
        by_name = text_views.embedded(drawn()[temperature].texts)
        rows = np.concatenate([by_name[MEANING], by_name[SURFACE]], axis=1)
        nothing = Labeled(np.empty((0, 1)), np.empty(0))
        return Parts(Labeled(rows, np.full(len(rows), by_name[MEANING].shape[1])), nothing)

    x, widths = datasets.cached(f"answered-{temperature:g}", embed).test
    at_one = drawn()[temperature].log_probabilities[TEMPERATURES.index(1.0)]
    lengths = np.maximum((at_one != 0.0).sum(1), 1)
    return {
        MEANING: x[:, : widths[0]].astype(float),
        SURFACE: x[:, widths[0] :].astype(float),
        SURPRISAL: text_views.surprisal(at_one, lengths),
    }


def embedded(found: Answered) -> Views:
    """Meaning and surface of answers."""
    return text_views.embedded(found.texts)


@cache
def asked(questions: tuple[str, ...] = QUESTIONS) -> np.ndarray:
    """Features of the questions."""
    return np.asarray(text_views.embedded(questions)[MEANING], float)


def compared(sides: Sequence[tuple[Views, np.ndarray]], seen: Sequence[str]) -> PromptReport:
    """What is said of two sets of answers with their questions, by some of the views."""
    x, y = (np.concatenate([side[name] for name in seen], axis=1) for side, _ in sides)
    pair = Pair.of(real=x, generated=y, views={name: sides[0][0][name].shape[1] for name in seen})
    names = [[QUESTIONS[i] for i in questions] for _, questions in sides]
    place = {name: i for i, name in enumerate(QUESTIONS)}
    prompts = Prompts.of(
        real=names[0],
        generated=names[1],
        embed=lambda found: asked()[[place[one] for one in found]],
    )
    return compare_prompts(pair, prompts, progress=False)


def _overlap(p: np.ndarray, q: np.ndarray) -> float:
    """Overlap of two sets from their exact log-ratios, each of its own samples."""
    return float(
        (p < 0.0).mean() + 0.5 * (p == 0.0).mean() + (q > 0.0).mean() + 0.5 * (q == 0.0).mean()
    )


def truth(real: float, generated: float, tokens: int = LONGEST) -> tuple[float, float]:
    """Overlap of the first tokens with their questions, and its standard error over questions."""
    p, q = (drawn()[one].log_ratio(real, generated, tokens) for one in (real, generated))
    questions = drawn()[real].question
    each = np.array([_overlap(p[questions == i], q[questions == i]) for i in range(len(QUESTIONS))])
    return float(each.mean()), float(each.std(ddof=1) / len(each) ** 0.5)


def temperatures(real: float, generated: float) -> Row:
    """Two temperatures: by each view, and by all of them."""
    row: Row = {"samples": len(drawn()[real].texts)}
    for tokens in PREFIXES:
        row[f"truth, {tokens} tokens"] = truth(real, generated, tokens)[0]
    sides = [(views(one), drawn()[one].question) for one in (real, generated)]
    for name in VIEWS:
        found = compared(sides, (name,)).of_pairs
        assert found is not None
        row[name] = found.overlap
    return row | _told(compared(sides, VIEWS), *truth(real, generated))


def _told(report: PromptReport, true: float, error: float) -> Row:
    assert report.of_pairs is not None
    assert report.variety is not None
    within, between = report.variety.within, report.variety.between
    return {
        "together": report.of_pairs.overlap,
        "limit": report.of_pairs.overlap_at_most,
        "answers alone": report.of_samples.overlap,
        "unfit": report.unfit or 0.0,
        "variety within": within.value,
        "at least": within.low,
        "at most": within.high,
        "variety between": between.value if between else None,
        "prompts that lose": len(report.variety.lost),
        "ratio": max(0.0, true - report.of_pairs.overlap) / (3.0 * max(error, 0.01)),
        "bar": 1.0,
    }


def halves(temperature: float) -> Row:
    """Two halves of the answers to each question: nothing may be found."""
    rows = np.arange(len(drawn()[temperature].texts))
    first = rows % EACH < EACH // 2
    sides = [
        (
            {name: x[some] for name, x in views(temperature).items()},
            drawn()[temperature].question[some],
        )
        for some in (first, ~first)
    ]
    report = compared(sides, VIEWS)
    assert report.of_pairs is not None
    row = _told(report, 1.0, 0.01)
    alarms = report.of_pairs.differs + report.of_samples.differs + (report.unfit is not None)
    return {"samples": int(first.sum())} | row | {"ratio": float(alarms), "bar": 0.0}


def shuffled(*, questions: int = 40, each: int = 12, runs: int = 20) -> Row:
    """Answers at one temperature, of which one half got the questions of others.

    The answers alone are unharmed, and pairs have next to nothing in common.
    """
    x = views(1.0)

    def one(seed: int) -> tuple[bool, float, float]:
        rng = np.random.default_rng(seed)
        rows = [EACH * i + rng.permutation(EACH)[: 2 * each] for i in range(questions)]
        halves = [np.concatenate([one[:each] for one in rows])]
        halves.append(np.concatenate([one[each:] for one in rows]))
        told = np.repeat(np.arange(questions), each)
        sides = [
            ({name: values[some] for name, values in x.items()}, numbers)
            for some, numbers in zip(halves, (told, rng.permutation(told)), strict=True)
        ]
        report = compared(sides, VIEWS)
        assert report.of_pairs is not None
        return report.of_samples.differs, report.of_pairs.overlap, report.unfit or 0.0

    threads = joblib.Parallel(n_jobs=-1, prefer="threads")  # which share what is kept
    found = threads(joblib.delayed(one)(seed) for seed in range(runs))
    differ, pairs, unfit = (np.array(column) for column in zip(*found, strict=True))
    row: Row = {"runs": runs, "answers alone differ": int(differ.sum())}
    row |= {"pairs, largest": float(pairs.max()), "unfit": float(unfit.mean())}
    return row | {"ratio": max(float(differ.sum()), row["pairs, largest"] / 0.35), "bar": 1.0}


def _grams(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = text.lower().split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def distinct(texts: Sequence[str]) -> float:
    """Share of the pairs of words of all texts that are different."""
    pairs = [_grams(text, _SHORTEST) for text in texts]
    return len(set().union(*pairs)) / max(sum(map(Counter.total, pairs)), 1)


def self_bleu(texts: Sequence[str]) -> float:
    """Mean BLEU of each text against the others, of up to four words, one added to each count."""
    counts = [[_grams(text, n) for n in range(1, _LONGEST_GRAM + 1)] for text in texts]
    scores = []
    for i, own in enumerate(counts):
        precisions = []
        for n, grams in enumerate(own):
            most: Counter[tuple[str, ...]] = Counter()
            for j, other in enumerate(counts):
                if j != i:
                    most |= other[n]
            precisions.append((1 + (grams & most).total()) / (1 + grams.total()))
        scores.append(np.exp(np.log(precisions).mean()))
    return float(np.mean(scores))


def vendi(x: np.ndarray) -> float:
    """Exponential of the entropy of the eigenvalues of cosine similarities."""
    values = np.linalg.eigvalsh(_cosines(x) / len(x))
    values = values[values > 1e-12]
    return float(np.exp(-(values * np.log(values)).sum()))


def _cosines(x: np.ndarray) -> np.ndarray:
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(unit @ unit.T)


def cosine(x: np.ndarray) -> float:
    """Mean cosine similarity of two texts."""
    similar = _cosines(x)
    return float((similar.sum() - np.trace(similar)) / (len(x) * (len(x) - 1)))


def others(temperature: float) -> Row:
    """Common scores of variety, means over questions."""
    found, x = drawn()[temperature], views(temperature)[MEANING]
    rows = [np.flatnonzero(found.question == i) for i in range(len(QUESTIONS))]
    texts = [[found.texts[i] for i in some] for some in rows]
    return {
        "samples": len(found.texts),
        "distinct-2": float(np.mean([distinct(one) for one in texts])),
        "self-BLEU": float(np.mean([self_bleu(one) for one in texts])),
        "Vendi": float(np.mean([vendi(x[some]) for some in rows])),
        "cosine": float(np.mean([cosine(x[some]) for some in rows])),
    }


CASES: dict[str, Callable[[], Row]] = {
    **{f"other scores, T = {one:g}": partial(others, one) for one in TEMPERATURES},
    **{f"T = {p:g} and T = {q:g}": partial(temperatures, p, q) for p, q in PAIRS},
    "answers with shuffled questions": shuffled,
    **{f"two halves of T = {one:g}": partial(halves, one) for one in (1.0, 0.3)},
}

if __name__ == "__main__":
    run("answers", "Answers of a language model at two temperatures", CASES)
