"""Export: rows as CSV, Markdown or LaTeX, and the sources of what was run.

What a report says is exported whole by the command line; here are the parts for one's own rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

from equipoise.metrics import named
from equipoise.read.files import replaced
from equipoise.read.folders import write_text
from equipoise.read.frames import to_frame
from equipoise.report import text as _text
from equipoise.truth import MODELS
from equipoise.types.arrays import InputError, listed
from equipoise.types.findings import Column, Kind, Row, Table
from equipoise.types.findings.bibliography import bibtex as _entries

__all__ = ["as_csv", "as_latex", "as_markdown", "bibtex", "references", "write_table"]

PARQUET = ".parquet"
_RESAMPLING: Mapping[str, tuple[str, ...]] = {
    "items": ("efron1993",),
    "votes": ("lionetti2025", "efron1993"),
    "panel": ("lionetti2025", "efron1993"),
    "posterior": ("efron1993",),
    "influence": ("delong1988",),
    "two-way": ("owen2007", "cameron2011", "romano2005", "mogstad2024"),
    "agreement": ("krippendorff2004", "cohen1960"),
}


def as_csv(rows: Sequence[Row]) -> str:
    """Comma-separated text at full precision; see `equipoise.report.text`."""
    return _text.as_csv(rows)


def as_markdown(rows: Sequence[Row]) -> str:
    """Make a table for a README or a notebook.

    Examples
    --------
    >>> print(as_markdown([{"model": "vit", "auroc": 0.91234}]))
    | model | auroc |
    |---|---:|
    | vit | 0.912 |
    <BLANKLINE>
    """
    return _text.as_markdown(_table(rows))


def as_latex(rows: Sequence[Row]) -> str:
    """Make a tabular with booktabs rules, or a longtable where it would not fit a page."""
    return _text.as_latex(_table(rows))


def write_table(rows: Sequence[Row], path: Path) -> Path:
    """Write rows in the format that the ending says: .csv, .parquet, .md or .tex."""
    makers = {".csv": as_csv, ".md": as_markdown, ".tex": as_latex}
    ending = path.suffix.lower()
    if ending == PARQUET:
        with replaced(path) as file:
            _write_parquet(rows, file)
        return path
    if ending not in makers:
        known = listed([*makers, PARQUET], most=4)
        raise InputError(str(path), f"ending {path.suffix!r}", f"one of {known}", "rename it")
    write_text(path, makers[ending](rows))
    return path


def _write_parquet(rows: Sequence[Row], file: IO[bytes]) -> None:
    """Rows as columns at full precision; missing values are null."""
    import pyarrow.parquet

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = to_frame({name: [row.get(name) for row in rows] for name in names})
    pyarrow.parquet.write_table(table, file, write_page_checksum=True)


def references(used: Iterable[str]) -> list[str]:
    """Keys of the sources of metrics, aggregation models and kinds of resampling, each once.

    Metrics may carry parameters (``auroc:form=strict``); what has no source adds nothing.

    Examples
    --------
    >>> references(["auroc:form=strict", "precision_at_100", "items"])
    ['lionetti2025', 'efron1993']
    """
    return list(dict.fromkeys(key for name in used for key in _sources(name)))


def bibtex(used: Iterable[str]) -> str:
    """BibTeX entries of the sources of what was used."""
    return _entries(references(used))


def _sources(name: str) -> tuple[str, ...]:
    if name in MODELS:
        return MODELS[name].references
    if name in _RESAMPLING:
        return _RESAMPLING[name]
    try:
        return named(name).references
    except InputError:
        return ()


def _table(rows: Sequence[Row]) -> Table:
    """Rows with a column for each key, written by what it holds."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [Column(name, name, _kind([row.get(name) for row in rows])) for name in names]
    return Table(name="table", caption="", columns=columns, rows=rows)


def _kind(values: Sequence[object]) -> Kind:
    known = [value for value in values if value is not None]
    if known and all(isinstance(one, int) and not isinstance(one, bool) for one in known):
        return "count"
    return "number" if known and all(isinstance(one, float) for one in known) else "text"
