"""Read annotations from a file of any known format."""

from typing import Unpack

from equipoise.annotations import Annotations
from equipoise.arrays import choice
from equipoise.coding.counts import matrix_columns
from equipoise.coding.layouts import table_columns
from equipoise.coding.options import (
    AnnotationHow,
    AnnotationOptions,
    annotation_options,
)
from equipoise.coding.rankings import ranking_columns
from equipoise.io import delimited, json_text, npy, parquet
from equipoise.io.files import AnyPath, Content, content, unknown_ending
from equipoise.io.label_studio import is_label_studio, label_studio_columns
from equipoise.io.stored import stored_annotations

ENDINGS = (*delimited.ENDINGS, *parquet.ENDINGS, *json_text.ENDINGS, *npy.ENDINGS)


def read_annotations(path: AnyPath, **how: Unpack[AnnotationHow]) -> Annotations:
    """Read annotations from CSV, TSV, Parquet, JSON or NumPy files, also with ``.gz``.

    Parameters
    ----------
    path
        The file. Its ending tells the format: ``.csv``, ``.tsv`` and ``.txt`` are
        delimited text; ``.parquet`` and ``.pq`` are Parquet; ``.json`` holds nested
        rankings or an export of Label Studio; ``.npy`` holds a count matrix.
    **how
        See `equipoise.coding.options.AnnotationOptions`: `layout`, `kind`, `classes`,
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
    options = annotation_options(how)
    file = content(path)
    if file.suffix in delimited.ENDINGS:
        return Annotations(**table_columns(delimited.read_delimited(file), options))
    if file.suffix in parquet.ENDINGS:
        return _from_parquet(file, options)
    if file.suffix in json_text.ENDINGS:
        return _from_json(file, options)
    if file.suffix in npy.ENDINGS:
        choice(f"{file.name}, layout", options.layout, ("auto", "counts"))
        options.refuse("columns", where=file.name)
        return Annotations(**matrix_columns(npy.read_array(file), options, name=file.name))
    raise unknown_ending(file, ENDINGS)


def _from_parquet(file: Content, how: AnnotationOptions) -> Annotations:
    """Take a file of ours as it was written unless told how to read it."""
    arrow = parquet.read_arrow(file)
    if how == AnnotationOptions(exchangeable=how.exchangeable):
        stored = stored_annotations(file, arrow)
        if stored is not None:
            return stored.anonymous() if how.exchangeable else stored
    return Annotations(**table_columns(parquet.parquet_table(file, arrow), how))


def _from_json(file: Content, how: AnnotationOptions) -> Annotations:
    layout = choice(f"{file.name}, layout", how.layout, ("auto", "rankings", "label-studio"))
    parsed = json_text.read_json(file)
    if layout == "label-studio" or (layout == "auto" and is_label_studio(parsed)):
        return Annotations(**label_studio_columns(parsed, how, name=file.name))
    return Annotations(**ranking_columns(parsed, how, name=file.name))
