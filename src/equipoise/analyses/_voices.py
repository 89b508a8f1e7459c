"""Voices: the votes of a task, person by person, for scoring experts as if they were models."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equipoise.analyses.scoring import StudyScorer, TaskScorer, mean_over_tasks
from equipoise.arrays import Bools, Floats, Ints
from equipoise.metrics import Prepared


class Voices(NamedTuple):
    """One task's votes, person by person.

    Attributes
    ----------
    subject
        The task.
    own, rated
        Mean vote of each expert by class, (classes, items, experts), and who rated what.
    panel, people
        Who voted for what, and the experts' codes.
    counts
        Item counts: first every item once, then the replicates, (items, 1 + replicates).
    """

    subject: TaskScorer
    own: Floats
    rated: Bools
    panel: Any
    people: Ints
    counts: NDArray[np.uint8]

    def prepared(self, shares: Floats, here: Bools) -> Prepared:
        """Mean votes (classes, items) as a prediction; even where there is no vote."""
        even = 1 / 2 if len(shares) == 1 else 1 / len(shares)
        filled = np.where(here, shares, even)
        return self.subject.prepare(filled[0] if len(shares) == 1 else filled.T)

    def scores(self, truth: Floats, here: Bools, prepared: list[Prepared]) -> Floats:
        """Value and replicates against labels (classes, items), (rivals, 1 + replicates)."""
        counts = self.counts * here[:, None].astype(np.uint8)
        return self.subject.scored(
            [np.ascontiguousarray(one) for one in truth], counts, prepared
        )


def voices(subject: TaskScorer, people: Ints, annotators: int, study: StudyScorer) -> Voices:
    """Take the votes apart; items of known truth are nobody's opinion and stay aside."""
    panel = subject.panel(annotators)
    alone = np.zeros((annotators, len(people)), dtype=np.uint8)
    alone[people, np.arange(len(people))] = 1
    shares, present = panel.shares(alone)
    votes = subject.question.votes
    assert votes is not None
    gold = np.add.reduceat(votes.annotator < 0, votes.start[:-1]) > 0
    drawn = subject.item_counts(study.plan)
    counts = np.concatenate([np.ones((len(drawn), 1), dtype=np.uint8), drawn], axis=1)
    rated = (present > 0) & ~gold[:, None]
    return Voices(subject, np.stack(shares), rated, panel, people, counts)


def known_mean(values: Floats) -> Floats:
    """Mean over the first axis of what is defined; nan where nothing is."""
    known = ~np.isnan(values)
    number = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def three(name: str, ends: Floats, value: Floats, first: str = "") -> dict[str, Any]:
    """Value, low and high of one quantity under their names."""
    stem = f"{name}_" if name else ""
    return {first or name: value, f"{stem}low": ends[0], f"{stem}high": ends[1]}


def against_others(heard: list[Voices], found: StudyScorer) -> tuple[Ints, Floats]:
    """Items (experts,), and values of expert and models, (experts, 1 + models, 1 + reps)."""
    number = heard[0].rated.shape[1]
    items, scores = np.zeros(number, dtype=np.int64), []
    for e in range(number):
        parts = []
        for one in heard:
            left = np.ones((one.panel.all.shape[1] - 1, 1), dtype=np.uint8)
            left[one.people[e]] = 0
            shares, present = one.panel.shares(left)
            here = one.rated[:, e] & (present[:, 0] > 0)
            items[e] += int(here.sum())
            expert = one.prepared(one.own[:, :, e], one.rated[:, e])
            truth = np.stack([each[:, 0] for each in shares])
            parts.append(one.scores(truth, here, [expert, *one.subject.prepared]))
        scores.append(mean_over_tasks(parts))
        found.asked.tell(e + 1, number)
    return items, np.stack(scores)
