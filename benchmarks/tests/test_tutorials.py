"""The tutorials: notebooks are those of their scripts, and the scripts run."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("jupytext")
pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

from benchmarks.tests.test_numbers import EVERYWHERE, NUMBER, prose  # noqa: E402

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / ".ci"))

from tutorials import execute, read, scripts  # noqa: E402

SCRIPTS = {script.stem: script for script in scripts()}
SIZES = {
    "answers": {"EACH": 6, "PROMPTS": 22},
    "checkpoints": {"N": 300},
    "cluster": {"N": 400},
    "columns": {"N": 400},
    "captions": {"N": 400},
    "copies": {"N": 300, "COMPONENTS": {"small": 5, "large": 200}},
    "images": {"N": 250},
    "improve": {"N": 400},
    "knob": {"N": 300},
    "monitor": {"STEPS": 300, "N": 200},
    "table": {"N": 400},
    "text": {"N": 200, "EPOCHS": 2},
    "train": {"STEPS": 20, "N": 300},
}
"""Smaller sizes of each tutorial."""

NEEDS = dict.fromkeys(SIZES, (pytest.mark.torch,)) | {
    "checkpoints": (),
    "cluster": (pytest.mark.ray,),
    "improve": (),
    "knob": (),
}
"""What a tutorial needs that the run on the lowest bounds does not install."""

PATHS = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|work|var|Users|private)/\w|[A-Z]:\\\w")


def notebook_of(name):
    return nbformat.read(SCRIPTS[name].with_suffix(".ipynb"), as_version=4)


def texts_of(cell):
    """What a cell printed and showed, without pictures."""
    for output in cell.get("outputs", []):
        yield output.get("text", "")
        data = output.get("data", {})
        yield from (text for kind, text in data.items() if kind.startswith("text/"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_notebook_is_that_of_the_script(name):
    """If this fails, run `make tutorials`."""
    expected, found = (
        [(cell.cell_type, cell.source, cell.metadata.get("mystnb")) for cell in notebook.cells]
        for notebook in (read(SCRIPTS[name]), notebook_of(name))
    )
    assert found == expected


@pytest.mark.parametrize("name", SCRIPTS)
def test_outputs_have_no_errors_warnings_or_paths(name):
    for cell in notebook_of(name).cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
        assert not [found for text in texts_of(cell) if (found := PATHS.search(text))]


@pytest.mark.parametrize("name", SCRIPTS)
def test_pictures_have_alternative_text(name):
    for cell in notebook_of(name).cells:
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", [])):
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 20, cell.source


@pytest.mark.parametrize("name", SCRIPTS)
def test_figures_in_the_text_are_in_the_code_or_in_an_output(name):
    cells = notebook_of(name).cells
    code = " ".join(cell.source for cell in cells if cell.cell_type == "code")
    shown = " ".join(text for cell in cells for text in texts_of(cell))
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    known = {found for part in (code, shown) for found in NUMBER.findall(part)}
    known |= {f"{100 * float(found):.0f}%" for found in known if re.fullmatch(r"0\.\d+", found)}
    assert set(NUMBER.findall(prose(text))) - EVERYWHERE.keys() <= known


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=marks) for name, marks in NEEDS.items()])
def test_the_script_runs(name):
    execute(read(SCRIPTS[name]), **SIZES[name])


def test_every_tutorial_is_run_and_listed():
    assert SIZES.keys() == SCRIPTS.keys()
    index = (ROOT / "docs" / "tutorials.md").read_text(encoding="utf-8")
    assert [name for name in SCRIPTS if f"tutorials/{name}.ipynb" not in index] == []
