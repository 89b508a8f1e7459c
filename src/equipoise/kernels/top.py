"""Positive mass among the first k items, and pairs between two classes, per replicate."""

import numpy as np

from equipoise.kernels import compiled_as_numpy


@compiled_as_numpy
def top_mass(order, last, positive, counts, k):
    """Mass of the top k, shape (2, replicates): how many items were taken, and their mass.

    A tied run that straddles the k-th place gives its mass times the fraction taken. Truth
    and counts are (items, replicates). Stops as soon as every replicate is full.
    """
    items, width = order.shape[0], counts.shape[1]
    out = np.zeros((2, width))
    taken, mass = out[0], out[1]
    run_number, run_mass = np.zeros(width), np.zeros(width)
    for i in range(items):
        c, p = counts[order[i]], positive[order[i]]
        for r in range(width):
            run_number[r] += c[r]
            run_mass[r] += c[r] * p[r]
        if last[i] == 0:
            continue
        full = True
        for r in range(width):
            room = min(run_number[r], k - taken[r])
            if room > 0.0:
                mass[r] += run_mass[r] * (room / run_number[r])
                taken[r] += room
            full = full and taken[r] >= k
            run_number[r] = 0.0
            run_mass[r] = 0.0
        if full:
            break
    return out


@compiled_as_numpy
def class_pairs(order, last, upper, lower, counts):
    """Sums for one class against another, shape (4, replicates): U, V, pairs won, own pairs.

    ``upper`` and ``lower`` are the masses of the two classes, (items, replicates).
    """
    items, width = order.shape[0], counts.shape[1]
    out = np.zeros((4, width))
    up, down, pairs, ties = out[0], out[1], out[2], out[3]
    run_up, run_down = np.zeros(width), np.zeros(width)
    for i in range(items):
        c, u, v = counts[order[i]], upper[order[i]], lower[order[i]]
        for r in range(width):
            run_up[r] += c[r] * u[r]
            run_down[r] += c[r] * v[r]
            ties[r] += c[r] * u[r] * v[r]
        if last[i] == 0:
            continue
        for r in range(width):
            pairs[r] += run_down[r] * (up[r] + 0.5 * run_up[r])
            up[r] += run_up[r]
            down[r] += run_down[r]
            run_up[r] = 0.0
            run_down[r] = 0.0
    return out


@compiled_as_numpy
def random_ties(order, last, positive, counts, harmonic):
    """Average precision over random orders inside ties, shape (3, replicates).

    Rows: positive mass, the conditional sum, the printed sum. ``harmonic[n]`` is the n-th
    harmonic number, which sums 1 / rank over a run in closed form. Truth and counts are
    (items, replicates); copies of an item are tied with each other.
    """
    items, width = order.shape[0], counts.shape[1]
    out = np.zeros((3, width))
    mass, conditional, printed = out[0], out[1], out[2]
    number = np.zeros(width, dtype=np.int64)
    run_number = np.zeros(width, dtype=np.int64)
    run_mass, run_square = np.zeros(width), np.zeros(width)
    for i in range(items):
        c, p = counts[order[i]], positive[order[i]]
        for r in range(width):
            run_number[r] += c[r]
            run_mass[r] += c[r] * p[r]
            run_square[r] += c[r] * p[r] * p[r]
        if last[i] == 0:
            continue
        for r in range(width):
            t, before = run_number[r], number[r]
            if t > 0:
                inverse = harmonic[before + t] - harmonic[before]
                both = 0.0
                if t > 1:
                    later = t - (before + 1) * inverse
                    both = (run_mass[r] ** 2 - run_square[r]) / (t * (t - 1.0)) * later
                single = run_mass[r] / t * inverse
                conditional[r] += single * (1.0 + mass[r]) + both
                printed[r] += single * mass[r] + run_square[r] / t * inverse + both
            number[r] += t
            mass[r] += run_mass[r]
            run_number[r] = 0
            run_mass[r] = 0.0
            run_square[r] = 0.0
    return out
