"""Page of a plan: how large a study must be and which votes come next, in one file.

Made of the same parts as the page on stability, under the same policy: it makes no request,
and everything but the choice of theme works without a script.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from equipoise.report import (
    plan_designs,
    plan_doubt,
    plan_next,
    plan_pairs,
    plan_power,
    plan_verdict,
)
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count, percent
from equipoise.report.page import asset, contents, document
from equipoise.report.palette import css
from equipoise.report.plan_rows import Facts, money, votes_each
from equipoise.report.stability_rows import NOTHING, Part, capital
from equipoise.report.stability_svg import standalone
from equipoise.report.tables import facts as fact_list
from equipoise.report.tables import figure, finding, folded


@dataclass(frozen=True, slots=True)
class PlanPage:
    """What the page says besides the facts.

    Attributes
    ----------
    title
        Heading of the page.
    scope
        One sentence on what the pilot was.
    notices
        What the reader should know about the data, one sentence each.
    banner
        A warning above everything, for example that readers are simulated.
    """

    title: str = "How large must the study be?"
    scope: str = ""
    notices: Sequence[str] = ()
    banner: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    title: str
    show: Callable[[Facts], Part]
    due: Callable[[Facts], bool]


def _always(facts: Facts) -> bool:
    return bool(facts["intervals"])


def _planned(facts: Facts) -> bool:
    return facts["recommended"] is not None


SECTIONS: Mapping[str, _Section] = {
    "verdict": _Section("How many items and votes?", plan_verdict.part, _always),
    "power": _Section("What could a larger or smaller study do?", plan_power.part, _planned),
    "designs": _Section("More items, or more votes on each?", plan_designs.part, _planned),
    "doubt": _Section("Where does the doubt come from?", plan_doubt.part, _always),
    "pairs": _Section(
        "What does each pair of models need?",
        plan_pairs.part,
        lambda facts: facts["goal"] == "ranking",
    ),
    "next": _Section(
        "Which votes come next?", plan_next.part, lambda facts: facts["next"] is not None
    ),
}


def render_plan(facts: Facts, about: PlanPage | None = None) -> str:
    """Turn the facts of a plan into one self-contained HTML page.

    Parameters
    ----------
    facts
        What `equipoise.run.planning.plan_facts` found.
    about
        Title, scope, notices and banner.

    Returns
    -------
    str
        The page; the same facts give the same text.
    """
    said = about or PlanPage()
    parts = _parts(facts)
    links = [*((name, SECTIONS[name].title) for name in parts), ("method", "Method")]
    return document(
        said.title,
        "\n".join([css(plan_power.DRAWN), asset("page.css")]),
        element("a", "Skip to the verdict", href="#verdict", class_="skip"),
        _opening(facts, said),
        contents(links),
        element(
            "main",
            join(_section(name, part) for name, part in parts.items()),
            _method(facts, said),
            id="main",
        ),
        element("footer", f"Made by equipoise {facts['equipoise']}."),
    )


def figures(facts: Facts) -> dict[str, str]:
    """Every figure of the page as the text of an SVG file, by its name without ending."""
    return {
        name: standalone(drawing)
        for part in _parts(facts).values()
        for name, drawing in part.drawings.items()
    }


def _parts(facts: Facts) -> dict[str, Part]:
    """Sections that there is something to say in, by their anchor."""
    return {name: one.show(facts) for name, one in SECTIONS.items() if one.due(facts)}


def _section(anchor: str, part: Part) -> Html:
    """Finding, figure, numbers and method under one head."""
    drawn = figure(capital(part.caption), *part.drawings.values()) if part.drawings else NOTHING
    return element(
        "section",
        element("h2", SECTIONS[anchor].title, id=f"{anchor}-title"),
        finding(part.finding),
        drawn,
        folded(f"Numbers: {anchor}", part.numbers),
        element("p", part.note, class_="note"),
        id=anchor,
        aria_labelledby=f"{anchor}-title",
    )


def _opening(facts: Facts, said: PlanPage) -> Html:
    """Title, what was looked at, and the banner."""
    pilot = facts["pilot"]
    known = [
        count(len(facts["models"]), "model"),
        facts["metric"]["soft_title"],
        str(facts["settings"]["task"] or ""),
        f"pilot: {count(pilot['items'], 'item')}, {votes_each(pilot['votes_per_item'])} each",
    ]
    link = element("a", count(len(_notices(facts, said)), "notice"), href="#notices")
    return element(
        "header",
        element("p", "equipoise", class_="brand"),
        element("h1", said.title),
        element("p", " · ".join(filter(None, known)), " · ", link, class_="known"),
        element("p", said.banner, class_="banner", role="note") if said.banner else NOTHING,
        element("p", said.scope, class_="scope") if said.scope else NOTHING,
    )


def _notices(facts: Facts, said: PlanPage) -> list[str]:
    """Every notice once."""
    return list(dict.fromkeys(str(one) for one in (*said.notices, *facts["notices"])))


def _asked(facts: Facts) -> list[tuple[str, str]]:
    """The settings that the plan hangs on."""
    how = facts["settings"]
    rows = [("Chance asked for", percent(how["power"], 1))]
    if facts["goal"] == "ranking":
        rows.append(("Chance for each pair", percent(how["pair_power"], 1)))
    given = how["difference"]
    rows += [
        ("Difference", "that of the pilot" if given is None else f"{given:g}"),
        ("Level of the interval", percent(how["level"], 1)),
        ("Simulated studies", count(how["simulations"])),
        ("Seed", str(how["seed"])),
    ]
    if how["price_item"] is not None:
        rows.append(
            ("Price of an item, of a vote",
             f"{money(how['price_item'])}, {money(how['price_vote'])}")
        )  # fmt: skip
    return [*rows, ("equipoise", str(facts["equipoise"]))]


def _method(facts: Facts, said: PlanPage) -> Html:
    """What was asked, the notices, and how to make the page again."""
    told = [element("li", notice) for notice in _notices(facts, said)]
    metric = facts["metric"]
    meant = element("div", element("dt", metric["title"]), element("dd", metric["definition"]))
    return element(
        "section",
        element("h2", "Method", id="method-title"),
        element("h3", "Metric"),
        element("dl", meant, class_="terms"),
        element("h3", "Notices", id="notices"),
        element("ul", *told) if told else element("p", "The plan raised no notices."),
        element("h3", "Reproduce"),
        element("p", "The same data, settings and version give this page, byte for byte."),
        fact_list(_asked(facts)),
        id="method",
        aria_labelledby="method-title",
    )
