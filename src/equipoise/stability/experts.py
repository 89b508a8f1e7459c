r"""Experts as competitors: where the models stand among the people who set the truth.

Three questions, each with the metric of the evaluation and intervals that resample items:

- *The human range.* Every expert is scored against the mean vote of the others on the items
  that expert rated; every model on the same items against the same labels.
- *Better than a colleague?* For two experts e and f on the items both rated,

  .. math:: P = P_{e \ne f}\big(M(\text{model}, e) > M(f, e)\big)

  is the chance that the model agrees with a random expert better than another expert does;
  ties count half.
- *Worth how many experts?* The k for which the mean vote of k random others agrees with a
  held-out expert as well as the model does, interpolated between whole numbers; 0 stands for
  fewer than one, infinity for more than there are.

An expert's vote counts as a certain prediction. Metrics of order reward the finer scale of a
model's scores; accuracy compares like with like. With several classes only metrics of whole
distributions make sense of single votes.

Examples
--------
>>> from equipoise.demo import reading_study
>>> readings, scores = reading_study()
>>> among = experts(scores[0], readings, metric="accuracy", replicates=20)
>>> among.experts[int(np.argmax(among.values))]
'Dr Abel'
"""

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.stability._asked import How, asked
from equipoise.stability._rivals import MOST_PAIRED, Voices, known_mean, pairs, three, voices
from equipoise.stability._subject import (
    Given,
    Study,
    freeze,
    mean_over_tasks,
    study,
)

