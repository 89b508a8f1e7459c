"""A bootstrap written by hand: loop over replicates, expand, call scikit-learn."""

import math

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from equipoise.types import Annotations
from tests.oracles import kernels, ranking
from tests.strategies import names


def annotations(votes, **more):
    """Annotations of a matrix (items, annotators) of 0, 1 and nan for no vote."""
    item, annotator = np.nonzero(~np.isnan(votes))
    return Annotations(
        kind="binary", items=names(len(votes)), classes=("no", "yes"),
        annotators=names(votes.shape[1], "reader"), item=item, annotator=annotator,
        label=votes[item, annotator].astype(int), **more,
    )  # fmt: skip


def doubled(metric, p, s):
    """A scikit-learn metric, each item a positive of weight p and a negative of 1 - p."""
    label = np.repeat([1, 0], len(p))
    return metric(label, np.tile(s, 2), sample_weight=np.append(p, 1 - p))


def trapezoid(p, s):
    """Area under the soft ROC curve."""
    return doubled(roc_auc_score, p, s) if 0 < p.sum() < len(p) else math.nan


def printed(p, s):
    """Step sum under the soft precision-recall curve."""
    return doubled(average_precision_score, p, s) if p.sum() > 0 else math.nan


def precision(k):
    """Precision at k; undefined with fewer items."""
    return lambda p, s: ranking.top(p, s, k) / k if len(p) >= k else math.nan


def recall(k):
    """Recall at k; undefined with fewer items or without positives."""
    return lambda p, s: (
        ranking.top(p, s, k) / p.sum() if len(p) >= k and p.sum() > 0 else math.nan
    )


METRICS = {
    "auroc": ranking.auroc,
    "auroc:form=trapezoid": trapezoid,
    "average_precision": ranking.average_precision,
    "average_precision:form=printed": printed,
    "precision_at_3": precision(3),
    "recall_at_3": recall(3),
}


def shares(votes, plan, replicate):
    """Soft label of every item in a replicate, nan for items without voters."""
    if plan.truth == "panel":
        times = plan.annotator_counts(replicate, replicate + 1)[:, 0].astype(float)
        weight = np.where(np.isnan(votes), 0, times)
    elif plan.truth == "votes":
        cast = [row[~np.isnan(row)] for row in votes]
        counts = [(len(row), int(row.sum())) for row in cast]
        return kernels.binomial_shares(counts, plan.key("votes/"), replicate, 1)[:, 0]
    else:
        weight = (~np.isnan(votes)).astype(float)
    total = weight.sum(axis=1)
    yes = (weight * np.nan_to_num(votes)).sum(axis=1)
    return np.where(total > 0, yes / np.where(total > 0, total, 1), np.nan)


def replicates(votes, models, plan):
    """Values of shape (metrics, labels, models, replicates), one replicate after another."""
    out = np.empty((len(METRICS), 2, len(models), plan.replicates))
    for r in range(plan.replicates):
        p = shares(votes, plan, r)
        counts = plan.item_counts(r, r + 1)[:, 0] * ~np.isnan(p)
        label = np.repeat(p, counts)
        for m, s in enumerate(models):
            copies = np.repeat(s, counts)
            for k, metric in enumerate(METRICS.values()):
                out[k, 0, m, r] = metric((label > 0.5).astype(float), copies)
                out[k, 1, m, r] = metric(label, copies)
    return out
