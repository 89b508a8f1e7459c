"""Everything that `evaluate` says about a study, straight from the definitions, in plain loops.

A task is a dictionary: its ``items`` (numbers shared by all tasks), the probabilities of every
model (models, items, classes), and either ``votes`` (item, annotator, class) or ``draws`` of
shares (draws, items, classes). Metrics take weights of items, shares and probabilities; their
derivatives are central differences. An annotator of -1 is a reference standard.
"""

import math
from collections import defaultdict
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, stdtr, stdtrit

from tests.oracles import combinations as parts_of
from tests.oracles import two_way
from tests.oracles.combinations import STEP, few_units, half_width, unit_factor

RARE, FEW_UNITS, FEWEST_EVENTS = 0.15, 20, 2
NOTHING, CLOSE = 1e-18, 1e-12  # what differences leave of 0, and up to which values are equal


# ---- metrics -------------------------------------------------------------------------------
def one_auroc(weight, share, score):
    return parts_of.auroc(weight, share, score)


def one_precision(weight, share, score):
    """Mean over positives of the share of positives among what scores at least as much."""
    total = 0.0
    for cut in np.unique(score):
        run, seen = score == cut, score >= cut
        mass = weight[run] @ share[run]
        own = weight[run] @ (share[run] * (1 - share[run]))
        total += (mass * (weight[seen] @ share[seen]) + own) / weight[seen].sum()
    return total / (weight @ share)


def against_rest(one, average="macro"):
    """One class against the rest: of a yes/no question the second class alone."""

    def value(weight, share, chance):
        if share.shape[1] == 2:
            return one(weight, share[:, 1], chance[:, 1])
        values = [one(weight, share[:, k], chance[:, k]) for k in range(share.shape[1])]
        mass = weight @ share if average == "weighted" else np.ones(len(values))
        return mass @ np.array(values) / mass.sum()

    return value


def decisions(chance):
    """The most probable class; tied ones share."""
    top = chance >= chance.max(axis=1, keepdims=True) - 1e-12
    return top / top.sum(axis=1, keepdims=True)


def mean_loss(loss):
    """The mean over items of what is expected under the shares of votes."""

    def value(weight, share, chance):
        classes = np.eye(share.shape[1])
        each = [[loss(row, truth) for truth in classes] for row in chance]
        return weight @ (share * np.array(each)).sum(axis=1) / weight.sum()

    return value


def _brier(row, truth):
    return ((row - truth) ** 2).sum()


def _log(row, truth):
    return -math.log(row @ truth)


def _rps(row, truth):
    return ((np.cumsum(row) - np.cumsum(truth))[:-1] ** 2).sum() / (len(row) - 1)


def _apart(row, truth):
    grades = np.arange(len(row))
    return np.abs(grades - truth @ grades) @ decisions(row[None])[0]


def _right(row, truth):
    return decisions(row[None])[0] @ truth


def table(weight, share, chance):
    """Shares of true and decided classes."""
    return (weight[:, None] * share).T @ decisions(chance) / weight.sum()


def costs(power, size):
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    return (apart / (size - 1)) ** power if power else (apart > 0) * 1.0


def kappa(power):
    """Agreement beyond chance, errors by their distance in grades to some power."""

    def value(weight, share, chance):
        joint = table(weight, share, chance)
        cost = costs(power, len(joint))
        by_luck = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        return 1 - (cost * joint).sum() / (cost * by_luck).sum()

    return value


def mcc(weight, share, chance):
    joint = table(weight, share, chance)
    true, said = joint.sum(axis=1), joint.sum(axis=0)
    across = np.trace(joint) - true @ said
    return across / math.sqrt((1 - true @ true) * (1 - said @ said))


def balanced(weight, share, chance):
    joint = table(weight, share, chance)
    return np.mean(np.diag(joint) / joint.sum(axis=1))


def relative_cost(weight, share, chance):
    joint = table(weight, share, chance)
    return (1 - np.trace(joint)) / (1 - joint.sum(axis=1).max())


class Counted(NamedTuple):
    """Of one class: decided right, there, decided, and everything."""

    hit: float
    true: float
    said: float
    n: float


