"""Benchmarks: scripts that print a table of ratios and write `benchmarks/results/NAME.json`."""

RELEASE = (
    "compare",
    "coverage",
    "headline",
    "memory",
    "metrics",
    "neighbors",
    "real",
    "sanity",
    "truth",
    "verdict",
)
"""Benchmarks that are run again before a version is tagged, ten at most.

They are all that the README cites, and the errors and the coverage of the default estimator. The
records of the others are dated notes, which no test compares with anything.
"""
