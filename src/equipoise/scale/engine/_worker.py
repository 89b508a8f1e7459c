"""What a worker does: a group of tasks one after another, on one thread, errors and all."""

import errno
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

from equipoise.scale.engine._parcel import EngineError, Parcel, package_version
from equipoise.types.arrays import InputError

inside: ContextVar[bool] = ContextVar("inside", default=False)  # whether a task is running
_PATIENCE = 1.0  # seconds between looks at whether the parent still lives
THREADS = {
    f"{name}_NUM_THREADS": "1"
    for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")
}


class TaskError(InputError):
    """A task raised something else than an `InputError`; `trace` is where."""

    trace: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that are sent together: places among all tasks, and the tasks themselves."""

    places: Sequence[int]
    tasks: Sequence[Any]


@dataclass(frozen=True, slots=True)
class GroupResult:
    """Results of a group, and the error that ended it, with its place in the group."""

    values: list[Any] = field(default_factory=list)
    error: InputError | None = None
    trace: str = ""


def answer(parcel: Parcel, group: Group) -> GroupResult:
    """Do a group in this process; nothing is raised."""
    if parcel.version != package_version():
        who = f"this worker, process {os.getpid()}"
        return GroupResult([], other_version(who, package_version(), parcel.version))
    values: list[Any] = []
    try:
        function = parcel.function()
        with one_thread():
            for task in group.tasks:
                value = call(function, task)
                values.append(value)
    except InputError as error:
        return GroupResult(values, error)
    except Exception as error:
        return GroupResult(values, _typed(error), traceback.format_exc())
    return GroupResult(values)


def _typed(error: Exception) -> InputError:
    """An error of a task in four parts; the first is filled in where its name is known."""
    if isinstance(error, MemoryError):
        do = "choose fewer workers, or a machine with more memory"
        return EngineError("", "a worker ran out of memory", "room for one task", do)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        do = "make room and run the same again: what is finished is kept"
        return EngineError("", f"the disk is full ({error.filename})", "room to write", do)
    do = "run it with the engine local to see where"
    return TaskError("", f"{type(error).__name__}: {error}", "a result", do)


def other_version(who: str, theirs: str, ours: str) -> EngineError:
    """Refuse a worker or scheduler that has another version of the package, or none."""
    has = f"equipoise {theirs}" if theirs else "no equipoise"
    do = f"there, run pip install 'equipoise[dask]=={ours}'"
    return EngineError(f"engine, {who}", has, f"equipoise {ours}, as where it was started", do)


class _OneThread:
    """A limit of one thread, shared by all who ask for it at the same time.

    The limit is that of the process: were each to put back what it found, two that overlap
    would leave one thread behind for good, or take the limit from the one who still works.
    Libraries built on OpenMP keep a number for each thread: there everybody limits their own.
    """

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limits: list[_Limits] = []
        self._modules = 0
        self._shared: list[Any] = []
        self._own: list[Any] = []

    def take(self) -> "_Limits":
        """Set the limit, or share it; what was loaded since then is limited, too.

        Returns what `give_back` needs.
        """
        with self._lock:
            _free()
            if self._looked() or not self._users:
                self._limits.append(_limited(self._shared))
            self._users += 1
            return _limited(self._own)

    def limit_here(self) -> None:
        """Limit the thread that calls, while somebody shares the limit."""
        with self._lock:
            self._looked()
            _limited(self._own)

    def _looked(self) -> bool:
        """Look for libraries where modules may have brought some along."""
        from threadpoolctl import ThreadpoolController

        if len(sys.modules) == self._modules:
            return False
        self._modules = len(sys.modules)
        every = [
            one for one in ThreadpoolController().lib_controllers if one.user_api == "blas"
        ]
        self._own = [one for one in every if getattr(one, "threading_layer", "") == "openmp"]
        self._shared = [one for one in every if one not in self._own]
        return True

    def give_back(self, own: "_Limits") -> None:
        """Put back what was there, where nobody else needs the limit."""
        with self._lock:
            self._users -= 1
            _free()
            _put_back(own)
            while self._limits and not self._users:
                _put_back(self._limits.pop())
            _free()


_Limits = list[tuple[Any, int]]  # libraries with the number of threads that they had


def _limited(libraries: Sequence[Any]) -> _Limits:
    """Limit libraries to one thread."""
    before = [(one, int(one.get_num_threads())) for one in libraries]
    for one in libraries:
        one.set_num_threads(1)
    return before


def _put_back(before: _Limits) -> None:
    for one, number in before:
        one.set_num_threads(number)


def _free() -> None:
    """Let this thread set limits: later versions leave that to the first thread that did."""
    from threadpoolctl import OpenBLASController

    free = getattr(OpenBLASController, "clear_controlling_thread", None)
    if free is not None:
        free(force=True)


_one_thread = _OneThread()


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for linear algebra, so that its rounding is the same everywhere.

    Kernels that numba compiles here have one thread each; workers are told so once more by
    their environment (`THREADS`).
    """
    if inside.get():
        yield
        return
    own = _one_thread.take()
    try:
        yield
    finally:
        _one_thread.give_back(own)


def limit_thread() -> None:
    """The same for a thread that is new: OpenMP counts the threads of each by itself."""
    _one_thread.limit_here()


def begin(parent: int) -> None:
    """Prepare a process of loky: it ends when its parent is gone, however that ended.

    Loky would replace a process that has grown by 300 MB, which any that loads torch has.
    """
    from joblib.externals.loky import process_executor

    process_executor._USE_PSUTIL = False

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PATIENCE)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def same(parcel: Parcel) -> Parcel:
    """The parcel itself: a task of a cluster, so that a lost copy is made again."""
    return parcel


def call(function: Callable[[Any], Any], task: Any) -> Any:
    """Do a task; maps in it run one task after another."""
    token = inside.set(True)
    try:
        return function(task)
    finally:
        inside.reset(token)