def _parts(joint, k):
    return Counted(joint[k, k], joint[k].sum(), joint[:, k].sum(), joint.sum())


RATIOS = {  # what is counted, and among what
    "sensitivity": lambda of: (of.hit, of.true),
    "specificity": lambda of: (of.n - of.true - of.said + of.hit, of.n - of.true),
    "ppv": lambda of: (of.hit, of.said),
    "npv": lambda of: (of.n - of.true - of.said + of.hit, of.n - of.said),
    "f1": lambda of: (2 * of.hit, of.true + of.said),
}


def one_ratio(name, scope=""):
    """A ratio of one class, or its average over classes."""

    def value(weight, share, chance):
        joint, size = table(weight, share, chance), share.shape[1]
        if isinstance(scope, int) or (size == 2 and not scope):
            above, below = RATIOS[name](_parts(joint, 1 if scope == "" else scope))
            return above / below
        each = np.array([np.divide(*RATIOS[name](_parts(joint, k))) for k in range(size)])
        mass = joint.sum(axis=1) if scope == "weighted" else np.ones(size)
        return mass @ each / mass.sum()

    return value


def denominators(name, scope, share, chance):
    """What every item counts in the denominator of a share of items; None where it is none."""
    if name == "accuracy":
        return np.ones(len(share))
    if name not in RATIOS or name == "f1":
        return None
    if scope == "" and share.shape[1] == 2:
        scope = 1
    if not isinstance(scope, int):
        return None
    true, said = share[:, scope], decisions(chance)[:, scope]
    return np.array([
        RATIOS[name](Counted(t * s, t, s, 1.0))[1] for t, s in zip(true, said, strict=True)
    ])  # fmt: skip


def net_benefit(weight, share, chance, odds=1 / 9):
    acts = chance[:, 1] >= 0.1 - 1e-12
    return weight @ (acts * (share[:, 1] - share[:, 0] * odds)) / weight.sum()


INF = math.inf
# name: value, whether more is better, bounds, what it rests on, scope of a ratio
METRICS = {
    "auroc": (against_rest(one_auroc), True, (0.0, 1.0), "classes", ""),
    "auroc:average=weighted": (
        against_rest(one_auroc, "weighted"), True, (0.0, 1.0), "classes", "",
    ),
    "average_precision": (against_rest(one_precision), True, (0.0, 1.0), "classes", ""),
    "accuracy": (mean_loss(_right), True, (0.0, 1.0), "items", ""),
    "brier_score": (mean_loss(_brier), False, (0.0, 2.0), "items", ""),
    "log_score": (mean_loss(_log), False, (0.0, INF), "items", ""),
    "ranked_probability_score": (mean_loss(_rps), False, (0.0, 1.0), "items", ""),
    "mean_absolute_error": (mean_loss(_apart), False, (0.0, INF), "items", ""),
    "net_benefit": (net_benefit, True, (-1 / 9, 1.0), "benefit", ""),
    "normalised_expected_cost": (relative_cost, False, (0.0, INF), "items", ""),
    "cohen_kappa": (kappa(0), True, (-1.0, 1.0), "chance", ""),
    "quadratic_weighted_kappa": (kappa(2), True, (-1.0, 1.0), "chance", ""),
    "mcc": (mcc, True, (-1.0, 1.0), "chance", ""),
    "balanced_accuracy": (balanced, True, (0.0, 1.0), "class", ""),
} | {name: (one_ratio(name), True, (0.0, 1.0), "class", "") for name in RATIOS} | {
    "f1:average=weighted": (one_ratio("f1", "weighted"), True, (0.0, 1.0), "class", "weighted"),
    "sensitivity:positive=c2": (one_ratio("sensitivity", 2), True, (0.0, 1.0), "class", 2),
    "ppv:positive=c0": (one_ratio("ppv", 0), True, (0.0, 1.0), "class", 0),
}  # fmt: skip


# ---- votes and labels ----------------------------------------------------------------------
def hard(share):
    """The class with most votes; tied ones share."""
    top = share >= share.max(axis=1, keepdims=True) - 1e-12
    return top / top.sum(axis=1, keepdims=True)


