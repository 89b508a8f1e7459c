"""Values, errors, intervals and families straight from their definitions, in plain loops.

A task is a dictionary: its ``items`` (numbers shared by all tasks), the probability of every
model (models, items), and ``votes`` (item, annotator, yes) or ``draws`` of shares (draws,
items). Derivatives are central differences of the value itself.
"""

import math
from collections import defaultdict

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, stdtr, stdtrit

from tests.oracles import two_way

STEP = 1e-5
POINTS = 200  # at which the mean square of few annotators is taken, as the product does


def auroc(weight, share, score):
    """Probability that a positive lies above a negative of another item, ties half."""
    up, down = weight * share, weight * (1 - share)
    wins = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    pairs = np.outer(up, down) * (1 - np.eye(len(score)))
    return (pairs * wins).sum() / pairs.sum()


def brier_score(weight, share, score):
    """Squared distance to the class, summed over both classes."""
    loss = share * 2 * (1 - score) ** 2 + (1 - share) * 2 * score**2
    return weight @ loss / weight.sum()


def normalised_expected_cost(weight, share, score):
    """Errors, relative to those of always saying the commoner class."""
    yes = np.where(score > 0.5, 1.0, np.where(score < 0.5, 0.0, 0.5))
    wrong = share * (1 - yes) + (1 - share) * yes
    return (weight @ wrong) / min(weight @ share, weight @ (1 - share))


def net_benefit(weight, share, score, threshold=0.1):
    """True positives less false ones at the odds of the threshold, per item."""
    acts = score >= threshold - 1e-12
    gain = np.where(acts, share - (1 - share) * threshold / (1 - threshold), 0.0)
    return weight @ gain / weight.sum()


WEIGHED = {"auroc": "classes", "net_benefit": "classes"}  # by what; all others by items
METRICS = {
    "auroc": (auroc, True, (0.0, 1.0)),
    "brier_score": (brier_score, False, (0.0, 2.0)),
    "normalised_expected_cost": (normalised_expected_cost, False, (0.0, math.inf)),
    "net_benefit": (net_benefit, True, (-0.1 / 0.9, 1.0)),
}


def hard(share):
    """More than half, ties one half."""
    return np.where(share > 0.5 + 1e-9, 1.0, np.where(share < 0.5 - 1e-9, 0.0, 0.5))


def shares(task):
    """Share of yes of every item."""
    if "draws" in task:
        return task["draws"].mean(axis=0)
    return np.array(
        [np.mean([yes for i, _, yes in task["votes"] if i == item]) for item in task["items"]]
    )


def truth(task, labels):
    """What the models are scored against."""
    return shares(task) if labels == "soft" else hard(shares(task))


def value(task, metric, labels, m):
    """The metric of a model."""
    p = truth(task, labels)
    return METRICS[metric][0](np.ones(len(p)), p, task["models"][m])


def slopes(task, metric, labels):
    """Derivatives by the weight and by the share of every item, (models, items) both."""
    of, p = METRICS[metric][0], truth(task, labels)
    n, models = len(p), task["models"]
    g, h = np.zeros((2, len(models), n))
    for m, score in enumerate(models):
        for i in range(n):
            one = STEP * (np.arange(n) == i)
            g[m, i] = of(1 + one, p, score) - of(1 - one, p, score)
            h[m, i] = of(np.ones(n), p + one, score) - of(np.ones(n), p - one, score)
    return g / (2 * STEP), h / (2 * STEP)


def vote_moves(task, h, labels, *, named):
    """How every vote moves every model, and who cast it: [(item, annotator, moves)]."""
    moves = []
    expected = two_way.expected_share(shares(task), np.asarray(task["models"]))
    several = len(task["votes"]) > len(task["items"])
    for place, item in enumerate(task["items"]):
        cast = [(who, yes) for i, who, yes in task["votes"] if i == item]
        m = len(cast)
        if m < 2:
            if several and named:
                who, yes = cast[0]
                moves.append((item, who, (yes - expected[place]) * h[:, place]))
            continue
        answers = np.array([yes for _, yes in cast], float)
        without = [hard(np.delete(answers, v).mean()) for v in range(m)]
        for v, (who, yes) in enumerate(cast):
            moved = (yes - answers.mean()) / m
            if labels == "hard":
                moved = (m - 1) / m * (np.mean(without) - without[v])
            scale = two_way.wider(m) if named else math.sqrt(m / (m - 1))
            moves.append((item, who, scale * moved * h[:, place]))
    return moves


