"""Experiments of the papers, reproduced: one module for each paper or part of it."""

MODULES = (
    "sajjadi_2018",
    "sajjadi_2018_models",
    "sajjadi_2018_entropy",
    "simon_2019",
    "djolonga_2020",
    "djolonga_2020_data",
    "verine_2024",
    "verine_2024_training",
    "verine_2024_rejection",
    "verine_2024_lipschitz",
    "verine_2024_landscape",
)
"""Names of the modules, in the order of the page."""
