r"""Experts as competitors: where the models stand among the people who set the truth.

Three questions, each with the metric of the evaluation and intervals that resample items:

- *The human range.* Every expert is scored against the mean vote of the others on the items
  that expert rated; every model on the same items against the same labels.
- *Better than a colleague?* For two experts e and f on the items both rated,

  .. math:: P = P_{e \ne f}\big(M(\text{model}, e) > M(f, e)\big)

  is the chance that the model agrees with a random expert better than another expert does;
  ties count half. Its interval allows for the few experts: see `equipoise.analyses._worth`.
- *Worth how many experts?* The k for which the mean vote of k random others agrees with a
  held-out expert as well as the model does, interpolated between whole numbers; 0 stands for
  fewer than one, infinity for more than there are. Numbers of experts who do no better than
  fewer do, such as two who can only tie, are passed over: see `equipoise.analyses._worth`.
  One held-out expert is another truth than the mean of several, so that the value of a model
  against it is not the one among the human range; it is given beside it.
  Up to nine experts all groups of k are taken, so that nothing depends on the seed but the
  intervals; of larger panels different groups are drawn: see
  `equipoise.analyses._groups_of_experts`.

An expert's vote counts as a certain prediction. Metrics of order reward the finer scale of a
model's scores, and scores of probabilities that a model can hedge; metrics of decisions, such
as accuracy, compare like with like, and the finding says when the metric does not. With several
classes only metrics of whole distributions make sense of single votes.

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

from equipoise.analyses._compared import caveat, compared, refuse, refuse_metric
from equipoise.analyses._duels import bench
from equipoise.analyses._expert_words import (
    Standing,
    Three,
    difference,
    pairs_won,
    passing,
    worth_range,
    worth_words,
)
from equipoise.analyses._groups_of_experts import drawn_sizes
from equipoise.analyses._voices import against_others, known_mean, three, voices
from equipoise.analyses._worth import passed_over, standing
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.scoring import Given, freeze, study
from equipoise.analyses.words import capital
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, Ints
from equipoise.evaluation.given import given_annotations
from equipoise.metrics import titled
from equipoise.ranks import goodness


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
    pairs, superior, superior_low, superior_high
        Chance that the model agrees with an expert better than another expert, and of how
        many ordered pairs of experts, (models,).
    worth, worth_low, worth_high
        The model's worth in experts, (models,).
    sizes, crowd, crowd_low, crowd_high
        Numbers of experts, and the metric of their mean vote against a held-out one, (sizes,).
    held_out, held_out_low, held_out_high
        Each model against the held-out expert on the same items as those groups, so that the
        worth is where this meets `crowd`, (sizes, models).
    every_group
        Whether all groups of experts were taken, so that no number depends on a draw of them.
    caveat
        Why the metric favours models over experts, as a sentence; empty where it does not.
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
    pairs: Ints
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
    held_out: Floats
    held_out_low: Floats
    held_out_high: Floats
    every_group: bool
    caveat: str = ""
    notices: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        freeze(self)

    def worth_words(self, model: int) -> str:
        """A model's worth in experts, in words."""
        return worth_words(float(self.worth[model]), int(self.sizes[-1]))

    def worth_range(self, model: int) -> str:
        """The interval of a model's worth, in words."""
        return worth_range(self._standing(model).worth, int(self.sizes[-1]))

    def superior_words(self, model: int) -> str:
        """In how many pairs of experts a model beats the colleague, in words."""
        return pairs_won(self._standing(model).superior, int(self.pairs[model]))

    def _standing(self, model: int) -> Standing:
        def of(*three: Floats) -> Three:
            value, low, high = (float(one[model]) for one in three)
            return value, low, high

        gap = of(self.mean_gap, self.mean_gap_low, self.mean_gap_high)
        return Standing(
            gap=gap if self.better == "higher" else (-gap[0], -gap[2], -gap[1]),
            superior=of(self.superior, self.superior_low, self.superior_high),
            worth=of(self.worth, self.worth_low, self.worth_high),
            most=int(self.sizes[-1]),
            scores=self.held_out[:, model],
            crowd=self.crowd,
        )

    @property
    def finding(self) -> str:
        """What came out for the model that agrees best, as a sentence or two."""
        sign = 1 if self.better == "higher" else -1
        score = titled(self.metric, self.labels)
        if np.isnan(self.mean_gap).all():
            return f"{capital(score)} of models and experts is undefined."
        m = int(np.nanargmax(sign * self.mean_gap))
        known = self.gap[:, m][~np.isnan(self.gap[:, m])]
        above = int((sign * known > 0).sum())
        gap = self.mean_gap[m], self.mean_gap_low[m], self.mean_gap_high[m]
        return (
            f"By {score} {self.models[m]} agrees with the other experts better than "
            f"{above} of {len(known)} experts do (against the average expert "
            f"{difference(*map(float, gap))}), and with an expert better than a colleague does "
            f"{self.superior_words(m)}. {self._standing(m).said()} {self.caveat}"
        ).rstrip()

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
                "held_out": float(self.held_out[0, m]),
                "held_out_low": float(self.held_out_low[0, m]),
                "held_out_high": float(self.held_out_high[0, m]),
                "gap": float(self.mean_gap[m]),
                "gap_low": float(self.mean_gap_low[m]),
                "gap_high": float(self.mean_gap_high[m]),
                "pairs": int(self.pairs[m]),
                "superior": float(self.superior[m]),
                "superior_low": float(self.superior_low[m]),
                "superior_high": float(self.superior_high[m]),
                "worth": float(self.worth[m]),
                "worth_low": float(self.worth_low[m]),
                "worth_high": float(self.worth_high[m]),
                "worth_words": self.worth_words(m),
                "worth_range": self.worth_range(m),
                "worth_doubts": "; ".join(self._standing(m).doubts()),
            }
            for m, model in enumerate(self.models)
        ]


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def experts(
    predictions: Given, annotations: Annotations, **how: Unpack[AnalysisKeywords]
) -> Experts:
    """Score experts as if they were models, and models next to them.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators with ids.
    **how
        See `equipoise.analyses.options.AnalysisOptions`; replicates resample items.
    """
    refuse(given_annotations(annotations))
    found = study(predictions, annotations, as_options(how))
    refuse_metric(found)
    people, paired, notices = compared(found, annotations)
    number = len(annotations.annotators or ())
    heard = [voices(one, people, number, found) for one in found.subjects]
    items, scores = against_others(heard, found)
    own, models = scores[:, 0], scores[:, 1:]
    gap = models - own[:, None]
    mean = known_mean(gap)
    stood = standing([bench(one, paired, number, found) for one in found.subjects], found)
    crowd = goodness(stood["crowd"], found.metric.better)
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
        **stood,
        every_group=not drawn_sizes(len(paired)),
        caveat=caveat(found),
        notices=(*found.notices, *notices, *passing(passed_over(stood["sizes"], crowd))),
    )
