"""A study in one file: annotations and predictions, restored exactly as they were read.

One tidy table. A row is a vote (``role`` is annotation, or adjudication where it does not
count: item, annotator, label, and whatever else votes have) or what a model says (``role`` is
prediction: item, model and score, with the class in ``label`` where the score is its
probability; classes of probability 0 have no row).

What columns cannot hold stands in the metadata of a Parquet file, or in the second comment line
of delimited text: kind, classes in order, names in another order than that of first appearance,
types, notices, and which rows are whose. ::

    # equipoise study 3: ...
    # {"format": 3, "annotations": {"kind": "binary", ...}, "predictions": [...], "seal": ...}
    role,task,item,annotator,model,label,score
    annotation,,a,ana,,yes,
    prediction,,a,,cnn,,0.9

Every verb takes such a file without options. `read_study` returns what `write_study` was given,
and refuses what was changed since: the seal is a hash of both.
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.read import parquet
from equipoise.read.delimited import unguarded_column
from equipoise.read.files import (
    DAMAGE,
    AnyPath,
    Content,
    content,
    unknown_ending,
)
from equipoise.read.writing import replaced
from equipoise.types import (
    COLUMNS,
    Annotations,
    InputError,
    Ints,
    Models,
    Predictions,
    csv_line,
)
from equipoise.types.notices import from_json, to_json

ENDINGS = (".csv", *parquet.ENDINGS)
LATE = "adjudications"
_MARK = b"# equipoise study"
_KEY = b"equipoise.study"
_MARKS = (_KEY, b"equipoise.sealed")  # damage cannot hide both
_FORMAT = 3
_TITLE = (
    f"# equipoise study {_FORMAT}: annotations and predictions as read; "
    "every verb takes this file"
)
_NAMES = {
    "items": "item",
    "annotators": "annotator",
    "tasks": "task",
    "arms": "arm",
    "classes": "label",
    "groups": "group",
}  # names, and the column of their codes
_LONG = ("items", "annotators", "tasks")  # left out where they come in that order
_NUMBERS = [name for name in COLUMNS if name not in _NAMES.values()]
_FIRST = ("role", "task", "item", "annotator", "model", "label", "score")


def is_study(file: Content) -> bool:
    """Whether the content of a file is a whole study."""
    if file.suffix in parquet.ENDINGS:
        notes = parquet.footer(file.data)
        return any(mark in notes for mark in _MARKS)
    return file.data.startswith(_MARK)


def write_study(
    path: AnyPath, annotations: Annotations, predictions: Sequence[Predictions] = ()
) -> None:
    """Write annotations and predictions to one file, CSV or Parquet, whole or not at all."""
    import pyarrow as pa

    suffix = "".join(ending for ending in ENDINGS if str(path).lower().endswith(ending))
    if not suffix:
        raise unknown_ending(Content(str(path), "", "", b""), ENDINGS)
    try:
        table, facts = _table_and_facts(annotations, predictions)
    except UnicodeEncodeError as error:
        raise InputError(
            "study", "a name with half a character", "whole characters", "correct the name"
        ) from error
    with replaced(path) as sink:
        if suffix == ".csv":
            _write_text(sink, table, facts)
            return
        from pyarrow import parquet as arrow_parquet

        noted = table.replace_schema_metadata({_KEY: json.dumps(facts), _MARKS[1]: ""})
        arrow_parquet.write_table(
            noted, pa.PythonFile(sink), write_page_checksum=True, compression="zstd"
        )


def read_study(path: AnyPath) -> tuple[Annotations, Models]:
    """Read a file that `write_study` made."""
    return study_of(content(path))


def study_of(file: Content) -> tuple[Annotations, Models]:
    """The study in the content of a file."""
    import pyarrow as pa

    if not is_study(file):
        raise InputError(
            file.name,
            "another table",
            "a study that `equipoise check --out` wrote",
            "write one with `equipoise check FILES --out study.csv`",
        )
    try:
        table, facts = _read_parquet(file) if file.suffix != ".csv" else _read_text(file)
        return _study_of_table(table, facts)
    except InputError as error:
        raise _damaged_study(file, str(error)) from error
    except (pa.ArrowException, *DAMAGE, LookupError, AttributeError) as error:
        raise _damaged_study(file, f"{type(error).__name__}: {error}") from error


def _damaged_study(file: Content, why: str) -> InputError:
    return InputError(
        file.name,
        f"a study that is damaged or was changed ({why.splitlines()[0][:200]})",
        "a file as `equipoise check --out` wrote it",
        "write it again from your own files",
    )


def _table_and_facts(
    annotations: Annotations, predictions: Sequence[Predictions]
) -> tuple[Any, dict[str, Any]]:
    """One arrow table, and the facts that it cannot hold."""
    import pyarrow as pa

    whole: dict[str, Any] = {"format": _FORMAT, "rows": len(annotations)}
    parts = []
    for role, votes in ("annotation", annotations), ("adjudication", annotations.adjudication):
        if votes is not None:
            columns, whole[f"{role}s"] = _annotation_columns(votes)
            part = pa.table(columns)
            parts.append(part.append_column("role", pa.array([role] * len(part))))
    models: list[dict[str, Any]] = []
    for prediction in predictions:
        part = _prediction_rows(prediction)
        models.append(
            {
                "model": prediction.model,
                "task": prediction.task,
                "classes": prediction.classes,
                "rows": len(part),
            }
        )
        parts.append(part)
    texts = ("role", "task", "item", "annotator", "model", "label", "group")
    plain = [_as_text(part, texts) for part in parts]
    table = pa.concat_tables(plain, promote_options="permissive")
    if not predictions:
        table = table.select([name for name in table.column_names if name != "score"])
    names = [name for name in _FIRST if name in table.column_names]
    rest = [name for name in table.column_names if name not in names]
    whole |= {"predictions": models, "seal": _content_hash(annotations, predictions)}
    return table.select([*names, *rest]), whole


def _as_text(table: Any, names: Sequence[str]) -> Any:
    """Coded names as words, so that tables can be put together."""
    import pyarrow as pa

    for place, name in enumerate(table.column_names):
        if name in names:
            table = table.set_column(place, name, table[name].cast(pa.string()))
    return table


def _prediction_rows(predictions: Predictions) -> Any:
    import pyarrow as pa

    columns: dict[str, Any] = {}
    if predictions.classes:
        row, place = np.nonzero(predictions.values)
        items, scores = (
            np.array(predictions.items, dtype=object)[row],
            predictions.values[row, place],
        )
        columns["label"] = pa.array(
            np.array(predictions.classes, dtype=object)[place], pa.string()
        )
    else:
        items, scores = np.array(predictions.items, dtype=object), predictions.values
    size = len(scores)
    columns |= {"item": pa.array(items, pa.string()), "score": pa.array(scores)}
    for name, word in (
        ("role", "prediction"),
        ("model", predictions.model),
        ("task", predictions.task),
    ):
        columns[name] = pa.array([word] * size, pa.string())
    return pa.table(columns)


def _write_text(sink: Any, table: Any, facts: Mapping[str, Any]) -> None:
    text = io.TextIOWrapper(sink, encoding="utf-8", newline="", write_through=True)
    text.write(f"{_TITLE}\n# {json.dumps(facts)}\n")
    text.write(csv_line(table.column_names))
    for batch in table.to_batches(max_chunksize=1 << 16):
        rows = zip(*map(_cell_values, batch.columns), strict=True)
        text.write("".join(map(csv_line, rows)))
    text.detach()


def _cell_values(column: Any) -> list[Any]:
    """Values of a column; nan is a word here, because an empty cell is nothing at all."""
    return ["nan" if value != value else value for value in column.to_pylist()]


def _read_parquet(file: Content) -> tuple[Any, Mapping[str, Any]]:
    table = parquet.read_arrow(file)
    return table, json.loads((table.schema.metadata or {})[_KEY])


def _read_text(file: Content) -> tuple[Any, Mapping[str, Any]]:
    """The table with all columns as text, and the facts of its second line."""
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    _, notes, body = file.data.split(b"\n", 2)
    facts = json.loads(notes.removeprefix(b"#"))
    names = body.split(b"\n", 1)[0].decode().split(",")
    table = arrow_csv.read_csv(
        pa.BufferReader(body),
        read_options=arrow_csv.ReadOptions(block_size=max(1 << 24, len(body) // 8)),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
    columns = [unguarded_column(column) for column in table.columns]
    return pa.table(columns, names=table.column_names), facts


def _study_of_table(table: Any, facts: Mapping[str, Any]) -> tuple[Annotations, Models]:
    """Cut the table into what it was made of."""
    if facts["format"] != _FORMAT:
        message = f"format {facts['format']!r} of another version"
        raise ValueError(message)
    late = len(table) - int(facts["rows"]) - sum(int(x["rows"]) for x in facts["predictions"])
    if late < 0 or (late > 0) != (LATE in facts):
        message = f"{len(table)} rows in place of {len(table) - late}"
        raise ValueError(message)
    rows = [int(facts["rows"]), late, *(int(model["rows"]) for model in facts["predictions"])]
    starts = [0, *np.cumsum(rows).tolist()]
    votes, others, *parts = map(table.slice, starts[:-1], rows)
    annotations = _annotations(votes, facts["annotations"])
    if late:
        annotations = replace(annotations, adjudication=_annotations(others, facts[LATE]))
    predictions = tuple(map(_prediction, parts, facts["predictions"]))
    if facts["seal"] != _content_hash(annotations, predictions):
        message = "its contents differ from what was written"
        raise ValueError(message)
    return annotations, predictions


def _content_hash(annotations: Annotations, predictions: Sequence[Predictions]) -> str:
    """A hash of all that a study holds; there is one zero."""
    whole = hashlib.sha256(_votes_hash(annotations).encode())
    for part in predictions:
        names = (part.model, part.task, part.items, part.classes)
        whole.update(json.dumps(names).encode())
        whole.update((part.values + 0.0).tobytes())
    return whole.hexdigest()


def _with_number_types(table: Any, types: Mapping[str, str]) -> Any:
    """Columns of numbers as numbers, where they were read as text."""
    import pyarrow as pa

    for name, kind in types.items():
        if name in _NAMES.values() or name not in table.column_names:
            continue
        wanted = pa.from_numpy_dtype(np.dtype(kind).newbyteorder("="))
        place = table.column_names.index(name)
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type) and pa.types.is_boolean(wanted):
            column = pa.array([word == "True" for word in column.to_pylist()])
        elif pa.types.is_string(column.type) and pa.types.is_floating(wanted):
            column = pa.array([float(word) for word in column.to_pylist()])
        table = table.set_column(place, name, column.cast(wanted))
    return table


def _prediction(table: Any, about: Mapping[str, Any]) -> Predictions:
    values = np.asarray(_with_number_types(table, {"score": "f8"})["score"], dtype=np.float64)
    names, classes = table["item"].to_pylist(), tuple(about["classes"])
    items = tuple(dict.fromkeys(names))
    if classes:
        row, place = ({name: code for code, name in enumerate(x)} for x in (items, classes))
        matrix = np.zeros((len(items), len(classes)))
        labels = table["label"].to_pylist()
        matrix[[row[name] for name in names], [place[name] for name in labels]] = values
        values = matrix
    return Predictions(about["model"], items, values, classes, about["task"])


def _annotation_columns(table: Annotations) -> tuple[dict[str, Any], dict[str, Any]]:
    """Annotations as arrow columns in the tidy layout, and the facts that they cannot hold."""
    present = {name: getattr(table, name) for name in COLUMNS}
    present = {name: column for name, column in present.items() if column is not None}
    facts: dict[str, Any] = {name: getattr(table, name) for name in ("kind", *_NAMES)}
    facts["notices"] = [to_json(notice) for notice in table.notices]
    facts["types"] = {name: column.dtype.str for name, column in present.items()}
    facts["group"] = None if table.group is None else table.group.tolist()
    if table.scale is not None:
        facts |= {"scale": table.scale, "judged": table.judged, "systems": table.systems}
        facts["system"] = None if table.system is None else table.system.tolist()
    columns = {name: _native(present[name]) for name in _NUMBERS if name in present}
    for names, column in _NAMES.items():
        if column in present:
            rows = present[column][table.item] if column == "group" else present[column]
            columns[column] = _texts(rows, facts[names])
            if names in _LONG and _plain(rows, len(facts[names])):
                facts[names] = None
    return columns, facts


def _annotations(table: Any, about: Mapping[str, Any]) -> Annotations:
    votes = _with_number_types(table, about["types"])
    return Annotations(**_annotation_fields(votes, about))


def _annotation_fields(arrow: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Annotations` from what `_annotation_columns` made."""
    fields: dict[str, Any] = {"kind": facts["kind"]}
    fields["notices"] = tuple(map(from_json, facts["notices"]))
    if facts.get("scale") is not None:
        fields["scale"], fields["judged"] = tuple(facts["scale"]), facts["judged"]
        if facts["systems"] is not None:
            fields["systems"], fields["system"] = (
                tuple(facts["systems"]),
                np.array(facts["system"]),
            )
    for names, column in _NAMES.items():
        vocabulary = facts[names]
        if column in facts["types"]:
            vocabulary = vocabulary or arrow[column].unique().to_pylist()
            fields[column] = _codes(arrow[column], vocabulary)
        fields[names] = None if vocabulary is None else tuple(vocabulary)
    fields |= {name: np.asarray(arrow[name]) for name in _NUMBERS if name in facts["types"]}
    if "group" in fields:  # one of every item, also of those that nobody rated
        fields["group"] = np.array(facts["group"])
    for name, kind in facts["types"].items():
        fields[name] = fields[name].astype(np.dtype(kind))
    return fields


