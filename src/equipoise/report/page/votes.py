"""Votes: how they split per task, and the worklist of disputed items.

Gallery: suspects with their pictures, to be judged with the keyboard.

Without a script it is a list of pictures; `gallery.js` adds the keys, keeps the marks in the
browser and hands them out as votes.
"""

import math
from collections import Counter
from collections.abc import Sequence

from equipoise.report.page.figure import (
    LONGEST,
    NOTHING,
    FigureRow,
    Plot,
    Rows,
    Words,
    class_tone,
    described,
    key_html,
)
from equipoise.report.page.svg import (
    Html,
    Label,
    Scale,
    box,
    breakable,
    distinct,
    dot,
    element,
    fitted,
    interval,
    join,
    stroke,
    upright,
    width,
)
from equipoise.types import (
    UNDEFINED,
    Dispute,
    Gallery,
    Pairs,
    Pattern,
    Picture,
    Strip,
    Strips,
    Suspect,
    Worklist,
    count,
    number,
    percent,
    rank,
)

STRIP = 48.0
SPLITS = 5  # shades from agreed to split
MARGIN = 35  # per cent from a side, from which on words about a range begin there
WHO = 34  # letters of the head over the rates
SQUARES = 30  # votes of a pattern that are squares; of more the shares are drawn


# ---- agreement per task --------------------------------------------------------------------


def strips(chart: Strips) -> Rows | None:
    """A strip of items per task, how far annotators agree, and how often each says yes."""
    if not chart.rows:
        return None
    defined = [x for row in chart.rows for x in row.alpha if math.isfinite(x)]
    least = min(
        [row.alpha[0] for row in chart.rows if math.isfinite(row.alpha[0])], default=0.0
    )
    low = 0.0 if least >= 0 else -math.ceil(-2 * least) / 2
    agree = Scale(low, 1.0)
    rates = [rate for row in chart.rows for _, rate in row.rates if math.isfinite(rate)]
    top = min(1.0, math.ceil(10 * max(rates) + 0.2) / 10) if rates else 1.0
    often = Scale(0.0, top)
    named = any(row.task for row in chart.rows)
    rows_drawn = [_strip_head(chart, agree, often if rates else None, named=named)]
    for row in chart.rows:
        cells: list[Words | Plot] = [Words(row.task)] if named else []
        cells.append(_strip(row))
        cells += [_agreement(row, agree)] if defined else []
        cells += [_rates(row, often)] if rates else []
        rows_drawn.append(FigureRow(tuple(cells)))
    kind = "agree" + ("" if named else " one") + ("" if rates else " norates")
    return Rows(kind=kind, rows=tuple(rows_drawn), alternative=described(chart))


def _strip_head(chart: Strips, agree: Scale, often: Scale | None, *, named: bool) -> FigureRow:
    least = f"{agree.low:g}".replace("-", "−") if agree.low else "0 chance"
    ends = [Label(least, 0, 12, "start"), Label("1 full", 100, 12, "end")]
    cells: list[Words | Plot] = [Words("")] if named else []
    cells.append(Words(chart.votes_title, "what"))
    if any(math.isfinite(row.alpha[0]) for row in chart.rows):
        axis = Plot(Html(""), 16.0, fitted(ends, over=0))
        cells.append(Words(chart.alpha_title, "what", axis=axis))
    if often is not None:
        texts = [Label("0%", 0, 12, "start"), Label(percent(often.high), 100, 12, "end"),
                 Label(percent(often.high / 2), 50, 12)]  # fmt: skip
        axis = Plot(Html(""), 16.0, fitted(texts, over=0))
        cells.append(Words(chart.rates_title, "what", axis=axis))
    return FigureRow(tuple(cells), "head")


