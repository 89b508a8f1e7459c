"""What a sweep of the threshold comes to, in sentences that hold when values are undefined."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from equipoise.analyses.words import few
from equipoise.metrics import named

if TYPE_CHECKING:
    from equipoise.analyses.threshold_sweep import Move

SAME = 1e-9


class Order(NamedTuple):
    """How the order of the models moves by one metric.

    Attributes
    ----------
    models, moved
        All models, and those that change their rank.
    best
        The models that are best throughout; empty when that changes.
    seen, tried
        Thresholds with a rank to compare, and all of them.
    anywhere
        Whether ranks are defined at any threshold.
    """

    models: tuple[str, ...]
    moved: tuple[str, ...]
    best: tuple[str, ...]
    seen: int
    tried: int
    anywhere: bool


def order_of(own: Sequence["Move"]) -> Order:
    """Look at the moves of one metric."""
    models = tuple(dict.fromkeys(one.model for one in own))
    known = [one for one in own if not math.isnan(one.change)]
    moved = {one.model for one in known if abs(one.change) > SAME}
    return Order(
        models,
        tuple(name for name in models if name in moved),
        _best(known),
        len({one.threshold for one in known}),
        len({one.threshold for one in own}),
        any(not math.isnan(one.rank) for one in own),
    )


def _best(known: Sequence["Move"]) -> tuple[str, ...]:
    """The models that are best at every threshold."""
    leaders = []
    for threshold in {one.threshold for one in known}:
        here = [one for one in known if one.threshold == threshold]
        top = min(one.rank for one in here)
        leaders.append({one.model for one in here if one.rank <= top + SAME})
    if not leaders or any(one != leaders[0] for one in leaders):
        return ()
    return tuple(sorted(leaders[0]))


def said(moves: Sequence["Move"], centre: float, *, strict: bool) -> str:
    """Say how prevalence and order move, by the first metric."""
    own = first(moves)
    return f"{_start(own, centre, strict=strict)}, {_positives(own)}, and {_order(own)}."


def first(moves: Sequence["Move"]) -> list["Move"]:
    """Moves by the first metric."""
    return [one for one in moves if one.metric == moves[0].metric]


def over_tasks(tasks: Mapping[str, Sequence["Move"]], centre: float, *, strict: bool) -> str:
    """Say in how many tasks the order and the best model move, by the first metric."""
    every = {name: first(moves) for name, moves in tasks.items()}
    if len(every) == 1:
        return said(next(iter(tasks.values())), centre, strict=strict)
    some = next(iter(every.values()))
    start, title = _start(some, centre, strict=strict), named(some[0].metric).title
    found = {name: order_of(own) for name, own in every.items()}
    whole = f"of {len(found)} tasks"
    if all(len(one.models) == 1 for one in found.values()):
        return f"{start}, there is one model in every task, so no order to change."
    lost = [name for name, one in found.items() if not one.seen]
    words = f" (it is undefined in {few(lost)})" if lost else ""
    if len(lost) == len(found):
        return f"{start}, the order by {title} is undefined in every task."
    moved = [name for name, one in found.items() if one.moved]
    if not moved:
        return f"{start}, the order by {title} stays the same in every task{words}."
    new = [name for name, one in found.items() if one.moved and not one.best]
    best = f"who is best changes in {len(new)} ({few(new)})" if new else "the best stays best"
    return f"{start}, the order by {title} changes in {len(moved)} {whole}, and {best}{words}."


def _start(own: Sequence["Move"], centre: float, *, strict: bool) -> str:
    more = "more than " if strict else ""
    start = f"Around a threshold of {more}{centre:.3g}"
    ends = sorted({one.threshold for one in own})
    return start if len(ends) == 1 else f"{start}, from {ends[0]:.3g} to {ends[-1]:.3g}"


def _positives(own: Sequence["Move"]) -> str:
    begin, end = own[0].prevalence, own[-1].prevalence
    share = f"stays at {begin:.1%}" if begin == end else f"falls from {begin:.1%} to {end:.1%}"
    return f"the share of positives {share}"


def _order(own: Sequence["Move"]) -> str:
    """Say whether the models change places."""
    found, title = order_of(own), named(own[0].metric).title
    if len(found.models) == 1:
        return "with one model there is no order to change"
    if not found.seen:
        where = " at the threshold itself" if found.anywhere else ""
        return f"the order by {title} is undefined{where}"
    lost = ""
    if found.seen < found.tried:
        lost = f" where it is defined ({found.seen} of {found.tried} thresholds)"
    if not found.moved:
        return f"no model changes its rank by {title}{lost}"
    verb = "changes its rank" if len(found.moved) == 1 else "change their ranks"
    best = "who is best changes"
    if found.best:
        best = f"{few(found.best)} {'stays' if len(found.best) == 1 else 'stay'} best"
    return f"{few(found.moved)} {verb} by {title}{lost}; {best}"


def undefined(moves: Sequence["Move"]) -> list[str]:
    """Say at which thresholds a metric is undefined."""
    gone = sorted({one.threshold for one in moves if math.isnan(one.value)})
    if not gone:
        return []
    where = ", ".join(f"{t:.3g}" for t in gone)
    return [
        f"Metrics are undefined at threshold{'s' * (len(gone) > 1)} {where}: all items are of "
        "one class there, or too few are left."
    ]
