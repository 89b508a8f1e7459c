"""2,000 item-bootstrap replicates x 10 models x 16,577 items, AUROC and AP, hard and soft.

Peer: the scikit-learn loop a careful user would write: draw items, call roc_auc_score and
average_precision_score; soft labels as each item twice with sample weights p and 1 - p.
Extrapolated from a few replicates. The kernels timed are those of equipoise.kernels.ranking and
equipoise.kernels.resampling, through the public `evaluate`.

What bounds it: an item without mass costs an addition of whole numbers, close to what reading
its counts costs; an item with mass costs five updates of doubles and a division in each
replicate, about eight times as much. With a third of items split, arithmetic is the limit, and
of that the stores of running sums and the division; 32-bit sums would halve it, but not hold
1e-12. Drawing the counts costs as much as two models, whatever their number.
"""

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks._clock import best, heading, line, once, processor
from equipoise import Annotations, Predictions, Settings, evaluate, resample

ITEMS, MODELS, REPLICATES, VOTES = 16_577, 10, 2_000, 10


def study(items=ITEMS, votes=VOTES, seed=0):
    """Votes of a panel on a rare finding, as in a data-cleaning benchmark, and ten models."""
    random = np.random.default_rng(seed)
    yes = random.binomial(votes, random.beta(0.15, 1.2, items))
    names = tuple(map(str, range(items)))
    item = np.repeat(np.arange(items), votes)
    label = (np.arange(votes)[None] < yes[:, None]).ravel().astype(np.intp)
    annotations = Annotations(
        kind="binary", items=names, classes=("0", "1"), item=item, label=label,
        annotators=tuple(f"r{r}" for r in range(votes)),
        annotator=np.tile(np.arange(votes), items),
    )  # fmt: skip
    scores = 0.5 * yes / votes + random.random((MODELS, items))
    models = [Predictions(f"m{m}", names, one) for m, one in enumerate(scores)]
    return annotations, models, yes / votes, scores


def four_metrics(share, score):
    """What the peer computes for one model and one replicate."""
    hard = share > 0.5
    twice, both = np.concatenate([score, score]), np.repeat([1, 0], len(score))
    weight = np.concatenate([share, 1 - share])
    return (
        roc_auc_score(hard, score),
        average_precision_score(hard, score),
        roc_auc_score(both, twice, sample_weight=weight),
        average_precision_score(both, twice, sample_weight=weight),
    )


def peer_seconds(share, scores, replicates):
    random = np.random.default_rng(1)
    few = 2

    def loop():
        for _ in range(few):
            drawn = random.integers(0, len(share), len(share))
            for score in scores:
                four_metrics(share[drawn], score[drawn])

    return once(loop) / few * replicates


def bandwidth():
    """Bytes per second that a copy of a large array moves."""
    source = np.zeros(2**27, dtype=np.uint8)
    target = np.empty_like(source)
    return 2 * source.nbytes / best(lambda: np.copyto(target, source))


def main():
    heading(f"item bootstrap, peer scikit-learn {sklearn.__version__}")
    annotations, models, share, scores = study()
    plan = resample(annotations, "items", replicates=REPLICATES)
    peer = peer_seconds(share, scores, REPLICATES)

    def whole(workers, replicates=plan):
        settings = Settings(workers=workers)
        return lambda: evaluate(models, annotations, resampling=replicates, settings=settings)

    for workers in (1, 2):
        goal = "1,600" if workers == 1 else "close to twice one thread"
        line(f"{workers} thread(s), whole evaluate()", best(whole(workers)), peer, goal)
    spent = processor(whole(1), times=3)
    once_over = processor(whole(1, resample(annotations, "items", replicates=1)), times=3)
    print(
        f"   {spent:.3f} s of processor time, {once_over:.3f} s of it whatever the replicates"
    )
    cells = ITEMS * REPLICATES * MODELS
    left = (spent - once_over) / cells
    print(f"   {left * 1e9:.2f} ns per item, replicate and model, four metrics")
    floor = (cells + 2 * ITEMS * REPLICATES) / bandwidth()
    print(
        f"   floor: counts are written once, and read once by each model for both labels: "
        f"{floor:.3f} s at memory bandwidth; we take {left * cells / floor:.0f} times that"
    )
    parts(share, scores)


def parts(share, scores):
    """What is left: drawing counts, counting items seen, and items with mass."""
    from equipoise.kernels.ranking import counter, ranking_sums
    from equipoise.kernels.resampling import draw_counts
    from equipoise.metrics._metric import sort_items

    counts, zero = np.empty((ITEMS, 128), dtype=np.uint8), counter(ITEMS)
    order, hard = sort_items(scores[0]), (share > 0.5).astype(float)
    truths = {
        "items without mass, counted only": [np.zeros(ITEMS)],
        "hard labels": [hard],
        "soft labels": [share],
        "both in one walk": [hard, share],
    }
    each = 1e9 / counts.size
    draw_counts(np.uint64(1), 0, counts)
    drawn = processor(lambda: draw_counts(np.uint64(1), 0, counts), times=5)
    print(f"   ns per item and replicate: {drawn * each:.2f} to draw, shared by all models")
    for name, masses in truths.items():
        rows = np.stack(masses, axis=1)[..., None]
        positive = (np.empty(0, np.int32), rows, np.full(rows.shape[:2], 2, np.uint8))
        took = processor(lambda p=positive: ranking_sums(*order, p, counts, zero), times=5)
        print(f"   {took * each:.2f} {name}")


if __name__ == "__main__":
    main()