def unit_factor(sizes):
    """What undoes the centring of units of these sizes, and their degrees of freedom."""
    w = np.array(sizes, float) / sum(sizes)
    centring = np.eye(len(w)) - np.outer(np.ones(len(w)), w)
    spread = centring.T @ np.diag(w**2) @ centring
    trace, square = np.trace(spread), np.trace(spread @ spread)
    return (w**2).sum() / trace, trace**2 / square


def few_units(leverage):
    """What undoes the centring of each of few units, and Bell and McCaffrey's df."""
    factor = [1 / math.sqrt(1 - b) for b in leverage]
    spread = [
        [factor[g] * leverage[g] * ((g == h) - leverage[h]) for h in range(len(leverage))]
        for g in range(len(leverage))
    ]
    square = np.array(spread).T @ np.array(spread)
    return np.array(factor), np.trace(square) ** 2 / np.trace(square @ square)


def leverage(tasks, weighed, labels, unit):
    """Share of what the metric is made of that lies in each unit, the mean over tasks."""
    names = sorted({unit[item] for task in tasks for item in task["items"]})
    masses = []
    for task in tasks:
        p = truth(task, labels)
        sides = [p, 1 - p] if weighed == "classes" else [np.ones(len(p))]
        of_unit = [[unit[item] == name for item in task["items"]] for name in names]
        masses.append(
            [np.mean([side @ mine / side.sum() for side in sides]) for mine in of_unit]
        )
    return names, np.mean(masses, axis=0)


def parts(tasks, metric, labels, unit, *, named):
    """Sums by unit, annotator and cell, factors and degrees of freedom of an average."""
    models, share = len(tasks[0]["models"]), 1 / len(tasks)
    by_unit, people, cells = (defaultdict(lambda: np.zeros(models)) for _ in range(3))
    factors, freedom, drawn = [], [], np.zeros((models, models))
    for number, task in enumerate(tasks):
        g, h = slopes(task, metric, labels)
        for place, item in enumerate(task["items"]):
            by_unit[unit[item]] += share * g[:, place]
        if "draws" in task:
            of = METRICS[metric][0]
            kind = hard if labels == "hard" else np.asarray
            every = [
                [of(np.ones(len(p)), kind(p), score) for score in task["models"]]
                for p in task["draws"]
            ]
            drawn += share**2 * np.cov(np.array(every).T)
            continue
        moves = vote_moves(task, h, labels, named=named)
        for v, (item, who, moved) in enumerate(moves):
            people[who] += share * moved
            cells[(unit[item], who) if named else (number, v)] += share * moved
        position = {item: place for place, item in enumerate(task["items"])}
        votes = [(position[item], who) for item, who, _ in task["votes"]]
        made = two_way.design(votes, [unit[item] for item in task["items"]])
        factors.append(made["annotator"])
        freedom.append(made["df_annotators"])
    everything = {item for task in tasks for item in task["items"]}
    sizes = np.unique([unit[item] for item in everything], return_counts=True)[1]
    e, df_units = unit_factor(sizes)
    f = (float(np.mean(factors)) if named else 1.0) if factors else 0.0
    few = max(sizes) > 1 and len(sizes) < 20
    if few:
        names, share = leverage(tasks, WEIGHED.get(metric, "items"), labels, unit)
        factor, df_units = few_units(share)
        by_unit = {name: by_unit[name] * f for name, f in zip(names, factor, strict=True)}
        e = 1.0
    sums = [
        np.array([group[key] for key in group]) if group else np.zeros((1, models))
        for group in (by_unit, people, cells)
    ]
    return {
        "few units": few,
        "items": e * sums[0].T @ sums[0],
        "annotators": f * sums[1].T @ sums[1],
        "cells": f * sums[2].T @ sums[2],
        "draws": drawn,
        "by_unit": sums[0],
        "df_units": df_units,
        "df_annotators": min(freedom, default=0.0),
    }


def spread(found, contrast, whom):
    """Parts of the variance of a contrast of models: rest, annotators, cells, and df of items.

    ``whom`` says whether (items, annotators) are random, and whether annotators have names.
    """
    items, annotators, cells, draws = (
        float(contrast @ found[name] @ contrast)
        for name in ("items", "annotators", "cells", "draws")
    )
    moved = found["by_unit"] @ contrast
    square = (moved**2).sum()
    excess = len(moved) * (moved**4).sum() / square**2 - 1 if square > 1e-18 else 0.0
    df = min(found["df_units"], max(2 * len(moved) / excess, 1.0) if excess > 0 else math.inf)
    df = found["df_units"] if found["few units"] else df
    random_items, random_people = whom
    if random_items and random_people:
        return items + draws, annotators, cells, df
    if random_items:
        return items + draws, 0.0, 0.0, df
    if random_people:
        return draws, annotators, 0.0, df
    return draws + cells, 0.0, 0.0, df


