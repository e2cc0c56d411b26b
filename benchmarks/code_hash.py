"""A hash of the code that a figure depends on.

It covers the module of a benchmark and every *definition* of the repository that it reaches: the
top-level functions, classes and constants whose names the reached code uses, also by imports inside
functions, by the registries' names `package.module:name`, by programs that are started with `-m` or
from text, and by scripts of `docs/tutorials`. Statements that define nothing, such as a call at the
end of a module, count with any definition of their module. A new function or constant that no
measured code uses changes no hash. Imports for type checkers and annotations are not followed.
Comments, docstrings and layout change no figure and do not count, nor do files that are not Python.
"""

from __future__ import annotations

import ast
import hashlib
import re
import textwrap
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Code", "Piece", "code_of"]

ROOT = Path(__file__).parents[1]

SOURCES = {
    "tradeoff": "src/tradeoff",
    "benchmarks": "benchmarks",
    "examples": "examples",
    "tests": "tests",
    "tutorials": "docs/tutorials",
}
"""Top-level names, and the folders where they are."""

NOT_MEASURED = frozenset(
    {"benchmarks.harness", "benchmarks.code_hash", "tradeoff._progress", "tradeoff._version"}
)
"""Modules that run cases, write rows or show progress, but compute no figures."""

_NAMED = re.compile(r"([a-z_]\w*(?:\.\w+)+):(\w+)")
_DIGITS = 12


class Piece(NamedTuple):
    """A definition of a module by its name, or all of the module if the name is None."""

    module: str
    name: str | None


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
        self._modules: dict[str, _Module] = {}

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
        lines = [
            f"{piece.module}:{piece.name} {self._module(piece.module).hash_of(piece.name)}"
            for piece in sorted(self.dependencies(module), key=str)
        ]
        return _digest("\n".join(lines))[:_DIGITS]

    def dependencies(self, module: str) -> set[Piece]:
        """A module, and the definitions that it reaches."""
        found, waiting = set[Piece](), [Piece(module, None)]
        while waiting:
            piece = waiting.pop()
            if piece not in found and piece.module not in NOT_MEASURED:
                found.add(piece)
                for statement in self._module(piece.module).statements(piece.name):
                    waiting += self._used(statement, piece.module)
        return found

    def _module(self, name: str) -> _Module:
        if name not in self._modules:
            path = self.files[name]
            package = name if path.stem == "__init__" else name.rpartition(".")[0]
            self._modules[name] = _Module(ast.parse(path.read_text(encoding="utf-8")), package)
        return self._modules[name]

    def _used(self, statement: ast.AST, module: str) -> Iterator[Piece]:
        """What the code of a statement names."""
        own = self._module(module)
        for node in _followed(statement):
            if isinstance(node, ast.Name | ast.Attribute):
                yield from self._called(_dotted(node), module)
            elif isinstance(node, ast.Import | ast.ImportFrom) and node not in own.imports:
                for name, item in _imported(node, own.package).values():
                    yield from self._places(name, item)
            else:
                for name, item in _named(node):
                    yield from self._places(name, item)

    def _called(self, path: list[str], module: str) -> Iterator[Piece]:
        """A name or a chain of attributes, `policy.MARGIN`, in the code of a module."""
        own = self._module(module)
        if not path or path[0] not in own.defined:
            return
        if path[0] not in own.imported:
            yield Piece(module, path[0])
            return
        name, item = own.imported[path[0]]
        parts = [name, *([item] if item else []), *path[1:]]
        while len(parts) > 1 and f"{parts[0]}.{parts[1]}" in self.files:
            parts[:2] = [f"{parts[0]}.{parts[1]}"]
        yield from self._places(parts[0], parts[1] if len(parts) > 1 else None)

    def _places(self, module: str, item: str | None) -> Iterator[Piece]:
        """Where something is defined: modules that only hand on a name are looked through."""
        if item and f"{module}.{item}" in self.files:
            yield Piece(f"{module}.{item}", None)
        elif item == "*":
            yield from (Piece(one, None) for one in self.files if one.startswith(f"{module}."))
        elif module in self.files:
            found = self._module(module)
            if item in found.imported:
                name, original = found.imported[item]
                yield from self._places(name, original)
            else:
                yield Piece(module, item if item in found.defined else None)


