"""Fuzzing of the readers: reading a damaged file must return a value, a broken item or a sentence.

`python -m benchmarks.fuzz KIND SEED` damages one file, reads it, and prints the outcome. Files are
read in a worker process with a time limit and a memory limit, so that a crash or a hang is
attributed to its seed. The worker reports child processes, network connections, unpickled objects,
and reads and writes outside the folder of the data set.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from benchmarks.fuzz_corpus import Kind
    from benchmarks.fuzz_damage import Files

__all__ = ["FINE", "Outcome", "Worker", "tally"]

FINE = ("value", "broken item", "sentence")
SECONDS = 30.0  # the largest images that are accepted take some seconds, more on a busy machine
GIGABYTES = 3
ROOT = Path(__file__).parents[1]

_PROCESSES = {
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty"),
    *("os.spawn", "os.startfile", "pty.spawn"),
}
_CONNECTIONS = {"socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"}
_CHANGES = {
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.symlink", "os.link"),
    *("os.truncate", "os.chmod", "shutil.rmtree"),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "MALLOC_ARENA_MAX": "2",  # arenas of threads would count against the memory limit
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LOKY_MAX_CPU_COUNT"), "1"),
}


@dataclass(frozen=True)
class Outcome:
    """The outcome of reading one damaged file.

    Args:
        kind: Kind of file, a key of `KINDS`.
        seed: Seed of the damage.
        name: "value", "broken item" or "sentence"; anything else is a failure.
        detail: Message of the sentence, or location of the failure.
        seconds: Duration of the reading.
        megabytes: Peak memory of the worker during the reading.
    """

    kind: str
    seed: int
    name: str
    detail: str = ""
    seconds: float = 0.0
    megabytes: int = 0

    @property
    def is_fine(self) -> bool:
        """Whether the outcome is one of the three allowed ones."""
        return self.name in FINE


class Worker:
    """A process that reads damaged files, restarted whenever a file kills it.

    Args:
        seconds: Time limit of one reading, after which it counts as a hang.

    Example:
        >>> from benchmarks.fuzz import Worker
        >>> with Worker() as worker:
        ...     worker.judge("png", 0).is_fine
        True
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds

    def __enter__(self) -> Worker:
        self._folder = tempfile.TemporaryDirectory(prefix="fuzz-")
        self._process: subprocess.Popen[str] | None = None
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self._folder.cleanup()

    def judge(self, kind: str, seed: int) -> Outcome:
        """Outcome of reading the files of a kind with the damage of a seed."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps([kind, seed]), file=process.stdin, flush=True)
        if line := process.stdout.readline():
            return Outcome(**json.loads(line))
        return self._autopsy(kind, seed, process)

    def _start(self) -> subprocess.Popen[str]:
        folder = Path(self._folder.name)
        for name in ("home", "temporary"):
            (folder / name).mkdir(exist_ok=True)
        places = {"HOME": "home", "HF_HOME": "home", "TMPDIR": "temporary"}
        self._errors = (folder / "stderr").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fuzz", "--work", str(folder), str(self.seconds)],
            cwd=ROOT,
            env=os.environ | _ENVIRONMENT | {k: str(folder / v) for k, v in places.items()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    if pipe is not None:
                        pipe.close()
            self._process.wait()
            self._errors.close()
            self._process = None

    def _autopsy(self, kind: str, seed: int, process: subprocess.Popen[str]) -> Outcome:
        """Outcome for a seed that ended the worker, from its exit code and its last traceback."""
        code = process.wait()
        self._stop()
        last = (Path(self._folder.name) / "stderr").read_text(errors="replace")[-20_000:]
        if "Timeout (" in last:
            name = "hang"
        else:
            name = f"crash by {signal.Signals(-code).name}" if code < 0 else f"exit with {code}"
        frames = [line.strip() for line in last.splitlines() if "tradeoff/" in line]
        lines = last.strip().splitlines()
        detail = frames[0] if frames else lines[-1] if lines else ""
        return Outcome(kind, seed, name, detail, self.seconds if name == "hang" else 0.0)


def tally(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Number of outcomes of each name, the extremes of time and memory, and up to 20 failures."""
    every = list(outcomes)
    counts = Counter(outcome.name for outcome in every)
    failures = [outcome for outcome in every if not outcome.is_fine]
    return {
        "mutations": len(every),
        **{name: counts[name] for name in FINE},
        "failures": len(failures),
        "slowest in seconds": round(max(outcome.seconds for outcome in every), 2),
        "peak in MB": max(outcome.megabytes for outcome in every),
        "found": [f"seed {f.seed}: {f.name}, {f.detail}" for f in failures[:20]],
    }


def damaged_files(kind: str, seed: int) -> Files:
    """Files of a kind with the damage of a seed, contents by name."""
    from benchmarks.fuzz_corpus import donors
    from benchmarks.fuzz_damage import damage, flip_bit

    chosen = _find(kind)
    rng = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    if chosen.bits_only:
        return flip_bit(chosen.parts(), rng)
    if rng.random() < 0.5:
        return chosen.pack(damage(chosen.parts(), donors(), rng, specials=False))
    files = chosen.pack(chosen.parts())
    return damage(files, donors(), rng, specials=chosen.specials)


