"""Ambiguous items: those whose truth the annotations settle least.

A bar per item, cut by how plausible its classes are: the strongest colour is the class that
leads, the grey piece all classes that are not named. Two pieces of one length are a toss-up.
"""

from collections.abc import Sequence

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import chance, count, distinct, listing, number, percent, shorten
from equipoise.report.svg import NARROW, across, drawing, text, titled
from equipoise.report.tables import name_cell, table
from equipoise.report.votes import Entry

SHADES = (5, 4, 3, 2, 1)
ROW, WIDE = 52.0, NARROW - 4.0
ROOM = 62  # letters under a bar
NEAR = 0.8  # a second class with this part of the first is nearly as plausible


def draw(items: Sequence[Entry]) -> list[Html]:
    """Draw the items in two columns, or one where there are few."""
    shown = distinct([str(one["item"]) for one in items], 34)
    pairs = list(zip(items, shown, strict=True))
    half = (len(pairs) + 1) // 2 if len(pairs) > 3 else len(pairs)
    return [_column(part) for part in (pairs[:half], pairs[half:]) if part]


def _column(pairs: Sequence[tuple[Entry, str]]) -> Html:
    """Draw some items under one another."""
    rows = [_row(one, shown, ROW * place) for place, (one, shown) in enumerate(pairs)]
    alternative = f"How plausible the classes of {count(len(pairs), 'ambiguous item')} are."
    return drawing((NARROW, ROW * len(pairs)), alternative, *rows)


def _row(one: Entry, shown: str, y: float) -> Html:
    """Draw one item: name and certainty, the bar, and the classes in words."""
    pieces, start = [], 0.0
    shares = [
        (f"q{shade}", part["mass"])
        for shade, part in zip(SHADES, one["plausible"], strict=False)
    ]
    for class_, share in [*shares, ("g", one["others"])]:
        length = share * WIDE
        if length > 1.5:
            d = across(start, y + 22, length - 1)
            pieces.append(element("path", class_=class_, stroke_width=10, d=d))
        start += length
    words = plausible_words(one)
    return join(
        [
            titled(str(one["item"]), shown, x=0.0, y=y + 12, class_="hd"),
            text(WIDE, y + 12, f"certainty {chance(one['certainty'])}", "e a"),
            *pieces,
            titled(words, short_words(one), x=0.0, y=y + 40, class_="a"),
        ]
    )


def _parts(one: Entry, room: int) -> list[str]:
    """Write every plausible class with its share, and what is left for the others."""
    parts = [
        f"{shorten(part['class'], room)}: {percent(part['mass'])}" for part in one["plausible"]
    ]
    return [*parts, *([f"others: {percent(one['others'])}"] if one["others"] > 5e-4 else [])]


def plausible_words(one: Entry) -> str:
    """Say how plausible the classes of an item are.

    Examples
    --------
    >>> plausible_words({"plausible": [{"class": "naevus", "mass": 0.6}], "others": 0.4})
    'naevus: 60%, others: 40%'
    """
    return ", ".join(_parts(one, 60))


def short_words(one: Entry) -> str:
    """Say the same in the room under a bar: as many classes as fit."""
    parts = _parts(one, 18)
    while len(" · ".join(parts)) > ROOM and len(parts) > 1:
        parts = [*parts[:-2], "…"] if parts[-1] == "…" else [*parts[:-1], "…"]
    return shorten(" · ".join(parts), ROOM)


def vote_words(one: Entry) -> str:
    """Say how many voted for which class, and who where that is known.

    Examples
    --------
    >>> vote_words({"votes": 3, "counts": [{"class": "a", "votes": 2.0, "who": ["x", "y"]},
    ...     {"class": "b", "votes": 1.0}]})
    'a: 2 (x, y); b: 1'
    """
    counts = one.get("counts")
    if not counts:
        return count(one["votes"])
    said = []
    for part in counts[:8]:
        who = (
            f" ({', '.join(shorten(name, 24) for name in part['who'])})"
            if part.get("who")
            else ""
        )
        said.append(f"{shorten(part['class'], 40)}: {count(part['votes'])}{who}")
    left = len(counts) - len(said)
    more = [f"{left} other class{'es' if left > 1 else ''}"] if left else []
    return "; ".join([*said, *more])


def numbers(items: Sequence[Entry]) -> Html:
    """List the items with everything that is known of them."""
    rows = [
        element(
            "tr",
            name_cell(str(one["item"])),
            element("td", chance(one["certainty"], 3)),
            element("td", number(one["entropy"])),
            element("td", plausible_words(one)),
            element("td", vote_words(one)),
        )
        for one in items
    ]
    heads = ["Item", "certainty", "entropy", "plausible classes", "votes, first choices"]
    return table("The least certain items", heads, rows, "plain wide")


def finding(items: Sequence[Entry]) -> str:
    """Name the least certain item and what it could be."""
    if not items:
        return "There are no items with votes."
    one = items[0]
    name, parts = listing([str(one["item"])]), one["plausible"]
    certain = chance(one["certainty"])
    if len(parts) < 2:
        leads = f"class {listing([parts[0]['class']])} leads" if parts else "no class leads"
        return f"Item {name} is the least certain: {leads}, with a certainty of {certain}."
    first, second = (f"{listing([p['class']])} ({percent(p['mass'])})" for p in parts[:2])
    near = parts[1]["mass"] >= NEAR * parts[0]["mass"]
    how = (
        f"classes {first} and {second} are nearly equally plausible"
        if near
        else f"class {first} leads before {second}"
    )
    return f"Item {name} is the least certain: {how}, and its certainty is {certain}."
