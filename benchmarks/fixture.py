"""Write the small part of the real data that the tests keep: `python -m benchmarks.fixture`."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import QUICK, cifar10, cifar_pixels, texts
from tests.known.real import FILE

TEXT_SOURCES = (0, 2)  # film reviews and tweets
EVERY_COLUMN = 5
IMAGES = 450


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


if __name__ == "__main__":
    main()
