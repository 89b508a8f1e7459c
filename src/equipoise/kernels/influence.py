"""Value and derivatives of soft AUROC and average precision, and what votes make of them.

Both take items by falling score, where runs of equal scores end (`equipoise.kernels.ranking`),
and the positive mass of every item; they fill, in the order of the items, the derivative by the
weight of each item and by its soft label (`equipoise.metrics.ranking` has the formulas), and
return the value, nan where it is undefined. Items are looked up once; everything else is read
and written in a row.

Both are sums over a range of the sorted items, and derivatives made of them once the sums of
all items are there: in memory all items are one range, on disk there are many
(`equipoise.scale.disk`). What lies ``before`` a range is (mass above, items above, negative
mass of all items).

Sums over items are compensated (Kahan 1965): their error does not grow with the number of
items, and 10 million of them agree with exact sums to the last bits.
"""

import numpy as np
from numba import njit

from equipoise.kernels import compiled, compiled_as_numpy


@njit(cache=True, inline="always")
def _add(total, low, x):
    """A sum and what it is too large by, after one more term."""
    y = x - low
    larger = total + y
    return larger, (larger - total) - y


@compiled
def _totals(positive):
    """Sums of p and of p (1 - p)."""
    up = up_low = itself = itself_low = 0.0
    for p in positive:
        up, up_low = _add(up, up_low, p)
        itself, itself_low = _add(itself, itself_low, p * (1.0 - p))
    return up, itself


@compiled_as_numpy
def auroc_sums(order, last, positive, before, items, slopes):
    """Fill p w + q l and w - l of the items of a range, w what they win and l what they lose.

    Ties count half and nobody meets itself. Returns the mass won, and zeros: nothing of it
    depends on the ranges below.
    """
    above, seen, total_down = before
    above_low = won = won_low = 0.0
    begin = 0
    while begin < len(order):
        end, up, up_low = begin, positive[order[begin]], 0.0
        while last[end] == 0:
            end += 1
            up, up_low = _add(up, up_low, positive[order[end]])
        size = end + 1 - begin
        losing = above + 0.5 * up
        winning = total_down - (seen + begin - above) - 0.5 * (size - up)
        for i in range(begin, end + 1):
            row = order[i]
            p = positive[row]
            q = 1.0 - p
            wins, losses = winning - 0.5 * q, losing - 0.5 * p
            won, won_low = _add(won, won_low, p * wins)
            items[row] = p * wins + q * losses
            slopes[row] = wins - losses
        above, above_low = _add(above, above_low, up)
        begin = end + 1
    return won, 0.0, 0.0, 0.0


@compiled_as_numpy
def auroc_moves(positive, masses, value, items, slopes):
    """Turn them into derivatives, given the masses of all items: p, q and pairs."""
    up, down, pairs = masses
    for i in range(len(positive)):
        p = positive[i]
        up_pairs, down_pairs = down - (1.0 - p), up - p
        items[i] = (items[i] - value * (p * up_pairs + (1.0 - p) * down_pairs)) / pairs
        slopes[i] = (slopes[i] - value * (up_pairs - down_pairs)) / pairs


@compiled_as_numpy
def auroc_influence(order, last, positive, items, shares):
    """AUROC, form ``pairs``."""
    up, itself = _totals(positive)
    down = len(order) - up
    pairs = up * down - itself
    if not pairs > 1e-12 * up * down:
        items[:] = np.nan
        shares[:] = np.nan
        return np.nan
    before = (0.0, 0.0, down)
    value = auroc_sums(order, last, positive, before, items, shares)[0] / pairs
    auroc_moves(positive, (up, down, pairs), value, items, shares)
    return value


@compiled
def _masses(order, last, positive, before, mass, above):
    """Mass of every sorted item, mass down to the end of every run, and the sum of terms."""
    (seen_mass, seen, _), seen_low, terms, terms_low = before, 0.0, 0.0, 0.0
    run = run_low = itself = itself_low = 0.0
    for i in range(len(order)):
        p = positive[order[i]]
        mass[i] = p
        run, run_low = _add(run, run_low, p)
        itself, itself_low = _add(itself, itself_low, p * (1.0 - p))
        if last[i] != 0:
            seen_mass, seen_low = _add(seen_mass, seen_low, run)
            above[i] = seen_mass
            terms, terms_low = _add(
                terms, terms_low, (run * seen_mass + itself) / (seen + i + 1)
            )
            run = run_low = itself = itself_low = 0.0
    return terms


@compiled_as_numpy
def precision_sums(order, last, positive, before, items, slopes):
    """Fill p s - t and s of the items of a range, but for what lies in ranges below.

    With r and d the mass and the sum of p (1 - p) of a run, R and N mass and number down to
    its end, and terms (r R + d) / N: s is R / N + (1 - 2 p) / N, for p s with 1 - p, and the
    sum of r / N from the run on; t that of terms / N. Returns the sums over all runs of terms,
    of d / N, of r / N and of terms / N.
    """
    mass, above = np.empty(len(order)), np.empty(len(order))
    terms = _masses(order, last, positive, before, mass, above)
    later = later_low = later_term = term_low = extra = extra_low = 0.0
    end = len(order) - 1
    while end >= 0:
        seen, begin = before[1] + end + 1.0, end
        run, run_low, itself, itself_low = mass[end], 0.0, mass[end] * (1.0 - mass[end]), 0.0
        while begin > 0 and last[begin - 1] == 0:
            begin -= 1
            run, run_low = _add(run, run_low, mass[begin])
            itself, itself_low = _add(itself, itself_low, mass[begin] * (1.0 - mass[begin]))
        later, later_low = _add(later, later_low, run / seen)
        extra, extra_low = _add(extra, extra_low, itself / seen)
        term = (run * above[end] + itself) / seen
        later_term, term_low = _add(later_term, term_low, term / seen)
        gain = above[end] / seen + later
        for i in range(begin, end + 1):
            p, row = mass[i], order[i]
            items[row] = p * gain + p * (1.0 - p) / seen - later_term
            slopes[row] = gain + (1.0 - 2.0 * p) / seen
        end = begin - 1
    return terms, extra, later, later_term


@compiled_as_numpy
def precision_moves(positive, masses, value, items, slopes):
    """Turn them into derivatives, given the mass of all items, their number and d / N.

    Of what is added up, all but the terms d / N is homogeneous of degree 1 in weights.
    """
    total, number, extra = masses
    for i in range(len(positive)):
        items[i] = (items[i] - value * positive[i] + extra / number) / total
        slopes[i] = (slopes[i] - value) / total


@compiled_as_numpy
def precision_influence(order, last, positive, items, shares):
    """Average precision, conditional with ties in blocks."""
    total, number = _totals(positive)[0], float(len(order))
    if not total > 0:
        items[:] = np.nan
        shares[:] = np.nan
        return np.nan
    before = (0.0, 0.0, number - total)
    terms, extra, _, _ = precision_sums(order, last, positive, before, items, shares)
    value = terms / total
    precision_moves(positive, (total, number, extra), value, items, shares)
    return value