def _strip(row: Strip) -> Plot:
    """Items from one end to the other, darker where votes split, with the split braced."""
    body, left = [], 0.0
    split: list[float] = []
    for share, how_split, counts in row.shares:
        right = left + 100 * share
        shade = min(SPLITS - 1, round((SPLITS - 1) * how_split))
        body.append(box(left, right, 16, 16, f"v{shade}"))
        split += [left, right] if counts and right > left else []
        left = right
    labels = [Label(row.left, 0, 45, "start"), Label(row.right, 100, 45, "end")]
    if split:
        start, end = min(split), max(split)
        body.append(stroke((start, 14.5), (end, 14.5), "brace"))
        middle_ = (start + end) / 2
        side, at = (
            ("end", end)
            if middle_ > 85
            else ("start", start)
            if middle_ < 15
            else ("middle", middle_)
        )
        labels.append(Label(row.split, at, 11, side, class_="tick strong"))
    description = "; ".join(filter(None, [row.task, row.left, row.split, row.right]))
    return Plot(join(body), STRIP, fitted(labels, over=2), description)


def _agreement(row: Strip, scale: Scale) -> Plot:
    value, low, high = row.alpha
    grid = [upright(scale(x)) for x in (scale.low, (scale.low + 1) / 2, 1.0)]
    if not math.isfinite(value):
        label = Label(UNDEFINED, 50, 28)
        return Plot(join(grid), STRIP, (label,), UNDEFINED)
    ends = [interval((scale(low), scale(high)), 24, "reader", caps=False)] if all(
        map(math.isfinite, (low, high))) else []  # fmt: skip
    at = scale(value)
    side = "start" if at < 12 else "end" if at > 88 else "middle"
    label = Label(number(value, 2), at, 14, side, class_="tick strong")
    body = join([*grid, *ends, dot(at, 24, "reader")])
    return Plot(body, STRIP, (label,), f"agreement {number(value, 2)}")


def _rates(row: Strip, scale: Scale) -> Plot:
    grid = [upright(scale(x)) for x in (0.0, scale.high / 2, scale.high)]
    defined = [(name, rate) for name, rate in row.rates if math.isfinite(rate)]
    if not defined:
        return Plot(join(grid), STRIP)
    low, high = min(r for _, r in defined), max(r for _, r in defined)
    body = [*grid, stroke((scale(low), 24), (scale(high), 24), "reach")]
    body += [dot(scale(r), 24, "reader", size=4, title=f"{n} {percent(r)}") for n, r in defined]
    words = percent(low) if low == high else f"{percent(low)} to {percent(high)}"
    at = scale((low + high) / 2)
    side = "start" if at < MARGIN else "end" if at > 100 - MARGIN else "middle"
    label = Label(words, {"start": 0.0, "end": 100.0}.get(side, at), 42, side)
    return Plot(join(body), STRIP, (label,), f"from {percent(low)} to {percent(high)}")


def _shares(shares: Sequence[float], total: int, y: float, *, ordered: bool) -> Html:
    """A bar of shares by class."""
    body, left = [], 0.0
    for place, share in enumerate(shares):
        wide = 100 * max(0.0, share) if math.isfinite(share) else 0.0
        if wide > 0.3:
            tone = class_tone(place, max(total, len(shares)), ordered=ordered)
            body.append(box(left, left + wide, y, 12, f"{tone} part"))
        left += wide
    return join(body)


# ---- the worklist --------------------------------------------------------------------------


def worklist(chart: Worklist) -> Html | None:
    """Disputed items by task and pattern of votes, each task folded where there are several."""
    if not chart.disputes:
        return None
    people = chart.annotators
    head = f"who says {chart.classes[-1]}" if len(chart.classes) == 2 else "who differs"
    who = f"{head}, {people[0]} to {people[-1]}" if len(people) > 1 else ""
    who = who if width(who) <= WHO else head
    rated = any(one.rates for one in chart.disputes)
    top = element(
        "div", element("span"), element("span"), element("span", who if rated else ""),
        element("span"), class_="wlhead", aria_hidden="true",
    )  # fmt: skip
    single = len(chart.disputes) == 1
    groups = [_dispute(dispute, chart, opened=single) for dispute in chart.disputes]
    key = key_html(_worklist_key(chart))
    bare = "" if rated else " norates"
    longest = max(width(one.task or "Disputed") for one in chart.disputes)
    return element("div", top, *groups, key, class_=f"worklist{bare} n{min(longest, LONGEST)}")


