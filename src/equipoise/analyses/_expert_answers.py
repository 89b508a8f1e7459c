"""What experts answered of a sample: their one question, on the items that were drawn."""

import numpy as np

from equipoise.analyses._expert_sample import ExpertSample
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.evaluation.questions import Question, questions


def asked(plan: ExpertSample, votes: Annotations) -> tuple[Question, tuple[str, ...]]:
    """The experts' question on the items of the sample."""
    question = questions(votes)[0]
    if len(votes.tasks) > 1 or len(question.classes) > 1:
        raise InputError(
            "experts' votes", f"{len(votes.tasks)} tasks, classes {votes.classes}",
            "one yes/no question",
            "ask about one class: --positive CLASS, in Python Annotations.against",
        )  # fmt: skip
    known = set(plan.items)
    keep = np.array([name in known for name in question.items])
    if not keep.any():
        raise InputError(
            "experts' votes", "no item of the sample", "votes on the items of the plan",
            "check the ids",
        )  # fmt: skip
    outside, missing = int((~keep).sum()), len(plan.items) - int(keep.sum())
    notices = []
    if outside:
        doubt = " (was it drawn with other bins, another seed?)" if missing else ""
        notices.append(f"Left aside votes on {outside:,} items outside the sample{doubt}.")
    if missing:
        notices.append(f"{missing:,} items of the sample have no expert vote yet.")
    return question.kept(keep), tuple(notices)
