"""Models next to readers straight from the definition: every vote, reader and unit by itself.

A study is a list of votes (item, reader, answer), the unit of every item, and for every reader
and model a decision; answers and decisions are 0 or 1.
"""

from collections import defaultdict

import numpy as np


def others(votes, item, reader):
    """Mean vote of the others on an item, and how many they are."""
    answers = [y for i, r, y in votes if i == item and r != reader]
    return np.mean(answers) if answers else np.nan, len(answers)


def balanced(truth, decided):
    """Balanced accuracy against soft labels."""
    truth, decided = np.array(truth), np.array(decided)
    found = (truth * decided).sum() / truth.sum()
    return (found + ((1 - truth) * (1 - decided)).sum() / (1 - truth).sum()) / 2


def derivatives(truth, decided, answer):
    """How the gain moves with the weight of an item, and with its truth, by small steps."""
    truth, step = np.array(truth), 1e-6
    weight = np.ones(len(truth))

    def gain(truth, weight):
        apart = np.array(decided) - np.array(answer)
        yes, no = weight * truth, weight * (1 - truth)
        return ((yes * apart).sum() / yes.sum() - (no * apart).sum() / no.sum()) / 2

    by_weight, by_truth = np.zeros(len(truth)), np.zeros(len(truth))
    for n in range(len(truth)):
        up = np.eye(len(truth))[n] * step
        by_weight[n] = (gain(truth, weight + up) - gain(truth, weight - up)) / (2 * step)
        by_truth[n] = (gain(truth + up, weight) - gain(truth - up, weight)) / (2 * step)
    return by_weight, by_truth


def kish(mass):
    """n / (n - 1) with Kish's n."""
    n = mass.sum() ** 2 / (mass**2).sum()
    return n / max(n - 1, 0.5)


def factor(share):
    """What undoes the centring at a mean with these shares."""
    square = (share**2).sum()
    return square / (square - 2 * (share**3).sum() + square**2)


def members(school):
    """Readers of every group."""
    return [np.flatnonzero(np.array(school) == s) for s in sorted(set(school))]


def compare(votes, unit, decided, weight, school=None):
    """Mean gain and the parts of its variance, given the weights of readers.

    ``decided`` is what one model says of every item; ``school`` is the group of every reader.
    """
    votes = [v for v in votes if others(votes, v[0], v[1])[1]]
    people = range(len(weight))
    gain, moved, slope = np.zeros(len(weight)), defaultdict(float), {}
    for r in people:
        read = [(i, y) for i, s, y in votes if s == r]
        truth = np.array([others(votes, i, r)[0] for i, _ in read])
        answer, model = [y for _, y in read], [decided[i] for i, _ in read]
        gain[r] = balanced(truth, model) - balanced(truth, answer)
        by_yes, by_no = truth.sum(), (1 - truth).sum()
        apart = np.array(model) - np.array(answer)
        up, down = (truth * apart).sum() / by_yes, ((1 - truth) * apart).sum() / by_no
        g = np.sqrt(kish(truth)) * truth * (apart - up) / by_yes
        g -= np.sqrt(kish(1 - truth)) * (1 - truth) * (apart - down) / by_no
        h = derivatives(truth, model, answer)[1]
        for (i, _), one, two in zip(read, g / 2, h, strict=True):
            moved[r, unit[i]] += one
            slope[i, r] = two
    mean = float(weight @ gain)
    units = sorted({unit[i] for i, _, _ in votes})
    by_unit = {u: sum(weight[r] * moved[r, u] for r in people) for u in units}
    e = factor(np.array([sum(unit[i] == u for i, _, _ in votes) for u in units]) / len(votes))
    of = members(school or range(len(weight)))
    f = factor(np.array([weight[some].sum() for some in of]))
    a = np.sqrt(f) * np.array([weight[some] @ (gain[some] - mean) for some in of])
    cell = {
        (n, u): sum(np.sqrt(f) * weight[r] * (moved[r, u] - by_unit[u]) for r in some)
        for n, some in enumerate(of)
        for u in units
    }
    leaning = np.eye(len(weight))
    centred, pull = np.zeros((2, len(weight), len(weight)))
    t, part = np.zeros(len(weight)), defaultdict(float)
    for i, s, y in votes:
        for j, r, _ in votes:
            if i != j or r == s:
                continue
            mean_others, k = others(votes, i, r)
            effect = weight[r] * slope[i, r] * (y - mean_others) / k
            t[s] += effect
            part[s, unit[i]] += effect
            load = sum(x == r for _, x, _ in votes)
            beside = np.mean([leaning[x] for n, x, _ in votes if n == i and x != r], axis=0)
            centred[s] += weight[r] / load * (leaning[s] - beside) / k
            pull[s] += weight[r] / load * leaning[s] / k
    pull, centred = (
        np.array([[x[np.ix_(some, others)].sum() for others in of] for some in of])
        for x in (pull, centred)
    )
    f_truth = (pull.sum(axis=1) ** 2).sum() / (centred**2).sum()
    t = np.array([t[some].sum() for some in of]) * np.sqrt(f_truth)
    own = {
        (n, u): sum(part[r, u] for r in some) * np.sqrt(f_truth) - t[n] / len(units)
        for n, some in enumerate(of)
        for u in units
    }
    truth = ((a + t) ** 2).sum() - (a**2).sum()
    truth -= sum((cell[k] + own[k]) ** 2 - cell[k] ** 2 for k in cell)
    return {
        "gain": gain,
        "mean": mean,
        "items": e * sum(x**2 for x in by_unit.values()),
        "readers": (a**2).sum(),
        "cells": sum(x**2 for x in cell.values()),
        "truth": max(truth, 0.0),
    }


def excess(between, gain, covariance, scale):
    """How much more gains (readers,) differ than they should, by Paule and Mandel."""
    common = (np.diag(covariance) / scale**2).sum() / (1 / scale).sum()
    variance = between + common * scale
    weight = (1 / variance) / (1 / variance).sum()
    whole = covariance + between * np.eye(len(scale))
    wanted = 0.0
    for r in range(len(scale)):
        row = -weight.copy()
        row[r] += 1
        wanted += row @ whole @ row / variance[r]
    return (((gain - weight @ gain) ** 2) / variance).sum() - wanted, weight