def _plain(codes: Ints, size: int) -> bool:
    """Whether the names are numbered by first appearance, each of them used."""
    used, first = np.unique(codes, return_index=True)
    return len(used) == size and bool((np.diff(first) > 0).all())


def _texts(codes: Ints, names: Sequence[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(
        pa.array(codes.astype(np.int32)), pa.array(names, pa.string())
    )


def _codes(column: Any, names: Sequence[str]) -> Ints:
    import pyarrow as pa
    from pyarrow import compute

    codes = compute.index_in(column.cast(pa.string()), value_set=pa.array(names, pa.string()))
    return np.asarray(codes.fill_null(-1), dtype=np.int64)


def _native(column: Any) -> Any:
    import pyarrow as pa

    return pa.array(column.astype(column.dtype.newbyteorder("=")))


def _votes_hash(table: Annotations) -> str:
    """Hash everything that a table of annotations holds."""
    names = ("kind", "items", "classes", "annotators", "tasks", "groups")
    texts = [getattr(table, name) for name in names]
    texts += [] if table.arms is None else [table.arms]
    if table.scale is not None:
        texts += [table.scale, table.judged, table.systems]
        texts.append(None if table.system is None else table.system.tolist())
    texts.append([to_json(notice) for notice in table.notices])
    texts += [] if table.adjudication is None else [_votes_hash(table.adjudication)]
    digest = hashlib.sha256(json.dumps(texts).encode())
    for name in COLUMNS:
        column = getattr(table, name)
        if column is not None:
            digest.update(f"{name} {column.dtype.str} {column.shape}".encode())
            digest.update(column.tobytes())
    return digest.hexdigest()
