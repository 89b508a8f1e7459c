"""Judged outputs: people rate, or compare, what systems produced for the same items.

A table of ratings has a row per rating (`item, system, annotator, rating`, and `task` where
there are several scales); a table of preferences a row per comparison (`item, system_a,
system_b, annotator, preference`, which is ``a``, ``b``, ``tie`` or the name of a system). A
table of results has no annotators: what a metric or a test made of every output.

It becomes a study like any other. What is voted on is an output: one system on one item, or
two systems side by side. Outputs of one item belong together, so that items are the groups in
which they are drawn. A vote is a rating, or which side was preferred (1, 0, and 1/2 of a tie).
A system competes by marking its own outputs with 1 (as the second of two with -1, all others
with 0), and `equipoise.metrics.ratings` turns marks and votes into means and win rates. All
that is known of items and annotators then holds for systems: pairs are compared on the same
items by the same people, with both at random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.read.headers import judged_headers
from equipoise.read.tables import (
    CodedNames,
    Table,
    code_ids,
    code_names,
    numbers,
    numbers_or_none,
    repeated_rows,
    words_of,
)
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Models,
    Names,
    Notices,
    Option,
    Predictions,
    hint,
    joined,
    listed,
    name_order,
    notice,
)

SIDES = {  # what people write for the side that they prefer, without case and signs
    1.0: ("a", "systema", "modela", "left", "first", "1"),
    0.0: ("b", "systemb", "modelb", "right", "second", "2"),
    0.5: ("tie", "ties", "draw", "both", "equal", "same", "neither", "tiebothbad", "0"),
}
BESIDE = " | "  # between the names of an item and of its system
AGAINST = " : "  # between the names of two systems


class _Outputs(NamedTuple):
    """What was judged: the item of every output, its system, and the other of two."""

    of_row: Ints
    item: Ints
    first: Ints
    second: Ints | None


def judged_study(
    table: Table, columns: Mapping[str, str] | None = None, *, results: bool = False
) -> tuple[Annotations, Models]:
    """The votes on outputs, and the systems that compete; results are nobody's opinion.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.read.tables import from_frame
    >>> frame = pyarrow.table({"item": [1, 1, 1], "system": ["x", "y", "y"],
    ...     "annotator": ["ana", "ana", "bo"], "rating": [5, 2, 1]})
    >>> votes, systems = judged_study(from_frame(frame))
    >>> votes.items, votes.scale, [system.model for system in systems]
    (('1 | x', '1 | y'), (1.0, 5.0), ['x', 'y'])
    """
    table = _named(table, columns or {})
    compared = "preference" in table.columns
    value, there = _preferences(table) if compared else _ratings(table)
    dropped: Notices = ()
    if not there.all():
        blank = int((~there).sum())
        what = "row without a judgement is" if blank == 1 else "rows without a judgement are"
        text = f"{{rows:count}} {what} left out"
        dropped = (notice("blank_labels", text, rows=blank),)
        table, value = table.subset(there), value[there]
    scale = (0.0, 1.0) if compared else _scale(value)
    systems, codes = _systems(table, compared=compared)
    if compared:  # the same two in either order are one output
        turned = codes[0] > codes[1]
        value = np.where(turned, 1 - value, value)
        codes = [np.where(turned, codes[1], codes[0]), np.where(turned, codes[0], codes[1])]
    item = code_ids(table, "item", of="judgement")
    outputs, names = _outputs(item, codes, systems)
    people, tasks = None if results else _names(table, "annotator"), _names(table, "task")
    votes = Annotations(
        kind="interval",
        items=names,
        item=outputs.of_row,
        value=value,
        scale=scale,
        judged="preferences" if compared else "results" if results else "ratings",
        is_gold=np.ones(len(value), dtype=bool) if results else None,
        annotators=None if people is None else people.names,
        annotator=None if people is None else people.codes,
        tasks=("",) if tasks is None else tasks.names,
        task=None if tasks is None else tasks.codes,
        groups=item.names,
        group=outputs.item,
        systems=None if compared else systems,
        system=None if compared else outputs.first,
        notices=(
            *table.notices,
            *dropped,
            *_uneven(outputs, systems, len(item.names)),
            *_repeats(outputs.of_row, people, tasks),
        ),
    ).by_name()
    _require_connected(outputs, systems, table.name)
    return votes, tuple(_competitors(votes, outputs, systems))


def _named(table: Table, columns: Mapping[str, str]) -> Table:
    """The columns that are used by our names, with what there is to say of that."""
    headers = judged_headers(table, columns)
    theirs = headers.columns
    for ours, name in theirs.items():
        table.column_of(ours, {ours: name})
    if "item" not in theirs:
        table.required("item", {})
    unused = tuple(name for name in table.columns if name not in theirs.values())
    notes = headers.notices
    if unused:
        text = "columns {columns:names} are not used"
        notes = (*notes, notice("unused_columns", text, columns=unused))
    chosen = {ours: table.columns[name] for ours, name in theirs.items()}
    return Table(
        name=table.name, columns=chosen, place=table.place, notices=(*table.notices, *notes)
    )


def _ratings(table: Table) -> tuple[Floats, Bools]:
    """Ratings, and which rows have one."""
    value = numbers(table, "rating")
    there = ~np.isnan(value)
    endless = np.flatnonzero(np.isinf(value))
    if len(endless):
        row = int(endless[0])
        do = "correct it, or leave the cell blank"
        raise InputError(table.where(row), f"rating {value[row]}", "a finite number", do)
    if not there.any():
        raise InputError(
            f"{table.name}, column 'rating'", "no number in any row", "ratings", "fill it in"
        )
    return value, there


def _preferences(table: Table) -> tuple[Floats, Bools]:
    """1 where the first of two was preferred, 0 for the second, .5 for a tie."""
    first, second = code_names(table, "system_a"), code_names(table, "system_b")
    codes, words = words_of(table, "preference")
    keys = ["".join(c for c in word.casefold() if c.isalnum()) for word in words]
    by_word = {key: side for side, spelt in SIDES.items() for key in spelt}
    meant = np.array([*(by_word.get(key, np.nan) for key in keys), np.nan])[codes]
    for code, word in enumerate(words):  # the name of one of the two comes first
        rows = codes == code
        for side, names in ((1.0, first), (0.0, second)):
            if word in names.names:
                meant[rows & (names.codes == names.names.index(word))] = side
    there = codes >= 0
    odd = np.flatnonzero(there & np.isnan(meant))
    if len(odd):
        row = int(odd[0])
        raise InputError(
            table.where(row),
            f"preference {words[codes[row]]!r}",
            "a, b, tie, or the name of one of the two systems",
            "write one of these",
        )
    return meant, there


def _scale(value: Floats) -> tuple[float, float]:
    """From the lowest to the highest rating that anybody gave."""
    low, high = float(value.min()), float(value.max())
    return (low, high) if high > low else (low, low + 1.0)


def _systems(table: Table, *, compared: bool) -> tuple[Names, list[Ints]]:
    """Names of systems, and the codes of one per row, or of two."""
    sides = ("system_a", "system_b") if compared else ("system",)
    coded = [code_ids(table, side, of="judgement") for side in sides]
    names = tuple(dict.fromkeys(name for side in coded for name in side.names))
    names = tuple(sorted(names))
    place = {name: code for code, name in enumerate(names)}
    codes = [np.array([place[name] for name in side.names])[side.codes] for side in coded]
    if len(names) < 2:
        got = f"a single system ({listed(names)})"
        raise InputError(table.name, got, "two or more systems", "add what others produced")
    if compared:
        same = np.flatnonzero(codes[0] == codes[1])
        if len(same):
            got = f"{names[codes[0][same[0]]]!r} compared with itself"
            where = table.where(int(same[0]))
            raise InputError(where, got, "two systems", "correct or leave out the row")
    return names, codes


def _names(table: Table, column: str) -> CodedNames | None:
    """Who judged, or what was asked, where that is known."""
    return code_ids(table, column, of="judgement") if column in table.columns else None


def _outputs(item: CodedNames, codes: Sequence[Ints], systems: Names) -> tuple[_Outputs, Names]:
    """Distinct outputs in the order of their names."""
    number, first = len(systems), codes[0].astype(np.int64)
    key = item.codes * number + first
    if len(codes) > 1:
        key = key * number + codes[1]
    distinct_keys, start, of_row = np.unique(key, return_index=True, return_inverse=True)
    labels = [systems[code] for code in codes[0][start].tolist()]
    if len(codes) > 1:
        others = (systems[code] for code in codes[1][start].tolist())
        labels = [f"{a}{AGAINST}{b}" for a, b in zip(labels, others, strict=True)]
    things = map(item.names.__getitem__, item.codes[start].tolist())
    names = [f"{thing}{BESIDE}{label}" for thing, label in zip(things, labels, strict=True)]
    order = name_order(names)
    if order is None:
        order = np.arange(len(distinct_keys))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    chosen = start[order]
    second = codes[1][chosen] if len(codes) > 1 else None
    outputs = _Outputs(place[of_row], item.codes[chosen], codes[0][chosen], second)
    return outputs, tuple(map(names.__getitem__, order.tolist()))


def _uneven(outputs: _Outputs, systems: Names, items: int) -> Notices:
    """That systems are judged on other items each, which only pairing would make fair."""
    number = np.bincount(outputs.first, minlength=len(systems))
    if outputs.second is not None or (number == items).all():
        return ()
    few = int(number.argmin())
    text = (
        "Not every system was judged on every item ({system} on {number:count} of "
        "{items:count}): means are over what was judged of each, so that easy items may "
        "favour a system."
    )
    least, system = int(number[few]), systems[few]
    return (notice("outputs_missing", text, system=system, number=least, items=items),)


def _repeats(of_row: Ints, people: CodedNames | None, tasks: CodedNames | None) -> Notices:
    """That somebody judged an output again."""
    if people is None:
        return ()
    key = of_row.astype(np.int64) * len(people.names) + people.codes
    if tasks is not None:
        key = key * len(tasks.names) + tasks.codes
    again = len(repeated_rows(key))
    if not again:
        return ()
    verb = "judgement repeats" if again == 1 else "judgements repeat"
    text = f"{{again:count}} {verb} one of the same annotator on an output: all are kept"
    return (notice("repeats_kept", text, again=again),)


def _competitors(votes: Annotations, outputs: _Outputs, systems: Names) -> list[Predictions]:
    """Every system with a mark on each of its outputs, task by task."""
    competitors = []
    for task in votes.tasks:
        rows = votes.in_task(task)
        judged = np.unique(votes.item[rows])
        names = tuple(votes.items[i] for i in judged)
        for code, name in enumerate(systems):
            marks = (outputs.first[judged] == code).astype(np.float64)
            if outputs.second is not None:
                marks -= outputs.second[judged] == code
            if not marks.any():
                where = f"task {task!r}" if task else "the table"
                raise InputError(
                    f"system {name!r}",
                    f"nothing that anybody judged in {where}",
                    "judgements of all systems in every task",
                    "add them, or leave the system or the task out",
                )
            competitors.append(Predictions(name, names, marks, task=task))
    return competitors


def _require_connected(outputs: _Outputs, systems: Names, name: str) -> None:
    """Refuse comparisons that fall into parts: nothing says which part is better."""
    if outputs.second is None:
        return
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(outputs.first))
    graph = coo_matrix((ones, (outputs.first, outputs.second)), (len(systems),) * 2)
    parts, label = connected_components(graph, directed=False)
    if parts == 1:
        return
    shown = [joined([s for s, own in zip(systems, label, strict=True) if own == part], most=3)
             for part in range(parts)]  # fmt: skip
    raise InputError(
        name,
        f"comparisons in {parts} parts that never meet ({'; '.join(shown[:3])})",
        "systems that are compared with each other, directly or through others",
        "add comparisons between the parts, or evaluate each part alone",
    )


def as_predictions(table: Table, columns: Mapping[str, str] | None = None) -> Table:
    """What judges say of the outputs, by the names that these have among the votes.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.read.tables import from_frame
    >>> bleu = pyarrow.table({"item": [1, 1], "system": ["x", "y"], "bleu": [0.3, 0.1]})
    >>> as_predictions(from_frame(bleu)).columns["item"].to_pylist()
    ['1 | x', '1 | y']
    """
    import pyarrow as pa

    theirs = judged_headers(table, columns or {}).columns
    if not {"item", "system"} <= theirs.keys():
        raise InputError(
            table.name,
            f"columns {listed(table.columns)}",
            "the item and the system of every output that was rated",
            hint("say which: {}", Option("columns", {"item": "...", "system": "..."})),
        )
    item, system = (code_ids(table, theirs[name], of="score") for name in ("item", "system"))
    pairs = zip(item.by_row, system.by_row, strict=True)
    names = pa.array([f"{thing}{BESIDE}{label}" for thing, label in pairs])
    rest = {
        name: column
        for name, column in table.columns.items()
        if name not in (theirs["item"], theirs["system"])
    }
    return replace(table, columns={"item": names, **rest})


def with_unrated(votes: Annotations, table: Table, columns: Mapping[str, str]) -> Annotations:
    """The votes, and the outputs of their systems that judges scored and nobody rated."""
    theirs = judged_headers(table, columns).columns
    if not {"item", "system"} <= theirs.keys() or votes.groups is None:
        return votes
    assert votes.systems is not None and votes.system is not None and votes.group is not None
    item, system = (code_ids(table, theirs[name], of="score") for name in ("item", "system"))
    there, systems = set(votes.items), {name: code for code, name in enumerate(votes.systems)}
    groups = {name: code for code, name in enumerate(votes.groups)}
    more: dict[str, tuple[int, int]] = {}
    for thing, label in zip(item.by_row, system.by_row, strict=True):
        name = f"{thing}{BESIDE}{label}"
        if label in systems and name not in there:
            more[name] = systems[label], groups.setdefault(thing, len(groups))
    if not more:
        return votes
    added = np.array(list(more.values()), dtype=np.int64)
    return replace(
        votes,
        items=(*votes.items, *more),
        system=np.concatenate([votes.system, added[:, 0]]),
        groups=tuple(groups),
        group=np.concatenate([votes.group, added[:, 1]]),
    )


def are_results(table: Table, columns: Mapping[str, str]) -> bool:
    """Whether a table may be of results: a row per output, or a column of numbers per system.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.read.tables import from_frame
    >>> frame = pyarrow.table({"item": ["a", "b"], "x": [0.5, 0.7], "y": [0.1, 0.9]})
    >>> are_results(from_frame(frame), {})
    True
    """
    headers = judged_headers(table, columns).columns
    if {"system", "rating"} <= headers.keys():
        return "item" in headers
    item = headers.get("item", "")
    if not item or "preference" in headers:
        return False
    others = [name for name in table.columns if name != item]
    return len(others) > 1 and all(numbers_or_none(table, name) is not None for name in others)


def results_study(table: Table, columns: Mapping[str, str]) -> tuple[Annotations, Models]:
    """What a metric made of every output of systems, long or wide, without annotators.

    Examples
    --------
    >>> import pyarrow
    >>> from equipoise.read.tables import from_frame
    >>> frame = pyarrow.table({"item": ["a", "b"], "x": [0.5, 0.7], "y": [0.1, 0.9]})
    >>> votes, systems = results_study(from_frame(frame), {})
    >>> len(votes), [system.model for system in systems]
    (4, ['x', 'y'])
    """
    headers = judged_headers(table, columns)
    text = (
        "every number is how well a system did on an item; if these are predictions of labels, "
        "give the votes too, and if these are votes, what models predict"
    )
    table = table.noting(notice("read_as_results", text))
    if {"system", "rating"} <= headers.columns.keys():
        return judged_study(table, columns, results=True)
    return judged_study(_long(table, headers.columns.get("item", "item")), {}, results=True)


def _long(table: Table, item: str) -> Table:
    """A wide table of results, a column per system, with a row per output."""
    import pyarrow as pa

    if item not in table.columns:
        raise InputError(
            f"{table.name}",
            f"columns {listed(table.columns)}",
            "a column of items, and a column per system",
            hint("say which: {}", Option("columns", {"item": "its name"})),
        )
    systems = [name for name in table.columns if name != item]
    names = code_ids(table, item, of="judgement")
    rows = [names.names[code] for code in names.codes]
    values = np.concatenate([numbers(table, name) for name in systems])
    return Table(
        name=table.name,
        columns={
            "item": pa.array(rows * len(systems)),
            "system": pa.array([name for name in systems for _ in rows]),
            "rating": pa.array(values),
        },
        notices=table.notices,
    )
