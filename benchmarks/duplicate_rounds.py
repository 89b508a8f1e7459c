"""Near-duplicate rounds: judgements and seconds as the number of items grows.

Groups have the sizes of a real data set (most of them pairs and triplets, a few larger), in 64
features. Against the rounds stand the judgements of a list that somebody works through: all
pairs of every item with its k nearest neighbours, k large enough for the largest group.
"""

import time

import numpy as np

from benchmarks._clock import heading
from equipoise.clean import Collection
from equipoise.clean.rounds import DuplicateRounds, PairVote

SIZES = (1, 2, 3, 4, 6, 12, 30)
SHARES = (0.80, 0.15, 0.025, 0.015, 0.007, 0.002, 0.001)


def study(items, seed=0):
    """Embeddings and the group of every item."""
    random = np.random.default_rng(seed)
    sizes = random.choice(SIZES, size=items, p=SHARES)
    group = np.repeat(np.arange(items), sizes)[:items]
    centre = random.standard_normal((group.max() + 1, 64), dtype=np.float32)
    rows = centre[group] + 0.05 * random.standard_normal((items, 64), dtype=np.float32)
    return rows, group


def judged(rows, group):
    """All rounds with an oracle; how many pairs were asked, in how many rounds, and the end."""
    names = tuple(f"{place:08d}" for place in range(len(rows)))
    rounds = DuplicateRounds.start(Collection(items=names, embeddings=rows))
    while not rounds.finished:
        same = group[rounds.pairs.first] == group[rounds.pairs.second]
        answers = zip(rounds.names, same, strict=True)
        rounds = rounds.answered(
            [PairVote(name, "oracle", "yes" if yes else "no") for name, yes in answers]
        )
    return rounds


def main():
    heading("near-duplicate rounds against working through lists of neighbours")
    for items in (1_000, 4_000, 16_000, 64_000):
        rows, group = study(items)
        start = time.perf_counter()
        end = judged(rows, group)
        seconds = time.perf_counter() - start
        asked = sum(len(one.pairs) for one in end.rounds)
        size = np.bincount(group)
        found = sum(map(len, end.groups)) == size[size > 1].sum()
        listed = items * (size.max() - 1) // 2
        print(
            f"   {items:,} items: {asked:,} judgements ({asked / items:.2f} per item) in "
            f"{len(end.rounds)} rounds, {seconds:.1f} s; at least {listed:,} from lists of "
            f"{size.max() - 1} neighbours; {'all' if found else 'not all'} groups found"
        )


if __name__ == "__main__":
    main()
