"""CleanStudy: a collection with what people said of its problems, for comparing detectors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from equipoise.annotations import Annotations
from equipoise.arrays import InputError, short_repr
from equipoise.clean.collection import Collection, Pairs
from equipoise.clean.detector import TASKS, Task
from equipoise.datasets import Source
from equipoise.nouns import Nouns


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CleanStudy:
    """Images, embeddings and labels, and yes/no votes on which of them are a problem.

    Attributes
    ----------
    name, title
        As on the command line, and for people.
    collection
        What detectors see.
    truths
        By task, votes (or gold) on items, or on pairs by their names (`Pairs.names`); yes is
        a problem. Pairs that nobody judged are not there: they are no negatives.
    experts
        By task, votes of a panel of experts on some of the items, for thresholds; may be empty.
    source
        Where it comes from; None for what a user made.
    simulated
        A sentence where problems were planted by a program; empty for real ones.
    nouns
        What items and annotators are called.
    """

    name: str
    title: str
    collection: Collection
    truths: Mapping[Task, Annotations]
    experts: Mapping[Task, Annotations] = field(default_factory=dict)
    source: Source | None = None
    simulated: str = ""
    nouns: Nouns = field(default_factory=lambda: Nouns("image", "annotator"))

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for task, votes in self.truths.items():
            if task not in TASKS or votes.kind != "binary":
                raise InputError(
                    f"cleaning study {self.name}, task {task!r}",
                    f"{votes.kind} votes",
                    f"yes/no votes on one of {', '.join(TASKS)}",
                    "ask whether an item is a problem",
                )

    def seen(self, task: Task) -> Collection:
        """What detectors of a task see: the collection, and which pairs were judged."""
        if task != "near_duplicates":
            return self.collection
        pairs = Pairs.named(self.truths[task].items, self.collection.items)
        return replace(self.collection, pairs=pairs)
