"""Page of a few findings: each a sentence, a figure, its numbers and a note on method.

Made of the same parts as the page of an evaluation, under the same policy: it makes no
request, and everything but the choice of theme works without a script.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count
from equipoise.report.page import asset, contents, document
from equipoise.report.palette import css
from equipoise.report.stability_rows import Part, capital
from equipoise.report.stability_svg import standalone
from equipoise.report.tables import facts as fact_list
from equipoise.report.tables import figure, finding, folded


@dataclass(frozen=True, slots=True)
class About:
    """What a page says besides its findings.

    Attributes
    ----------
    title, scope
        Heading of the page, and one sentence on what was looked at.
    notices
        What the reader should know about the data, one sentence each.
    """

    title: str
    scope: str = ""
    notices: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """One finding with its anchor and title; a part that is words says why it is missing."""

    anchor: str
    title: str
    part: Part | str


@dataclass(frozen=True, slots=True)
class Method:
    """What stands at the end of a page.

    Attributes
    ----------
    known
        A few numbers for the line under the title.
    terms
        What words mean, with their definitions.
    asked
        Settings, with their values.
    models
        How many models have a colour.
    made
        Version of equipoise.
    """

    known: Sequence[str]
    terms: Sequence[tuple[str, str]]
    asked: Sequence[tuple[str, str]]
    models: int
    made: str


def render_findings(about: About, sections: Sequence[Section], method: Method) -> str:
    """Put a page together; the same findings give the same text."""
    links = [(one.anchor, one.title) for one in sections]
    return document(
        about.title,
        "\n".join([css(max(method.models, 1)), asset("page.css")]),
        element("a", "Skip to the findings", href=f"#{links[0][0]}", class_="skip"),
        _opening(about, method),
        contents([*links, ("method", "Method")]),
        element(
            "main", join(_section(one) for one in sections), _method(about, method), id="main"
        ),
        element("footer", f"Made by equipoise {method.made}."),
    )


def drawn(sections: Iterable[Section]) -> dict[str, str]:
    """Every figure as the text of an SVG file, by its name without ending."""
    parts = [one.part for one in sections if isinstance(one.part, Part)]
    every: dict[str, Html] = {name: x for part in parts for name, x in part.drawings.items()}
    return {name: standalone(one) for name, one in every.items()}


def kept(drawings: Mapping[str, Html | None]) -> dict[str, Html]:
    """Drawings that could be made."""
    return {name: one for name, one in drawings.items() if one is not None}


def _section(one: Section) -> Html:
    """Head one section; one that was left out says why in a line."""
    body = (
        element("p", element("strong", "Left out: "), one.part, class_="note")
        if isinstance(one.part, str)
        else _body(one.anchor, one.part)
    )
    return element(
        "section",
        element("h2", one.title, id=f"{one.anchor}-title"),
        body,
        id=one.anchor,
        aria_labelledby=f"{one.anchor}-title",
    )


def _body(anchor: str, part: Part) -> Html:
    """Finding, figure, numbers and method."""
    shown = Html("")
    if part.drawings:
        shown = figure(capital(part.caption), *part.drawings.values())
    numbers = part.numbers if part.shown else folded(f"Numbers: {anchor}", part.numbers)
    return join(
        [
            finding(part.finding),
            shown,
            numbers if part.numbers else Html(""),
            element("p", part.note, class_="note") if part.note else Html(""),
        ]
    )


def _opening(about: About, method: Method) -> Html:
    """Title, what was looked at, and how many notices there are."""
    link = element("a", count(len(_told(about)), "notice"), href="#notices")
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", about.title),
        element("p", " · ".join(filter(None, method.known)), " · ", link, class_="known"),
        element("p", about.scope, class_="scope") if about.scope else Html(""),
    )


def _told(about: About) -> list[str]:
    return list(dict.fromkeys(str(one) for one in about.notices))


def _method(about: About, method: Method) -> Html:
    """What words mean, the notices, and how to make the page again."""
    terms = [element("div", element("dt", a), element("dd", b)) for a, b in method.terms]
    told = [element("li", notice) for notice in _told(about)]
    return element(
        "section",
        element("h2", "Method", id="method-title"),
        element("dl", *terms, class_="terms"),
        element("h3", "Notices", id="notices"),
        element("ul", *told) if told else element("p", "The data raised no notices."),
        element("h3", "Reproduce"),
        element("p", "The same data, settings and version give this page, byte for byte."),
        fact_list([*method.asked, ("equipoise", method.made)]),
        id="method",
        aria_labelledby="method-title",
    )
