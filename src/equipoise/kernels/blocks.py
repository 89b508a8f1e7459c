"""Blocks of votes: codes of items, counts, coincidences, a pass of EM, who shares items.

A block holds votes in compressed rows: those of item i are ``code[start[i]:start[i + 1]]``, a
code being annotator * classes + answer, and ``weight`` says how often each counts, or has no
entries where all count once. ``gold`` is the known class of each item, -1 where none is known,
or has no entries where no item is gold. Sums over items and annotators are added to arrays that
are handed in, so that blocks can be added up in their order.
"""

from typing import Any

import numpy as np
from numba import uint64

from equipoise.kernels import compiled, compiled_as_numpy
from equipoise.kernels.resampling import GOLDEN, _mix

GRID = 2.0**40  # as `equipoise.truth`: posteriors are rounded so that sums are exact
FEW = 50_000  # numbers that are sorted sooner than a compiler is loaded
ROUND = 1.5 * 2.0**52  # adding it rounds to a whole number
LOT = 4096  # items whose posteriors are held at a time


@compiled
def _code_by_table(values, low, span, codes, first):
    """Code numbers of a small range by a table of them all; how many there are."""
    place, number = np.full(span, -1, np.int32), 0
    for r in range(len(values)):
        at = values[r] - low
        if place[at] < 0:
            place[at], first[number] = number, r
            number += 1
        codes[r] = place[at]
    return number


@compiled
def _code_by_hash(values, codes, first):
    """Code any numbers by a hash table; how many there are."""
    size, number = 1024, 0
    while size < 2 * len(values):
        size *= 2
    last, slots = uint64(size - 1), np.full(size, -1, np.int32)
    for r in range(len(values)):
        if r and values[r] == values[r - 1]:
            codes[r] = codes[r - 1]
            continue
        at = _mix(uint64(values[r])) & last
        while slots[at] >= 0 and values[first[slots[at]]] != values[r]:
            at = (at + uint64(1)) & last
        if slots[at] < 0:
            slots[at], first[number] = number, r
            number += 1
        codes[r] = slots[at]
    return number


def code_numbers(values: Any, low: Any, span: int) -> Any:
    """Code whole numbers by first appearance: (codes, rows of the first of each).

    ``span`` is how many numbers lie between the least and the greatest where a table of them
    all is small, else 0, and a hash table is used. A few numbers are sorted, so that a first
    small study waits for no compiler.
    """
    if len(values) > FEW:
        return _code_many(values, low, span)
    _, first, codes = np.unique(values, return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int32)
    place[np.argsort(first)] = np.arange(len(first))
    return place[codes], np.sort(first)


@compiled
def _code_many(values, low, span):
    """The same in one walk."""
    codes, first = np.empty(len(values), np.int32), np.empty(len(values), np.int64)
    if span:
        number = _code_by_table(values, low, span, codes, first)
    else:
        number = _code_by_hash(values, codes, first)
    return codes, first[:number].copy()


def hash_numbers(values: Any) -> Any:
    """A 64-bit hash of each whole number; no two numbers share one."""
    mix: Any = _mix.py_func
    return mix(values.astype(np.uint64) + GOLDEN)


def vote_patterns(start: Any, annotator: Any, *columns: Any) -> Any:
    """Number items by their votes, in their order: (number of each item, first item of each).

    The votes of item i are ``start[i]:start[i + 1]``, by whom ``annotator`` says; ``columns``
    of doubles say what they are. Items are told apart by the sum of hashes of their votes.
    """
    kinds = annotator.astype(np.int64)
    for column in columns:
        codes = code_numbers(column.view(np.int64), 0, 0)[0]
        kinds = code_numbers(kinds * 2**31 + codes, 0, 0)[0].astype(np.int64)
    return code_numbers(np.add.reduceat(hash_numbers(kinds), start[:-1]).view(np.int64), 0, 0)


@compiled
def hash_texts(offset, data):
    """A 64-bit hash of each text, given as bytes ``data[offset[i]:offset[i + 1]]``."""
    out = np.empty(len(offset) - 1, np.uint64)
    for i in range(len(out)):
        key = uint64(0xCBF29CE484222325)
        for k in range(offset[i], offset[i + 1]):
            key = (key ^ uint64(data[k])) * uint64(0x100000001B3)
        out[i] = _mix(key + uint64(offset[i + 1] - offset[i]))
    return out


@compiled_as_numpy
def coincidences(counts, block, out):
    """Add pairs of votes on one item, 1 / (votes - 1) each, to (blocks, values, values)."""
    size = counts.shape[1]
    for i in range(len(counts)):
        total = 0
        for c in range(size):
            total += counts[i, c]
        if total < 2:
            continue
        table, share = out[block[i]], 1.0 / (total - 1)
        for c in range(size):
            if counts[i, c]:
                for k in range(size):
                    if counts[i, k]:
                        table[c, k] += share * counts[i, c] * (counts[i, k] - (c == k))


