"""Engine: where heavy work runs. The same bytes on one core, on all of them, and on a cluster.

Heavy work is a map of a pure function over tasks that bring their seeds and places along.
Results come back in the order of the tasks, tasks do not know what they are grouped with, and
each sees one thread of linear algebra, so the engine cannot change a byte of a result.

========== ==================================================================================
local      threads of this process; the default
processes  processes of this machine (loky), with one copy of the data
dask       a Dask cluster by its address, or of this machine; a worker that dies is replaced
ray        the same with Ray
========== ==================================================================================

Code deep in a computation says ``current().map(function, tasks)``; whoever starts it says
``with using(choose_engine("dask", address="tcp://10.0.0.1:8786")):``. Away from this process
tasks are sent in groups of at least half a second, by how long the first one took here. Tasks
of a task run one after another.

Examples
--------
>>> def square(number):
...     return number**2
>>> current().map(square, [1, 2, 3])
[1, 4, 9]
>>> with using(choose_engine("local", workers=1)):
...     current().map(square, [4, 5])
[16, 25]
"""

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from equipoise.scale.engine._worker import (
    EngineError,
    Group,
    GroupResult,
    TaskError,
    call,
    inside,
    limit_thread,
    one_thread,
    send_by_code,
)
from equipoise.types import InputError, Progress, choice, immutable, require_whole

__all__ = [
    "KINDS",
    "Engine",
    "EngineError",
    "TaskError",
    "choose_engine",
    "current",
    "groups_sent",
    "send_by_code",
    "threads",
    "using",
]

Task = TypeVar("Task")
Result = TypeVar("Result")

KINDS = ("local", "processes", "dask", "ray")
ENOUGH = 0.5  # seconds of work that are worth sending
ROOM = 2**29  # bytes that tasks may take at a time, where it is said how much each takes
_PACKAGES = {"dask": "distributed", "ray": "ray"}


class _Workers(Protocol):
    """Workers in other processes."""

    @property
    def workers(self) -> int:
        """How many tasks run at a time."""
        ...

    def run(
        self, function: Callable[[Any], Any], groups: Sequence[Group], resource: str | None
    ) -> Iterator[tuple[int, GroupResult]]:
        """Answers with the numbers of their groups, as they are there."""
        ...

    def close(self) -> None:
        """End them, or leave them."""
        ...


@immutable
class Engine:
    """Where work runs; made by `choose_engine`.

    Attributes
    ----------
    kind
        One of `KINDS`.
    workers
        Tasks at a time; 0 is one per core. A cluster with an address has its own number.
    address
        Of the scheduler of a cluster; None starts one on this machine.
    """

    kind: str = "local"
    workers: int = 0
    address: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether tasks share the memory of this process."""
        return self.kind == "local"

    def within(self, memory: int) -> "Engine":
        """The same, with no more threads than tasks of so many bytes fit into `ROOM`."""
        several = min(self.workers or os.cpu_count() or 1, max(ROOM // max(memory, 1), 1))
        return replace(self, workers=several) if self.is_local else self

    def map(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        *,
        progress: Progress | None = None,
        name: Callable[[Task], str] | None = None,
        done: Callable[[int, Result], None] | None = None,
        resource: str | None = None,
    ) -> list[Result]:
        """Results of a function, in the order of the tasks.

        An interrupt or an error cancels what has not begun.

        Parameters
        ----------
        progress
            Called as ``progress(done, all)``.
        name
            What a task is called in the message of its error.
        done
            Is given the place and the result of every task as soon as it is there, in any
            order. Says that tasks are long: each is sent by itself.
        resource
            Of which a Dask worker must have a slot, such as ``GPU``.
        """
        todo = _Todo(function, tasks, progress, name, done)
        if self.is_local or inside.get():
            todo.on_threads(1 if inside.get() else self.workers or os.cpu_count() or 1)
        else:
            todo.far(self, resource)
        return todo.results


def choose_engine(
    kind: str = "local", *, address: str | None = None, workers: int = 0
) -> Engine:
    """An engine by its name; what it needs must be installed.

    Examples
    --------
    >>> choose_engine("processes", workers=2)
    Engine(kind='processes', workers=2, address=None)
    >>> choose_engine("local", address="tcp://127.0.0.1:8786")
    Traceback (most recent call last):
    ...
    equipoise.InputError: engine local: an address, expected none; choose dask or ray...
    """
    choice("engine", kind, KINDS)
    require_whole("engine, workers", workers, do="0 is one per core")
    if address is not None and kind not in _PACKAGES:
        raise InputError(
            f"engine {kind}", "an address", "none", "choose dask or ray, or leave it out"
        )
    package = _PACKAGES.get(kind)
    if package is not None and find_spec(package) is None:
        raise EngineError(
            f"engine {kind}", "not installed", package, f"run pip install 'equipoise[{kind}]'"
        )
    return Engine(kind, workers, address)


# ---- the engine in use ---------------------------------------------------------------------


class _Use:
    """An engine in use, with its workers once they are needed."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.sent = 0  # groups of tasks
        self._workers: _Workers | None = None

    def workers(self) -> _Workers:
        """Its workers; started, or reached, when first asked for."""
        if self._workers is None:
            self._workers = _started(self.engine)
        return self._workers

    def close(self) -> None:
        """Let go of them."""
        if self._workers is not None:
            self._workers.close()
            self._workers = None


