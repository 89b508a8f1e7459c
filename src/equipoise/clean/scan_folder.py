"""The folder of a scan: ``scan.json``, the lists as CSV, the page, and pictures beside it.

Nothing in it depends on when or where it was made. ``scan.json`` is written last, so a folder
that has one is whole.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from equipoise.clean.scan import Scan
from equipoise.clean.scan_report import (
    THUMBNAILS,
    ScanSource,
    address,
    rows,
    scan_report,
    scores,
)
from equipoise.read import codec
from equipoise.read.files import content, read_json
from equipoise.read.folders import write_folder
from equipoise.report.page import report_files
from equipoise.report.text import as_csv
from equipoise.types.arrays import InputError
from equipoise.types.findings import Report
from equipoise.types.findings.json import JsonValue, as_json

MARK = "scan.json"
SCHEMA = 1
AGAIN = "run equipoise clean scan again"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanRecord:
    """Everything one scan found, and where it comes from."""

    scan: Scan
    source: ScanSource
    equipoise: str = ""
    schema: int = SCHEMA

    @property
    def report(self) -> Report:
        """What is said of it."""
        return scan_report(self.scan, self.source)

    def with_pictures_inside(self, folder: Path) -> "ScanRecord":
        """The same with the pictures of a folder in place of the ways to them."""
        known = {
            name: address((folder / way).read_bytes())
            if way.startswith(f"{THUMBNAILS}/") and (folder / way).is_file()
            else way
            for name, way in self.source.pictures.items()
        }
        return replace(self, source=replace(self.source, pictures=known))

    def as_json(self) -> dict[str, JsonValue]:
        """The answer, every line of every list, and each finding."""
        report = self.report
        return {
            "answer": "" if report.card is None else str(report.card.answer),
            **as_json(report),
            "rows": [row for task in self.scan.tasks for row in rows(task)],
        }

    def save(self, folder: Path, thumbnails: Mapping[str, bytes] | None = None) -> list[str]:
        """Write the folder; returns the names of its files."""
        files: dict[str, str | bytes] = {**report_files(self.report), **(thumbnails or {})}
        for task in self.scan.tasks:
            own = [{k: v for k, v in row.items() if k != "task"} for row in rows(task)]
            files[f"{task.task}.csv"] = as_csv(own)
        files["scores.csv"] = as_csv(scores(self.scan))
        held = {**codec.encode(replace(self, equipoise=version("equipoise")))}
        held["files"] = sorted([*files, MARK])
        text = json.dumps(codec.sealed(held), indent=1, ensure_ascii=False, allow_nan=False)
        files[MARK] = text + "\n"
        write_folder(folder, files, mark=MARK)
        return sorted(files)


def load_scan(folder: Path) -> ScanRecord:
    """Read a scan."""
    path = folder / MARK if folder.is_dir() else folder
    try:
        held = read_json(content(path))
    except InputError as error:
        raise InputError(f"{path}", "not a scan", "JSON of a scan", AGAIN) from error
    if not isinstance(held, dict) or held.get("schema") != SCHEMA:
        raise InputError(f"{path}", "another schema", f"schema {SCHEMA}", AGAIN)
    record = codec.read(ScanRecord, held, MARK)
    codec.check_seal(held, f"{path}", AGAIN)
    return record
