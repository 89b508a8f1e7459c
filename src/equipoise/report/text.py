"""Text files: tables as CSV at full precision, as Markdown and LaTeX for people; the methods.

CSV holds every key of the rows, numbers at full precision, undefined ones empty; a text that a
spreadsheet would take for a formula stands behind an apostrophe. Markdown and LaTeX hold the
columns that people read, written as on every surface. The methods are the sentences of the
report and its findings, and the references exactly what those rest on.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from equipoise.read.tables import to_frame
from equipoise.read.writing import replaced, write_text
from equipoise.report.checklist import reporting_items
from equipoise.types import (
    Cell,
    Column,
    Finding,
    Report,
    Row,
    Table,
    bibtex,
    cell,
    csv_text,
    printable,
)

PAGE = 45  # rows that fit a page
TEX = {
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
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": "$-$",
    "≤": r"$\le$",
    "∞": r"$\infty$",
    "…": r"\ldots{}",
}
_EDGE = re.compile("(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")  # which makes words slanted
MARK = {
    "\\": "\\\\", "|": "\\|", "*": "\\*", "`": "\\`", "[": "\\[", "<": "&lt;", ">": "&gt;",
    "&": "&amp;", "$": "\\$", "~": "\\~",
}  # fmt: skip


def texts(report: Report) -> dict[str, str]:
    """Text of every file by its path: tables in three formats, methods and references."""
    files: dict[str, str] = {}
    asked = {"checklist": reporting_items(report)} if report.card is not None else {}
    for name, table in {**tables(report.findings), **asked}.items():
        files[f"tables/{name}.csv"] = as_csv(table.rows)
        files[f"tables/{name}.md"] = as_markdown(table)
        files[f"tables/{name}.tex"] = as_latex(table)
    files["methods.md"] = methods(report)
    keys = (
        *report.references,
        *(key for finding in report.findings for key in finding.references),
    )
    files["references.bib"] = bibtex(keys)
    return files


def tables(findings: Sequence[Finding]) -> dict[str, Table]:
    """Tables of some findings by name; those of one name, of several tasks, are one table."""
    by_name: dict[str, Table] = {}
    for finding in findings:
        for table in finding.tables:
            if not table.file:
                continue
            before, columns = by_name.get(table.name), table.columns
            rows: list[Row] = list(before.rows) if before else []
            if finding.task and not any("task" in row for row in table.rows):
                columns = [Column("task", "task"), *columns]
                rows += [{"task": finding.task, **row} for row in table.rows]
            else:
                rows += table.rows
            by_name[table.name] = Table(
                name=table.name, caption=table.caption, columns=columns, rows=rows
            )
    return by_name


def methods(report: Report) -> str:
    """A paragraph for the methods of a paper; names in it become no markup."""
    sentences = [*report.methods, *(finding.methods for finding in report.findings)]
    whole_sentences = [
        f"{sentence.strip().removesuffix('.')}."
        for sentence in dict.fromkeys(sentences)
        if sentence.strip()
    ]
    plain = " ".join(printable(" ".join(whole_sentences)).split())
    return plain.replace("<", MARK["<"]).replace(">", MARK[">"]).replace("](", "]\\(") + "\n"


def as_csv(rows: Sequence[Row]) -> str:
    r"""Comma-separated text at full precision.

    Examples
    --------
    >>> as_csv([{"model": "vit", "auroc": 0.5}, {"model": "=1+1", "auroc": float("nan")}])
    "model,auroc\nvit,0.5\n'=1+1,\n"
    """
    flat = [_flat(row) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    return csv_text(names, ([row.get(name) for name in names] for row in flat))


def as_markdown(table: Table) -> str:
    """Make a table for a README or a notebook.

    Examples
    --------
    >>> columns = [Column("model", "model"), Column("auroc", "AUROC", "number")]
    >>> print(as_markdown(Table(name="t", caption="Scores", columns=columns,
    ...                         rows=[{"model": "vit", "auroc": 0.91234}])))
    | model | AUROC |
    |---|---:|
    | vit | 0.912 |
    <BLANKLINE>
    """
    align = ["---" if column.is_text else "---:" for column in table.columns]
    lines = [
        "| " + " | ".join(_mark(column.head) for column in table.columns) + " |",
        "|" + "|".join(align) + "|",
    ]
    for row in table.rows:
        words = [_mark(cell(row, column)) for column in table.columns]
        lines.append("| " + " | ".join(words) + " |")
    return "\n".join(lines) + "\n"


def as_latex(table: Table) -> str:
    r"""Make a tabular with booktabs rules, or a longtable where it would not fit a page.

    Examples
    --------
    >>> columns = [Column("model", "model"), Column("auroc", "AUROC", "number")]
    >>> print(as_latex(Table(name="t", caption="Scores", columns=columns,
    ...                      rows=[{"model": "vit_b", "auroc": -0.91234}])))
    % Needs booktabs and longtable.
    \begin{tabular}{lr}
    \toprule
    model & AUROC \\
    \midrule
    vit\_b & $-$0.912 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    align = "".join("l" if column.is_text else "r" for column in table.columns)
    long = len(table.rows) > PAGE
    kind = "longtable" if long else "tabular"
    lines = [
        "% Needs booktabs and longtable.",
        rf"\begin{{{kind}}}{{{align}}}",
        r"\toprule",
        " & ".join(_tex(column.head) for column in table.columns) + r" \\",
        r"\midrule",
        *([r"\endhead"] if long else []),
        *(
            " & ".join(_tex(cell(row, column)) for column in table.columns) + r" \\"
            for row in table.rows
        ),
        r"\bottomrule",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


def _flat(row: Row) -> Mapping[str, Cell]:
    """Numbers of a list become columns of their own, words one text."""
    flat: dict[str, Cell] = {}
    for name, value in row.items():
        if isinstance(value, str) or not isinstance(value, Sequence):
            flat[name] = value
        elif all(isinstance(part, str) for part in value):
            flat[name] = "; ".join(value)
        else:
            flat |= {f"{name}_{place}": part for place, part in enumerate(value, 1)}
    return flat


def _mark(text: str) -> str:
    plain = " ".join(printable(text).split())
    return _EDGE.sub(r"\\_", "".join(MARK.get(letter, letter) for letter in plain))


def _tex(text: str) -> str:
    return "".join(TEX.get(letter, letter) for letter in " ".join(printable(text).split()))


PARQUET = ".parquet"


def write_table(rows: Sequence[Row], path: Path) -> None:
    """Write rows at full precision: as Parquet, missing values null, or else as CSV."""
    if path.suffix.lower() != PARQUET:
        write_text(path, as_csv(rows))
        return
    import pyarrow.parquet

    names = list(dict.fromkeys(name for row in rows for name in row))
    table = to_frame({name: [row.get(name) for row in rows] for name in names})
    with replaced(path) as file:
        pyarrow.parquet.write_table(table, file, write_page_checksum=True)
