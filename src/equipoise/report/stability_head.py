"""Head of the page: who leads, how sure that is, what would overturn it, and a leaderboard.

Everything is said of one question: the task, metric and labels that the facts call their lead.
What was not looked at is not said.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.leaderboard import bar
from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    count,
    defined,
    finite,
    listing,
    number,
    numeral,
    percent,
    rank,
    signed,
)
from equipoise.report.stability_rows import (
    Cast,
    Entry,
    by,
    capital,
    digits_of,
    redrawn,
    value,
    written,
)
from equipoise.report.tables import folded, row, scrolling, table

ENDS = ("value", "low", "high")
SOURCES = {
    "items": "which items were chosen",
    "annotators": "who the annotators are",
    "votes": "how annotators happened to vote",
    "model choice": "how votes are combined into a truth",
}
MOVES = {"items": "leaving out", "votes": "leaving out", "changed votes": "changing"}


def verdict(facts: Mapping[str, Any], cast: Cast) -> Html:
    """The verdict in a sentence or two, its grounds, and the leaderboard."""
    lead = facts["lead"]
    level = percent(facts["settings"]["level"], 0)
    grounds = [
        ("How sure", _sure(lead)),
        ("What would overturn it", _overturned(facts)),
        ("What it hangs on most", _doubt(facts)),
    ]
    said = [
        element("div", element("dt", name), element("dd", words))
        for name, words in grounds
        if words
    ]
    return join(
        [
            element("p", headline(lead, cast, level), class_="headline"),
            element("dl", *said, class_="grounds") if said else Html(""),
            _board(lead, cast, level),
            _everywhere(facts, cast),
        ]
    )


def _what(lead: Entry, cast: Cast) -> str:
    """Name the metric with its task."""
    task = f" ({lead['task']})" if lead["task"] else ""
    return f"{cast.title([{**lead, 'task': ''}])}{task}"


def headline(lead: Entry, cast: Cast, level: str = "95%") -> str:
    """Say who leads, and by how much.

    Examples
    --------
    >>> auroc = {"title": "AUROC", "soft_title": "soft AUROC", "better": "higher"}
    >>> lead = {"task": "", "metric": "auroc", "labels": "soft", "leaders": [], "others": [],
    ...         "rows": [], "lead": None}
    >>> headline(lead, Cast((), {"auroc": auroc}))
    'No model has a value of soft AUROC, so there is no order to judge.'
    """
    leaders, others, what = lead["leaders"], lead["others"], _what(lead, cast)
    rows = {str(one["model"]): one for one in lead["rows"]}
    if not leaders:
        some = "a finite value" if others else "a value"
        return f"No model has {some} of {what}, so there is no order to judge."
    digits = digits_of(lead["rows"])
    first = written(rows[leaders[0]], ENDS, digits)
    if len(rows) == 1:
        return f"{leaders[0]}: {what} {first}. There is no other model to compare it to."
    if not others:
        every = len(leaders) == len(rows)
        whole = "Both" if len(leaders) == 2 else f"All {len(leaders)}"
        each = f"{whole} models" if every else listing(leaders, 3)
        tie = "share the first place" if len(leaders) > 1 else "is the only model with a value"
        return f"{each} {tie} by {what}: {first}."
    verb = "share the first place" if len(leaders) > 1 else "leads"
    missing = len(rows) - len(leaders) - len(others)
    none = f" {count(missing, 'model')} without a value." if missing else ""
    gap = _gap(lead, cast, level)
    return f"{listing(leaders, 3)} {verb} by {what}: {first}.{gap}{none}"


def _gap(lead: Entry, cast: Cast, level: str) -> str:
    """Say how far the next model is behind, and whether other items could turn that round."""
    gap, sign = lead["lead"], cast.sign([lead])
    if gap is None:
        return ""
    far = sign * value(gap, "value")
    low, high = sorted(sign * value(gap, end) for end in ("low", "high"))
    next_ = listing([str(lead["others"][0])])
    if not finite(far):
        return ""
    who = "They are" if len(lead["leaders"]) > 1 else "It is"
    said = f" {who} {signed(far).lstrip('+')} ahead of {next_}"
    if not (defined(low) and defined(high)):
        return f"{said}; too few redraws can be scored for an interval."
    drawn = redrawn(lead["kind"])
    ends = f"{level} interval {signed(low)} to {signed(high)} with other {drawn}"
    return f"{said}{'' if low > 0 else ', which may be chance'} ({ends})."


def _sure(lead: Entry) -> str:
    """Say how often the leader stays best, and who else may be."""
    best = {str(one["model"]): value(one, "p_best") for one in lead["rows"]}
    known = {model: share for model, share in best.items() if finite(share)}
    if len(known) < 2 or not lead["leaders"]:
        return ""
    first = str(lead["leaders"][0])
    others = sorted((one for one in known if one != first), key=lambda one: -known[one])
    drawn, own = redrawn(lead["kind"]), {str(one["model"]): one for one in lead["rows"]}
    drawn += "" if finite(value(own[first], "low")) else " that can be scored"
    said = f"{first} is best in {percent(known[first])} of the redraws of {drawn}"
    if not known[others[0]]:
        return f"{said}, no other model in any."
    near = f"{listing([others[0]])} in {percent(known[others[0]])}"
    apart = len(lead["separated"])
    told = (
        f" With other {drawn} its lead over {count(apart)} of the "
        f"{count(len(lead['others']), 'other')} is clear, each taken by itself."
        if apart and len(lead["leaders"]) == 1
        else ""
    )
    return f"{said}, {near}.{told}"


def _overturned(facts: Mapping[str, Any]) -> str:
    """Say which smallest set of items or votes changes who is first."""
    every = (facts.get("flips") or {}).get("rows") or ()
    rows = [one for one in every if not one["idle"]]
    here = [one for one in rows if one["task"] == facts["lead"]["task"]]
    found = [one for one in here or rows if one["size"]]
    if not rows or not facts["lead"]["leaders"] or not facts["lead"]["others"]:
        return ""
    if not found:
        most = max(int(one["tried_up_to"]) for one in rows)
        return f"No set of up to {most} items or votes was found that puts another model first."
    one = min(found, key=lambda each: (each["size"], value(each, "share")))
    noun = "item" if one["unit"] == "items" else "vote"
    size, whole = count(one["size"]), count(one["number"], noun)
    task = "" if here or not one["task"] else f"In {listing([str(one['task'])])}, "
    bound = "" if one["smallest"] else " (or fewer)"
    said = f"{task}{MOVES.get(one['unit'], 'changing')} {size} of {whole}{bound}"
    behind, ahead = (listing([str(one[name])]) for name in ("b", "a"))
    return capital(f"{said} puts {behind} ahead of {ahead}.")


def _doubt(facts: Mapping[str, Any]) -> str:
    """Say which source moves the difference of the two best models most."""
    rows = (facts.get("components") or {}).get("rows") or ()
    task = facts["lead"]["task"]
    own = [
        one
        for one in rows
        if one["task"] == task and " - " in str(one["result"]) and one["source"] in SOURCES
        and finite(value(one, "deviation"))
    ]  # fmt: skip
    pairs = [one for one in own if one["result"] not in facts["models"]]
    most = max(pairs, key=lambda one: value(one, "variance"), default=None)
    if most is None or not value(most, "variance") > 0:
        return ""
    level = [one for one in pairs if one["result"] == most["result"] and _reaches(one, most)]
    names = listing([SOURCES[str(one["source"])] for one in level], 4)
    return f"{capital(names)}{' (their intervals overlap)' * (len(level) > 1)}."


def _reaches(one: Entry, most: Entry) -> bool:
    """Whether the interval of a source reaches that of the largest."""
    return one is most or not value(one, "high") < value(most, "low")


def _board(lead: Entry, cast: Cast, level: str) -> Html:
    """The leaderboard: value, rank and chance to be best."""
    rows = {str(one["model"]): one for one in lead["rows"]}
    order = [*map(str, lead["leaders"]), *map(str, lead["others"])]
    order += [model for model in rows if model not in order]
    digits, many = digits_of(lead["rows"]), len(rows) > 1
    lines = [_line(rows[model], cast, digits, many=many) for model in order]
    heads = ["Model", cast.title([{**lead, "task": ""}]), *(["rank", "P(best)"] * many)]
    better = "lower is better" if cast.sign([lead]) < 0 else "higher is better"
    drawn = redrawn(lead["kind"])
    caption = f"{capital(_what(lead, cast))}, {better}; {level} intervals, {drawn} drawn anew"
    caption += f", {lead['spread']}" if lead["spread"] else ""
    whole = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", *(element("th", one, scope="col") for one in heads))),
        element("tbody", join(lines)),
        class_="front",
    )
    return scrolling(whole)


def _line(one: Entry, cast: Cast, digits: int, *, many: bool) -> Html:
    """One model of the leaderboard."""
    middle, low, high = (value(one, name) for name in ENDS)
    ends = f"[{number(low, digits)}, {number(high, digits)}]" if defined(low) else ""
    cells = [element("td", number(middle, digits), " ", element("small", ends))]
    if many:
        span = _ranks(value(one, "rank_low"), value(one, "rank_high"))
        place, share = numeral(one["rank"]), numeral(one["p_best"])
        cells += [element("td", rank(place), " ", element("small", span)),
                  bar(share if finite(share) else None)]  # fmt: skip
    name = str(one["model"])
    shown = cast.short(name, 28)
    head = element("th", shown, scope="row", title=name if shown != name else None)
    return element("tr", head, *cells, class_=cast.class_(name))


def _ranks(low: float, high: float) -> str:
    """Write an interval of ranks.

    Examples
    --------
    >>> _ranks(1.0, 6.0), _ranks(2.0, 2.0), _ranks(float("nan"), 1.0)
    ('[1 to 6]', '[2]', '')
    """
    if not (finite(low) and finite(high)):
        return ""
    return f"[{low:g}]" if low == high else f"[{low:g} to {high:g}]"


def _everywhere(facts: Mapping[str, Any], cast: Cast) -> Html:
    """Who leads in every task and by every metric, where there is more than one."""
    labels = facts["lead"]["labels"]
    rows = [one for one in facts["values"] if one["labels"] == labels]
    lines = []
    for metric, own in by(rows, "metric").items():
        for task, these in by(own, "task").items():
            lines.append(_first(these, cast, str(task or metric)))
    if len(lines) < 2:
        return Html("")
    heads = ["Task", "metric", "best", "value", "P(best), items drawn anew"]
    said = f"Best model by task and metric, {labels} labels"
    return folded("Every task and metric", table(said, heads, lines))


def _first(rows: Sequence[Entry], cast: Cast, task: str) -> Html:
    """The best model of one task and metric."""
    title = cast.title([{**rows[0], "task": ""}])
    known = [one for one in rows if finite(value(one, "value"))]
    if not known:
        return row(task, [title, "undefined", "", ""])
    best = max(known, key=lambda one: cast.sign(rows) * value(one, "value"))
    same = [str(one["model"]) for one in known if value(one, "value") == value(best, "value")]
    digits = digits_of(known)
    chance = percent(value(best, "p_best"))
    return row(task, [title, listing(same, 2), written(best, ENDS, digits), chance])
