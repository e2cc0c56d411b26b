"""Write the small part of the real data that the tests keep: `python -m benchmarks.fixture`.

`python -m benchmarks.fixture answers` writes that of the answers of a language model.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks import bench_answers
from benchmarks.datasets import QUICK, cifar10, cifar_pixels, texts
from benchmarks.questions import EACH, QUESTIONS, TEMPERATURES, answered
from tests.known.answered import FILE as ANSWERS
from tests.known.answered import OF_EACH, SETTINGS, Answers
from tests.known.real import FILE

TEXT_SOURCES = (0, 2)  # film reviews and tweets
EVERY_COLUMN = 5
IMAGES = 450
ASKED = 40


def main() -> None:
    """Features in half precision, pixels in bytes."""
    written, photos, pixels = texts(QUICK), cifar10(QUICK).train, cifar_pixels().train
    chosen = np.isin(written.labels, TEXT_SOURCES)
    np.savez_compressed(
        FILE,
        text_features=written.features[chosen].astype(np.float16),
        text_labels=written.labels[chosen].astype(np.uint8),
        image_features=photos.features[:, ::EVERY_COLUMN].astype(np.float16),
        image_labels=photos.labels.astype(np.uint8),
        pixels=pixels.features[:IMAGES],
        pixel_labels=pixels.labels[:IMAGES].astype(np.uint8),
    )


def answers() -> None:
    """The first answers to the first questions, at two temperatures."""
    asked = QUESTIONS[:ASKED]
    rows = np.arange(ASKED * EACH).reshape(ASKED, EACH)[:, :OF_EACH].ravel()
    places = [TEMPERATURES.index(one) for one in SETTINGS]
    drawn = answered(asked)
    parts = []
    for one in SETTINGS:
        found = drawn[one].take(rows)
        views = bench_answers.embedded(found)
        parts.append(
            Answers(
                question=found.question.astype(np.uint8),
                log_probabilities=found.log_probabilities[places].astype(np.float16),
                meaning=views[bench_answers.MEANING].astype(np.float16),
                surface=views[bench_answers.SURFACE].astype(np.float16),
            )
        )
    named = {f"{name}-{i}": x for i, part in enumerate(parts) for name, x in part._asdict().items()}
    np.savez_compressed(ANSWERS, asked=bench_answers.asked(asked).astype(np.float16), **named)


if __name__ == "__main__":
    if sys.argv[1:] == ["answers"]:
        answers()
    else:
        main()