def ballots(task, of_group=None):
    """One row per vote (place, who, mass of classes, share of the item's votes).

    Annotators of one group are one, whose vote on an item is the mean of theirs with all
    their weight.
    """
    classes = task["models"].shape[2]
    rows = []
    for place, item in enumerate(task["items"]):
        cast = [(who, label) for i, who, label in task["votes"] if i == item]
        by_who = defaultdict(list)
        for number, (who, label) in enumerate(cast):
            if of_group is not None and who >= 0:
                who = of_group[who]
            by_who[who if who >= 0 else (who, number)].append(np.eye(classes)[label])
        for who, masses in by_who.items():
            key = who if not isinstance(who, tuple) else who[0]
            rows.append((place, key, np.mean(masses, axis=0), len(masses) / len(cast)))
    return rows


def shares(task):
    """Share of every class among an item's votes, (items, classes)."""
    if "draws" in task:
        return task["draws"].mean(axis=0)
    out = np.zeros(task["models"].shape[1:])
    for place, _, mass, share in ballots(task):
        out[place] += share * mass
    return out


def labels_of(task, kind):
    return shares(task) if kind == "soft" else hard(shares(task))


def value(task, metric, kind, m):
    """The metric of a model."""
    share = labels_of(task, kind)
    return METRICS[metric][0](np.ones(len(share)), share, task["models"][m])


def slopes(task, metric, kind):
    """Derivatives by weights (models, items) and by shares (models, items, classes)."""
    of, share = METRICS[metric][0], labels_of(task, kind)
    n, classes = share.shape
    g = np.zeros((len(task["models"]), n))
    h = np.zeros((len(task["models"]), n, classes))
    once = np.ones(n)
    for m, chance in enumerate(task["models"]):
        for i in range(n):
            step = STEP * (np.arange(n) == i)
            g[m, i] = of(once + step, share, chance) - of(once - step, share, chance)
            alone = METRICS[metric][3] == "classes" and classes > 2  # each against the rest
            for k in range(0 if alone else 1, classes):  # else from the first class to this one
                move = np.outer(step, np.eye(classes)[k] - (0 if alone else np.eye(classes)[0]))
                h[m, i, k] = of(once, share + move, chance) - of(once, share - move, chance)
    g -= g.mean(axis=1, keepdims=True)  # the number of items is fixed
    return g / (2 * STEP), h / (2 * STEP)


def vote_moves(task, h, kind, cell, *, whole):
    """How every vote moves every model: (place, who, moves, share, scale).

    ``whole`` is whether the metric looks at whole distributions.
    """
    named, rows, share = cell["named"], ballots(task, cell["of_group"]), shares(task)
    of_item = defaultdict(list)
    for row in rows:
        of_item[row[0]].append(row)
    several = max(len(own) for own in of_item.values()) > 1
    scores, classes = task["models"], share.shape[1]
    expected = np.stack([
        two_way.expected_share(share[:, k], scores[:, :, k]) for k in range(classes)
    ], axis=1)  # fmt: skip
    if whole:
        expected /= expected.sum(axis=1, keepdims=True)
    moves = []
    for place, own in of_item.items():
        left = 1 - sum(part**2 for *_, part in own)
        scale = 1 / left if len(own) > 1 and named else 1.0
        if not named:
            scale = math.sqrt(len(own) / max(len(own) - 1, 1))
        others = [
            hard(((share[place] - part * mass) / (1 - part))[None])[0] if len(own) > 1 else None
            for _, _, mass, part in own
        ]
        for number, (_, who, mass, part) in enumerate(own):
            if len(own) == 1:
                moved = mass - expected[place] if several and named else np.zeros(classes)
            elif kind == "soft":
                moved = part * (mass - share[place])
            else:
                moved = (len(own) - 1) / len(own) * (np.mean(others, axis=0) - others[number])
            moves.append((place, who, scale * (h[:, place] @ moved), part, scale))
    return moves


