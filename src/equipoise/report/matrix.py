"""Matrix: the lead of every model over every other, paired over the same resamples.

A triangle. Follow a cell's column up to the first model and its row right to the second: the
cell is the lead of the first over the second. Blue is ahead, orange is behind; a dot says
that the interval of the lead excludes zero, a cross that it does so on the other side than
the lead itself (resampling has shifted it). Both kinds of labels share one colour scale and
one order, that of the last labels, so orange marks an order that the labels dispute.
"""

import math
from collections import defaultdict
from itertools import pairwise

from equipoise.report.markup import Html, element, join
from equipoise.report.numerals import (
    EXACT,
    UNMOVED,
    count,
    finite,
    number,
    percent,
    signed,
    signed_interval,
)
from equipoise.report.palette import LIGHT_AHEAD, model_class
from equipoise.report.score import Lead
from equipoise.report.svg import (
    NARROW,
    across,
    cells,
    cross,
    drawing,
    group,
    lattice,
    path,
    text,
    titled,
)
from equipoise.report.tables import model_cell, scrolling
from equipoise.report.view import Panel

LEVELS = len(LIGHT_AHEAD)
CONTRARY = "excludes 0 on the other side"
LABEL, TOP = 112.0, 26.0
NUMBERED = 12  # with more models the cells are too small for numbers
LISTED = 4000  # with more pairs on the page, only those with the leader and neighbours


def couples(panel: Panel) -> list[tuple[str, str]]:
    """All pairs, the model further up first."""
    order = panel.order
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]


def widest(panel: Panel) -> float:
    """Return the round number that the colour scale ends at."""
    leads = [
        abs(panel.lead(labels, a, b).value or 0.0)
        for labels in panel.view.labels
        for a, b in couples(panel)
    ]
    most = max(filter(finite, leads), default=0.0)
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 6, 8, 10) if step * power >= most - 1e-12)


def shade(lead: float, most: float) -> str:
    """Name the colour of a lead.

    Examples
    --------
    >>> shade(0.01, 0.04), shade(-0.04, 0.04), shade(0.0, 0.04), shade(math.inf, 0.04)
    ('a0', 'b3', 'nil', 'a3')
    """
    if abs(lead) <= EXACT:
        return "nil"
    step = math.ceil(min(1.0, abs(lead) / most) * LEVELS - 1e-9) - 1
    return f"{'a' if lead > 0 else 'b'}{step}"


def draw(panel: Panel) -> list[Html]:
    """Draw one triangle per kind of labels; none where no pair is defined."""
    if len(panel.view.models) < 2:
        return []
    most = widest(panel)
    shown = [
        labels
        for labels in panel.view.labels
        if any(panel.lead(labels, a, b).value is not None for a, b in couples(panel))
    ]
    return [_triangle(panel, labels, most) for labels in shown]


