"""What a release needs states the same requirements and versions everywhere."""

import re
import tomllib
from pathlib import Path

import pytest

from tradeoff import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE, DOCKERFILE = ROOT / "conda" / "recipe.yaml", ROOT / "Dockerfile"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}
"""Packages that conda calls by another name."""


@pytest.mark.skipif(not RECIPE.exists(), reason="a source distribution has no recipe")
def test_the_conda_recipe_has_the_requirements_and_the_version_of_the_package():
    text = RECIPE.read_text(encoding="utf-8")
    run = text.partition("  run:\n")[2].partition("\n\n")[0]
    found = {line.strip(" -").replace(" ", "") for line in run.splitlines()}
    split = [re.split("(?=>=)", bound) for bound in PROJECT["dependencies"]]
    expected = {CONDA_NAMES.get(name, name) + bound for name, bound in split}
    assert found == expected | {"python" + PROJECT["requires-python"]}
    assert f'version: "{__version__}"' in text
    assert f"summary: {PROJECT['description']}" in text
    assert "tradeoff = " + PROJECT["scripts"]["tradeoff"] in text


@pytest.mark.skipif(not DOCKERFILE.exists(), reason="a source distribution has no Dockerfile")
def test_the_image_copies_what_a_build_needs_and_installs_known_extras():
    text = DOCKERFILE.read_text(encoding="utf-8")
    (extras,) = re.findall(r"/source\[(.*?)\]", text)
    assert set(extras.split(",")) <= PROJECT["optional-dependencies"].keys()
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in (PROJECT["readme"], "pyproject.toml", "src", *PROJECT["license-files"]):
        assert name in text
        assert f"!{name}" in ignored
