"""Worklist: the items that split the annotators, by pattern of votes, for adjudication."""

from collections.abc import Mapping, Sequence

import numpy as np

from equipoise.annotations import Annotations
from equipoise.answer.readers import disputed
from equipoise.arrays import Bools, Floats, Ints
from equipoise.evaluation import Evaluation
from equipoise.findings import Cell, Column, Dispute, Finding, Pattern, Table, Worklist
from equipoise.nouns import Nouns, counted
from equipoise.numbers import count, percent
from equipoise.votes import Votes

PATTERNS = 4  # of a task that are shown
ITEMS = 3  # of a pattern that are shown
PEOPLE = 30  # annotators that have a square of their own
MOST_ROWS = 100_000  # of the file


def worklist_finding(
    evaluation: Evaluation,
    annotations: Annotations,
    votes: Mapping[str, tuple[Votes, Floats]],
    nouns: Nouns,
    hollow: Sequence[str] = (),
) -> Finding | None:
    """Disputed items, grouped by task and pattern of votes; None where there are none."""
    scores = {
        one.task: (one.items, values)
        for one, values in zip(evaluation.questions, evaluation.scores, strict=False)
    }
    disputes: list[Dispute] = []
    rows: list[dict[str, Cell]] = []
    cases = 0
    for task, (cast, shares) in votes.items():
        split = np.flatnonzero(disputed(shares, cast.sizes) & ~cast.gold)
        cases += int((cast.sizes >= 2).sum())
        if len(split):
            places = _places(scores.get(task), annotations, cast)
            disputes.append(_dispute(annotations, task, cast, split, places))
            some = split[: max(0, MOST_ROWS - len(rows))]
            rows += _rows(annotations, task, cast, shares, some, places) if len(some) else []
    if not disputes:
        return None
    total = sum(one.number for one in disputes)
    yes_no = annotations.kind == "binary"
    chart = Worklist(
        name="disputed",
        caption=_caption(annotations, nouns, yes_no=yes_no),
        annotators=_people(annotations),
        classes=annotations.classes,
        models=evaluation.models,
        disputes=sorted(disputes, key=lambda one: -one.number),
        ordered=annotations.kind == "ordinal",
        hollow=tuple(hollow),
    )
    what = "cases split" if len(votes) > 1 else f"{nouns.items} split"
    return Finding(
        key="disputed",
        title=f"Disputed {nouns.items}",
        sentence=f"{count(total)} of {count(cases)} {what} the {nouns.annotators}: a worklist "
        "for adjudication.",
        charts=(chart,),
        tables=(_table(rows, annotations),),
        nav="Disputed",
    )


def _people(annotations: Annotations) -> tuple[str, ...]:
    """Annotators with a square of their own; none where they are too many or unknown."""
    names = annotations.annotators or ()
    return names if len(names) <= PEOPLE else ()


def _caption(annotations: Annotations, nouns: Nouns, *, yes_no: bool) -> str:
    against = "says otherwise than most" if not yes_no else "is against the rest"
    who = _people(annotations)
    squares = (
        f"squares are {who[0]} to {who[-1]}" + (", filled yes" if yes_no else "")
        if who
        else "squares are votes"
    )
    return (
        f"Split: at least a third {against}. Commonest patterns of votes first; {squares}; "
        f"dots are models, placed by how many of the {nouns.items} they score lower."
    )


def _places(
    given: tuple[tuple[str, ...], Mapping[str, Floats]] | None,
    annotations: Annotations,
    cast: Votes,
) -> dict[str, Floats]:
    """Share of the items that each model scores lower than each item with votes, by model."""
    from scipy.stats import rankdata

    if given is None:
        return {}
    items, scores = given
    where = {name: place for place, name in enumerate(items)}
    own = np.array([where.get(annotations.items[code], -1) for code in cast.items])
    made = {}
    for model, values in scores.items():
        if values.ndim == 1:
            share = (rankdata(values) - 0.5) / len(values)
        else:
            share = (rankdata(values.max(axis=1)) - 0.5) / len(values)
        made[model] = np.where(own >= 0, share[np.maximum(own, 0)], np.nan)
    return made


