"""Samples that do not fit their prompts: how often they are found, and others are accused.

Images of ten classes have a caption each, by one of five templates: Fashion-MNIST by its pixels,
CIFAR-10 by EfficientNet-Lite0, captions by all-MiniLM-L6-v2. A share of the generated images gets
the caption of another class. In further rows the images are harmed and every caption is right.
Real and generated images are different ones, and others in every run.

Answers of several prompts are points around a mean of their prompt (`tests.known.prompts`). Two
equal models that were asked different questions of the same kind are compared with limits by prompt
and by answer, and so is the variety of their answers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from benchmarks.captioned import CLASSES, SOURCES, captions, features
from benchmarks.harness import Row, run
from tests.known.curves import over_seeds
from tests.known.prompts import World, answers
from tradeoff._sides import Sides
from tradeoff.curves.estimate import estimate_curve
from tradeoff.prompts import Prompts, compare_prompts
from tradeoff.prompts.variety import variety_of
from tradeoff.samples import Pair

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tradeoff.prompts import PromptReport

RUNS, SIZES, SHARES = 20, (500, 2000), (0.0, 0.05, 0.1, 0.3)
LEVEL = 0.05
_REJECTED = 0.01
_FOUND, _FOUND_AT = 0.95, 0.1


def allowed(runs: int, share: float = LEVEL) -> int:
    """The largest number of mistakes of an exact test, where a share of them is promised."""
    return int(binom.ppf(1.0 - _REJECTED, runs, share))


def images(name: str, share: float, harm: str, n: int, seed: int) -> PromptReport:
    """What is said of images with captions, a share of which belongs to another class."""
    rng = np.random.default_rng(seed)
    (x, real), (y, made) = SOURCES[name](n, harm, rng)
    told = made.copy()
    wrong = rng.permutation(n)[: round(share * n)]
    told[wrong] = (told[wrong] + rng.integers(1, CLASSES, len(wrong))) % CLASSES
    prompts = Prompts.of(
        real=captions(name, real, rng),
        generated=captions(name, told, rng),
        embed=partial(features, name),
    )
    pair = Pair.of(real=x, generated=y)
    return compare_prompts(pair, prompts, level=1.0 - LEVEL, seed=seed, progress=False)


def figures(report: PromptReport) -> dict[str, float]:
    """Numbers of a report."""
    assert report.of_pairs is not None
    return {
        "prompts differ": float(report.of_prompts.differs),
        "samples differ": float(report.of_samples.differs),
        "pairs differ": float(report.of_pairs.differs),
        "unfit": float(report.unfit is not None),
        "share": report.unfit or 0.0,
        "samples": report.of_samples.overlap,
        "pairs": report.of_pairs.overlap,
        "limit": report.of_pairs.overlap_at_most,
    }


def summary(found: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Numbers of runs, and means."""
    counted = ("prompts differ", "samples differ", "pairs differ", "unfit")
    row: dict[str, Any] = {"runs": len(found)}
    row |= {f"{key} in": int(sum(one[key] for one in found)) for key in counted}
    return row | {
        f"mean {key}": float(np.mean([one[key] for one in found]))
        for key in ("samples", "pairs", "limit", "share")
    }


def mismatched(name: str, share: float, n: int, *, runs: int = RUNS) -> Row:
    """A share of wrong captions: found if there are any, and with limits below the truth."""
    found = over_seeds(lambda seed: figures(images(name, share, "", n, seed)), runs)
    row = summary(found)
    row["limits wrong"] = sum(one["limit"] < 1.0 - share for one in found)
    mistakes = {
        "samples differ": row["samples differ in"] / allowed(runs),
        "limits": row["limits wrong"] / allowed(runs),
    }
    if not share:
        mistakes["accused"] = max(row["unfit in"], row["pairs differ in"]) / allowed(runs)
    if share == _FOUND_AT and n == max(SIZES) and name == "Fashion-MNIST":
        mistakes["missed"] = (runs - row["unfit in"]) / allowed(runs, 1.0 - _FOUND)
    return row | {"ratio": max(mistakes.values()), "bar": 1.0}


