"""Tables: numbers in a frame of their own that scrolls, and as files to take along."""

import base64
from collections.abc import Sequence
from dataclasses import replace

from equipoise.findings.record import Column, Row, Table, cell
from equipoise.findings.text import as_csv
from equipoise.numbers import UNDEFINED, count
from equipoise.page.markup import Html, element, join

MOST_ROWS = 300  # of a table on the page
IN_SIGHT = 20  # rows that are shown at once
MOST_FIRST = 12  # rows that are put first
KINDS = 4  # of rows that are told apart
MORE = 5  # rows that are not worth folding
LONG = 30  # letters of words that take lines
WORDS = ("text", "names", "model")


def table_html(table: Table) -> Html:
    """A table, and one for each kind of row where columns do not apply to some."""
    legend = [element("p", table.legend, class_="sub")] if table.legend else []
    return join([*(_one(part) for part in _apart(table)), *legend])


def _apart(table: Table) -> list[Table]:
    """By the first column, where words in others are undefined for one of its values alone."""
    first, *others = table.columns
    kinds: dict[str, list[Row]] = {}
    for row in table.rows:
        kinds.setdefault(cell(row, first), []).append(row)
    if first.kind not in WORDS or not 1 < len(kinds) <= KINDS:
        return [table]
    gaps = {
        tuple(one.key for one in others if one.kind in WORDS and not _any(rows, one))
        for rows in kinds.values()
    }
    if len(gaps) == 1:
        return [table]
    return [
        replace(table, caption=f"{table.caption}: {kind}", rows=rows, columns=others,
                brief=[row for row in table.brief or () if cell(row, first) == kind])
        for kind, rows in kinds.items()
    ]  # fmt: skip


def _any(rows: Sequence[Row], column: Column) -> bool:
    """Whether a column is defined in some row."""
    return any(cell(row, column) != UNDEFINED for row in rows)


def _one(table: Table) -> Html:
    """A table with its first rows in sight, the others behind a box to tick.

    Columns and rows without a single number that is defined are left out. It scrolls sideways
    inside its own frame, reachable with the keyboard; paper shows every row.
    """
    columns, rows = _defined(table)
    caption = table.caption
    if len(rows) < len(table.rows):
        caption += f" ({count(len(table.rows) - len(rows))} without a number left out)"
    shown = rows
    if len(rows) > MOST_ROWS:
        shown = (table.brief or rows)[:MOST_ROWS]
        which = f"{'the' if table.brief else 'the first'} {len(shown):,}"
        which += " in front, " if table.brief else " "
        caption += f" ({which}of {len(table.rows):,} rows)"
    if len(shown) > IN_SIGHT + MORE:
        shown = _front_first(shown, columns, table.brief or ())
    frame = element("div", _table(shown, columns, caption), class_="scroll", tabindex=0,
                    role="group", aria_label="Table")  # fmt: skip
    if len(shown) > IN_SIGHT + MORE:
        box = element("input", type="checkbox")
        all_ = element("label", box, f" Show all {count(len(shown), 'row')}")
        frame = element("div", frame, all_, class_="folding")
    return join([element("p", caption, class_="sub caption"), frame])


def _table(rows: Sequence[Row], columns: Sequence[Column], caption: str) -> Html:
    texts = [[cell(row, column) for column in columns] for row in rows]
    left = ["l" if column.kind in WORDS else None for column in columns]
    long = [any(len(row[at]) > LONG for row in texts) for at in range(len(columns))]
    heads = [
        element("th", column.head, scope="col", class_="l long" if side and wide else side)
        for column, side, wide in zip(columns, left, long, strict=True)
    ]
    made = [_row(row, left) for row in texts]
    seen = IN_SIGHT if len(rows) > IN_SIGHT + MORE else len(rows)
    later = [element("tbody", *made[seen:], class_="later")] if made[seen:] else []
    bodies = [element("tbody", *made[:seen]), *later]
    head = element("thead", element("tr", *heads))
    return element("table", head, *bodies, class_="plain", aria_label=caption)


def _row(texts: Sequence[str], left: Sequence[str | None]) -> Html:
    first = element("th", texts[0], scope="row", class_=left[0])
    cells = [
        element("td", text, class_=side) for text, side in zip(texts[1:], left[1:], strict=True)
    ]
    return element("tr", first, *cells)


def _defined(table: Table) -> tuple[Sequence[Column], Sequence[Row]]:
    """Columns and rows that say something; all of them where no number is defined."""
    numeric = [column for column in table.columns if column.kind not in WORDS]
    if not numeric:
        return [one for one in table.columns if _any(table.rows, one)], table.rows
    rows = [
        row for row in table.rows if any(cell(row, one) != UNDEFINED for one in numeric)
    ]  # fmt: skip
    if not rows:
        return table.columns, table.rows
    return [one for one in table.columns if _any(rows, one)], rows


def _front_first(
    rows: Sequence[Row], columns: Sequence[Column], front: Sequence[Row]
) -> list[Row]:
    """Rows in order; those that a terminal shows come first if they were not seen."""
    brief = {str(dict(row)) for row in front}
    first = [
        at for at, row in enumerate(rows)
        if str(dict(row)) in brief and all(cell(row, one) != UNDEFINED for one in columns)
    ]  # fmt: skip
    if all(at < IN_SIGHT for at in first):
        return list(rows)
    rest = sorted(set(range(len(rows))) - set(first[:MOST_FIRST]))
    return [rows[at] for at in [*first[:MOST_FIRST], *rest]]


def download(table: Table) -> Html:
    """A link that holds the whole table as CSV."""
    held = base64.b64encode(as_csv(table.rows).encode()).decode()
    name = f"{table.name}.csv"
    return element("a", f"Download {name}", download=name,
                   href=f"data:text/csv;charset=utf-8;base64,{held}")  # fmt: skip
