"""Page of an agreement: how far annotators agree, in one self-contained file.

Made of the same parts as the page of an evaluation, under the same policy: it makes no
request, and everything but the choice of theme works without a script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from equipoise.report.agreement_section import agreement_section
from equipoise.report.agreement_tasks import all_tasks
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count
from equipoise.report.page import asset, contents, document
from equipoise.report.palette import css
from equipoise.report.tables import facts as fact_list

Facts = Mapping[str, Any]
TERMS = (
    (
        "Krippendorff’s alpha",
        "One minus observed over expected disagreement of all pairs of votes on the same item. "
        "Any number of annotators, missing votes and counts; the level says how far apart two "
        "labels are. At least 0.8 is reliable, 0.667 enough for tentative conclusions.",
    ),
    (
        "Fleiss’ kappa",
        "Share of agreeing pairs of votes, beyond what the shares of classes would give by "
        "chance. Annotators are interchangeable, items count alike.",
    ),
    (
        "Cohen’s kappa",
        "The same for two annotators on the items both rated, with the habits of each. The "
        "mean weighs pairs by the items they share. Words are those of Landis and Koch, a "
        "convention: slight to 0.2, fair to 0.4, moderate to 0.6, substantial to 0.8.",
    ),
    (
        "Percent agreement",
        "How often two votes on the same item are the same; chance is not taken off, so a "
        "common class makes it large.",
    ),
    (
        "Others’ first choice, reading agreement",
        "How often a vote or reading names what the others on the same item put first.",
    ),
    (
        "Alpha without",
        "Krippendorff’s alpha of all other annotators: higher than alpha means that this "
        "annotator pulls it down.",
    ),
    (
        "Interval",
        "Middle 95% of the coefficient over resamples of items, or of whole groups of items. "
        "Annotators are held fixed: it speaks for items like these, read by these people.",
    ),
)


@dataclass(frozen=True, slots=True)
class AgreementPage:
    """What the page says besides the facts.

    Attributes
    ----------
    title
        Heading of the page.
    notices
        What the reader should know about the data, one sentence each.
    replicates, seed
        How the intervals were made.
    """

    title: str = "How far do annotators agree?"
    notices: Sequence[str] = ()
    replicates: int = 1000
    seed: int = 0


def render_agreement(found: Sequence[Facts], about: AgreementPage | None = None) -> str:
    """Turn the facts of one task or several into one self-contained HTML page.

    Parameters
    ----------
    found
        What `equipoise.run.agreement.agreement_facts` found, for each task.
    about
        Title, notices and settings.

    Returns
    -------
    str
        The page; the same facts give the same text.
    """
    said = about or AgreementPage()
    parts = [("overview", "All tasks", all_tasks(found))] if len(found) > 1 else []
    for place, facts in enumerate(found):
        title = str(facts["task"]) or "Agreement"
        parts.append((f"task{place}", title, agreement_section(facts)))
    parts.append(("method", "Method", _method(found, said)))
    return document(
        said.title,
        "\n".join([css(1), asset("page.css")]),
        element("a", "Skip to the agreement", href=f"#{parts[0][0]}", class_="skip"),
        _opening(found, said),
        contents((anchor, title) for anchor, title, _ in parts),
        element("main", join(_section(*part) for part in parts), id="main"),
        element("footer", f"Made by equipoise {version('equipoise')}."),
    )


def _section(anchor: str, title: str, body: Html) -> Html:
    head = element("h2", title, id=f"{anchor}-title")
    return element("section", head, body, id=anchor, aria_labelledby=f"{anchor}-title")


def _opening(found: Sequence[Facts], said: AgreementPage) -> Html:
    """Title and what was compared."""
    people = max(len(facts["annotators"]) for facts in found)
    what = "reading" if found[0]["kind"] == "ranking" else "vote"
    known = [
        count(len(found), "task") if len(found) > 1 else str(found[0]["task"]),
        count(max(facts["items"] for facts in found), "item"),
        count(sum(facts["votes"] for facts in found), what),
        count(people, "annotator") if people else "anonymous votes",
    ]
    link = element("a", count(len(said.notices), "notice"), href="#notices")
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", said.title),
        element("p", " · ".join(filter(None, known)), *([" · ", link] if said.notices else []),
                class_="known"),
    )  # fmt: skip


def _method(found: Sequence[Facts], said: AgreementPage) -> Html:
    """What the words mean, the notices, and how to make the page again."""
    told = [element("li", notice) for notice in said.notices]
    terms = [element("div", element("dt", term), element("dd", text)) for term, text in TERMS]
    return join(
        [
            element("dl", *terms, class_="terms"),
            element("h3", "Notices", id="notices"),
            element("ul", *told) if told else element("p", "The data raised no notices."),
            element("h3", "Reproduce"),
            element("p", found[0]["scope"]),
            fact_list(
                [
                    ("Level of alpha", str(found[0]["level"])),
                    ("Weights of kappa", str(found[0]["weights"])),
                    ("Resamples", count(said.replicates)),
                    ("Seed", str(said.seed)),
                    ("equipoise", version("equipoise")),
                ]
            ),
        ]
    )
