"""Settings that integrations share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tradeoff.evaluation.pipeline import checked
from tradeoff.settings import Settings, as_names

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LOGGED", "logged_settings"]

LOGGED = (
    "curve.precision",
    "curve.recall",
    "knn.precision",
    "knn.recall",
    "knn.density",
    "knn.coverage",
)
"""Metrics of a training loop unless others are chosen."""


def logged_settings(*, metrics: Sequence[str], k: int, estimator: Any, seed: int) -> Settings:
    """Checked settings without a diagnosis, which a training loop has no time for."""
    return checked(
        Settings(metrics=as_names(metrics), k=k, estimator=estimator, seed=seed, diagnose=False)
    )
