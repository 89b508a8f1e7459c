"""Describe the truth: how many votes there are, and how far they agree."""

from typing import Any

import numpy as np

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
