"""Files: drawings as SVG that is also XML, with its style inside, and the whole folder.

The page writes markup that only HTML allows and colours by custom properties, which programs
other than browsers do not know; here attributes get their quotes and colours their values.
Paper is light, so files are.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

from equipoise.read.writing import write_folder
from equipoise.report.page.charts import draw
from equipoise.report.page.document import asset, render
from equipoise.report.page.figure import (
    CLASSES,
    CellGrid,
    Figure,
    ModelStyles,
    Plot,
    Rows,
    Square,
    Words,
    theme,
)
from equipoise.report.page.svg import UNPRINTABLE, Html, element, lines_of, shorten, width
from equipoise.report.text import texts
from equipoise.types import JsonValue, Report, as_json, plain

SPACE = "http://www.w3.org/2000/svg"
WIDE, EDGE, GAP = 760.0, 14.0, 12.0
NAME, NUM = 7.8, 7.2  # pixels of a column of the letters of names, and of small ones
LINE = 17.0  # pixels from one line of a name to the next
ROOM = 30  # letters of a line of a name
NOT_XML = re.compile("[\ufffe\uffff]")
NAMES = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}


def figures(report: Report) -> dict[str, str]:
    """Every chart that is a drawing as the text of an SVG file, by its name without ending."""
    styles = ModelStyles.of(report)
    drawn = {}
    for finding in report.findings:
        for chart in finding.charts:
            task = re.sub(r"[^\w-]+", "-", finding.task).strip("-").lower()
            name = "-".join(filter(None, [chart.name, task, finding.metric]))
            if (figure := draw(chart, styles)) is not None:
                drawn[name] = _standalone(figure)
    return drawn


def report_files(report: Report) -> dict[str, str]:
    """Text of every file of a report by its path, all but the JSON."""
    return {**paper_files(report), "report.html": render(report)}


def paper_files(report: Report) -> dict[str, str]:
    """Text of the tables, figures, methods and references of a report by their paths."""
    drawn = {f"figures/{name}.svg": text for name, text in figures(report).items()}
    return {**texts(report), **drawn}


def write_report(
    folder: Path, mark: str, report: Report, *, facts: Mapping[str, JsonValue] | None = None
) -> list[str]:
    """Write a report into a folder, whole or not at all; returns the paths of its files.

    Parameters
    ----------
    mark
        Name of the JSON file that says that the folder is whole.
    facts
        What the JSON file holds before the report itself.
    """
    files_made = report_files(report)
    names = sorted([*files_made, mark])
    content = {**(facts or {}), **as_json(report), "files": names}
    files_made[mark] = (
        json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )
    write_folder(folder, files_made, mark=mark)
    return names


class _Writer(HTMLParser):
    """Writes what it reads as XML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []

    def _open(self, tag: str, attributes: list[tuple[str, str | None]], end: str) -> None:
        inside = "".join(
            f' {NAMES.get(name, name)}="{escape(NOT_XML.sub("�", text or ""))}"'
            for name, text in attributes
        )
        self.written.append(f"<{tag}{inside}{end}")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write a tag."""
        self._open(tag, attrs, ">")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write an empty element."""
        self._open(tag, attrs, "/>")

    def handle_endtag(self, tag: str) -> None:
        """Write the end of an element."""
        self.written.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        """Write text."""
        self.written.append(escape(NOT_XML.sub("�", data), quote=False))


def _standalone(figure: Figure) -> str:
    """Turn a figure of the page into the text of an SVG file.

    Examples
    --------
    >>> from equipoise.report.page.figure import FigureRow, Rows, Words
    >>> rows = Rows(kind="dots", rows=(FigureRow((Words("a < b"),)),), alternative="A word.")
    >>> print(_standalone(rows)[:72])
    <svg xmlns="http://www.w3.org/2000/svg" width="760" height="51" role="im
    """
    parts, y = _caption_texts(figure.axes, EDGE) if figure.axes else ([], EDGE)
    elements, y = _rows(figure, y) if isinstance(figure, Rows) else _grid(figure, y)
    below, y = _key(figure.key, y)
    writer = _Writer()
    writer.feed("".join([*parts, *elements, *below]))
    writer.close()
    high = y + EDGE
    head = (
        f'<svg xmlns="{SPACE}" width="{WIDE:g}" height="{high:g}" role="img" '
        f'aria-label="{escape(_xml(figure.alternative))}" viewBox="0 0 {WIDE:g} {high:g}">'
    )
    ground = f'<rect width="100%" height="100%" fill="{theme(dark=False)["page"]}"/>'
    style = f"<style>{escape(_style(), quote=False)}</style>"
    return f"{head}{style}{ground}{''.join(writer.written)}</svg>\n"


def _xml(text: str) -> str:
    return NOT_XML.sub(
        "\N{REPLACEMENT CHARACTER}", UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    )


