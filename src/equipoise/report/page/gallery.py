"""Gallery: suspects with their pictures, to be judged with the keyboard.

Without a script it is a list of pictures; `gallery.js` adds the keys, keeps the marks in the
browser and hands them out as votes.
"""

from equipoise.report.page.figure import NOTHING
from equipoise.report.page.markup import Html, breakable, element
from equipoise.types.findings.charts import Gallery, Picture, Suspect
from equipoise.types.numbers import count, number, rank

IN_SIGHT = 12  # suspects that are shown at once
MORE = 4  # that are not worth folding
CUT = "beyond the cut"
DATA = "data:"


def has_files(chart: Gallery) -> bool:
    """Whether pictures lie in files beside the page."""
    return any(
        one.source and not one.source.startswith(DATA)
        for row in chart.rows
        for one in row.pictures
    )


def gallery(chart: Gallery) -> Html | None:
    """Suspects in their order, the first in sight; None where there are none."""
    if not chart.rows:
        return None
    many = len(chart.rows) > IN_SIGHT + MORE
    shots = [
        _shot(row, chart, later=many and place >= IN_SIGHT)
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
    said = [element("span", element("kbd", key), f" {words}") for key, words in keys]
    name = element("input", type="text", class_="who", autocomplete="off", spellcheck="false",
                   placeholder="reviewer")  # fmt: skip
    get = element("button", "Download votes", type="button", class_="get-votes")
    return element(
        "div",
        element("p", element("strong", chart.question), " ", *said, class_="keys"),
        element("p", "", class_="told", role="status"),
        element("p", element("label", "Your name ", name), get, class_="out"),
        class_="bar",
        hidden=True,
    )


def _shot(row: Suspect, chart: Gallery, *, later: bool) -> Html:
    place = rank(row.rank)
    beyond = element("span", CUT, class_="cut") if row.flagged else NOTHING
    said = [one for one in (row.remark,) if one]
    pictures = [_picture(one, apart=len(row.pictures) > 1) for one in row.pictures]
    buttons = [
        element("button", words, type="button", data_mark=mark, aria_pressed="false",
                tabindex=-1)
        for mark, words in (("yes", chart.yes), ("no", chart.no))
    ]  # fmt: skip
    inner = element(
        "div",
        element("div", *pictures, class_="pics"),
        element("p", element("strong", place), f" score {number(row.score)} ", beyond),
        *(element("p", one, class_="say") for one in said),
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
