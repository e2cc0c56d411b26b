"""How sure an estimate is."""

from tradeoff.inference.intervals import CurveInterval, curve_interval

__all__ = ["CurveInterval", "curve_interval"]
