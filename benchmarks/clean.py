"""SelfClean rankings against the plain dense mathematics and cleanlab: time and peak memory.

Every contestant runs in a process of its own, so that its peak memory is its own (with Python
and the embeddings), and prints seconds and bytes; data are made before the clock starts. The
dense peer is written here from the published definitions: the matrix of all distances, scipy's
single linkage, a sort of all pairs. cleanlab ranks label errors from out-of-sample
probabilities of 20 neighbours, and outliers by its own neighbours. Above 50,000 items only
ours runs, at three sizes, with the growth carried on to a million.
"""

import json
import math
import os
import resource
import subprocess
import sys
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from benchmarks._clock import heading

ITEMS, FEATURES = 16_577, 192
SIZES, WIDE, GOAL = (60_000, 100_000, 200_000), 128, 1_000_000
CLASSES, CLUSTERS, CHECKED, RECALL = 10, 500, 1_000, 20
MEGA = 2**20


def made(items, features):
    """Embeddings around centres of uneven spread, a few copies, and some wrong labels."""
    random = np.random.default_rng(0)
    centre = random.normal(size=(CLUSTERS, features))
    which = random.integers(0, CLUSTERS, items)
    shape = (
        random.normal(size=(features, features)) * np.exp(-np.arange(features) / 20)[:, None]
    )
    rows = np.empty((items, features), dtype=np.float32)
    for start in range(0, items, 10_000):
        part = slice(start, start + 10_000)
        noise = random.normal(size=rows[part].shape) @ shape
        rows[part] = centre[which[part]] + noise * random.gamma(4, 0.25, (len(noise), 1))
    rows[: items // 100] = rows[items // 2 : items // 2 + items // 100]
    labels = which % CLASSES
    wrong = random.random(items) < 0.05
    labels[wrong] = random.integers(0, CLASSES, wrong.sum())
    return rows, labels


def collection(rows, labels):
    from equipoise.clean import Collection

    names = tuple(map(str, range(len(rows))))
    classes = tuple(map(str, range(CLASSES)))
    return Collection(items=names, embeddings=rows, labels=labels, classes=classes)


def scored(*names):
    """Our detectors by name, one after the other."""

    def run(data):
        from equipoise.clean import DETECTORS

        return [one.score(data) for one in DETECTORS if one.name in names]

    return run


def dense_distances(data):
    rows = np.asarray(data.embeddings, dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.maximum((1 - rows @ rows.T) / 2, 0)  # rounding puts copies below 0


def dense_duplicates(data):
    distance = dense_distances(data)
    upper = np.triu_indices(len(distance), 1)
    return np.argsort(distance[upper])


def dense_labels(data):
    distance = dense_distances(data)
    np.fill_diagonal(distance, np.inf)
    same = data.labels[:, None] == data.labels
    own = np.where(same, distance, np.inf).min(axis=1)
    other = np.where(same, np.inf, distance).min(axis=1)
    return other**2 / (own**2 + other**2)


def dense_off_topic(data):
    from scipy.cluster.hierarchy import linkage, to_tree
    from scipy.spatial.distance import squareform

    distance = dense_distances(data)
    np.fill_diagonal(distance, 0)
    tree = to_tree(linkage(squareform(distance, checks=False), "single"))
    order, area, stack = [], 0.0, [(tree, tree.dist)]
    while stack:
        node, above = stack.pop()
        area += node.count / len(distance) * (above - node.dist)
        if node.is_leaf():
            order.append((node.id, area))
        else:
            small, large = sorted((node.left, node.right), key=lambda one: one.count)
            stack += [(large, node.dist), (small, node.dist)]
    return order


def cleanlab_labels(data):
    from cleanlab.rank import get_label_quality_scores
    from sklearn.model_selection import cross_val_predict
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(20, metric="cosine")
    share = cross_val_predict(model, data.embeddings, data.labels, method="predict_proba")
    return get_label_quality_scores(data.labels, share)


def cleanlab_outliers(data):
    from cleanlab.outlier import OutOfDistribution

    return OutOfDistribution().fit_score(features=np.asarray(data.embeddings), verbose=False)


def recall(data):
    """Share of the exact nearest neighbours of some items that the index finds."""
    from equipoise.clean.similarity import neighbours

    asked = np.linspace(0, len(data) - 1, CHECKED).astype(int)
    exact = neighbours(data.embeddings, RECALL, queries=asked, exact=True)[0]
    found = neighbours(data.embeddings, RECALL, queries=asked, exact=False)[0]
    return float((found <= exact[:, -1:]).mean())


JOBS = {
    "nothing": len,
    "off-topic": scored("selfclean_off_topic"),
    "near duplicates": scored("embedding_distance"),
    "label errors": scored("selfclean_label_errors"),
    "all three": scored("selfclean_off_topic", "embedding_distance", "selfclean_label_errors"),
    "dense off-topic": dense_off_topic,
    "dense near duplicates": dense_duplicates,
    "dense label errors": dense_labels,
    "cleanlab label errors": cleanlab_labels,
    "cleanlab outliers": cleanlab_outliers,
    "recall": recall,
}


def measured(job, items, features):
    """Seconds, peak megabytes, result (where it is a number), processor seconds of a job."""
    command = [sys.executable, "-m", "benchmarks.clean", job, str(items), str(features)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"   {job}, {items:,} items: failed, {done.stderr.strip().splitlines()[-1]}")
        return math.nan, math.nan, None, math.nan
    return json.loads(done.stdout.splitlines()[-1])


def alone(job, items, features):
    """Run a job and print what it took."""
    warnings.simplefilter("ignore")  # of peers
    data = collection(*made(items, features))
    start, busy = time.perf_counter(), time.process_time()
    result = JOBS[job](data)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGA
    print(json.dumps([seconds, peak, result if isinstance(result, float) else None, busy]))


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        print(f"   {package} is not installed: left out")
        return ""


def against(ours, peer, name):
    print(
        f"   {name}: {ours[0]:.3g} s and {ours[1]:,.0f} MB, peer {peer[0]:.3g} s and "
        f"{peer[1]:,.0f} MB: {peer[0] / ours[0]:.1f} times in time "
        f"({peer[3] / ours[3]:.1f} in processor time), {peer[1] / ours[1]:.1f} in memory"
    )


def rankings():
    print(f"   {ITEMS:,} x {FEATURES}, {os.cpu_count()} cores; memory is that of the process,")
    print(f"   {measured('nothing', ITEMS, FEATURES)[1]:,.0f} MB of it before anything is done")
    whole = measured("all three", ITEMS, FEATURES)
    print(
        f"   all three: {whole[0]:.3g} s ({whole[3]:.3g} s of processors), {whole[1]:,.0f} MB "
        "(goal 60 s, 1,000 MB)"
    )
    tasks = ("off-topic", "near duplicates", "label errors")
    ours = {task: measured(task, ITEMS, FEATURES) for task in tasks}
    for task in tasks:
        against(ours[task], measured(f"dense {task}", ITEMS, FEATURES), f"{task}, dense")
    if named := installed("cleanlab"):
        peers = {"label errors": "cleanlab label errors", "off-topic": "cleanlab outliers"}
        for task, peer in peers.items():
            against(ours[task], measured(peer, ITEMS, FEATURES), f"{task}, cleanlab {named}")


def growth():
    if not (named := installed("faiss-cpu")):
        return
    print(f"   x {WIDE} with faiss {named}: seconds (of processors) and megabytes")
    for task in ("near duplicates", "label errors"):
        taken = [measured(task, items, WIDE) for items in SIZES]
        for items, (seconds, peak, _, busy) in zip(SIZES, taken, strict=True):
            print(f"   {task}, {items:,}: {seconds:.0f} s ({busy:.0f} s), {peak:,.0f} MB")
        power = np.polyfit(np.log(SIZES), np.log([one[3] for one in taken]), 1)
        slope, base = np.polyfit(SIZES, [one[1] for one in taken], 1)
        print(
            f"   {task}, {GOAL:,}: processor time grows with power {power[0]:.2f} to "
            f"{math.exp(np.polyval(power, math.log(GOAL))):,.0f} s, memory by "
            f"{slope * 1000:.2f} MB per 1,000 items to {base + slope * GOAL:,.0f} MB"
        )
    for items in SIZES[:: len(SIZES) - 1]:
        found = measured("recall", items, WIDE)[2]
        print(f"   recall@{RECALL} of the index, {items:,}: {found:.3f}")


def quality():
    """AUROC on real wrong labels, where the data are."""
    folder = Path(os.environ.get("EQUIPOISE_DATA", "no-data")) / "cifar10n"
    if not folder.is_dir():
        print("   CIFAR-10N is not in EQUIPOISE_DATA: left out")
        return
    from sklearn.metrics import roc_auc_score

    images = np.load(folder / "images_10k.npz")
    rows = np.load(folder / "features_10k.npz")["features"].astype(np.float32)
    labels = images["aggre_label"].astype(np.int64)
    data, wrong = collection(rows, labels), labels != images["clean_label"]
    ours = roc_auc_score(wrong, JOBS["label errors"](data)[0].values)
    print(f"   wrong labels of CIFAR-10N, AUROC: SelfClean {ours:.3f}", end="")
    if installed("cleanlab"):
        print(
            f", cleanlab with 20 neighbours {roc_auc_score(wrong, -cleanlab_labels(data)):.3f}"
        )


def main():
    heading(f"cleaning, peers numpy {np.__version__}, scipy {version('scipy')} and cleanlab")
    rankings()
    quality()
    growth()


if __name__ == "__main__":
    if len(sys.argv) == 4:
        alone(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
