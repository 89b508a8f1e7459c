"""Uncertainty: decomposition and six tasks of 25 members, 100,000 images and 14 labels.

Goal: under 5 s and 2 GB for the parts and every task by every score, without intervals. Shows
how time and memory grow with images and members, and what the intervals take at the size of a
test set. Peer: scipy's entropy of whole arrays, which holds everything twice and in full.
Processor time as well as wall time: a busy machine disturbs it least.
"""

import os
import resource
import subprocess
import sys
import time
from itertools import groupby

import numpy as np
from scipy.stats import entropy

from benchmarks._clock import heading, once
from equipoise.uq import decompose, evaluate_uncertainty
from equipoise.uq.predictions import (
    MethodRuns,
    Outputs,
    Prediction,
    Run,
    part_labels,
)
from equipoise.uq.tasks import ask, label_values, scores_of, six_tasks
from equipoise.uq.training.data import Part

MEMBERS, IMAGES, LABELS = 25, 100_000, 14
GOAL_SECONDS, GOAL_GB = 5.0, 2.0


def world(images=IMAGES, members=MEMBERS, seed=0):
    """Probabilities of test and other images, and labels with uncertain ones."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(images, LABELS)).astype(np.float32) * 2 - 1.5
    truth = (random.random((images, LABELS)) < 1 / (1 + np.exp(-logits))).astype(np.float32)
    truth[random.random((images, LABELS)) < 0.03] = -1
    noise = random.standard_normal((members, images, LABELS), dtype=np.float32)
    return 1 / (1 + np.exp(-logits - 0.5 * noise)), truth


def six(probs, truth):
    """Parts and tasks, every score, without intervals; other images are the test images."""
    said = Outputs.of(Prediction(probs))
    test = part_labels(truth)
    known = {"test": test, "ood": Part(test.items)}
    names = tuple(map(str, range(LABELS)))
    run = Run("m", "", "", {"test": said, "ood": said})
    study = MethodRuns(names, known, (run,))
    for name, tasks in groupby(six_tasks(), key=lambda task: task.question):
        question, metrics = ask(name, study), [one for task in tasks for one in task.metrics]
        for score in [""] if name == "calibration" else scores_of(said):
            label_values(question, run.parts, score, metrics)


def peer(probs):
    """The parts by scipy, everything at once."""
    both = np.stack([probs, 1 - probs]).astype(np.float64)
    return entropy(both.mean(axis=1)) - entropy(both).mean(axis=0)


def alone(images, members):
    """Seconds of wall and processor time and peak GB above the input, in a fresh process."""
    code = f"from benchmarks.uq import one; one({images}, {members})"
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return [float(word) for word in made.stdout.split()]


def one(images, members):
    probs, truth = world(images, members)
    six(*world(200, 2))  # kernels are loaded
    wall, processor = time.perf_counter(), time.process_time()
    six(probs, truth)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(wall, processor, peak)


def main():
    heading(f"uncertainty: {MEMBERS} members, {IMAGES:,} images, {LABELS} labels")
    for images, members in ((IMAGES // 4, MEMBERS), (IMAGES, MEMBERS // 5), (IMAGES, MEMBERS)):
        wall, processor, peak = alone(images, members)
        goal = (
            f" (goal {GOAL_SECONDS:g} s, {GOAL_GB:g} GB)"
            if images * members == IMAGES * MEMBERS
            else ""
        )
        spent = f"{wall:.2f} s ({processor:.2f} s of processor), {peak:.2f} GB in all"
        print(f"   M = {members}, N = {images:,}: {spent}{goal}")
    probs, _ = world()
    ours, theirs = once(lambda: decompose(probs)), once(lambda: peer(probs))
    print(f"   decomposition alone: {ours:.2f} s, scipy {theirs:.2f} s")
    assert np.allclose(decompose(probs[:, :1000]).EU, peer(probs[:, :1000]), atol=1e-6)
    probs, truth = world(1000, 5)
    runs = {name: [probs] * 3 for name in "abcd"}
    took = once(lambda: evaluate_uncertainty(runs, truth, ood=runs))
    print(f"   with intervals, 4 methods, 3 seeds, 1,000 images: {took:.1f} s, "
          f"{os.cpu_count()} cores")  # fmt: skip


if __name__ == "__main__":
    main()
