"""Read predictions from one file or several."""

import os
from collections.abc import Iterable, Sequence
from typing import Unpack

from equipoise.arrays import InputError
from equipoise.coding.options import PredictionHow, PredictionOptions, prediction_options
from equipoise.coding.scores import array_scores, table_scores
from equipoise.coding.tables import Table
from equipoise.io import delimited, npy, parquet
from equipoise.io.files import AnyPath, Content, content, unknown_ending
from equipoise.predictions import Predictions

ENDINGS = (*delimited.ENDINGS, *parquet.ENDINGS, *npy.ENDINGS)


def read_predictions(
    path_or_paths: AnyPath | Sequence[AnyPath], **how: Unpack[PredictionHow]
) -> tuple[Predictions, ...]:
    """Read predictions from CSV, TSV, Parquet or NumPy files, also with ``.gz``.

    Parameters
    ----------
    path_or_paths
        One file or several. A file of one model that does not name it gives it its stem.
    **how
        See `equipoise.coding.options.PredictionOptions`: `layout`, `columns`, `classes`,
        `model`, `task`.

    Returns
    -------
    tuple of Predictions
        One per model and task, in the order of the files and of their rows.

    Raises
    ------
    InputError
        If a file or a row of it cannot be used, or if two files give the same model and
        task; the message names model, item and row.
    """
    options = prediction_options(how)
    if isinstance(path_or_paths, str | os.PathLike):
        paths: list[AnyPath] = [path_or_paths]
    else:
        paths = list(path_or_paths) if isinstance(path_or_paths, Iterable) else []
    if not paths or (len(paths) > 1 and options.model is not None):
        raise InputError(
            "predictions", f"{len(paths)} files and model={options.model!r}",
            "at least one file, and a name for one file only",
            "leave out model; each file is named by its stem",
        )  # fmt: skip
    everything: list[Predictions] = []
    origin: dict[tuple[str, str], str] = {}
    for path in paths:
        for each in _read(path, options):
            key = (each.model, each.task)
            if key in origin:
                raise InputError(
                    f"{path}, {each.where}", f"already given by {origin[key]}",
                    "each model and task once", "rename one of the models",
                )  # fmt: skip
            everything.append(each)
        origin |= {(each.model, each.task): str(path) for each in everything}
    return tuple(everything)


def prediction_columns(path: AnyPath) -> tuple[str, ...]:
    """Names of the columns of a table; none for an array."""
    file = content(path)
    return () if file.suffix in npy.ENDINGS else tuple(_table(file).columns)


def _read(path: AnyPath, how: PredictionOptions) -> list[Predictions]:
    file = content(path)
    if file.suffix in npy.ENDINGS:
        values = npy.read_array(file)
        return [Predictions(**array_scores(values, how, name=file.name, model=file.stem))]
    return [Predictions(**each) for each in table_scores(_table(file), how, model=file.stem)]


def _table(file: Content) -> Table:
    """Read a file that holds a table."""
    if file.suffix in delimited.ENDINGS:
        return delimited.read_delimited(file)
    if file.suffix in parquet.ENDINGS:
        return parquet.parquet_table(file, parquet.read_arrow(file))
    raise unknown_ending(file, ENDINGS)
