"""Read annotations from a file of any known format."""

from typing import Unpack

from equipoise.annotations import Annotations
from equipoise.arrays import choice
from equipoise.read import delimited, parquet
from equipoise.read.files import (
    JSON,
    NUMPY,
    AnyPath,
    Content,
    content,
    read_array,
    read_json,
    unknown_ending,
)
from equipoise.read.label_studio import is_label_studio, label_studio_annotations
from equipoise.read.layouts import count_annotations, table_annotations
from equipoise.read.options import AnnotationKeywords, AnnotationOptions, annotation_options
from equipoise.read.rankings import ranking_annotations

_ENDINGS = (*delimited.ENDINGS, *parquet.ENDINGS, *JSON, *NUMPY)


def read_annotations(path: AnyPath, **keywords: Unpack[AnnotationKeywords]) -> Annotations:
    """Read annotations from CSV, TSV, Parquet, JSON or NumPy files, also with ``.gz``.

    Parameters
    ----------
    path
        The file. Its ending tells the format: ``.csv``, ``.tsv`` and ``.txt`` are
        delimited text; ``.parquet`` and ``.pq`` are Parquet; ``.json`` holds nested
        rankings or an export of Label Studio; ``.npy`` holds a count matrix.
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
    file = content(path)
    if file.suffix in delimited.ENDINGS:
        return table_annotations(delimited.read_delimited(file), options)
    if file.suffix in parquet.ENDINGS:
        return _from_parquet(file, options)
    if file.suffix in JSON:
        return _from_json(file, options)
    if file.suffix in NUMPY:
        choice(f"{file.name}, layout", options.layout, ("auto", "counts"))
        options.refuse("columns", where=file.name)
        return count_annotations(read_array(file), options, name=file.name)
    raise unknown_ending(file, _ENDINGS)


def _from_parquet(file: Content, options: AnnotationOptions) -> Annotations:
    """Take a file of ours as it was written unless told how to read it."""
    arrow = parquet.read_arrow(file)
    if options == AnnotationOptions(exchangeable=options.exchangeable):
        stored = parquet.stored_annotations(file, arrow)
        if stored is not None:
            return stored.anonymous() if options.exchangeable else stored
    return table_annotations(parquet.parquet_table(file, arrow), options)


def _from_json(file: Content, options: AnnotationOptions) -> Annotations:
    known = ("auto", "rankings", "label-studio")
    layout = choice(f"{file.name}, layout", options.layout, known)
    parsed = read_json(file)
    if layout == "label-studio" or (layout == "auto" and is_label_studio(parsed)):
        return label_studio_annotations(parsed, options, name=file.name)
    return ranking_annotations(parsed, options, name=file.name)
