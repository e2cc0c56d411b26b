"""A hash of the code that a figure depends on.

It covers the module of a benchmark and every module of the repository that it reaches by imports:
those inside functions, the registries' names `package.module:name`, programs that are started with
`-m` or from text, and scripts of `docs/tutorials`. Imports for type checkers do not count, nor do
comments, docstrings and layout, which change no figure. Files that are not Python do not count
either.
"""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Code", "code_of"]

ROOT = Path(__file__).parents[1]

SOURCES = {
    "tradeoff": "src/tradeoff",
    "benchmarks": "benchmarks",
    "examples": "examples",
    "tests": "tests",
    "tutorials": "docs/tutorials",
}
"""Top-level names, and the folders where they are."""

NOT_MEASURED = frozenset({"benchmarks.harness", "benchmarks.code_hash"})
"""Modules that run cases and write rows, but compute none of their figures."""

_NAMED = re.compile(r"([a-z_]\w*(?:\.\w+)+):\w+")
_DIGITS = 12


def code_of(benchmark: str) -> str:
    """Hash of what the benchmark of a record depends on, in this checkout as it is now."""
    return Code().of_benchmark(benchmark)


class Code:
    """The modules of a repository, each of them read once.

    Args:
        root: Folder of the repository.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._parsed: dict[str, ast.Module] = {}
        self._reached: dict[str, set[str]] = {}
        self._hashes: dict[str, str] = {}

    @cached_property
    def files(self) -> dict[str, Path]:
        """Files by the name of their module; a package is its `__init__.pyi`, if it has one."""
        found = {}
        for top, folder in SOURCES.items():
            base = self.root / folder
            for path in sorted([*base.rglob("*.py"), *base.rglob("__init__.pyi")]):
                parts = path.relative_to(base).with_suffix("").parts
                name = ".".join((top, *(part for part in parts if part != "__init__")))
                found[name] = path
        return found

    def of_benchmark(self, name: str) -> str:
        """Hash of what a record depends on; `sanity-full` is a record of `bench_sanity`."""
        return self.hash_of(f"benchmarks.bench_{name.partition('-')[0]}")

    def hash_of(self, module: str) -> str:
        """Hash of a module and of all that it depends on, 12 hexadecimal digits."""
        lines = [f"{name} {self._own_hash(name)}" for name in sorted(self.dependencies(module))]
        return _digest("\n".join(lines))[:_DIGITS]

    def dependencies(self, module: str) -> set[str]:
        """Names of a module and of all modules that it reaches."""
        found, waiting = set(), [module]
        while waiting:
            name = waiting.pop()
            if name not in found and name not in NOT_MEASURED:
                found.add(name)
                waiting += self._imported(name)
        return found

    def _own_hash(self, module: str) -> str:
        if module not in self._hashes:
            self._hashes[module] = _digest(_canonical(self._tree(module)))
        return self._hashes[module]

    def _imported(self, module: str) -> set[str]:
        """Modules that the code of a module names itself."""
        if module not in self._reached:
            wanted = _wanted(self._tree(module), self._package(module))
            self._reached[module] = {
                place for name, item in wanted for place in self._places(name, item)
            }
        return self._reached[module]

    def _places(self, module: str, item: str | None) -> Iterator[str]:
        """Where something is defined: packages that only hand on a name are looked through."""
        if item and f"{module}.{item}" in self.files:
            yield f"{module}.{item}"
        elif item == "*":
            yield from (name for name in self.files if name.startswith(f"{module}."))
        elif module in self.files:
            handed_on = self._handed_on(module) if item else {}
            if item in handed_on:
                yield from self._places(*handed_on[item])
            else:
                yield module

    def _handed_on(self, module: str) -> dict[str, tuple[str, str]]:
        """Names that a package imports from elsewhere, and from where."""
        if self._package(module) != module:
            return {}
        return {
            alias.asname or alias.name: (_absolute(node, module), alias.name)
            for node in ast.walk(self._tree(module))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def _package(self, module: str) -> str:
        is_package = self.files[module].stem == "__init__"
        return module if is_package else module.rpartition(".")[0]

    def _tree(self, module: str) -> ast.Module:
        if module not in self._parsed:
            self._parsed[module] = ast.parse(self.files[module].read_text(encoding="utf-8"))
        return self._parsed[module]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _wanted(tree: ast.AST, package: str) -> Iterator[tuple[str, str | None]]:
    """Modules that code names, each with the name that is taken from it."""
    for node in _counting(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((_absolute(node, package), alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _wanted_by_text(node.value)
        elif isinstance(node, ast.Call):
            yield from _wanted_by_call(node.func, node.args)
            yield from _started(node.args)
        elif isinstance(node, ast.List | ast.Tuple):
            yield from _started(node.elts)


def _wanted_by_text(text: str) -> Iterator[tuple[str, str | None]]:
    """An entry of a registry, a program or the file of a tutorial."""
    if _NAMED.fullmatch(text):
        module, _, item = text.partition(":")
        yield module, item
    elif text.endswith(".py"):
        yield f"tutorials.{text.removesuffix('.py')}", None
    elif "import " in text:
        try:
            yield from _wanted(ast.parse(textwrap.dedent(text)), "")
        except SyntaxError:
            return


def _wanted_by_call(function: ast.expr, arguments: list[ast.expr]) -> Iterator[tuple[str, str]]:
    """Every module of the package in `import_module(f"package.{name}")`."""
    if ast.unparse(function).endswith("import_module") and arguments:
        match arguments[0]:
            case ast.JoinedStr(values=[ast.Constant(value=str(start)), *_]) if start[-1:] == ".":
                yield start[:-1], "*"


def _started(command: list[ast.expr]) -> Iterator[tuple[str, str]]:
    """What `python -m` runs, in a list of arguments."""
    words = [node.value if isinstance(node, ast.Constant) else None for node in command]
    for flag, name in pairwise(words):
        if flag == "-m" and isinstance(name, str):
            yield name, "__main__"


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])


def _counting(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all inside it that can change a figure."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not _is_silent(child):
            yield from _counting(child)


def _is_silent(node: ast.AST) -> bool:
    """Whether a statement is text alone, such as a docstring, or for type checkers."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return not node.orelse
    return False


def _canonical(node: object) -> str:
    """Code as text that does not depend on layout, nor on the version of Python.

    `ast.dump` prints empty fields in some versions and not in others.
    """
    if isinstance(node, list):
        return f"[{','.join(_canonical(item) for item in node if not _is_silent(item))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = [
        f"{name}={_canonical(value)}"
        for name, value in ast.iter_fields(node)
        if value not in (None, []) and name not in ("ctx", "kind", "type_comment")
    ]
    return f"{type(node).__name__}({','.join(fields)})"
