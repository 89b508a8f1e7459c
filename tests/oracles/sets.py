"""Slow twins of prediction sets: every definition as a loop."""

import math


def scores(chance, score):
    """Conformity of one item's classes, from the definition."""
    out = []
    for p in chance:
        ahead = [q for q in chance if q >= p]
        if score == "probability":
            out.append(p)
        elif score == "aps":
            out.append(1 - math.fsum(ahead))
        else:
            out.append(1 - math.fsum(ahead) - 0.01 * max(len(ahead) - 5, 0))
    return out


def threshold(pairs, alpha, block=1.0):
    """The largest score below which no more than alpha (W + b) - b is said."""
    whole = math.fsum(w for _, w in pairs)
    most = alpha * (whole + block) - block
    good = [
        s for s, w in pairs if w > 0 and math.fsum(v for t, v in pairs if t < s) <= most + 1e-9
    ]
    return max(good) if most >= -1e-9 else -math.inf


def split_threshold(true_scores, alpha):
    """The k-th smallest score, k = floor(alpha (n + 1))."""
    k = math.floor(alpha * (len(true_scores) + 1) + 1e-9)
    return sorted(true_scores)[k - 1] if k else -math.inf


def p_value(said, new):
    """One plus how many are no larger, over one plus how many there are."""
    below = math.fsum(w for s, w in said if s <= new)
    return (1 + below) / (1 + math.fsum(w for _, w in said))


def smallest_set(mass, level):
    """Classes by falling mass until enough is held, and all that tie with the last."""
    held, least = 0.0, math.inf
    for p in sorted(mass, reverse=True):
        if held >= level * math.fsum(mass) - 1e-9:
            break
        held, least = held + p, p
    return [p >= least for p in mass]


def coverage(labels, member, inside):
    """Share of what is said of a stratum that sets hold."""
    cells = [(i, k) for i, row in enumerate(labels) for k in range(len(row)) if inside[i][k]]
    whole = math.fsum(labels[i][k] for i, k in cells)
    return math.fsum(labels[i][k] * member[i][k] for i, k in cells) / whole


def others_held(sets, said):
    """How often one reader's set of an item holds what another reader says of it."""
    pairs = [
        math.fsum(share for k, share in said[u].items() if k in sets[v])
        for v in range(len(sets))
        for u in range(len(sets))
        if u != v
    ]
    return math.fsum(pairs) / len(pairs)
