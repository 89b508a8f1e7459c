"""The folder on disk: the page for people, ``run.json`` and ``replicates.npy`` for programs.

``run.json`` names the hash of the replicates and has a seal, the hash of all that it says:
what was edited, swapped or damaged is noticed on opening. The page and the tables for people
may be written into. Disputed items lie beside it as a table for adjudication.

What they hold is `equipoise.report.run.record`.
"""

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equipoise.read.codec import check_seal, sealed
from equipoise.read.files import content, file_sha256, read_array, read_json
from equipoise.read.writing import write_folder
from equipoise.report.page import render
from equipoise.report.run.record import SCHEMA, RunRecord, decode, encode
from equipoise.report.text import as_csv
from equipoise.types.arrays import InputError, short_repr
from equipoise.types.findings import Report, Table
from equipoise.types.findings.record import JsonValue

HEADER = "run.json"
REPLICATES = "replicates.npy"
PAGE = "report.html"


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Everything one evaluation found, with what is needed to make it again.

    Attributes
    ----------
    record
        What ``run.json`` holds: settings, definitions, inputs and all tables.
    replicates
        Shape (tasks, metrics, labels, models, replicates).
    """

    record: RunRecord
    replicates: NDArray[np.float64]

    __repr__ = short_repr

    def __post_init__(self) -> None:
        """Refuse replicates of another run."""
        axes = (self.record.tasks, self.record.metrics, self.record.labels, self.record.models)
        shape = tuple(len(axis) for axis in axes)
        fits = self.replicates.ndim == 5 and self.replicates.shape[:4] == shape
        if not fits or self.replicates.dtype.kind != "f":
            raise InputError(
                "replicates",
                f"shape {self.replicates.shape} of {self.replicates.dtype}",
                f"{(*shape, 'replicates')}",
                "keep run.json and its replicates together",
            )

    @property
    def header(self) -> Mapping[str, JsonValue]:
        """The record as plain JSON."""
        return encode(self.record)

    @property
    def report(self) -> Report:
        """What was said of it."""
        return self.record.report or Report(title=self.record.title, findings=())

    def save(
        self, folder: Path, *, overwrite: bool = False, beside: Mapping[str, str] | None = None
    ) -> Path:
        """Write the run into a folder; an earlier run there is only replaced if asked.

        Parameters
        ----------
        beside
            Further texts by their names, which come and go with the run.
        """
        target = prepare_folder(folder, overwrite=overwrite)
        array = io.BytesIO()
        np.save(array, self.replicates)
        header = dict(self.header)
        header["replicates"] = {
            "file": REPLICATES,
            "sha256": hashlib.sha256(array.getbuffer()).hexdigest(),
            "shape": list(self.replicates.shape),
        }
        files: dict[str, str | bytes] = {
            **(beside or {}),
            REPLICATES: array.getvalue(),
            PAGE: render(self.report),
            **{f"{table.name}.csv": as_csv(table.rows) for table in downloads(self.report)},
            HEADER: json.dumps(sealed(header), indent=1, allow_nan=False) + "\n",
        }
        write_folder(target, files, mark=HEADER)
        return target

    @classmethod
    def load(cls, folder: Path) -> "Run":
        """Read a run and check that it is whole."""
        target = Path(folder)
        target = target.parent if target.name == HEADER else target
        header = _header(target)
        path = target / REPLICATES
        named = header.get("replicates")
        expected = named.get("sha256") if isinstance(named, dict) else None
        if not path.is_file() or file_sha256(path) != expected:
            got = "changed or damaged" if path.exists() else "missing"
            raise InputError(
                f"{path}", got, "the replicates that run.json names", "run evaluate again"
            )
        record = decode(header)  # which names a field that is not as it should be
        check_seal(header, f"{target / HEADER}", "run evaluate again")
        return cls(record, read_array(content(path)))


def prepare_folder(folder: Path, *, overwrite: bool = False) -> Path:
    """Check that a run can be written to a folder and that nothing is lost; make nothing."""
    target = Path(folder)
    there = list(filter(Path.exists, (target / HEADER, target / PAGE)))
    if there and not overwrite:
        raise InputError(
            f"{target}",
            f"already holds a run ({', '.join(path.name for path in there)})",
            "a new folder",
            "name another folder, or allow overwriting (--overwrite)",
        )
    ground = next(filter(Path.exists, (target, *target.absolute().parents)))
    if not ground.is_dir() or not os.access(ground, os.W_OK):
        why = "read-only" if ground.is_dir() else "a file"
        raise InputError(
            f"{target}",
            f"cannot be written ({ground} is {why})",
            "a folder to write into",
            "name another folder",
        )
    return target


def downloads(report: Report) -> list[Table]:
    """Tables that lie in the folder as files of their own."""
    return [table for part in report.findings for table in part.tables if table.download]


def _header(target: Path) -> dict[str, Any]:
    """Read ``run.json`` of a folder."""
    path = target / HEADER
    if not path.is_file():
        raise InputError(
            f"{target}",
            "no run.json",
            "a folder written by equipoise evaluate --out",
            "check the path, or run evaluate first",
        )
    try:
        header = read_json(content(path))
    except InputError:
        header = None
    if not isinstance(header, dict) or "schema" not in header:
        raise InputError(
            f"{path}", "not a run header", "JSON with a schema number", "run evaluate again"
        )
    schema = header["schema"]
    if schema != SCHEMA:
        earlier = isinstance(schema, int) and schema < SCHEMA
        raise InputError(
            f"{path}",
            f"schema {schema}: a run of {'an earlier' if earlier else 'another'} version, "
            "which this one does not open",
            f"schema {SCHEMA}",
            "evaluate its files again (run.json names them under inputs), or open it with the "
            "version that wrote it",
        )
    return header
