"""Votes and ratings of files larger than memory, read batch by batch and summed on the way.

`stream_votes` keeps one number per item and class that was voted for, `stream_ratings` three
per item: memory grows with the items, never with the votes. Who voted is checked and then
dropped, so models of annotators need `read_annotations`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from equipoise.aggregate.normal import Moments
from equipoise.annotations import Annotations, Kind
from equipoise.arrays import InputError, listed
from equipoise.coding.options import AnnotationOptions, annotation_options
from equipoise.coding.tables import Table
from equipoise.coding.votes import located
from equipoise.io._batches import Source, opened
from equipoise.io._rated import Rated
from equipoise.io._tally import KEYS, Tally, collapsed
from equipoise.io.files import AnyPath

READ = (*KEYS, "annotator", "count", "weight")
WHOLE = "read the file whole with read_annotations"
Progress = Callable[[int, int], None]


def stream_votes(
    path: AnyPath,
    *,
    classes: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    kind: Kind | None = None,
    progress: Progress | None = None,
) -> Annotations:
    """Count the votes of a tidy file, CSV or Parquet, without holding them in memory.

    The result is that of `read_annotations` without annotators, equal votes made one row with a
    `count`. Votes that have weights keep their number, and their mean weight. A file with
    several faults may have another of them named first.

    Parameters
    ----------
    path
        Delimited text (``.csv``, ``.tsv``, ``.txt``, also with ``.gz``) or Parquet, one row
        per vote.
    classes, columns, kind
        As for `read_annotations`; kinds ``interval`` and ``ranking`` are refused.
    progress
        Called as ``progress(done, all)`` with numbers of rows after each batch.

    Returns
    -------
    Annotations
        Anonymous, with `count`; `notices` say what was left out.

    Raises
    ------
    InputError
        If the file or a row of it cannot be used; the message names the row.
    """
    source = opened(path)
    how = _options(source, {"classes": classes, "columns": columns or {}, "kind": kind})
    _refuse_kind(source.header.name, how.kind)
    header = _headed(source, how)
    tally = Tally()
    for table in _batches(source, header, progress):
        tally.add(table)
    if not tally.rows:
        replace(header, columns={}).nonempty()
    theirs = header.columns
    whole = [ours for ours in theirs if theirs[ours] in source.coded]
    found = collapsed(tally.table(header, whole), replace(how, columns={}))
    votes = f"{int(found['count'].sum()):,} votes are counted by item and class"
    found["notices"] += (f"{votes}; who gave them is not kept",)
    return Annotations(**found)


def stream_ratings(
    path: AnyPath,
    *,
    task: str = "",
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> Moments:
    """Sum the ratings of a tidy file for `normal_of_moments`, without holding them in memory.

    Parameters
    ----------
    path, columns, progress
        As for `stream_votes`; the labels are numbers.
    task
        Which question, where the file has a column of tasks.

    Returns
    -------
    Moments
        Number, mean and squares of each item's ratings; weights and counts repeat a rating.
    """
    source = opened(path)
    how = _options(source, {"columns": columns or {}, "kind": "interval"})
    header = _headed(source, how)
    rated = Rated(task)
    for table in _batches(source, header, progress):
        rated.add(table)
    if not rated.rows:
        replace(header, columns={}).nonempty()
    return rated.moments(header, whole=header.columns["item"] in source.coded)


def _options(source: Source, given: Mapping[str, Any]) -> AnnotationOptions:
    """Check the keywords; a file of ours tells its kind and classes itself."""
    how = annotation_options(given)
    if how == AnnotationOptions() and source.facts:
        classes = tuple(source.facts["classes"]) or None
        return replace(how, kind=source.facts["kind"], classes=classes)
    return how


def _refuse_kind(name: str, kind: str | None) -> None:
    if kind == "interval":
        raise InputError(
            f"{name}, kind 'interval'", "ratings", "votes for classes",
            f"use stream_ratings, or {WHOLE}",
        )  # fmt: skip
    if kind == "ranking":
        raise InputError(f"{name}, kind 'ranking'", "rankings", "one label per row", WHOLE)


def _headed(source: Source, how: AnnotationOptions) -> Table:
    """Find the columns: ours -> the name in the file, only those that are read."""
    name = source.header.name
    source.header.required("label", how.columns, otherwise=f"; for other layouts {WHOLE}")
    header = located(source.header, how)
    if "rank" in header.columns:
        raise InputError(f"{name}, column 'rank'", "rankings", "one label per row", WHOLE)
    idle = [ours for ours in header.columns if ours not in READ]
    if idle:
        header = header.saying(f"columns {listed(idle, most=8)} are not kept when streamed")
    kept = {ours: theirs for ours, theirs in header.columns.items() if ours in READ}
    return replace(header, columns=kept).saying(*source.facts.get("notices", ()))


def _batches(source: Source, header: Table, progress: Progress | None) -> Iterator[Table]:
    """Yield tables of the columns wanted, each knowing where its rows stand in the file."""
    done = 0
    for batch in source.batches(list(header.columns.values())):
        columns = {ours: batch[theirs] for ours, theirs in header.columns.items()}
        table = replace(header, columns=columns, place=_shifted(header.place, done))
        if not len(table):
            continue
        yield table
        done += len(table)
        if progress is not None:
            progress(done, max(done, source.rows))


def _shifted(place: Callable[[int], str], by: int) -> Callable[[int], str]:
    return lambda row: place(by + row)