def _worklist_key(chart: Worklist) -> Pairs:
    """What squares and dots mean."""
    total = len(chart.classes)
    if total == 2:
        squares = [("vote y", chart.classes[1]), ("vote n", chart.classes[0])]
    else:
        squares = [(class_tone(place, total, ordered=chart.ordered), name)
                   for place, name in enumerate(chart.classes) if total <= 8]  # fmt: skip
    if any(
        vote is None for dispute in chart.disputes for p in dispute.patterns for vote in p.votes
    ):
        squares.append(("vote gone", "no vote"))
    dots = [("dot", "a model")] if chart.models else []
    dots += [("dot out", "below the best group")] if chart.hollow else []
    return (*squares, *dots)


def _dispute(dispute: Dispute, chart: Worklist, *, opened: bool) -> Html:
    bars = NOTHING
    if dispute.rates:
        step = 100 / len(dispute.rates)
        drawn = [box(step * j + 0.12 * step, step * (j + 1) - 0.12 * step, 21 - 20 * rate,
                     max(20 * rate, 0.01), "bar")
                 for j, rate in enumerate(dispute.rates) if math.isfinite(rate)]  # fmt: skip
        drawn.append(stroke((0, 21.5), (100, 21.5), "grid"))
        rates = [f"{name} {percent(rate)}" for name, rate in
                zip(chart.annotators, dispute.rates, strict=False)]  # fmt: skip
        bars = Plot(join(drawn), 22.0, label=", ".join(rates) or "rates").html()
    summary = element(
        "summary",
        element("span", dispute.task or "Disputed", class_="name"),
        element("span", element("strong", count(dispute.number)),
                " item" + "s" * (dispute.number != 1), class_="num"),
        element("span", bars, class_="who"),
        element("span", dispute.remark, class_="say"),
    )  # fmt: skip
    shown = distinct([name for p in dispute.patterns for name, _ in p.items], 24)
    names = iter(shown)
    blocks = [
        _pattern(pattern, [next(names) for _ in pattern.items], chart)
        for pattern in dispute.patterns
    ]
    inner = element("div", element("div", *blocks, class_="patterns"), class_="body")
    return element("details", summary, inner, open=opened)


def _pattern(pattern: Pattern, shown: Sequence[str], chart: Worklist) -> Html:
    items = []
    for (name, positions), short in zip(pattern.items, shown, strict=True):
        at: dict[int, list[str]] = {}
        for model, position in zip(chart.models, positions, strict=False):
            if math.isfinite(position):
                at.setdefault(round(100 * position), []).append(model)
        dots = [stroke((0, 9), (100, 9), "rail")]
        for place, names in at.items():
            hollow = set(names) <= set(chart.hollow)
            dots.append(
                dot(place, 9, "out" if hollow else "see", size=3.5, title=", ".join(names))
            )
        description = f"models between {min(at)} and {max(at)} of 100" if at else ""
        drawn = Plot(join(dots), 18.0, label=description).html() if at else NOTHING
        tip = name if short != name else None
        items.append(element("li", element("span", short, title=tip), drawn))
    more = f", first {len(items)}" if len(items) < pattern.number else ""
    total = element("strong", f"{count(pattern.number)} item{'s' * (pattern.number != 1)}")
    head = element("p", _votes(pattern, chart), " ", total, more)
    return element("div", head, element("ol", *items), class_="pattern")


def _votes(pattern: Pattern, chart: Worklist) -> Html:
    """Squares in the fixed order of the annotators; of many votes the shares by class."""
    total = len(chart.classes)
    tally = Counter(vote for vote in pattern.votes if vote is not None)
    words = ", ".join(f"{n} {chart.classes[vote]}" for vote, n in tally.most_common())
    if len(pattern.votes) > SQUARES:
        votes = max(sum(tally.values()), 1)
        shares = [tally[place] / votes for place in range(total)]
        bar = Plot(_shares(shares, total, 2.0, ordered=chart.ordered), 16.0, label=words).html()
        return element("span", bar, class_="wide")
    tones: dict[int | None, str] = {None: "vote gone"}
    if total == 2:
        tones |= {0: "vote n", 1: "vote y"}
    else:
        tones |= {p: class_tone(p, total, ordered=chart.ordered) for p in range(total)}
    squares = element(
        "span", *(element("i", class_=f"sw {tones[vote]}") for vote in pattern.votes),
        class_="votes", role="img", aria_label=words, title=words,
    )  # fmt: skip
    return join([squares, " ", element("span", words, class_="more")]) if total > 2 else squares


