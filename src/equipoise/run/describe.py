"""Describe the truth: who voted how, and how far the votes agree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.arrays import Floats
from equipoise.ballots import Ballots
from equipoise.evaluation.questions import Question

BINS = 20


def truth_row(question: Question) -> dict[str, Any]:
    """Numbers about one task's truth.

    Bins of the histogram are closed on the right, so that a share of exactly one half lies
    below the majority. With several classes, ``positives_hard`` counts items with a strict
    majority, and ``mean_soft`` and the histogram speak of the largest share.
    """
    top = question.shares.max(axis=0)
    sizes = np.zeros(len(top)) if question.votes is None else question.votes.sizes
    place = np.clip(np.ceil(top * BINS - 1e-9).astype(np.intp) - 1, 0, BINS - 1)
    sure = (top == 1.0) | ((top == 0.0) & (len(question.classes) == 1))
    return {
        "task": question.task,
        "items": len(question.items),
        "from_votes": question.votes is not None,
        "votes": int(sizes.sum()),
        "votes_per_item": [int(sizes.min()), float(np.median(sizes)), int(sizes.max())],
        "positives_hard": int(question.hard.max(axis=0).sum()),
        "mean_soft": float(top.mean()),
        "unanimous": int(sure.sum()),
        "no_majority": question.undecided,
        "single_vote": question.single,
        "classes": list(question.classes),
        "histogram": {
            "edges": np.arange(BINS + 1) / BINS,
            "counts": np.bincount(place, minlength=BINS),
        },
    }


def annotator_rows(questions: Sequence[Question], names: Sequence[str]) -> list[dict[str, Any]]:
    """Votes, base rate and agreement with the others, by task and annotator.

    Where durations are known, also the median one.
    """
    rows = []
    for question in questions:
        if question.votes is None or not names:
            continue
        votes = question.votes
        counted = votes.annotator >= 0
        number = np.bincount(votes.annotator[counted], minlength=len(names))
        yes = (
            question.masses[0] if len(question.classes) == 1 else np.full(len(counted), np.nan)
        )
        rate = _mean_by(votes, yes, len(names))
        agreement = _mean_by(votes, agreement_with_others(question), len(names))
        medians = None if question.times is None else question.times.medians()
        rows += [
            {
                "task": question.task,
                "annotator": name,
                "votes": int(number[a]),
                "base_rate": float(rate[a]),
                "agreement": float(agreement[a]),
                **({} if medians is None else {"median_ms": medians.get(a)}),
            }
            for a, name in enumerate(names)
            if number[a]
        ]
    return rows


def agreement_with_others(question: Question) -> Floats:
    """Share of the item's other votes that say the same, shape (votes,); nan for lone votes.

    For a yes/no question with vote y and mean o of the others: y o + (1 - y)(1 - o).
    """
    votes = question.votes
    assert votes is not None
    size = np.repeat(votes.sizes, votes.sizes)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    others = np.maximum(size - 1, 1)
    if len(question.classes) == 1:
        yes = question.masses[0]
        rest = (np.bincount(item, yes)[item] - yes) / others
        same = yes * rest + (1 - yes) * (1 - rest)
    else:
        key = item[votes.vote] * len(question.classes) + votes.label
        code = np.unique(key, return_inverse=True)[1]
        entry = votes.share * (np.bincount(code, votes.share)[code] - votes.share)
        same = np.bincount(votes.vote, entry, len(size)) / others
    return np.where(size > 1, same, np.nan)


def _mean_by(votes: Ballots, values: Floats, annotators: int) -> Floats:
    """Mean over each annotator's votes, without undefined ones."""
    use = ~np.isnan(values) & (votes.annotator >= 0)
    number = np.bincount(votes.annotator[use], minlength=annotators)
    total = np.bincount(votes.annotator[use], values[use], annotators)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)
