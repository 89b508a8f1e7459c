"""Plackett-Luce on the public dermatology cases, 1,500 iterations each, one core.

Peer: the same Gibbs sampler in numpy over all classes (no collapse), on a few cases, per case.
The kernel timed is equipoise.kernels.plackett_luce. Needs EQUIPOISE_DATA.
"""

import json
import os
from pathlib import Path

import numpy as np

from benchmarks._clock import best, heading, once
from equipoise import Annotations
from equipoise.aggregate import Chain, plackett_luce

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


def main():
    if "EQUIPOISE_DATA" not in os.environ:
        print("\n## Plackett-Luce: skipped, set EQUIPOISE_DATA")
        return
    path = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx/dermatology_selectors.json"
    cases = json.loads(path.read_text())
    heading(
        f"Plackett-Luce, {len(cases):,} cases, {SWEEPS} sweeps, peer numpy {np.__version__}"
    )
    votes = Annotations.from_rankings(cases, classes=[str(k) for k in range(CLASSES)])
    for reliability in (1, 3):
        seconds = best(
            lambda r=reliability: plackett_luce(votes, reliability=r, chain=Chain(1000, 500)),
            times=1,
        )
        each = seconds / len(cases)
        print(
            f"   reliability {reliability}: {seconds:.1f} s in all, {each * 1e3:.2f} ms a case"
        )
    few = cases[:3]
    peer = once(lambda: [every_class(case, 150) for case in few]) * 10 / len(few)
    print(f"   peer, all classes in numpy: {peer:.2f} s a case, {peer / each:,.0f} times")


if __name__ == "__main__":
    main()
