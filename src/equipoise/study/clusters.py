r"""Clusters: is a known attribute of annotators or items a group that the study does not use?

Annotators of one school agree beyond what they all agree on, and items of one site are hard
for the same models. Intervals that take them one by one are then too narrow. With
:math:`d_{ir}` how far the vote of annotator r on item i lies from the mean vote on it, and
pairs of annotators who share items,

.. math:: T = \frac{\sum_{in} \sum_i d_{ir} d_{is}}{\sum_{in} n_{rs}} -
    \frac{\sum_{between} \sum_i d_{ir} d_{is}}{\sum_{between} n_{rs}}

is the residual agreement inside the groups of an attribute less that between. Of items, d is
the mean vote less what a linear regression on the scores of all models predicts, and pairs of
items (of whole groups of items, where the study has some) take the place of those of
annotators.

The attribute is exchanged among annotators, or items, `PERMUTATIONS` times; p is the share of
permutations with a T at least as large, doubled and so on for each of several attributes
(Bonferroni). An attribute of items with fewer than `FEWEST_GROUPS` values is a kind of item,
which subgroups are for, and no sample of others.

Examples
--------
>>> votes = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1.0]])
>>> together = (votes - 0.5).T @ (votes - 0.5)
>>> inside_less_between(together, np.full((4, 4), 4.0), np.array([0, 0, 1, 1]))
0.5
"""

from collections.abc import Iterator

import numpy as np

from equipoise.study.alignment import Aligned
from equipoise.study.study import Study
from equipoise.types import Annotations, Floats, Ints, Notice, Option, notice

PERMUTATIONS = 999
SEED = 20241101
FEWEST_GROUPS = 6  # values of an attribute of items
MOST_ANNOTATORS = 300  # that are looked at, those with most votes
LIMIT = 0.05


def cluster_notices(study: Study) -> Iterator[Notice]:
    """Attributes of annotators, and of items, that should be groups but are not used so."""
    votes = study.truth
    if not isinstance(votes, Annotations) or votes.label is None:
        return
    for of, table, used in (
        ("annotator", study.annotator_attributes, study.settings.annotator_group),
        ("item", study.attributes, study.settings.item_group),
    ):
        if table is None or used is not None:
            continue
        names = votes.annotators if of == "annotator" else study.items
        if names is None:
            continue
        codes = table.aligned(names, on_missing="drop")
        p_values = _of_items(study, codes)
        if of == "annotator":
            p_values = _of_annotators(votes, codes)
        for column, p in zip(table.columns, p_values, strict=True):
            if min(p * len(table.columns), 1.0) <= LIMIT:
                yield _advice(of, column)


def _advice(of: str, column: str) -> Notice:
    if of == "annotator":
        text = (
            "Annotators of one {column} agree with each other more than with the rest: "
            "intervals are too narrow for annotators of another {column}. {advice} takes whole "
            "groups as the sample."
        )
    else:
        text = (
            "Items of one {column} are alike beyond what the models' scores say: intervals are "
            "too narrow for items of another {column}. {advice} takes whole groups as the "
            "sample."
        )
    advice = Option(f"{of}_group", column)
    return notice(f"{of}_group_unused", text, column=column, advice=advice)


def inside_less_between(together: Floats, shared: Floats, group: Ints) -> float:
    """Mean product of pairs inside groups less that of pairs between; nan without either."""
    pair = ~np.eye(len(group), dtype=bool)
    inside = (group[:, None] == group) & pair
    between = pair & ~inside
    numbers = shared[inside].sum(), shared[between].sum()
    if min(numbers) <= 0:
        return float("nan")
    return float(together[inside].sum() / numbers[0] - together[between].sum() / numbers[1])


def _of_annotators(votes: Annotations, codes: Ints) -> Iterator[float]:
    """Yield p of every attribute of annotators, codes (columns, annotators)."""
    assert votes.annotator is not None and votes.label is not None
    rows = np.flatnonzero(~votes.gold)
    load = np.bincount(votes.annotator[rows], minlength=codes.shape[1])
    busiest = np.argsort(-load, kind="stable")[:MOST_ANNOTATORS]
    people = np.sort(busiest[load[busiest] > 0])
    rows = rows[np.isin(votes.annotator[rows], people)]
    together, shared = _vote_products(votes, rows, people)
    for code in codes[:, people]:
        yield _p_of_annotators(together, shared, code)


