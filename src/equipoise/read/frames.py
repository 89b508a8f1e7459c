"""Frames: which kind of dataframe a caller has, and rows as a frame of that kind.

Kinds are named as narwhals names them: ``pandas``, ``polars``, ``pyarrow`` and so on. No
library of frames is imported but the one that is asked for; pyarrow is always there.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.types.arrays import InputError, listed

USUAL = "pyarrow"  # for callers who gave no frame
EAGER = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_kind(thing: object) -> str:
    """The kind of a dataframe, eager or lazy; empty for anything else.

    Examples
    --------
    >>> import pyarrow
    >>> frame_kind(pyarrow.table({"item": [1]})), frame_kind([1]), frame_kind(None)
    ('pyarrow', '', '')
    """
    if not hasattr(type(thing), "columns"):
        return ""
    import narwhals as nw

    frame = nw.from_native(thing, pass_through=True)
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return ""
    kind = frame.implementation.name.lower()
    return kind if kind in EAGER else USUAL


def to_frame(columns: Mapping[str, Sequence[Any]], kind: str = "") -> Any:
    """Columns as a frame of a kind; without one, a pyarrow table.

    Examples
    --------
    >>> to_frame({"model": ["vit"], "value": [0.9]}).column_names
    ['model', 'value']
    """
    import narwhals as nw

    if kind and kind not in EAGER:
        do = "name one of them, or take pyarrow and convert it"
        raise InputError("backend", repr(kind), f"one of {listed(EAGER, most=5)}", do)
    backend: Any = kind or USUAL
    try:
        return nw.from_dict(dict(columns), backend=backend).to_native()
    except ModuleNotFoundError as error:
        expected = f"one that is installed, such as {USUAL}"
        do = f"pip install {kind}"
        raise InputError("backend", f"{kind!r}, not installed", expected, do) from error


def rows_to_frame(rows: Sequence[tuple[Any, ...]], names: Sequence[str], kind: str = "") -> Any:
    """Rows of named fields as a frame of a kind; without rows the columns are empty."""
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return to_frame(dict(zip(names, map(list, columns), strict=True)), kind)
