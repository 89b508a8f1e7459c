"""1,000 vote- and panel-bootstrap replicates, 500 x 8 and 16,577 x 10, ten models.

Peer: a numpy loop that draws votes (or annotators) and calls scikit-learn for hard and soft
AUROC and AP. The kernels timed are those of equipoise.kernels.resampling.
"""

import numpy as np
import sklearn

from benchmarks._clock import best, heading, line, once
from benchmarks.item_bootstrap import four_metrics, study
from equipoise import Settings, evaluate, resample

REPLICATES = 1_000


def peer_seconds(votes, scores, kind):
    random = np.random.default_rng(1)
    items, panel = votes.shape
    few = 10 if items < 1_000 else 2

    def loop():
        for _ in range(few):
            if kind == "votes":
                pick = random.integers(0, panel, votes.shape)
                drawn = np.take_along_axis(votes, pick, axis=1)
            else:
                drawn = votes[:, random.integers(0, panel, panel)]
            share = drawn.mean(axis=1)
            for score in scores:
                four_metrics(share, score)

    return once(loop) / few * REPLICATES


def main():
    heading(f"vote and panel bootstrap, peer scikit-learn {sklearn.__version__}")
    for items, panel in ((500, 8), (16_577, 10)):
        annotations, models, _, scores = study(items, panel)
        votes = annotations.label.reshape(items, panel)
        for kind in ("votes", "panel"):
            plan = resample(annotations, kind, replicates=REPLICATES)
            settings = Settings(workers=1)
            seconds = best(
                lambda p=plan, a=annotations, m=models, s=settings: evaluate(
                    m, a, resampling=p, settings=s
                )
            )
            line(
                f"{kind}, {items} x {panel}", seconds, peer_seconds(votes, scores, kind), "300"
            )


if __name__ == "__main__":
    main()
