"""Page of a plan: how large a study must be and which votes come next, in one file.

Made of the same parts as the page on stability, under the same policy: it makes no request,
and everything but the choice of theme works without a script.
"""

from collections.abc import Callable, Mapping
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
from equipoise.report.page_parts import About, defined, method, opening, part_body, section
from equipoise.report.palette import css
from equipoise.report.plan_rows import Facts, money, votes_each
from equipoise.report.stability_rows import Part
from equipoise.report.stability_svg import standalone


@dataclass(frozen=True, slots=True)
class PlanPage(About):
    """What the page says besides the facts; the scope is what the pilot was."""

    title: str = "How large must the study be?"


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
            join(
                section(name, SECTIONS[name].title, part_body(name, part))
                for name, part in parts.items()
            ),
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


def _opening(facts: Facts, said: PlanPage) -> Html:
    """Title, what was looked at, and the banner."""
    pilot = facts["pilot"]
    known = [
        count(len(facts["models"]), "model"),
        facts["metric"]["soft_title"],
        str(facts["settings"]["task"] or ""),
        f"pilot: {count(pilot['items'], 'item')}, {votes_each(pilot['votes_per_item'])} each",
    ]
    return opening(said, known, _notices(facts, said))


def _notices(facts: Facts, said: PlanPage) -> list[str]:
    """Every notice once."""
    return list(dict.fromkeys(str(one) for one in (*said.notices, *facts["notices"])))


def _asked(facts: Facts) -> list[tuple[str, str]]:
    """The settings that the plan hangs on."""
    how = facts["settings"]
    all_pairs = ", of all pairs" if facts["goal"] == "ranking" else ""
    rows = [(f"Chance asked for{all_pairs}", percent(how["power"], 1))]
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
    metric = facts["metric"]
    terms = join([element("h3", "Metric"), defined([(metric["title"], metric["definition"])])])
    return method(terms, _notices(facts, said), "The plan raised no notices.", _asked(facts))
