"""What a model misses and invents, in groups whose contributions add up to its losses."""

from tradeoff.explain.result import Explanation

__all__ = ["Explanation"]
