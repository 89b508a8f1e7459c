"""CleanStudy: a collection with what people said of its problems, for comparing detectors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from equipoise.clean.collection import MISSING, Collection, Pairs, pair_name, split_pair
from equipoise.clean.detector import TASKS, Task
from equipoise.datasets import Source
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, InputError, short_repr
from equipoise.types.notices import notice
from equipoise.types.nouns import Nouns

UNSEEN = (
    "{items:count} judged items are left out: they are not in the collection, or have no label "
    "to be wrong."
)
UNSEEN_PAIRS = "{pairs:count} judged pairs are left out: an item of theirs is not there."


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
        By task, votes (or gold) on items, or on pairs by their names, ``a | b`` or ``b | a``
        (kept as `Pairs.names` has them); yes is a problem. Pairs that nobody judged are not
        there: they are no negatives.
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
        for name in ("truths", "experts"):
            given: Mapping[Task, Annotations] = getattr(self, name)
            made = {
                task: _one_spelling(votes) if task == "near_duplicates" else votes
                for task, votes in given.items()
            }
            object.__setattr__(self, name, made)

    def seen(self, task: Task) -> Collection:
        """What detectors of a task see: the collection, and which pairs were judged."""
        if task != "near_duplicates":
            return self.collection
        pairs = Pairs.named(self.judged(task).items, self.collection.items)
        return replace(self.collection, pairs=pairs)

    def judged(self, task: Task) -> Annotations:
        """Votes on what detectors can see, with a notice on what they cannot.

        Items must be in the collection, both of a pair, and label errors need a label.
        """
        votes = self.truths[task]
        keep = self._visible(votes.items, task)
        if not keep.any():
            raise InputError(
                f"study {self.name}, votes on {task}",
                "no item that detectors see",
                "votes on "
                + ("pairs of " if task == "near_duplicates" else "")
                + "items of the collection"
                + (" with a label" if task == "label_errors" else ""),
                "check the names of the items",
            )
        if keep.all():
            return votes
        left, part = int((~keep).sum()), votes.of_items(keep)
        said = (
            notice("unseen_pairs", UNSEEN_PAIRS, pairs=left)
            if task == "near_duplicates"
            else notice("unseen_items", UNSEEN, items=left)
        )
        return replace(part, notices=(*part.notices, said))

    def _visible(self, names: tuple[str, ...], task: Task) -> Bools:
        """Which items, or pairs, are there for detectors of a task, shape (names,)."""
        data = self.collection
        known = set(data.items)
        if task == "near_duplicates":
            return np.array([known.issuperset(split_pair(name)) for name in names])
        if task == "label_errors" and data.labels is not None:
            labels = data.labels.tolist()
            known = {n for n, code in zip(data.items, labels, strict=True) if code != MISSING}
        return np.array([name in known for name in names])


def _one_spelling(votes: Annotations) -> Annotations:
    """Votes on pairs by one name each: those on ``b | a`` are votes on ``a | b``."""
    names = [pair_name(*split_pair(name)) for name in votes.items]
    if tuple(names) == votes.items:
        return votes
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    codes = np.array([place[name] for name in names], dtype=np.int64)
    first = np.unique(codes, return_index=True)[1]
    made = replace(
        votes,
        items=tuple(place),
        item=codes[votes.item],
        group=None if votes.group is None else votes.group[first],
    )
    return made if len(place) == len(names) else made.rows(_said_once(made, votes))


def _said_once(made: Annotations, votes: Annotations) -> Bools:
    """Rows, without those in which somebody says the same of a pair the other way round."""
    keep = np.ones(len(made), dtype=bool)
    if made.annotator is None or made.annotators is None or made.label is None:
        return keep
    before: dict[tuple[int, int], tuple[int, int]] = {}
    rows = zip(made.item.tolist(), made.annotator.tolist(), strict=True)
    for row, who in enumerate(rows):
        said = int(votes.item[row]), int(made.label[row])
        spelling, label = before.setdefault(who, said)
        if spelling != said[0] and label != said[1]:
            raise InputError(
                f"votes on near_duplicates, pair {made.items[who[0]]!r}",
                f"{made.annotators[who[1]]!r} says {made.classes[said[1]]!r} and, of the pair "
                f"the other way round, {made.classes[label]!r}",
                "one answer of an annotator on a pair",
                "keep one of the two",
            )
        keep[row] = spelling == said[0]
    return keep


def known_truth(items: tuple[str, ...], truth: Bools) -> Annotations:
    """Which items are a problem, as gold."""
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        item=np.arange(len(items)),
        label=truth.astype(np.int64),
        is_gold=np.ones(len(items), dtype=bool),
    )