IN_SIGHT = 12  # suspects that are shown at once
MORE = 4  # that are not worth folding
CUT = "beyond the cut"
DATA = "data:"


def has_files(chart: Gallery) -> bool:
    """Whether pictures lie in files beside the page."""
    return any(
        picture.source and not picture.source.startswith(DATA)
        for row in chart.rows
        for picture in row.pictures
    )


def gallery(chart: Gallery) -> Html | None:
    """Suspects in their order, the first in sight; None where there are none."""
    if not chart.rows:
        return None
    many = len(chart.rows) > IN_SIGHT + MORE
    shots = [
        _suspect_html(row, chart, later=many and place >= IN_SIGHT)
        for place, row in enumerate(chart.rows)
    ]
    pairs = any(len(row.pictures) > 1 for row in chart.rows)
    listed = element("ol", *shots, class_="shots pairs" if pairs else "shots",
                     aria_label=chart.caption)  # fmt: skip
    box = element("input", type="checkbox")
    show = element("label", box, f" Show all {count(len(chart.rows))}") if many else NOTHING
    return element(
        "div", _bar(chart), element("div", listed, show, class_="folding" if many else None),
        class_="gallery", data_task=chart.task, data_run=chart.run, data_yes=chart.yes,
        data_no=chart.no,
    )  # fmt: skip


def _bar(chart: Gallery) -> Html:
    """What the keys do, how far the reader is, and the way out; the script shows it."""
    keys = [("← →", "move"), ("y", chart.yes), ("n", chart.no), ("u", "undo")]
    keys_html = [element("span", element("kbd", key), f" {words}") for key, words in keys]
    name = element("input", type="text", class_="who", autocomplete="off", spellcheck="false",
                   placeholder="reviewer")  # fmt: skip
    get = element("button", "Download votes", type="button", class_="get-votes")
    return element(
        "div",
        element("p", element("strong", chart.question), " ", *keys_html, class_="keys"),
        element("p", "", class_="told", role="status"),
        element("p", element("label", "Your name ", name), get, class_="out"),
        class_="bar",
        hidden=True,
    )


def _suspect_html(row: Suspect, chart: Gallery, *, later: bool) -> Html:
    place = rank(row.rank)
    beyond = element("span", CUT, class_="cut") if row.flagged else NOTHING
    remarks = [remark for remark in (row.remark,) if remark]
    pictures = [_picture(picture, apart=len(row.pictures) > 1) for picture in row.pictures]
    buttons = [
        element("button", words, type="button", data_mark=mark, aria_pressed="false",
                tabindex=-1)
        for mark, words in (("yes", chart.yes), ("no", chart.no))
    ]  # fmt: skip
    inner = element(
        "div",
        element("div", *pictures, class_="pics"),
        element("p", element("strong", place), f" score {number(row.score)} ", beyond),
        *(element("p", remark, class_="say") for remark in remarks),
        element("p", *buttons, class_="marks", hidden=True),
        class_="shot",
        role="group",
        aria_label=f"{place}: {row.name}",
        data_item=row.name,
    )
    return element("li", inner, class_="later" if later else None)


def _picture(picture: Picture, *, apart: bool) -> Html:
    name = picture.name
    shown = (
        element("img", src=picture.source, alt=name, loading="lazy", decoding="async")
        if picture.source
        else element("span", "no picture", class_="none")
    )
    words = [element("span", breakable(name), class_="item", title=name)]
    words += [element("span", picture.remark, class_="more")] if picture.remark else []
    return element("div", shown, *words, class_="pic half" if apart else "pic")
