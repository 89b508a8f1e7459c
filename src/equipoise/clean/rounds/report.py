"""What the rounds found, against the bounds of the lemma."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from equipoise.clean.neighbours import EXACT_UP_TO
from equipoise.clean.rounds.search import Clusters
from equipoise.clean.rounds.state import DuplicateRounds, Round
from equipoise.clean.rounds.votes import NO, OPEN, YES
from equipoise.truth import MODELS, model_title
from equipoise.types.findings import Column, Finding, Line, Lines, Row, Table, columns
from equipoise.types.findings.bibliography import cite
from equipoise.types.notices import Notice, notice
from equipoise.types.nouns import counted
from equipoise.types.numbers import count, number

KEY = "duplicate_rounds"
SOURCES = ("groger2025", "boruvka1926")
SHOWN = 12  # groups that a terminal shows


@dataclass(frozen=True, slots=True)
class Bounds:
    """What was needed, and what the lemma allows under its assumption.

    Attributes
    ----------
    largest
        Items of the largest group.
    rounds, most_rounds
        Rounds, the last of which confirms nothing, and ceil(log2 largest) + patience.
    judgements, most_judgements
        Pairs that were asked, and one per item (and per group and refusal beyond the first).
    """

    largest: int
    rounds: int
    most_rounds: int
    judgements: int
    most_judgements: int

    @classmethod
    def of(cls, state: DuplicateRounds) -> "Bounds":
        """Count."""
        size = np.bincount(state.clusters.labels, minlength=1)
        largest = max(int(size.max()), 1)
        return cls(
            largest=largest,
            rounds=len(state.rounds),
            most_rounds=math.ceil(math.log2(largest)) + state.patience,
            judgements=sum(len(one.pairs) for one in state.rounds),
            most_judgements=len(state.items) + (state.patience - 1) * int((size > 0).sum()),
        )


def finding(state: DuplicateRounds) -> Finding:
    """What was found so far, in how many rounds, and whether the assumption can be right."""
    bounds, groups = Bounds.of(state), state.groups
    inside = sum(map(len, groups))
    found = (
        f"{counted(len(groups), 'group')} of near duplicates hold {count(inside)} of "
        f"{counted(len(state.items), 'item')}; the largest has {count(bounds.largest)}"
        if groups
        else f"No near duplicates among {counted(len(state.items), 'item')}"
    )
    if state.finished:
        sentence = f"{found}."
    else:
        missing = len(state.missing)
        sentence = (
            f"Round {len(state.rounds)} is open: {count(missing)} of its "
            f"{counted(len(state.pairs), 'pair')} {'needs' if missing == 1 else 'need'} votes. "
            f"So far: {found[0].lower() + found[1:]}."
        )
    rows = list(_round_rows(state))
    return Finding(
        key=KEY,
        title="Which items are near duplicates of one another?",
        sentence=sentence,
        more=_cost(state, bounds),
        tables=(_round_table(rows), _group_table(state)),
        charts=(_chart(rows),) if len(rows) > 1 else (),
        note="A cluster asks about the closest pair between it and the nearest other cluster "
        "that was not judged yet, and rests once it is refused until it grows. Under the "
        "assumption that near duplicates of an item are closer to it than all else, and for "
        "right answers, no group is missed.",
        methods=_methods(state, bounds),
        references=(*SOURCES, *MODELS[state.judging.model].references),
        notices=tuple(_notices(state, bounds)),
    )


def _cost(state: DuplicateRounds, bounds: Bounds) -> tuple[str, ...]:
    asked = (
        f"{counted(bounds.judgements, 'pair')} in {counted(bounds.rounds, 'round')}; the "
        f"bounds are {count(bounds.most_judgements)} pairs"
    )
    every = len(state.items) * (len(state.items) - 1) // 2
    share = f" All pairs would be {count(every)}." if every else ""
    if not state.finished:
        return (f"Asked so far: {asked}.{share}",)
    over = bounds.rounds > bounds.most_rounds
    said = (
        f"Asked: {asked} and, for groups of up to {count(bounds.largest)}, "
        f"{counted(bounds.most_rounds, 'round')}"
        f"{', which was exceeded: the assumption fails here' if over else ''}."
    )
    return (said + share,)


def _notices(state: DuplicateRounds, bounds: Bounds) -> Iterator[Notice]:
    if state.finished and bounds.rounds > bounds.most_rounds:
        yield notice(
            "rounds_above_bound",
            "{rounds:count} rounds were needed where {bound:count} are enough for groups of up "
            "to {largest:count} if near duplicates of an item are closer to it than all else: "
            "they are not, and groups may be incomplete.",
            rounds=bounds.rounds,
            bound=bounds.most_rounds,
            largest=bounds.largest,
        )
    if bounds.judgements > bounds.most_judgements:
        yield notice(
            "judgements_above_bound",
            "{pairs:count} pairs were asked where {bound:count} are enough if near duplicates "
            "of an item are closer to it than all else.",
            pairs=bounds.judgements,
            bound=bounds.most_judgements,
        )
    if state.clusters.regrown:
        yield notice(
            "grew_after_refusal",
            "{clusters:count} clusters grew after they had been refused, which cannot happen "
            "if near duplicates of an item are closer to it than all else and answers are "
            "right; more patience finds more.",
            clusters=state.clusters.regrown,
        )
    closed = [one for one in state.rounds if one.answers is not None]
    within = sum(_refused_within(state, one) for one in closed)
    if within:
        yield notice(
            "refused_within_group",
            "{pairs:count} pairs were refused and yet lie in one group, because other pairs "
            "join them: look at these groups again.",
            pairs=within,
        )
    undecided = sum(int(np.sum(one.answers == OPEN)) for one in closed)
    if undecided:
        yield notice(
            "undecided_pairs",
            "{pairs:count} pairs were undecided (tied votes, or nobody sure) and count as "
            "{rule}.",
            pairs=undecided,
            rule=state.judging.undecided,
        )
    if len(state.items) > EXACT_UP_TO:
        yield notice(
            "approximate_neighbours",
            "Neighbours of {items:count} items come from an index, which may miss a few.",
            items=len(state.items),
        )


def _refused_within(state: DuplicateRounds, one: Round) -> int:
    labels, pairs = state.clusters.labels, one.pairs
    same = labels[pairs.first] == labels[pairs.second]
    return int((same & (one.answers == NO)).sum())


def _round_rows(state: DuplicateRounds) -> Iterator[dict[str, int | None]]:
    clusters = Clusters.single(len(state.items))
    for place, one in enumerate(state.rounds):
        row: dict[str, int | None] = {"round": place + 1, "pairs": len(one.pairs)}
        if one.answers is None:
            names = ("yes", "no", "undecided", "groups", "largest")
            yield {**row, **dict.fromkeys(names)}
            return
        clusters = clusters.after(one.pairs, one.confirmed(state.judging), state.patience)
        size = np.bincount(clusters.labels)
        answers = {"yes": YES, "no": NO, "undecided": OPEN}
        row |= {name: int((one.answers == code).sum()) for name, code in answers.items()}
        yield {**row, "groups": int((size > 1).sum()), "largest": int(size.max())}


def _round_table(rows: list[dict[str, int | None]]) -> Table:
    return Table(
        name=KEY,
        caption="What was asked, and what was found",
        columns=columns("count", *(rows[0] if rows else ("round", "pairs"))),
        rows=rows,
        brief=[
            {key: "open" if one is None else one for key, one in row.items()} for row in rows
        ],
        open=True,
    )


def group_rows(state: DuplicateRounds) -> list[dict[str, str | int]]:
    """A row for every item that has near duplicates, with the number of its group."""
    return [
        {"group": place + 1, "size": len(group), "item": name}
        for place, group in enumerate(state.groups)
        for name in group
    ]


def pair_rows(state: DuplicateRounds) -> list[dict[str, str | float | int]]:
    """A row for every pair that needs votes, nearest first, with room for a label."""
    rows: list[dict[str, str | float | int]] = []
    names, missing = state.names, state.missing
    votes = np.zeros(0, dtype=int) if state.finished else state.rounds[-1].counts()
    for place in missing.tolist():
        first, second = int(state.pairs.first[place]), int(state.pairs.second[place])
        row: dict[str, str | float | int] = {
            "pair": names[place],
            "first": state.items[first],
            "second": state.items[second],
            "distance": float(state.rounds[-1].distances[place]),
        }
        if state.paths:
            row |= {"first_path": state.paths[first], "second_path": state.paths[second]}
        rows.append({**row, "votes": int(votes[place]), "annotator": "", "label": ""})
    return rows


def _group_table(state: DuplicateRounds) -> Table:
    rows: list[Row] = [
        {"group": place + 1, "size": len(group), "items": group}
        for place, group in enumerate(state.groups)
    ]
    return Table(
        name="duplicate_groups",
        caption="Groups of near duplicates, the largest first",
        columns=(*columns("count", "group", "size"), Column("items", "items", "names")),
        rows=rows,
        brief=rows[:SHOWN],
        download=True,
    )


def _chart(rows: list[dict[str, int | None]]) -> Lines:
    def line(name: str, key: str) -> Line:
        known = [(float(row["round"] or 0), row[key]) for row in rows]
        return Line(name, [(x, float(y)) for x, y in known if y is not None])

    return Lines(
        name=KEY,
        caption="Questions fall from round to round",
        x="round",
        y="pairs",
        lines=[line("asked", "pairs"), line("confirmed", "yes")],
    )


def _methods(state: DuplicateRounds, bounds: Bounds) -> str:
    judging = state.judging
    own = MODELS[judging.model].references
    return (
        f"Near duplicates were looked for in rounds{cite(*SOURCES)}: every item, and then "
        "every cluster that had grown, was compared with its nearest neighbour by cosine "
        f"distance until {counted(state.patience, 'refusal')}; votes were combined by "
        f"{model_title(judging.model).lower()}{cite(*own)} with a threshold of "
        f"{number(judging.threshold, 2)}, and undecided pairs counted as {judging.undecided}; "
        f"{counted(bounds.judgements, 'pair')} were judged in "
        f"{counted(bounds.rounds, 'round')}."
    )
