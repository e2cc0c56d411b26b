"""Runs the cases of a benchmark one by one, resumes after an interruption, writes the figures."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tradeoff._progress import track
from tradeoff.provenance import software_versions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]


@dataclass(frozen=True)
class Summary:
    """A case that is computed from the rows before it."""

    of: Callable[[dict[str, Row]], Row]


def run(
    name: str,
    title: str,
    cases: Mapping[str, Callable[[], Row] | Summary],
    *,
    results: Path = RESULTS,
    progress: bool = True,
) -> dict[str, Any]:
    """Run every case that an interrupted run of the same code and versions has not finished.

    With uncommitted changes a run starts anew. What it has finished is in `results/unfinished`,
    which can be committed for a run that goes on elsewhere.

    Args:
        name: of the file that is written, `NAME.json`.
        title: one line on what is measured.
        cases: functions by name, or summaries; each returns the figures of its row. A row with a
            `ratio` and a `bar` is asserted by the tests: the ratio must not exceed the bar.
        results: folder of the files.
        progress: False silences the progress line.
    """
    partial = results / "unfinished" / f"{name}.json"
    about = {
        "name": name,
        "title": title,
        "commit": _commit(),
        "machine": _machine(),
        "versions": software_versions(),
    }
    rows = _unfinished(partial, about)
    for case in track([case for case in cases if case not in rows], name, progress=progress):
        make = cases[case]
        rows[case] = make.of(rows) if isinstance(make, Summary) else make()
        write(partial, about | {"rows": rows})
    table = [{"case": case} | rows[case] for case in cases]
    record = about | {"rows": table}
    write(results / f"{name}.json", record)
    partial.unlink(missing_ok=True)
    print(render(record))
    return record


def render(record: Mapping[str, Any]) -> str:
    """The rows of a record as a Markdown table."""
    columns = list(dict.fromkeys(key for row in record["rows"] for key in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in record["rows"]]
    lines = (columns, ["---"] * len(columns), *cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _unfinished(partial: Path, about: Row) -> dict[str, Row]:
    if not partial.exists() or about["commit"].endswith(("dirty", "unknown")):
        return {}
    left = json.loads(partial.read_text())
    alike = all(left.get(key) == about[key] for key in about.keys() - {"commit"})
    return left["rows"] if alike and _is_same_code(left["commit"], about["commit"]) else {}


def _is_same_code(before: str, now: str) -> bool:
    """Whether neither the package nor an imported benchmark, example or known truth has changed."""
    if before == now:
        return True
    files = (getattr(module, "__file__", None) for module in sys.modules.values())
    outside = [RESULTS.parents[1] / name for name in ("benchmarks", "examples", "tests/known")]
    imported = [file for file in files if file and any(map(Path(file).is_relative_to, outside))]
    return _git("diff", "--quiet", before, now, "--", ":/src", *imported).returncode == 0


def write(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record; an interruption leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps(record, indent=2) + "\n")
    fresh.replace(path)


def _commit() -> str:
    """The commit; "-dirty" with changes to anything but records, which a run makes itself."""
    commit = _git("describe", "--always", "--abbrev=12").stdout.strip()
    but_records = (":/", ":(exclude,top)benchmarks/results")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", *but_records).stdout
    return f"{commit}{'-dirty' if changed else ''}" if commit else "unknown"


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["git", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=RESULTS.parent)


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
