"""Studies to make pages about stability of: small, with every analysis, and with few."""

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow

from equipoise.read.attributes import Attributes
from equipoise.types import Annotations, Predictions
from tests.analysed import analysed

BAD = "\"'><img src=x onerror=alert(1)><!--\x00\u202e"
LONG = "a-name-that-never-ends-" * 6


def study(*, people=5, items=60, models=3, tasks=("lung", "heart", "bone"), bad=""):
    """Votes of people of falling skill on some tasks, and models of falling skill."""
    random = np.random.default_rng(5)
    size = items * people
    item, who = (np.tile(grid.ravel(), len(tasks)) for grid in np.mgrid[0:items, 0:people])
    task = np.repeat(np.arange(len(tasks)), size)
    truth = random.random((len(tasks), items)) < 0.4
    wrong = random.random(len(item)) < 0.05 + 0.3 * who / people
    votes = Annotations(
        kind="binary", classes=("no", "yes"),
        items=tuple(f"scan {i}{bad}" for i in range(items)),
        annotators=tuple(f"reader {a}{bad}" for a in range(people)),
        item=item, annotator=who, label=(truth[task, item] ^ wrong).astype(int),
        tasks=tuple(name and f"{name}{bad}" for name in tasks), task=task,
    )  # fmt: skip
    scores = [
        Predictions(
            f"model {m}{bad}", votes.items,
            1 / (1 + np.exp(-(truth[t] + random.normal(0, 0.6 + 0.15 * m, items)))), task=name,
        )
        for m in range(models)
        for t, name in enumerate(votes.tasks)
    ]  # fmt: skip
    return scores, votes


def with_gold(votes, every=4):
    """Gold for every so many items of each task, beside the votes; a reader wrote it down."""
    first = np.flatnonzero((votes.annotator == 0) & (votes.item % every == 0))
    rows = np.append(np.arange(len(votes)), first)
    more = {name: getattr(votes, name)[rows] for name in ("item", "annotator", "label", "task")}
    return replace(votes, **more, is_gold=np.arange(len(rows)) >= len(votes))


def attributes(votes, bad=""):
    """A column of two levels and one with a level too small to be measured."""
    number = np.arange(len(votes.items))
    return Attributes.from_dataframe(
        pyarrow.table(
            {
                "item": list(votes.items),
                f"site{bad}".replace("\0", ""): [  # which no column may hold
                    f"north{bad}" if n % 2 else "south" for n in number
                ],
                "rare": ["rare" if n < 3 else "usual" for n in number],
            }
        )
    )


def report_of(scores, votes, **how):
    """The report of a small study."""
    asked = {"metrics": ["auroc"], "replicates": 40, "most": 8} | how
    return analysed(scores, votes, **asked)


def every(bad=""):
    """All analyses at once."""
    scores, votes = study(bad=bad)
    votes = with_gold(votes)
    return report_of(scores, votes, attributes=attributes(votes, bad))


def anonymous():
    """Counts of votes without names, some items with more votes than others."""
    random = np.random.default_rng(7)
    truth = random.random(50) < 0.5
    total = np.where(np.arange(50) % 3, 4, 9)
    yes = random.binomial(total, np.where(truth, 0.8, 0.2))
    votes = Annotations.from_counts(np.stack([total - yes, yes], axis=1))
    scores = [
        Predictions(f"net {m}", votes.items, truth + random.normal(0, 0.7, 50))
        for m in range(2)
    ]
    return report_of(scores, votes)


def single():
    """One model, one task."""
    scores, votes = study(models=1, tasks=("",))
    return report_of(scores, votes)


def crowd():
    """Many models and annotators, with names that never end."""
    scores, votes = study(people=30, items=40, models=13, tasks=("",), bad=LONG)
    return report_of(scores, votes, only=("ranking", "leave_one_out", "readers", "half_panels"))


STUDIES = {
    "stability": every,
    "stability of the hostile": lambda: every(BAD),
    "stability of anonymous votes": anonymous,
    "stability of one model": single,
    "stability of a crowd": crowd,
}


@cache
def sample(name):
    """The report of one study, made once."""
    return STUDIES[name]()


def found(report, key):
    """The finding of one analysis."""
    return next(finding for finding in report.findings if finding.key == key)


def rows(report, key, table=""):
    """Rows of one table of an analysis."""
    tables = found(report, key).tables
    return next(one.rows for one in tables if one.name == (table or key))
