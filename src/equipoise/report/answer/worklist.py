"""Worklist: the items that split the annotators, by pattern of votes, for adjudication."""

from collections.abc import Mapping, Sequence

import numpy as np

from equipoise.inference.ranks import mid_ranks
from equipoise.report.answer.readers import TaskVotes, disputed, naming_rates
from equipoise.study import Evaluation
from equipoise.types import (
    Annotations,
    Cell,
    Column,
    Dispute,
    Finding,
    Floats,
    Ints,
    Names,
    Nouns,
    Pattern,
    Table,
    Votes,
    Worklist,
    columns,
    count,
    counted,
    percent,
)

PATTERNS = 4  # of a task that are shown
ITEMS = 3  # of a pattern that are shown
PEOPLE = 30  # annotators that have a square of their own
MOST_ROWS = 100_000  # of the file


def worklist_finding(
    evaluation: Evaluation,
    annotations: Annotations,
    votes: Mapping[str, TaskVotes],
    nouns: Nouns,
    hollow: Sequence[str] = (),
) -> Finding | None:
    """Disputed items, grouped by task and pattern of votes; None where there are none."""
    scores = {
        question.task: (question.items, values)
        for question, values in zip(evaluation.questions, evaluation.scores, strict=False)
    }
    disputes: list[Dispute] = []
    rows: list[dict[str, Cell]] = []
    cases = 0
    for cast_votes in votes.values():
        cast, shares, task = cast_votes
        split = np.flatnonzero(disputed(shares, cast.sizes) & ~cast.gold)
        cases += int((cast.sizes >= 2).sum())
        if len(split):
            places, says = _model_views(scores.get(task), annotations, cast, shares)
            disputes.append(_dispute(annotations, task, cast, split, places))
            some = split[: max(0, MOST_ROWS - len(rows))]
            rows += _rows(annotations, cast_votes, some, places, says)
    if not disputes:
        return None
    total = sum(dispute.number for dispute in disputes)
    yes_no = annotations.kind == "binary"
    chart = Worklist(
        name="disputed",
        caption=_caption(annotations, nouns, yes_no=yes_no),
        annotators=_people(annotations),
        classes=annotations.classes,
        models=evaluation.models,
        disputes=sorted(disputes, key=lambda dispute: -dispute.number),
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


def _people(annotations: Annotations) -> Names:
    """Annotators with a square of their own; none where they are too many or unknown."""
    names = annotations.annotators or ()
    return names if len(names) <= PEOPLE else ()


def _caption(annotations: Annotations, nouns: Nouns, *, yes_no: bool) -> str:
    against = "says otherwise than most" if not yes_no else "is against the rest"
    placed = f"how many of the {nouns.items} they score lower"
    if not yes_no:
        placed = "the probability that they give the commonest answer"
    who = _people(annotations)
    squares = (
        f"squares are {who[0]} to {who[-1]}" + (", filled yes" if yes_no else "")
        if who
        else "squares are votes"
    )
    return (
        f"Split: at least a third {against}. Commonest patterns of votes first; {squares}; "
        f"dots are models, placed by {placed}."
    )


def _model_views(
    scored: tuple[Names, Mapping[str, Floats]] | None,
    annotations: Annotations,
    cast: Votes,
    shares: Floats,
) -> tuple[dict[str, Floats], dict[str, list[str]]]:
    """Where each model puts each item with votes, and the class that it holds likeliest.

    From 0 to 1; of a score: the share of the items that it scores lower, of probabilities: that
    of the commonest answer. Scores name no class.
    """
    items, scores = scored or ((), {})
    where = {name: place for place, name in enumerate(items)}
    rows = np.array([where.get(annotations.items[code], -1) for code in cast.items])
    there, first, top = rows >= 0, np.maximum(rows, 0), shares.argmax(axis=0)
    places, names = {}, {}
    for model, values in scores.items():
        placed = np.full(len(rows), np.nan)
        if values.ndim == 1:
            placed = ((mid_ranks(values) - 0.5) / len(values))[first]
        elif values.shape[1] == len(shares):
            placed = values[first, top]
            likeliest = zip(there, values.argmax(axis=1)[first], strict=True)
            names[model] = [annotations.classes[k] if use else "" for use, k in likeliest]
        places[model] = np.where(there, placed, np.nan)
    return places, names


def _answers_by_item(annotations: Annotations, cast: Votes, split: Ints) -> Ints:
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
        answers = np.full((len(split), people), -1, dtype=np.int64)
        answers[row[::-1], cast.annotator[vote][::-1]] = labels[vote][::-1]
        return answers
    order = np.lexsort((-labels[vote], row))
    place = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    answers = np.full((len(split), int(sizes.max())), -1, dtype=np.int64)
    answers[row, place] = labels[vote][order]
    return answers


def _labels(cast: Votes) -> Ints:
    """The first class that every vote names."""
    labels = np.zeros(len(cast.annotator), dtype=np.int64)
    labels[cast.vote[::-1]] = cast.label[::-1]
    return labels


def _dispute(
    annotations: Annotations, task: str, cast: Votes, split: Ints, places: Mapping[str, Floats]
) -> Dispute:
    answers = _answers_by_item(annotations, cast, split)
    kinds, which, many = np.unique(answers, axis=0, return_inverse=True, return_counts=True)
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
    label = 1
    if annotations.kind != "binary":  # the commonest
        label = int(np.bincount(_labels(cast)[use]).argmax()) if use.any() else 0
    rates = naming_rates(cast, label, len(people), use)
    return dict(zip(people, rates.tolist(), strict=True))


def _remark(annotations: Annotations, patterns: int, rates: Mapping[str, float]) -> str:
    many = counted(patterns, "pattern")
    defined = {name: rate for name, rate in rates.items() if rate == rate}
    if not defined or annotations.kind != "binary":
        return many
    most = max(defined, key=lambda name: defined[name])
    return f"{many}; {most} says yes most often ({percent(defined[most])})"


def _rows(
    annotations: Annotations,
    cast_votes: TaskVotes,
    split: Ints,
    places: Mapping[str, Floats],
    says: Mapping[str, Sequence[str]],
) -> list[dict[str, Cell]]:
    if not len(split):
        return []
    cast, shares, task = cast_votes
    classes = annotations.classes
    people = _people(annotations)
    rows, all_answers = [], _answers_by_item(annotations, cast, split)
    for i, answers in zip(split.tolist(), all_answers.tolist(), strict=True):
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
                for name, k in zip(people, answers, strict=True)
            }
        row |= {f"says_{model}": names[i] for model, names in says.items()}
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
            *columns("text", "task", "item"),
            *columns("count", "votes"),
            *shown,
        ),
        rows=rows,
        brief=(),
        page=False,
        download=True,
    )
