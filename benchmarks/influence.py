"""10 million items, one model: value and interval of soft AUROC and AP by influence functions.

Peer: one scikit-learn roc_auc_score of the same items, which gives a value and no interval.
"""

import resource

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score

from benchmarks._clock import heading, once
from equipoise.metrics import influence_covariance, named

ITEMS = 10_000_000


def main():
    heading(f"influence functions, 10 million items, peer scikit-learn {sklearn.__version__}")
    random = np.random.default_rng(0)
    share = random.binomial(10, 0.1, ITEMS) / 10
    score = 0.5 * share + random.random(ITEMS)
    found = {}

    def ours():
        for name in ("auroc", "average_precision"):
            value, covariance = influence_covariance(share, score, metric=named(name))
            found[name] = float(value[0]), float(np.sqrt(covariance[0, 0]))

    seconds = once(ours)
    for name, (value, error) in found.items():
        half = 1.96 * error
        print(f"   {name}: {value:.6f} [{value - half:.6f}, {value + half:.6f}]")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"   both with intervals: {seconds:.1f} s, peak memory {most:.2f} GB (goal: under 3)")
    peer = once(lambda: roc_auc_score(share > 0.25, score))
    print(f"   peer, one hard AUROC without interval: {peer:.1f} s")


if __name__ == "__main__":
    main()
