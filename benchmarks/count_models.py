"""Time models that only count votes against group-by code for the same numbers.

Run: ``python -m benchmarks count_models``. One million votes, 10 classes, 100,000 items, 1,000
annotators; each model should take less than a second. Then CIFAR-10H (10,000 images, about 51
votes each), where the exact chance of the top class is compared with 1,000 Dirichlet draws in
numpy. The limit is one pass over item and label of each vote: 16 bytes a vote. Everything here
runs on one core, so the times are processor times, which other work disturbs little.
"""

import os
from functools import partial
from pathlib import Path

import numpy as np
import pandas

from benchmarks._clock import heading, line, processor
from equipoise import Annotations, read_annotations
from equipoise.truth import dirichlet, majority_vote, mean_vote
from equipoise.truth.ratings import NormalPrior, normal

VOTES, ITEMS, ANNOTATORS, CLASSES, DRAWS = 1_000_000, 100_000, 1000, 10, 1000
best = partial(processor, times=3)
PRIOR = NormalPrior(mean=50.0, worth=1.0, shape=2.0, scale=500.0)


def made() -> tuple[Annotations, Annotations]:
    """Votes for classes, and ratings, by the same people about the same items."""
    random = np.random.default_rng(0)
    item = np.concatenate([np.arange(ITEMS), random.integers(0, ITEMS, VOTES - ITEMS)])
    who = random.integers(0, ANNOTATORS, VOTES)
    items = tuple(f"scan-{code:06d}" for code in range(ITEMS))
    annotators = tuple(f"reader-{code:03d}" for code in range(ANNOTATORS))
    likely = np.where(random.random(VOTES) < 0.6, item % CLASSES, -1)
    label = np.where(likely < 0, random.integers(0, CLASSES, VOTES), likely)
    votes = Annotations(
        kind="nominal", items=items, item=item, annotators=annotators, annotator=who,
        classes=tuple(f"class-{code}" for code in range(CLASSES)), label=label,
    )  # fmt: skip
    value = np.round(50 + 20 * random.standard_normal(ITEMS)[item]
                     + 10 * random.standard_normal(VOTES), 1)  # fmt: skip
    ratings = Annotations(
        kind="interval",
        items=items,
        item=item,
        annotators=annotators,
        annotator=who,
        value=value,
    )
    return votes, ratings


def counted(votes: Annotations) -> pandas.DataFrame:
    """Numbers of votes, items by classes, with pandas."""
    frame = pandas.DataFrame({"item": votes.item, "label": votes.label})
    return frame.groupby(["item", "label"]).size().unstack(fill_value=0)


def shares(votes: Annotations) -> pandas.DataFrame:
    counts = counted(votes)
    return counts.div(counts.sum(axis=1), axis=0)


def spread(ratings: Annotations) -> pandas.DataFrame:
    frame = pandas.DataFrame({"item": ratings.item, "value": ratings.value})
    return frame.groupby("item")["value"].agg(["count", "mean", "var"])


def sampled(concentration: np.ndarray, draws: int) -> np.ndarray:
    """Chance of the likeliest top class from draws, as one would write it in numpy."""
    random = np.random.default_rng(0)
    top = np.zeros(concentration.shape)
    rows = np.arange(len(concentration))
    for _ in range(draws):
        top[rows, random.standard_gamma(concentration).argmax(axis=1)] += 1
    return (top / draws).max(axis=1)


def cifar() -> None:
    folder = os.environ.get("EQUIPOISE_DATA")
    path = Path(folder or ".") / "cifar10h" / "cifar10h-counts.npy"
    if not path.is_file():
        print("   CIFAR-10H: set EQUIPOISE_DATA to a folder that holds cifar10h/")
        return
    votes = read_annotations(path)
    concentration = np.load(path) + 1.0
    ours = best(lambda: dirichlet(votes).certainty)
    peer = processor(lambda: sampled(concentration, DRAWS))
    line(f"CIFAR-10H, exact top class; peer {DRAWS:,} draws", ours, peer, "< 1 s")
    apart = np.abs(dirichlet(votes).certainty - sampled(concentration, DRAWS)).max()
    print(f"      largest difference {apart:.3f}, expected of draws about {2 / DRAWS**0.5:.3f}")


def main() -> None:
    heading(f"Models of counts, {VOTES:,} votes, {ITEMS:,} items, {CLASSES} classes")
    print(f"   peers: pandas {pandas.__version__} group-by, numpy {np.__version__} draws")
    votes, ratings = made()
    line("mean_vote", best(lambda: mean_vote(votes)), best(lambda: shares(votes)), "< 1 s")
    line(
        "majority_vote",
        best(lambda: majority_vote(votes)),
        best(lambda: counted(votes).to_numpy().argmax(axis=1)),
        "< 1 s",
    )
    line("dirichlet", best(lambda: dirichlet(votes)), best(lambda: counted(votes) + 1), "< 1 s")
    posterior, concentration = dirichlet(votes), counted(votes).to_numpy() + 1.0
    few = DRAWS // 100
    draws = processor(lambda: sampled(concentration, few)) * DRAWS / few
    ours = processor(lambda: posterior.certainty)
    line(f"dirichlet, certainty; peer {few} draws x {DRAWS // few}", ours, draws, "< 1 s")
    for name, prior in (("given prior", PRIOR), ("empirical Bayes", None)):
        line(
            f"normal, {name}",
            best(lambda given=prior: normal(ratings, threshold=50, prior=given)),
            best(lambda: spread(ratings)),
            "< 1 s",
        )
    print(f"   limit: {16 * VOTES / 1e6:.0f} MB of codes, {16 * VOTES / 1e10:.4f} s at 10 GB/s")
    cifar()


if __name__ == "__main__":
    main()
