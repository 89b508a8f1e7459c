"""Where the doubt comes from: what items, votes and people add to the standard error."""

from equipoise.report.markup import Html
from equipoise.report.numerals import count, finite, percent
from equipoise.report.plan_rows import Facts, error, needs_most, pair_name, votes_each
from equipoise.report.stability_charts import Dot, Rows, dot_rows
from equipoise.report.stability_rows import Entry, Part, value
from equipoise.report.tables import row, table

STUDIES = ("pilot", "planned")
NOTE = (
    "Standard errors of the difference by source; their squares add up, and shares are of that "
    "sum. Items: other items like these would say something else. Votes: other votes on the "
    "same items. Annotators: what people who lean one way on all items add beyond their single "
    "votes; more items do not lessen it, and it stays if the same people vote. It is 0 where "
    "annotators are not known, and where no leaning was found."
)


def part(facts: Facts) -> Part:
    """The section on the sources of doubt."""
    pair = pair_name(facts["hardest"])
    shown = [study for study in STUDIES if study == "pilot" or facts["recommended"]]
    drawn = {f"plan-doubt-{study}": _draw(facts, study) for study in shown}
    which = needs_most(facts)
    more = " and in the planned study" if len(shown) > 1 else ""
    return Part(
        str(facts["components_finding"]),
        f"Standard error of the difference of {pair}{which} by its source, in the pilot{more}; "
        "in brackets: share of the variance",
        {name: one for name, one in drawn.items() if one is not None},
        _table(facts), NOTE,
    )  # fmt: skip


def _label(one: Entry, rows: list[Entry]) -> str:
    """Items and votes are one where no item has two votes."""
    together = any(row["source"] == "votes" and row["pilot"] is None for row in rows)
    return "items and votes" if one["source"] == "items" and together else str(one["source"])


def _draw(facts: Facts, study: str) -> Html | None:
    """Draw a bar for each source in one study."""
    rows = facts["components"]
    known = [one for one in rows if finite(value(one, study))]
    most = max((value(one, key) for one in rows for key in STUDIES if finite(value(one, key))),
               default=0.0)  # fmt: skip
    if not most:
        return None
    dots = []
    for one in known:
        here = value(one, study)
        words = f"{error(here)} ({percent(value(one, f'{study}_share'))})"
        dots.append(Dot(_label(one, rows), _label(one, rows), here, here, here, words))
    size = facts["pilot"] if study == "pilot" else facts["recommended"]
    head = (
        f"{study}: {count(size['items'], 'item')}, "
        f"{votes_each(round(size['votes_per_item'], 1))} each"
    )
    return dot_rows(
        Rows(head, "standard error", f"Standard error by source, {head}.", bars=True,
             ends=(most,)),
        dots,
    )  # fmt: skip


def _table(facts: Facts) -> Html:
    """List every source."""
    rows = facts["components"]
    studies = [study for study in STUDIES if study == "pilot" or facts["recommended"]]
    lines = [
        row(_label(one, rows), [_cell(one, study) for study in studies])
        for one in rows
    ]  # fmt: skip
    return table("Standard error by source", ["Source", *studies], lines)


def _cell(one: Entry, study: str) -> str:
    here, share = value(one, study), value(one, f"{study}_share")
    if not finite(here):
        return "not known"
    return f"{error(here)} ({percent(share)})" if finite(share) else error(here)
