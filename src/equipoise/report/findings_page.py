"""Page of a few findings: each a sentence, a figure, its numbers and a note on method.

Made of the same parts as the page of an evaluation, under the same policy: it makes no
request, and everything but the choice of theme works without a script.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.report.markup import Html, element, join
from equipoise.report.page import asset, contents, document
from equipoise.report.page_parts import About, defined, method, opening, part_body, section
from equipoise.report.palette import css
from equipoise.report.stability_rows import Part
from equipoise.report.stability_svg import standalone

__all__ = ["About", "Method", "Section", "drawn", "kept", "render_findings"]


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


def render_findings(about: About, sections: Sequence[Section], ending: Method) -> str:
    """Put a page together; the same findings give the same text."""
    links = [(one.anchor, one.title) for one in sections]
    notices = list(dict.fromkeys(str(one) for one in about.notices))
    asked = [*ending.asked, ("equipoise", ending.made)]
    return document(
        about.title,
        "\n".join([css(max(ending.models, 1)), asset("page.css")]),
        element("a", "Skip to the findings", href=f"#{links[0][0]}", class_="skip"),
        opening(about, ending.known, notices),
        contents([*links, ("method", "Method")]),
        element(
            "main",
            join(_section(one) for one in sections),
            method(defined(ending.terms), notices, "The data raised no notices.", asked),
            id="main",
        ),
        element("footer", f"Made by equipoise {ending.made}."),
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
        else part_body(one.anchor, one.part)
    )
    return section(one.anchor, one.title, body)
