"""Targets: files and folders that a verb writes to are checked before anything is read."""

from pathlib import Path
from tempfile import TemporaryFile

import typer

from equipoise.types.arrays import InputError


def check_target(option: str, path: Path | None, endings: tuple[str, ...]) -> None:
    """Refuse a file that could not be written, before anything is read."""
    if path is None:
        return
    parent = path.absolute().parent
    if path.is_dir():
        where, do = f"{option} {path}", f"name a file in it: {path / ('truth' + endings[0])}"
        raise InputError(where, "a folder", f"a file that ends in {endings[0]}", do)
    if path.suffix.lower() not in endings:
        message = f"got {path.name!r}, expected a name that ends in {endings[0]}"
        raise typer.BadParameter(message, param_hint=option)
    if not parent.is_dir():
        got = f"there is no folder {str(path.parent)!r}"
        do = "make the folder first, or name another file"
        raise InputError(f"{option} {path}", got, "a file in a folder that exists", do)
    if not _writable(parent):
        where, got = f"{option} {path}", "a folder that is read-only"
        raise InputError(where, got, "one that may be written to", "name another file")


def check_folder(option: str, path: Path | None) -> None:
    """Refuse a folder that could not be written to, before anything is read."""
    if path is None:
        return
    ground = next(one for one in (path, *path.absolute().parents) if one.exists())
    if not ground.is_dir() or not _writable(ground):
        why = "read-only" if ground.is_dir() else "a file"
        where, got = f"{option} {path}", f"cannot be written ({ground} is {why})"
        raise InputError(where, got, "a folder to write into", "name another folder")


def check_run_folder(out: Path | None, *, overwrite: bool) -> None:
    """Refuse a folder that cannot take a run, or holds another, before anything is read."""
    from equipoise.report.run import prepared

    check_folder("--out", out)
    if out is not None:
        prepared(out, overwrite=overwrite)


def _writable(folder: Path) -> bool:
    """Whether a file can be made in a folder; only trying tells, also for the superuser."""
    try:
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