def _vote_products(votes: Annotations, rows: Ints, people: Ints) -> tuple[Floats, Floats]:
    """Products of residuals by pair, summed over items, tasks and classes."""
    from scipy.sparse import csr_matrix

    assert votes.annotator is not None and votes.label is not None
    cell = np.unique(votes.cells[rows], return_inverse=True)[1]
    who, label = np.searchsorted(people, votes.annotator[rows]), votes.label[rows]
    shape = (1 + int(cell.max(initial=-1)), len(people))
    number = np.bincount(cell, minlength=shape[0])
    together = np.zeros((len(people), len(people)))
    for answer in np.unique(label):
        named = (label == answer) * 1.0
        away = named - (np.bincount(cell, named, shape[0]) / number)[cell]
        apart = csr_matrix((away, (cell, who)), shape=shape)
        together += (apart.T @ apart).toarray()
    given = csr_matrix((np.ones(len(cell)), (cell, who)), shape=shape)
    return together, np.asarray((given.T @ given).toarray())


def _p_of_annotators(together: Floats, shared: Floats, code: Ints) -> float:
    known = np.flatnonzero(code >= 0)
    square, code = np.ix_(known, known), code[known]
    together, shared = together[square], shared[square]
    seen = inside_less_between(together, shared, code)
    if np.isnan(seen):
        return 1.0
    random = np.random.default_rng(SEED)
    drawn = [
        inside_less_between(together, shared, random.permutation(code))
        for _ in range(PERMUTATIONS)
    ]
    return _share_as_large(np.array(drawn), seen)


def _of_items(study: Study, codes: Ints) -> Iterator[float]:
    """Yield p of every attribute of items, codes (columns, items of the study)."""
    total, number = np.zeros((2, codes.shape[1]))
    for aligned in study.aligned:
        place = aligned.question.place
        total[place] += _unexplained(aligned)
        number[place] += 1
    group = study.plan.group
    unit = np.arange(len(total)) if group is None else np.asarray(group)
    units = 1 + int(unit.max())
    sums, sizes = (np.bincount(unit, x, units).astype(float) for x in (total, number))
    first = np.full(units, -1)
    first[unit[::-1]] = np.arange(len(unit))[::-1]
    for code in codes:
        yield _p_of_items(sums, sizes, code[first])


def _unexplained(aligned: Aligned) -> Floats:
    """Mean vote on every item less what the scores of all models predict, all classes."""
    scores = [x.reshape(len(x), -1) for x in aligned.scores.values()]
    columns = np.hstack([np.ones((len(scores[0]), 1)), *scores])
    labels = aligned.question.shares.T
    fitted = columns @ np.linalg.lstsq(columns, labels, rcond=None)[0]
    return np.asarray((labels - fitted)[:, -1])


def _p_of_items(sums: Floats, sizes: Floats, code: Ints) -> float:
    use = (code >= 0) & (sizes > 0)
    sums, code = sums[use], code[use]
    values = np.unique(code, return_inverse=True)[1]
    groups = 1 + int(values.max(initial=-1))
    if not FEWEST_GROUPS <= groups < len(values):
        return 1.0
    sums = sums - sums.mean()
    random = np.random.default_rng(SEED)

    def inside(code: Ints) -> float:
        return float((np.bincount(code, sums, groups) ** 2).sum())

    drawn = [inside(random.permutation(values)) for _ in range(PERMUTATIONS)]
    return _share_as_large(np.array(drawn), inside(values))


def _share_as_large(drawn: Floats, seen: float) -> float:
    """Share of permutations with at least what was seen, itself among them."""
    as_large = int((drawn >= seen - 1e-12 * abs(seen)).sum())
    return (1 + as_large) / (1 + len(drawn))
