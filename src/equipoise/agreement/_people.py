"""Annotators: how far each agrees with the others, and what alpha would be without them."""

from typing import Any, NamedTuple

import numpy as np

from equipoise.agreement._study import Study
from equipoise.agreement._units import units_of
from equipoise.agreement._votes import Votes, counted, votes
from equipoise.agreement.cohen_kappa_pairs import Pairs
from equipoise.agreement.krippendorff_alpha import alpha_of
from equipoise.arrays import Floats

MOST_LEFT_OUT = 200  # annotators up to which each is left out in turn


class Person(NamedTuple):
    """One annotator.

    Attributes
    ----------
    annotator
        Name.
    votes, items
        Votes, or readings, and items that somebody else rated, too.
    kappa
        Mean of Cohen's kappas with the others, weighted by the items shared; nan without any.
    agreement
        Mean share of the others' votes on the same items that say the same; nan without any.
    alpha_without
        Krippendorff's alpha of all the others; nan where undefined or not computed.
    """

    annotator: str
    votes: int
    items: int
    kappa: float
    agreement: float
    alpha_without: float


def people(study: Study, pairs: Pairs | None) -> tuple[Person, ...]:
    """All annotators who voted, most votes first, then the highest kappa."""
    names, number = study.annotations.annotators, study.by_annotator
    if names is None or not len(number):
        return ()
    none = np.full(len(names), np.nan)
    kappa = none.copy()
    if pairs is not None:
        place = {name: a for a, name in enumerate(names)}
        kappa[[place[name] for name in pairs.annotators]] = pairs.mean_of_each
    order = np.lexsort((np.nan_to_num(-kappa, nan=np.inf), -number))
    order = order[number[order] > 0]
    found = None if study.ranked else votes(study.annotations, study.task)
    same = (
        none if found is None or study.annotations.label is None else _same(found, len(names))
    )
    left = none
    if found is not None and 1 < len(order) <= MOST_LEFT_OUT:
        left = _left_out(found, study.level, len(names))
    shared = _shared(study, len(names))
    return tuple(
        Person(
            names[a], int(number[a]), int(shared[a]), float(kappa[a]), float(same[a]),
            float(left[a]),
        )
        for a in order
    )  # fmt: skip


def _shared(study: Study, size: int) -> Floats:
    """Items of each annotator that somebody else rated, too."""
    table = study.annotations
    assert table.annotator is not None
    key = table.annotator[study.first].astype(np.int64) * len(table.items)
    key = np.unique(key + table.item[study.first])
    who, item = np.divmod(key, len(table.items))
    several = np.bincount(item, minlength=len(table.items)) > 1
    return np.bincount(who[several[item]], minlength=size).astype(np.float64)


def _same(found: Votes, size: int) -> Floats:
    """Mean share of the others' votes that say the same, shape (annotators,)."""
    assert found.who is not None
    number, values = found.number, len(found.value)
    who = found.who.astype(np.int64)
    own = _total(who * found.items + found.item, number)
    said = _total((who * found.items + found.item) * values + found.code, number)
    every = np.bincount(found.item, number, found.items)[found.item]
    alike = _total(found.item.astype(np.int64) * values + found.code, number)
    others = every - own
    use = others > 0
    share = (alike - said)[use] / others[use]
    weight = np.bincount(who[use], number[use], size)
    total = np.bincount(who[use], number[use] * share, size)
    return np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), np.nan)


def _total(key: Any, number: Floats) -> Floats:
    """Sum of the rows that have the same key, shape (rows,)."""
    code = np.unique(key, return_inverse=True)[1]
    return np.asarray(np.bincount(code, number)[code], dtype=np.float64)


def _left_out(found: Votes, level: str, size: int) -> Floats:
    """Alpha without each annotator in turn, shape (annotators,)."""
    assert found.who is not None
    whole = counted(found)
    order = np.argsort(found.who, kind="stable")
    start = np.searchsorted(found.who[order], np.arange(size + 1))
    out = np.full(size, np.nan)
    for a in range(size):
        rows = order[start[a] : start[a + 1]]
        if not len(rows):
            continue
        rest = whole - counted(found, rows)
        rest.eliminate_zeros()
        kept = units_of(found, rest)
        out[a] = alpha_of(kept, level)(np.ones((len(kept.item), 1)))[0]
    return out
