"""Value and derivatives of soft AUROC and average precision, and what votes make of them.

Both take items by falling score, where runs of equal scores end (`equipoise.kernels.ranking`),
and the positive mass of every item; they fill, in the order of the items, the derivative by the
weight of each item and by its soft label (`equipoise.metrics.ranking` has the formulas), and
return the value, nan where it is undefined. Items are looked up once; everything else is read
and written in a row.

Sums over items are compensated (Kahan 1965): their error does not grow with the number of
items, and 10 million of them agree with exact sums to the last bits.
"""

from typing import Any

import numpy as np
from numba import njit

BLOCK = 2**16  # items whose votes are added up before they are added to the rest


@njit(cache=True, inline="always")
def _add(total: Any, low: Any, x: Any) -> Any:
    """A sum and what it is too large by, after one more term."""
    y = x - low
    larger = total + y
    return larger, (larger - total) - y


@njit(cache=True)
def _totals(positive: Any) -> Any:
    """Sums of p and of p (1 - p)."""
    up = up_low = own = own_low = 0.0
    for p in positive:
        up, up_low = _add(up, up_low, p)
        own, own_low = _add(own, own_low, p * (1.0 - p))
    return up, own


@njit(cache=True, nogil=True, error_model="numpy")
def auroc_influence(order: Any, last: Any, positive: Any, items: Any, shares: Any) -> Any:
    """AUROC, form ``pairs``."""
    number = len(order)
    total_up, own = _totals(positive)
    total_down = number - total_up
    pairs = total_up * total_down - own
    if not pairs > 1e-12 * total_up * total_down:
        items[:] = np.nan
        shares[:] = np.nan
        return np.nan
    above = above_low = won = won_low = 0.0
    begin = 0
    while begin < number:
        end, up, up_low = begin, positive[order[begin]], 0.0
        while last[end] == 0:
            end += 1
            up, up_low = _add(up, up_low, positive[order[end]])
        size = end + 1 - begin
        losing = above + 0.5 * up
        winning = total_down - (begin - above) - 0.5 * (size - up)
        for i in range(begin, end + 1):
            row = order[i]
            p = positive[row]
            q = 1.0 - p
            wins, losses = winning - 0.5 * q, losing - 0.5 * p
            won, won_low = _add(won, won_low, p * wins)
            items[row] = p * wins + q * losses
            shares[row] = wins - losses
        above, above_low = _add(above, above_low, up)
        begin = end + 1
    value = won / pairs
    for i in range(number):
        p = positive[i]
        up_pairs, down_pairs = total_down - (1.0 - p), total_up - p
        items[i] = (items[i] - value * (p * up_pairs + (1.0 - p) * down_pairs)) / pairs
        shares[i] = (shares[i] - value * (up_pairs - down_pairs)) / pairs
    return value


@njit(cache=True)
def _masses(order: Any, last: Any, positive: Any, sorted_mass: Any, above: Any) -> Any:
    """Mass of every sorted item, mass down to the end of every run, and the sum of terms."""
    seen_mass = seen_low = terms = terms_low = run = run_low = own = own_low = 0.0
    for i in range(len(order)):
        p = positive[order[i]]
        sorted_mass[i] = p
        run, run_low = _add(run, run_low, p)
        own, own_low = _add(own, own_low, p * (1.0 - p))
        if last[i] != 0:
            seen_mass, seen_low = _add(seen_mass, seen_low, run)
            above[i] = seen_mass
            terms, terms_low = _add(terms, terms_low, (run * seen_mass + own) / (i + 1))
            run = run_low = own = own_low = 0.0
    return seen_mass, terms


@njit(cache=True, nogil=True, error_model="numpy")
def precision_influence(order: Any, last: Any, positive: Any, items: Any, shares: Any) -> Any:
    """Average precision, conditional with ties in blocks."""
    number = len(order)
    mass, above = np.empty(number), np.empty(number)
    total, terms = _masses(order, last, positive, mass, above)
    if not total > 0:
        items[:] = np.nan
        shares[:] = np.nan
        return np.nan
    value = terms / total
    later = later_low = later_term = term_low = mean = mean_low = 0.0
    end = number - 1
    while end >= 0:
        seen, begin = end + 1.0, end
        run, run_low, own, own_low = mass[end], 0.0, mass[end] * (1.0 - mass[end]), 0.0
        while begin > 0 and last[begin - 1] == 0:
            begin -= 1
            run, run_low = _add(run, run_low, mass[begin])
            own, own_low = _add(own, own_low, mass[begin] * (1.0 - mass[begin]))
        later, later_low = _add(later, later_low, run / seen)
        term = (run * above[end] + own) / seen
        later_term, term_low = _add(later_term, term_low, term / seen)
        gain = above[end] / seen + later
        for i in range(begin, end + 1):
            p, row = mass[i], order[i]
            slope = (p * gain + p * (1.0 - p) / seen - later_term - value * p) / total
            mean, mean_low = _add(mean, mean_low, slope)
            items[row] = slope
            shares[row] = (gain + (1.0 - 2.0 * p) / seen - value) / total
        end = begin - 1
    mean /= number
    for i in range(number):
        items[i] -= mean
    return value


@njit(cache=True, nogil=True)
def table_labels(votes: Any, label: Any, weight: Any, together: Any) -> Any:
    """Soft labels of a table of votes (items, annotators): 1 yes, 0 no, -1 none.

    Adds up every annotator's share of the votes, and the products of the shares of two, by
    blocks of items. Returns the sums over items of 1/m and of (1 - 1/m)/m, m the votes of an
    item, and the fewest votes that an item has.
    """
    items, people = votes.shape
    own = within = 0.0
    fewest = people
    for begin in range(0, items, BLOCK):
        some_weight, some = np.zeros_like(weight), np.zeros_like(together)
        some_own = some_within = 0.0
        for i in range(begin, min(begin + BLOCK, items)):
            number = yes = 0
            for r in range(people):
                number += votes[i, r] >= 0
                yes += votes[i, r] == 1
            fewest = min(fewest, number)
            if number == 0:
                continue
            part = 1.0 / number
            label[i] = yes / number
            some_own += part
            some_within += part * (1.0 - part)
            for r in range(people):
                if votes[i, r] >= 0:
                    some_weight[r] += part
                    for s in range(people):
                        some[r, s] += part * part * (votes[i, s] >= 0)
        weight += some_weight
        together += some
        own += some_own
        within += some_within
    return own, within, fewest


@njit(cache=True, nogil=True)
def table_moves(votes: Any, label: Any, slope: Any) -> Any:
    """How a number moves with the votes, given its derivatives by soft labels (items,).

    Returns the sum over items for every annotator, (annotators,), by blocks of items.
    """
    items, people = votes.shape
    out = np.zeros(people)
    for begin in range(0, items, BLOCK):
        some = np.zeros(people)
        for i in range(begin, min(begin + BLOCK, items)):
            number = 0
            for r in range(people):
                number += votes[i, r] >= 0
            step = slope[i] / number
            for r in range(people):
                some[r] += (votes[i, r] >= 0) * step * (votes[i, r] - label[i])
        out += some
    return out
