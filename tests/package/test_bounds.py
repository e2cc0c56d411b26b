"""Lower bounds: one for each package, and above the known holes of what reads files."""

import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
SAFE = {
    "datasets": "5.2",
    "onnx": "1.21",
    "onnxruntime": "1.31",
    "pillow": "13.0",
    "pyarrow": "24.0",
    "sentence-transformers": "6.2",
    "torch": "2.10",
    "transformers": "5.5",
}


def bounds():
    found = defaultdict(set)
    groups = [*EXTRAS.values(), *PROJECT["dependency-groups"].values()]
    for requirement in [r for group in groups for r in group if isinstance(r, str)]:
        name, _, bound = requirement.partition(">=")
        found[name].add(bound)
    return found


def test_a_package_has_one_lower_bound():
    assert {name: found for name, found in bounds().items() if len(found) > 1} == {}


@pytest.mark.parametrize("name", SAFE)
def test_what_reads_files_is_required_without_known_holes(name):
    """A bound may rise; whoever lowers one must say here why that is safe."""
    (bound,) = bounds()[name]
    number = [int(part) for part in bound.split(".")]
    assert number >= [int(part) for part in SAFE[name].split(".")]


def test_extras_that_load_networks_name_the_bound_of_pytorch():
    """Otherwise their own dependencies would admit any version."""
    for extra in ("torch", "hub", "onnx", "offline", "lightning", "torchmetrics"):
        assert any(requirement.startswith("torch>=") for requirement in EXTRAS[extra]), extra
