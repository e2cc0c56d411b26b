"""What is wrong with models whose faults are known: CIFAR-10, texts and a table, end to end.

Default settings but for the encoders that need no download; 5,000 images, and as many texts as
there are, of each side. A row's ratio is the number of findings that are missing or mistaken.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks.harness import Row, run
from benchmarks.scenarios import STORE, cifar_models, text_models
from tests.known.scenarios import table_models
from tradeoff import evaluate
from tradeoff.evaluation import Reference

if TYPE_CHECKING:
    from collections.abc import Callable

SIZE = 5000
LOSSES = frozenset({"precision lost", "recall lost"})
IMAGES = {"encoder": "efficientnet-lite0", "size": 128, "store": STORE}
TEXTS = {"encoder": "all-minilm-l6-v2", "store": STORE}


def row(
    real: Any, generated: Any, wrong: frozenset[str], right: frozenset[str], **options: Any
) -> Row:
    """Headline scores, what was found, and how much of that is mistaken."""
    result = evaluate(real=Reference.make(real, **options), generated=generated)
    found = {finding.name for finding in result.findings}
    shown = {
        name: f"{score.value_text} {score.interval_text}"
        for name in ("precision", "recall")
        for score in (result[f"curve.{name}"],)
    }
    mistakes = len(wrong - found) + len(right & found)
    return shown | {"found": ", ".join(sorted(found)) or "nothing", "ratio": mistakes, "bar": 0}


@cache
def images() -> Any:
    """Real images and models."""
    return cifar_models(SIZE)


def of_images(name: str) -> Row:
    """A model of CIFAR-10."""
    real, models = images()
    model = models[name]
    return row(real.pixels, model.samples.pixels, model.wrong, model.right, **IMAGES)


def of_texts(name: str) -> Row:
    """A model of texts by source."""
    real, models = text_models(SIZE)
    wrong = frozenset({"recall lost"} if name == "a source removed" else ())
    return row(real, models[name], wrong, LOSSES - wrong, **TEXTS)


def of_table(name: str) -> Row:
    """A model of a table."""
    real, models = table_models()
    wrong = frozenset({"recall lost"} if name == "benign only" else ())
    return row(real, models[name], wrong, LOSSES - wrong)


CASES: dict[str, Callable[[], Row]] = {
    "images: all classes": lambda: of_images("all classes"),
    "images: two classes dropped": lambda: of_images("two classes dropped"),
    "images: noise and blur": lambda: of_images("noise and blur"),
    "images: ten images": lambda: of_images("ten images"),
    "images: another data set": lambda: of_images("another data set"),
    "texts: all sources": lambda: of_texts("all sources"),
    "texts: a source removed": lambda: of_texts("a source removed"),
    "table: all": lambda: of_table("all"),
    "table: benign only": lambda: of_table("benign only"),
}

if __name__ == "__main__":
    run("endtoend", "Faults that were found, 5,000 images of each side, default settings", CASES)
