"""Tests own their data: they import no benchmark and install or download nothing."""

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
INSTALLERS = {"pip", "npm", "apt", "apt-get"}


def outside_needs(source):
    """Imports of benchmarks, and lists or calls that name an installer, such as ["npm", "pack"]."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (name for name in names if name.split(".")[0] == "benchmarks")
        parts = getattr(node, "elts", getattr(node, "args", ()))
        if isinstance(node, ast.List | ast.Tuple | ast.Call):
            words = [part.value for part in parts if isinstance(part, ast.Constant)]
            first = str(words[0]).split()[:1] if words else []
            yield from INSTALLERS & {*first, *(words if "-m" in words else ())}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    from benchmarks.laws import PAIRS", "benchmarks.laws"),
        ("import benchmarks", "benchmarks"),
        ('run(["npm", "pack", "x"])', "npm"),
        ('run([sys.executable, "-m", "pip", "download"])', "pip"),
        ('os.system("apt-get install x")', "apt-get"),
    ],
)
def test_what_is_not_allowed_is_seen(source, expected):
    assert expected in outside_needs(source)


@pytest.mark.slow
def test_tests_import_no_benchmark_and_install_nothing():
    found = {
        str(path.relative_to(TESTS)): needs
        for path in sorted(TESTS.rglob("*.py"))
        if path != Path(__file__)
        and (needs := list(outside_needs(path.read_text(encoding="utf-8"))))
    }
    assert found == {}
