"""Tables: the numbers under every figure, in a fold that opens without a script."""

from collections.abc import Iterable, Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import shorten
from equipoise.report.palette import model_class
from equipoise.report.view import View

ROOM = 28  # letters of a name in a table


def name_cell(name: str, *, scope: str | None = None, room: int = ROOM) -> Html:
    """Head a row with a name, shortened, the whole in the title.

    A scope is needed only where the column also holds cells that are no heads.
    """
    return _head(name, shorten(name, room), 1, scope)


def model_cell(view: View, model: str, *, rowspan: int = 1, scope: str | None = None) -> Html:
    """Head a row, or several, with a model; no two models are shown alike."""
    return _head(model, view.short(model, ROOM), rowspan, scope)


def _head(name: str, shown: str, rowspan: int, scope: str | None) -> Html:
    """Head a row with a short form, the whole name in the title."""
    return element(
        "th",
        shown,
        scope="rowgroup" if rowspan > 1 else scope,
        rowspan=rowspan if rowspan > 1 else None,
        title=name if shown != name else None,
    )


def model_row(view: View, model: str, cells: Iterable[str]) -> Html:
    """Make a row that belongs to a model, so that it can be highlighted with it."""
    index = view.models.index(model)
    return element(
        "tr",
        model_cell(view, model),
        join(element("td", cell) for cell in cells),
        class_=model_class(index),
    )


def row(name: str, cells: Iterable[str], *, room: int = ROOM) -> Html:
    """Make a row headed by a name."""
    return element(
        "tr", name_cell(name, room=room), join(element("td", cell) for cell in cells)
    )


def table(caption: str, heads: Sequence[str], rows: Iterable[Html], class_: str = "") -> Html:
    """Make a table that scrolls inside its own frame, reachable with the keyboard."""
    head = element("tr", join(element("th", title) for title in heads))
    whole = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", head),
        element("tbody", join(rows)),
        class_=class_ or None,
    )
    return scrolling(whole)


def scrolling(content: Html) -> Html:
    """Frame a table so that it scrolls by itself and not the page."""
    return element(
        "div", content, class_="scroll", tabindex=0, role="group", aria_label="Table"
    )


def folded(summary: str, *content: Html, kept: bool = False) -> Html:
    """Fold content away under a summary; paper leaves it out unless it is kept."""
    inner = element("summary", summary), join(content)
    return element("details", *inner, class_="kept" if kept else None)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """List a few named numbers."""
    return element(
        "dl",
        join(
            element("div", element("dt", name), element("dd", value)) for name, value in pairs
        ),
        class_="facts",
    )


def finding(sentence: str) -> Html:
    """Set the finding of a section."""
    return element("p", sentence, class_="finding") if sentence else Html("")


def figure(caption: str, *drawings: Html) -> Html:
    """Set drawings side by side under one caption; on a narrow page they stack."""
    frames = join(element("div", each, class_="frame") for each in drawings)
    return element(
        "figure", element("figcaption", caption), element("div", frames, class_="pair")
    )
