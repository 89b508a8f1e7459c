"""Methods: what was looked at and how, in the words of a paper, for the report of a study.

Analyses say their own part; here is what they share: the data, the labels, the groups of items
and the intervals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from equipoise.metrics import Metric, hard_labels_rule
from equipoise.study import MACRO, Evaluation
from equipoise.study.analyses.study import Study, StudyOptions
from equipoise.study.analyses.words import IN_FULL, as_notices
from equipoise.types.annotations import Annotations
from equipoise.types.findings import Report
from equipoise.types.findings.record import cite
from equipoise.types.numbers import count, exact_percent

_OF_VALUES = {
    "two-way": ("owen2007", "cameron2011"),
    "mrmc": ("obuchowski1995", "hillis2007"),
}
_OF_PAIRS = ("romano2005", "mogstad2024")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyData:
    """How much was looked at: what was scored, and how many items were left out."""

    items: int
    left_out: int
    votes: int
    annotators: int
    groups: int
    scored_groups: int

    @classmethod
    def of(cls, evaluation: Evaluation, annotations: Annotations) -> "StudyData":
        """Count items, votes, people who are named, and groups."""
        scored = np.unique(np.concatenate([one.place for one in evaluation.questions]))
        votes = [one.votes for one in evaluation.questions if one.votes]
        people = {int(code) for one in votes for code in np.unique(one.annotator)} - {-1}
        group = annotations.group
        return cls(
            items=len(scored),
            left_out=len(annotations.items) - len(scored),
            votes=sum(int(one.sizes.sum()) for one in votes),
            annotators=0 if annotations.annotators is None else len(people),
            groups=0 if group is None else len(np.unique(group)),
            scored_groups=0 if group is None else len(np.unique(group[scored])),
        )

    def sentence(self, what: str, tasks: Sequence[str], metrics: Sequence[Metric]) -> str:
        """Begin the methods: what was done on how much data, by which metrics."""
        single = [task for task in tasks if task != MACRO]
        more = f" ({count(self.left_out)} more had no votes or not the scores of every model)"
        people = f" of {count(self.annotators)} annotators" if self.annotators else ""
        titles = [f"{one.title}{cite(*one.references)}" for one in metrics]
        first = "; analyses of a single metric take the first" if len(titles) > 1 else ""
        return (
            f"We {what} on {count(self.items)} items{more * bool(self.left_out)}"
            f"{f' and {len(single)} tasks' * (len(single) > 1)} with {count(self.votes)} votes"
            f"{people}, by {', '.join(titles)}{first}."
        )

    def groups_sentence(self) -> str:
        """Groups are drawn as wholes wherever items are drawn; nothing without groups."""
        if not self.groups:
            return ""
        some = f", {count(self.scored_groups)} of them with scored items"
        return (
            f"Items belong to {count(self.groups)} groups, which were resampled as wholes"
            f"{some * (self.scored_groups < self.groups)}."
        )


def study_report(study: Study) -> Report:
    """What every report of a study begins with: models, settings, notices and sources."""
    asked, evaluation = study.options, study.evaluation
    every = (key for metric in evaluation.metrics for key in metric.references)
    return Report(
        title="",
        findings=(),
        models=evaluation.models,
        settings=(
            ("Labels", asked.labels),
            ("Resamples", count(study.replicates)),
            ("Level of the intervals", exact_percent(asked.level)),
            ("Seed", str(asked.seed)),
        ),
        notices=as_notices(evaluation.notices),
        references=tuple(dict.fromkeys(every)),
    )


def labels_sentence(
    annotations: Annotations, metrics: Sequence[Metric], asked: StudyOptions
) -> str:
    """How labels are made of votes."""
    classes = 1 if annotations.kind == "binary" else len(annotations.classes)
    kinds = [metric.labels for metric in metrics]
    hard = hard_labels_rule(kinds, classes=classes, ties=asked.ties)
    needed = f"Where one kind is needed, it is {asked.labels}."
    return f"Soft labels: mean vote; hard labels: {hard}. {needed}"


def interval_sources(evaluation: Evaluation) -> tuple[str, ...]:
    """Where intervals and the separation of models come from."""
    return (*_OF_VALUES[evaluation.inference], *_OF_PAIRS)


def intervals_sentence(evaluation: Evaluation, *, sources: bool = True) -> str:
    """How intervals are made and models separated, and where shares of resamples come from."""
    plan = evaluation.plan
    both = (_OF_VALUES[evaluation.inference], _OF_PAIRS)
    own, pairs = (cite(*keys) if sources else "" for keys in both)
    return (
        f"{exact_percent(evaluation.level)} intervals of values and of paired differences are "
        f"{evaluation.interval}, for {evaluation.population.whom}{own}, each of one number "
        "by itself; models are separated, and ranks possible, by step-down max-t over all "
        f"pairs{pairs}. Shares of resamples are from {count(plan.replicates)} "
        f"resamples of {IN_FULL[plan.kind]} (seed {plan.seed})."
    )


def computed() -> str:
    """With which version."""
    return f"Computed with equipoise {version('equipoise')}."
