"""Page of an aggregation: what the annotations leave open, in one self-contained file.

Made of the same parts as the page of an evaluation, under the same policy: it makes no
request, and everything but the choice of theme works without a script.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from equipoise.report import truth_case, truth_models, truth_people, truth_sweep
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count
from equipoise.report.page import asset, contents, document
from equipoise.report.palette import css
from equipoise.report.tables import facts as fact_list
from equipoise.report.tables import figure, finding, folded
from equipoise.report.truth_run import ambiguous_parts, certainty_parts


@dataclass(frozen=True, slots=True)
class TruthPage:
    """What the page says besides the facts.

    Attributes
    ----------
    title
        Heading of the page.
    model
        One sentence on the model and why it was chosen.
    notices
        What the reader should know about the data, one sentence each.
    models
        A row per model that was compared, the one of the page first; empty for none.
    """

    title: str = "What is plausibly true?"
    model: str = ""
    notices: Sequence[str] = ()
    models: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class _Part:
    anchor: str
    title: str
    body: Html
    note: str = ""


def render_truth(facts: Mapping[str, Any], about: TruthPage | None = None) -> str:
    """Turn the facts of an aggregation into one self-contained HTML page.

    Parameters
    ----------
    facts
        What `equipoise.run.certainty.truth_facts` found.
    about
        Title, sentence on the model, and notices.

    Returns
    -------
    str
        The page; the same facts give the same text.
    """
    said = about or TruthPage()
    parts = [_certainty(facts), _items(facts), _annotators(facts), _cases(facts)]
    parts += [_sweep(facts)] if facts["swept"] else []
    parts += [_models(facts, said)] if said.models else []
    parts.append(_method(facts, said))
    return document(
        said.title,
        "\n".join([css(1), asset("page.css")]),
        element("a", "Skip to the certainty", href="#certainty", class_="skip"),
        _opening(facts, said),
        contents((part.anchor, part.title) for part in parts),
        element("main", join(_section(part) for part in parts), id="main"),
        element("footer", f"Made by equipoise {version('equipoise')}."),
    )


def _section(part: _Part) -> Html:
    """Head one section and set its note."""
    return element(
        "section",
        element("h2", part.title, id=f"{part.anchor}-title"),
        part.body,
        element("p", part.note, class_="note") if part.note else Html(""),
        id=part.anchor,
        aria_labelledby=f"{part.anchor}-title",
    )


def _opening(facts: Mapping[str, Any], said: TruthPage) -> Html:
    """Title, what was aggregated, and the model."""
    what = "reading" if facts["kind"] == "ranking" else "vote"
    known = [
        str(facts["task"]),
        count(facts["items"], "item"),
        f"{count(facts['classes'])} classes",
        count(facts["votes"], what),
        "anonymous votes" if facts["people"] is None else count(facts["people"], "annotator"),
        str(facts["method"]),
    ]
    link = element("a", count(len(said.notices), "notice"), href="#notices")
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", said.title),
        element("p", " · ".join(filter(None, known)), *([" · ", link] if said.notices else []),
                class_="known"),
        element("p", said.model, class_="scope") if said.model else Html(""),
    )  # fmt: skip


def _certainty(facts: Mapping[str, Any]) -> _Part:
    """How certain the items are."""
    body = certainty_parts(facts["certainty"])
    return _Part("certainty", "How certain is the truth", body, str(facts["meaning"]))


def _items(facts: Mapping[str, Any]) -> _Part:
    """Which items are least certain."""
    note = (
        "Bars show the mean plausibility of each class, the strongest colour first; the grey "
        "piece is all classes not named. Entropy is that of the mean plausibilities, in nats. "
        "These are the items for which another opinion tells most."
    )
    return _Part("ambiguous", "Most ambiguous items", ambiguous_parts(facts["certainty"]), note)


def _annotators(facts: Mapping[str, Any]) -> _Part:
    """Who voted, and how they differ."""
    entries, skill = facts["annotators"], facts["skill"]
    if not entries:
        why = (
            "The votes are anonymous, so nothing can be said of single annotators."
            if facts["people"] is None
            else "Ratings are numbers, so votes are not compared between annotators."
        )
        return _Part("annotators", "Annotators", finding(why))
    body = join(
        [
            finding(truth_people.finding(entries, skill)),
            figure(truth_people.caption(entries, skill), *truth_people.draw(entries, skill)),
            folded("Numbers: annotators", truth_people.numbers(entries, skill)),
        ]
    )
    note = (
        "Agreement is with the mean of the others on the same items; the positive share is "
        "over the votes each annotator gave."
    )
    if skill:
        note += f" Skill is the {skill} that the model finds for each annotator."
    return _Part("annotators", "Annotators", body, note)


def _cases(facts: Mapping[str, Any]) -> _Part:
    """A few cases close up."""
    note = "Tick and bar: plausibility; this model has no spread around it."
    if any(case["spread"] for case in facts["cases"]):
        seed = "" if facts["law"] is None else f" (seed {facts['seed']})"
        note = (
            "Tick: mean plausibility. Thick line: the middle half of the draws; thin line: 5% "
            f"to 95% of them; dots: single draws{seed}."
        )
    if facts["kind"] != "interval":
        note += " Ring: share of readings that name the class first, ties in equal parts."
    body = join(element("article", truth_case.show(case)) for case in facts["cases"])
    return _Part("cases", "Cases close up", body, note)


def _sweep(facts: Mapping[str, Any]) -> _Part:
    """What another reliability would change."""
    sweep = facts["sweep"]
    if sweep is None:
        said = f"The model, {facts['method']}, has no reliability that could be varied."
        return _Part("reliability", "If annotations counted more", finding(said))
    body = join(
        [
            finding(truth_sweep.finding(sweep)),
            figure("Certainty over the reliability; ring: in use", *truth_sweep.draw(sweep)),
            folded("Numbers: reliability", truth_sweep.numbers(sweep)),
        ]
    )
    note = (
        "Reliability is what one annotation counts, a choice that the annotations themselves "
        f"do not settle. {sweep['how']}"
    )
    return _Part("reliability", "If annotations counted more", body, note)


def _models(facts: Mapping[str, Any], said: TruthPage) -> _Part:
    """What other models make of the same annotations."""
    body = join(
        [
            finding(truth_models.finding(said.models, facts["items"])),
            truth_models.numbers(said.models, facts["items"]),
        ]
    )
    return _Part("models", "What other models say", body, truth_models.note(said.models))


def _method(facts: Mapping[str, Any], said: TruthPage) -> _Part:
    """The model, the notices, and how to make the page again."""
    told = [element("li", notice) for notice in said.notices]
    nothing = element("p", "The aggregation raised no notices.")
    body = join(
        [
            element("p", element("strong", "Model: "), said.model or facts["method"]),
            element("h3", "Notices", id="notices"),
            element("ul", *told) if told else nothing,
            element("h3", "Reproduce"),
            element(
                "p", "The same annotations, model and version give this page, byte for byte."
            ),
            fact_list(
                [
                    ("Method", str(facts["method"])),
                    ("Seed of the draws", str(facts["seed"])),
                    ("equipoise", version("equipoise")),
                ]
            ),
        ]
    )
    return _Part("method", "Method", body)
