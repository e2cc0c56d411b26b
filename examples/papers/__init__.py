"""Experiments of the papers, reproduced: one module for each paper or part of it."""

MODULES = ("sajjadi_2018", "simon_2019", "djolonga_2020")
"""Names of the modules, in the order of the page."""