def _caption_texts(words: str, y: float) -> tuple[list[Html], float]:
    """Words over the whole width, in as many lines as they take."""
    lines = lines_of(words, 100)
    texts = [element("text", line, x=EDGE, y=y + 12 + LINE * n, class_="tick")
            for n, line in enumerate(lines)]  # fmt: skip
    return texts, y + LINE * len(lines) + 6


def _text(words: Words, x: float, middle: float) -> list[Html]:
    """Words beside a plot, in lines around the middle of their row."""
    lines = lines_of(words.text, ROOM)
    size = "nm" if words.class_ == "name" else "tick"
    return [
        element("text", line, x=x, y=middle + 4.5 + LINE * (n - (len(lines) - 1) / 2),
                class_=f"{size} strong" if words.strong else size)
        for n, line in enumerate(lines)
    ]  # fmt: skip


def _inner(plot: Plot, x: float, y: float, size: tuple[float, float]) -> Html:
    """A plot at its place; labels that need more width are left out."""
    wide, high = size
    labels = [replace(label, least=0).html() for label in plot.labels if label.least <= wide]
    return element("svg", plot.body, *labels, x=x, y=y, width=wide, height=high)


def _rows(figure: Rows, y: float) -> tuple[list[Html], float]:
    widths = _widths(figure)
    elements: list[Html] = []
    for row in figure.rows:
        shown = row.cells[-len(widths) :]
        lines = [lines_of(cell.text, ROOM) for cell in shown if isinstance(cell, Words)]
        high = max([cell.high for cell in shown if isinstance(cell, Plot)] + [22.0])
        high = max([high, *(LINE * len(line) + 6 for line in lines)])
        x = EDGE
        for cell, wide in zip(shown, widths, strict=True):
            if isinstance(cell, Plot):
                elements.append(_inner(cell, x, y, (wide, high)))
            else:
                axis = cell.axis
                elements += _text(cell, x, y + high / 2 - (10 if axis else 0))
                elements += [_inner(axis, x, y + high, (wide, axis.high))] if axis else []
            x += wide + GAP
        deep = [cell.axis.high for cell in shown if isinstance(cell, Words) and cell.axis]
        y += high + max(deep, default=0.0)
    return elements, y


def _widths(figure: Rows) -> list[float]:
    """Widths of the columns: words and fixed plots take their own, plots share the rest."""
    needed: list[float] = []
    count = max(len(row.cells) for row in figure.rows)
    for place in range(count):
        needed_room = 0.0
        cells = [row.cells[place] for row in figure.rows if place < len(row.cells)]
        for cell in cells:
            if isinstance(cell, Plot) and cell.wide is not None:
                needed_room = max(needed_room, cell.wide)
            elif isinstance(cell, Words) and cell.class_ != "what":
                per = NAME if cell.class_ == "name" else NUM
                needed_room = max(
                    [needed_room, *(per * width(line) for line in lines_of(cell.text, ROOM))]
                )
        stretches = any(isinstance(cell, Plot) and cell.wide is None for cell in cells)
        needed.append(-1.0 if stretches else needed_room)
    fixed = sum(wide for wide in needed if wide >= 0)
    room = WIDE - 2 * EDGE - fixed - GAP * (count - 1)
    weights = [
        2.0 if place < 2 and figure.kind.startswith("agree") else 1.0 for place in range(count)
    ]
    total = sum(weight for weight, wide in zip(weights, needed, strict=True) if wide < 0)
    return [
        max(80.0, room * weight / total) if wide < 0 else wide
        for weight, wide in zip(weights, needed, strict=True)
    ]


def _grid(figure: CellGrid, y: float) -> tuple[list[Html], float]:
    names = [
        figure.corner,
        *(name for name, *_ in figure.rows),
        *(name for name, _ in figure.foot),
    ]
    left = EDGE + NAME * max(width(line) for name in names for line in lines_of(name, 22)) + 8
    plots = figure.head_plot is not None
    first = 2.4 if plots else 1.0
    step = (WIDE - EDGE - left) / (len(figure.heads) - 1 + first)
    places = [left] + [left + step * (first + n) for n in range(len(figure.heads) - 1)]
    widths = [step * first, *[step] * (len(figure.heads) - 1)]
    elements, y = _heads(figure, y, places, widths)
    rows_of_figure = [(name, cells) for name, cells, _ in figure.rows]
    for name, cells in [*rows_of_figure, *figure.foot]:
        lines = lines_of(name, 22)
        high = max(26.0, LINE * len(lines) + 4)
        elements += _text(Words("\n".join(lines)), EDGE, y + high / 2) if len(lines) == 1 else [
            element("text", line, x=EDGE, y=y + 15 + LINE * n, class_="nm")
            for n, line in enumerate(lines)
        ]  # fmt: skip
        for cell, x, wide in zip(cells, places, widths, strict=True):
            elements += _square(cell, (x, y), (wide - 2, high - 2))
        y += high
    return elements, y + 4


