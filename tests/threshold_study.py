"""A study to set a threshold in: votes of a crowd, models, and experts who saw a sample."""

import csv
from functools import cache
from io import StringIO

import numpy as np

from equipoise.study.analyses.audits import audit, audited_pools
from equipoise.study.analyses.threshold_in_use import (
    ItemProbabilities,
    ModelsBeside,
    threshold_report,
)
from equipoise.study.analyses.thresholds import Rule, sampling_plan
from equipoise.types import Annotations, Predictions, Report

BAD = "</title><img src=x onerror=alert(1)>[@x]\u202e{0}"
LONG = "a-model-with-a-name-that-does-not-fit-beside-any-figure-"

EXPERTS = ("anna", "ben", "cora")


def crowd(items=200, seed=3):
    """How likely each item is positive, as a crowd sees it."""
    return np.random.default_rng(seed).beta(0.5, 0.8, items)


def votes_csv(items=200, people=9):
    """Votes of a crowd as text."""
    random = np.random.default_rng(5)
    share = crowd(items)
    lines = ["item,annotator,label"]
    for i in range(items):
        lines += [f"i{i:03d},w{a},{int(random.random() < share[i])}" for a in range(people)]
    return "\n".join(lines) + "\n"


def scores_csv(items=200, models=4):
    """Scores of models of falling skill as text."""
    random = np.random.default_rng(6)
    share = crowd(items)
    lines = ["item," + ",".join(f"m{k}" for k in range(models))]
    for i in range(items):
        row = [f"{share[i] + random.normal(0, 0.1 + 0.2 * k):.4f}" for k in range(models)]
        lines.append(f"i{i:03d}," + ",".join(row))
    return "\n".join(lines) + "\n"


def with_probabilities(plan):
    """A plan with what its key holds: bin and probability of every item."""
    lines = [f"{row['item']},{row['bin']},{row['probability']!r}," for row in plan.rows()]
    return "\n".join(["item,bin,probability,label", *lines, ""])


def filled(plan, seed):
    """A plan as an expert fills it in: positives start at a probability of 0.6."""
    random = np.random.default_rng(seed)
    rows = list(csv.DictReader(StringIO(plan)))
    text = StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        chance = 0.02 if float(row["probability"]) < 0.6 else 0.85
        writer.writerow(row | {"label": int(random.random() < chance)})
    return text.getvalue()


def threshold_of(
    *, models=3, bad="", rule="isotonic", yes=0.6, metrics=("auroc",), beside=None
):
    """Report of a threshold."""
    random = np.random.default_rng(1)
    share = crowd(150)
    items = tuple(f"i{k}{bad}" for k in range(150))
    plan = sampling_plan(share, items, 10, 8)
    said = (
        random.random((len(plan.items), 3))
        < np.where(plan.probability < yes, 0.03, 0.8)[:, None]
    )
    votes = Annotations(
        kind="binary", items=plan.items, classes=("no", "yes"),
        annotators=tuple(f"{name}{bad}" for name in EXPERTS),
        item=np.repeat(np.arange(len(plan.items)), 3),
        annotator=np.tile(np.arange(3), len(plan.items)), label=said.ravel().astype(int),
    )  # fmt: skip
    given = [
        Predictions(f"model {m}{bad}", items, share + random.normal(0, 0.2 + 0.1 * m, 150))
        for m in range(models)
    ]
    known, how = ItemProbabilities(items, share, f"made up{bad}"), Rule(rule, replicates=60)
    beside = beside or ModelsBeside(given, metrics)
    return threshold_report(known, plan, votes, how, beside)


def audit_of(*, bad="", pools=3):
    """Findings of an audit."""
    items = tuple(f"new {k}" for k in range(60))
    names = tuple(f"pool {k}{bad}" for k in range(pools))
    votes = Annotations(
        kind="binary", items=items, classes=("no", "yes"), item=np.arange(60),
        label=(np.random.default_rng(2).random(60) < 0.15).astype(int),
        group=np.arange(60) % pools, groups=names,
    )  # fmt: skip
    report = audit(audited_pools(votes, dict.fromkeys(names, 500)), 30).report()
    return Report(title="What did the retrieval miss?", findings=(report,))


THRESHOLDS = {
    "threshold": lambda: threshold_of(metrics=("auroc", "average_precision")),
    "threshold of the hostile": lambda: threshold_of(bad=BAD),
    "threshold that nobody set": lambda: threshold_of(yes=2.0),
    "threshold where positives rise": lambda: threshold_of(rule="rise", models=0),
    "threshold of a crowd": lambda: threshold_of(models=13, bad=LONG),
}
AUDITS = {
    "audit": audit_of,
    "audit of the hostile": lambda: audit_of(bad=BAD),
    "audit of numbers": lambda: audit_of(pools=1),
    "audit of a crowd": lambda: audit_of(bad=LONG, pools=12),
}


@cache
def known(name):
    """Reports by name."""
    return (THRESHOLDS | AUDITS)[name]()
