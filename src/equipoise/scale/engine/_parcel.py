"""What a worker in another process is sent: a function with its data, packed once.

Arrays are laid behind one another, not copied into the pickle: workers on this machine map the
file, and share its memory until they write. An array that could be written to can still be; one
that could not still cannot. Functions that no module holds (a lambda, a class of a notebook)
travel by their code.
"""

import hashlib
import mmap
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

from equipoise.types.arrays import InputError

VERSION = "equipoise:__version__"
_ALIGNED = 64  # bytes: where arrays begin
_SMALL = 2**18  # bytes that are sent along instead of being mapped
_held: list[tuple[str, Callable[[Any], Any]]] = []  # what this process unpacked last


class EngineError(InputError):
    """An engine could not do its work: it is not there, was lost, or is full."""


@dataclass(frozen=True, slots=True)
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
    raw = [one.raw() for one in buffers]
    head = pickle.dumps((len(plain), [one.nbytes for one in raw]))
    whole = bytearray(len(head).to_bytes(8, "little") + head + plain)
    for one in raw:
        whole += b"\0" * (-len(whole) % _ALIGNED)
        whole += one
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
