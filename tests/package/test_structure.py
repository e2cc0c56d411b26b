"""The shape of the source: no import circles, short files, short functions, few twin names."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import tradeoff

ROOT = Path(tradeoff.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
_MOST_LINES = 400
_MOST_BODY = 40
_MOST_TWINS = 60


def module_of(path):
    parts = ("tradeoff", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


@cache
def imports_of(module):
    """Modules of the package that a file imports, type-only imports and those in functions too."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name in MODULES and name != module}


def circle_from(start):
    """A way from a file back to itself, by breadth-first search."""
    paths = [[start]]
    seen = set()
    while paths:
        path = paths.pop(0)
        for name in imports_of(path[-1]):
            if name == start:
                return path
            if name not in seen:
                seen.add(name)
                paths.append([*path, name])
    return None


def test_no_two_files_import_each_other_in_a_circle():
    circles = [circle for module in MODULES if (circle := circle_from(module))]
    assert not circles, min(circles, key=len)


@pytest.mark.parametrize("path", FILES, ids=module_of)
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= _MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
        length = body[-1].end_lineno - body[0].lineno + 1
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        excused = lines[first - 2].strip().startswith("# Long because")
        assert length <= _MOST_BODY or excused, f"{node.name} has {length} lines"


def test_few_names_are_written_once_for_each_side():
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    assert len(re.findall(r"\b(?:real|generated)_[a-z_]+", text)) <= _MOST_TWINS
