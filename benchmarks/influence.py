"""10 million items, one model, five annotators: soft AUROC and AP with their derivatives.

Each is measured in a process of its own, so that peak memory is that of the work and of its
inputs alone. Peers in the same run: one scikit-learn roc_auc_score of the same items, which
gives a value and no interval; numpy's sort of the scores, which knows nothing of items; and
numpy's stable argsort, which is what the radix sort replaces.

What bounds it: every item is moved five times by the sort (three times where scores were 32-bit
numbers) and looked up three times at random by each metric, for its label and for its two
derivatives. These 11 random visits of 8 to 12 bytes cost a cache line each, so the floor is
that of random access, not of bandwidth: the derivatives cost about what three look-ups of
numpy's do, and the sort a hundred copies of the scores in a row, as numpy's sort of the scores
alone does. One thread does it; models are what threads are for.
"""

import sys

import numpy as np
import sklearn

from benchmarks._apart import apart, report
from benchmarks._clock import heading, line, processor

ITEMS, PEOPLE = 10_000_000, 5


def study():
    """Soft labels of five votes, and the scores of a model."""
    random = np.random.default_rng(0)
    score = random.random(ITEMS)
    share = np.zeros(ITEMS)
    for r in range(PEOPLE):  # by annotator, to need no large temporaries
        share += random.random(ITEMS, dtype=np.float32) < 0.04 + 0.02 * r + 0.1 * score**2
    score *= 0.9
    score += 0.1 * random.random(ITEMS)
    return share / PEOPLE, score


def items_alone():
    """Values of both metrics, and what every item and its votes move them by."""
    from equipoise.metrics import named

    share, score = study()
    chosen = [named(name) for name in ("auroc", "average_precision")]

    def both(number):
        for metric in chosen:
            metric.influence(metric.prepare(score[:number])[0], share[:number])

    both(10_000)
    report(lambda: both(ITEMS))


def peer():
    """One hard AUROC."""
    from sklearn.metrics import roc_auc_score

    share, score = study()
    label = share > 0.5
    report(lambda: roc_auc_score(label, score))


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "apart":
        return {"items_alone": items_alone, "peer": peer}[sys.argv[2]]()
    heading(f"influence functions, 10 million items, peer scikit-learn {sklearn.__version__}")
    print(f"   both with derivatives: {apart('benchmarks.influence', 'apart', 'items_alone')}")
    theirs = apart("benchmarks.influence", "apart", "peer")
    print(f"   peer, one hard AUROC without interval: {theirs}")
    sorting()
    return None


def sorting():
    """The kernels against numpy: the sort, and the derivatives against looking items up."""
    from equipoise.kernels.influence import auroc_influence, precision_influence
    from equipoise.kernels.ranking import falling

    print(f"   kernels, processor time, peer numpy {np.__version__}")
    random = np.random.default_rng(0)
    score, share = random.random(ITEMS), random.integers(0, 6, ITEMS) / 5
    single = score.astype(np.float32).astype(np.float64)
    falling(score[:10_000])
    ours = processor(lambda: falling(score))
    line("sort", ours, processor(lambda: np.argsort(-score, kind="stable")))
    line("sort of 32-bit scores", processor(lambda: falling(single)), ours)
    line("sort, peer np.sort of scores alone", ours, processor(lambda: np.sort(score)))
    floor = processor(score.copy, times=3)
    print(
        f"   a copy of the scores: {floor:.3f} s; the sort takes {ours / floor:.0f} times that"
    )
    order, items, shares = falling(score), np.empty(ITEMS), np.empty(ITEMS)
    looked_up = processor(lambda: share[order[0]], times=2)
    for kernel in (auroc_influence, precision_influence):
        kernel(*falling(score[:100]), share[:100], items[:100], shares[:100])
        took = processor(lambda k=kernel: k(*order, share, items, shares))
        line(f"{kernel.__name__}, peer three look-ups", took, 3 * looked_up)


if __name__ == "__main__":
    main()
