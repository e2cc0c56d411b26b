"""A notebook that is executed: results show as HTML, and displays as pictures."""

import base64
import json
import sys

import pytest

pytestmark = pytest.mark.slow

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SETUP = """
import numpy as np
from tradeoff import PRCurveDisplay, compare, diagnose, evaluate
from tradeoff.report import ComparisonDisplay, EvaluationDisplay

rng = np.random.default_rng(0)
real, near, far = (rng.normal(shift, 1, (200, 2)) for shift in (0.0, 0.5, 2.0))
options = {"metrics": "curve", "estimator": "logistic", "diagnose": False, "progress": False}
result = evaluate(real=real, generated=near, **options)
models = compare(real=real, generated={"near": near, "far": far}, **options)
"""
SHOWN = {
    "result": "text/html",
    "models": "text/html",
    "result.scores['curve.recall']": "text/html",
    "result.curve": "text/html",
    "EvaluationDisplay(result)": "image/png",
    "ComparisonDisplay(models)": "image/png",
    "PRCurveDisplay(result.curve).plot(color='tab:red')": "image/png",
}
PROGRESS = "from tradeoff._progress import track; sum(track(range(4), 'counting'))"
OPEN = "from matplotlib import pyplot; pyplot.get_fignums()"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Outputs of each cell, by its source."""
    folder = tmp_path_factory.mktemp("notebook")
    kernel = folder / "kernels" / "here"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "here", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *SHOWN, PROGRESS, OPEN)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        nbclient.NotebookClient(notebook, timeout=240, kernel_name="here").execute()
    return {cell.source: cell.outputs for cell in notebook.cells}


def data_of(outputs, source):
    (output,) = outputs[source]
    assert output.output_type == "execute_result"
    return output.data


@pytest.mark.parametrize(("source", "kind"), SHOWN.items())
def test_the_value_of_a_cell_shows(outputs, source, kind):
    data = data_of(outputs, source)
    if kind == "image/png":
        assert base64.b64decode(data[kind]).startswith(b"\x89PNG\r\n\x1a\n")
    else:
        assert data[kind].startswith("<table>")
        assert len(data["text/plain"]) < 1500


def test_the_table_of_an_evaluation_names_its_scores(outputs):
    assert "curve.precision" in data_of(outputs, "result")["text/html"]


def test_displays_leave_no_figure_open(outputs):
    assert data_of(outputs, OPEN)["text/plain"] == "[]"


def test_progress_without_widgets_prints_no_warning(outputs):
    assert data_of(outputs, PROGRESS)["text/plain"] == "6"
