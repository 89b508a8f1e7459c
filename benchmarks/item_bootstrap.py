"""2,000 item-bootstrap replicates x 10 models x 16,577 items, AUROC and AP, hard and soft.

Peer: the scikit-learn loop a careful user would write: draw items, call roc_auc_score and
average_precision_score; soft labels as each item twice with sample weights p and 1 - p.
Extrapolated from a few replicates. The kernels timed are those of equipoise.kernels.ranking and
equipoise.kernels.resampling, through the public `evaluate`.
"""

import numpy as np
import sklearn
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks._clock import best, heading, line, once
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
    seconds = {}
    for workers in (1, 2):
        settings = Settings(workers=workers)
        seconds[workers] = best(
            lambda s=settings: evaluate(models, annotations, resampling=plan, settings=s)
        )
        goal = "800" if workers == 1 else "close to twice one thread"
        line(f"{workers} thread(s), whole evaluate()", seconds[workers], peer, goal)
    cells = ITEMS * REPLICATES * MODELS
    print(f"   {seconds[1] / cells * 1e9:.2f} ns per item, replicate and model, four metrics")
    floor = (cells * 2 + ITEMS * REPLICATES * 2) / bandwidth()
    print(
        f"   floor: each model reads every count twice (hard, soft): {floor:.3f} s at memory "
        f"bandwidth; we take {seconds[1] / floor:.0f} times that: arithmetic is the limit"
    )


if __name__ == "__main__":
    main()