@compiled
def rows_by_item(item, code, times, items):
    """Lay votes out by item, in their order: (start, code, weight)."""
    start = np.zeros(items + 1, np.int64)
    for r in range(len(item)):
        start[item[r] + 1] += 1
    for i in range(items):
        start[i + 1] += start[i]
    place, codes = start[:-1].copy(), np.empty(len(code), np.uint32)
    weight = np.empty(len(times), np.float64)
    for r in range(len(item)):
        at = place[item[r]]
        place[item[r]] += 1
        codes[at] = code[r]
        if len(times):
            weight[at] = times[r]
    return start, codes, weight


@compiled
def _on_grid(chance):
    """Round a chance so that sums of them are exact, whatever their order."""
    return (chance * GRID + ROUND - ROUND) / GRID


@compiled_as_numpy
def vote_shares(votes, gold, first, out):
    """Fill shares of votes of items from the first on, (items, classes); gold is known."""
    start, code, weight = votes
    size, heavy = out.shape[1], len(weight) > 0
    for i in range(len(out)):
        gold_class, total = gold[first + i] if len(gold) else -1, 0.0
        for k in range(size):
            out[i, k] = 1.0 if k == gold_class else 0.0
        if gold_class >= 0:
            continue
        for v in range(start[first + i], start[first + i + 1]):
            w = weight[v] if heavy else 1.0
            out[i, code[v] % size] += w
            total += w
        for k in range(size):
            out[i, k] /= total


@compiled_as_numpy
def _log_joint(votes, gold, log, prior, first, out):
    """Fill log chances of votes and class, less the likeliest of the item; the sum of those.

    A known class has 0 and the others minus infinity. Classes are summed two at a time, in
    registers, so that the codes are read half as often.
    """
    start, code, weight = votes
    size, heavy, likelihood = out.shape[1], len(weight) > 0, 0.0
    for i in range(len(out)):
        gold_class, top = gold[first + i] if len(gold) else -1, -np.inf
        for k in range(0, size, 2):
            total, total_next, following = 0.0, 0.0, min(k + 1, size - 1)
            for v in range(start[first + i], start[first + i + 1]):
                w = weight[v] if heavy else 1.0
                total += w * log[code[v], k]
                total_next += w * log[code[v], following]
            out[i, k], out[i, following] = total + prior[k], total_next + prior[following]
            top = max(top, out[i, k], out[i, following])
        if gold_class >= 0:
            top = out[i, gold_class]
            for k in range(size):
                out[i, k] = 0.0 if k == gold_class else -np.inf
        else:
            for k in range(size):
                out[i, k] -= top
        likelihood += top
    return likelihood


@compiled_as_numpy
def _normalise(out):
    """Divide chances by their sum over classes; the sum of the logarithms of those."""
    likelihood = 0.0
    for i in range(len(out)):
        whole = 0.0
        for k in range(out.shape[1]):
            whole += _on_grid(out[i, k])
        for k in range(out.shape[1]):
            out[i, k] /= whole
        likelihood += np.log(whole)
    return likelihood


def class_posteriors(votes: Any, gold: Any, log: Any, prior: Any, first: Any, out: Any) -> Any:
    """Fill class posteriors of items from the first on, (items, classes); the log-likelihood.

    ``log`` is the log chance of each answer of each annotator given each class, (codes,
    classes), and ``prior`` that of each class. The exponential is numpy's, which takes many
    numbers at once.
    """
    likelihood = _log_joint(votes, gold, log, prior, first, out)
    np.exp(out, out=out)
    return likelihood + _normalise(out)


@compiled_as_numpy
def _add_expected(votes, chances, first, counts, totals):
    """Add class posteriors of items from the first on to expected votes and class totals."""
    start, code, weight = votes
    size, heavy = len(totals), len(weight) > 0
    for i in range(len(chances)):
        for k in range(0, size, 2):
            following = min(k + 1, size - 1)
            chance = _on_grid(chances[i, k])
            chance_next = _on_grid(chances[i, following]) if following > k else 0.0
            totals[k] += chance
            totals[following] += chance_next
            for v in range(start[first + i], start[first + i + 1]):
                w = weight[v] if heavy else 1.0
                counts[code[v], k] += w * chance
                counts[code[v], following] += w * chance_next


