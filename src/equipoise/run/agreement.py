"""Agreement: everything a page shows of it, as plain numbers and names."""

from dataclasses import replace
from typing import Any

import numpy as np

from equipoise.agreement import AgreementTable, Pairs, agreement_table, landis_koch
from equipoise.annotations import Annotations
from equipoise.findings.json import plain
from equipoise.run.folder import Run
from equipoise.run.record import AgreementRow, read

SHOWN = 60  # annotators in the heatmap, those with most votes
ENOUGH = 10  # items that a pair must share to be called close or far, if any does
EXTREME = 5  # pairs named at each end


def agreement_facts(table: AgreementTable, *, shown: int = SHOWN) -> dict[str, Any]:
    """Everything about the agreement on one task, ready for JSON.

    Parameters
    ----------
    shown
        How many annotators the matrix of pairs may have.

    Examples
    --------
    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("no", "yes"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1]),
    ...     annotator=np.array([0, 1, 0, 1]), label=np.array([1, 1, 0, 0]))
    >>> agreement_facts(agreement_table(votes))["pairs"]["closest"]
    [{'first': 'ana', 'second': 'bo', 'kappa': 1.0, 'items': 2, 'words': 'almost perfect'}]
    """
    rows = ("coefficients", "annotators")
    names = ("task", "kind", "level", "weights", "items", "votes", "scope", "cautions")
    return dict(
        plain(
            {
                **{name: getattr(table, name) for name in names},
                **{name: [one._asdict() for one in getattr(table, name)] for name in rows},
                "pairs": None if table.pairs is None else _pairs(table.pairs, shown),
            }
        )
    )


def with_agreement(run: Run, annotations: Annotations) -> Run:
    """Add the agreement on every task to a run; annotations it cannot be told of add nothing.

    That is so for anonymous votes, for items of a single group, and for gold rankings.
    """
    tasks = [task for task in annotations.tasks if _told(annotations, task)]
    if not tasks:
        return run
    shown = max(12, int(SHOWN / len(tasks) ** 0.5))
    found = [agreement_facts(agreement_table(annotations, task=t), shown=shown) for t in tasks]
    rows = tuple(read(AgreementRow, one) for one in found)
    return Run(replace(run.record, agreement=rows), run.replicates)


def _told(annotations: Annotations, task: str) -> bool:
    """Whether there is an agreement between known annotators to tell of."""
    gold, group = annotations.is_gold, annotations.group
    opinions = annotations.in_task(task) if gold is None else annotations.in_task(task) & ~gold
    if annotations.annotators is None or not opinions.any():
        return False
    several = group is None or len(np.unique(group)) > 1
    return several and (gold is None or annotations.rank is None)


def _pairs(pairs: Pairs, shown: int) -> dict[str, Any]:
    """The matrix of those with most votes, by mean kappa, and the pairs at both ends."""
    closest, furthest = _ends(pairs)
    mean = np.nan_to_num(pairs.mean_of_each[:shown], nan=-2.0)
    order = np.argsort(-mean, kind="stable")
    grid = np.ix_(order, order)
    return {
        "people": len(pairs.annotators),
        "annotators": [pairs.annotators[a] for a in order],
        "kappa": pairs.kappa[grid],
        "items": pairs.items[grid],
        "closest": closest,
        "furthest": furthest,
    }


def _ends(pairs: Pairs) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The pairs that agree most and least; none twice."""
    a, b = np.triu_indices(len(pairs.annotators), 1)
    kappa, items = pairs.kappa[a, b], pairs.items[a, b]
    known = np.isfinite(kappa)
    many = known & (items >= ENOUGH)
    use = np.flatnonzero(many if many.any() else known)
    order = use[np.argsort(-kappa[use], kind="stable")]
    half = min(EXTREME, (len(order) + 1) // 2)
    rows = [
        {
            "first": pairs.annotators[a[p]],
            "second": pairs.annotators[b[p]],
            "kappa": float(kappa[p]),
            "items": int(items[p]),
            "words": landis_koch(float(kappa[p])),
        }
        for p in [*order[:half], *order[::-1][: min(EXTREME, len(order) - half)]]
    ]
    return rows[:half], rows[half:]
