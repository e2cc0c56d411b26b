"""The same numbers inside other frameworks: a torchmetrics metric and a Lightning callback.

Each lives in the module named after its framework, `tradeoff.integrations.torchmetrics` and
`tradeoff.integrations.lightning`, which needs the extra of that name.
"""

from typing import Any

__all__: list[str] = []

LOGGED: dict[str, Any] = {
    "metrics": (
        "curve.precision",
        "curve.recall",
        "curve.overlap",
        "curve.f_score",
        "knn.precision",
        "knn.recall",
        "knn.density",
        "knn.coverage",
    ),
    "diagnose": False,
}
"""Settings of a training loop, which has no time for a diagnosis, unless others are chosen."""


def logged(train: Any) -> dict[str, Any]:
    """The same, with copies if there is a training set, which is None otherwise."""
    return LOGGED if train is None else LOGGED | {"metrics": (*LOGGED["metrics"], "copies")}
