"""Which records were measured with other code than that of this checkout?

`make stale` lists them, and benchmarks without a record. `python -m benchmarks.stale --readme` puts
a mark after every stale figure of the README, and removes it from the others.
"""

from __future__ import annotations

import argparse
import json
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any

from benchmarks import RELEASE
from benchmarks.code_hash import ROOT, Code
from benchmarks.harness import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["MARK", "MEANING", "is_stale", "listing", "stale_cases"]

MARK = "†"
MEANING = "measured with an earlier version of the code"


def stale_cases(record: Mapping[str, Any]) -> set[str]:
    """Cases of a record that were measured with other code; one without a hash is none of them."""
    hashes = {row["case"]: row["code"] for row in record["rows"] if "code" in row}
    return {case for case, code in hashes.items() if code != code_now(record["name"])}


def is_stale(source: str) -> bool:
    """Whether a figure is stale, `record > case > column`, or any row of a record, `record`.

    A case with a star stands for several rows.
    """
    name, *of = source.split(" > ")
    stale = stale_cases(json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")))
    return any(fnmatchcase(case, of[0]) for case in stale) if of else bool(stale)


def listing(records: Iterable[Mapping[str, Any]], benchmarks: Iterable[str] = ()) -> str:
    """Stale records with their stale rows, then records without a hash, and what has no record.

    Args:
        records: The records.
        benchmarks: Names of all benchmarks.
    """
    stale, without, records = [], [], list(records)
    for record in records:
        rows, cases = record["rows"], stale_cases(record)
        kind = "release benchmark" if record["name"] in RELEASE else "dated note"
        about = f"  {record['name']} ({kind}, {record['date']})"
        if not any("code" in row for row in rows):
            without.append(about)
        elif cases:
            stale.append(f"{about}: {len(cases)} of {len(rows)} rows")
            if len(cases) < len(rows):
                stale += [f"    {row['case']}" for row in rows if row["case"] in cases]
    lines = [f"stale: {MEANING}", *stale] if stale else ["No record that has a hash is stale."]
    if without:
        lines += ["no hash: measured before hashes were kept", *without]
    if unmeasured := sorted({*benchmarks} - {record["name"] for record in records}):
        lines += ["no record: not measured at full size", *(f"  {name}" for name in unmeasured)]
    return "\n".join(lines)


@cache
def code_now(name: str) -> str:
    """Hash of the code that a record depends on now."""
    return _checkout().of_benchmark(name)


@cache
def _checkout() -> Code:
    return Code()


def main() -> None:
    """List stale records, or mark stale figures of the README."""
    parser = argparse.ArgumentParser(description="List records that other code measured.")
    parser.add_argument("--readme", action="store_true", help="mark stale figures of the README")
    if not parser.parse_args().readme:
        records = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("[!.]*.json"))]
        names = [path.stem.removeprefix("bench_") for path in RESULTS.parent.glob("bench_*.py")]
        print(listing(records, names))
        return
    from benchmarks.readme import mark_figures

    readme = ROOT / "README.md"
    readme.write_text(mark_figures(readme.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
