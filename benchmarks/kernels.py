"""Every kernel against numpy doing the same for the same replicates: admitted at 5 times.

Kernels of equipoise.kernels.ranking and equipoise.kernels.resampling, at 16,577 items and
128 replicates, one thread. The numpy twin takes one replicate at a time, sorted once,
vectorised over items; its random numbers come from one counter-based stream per
replicate. draw_counts stays below 5 times: it is admitted because its draws do not depend on
chunks or threads and come in the layout that the passes need.
"""

import numpy as np

from benchmarks._clock import best, heading, line
from equipoise.kernels.ranking import (
    class_pairs,
    counter,
    fixed_truths,
    random_ties,
    top_mass,
    varying_truth,
)
from equipoise.kernels.resampling import (
    binomial_shares,
    draw_counts,
    vote_shares,
)
from equipoise.metrics._metric import plain_sums, sort_items

ITEMS, WIDTH, PANEL = 16_577, 128, 10


def ranked(order, truth, counts):
    """Sums of one replicate after another in numpy."""
    for r in range(counts.shape[1]):
        p = truth if truth.ndim == 1 else truth[:, r]
        c = counts[:, r].astype(float)
        plain_sums(order, p, c, c)


def ranking_kernels(random, share, counts):
    order = sort_items(0.5 * share + random.random(ITEMS))
    tied = sort_items(np.round(0.5 * share + random.random(ITEMS), 2))
    wide = np.repeat(share[:, None], WIDTH, axis=1)
    unsure = np.full(ITEMS, 2, dtype=np.uint8)
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, ITEMS + 1))))
    fixed = best(lambda: ranked(order, share, counts))
    varying = best(lambda: ranked(order, wide, counts))
    zero, both = counter(ITEMS), np.stack([share > 0.5, share], axis=1).astype(float)
    line(
        "fixed_truths",
        best(lambda: fixed_truths(*order, both[:, 1:].copy(), counts, zero)),
        fixed,
    )
    hard = best(lambda: ranked(order, both[:, 0], counts))
    two = best(lambda: fixed_truths(*order, both, counts, zero))
    line("fixed_truths, hard and soft", two, fixed + hard)
    ours = best(lambda: varying_truth(*order, (wide, unsure), counts, zero))
    line("varying_truth", ours, varying)
    line("top_mass, k = 1,000", best(lambda: top_mass(*order, wide, counts, 1000)), varying)
    line("class_pairs", best(lambda: class_pairs(*order, wide, wide, counts)), varying)
    line("random_ties", best(lambda: random_ties(*tied, wide, counts, harmonic)), varying)


def drawing_kernels(share, counts):
    key = np.uint64(1)
    votes = (np.arange(PANEL) < np.round(share * PANEL)[:, None]).astype(float)
    start, weight = np.arange(0, ITEMS * PANEL + 1, PANEL), np.ones(ITEMS * PANEL)
    annotator = np.tile(np.arange(PANEL), ITEMS)
    drawn = np.empty((ITEMS, WIDTH))

    def stream(r):
        return np.random.Generator(np.random.Philox(key=[1, r]))

    def numpy_counts():
        for r in range(WIDTH):
            pick = stream(r).integers(0, ITEMS, ITEMS)
            counts[:, r] = np.bincount(pick, minlength=ITEMS)

    def numpy_votes():
        for r in range(WIDTH):
            pick = stream(r).integers(0, PANEL, votes.shape)
            drawn[:, r] = np.take_along_axis(votes, pick, axis=1).mean(axis=1)

    from equipoise.study.truth import VoteDraw
    from equipoise.types import Votes

    entries = np.arange(ITEMS * PANEL)
    ballot = Votes(
        np.arange(ITEMS), start, annotator, weight, entries, votes.ravel().astype(int), weight
    )
    tables = VoteDraw.binomial(ballot, votes.ravel()).tables
    line("draw_counts", best(lambda: draw_counts(key, 0, counts)), best(numpy_counts))
    flat = votes.ravel()
    slow = best(numpy_votes)
    line("vote_shares", best(lambda: vote_shares((start, flat, weight), key, 0, drawn)), slow)
    line("binomial_shares", best(lambda: binomial_shares(tables, key, 0, drawn)), slow)


def main():
    heading(f"kernels, peer numpy {np.__version__}, {ITEMS:,} items x {WIDTH} replicates")
    random = np.random.default_rng(0)
    share = random.binomial(PANEL, random.beta(0.15, 1.2, ITEMS)) / PANEL
    counts = random.poisson(1.0, (ITEMS, WIDTH)).astype(np.uint8)
    ranking_kernels(random, share, counts)
    drawing_kernels(share, counts)


if __name__ == "__main__":
    main()
