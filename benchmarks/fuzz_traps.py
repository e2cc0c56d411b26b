"""Readers that each do one forbidden thing, to test that the judge detects it.

A trap reads its intact file without harm, so that the worker accepts it as valid.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import socket
import subprocess
import time
from fractions import Fraction
from typing import TYPE_CHECKING

from benchmarks.fuzz_actions import VALUE, SilentError
from benchmarks.fuzz_corpus import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["TRAPS"]

_INTACT = b"intact"


def _raise(_: Path) -> None:
    raise ZeroDivisionError("on purpose")


def _be_silent(_: Path) -> None:
    raise SilentError("on purpose")


def _hang(_: Path) -> None:
    time.sleep(3600)


def _crash(_: Path) -> None:
    ctypes.string_at(0)


def _leave(_: Path) -> None:
    os._exit(3)


def _start_process(_: Path) -> None:
    subprocess.run(["true"], check=True)


def _connect(_: Path) -> None:
    with socket.socket() as one:
        one.connect_ex(("127.0.0.1", 9))


def _unpickle(_: Path) -> None:
    pickle.loads(pickle.dumps(Fraction(1, 2)))


def _run_code(folder: Path) -> None:
    exec(compile("1 + 1", str(folder / "code.py"), "exec"))


def _read_outside(folder: Path) -> None:
    (folder.parent / "canary.png").read_bytes()


def _write_outside(folder: Path) -> None:
    (folder.parents[1] / "fuzz-trap").write_bytes(b"")
    (folder.parents[1] / "fuzz-trap").unlink()


def _take_memory(_: Path) -> None:
    bytearray(8 << 30)


def _trap(action: Callable[[Path], None]) -> Kind:
    def act(folder: Path) -> str:
        path = folder / "file"
        if not path.is_file() or path.read_bytes() != _INTACT:
            action(folder)
        return VALUE

    return Kind(lambda: {"file": _INTACT}, act, specials=False)


# Keys are the expected outcomes, except that exceeding the memory limit is a traceback.
TRAPS: dict[str, Kind] = {
    "traceback": _trap(_raise),
    "silent change": _trap(_be_silent),
    "hang": _trap(_hang),
    "crash by SIGSEGV": _trap(_crash),
    "exit with 3": _trap(_leave),
    "child process": _trap(_start_process),
    "connection": _trap(_connect),
    "unpickled": _trap(_unpickle),
    "code of the file was run": _trap(_run_code),
    "read outside": _trap(_read_outside),
    "written outside": _trap(_write_outside),
    "memory": _trap(_take_memory),
}
