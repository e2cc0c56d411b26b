"""Execute the tutorials: every script in `docs/tutorials` becomes a notebook with its outputs.

    python .ci/tutorials.py            # all of them
    python .ci/tutorials.py images     # one

The scripts are in the percent format of jupytext. A cell with the tag `parameters` sets sizes,
which a test replaces by smaller ones. The notebooks contain nothing that changes from run to run
except results, so that their differences are short.
"""

import os
import re
import sys
import tempfile
import time
from pathlib import Path

import jupytext
import nbclient
import nbformat

FOLDER = Path(__file__).parents[1] / "docs" / "tutorials"
# Otherwise `# %pip install` would be a command in the notebook.
FORMAT = {"extension": ".py", "format_name": "percent", "comment_magics": False}
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}
ADDRESS = r"<(?:\w+\.)*\w+ (?:object )?at 0x[0-9a-f]+>"
WIDGETS = r"^.*Missing packages: \['ipywidgets'\].*\n"  # from Ray
PROGRESS = r"\r[^\r\n]*"
QUIET = {
    "TQDM_DISABLE": "1",
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "PYTHONWARNINGS": "ignore:IProgress not found",  # from transformers, without ipywidgets
}


def scripts() -> list[Path]:
    """The sources of the tutorials."""
    return sorted(FOLDER.glob("*.py"))


def read(script: Path) -> nbformat.NotebookNode:
    """A script as a notebook without outputs."""
    notebook = jupytext.read(script, fmt=FORMAT)
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    for place, cell in enumerate(notebook.cells):
        cell.id = f"cell-{place}"
    return notebook


def execute(notebook: nbformat.NotebookNode, *, timeout: int = 600, **sizes: object) -> None:
    """Run all cells in an empty folder, with other sizes than those of the parameters if given."""
    cells = list(notebook.cells)
    if sizes:
        tags = [cell.metadata.get("tags", []) for cell in cells]
        place = next(i for i, found in enumerate(tags) if "parameters" in found)
        changed = "\n".join(f"{name} = {value!r}" for name, value in sizes.items())
        cells.insert(place + 1, nbformat.v4.new_code_cell(changed))
    run = nbformat.v4.new_notebook(cells=cells, metadata=notebook.metadata)
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(
            run, timeout=timeout, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute(env={**os.environ, **QUIET})


def clean(notebook: nbformat.NotebookNode) -> None:
    """Leave out times, addresses, the kernel's version, progress, and advice on widgets."""
    notebook.metadata["language_info"] = LANGUAGE
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("metadata", {}).clear()
            plain = output.get("data", {}).get("text/plain")
            if plain and re.fullmatch(ADDRESS, plain):
                del output.data["text/plain"]
            if output.get("name") == "stderr":
                output.text = re.sub(WIDGETS, "", output.text, flags=re.MULTILINE)
                output.text = re.sub(PROGRESS, "", output.text)
        if "outputs" in cell:
            cell.outputs = [one for one in cell.outputs if one.get("text") != ""]


def main(names: list[str]) -> None:
    """Write the notebooks."""
    for script in scripts():
        if names and script.stem not in names:
            continue
        began = time.perf_counter()
        notebook = read(script)
        execute(notebook)
        clean(notebook)
        nbformat.write(notebook, script.with_suffix(".ipynb"))
        print(f"{script.stem:12s} {time.perf_counter() - began:4.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
