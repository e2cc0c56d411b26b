"""The same numbers inside other frameworks: a torchmetrics metric and a Lightning callback.

Each lives in the module named after its framework, `tradeoff.integrations.torchmetrics` and
`tradeoff.integrations.lightning`, which needs the extra of that name.
"""

__all__: list[str] = []
