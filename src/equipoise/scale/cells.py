"""Cells: parts of a long computation that are kept on disk, so that none is done twice.

A cell has facts that decide its result (data by their digest, settings, versions) and a
function that makes named arrays. Its key is the hash of the facts; its file is written under
another name and then put in place, sealed with its key: a file that was cut off, edited or
renamed is noticed and made again. A cell that fails is left out with its reason,
stops no other, and is tried again next time.

Cells run on the engine in use (`scale.engine`): one after another in this process where
that is local, so that each has all threads, and on its workers otherwise. This process alone
writes to the folder, so workers need not see it. Where nothing but a queue of jobs connects the
machines, `waiting` lists the cells that are not there in the folder, and `only` makes one of
them. Nothing in the folder is ever run: what a job does stands in its script.
"""

import errno
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.read import codec
from equipoise.read.files import content
from equipoise.read.writing import write_text
from equipoise.scale.engine import EngineError, current
from equipoise.types import InputError, Names, Option, Progress, hint, immutable

Arrays = Mapping[str, NDArray[Any]]
STEPS = 1000  # of progress per cell
SUFFIX, REASON = ".cell", ".failed"


@immutable
class Cell:
    """A part of a computation.

    Attributes
    ----------
    name
        What it is called in messages.
    facts
        Everything that decides the result, as JSON can hold it; None where that is not known,
        and the result is not kept.
    run
        Makes the result; is given where to tell its own progress.
    """

    name: str
    facts: Mapping[str, Any] | None
    run: Callable[[Progress], Arrays] = field(repr=False)

    @property
    def key(self) -> str:
        """Hash of the facts.

        Examples
        --------
        >>> Cell("a", {"seed": 0}, lambda _: {}).key[:12]
        'de7d7744ccd7'
        """
        text = json.dumps(self.facts, sort_keys=True, ensure_ascii=True, allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def path(self, folder: Path) -> Path:
        """Where its result lies in a folder."""
        return folder / f"{self.key}{SUFFIX}"


@immutable
class Outcome:
    """What became of a cell.

    Attributes
    ----------
    arrays
        Its result; None where it failed.
    reason
        Why it failed.
    """

    cell: Cell
    arrays: Arrays | None
    reason: str = ""


def run_cells(
    cells: Sequence[Cell],
    folder: Path | None,
    progress: Progress | None = None,
    resource: str | None = None,
) -> list[Outcome]:
    """Every cell in order: read from the folder where it is there, made where it is not.

    Parameters
    ----------
    folder
        Where results are kept; None keeps nothing.
    resource
        Of which a worker of a Dask cluster must have a slot for each cell.
    """
    homes = [None if cell.facts is None else folder for cell in cells]
    jobs = _jobs.get()
    if jobs is not None and cells:
        return jobs.run(cells, homes)
    with resumable(folder, f"*{SUFFIX}"):
        here = current().is_local
        run = _one_by_one if here else partial(_elsewhere, resource=resource)
        return run(cells, homes, progress)


def _elsewhere(
    cells: Sequence[Cell],
    homes: Sequence[Path | None],
    progress: Progress | None,
    *,
    resource: str | None,
) -> list[Outcome]:
    """All cells on the workers of the engine in use."""
    done = [_stored(cell, home) for cell, home in zip(cells, homes, strict=True)]
    missing = [place for place, outcome in enumerate(done) if outcome is None]
    before = len(cells) - len(missing)

    def keep(number: int, outcome: Outcome) -> None:
        place = missing[number]
        done[place] = _kept(replace(outcome, cell=cells[place]), homes[place])
        if progress is not None:
            finished = before + sum(done[place] is not None for place in missing)
            progress(finished * STEPS, len(cells) * STEPS)

    todo = [cells[place] for place in missing]
    current().map(
        partial(_make_there, todo),
        range(len(todo)),
        name=lambda number: todo[number].name,
        done=keep,
        resource=resource,
    )
    return [outcome for outcome in done if outcome is not None]


def _one_by_one(
    cells: Sequence[Cell], homes: Sequence[Path | None], progress: Progress | None
) -> list[Outcome]:
    """All cells in this process, with the progress inside of each."""
    total, done = len(cells) * STEPS, []
    for place, (cell, home) in enumerate(zip(cells, homes, strict=True)):

        def tell(part: int, whole: int, first: int = place * STEPS) -> None:
            if progress is not None:
                progress(first + STEPS * part // max(whole, 1), total)

        tell(0, 1)
        done.append(_stored(cell, home) or _kept(_made(cell, tell), home))
        tell(1, 1)
    return done


def _make_there(cells: Sequence[Cell], place: int) -> Outcome:
    """Make a cell on a worker; the cell itself stays away from what is sent back."""
    outcome = _made(cells[place], lambda *_: None)
    return replace(outcome, cell=Cell(outcome.cell.name, None, _nothing))


def _nothing(_: Progress) -> Arrays:
    return {}


def _stored(cell: Cell, folder: Path | None) -> Outcome | None:
    """A result that is there and whole."""
    if folder is None:
        return None
    try:
        facts, arrays = codec.read_sealed(content(cell.path(folder)), "it is made again")
    except InputError:  # not there, or not whole
        return None
    return Outcome(cell, arrays) if facts.get("cell") == cell.key else None


def _made(cell: Cell, tell: Progress) -> Outcome:
    """Make a result; whatever a cell raises is its own affair."""
    try:
        return Outcome(cell, cell.run(tell))
    except InputError as error:
        return Outcome(cell, None, reason=str(error))
    except Exception as error:
        return Outcome(cell, None, reason=f"{type(error).__name__}: {error}")


def _kept(outcome: Outcome, folder: Path | None) -> Outcome:
    """Write a result that was made; a full disk leaves nothing that looks like one."""
    if folder is None or outcome.arrays is None:
        return outcome
    arrays = {name: np.asarray(array) for name, array in outcome.arrays.items()}
    facts, path = {"cell": outcome.cell.key}, outcome.cell.path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        codec.write_sealed(path, facts, arrays, packed=False)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise EngineError(
            f"{folder}, {outcome.cell.name}", "the disk is full", "room for its result",
            "make room and run the same again: what is finished is kept",
        ) from error  # fmt: skip
    return outcome


def digest(parts: Iterable[NDArray[Any] | Sequence[str] | None]) -> str:
    """Hash of arrays and lists of names, each with its kind and size.

    Examples
    --------
    >>> digest([("a", "b"), np.arange(3)]) == digest([("a",), ("b",), np.arange(3)])
    False
    """
    whole = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            whole.update(f"array {part.dtype.str} {part.shape}\n".encode())
            whole.update(np.ascontiguousarray(part).tobytes())
        else:
            names = None if part is None else list(part)
            whole.update(f"{json.dumps(names)}\n".encode())
    return whole.hexdigest()


@contextmanager
def resumable(folder: Path | None, *marks: str) -> Iterator[None]:
    """Say of whatever stops the work where it lies, if a folder has such files by then."""
    try:
        yield
    except BaseException as error:
        there = {path.parent for mark in marks if folder for path in folder.glob(mark)}
        for place in sorted(there):
            what = f"Work that is done lies in {place}, for the same command to go on with; "
            text = f"{what}remove that folder to begin anew."
            if text not in getattr(error, "__notes__", ()):
                error.add_note(text)
        raise


# ---- cells that jobs of a queue make -------------------------------------------------------


class _Jobs(NamedTuple):
    """What is done with cells that jobs make: all are waited for, or one is made."""

    kind: Literal["all", "one"]
    run: Callable[[Sequence[Cell], Sequence[Path | None]], list[Outcome]]


_jobs: ContextVar[_Jobs | None] = ContextVar("jobs", default=None)


def apart() -> Literal["", "all", "one"]:
    """Whether jobs make the cells: nothing is made here, or one alone."""
    jobs = _jobs.get()
    return "" if jobs is None else jobs.kind


class CellsWaitError(InputError):
    """Cells are not there yet; the file `listed` in `folder` has their `keys`."""

    folder: Path
    listed: Path
    keys: Names


class CellMadeError(Exception):
    """The one cell that was asked for is made, and nothing else is to be done."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.cell.name)
        self.outcome = outcome


@contextmanager
def waiting() -> Iterator[None]:
    """Make no cell: those that are there are read, and the others listed in the folder.

    Where some are not there, `CellsWaitError` says how many; a cell that a job tried and that
    failed is left out with its reason.
    """

    def collect(cells: Sequence[Cell], homes: Sequence[Path | None]) -> list[Outcome]:
        folder = _home(cells, homes)
        done = [_stored(cell, folder) or _failed(cell, folder) for cell in cells]
        missing = [cell for cell, outcome in zip(cells, done, strict=True) if outcome is None]
        if not missing:
            return [outcome for outcome in done if outcome is not None]
        folder.mkdir(parents=True, exist_ok=True)
        keys = tuple(cell.key for cell in missing)
        text = "".join(f"{key}\n" for key in keys).encode("ascii")
        listed = folder / f"waiting-{hashlib.sha256(text).hexdigest()[:12]}.txt"
        write_text(listed, text)  # of its own name: a job that still runs goes on with its list
        error = CellsWaitError(
            f"{folder}", f"{len(cells) - len(missing):,} of {len(cells):,} cells",
            "all of them", "submit the job, and run the same command again when it is done",
        )  # fmt: skip
        error.folder, error.listed, error.keys = folder, listed, keys
        raise error

    token = _jobs.set(_Jobs("all", collect))
    try:
        yield
    finally:
        _jobs.reset(token)


@contextmanager
def only(key: str, folder: Path) -> Iterator[None]:
    """Make one cell of those that the command inside has, and stop with `CellMadeError`.

    Parameters
    ----------
    folder
        Where its result goes.
    """

    def make(cells: Sequence[Cell], homes: Sequence[Path | None]) -> list[Outcome]:
        _home(cells, homes)
        cell = next((cell for cell in cells if cell.key == key), None)
        if cell is None:
            raise InputError(
                f"cell {key}", "not among the cells that its command has now",
                "data, settings and code as they were when it was listed",
                "run the command again, which lists its cells anew",
            )  # fmt: skip
        outcome = _stored(cell, folder) or _kept(_made(cell, lambda *_: None), folder)
        if outcome.arrays is None:
            write_text(folder / f"{key}{REASON}", outcome.reason.encode("utf-8", "replace"))
        else:
            (folder / f"{key}{REASON}").unlink(missing_ok=True)
        raise CellMadeError(outcome)

    token = _jobs.set(_Jobs("one", make))
    try:
        yield
    finally:
        _jobs.reset(token)


def _home(cells: Sequence[Cell], homes: Sequence[Path | None]) -> Path:
    """The folder of cells that other machines make; each must be one that can be kept."""
    for cell, home in zip(cells, homes, strict=True):
        if home is None:
            raise InputError(
                f"cell {cell.name}", "a result that is not kept",
                "a folder for results, and work whose settings and code can be told",
                hint("name a folder with {}, or leave that work out", Option("out")),
            )  # fmt: skip
    home = next(iter(homes), None)
    if home is None:
        raise InputError("cells", "none", "at least one", "choose something to do")
    return home


def _failed(cell: Cell, folder: Path) -> Outcome | None:
    path = folder / f"{cell.key}{REASON}"
    return (
        Outcome(cell, None, reason=path.read_text("utf-8", "replace"))
        if path.exists()
        else None
    )
