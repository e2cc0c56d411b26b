"""Intervals and certificates of held-out curves."""

from tradeoff.inference.certificate import certify
from tradeoff.inference.intervals import curve_interval

__all__ = ["certify", "curve_interval"]