def _said(annotations: Annotations, cast: Votes, split: Ints) -> Ints:
    """What each annotator said of disputed items, -1 for nothing; of anonymous votes: sorted.

    Shape (items, annotators), or (items, most votes of an item).
    """
    start, sizes, labels = cast.start[split], cast.sizes[split], _labels(cast)
    row = np.repeat(np.arange(len(split)), sizes)
    vote = (
        np.arange(len(row))
        - np.repeat(np.cumsum(sizes) - sizes, sizes)
        + np.repeat(start, sizes)
    )
    people = len(_people(annotations))
    if people:
        said = np.full((len(split), people), -1, dtype=np.int64)
        said[row[::-1], cast.annotator[vote][::-1]] = labels[vote][::-1]
        return said
    order = np.lexsort((-labels[vote], row))
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    said = np.full((len(split), int(sizes.max())), -1, dtype=np.int64)
    said[row, place] = labels[vote][order]
    return said


def _labels(cast: Votes) -> Ints:
    """The first class that every vote names."""
    labels = np.zeros(len(cast.annotator), dtype=np.int64)
    labels[cast.vote[::-1]] = cast.label[::-1]
    return labels


def _dispute(
    annotations: Annotations, task: str, cast: Votes, split: Ints, places: Mapping[str, Floats]
) -> Dispute:
    said = _said(annotations, cast, split)
    kinds, which, many = np.unique(said, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-many, kind="stable")[:PATTERNS]
    patterns = []
    for kind in order:
        some = split[np.flatnonzero(which.ravel() == kind)[:ITEMS]]
        patterns.append(
            Pattern(
                votes=tuple(None if k < 0 else int(k) for k in kinds[kind]),
                number=int(many[kind]),
                items=tuple(
                    (
                        annotations.items[int(cast.items[i])],
                        tuple(float(p[i]) for p in places.values()),
                    )
                    for i in some
                ),
            )
        )
    rates = _rates(annotations, cast, split)
    return Dispute(
        task=task,
        number=len(split),
        rates=tuple(rates.values()),
        remark=_remark(annotations, len(kinds), rates),
        patterns=patterns,
    )


def _rates(annotations: Annotations, cast: Votes, split: Ints) -> dict[str, float]:
    """How often each annotator says yes (or the commonest class) among disputed items."""
    people = _people(annotations)
    if not people:
        return {}
    inside = np.zeros(len(cast.items), dtype=bool)
    inside[split] = True
    use = np.repeat(inside, cast.sizes) & (cast.annotator >= 0)
    label = 1 if annotations.kind == "binary" else _commonest(cast, use)
    mass = cast.mass(label)
    said = np.bincount(cast.annotator[use], mass[use], len(people))
    many = np.bincount(cast.annotator[use], minlength=len(people))
    rates = np.divide(said, many, out=np.full(len(people), np.nan), where=many > 0)
    return dict(zip(people, rates.tolist(), strict=True))


def _commonest(cast: Votes, use: Bools) -> int:
    return int(np.bincount(_labels(cast)[use]).argmax()) if use.any() else 0


def _remark(annotations: Annotations, patterns: int, rates: Mapping[str, float]) -> str:
    many = counted(patterns, "pattern")
    known = {name: rate for name, rate in rates.items() if rate == rate}
    if not known or annotations.kind != "binary":
        return many
    most = max(known, key=lambda name: known[name])
    return f"{many}; {most} says yes most often ({percent(known[most])})"


def _rows(
    annotations: Annotations,
    task: str,
    cast: Votes,
    shares: Floats,
    split: Ints,
    places: Mapping[str, Floats],
) -> list[dict[str, Cell]]:
    classes = annotations.classes
    people = _people(annotations)
    rows, every = [], _said(annotations, cast, split)
    for i, said in zip(split.tolist(), every.tolist(), strict=True):
        row: dict[str, Cell] = {
            "task": task,
            "item": annotations.items[int(cast.items[i])],
            "votes": int(cast.sizes[i]),
        }
        if annotations.kind == "binary":
            row["share_yes"] = float(shares[1, i])
        else:
            row["commonest"] = classes[int(shares[:, i].argmax())]
            row["share"] = float(shares[:, i].max())
        if people:
            row |= {
                f"vote_{name}": "" if k < 0 else classes[k]
                for name, k in zip(people, said, strict=True)
            }
        row |= {f"place_{model}": float(p[i]) for model, p in places.items()}
        rows.append(row)
    return rows


def _table(rows: list[dict[str, Cell]], annotations: Annotations) -> Table:
    yes_no = annotations.kind == "binary"
    shown = (
        (Column("share_yes", "say yes", "percent"),)
        if yes_no
        else (Column("commonest", "commonest"), Column("share", "share", "percent"))
    )
    return Table(
        name="disputed",
        caption="Items that split the annotators",
        columns=(
            Column("task", "task"),
            Column("item", "item"),
            Column("votes", "votes", "count"),
            *shown,
        ),
        rows=rows,
        brief=(),
        page=False,
        download=True,
    )
