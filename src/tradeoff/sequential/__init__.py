"""Questions that are answered while samples are being generated."""

from tradeoff.sequential.decide import decide
from tradeoff.sequential.questions import Decision

__all__ = ["Decision", "decide"]
