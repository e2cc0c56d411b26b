"""Distributions, samples and costs whose truth is known; the benchmarks use them at full size."""
