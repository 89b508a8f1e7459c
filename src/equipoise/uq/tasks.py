"""Tasks: the six things that a score of uncertainty should be good for, as shared questions.

A question is a truth (yes or no of every item and label) and what a method says to it, in a
form that the metrics of `equipoise.metrics` take; labels are the tasks of `equipoise.evaluate`,
whose macro average leaves out labels on which a metric is undefined.

============  ==========================  ==========================  ==========================
question      items                       truth                       what a method says
============  ==========================  ==========================  ==========================
images        clean and other images      1 for the others            image-level score
uncertain     images with an uncertain    1 where this label is the   score of the label
              label, without blanks       uncertain one
correctness   labels that are 0 or 1      the label                   decision at .5, the more
                                                                      confident the lower the
                                                                      score (`confident`)
calibration   labels that are 0 or 1      the label                   mean probability
============  ==========================  ==========================  ==========================

Whether a method is right depends on the method. The truth stays the label, shared by all, and a
score becomes a confidence in the method's own decision: then errors, coverage and risk are
metrics of one prediction, and methods are compared pairwise on the same items.

Examples
--------
>>> confident(np.array([0.9, 0.6, 0.2]), np.array([0.1, 0.7, 0.4]))
array([0.875, 0.625, 0.25 ])
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from equipoise import metrics
from equipoise.inference import mid_ranks
from equipoise.metrics import Metric, named
from equipoise.scale.engine import threads
from equipoise.types import Annotations, Ints, Names, PerItem, choice, immutable, joined
from equipoise.uq.decomposition import image_level
from equipoise.uq.predictions import SCORES, MethodRuns, Outputs
from equipoise.uq.training.data import Part

BINNING = ("width", "mass")
SCALE = {"brier_score": 0.5}  # (p - y)^2 of a label, not the sum over yes and no
MIN_ITEMS = 10  # of a bin that counts for MCE
OTHER = {"test": "ood", "val": "val_ood"}


@immutable
class UncertaintyTask:
    """One of the six.

    Attributes
    ----------
    number, key, title, asks
        Number in the literature, name in files, title, and the question as a sentence.
    question
        Which truth it is judged by.
    metrics
        Names of its metrics, the one it is judged by first.
    """

    number: int
    key: str
    title: str
    asks: str
    question: str
    metrics: Names

    @property
    def metric(self) -> Metric:
        """The metric it is judged by."""
        return named(self.metrics[0])

    @property
    def scored(self) -> bool:
        """Whether it judges scores of uncertainty, and not the mean prediction."""
        return self.question != "calibration"


def six_tasks(binning: str = "width") -> tuple[UncertaintyTask, ...]:
    """The tasks, with bins that are equally wide or equally full (`mass`).

    Examples
    --------
    >>> [task.key for task in six_tasks()]
    ['ood', 'uncertain', 'errors', 'abstention', 'ece', 'mce']
    """
    choice("binning", binning, BINNING)
    how = "" if binning == "width" else f":binning={binning}"
    coverage = "accuracy_coverage_area"
    return (
        UncertaintyTask(
            1,
            "ood",
            "bad images",
            "Does it flag images unlike the others?",
            "images",
            ("auroc",),
        ),
        UncertaintyTask(
            2,
            "uncertain",
            "ambiguous findings",
            "Does it flag findings that readers were uncertain about?",
            "uncertain",
            ("auroc",),
        ),
        UncertaintyTask(
            3,
            "errors",
            "own mistakes",
            "Does it flag its own mistakes?",
            "correctness",
            ("error_detection_auroc",),
        ),
        UncertaintyTask(
            4,
            "abstention",
            "abstention",
            "How accurate is what is left when the least sure go to a reader?",
            "correctness",
            (
                f"{coverage}:steps=20",
                coverage,
                "risk_coverage_area",
                "excess_risk_coverage_area",
            ),
        ),
        UncertaintyTask(
            5,
            "ece",
            "calibration",
            "Are its probabilities right on average?",
            "calibration",
            (f"expected_calibration_error{how}", "brier_score", "log_score"),
        ),
        UncertaintyTask(
            6,
            "mce",
            "worst-bin calibration",
            "How far off are its probabilities where they are worst?",
            "calibration",
            (f"maximum_calibration_error{how}:min_items={MIN_ITEMS}",),
        ),
    )


class LabelQuestion(NamedTuple):
    """A yes/no question: the label, its items (places in the question), and their truth."""

    label: str
    place: int
    rows: Ints
    truth: PerItem


@immutable(eq=False)
class Question:
    """The truth of one question on one part.

    Attributes
    ----------
    name, part
        Which question, of ``test`` or ``val``.
    items, groups
        Names of everything it asks about, and the patient of each, if known.
    labels
        One yes/no question each.
    image
        How image-level scores are made.
    blank
        Labels that nothing is asked about.
    reason
        Why there is nothing to ask; empty where there is.
    """

    name: str
    part: str
    items: Names
    groups: Names | None
    labels: tuple[LabelQuestion, ...]
    image: str = "mean"
    blank: Names = ()
    reason: str = ""

    def truth(self) -> Annotations:
        """The truth as adjudicated gold, one task per label."""
        item = np.concatenate([label.rows for label in self.labels])
        task = np.repeat(
            np.arange(len(self.labels)), [len(label.rows) for label in self.labels]
        )
        group = None
        if self.groups is not None:
            group = np.unique(np.array(self.groups), return_inverse=True)[1]
            group = None if len(np.unique(group)) == len(group) else group
        names = None if group is None else tuple(np.unique(np.array(self.groups)).tolist())
        return Annotations(
            kind="binary",
            items=self.items,
            classes=("0", "1"),
            tasks=tuple(label.label for label in self.labels),
            item=item,
            task=task,
            label=np.concatenate([label.truth for label in self.labels]).astype(np.intp),
            is_gold=np.ones(len(item), dtype=bool),
            group=group,
            groups=names,
        )

    def values(
        self, outputs: Mapping[str, Outputs], score: str, question: LabelQuestion
    ) -> PerItem:
        """What a run says to one of the labels, by a score; of calibration none is needed."""
        if self.name == "images":
            both = [outputs[part].scores[score] for part in (self.part, OTHER[self.part])]
            return np.concatenate([image_level(scores, self.image) for scores in both])
        rows, place = question.rows, question.place
        mean: PerItem = outputs[self.part].mean[rows, place]
        if self.name == "calibration":
            return mean
        uncertainty: PerItem = outputs[self.part].scores[score][rows, place]
        return uncertainty if self.name == "uncertain" else confident(mean, uncertainty)


def confident(probability: PerItem, uncertainty: PerItem) -> PerItem:
    """Probabilities with the same decision at .5, surer the lower the uncertainty.

    Only the order of uncertainties matters; equal ones stay equal. A probability of .5 decides
    for no.
    """
    confidence = 1 - mid_ranks(uncertainty) / (len(uncertainty) + 1)
    return np.where(probability > 0.5, 0.5 + confidence / 2, 0.5 - confidence / 2)


def ask(name: str, study: MethodRuns, part: str = "test") -> Question:
    """Build the truth of a question; with a reason where there is nothing to ask."""
    images = study.labels.get(part)
    if images is None or images.labels is None:
        return Question(name, part, (), None, (), reason=f"no labels of {part} images")
    if name == "images":
        return _images_question(study, images, part)
    labels = images.labels
    if name == "uncertain":
        rows, present = (labels == -1).any(axis=1), ~np.isnan(labels)
        eligible, truth = present & rows[:, None], labels == -1
        reason = "" if rows.any() else "no uncertain label (-1) anywhere"
    else:
        eligible, truth = (labels == 0) | (labels == 1), labels == 1
        reason = "" if eligible.any() else "no label that is 0 or 1"
    questions = [
        LabelQuestion(
            label, k, np.flatnonzero(eligible[:, k]), truth[eligible[:, k], k].astype(float)
        )
        for k, label in enumerate(study.classes)
    ]
    blank = tuple(question.label for question in questions if not len(question.rows))
    some = tuple(question for question in questions if len(question.rows))
    if name == "uncertain" and reason:
        some, blank = (), ()
    return Question(
        name, part, images.items, images.groups, some, study.image, blank=blank, reason=reason
    )


def uncertain_images(question: Question) -> int:
    """How many images a question about labels rests on."""
    return len(np.unique(np.concatenate([label.rows for label in question.labels])))


def _images_question(study: MethodRuns, clean: Part, part: str) -> Question:
    other = study.labels.get(OTHER[part])
    if other is None:
        why = "no other images to tell apart"
        if OTHER[part] in study.lacking:
            who = joined(study.lacking[OTHER[part]], most=3)
            why = f"{who} said nothing of other images"
        return Question("images", part, (), None, (), reason=why)
    items = (*clean.items, *(f"{name} (other)" for name in other.items))
    groups = (*(clean.groups or clean.items), *(other.groups or other.items))
    truth = np.repeat([0.0, 1.0], [len(clean.items), len(other.items)])
    label = LabelQuestion("image", 0, np.arange(len(truth)), truth)
    return Question("images", part, items, groups, (label,), study.image)


def label_values(
    question: Question, outputs: Mapping[str, Outputs], score: str, metric: str
) -> PerItem:
    """A metric on every label, without intervals, (labels,); nan is undefined."""
    name, parameters = metrics.parsed(metric)
    plain: Callable[..., float] = getattr(metrics, name)

    def of_label(label: LabelQuestion) -> float:
        return plain(label.truth, question.values(outputs, score, label), **parameters)

    return np.array(threads().map(of_label, question.labels))


def scores_of(outputs: Outputs) -> list[str]:
    """The scores that a run has, in the usual order."""
    return [name for name in SCORES if name in outputs.scores]