def _triangle(panel: Panel, labels: str, most: float) -> Html:
    """Draw the leads under one kind of labels."""
    total = len(panel.order)
    wide = 2.0 * max(7, min(20, (NARROW - LABEL) // (2 * max(1, total - 1))))
    high = 22.0 if total <= 16 else 16.0
    names = _names(panel, wide, high)
    body = group([*_cells(panel, labels, (wide, high, most)), names], y=TOP)
    size = (total - 1) * wide + LABEL, TOP + total * high
    alternative = (
        f"Paired leads in {panel.title(labels)} between {total} models; "
        f"{_separated(panel, labels)} of {len(couples(panel))} pairs are separated."
    )
    odd = any(panel.lead(labels, a, b).contrary for a, b in couples(panel))
    key = group([_key(panel, most, odd=odd)], y=size[1] + 16)
    head = text(0, 12, f"{labels} labels", "hd")
    inner = element(
        "g", head, body, key, class_="tri", data_cell=wide, data_row=high, data_top=TOP,
        data_labels=labels,
    )  # fmt: skip
    return drawing(
        (max(NARROW, size[0]), size[1] + 46), alternative, inner,
        class_="big" if size[0] > NARROW else "",
    )  # fmt: skip


def _names(panel: Panel, wide: float, high: float) -> Html:
    """Name the diagonal: each name heads the column below and ends the row to its left."""
    models = panel.view.models
    names = (
        titled(
            name,
            panel.view.short(name, 14),
            class_=model_class(models.index(name)),
            x=i * wide + 5,
            y=(i + 0.5) * high + 4,
        )
        for i, name in enumerate(panel.order)
    )
    return group(names, class_="n")


def _cells(panel: Panel, labels: str, how: tuple[float, float, float]) -> list[Html]:
    """Draw colours, dots and numbers of all pairs."""
    wide, high, most = how
    order = panel.order
    shaded: dict[str, list[tuple[float, float]]] = defaultdict(list)
    marked: dict[str, list[str]] = {"sep": [], "anti": []}
    lines = []
    for i, below in enumerate(order):
        words, middle = [], (i + 0.5) * high
        for j, above in enumerate(order[:i]):
            lead = panel.lead(labels, above, below)
            if lead.value is None:
                continue
            shaded[shade(lead.value, most)].append((j * wide, middle))
            spot = (j + 1) * wide - 5, middle - high / 2 + 5
            if lead.decided:
                marked["sep"].append(across(*spot))
            elif lead.contrary:
                marked["anti"].append(cross(*spot))
            words.append(
                element("text", _short(lead.value, panel.digits), x=(j + 0.5) * wide - 1)
            )
        lines.append(group(words, y=middle + 4, class_="num"))
    parts = [
        lattice(
            (cells(places, wide, name) for name, places in sorted(shaded.items())), wide, high
        ),
        *(lines if len(order) <= NUMBERED else []),
    ]
    return parts + [path(name, *marks) for name, marks in marked.items() if marks]


def _short(lead: float, digits: int) -> str:
    """Write a lead in units of the last decimal.

    Examples
    --------
    >>> [_short(lead, 3) for lead in (0.0123, -0.0002, 0.00001, 0.0, math.inf)]
    ['12', '−0.2', '≈0', '0', '∞']
    """
    if not finite(lead):
        return number(lead)
    units = lead * 10**digits
    if abs(units) < 0.05:
        return "≈0" if abs(lead) > EXACT else "0"
    return f"{units:.{int(abs(units) < 0.95)}f}".replace("-", "−")


def _key(panel: Panel, most: float, *, odd: bool) -> Html:
    """Draw the colour scale with its ends."""
    names = [f"b{i}" for i in reversed(range(LEVELS))] + [f"a{i}" for i in range(LEVELS)]
    wide, end = 22.0, 22.0 * len(names)
    return join(
        [
            lattice((cells([(i * wide, 0.0)], wide, n) for i, n in enumerate(names)), wide, 9),
            text(0, 20, signed(-most, panel.digits), "a"),
            text(end / 2, 20, "0", "c a"),
            text(end, 20, signed(most, panel.digits), "e a"),
            path("sep", across(end + 16, 0)),
            text(end + 23, 4, "interval excludes 0", "a"),
            *(
                [path("anti", cross(end + 16, 16)), text(end + 23, 20, CONTRARY, "a")]
                if odd
                else []
            ),
        ]
    )


def _separated(panel: Panel, labels: str) -> int:
    """Count pairs whose interval excludes zero."""
    return sum(panel.lead(labels, a, b).decided for a, b in couples(panel))


def listed(panel: Panel) -> list[tuple[str, str]]:
    """Pairs for the table: all, or on a very large page those with leader and neighbour."""
    every = couples(panel)
    panels = len(panel.view.header["tasks"]) * len(panel.view.header["metrics"])
    if len(every) * panels <= LISTED:
        return every
    order = panel.order
    following = dict(pairwise(order))
    return [(a, b) for a, b in every if a == order[0] or following.get(a) == b]


def _cells_of(panel: Panel, labels: str, lead: Lead) -> Html:
    """Write one lead for the table."""
    value = signed(lead.value, panel.digits) + ("†" if lead.outside else "")
    ends, share = signed_interval(lead.low, lead.high, panel.digits), percent(lead.p_better)
    if panel.unmoved(labels):
        ends, share = f"[{UNMOVED}]", UNMOVED
    return join([element("td", f"{value} {ends}"), element("td", share)])


def numbers(panel: Panel) -> Html:
    """List the leads; one body of rows per first model, which the script reads too."""
    pairs = listed(panel)
    names = panel.view.labels
    titles = ["First", "Second", *(t for name in names for t in (f"lead, {name}", "ahead in"))]
    heads = join(element("th", title) for title in titles)
    bodies = []
    for first in dict.fromkeys(a for a, _ in pairs):
        seconds = [b for a, b in pairs if a == first]
        rows = []
        for place, second in enumerate(seconds):
            head = model_cell(panel.view, first, rowspan=len(seconds))
            cells = join(
                _cells_of(panel, labels, panel.lead(labels, first, second)) for labels in names
            )
            other = model_cell(panel.view, second)
            rows.append(element("tr", head if place == 0 else Html(""), other, cells))
        bodies.append(element("tbody", join(rows)))
    caption = "Paired leads of the first model over the second"
    whole = element(
        "table", element("caption", element("span", caption)),
        element("thead", element("tr", heads)), *bodies,
        class_="pairs",
    )  # fmt: skip
    return scrolling(whole)


def finding(panel: Panel) -> str:
    """Count the pairs that the data separate."""
    if len(panel.view.models) < 2:
        return "With one model there are no pairs."
    every, names = couples(panel), panel.view.labels
    known = {
        labels: _separated(panel, labels)
        for labels in names
        if not panel.unmoved(labels)
        and any(panel.lead(labels, a, b).value is not None for a, b in every)
    }
    if not known:
        return "No difference between models is defined here."
    if len(every) == 1:
        clear = [labels for labels, total in known.items() if total]
        how = f"are separated with {' and '.join(clear)}" if clear else "are separated with no"
        return f"The two models {how} labels."
    said = " and ".join(f"{total} with {labels} labels" for labels, total in known.items())
    same = sum(all(panel.identical(n, a, b) for n in known) for a, b in every)
    twins = f"; {count(same, 'pair')} {'is' if same == 1 else 'are'} identical" if same else ""
    return f"Of {count(len(every), 'pair')}, the data separate {said}{twins}.{_odd(panel)}"


def _odd(panel: Panel) -> str:
    """Count pairs that resampling puts on the other side of zero."""
    found = {
        labels: sum(panel.lead(labels, a, b).contrary for a, b in couples(panel))
        for labels in panel.view.labels
    }
    said = [
        f"{count(total, 'pair')} with {labels} labels"
        for labels, total in found.items()
        if total
    ]
    if not said:
        return ""
    return f" For {' and '.join(said)} the interval lies on the other side of 0 (×)."


def caption(panel: Panel) -> str:
    """Say how to read the triangle."""
    unit = f", in units of {10.0**-panel.digits:g}" if len(panel.order) <= NUMBERED else ""
    return f"Lead of the model above a cell over the model to its right{unit}"
