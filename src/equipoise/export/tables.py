"""Tables as text: the same rows as CSV at full precision, or rounded as Markdown and LaTeX.

Rows are plain mappings; columns come in the order in which they first appear. Undefined numbers
are empty in CSV and the word "undefined" elsewhere; missing words are blank. Rounding never
makes a number zero. A table in every format has all columns in CSV, and in the others those
that fit a page; see `equipoise.export.printed`.
"""

import csv
import math
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from equipoise.arrays import InputError, listed
from equipoise.digits import fixed
from equipoise.export.printed import Printed, printed
from equipoise.export.worded import worded

Rows = Sequence[Mapping[str, Any]]
PAGE = 45  # rows that fit a page
SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def as_csv(rows: Rows) -> str:
    r"""Comma-separated text at full precision.

    Examples
    --------
    >>> as_csv([{"model": "vit", "auroc": 0.5}, {"model": "a,b", "auroc": float("nan")}])
    'model,auroc\nvit,0.5\n"a,b",\n'
    """
    names = _names(rows)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow([_exact(row.get(name)) for name in names])
    return text.getvalue()


def as_markdown(rows: Rows, *, digits: int = 3) -> str:
    r"""Make a table for a README or a notebook.

    Examples
    --------
    >>> print(as_markdown([{"model": "vit", "auroc": 0.91234}]))
    | model | auroc |
    |---|---:|
    | vit | 0.912 |
    <BLANKLINE>
    """
    names = _names(rows)
    align = ["---:" if _is_number(rows, name) else "---" for name in names]
    lines = [
        "| " + " | ".join(_mark(name) for name in names) + " |",
        "|" + "|".join(align) + "|",
    ]
    lines += ["| " + " | ".join(map(_mark, row)) + " |" for row in _rounded_rows(rows, digits)]
    return "\n".join(lines) + "\n"


def as_latex(rows: Rows, *, digits: int = 3) -> str:
    r"""Make a tabular with booktabs rules, or a longtable where it would not fit a page.

    Examples
    --------
    >>> print(as_latex([{"model": "vit_b", "auroc": 0.91234}]))
    \begin{tabular}{lr}
    \toprule
    model & auroc \\
    \midrule
    vit\_b & 0.912 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    names = _names(rows)
    align = "".join("r" if _is_number(rows, name) else "l" for name in names)
    body = [" & ".join(map(_tex, row)) + r" \\" for row in _rounded_rows(rows, digits)]
    head = " & ".join(_tex(name) for name in names) + r" \\"
    long = len(rows) > PAGE
    kind = "longtable" if long else "tabular"
    lines = [
        rf"\begin{{{kind}}}{{{align}}}",
        r"\toprule",
        head,
        r"\midrule",
        *([r"\endhead"] if long else []),
        *body,
        r"\bottomrule",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


MAKERS: Mapping[str, Callable[[Rows], str]] = {
    ".csv": as_csv,
    ".md": as_markdown,
    ".tex": as_latex,
}


def table_texts(name: str, rows: Rows) -> dict[str, str]:
    """Make one table in every format, by the path of its file.

    Examples
    --------
    >>> list(table_texts("scores", [{"model": "vit"}]))
    ['tables/scores.csv', 'tables/scores.md', 'tables/scores.tex']
    """
    flat = [_flat(row) for row in rows]
    short = printed(worded(flat, name), _number)
    told = _told(short)
    notes = [" ".join(line.split()) for line in ("Needs booktabs and longtable.", *told)]
    return {
        f"tables/{name}.csv": as_csv(flat),
        f"tables/{name}.md": as_markdown(short.rows) + "".join(f"\n{_mark(x)}\n" for x in told),
        f"tables/{name}.tex": "".join(f"% {x}\n" for x in notes) + as_latex(short.rows),
    }


def _told(short: Printed) -> list[str]:
    """Say what every row has, and which columns are in the CSV file alone."""
    same = ", ".join(f"{name} {_rounded(value, 3)}" for name, value in short.same.items()
                     if not _undefined(value) and value not in ("", 0))  # fmt: skip
    told = [f"In every row: {same}."] if same else []
    if short.left_out:
        told.append(f"In the CSV file besides: {', '.join(short.left_out)}.")
    return told


def _number(value: Any) -> str:
    return _rounded(value, 3)


def write_table(rows: Rows, path: Path) -> Path:
    """Write rows in the format that the ending says: .csv, .md or .tex."""
    if path.suffix not in MAKERS:
        raise InputError(
            str(path), f"ending {path.suffix!r}", f"one of {listed(MAKERS)}", "rename it"
        )
    path.write_text(MAKERS[path.suffix](rows), encoding="utf-8")
    return path


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers of a list become columns of their own, words one text."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if not isinstance(value, list | tuple):
            found[name] = value
        elif all(isinstance(one, str) for one in value):
            found[name] = "; ".join(value)
        else:
            found |= {f"{name}_{number}": one for number, one in enumerate(value, 1)}
    return found


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _is_number(rows: Rows, name: str) -> bool:
    """Whether a column has numbers, and nothing else but gaps."""
    values = [row.get(name) for row in rows]
    some = any(isinstance(value, int | float) for value in values)
    return some and all(isinstance(value, int | float | None) for value in values)


def _rounded_rows(rows: Rows, digits: int) -> list[list[str]]:
    """Cells as text; a gap is undefined among numbers, and blank among words."""
    gap = {name: "undefined" if _is_number(rows, name) else "" for name in _names(rows)}
    return [
        [word if _undefined(row.get(name)) else _rounded(row[name], digits)
         for name, word in gap.items()]
        for row in rows
    ]  # fmt: skip


def _undefined(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _exact(value: Any) -> str:
    if _undefined(value):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _rounded(value: Any, digits: int) -> str:
    if not isinstance(value, float):
        return str(value)
    return fixed(value, digits)


def _mark(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


def _tex(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
