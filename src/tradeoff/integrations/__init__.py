"""The same numbers inside other frameworks: a metric, callbacks and loggers.

Each lives in the module named after its framework, `tradeoff.integrations.torchmetrics`,
`tradeoff.integrations.lightning` and `tradeoff.integrations.transformers`, which needs the extra of
that name. `tradeoff.integrations.loggers` needs nothing but the writer or run that it is given.
"""

from typing import Any

from tradeoff.tracking.tracker import METRICS

__all__: list[str] = []

LOGGED: dict[str, Any] = {"metrics": METRICS, "diagnose": False}
"""Settings of a metric in a training loop, which has no time for a diagnosis, unless others are
chosen."""


def logged(train: Any) -> dict[str, Any]:
    """The same, with copies if there is a training set, which is None otherwise."""
    return LOGGED if train is None else LOGGED | {"metrics": (*LOGGED["metrics"], "copies")}
