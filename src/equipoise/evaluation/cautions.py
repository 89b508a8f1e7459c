"""What a user should be told before trusting an interval: thin votes, small panels, ties."""

from collections.abc import Sequence

from equipoise.arrays import listed
from equipoise.evaluation.questions import Question
from equipoise.resampling import Resampling

FEW_ANNOTATORS = 5
FEW_REPLICATES = 200


def votes_notices(questions: Sequence[Question], plan: Resampling) -> list[str]:
    """Sentences about the votes and the plan, none when all is well."""
    said = []
    undecided = sum(one.undecided for one in questions)
    items = sum(len(one.items) for one in questions)
    if undecided:
        how = "negative" if all(len(one.classes) == 1 for one in questions) else "no class"
        said.append(
            f"{undecided:,} of {items:,} items have no strict majority: "
            f"hard labels count them as {how}."
        )
    single = sum(one.single for one in questions)
    if plan.kind == "votes" and single:
        said.append(
            f"{single:,} of {items:,} items have a single vote; drawing it again changes "
            "nothing, so intervals are too narrow. 'items' counts what the votes cannot."
        )
    if plan.truth == "panel" and plan.annotators < FEW_ANNOTATORS:
        said.append(
            f"The panel has only {plan.annotators} annotators: intervals are rough and tend "
            "to be too narrow."
        )
    if plan.replicates < FEW_REPLICATES:
        said.append(
            f"Only {plan.replicates:,} replicates: intervals are rough; 2,000 is usual."
        )
    if plan.group is not None and not plan.over_items and plan.kind != "influence":
        said.append(
            "The groups of items are not used: items are held fixed. 'items x "
            f"{plan.truth}' redraws whole groups."
        )
    return said


def missing_classes(question: Question, labels: str) -> str:
    """Why a score has no value: which classes no item, or every item, belongs to."""
    if len(question.classes) == 1:
        return "every item is positive, or none is"
    truth = question.hard if labels == "hard" else question.shares
    mass = truth.sum(axis=1)
    empty = [
        name
        for name, one in zip(question.classes, mass, strict=True)
        if one <= 0 or one >= len(question.items)
    ]
    return f"no item, or every item, belongs to class {listed(empty)}"
