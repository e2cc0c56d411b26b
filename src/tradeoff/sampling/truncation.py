"""Latents of a generator with Gaussian inputs, kept near the center: less varied samples."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from tradeoff._validation import FloatArray, check_count, check_number, check_positive, check_seed

__all__ = ["truncated_latents"]


def truncated_latents(
    n: int, columns: int, *, within: float | None = None, scale: float = 1.0, seed: int = 0
) -> FloatArray:
    """Gaussian latents with hard or soft truncation, shape (n, columns).

    Args:
        n: Number of latents.
        columns: Number of columns of each.
        within: Hard truncation: as if every number beyond ±within were drawn again. None for none.
        scale: Soft truncation: what all numbers are multiplied by, a temperature.
        seed: Seed; equal for all values of a knob, so that they differ by the knob only.

    Example:
        >>> from tradeoff.sampling import truncated_latents
        >>> hard = truncated_latents(1000, 8, within=0.5)
        >>> soft = truncated_latents(1000, 8, scale=0.5)
        >>> bool(abs(hard).max() <= 0.5), float(soft.std().round(1))
        (True, 0.5)
    """
    size = (check_count("n", n), check_count("columns", columns))
    scale = check_number("scale", scale, at_least=0.0)
    share = np.random.default_rng(check_seed(seed)).random(size)
    if within is not None:
        outside = ndtr(-check_positive("within", within))
        share = outside + (1.0 - 2.0 * outside) * share
    return np.asarray(scale * ndtri(np.maximum(share, np.finfo(float).tiny)))
