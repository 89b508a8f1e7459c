"""The verdict with two-way intervals, and how its cost grows with items.

Six models, five annotators, five classes on as many epochs as a large sleep study has, with
every analysis; then ten models and five annotators on up to a million items. Peer: the same
models by scikit-learn's roc_auc_score against one hard label: values and no interval.
"""

import resource

import numpy as np
import sklearn
from sklearn.metrics import roc_auc_score

from benchmarks._clock import heading, once
from equipoise import Annotations, Predictions, evaluate
from equipoise.report.answer import analyse_study
from equipoise.study import Settings, Study
from equipoise.study.study import report_replicates

EPOCHS, NIGHTS = 53_236, 55
SIZES = (100_000, 300_000, 1_000_000)
PEOPLE, MODELS = 5, 10


def main():
    """Measure both."""
    heading(f"verdict, peer scikit-learn {sklearn.__version__}")
    scores, votes = sleep()
    for name in ("auroc", "accuracy"):
        seconds = once(lambda name=name: evaluate(scores, votes, metrics=[name]).table())
        print(f"   {EPOCHS:,} epochs, 6 models, {name}: {seconds:.1f} s (goal: under 5)")
    how = Settings(replicates=report_replicates(EPOCHS))
    study = {"metrics": ["accuracy"], "settings": how}
    seconds = once(lambda: analyse_study(Study.of(scores, votes, **study)))
    print(f"   every analysis: {seconds:.0f} s (goal: under 60), {memory()} (goal: under 1)")
    for items in SIZES:
        scores, votes, truth = yes_no(items)
        seconds = once(lambda s=scores, v=votes: verdict(s, v))
        peer = once(lambda s=scores, t=truth: [roc_auc_score(t, one.values) for one in s])
        each = 1e6 * seconds / items
        print(
            f"   {items:,} items, {MODELS} models: {seconds:.1f} s, {each:.1f} us an item, "
            f"{memory()}; peer {peer:.1f} s without intervals"
        )
    print("   goal at a million: under 10 s, under 3 GB")


def verdict(scores, votes):
    """Values, intervals, differences and what is separated."""
    done = evaluate(scores, votes, metrics=["auroc"])
    return done.table(), done.to_best("auroc")


def memory():
    """Most memory used so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB"


def sleep():
    """Stages of sleep by five scorers and six networks, in nights."""
    random = np.random.default_rng(0)
    true = random.integers(0, 5, EPOCHS)
    items = tuple(f"epoch-{i:06d}" for i in range(EPOCHS))
    wrong = random.random((EPOCHS, PEOPLE)) < np.linspace(0.1, 0.25, PEOPLE)
    label = np.where(wrong, random.integers(0, 5, wrong.shape), true[:, None])
    night = np.arange(EPOCHS) * NIGHTS // EPOCHS
    names = tuple(f"night-{n}" for n in range(NIGHTS))
    votes = annotations(items, label, tuple("WN12R"), "nominal", group=night, groups=names)
    scores = []
    for m in range(6):
        sure = 2.0 * np.eye(5)[true] + random.normal(0, 1 + 0.05 * m, (EPOCHS, 5))
        chance = np.exp(sure) / np.exp(sure).sum(axis=1, keepdims=True)
        scores.append(Predictions(f"net-{m}", items, chance, classes=votes.classes))
    return scores, votes


def yes_no(items):
    """A yes/no question."""
    random = np.random.default_rng(1)
    evidence = random.standard_normal(items)
    leaning = 0.5 * random.standard_normal(PEOPLE)
    noise = 0.8 * random.standard_normal((items, PEOPLE))
    label = (evidence[:, None] + leaning + noise > 0.5).astype(np.int64)
    names = tuple(f"item-{i:07d}" for i in range(items))
    votes = annotations(names, label, ("no", "yes"), "binary")
    scores = [
        Predictions(f"net-{m}", names, evidence + 0.7 * random.standard_normal(items))
        for m in range(MODELS)
    ]
    return scores, votes, label.mean(axis=1) > 0.5


def annotations(items, label, classes, kind, **more):
    """A complete table of votes."""
    return Annotations(
        kind=kind,
        items=items,
        classes=classes,
        annotators=tuple(f"reader-{r}" for r in range(PEOPLE)),
        item=np.repeat(np.arange(len(items)), PEOPLE),
        annotator=np.tile(np.arange(PEOPLE), len(items)),
        label=label.ravel(),
        **more,
    )


if __name__ == "__main__":
    main()
