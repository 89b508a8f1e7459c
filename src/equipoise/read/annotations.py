"""Read annotations from a file of any known format."""

from collections.abc import Sequence
from typing import Unpack

from equipoise.read import parquet
from equipoise.read.canonical import is_study, study_of
from equipoise.read.files import (
    JSON,
    NUMPY,
    AnyPath,
    Content,
    content,
    listed_paths,
    read_array,
    read_json,
)
from equipoise.read.formats import TABULAR, read_table
from equipoise.read.label_studio import is_label_studio, label_studio_annotations
from equipoise.read.layouts import NamedTable, annotations_of_tables, count_annotations
from equipoise.read.options import AnnotationKeywords, AnnotationOptions, annotation_options
from equipoise.read.rankings import ranking_annotations
from equipoise.read.tables import array_table
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, choice


def read_annotations(
    path_or_paths: AnyPath | Sequence[AnyPath], **keywords: Unpack[AnnotationKeywords]
) -> Annotations:
    """Read annotations from CSV, TSV, Parquet, JSON or NumPy files, also with ``.gz``.

    Parameters
    ----------
    path_or_paths
        A file, or several tables that are read as one; a folder stands for the tables in it.
        The ending tells the format: ``.csv``, ``.tsv`` and ``.txt`` are delimited text;
        ``.parquet`` and ``.pq`` are Parquet; ``.json`` holds nested rankings or an export of
        Label Studio; ``.npy`` holds a count matrix, or with layout ``tasks`` the labels of
        one annotator, shape (items, tasks).
    **keywords
        See `equipoise.read.options.AnnotationOptions`: `layout`, `kind`, `classes`,
        `columns`, `repeats`, `exchangeable`.

    Returns
    -------
    Annotations
        Coded and checked. Its `notices` say what the reader decided.

    Raises
    ------
    InputError
        If the file or a row of it cannot be used; the message names the row.
    """
    options = annotation_options(keywords)
    paths = listed_paths(path_or_paths)
    if len(paths) > 1:
        return annotations_of_tables([_named_table(path, options) for path in paths], options)
    file = content(paths[0])
    if is_study(file):
        return _of_study(file, options)
    if file.suffix in JSON:
        return _from_json(file, options)
    if file.suffix in NUMPY:
        return _from_array(file, options)
    stored = None
    if options == AnnotationOptions(exchangeable=options.exchangeable):
        stored = parquet.stored_annotations(file)
    if stored is not None:  # a file of ours, taken as written unless told how to read it
        return stored.anonymous() if options.exchangeable else stored
    table = read_table(file, *JSON, *NUMPY)
    return annotations_of_tables([NamedTable(table, file.stem)], options)


def _named_table(path: AnyPath, options: AnnotationOptions) -> NamedTable:
    """One of several tables, with the name of the annotator whose file it may be."""
    file = content(path)
    if is_study(file):
        raise InputError(
            file.name,
            "a whole study among several files",
            "tables of annotations",
            "give the study alone",
        )
    if file.suffix in TABULAR:
        return NamedTable(read_table(file), file.stem)
    if file.suffix in NUMPY and options.layout == "tasks":
        return NamedTable(array_table(read_array(file), file.name), file.stem)
    raise InputError(
        file.name,
        "one of several files of annotations",
        f"tables ending in {', '.join(TABULAR)}",
        "give it alone",
    )


def _of_study(file: Content, options: AnnotationOptions) -> Annotations:
    """The annotations of a file that `write_study` made."""
    options.refuse("layout", "kind", "classes", "columns", "repeats", where=file.name)
    annotations, _ = study_of(file)
    return annotations.anonymous() if options.exchangeable else annotations


def _from_array(file: Content, options: AnnotationOptions) -> Annotations:
    """Take counts, or one annotator's labels of several tasks."""
    choice(f"{file.name}, layout", options.layout, ("auto", "counts", "tasks"))
    options.refuse("columns", where=file.name)
    array = read_array(file)
    if options.layout == "tasks":
        table = array_table(array, file.name)
        return annotations_of_tables([NamedTable(table, file.stem)], options)
    return count_annotations(array, options, name=file.name)


def _from_json(file: Content, options: AnnotationOptions) -> Annotations:
    known = ("auto", "rankings", "label-studio")
    layout = choice(f"{file.name}, layout", options.layout, known)
    parsed = read_json(file)
    if layout == "label-studio" or (layout == "auto" and is_label_studio(parsed)):
        return label_studio_annotations(parsed, options, name=file.name)
    return ranking_annotations(parsed, options, name=file.name)
