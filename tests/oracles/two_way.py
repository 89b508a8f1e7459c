"""Two-way inference straight from its definition: look at every vote, annotator and cell."""

from collections import defaultdict
from fractions import Fraction

import numpy as np


def anova(table):
    """Variance by units, and by annotators without noise, of a table (units, annotators)."""
    units, people = table.shape
    rows, columns, centre = table.mean(1), table.mean(0), table.mean()
    noise = table - rows[:, None] - columns + centre
    mean_square = (noise**2).sum() / ((units - 1) * (people - 1))
    by_unit = people * rows.var(ddof=1)
    by_annotator = units * columns.var(ddof=1)
    total = units * people
    return by_unit / total, (by_annotator - mean_square) / total


def design(votes, unit):
    """Factors of units and annotators, and both degrees of freedom.

    ``votes`` are (item, annotator); ``unit`` that of every item.
    """
    items = len(unit)
    own = defaultdict(list)
    for item, who in votes:
        own[item].append(who)
    people = sorted({who for _, who in votes})
    weight = {r: sum(Fraction(1, len(own[i])) for i, who in votes if who == r) for r in people}
    together = np.zeros((len(people), len(people)))
    for readers in own.values():
        for a in readers:
            for b in readers:
                together[people.index(a), people.index(b)] += 1 / len(readers) ** 2
    centred = np.diag([float(weight[r]) for r in people]) - together
    cell, number = defaultdict(float), defaultdict(int)
    for item, who in votes:
        cell[unit[item], who] += 1 / len(own[item])
        number[unit[item], who] += 1
    sizes = np.array([list(unit).count(u) for u in sorted(set(unit))]) / items
    u, c3 = (sizes**2).sum(), (sizes**3).sum()
    within = sum(w**2 * (1 - w / number[key]) for key, w in cell.items())
    above = sum(float(w) ** 2 for w in weight.values()) - sum(w**2 for w in cell.values())
    factor = above / ((centred**2).sum() - within) / (1 - u)
    eigen = np.linalg.eigvalsh(centred.T @ centred)
    centring = np.eye(len(sizes)) - np.outer(np.ones(len(sizes)), sizes)
    spread = centring.T @ np.diag(sizes**2) @ centring
    root = np.linalg.eigvals(spread).real
    return {
        "unit": u / (u - 2 * c3 + u * u),
        "annotator": factor,
        "df_annotators": eigen.sum() ** 2 / (eigen**2).sum(),
        "df_units": root.sum() ** 2 / (root**2).sum(),
    }


def soft_moves(votes, classes, slopes):
    """How every vote (item, annotator, class) moves the value; slopes (items, classes)."""
    moved = []
    for item, _, label in votes:
        said = [other for i, _, other in votes if i == item]
        mean = sum(slopes[item, k] * said.count(k) / len(said) for k in range(classes))
        moved.append((slopes[item, label] - mean) / len(said))
    return np.array(moved)


def most(votes, classes):
    """Hard label of a list of votes, shared by the classes with equally many."""
    number = [votes.count(k) for k in range(classes)]
    top = [float(one == max(number)) for one in number]
    return np.array(top) / sum(top)


def hard_moves(votes, classes, slopes):
    """The same by the hard label without each vote."""
    moved = []
    for n, (item, _, _) in enumerate(votes):
        own = [v for v, vote in enumerate(votes) if vote[0] == item]
        without = {}
        for left in own:
            rest = [votes[v][2] for v in own if v != left]
            without[left] = most(rest, classes) if rest else np.zeros(classes)
        mean = np.mean([without[v] for v in own], axis=0)
        moved.append((len(own) - 1) / len(own) * slopes[item] @ (mean - without[n]))
    return np.array(moved)


def sums(votes, unit, moved):
    """Covariances over annotators and over cells; moved (models, votes)."""
    people, cells = defaultdict(float), defaultdict(float)
    for n, (item, who, *_) in enumerate(votes):
        people[who] = people[who] + moved[:, n]
        cells[unit[item], who] = cells[unit[item], who] + moved[:, n]
    return tuple(sum(np.outer(x, x) for x in each.values()) for each in (people, cells))


def step_down(t, draws):
    """Adjusted p-values: the largest of what is left, hypothesis by hypothesis."""
    left, p, last = list(range(len(t))), np.ones(len(t)), 0.0
    while left:
        first = max(left, key=lambda j: t[j])
        most = draws[:, left].max(axis=1)
        last = max(last, (1 + (most >= t[first]).sum()) / (1 + len(draws)))
        p[first] = last
        left.remove(first)
    return p
