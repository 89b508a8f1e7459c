"""Metrics of decisions straight from their definitions, one item and class at a time."""

import math
from fractions import Fraction


def deciding(row):
    """Shares of the classes with the largest probability."""
    top = [k for k, one in enumerate(row) if one >= max(row) - 1e-12]
    return [1 / len(top) if k in top else 0.0 for k in range(len(row))]


def table(labels, predicted, weights=None):
    """Expected counts, true classes in rows."""
    size = len(predicted[0])
    out = [[0.0] * size for _ in range(size)]
    for i, row in enumerate(predicted):
        for d, part in enumerate(deciding(row)):
            for k in range(size):
                weight = 1.0 if weights is None else weights[i]
                out[k][d] += weight * labels[i][k] * part
    return out


def ratio(above, below):
    return above / below if below > 1e-12 else math.nan


def one_vs_rest(name, labels, predicted, k, weights=None):
    """One class against the rest, by true and false positives and negatives."""
    counts = table(labels, predicted, weights)
    size = range(len(counts))
    tp = counts[k][k]
    fn = sum(counts[k][d] for d in size if d != k)
    fp = sum(counts[t][k] for t in size if t != k)
    tn = sum(counts[t][d] for t in size for d in size if t != k and d != k)
    return {
        "sensitivity": lambda: ratio(tp, tp + fn),
        "specificity": lambda: ratio(tn, tn + fp),
        "ppv": lambda: ratio(tp, tp + fp),
        "npv": lambda: ratio(tn, tn + fn),
        "f1": lambda: ratio(2 * tp, 2 * tp + fp + fn),
    }[name]()


def averaged(name, labels, predicted, average):
    """Mean over classes, alike or by their mass."""
    size = range(len(predicted[0]))
    values = [one_vs_rest(name, labels, predicted, k) for k in size]
    mass = [sum(row[k] for row in labels) if average == "weighted" else 1.0 for k in size]
    return sum(v * m for v, m in zip(values, mass, strict=True)) / sum(mass)


def balanced_accuracy(labels, predicted):
    size = range(len(predicted[0]))
    return sum(one_vs_rest("sensitivity", labels, predicted, k) for k in size) / len(size)


def correlation(labels, predicted):
    """Covariance of indicators over the root of their variances, all classes together."""
    counts = table(labels, predicted)
    size, total = range(len(counts)), sum(map(sum, counts))
    true = [sum(counts[k]) / total for k in size]
    decided = [sum(counts[t][k] for t in size) / total for k in size]
    across = sum(counts[k][k] / total - true[k] * decided[k] for k in size)
    spread = [sum(one * (1 - one) for one in each) for each in (true, decided)]
    return ratio(across, math.sqrt(max(spread[0] * spread[1], 0.0)))


def kappa(labels, predicted):
    counts = table(labels, predicted)
    size, total = range(len(counts)), sum(map(sum, counts))
    seen = sum(counts[k][k] for k in size) / total
    chance = sum(sum(counts[k]) / total * sum(counts[t][k] for t in size) / total for k in size)
    return ratio(seen - chance, 1 - chance)


def soft_agreement(votes, decisions):
    """Guillot's, of votes counted by class, in exact fractions."""
    each = [Fraction(row[d], max(row)) for row, d in zip(votes, decisions, strict=True)]
    return float(sum(each) / len(each))


def sensitivity_at(p, s, specificity, weights=None):
    """Walk down the ROC curve, and keep the highest point that is specific enough."""
    w = [1.0] * len(p) if weights is None else list(weights)
    up = sum(a * b for a, b in zip(w, p, strict=True))
    down = sum(a * (1 - b) for a, b in zip(w, p, strict=True))
    if not up > 0 or not down > 0:
        return math.nan
    allowed, here, best = 1 - specificity, (0.0, 0.0), 0.0
    for score in sorted(set(s), reverse=True):
        rows = [i for i in range(len(s)) if s[i] == score]
        there = (
            here[0] + sum(w[i] * (1 - p[i]) for i in rows) / down,
            here[1] + sum(w[i] * p[i] for i in rows) / up,
        )
        if there[0] <= allowed + 1e-12:
            best = there[1]
        elif here[0] <= allowed + 1e-12:
            part = (allowed - here[0]) / (there[0] - here[0])
            best = max(best, here[1] + part * (there[1] - here[1]))
        here = there
    return best


def net_benefit(p, s, threshold):
    """True positives less false ones at the odds of the threshold, per item."""
    called = [i for i in range(len(p)) if s[i] >= threshold - 1e-12]
    true, false = sum(p[i] for i in called), sum(1 - p[i] for i in called)
    return (true - false * threshold / (1 - threshold)) / len(p)
