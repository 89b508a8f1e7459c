"""GLAD on yes/no votes of the size of three large questions: 506,000 votes, 933 annotators.

Peer: the same coordinate ascent in numpy. The kernel timed is equipoise.kernels.glad.
"""

import numpy as np

from benchmarks._clock import best, heading, line, once
from equipoise import Annotations
from equipoise.aggregate.glad import GladFit, glad

ITEMS, ANNOTATORS, VOTES = 49_731, 933, 506_000


def simulated(items, votes):
    """Votes of annotators of mean ability 1, a few of them worse than chance."""
    random = np.random.default_rng(0)
    b, c = random.normal(0, 3, items), random.normal(1, 0.7, ANNOTATORS)
    item, who = random.integers(0, items, votes), random.integers(0, ANNOTATORS, votes)
    yes = random.random(votes) < 1 / (1 + np.exp(-b[item] * c[who]))
    return Annotations(
        kind="binary",
        items=tuple(map(str, range(items))),
        classes=("no", "yes"),
        annotators=tuple(map(str, range(ANNOTATORS))),
        item=item,
        annotator=who,
        label=yes.astype(int),
    )


def half(own, other, kappa, moments, prior):
    """One half-sweep with bincount; moments are those of the own and of the other side."""
    (_, second), (other_first, other_second) = moments
    square = other_second[other]
    xi = np.sqrt(square * second[own])
    precision = prior[1] + np.bincount(own, np.tanh(xi / 2) / (2 * xi) * square, len(second))
    shift = prior[0] * prior[1] + np.bincount(own, kappa * other_first[other], len(second))
    mean = shift / precision
    return mean, mean**2 + 1 / precision


def plain(votes, sweeps):
    """Coordinate ascent in numpy, with the part of its bound that the votes make."""
    kappa = votes.label - 0.5
    items = (np.zeros(ITEMS), np.ones(ITEMS))
    people = (np.ones(ANNOTATORS), np.full(ANNOTATORS, 1.1))
    for _ in range(sweeps):
        items = half(votes.item, votes.annotator, kappa, (items, people), (0, 1 / 9))
        people = half(votes.annotator, votes.item, kappa, (people, items), (1, 1))
        xi = np.sqrt(items[1][votes.item] * people[1][votes.annotator])
        fit = kappa * items[0][votes.item] * people[0][votes.annotator]
        (fit - np.logaddexp(0.5 * xi, -0.5 * xi)).sum()


def main():
    heading(f"GLAD, {VOTES:,} votes, peer numpy {np.__version__}")
    votes = simulated(ITEMS, VOTES)
    sweeps = 20
    ours = best(lambda: glad(votes, fit=GladFit(0, sweeps)), times=1)
    line(
        f"{sweeps} sweeps and (ours alone) reading the votes",
        ours,
        once(lambda: plain(votes, sweeps)),
    )
    for prior in ("default", "paper"):
        seconds = once(lambda p=prior: glad(votes, prior=p))
        print(f"   prior {prior}, until it stands still: {seconds:.1f} s")
    few = simulated(ITEMS // 10, VOTES // 10)
    fit = GladFit(draws=100, burn_in=100)
    seconds = once(lambda: glad(few, inference="gibbs", fit=fit))
    print(f"   Gibbs, {VOTES // 10:,} votes: {seconds * 5:.1f} s per 1,000 sweeps")


if __name__ == "__main__":
    main()
