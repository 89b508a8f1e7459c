"""What a check of files says: how they were read, what is in them, and what looks odd.

Twins are annotators who gave the same votes on at least twenty items that both saw, models with
the same predictions, items with the same votes for which every model gives the same scores,
where that is no accident of rounding, and names that differ only in case, spaces or signs that
nobody sees.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from equipoise.read.sources import CheckedFiles
from equipoise.read.values import alike_names
from equipoise.types import (
    OF_JUDGED,
    Annotations,
    Bools,
    Column,
    Finding,
    Floats,
    Ints,
    Predictions,
    Report,
    Row,
    Table,
    capital,
    columns,
    count,
    duplicate_models,
    joined,
    listed,
    number,
    percent,
    row_weights,
    rows_of,
    vote_counts,
    worded,
)

_SAME_VOTES = 20  # items from which equal votes make two annotators the same
_MOST_PEOPLE = 200  # annotators of whom all pairs are compared
_SHOWN = 3  # rows of a preview
_ACCIDENT = 0.75  # expected pairs of items with equal scores from which equal ones say nothing
_DIMENSIONS = 3  # columns of scores that are looked at for rounding
_FEW_VALUES = 20  # distinct scores up to which equal ones say nothing of items


def check_report(check: CheckedFiles, *, command: bool = False) -> Report:
    """Say what a check found; `command` writes advice as options of the command line."""
    findings = [_files(check)]
    names = tuple(file.name for file in check.files)
    guesses = [
        guess if guess.startswith(names) else capital(guess)
        for guess in worded(check.notices, command=command)
    ]
    if guesses:
        findings.append(
            Finding(
                key="decided",
                title="What was decided while reading?",
                sentence="",
                more=tuple(f"- {guess}" for guess in guesses),
            )
        )
    if check.annotations is not None:
        findings.append(_votes(check.annotations))
    if check.annotations is not None and check.annotations.judged:
        findings.append(_systems(check))
    elif check.predictions:
        findings.append(_models(check))
    findings += [_twins(check), _preview(check)]
    return Report(
        title=f"{joined([file.name for file in check.files], most=3)}: how they are read",
        findings=tuple(findings),
        models=tuple(dict.fromkeys(prediction.model for prediction in check.predictions)),
    )


def _files(check: CheckedFiles) -> Finding:
    rows: list[Row] = [
        {
            "file": file.name,
            "role": file.role,
            "layout": file.layout,
            "rows": file.rows,
            "columns": listed(file.columns, most=6).replace("'", ""),
            "why": file.why,
        }
        for file in check.files
    ]
    sides = [
        f"{count(len(names), 'file')} of {side} ({joined(names, most=3)})"
        for side in ("annotations", "predictions")
        if (names := [file.name for file in check.files if file.role == side])
    ]
    whole = [f"a whole study ({file.name})" for file in check.files if file.role == "study"]
    sides_read = joined([*whole, *sides])
    table = Table(
        name="files",
        caption="How each file was read",
        columns=(
            Column("file", "file"),
            Column("role", "holds"),
            *columns(layout="text", rows="count"),
            Column("columns", "columns", brief=False),
            Column("why", "because"),
        ),
        rows=rows,
    )
    return Finding(
        key="files",
        title="How were the files read?",
        sentence=f"{capital(sides_read)}.",
        tables=(table,),
    )


def _systems(check: CheckedFiles) -> Finding:
    """What was judged: outputs of systems, how many of each."""
    assert check.annotations is not None
    of_task = [part for part in check.predictions if part.task == check.predictions[0].task]
    rows: list[Row] = [
        {"model": part.model, "outputs": int((part.values != 0).sum())} for part in of_task
    ]
    scale = check.annotations.scale or (0.0, 1.0)
    what = f"Ratings from {scale[0]:g} to {scale[1]:g}"
    if check.annotations.judged == "results":
        what = f"Results from {scale[0]:g} to {scale[1]:g}"
    if check.annotations.judged == "preferences":
        what = "Preferences between two outputs"
    return Finding(
        key="systems",
        title="What was judged?",
        sentence=f"{what}: {count(len(rows), 'system')}.",
        tables=(
            Table(
                name="systems",
                caption="Outputs of every system",
                columns=(Column("model", "system"), *columns(outputs="count")),
                rows=rows,
            ),
        ),
    )


def _votes(table: Annotations) -> Finding:
    """Who said what, by task."""
    rows = [_task_row(table, task) for task in table.tasks]
    opinions, who = ~table.gold, table.annotators
    votes = count(int(_counts(table)[opinions].sum()), "vote")
    if who is not None and table.annotator is not None:
        who = tuple(who[code] for code in np.unique(table.annotator[opinions]))
    sizes = {"item": table.items, "annotator": who, "group": table.groups}
    sizes |= {"task": table.tasks} if len(table.tasks) > 1 else {}
    if table.judged:
        nouns = OF_JUDGED[table.judged]
        sizes[nouns.item], sizes[nouns.group] = sizes.pop("item"), sizes.pop("group")
    parts = [count(len(names), noun) for noun, names in sizes.items() if names is not None]
    parts.append(votes if table.annotators is not None else f"{votes} without names")
    return Finding(
        key="annotations",
        title="Who said what?",
        sentence=f"{_kind(table)}: {joined(parts)}.",
        tables=(
            Table(
                name="tasks",
                caption="Votes by task",
                columns=(
                    Column("task", "task"),
                    *columns("count", "items", "annotators", "votes"),
                    *columns(votes_per_item="text", unanimous="percent"),
                    *columns("count", "tied", "repeats", "missing", "gold"),
                ),
                rows=rows,
                legend="tied: items without one most frequent class; repeats: votes of an "
                "annotator on an item beyond the first; missing: votes that would make every "
                "annotator of a task see every item; gold: items with a known truth.",
            ),
            *_class_table(table),
            *_annotator_table(table),
        ),
    )


def _kind(table: Annotations) -> str:
    if table.kind == "interval":
        return "Ratings (interval)"
    order = {"ordinal": " from lowest to highest", "binary": ", the second positive"}
    names = joined([repr(name) for name in table.classes], most=6)
    what = "Rankings" if table.kind == "ranking" else f"Labels ({table.kind})"
    size = len(table.classes)
    return (
        f"{what} of {count(size)} class{'es' * (size > 1)}{order.get(table.kind, '')}, {names}"
    )


def _counts(table: Annotations) -> Ints:
    """Votes that each row stands for; of a ranking its first row is the vote."""
    if table.reading is not None:
        first = np.zeros(len(table), dtype=np.int64)
        first[np.unique(table.reading, return_index=True)[1]] = 1
        return first
    return vote_counts(table).astype(np.int64)


def _task_row(table: Annotations, task: str) -> Row:
    here, use = table.in_task(task), table.opinions(task)
    votes = _counts(table)[use]
    seen, place = np.unique(table.item[use], return_inverse=True)
    votes_per_item: Floats = np.bincount(place, votes, len(seen)).astype(np.float64)
    row: dict[str, str | float | int | None] = {
        "task": task,
        "items": len(np.unique(table.item[here])),
        "annotators": "",
        "votes": int(votes.sum()),
        "votes_per_item": _range(votes_per_item),
        "unanimous": "",
        "tied": "",
        "repeats": "",
        "missing": "",
        "gold": len(np.unique(table.item[here & table.gold])),
    }
    if len(seen):
        row |= _agreement(table, use, votes_per_item)
        row |= _people(table, use, len(seen))
    return row


def _range(votes_per_item: Floats) -> str:
    if not len(votes_per_item):
        return "none"
    low, high = int(votes_per_item.min()), int(votes_per_item.max())
    mean = number(float(votes_per_item.mean()), 1)
    return count(low) if low == high else f"{count(low)} to {count(high)}, mean {mean}"


def _agreement(
    table: Annotations, use: Bools, votes_per_item: Floats
) -> dict[str, float | int | None]:
    """Items on which all agree, and those tied between classes; unknown of ratings."""
    if table.label is None or table.kind == "interval":
        return {}
    first = use if table.rank is None else use & (table.rank == 0)
    size = len(table.classes)
    key = table.item[first].astype(np.int64) * size + table.label[first]
    cells, place = np.unique(key, return_inverse=True)
    mass = np.bincount(place, row_weights(table, np.flatnonzero(first)), len(cells))
    start = np.unique(cells // size, return_index=True)[1]
    top = np.maximum.reduceat(mass, start)
    whole = np.add.reduceat(mass, start)
    level = np.isclose(mass, np.repeat(top, np.diff([*start, len(cells)])), rtol=1e-12)
    several = np.add.reduceat(level.astype(np.int64), start) > 1
    alone = np.isclose(top, whole, rtol=1e-12)[votes_per_item > 1]
    return {
        "unanimous": float(alone.mean()) if len(alone) else None,
        "tied": int(several.sum()),
    }


def _people(table: Annotations, use: Bools, items: int) -> dict[str, float | int | None]:
    """Annotators, votes beyond the first of each on an item, and items they did not see."""
    if table.annotator is None or table.annotators is None:
        return {}
    people = np.unique(table.annotator[use])
    key = table.item[use].astype(np.int64) * len(table.annotators) + table.annotator[use]
    pairs = len(np.unique(key))
    votes = len(key) if table.reading is None else len(np.unique(table.reading[use]))
    return {
        "annotators": len(people),
        "repeats": votes - pairs,
        "missing": items * len(people) - pairs,
    }


def _class_table(table: Annotations) -> tuple[Table, ...]:
    """Votes for each class of each task."""
    if table.label is None:
        return ()
    rows: list[Row] = []
    for task in table.tasks:
        here = table.in_task(task)
        votes = vote_counts(table, here)
        votes_per_class = np.bincount(table.label[here], votes, len(table.classes))
        rows += rows_of(
            {"task": task},
            {"class": table.classes},
            {"votes": votes_per_class.astype(int), "share": votes_per_class / votes.sum()},
        )
    shown = (
        *columns("text", "task", "class"),
        *columns("count", "votes"),
        *columns("percent", "share"),
    )
    return (Table(name="classes", caption="Votes by class", columns=shown, rows=rows),)


def _annotator_table(table: Annotations) -> tuple[Table, ...]:
    if table.annotator is None or table.annotators is None:
        return ()
    votes = np.bincount(table.annotator, _counts(table), len(table.annotators))
    pairs = np.unique(table.annotator.astype(np.int64) * len(table.items) + table.item)
    items = np.bincount(pairs // len(table.items), minlength=len(table.annotators))
    sizes = {"items": items, "votes": votes.astype(int)}
    rows = rows_of({}, {"annotator": table.annotators}, sizes)
    shown = (Column("annotator", "annotator"), *columns("count", "items", "votes"))
    return (Table(name="annotators", caption="Votes by annotator", columns=shown, rows=rows),)


def _models(check: CheckedFiles) -> Finding:
    """What models say, and for which of the items."""
    rows = [_model_row(prediction, check) for prediction in check.predictions]
    names = list(dict.fromkeys(prediction.model for prediction in check.predictions))
    sentence = f"{count(len(names), 'model')}: {joined(names, most=6)}."
    if check.silent_tasks:
        sentence += f" No predictions for {joined(check.silent_tasks, most=4)}."
    if check.annotations is not None and not check.matches:
        sentence += " `--on-missing drop` keeps what matches."
    return Finding(
        key="predictions",
        title="What did models say?",
        sentence=sentence,
        tables=(
            Table(
                name="models",
                caption="Predictions",
                columns=(
                    *columns("text", "model", "task"),
                    Column("kind", "what"),
                    *columns("count", "items", "without", "unknown"),
                    *columns("number", "lowest", "highest"),
                ),
                rows=rows,
                legend="without: annotated items that the model did not predict; unknown: "
                "predicted items that nobody annotated.",
            ),
        ),
    )


def _model_row(prediction: Predictions, check: CheckedFiles) -> Row:
    kind = (
        "decisions"
        if prediction.decides
        else "probabilities"
        if prediction.classes
        else "scores"
    )
    alone = check.annotations is None
    without, unknown = ("", "") if alone else check.unmatched(prediction)
    return {
        "model": prediction.model,
        "task": prediction.task,
        "kind": kind,
        "items": len(prediction.items),
        "without": without,
        "unknown": unknown,
        "lowest": "" if prediction.decides else float(prediction.values.min()),
        "highest": "" if prediction.decides else float(prediction.values.max()),
    }


def _twins(check: CheckedFiles) -> Finding:
    """Whatever is there twice."""
    twins = []
    table = check.annotations
    if table is not None:
        twins += [f"{a} and {b} gave the same votes on {count(n, 'item')}."
                 for a, b, n in _same_annotators(table)]  # fmt: skip
        vocabularies = (("items", table.items), ("annotators", table.annotators or ()),
                        ("classes", table.classes))  # fmt: skip
        twins += [
            f"{capital(what)} {joined([repr(name) for name in names])} differ only in case, "
            "spaces or signs that nobody sees."
            for what, vocabulary in vocabularies
            for names in alike_names(vocabulary)
        ]
    copies = duplicate_models(_by_task(check.predictions))
    twins += [f"Models with identical predictions: {duplicate}." for duplicate in copies]
    twins += [
        f"Items {joined([repr(name) for name in names], most=4)} have the same votes, and the "
        "same scores from every model: they may be one item."
        for names in _same_items(check.predictions, table)
    ]
    table_of_twins = Table(
        name="twins",
        caption="Whatever is there twice",
        columns=columns("text", "what"),
        rows=[{"what": twin} for twin in twins],
    )
    return Finding(
        key="twins",
        title="Is anything there twice?",
        sentence="" if twins else "No annotator, model or item looks like a copy of another.",
        tables=(table_of_twins,) if twins else (),
    )


def _same_annotators(table: Annotations) -> Iterator[tuple[str, str, int]]:
    """Pairs of annotators with the same votes wherever both voted, and on how many items."""
    people = table.annotators or ()
    what = table.label if table.value is None else table.value
    if table.annotator is None or what is None or not 1 < len(people) <= _MOST_PEOPLE:
        return
    use = ~table.gold if table.rank is None else ~table.gold & (table.rank == 0)
    cells = table.cells
    votes = [
        _votes_of(cells, what, use & (table.annotator == who)) for who in range(len(people))
    ]
    for a, b in combinations(range(len(people)), 2):
        both, mine, other = np.intersect1d(votes[a][0], votes[b][0], return_indices=True)
        first, again = votes[a][1][mine], votes[b][1][other]
        if len(both) >= _SAME_VOTES and (first == again).all() and len(np.unique(first)) > 1:
            yield people[a], people[b], len(both)


def _votes_of(cell: Ints, what: Ints | Floats, use: Bools) -> tuple[Ints, Ints | Floats]:
    """Cells and labels of one annotator, the last vote where there are several."""
    cells, last = np.unique(cell[use][::-1], return_index=True)
    return cells, what[use][::-1][last]


def _by_task(
    predictions: Iterable[Predictions],
) -> list[tuple[str, dict[str, Floats]]]:
    """Models of each task that predict for the same items, in one order of these."""
    tasks: dict[tuple[str, frozenset[str]], dict[str, Floats]] = {}
    for prediction in predictions:
        key = (prediction.task, frozenset(prediction.items))
        tasks.setdefault(key, {})[prediction.model] = prediction.aligned(
            sorted(prediction.items)
        )
    return [(task, models) for (task, _), models in tasks.items()]


def _same_items(
    predictions: Sequence[Predictions], table: Annotations | None
) -> list[list[str]]:
    """Items with the same scores from every model and for every task, and the same votes."""
    scores = [
        prediction
        for prediction in predictions
        if len(np.unique(prediction.values)) > _FEW_VALUES
    ]
    if not scores or len({frozenset(predicted.items) for predicted in scores}) > 1:
        return []
    items = sorted(scores[0].items)
    rows = np.column_stack(
        [predicted.aligned(items).reshape(len(items), -1) for predicted in scores]
    )
    groups: dict[tuple[bytes, object], list[str]] = {}
    votes = _votes_by_item(table)
    for name, row in zip(items, np.ascontiguousarray(rows + 0.0), strict=True):
        groups.setdefault((row.tobytes(), votes.get(name)), []).append(name)
    same = [names for names in groups.values() if len(names) > 1]
    return same if same and _by_accident(rows) < _ACCIDENT else []


def _votes_by_item(table: Annotations | None) -> dict[str, tuple[tuple[float, ...], ...]]:
    """Who said what of each item, in one order."""
    if table is None:
        return {}
    fields = (table.task, table.annotator, table.label, table.value, table.rank, table.count)
    present = [column for column in fields if column is not None]
    votes: dict[int, list[tuple[float, ...]]] = {}
    for item, row in zip(table.item.tolist(), np.column_stack(present).tolist(), strict=True):
        votes.setdefault(item, []).append(tuple(row))
    return {table.items[item]: tuple(sorted(rows)) for item, rows in votes.items()}


def _by_accident(rows: Floats) -> float:
    """How many pairs of items are expected to have equal scores because these are rounded.

    Scores that differ by one last digit in some column are as likely as equal ones; with `c`
    columns there are 3**c - 1 such neighbours of a pair, so their number tells that of chance.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> scores = random.random((200, 1))
    >>> _by_accident(scores) < 1, _by_accident(scores.round(3)) > 10
    (True, True)
    """
    from scipy.spatial import cKDTree

    apart = np.unique(rows, axis=1)
    sizes = [len(np.unique(column)) for column in apart.T]
    used = apart[:, np.argsort(sizes, kind="stable")[-_DIMENSIONS:]]
    steps = [np.diff(np.unique(column)).min() for column in used.T]
    places = used / np.array(steps)
    tree = cKDTree(places)
    equal, near = tree.count_neighbors(tree, np.array([0.1, 1.1]), p=np.inf)
    return float((near - equal) / 2 / (3 ** used.shape[1] - 1))


def _preview(check: CheckedFiles) -> Finding:
    """The first rows as they were understood."""
    rows: list[Row] = []
    table = check.annotations
    if table is not None:
        rows += [_vote_row(table, row) for row in range(min(_SHOWN, len(table)))]
    for prediction in check.predictions[:_SHOWN]:
        rows.append(
            {
                "task": prediction.task,
                "item": prediction.items[0],
                "who": prediction.model,
                "says": _says(prediction),
                "as": "prediction",
            }
        )
    return Finding(
        key="preview",
        title="The first rows, as understood",
        sentence="",
        tables=(
            Table(
                name="preview",
                caption="The first rows, as understood",
                columns=columns("text", "as", "task", "item", "who", "says"),
                rows=rows,
            ),
        ),
    )


def _vote_row(table: Annotations, row: int) -> Row:
    who = "(not named)"
    if table.annotators is not None and table.annotator is not None:
        who = table.annotators[table.annotator[row]]
    if table.value is not None:
        says = f"{table.value[row]:g}"
    else:
        assert table.label is not None
        says = table.classes[table.label[row]]
    if table.rank is not None:
        says += f" (rank {table.rank[row] + 1})"
    if table.count is not None:
        says += f" ({count(int(table.count[row]), 'vote')})"
    return {
        "task": table.tasks[0 if table.task is None else table.task[row]],
        "item": table.items[table.item[row]],
        "who": who,
        "says": says,
        "as": "gold" if table.gold[row] else "vote",
    }


def _says(prediction: Predictions) -> str:
    first = prediction.values[0]
    if not prediction.classes:
        return f"{float(first):g}"
    top = int(np.argmax(first))
    if prediction.decides:
        return prediction.classes[top]
    return f"{prediction.classes[top]} with probability {percent(float(first[top]))}"
