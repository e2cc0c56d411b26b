"""One task for each part of the data: on this machine, or on a Ray cluster.

An engine takes a function, something that all calls share, and items; it gives back the results in
the order in which they are ready. What a task raises about its data comes back as a `Failure`.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections import deque
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import joblib
from threadpoolctl import threadpool_limits

from tradeoff._extras import import_extra
from tradeoff._validation import check_count
from tradeoff.exceptions import (
    InvalidInputError,
    UnavailableError,
    UnreadableError,
    first_line,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Task = Callable[[Any, Any], Any]
    Results = Iterator[tuple[int, Any]]

__all__ = ["Background", "Engine", "Failure", "Given", "LocalEngine", "RayEngine", "open_engine"]

_TRIES = 3
_AHEAD = 2  # tasks that wait for each worker
_OBJECT_STORE = 500_000_000
_WATCH_SECONDS = 1.0
_NICENESS = 19


@dataclass(frozen=True)
class Failure:
    """Why a task has no result.

    Args:
        sentence: What went wrong.
        lies_outside: Whether the cause is not the data but a server or a network, so that the same
            task may work later.
    """

    sentence: str
    lies_outside: bool = False


class Engine(Protocol):
    """Where tasks run."""

    def run(self, task: Task, shared: Any, items: Sequence[Any], *, stays: bool = False) -> Results:
        """Numbers of items and their results, or failures, as they come.

        Args:
            task: Function of what is shared and of an item.
            shared: What all calls share.
            items: What each call is about.
            stays: Whether workers keep what is shared, which is slow to load, between calls.
        """


def _attempt(task: Task, shared: Any, item: Any) -> Any:
    """A result, or what is wrong with the data; products round the same on any worker."""
    try:
        with threadpool_limits(1):
            return task(shared, item)
    except (UnreadableError, InvalidInputError) as error:
        return Failure(str(error))
    except UnavailableError as error:
        return Failure(str(error), lies_outside=True)


_shared: Any = None


def _start_worker(shared: Any, parent: int) -> None:
    """Keep what is shared, and end with the process that started this one, however that ends."""
    global _shared
    _shared = shared

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    if os.name == "posix":
        threading.Thread(target=watch, daemon=True).start()


def _start_quietly(shared: Path, parent: int) -> None:
    """The same for a worker that leaves the processor to others, and reads a file of its parent."""
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # fits start no processes of their own
    _start_worker(pickle.loads(shared.read_bytes()), parent)
    if os.name == "posix":
        os.nice(_NICENESS)


def _with_shared(task: Task, item: Any) -> Any:
    return _attempt(task, _shared, item)


@dataclass(frozen=True)
class LocalEngine:
    """Processes on this machine.

    Args:
        workers: Number of processes; as many as cores if None. One works in this process.

    Example:
        >>> from tradeoff.engines import LocalEngine
        >>> sorted(LocalEngine(workers=1).run(lambda shared, item: shared + item, 10, [1, 2]))
        [(0, 11), (1, 12)]
    """

    workers: int | None = None

    def run(self, task: Task, shared: Any, items: Sequence[Any], *, stays: bool = False) -> Results:
        """Results as they come; an item whose worker died is tried again, three times in all."""
        workers = (
            joblib.cpu_count() if self.workers is None else check_count("workers", self.workers)
        )
        if workers == 1:
            yield from ((i, _attempt(task, shared, item)) for i, item in enumerate(items))
            return
        tries = [0] * len(items)
        todo = deque(range(len(items)))
        while todo:
            yield from self._until_broken(task, shared, items, todo, tries, workers)

    def _until_broken(
        self,
        task: Task,
        shared: Any,
        items: Sequence[Any],
        todo: deque[int],
        tries: list[int],
        workers: int,
    ) -> Results:
        """Run what is to do until a worker dies; its items are put back, or given up."""
        from joblib.externals.loky import ProcessPoolExecutor

        pending: dict[Any, int] = {}
        pool = ProcessPoolExecutor(
            workers, initializer=_start_worker, initargs=(shared, os.getpid())
        )
        with _ending(pool):
            while todo or pending:
                try:
                    # An item that was running when a worker died runs alone, to find the culprit.
                    while todo and len(pending) < (1 if tries[todo[0]] else _AHEAD * workers):
                        pending[pool.submit(_with_shared, task, items[todo[0]])] = todo[0]
                        todo.popleft()
                    for done in wait(pending, return_when=FIRST_COMPLETED).done:
                        result = done.result()
                        yield pending.pop(done), result
                except BrokenProcessPool:
                    break
        for i in sorted(pending.values(), reverse=True):
            tries[i] += 1
            if tries[i] < _TRIES:
                todo.appendleft(i)
            else:
                yield i, Failure(f"its worker died {_TRIES} times, perhaps for lack of memory.")


class Background:
    """Processes that run tasks while this one goes on, at a low priority and on one thread each.

    A task whose worker died is a `Failure`, and the next one gets another worker.

    Args:
        shared: What all tasks share; it is sent to each worker once.
        workers: Number of processes; 0 runs each task at once in this process.

    Example:
        >>> from tradeoff.engines import Background
        >>> background = Background(10, workers=0)
        >>> background.give(lambda shared, item: shared + item, 1)()
        11
    """

    def __init__(self, shared: Any, *, workers: int) -> None:
        self.shared, self.workers = shared, workers
        self._pool: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def give(self, task: Task, item: Any) -> Given:
        """Run a task as soon as a worker is free."""
        if self.workers == 0:
            return Given.now(_attempt(task, self.shared, item))
        try:
            future = self._submit(task, item)
        except BrokenProcessPool:
            self._pool = None
            future = self._submit(task, item)

        def collect() -> Any:
            try:
                return future.result()
            except BrokenProcessPool:
                return Failure("its worker died, perhaps for lack of memory.")

        return Given(collect, future.done)

    def _submit(self, task: Task, item: Any) -> Any:
        from joblib.externals.loky import ProcessPoolExecutor
        from joblib.externals.loky.backend.reduction import dumps

        if self._pool is not None:
            return self._pool.submit(_with_shared, task, item)
        # In a file, since a new process gets its arguments through a pipe: this one would wait
        # until it has started and read them.
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory()
            (Path(self._folder.name) / "shared").write_bytes(dumps(self.shared))
        place = Path(self._folder.name) / "shared"
        self._pool = ProcessPoolExecutor(
            self.workers, initializer=_start_quietly, initargs=(place, os.getpid())
        )
        future = self._pool.submit(_with_shared, task, item)
        _kill_at_exit(self._pool)
        return future

    def close(self) -> None:
        """End the workers, as soon as their tasks are done."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _kill_at_exit(pool: Any) -> None:
    """Let an interpreter that ends, after an error in the training loop, wait for no task.

    A pool makes it wait by this hook as soon as it has a task; the last one to be set runs first.
    """
    known = weakref.ref(pool)

    def kill() -> None:
        if (left := known()) is not None:
            left.shutdown(kill_workers=True)

    threading._register_atexit(kill)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Given:
    """A task that was given to a worker; a call waits for its result."""

    collect: Callable[[], Any]
    is_done: Callable[[], bool]

    @classmethod
    def now(cls, result: Any) -> Given:
        """A task whose result is known."""
        return cls(lambda: result, lambda: True)

    def __call__(self) -> Any:
        """The result, or a `Failure`."""
        return self.collect()


