"""The shape of the source: no import circles, few twin names."""

import ast
import re
from functools import cache
from pathlib import Path

import tradeoff

ROOT = Path(tradeoff.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
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


def test_few_names_are_written_once_for_each_side():
    text = "".join(path.read_text(encoding="utf-8") for path in FILES)
    assert len(re.findall(r"\b(?:real|generated)_[a-z_]+", text)) <= _MOST_TWINS
