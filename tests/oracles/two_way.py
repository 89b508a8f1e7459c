"""Two-way inference straight from its definition: look at every vote, annotator and cell."""

from collections import defaultdict
from fractions import Fraction
from itertools import product

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


def wider(number):
    """What undoes the centring of an item with so many votes; 1 for a vote alone."""
    return number / (number - 1) if number > 1 else 1.0


def expected_share(share, scores):
    """Share of every item by a regression on the scores of all models without that item."""
    z = scores - scores.mean(axis=1, keepdims=True)
    z /= np.sqrt((z**2).sum(axis=1, keepdims=True))
    x, expected = np.vstack([np.ones(len(share)), z]).T, np.empty(len(share))
    ridge = np.diag([0.0, *np.full(len(z), 1e-6)])
    for i in range(len(share)):
        rest, label = np.delete(x, i, axis=0), np.delete(share, i)
        expected[i] = x[i] @ np.linalg.solve(rest.T @ rest + ridge, rest.T @ label)
    return np.clip(expected, 0, 1)


def design(votes, unit):
    """Factors of units and annotators, and both degrees of freedom.

    ``votes`` are (item, annotator); ``unit`` that of every item. Every item is scaled by what
    undoes its centring; those with one vote are together one more item.
    """
    items = len(unit)
    own = defaultdict(list)
    for item, who in votes:
        own[item].append(who)
    people = sorted({who for _, who in votes})
    several = max(map(len, own.values())) > 1
    weight = {r: sum(Fraction(1, len(own[i])) for i, who in votes if who == r) for r in people}
    together = np.zeros((len(people), len(people)))
    lonely = [readers[0] for readers in own.values() if len(readers) == 1]
    scaled = defaultdict(float)
    for readers in own.values():
        scale = wider(len(readers)) / len(readers)
        for a in readers:
            scaled[a] += scale
            for b in readers:
                alone = several and len(readers) == 1
                together[people.index(a), people.index(b)] += (
                    0 if alone else scale / len(readers)
                )
    for a, b in product(lonely, lonely) if several else ():
        together[people.index(a), people.index(b)] += 1 / len(lonely)
    centred = np.diag([scaled[r] for r in people]) - together
    cell, number = defaultdict(float), defaultdict(int)
    wide, hidden = defaultdict(float), defaultdict(float)
    for item, who in votes:
        readers = len(own[item])
        cell[unit[item], who] += 1 / readers
        wide[unit[item], who] += wider(readers) / readers
        hidden[unit[item], who] += 1 / readers if readers > 1 or not several else 0.0
        number[unit[item], who] += 1
    sizes = np.array([list(unit).count(u) for u in sorted(set(unit))]) / items
    u, c3 = (sizes**2).sum(), (sizes**3).sum()
    within = sum(w**2 * (1 - hidden[key] / number[key]) for key, w in wide.items())
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


def soft_moves(votes, classes, slopes, expected):
    """How every vote (item, annotator, class) moves the value; slopes (items, classes).

    A vote alone on its item is compared with what is ``expected``, (items, classes).
    """
    moved, several = [], len(votes) > len({i for i, _, _ in votes})
    for item, _, label in votes:
        said = [other for i, _, other in votes if i == item]
        mean = sum(slopes[item, k] * said.count(k) / len(said) for k in range(classes))
        if several and len(said) == 1:
            mean = slopes[item] @ expected[item]
        moved.append(wider(len(said)) * (slopes[item, label] - mean) / len(said))
    return np.array(moved)


def most(votes, classes):
    """Hard label of a list of votes, shared by the classes with equally many."""
    number = [votes.count(k) for k in range(classes)]
    top = [float(one == max(number)) for one in number]
    return np.array(top) / sum(top)


def hard_moves(votes, classes, slopes, expected):
    """The same by the hard label without each vote."""
    moved, several = [], len(votes) > len({i for i, _, _ in votes})
    for n, (item, _, label) in enumerate(votes):
        own = [v for v, vote in enumerate(votes) if vote[0] == item]
        if several and len(own) == 1:
            moved.append(slopes[item, label] - slopes[item] @ expected[item])
            continue
        without = {}
        for left in own:
            rest = [votes[v][2] for v in own if v != left]
            without[left] = most(rest, classes) if rest else np.zeros(classes)
        mean = np.mean([without[v] for v in own], axis=0)
        part = wider(len(own)) * (len(own) - 1) / len(own)
        moved.append(part * slopes[item] @ (mean - without[n]))
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
