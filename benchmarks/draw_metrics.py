"""Metrics of possible truths: 4 models, 1,947 cases, 1,000 draws, 419 classes, in one process.

Truth: Plackett-Luce (notebook prior) on the public dermatology cases of EQUIPOISE_DATA, or a
simulation of that shape. Metrics: top-1 and top-3 accuracy, set accuracy at 3 and average
overlap at 3. The kernels timed are equipoise.kernels.tops (with equipoise.kernels.tops)
and equipoise.kernels.tops, all on one thread.

Peer: numpy over full arrays (draws, classes) of a few cases, scaled to all of them. It makes
the draws full and takes the three most plausible classes by argpartition and a sort of those
three; of ties it takes what comes, which is less than ours does. Two figures: every metric of
every model on its own, as ours, and the best that can be done by hand, all sixteen from one
partition.

Both sides are timed in processor time, which a busy machine disturbs least.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from benchmarks._clock import heading, processor
from equipoise import Annotations
from equipoise.metrics import named
from equipoise.truth import Chain, plackett_luce
from equipoise.types import Plausibilities

CASES, CLASSES, DRAWS, MODELS, FEW = 1_947, 419, 1_000, 4, 20
NAMES = ("topk_accuracy", "topk_accuracy:k=3", "set_accuracy", "average_overlap")
LIMIT_MB, GOAL = 300, 50


def truth(draws: int = DRAWS) -> Plausibilities:
    """The public cases under the model of the paper, or a simulation of their shape."""
    if "EQUIPOISE_DATA" in os.environ:
        folder = Path(os.environ["EQUIPOISE_DATA"]) / "dermatology_ddx"
        cases = json.loads((folder / "dermatology_selectors.json").read_text())
        votes = Annotations.from_rankings(cases, classes=[str(k) for k in range(CLASSES)])
        return plackett_luce(votes, prior="notebook", chain=Chain(draws, 100))
    random = np.random.default_rng(0)
    size = random.integers(2, 7, CASES)
    start = np.concatenate(([0], np.cumsum(size)))
    mass = random.standard_gamma(1.0, (draws, start[-1]))
    rest = random.standard_gamma(0.3, (draws, CASES))
    total = np.add.reduceat(mass, start[:-1], axis=1) + rest
    return Plausibilities(
        items=tuple(map(str, range(CASES))),
        classes=tuple(map(str, range(CLASSES))),
        start=start,
        label=np.concatenate([random.choice(CLASSES, n, replace=False) for n in size]),
        mass=mass / np.repeat(total, size, axis=1),
        rest=rest / total,
        method="simulated",
    )


def models(plausible: Plausibilities) -> list[np.ndarray]:
    """Class probabilities that have something to do with the truth."""
    random = np.random.default_rng(1)
    noise = [random.dirichlet(np.full(CLASSES, 0.02), CASES) for _ in range(MODELS)]
    return [0.5 * plausible.mean + 0.5 * part for part in noise]


def ours(names, plausible, predictions) -> np.ndarray:
    """Every metric of every model, mean over items and draws."""
    found = []
    for name in names:
        metric = named(name)
        tables = (metric.score_draws(metric.prepare(one), plausible) for one in predictions)
        found.append([table.value.mean() for table in tables])
    return np.array(found)


def dense(plausible, case) -> np.ndarray:
    """All draws of one case made full, (draws, classes)."""
    own = slice(plausible.start[case], plausible.start[case + 1])
    label = plausible.label[own]
    full = np.repeat(plausible.rest[:, [case]] / (CLASSES - len(label)), CLASSES, axis=1)
    full[:, label] = plausible.mass[:, own]
    return full


def three(full) -> np.ndarray:
    """The three most plausible classes of every draw, best first."""
    best = np.argpartition(full, CLASSES - 3, axis=1)[:, -3:]
    order = np.argsort(-np.take_along_axis(full, best, axis=1), axis=1)
    return np.take_along_axis(best, order, axis=1)


def scored(name, top, first) -> float:
    """One metric of one model's three first classes, mean over the draws of a case."""
    if name == "topk_accuracy":
        return float((top[:, 0] == first[0]).mean())
    if name == "topk_accuracy:k=3":
        return float((top[:, :1] == first).any(axis=1).mean())
    if name == "set_accuracy":
        return float((np.sort(top, axis=1) == np.sort(first)).all(axis=1).mean())
    same = top[:, :, None] == first
    return float(np.mean([same[:, :j, :j].sum(axis=(1, 2)).mean() / j for j in (1, 2, 3)]))


def peer(plausible, predictions, cases, *, shared) -> np.ndarray:
    """The same metrics by numpy, one partition for all of them or one for each."""
    found = np.zeros((len(NAMES), len(predictions)))
    for case in range(cases):
        firsts = [np.argsort(-one[case], kind="stable")[:3] for one in predictions]
        top = three(dense(plausible, case)) if shared else None
        for row, name in enumerate(NAMES):
            for column, first in enumerate(firsts):
                each = top if shared else three(dense(plausible, case))
                found[row, column] += scored(name, each, first) / cases
    return found


def memory(draws: int) -> float:
    """Peak memory in MB of a process of its own; see `tell_peak`."""
    command = [sys.executable, "-m", "benchmarks.draw_metrics", str(draws)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def tell_peak(draws: int) -> None:
    """Import (0 draws), make a truth (2), or make one and score; print peak memory (Linux)."""
    plausible = truth(draws) if draws else None
    if plausible is not None and draws > 2:
        ours(NAMES, plausible, models(plausible))
    lines = Path("/proc/self/status").read_text().splitlines()
    peak = next(one for one in lines if one.startswith("VmHWM"))  # ru_maxrss is the parent's
    print(int(peak.split()[1]) / 1024)


def main():
    plausible = truth()
    predictions = models(plausible)
    heading(
        f"Metrics of draws, {MODELS} models, {CASES:,} cases, {DRAWS:,} draws, {CLASSES} "
        f"classes, peer numpy {np.__version__}"
    )
    seconds = processor(lambda: ours(NAMES, plausible, predictions))
    moved = (plausible.mass.nbytes + 2 * plausible.rest.nbytes) * MODELS * len(NAMES)
    print(f"   ours: {seconds:.3f} s; reads and writes {moved / 1e9:.2f} GB, which at 10 GB/s "
          f"takes {moved / 1e10:.2f} s")  # fmt: skip
    for shared in (False, True):
        few = FEW if shared else FEW // 4
        each = processor(lambda n=few, s=shared: peer(plausible, predictions, n, shared=s))
        slow = each * CASES / few
        what = "all from one partition" if shared else "each on its own"
        print(f"   peer, {what}: {slow:.1f} s (from {few} cases), {slow / seconds:.0f} times "
              f"(goal {GOAL})")  # fmt: skip
    for name in ("kendall_tau", "spearman_footrule"):
        print(f"   {name}: {processor(lambda n=name: ours([n], plausible, predictions)):.2f} s")
    bare, base, peak = memory(0), memory(2), memory(DRAWS)
    print(f"   memory: {peak - base:.0f} MB above a run that loads all code and makes 2 draws "
          f"({base:.0f} MB; bare import {bare:.0f} MB), limit {LIMIT_MB} MB")  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) > 1:
        tell_peak(int(sys.argv[1]))
    else:
        main()
