"""Readers: how far annotators agree, and which items split them."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from equipoise.inference.ranks import mid_ranks
from equipoise.study import Evaluation
from equipoise.study.study import Study
from equipoise.truth.agreement import AgreementTable, agreement_summaries
from equipoise.types import (
    Annotations,
    Bools,
    Cell,
    Column,
    Dispute,
    Finding,
    Floats,
    Ints,
    Names,
    Nouns,
    Pattern,
    Strip,
    Strips,
    Table,
    Votes,
    Worklist,
    capital,
    collect_votes,
    columns,
    count,
    counted,
    number,
    percent,
    ratio,
)

DISPUTED = 1 / 3  # share against the commonest answer from which on an item is disputed


def disputed(shares: Floats, sizes: Ints) -> Bools:
    """Which items split the annotators: at least a third is against the commonest answer.

    Parameters
    ----------
    shares
        Of every class among the votes of an item, (classes, items).
    sizes
        Votes per item.

    Examples
    --------
    >>> disputed(np.array([[0.75, 0.625], [0.25, 0.375]]), np.array([8, 8]))
    array([False,  True])
    """
    return np.asarray((1 - shares.max(axis=0) >= DISPUTED - 1e-9) & (sizes >= 2))


class TaskVotes(NamedTuple):
    """Votes on a task, and the share of each class among those of an item, (classes, items)."""

    votes: Votes
    shares: Floats
    task: str


def task_votes(study: Study, scored: Mapping[str, Ints]) -> dict[str, TaskVotes]:
    """Votes of every task; none of ratings.

    Parameters
    ----------
    scored
        Which items count in every task, by their places among the items of the annotations.
    """
    annotations = study.opinions
    if annotations.kind == "interval":
        return {}
    votes_of = study.task_votes
    if annotations is not study.voted:
        votes_of = {
            task: collect_votes(annotations, task)
            for task in scored
            if annotations.in_task(task).any()
        }
    by_task = {}
    for task in [task for task in votes_of if task in scored]:
        votes = votes_of[task]
        use = np.flatnonzero(np.isin(votes.items, scored[task]))
        votes = votes if len(use) == len(votes.items) else votes.subset(use)
        shares = [votes.shares(k) for k in range(len(annotations.classes))]
        by_task[task] = TaskVotes(votes, np.stack(shares), task)
    return by_task


# ---- agreement -----------------------------------------------------------------------------


def agreement_finding(
    annotations: Annotations,
    votes: Mapping[str, TaskVotes],
    nouns: Nouns,
    annotators: str = "random",
) -> Finding | None:
    """Votes, agreement and rates per task, as strips."""
    summaries = agreement_summaries(annotations)
    if annotators == "fixed":
        summaries = tuple(table.for_these_annotators() for table in summaries)
    tables = {summary.task: summary for summary in summaries}
    rows = [
        _strip(annotations, item_votes, tables.get(task)) for task, item_votes in votes.items()
    ]
    if not rows or all(not row.shares for row in rows):
        return None
    yes_no = annotations.kind == "binary"
    measure = next(
        (t.coefficients[0].name for t in tables.values() if t.coefficients), "agreement"
    )
    chart = Strips(
        name="agreement",
        caption=f"How the votes on every {nouns.item} split",
        votes_title=f"Votes, {nouns.items} from no to yes"
        if yes_no
        else f"Votes, {nouns.items} from all alike to most split",
        alpha_title=f"Agreement, {measure}, 95%",
        rates_title="How often each says yes"
        if yes_no
        else f"How often each names {rows[0].named or 'the commonest class'}",
        rows=rows,
    )
    return Finding(
        key="agreement",
        title="Agreement",
        sentence=f"{_agreement_title(rows, nouns, yes_no=yes_no)}.",
        charts=(chart,),
        tables=(_agreement_table(rows),),
        notices=tuple(caution for table in tables.values() for caution in table.cautions),
        nav="Agreement",
    )


def _strip(
    annotations: Annotations, cast_in_task: TaskVotes, table: AgreementTable | None
) -> Strip:
    votes, shares, task = cast_in_task
    several = votes.sizes >= 2
    split = disputed(shares, votes.sizes)
    yes_no = annotations.kind == "binary"
    side = shares[1] if yes_no else 1 - shares.max(axis=0)
    total, top = int(several.sum()), 0.5 if yes_no else 1 - 1 / max(shares.shape[0], 2)
    kinds = np.stack([np.round(side[several], 2), split[several]], axis=1)
    steps, number_of = np.unique(kinds, axis=0, return_counts=True)
    parts = []
    for (step, divided), many in zip(steps, number_of, strict=True):
        against = min(step, 1 - step) if yes_no else step
        parts.append((many / total, float(min(1.0, against / top)), bool(divided)))
    ends = (
        (float((side[several] == 0).mean()), float((side[several] == 1).mean()))
        if total
        else (math.nan, math.nan)
    )
    most = 1 if yes_no else int(shares.sum(axis=1).argmax())
    alpha = (math.nan,) * 3
    if table is not None and table.coefficients:
        first = table.coefficients[0]
        alpha = (first.value, first.low, first.high)
    rates = naming_rates(annotations, votes, most, votes.annotator >= 0)
    return Strip(
        task=task,
        shares=tuple(parts),
        left=f"{percent(ends[0])} all say no" if yes_no else f"{percent(ends[0])} all agree",
        right=f"{percent(ends[1])} all say yes" if yes_no else "",
        split=f"{percent(float(split[several].mean()) if total else math.nan)} split",
        alpha=alpha,
        rates=tuple((name, rate) for name, rate in rates.items() if rate == rate),
        named="" if yes_no else annotations.classes[most],
    )


def naming_rates(
    annotations: Annotations, votes: Votes, label: int, use: Bools
) -> dict[str, float]:
    """How often each annotator names a class among some votes; nan of those without any."""
    names = annotations.annotators or ()
    who = votes.annotator[use]
    named = np.bincount(who, votes.mass(label)[use], len(names))
    many = np.bincount(who, minlength=len(names))
    rates = ratio(named, many)
    return dict(zip(names, rates.tolist(), strict=False))


def _agreement_title(rows: Sequence[Strip], nouns: Nouns, *, yes_no: bool) -> str:
    """Where annotators differ most in their rates, and where they agree least."""
    people = capital(nouns.annotators)
    wide = max(rows, key=_reach)
    defined = [row for row in rows if math.isfinite(row.alpha[0])]
    reach = _reach(wide)
    sentence = ""
    if reach > 0 and len(wide.rates) > 1:
        low, high = (f(rate for _, rate in wide.rates) for f in (min, max))
        what = (
            f"call {wide.task}"
            if yes_no and wide.task
            else ("say yes" if yes_no else f"name {wide.named or 'the commonest class'}")
        )
        sentence = (
            f"{people} {what} in {percent(low)} to {percent(high)} of their {nouns.items}"
        )
    if not defined:
        return sentence or _split_words(rows, nouns)
    if len(defined) == 1:
        only = defined[0]
        agree = f"agreement beyond chance is {number(only.alpha[0], 2)} (1 is full)"
        return f"{sentence}; {agree}" if sentence else capital(agree)
    least = min(defined, key=lambda row: row.alpha[0])
    worst = f"agree least on {least.task}"
    return f"{sentence}; they {worst}" if sentence else f"{people} {worst}"


def _split_words(rows: Sequence[Strip], nouns: Nouns) -> str:
    """How much of a task is split, where nothing else is known."""
    most = max(rows, key=lambda row: sum(part for part, _, split in row.shares if split))
    share = sum(part for part, _, split in most.shares if split)
    where = f" of {most.task}" if most.task else ""
    return f"{percent(share)} of the {nouns.items}{where} split the {nouns.annotators}"


def _reach(strip: Strip) -> float:
    rates = [rate for _, rate in strip.rates]
    return max(rates) - min(rates) if rates else 0.0


def _agreement_table(rows: Sequence[Strip]) -> Table:
    return Table(
        name="agreement",
        caption="Agreement by task",
        columns=(
            Column("task", "task"),
            Column("alpha", "agreement", "number", ("low", "high")),
            Column("split", "split", "percent"),
            Column("lowest", "lowest rate", "percent"),
            Column("highest", "highest rate", "percent"),
        ),
        rows=[
            {
                "task": row.task,
                "alpha": row.alpha[0],
                "low": row.alpha[1],
                "high": row.alpha[2],
                "split": float(sum(part for part, _, divided in row.shares if divided)),
                "lowest": min((r for _, r in row.rates), default=math.nan),
                "highest": max((r for _, r in row.rates), default=math.nan),
            }
            for row in rows
        ],
        brief=(),
    )


def foot_rows(finding: Finding | None, tasks: Sequence[str]) -> tuple[tuple[str, Names], ...]:
    """Agreement and split items of every task, for the foot of the matrix."""
    chart = finding.charts[0] if finding is not None and finding.charts else None
    if not isinstance(chart, Strips):
        return ()
    strips = {row.task: row for row in chart.rows}
    if not set(tasks) <= set(strips):
        return ()
    return (
        ("alpha", tuple(number(strips[task].alpha[0], 2) for task in tasks)),
        ("split", tuple(strips[task].split.removesuffix(" split") for task in tasks)),
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
    if annotations.annotator is None or annotations.annotators is None:
        return ()
    voted = np.unique(annotations.annotator)
    names = tuple(annotations.annotators[code] for code in voted)
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
    people = _people(annotations)
    if people:
        square = np.array([*map((annotations.annotators or ()).index, people)])
        answers = np.full((len(split), len(annotations.annotators or ())), -1, dtype=np.int64)
        answers[row[::-1], cast.annotator[vote][::-1]] = labels[vote][::-1]
        return answers[:, square]
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
    rates = _rates_of_dispute(annotations, cast, split)
    return Dispute(
        task=task,
        number=len(split),
        rates=tuple(rates.values()),
        remark=_remark(annotations, len(kinds), rates),
        patterns=patterns,
    )


def _rates_of_dispute(annotations: Annotations, cast: Votes, split: Ints) -> dict[str, float]:
    """How often each annotator says yes (or the commonest class) among disputed items."""
    people = _people(annotations)
    if not people:
        return {}
    inside = np.zeros(len(cast.items), dtype=bool)
    inside[split] = True
    use = np.repeat(inside, cast.sizes) & (cast.annotator >= 0)
    label = 1
    if annotations.kind != "binary":
        label = int(np.bincount(_labels(cast)[use]).argmax()) if use.any() else 0
    rates = naming_rates(annotations, cast, label, use)
    return {name: rates[name] for name in people}


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