def dawid_skene_pass(
    votes: Any, gold: Any, log: Any, prior: Any, counts: Any, totals: Any
) -> Any:
    """Class posteriors of all items, added up to expected votes; the log-likelihood.

    ``log`` is empty at the start, where shares of votes stand for posteriors; ``counts``
    (codes, classes) and ``totals`` (classes,) are added to.
    """
    items, likelihood = len(votes[0]) - 1, 0.0
    chances = np.empty((min(LOT, items), len(totals)))
    for first in range(0, items, LOT):
        lot = chances[: min(LOT, items - first)]
        if len(log):
            likelihood += class_posteriors(votes, gold, log, prior, first, lot)
        else:
            vote_shares(votes, gold, first, lot)
        _add_expected(votes, lot, first, counts, totals)
    return likelihood


@compiled
def join_annotators(votes, size, root):
    """Join annotators who rated one item in a forest, each tree known by its least code."""
    start, code, _ = votes
    for i in range(len(start) - 1):
        if start[i] == start[i + 1]:
            continue
        tree = code[start[i]] // size
        while root[tree] != tree:
            root[tree] = root[root[tree]]
            tree = root[tree]
        for v in range(start[i] + 1, start[i + 1]):
            other = code[v] // size
            while root[other] != other:
                root[other] = root[root[other]]
                other = root[other]
            if other != tree:
                low, high = min(tree, other), max(tree, other)
                root[high] = low
                tree = low


@compiled_as_numpy
def _people_of_item(begin, end, votes, kind, out):
    """Sum the votes of each person on one item; how many people there are.

    ``out`` is (person, share of the votes, number of votes, deviation of the share of the
    class from that of the item), filled for each.
    """
    (_, code, weight), (size, yes, share) = votes, kind
    (who, part, often, moved), number, total = out, 0, 0.0
    for v in range(begin, end):
        total += weight[v] if len(weight) else 1.0
    for v in range(begin, end):
        a, w = np.int64(code[v] // size), weight[v] if len(weight) else 1.0
        at = 0
        while at < number and who[at] != a:
            at += 1
        if at == number:
            who[at], part[at], often[at], moved[at] = a, 0.0, 0.0, 0.0
            number += 1
        part[at] += w / total
        often[at] += w
        moved[at] += w / total * ((code[v] % size == yes) - share)
    return number


@compiled_as_numpy
def vote_moves(votes, shares, positive, slopes, sums):
    """Add how votes move models' values: by annotator, and products by item and person.

    ``shares`` (centre, scale, alone), (items,) each: of the class ``positive`` (classes, which)
    what votes are compared with, what undoes that, and whether no other vote is in it;
    ``slopes`` (models, items). ``sums`` is (people (models, annotators), cells (models,
    models), design (2,): sums over cells of squared shares and of the same, scaled, less what
    repeats hide, weight (4, annotators): as it is, scaled, scaled where alone, and of the
    class, items (annotators,)).
    """
    start, (size, yes), (centre, scale, alone) = votes[0], positive, shares
    people, cells, design, mass, items = sums
    most = 1
    for i in range(len(start) - 1):
        most = max(most, start[i + 1] - start[i])
    who, part = np.empty(most, np.int64), np.empty(most)
    often, moved = np.empty(most), np.empty(most)
    for i in range(len(start) - 1):
        kind, out = (size, yes, centre[i]), (who, part, often, moved)
        for c in range(_people_of_item(start[i], start[i + 1], votes, kind, out)):
            hidden = 0.0 if alone[i] else part[c] / often[c]
            design[0] += part[c] ** 2
            design[1] += (scale[i] * part[c]) ** 2 * (1.0 - hidden)
            mass[0, who[c]] += part[c]
            mass[1, who[c]] += scale[i] * part[c]
            mass[2, who[c]] += scale[i] * part[c] * alone[i]
            mass[3, who[c]] += moved[c] + part[c] * centre[i]
            items[who[c]] += 1.0
            step = scale[i] * moved[c]
            for m in range(len(slopes)):
                people[m, who[c]] += slopes[m, i] * step
                for n in range(len(slopes)):
                    cells[m, n] += slopes[m, i] * slopes[n, i] * step**2


@compiled_as_numpy
def rated_together(votes, size, scale, low, out):
    """Add products of shares of annotators who rated one item; rows are from ``low`` on.

    Scaled by ``scale`` (items,); 0 leaves an item out.
    """
    start, code, weight = votes
    for i in range(len(start) - 1):
        if scale[i] == 0.0:
            continue
        begin, end = start[i], start[i + 1]
        total = 0.0
        for v in range(begin, end):
            total += weight[v] if len(weight) else 1.0
        for v in range(begin, end):
            a = np.int64(code[v] // size) - low
            if a < 0 or a >= len(out):
                continue
            share = (weight[v] if len(weight) else 1.0) / total
            for k in range(begin, end):
                other = (weight[k] if len(weight) else 1.0) / total
                out[a, np.int64(code[k] // size)] += scale[i] * share * other
