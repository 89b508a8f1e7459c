"""Certainty: how sure the annotations make the truth of each item, and what they leave open.

The certainty of an item is the probability that the class that leads it is the most plausible
one; see `types.plausibilities`. Certainties of different models answer different questions
and are not to be compared: the probability that a class has the largest share among all
annotators there could be, the probability that it is the one true class, the share of resampled
panels that name it, or nothing but a point. For an evaluation it is that of the Dirichlet
posterior of the votes, which needs no draws.

The consensus of an item is its most plausible class. Votes are those that annotators gave, gold
aside; of rankings a reading is one vote, and none is counted for a class. Up to twenty classes,
each has its plausibility in a column of its own.

Examples
--------
>>> from equipoise.truth import dirichlet
>>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
>>> [finding.sentence[:40] for finding in certainty_findings(votes, dirichlet(votes))]
['For 1 of 2 items (50%) the annotations l', 'Item 0 is the least certain (0.768): 0: ']
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from equipoise.types import (
    SURE,
    Annotations,
    Cell,
    Column,
    Finding,
    Floats,
    Ints,
    Line,
    Lines,
    Plausibilities,
    Table,
    Votes,
    collect_votes,
    columns,
    count,
    number,
    percent,
    positions,
    rows_of,
    vote_counts,
)

BINS = 20
LEVELS = 50  # different certainties up to which every one has its own piece of the line
POINTS = 101
EDGES = tuple(edge / BINS for edge in range(BINS + 1))
MOST, LEAST = 10, 3  # ambiguous items that are named; those above the threshold only to fill
CLASSES = 5  # plausible classes named per item
LISTED = 8  # classes whose votes are written out
VOTERS = 60  # votes on an item up to which it is told who gave them
SEEN = 5e-4  # smaller masses of all other classes are not written
FEW_DRAWS = 100  # below, the steps of a share of draws are said
NOTE = (
    "Percentages are mean plausibilities. Entropy is that of the mean plausibilities, in "
    "nats. These are the items for which another opinion tells most."
)


class _Meaning(NamedTuple):
    """What a certainty is: in a few words, in a sentence, and whether it tells uncertainty."""

    words: str
    sentence: str
    uncertain: bool = True


MEANINGS = {
    "labels": _Meaning(
        "probability of the class",
        "In this model exactly one class of an item is right, and the certainty is the "
        "probability that the leading class is that one.",
    ),
    "dirichlet": _Meaning(
        "probability of the largest share",
        "The certainty of an item is the probability that the class that leads it really has "
        "the largest share, given how few and how divided the annotations are.",
    ),
    "normal": _Meaning(
        "probability of the side",
        "The certainty of an item is the probability that most ratings, if there were many, "
        "would lie on this side of the threshold.",
    ),
    "drawn": _Meaning(
        "share of draws",
        "The certainty of an item is the share of draws in which the class that leads it has "
        "the largest share.",
    ),
    "annotator_bootstrap": _Meaning(
        "share of resampled panels",
        "The certainty of an item is the share of resampled panels that name the same class.",
    ),
    "mean_vote": _Meaning(
        "point: share of the votes",
        "This model knows no uncertainty: the certainty is the share of the votes for the "
        "leading class.",
        uncertain=False,
    ),
    "point": _Meaning(
        "point: 0 or 1",
        "This model gives one distribution over classes per item and no uncertainty about it, "
        "so the certainty only tells ties from clear cases.",
        uncertain=False,
    ),
}  # by law of the draws, or by model


def certainty_meaning(plausibilities: Plausibilities) -> _Meaning:
    """Which question the certainty of these plausibilities answers.

    Examples
    --------
    >>> from equipoise.truth import dirichlet, mean_vote
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
    >>> certainty_meaning(dirichlet(votes)).words, certainty_meaning(mean_vote(votes)).uncertain
    ('probability of the largest share', False)
    """
    law, draws, model = plausibilities.law, plausibilities.draws, plausibilities.model
    panels = model == "annotator_bootstrap"
    if model == "mean_vote":
        return MEANINGS[model]
    if model == "majority_vote" or (law is None and draws == 1 and not panels):
        return MEANINGS["point"]
    if law is not None and law.name in MEANINGS and not panels:
        return MEANINGS[law.name]
    meaning = MEANINGS[model if panels else "drawn"]
    if draws >= FEW_DRAWS:
        return meaning
    step = f" There are {draws} draws, so it comes in steps of {number(1 / draws, 2)}."
    return meaning._replace(sentence=meaning.sentence + step)


def certainty_findings(
    annotations: Annotations, plausibilities: Plausibilities
) -> tuple[Finding, Finding]:
    """How certain what a model made of a task is, and its least certain items with votes."""
    task, sure = plausibilities.task, plausibilities.certainty
    bins = np.clip(np.ceil(sure * BINS - 1e-9).astype(np.intp) - 1, 0, BINS - 1)
    items = np.bincount(bins, minlength=BINS)
    columns_of = {"to": np.array(EDGES[1:]), "items": items, "share": items / (len(sure) or 1)}
    rows = rows_of({"task": task}, {"above": EDGES[:-1]}, columns_of)
    below, number_of, most = int((sure < SURE).sum()), count(len(sure), "item"), f"{SURE:g}"
    share, mean = percent(below / (len(sure) or 1)), number(float(sure.mean()))
    sentence = (
        f"For {count(below)} of {number_of} ({share}) the annotations leave open which class "
        f"is right (certainty below {most}); the mean certainty is {mean}."
    )
    if not below:
        sentence = (
            f"The annotations settle every item: no certainty is below {most}, the mean is "
            f"{mean}."
        )
    table = Table(
        name="certainty",
        caption="Certainty of the items (empty ranges left out)",
        columns=(
            Column("above", "certainty above", "number"),
            *columns(to="number", items="count", share="percent"),
        ),
        rows=[row for row in rows if row["items"]],
        brief=(),
    )
    whole = Finding(
        key="certainty",
        title="How certain is the truth?",
        sentence=sentence,
        tables=(table,),
        charts=(_certainty_chart(sure),),
        note=certainty_meaning(plausibilities).sentence,
        methods="The certainty of an item is the probability that its leading class is the "
        "most plausible one [@stutz2025]",
        references=("stutz2025",),
        task=task,
    )
    return whole, _ambiguous_finding(list(_ambiguous(annotations, plausibilities)), task)


def _certainty_chart(sure: Floats) -> Lines:
    """Certainties, sorted."""
    most, number_of, below = f"{SURE:g}", count(len(sure), "item"), float((sure < SURE).mean())
    return Lines(
        name="certainty-sorted",
        caption="Certainty, items sorted from the least certain",
        alternative=f"Certainty of {number_of}, sorted: {percent(below)} are below {most}.",
        x="share of the items, from the least certain",
        y="certainty",
        lines=[
            Line("", sorted_points(sure), dots=False),
            Line(most, [(0.0, SURE), (1.0, SURE)], dots=False, dashed=True),
        ],
        marks=[(below, f"{percent(below)} below {most}")],
        x_range=(0.0, 1.0),
    )


def _ambiguous_finding(rows: list[dict[str, Cell]], task: str) -> Finding:
    """Which items are least certain, and what the first of them could be."""
    first = rows[0]
    table = Table(
        name="ambiguous",
        caption="The least certain items",
        columns=(
            *columns(item="text", certainty="number"),
            Column("entropy", "entropy", "number", brief=False),
            Column("plausible", "plausible classes", "names"),
            Column("counts", "votes, first choices", "names", brief=False),
        ),
        rows=rows,
    )
    return Finding(
        key="ambiguous",
        title="Which items are most ambiguous?",
        sentence=f"Item {first['item']} is the least certain "
        f"({number(float(str(first['certainty'])))}): {first['plausible']}.",
        tables=(table,),
        note=NOTE,
        task=task,
    )


def ranked(plausibilities: Plausibilities) -> Ints:
    """Items from the least to the most certain; ties by entropy, then as they stand."""
    sure, entropy = plausibilities.certainty, plausibilities.entropy
    return np.lexsort((-entropy.round(9), sure.round(9)))


def _ambiguous(
    annotations: Annotations, plausibilities: Plausibilities
) -> Iterator[dict[str, Cell]]:
    """The least certain items: a few at least, more where they are uncertain.

    Entropy is that of the mean plausibilities in nats; votes are counted, and told in words.
    """
    sure, entropy = plausibilities.certainty, plausibilities.entropy
    task, votes = annotations.in_task(plausibilities.task), None
    if annotations.kind != "interval":
        votes = collect_votes(annotations, plausibilities.task)
    for place, i in enumerate(ranked(plausibilities)[:MOST]):
        if place >= LEAST and not sure[i] < SURE:
            continue
        code = annotations.items.index(plausibilities.items[i])
        size, words = int((task & (annotations.item == code)).sum()), ""
        if votes is not None:
            row = int(np.flatnonzero(votes.items == code)[0])
            size, words = int(votes.sizes[row]), _vote_words(votes, annotations, row)
        yield {
            "task": plausibilities.task,
            "item": plausibilities.items[i],
            "certainty": float(sure[i]),
            "entropy": float(entropy[i]),
            "votes": size,
            "plausible": _class_words(plausibilities, int(i)),
            "counts": words or count(size),
        }


def _class_words(plausibilities: Plausibilities, i: int) -> str:
    """How plausible the classes of an item are, the most plausible first."""
    entries = slice(int(plausibilities.start[i]), int(plausibilities.start[i + 1]))
    mean, label = plausibilities.mass[:, entries].mean(axis=0), plausibilities.label[entries]
    order = [k for k in np.argsort(-mean, kind="stable")[:CLASSES] if mean[k] > 0]
    parts = [f"{plausibilities.classes[label[k]]}: {percent(float(mean[k]))}" for k in order]
    others = max(0.0, 1.0 - float(mean[order].sum()))
    return ", ".join(parts + [f"others: {percent(others)}"] * (others > SEEN))


def _vote_words(votes: Votes, annotations: Annotations, i: int) -> str:
    """How many voted for which class of an item, most first; of few votes, also who."""
    classes, people = annotations.classes, annotations.annotators or ()
    first, stop = int(votes.start[i]), int(votes.start[i + 1])
    entries = np.flatnonzero((votes.vote >= first) & (votes.vote < stop))
    total = np.bincount(votes.label[entries], votes.share[entries], len(classes))
    voted = [k for k in np.argsort(-total, kind="stable") if total[k] > 0]
    parts = []
    for k in voted[:LISTED]:
        who = votes.annotator[votes.vote[entries[votes.label[entries] == k]]]
        names = [people[a] if a >= 0 else "known truth" for a in who] if people else []
        voters = f" ({', '.join(names)})" * bool(names and stop - first <= VOTERS)
        parts.append(f"{classes[k]}: {count(float(total[k]))}{voters}")
    left = len(voted) - len(parts)
    parts += [f"{left} other class{'es' * (left > 1)}"] if left else []
    return "; ".join(parts)


KINDS = ("binary", "nominal", "ordinal")  # whose votes are for one class
WIDE = 20  # classes that have a column each
CONSENSUS_TITLE = "What is the consensus?"
CONSENSUS_NOTE = (
    "The consensus is the class with the largest mean plausibility, its probability that mean. "
    "Where classes share it, the first in the order of the classes is named, and the others "
    "stand beside it."
)


def consensus_rows(
    annotations: Annotations, plausibilities: Plausibilities
) -> list[dict[str, Cell]]:
    """One row per item: consensus, probability, certainty, votes, and gold where there is some.

    Examples
    --------
    >>> from equipoise.truth import dirichlet
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]), classes=["no", "yes"])
    >>> [(row["consensus"], row["votes"]) for row in consensus_rows(votes, dirichlet(votes))]
    [('no', 5), ('no', 9)]
    """
    consensus, codes = (
        plausibilities.consensus(),
        {name: k for k, name in enumerate(annotations.classes)},
    )
    items = positions(plausibilities.items, annotations.items, where="consensus")
    top = np.full(len(annotations.items), -1)
    top[items] = [codes.get(row.label, -1) for row in consensus]
    votes, votes_for_it = _votes(annotations, plausibilities.task, top)
    gold = _gold(annotations, plausibilities.task)
    shares = plausibilities.mean if len(plausibilities.classes) <= WIDE else None
    rows: list[dict[str, Cell]] = []
    for row_of_item, (item, agreed) in enumerate(zip(items.tolist(), consensus, strict=True)):
        row: dict[str, Cell] = {
            "task": plausibilities.task,
            "item": agreed.item,
            "consensus": agreed.label,
            "probability": agreed.probability,
            "tied_with": agreed.tied_with,
            "certainty": agreed.certainty,
            "entropy": agreed.entropy,
            "votes": int(votes[item]),
            "votes_for_it": int(votes_for_it[item]) if annotations.kind in KINDS else None,
        }
        if gold:
            row["gold"] = gold.get(item, "")
        if shares is not None:
            per_class = zip(plausibilities.classes, shares[row_of_item].tolist(), strict=True)
            row |= {f"plausibility of {name}": value for name, value in per_class}
        rows.append(row)
    return rows


def consensus_finding(annotations: Annotations, plausibilities: Plausibilities) -> Finding:
    """The consensus of every item of a task, as a table to take away."""
    rows = consensus_rows(annotations, plausibilities)
    open_items = int((plausibilities.certainty < SURE).sum())
    tied = sum(bool(row["tied_with"]) for row in rows)
    even = f" {count(tied, 'item')} {'has' if tied == 1 else 'have'} several." if tied else ""
    share = percent(open_items / (len(rows) or 1))
    table = Table(
        name="consensus",
        caption="Consensus of every item",
        columns=(
            *columns(item="text", consensus="text", probability="number"),
            *columns(tied_with="text", certainty="number", votes="count"),
            *([Column("gold", "gold")] if rows and "gold" in rows[0] else []),
        ),
        rows=rows,
        brief=(),
        download=True,
    )
    return Finding(
        key="consensus",
        title=CONSENSUS_TITLE,
        sentence=f"{count(len(rows), 'item')} {'has' if len(rows) == 1 else 'have'} a "
        f"consensus; for {share} its certainty is below {SURE:g}.{even}",
        tables=(table,),
        note=CONSENSUS_NOTE,
        brief=False,
    )


def _votes(annotations: Annotations, task: str, top: Ints) -> tuple[Ints, Ints]:
    """Votes on every item, and how many of them are for its class in `top`, (items,) all."""
    rows = annotations.opinions(task)
    if annotations.reading is not None:
        rows = rows & (np.diff(annotations.reading, prepend=-1) != 0)
    item, weight = annotations.item[rows], vote_counts(annotations, rows)
    same = np.zeros(len(item), dtype=bool)
    if annotations.label is not None:
        same = annotations.label[rows] == top[item]
    votes, votes_for_top = (
        np.bincount(item[use], weight[use], len(annotations.items)).astype(np.int64)
        for use in (slice(None), same)
    )
    return votes, votes_for_top


def _gold(annotations: Annotations, task: str) -> dict[int, str]:
    """Known classes by item; empty without gold."""
    if annotations.label is None:
        return {}
    rows = annotations.in_task(task) & annotations.gold
    pairs = zip(annotations.item[rows].tolist(), annotations.label[rows].tolist(), strict=True)
    return {item: annotations.classes[label] for item, label in pairs}


def sorted_points(certainty: Floats) -> list[tuple[float, float]]:
    """Certainties from the least to the most, as a line: (share of items, certainty).

    A place along the line is the share of items that are no more certain. Items that are
    equally certain are one even piece; where there are many different certainties the line
    runs through evenly spaced ranks.

    Examples
    --------
    >>> sorted_points(np.array([1.0, 0.5, 1.0, 1.0]))
    [(0.0, 0.5), (0.25, 0.5), (0.25, 1.0), (1.0, 1.0)]
    >>> sorted_points(np.array([]))
    []
    """
    rising = np.sort(np.round(certainty, 6))
    if not len(rising):
        return []
    levels, first = np.unique(rising, return_index=True)
    if len(levels) <= LEVELS:
        ends = np.append(first[1:], len(rising))
        return [
            (round(float(place) / len(rising), 6), float(level))
            for level, *places in zip(levels, first, ends, strict=True)
            for place in places
        ]
    ranks = np.unique(np.linspace(0, len(rising) - 1, POINTS).round().astype(np.intp))
    shares = ranks / (len(rising) - 1)
    return [(round(float(s), 6), float(c)) for s, c in zip(shares, rising[ranks], strict=True)]