def design(moves, unit):
    """What undoes the centring of annotators, and their degrees of freedom."""
    people = sorted({who for _, who, *_ in moves})
    of_item = defaultdict(list)
    for place, who, _, part, scale in moves:
        of_item[place].append((people.index(who), part, scale))
    several = max(len(own) for own in of_item.values()) > 1
    load, scaled, alone = np.zeros((3, len(people)))
    together = np.zeros((len(people), len(people)))
    cell, wide, centred, number = (defaultdict(float) for _ in range(4))
    for place, own in of_item.items():
        single = several and len(own) == 1
        for a, part, scale in own:
            load[a] += part
            scaled[a] += scale * part
            key = unit[place], a
            cell[key] += part
            wide[key] += scale * part
            centred[key] += 0.0 if single else part
            number[key] += 1
            if single:
                alone[a] += part
                continue
            for b, other, _ in own:
                together[a, b] += scale * part * other
    matrix = np.diag(scaled) - together
    if alone.any():
        matrix -= np.outer(alone, alone) / alone.sum()
    trace, square = (matrix**2).sum(), ((matrix @ matrix) ** 2).sum()
    sizes = np.unique(unit, return_counts=True)[1] / len(unit)
    within = sum(w**2 * (1 - centred[key] / number[key]) for key, w in wide.items())
    above = (load**2).sum() - sum(w**2 for w in cell.values())
    factor = above / (trace - within) / (1 - (sizes**2).sum())
    return {
        "factor": factor,
        "df": trace**2 / square,
        "load": dict(zip(people, load, strict=True)),
    }


def rare_design(made, rows, share):
    """The same where a metric ranks items by votes of which few are for a class."""
    rare = min(share, 1 - share)
    if rare >= RARE:
        return made
    called = defaultdict(float)
    for _, who, mass, part in rows:
        called[who] += part * (mass[1] if share < RARE else 1 - mass[1])
    few = [x for x in called.values() if x > 0]
    factors = [unit_factor(np.array(x)) for x in (few, list(made["load"].values()))]
    (rare_factor, rare_df), (factor, df) = factors
    return made | {
        "factor": made["factor"] * rare_factor / factor, "df": made["df"] * rare_df / df,
    }  # fmt: skip


# ---- everything about one metric -----------------------------------------------------------
def masses(task, metric, kind, *, decided):
    """What every item counts, by side of the metric."""
    rests, scope, share = METRICS[metric][3], METRICS[metric][4], labels_of(task, kind)
    name = metric.partition(":")[0]
    per_model = [denominators(name, scope, share, chance) for chance in task["models"]]
    if per_model[0] is not None:
        return per_model
    if rests not in ("classes", "class") and not decided:
        return [np.ones(len(share))]
    columns = [1] if share.shape[1] == 2 else range(share.shape[1])
    return [share[:, k] for k in columns] + [1 - share[:, k] for k in columns]


def leverage(tasks, metric, kind, cell):
    """Share of the metric's mass in each of few units, or None of many or of fixed items."""
    unit, grouped = cell["unit"], cell["grouped"]
    names = sorted({unit[item] for task in tasks for item in task["items"]})
    rests, classes = METRICS[metric][3], tasks[0]["models"].shape[2]
    counted = rests == "class" or (rests == "chance" and classes == 2)
    few = grouped and len(names) < FEW_UNITS
    if not cell["items"] or not (few or counted):
        return None
    found = []
    for task in tasks:
        sides = [
            side / max(side.sum(), 1e-12)
            for side in masses(task, metric, kind, decided=not few)
        ]
        if not few:
            size = [1 / max((side**2).sum(), 1e-12) for side in sides]
            if classes > 2 or not FEWEST_EVENTS <= min(size) < FEW_UNITS:
                return None
            sides = [sides[int(np.argmin(size))]]
        own = np.array([unit[item] for item in task["items"]])
        found.append([np.mean([side[own == name].sum() for side in sides]) for name in names])
    return np.mean(found, axis=0)


def rarest(tasks, kind, units):
    """How many units a value of classes that did not vary rests on."""
    least = INF
    for task in tasks:
        share = labels_of(task, kind)
        for k in [1] if share.shape[1] == 2 else range(share.shape[1]):
            least = min(least, share[:, k].sum(), len(share) - share[:, k].sum())
    return min(units, max(least, 1.0))


