"""Detectors of label errors, written from their definitions with plain loops."""

import math

import numpy as np


def noise_rank(rows, labels, bandwidth=1.0):
    unit = [row / np.linalg.norm(row) for row in rows]
    made = []
    for i, one in enumerate(unit):
        total = 0.0
        for j, other in enumerate(unit):
            if i != j:
                similar = math.exp(-float(((one - other) ** 2).sum()) / bandwidth)
                total += similar if labels[i] != labels[j] else -similar
        made.append(total)
    return made


def knn_disagreement(rows, labels, k):
    unit = [row / np.linalg.norm(row) for row in rows]
    made = []
    for i, one in enumerate(unit):
        near = sorted((1 - float(one @ other), j) for j, other in enumerate(unit) if j != i)
        made.append(np.mean([labels[j] != labels[i] for _, j in near[:k]]))
    return made


def confident_joint(probabilities, labels):
    """Which items are off the diagonal of the confident joint."""
    classes = range(probabilities.shape[1])
    least = {
        j: np.mean([row[j] for row, own in zip(probabilities, labels, strict=True) if own == j])
        for j in classes
        if (labels == j).any()
    }
    off = []
    for row, own in zip(probabilities, labels, strict=True):
        sure = [j for j in least if row[j] >= least[j]]
        off.append(bool(sure) and max(sure, key=lambda j: row[j]) != own)
    return off


def alignment(rows, labels):
    """Squared cosine with the first eigenvector of the class, by power iteration."""
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    made = np.empty(len(rows))
    for code in np.unique(labels):
        members = unit[labels == code]
        gram = sum(np.outer(row, row) for row in members)
        vector = np.ones(rows.shape[1])
        for _ in range(3000):
            vector = gram @ vector
            vector /= np.linalg.norm(vector)
        made[labels == code] = [float(row @ vector) ** 2 for row in members]
    return made


def conformal(nulls, tested):
    """One minus the conformal p-value, refined within its step."""
    made = []
    for value in tested:
        p = (1 + sum(null >= value for null in nulls)) / (len(nulls) + 1)
        made.append(1 - p + value / (len(nulls) + 1))
    return made
