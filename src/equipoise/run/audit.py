"""Audits of retrieval, as plain facts for tables, figures and JSON.

What was missed in every pool and in all, and, where models were scored on the audited items
too, their values before and after these are added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np

from equipoise.analyses.audit import Audit, Audited, Pool, audit, reevaluate
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, listed
from equipoise.evaluation.questions import Question, questions
from equipoise.metrics import named
from equipoise.predictions import Predictions
from equipoise.run.record import plain

Facts = dict[str, Any]
HALF, TIE = 0.5, 1e-12


class Benchmark(NamedTuple):
    """What was evaluated before the audit, and the audited votes with their pools."""

    annotations: Annotations
    predictions: tuple[Predictions, ...]
    votes: Annotations
    pool: dict[str, str]
    sizes: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditHow:
    """What is asked of an audit.

    Attributes
    ----------
    level, finite
        Level of the intervals; whether pools count as finite.
    metrics
        Names of the metrics of the models.
    labels, replicates, seed
        As in `equipoise.analyses.audit.Audited`.
    progress
        Called as ``progress(done, all)``.
    """

    level: float = 0.95
    finite: bool = True
    metrics: Sequence[str] = ("auroc",)
    labels: str = "hard"
    replicates: int = 500
    seed: int = 0
    progress: Callable[[int, int], None] | None = None


def audit_facts(
    pools: Sequence[Pool],
    found: int,
    benchmark: Benchmark | None = None,
    how: AuditHow | None = None,
) -> Facts:
    """Everything about an audit, ready for JSON.

    Examples
    --------
    >>> facts = audit_facts([Pool("ViT", 150, 26, 5000)], 4000)
    >>> round(facts["audit"]["rows"][0]["share"], 3)
    0.173
    """
    told = how or AuditHow()
    done = audit(pools, found, level=told.level, finite=told.finite)
    facts: Facts = {
        "schema": 1,
        "equipoise": version("equipoise"),
        "finding": done.finding,
        "settings": {
            "level": told.level, "finite": told.finite, "labels": told.labels,
            "replicates": told.replicates, "seed": told.seed,
        },
        "audit": _audit(done),
        "models": [],
        "metrics": [],
        "notices": done.notices,
    }  # fmt: skip
    if benchmark is not None:
        facts |= _again(benchmark, told)
    return dict(plain(facts))


def _audit(done: Audit) -> Facts:
    return {
        "finding": done.finding, "rows": done.rows(), "found": done.found,
        "missed": dict(zip(("value", "low", "high"), done.missed, strict=True)),
        "recall": dict(zip(("value", "low", "high"), done.recall, strict=True)),
    }  # fmt: skip


def _again(benchmark: Benchmark, how: AuditHow) -> Facts:
    """Every metric before and after."""
    rows, findings = [], []
    items, groups = (0, 0, 0), 0
    votes = replace(benchmark.votes, group=None, groups=None)  # which are the pools
    for number, metric in enumerate(how.metrics):
        audited = Audited(
            votes, benchmark.pool, benchmark.sizes, how.labels, how.replicates,
            how.seed, how.level, _within(how, number),
        )  # fmt: skip
        done = reevaluate(benchmark.predictions, benchmark.annotations, audited, metric=metric)
        items, groups = done.items, done.groups
        findings.append(done.finding)
        rows += [{"metric": metric, "labels": how.labels, **row} for row in done.rows()]
    names = ("name", "title", "soft_title", "better", "bounds", "definition")
    return {
        "models": [one.model for one in benchmark.predictions],
        "metrics": [
            {name: getattr(named(one), name) for name in names} for one in how.metrics
        ],
        "reevaluation": {
            "finding": findings[0], "findings": findings, "rows": rows,
            "items": dict(zip(("before", "audited", "stand_for"), items, strict=True)),
            "groups": groups,
        },
    }  # fmt: skip


def _within(how: AuditHow, number: int) -> Callable[[int, int], None]:
    """Progress of one metric as a part of all."""

    def tell(done: int, whole: int) -> None:
        if how.progress is not None:
            how.progress(number * whole + done, len(how.metrics) * whole)

    return tell


def audited_pools(
    votes: Annotations, sizes: dict[str, int]
) -> tuple[list[Pool], dict[str, str]]:
    """Pools as an audit of items found them, and the pool of each item.

    An item is positive if more than half of its votes say so. The group of an item is its pool;
    without groups there is one pool, called ``pool``.

    Parameters
    ----------
    sizes
        How many items each pool has, audited or not.
    """
    asked = questions(votes)
    if len(asked) > 1 or len(asked[0].classes) > 1:
        raise InputError(
            "audited items", f"{len(asked)} tasks, classes {votes.classes}",
            "one yes/no question",
            "ask about one class: --positive CLASS, in Python Annotations.against",
        )  # fmt: skip
    question = asked[0]
    if votes.group is None or votes.groups is None:
        names = ["pool"] * len(votes.items)
    else:
        names = [str(votes.groups[code]) for code in votes.group]
    where = dict(zip(votes.items, names, strict=True))
    pool = {item: where[item] for item in question.items}
    known = list(dict.fromkeys(pool.values()))
    lost = [name for name in known if name not in sizes]
    if lost:
        raise InputError(
            "audit, sizes", f"none for {listed(lost)}",
            "how many items each pool has, audited or not", f"add --size {lost[0]}=NUMBER",
        )  # fmt: skip
    spare = [name for name in sizes if name not in known]
    if spare:
        raise InputError(
            "audit, sizes", f"{listed(spare)}, of which nothing was audited",
            f"pools of the audited items ({listed(known)})", "correct the name",
        )  # fmt: skip
    return [_pool(question, name, pool, sizes[name]) for name in known], pool


def _pool(question: Question, name: str, pool: dict[str, str], size: int) -> Pool:
    """Count one pool."""
    own = np.array([pool[item] == name for item in question.items])
    tied = np.abs(question.shares[0] - HALF) <= TIE
    yes = int(((question.hard[0] > 0) & own).sum())
    return Pool(name, int(own.sum()), yes, size, int((tied & own).sum()))
