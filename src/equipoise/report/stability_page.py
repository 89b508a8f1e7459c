"""Page of a stability analysis: what the result rests on, in one self-contained file.

Made of the same parts as the page of an evaluation, under the same policy: it makes no
request, and everything but sorting and the choice of theme works without a script.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from equipoise.report import (
    stability_annotators,
    stability_certainty,
    stability_choices,
    stability_components,
    stability_difference,
    stability_experts,
    stability_flips,
    stability_map,
    stability_panels,
    stability_ranking,
    stability_subgroups,
    stability_sweep,
)
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import count, percent
from equipoise.report.page import asset, contents, document
from equipoise.report.page_parts import About, defined, method, opening, part_body, section
from equipoise.report.palette import css
from equipoise.report.stability_head import verdict
from equipoise.report.stability_rows import Cast, Entry, Part, cast_of
from equipoise.report.stability_svg import standalone


@dataclass(frozen=True, slots=True)
class StabilityPage(About):
    """What the page says besides the facts; the scope is what was compared."""

    title: str = "How far can the result be trusted?"


@dataclass(frozen=True, slots=True)
class _Analysis:
    anchor: str
    title: str
    show: Callable[[Entry, Cast], Part]


ANALYSES: Mapping[str, _Analysis] = {
    "ranking": _Analysis(
        "ranking", "Does the order of the models hold?", stability_ranking.part
    ),
    "flips": _Analysis("flips", "How little would change who is best?", stability_flips.part),
    "components": _Analysis(
        "components", "Where does the doubt come from?", stability_components.part
    ),
    "certainty": _Analysis(
        "certainty", "Does the order hold on the clear cases?", stability_certainty.part
    ),
    "leave_one_out": _Analysis(
        "annotators", "Does it hang on one annotator?", stability_annotators.part
    ),
    "panel_size": _Analysis("panel", "Are there enough annotators?", stability_panels.sizes),
    "pairs": _Analysis("map", "Who judges alike", lambda entry, _: stability_map.part(entry)),
    "experts": _Analysis("experts", "Models among the experts", stability_experts.part),
    "vote_cutoffs": _Analysis(
        "votes", "Does it depend on items with few votes?", stability_panels.cutoffs
    ),
    "choices": _Analysis(
        "choices", "Does it depend on how votes are combined?", stability_choices.part
    ),
    "threshold_sweep": _Analysis(
        "threshold", "What if a positive needed more votes?", stability_sweep.part
    ),
    "critical_difference": _Analysis(
        "difference", "Which models do the tasks tell apart?", stability_difference.part
    ),
    "subgroups": _Analysis(
        "subgroups", "Is it the same in every group of items?", stability_subgroups.part
    ),
}


def render_stability(facts: Mapping[str, Any], about: StabilityPage | None = None) -> str:
    """Turn the facts of a stability analysis into one self-contained HTML page.

    Parameters
    ----------
    facts
        What `equipoise.run.stability.stability_facts` found; with ``pairs``, the kappa of
        every pair of annotators as in `equipoise.run.agreement.agreement_facts`, also a map.
    about
        Title, scope, notices and banner.

    Returns
    -------
    str
        The page; the same facts give the same text.
    """
    said = about or StabilityPage()
    parts = _sections(facts)
    links = [*parts, ("method", "Method")]
    return document(
        said.title,
        "\n".join([css(len(facts["models"])), asset("page.css")]),
        element("a", "Skip to the findings", href=f"#{links[0][0]}", class_="skip"),
        _opening(facts, said),
        contents(links),
        element(
            "main",
            join(section(*names, body) for names, body in parts.items()),
            _method(facts, said),
            id="main",
        ),
        element("footer", f"Made by equipoise {facts['equipoise']}."),
    )


def figures(facts: Mapping[str, Any]) -> dict[str, str]:
    """Every figure of the page as the text of an SVG file, by its name without ending."""
    return {
        name: standalone(drawing)
        for part in _parts(facts).values()
        if isinstance(part, Part)
        for name, drawing in part.drawings.items()
    }


def _parts(facts: Mapping[str, Any]) -> dict[str, Part | str]:
    """Sections by the name of their analysis; one that was left out is the reason."""
    cast = cast_of(facts)
    parts: dict[str, Part | str] = {}
    for name, one in ANALYSES.items():
        entry = facts.get(name)
        if not entry:
            continue
        if "left_out" in entry:
            parts[name] = str(entry["left_out"])
        elif not entry.get("rows", True):
            parts[name] = str(entry["finding"])
        else:
            part = one.show(entry, cast)
            parts[name] = part.finding if part.empty else part
    return parts


def _sections(facts: Mapping[str, Any]) -> dict[tuple[str, str], Html]:
    """Bodies of all sections but the last by anchor and title; at the end what was left out."""
    parts = _parts(facts)
    made = {}
    if facts.get("lead"):
        made["verdict", "In short"] = verdict(facts, cast_of(facts))
    for name, part in parts.items():
        if isinstance(part, Part):
            about = ANALYSES[name]
            made[about.anchor, about.title] = part_body(about.anchor, part)
    reasons = {name: part for name, part in parts.items() if isinstance(part, str)}
    if reasons:
        made["left-out", "Not looked at, and why"] = _left_out(reasons)
    return made


def _left_out(reasons: Mapping[str, str]) -> Html:
    """List what the data did not allow, each with the reason."""
    return defined([(ANALYSES[name].title, why) for name, why in reasons.items()])


def _opening(facts: Mapping[str, Any], said: StabilityPage) -> Html:
    """Title, what was looked at, and the banner."""
    data, how = facts["data"], facts["settings"]
    tasks = len(facts["tasks"])
    known = [
        count(len(facts["models"]), "model"),
        count(tasks - 1, "task") if tasks > 1 else "",
        count(data["items"], "item"),
        count(data["votes"], "vote"),
        count(data["annotators"], "annotator") if data["annotators"] else "anonymous votes",
        count(how["replicates"], "redraw"),
    ]
    return opening(said, known, _notices(facts, said))


def _notices(facts: Mapping[str, Any], said: StabilityPage) -> list[str]:
    """Every notice once, with the sections it is about."""
    told: dict[str, list[str]] = {str(one): [] for one in (*said.notices, *facts["notices"])}
    for name, one in ANALYSES.items():
        for notice in (facts.get(name) or {}).get("notices", ()):
            told.setdefault(str(notice), []).append(one.anchor)
    return [f"{one} ({', '.join(about)})" if about else one for one, about in told.items()]


def _method(facts: Mapping[str, Any], said: StabilityPage) -> Html:
    """What was asked, the notices, and how to make the page again."""
    how = facts["settings"]
    metrics = defined([(one["title"], one["definition"]) for one in facts["metrics"]])
    asked = [
        ("Labels", str(how["labels"])),
        ("Redraws", count(how["replicates"])),
        ("Level of the intervals", percent(how["level"], 0)),
        ("Seed", str(how["seed"])),
        ("equipoise", str(facts["equipoise"])),
    ]
    terms = join([element("h3", "Metrics"), metrics])
    return method(terms, _notices(facts, said), "The analyses raised no notices.", asked)