def harmed(name: str, harm: str, n: int, *, runs: int = RUNS) -> Row:
    """Images that are harmed, and captions that are right."""
    found = over_seeds(lambda seed: figures(images(name, 0.0, harm, n, seed)), runs)
    row = summary(found)
    return row | {"ratio": row["unfit in"] / allowed(runs), "bar": 1.0}


def shuffled(*, runs: int = RUNS) -> Row:
    """Answers of a model that each got another's prompt; the answers alone are unharmed."""

    def one(seed: int) -> dict[str, float]:
        pair, prompts = answers(np.random.default_rng(seed), prompts=40, each=12, fault="shuffled")
        return figures(compare_prompts(pair, prompts, seed=seed, progress=False))

    row = summary(over_seeds(one, runs))
    return row | {"ratio": row["samples differ in"] / allowed(runs), "bar": 1.0}


def other_questions(*, prompts: int = 30, each: int = 20, runs: int = 100) -> Row:
    """Two equal models that were asked different questions: by prompt, and as if by answer."""

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        world = World(rng, 2 * prompts)
        numbers = np.repeat(np.arange(2 * prompts), each).reshape(2, -1)
        x, y = (world.samples(side) for side in numbers)
        told = {"real": x, "generated": y}
        groups = [list(map(str, side)) for side in numbers]
        by_prompt = Pair.of(**told, real_groups=groups[0], generated_groups=groups[1])
        found = {}
        for name, pair in (("by prompt", by_prompt), ("by answer", Pair.of(**told))):
            curve = estimate_curve(pair, seed=seed, jobs=1, progress=False)
            found[name] = float(curve.losses().difference is not None)
        return found

    found = over_seeds(one, runs)
    row: Row = {"runs": runs}
    row |= {f"alarms {key}": int(sum(one[key] for one in found)) for key in found[0]}
    return row | {"ratio": row["alarms by prompt"] / allowed(runs), "bar": 1.0}


def varied(*, prompts: int = 30, each: int = 20, runs: int = 500) -> Row:
    """Equal variety of two models whose prompts differ in theirs: intervals that miss it."""

    def one(seed: int) -> dict[str, float]:
        rng = np.random.default_rng(seed)
        spread = np.exp(rng.normal(0, 0.6, (2, prompts, 1, 1)))
        x = spread * rng.normal(size=(2, prompts, each, 4))
        rows = Sides(*(side.reshape(-1, 4) for side in x + 2.0 * rng.normal(size=(prompts, 1, 4))))
        numbers = np.repeat(np.arange(prompts), each)
        found = variety_of(
            rows, Sides(numbers, numbers), list(map(str, range(prompts))), level=1.0 - LEVEL
        )
        assert found is not None
        squares = [((side - side.mean(1, keepdims=True)) ** 2).sum(-1).ravel() for side in x]
        error = sum(one.var() / one.size / one.mean() ** 2 for one in squares) ** 0.5
        apart = abs(np.log(squares[1].mean() / squares[0].mean()))
        return {
            "by prompt": float(not found.within.low <= 1.0 <= found.within.high),
            "by answer": float(apart > 1.96 * error),
        }

    found = over_seeds(one, runs)
    row: Row = {"runs": runs}
    row |= {f"intervals wrong {key}": int(sum(one[key] for one in found)) for key in found[0]}
    return row | {"ratio": row["intervals wrong by prompt"] / allowed(runs), "bar": 1.0}


CASES: dict[str, Callable[[], Row]] = {
    "answers with shuffled prompts": shuffled,
    "equal variety": varied,
}
for _n in SIZES:
    for _name in SOURCES:
        CASES |= {
            f"{_name}, {share:.0%} of the captions wrong, N = {_n:,}": partial(
                mismatched, _name, share, _n
            )
            for share in SHARES
        }
        CASES |= {
            f"{_name}, {harm}, N = {_n:,}": partial(harmed, _name, harm, _n)
            for harm in ("blur", "brightness by class")
        }
CASES |= {"equal models, other questions": other_questions}

if __name__ == "__main__":
    run("prompts", "Samples that do not fit their prompts, and answers of several prompts", CASES)
