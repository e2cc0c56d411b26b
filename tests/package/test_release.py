"""What a release needs states the same requirements and versions everywhere."""

import re
import subprocess
import sys
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
    variants = re.findall(r"EXTRAS=([\w,]+)", text)
    assert len(variants) == 2
    assert set(",".join(variants).split(",")) <= PROJECT["optional-dependencies"].keys()
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for name in (PROJECT["readme"], "pyproject.toml", "src", *PROJECT["license-files"]):
        assert name in text
        assert f"!{name}" in ignored


@pytest.mark.skipif(not RECIPE.exists(), reason="a source distribution has no scripts of ours")
def test_a_release_has_one_version_everywhere_and_notes_with_a_date(tmp_path):
    script = ROOT / ".ci" / "release.py"
    for name in ("src/tradeoff/_version.py", "conda/recipe.yaml", "CITATION.cff", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "release.py").write_bytes(script.read_bytes())

    def released(tag):
        command = [sys.executable, str(tmp_path / ".ci" / "release.py"), tag]
        return subprocess.run(command, capture_output=True, text=True)

    assert "_version.py must state version 99.0.0" in released("v99.0.0").stderr
    changes = tmp_path / "CHANGELOG.md"
    entry = f"## {__version__} ("
    text = re.sub(rf"{re.escape(entry)}.*", f"{entry}soon)", changes.read_text(encoding="utf-8"))
    changes.write_text(text, encoding="utf-8")
    assert "must state its date. Got: soon." in released(f"v{__version__}").stderr
    changes.write_text(text.replace("(soon)", "(2030-01-31)"), encoding="utf-8")
    done = released(f"v{__version__}")
    assert done.returncode == 0
    assert len(done.stdout) > 100
    assert done.stdout.strip() in text
