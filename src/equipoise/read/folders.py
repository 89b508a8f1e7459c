"""A folder of texts, written so that nobody meets half of it.

The new folder is filled beside its place and then put there in one step
(`equipoise.read.whole`); what others laid into the old one stays in it.
"""

import errno
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from equipoise.read.files import replaced
from equipoise.read.whole import carry_over, whole_folder
from equipoise.types.arrays import InputError

PLACES = ("tables", "figures", "thumbnails")
RUN = "run.json"  # the mark of an evaluation


def check_folder(folder: Path, names: tuple[str, ...], *, overwrite: bool = False) -> None:
    """Refuse a folder that cannot be written to, or where something would be lost.

    Parameters
    ----------
    names
        Files that must not be there already, unless overwriting is allowed.
    """
    if (folder / RUN).exists():
        raise InputError(
            f"{folder}", f"holds an evaluation ({RUN})", "a folder of its own",
            f"name another folder, for example {folder.name}-other",
        )  # fmt: skip
    there = [name for name in names if (folder / name).exists()]
    if there and not overwrite:
        raise InputError(
            f"{folder}", f"already holds {', '.join(there)}", "a new folder",
            "name another folder, or allow overwriting (--overwrite)",
        )  # fmt: skip
    ground = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not ground.is_dir() or not _writable(ground):
        why = "cannot be written to" if ground.is_dir() else "is a file"
        raise _unwritable(folder, f"{ground} {why}")


def _writable(folder: Path) -> bool:
    """Whether a folder can be made in a folder; only trying tells, also for the superuser."""
    try:
        Path(mkdtemp(dir=folder)).rmdir()
    except OSError:
        return False
    return True


def _unwritable(folder: Path, why: str) -> InputError:
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
    stale = {name for name in _earlier(folder, mark) if name not in texts}
    before = _identity(folder, mark)
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
            if _identity(folder, mark) != before:
                raise FileExistsError(errno.EEXIST, "somebody else wrote it meanwhile")
    except OSError as error:
        raise _unwritable(folder, error.strerror or type(error).__name__) from error
    return folder


def _identity(folder: Path, mark: str | None) -> tuple[int, int] | None:
    """By which a mark is known; None where there is none."""
    try:
        known = (folder / mark).stat() if mark else None
    except OSError:
        return None
    return known and (known.st_ino, known.st_mtime_ns)


def _refill(
    folder: Path, texts: Mapping[str, str | bytes], mark: str | None, stale: set[str]
) -> Path:
    """Write into a folder that must keep its place, file by file."""
    if mark is not None:
        (folder / mark).unlink(missing_ok=True)
    for name in stale:
        with suppress(OSError):
            (folder / name).unlink()
    for name in sorted(texts, key=lambda one: one == mark):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, texts[name])
    return folder


def write_text(path: Path, text: str | bytes) -> None:
    """Write a file in one step, so that a reader sees the old one or the new one."""
    with replaced(path) as out:
        out.write(text if isinstance(text, bytes) else text.encode("utf-8"))


def _earlier(folder: Path, mark: str | None) -> list[str]:
    """Tables, figures and pictures that an earlier writing named; nothing else is removed."""
    if mark is None:
        return []
    try:
        names = json.loads((folder / mark).read_text(encoding="utf-8"))["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    paths = [PurePosixPath(str(name)) for name in names]
    return [
        str(one)
        for one in paths
        if (len(one.parts) == 2 and one.parts[0] in PLACES)
        or (len(one.parts) == 1 and one.suffix == ".csv")
    ]
