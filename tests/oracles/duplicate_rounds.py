"""Slow twin of the near-duplicate rounds: all distances, one cluster at a time."""

import numpy as np


def matrix(embeddings):
    rows = np.asarray(embeddings, float)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(length > 0, length, 1)
    far = ((unit[:, None] - unit[None]) ** 2).sum(axis=2) / 4
    zero = ~unit.any(axis=1)
    far[zero[:, None] != zero[None]] = 0.5
    return far


def rounds(far, judge, patience=1):
    """All rounds, each a list of (first, second), and the clusters that are left.

    `judge` says of two places whether the items are near duplicates.
    """
    clusters = [({place}, 0) for place in range(len(far))]  # members, refusals
    judged, history = {}, []
    while True:
        asked = {}
        for members, refusals in clusters:
            if refusals < patience:
                question = _question(far, members, [one for one, _ in clusters], judged)
                if question is not None:
                    asked[question] = None
        if not asked:
            return history, [members for members, _ in clusters]
        asked = sorted(asked, key=lambda pair: (far[pair], pair))
        history.append(asked)
        judged |= {pair: judge(*pair) for pair in asked}
        clusters = _merged(clusters, [pair for pair in asked if judged[pair]], patience)


def _question(far, members, every, judged):
    """The closest pair with the nearest other cluster whose closest pair is not judged."""
    options = []
    for other in every:
        if other is not members:
            pairs = [tuple(sorted((a, b))) for a in members for b in other]
            closest = min(pairs, key=lambda pair: (far[pair], pair))
            if closest not in judged:
                options.append(closest)
    return min(options, key=lambda pair: (far[pair], pair), default=None)


def _merged(clusters, confirmed, patience):
    new = [set(members) for members, _ in clusters]
    for a, b in confirmed:
        one = next(members for members in new if a in members)
        other = next(members for members in new if b in members)
        if one is not other:
            one |= other
            new = [members for members in new if members is not other]
    before = {frozenset(members): refusals for members, refusals in clusters}
    return [
        (one, min(before[frozenset(one)] + 1, patience) if frozenset(one) in before else 0)
        for one in new
    ]
