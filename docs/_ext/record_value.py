"""The role `record`: one figure of a committed benchmark record.

A figure is named by record, case, column and format, for example
``{record}`speed > default > seconds > .0f` ``. A text, such as a value with its interval, needs no
format. A column such as ``recall, precision[1]`` is one entry of a list, or of a text with commas.
A case with a star, such as ``*, N = 200``, stands for the sum over all rows that it fits.
A figure that was measured with other code than the present one gets a mark, with a title that says
so. The function that reads a figure needs no Sphinx.
"""

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def value(reference: str) -> str:
    """The figure that a reference names, as it is printed."""
    record, case, column, *form = reference.split(" > ")
    column, index = re.fullmatch(r"(.*?)(?:\[(\d+)\])?", column).groups()
    rows = json.loads((RESULTS / f"{record}.json").read_text(encoding="utf-8"))["rows"]
    if "*" in case:
        return format(sum(row[column] for row in rows if fnmatchcase(row["case"], case)), *form)
    found = [row for row in rows if row["case"] == case]
    if len(found) != 1 or column not in found[0]:
        raise KeyError(f"{record}.json has no single figure {column!r} of {case!r}")
    figure = found[0][column]
    if index is not None:
        figure = (figure.split(", ") if isinstance(figure, str) else figure)[int(index)]
    return format(figure, *form)


def setup(app):
    from docutils import nodes
    from sphinx.util.docutils import SphinxRole

    from benchmarks.stale import MARK, MEANING, is_stale

    class Record(SphinxRole):
        """Prints the figure with its mark, and rebuilds the page when the record changes."""

        def run(self):
            self.env.note_dependency(str(RESULTS / f"{self.text.partition(' > ')[0]}.json"))
            try:
                figure = nodes.Text(value(self.text))
            except (KeyError, OSError, ValueError) as error:
                wrong = self.inliner.reporter.error(f"record: {error}", line=self.lineno)
                return [], [wrong]
            mark = nodes.abbreviation("", MARK, explanation=MEANING)
            return [figure, mark] if is_stale(self.text) else [figure], []

    app.add_role("record", Record())
    return {"parallel_read_safe": True}
