"""Plackett-Luce on the public dermatology cases, 1,500 sweeps each, on one core and on two.

Peer: the same Gibbs sampler in numpy over all classes (no collapse, no merging), per case, on a
few cases. Limit: a sweep draws one gamma variable per wait and per rate, so the time is set
against that of drawing as many with numpy. One core is processor time of one thread, which
other work on the machine disturbs little; two are wall time. The kernel timed is
equipoise.kernels.plackett_luce. Needs EQUIPOISE_DATA.
"""

import json
import os
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks._clock import best, heading, line, processor
from equipoise import Annotations
from equipoise.truth import Chain, plackett_luce
from equipoise.truth.rankings import collect_readings, stages

CLASSES, SWEEPS = 419, 1_500


def every_class(case, sweeps):
    """Gibbs over all classes with numpy: the work a dense sampler does."""
    random = np.random.default_rng(0)
    rates = random.gamma(1.0, size=CLASSES)
    for _ in range(sweeps):
        exposure = np.ones(CLASSES)
        number = np.zeros(CLASSES)
        for reading in case:
            order = [k for block in reading for k in random.permutation(block)]
            left = np.ones(CLASSES, dtype=bool)
            elapsed = 0.0
            for k in order:
                elapsed += random.exponential() / rates[left].sum()
                exposure[k] += elapsed
                left[k] = False
                number[k] += 1
            exposure[left] += elapsed
        rates = random.gamma(1 / CLASSES + number) / exposure


def all_classes(cases, classes):
    return Annotations.from_rankings(cases, classes=[str(k) for k in range(classes)])


def speeds(votes):
    """Whole calls, one thread and two; returns the seconds of reliability 3, notebook prior."""
    for prior in ("iid", "notebook"):
        for reliability in (1, 3):
            run = partial(plackett_luce, votes, reliability=reliability, prior=prior)
            one = partial(run, chain=Chain(1000, 500, workers=1))
            two = partial(run, chain=Chain(1000, 500, workers=2))
            seconds, wall, both = (
                processor(one, times=2),
                best(one, times=2),
                best(two, times=2),
            )
            print(
                f"   reliability {reliability}, prior {prior}: one core {seconds:.2f} s (goal "
                f"under 5 s; {wall:.2f} s wall), two threads {both:.2f} s wall"
            )
    return seconds


def limit(votes, seconds):
    """Compare with drawing as many gamma variables and nothing else."""
    found = collect_readings(votes, "")
    parts = stages(found, 3)
    waits, ties = parts.case_wait[-1], parts.case_tie[-1]
    number = (waits + ties + len(found.label) + len(found.items)) * SWEEPS
    random = np.random.default_rng(0)
    each = processor(lambda: random.standard_gamma(np.full(1_000_000, 3.0)), times=2) / 1e6
    print(
        f"   limit: at least {number / 1e6:.0f} million gamma variables; numpy needs "
        f"{number * each:.2f} s for them alone, the whole call {seconds / number / each:.1f} "
        "times that"
    )


def main():
    if "EQUIPOISE_DATA" not in os.environ:
        print("\n## Plackett-Luce: skipped, set EQUIPOISE_DATA")
        return
    path = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx/dermatology_selectors.json"
    cases = json.loads(path.read_text())
    heading(
        f"Plackett-Luce, {len(cases):,} cases, {SWEEPS} sweeps, peer numpy {np.__version__}"
    )
    votes = all_classes(cases, CLASSES)
    seconds = speeds(votes)
    limit(votes, seconds)
    many = all_classes(cases, 100 * CLASSES)
    one = Chain(1000, 500, workers=1)
    times = [
        processor(lambda v=v: plackett_luce(v, prior="notebook", chain=one), times=2)
        for v in (votes, many)
    ]
    print(
        f"   {CLASSES:,} classes {times[0]:.2f} s, {100 * CLASSES:,} classes {times[1]:.2f} s: "
        f"{times[1] / times[0]:.2f} times (goal 1)"
    )
    few = cases[:3]
    peer = processor(lambda: [every_class(case, 150) for case in few], times=2) * 10 / len(few)
    each = seconds / len(cases)
    line("a case, reliability 3; the peer has reliability 1", each, peer)


if __name__ == "__main__":
    main()
