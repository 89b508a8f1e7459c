"""Hardest items: where the best model is furthest from what was said.

Two bars per item, cut by class in the same colours: what the model predicted, and what the
votes say. Where the bars differ, either the model is wrong or the votes deserve a second look.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    count,
    distinct,
    listing,
    number,
    numeral,
    percent,
    shorten,
)
from equipoise.report.svg import NARROW, across, drawing, text, titled
from equipoise.report.tables import figure, finding, folded, name_cell, row, table
from equipoise.report.truth_items import vote_words
from equipoise.report.view import View

SHADES = {1: (5,), 2: (2, 5), 3: (1, 3, 5), 4: (1, 3, 5, 6), 5: (1, 2, 3, 5, 6)}
MOST_SHADES = (1, 2, 3, 4, 5, 6)
ROW, START, WIDE = 68.0, 46.0, NARROW - 50.0
ROOM = 25  # letters of each side under the bars
KEY = 14  # letters of a class in the key
SEEN = 0.005  # smaller shares are not written

Entry = Mapping[str, Any]


def body(view: View, task: int) -> Html:
    """Show the hardest items of a task, or the hardest one of every task."""
    entries = view.of_task("hardest", task)
    if not entries:
        return _by_task(view)
    entry = entries[0]
    items = entry["items"]
    model = view.listing([entry["model"]])
    caption = f"The {count(len(items), 'item')} with the worst {entry['title']} of {model}"
    caption = caption.replace("The 1 item ", "The item ")
    drawn = _draw(entry)
    return join(
        [
            finding(sentence(view, entry)),
            _key(entry),
            figure(caption, *drawn) if drawn else Html(""),
            folded("Numbers: hardest items", _numbers(entry)),
        ]
    )


def shades(entry: Entry, item: Entry) -> list[int]:
    """Colour of every class of an item: by its place among all, or among those shown."""
    classes = list(entry["classes"]) or [part["class"] for part in item["shares"]]
    steps = SHADES.get(len(classes), MOST_SHADES)
    return [steps[classes.index(part["class"])] for part in item["shares"]]


def said_by(entry: Entry) -> str:
    """Name the other side."""
    return "votes" if entry["from_votes"] else "truth"


def _key(entry: Entry) -> Html:
    """Draw which colour is which class, where all items have the same ones."""
    classes = [str(name) for name in entry["classes"]]
    if not classes:
        return Html("")
    shown = distinct(classes, KEY)
    parts, x, y = [], 0.0, 12.0
    for step, name, short in zip(
        SHADES.get(len(classes), MOST_SHADES), classes, shown, strict=False
    ):
        wide = 30.0 + 7.5 * len(short)
        if x + wide > NARROW and x:
            x, y = 0.0, y + 20.0
        swatch = element("path", class_=f"q{step}", stroke_width=11, d=across(x, y - 4, 14))
        parts.append(join([swatch, titled(name, short, x=x + 19, y=y)]))
        x += wide
    alternative = f"Colours of the classes, lightest first: {listing(classes, 6)}."
    return drawing((NARROW, y + 8), alternative, *parts)


def _draw(entry: Entry) -> list[Html]:
    """Draw the items in two columns, or one where there are few."""
    shown = distinct([str(one["item"]) for one in entry["items"]], 34)
    pairs = list(zip(entry["items"], shown, strict=True))
    half = (len(pairs) + 1) // 2 if len(pairs) > 3 else len(pairs)
    return [_column(entry, part) for part in (pairs[:half], pairs[half:]) if part]


def _column(entry: Entry, pairs: Sequence[tuple[Entry, str]]) -> Html:
    """Draw some items under one another."""
    rows = [_row(entry, one, shown, ROW * place) for place, (one, shown) in enumerate(pairs)]
    alternative = (
        f"Predictions of {entry['model']} beside the {said_by(entry)} for "
        f"{count(len(pairs), 'item')}."
    )
    return drawing((NARROW, ROW * len(pairs)), alternative, *rows)


def _row(entry: Entry, one: Entry, shown: str, y: float) -> Html:
    """Draw one item: name and score, both bars, and both sides in words."""
    words = f"model {_words(one, 'predicted', 40)} · {said_by(entry)} "
    words += _words(one, "observed", 40)
    short = f"model {_fitting(one, 'predicted')} · {said_by(entry)} "
    short += _fitting(one, "observed")
    return join(
        [
            titled(str(one["item"]), shown, x=0.0, y=y + 12, class_="hd"),
            text(NARROW - 4, y + 12, f"score {number(numeral(one['score']))}", "e a"),
            text(0, y + 26, "model", "a"),
            *_bar(entry, one, "predicted", y + 22),
            text(0, y + 40, said_by(entry), "a"),
            *_bar(entry, one, "observed", y + 36),
            titled(words, short, x=0.0, y=y + 55, class_="a"),
        ]
    )


def _bar(entry: Entry, one: Entry, side: str, y: float) -> list[Html]:
    """Draw one bar; what is left for classes not shown is grey."""
    pieces, start = [], START
    parts = [
        (f"q{step}", part[side])
        for step, part in zip(shades(entry, one), one["shares"], strict=True)
    ]
    rest = 1.0 - sum(share for _, share in parts)
    for class_, share in [*parts, ("g", max(0.0, rest))]:
        length = share * WIDE
        if length > 1.5:
            d = across(start, y, length - 1)
            pieces.append(element("path", class_=class_, stroke_width=10, d=d))
        start += length
    return pieces


def _words(one: Entry, side: str, room: int, most: int = 6) -> str:
    """Write the classes of one side, the largest share first.

    Examples
    --------
    >>> parts = [{"class": "a", "predicted": 0.2}, {"class": "b", "predicted": 0.8}]
    >>> one = {"shares": parts}
    >>> _words(one, "predicted", 20), _words(one, "predicted", 20, 1)
    ('b: 80%, a: 20%', 'b: 80%, …')
    """
    parts = sorted(one["shares"], key=lambda part: -part[side])
    seen = [part for part in parts if part[side] >= SEEN]
    said = [
        f"{shorten(str(part['class']), room)}: {percent(part[side])}" for part in seen[:most]
    ]
    return ", ".join([*said, *(["…"] if len(seen) > most else [])])


def _fitting(one: Entry, side: str) -> str:
    """Write as many classes of one side as there is room for."""
    tries = (_words(one, side, 14, most) for most in (3, 2, 1))
    return next((said for said in tries if len(said) <= ROOM), _words(one, side, 12, 1))


def leading(one: Entry, side: str) -> Entry:
    """The class with the largest share on one side."""
    found: Entry = max(one["shares"], key=lambda part: part[side])
    return found


def missed(one: Entry) -> bool:
    """Whether another class has more votes than the one the model holds likeliest."""
    most = leading(one, "observed")["observed"]
    return bool(leading(one, "predicted")["observed"] < most - 1e-12)


def sentence(view: View, entry: Entry) -> str:
    """Say what the model makes of the hardest item, and how often it misses the leader."""
    items = entry["items"]
    model, title = view.listing([entry["model"]]), entry["title"]
    if not items:
        return f"No item has a defined {title}."
    top, side = items[0], said_by(entry)
    guess, truth = leading(top, "predicted"), leading(top, "observed")
    name = listing([str(top["item"])])
    if missed(top):
        how = (
            f"it says class {_quoted(guess)} ({percent(guess['predicted'])}), the "
            f"{side} say class {_quoted(truth)} ({percent(truth['observed'])})"
        )
    else:
        how = (
            f"it gives class {_quoted(guess)} {percent(guess['predicted'])}, the "
            f"{side} {percent(guess['observed'])}"
        )
    how = how.replace("the truth say", "the truth says")
    wrong, mass = sum(missed(one) for one in items), "votes" if side == "votes" else "mass"
    best = f", the model with the best {title} by soft labels" if len(view.models) > 1 else ""
    return (
        f"Item {name} is the hardest for {model}{best}: {how}. On {count(wrong)} of "
        f"{'this' if len(items) == 1 else 'these'} {count(len(items), 'item')} the first "
        f"choice of the model is not the class with most {mass}."
    )


def _quoted(part: Entry) -> str:
    """Name a class in a sentence."""
    return listing([str(part["class"])])


def _numbers(entry: Entry) -> Html:
    """List the items with both sides."""
    rows = []
    for one in entry["items"]:
        votes = vote_words(one) if one.get("counts") else _words(one, "observed", 40)
        cells = (number(numeral(one["score"]), 4), _words(one, "predicted", 40), votes)
        rows.append(
            element("tr", name_cell(str(one["item"])), *(element("td", c) for c in cells))
        )
    heads = ["Item", entry["title"], "predicted", said_by(entry)]
    average = (
        f"mean {number(numeral(entry['mean']), 4)} over {count(entry['items_scored'], 'item')}"
    )
    return table(f"Hardest items ({average})", heads, rows, "plain wide")


def _by_task(view: View) -> Html:
    """List the hardest item of every task."""
    rows = []
    for entry in view.header["hardest"]:
        for one in entry["items"][:1]:
            score = f"{number(numeral(one['score']))} ({entry['title']})"
            cells = [shorten(str(one["item"]), 40), view.short(entry["model"], 24), score]
            rows.append(row(entry["task"], cells))
    said = "The hardest item of every task; choose a task for more."
    heads = ["Task", "item", "model", "score"]
    return join([finding(said), table("Hardest items", heads, rows, "plain")])