MOST = 100  # experts scored against the others


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Experts:
    """Models among experts.

    Attributes
    ----------
    task, metric, better, labels, models, level
        What was scored, and the level of the intervals.
    experts, items
        Who, and on how many items (summed over tasks), shape (experts,).
    values, low, high
        Each expert against the others, shape (experts,).
    model_values
        Each model on the same items against the same labels, shape (experts, models).
    gap, gap_low, gap_high
        Model minus expert, paired, shape (experts, models).
    mean_gap, mean_gap_low, mean_gap_high
        The same on average over experts, shape (models,).
    superior, superior_low, superior_high
        Chance that the model agrees with an expert better than another expert, (models,).
    worth, worth_low, worth_high
        The model's worth in experts, (models,).
    sizes, crowd, crowd_low, crowd_high
        Numbers of experts, and the metric of their mean vote against a held-out one, (sizes,).
    notices
        What the user should know, one sentence each.
    """

    task: str
    metric: str
    better: str
    labels: str
    models: tuple[str, ...]
    level: float
    experts: tuple[str, ...]
    items: Ints
    values: Floats
    low: Floats
    high: Floats
    model_values: Floats
    gap: Floats
    gap_low: Floats
    gap_high: Floats
    mean_gap: Floats
    mean_gap_low: Floats
    mean_gap_high: Floats
    superior: Floats
    superior_low: Floats
    superior_high: Floats
    worth: Floats
    worth_low: Floats
    worth_high: Floats
    sizes: Ints
    crowd: Floats
    crowd_low: Floats
    crowd_high: Floats
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def worth_words(self, model: int) -> str:
        """A model's worth in experts, in words."""
        return _words(float(self.worth[model]), int(self.sizes[-1]))

    @property
    def finding(self) -> str:
        """What came out for the model that agrees best, as a sentence."""
        sign = 1 if self.better == "higher" else -1
        if np.isnan(self.mean_gap).all():
            return f"{self.metric} of models and experts is undefined."
        m = int(np.nanargmax(sign * self.mean_gap))
        above = int((sign * self.gap[:, m] > 0).sum())
        return (
            f"By {self.metric} {self.models[m]} agrees with the other experts better than "
            f"{above} of {len(self.experts)} experts do, and with a random expert better than "
            f"a colleague in {self.superior[m]:.0%} of pairs ({self.superior_low[m]:.0%} to "
            f"{self.superior_high[m]:.0%}): it is worth {self.worth_words(m)}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One plain dict per expert, then one per model."""
        names = {"task": self.task, "metric": self.metric, "labels": self.labels}
        people = [
            {
                **names,
                "who": who,
                "kind": "expert",
                "items": int(self.items[e]),
                "value": float(self.values[e]),
                "low": float(self.low[e]),
                "high": float(self.high[e]),
            }
            for e, who in enumerate(self.experts)
        ]
        means = known_mean(self.model_values)
        return people + [
            {
                **names,
                "who": model,
                "kind": "model",
                "value": float(means[m]),
                "gap": float(self.mean_gap[m]),
                "gap_low": float(self.mean_gap_low[m]),
                "gap_high": float(self.mean_gap_high[m]),
                "superior": float(self.superior[m]),
                "superior_low": float(self.superior_low[m]),
                "superior_high": float(self.superior_high[m]),
                "worth": float(self.worth[m]),
                "worth_low": float(self.worth_low[m]),
                "worth_high": float(self.worth_high[m]),
                "worth_words": self.worth_words(m),
            }
            for m, model in enumerate(self.models)
        ]


def _words(number: float, most: int) -> str:
    if np.isnan(number):
        return "an undefined number of experts"
    if number < 1:
        return "fewer than one expert"
    if np.isinf(number):
        return f"more than {most} experts"
    return f"the mean of {number:.1f} experts"


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def experts(predictions: Given, annotations: Annotations, **how: Unpack[How]) -> Experts:
    """Score experts as if they were models, and models next to them.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators with ids.
    **how
        See `equipoise.stability._asked.Asked`; replicates resample items.
    """
    _refuse(annotations)
    found = study(predictions, annotations, asked(how))
    _refuse_metric(found)
    people, notices = _people(found, annotations)
    number = len(annotations.annotators or ())
    heard = [voices(one, people, number, found) for one in found.subjects]
    items, scores = _against_others(heard, found)
    own, models = scores[:, 0], scores[:, 1:]
    gap = models - own[:, None]
    mean = known_mean(gap)
    paired = pairs(heard, found)
    return Experts(
        task=found.task,
        metric=found.metric.name,
        better=found.metric.better,
        labels=found.asked.labels,
        models=found.models,
        level=found.asked.level,
        experts=tuple((annotations.annotators or ())[p] for p in people),
        items=items,
        model_values=models[..., 0],
        **three("", found.ends(own[:, 0], own[:, 1:]), own[:, 0], first="values"),
        **three("gap", found.ends(gap[..., 0], gap[..., 1:], difference=True), gap[..., 0]),
        **three("mean_gap", found.ends(mean[:, 0], mean[:, 1:], difference=True), mean[:, 0]),
        **paired,
        notices=(*found.notices, *notices),
    )


def _against_others(heard: list[Voices], found: Study) -> tuple[Ints, Floats]:
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


def _people(found: Study, annotations: Annotations) -> tuple[Ints, list[str]]:
    """The experts with votes, and what the user should know about the comparison."""
    load = np.zeros(len(annotations.annotators or ()), dtype=np.int64)
    for one in found.subjects:
        assert one.question.votes is not None
        who = one.question.votes.annotator
        load += np.bincount(who[who >= 0], minlength=len(load))
    active = np.flatnonzero(load)
    if len(active) < 3:
        raise InputError(
            "experts", f"{len(active)} annotators with votes", "at least three",
            "compare annotators by their agreement instead",
        )  # fmt: skip
    people = np.sort(active[np.argsort(-load[active], kind="stable")[:MOST]])
    said = []
    if len(active) > MOST_PAIRED:
        said.append(
            f"Of {len(active):,} annotators the {len(people)} with most votes are scored, and "
            f"the {MOST_PAIRED} with most votes are compared pair by pair."
        )
    if found.metric.labels == "classes":
        said.append(
            f"Experts answer yes or no, models give scores: {found.metric.title} rewards the "
            "finer scale. Accuracy compares like with like."
        )
    return people, said


def _refuse(annotations: Annotations) -> None:
    if annotations.annotators is None or len(annotations.annotators) < 3:
        number = len(annotations.annotators or ())
        got = "anonymous votes" if annotations.annotators is None else f"{number} annotators"
        raise InputError(
            "experts", got, "at least three annotators with ids",
            "look at agreement instead: krippendorff_alpha does not ask who voted",
        )  # fmt: skip
    if annotations.kind in ("interval", "ranking"):
        raise InputError(
            "experts", f"annotations of kind {annotations.kind}", "one label per vote",
            "turn them into a yes/no question with against() or at_least()",
        )  # fmt: skip


def _refuse_metric(found: Study) -> None:
    several = len(found.subjects[0].question.classes) > 1
    if several and found.metric.labels != "distribution":
        raise InputError(
            f"experts, metric {found.metric.name}", "single votes for one of several classes",
            "a metric of class distributions", "choose accuracy, or ask about one class",
        )  # fmt: skip