def over_draws(task, metric, kind):
    """Covariance of the values of models over the draws of the truth."""
    of = METRICS[metric][0]
    truths = [p if kind == "soft" else hard(p) for p in task["draws"]]
    return np.cov([[of(np.ones(len(p)), p, c) for p in truths] for c in task["models"]])


def task_design(task, moves, cell, *, ranks):
    """The design of annotators of a task; a metric may rank items of a rare class."""
    made = design(moves, [cell["unit"][item] for item in task["items"]])
    if not ranks or task["models"].shape[2] > 2:
        return made
    return rare_design(made, ballots(task, cell["of_group"]), shares(task)[:, 1].mean())


def parts(tasks, metric, kind, cell):
    """Sums by unit, annotator and cell, factors, degrees of freedom, floor and shares.

    ``cell`` has ``unit`` of every item, ``grouped``, ``named``, ``of_group``, and whether
    ``items`` are a sample.
    """
    unit, named = cell["unit"], cell["named"]
    models, share = len(tasks[0]["models"]), 1 / len(tasks)
    by_unit, people, cells = (defaultdict(lambda: np.zeros(models)) for _ in range(3))
    made, drawn, alone = [], np.zeros((models, models)), None
    for number, task in enumerate(tasks):
        g, h = slopes(task, metric, kind)
        for item, moved in zip(task["items"], g.T, strict=True):
            by_unit[unit[item]] += share * moved
        alone = g
        if "draws" in task:
            drawn += share**2 * over_draws(task, metric, kind)
        elif named is False or any(who >= 0 for _, who, _ in task["votes"]):
            whole = METRICS[metric][3] != "classes" and task["models"].shape[2] > 2
            moves = vote_moves(task, h, kind, cell, whole=whole)
            for v, (place, who, moved, *_) in enumerate(moves):
                of_unit = unit[task["items"][place]]
                people[who] += share * moved
                cells[(of_unit, who) if named else (number, v)] += share * moved
            if named:
                ranks = METRICS[metric][3] == "classes" and kind == "soft" and len(tasks) == 1
                made.append(task_design(task, moves, cell, ranks=ranks))
    sizes = np.unique(
        [unit[item] for item in {i for task in tasks for i in task["items"]}],
        return_counts=True,
    )[1]
    e, df_units = unit_factor(sizes)
    f = float(np.mean([m["factor"] for m in made])) if made else 1.0
    mass = leverage(tasks, metric, kind, cell)
    names = sorted(by_unit)
    sums = np.array([by_unit[name] for name in names])
    if mass is not None:
        factor, df_units = few_units(mass)
        sums, e = sums * factor[:, None], 1.0
    others = [
        np.array(list(x.values())) if x else np.zeros((1, models)) for x in (people, cells)
    ]
    return {
        "few units": mass is not None,
        "items": e * sums.T @ sums,
        "annotators": f * others[0].T @ others[0],
        "cells": f * others[1].T @ others[1],
        "draws": drawn,
        "by_unit": sums * math.sqrt(e),
        "people": {who: math.sqrt(f) * x for who, x in people.items()},
        "by_cell": {key: math.sqrt(f) * x for key, x in cells.items()},
        "units": dict(zip(names, sums * math.sqrt(e), strict=True)),
        "df_units": df_units,
        "df_annotators": min((m["df"] for m in made), default=0.0),
        "floor": floor(tasks, metric, kind, len(sizes)),
        "trials": trials(tasks, metric, kind, unit, alone),
    }


def floor(tasks, metric, kind, units):
    """Standard error of what did not vary: one more unit at the other extreme."""
    _, _, (low, high), rests, _ = METRICS[metric]
    width = high - low
    if not math.isfinite(width):
        models = range(len(tasks[0]["models"]))
        every = [np.mean([value(task, metric, kind, m) for task in tasks]) for m in models]
        width = np.abs(every).max()
    yes_no = tasks[0]["models"].shape[2] == 2
    by_class = rests in ("classes", "class") or (rests in ("chance", "benefit") and yes_no)
    return width / (1 + (rarest(tasks, kind, units) if by_class else units))


