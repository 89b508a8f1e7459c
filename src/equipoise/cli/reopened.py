"""The files of an earlier evaluation: where they lie now, and how they were read.

They are looked for where they lay as seen from the folder, then beside it, in it and here, and
count only if their hash is the recorded one. Options that were left out are as they were then.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from equipoise.cli.options import DEFAULTS, Options, flag
from equipoise.read.files import file_sha256, listed_paths
from equipoise.read.writing import RUN
from equipoise.report.run import InputFile, Run, RunRecord
from equipoise.types import InputError, Notice, Notices, immutable

TITLE = "which model is better?"  # heading of an evaluation that has no other
AS_IN_RUN = (
    *("kind", "exchangeable", "layout", "repeats", "first_votes", "positive", "at_least"),
    *("normalise", "phases", "prediction_layout", "on_missing", "gold", "ties", "circular"),
)  # read as an earlier evaluation did, unless something else is said


@immutable(kw_only=True)
class EarlierRun:
    """An evaluation whose files are read again.

    Attributes
    ----------
    folder, record
        Where it lies, and what it wrote.
    options
        What is asked now, with its files and how they were read then.
    notices
        What of it does not carry over.
    """

    folder: Path
    record: RunRecord
    options: Options
    notices: Notices

    @property
    def name(self) -> str:
        """Its own title, else the name of its folder."""
        title = self.record.title
        return self.folder.resolve().name if title.endswith(TITLE) else title

    @property
    def resample(self) -> str | None:
        """What it drew anew; draws of a model do not carry over."""
        kind = self.record.settings.resample
        return None if kind.endswith("posterior") or kind == "influence" else kind


def earlier_run(options: Options, truth: str) -> EarlierRun | None:
    """The evaluation whose folder, or record, is the study that was named, if it is one."""
    bare = options.study or []
    run = next(filter(_is_run, bare), None)
    if run is None:
        return None
    if len(bare) > 1:
        raise InputError(
            f"{run}",
            "the folder of an evaluation beside other files",
            "one or the other",
            "give other files with -a and -p",
        )

    folder = run if run.is_dir() else run.parent
    record = Run.load(run).record
    question = record.question
    stored = {
        name: getattr(question, name)
        for name in AS_IN_RUN
        if getattr(options, name) == DEFAULTS[name] and getattr(question, name) is not None
    }
    for name in ("columns", "prediction_columns"):
        columns: Mapping[str, str] = getattr(question, name)
        if getattr(options, name) is None and columns:
            stored[name] = ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())
    notices = _cautions(record, truth)
    files, changed = _located_files(options, folder, record)
    return EarlierRun(
        folder=folder,
        record=record,
        options=replace(files, **stored, study=None),
        notices=notices + changed,
    )


def _is_run(path: Path) -> bool:
    """Whether a path is meant as the folder of an evaluation, or its record."""
    if path.name == RUN or (path / RUN).exists():
        return True
    return path.suffix == "" and not (path.is_dir() and any(path.iterdir()))


def _cautions(record: RunRecord, truth: str) -> Notices:
    """What of the run does not carry over."""
    if record.question.by_group or record.question.within:
        raise InputError(
            "run.json",
            "an evaluation by groups of classes",
            "one of the classes themselves",
            "give -a and -p in place of the folder",
        )
    if not record.truth_model or truth != "votes":
        return ()
    text = (
        "The evaluation inferred the truth by a model; here the votes themselves are the truth."
    )
    return (Notice("truth_by_model", text),)


def table_files(paths: Sequence[Path] | None) -> list[Path]:
    """Replace every folder by the tables in it, in order of their names."""
    return [Path(path) for path in listed_paths(list(paths))] if paths else []


def _located_files(files: Options, folder: Path, record: RunRecord) -> tuple[Options, Notices]:
    """The files of a run, found and checked again; files that are given come first."""
    votes = [file for file in record.inputs if file.role == "annotations"]
    scores = [file for file in record.inputs if file.role == "predictions"]
    source = None if files.annotations else record.dataset
    dataset = None if source is None else source.get("name")
    new_scores = table_files(files.predictions)
    paths = new_scores or [located(folder, file) for file in scores]
    new_votes = table_files(files.annotations)
    vote_paths = new_votes or [located(folder, file) for file in votes]
    other = [
        path.name
        for path, recorded in (
            *((path, votes) for path in new_votes),
            *((path, scores) for path in new_scores),
        )
        if path.is_file() and file_sha256(path) not in {file.sha256 for file in recorded}
    ]
    text = "{files:names}: not the file that was evaluated; what is given counts."
    notices = (Notice("changed_file", text, (), {"files": tuple(other)}),) if other else ()
    return (
        replace(files, annotations=vote_paths or None, predictions=paths, dataset=dataset),
        notices,
    )


def located(folder: Path, wanted: InputFile) -> Path:
    """The file that a run read, by its place, name and hash."""
    there = [path for path in _places(folder, wanted) if path.is_file()]
    for path in there:
        if file_sha256(path) == wanted.sha256:
            return path
    name = wanted.name
    option = {"annotations": "-a", "predictions": "-p"}.get(wanted.role) or flag(wanted.role)
    where = f"{folder / 'run.json'}, {wanted.role}"
    if there:
        now = file_sha256(there[0])
        raise InputError(
            where,
            f"{there[0]} was found but is changed since (SHA-256 {now[:12]}..., "
            f"not {wanted.sha256[:12]}...)",
            "the file that was evaluated",
            f"bring it back, or take the changed file: {option} {there[0]}",
        )
    lay = f" where it lay ({wanted.path} from the run)," if wanted.path else ""
    raise InputError(
        where,
        f"{name!r} is neither{lay} beside the run, in it nor in this folder",
        "the file that was evaluated",
        f"give its place: {option} {name}",
    )


def _places(folder: Path, wanted: InputFile) -> list[Path]:
    """Where a file may lie, the most likely place first; links are followed either way."""
    name, real = wanted.name, folder.resolve()
    places = []
    if wanted.path:
        places += [Path(os.path.normpath(folder / wanted.path)), real / wanted.path]
    beside = Path(os.path.normpath(folder / ".." / name))
    return list(dict.fromkeys([*places, beside, real.parent / name, folder / name, Path(name)]))