class _Module:
    """The top-level statements of a module, by the names that they define."""

    def __init__(self, tree: ast.Module, package: str) -> None:
        self.package = package
        self.body = [node for node in tree.body if not _is_silent(node)]
        self.imports = {n for n in self.body if isinstance(n, ast.Import | ast.ImportFrom)}
        self.imported: dict[str, tuple[str, str | None]] = {}
        for node in self.imports:
            self.imported |= _imported(node, package)
        self.names = {node: set(_defined(node)) for node in self.body if node not in self.imports}
        self.defined = {*self.imported, *(name for names in self.names.values() for name in names)}

    def statements(self, name: str | None) -> list[ast.stmt]:
        """Statements that define a name, and those that define none; all if there is no name."""
        if name is None:
            return self.body
        return [
            node
            for node, names in self.names.items()
            if name in names or (not names and not _is_main(node))
        ]

    def hash_of(self, name: str | None) -> str:
        """Hash of the statements behind a name."""
        return _digest(_canonical(self.statements(name)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _defined(node: ast.stmt) -> Iterator[str]:
    """Names that a top-level statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.TypeAlias if hasattr(ast, "TypeAlias") else ()):
        yield node.name.id
    elif isinstance(node, ast.If | ast.Try | ast.With):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt):
                yield from _defined(child)
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            yield from (_dotted(one)[0] for one in _leaves(target) if _dotted(one))


def _leaves(target: ast.expr) -> Iterator[ast.expr]:
    """Targets of an assignment; what is assigned to a part of an object belongs to that object."""
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _leaves(one)
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _leaves(target.value)
    else:
        yield target


def _imported(node: ast.Import | ast.ImportFrom, package: str) -> dict[str, Any]:
    """Names that an import binds, each with the module and what is taken from it."""
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: (
                alias.name if alias.asname else alias.name.partition(".")[0],
                None,
            )
            for alias in node.names
        }
    module = _absolute(node, package)
    return {alias.asname or alias.name: (module, alias.name) for alias in node.names}


def _dotted(node: ast.expr) -> list[str]:
    """The parts of `a.b.c`; empty if it does not begin with a name."""
    if isinstance(node, ast.Name):
        return [node.id]
    first = _dotted(node.value) if isinstance(node, ast.Attribute) else []
    return [*first, node.attr] if first else []


def _named(node: ast.AST) -> Iterator[tuple[str, str | None]]:
    """Modules that code names otherwise than by imports, each with what is taken from it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _named_by_text(node.value)
    elif isinstance(node, ast.Call):
        yield from _named_by_call(node.func, node.args)
        yield from _started(node.args)
    elif isinstance(node, ast.List | ast.Tuple):
        yield from _started(node.elts)


def _named_by_text(text: str) -> Iterator[tuple[str, str | None]]:
    """An entry of a registry, a program or the file of a tutorial."""
    if found := _NAMED.fullmatch(text):
        yield found[1], found[2]
    elif text.endswith(".py"):
        yield f"tutorials.{text.removesuffix('.py')}", None
    elif "import " in text:
        try:
            tree = ast.parse(textwrap.dedent(text))
        except SyntaxError:
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                yield from _imported(node, "").values()


def _named_by_call(function: ast.expr, arguments: list[ast.expr]) -> Iterator[tuple[str, str]]:
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


def _followed(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all inside it that can change a figure, the longest chains of attributes first."""
    yield node
    if isinstance(node, ast.Attribute) and _dotted(node):
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _is_silent(child):
                    yield from _followed(child)


def _is_main(node: ast.stmt) -> bool:
    """Whether a statement is what a module does as a program."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _is_silent(node: ast.AST) -> bool:
    """Whether a statement is text alone, such as a docstring, or for type checkers."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
            return not node.orelse
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
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
