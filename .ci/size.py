"""Count lines of code in `src`: without blank lines, comments and docstrings.

`python .ci/size.py` prints the numbers of files and lines of each package and of all together.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "tradeoff"
_SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of_code(text: str) -> int:
    """Number of lines that hold code."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def main() -> None:
    """Print the size of each package and of all together."""
    files, lines = Counter[str](), Counter[str]()
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).parts
        for package in {parts[0] if len(parts) > 1 else ".", "all"}:
            files[package] += 1
            lines[package] += lines_of_code(path.read_text(encoding="utf-8"))
    for package in sorted(files, key=lambda name: (name == "all", name)):
        sys.stdout.write(
            f"{package:14} {files[package]:4} files {lines[package]:7,} lines of code\n"
        )


if __name__ == "__main__":
    main()
