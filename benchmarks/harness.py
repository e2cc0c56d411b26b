"""Runs the cases of a benchmark one by one, resumes after an interruption, writes the figures."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.code_hash import code_of
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
    """Run every case that an interrupted run with the same versions has not finished.

    Every row carries a hash of the code that it depends on, `code`. Rows of other code are run
    again. What a run has finished is in `results/unfinished`, which can be committed for a run that
    goes on elsewhere.

    Args:
        name: of the file that is written, `NAME.json`, and of the benchmark, `bench_NAME.py`.
        title: one line on what is measured.
        cases: functions by name, or summaries; each returns the figures of its row. A row with a
            `ratio` and a `bar` in a release benchmark is asserted by the tests: the ratio must not
            exceed the bar.
        results: folder of the files.
        progress: False silences the progress line.
    """
    partial = results / "unfinished" / f"{name}.json"
    about = {
        "name": name,
        "title": title,
        "commit": _commit(),
        "date": date.today().isoformat(),
        "machine": _machine(),
        "versions": software_versions(),
    }
    code = {"code": code_of(name)}
    rows = _unfinished(partial, about, code["code"])
    for case in track([case for case in cases if case not in rows], name, progress=progress):
        make = cases[case]
        rows[case] = make.of(rows) if isinstance(make, Summary) else make()
        write(partial, about | {"rows": {case: row | code for case, row in rows.items()}})
    table = [{"case": case} | rows[case] | code for case in cases]
    record = about | {"rows": table}
    write(results / f"{name}.json", record)
    partial.unlink(missing_ok=True)
    print(render(record))
    return record


def render(record: Mapping[str, Any]) -> str:
    """The rows of a record as a Markdown table, without the hashes of their code."""
    columns = list(dict.fromkeys(key for row in record["rows"] for key in row if key != "code"))
    cells = [[_cell(row.get(column)) for column in columns] for row in record["rows"]]
    lines = (columns, ["---"] * len(columns), *cells)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _unfinished(partial: Path, about: Row, code: str) -> dict[str, Row]:
    """Rows of an interrupted run that the same code made, without their hash."""
    if not partial.exists():
        return {}
    left = json.loads(partial.read_text())
    if any(left.get(key) != about[key] for key in about.keys() - {"commit", "date"}):
        return {}
    return {case: row for case, row in left["rows"].items() if row.pop("code", None) == code}


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
