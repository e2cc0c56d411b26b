"""Where a counted run keeps what it has done: a folder on disk, or one in object storage.

Object storage cannot append to a file or lock one. There, each record of the ledger is an object,
and the lock is a numbered object that only one run can create. Its content changes every few
seconds, so that the lock of a run that was killed can be told from that of one that works.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, unquote

from tradeoff._files import working_folder
from tradeoff._progress import step
from tradeoff._remote import Place, Remote, place_of
from tradeoff.counting.ledger import Ledger
from tradeoff.counting.plan import CountingPlan
from tradeoff.exceptions import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ObjectLedger", "Records", "load_plan", "open_ledger", "save_plan", "working_place"]

_BEAT = 5.0  # seconds between two changes of a lock
_PATIENCE = 4 * _BEAT  # after which the run of a lock that does not change is taken to be dead
_ENDED = b"ended"
_CHECK = 16
_PLAN = ("rule.npz", "plan.json")  # the last one makes it a plan


class Records(Protocol):
    """Results by name, which a run that goes on finds again."""

    def __contains__(self, name: str) -> bool: ...

    def __iter__(self) -> Iterator[str]: ...

    def add(self, name: str, content: bytes) -> None:
        """Keep a result, once; it is safe when this returns."""

    def values(self) -> Iterator[bytes]:
        """All results in the order of their names, one in memory at a time."""


@contextlib.contextmanager
def working_place(ledger: str | Path | None) -> Iterator[Place]:
    """The folder of a run, used by one run at a time; a temporary one if None.

    Args:
        ledger: Path or address of the folder.
    """
    place = None if ledger is None else place_of(ledger)
    if isinstance(place, Remote):
        with _locked(place):
            yield place
    else:
        with working_folder(place) as folder:
            yield folder


@contextlib.contextmanager
def open_ledger(place: Place, plan: str) -> Iterator[Records]:
    """The ledger of a folder.

    Args:
        place: Folder of the run.
        plan: Digest of what the results belong to.
    """
    if isinstance(place, Remote):
        yield ObjectLedger(place / "counts" / plan, plan=plan)
    else:
        with Ledger(place / "counts.ledger", plan=plan) as ledger:
            yield ledger


def save_plan(plan: CountingPlan, place: Place) -> None:
    """Keep the plan of a run in its folder."""
    if isinstance(place, Path):
        plan.save(place)
        return
    with tempfile.TemporaryDirectory() as folder:
        plan.save(folder)
        for name in _PLAN:
            (place / name).write(Path(folder, name).read_bytes())


def load_plan(place: Place) -> CountingPlan | None:
    """The plan that an earlier run kept in its folder, if there was one."""
    if not (place / _PLAN[-1]).exists():
        return None
    if isinstance(place, Path):
        return CountingPlan.load(place)
    with tempfile.TemporaryDirectory() as folder:
        for name in _PLAN:
            Path(folder, name).write_bytes((place / name).read_bytes())
        return CountingPlan.load(folder)


class ObjectLedger:
    """Results by name, each an object with a checksum, in a folder of object storage.

    Tasks are deterministic, so that two runs that write the same record write the same bytes: the
    first one stays. A damaged record is removed, and the next run computes it again.

    Args:
        folder: Folder of the records.
        plan: Digest of what the results belong to.

    Example:
        >>> from tradeoff._remote import Remote
        >>> from tradeoff.counting.workplace import ObjectLedger
        >>> ledger = ObjectLedger(Remote("memory://run/counts"), plan="a")
        >>> ledger.add("shard 1", b"...")
        >>> again = ObjectLedger(Remote("memory://run/counts"), plan="a")
        >>> "shard 1" in again, list(again.values())
        (True, [b'...'])
    """

    def __init__(self, folder: Remote, *, plan: str) -> None:
        self.folder = folder
        self._key = plan.encode()[:64]
        self._names = {unquote(name) for name in folder.names()}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def add(self, name: str, content: bytes) -> None:
        """Keep a result, once; it is in storage when this returns."""
        if name in self._names:
            raise InvalidInputError(f"`{name}` is in the ledger already.")
        with contextlib.suppress(FileExistsError):
            self._object(name).write(self._check(name, content) + content, new=True)
        self._names.add(name)

    def values(self) -> Iterator[bytes]:
        """All results in the order of their names, one in memory at a time."""
        for name in sorted(self._names):
            found = self._object(name).read_bytes()
            content = found[_CHECK:]
            if found[:_CHECK] != self._check(name, content):
                self._object(name).remove()
                raise UnavailableError(
                    f"`{self._object(name)}` is damaged, and was removed: run again, and its part "
                    "is counted again."
                )
            yield content

    def _object(self, name: str) -> Remote:
        return self.folder / quote(name, safe=" ")

    def _check(self, name: str, content: bytes) -> bytes:
        found = blake2b(name.encode(), digest_size=_CHECK, key=self._key)
        found.update(content)
        return found.digest()


@contextlib.contextmanager
def _locked(place: Remote) -> Iterator[None]:
    """Hold the lock of a folder in object storage; refuse it if a run that works holds it."""
    locks = place / "lock"
    numbers = sorted(int(name) for name in locks.names() if name.isdecimal())
    if numbers and not _is_free(locks / str(numbers[-1])):
        raise _in_use(place)
    own = locks / str(numbers[-1] + 1 if numbers else 1)
    try:
        own.write(b"0", new=True)
    except FileExistsError:
        raise _in_use(place) from None
    for number in numbers:
        with contextlib.suppress(FileNotFoundError):  # another run tidies up too
            (locks / str(number)).remove()
    ended = threading.Event()
    beating = threading.Thread(target=_beat, args=(own, ended), daemon=True)
    beating.start()
    try:
        yield
    finally:
        ended.set()
        beating.join()
        own.write(_ENDED)


def _beat(lock: Remote, ended: threading.Event) -> None:
    """Change a lock again and again."""
    number = 0
    while not ended.wait(_BEAT):
        number += 1
        with contextlib.suppress(UnavailableError, OSError):  # the run itself will say so
            lock.write(str(number).encode())


def _is_free(lock: Remote) -> bool:
    """Whether the run of a lock has ended, or is dead."""
    before = lock.read_bytes()
    if before == _ENDED:
        return True
    with step("waiting for an earlier run to end"):
        threading.Event().wait(_PATIENCE)
    after = lock.read_bytes() if lock.exists() else None
    return after in (before, _ENDED)


def _in_use(place: Remote) -> InvalidInputError:
    return InvalidInputError(
        f"`{place}` is in use by another run: wait until it ends, or choose another folder."
    )
