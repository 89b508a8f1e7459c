"""Cells: parts of a long computation that are kept on disk, so that none is done twice.

A cell has facts that decide its result (data by their digest, settings, versions) and a
function that makes named arrays. Its key is the hash of the facts; its file is written under
another name and then put in place, and begins with the hash of what follows: a file that was
cut off or edited is noticed and made again. How long a cell took lies beside it, so that
results have the same bytes however often the work was interrupted. A cell that fails is left
out with its reason, stops no other, and is tried again next time.
"""

import hashlib
import io
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.arrays import InputError
from equipoise.read.files import content, read_arrays, replaced

Arrays = Mapping[str, NDArray[Any]]
Progress = Callable[[int, int], None]
STEPS = 1000  # of progress per cell
_spared: ContextVar[float] = ContextVar("spared", default=0.0)
SUFFIX, TIME = ".cell", ".seconds"


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell.

    Attributes
    ----------
    arrays
        Its result; None where it failed.
    seconds
        How long it took when it was made, with the time that others had spent on what it took
        over from them (`spared`); nan where nobody knows.
    reason
        Why it failed.
    """

    cell: Cell
    arrays: Arrays | None
    seconds: float = float("nan")
    reason: str = ""


def run_cells(
    cells: Sequence[Cell], folder: Path | None, progress: Progress | None = None
) -> list[Outcome]:
    """Every cell in order: read from the folder where it is there, made where it is not.

    Parameters
    ----------
    folder
        Where results are kept; None keeps nothing.
    """
    total, done = len(cells) * STEPS, []
    for place, cell in enumerate(cells):

        def tell(part: int, whole: int, first: int = place * STEPS) -> None:
            if progress is not None:
                progress(first + STEPS * part // max(whole, 1), total)

        tell(0, 1)
        home = None if cell.facts is None else folder
        done.append(_stored(cell, home) or _made(cell, home, tell))
        tell(1, 1)
    return done


def _stored(cell: Cell, folder: Path | None) -> Outcome | None:
    """A result that is there and whole."""
    if folder is None:
        return None
    path = folder / f"{cell.key}{SUFFIX}"
    try:
        file = content(path)
        digest, _, data = file.data.partition(b"\n")
        if hashlib.sha256(data).hexdigest().encode() != digest:
            return None
        arrays = read_arrays(replace(file, data=data))
    except InputError:  # not there, or not whole
        return None
    return Outcome(cell, arrays, _seconds(path.with_suffix(TIME)))


def _seconds(path: Path) -> float:
    try:
        return float(content(path).data)
    except ValueError:  # not there, or no number
        return float("nan")


def _made(cell: Cell, folder: Path | None, tell: Progress) -> Outcome:
    """Make a result and keep it; whatever a cell raises is its own affair."""
    _spared.set(0.0)
    start = time.perf_counter()
    try:
        arrays = cell.run(tell)
    except InputError as error:
        return Outcome(cell, None, reason=str(error))
    except Exception as error:
        return Outcome(cell, None, reason=f"{type(error).__name__}: {error}")
    seconds = round(time.perf_counter() - start + _spared.get(), 3)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        held = io.BytesIO()
        np.savez(held, allow_pickle=False, **{n: np.asarray(a) for n, a in arrays.items()})
        digest = hashlib.sha256(held.getbuffer()).hexdigest().encode()
        path = folder / f"{cell.key}{SUFFIX}"
        _put(path.with_suffix(TIME), f"{seconds}\n".encode("ascii"))
        _put(path, digest + b"\n" + held.getvalue())
    return Outcome(cell, arrays, seconds)


def spared(seconds: float) -> None:
    """Tell that the cell which runs took something over that had taken another so long.

    Each of several cells that share a part is thus charged for it, whoever made it.
    """
    _spared.set(_spared.get() + seconds)


def _put(path: Path, data: bytes) -> None:
    with replaced(path) as file:
        file.write(data)


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
