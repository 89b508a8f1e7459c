"""Parts that every page of findings has: the opening, its sections, and the method at the end.

A section is a sentence, a figure, its numbers and a note; the method says what words mean, what
the reader should know, and how the page is made again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count
from equipoise.report.stability_rows import NOTHING, Part, capital
from equipoise.report.tables import facts, figure, finding, folded


@dataclass(frozen=True, slots=True)
class About:
    """What a page says besides its findings.

    Attributes
    ----------
    title, scope
        Heading of the page, and one sentence on what was looked at.
    notices
        What the reader should know about the data, one sentence each.
    banner
        A warning above everything, for example that readers are simulated.
    """

    title: str
    scope: str = ""
    notices: Sequence[str] = ()
    banner: str = ""


def opening(about: About, known: Sequence[str], notices: Sequence[str]) -> Html:
    """Title, what was looked at, how many notices there are, and the banner."""
    link = element("a", count(len(notices), "notice"), href="#notices")
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", about.title),
        element("p", " · ".join(filter(None, known)), " · ", link, class_="known"),
        element("p", about.banner, class_="banner", role="note") if about.banner else NOTHING,
        element("p", about.scope, class_="scope") if about.scope else NOTHING,
    )


def section(anchor: str, title: str, body: Html) -> Html:
    """Head one section."""
    return element(
        "section",
        element("h2", title, id=f"{anchor}-title"),
        body,
        id=anchor,
        aria_labelledby=f"{anchor}-title",
    )


def part_body(anchor: str, part: Part) -> Html:
    """Finding, figure, and folded under it the numbers and the method."""
    folds = []
    if part.numbers and not part.shown:
        folds.append(folded(f"Numbers: {anchor}", part.numbers))
    if part.note:
        told = element("p", part.note, class_="note")
        folds.append(folded("How this was done", told, kept=True))
    return join(
        [
            finding(part.finding),
            _drawn(part),
            part.numbers if part.shown else NOTHING,
            element("div", *folds, class_="folds") if folds else NOTHING,
        ]
    )


def _drawn(part: Part) -> Html:
    """The figure; drawings beyond the first are folded where there are words for them."""
    every = list(part.drawings.values())
    if not every:
        return NOTHING
    cut = part.first if part.others and part.first else len(every)
    shown, rest = figure(capital(part.caption), *every[:cut]), every[cut:]
    if not rest:
        return shown
    frames = join(element("div", one, class_="frame") for one in rest)
    return join([shown, folded(part.others, element("div", frames, class_="pair"), kept=True)])


def defined(terms: Sequence[tuple[str, str]]) -> Html:
    """Words and what they mean."""
    return element(
        "dl",
        *(element("div", element("dt", word), element("dd", text)) for word, text in terms),
        class_="terms",
    )


def method(
    terms: Html, notices: Sequence[str], none: str, asked: Sequence[tuple[str, str]]
) -> Html:
    """What words mean, the notices, and how to make the page again.

    Parameters
    ----------
    none
        What is said where there are no notices.
    asked
        Settings, with their values.
    """
    told = [element("li", notice) for notice in notices]
    body = [
        terms,
        element("h3", "Notices", id="notices"),
        element("ul", *told) if told else element("p", none),
        element("h3", "Reproduce"),
        element("p", "The same data, settings and version give this page, byte for byte."),
        facts(asked),
    ]
    return section("method", "Method", join(body))
