"""Tables: numbers in a frame of their own that scrolls, and as files to take along."""

import base64
from collections.abc import Sequence
from itertools import groupby

from equipoise.findings.record import Column, Row, Table, cell
from equipoise.findings.text import as_csv
from equipoise.numbers import UNDEFINED, count
from equipoise.page.markup import Html, element, join

MOST_ROWS = 300  # of a table on the page
IN_SIGHT = 20  # rows that are shown at once; those that a terminal shows are among them
MORE = 5  # rows that are not worth folding
WORDS = ("text", "names", "model")


def table_html(table: Table) -> Html:
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
        which = (
            f"the {len(shown):,} in front, " if table.brief else f"the first {len(shown):,} "
        )
        caption += f" ({which}of {len(table.rows):,} rows)"
    seen = _in_sight(shown, table.brief or ())
    left = ["l" if column.kind in WORDS else None for column in columns]
    heads = [
        element("th", column.head, scope="col", class_=side)
        for column, side in zip(columns, left, strict=True)
    ]
    bodies = [
        element("tbody",
                *(_row([cell(shown[at], column) for column in columns], left) for at in places),
                class_=None if there else "later")
        for there, places in groupby(range(len(shown)), lambda at: at in seen)
    ]  # fmt: skip
    whole = element(
        "table", element("thead", element("tr", *heads)), *bodies,
        class_="plain", aria_label=caption,
    )  # fmt: skip
    frame = element("div", whole, class_="scroll", tabindex=0, role="group",
                    aria_label="Table")  # fmt: skip
    if len(seen) < len(shown):
        box = element("input", type="checkbox")
        all_ = element("label", box, f" Show all {count(len(shown), 'row')}")
        frame = element("div", frame, all_, class_="folding")
    legend = [element("p", table.legend, class_="sub")] if table.legend else []
    return join([element("p", caption, class_="sub caption"), frame, *legend])


def _row(texts: Sequence[str], left: Sequence[str | None]) -> Html:
    first = element("th", texts[0], scope="row", class_=left[0])
    cells = [
        element("td", text, class_=side) for text, side in zip(texts[1:], left[1:], strict=True)
    ]
    return element("tr", first, *cells)


def _defined(table: Table) -> tuple[Sequence[Column], Sequence[Row]]:
    """Columns and rows that say something; all of them where no number is defined."""
    numeric = [column for column in table.columns if column.kind not in WORDS]
    rows = [
        row for row in table.rows if any(cell(row, one) != UNDEFINED for one in numeric)
    ]  # fmt: skip
    if not rows:
        return table.columns, table.rows
    columns = [one for one in table.columns if any(cell(row, one) != UNDEFINED for row in rows)]
    return columns, rows


def _in_sight(rows: Sequence[Row], front: Sequence[Row]) -> set[int]:
    """Places of the rows that are shown at once: the first, and those in front."""
    if len(rows) <= IN_SIGHT + MORE:
        return set(range(len(rows)))
    wanted = {str(dict(row)) for row in front[:IN_SIGHT]}
    quoted = {place for place, row in enumerate(rows) if str(dict(row)) in wanted}
    return quoted | set(range(IN_SIGHT))


def download(table: Table) -> Html:
    """A link that holds the whole table as CSV."""
    held = base64.b64encode(as_csv(table.rows).encode()).decode()
    name = f"{table.name}.csv"
    return element("a", f"Download {name}", download=name,
                   href=f"data:text/csv;charset=utf-8;base64,{held}")  # fmt: skip