def write_files(files: Files, folder: Path) -> None:
    """Replace the contents of a folder; files whose names lead out of it are not written."""
    from benchmarks.fuzz_damage import FIFO, LINK

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in files.items():
        path = Path(os.path.normpath(folder / name))
        if folder not in path.parents:
            continue
        with contextlib.suppress(OSError, ValueError):  # names that the file system refuses
            path.parent.mkdir(parents=True, exist_ok=True)
            if content == FIFO:
                os.mkfifo(path)
            elif content.startswith(LINK):
                path.symlink_to(content.removeprefix(LINK).decode(errors="replace"))
            else:
                path.write_bytes(content)


class Watch:
    """Records forbidden actions of a reader through an audit hook.

    Args:
        root: Folder in which files may be written. It contains the folder of the data set and,
            next to it, a file that must not be read.
    """

    def __init__(self, root: Path) -> None:
        self.root, self.data = root, root / "data"
        self.armed, self.seen = False, list[str]()
        self.canary = root / "canary.png"
        self.canary.write_bytes(b"not for reading")
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.armed:
            return
        if event in _PROCESSES:
            self.seen.append(f"child process, {event} {arguments[0]!r}")
        elif event in _CONNECTIONS:
            self.seen.append(f"connection, {event}")
        elif event == "pickle.find_class":
            self.seen.append(f"unpickled, {arguments}")
        elif event == "exec" and self._is_inside(getattr(arguments[0], "co_filename", "")):
            self.seen.append(f"code of the file was run, {arguments[0].co_filename}")
        elif event in _CHANGES and not self._is_inside(arguments[0]):
            self.seen.append(f"change outside, {event} {arguments[0]!r}")
        elif event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
            self._note_open(os.fsdecode(arguments[0]), arguments[2])

    def _note_open(self, name: str, flags: int) -> None:
        path = os.path.realpath(name)
        if flags & _WRITING and not self._is_inside(path) and not path.startswith("/dev/"):
            self.seen.append(f"written outside, {path}")
        if path in (str(self.canary), "/etc/passwd", "/dev/zero"):
            self.seen.append(f"read outside, {path}")

    def _is_inside(self, name: Any) -> bool:
        if not isinstance(name, (str, bytes, os.PathLike)):
            return True  # a descriptor, opened before
        return self.root in Path(os.path.realpath(os.fsdecode(name))).parents

    @contextlib.contextmanager
    def watching(self) -> Iterator[list[str]]:
        """Actions that are recorded while the context is open."""
        self.seen, self.armed = [], True
        try:
            yield self.seen
        finally:
            self.armed = False


def judge(kind: str, seed: int, watch: Watch, seconds: float) -> Outcome:
    """Outcome of reading damaged files in this process."""
    write_files(damaged_files(kind, seed), watch.data)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak memory
    begun = time.perf_counter()
    with watch.watching() as seen:
        name, detail = _ending(_find(kind), watch.data, seconds)
    if seen:
        name, _, detail = seen[0].partition(", ")
    taken = round(time.perf_counter() - begun, 3)
    return Outcome(kind, seed, name, detail, taken, _peak_megabytes())


def _find(kind: str) -> Kind:
    from benchmarks.fuzz_corpus import KINDS
    from benchmarks.fuzz_traps import TRAPS

    return (KINDS | TRAPS)[kind]


def _ending(kind: Kind, folder: Path, seconds: float) -> tuple[str, str]:
    """Name and detail of the outcome of reading a folder; a hang ends the process."""
    from benchmarks.fuzz_actions import SilentError
    from tradeoff.exceptions import TradeoffError

    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        return kind.act(folder), ""
    except SilentError as error:
        return "silent change", str(error)
    except TradeoffError as error:
        return "sentence", str(error)[:300]
    except BaseException as error:  # panics of Rust libraries are no `Exception`
        return "traceback", _place(error)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _place(error: BaseException) -> str:
    """Innermost line of tradeoff in the traceback, with the type and message of the error."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if "/tradeoff/" in f.filename]
    frame = (ours or frames)[-1]
    file = frame.filename.rpartition("/tradeoff/")[2]
    first = (str(error).splitlines() or [""])[0][:160]
    return f"{file}:{frame.lineno} {frame.name}: {type(error).__name__}: {first}"


def work(folder: Path, seconds: float, orders: TextIO, replies: TextIO) -> None:
    """Answer each order, a line of JSON with kind and seed, with a line of JSON."""
    warnings.simplefilter("ignore")
    faulthandler.enable()
    watch = Watch(folder.resolve())
    limit = _virtual_bytes() + GIGABYTES * (1 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    begun: dict[str, tuple[str, str]] = {}
    for line in orders:
        kind, seed = json.loads(line)
        if kind not in begun:  # the first reading is slower, since it imports libraries
            valid = _find(kind)
            write_files(valid.pack(valid.parts()), watch.data)
            begun[kind] = _ending(valid, watch.data, 60 + seconds)
        if begun[kind] == ("value", ""):
            outcome = judge(kind, seed, watch, seconds)
        else:
            outcome = Outcome(kind, seed, "valid file not read", ": ".join(begun[kind]))
        print(json.dumps(asdict(outcome)), file=replies, flush=True)


def _virtual_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[0]
    return int(pages) * resource.getpagesize()


def _peak_megabytes() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def _main(arguments: list[str]) -> None:
    if arguments[0] == "--work":
        # Libraries may print to standard output, so replies use a copy that they do not know.
        replies = os.fdopen(os.dup(1), "w")
        os.dup2(2, 1)
        work(Path(arguments[1]), float(arguments[2]), sys.stdin, replies)
        return
    with Worker() as worker:
        print(worker.judge(arguments[0], int(arguments[1])))


if __name__ == "__main__":
    _main(sys.argv[1:])