def variance(of):
    """Variance of a contrast."""
    rest, annotators, cells, _ = of
    return rest + max(annotators - cells, 0.0)


def satterthwaite(of, df_annotators):
    """Degrees of freedom of the whole."""
    rest, annotators, _, df = of
    below = rest**2 / df + (annotators**2 / df_annotators if annotators else 0.0)
    return max(variance(of) ** 2 / below, 1.0)


def tails(size, of, df_annotators, floor=0.0):
    """Two-sided p-value of a contrast of this size; nothing is surer than the floor."""
    rest, annotators, cells, df = of
    if not annotators or df_annotators >= 4.5:
        error = math.sqrt(variance(of))
        return 2 * stdtr(satterthwaite(of, df_annotators), -size / error)
    x = chdtri(df_annotators, (np.arange(POINTS) + 0.5) / POINTS)
    square = rest + np.maximum(annotators * df_annotators / x - cells, 0.0)
    error = np.sqrt(np.where(square <= 1e-12 * floor, floor, square))
    return float(np.mean(2 * stdtr(df, -size / np.maximum(error, 1e-150))))


def half_width(of, df_annotators, level, floor=0.0):
    """Where the p-value is one less the level."""
    error = math.sqrt(variance(of))
    if not of[1] or df_annotators >= 4.5:
        return error * stdtrit(satterthwaite(of, df_annotators), (1 + level) / 2)
    far = first = max(error, math.sqrt(floor), 1e-12)
    while tails(far, of, df_annotators, floor) > 1 - level:
        far *= 2

    def excess(q):
        return tails(q, of, df_annotators, floor) - (1 - level)

    return brentq(excess, 0 if far == first else far / 2, far, xtol=1e-6 * first)


def interval(centre, half, bounds):
    """On the logit scale between 0 and 1, no farther than 2.3 half widths; cut at bounds."""
    if bounds == (0.0, 1.0) and 0 < centre < 1:
        logit, scaled = math.log(centre / (1 - centre)), half / (centre * (1 - centre))
        low, high = (1 / (1 + math.exp(-(logit + s * scaled))) for s in (-1, 1))
        return max(low, centre - 2.3 * half), min(high, centre + 2.3 * half)
    return max(centre - half, bounds[0]), min(centre + half, bounds[1])


def covariance(found, whom):
    """Covariance of all models, what annotators bring without negative directions."""
    random_items, random_people = whom
    base = found["draws"] + (found["items"] if random_items else 0.0)
    if not random_people:
        return base if random_items else base + found["cells"]
    more = found["annotators"] - (found["cells"] if random_items else 0.0)
    size, direction = np.linalg.eigh((more + more.T) / 2)
    return base + direction @ np.diag(np.maximum(size, 0.0)) @ direction.T


def family(found, values, whom, draws=20_000):
    """Adjusted p-values of all pairs, step by step, and draws of the largest |t|."""
    k, df_people = len(values), found["df_annotators"]
    pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
    contrasts = [np.eye(k)[a] - np.eye(k)[b] for a, b in pairs]
    spreads = [spread(found, c, whom) for c in contrasts]
    cov = covariance(found, whom)
    random = np.random.default_rng(7)
    z = random.multivariate_normal(np.zeros(k), cov, draws, check_valid="ignore")
    few = any(of[1] > 0 and df_people < 4.5 for of in spreads)
    df = np.median([of[3] if few else satterthwaite(of, df_people) for of in spreads])
    wide = np.sqrt(df / random.chisquare(df, draws))
    x = random.chisquare(df_people, draws) if few else None
    size = []
    for contrast, of in zip(contrasts, spreads, strict=True):
        ratio = 1.0
        if few:
            rest, annotators, cells, _ = of
            ratio = (rest + np.maximum(annotators * df_people / x - cells, 0.0)) / variance(of)
        scale = math.sqrt(contrast @ cov @ contrast)
        size.append(np.abs(z @ contrast) / scale * np.sqrt(ratio) * wide)
    size = np.array(size).T
    gaps = np.array([values[a] - values[b] for a, b in pairs])
    t = np.abs(gaps) / np.sqrt([variance(of) for of in spreads])
    alone = [tails(abs(gap), of, df_people) for gap, of in zip(gaps, spreads, strict=True)]
    p = np.maximum(two_way.step_down(t, size), alone)
    return dict(zip(pairs, p, strict=True)), size.max(axis=1)