def trials(tasks, metric, kind, unit, g):
    """Of a share of items in one task: what every item counts, its influence and its unit."""
    name, scope = metric.partition(":")[0], METRICS[metric][4]
    share = labels_of(tasks[0], kind)
    every = [denominators(name, scope, share, chance) for chance in tasks[0]["models"]]
    if len(tasks) > 1 or every[0] is None:
        return None
    return [
        (weight, moved, [unit[item] for item in tasks[0]["items"]])
        for weight, moved in zip(every, g, strict=True)
    ]


def effective_units(weight, moved, unit, centre, level):
    """Korn and Graubard's effective number of units of a share, and what each is worth.

    None where clusters are too few to tell how alike their units are.
    """
    total = weight.sum()
    n = total**2 / (weight**2).sum()
    loads, sums = defaultdict(float), defaultdict(float)
    for w, s, u in zip(weight, moved, unit, strict=True):
        loads[u] += w
        sums[u] += s
    groups = total**2 / sum(w**2 for w in loads.values())
    size, by_unit = n / groups, (moved**2).sum()
    worth = max(centre * (1 - centre) / (by_unit * n), 1.0) if 0 < centre < 1 else 1.0
    events, inside = n * min(centre, 1 - centre), 0.0
    if size > 1 + 1e-9:
        if groups < 4:
            return None
        likeness = 0.3
        if by_unit > 0 and events > 0:
            rho = (sum(s**2 for s in sums.values()) / by_unit - 1) / (size - 1)
            rho += (1 + (size - 1) * max(rho, 0.0)) / n
            likeness = (events * min(max(rho, 0.0), 1.0) + 5 * 0.3) / (events + 5)
        inside = (size - 1) * likeness
    worse = 1 + inside
    if worse <= 1 + 1e-9:
        return n * worth
    df = worse**2 / (1 / (n - 1) + (worse - 1) ** 2 / max(groups - 1, 0.5))
    t = [stdtrit(max(x, 1), (1 + level) / 2) for x in (n - 1, df)]
    return min(n / worse * (t[0] / t[1]) ** 2, n) * worth


def share_interval(centre, of, half, alone, level):
    """Clopper and Pearson's on the effective number; annotators take what they widen."""
    n = effective_units(*of, centre, level)
    if n is None:
        return None
    n /= max(half / alone, 1.0) ** 2 if half > 0 else 1.0
    hits, tail = centre * n, (1 - level) / 2
    low = 0.0 if hits <= 1e-12 else betaincinv(hits, n - hits + 1, tail)
    high = 1.0 if n - hits <= 1e-12 else betaincinv(hits + 1, n - hits, 1 - tail)
    return low, high


