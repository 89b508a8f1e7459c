"""Krippendorff's alpha of 502,000 votes by 933 annotators on 16,577 items.

Peer: the krippendorff package, from its dense table (annotators, items). Ours starts from the
votes. The limit is reading item and label of every vote once. Also all there is to say about
such a study (`agreement_table`), Cohen's kappa of all pairs, and alpha of a million ratings.
"""

from importlib.metadata import version

import numpy as np

from benchmarks._clock import best, heading, line, once
from equipoise import Annotations, resample
from equipoise.truth.agreement import agreement_table, cohen_kappa_pairs, krippendorff_alpha

ITEMS, ANNOTATORS, VOTES = 16_577, 933, 502_000


def simulated():
    random = np.random.default_rng(0)
    cell = np.sort(random.choice(ITEMS * ANNOTATORS, VOTES, replace=False))
    who, item = np.divmod(cell, ITEMS)
    level = random.random(ITEMS)
    label = (random.random(VOTES) < level[item]).astype(int)
    return Annotations(
        kind="ordinal",
        items=tuple(map(str, range(ITEMS))),
        annotators=tuple(map(str, range(ANNOTATORS))),
        classes=("0", "1", "2"),
        item=item,
        annotator=who,
        label=label + (random.random(VOTES) < level[item] / 2),
    )


def rated(items=100_000, each=10):
    random = np.random.default_rng(1)
    item = np.repeat(np.arange(items), each)
    return Annotations(
        kind="interval",
        items=tuple(map(str, range(items))),
        item=item,
        value=random.normal(size=items)[item] + random.normal(size=items * each),
    )


def main():
    try:
        import krippendorff
    except ImportError:
        print("\n## Agreement: skipped, pip install krippendorff")
        return
    heading(
        f"Krippendorff's alpha, {VOTES:,} votes, peer krippendorff {version('krippendorff')}"
    )
    votes = simulated()
    dense = np.full((ANNOTATORS, ITEMS), np.nan)
    dense[votes.annotator, votes.item] = votes.label
    plan = resample(votes, "items", replicates=1)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        ours = best(lambda k=level: krippendorff_alpha(votes, level=k, plan=plan))
        peer = best(lambda k=level: krippendorff.alpha(dense, level_of_measurement=k))
        line(f"{level}", ours, peer)
        difference = krippendorff_alpha(votes, level=level, plan=plan).value
        difference -= krippendorff.alpha(dense, level_of_measurement=level)
        print(f"   they differ by {abs(difference):.1e}")
    read = best(lambda: np.bincount(votes.item * 3 + votes.label))
    print(f"   limit, one pass over the votes: {read * 1e3:.1f} ms")
    many = resample(votes, "items", replicates=1000)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        spent = once(lambda k=level: krippendorff_alpha(votes, level=k, plan=many))
        print(f"   {level} with 1,000 replicates: {spent:.2f} s")
    print(f"   Cohen's kappa of all pairs: {once(lambda: cohen_kappa_pairs(votes)):.2f} s")
    print(f"   the whole table, 1,000 replicates: {once(lambda: agreement_table(votes)):.2f} s")
    ratings = rated()
    single = resample(ratings, "items", replicates=1)
    spent = best(lambda: krippendorff_alpha(ratings, plan=single))
    print(f"   a million different ratings of 100,000 items: {spent:.2f} s")


if __name__ == "__main__":
    main()
