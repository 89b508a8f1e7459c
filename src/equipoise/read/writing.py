"""Whole or not at all: files and folders that appear in one step.

Everything is written under a name that nobody can guess, made for this writing alone, flushed
to the disk, and then renamed. Whatever happens in between, a kill or a full disk, there is what
was there before. What a killed writing leaves behind has no owner any more (it is locked while
somebody writes it), and the next writing to the same place takes it away.

A folder of texts (`write_folder`) is filled beside its place and then put there in one step;
what others laid into the old one stays in it.
"""

import ctypes
import errno
import json
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from operator import attrgetter
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import IO

from equipoise.read.files import AnyPath
from equipoise.types import InputError, Names

AT_WORKING_FOLDER = -100 if sys.platform == "linux" else -2
EXCHANGE = 2  # of renameat2 and of renamex_np


@contextmanager
def whole_file(target: Path, *, flush: bool = True) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of another once it is whole.

    What is no ordinary file, such as a device or a pipe, is refused with an `OSError`. Without
    `flush` it is whole for whoever reads it, but need not outlive a loss of power.
    """
    if os.path.lexists(target) and not target.is_file():
        kind = errno.EISDIR if target.is_dir() else errno.EINVAL
        raise OSError(kind, os.strerror(kind) if target.is_dir() else "not an ordinary file")
    _sweep(target)
    scratch = _scratch_name(target)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    handle = os.open(scratch, flags | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            _lock_handle(file.fileno())
            yield file
            file.flush()
            if flush:
                os.fsync(file.fileno())
            if target.exists():
                scratch.chmod(stat.S_IMODE(target.stat().st_mode))
            scratch.replace(target)
        if flush:
            _flush_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            scratch.unlink(missing_ok=True)
        raise


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A new folder to fill that takes the place of another once it is whole.

    A target that is there and not empty is exchanged for the new folder, in one step where the
    system can; what it held is removed, so carry over what should stay (`carry_over`). Raises
    `FileExistsError` where the target was not there, or empty, before and is filled now.
    """
    if target.is_symlink() and not target.exists():
        raise FileExistsError(errno.EEXIST, "a link to nothing")
    target = Path(os.path.realpath(target))  # which a link in a circle does not stop
    scratch, lock = _scratch_name(target), None
    with way_to(target):
        try:
            _sweep(target)
            replacing = target.is_dir() and any(target.iterdir())
            scratch.mkdir()
            lock = _lock_folder(scratch)
            yield scratch
            for folder, _, _ in os.walk(scratch):
                _flush_folder(Path(folder))
            if replacing:
                scratch.chmod(stat.S_IMODE(target.stat().st_mode))
                _exchange(scratch, target)
            else:
                _put(scratch, target)
            _flush_folder(target.parent)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            if lock is not None:
                os.close(lock)


@contextmanager
def way_to(target: Path) -> Iterator[None]:
    """Make the folders on the way to a target; those that stay empty go again."""
    new = [parent for parent in target.absolute().parents if not parent.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for parent in new:
            with suppress(OSError):
                parent.rmdir()


def carry_over(old: Path, new: Path, *, but: set[str]) -> None:
    """Link what lies in a folder into another, but for some paths and what is there already."""
    for folder, names, files in os.walk(old):
        inside = Path(folder).relative_to(old)
        for name in [*names, *files]:
            source, target = Path(folder) / name, new / inside / name
            if (inside / name).as_posix() in but or os.path.lexists(target):
                continue
            if source.is_dir() and not source.is_symlink():
                target.mkdir()
            else:
                _link(source, target)


def _link(source: Path, target: Path) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target, follow_symlinks=False)


def _put(scratch: Path, target: Path) -> None:
    """Put a folder where none is, or an empty one."""
    try:
        scratch.rename(target)
    except OSError as error:
        if os.name == "nt" and target.is_dir() and not any(target.iterdir()):
            target.rmdir()
            scratch.rename(target)
        elif target.exists():
            raise FileExistsError(errno.EEXIST, "somebody else wrote it meanwhile") from error
        else:
            raise


def _exchange(first: Path, other: Path) -> None:
    """Let two folders change places, in one step where the system can."""
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None, use_errno=True)
        a, b = os.fsencode(first), os.fsencode(other)
        if sys.platform == "darwin":
            failed = library.renamex_np(a, b, EXCHANGE)
        else:
            failed = library.renameat2(AT_WORKING_FOLDER, a, AT_WORKING_FOLDER, b, EXCHANGE)
        if not failed:
            return
    aside = _scratch_name(other)
    other.rename(aside)
    try:
        first.rename(other)
    except OSError:
        aside.rename(other)
        raise
    aside.rename(first)


# ---- names and owners ----------------------------------------------------------------------


