"""The directive `bench-table`: a committed benchmark result as a table with its provenance.

Rows that were measured with other code than the present one are marked, and a note below says so.
"""

import json
import re
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective

from benchmarks import RELEASE
from benchmarks.harness import RESULTS, render
from benchmarks.stale import MARK, MEANING, stale_cases


class BenchTable(SphinxDirective):
    """Renders `benchmarks/results/NAME.json`, or those of its rows whose case matches `rows`.

    With `brief`, the table alone: no title, no provenance, and the matched part of the cases left
    out. With `turned`, a column for each case and a row for each figure, where there are many.
    """

    required_arguments = 1
    option_spec: ClassVar = {
        "rows": directives.unchanged_required,
        "brief": directives.flag,
        "turned": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        path = RESULTS / f"{self.arguments[0]}.json"
        self.env.note_dependency(str(path))
        if not path.exists():
            name = self.arguments[0]
            missing = f"*Not measured in this version yet (`make bench-{name}`).*"
            return self.parse_text_to_nodes(missing)
        record = json.loads(Path(path).read_text())
        wanted = re.compile(self.options.get("rows", ""))
        record["rows"] = [row for row in record["rows"] if wanted.search(row["case"])]
        if not record["rows"]:
            raise self.error(f"no row of {path.name} matches {wanted.pattern!r}")
        stale = stale_cases(record)
        for row in record["rows"]:
            mark = f" {MARK}" if row["case"] in stale else ""
            shown = wanted.sub("", row["case"]).strip() if "brief" in self.options else row["case"]
            row["case"] = shown + mark
        if "turned" in self.options:
            record["rows"] = turned(record["rows"])
        table = render(record) + (f"\n\n{MARK} {MEANING}\n" if stale else "")
        if "brief" in self.options:
            return self.parse_text_to_nodes(table)
        kind = "Release benchmark" if record["name"] in RELEASE else "Dated note"
        versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
        text = (
            f"*{record['title']}.*\n\n{table}\n\n"
            f"{kind}, {record['date']}: measured on {record['machine']}, commit "
            f"{record['commit']}, with {versions}. "
            f"Repeat it with `make bench-{record['name']}`.\n"
        )
        return self.parse_text_to_nodes(text)


def turned(rows):
    """A row for each figure, with its value in each case."""
    figures = dict.fromkeys(key for row in rows for key in row if key not in ("case", "code"))
    return [
        {"figure": figure} | {row["case"]: row.get(figure) for row in rows} for figure in figures
    ]


def setup(app):
    app.add_directive("bench-table", BenchTable)
    return {"parallel_read_safe": True}
