"""Slow twins of the loops of the model of ability and sign, exact posteriors, made-up votes."""

import math
from statistics import NormalDist

import numpy as np
from scipy.stats import truncnorm

from equipoise import Annotations
from tests.oracles.kernels import GOLDEN, MASK, mix

TURN = 0.64


def moments(mean, variance, side):
    """First and second moment of a normal, of its positive or negative part if side says so."""
    if side == 0:
        return mean, mean**2 + variance
    root = math.sqrt(variance)
    cut = truncnorm(-side * mean / root, math.inf)
    first = side * mean + root * cut.mean()
    return side * first, root**2 * cut.var() + first**2


def half_sweep(votes, other, own, prior):
    """New (mean, variance, first, second) of each row; votes are (row, column, weight, y)."""
    out = []
    for row, (_, _, _, second, side) in enumerate(own):
        mine = [vote for vote in votes if vote[0] == row]
        precision, shift = prior[1], prior[0] * prior[1]
        for _, column, weight, y in mine:
            xi = math.sqrt(second * other[column][1])
            precision += weight * math.tanh(xi / 2) / (2 * xi) * other[column][1]
            shift += weight * (y - 0.5) * other[column][0]
        mean, variance = shift / precision, 1 / precision
        out.append((mean, variance, *moments(mean, variance, side)))
    return out


def bound(votes, items, annotators, priors):
    """Bound for rows (mean, variance, first, second) that are not cut off."""
    total = 0.0
    for i, a, weight, y in votes:
        xi = math.sqrt(items[i][3] * annotators[a][3])
        total += weight * (y - 0.5) * items[i][2] * annotators[a][2]
        total -= weight * math.log(2 * math.cosh(xi / 2))
    for rows, (centre, precision) in ((items, priors[0]), (annotators, priors[1])):
        for mean, variance, *_ in rows:
            away = precision * (variance + (mean - centre) ** 2)
            total -= 0.5 * (away - 1 - math.log(variance * precision))
    return total


class Stream:
    """The counter-based stream, in Python integers."""

    def __init__(self, state):
        self.state = int(state)

    def uniform(self):
        self.state = (self.state + GOLDEN) & MASK
        return ((mix(self.state) >> 11) + 0.5) / 2**53

    def exponential(self):
        return -math.log(self.uniform())

    def normal(self):
        radius = math.sqrt(-2 * math.log(self.uniform()))
        return radius * math.cos(2 * math.pi * self.uniform())


def short_passage(z, stream):
    """Inverse normal below `TURN`."""
    if z < 1 / TURN:
        while True:
            first, second = stream.exponential(), stream.exponential()
            if first**2 <= 2 * second / TURN:
                x = TURN / (1 + TURN * first) ** 2
                if stream.uniform() <= math.exp(-z * z * x / 2):
                    return x
    while True:
        y = stream.normal() ** 2
        x = 1 / z + y / (2 * z**2) - math.sqrt(4 * y / z + (y / z) ** 2) / (2 * z)
        x = 1 / (z * z * x) if stream.uniform() > 1 / (1 + z * x) else x
        if x <= TURN:
            return x


def term(n, x):
    """Terms of the alternating series."""
    k = (n + 0.5) * math.pi
    if x > TURN:
        return k * math.exp(-k * k * x / 2)
    return k * (2 / (math.pi * x)) ** 1.5 * math.exp(-2 * (n + 0.5) ** 2 / x)


def polya_gamma(z, stream):
    """One PG(1, z) variable by Devroye's method."""
    z, below = abs(z) / 2, NormalDist().cdf
    rate = math.pi**2 / 8 + z * z / 2
    long = math.pi / (2 * rate) * math.exp(-rate * TURN)
    root = math.sqrt(TURN)
    short = 2 * (
        math.exp(-z) * below(root * z - 1 / root) + math.exp(z) * below(-root * z - 1 / root)
    )
    while True:
        if stream.uniform() < long / (long + short):
            x = TURN + stream.exponential() / rate
        else:
            x = short_passage(z, stream)
        total, n = term(0, x), 0
        height = stream.uniform() * total
        while True:
            n += 1
            total += term(n, x) * (-1) ** n
            if n % 2 and height <= total:
                return x / 4
            if n % 2 == 0 and height > total:
                break


def exact_with_gold(votes, known, label):
    """Chance of each item, mean abilities and log evidence by quadrature, two annotators."""
    c, b = np.arange(-5, 7.01, 0.1), np.arange(-15, 15.01, 0.05)
    first, second = (x.ravel() for x in np.meshgrid(c, c, indexing="ij"))
    ability = np.stack([first, second])
    log = -0.5 * ((ability - 1) ** 2).sum(axis=0) - np.log(2 * np.pi)
    density = np.exp(-0.5 * (b / 3) ** 2) / (3 * np.sqrt(2 * np.pi))
    up = []
    for item in range(votes[:, 0].max() + 1):
        value = np.tile(density, (len(first), 1))
        for _, who, y in votes[votes[:, 0] == item]:
            value /= 1 + np.exp(-(2 * y - 1) * ability[who][:, None] * b)
        middle = np.isclose(b, 0)
        high = value[:, b > 1e-9].sum(axis=1) + 0.5 * value[:, middle].sum(axis=1)
        low = value.sum(axis=1) - high
        whole = 2 * (high if label else low) if item == known else high + low
        log += np.log(whole * 0.05)
        up.append(high / (high + low))
    weight = np.exp(log)
    total = weight.sum()
    return np.array(up) @ weight / total, ability @ weight / total, np.log(total * 0.01)


def table(votes, **columns):
    votes = np.asarray(votes)
    items, annotators = votes[:, 0].max() + 1, votes[:, 1].max() + 1
    return Annotations(
        kind="binary", items=tuple(f"i{k}" for k in range(items)), classes=("no", "yes"),
        annotators=tuple(f"a{k}" for k in range(annotators)), item=votes[:, 0],
        annotator=votes[:, 1], label=votes[:, 2], **columns,
    )  # fmt: skip


def crowd(seed, items=40, annotators=6, share=0.6):
    """Random votes of annotators of random ability, the first of them adversarial."""
    random = np.random.default_rng(seed)
    b, c = random.normal(0, 3, items), random.normal(1.2, 0.3, annotators)
    c[0] = -1.5
    item, who = np.nonzero(random.random((items, annotators)) < share)
    y = random.random(len(item)) < 1 / (1 + np.exp(-b[item] * c[who]))
    return np.stack([item, who, y.astype(int)], axis=1)


def with_gold(votes, item, label):
    gold = np.zeros(len(votes) + 1, dtype=bool)
    gold[-1] = True
    return table(np.vstack([votes, [item, 0, label]]), is_gold=gold)


def simulated_world(random, prior, shape):
    """Items and abilities drawn from the prior, and a vote of everybody on every item, in rows.

    The rows are (start, annotator, weight, kappa), kappa +1/2 for yes and -1/2 for no.
    """
    items, people = shape
    b = random.normal(0, prior.sigma_b, items)
    c = random.normal(prior.mu_c, prior.sigma_c, people)
    yes = random.random(shape) < 1 / (1 + np.exp(-np.outer(b, c)))
    column = np.tile(np.arange(people), items)
    start = np.arange(0, items * people + 1, people)
    return b, c, (start, column, np.ones(items * people), yes.ravel() - 0.5)
