"""What a worker does: a group of tasks one after another, on one thread, errors and all.

What it is sent is a function with its data, packed once. Arrays are laid behind one another,
not copied into the pickle: workers on this machine map the file, and share its memory until
they write. An array that could be written to can still be; one that could not still cannot.
Functions that no module holds (a lambda, a class of a notebook) travel by their code.
"""

import errno
import hashlib
import mmap
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field
from pathlib import Path
from pkgutil import resolve_name
from threading import Lock, Thread
from types import ModuleType
from typing import Any

from equipoise.types import InputError, immutable

VERSION = "equipoise:__version__"
_ALIGNED = 64  # bytes: where arrays begin
_SMALL = 2**18  # bytes that are sent along instead of being mapped
_held: list[tuple[str, Callable[[Any], Any]]] = []  # what this process unpacked last


class EngineError(InputError):
    """An engine could not do its work: it is not there, was lost, or is full."""


@immutable
class Parcel:
    """A packed function.

    Attributes
    ----------
    key
        Hash of the content, by which a worker knows what it has unpacked already.
    version
        Of the package that packed it.
    content
        The bytes, or the file that holds them.
    """

    key: str
    version: str
    content: bytes | Path

    def function(self) -> Callable[[Any], Any]:
        """Unpack it; once per process, as long as no other is asked for."""
        if not _held or _held[0][0] != self.key:
            _held[:] = [(self.key, _unpacked(self.content))]
        return _held[0][1]

    def in_file(self, folder: Path) -> "Parcel":
        """The same in a file, where it is large, for workers of this machine."""
        if isinstance(self.content, Path) or len(self.content) < _SMALL:
            return self
        path = folder / self.key
        path.write_bytes(self.content)
        return Parcel(self.key, self.version, path)


def package_version() -> str:
    """Version of this package, by the name under which workers are asked for theirs."""
    return str(resolve_name(VERSION))


def send_by_code(module: ModuleType) -> None:
    """Let what a module defines travel by its code, as workers cannot find it by its name."""
    from cloudpickle import register_pickle_by_value

    register_pickle_by_value(module)


def pack(function: Callable[[Any], Any]) -> Parcel:
    """Pack a function with all that it holds."""
    import cloudpickle

    buffers: list[pickle.PickleBuffer] = []
    try:
        plain = cloudpickle.dumps(function, protocol=5, buffer_callback=buffers.append)
    except (TypeError, pickle.PicklingError, AttributeError) as error:
        raise EngineError(
            "engine",
            f"work that cannot be sent to another process ({error})",
            "plain data and functions",
            "choose the engine local",
        ) from error
    raw = [buffer.raw() for buffer in buffers]
    head = pickle.dumps((len(plain), [buffer.nbytes for buffer in raw]))
    whole = bytearray(len(head).to_bytes(8, "little") + head + plain)
    for buffer in raw:
        whole += b"\0" * (-len(whole) % _ALIGNED)
        whole += buffer
    content = bytes(whole)
    return Parcel(hashlib.sha256(content).hexdigest(), package_version(), content)


def _unpacked(content: bytes | Path) -> Callable[[Any], Any]:
    view = memoryview(_mapped(content) if isinstance(content, Path) else bytearray(content))
    place = 8 + int.from_bytes(view[:8], "little")
    length, sizes = pickle.loads(view[8:place])
    plain, place = view[place : place + length], place + length
    buffers = []
    for size in sizes:
        place += -place % _ALIGNED
        buffers.append(view[place : place + size])
        place += size
    function: Callable[[Any], Any] = pickle.loads(plain, buffers=buffers)
    return function


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


# ---- doing the work ------------------------------------------------------------------------


inside: ContextVar[bool] = ContextVar("inside", default=False)  # whether a task is running
_PATIENCE = 1.0  # seconds between looks at whether the parent still lives
THREADS = {
    f"{name}_NUM_THREADS": "1"
    for name in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")
}


class TaskError(InputError):
    """A task raised something else than an `InputError`; `trace` is where."""

    trace: str = ""


@immutable
class Group:
    """Tasks that are sent together: places among all tasks, and the tasks themselves."""

    places: Sequence[int]
    tasks: Sequence[Any]


@immutable
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
        libraries = [
            library
            for library in ThreadpoolController().lib_controllers
            if library.user_api == "blas"
        ]
        self._own = [
            library
            for library in libraries
            if getattr(library, "threading_layer", "") == "openmp"
        ]
        self._shared = [library for library in libraries if library not in self._own]
        return True

    def give_back(self, before: "_Limits") -> None:
        """Put back what was there, where nobody else needs the limit."""
        with self._lock:
            self._users -= 1
            _free()
            _put_back(before)
            while self._limits and not self._users:
                _put_back(self._limits.pop())
            _free()


_Limits = list[tuple[Any, int]]  # libraries with the number of threads that they had


def _limited(libraries: Sequence[Any]) -> _Limits:
    """Limit libraries to one thread."""
    before = [(library, int(library.get_num_threads())) for library in libraries]
    for library in libraries:
        library.set_num_threads(1)
    return before


def _put_back(before: _Limits) -> None:
    for library, number in before:
        library.set_num_threads(number)


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
    before = _one_thread.take()
    try:
        yield
    finally:
        _one_thread.give_back(before)


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