def _heads(
    figure: CellGrid, y: float, places: Sequence[float], widths: Sequence[float]
) -> tuple[list[Html], float]:
    """Heads of the columns, upwards where they have no room."""
    fits = all(
        NUM * width(head) < wide for head, wide in zip(figure.heads, widths, strict=True)
    )
    deep = LINE if fits else NUM * max(width(shorten(head, 24)) for head in figure.heads) + 8
    elements = []
    for head, x, wide in zip(figure.heads, places, widths, strict=True):
        middle = x + wide / 2
        if fits:
            elements.append(element("text", head, x=middle, y=y + deep - 4, class_="tick",
                                text_anchor="middle"))  # fmt: skip
        else:
            turn = f"translate({middle + 4:.1f} {y + deep - 4:.1f}) rotate(-90)"
            elements.append(element("text", shorten(head, 24), transform=turn, class_="tick"))
    y += deep
    if figure.head_plot:
        x, wide = places[0] + 62, widths[0] - 72
        elements.append(_inner(figure.head_plot, x, y, (wide, 16.0)))
        y += 18
    elements.append(element("text", figure.corner, x=EDGE, y=y - 4, class_="tick"))
    return elements, y


def _square(cell: Square, place: tuple[float, float], size: tuple[float, float]) -> list[Html]:
    (x, y), (wide, high) = place, size
    name = cell.class_.split()[0] if cell.class_ else ""
    elements = (
        [element("rect", x=x, y=y, width=wide, height=high, class_=f"cell {name}")]
        if name
        else []
    )
    words = f"{'▾' if cell.down else ''}{cell.text}{' =' if cell.same else ''}"
    look = " ".join(filter(None, ["tick plain", "strong" if cell.strong else "", f"t{name}"]))
    if cell.plot and name:
        elements.append(element("text", words, x=x + 8, y=y + high / 2 + 4, class_=look))
        elements.append(_inner(cell.plot, x + 62, y, (wide - 72, high)))
    elif cell.plot:
        elements.append(_inner(cell.plot, x + wide / 2 - 40, y - 2, (80.0, 12.0)))
        elements.append(element("text", words, x=x + wide / 2, y=y + high - 2, class_="tick",
                            text_anchor="middle"))  # fmt: skip
    elif cell.text:
        elements.append(element("text", words, x=x + wide / 2, y=y + high / 2 + 4, class_=look,
                            text_anchor="middle"))  # fmt: skip
    return elements


def _key(key: Sequence[tuple[str, str]], y: float) -> tuple[list[Html], float]:
    """What marks mean, in as many lines as they take."""
    elements, x, base = [], EDGE, y + 18
    for class_, words in key:
        long = NUM * width(words) + (20 if class_ else 0)
        if x > EDGE and x + long > WIDE - EDGE:
            x, base = EDGE, base + 18
        kind, _, tone = class_.partition(" ")
        if kind == "dot":
            elements.append(element("circle", cx=x + 6, cy=base - 4, r=4.5,
                                class_=f"d {tone}".strip()))  # fmt: skip
        elif class_:
            elements.append(
                element("rect", x=x, y=base - 9, width=14, height=10, class_=f"cell {class_}")
            )
        elements.append(
            element("text", words, x=x + (18 if class_ else 0), y=base, class_="tick")
        )
        x += long + 12
    return elements, base + 4 if key else y


def _style() -> str:
    """The page's rules for drawings, colours in place: paper is light, so files are."""
    sheet = asset("page.css")
    start = sheet.index("\nsvg{display")
    rules = sheet[start : sheet.index("\n\n", start)]
    colours = theme(dark=False)
    rules += "".join(f".{name}{{fill:{value}}}" for name, value in colours.items()
                     if name[-1].isdigit() and not name.startswith("on"))  # fmt: skip
    rules += "".join(f".k{n}{{stroke:{colours[f'c{n}']}}}.d.k{n}{{fill:{colours[f'c{n}']}}}"
                     for n in range(CLASSES))  # fmt: skip
    rules += (
        ".cell{stroke:none}.cell.in,.cell.tint{fill:var(--tint)}"
        ".cell.out,.cell.open,.cell.none,.cell.h0{fill:none;stroke:var(--line)}"
        "svg text.th4{fill:var(--onh4)}svg text.th3{fill:var(--onh3)}"
        "svg text.nm{font-size:14px}"
        "text{font-family:-apple-system,'Segoe UI',Roboto,Arial,sans-serif}svg{width:auto}"
    )
    return re.sub(r"var\(--(\w+)\)", lambda match: colours[match[1]], rules)
