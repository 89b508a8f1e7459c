"""Rules: scores of a predicted distribution, one number per item, averaged over items.

A rule says what a prediction loses if the truth is each class. With label distributions every
vote is scored and the scores are averaged (``expected``), or the distribution itself is
compared (``plug_in``), which is smaller by the votes' own spread and, with few votes, too large
by their noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from equipoise.arrays import Floats, PerItem, choice
from equipoise.metrics._distributions import (
    PerItemScore,
    checked_distributions,
    expected_loss,
    itself,
    mean_finish,
    mean_influence,
    mean_reduce,
)
from equipoise.metrics._metric import Metric, parameters

SOFT = ("expected", "plug_in")


@dataclass(frozen=True, slots=True)
class Rule:
    """What sets one score of distributions apart from the others.

    Attributes
    ----------
    name, title, definition, bounds, ordered, proper, topic, infinite, references
        As in `Metric`; lower is better for all of them.
    losses
        ``losses(predicted)`` takes (items, classes) and returns, in the same shape, the score
        if the truth were each class.
    distance
        ``distance(labels, predicted)`` scores a label distribution as it is; labels are
        (classes, items, ...), the result (items, ...).
    """

    name: str
    title: str
    definition: str
    bounds: tuple[float, float]
    losses: Callable[[Floats], Floats]
    distance: PerItemScore
    ordered: bool = False
    proper: bool = True
    topic: str = "Proper scores of probabilities"
    infinite: str = ""
    references: tuple[str, ...] = ()

    def parts(self, soft: str) -> tuple[Callable[[Floats], Floats], PerItemScore]:
        """What is prepared of a prediction, and the score of an item, for a kind of label."""
        choice(f"{self.name}, soft", soft, SOFT)
        if soft == "expected":
            return self.losses, expected_loss
        return itself, self.distance


def rule_per_item(rule: Rule, y_true: Any, probabilities: Any, *, soft: str) -> PerItem:
    """Score of every item, shape (items,)."""
    prepare, score = rule.parts(soft)
    labels, predicted = checked_distributions(y_true, probabilities)
    return np.asarray(score(labels.T, prepare(predicted)))


def rule_metric(rule: Rule, soft: str) -> Metric:
    """Make the metric for the engine."""
    prepare, score = rule.parts(soft)
    how = "averaged over votes" if soft == "expected" else "taken to the shares of votes"
    return Metric(
        name=parameters(rule.name, {"soft": "expected"}, {"soft": soft}),
        title=rule.title,
        soft_title=rule.title,
        definition=f"{rule.definition} With several votes it is {how}.",
        family=f"{rule.name} {soft}",
        prepare=prepare,
        reduce=mean_reduce(score),
        finish=mean_finish,
        better="lower",
        bounds=rule.bounds,
        needs="probabilities",
        ordered=rule.ordered,
        labels="distribution",
        influence=mean_influence(score),
        per_item=partial(rule_per_item, rule, soft=soft),
        topic=rule.topic,
        proper=rule.proper,
        infinite=rule.infinite,
        references=rule.references,
    )