def _scratch_name(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")


def _sweep(target: Path) -> None:
    """Take away what killed writings to the same place left; what somebody writes is locked."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}\.part")
    with suppress(OSError):
        for path in target.absolute().parent.iterdir():
            if ours.fullmatch(path.name) and not path.is_symlink():
                _remove_unowned(path)


def _remove_unowned(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            if _lock_handle(handle):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        finally:
            os.close(handle)


def _lock_folder(folder: Path) -> int | None:
    """Own a folder until the returned handle is closed; None where the system has no locks."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        if _lock_handle(handle):
            return handle
        os.close(handle)
    return None


def _lock_handle(handle: int) -> bool:
    """Lock an open file or folder, unless somebody has it."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _flush_folder(folder: Path) -> None:
    """Make sure that names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


PLACES = ("tables", "figures")
RUN = "run.json"  # the mark of an evaluation


def check_folder(
    folder: Path, names: Names, *, overwrite: bool = False, where: str = ""
) -> None:
    """Refuse a folder that cannot be written to, or where something would be lost.

    Parameters
    ----------
    names
        Files that must not be there already, unless overwriting is allowed; where none of
        them is the mark of an evaluation, a folder that holds one is refused.
    where
        What messages say that the folder is.
    """
    paths = filter(Path.exists, map(folder.joinpath, names))
    there = ", ".join(map(attrgetter("name"), paths))
    if RUN not in names and (folder / RUN).exists():
        got, do = f"holds an evaluation ({RUN})", f"for example {folder.name}-other"
        expected = "a folder of its own"
        raise InputError(f"{folder}", got, expected, f"name another folder, {do}")
    if there and not overwrite:
        got = f"already holds {f'a run ({there})' if RUN in names else there}"
        do = "name another folder, or allow overwriting (--overwrite)"
        raise InputError(f"{folder}", got, "a new folder", do)
    check_ground(folder, where)


def check_ground(folder: Path, where: str = "") -> None:
    """Refuse a folder that cannot be made, or written into; `where` is what messages say."""
    way = (folder, *folder.absolute().parents)
    ground = next(filter(os.path.lexists, way))
    if not ground.is_dir() or not writable(ground):
        why = "cannot be written to" if ground.is_dir() else "is a file"
        why = why if ground.exists() else "is a link to nothing"
        raise _cannot_write(where or folder, f"{ground} {why}")


def writable(folder: Path) -> bool:
    """Whether a folder can be made in a folder; only trying tells, also for the superuser."""
    try:
        Path(mkdtemp(dir=folder)).rmdir()
    except OSError:
        return False
    return True


def _cannot_write(folder: Path | str, why: str) -> InputError:
    return InputError(
        f"{folder}", f"cannot be written ({why})", "a folder to write into",
        "name another folder",
    )  # fmt: skip


def write_folder(
    folder: Path, texts: Mapping[str, str | bytes], *, mark: str | None = None
) -> Path:
    """Write texts by their paths inside the folder, all of them or none.

    What lies there already stays, but for tables and figures of an earlier writing that named
    them in its mark. A folder in which the program runs cannot change places: there the mark
    goes first and comes back last.
    """
    stale = {name for name in _files_of_earlier_writing(folder, mark) if name not in texts}
    before = _mark_identity(folder, mark)
    try:
        if Path.cwd().is_relative_to(folder.absolute()) and folder.is_dir():
            return _refill(folder, texts, mark, stale)
        with whole_folder(folder) as scratch:
            for name, text in texts.items():
                path = scratch / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as out:
                    out.write(text if isinstance(text, bytes) else text.encode("utf-8"))
                    out.flush()
                    os.fsync(out.fileno())
            if folder.is_dir():
                carry_over(folder, scratch, but=stale)
            if _mark_identity(folder, mark) != before:
                raise FileExistsError(errno.EEXIST, "somebody else wrote it meanwhile")
    except OSError as error:
        raise _cannot_write(folder, error.strerror or type(error).__name__) from error
    return folder


def _mark_identity(folder: Path, mark: str | None) -> tuple[int, int] | None:
    """By which a mark is known; None where there is none."""
    try:
        stat = (folder / mark).stat() if mark else None
    except OSError:
        return None
    return stat and (stat.st_ino, stat.st_mtime_ns)


def _refill(
    folder: Path, texts: Mapping[str, str | bytes], mark: str | None, stale: set[str]
) -> Path:
    """Write into a folder that must keep its place, file by file."""
    if mark is not None:
        (folder / mark).unlink(missing_ok=True)
    for name in stale:
        with suppress(OSError):
            (folder / name).unlink()
    for name in sorted(texts, key=lambda name: name == mark):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, texts[name])
    return folder


@contextmanager
def replaced(path: AnyPath, *, flush: bool = True) -> Iterator[IO[bytes]]:
    """Write a file in one step (`whole_file`): a reader sees the old one or the new one.

    Whatever stops the writing, an interrupt too, nothing of it is left behind.
    """
    try:
        with whole_file(Path(path), flush=flush) as file:
            yield file
    except OSError as error:
        raise InputError(
            str(path),
            f"cannot be written ({error.strerror or error})",
            "a file in a folder that exists and may be written to",
            "name another file",
        ) from error


def write_text(path: Path, text: str | bytes) -> None:
    """Write a file in one step, so that a reader sees the old one or the new one."""
    with replaced(path) as out:
        out.write(text if isinstance(text, bytes) else text.encode("utf-8"))


def _files_of_earlier_writing(folder: Path, mark: str | None) -> list[str]:
    """Tables, figures and pictures that an earlier writing named; nothing else is removed."""
    if mark is None:
        return []
    try:
        names = json.loads((folder / mark).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    paths = [PurePosixPath(str(name)) for name in names]
    return [
        str(path)
        for path in paths
        if (len(path.parts) == 2 and path.parts[0] in PLACES)
        or (len(path.parts) == 1 and path.suffix == ".csv")
    ]
