"""Tables as text: the same rows as CSV at full precision, or rounded as Markdown and LaTeX.

Rows are plain mappings; columns come in the order of the first row. Undefined numbers are empty
in CSV and the word "undefined" elsewhere.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from equipoise.arrays import InputError, listed

Rows = Sequence[Mapping[str, Any]]
ENDINGS = (".csv", ".md", ".tex")
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
    for row in rows:
        cells = [_mark(_rounded(row.get(name), digits)) for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def as_latex(rows: Rows, *, digits: int = 3) -> str:
    r"""Make a tabular with booktabs rules.

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
    body = [
        " & ".join(_tex(_rounded(row.get(name), digits)) for name in names) + r" \\"
        for row in rows
    ]
    head = " & ".join(_tex(name) for name in names) + r" \\"
    lines = [
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def write_table(rows: Rows, path: Path) -> Path:
    """Write rows in the format that the ending says: .csv, .md or .tex."""
    makers = {".csv": as_csv, ".md": as_markdown, ".tex": as_latex}
    if path.suffix not in makers:
        raise InputError(
            str(path), f"ending {path.suffix!r}", f"one of {listed(ENDINGS)}", "rename it"
        )
    path.write_text(makers[path.suffix](rows), encoding="utf-8")
    return path


def _names(rows: Rows) -> list[str]:
    return [] if not rows else list(rows[0])


def _is_number(rows: Rows, name: str) -> bool:
    return all(isinstance(row.get(name), int | float | None) for row in rows)


def _undefined(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _exact(value: Any) -> str:
    if _undefined(value):
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _rounded(value: Any, digits: int) -> str:
    if _undefined(value):
        return "undefined"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _mark(text: str) -> str:
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").split())


def _tex(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in " ".join(text.split()))
