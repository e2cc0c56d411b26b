"""Intervals and certificates of held-out curves."""

from tradeoff.inference.certificate import certify
from tradeoff.inference.intervals import CurveInterval, curve_interval

__all__ = ["CurveInterval", "certify", "curve_interval"]
