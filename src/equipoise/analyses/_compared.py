"""Who is compared as an expert, whom that refuses, and when the metric favours the models."""

import numpy as np

from equipoise.analyses._groups_of_experts import DRAWN, drawn_sizes
from equipoise.analyses.scoring import StudyScorer
from equipoise.analyses.words import counted, joined
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, Ints
from equipoise.metrics import Metric

MOST = 100  # experts scored against the others
MOST_PAIRED = 16  # experts compared pair by pair


def compared(found: StudyScorer, annotations: Annotations) -> tuple[Ints, Ints, list[str]]:
    """The experts with votes, those compared in pairs, and what the user should know."""
    load = found.votes_given(len(annotations.annotators or ()))
    active = np.flatnonzero(load)
    if len(active) < 3:
        raise InputError(
            "experts", f"{counted(len(active), 'annotator')} with votes", "at least three",
            "compare annotators by their agreement instead",
        )  # fmt: skip
    order = active[np.argsort(-load[active], kind="stable")]
    people, paired = np.sort(order[:MOST]), np.sort(order[:MOST_PAIRED])
    said = []
    if len(active) > MOST:
        said.append(f"Of {len(active):,} annotators the {MOST} with most votes are scored.")
    if len(active) > MOST_PAIRED:
        said.append(
            f"Of {len(active):,} annotators the {MOST_PAIRED} with most votes are compared "
            "pair by pair and in groups."
        )
    few = [str(size) for size in drawn_sizes(len(paired))]
    if few:
        said.append(
            f"There are too many groups of {joined(few, 'or')} experts to take all: about "
            f"{DRAWN} of each size were drawn, and the intervals allow for it."
        )
    return people, paired, said


def caveat(found: StudyScorer) -> str:
    """Why the metric favours models over experts, if it does."""
    metric: Metric = found.metric
    if metric.labels == "classes":
        fine = any(
            len(np.unique(scores)) > 2
            for one in found.subjects
            for scores in one.aligned.scores.values()
        )
        why = "experts answer yes or no and models on a finer scale, which it rewards"
        return _flattered(metric, why) if fine else ""
    if metric.family.startswith("decision"):
        return ""
    why = "the experts' votes count as certain and models can hedge, which it rewards"
    return _flattered(metric, why)


def _flattered(metric: Metric, why: str) -> str:
    return f"But {metric.title} flatters the models: {why}. Accuracy compares like with like."


def refuse(annotations: Annotations) -> None:
    """Raise unless at least three people gave labels under their names."""
    if annotations.annotators is None or len(annotations.annotators) < 3:
        number = len(annotations.annotators or ())
        named = counted(number, "annotator")
        got = "anonymous votes" if annotations.annotators is None else named
        raise InputError(
            "experts", got, "at least three annotators with ids",
            "look at agreement instead: krippendorff_alpha does not ask who voted",
        )  # fmt: skip
    if annotations.kind in ("interval", "ranking"):
        raise InputError(
            "experts", f"annotations of kind {annotations.kind}", "one label per vote",
            "turn them into a yes/no question first",
        )  # fmt: skip


def refuse_metric(found: StudyScorer) -> None:
    """Raise unless the metric makes sense of single votes."""
    several = len(found.subjects[0].question.classes) > 1
    if several and found.metric.labels != "distribution":
        raise InputError(
            f"experts, metric {found.metric.name}", "single votes for one of several classes",
            "a metric of class distributions", "choose accuracy, or ask about one class",
        )  # fmt: skip