_use: ContextVar[_Use | None] = ContextVar("use", default=None)


@contextmanager
def using(engine: Engine) -> Iterator[Engine]:
    """Let heavy work inside run on an engine; its workers end, or are left, at the end."""
    use = _Use(engine)
    token = _use.set(use)
    try:
        if engine.address is not None:
            use.workers()  # an address that is wrong is told at once
        yield engine
    finally:
        _use.reset(token)
        use.close()


def current(workers: int = 0) -> Engine:
    """The engine in use; if that is local, with so many threads where a number is said."""
    use = _use.get()
    engine = Engine() if use is None else use.engine
    return replace(engine, workers=workers) if engine.is_local and workers else engine


def groups_sent() -> int:
    """How many groups of tasks the engine in use was sent; 0 says that all ran here."""
    use = _use.get()
    return 0 if use is None else use.sent


def threads(workers: int = 0) -> Engine:
    """Threads of this process, for work that shares much memory and is soon done."""
    use = _use.get()
    if not workers and use is not None and use.engine.is_local:
        return use.engine
    return Engine("local", workers)


def _started(engine: Engine) -> _Workers:
    """Start or reach the workers of an engine."""
    number = engine.workers or os.cpu_count() or 1
    if engine.kind == "processes":
        from equipoise.scale.engine._processes import Processes

        return Processes(number)
    if engine.kind == "dask":
        from equipoise.scale.engine._clusters import Cluster

        return Cluster(engine.address, number)
    from equipoise.scale.engine._clusters import Ray

    return Ray(engine.address, number)


# ---- a map ---------------------------------------------------------------------------------


class _Todo:
    """Tasks of one map, and what has come back of them."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        tasks: Sequence[Any],
        progress: Progress | None,
        name: Callable[[Any], str] | None,
        done: Callable[[int, Any], None] | None,
    ) -> None:
        self.function, self.tasks = function, tasks
        self.progress, self.name, self.done = progress, name, done
        self.results: list[Any] = [None] * len(tasks)
        self.finished = 0

    def take(self, place: int, value: Any) -> None:
        """Take in the result of a task."""
        self.results[place] = value
        self.finished += 1
        if self.done is not None:
            self.done(place, value)
        if self.progress is not None:
            self.progress(self.finished, len(self.tasks))

    def on_threads(self, workers: int, first: int = 0) -> None:
        """Do the rest here; one worker needs no thread."""
        places = range(first, len(self.tasks))
        if min(workers, len(places)) <= 1:
            with one_thread():
                for place in places:
                    self.take(place, self.function(self.tasks[place]))
            return
        pool = ThreadPoolExecutor(max_workers=workers, initializer=limit_thread)
        with one_thread(), pool:
            futures = {pool.submit(call, self.function, self.tasks[n]): n for n in places}
            try:
                for future in as_completed(futures):
                    self.take(futures[future], future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def far(self, engine: Engine, resource: str | None) -> None:
        """Send the rest away in groups, unless it is not worth it."""
        first, size = 0, 1
        if self.done is None and len(self.tasks):
            start = time.perf_counter()
            with one_thread():
                self.take(0, self.function(self.tasks[0]))
            first, seconds = 1, time.perf_counter() - start
            if seconds * (len(self.tasks) - first) < ENOUGH:
                self.on_threads(engine.workers or os.cpu_count() or 1, first)
                return
            size = max(1, math.ceil(ENOUGH / max(seconds, 1e-9)))
        places = range(first, len(self.tasks))
        groups = [
            Group(part, [self.tasks[n] for n in part])
            for part in (places[a : a + size] for a in range(0, len(places), size))
        ]
        if groups:
            self._send(engine, groups, resource)

    def _send(self, engine: Engine, groups: Sequence[Group], resource: str | None) -> None:
        use = _use.get()
        if use is not None:
            use.sent += len(groups)
        own_use = use if use is not None and use.engine == engine else _Use(engine)
        try:
            for number, answer in own_use.workers().run(self.function, groups, resource):
                places = groups[number].places
                for place, value in zip(places, answer.values, strict=False):
                    self.take(place, value)
                if answer.error is not None:
                    raise self._named(answer, places[len(answer.values)])
        finally:
            if own_use is not use:
                own_use.close()

    def _named(self, answer: GroupResult, place: int) -> InputError:
        """The error of a task as it was raised; one that is not ours with the task's name."""
        error = answer.error
        assert error is not None
        if error.where:
            return error
        where = f"task {place + 1} of {len(self.tasks)}"
        if self.name is not None:
            where = self.name(self.tasks[place])
        named = type(error)(where, error.got, error.expected, error.do)
        if isinstance(named, TaskError):
            named.trace = answer.trace
        return named
