"""Label rules: does the verdict depend on how many votes make a positive?

Variants score everybody against the hard labels of one threshold on the share of yes (of the
probability, where the truth is a model): an item is positive when its share lies above it.
Thresholds go from 0.35 to 0.65; those that give the same labels are one variant, and a tie
under the strict majority is negative. Changes are against the labels of that majority, which
are taken as known.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from equipoise.study.questions.answers import Question, Variant
from equipoise.study.variants import Contest
from equipoise.types import ONE_CLASS, Bools, Column, Floats, InputError, PerItem, chosen, hint

MAJORITY = 0.5  # to be exceeded: a tie is negative
REACH, STEPS = 0.15, 5  # how far thresholds go on either side, and in how many steps
TIE = 1e-12  # shares that differ by rounding alone are equal
FACTS = (Column("positives", "positives", "count"), Column("prevalence", "share", "percent"))


def called(values: PerItem, threshold: float, *, strict: bool = False) -> Bools:
    """Which items are positive: at the threshold and above, or strictly above it.

    >>> called(np.array([0.4, 0.5, 0.6]), 0.5), called(np.array([0.5]), 0.5, strict=True)
    (array([False,  True,  True]), array([False]))
    """
    return np.asarray(values > threshold + TIE if strict else values >= threshold - TIE)


def labels_around(
    contest: Contest,
    values: Sequence[Floats],
    centre: float,
    reach: float,
    *,
    strict: bool = False,
) -> Iterator[Variant]:
    """The contest against hard labels, by what is above each threshold of an even grid.

    `values` are shares of yes, or probabilities, of the items of every task. The labels of the
    centre are what others are compared with; what lies outside of [0, 1] is left out.
    """
    same: dict[bytes, list[float]] = {}
    for step in (centre + np.arange(-STEPS, STEPS + 1) * reach / STEPS).tolist():
        if 0 <= step <= 1:
            labels = [called(shares, step, strict=strict) for shares in values]
            same.setdefault(np.concatenate(labels).tobytes(), []).append(step)
    ends = np.cumsum([len(shares) for shares in values])[:-1]
    middle = contest.with_labels([called(shares, centre, strict=strict) for shares in values])
    for key, span in same.items():
        yes = np.frombuffer(key, dtype=bool)
        both = dict.fromkeys(chosen(round(end, 4)) for end in (span[0], span[-1]))
        facts = {"positives": int(yes.sum()), "prevalence": float(yes.mean())}
        variant = contest.with_labels(np.split(yes, ends))
        yield Variant(" to ".join(both), variant, against=middle, facts=facts)


def labels_by_share(contest: Contest) -> Iterator[Variant]:
    """The contest against the labels of other majorities than one half."""
    if any(len(task.question.classes) > 1 for task in contest.tasks):
        do = hint("ask about one class: {}", ONE_CLASS)
        raise InputError("threshold sweep", "several classes", "a yes/no question", do)
    shares = [task.question.shares[0] for task in contest.tasks]
    yield from labels_around(contest, shares, MAJORITY, REACH, strict=True)


QUESTION = Question(
    key="threshold_sweep",
    about="how many votes make a positive",
    variants=labels_by_share,
    head="positive above a share of",
    over="label rules",
    at="where a share of yes above {} makes a positive",
    reference="the labels of the strict majority",
    annotators=False,
    facts=FACTS,
    note="An item counts as positive when more than this share of its votes says yes; at 0.5 "
    "that is the strict majority, and a tie is negative. Labels change in steps, because a "
    "share of a few votes has few values; thresholds that give the same labels are one row.",
    methods="The share of positive votes that an item must exceed to be positive was moved "
    "around one half [@groger2025].",
    references=("groger2025",),
)
