"""The picture and the table of the packages, from the contract of their layers.

Rows come from import-linter's contract in `pyproject.toml`, sentences from the first lines of the
packages, so neither can differ from the code. The paths of the data are written here.
"""

import ast
import html
import tomllib
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tradeoff"
PATHS = {
    "evaluate": (
        ("data", "sources of samples"),
        ("features · embedding", "features, kept in a store"),
        ("samples", "a pair of sides, checked once"),
        ("metrics · curves · ratio", "scores and the held-out curve"),
        ("inference", "intervals, certificates, losses"),
        ("evaluation", "findings, verdict, result"),
        ("explain", "samples behind a loss"),
        ("report", "text, pictures, page"),
    ),
    "counted run": (
        ("data", "many files of samples"),
        ("counting.plan", "a rule is fitted and frozen"),
        ("engines", "a task for each part"),
        ("embedding · ratio.frozen", "features and scores of a part"),
        ("counting.state", "counts, merged exactly"),
        ("counting.ledger", "finished parts"),
        ("evaluation", "the same result as above"),
        ("report", "text, pictures, page"),
    ),
}
ROW, BOX, LEFT, WIDE = 40, 30, 10, 420
_RECT = (
    '<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="5" fill="currentColor" '
    'fill-opacity="0.07" stroke="currentColor" stroke-opacity="0.55"/>'
)
_TEXT = '<text x="{x}" y="{y}" {style}>{text}</text>'


def layers():
    """Rows of public packages, the highest first."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    rows = [row.split(" | ") for row in contract["contracts"][0]["layers"]]
    public = [[name for name in row if not name.startswith("_")] for row in rows]
    return [row for row in public if row]


def sentence(package):
    """The first line of a package or module."""
    path = SOURCE / package / "__init__.py"
    tree = ast.parse((path if path.exists() else SOURCE / f"{package}.py").read_text())
    return ast.get_docstring(tree).partition("\n")[0]


def picture():
    """SVG of the layers, and of the paths of the data."""
    rows = layers()
    drawn = [_write(LEFT, 24, "Packages: each imports only from rows below", "heading")]
    for number, row in enumerate(rows):
        width = (WIDE - 10 * (len(row) - 1)) / len(row)
        for place, name in enumerate(row):
            drawn += _box(LEFT + place * (width + 10), 42 + number * ROW, width, name)
    for column, (title, steps) in enumerate(PATHS.items()):
        x = LEFT + WIDE + 40 + column * 250
        drawn.append(_write(x, 24, f"Path of {title}", "heading"))
        for number, (name, text) in enumerate(steps):
            y = 42 + number * 66
            drawn += _box(x, y, 220, name)
            drawn.append(_write(x, y + 46, f"↓ {text}", "note"))
    height = 60 + max(len(rows) * ROW, 8 * 66)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {height}" role="img" '
        'aria-label="Packages of tradeoff, each above those it may import, and the paths of the '
        'data through them" style="width:100%;height:auto" font-size="13" fill="currentColor">'
        + "".join(drawn)
        + "</svg>"
    )


def _box(x, y, width, name):
    return [
        _RECT.format(x=x, y=y, w=width, h=BOX),
        _write(x + width / 2, y + 20, name, "name"),
    ]


def _write(x, y, text, kind):
    style = {
        "heading": 'font-size="15" font-weight="600"',
        "name": 'text-anchor="middle" font-family="monospace"',
        "note": 'fill-opacity="0.8"',
    }[kind]
    return _TEXT.format(x=x, y=y, style=style, text=html.escape(text))


class PackagePicture(SphinxDirective):
    def run(self):
        return [nodes.raw("", picture(), format="html")]


class PackageTable(SphinxDirective):
    def run(self):
        lines = ["| package | what it is for |", "|---|---|"]
        lines += [f"| `{name}` | {sentence(name)} |" for row in layers() for name in row]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("package-picture", PackagePicture)
    app.add_directive("package-table", PackageTable)
    return {"parallel_read_safe": True}
