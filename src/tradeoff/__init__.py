"""Measure, explain, tune and improve the quality/diversity trade-off of generative models."""

from importlib import import_module as _import_module
from typing import Any as _Any

from tradeoff._version import __version__

_DOORS = {
    "AcceptanceRule": "tradeoff.core",
    "CurveEstimate": "tradeoff.ratio",
    "Evaluation": "tradeoff.evaluation",
    "HeldOutErrors": "tradeoff.core",
    "InvalidInputError": "tradeoff.exceptions",
    "ModelComparison": "tradeoff.evaluation",
    "PRCurve": "tradeoff.core",
    "PRCurveDisplay": "tradeoff.report",
    "RatioProfile": "tradeoff.core",
    "Settings": "tradeoff.settings",
    "SupportMetrics": "tradeoff.neighbors",
    "TradeoffError": "tradeoff.exceptions",
    "UndefinedError": "tradeoff.exceptions",
    "compare": "tradeoff.evaluation",
    "diagnose": "tradeoff.ratio",
    "evaluate": "tradeoff.evaluation",
    "frechet_distance": "tradeoff.moments",
    "kernel_distance": "tradeoff.moments",
    "pr_curve": "tradeoff.ratio",
    "reproduce": "tradeoff.protocols",
    "support_metrics": "tradeoff.neighbors",
}

__all__ = [*_DOORS, "__version__"]


def __getattr__(name: str) -> _Any:
    if name not in _DOORS:
        raise AttributeError(f"module 'tradeoff' has no attribute {name!r}")
    value = getattr(_import_module(_DOORS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
