"""The folder of a benchmark: the run of all detectors, what they cost, and what it is about.

A folder belongs to one study, known by its name and the names of its items: the same study goes
on there with other detectors, tasks or votes, and another one is refused.
"""

from dataclasses import asdict, dataclass, replace
from json import dumps
from pathlib import Path

from equipoise.clean.benchmark_report import benchmark_run, cost_rows
from equipoise.clean.comparison import CleanBenchmark
from equipoise.clean.study import CleanStudy
from equipoise.read.codec import read
from equipoise.read.files import content, read_json
from equipoise.report.text import as_csv
from equipoise.scale.cells import digest
from equipoise.types.arrays import InputError
from equipoise.types.findings import Report
from equipoise.types.notices import Notice, notice

MARK = "benchmark.json"
REPLACED = (
    "The result in {folder} of {detectors} on {tasks} was replaced by that of {now} on "
    "{tasks_now}; what every detector scored is kept."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """What a folder is about: a study, the hash of its items, and what was compared on it."""

    study: str
    items: str
    tasks: tuple[str, ...]
    detectors: tuple[str, ...]


def check_study(folder: Path, study: CleanStudy) -> None:
    """Refuse a folder that holds the benchmark of another study."""
    there = _there(folder)
    if there is not None and (there.study, there.items) != (study.name, _items(study)):
        other = "" if there.study != study.name else ", of other items"
        raise InputError(
            f"{folder}",
            f"holds a benchmark on {there.study}{other}",
            f"one on {study.name}, or a new folder",
            "name another folder, or allow overwriting (--overwrite)",
        )


def save(done: CleanBenchmark, report: Report, folder: Path) -> tuple[Notice, ...]:
    """Write the run; what it cost lies beside it, as that differs every time.

    Returns a notice where the result of other detectors, tasks or another study was replaced.
    """
    there = _there(folder)
    about = _About(
        study=done.study.name,
        items=_items(done.study),
        tasks=tuple(one.task for one in done.tasks),
        detectors=tuple(one.name for one in done.detectors),
    )
    lasting = tuple(one for one in report.findings if one.key != "cost")
    beside = {
        "cost.csv": as_csv(cost_rows(done)),
        MARK: dumps(asdict(about), indent=1) + "\n",
    }
    run = benchmark_run(done, replace(report, findings=lasting))
    run.save(folder, overwrite=True, beside=beside)
    if there is None or there == about:
        return ()
    return (
        notice(
            "benchmark_replaced",
            REPLACED,
            folder=str(folder),
            detectors=", ".join(there.detectors),
            tasks=", ".join(there.tasks),
            now=", ".join(about.detectors),
            tasks_now=", ".join(about.tasks),
        ),
    )


def _there(folder: Path) -> _About | None:
    path = folder / MARK
    return read(_About, read_json(content(path)), str(path)) if path.is_file() else None


def _items(study: CleanStudy) -> str:
    return digest([sorted(study.collection.items)])
