"""Tables: numbers in a frame of their own that scrolls, and as files to take along."""

import base64

from equipoise.findings.record import Table, cell
from equipoise.findings.text import as_csv
from equipoise.page.markup import Html, element, join

MOST_ROWS = 300  # of a table on the page
WORDS = ("text", "names", "model")


def table_html(table: Table) -> Html:
    """A table that scrolls inside its own frame, reachable with the keyboard."""
    shown, caption = table.rows, table.caption
    if len(shown) > MOST_ROWS:
        shown = (table.brief or shown)[:MOST_ROWS]
        which = (
            f"the {len(shown):,} in front, " if table.brief else f"the first {len(shown):,} "
        )
        caption += f" ({which}of {len(table.rows):,} rows)"
    left = ["l" if column.kind in WORDS else None for column in table.columns]
    heads = [
        element("th", column.head, scope="col", class_=side)
        for column, side in zip(table.columns, left, strict=True)
    ]
    rows = []
    for row in shown:
        texts = [cell(row, column) for column in table.columns]
        first = element("th", texts[0], scope="row", class_=left[0])
        cells = [
            element("td", text, class_=side)
            for text, side in zip(texts[1:], left[1:], strict=True)
        ]
        rows.append(element("tr", first, *cells))
    whole = element(
        "table", element("thead", element("tr", *heads)), element("tbody", *rows),
        class_="plain", aria_label=caption,
    )  # fmt: skip
    frame = element("div", whole, class_="scroll tall", tabindex=0, role="group",
                    aria_label="Table")  # fmt: skip
    legend = [element("p", table.legend, class_="sub")] if table.legend else []
    return join([element("p", caption, class_="sub caption"), frame, *legend])


def download(table: Table) -> Html:
    """A link that holds the whole table as CSV."""
    held = base64.b64encode(as_csv(table.rows).encode()).decode()
    name = f"{table.name}.csv"
    return element("a", f"Download {name}", download=name,
                   href=f"data:text/csv;charset=utf-8;base64,{held}")  # fmt: skip
