"""Ambiguity: how sure the truth of each item is, and which items are least so.

The certainty of an item is the chance that its likeliest most plausible class is the most
plausible one; see `equipoise.plausibilities`. For an evaluation it is that of the Dirichlet
posterior of the votes, which needs no draws.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from equipoise.analyses.certainty import SURE, sorted_points
from equipoise.arrays import Floats, Ints
from equipoise.ballots import Ballots
from equipoise.evaluation.questions import Question
from equipoise.laws import Dirichlet
from equipoise.plausibilities import Plausibilities

BINS = 20
MOST, LEAST = 10, 3  # ambiguous items that are named; those above the threshold only to fill
CLASSES = 5  # plausible classes named per item
VOTERS = 60  # votes on an item up to which it is told who gave them


def certainty_row(made: Plausibilities, sizes: Ints) -> dict[str, Any]:
    """Spread of the certainties, and the items that are least certain.

    Bins of the histogram are closed on the right; ``below`` counts items below the threshold.
    """
    certainty, entropy = made.certainty, made.entropy
    bins = np.clip(np.ceil(certainty * BINS - 1e-9).astype(np.intp) - 1, 0, BINS - 1)
    return {
        "task": made.task,
        "method": made.method,
        "items": len(made.items),
        "classes": len(made.classes),
        "mean": float(certainty.mean()),
        "threshold": SURE,
        "below": int((certainty < SURE).sum()),
        "histogram": {
            "edges": np.arange(BINS + 1) / BINS,
            "counts": np.bincount(bins, minlength=BINS),
            "below": np.bincount(bins[certainty < SURE], minlength=BINS),
        },
        "curve": sorted_points(certainty),
        "ambiguous": [
            {
                "item": made.items[i],
                "certainty": float(certainty[i]),
                "entropy": float(entropy[i]),
                "votes": int(sizes[i]),
                **_plausible(made, int(i)),
            }
            for place, i in enumerate(ranked(certainty, entropy)[:MOST])
            if place < LEAST or certainty[i] < SURE
        ],
    }


def ranked(certainty: Floats, entropy: Floats) -> Ints:
    """Items from the least to the most certain; ties by entropy, then as they stand."""
    return np.lexsort((-entropy.round(9), certainty.round(9)))


def _plausible(made: Plausibilities, i: int) -> dict[str, Any]:
    """The most plausible classes of an item, and what is left for all others together."""
    entries = slice(int(made.start[i]), int(made.start[i + 1]))
    mean, label = made.mass[:, entries].mean(axis=0), made.label[entries]
    order = np.argsort(-mean, kind="stable")[:CLASSES]
    shown = [
        {"class": made.classes[label[k]], "mass": float(mean[k])} for k in order if mean[k] > 0
    ]
    return {
        "plausible": shown,
        "others": max(0.0, 1.0 - sum(one["mass"] for one in shown)),
    }


def voted(votes: Ballots, names: tuple[Sequence[str], Sequence[str]], i: int) -> dict[str, Any]:
    """Votes for each class on one item, most first; of few votes, also who gave them."""
    classes, people = names
    first, stop = int(votes.start[i]), int(votes.start[i + 1])
    entries = np.flatnonzero((votes.vote >= first) & (votes.vote < stop))
    total = np.bincount(votes.label[entries], votes.share[entries], len(classes))
    order = [k for k in np.argsort(-total, kind="stable") if total[k] > 0]
    counts = [{"class": classes[k], "votes": float(total[k])} for k in order]
    if people and stop - first <= VOTERS:
        for one, k in zip(counts, order, strict=True):
            who = votes.annotator[votes.vote[entries[votes.label[entries] == k]]]
            one["who"] = [people[a] if a >= 0 else "known truth" for a in who]
    return {"counts": counts}


def vote_certainty(question: Question, people: Sequence[str]) -> dict[str, Any] | None:
    """Certainties by the Dirichlet posterior of the votes; None where there are no votes."""
    votes = question.votes
    if votes is None:
        return None
    row = certainty_row(vote_posterior(question, votes), votes.sizes)
    for one in row["ambiguous"]:
        place = question.items.index(one["item"])
        one |= voted(votes, (question.answers, people), place)
    return row


def vote_posterior(question: Question, votes: Ballots) -> Plausibilities:
    """Dirichlet (reliability 1, prior 1) of the votes of a question; gold items are settled.

    A rating between 0 and 1 is that share of a vote for yes, the rest of it for no.
    """
    vote, label, share = votes.vote, votes.label, votes.share
    if len(question.classes) == 1:
        yes, number = question.masses[0], np.arange(len(votes.weight))
        vote, label = np.tile(number, 2), np.repeat([0, 1], len(number))
        share = np.concatenate([1 - yes, yes])
    use, gold = share > 0, votes.annotator[votes.start[:-1]] < 0
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)[vote[use]]
    weight = np.where(gold[item], 1.0, votes.weight[vote[use]])
    size = len(question.answers)
    pair, code = np.unique(item * size + label[use], return_inverse=True)
    start = np.searchsorted(pair // size, np.arange(len(gold) + 1))
    prior = np.where(gold, 0.0, 1.0)
    law = Dirichlet(
        np.bincount(code, share[use] * weight) + prior[pair // size],
        prior * (size - np.diff(start)),
    )
    mass, rest = law.mean(start)
    return Plausibilities(
        items=question.items,
        classes=question.answers,
        start=start,
        label=pair % size,
        mass=mass[None],
        rest=rest[None],
        method="Dirichlet (reliability 1, prior 1)",
        task=question.task,
        law=law,
    )
