"""Dawid-Skene on as many votes as one large yes/no question has: 169,000 by 933 annotators.

Peer: crowd-kit, for the same number of iterations and until each says that it has converged.
Both run on one thread; seconds are processor time, which other work on the machine disturbs
little. Limit: a sweep reads the votes twice, class posteriors and confusion matrices a few
times; those bytes at the bandwidth of a copy.
"""

from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from benchmarks._clock import best, heading, line, processor
from equipoise import Annotations
from equipoise.truth import Fit, dawid_skene

ITEMS, ANNOTATORS, VOTES, SWEEPS = 16_577, 933, 169_000, 10
SHARES = {2: [0.7, 0.3], 4: [0.4, 0.3, 0.2, 0.1]}


def simulated(classes):
    """Annotators who know the answer with a chance of their own, and guess when they do not."""
    random = np.random.default_rng(0)
    truth = random.choice(classes, ITEMS, p=SHARES[classes])
    knows = random.beta(6, 2, ANNOTATORS)
    item = np.concatenate([np.arange(ITEMS), random.integers(0, ITEMS, VOTES - ITEMS)])
    who = random.integers(0, ANNOTATORS, VOTES)
    guess = random.integers(0, classes, VOTES)
    return Annotations(
        kind="binary" if classes == 2 else "nominal",
        items=tuple(map(str, range(ITEMS))),
        classes=tuple(map(str, range(classes))),
        annotators=tuple(map(str, range(ANNOTATORS))),
        item=item,
        annotator=who,
        label=np.where(random.random(VOTES) < knows[who], truth[item], guess),
    )


def limit(votes, classes):
    """Seconds that the bytes of one sweep take at the bandwidth of a copy."""
    block = np.zeros(32_000_000)
    copy = np.empty_like(block)
    bandwidth = 2 * block.nbytes / best(lambda: np.copyto(copy, block))
    vote = 8 + 4  # weight and column of a vote
    table = ITEMS * classes * 8
    skill = ANNOTATORS * classes**2 * 8
    moved = 2 * VOTES * vote + 4 * table + 4 * skill
    seconds, sweeps = [], []
    for most in (2, 60):
        seconds.append(processor(lambda m=most: dawid_skene(votes, fit=Fit(0, m)), times=5))
        sweeps.append(dawid_skene(votes, fit=Fit(0, most)).diagnostics["iterations"])
    sweep = (seconds[1] - seconds[0]) / (sweeps[1] - sweeps[0])
    print(
        f"   limit: {moved / 1e6:.1f} MB a sweep, {moved / bandwidth * 1e3:.2f} ms at "
        f"{bandwidth / 1e9:.0f} GB/s; a sweep takes {sweep * 1e3:.2f} ms, "
        f"{sweep * bandwidth / moved:.0f} times that"
    )


def against_crowd_kit(votes):
    """Same iterations, then until convergence, by either's own rule and by ours for both."""
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    frame = pd.DataFrame({"task": votes.item, "worker": votes.annotator, "label": votes.label})
    ours = processor(lambda: dawid_skene(votes, fit=Fit(0, SWEEPS)), times=5)
    peer = processor(lambda: DawidSkene(n_iter=SWEEPS, tol=-np.inf).fit(frame))
    line(f"{SWEEPS} iterations each", ours, peer, "10")
    ours = processor(lambda: dawid_skene(votes), times=5)
    trace = dawid_skene(votes).diagnostics["trace"]
    strict = 1e-9 * abs(trace[-1]) / VOTES  # our tolerance, in units of its loss per vote
    for name, tolerance in (("its default", 1e-5), ("ours", strict)):
        peer = processor(lambda t=tolerance: DawidSkene(n_iter=2000, tol=t).fit(frame))
        loss = DawidSkene(n_iter=2000, tol=tolerance).fit(frame).loss_history_
        line(f"until convergence, tolerance of the peer {name} ({tolerance:.1g})", ours, peer)
        print(f"   iterations: {len(trace)} ours, {len(loss)} of the peer")
    loss = np.array(DawidSkene(n_iter=200, tol=-np.inf).fit(frame).loss_history_)
    steps, ours_steps = np.diff(loss) * VOTES, np.diff(trace)
    print(
        f"   bound: ours falls in {(ours_steps < 0).sum()} of {len(ours_steps)} steps, that of "
        f"the peer by more than 1e-6 in {(steps < -1e-6).sum()} of {len(steps)}, at most by "
        f"{max(0.0, -steps.min()):.2g}"
    )


def main():
    for classes in SHARES:
        votes = simulated(classes)
        if find_spec("crowdkit") is None:
            heading(f"Dawid-Skene, {VOTES:,} votes, {classes} classes")
            print("   peer skipped: crowd-kit is not installed (pip install crowd-kit)")
            seconds = processor(
                lambda votes=votes: dawid_skene(votes, fit=Fit(0, SWEEPS)), times=5
            )
            print(f"   {SWEEPS} iterations: {seconds:.3f} s")
        else:
            peer = version("crowd-kit")
            heading(f"Dawid-Skene, {VOTES:,} votes, {classes} classes, peer crowd-kit {peer}")
            against_crowd_kit(votes)
        limit(votes, classes)


if __name__ == "__main__":
    main()