class Numbers:
    """What follows from the parts of one metric in one question."""

    def __init__(self, found, values, whom, level, bounds):
        self.found, self.values, self.whom = found, np.asarray(values), whom
        self.level, self.bounds = level, bounds

    def of(self, contrast):
        """Rest, annotators, cells and df of a contrast; the floor where nothing varied."""
        out = parts_of.spread(self.found, contrast, self.whom)
        counted = [x if x > NOTHING else 0.0 for x in out[:3]]
        floor = self.floor(contrast)
        if max(counted) <= 1e-12 * floor:
            return floor, 0.0, 0.0, out[3]
        return (*counted, out[3])

    def floor(self, contrast):
        """The variance of a number that did not vary; of equal values there is none."""
        apart = (contrast < 0).any()
        if apart and abs(contrast @ self.values) < CLOSE:
            return 0.0
        return self.found["floor"] ** 2

    def error(self, contrast):
        variance, floor = parts_of.variance(self.of(contrast)), self.floor(contrast)
        if variance < 1e-9 * self.of(contrast)[1]:  # the noise of votes alone, to rounding
            variance = 0.0
        return math.sqrt(floor if variance <= 1e-12 * floor else variance)

    def df(self, contrast):
        rest, annotators, _, df = self.of(contrast)
        if not self.error(contrast):
            return max(df, 1.0)
        below = rest**2 / df
        if annotators:
            below += annotators**2 / self.found["df_annotators"]
        return max(self.error(contrast) ** 4 / below, 1.0)

    def half(self, contrast):
        return self.reach(contrast, self.level)

    def p(self, contrast):
        gap = abs(float(contrast @ self.values))
        gap = 0.0 if gap < CLOSE else gap
        if not self.error(contrast):
            return float(gap == 0)
        if not self.pivotal(contrast):
            return 2 * stdtr(self.df(contrast), -gap / self.error(contrast))
        df, floor = self.found["df_annotators"], self.floor(contrast)
        return parts_of.tails(gap, self.of(contrast), df, floor)

    def pivotal(self, contrast):
        return self.of(contrast)[1] > 0 and self.found["df_annotators"] < 4.5

    def reach(self, contrast, level):
        """Half the width of the interval of some level."""
        if not self.error(contrast):
            return 0.0
        if not self.pivotal(contrast):
            return stdtrit(self.df(contrast), (1 + level) / 2) * self.error(contrast)
        df, floor = self.found["df_annotators"], self.floor(contrast)
        return half_width(self.of(contrast), df, level, floor)

    def interval(self, m):
        """Both ends of a model's value."""
        contrast = np.eye(len(self.values))[m]
        half, centre = self.half(contrast), float(self.values[m])
        if self.found["trials"] is not None and self.whom[0]:
            of = self.of(contrast)
            alone = parts_of.spread(self.found, contrast, (True, False))
            alone = alone[0] - contrast @ self.found["draws"] @ contrast, 0.0, 0.0, alone[3]
            if alone[0] <= 1e-12 * self.found["floor"] ** 2:
                alone = (self.found["floor"] ** 2, 0.0, 0.0, of[3])
            width = half_width(alone, 0.0, self.level)
            ends = share_interval(centre, self.found["trials"][m], half, width, self.level)
            if ends is not None:
                return ends
        return parts_of.interval(centre, half, self.bounds)

    def gap(self, contrast):
        far = self.bounds[1] - self.bounds[0]
        return parts_of.interval(
            float(contrast @ self.values), self.half(contrast), (-far, far)
        )

    def family(self, draws=20_000):
        """Adjusted p-values of all pairs, step by step, and draws of the largest |t|."""
        k, df_people = len(self.values), self.found["df_annotators"]
        pairs = [(a, b) for a in range(k) for b in range(a + 1, k)]
        contrasts = [np.eye(k)[a] - np.eye(k)[b] for a, b in pairs]
        covariance = parts_of.covariance(self.found, self.whom)
        random = np.random.default_rng(7)
        z = random.multivariate_normal(np.zeros(k), covariance, draws, check_valid="ignore")
        few = any(self.pivotal(c) for c in contrasts)
        df = np.median([self.of(c)[3] if few else self.df(c) for c in contrasts])
        wide = np.sqrt(df / random.chisquare(df, draws))
        x = random.chisquare(df_people, draws) if few else None
        size, t = np.zeros((draws, len(pairs))), np.zeros(len(pairs))
        for n, c in enumerate(contrasts):
            gap, error = abs(float(c @ self.values)), self.error(c)
            t[n] = 0.0 if gap < CLOSE else gap / error if error else math.inf
            if not error:
                continue
            ratio = 1.0
            if few:
                rest, annotators, cells, _ = self.of(c)
                drawn = rest + np.maximum(annotators * df_people / x - cells, 0.0)
                ratio = drawn / (rest + max(annotators - cells, 0.0))
            scale = math.sqrt(max(c @ covariance @ c, 0.0))
            drawn = z @ c / scale if scale > 1e-6 * error else random.normal(size=draws)
            size[:, n] = np.abs(drawn) * np.sqrt(ratio) * wide
        p = np.maximum(two_way.step_down(t, size), [self.p(c) for c in contrasts])
        p[t == 0] = 1.0
        return dict(zip(pairs, p, strict=True)), size.max(axis=1)
