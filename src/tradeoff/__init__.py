"""Measure, explain, tune and improve the quality/diversity trade-off of generative models."""

import lazy_loader as _lazy

_find, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)

_MEANT = {
    "encoders": "tradeoff.features.ENCODERS",
    "list_encoders": "tradeoff.features.ENCODERS",
    "estimators": "tradeoff.ratio.ESTIMATORS",
    "metrics": "tradeoff.metrics.FAMILIES",
    "list_metrics": "tradeoff.metrics.FAMILIES",
    "fid": "tradeoff.frechet_distance",
    "kid": "tradeoff.kernel_distance",
    "prdc": "tradeoff.support_metrics",
    "precision_recall": "tradeoff.pr_curve",
    "PRLoss": "tradeoff.training.PRLoss",
    "Reference": "tradeoff.evaluation.Reference",
}


def __getattr__(name: str) -> object:
    """A public name, or an error with the name that was meant."""
    if name in __all__:
        return _find(name)
    if name == "filter":  # not in `__all__`, where it would hide the function of Python
        from tradeoff.sampling import filter_pool

        return filter_pool
    if name.startswith("_"):
        raise AttributeError(f"`tradeoff` has no `{name}`.")
    from difflib import get_close_matches

    close = get_close_matches(name, __all__, n=1, cutoff=0.75)
    meant = _MEANT.get(name) or "".join(f"tradeoff.{known}" for known in close)
    sentence = f"`tradeoff` has no `{name}`."
    raise AttributeError(f"{sentence} Did you mean `{meant}`?" if meant else sentence)