@contextlib.contextmanager
def _ending(pool: Any) -> Iterator[None]:
    """Shut a pool down in the end; after an error or an interruption, without waiting for tasks."""
    try:
        yield
    except BaseException:
        pool.shutdown(kill_workers=True)
        raise
    pool.shutdown()


@dataclass(frozen=True)
class RayEngine:
    """A Ray cluster: one that runs, or one that is started on this machine.

    Args:
        address: Address of a running cluster, or "auto"; a new one is started if None.
        workers: Number of tasks at a time; as many as the cluster has cores if None.
        gpus: GPUs of each task, which may be a fraction.
        cpus: Cores of each task; with several, as many threads decode samples while the network
            runs.

    Example:
        A cluster that runs already, with a quarter of a GPU for each encoder:

        >>> from tradeoff.engines import RayEngine
        >>> RayEngine(address="auto", gpus=0.25)
        RayEngine(address='auto', workers=None, gpus=0.25, cpus=1)
    """

    address: str | None = None
    workers: int | None = None
    gpus: float = 0.0
    cpus: int = 1

    def connect(self) -> Any:
        """Ray, connected to the cluster; usage statistics are switched off."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        if self.address is None and "ray" not in sys.modules:
            # Its servers listen on all interfaces. From Ray 2.59 on, a token is the default.
            os.environ.setdefault("RAY_AUTH_MODE", "token")
        ray = import_extra("ray", extra="ray", purpose="Counting on a cluster")
        if not ray.is_initialized():
            # Without "local", Ray would join any cluster that happens to run on this machine.
            options: dict[str, Any] = {"address": self.address or "local"}
            options |= {"log_to_driver": False, "logging_level": "ERROR"}
            if self.address is None:
                options |= {
                    "num_cpus": self.workers or joblib.cpu_count(),
                    "include_dashboard": False,
                    "object_store_memory": _OBJECT_STORE,
                }
            try:
                ray.init(**options)
            except Exception as error:  # of Ray's, Python's and the system's own kinds
                failed = "Ray cannot be started here"
                if self.address is not None:
                    failed = f"No Ray cluster answers at `{self.address}`"
                raise InvalidInputError(f"{failed}: {first_line(error)}.") from None
            if self.address is None and "RAY_AUTH_MODE" not in os.environ:
                warnings.warn(
                    "The servers of this Ray cluster listen on all network interfaces without "
                    "authentication, because Ray was imported before tradeoff could ask for it: "
                    "set RAY_AUTH_MODE=token in the environment, or upgrade to Ray 2.59.",
                    stacklevel=2,
                )
        return ray

    def run(self, task: Task, shared: Any, items: Sequence[Any], *, stays: bool = False) -> Results:
        """Results as they come; a task whose worker or node died is tried again by Ray."""
        needs = {"num_cpus": check_count("cpus", self.cpus), "num_gpus": self.gpus}
        ray = self.connect()
        workers = self._workers(ray.cluster_resources())
        common = ray.put(shared)
        crew = (_Actors if stays else _Tasks)(ray, workers, common, needs)
        todo, pending, tries = deque(range(len(items))), dict[Any, int](), [0] * len(items)
        while todo or pending:
            while todo and crew.has_room(len(pending)):
                i = todo.popleft()
                pending[crew.call(task, items[i])] = i
            ready = ray.wait([*pending, *crew.starting], num_returns=1)[0][0]
            died, is_lost = None, False
            try:
                result = ray.get(ready)
            except ray.exceptions.RayTaskError:
                raise
            except ray.exceptions.RayError as error:
                died = result = Failure(f"its worker died: {first_line(error)}.")
                # Ray tries again itself unless the node is gone, or seems so.
                is_lost = isinstance(error, ray.exceptions.ActorUnavailableError)
            crew.release(ready, died=died is not None)
            if ready not in pending:
                continue
            i = pending.pop(ready)
            tries[i] += 1
            if is_lost and tries[i] < _TRIES:
                todo.appendleft(i)
            else:
                yield i, result

    def _workers(self, resources: Mapping[str, float]) -> int:
        """How many tasks the cluster can run at a time, with their cores and GPUs each."""
        cores, gpus = int(resources.get("CPU", 1)) // self.cpus, resources.get("GPU", 0.0)
        if not cores:
            raise InvalidInputError(
                f"Each task must find its cores in the cluster, {self.cpus}. The cluster has "
                f"{resources.get('CPU', 1):g}: pass fewer `cpus`."
            )
        if self.gpus > gpus:
            raise InvalidInputError(
                f"Each task must find its GPUs in the cluster, {self.gpus:g}. The cluster has "
                f"{gpus:g}: pass gpus=0, or start it with GPUs."
            )
        able = max(1, min(cores, int(gpus / self.gpus)) if self.gpus else cores)
        return able if self.workers is None else min(self.workers, able)


class _Tasks:
    """Tasks that Ray gives to whatever worker is free."""

    starting: Mapping[Any, Any] = {}

    def __init__(self, ray: Any, workers: int, common: Any, needs: Mapping[str, float]) -> None:
        self._attempt = ray.remote(max_retries=_TRIES, **needs)(_attempt)
        self._workers, self._common = workers, common

    def has_room(self, pending: int) -> bool:
        """Whether another task may be given."""
        return pending < _AHEAD * self._workers

    def call(self, task: Task, item: Any) -> Any:
        """Give a task."""
        return self._attempt.remote(task, self._common, item)

    def release(self, done: Any, *, died: bool) -> None:
        """Take note that a task is done."""


class _Actors:
    """Workers that keep what is shared, such as a network on a GPU; each has one task at a time.

    On a cluster that others use too, some may never start: tasks go only to those that have.
    """

    def __init__(self, ray: Any, workers: int, common: Any, needs: Mapping[str, float]) -> None:
        self._actor = ray.remote(max_restarts=_TRIES, max_task_retries=_TRIES, **needs)(_Worker)
        self._common = [common]  # in a list, it stays a reference
        self._idle: deque[Any] = deque()
        self._busy: dict[Any, Any] = {}
        self.starting: dict[Any, Any] = {}
        for _ in range(workers):
            self._start()

    def _start(self) -> None:
        actor = self._actor.remote()
        self.starting[actor.ready.remote()] = actor

    def has_room(self, pending: int) -> bool:
        """Whether a worker is idle."""
        return bool(self._idle)

    def call(self, task: Task, item: Any) -> Any:
        """Give a task to an idle worker."""
        actor = self._idle.popleft()
        done = actor.call.remote(task, self._common, item)
        self._busy[done] = actor
        return done

    def release(self, done: Any, *, died: bool) -> None:
        """Take note that a worker has started or done its task; replace one that died for good."""
        actor = (self.starting if done in self.starting else self._busy).pop(done)
        if died:
            self._start()
        else:
            self._idle.append(actor)


class _Worker:
    """An actor of Ray, which fetches what is shared once."""

    def __init__(self) -> None:
        self.shared: list[Any] = []

    def ready(self) -> None:
        """Answer as soon as it has started."""

    def call(self, task: Task, common: list[Any], item: Any) -> Any:
        if not self.shared:
            import ray

            self.shared = ray.get(common)
        return _attempt(task, self.shared[0], item)


def open_engine(engine: Any, *, address: str | None = None, workers: int | None = None) -> Engine:
    """An engine by name, "local" or "ray", or as it is."""
    if engine == "local":
        if address is not None:
            raise InvalidInputError('`address` is that of a Ray cluster: pass engine="ray".')
        return LocalEngine(workers)
    if engine == "ray":
        return RayEngine(address, workers)
    if not hasattr(engine, "run"):
        raise InvalidInputError(f"`engine` must be local, ray, or an engine. Got {engine!r}.")
    found: Engine = engine
    return found
