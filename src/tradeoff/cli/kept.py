"""What a command wrote, and what it left for later runs, named in its last lines."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import typer

from tradeoff._extras import import_extra
from tradeoff._files import local_path
from tradeoff._progress import columns_of
from tradeoff._text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Kept"]

_MOST_NAMES = 12
_SHARDS = ("*/*.parquet",)
_RECORDS = ("*.ledger", "plan.json", "features/*/*.parquet")


@dataclass
class Kept:
    """Files that a command wrote, and folders whose content later runs reuse.

    Args:
        store: Folder of features; None without one.
        ledger: Folder of what an interrupted run goes on from; None without one.
        written: Files, and folders with the names of the files in them.
    """

    store: Path | None = None
    ledger: Path | None = None
    written: list[str] = field(default_factory=list)
    _before: dict[Path, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, chosen: dict[str, Any], values: dict[str, Any]) -> Kept:
        """The folders that settings and options name, with what they hold before the work."""
        places = chosen.get("store"), values.get("ledger")
        store, ledger = (None if p is None else local_path(p) for p in places)
        return cls(store, ledger, _before=_files(store, _SHARDS) | _files(ledger, _RECORDS))

    def add(self, *files: Path | None) -> None:
        """Note files that have been written; None is none."""
        self.written += [str(file) for file in files if file is not None]

    def add_folder(self, folder: Path, files: Iterable[Path]) -> None:
        """Note those of the files in a folder that have been written."""
        names = [str(file.relative_to(folder)) for file in files if file.exists()]
        told = ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} files"
        self.written.append(f"{folder} ({told})")

    def tell(self) -> None:
        """Name on stderr what was written, if anything was."""
        parts = list(self.written)
        if self._fresh(self.store, _SHARDS):
            parts.append(f"{self.store} (features)")
        if self._fresh(self.ledger, _RECORDS):
            parts.append(f"{self.ledger} (ledger)")
        if parts:
            typer.echo(_fitted(f"Written: {', '.join(parts)}"), err=True)

    def tell_interrupted(self) -> None:
        """Say on stderr what is left of the work, and what the next run reuses."""
        said = []
        if self.written:
            said.append(f"Written before: {', '.join(self.written)}.")
        new = self._new_samples()
        if new:
            said.append(
                f"Features of {new:,} samples were kept: the next run with --store {self.store} "
                "reuses them."
            )
        if self._fresh(self.ledger, _RECORDS):
            said.append(
                f"Finished parts were kept: the same command with --ledger {self.ledger} goes on "
                "from them."
            )
        if not said:
            said.append("Nothing was kept.")
            if self.store is None and self.ledger is None:
                said.append("Use --store DIR to keep features for the next run.")
        typer.echo(_fitted(f"interrupted. {' '.join(said)}"), err=True)

    def _fresh(self, place: Path | None, patterns: tuple[str, ...]) -> list[Path]:
        """Files in a folder that are new or have changed."""
        found = _files(place, patterns)
        return [file for file, state in found.items() if self._before.get(file) != state]

    def _new_samples(self) -> int:
        """Number of samples with new features, in each view, which has a folder of its own."""
        shards = self._fresh(self.store, _SHARDS)
        if not shards:
            return 0
        parquet = import_extra("pyarrow.parquet", extra="images", purpose="A feature store")
        rows = Counter[Path]()
        for shard in shards:
            rows[shard.parent] += int(parquet.read_metadata(shard).num_rows)
        return min(rows.values())


def _fitted(text: str) -> str:
    """Text for stderr, whose lines break between words if it is a terminal."""
    if not sys.stderr.isatty():
        return printable(text)
    return fill(
        printable(text),
        max(20, columns_of(sys.stderr)),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _files(folder: Path | None, patterns: tuple[str, ...]) -> dict[Path, tuple[int, int]]:
    """Files in a folder, each with its size and time."""
    files = [] if folder is None else [f for pattern in patterns for f in folder.glob(pattern)]
    states = {file: file.stat() for file in files}
    return {file: (state.st_size, state.st_mtime_ns) for file, state in states.items()}
