"""Reader studies as programs for them keep them: files of iMRMC and of MRMCaov.

==========  ================================================================================
iMRMC       a row ``reader, case, modality, score`` per reading, and one per case with the
            reader ``-1`` or ``truth`` whose score says whether it is diseased; a file
            ``.imrmc`` has sizes (``NR:``, ...) and ``BEGIN DATA:`` before them and no header,
            a table has ``readerID, caseID, modalityID, score``
MRMCaov     a table with ``reader, treatment, case, truth, rating``
==========  ================================================================================

Modalities are arms, the truth is gold. Of several yes/no questions there is a file each, with
the question in its name (``reads.Edema.imrmc``); a table may have a column ``task`` instead.
Scores of 0 and 1 are answers; others are how sure a reader is of yes: above the middle of the
scale the answer is yes, and the distance from it the confidence, so that AUROC is that of the
scores.

References
----------
Gallas et al., *iMRMC*, https://cran.r-project.org/package=iMRMC. Smith et al., *MRMCaov*,
https://cran.r-project.org/package=MRMCaov.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np

from equipoise.read.delimited import read_delimited
from equipoise.read.files import AnyPath, Content
from equipoise.read.tables import Table, code_ids, joint_codes, numbers
from equipoise.read.writing import replaced
from equipoise.types import (
    Annotations,
    Floats,
    InputError,
    Names,
    Option,
    csv_line,
    csv_text,
    hint,
    notice,
)

IMRMC = ("readerid", "caseid", "modalityid", "score")
MRMCAOV = ("reader", "case", "treatment", "rating", "truth")
ENDING, TABLE_ENDING = ".imrmc", ".mrmcaov.csv"
TRUTH = ("-1", "truth")  # who reads the truth
_Reading = tuple[str, str, str, float]
_TASK = re.compile(r"\.([^./\\]+)(?:\.imrmc|\.mrmcaov\.csv)(?:\.gz)?$", re.IGNORECASE)
BEGIN = b"BEGIN DATA:"
SCALE = (
    "scores from {low:number} to {high:number} are how sure readers are: above {middle:number} "
    "they say yes"
)


def imrmc_table(file: Content) -> Table:
    """The table in a file that iMRMC reads."""
    head, begin, data = file.data.partition(BEGIN)
    if not begin:
        raise InputError(file.name, "no line 'BEGIN DATA:'", "a file of iMRMC", "check it")
    blank = b"\n" * head.count(b"\n")  # so that rows keep their lines
    whole = blank + ",".join(IMRMC).encode() + data
    return read_delimited(replace(file, data=whole))


def as_annotations_table(table: Table) -> Table:
    """A table of a reader study with our columns; any other as it is."""
    theirs = dict(zip(map(str.casefold, table.columns), table.columns, strict=True))
    task = theirs.get("task", "")
    if set(theirs) - {"task"} == set(IMRMC):
        return _tidy(table, [theirs[name] for name in IMRMC], task)
    if set(MRMCAOV) <= set(theirs):
        return _tidy(table, [theirs[name] for name in MRMCAOV], task)
    return table


def _tidy(table: Table, names: list[str], of_task: str) -> Table:
    """Reader, case, modality and score, and perhaps the truth beside them, as our columns."""
    import pyarrow as pa

    named = _TASK.search(table.name)
    if named and not of_task:
        of_task = "task"
        question = pa.array([unquote(named[1])] * len(table))
        table = replace(table, columns={**table.columns, of_task: question})
    reader, case, arm = (code_ids(table, name) for name in names[:3])
    task = code_ids(table, of_task) if of_task else case
    key = joint_codes(case, task)
    score: Floats = numbers(table, names[3])
    if len(names) > 4:
        _, answered, place = np.unique(key, return_index=True, return_inverse=True)
        truth = numbers(table, names[4])
        odd = np.flatnonzero(truth != truth[answered][place])
        is_truth = np.zeros(len(table), dtype=bool)
        label = truth[answered]
    else:
        names_of_truth = [name.casefold() in TRUTH for name in reader.names]
        is_truth = np.array(names_of_truth)[reader.codes]
        answered, label = np.flatnonzero(is_truth), score[is_truth]
        odd = np.flatnonzero(is_truth & ~np.isin(score, (0, 1)))
    if len(odd):
        got, wanted = "another truth of its case, or none", "0 or 1 for every case"
        raise InputError(table.where(odd[0]), got, wanted, "correct it")
    rows = np.flatnonzero(~is_truth & np.isfinite(score))
    if not len(rows):
        raise InputError(table.name, "no reading with a score", "some", "check the file")
    answer, sure, scale = _answers(score[rows])
    cases, readers = np.array(case.names), np.array(reader.names)
    blank, order = [None] * len(answered), np.append(rows, answered)
    columns = {
        "item": pa.array(cases[case.codes[order]]),
        "annotator": pa.array([*readers[reader.codes[rows]], *["truth"] * len(answered)]),
        "arm": pa.array([*np.array(arm.names)[arm.codes[rows]], *blank], pa.string()),
        "label": pa.array([str(int(x)) for x in (*answer, *label)]),
        "is_gold": pa.array([*["0"] * len(rows), *["1"] * len(answered)]),
    }
    if of_task:
        columns["task"] = pa.array(np.array(task.names)[task.codes[order]])
    if scale:
        columns["confidence"] = pa.array([*map(repr, sure.tolist()), *blank], pa.string())
        low, high = scale
        note = notice("sure_of_yes", SCALE, low=low, high=high, middle=(low + high) / 2)
        table = table.noting(note)
    if len(arm.names) == 1:
        del columns["arm"]
    return replace(table, columns=columns, place="reading {}".format)


def _answers(score: Floats) -> tuple[Floats, Floats, tuple[float, float] | tuple[()]]:
    """Answers, how sure they are, and the ends of the scale where there is one.

    Examples
    --------
    >>> _answers(np.array([1.0, 2.0, 3.0, 5.0]))
    (array([0., 0., 0., 1.]), array([1. , 0.5, 0. , 1. ]), (1.0, 5.0))
    """
    low, high = float(score.min()), float(score.max())
    if set(np.unique(score)) <= {0.0, 1.0}:
        return score, np.ones(len(score)), ()
    share = (score - low) / (high - low) if high > low else np.full(len(score), 0.5)
    return (share > 0.5) * 1.0, np.abs(2 * share - 1), (low, high)


def reader_study_files(path: AnyPath, tasks: Names) -> list[Path]:
    """Where `write_reader_study` writes: a file, or one per question with its name in it.

    Examples
    --------
    >>> [file.name for file in reader_study_files("reads.imrmc", ("Edema", "T/N"))]
    ['reads.Edema.imrmc', 'reads.T%2FN.imrmc']
    """
    path = Path(path)
    if len(tasks) == 1:
        return [path]
    end = next(end for end in (ENDING, TABLE_ENDING) if path.name.lower().endswith(end))
    quoted = (quote(task, safe=" ").replace(".", "%2E") for task in tasks)
    return [path.with_name(f"{path.name[: -len(end)]}.{task}{end}") for task in quoted]


def write_reader_study(path: AnyPath, votes: Annotations) -> list[Path]:
    """Write the readings of yes/no questions as iMRMC or MRMCaov take them, by the ending.

    Parameters
    ----------
    votes
        Of people with names, with gold on every item of every question.

    Returns
    -------
    list of paths
        The files: one per question.
    """
    paths = reader_study_files(path, votes.tasks)
    form = _imrmc if str(path).lower().endswith(ENDING) else _mrmcaov
    texts = ["".join(form(votes.rows(votes.in_task(task)))) for task in votes.tasks]
    for file_path, text in zip(paths, texts, strict=True):
        with replaced(file_path) as file:
            file.write(text.encode("utf-8"))
    return paths


def _readings(votes: Annotations) -> tuple[list[_Reading], dict[str, int]]:
    """Reader, case, modality and score of every reading, and the truth of every case."""
    faults = {
        f"{votes.kind} labels": votes.kind != "binary",
        "votes without names": votes.annotator is None or votes.annotators is None,
        "items without a reference standard": not np.isin(
            votes.item, votes.item[votes.gold]
        ).all(),
    }
    for got, there in faults.items():
        if there:
            wanted = "yes/no questions, readers with names, and a standard for every item"
            do = hint("leave the others out, or name it ({})", Option("gold"))
            raise InputError("reader study", got, wanted, do)
    label, who = votes.label, votes.annotator
    assert label is not None and who is not None and votes.annotators is not None
    score = label.astype(float)
    if votes.confidence is not None and not np.isnan(votes.confidence[~votes.gold]).any():
        score = 0.5 + np.where(label == 1, 0.5, -0.5) * np.nan_to_num(votes.confidence)
    arms = votes.arms or ("reading",)
    arm = np.zeros(len(votes), dtype=np.int64) if votes.arm is None else votes.arm
    score = np.round(score, 12)
    whole = bool((score == np.round(score)).all())
    values: list[float] = (score.astype(int) if whole else score).tolist()
    rows = [
        (votes.annotators[who[row]], votes.items[votes.item[row]], arms[arm[row]], values[row])
        for row in np.flatnonzero(~votes.gold)
    ]
    gold = np.flatnonzero(votes.gold)
    return rows, {votes.items[votes.item[row]]: int(label[row]) for row in gold}


def _imrmc(votes: Annotations) -> Iterator[str]:
    rows, truth = _readings(votes)
    sick = sum(truth.values())
    sizes = {"NR": len({row[0] for row in rows}), "N0": len(truth) - sick, "N1": sick,
             "NM": len({row[2] for row in rows})}  # fmt: skip
    yield "Readings of a reader study, for iMRMC\n"
    yield from (f"{name}: {size}\n" for name, size in sizes.items())
    lines = [*((TRUTH[0], case, "0", str(sick)) for case, sick in truth.items()), *rows]
    yield f"{BEGIN.decode()}\n"
    yield from map(csv_line, lines)


def _mrmcaov(votes: Annotations) -> Iterator[str]:
    rows, truth = _readings(votes)
    lines = ((*row, truth[row[1]]) for row in rows)
    yield csv_text(MRMCAOV, lines)
