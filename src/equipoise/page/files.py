"""Files: drawings as SVG that is also XML, with its style inside, and the whole folder.

The page writes markup that only HTML allows and colours by custom properties, which programs
other than browsers do not know; here attributes get their quotes and colours their values.
Paper is light, so files are.
"""

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from equipoise.findings.json import JsonValue, as_json, plain
from equipoise.findings.record import Report
from equipoise.findings.text import texts
from equipoise.folders import write_folder
from equipoise.page.charts import draw
from equipoise.page.document import asset, render
from equipoise.page.markup import Html
from equipoise.page.palette import LIGHT_AHEAD, LIGHT_MODELS, LIGHT_STEPS, theme
from equipoise.page.svg import ModelStyles

SPACE = "http://www.w3.org/2000/svg"
MARGIN = 10.0
NOT_XML = re.compile("[\ufffe\uffff]")
NAMES = {"viewbox": "viewBox"}
LEADS = ("ahead", "behind")


def figures(report: Report) -> dict[str, str]:
    """Every chart as the text of an SVG file, by its name without ending."""
    styles = ModelStyles(report.models)
    drawn = {}
    for finding in report.findings:
        for chart in finding.charts:
            name = "-".join(filter(None, [chart.name, _slug(finding.task), finding.metric]))
            if (made := draw(chart, styles)) is not None:
                drawn[name] = standalone(made)
    return drawn


def report_files(report: Report) -> dict[str, str]:
    """Text of every file of a report by its path, all but the JSON."""
    made = texts(report)
    made |= {f"figures/{name}.svg": text for name, text in figures(report).items()}
    made["report.html"] = render(report)
    return made


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
    made = report_files(report)
    names = sorted([*made, mark])
    content = {**(facts or {}), **as_json(report), "files": names}
    made[mark] = (
        json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    )
    write_folder(folder, made, mark=mark)
    return names


def _slug(name: str) -> str:
    """Words as part of a file name."""
    return re.sub(r"[^\w-]+", "-", name).strip("-").lower()


class _Writer(HTMLParser):
    """Writes what it reads as XML."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.written: list[str] = []

    def _open(self, tag: str, attributes: list[tuple[str, str | None]], end: str) -> None:
        inside = "".join(
            f" {NAMES.get(name, name)}={quoteattr(NOT_XML.sub('�', text or ''))}"
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
        self.written.append(escape(NOT_XML.sub("�", data)))


def standalone(drawing: Html) -> str:
    """Turn a drawing of the page into the text of an SVG file.

    Examples
    --------
    >>> from equipoise.page.svg import drawing, text
    >>> print(standalone(drawing((10, 5), "A word.", text(1, 4, "a < b")))[:63])
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 30 25"
    """
    writer = _Writer()
    writer.feed(drawing)
    writer.close()
    body = "".join(writer.written)
    found = re.match(r'<svg( [^>]*?)?viewBox="0 0 ([\d.]+) ([\d.]+)"([^>]*)>', body)
    assert found is not None
    wide, high = (float(side) + 2 * MARGIN for side in found.groups()[1:3])
    kept = re.sub(r' width="[^"]*"', "", f"{found[1] or ''}{found[4]}")
    head = (
        f'<svg xmlns="{SPACE}" viewBox="{-MARGIN:g} {-MARGIN:g} {wide:g} {high:g}" '
        f'width="{wide:g}" height="{high:g}"{kept}>'
    )
    ground = (
        f'<rect x="{-MARGIN:g}" y="{-MARGIN:g}" width="{wide:g}" height="{high:g}" '
        f'fill="{theme(dark=False)["page"]}"/>'
    )
    models = sorted({int(number) for number in re.findall(r'class="m(\d+)', body)})
    style = f"<style>{escape(_style(models))}</style>"
    return f"{head}{style}{ground}{body[found.end() :]}\n"


def _style(models: list[int]) -> str:
    """The page's rules for drawings, colours in place, those of models once for each."""
    sheet = asset("page.css")
    start = sheet.index("\nsvg{display")
    rules = sheet[start : sheet.index("\n\n", start)]
    rules += "".join(f".q{i}{{stroke:var(--step{i})}}" for i in range(len(LIGHT_STEPS)))
    rules += "".join(
        f".{side[0]}{i}{{stroke:var(--{side}{i})}}"
        for side in LEADS
        for i in range(len(LIGHT_AHEAD))
    )
    colours = theme(dark=False)
    own = {f".m{i}": colours[f"model{i % len(LIGHT_MODELS)}"] for i in models}
    own |= {f".s{i}": colours[f"model{i}"] for i in range(len(LIGHT_MODELS))}
    own |= {
        ".tinted": colours["accent"],
        ".someone": colours["mark"],
        ".inked": colours["ink"],
    }
    made = []
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", rules):
        plain = selector.strip()
        parts = body.split(";")
        made.append((plain, ";".join(part for part in parts if "var(--c)" not in part)))
        coloured = ";".join(part for part in parts if "var(--c)" in part)
        for whose, colour in own.items() if coloured else ():
            inner = ",".join(f"{whose} {one}" for one in plain.split(","))
            made.append((inner, coloured.replace("var(--c)", colour)))
    text = "\n".join(f"{selector}{{{body}}}" for selector, body in made)
    text = re.sub(r"var\(--(\w+)\)", lambda found: colours[found[1]], text)
    ink = colours["ink"]
    return f"{text}\nsvg{{fill:{ink};max-width:none;width:auto;height:auto}}"
