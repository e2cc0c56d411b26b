"""Draws results and computes none; results never draw themselves."""

from tradeoff.report.display import PRCurveDisplay

__all__ = ["PRCurveDisplay"]
