"""Benchmarks: scripts that print a table of ratios and write `benchmarks/results/NAME.json`."""
