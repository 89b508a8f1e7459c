"""Annotators of some ability, items of some sign: a pass of ascent, and a Gibbs chain.

A vote says yes with chance sigmoid(c b), c the ability and b the sign and ease of the item.
Given Polya-Gamma variables w the model is normal in c and in b. Coordinate ascent needs their
mean, tanh(xi / 2) / (2 xi) with xi^2 = E[c^2] E[b^2]; the chain draws them by Devroye's exact
method (Polson, Scott and Windle 2013), PG(1, z) = J*(1, z / 2) / 4. Items of known class have a
normal cut off at zero. Ascent takes blocks of votes (`kernels.blocks`); the chain takes
compressed rows (start, column, weight, kappa), kappa the weight times +1/2 for yes and -1/2 for
no. Random numbers come from one counter-based stream.
"""

import math

import numpy as np
from numba import njit, uint64

from equipoise.kernels import compiled, compiled_as_numpy
from equipoise.kernels.plackett_luce import _uniform
from equipoise.kernels.resampling import _mix

TURN = 0.64  # where the two envelopes of Devroye's method meet
HALF_PI, LOG_ROOT_TWO_PI = 0.5 * math.pi, 0.5 * math.log(2.0 * math.pi)
LOG_TWO, LOG_TWO_HIGH, LOG_TWO_LOW = math.log(2.0), 0.6931471803691238, 1.9082149292705877e-10
ROUND = 1.5 * 2.0**52  # adding it rounds to a whole number
BLOCK = 1024  # votes at a time, which stay in the fastest cache


@compiled
def _normal_below(x):
    """Distribution function of the standard normal."""
    return 0.5 * math.erfc(-x * math.sqrt(0.5))


@compiled
def _positive_part(x):
    """Mean of N(x, 1) given that it is positive."""
    if x > -5.0:
        return x + np.exp(-0.5 * x * x - LOG_ROOT_TWO_PI) / _normal_below(x)
    fraction = -x
    for k in range(60, 1, -1):
        fraction = k / fraction - x
    return 1.0 / fraction


@compiled
def _moments(mean, variance, side):
    """First and second moment of a normal, cut off at zero when its side is known."""
    if side == 0:
        return mean, mean * mean + variance
    deviation = np.sqrt(variance)
    x = side * mean / deviation
    first = _positive_part(x)
    return side * deviation * first, variance * (1.0 + x * first)


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _exp_less_one(x):
    """exp(-x) - 1 for x >= 0 in plain arithmetic, which compilers turn into wide vectors."""
    shifted = ROUND - min(x, 700.0) * (1 / LOG_TWO)
    whole, series = shifted - ROUND, 1.0
    rest = (-min(x, 700.0) - whole * LOG_TWO_HIGH) - whole * LOG_TWO_LOW
    scale = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52).view(np.float64)
    for n in range(12, 1, -1):
        series = 1.0 + series * rest * (1.0 / n)
    return scale * series * rest + (scale - 1.0)


@njit(cache=True, fastmath={"contract", "reassoc", "arcp"}, error_model="numpy")
def _weigh_and_cost(xi, mass):
    """Replace xi by mass * xi * tanh(xi / 2); the sum of mass * log(2 cosh(xi / 2)).

    That logarithm is xi / 2 + 2 atanh(e / (2 + e)), e = exp(-xi).
    """
    total = 0.0
    for k in range(len(xi)):
        less = _exp_less_one(xi[k])
        z, series = (1.0 + less) / (3.0 + less), 0.0
        for n in range(29, 0, -2):
            series = series * z * z + 1.0 / n
        total += mass[k] * (0.5 * xi[k] + 2.0 * z * series)
        xi[k] *= -mass[k] * less / (2.0 + less)
    return total


@compiled
def moments(mean, variance, side):
    """First and second moments of normals, cut off at zero where their side is known."""
    first, second = np.empty(len(mean)), np.empty(len(mean))
    for r in range(len(mean)):
        known_side = side[r] if len(side) else 0
        first[r], second[r] = _moments(mean[r], variance[r], known_side)
    return first, second


@compiled_as_numpy
def _spread(votes, rows, items, people, xi):
    """Write xi of the votes of some rows of items, one behind the other."""
    (start, code, _), root = votes, people[1]
    base, second = start[rows[0]], items[3]
    for r in range(rows[0], rows[1]):
        scale = np.sqrt(second[r])
        for k in range(start[r], start[r + 1]):
            xi[k - base] = scale * root[code[k] >> 1]


@njit(cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")
def _weigh(xi, mass):
    """Replace xi by mass * xi * tanh(xi / 2)."""
    for k in range(len(xi)):
        less = _exp_less_one(xi[k])
        xi[k] *= -mass[k] * less / (2.0 + less)


@compiled_as_numpy
def _update_items(votes, rows, items, people, out):
    """Update some rows of items given their weighed votes; (part of the bound, move).

    ``people`` is (first moment of annotators, precision of the prior of items).
    """
    (start, code, _), (mean, variance, first, second, side) = votes, items
    (ability, precision), (xi, kappa, _), fit, moved = people, out, 0.0, 0.0
    base = start[rows[0]]
    for r in range(rows[0], rows[1]):
        shift, load = 0.0, 0.0
        for k in range(start[r], start[r + 1]):
            shift += kappa[k - base] * ability[code[k] >> 1]
            load += xi[k - base]
        fit += shift * first[r]
        before = mean[r] / np.sqrt(variance[r])
        variance[r] = 1.0 / (precision + 0.5 * load / second[r])
        mean[r] = shift * variance[r]
        now, known_side = mean[r] / np.sqrt(variance[r]), side[r] if len(side) else 0
        if 0.4 * abs(now - before) > moved:  # a chance moves by less than 0.4 times that
            moved = max(moved, abs(_normal_below(now) - _normal_below(before)))
        first[r], second[r] = _moments(mean[r], variance[r], known_side)
    return fit, moved


@compiled_as_numpy
def glad_pass(votes, items, people, precision, sums):
    """Update items in place given annotators, and add up what annotators need of them.

    ``votes`` is (start, code, weight) with code annotator * 2 + answer; ``items`` (mean,
    variance, first, second moment, side); ``people`` (first moment, root of the second);
    ``sums`` (shift, load) of annotators. Returns what the votes give to the bound before the
    update, and how far the chance of an item moved.
    """
    start, code, weight = votes
    ability, (shift, load) = (people[0], precision), sums
    most = max(BLOCK, np.diff(start).max() if len(start) > 1 else 0)
    out = (np.empty(most), np.empty(most), np.empty(most))
    last, stop, fit, moved = len(start) - 1, 0, 0.0, 0.0
    while stop < last:
        begin, base = stop, start[stop]
        while stop < len(start) - 1 and (
            start[stop] == base or start[stop + 1] - base <= BLOCK
        ):
            stop += 1
        rows, size = (begin, stop), start[stop] - base
        for k in range(size):
            w = weight[base + k] if len(weight) else 1.0
            out[1][k], out[2][k] = w * ((code[base + k] & 1) - 0.5), w
        _spread(votes, rows, items, people, out[0])
        fit -= _weigh_and_cost(out[0][:size], out[2][:size])
        gain, far = _update_items(votes, rows, items, ability, out)
        fit, moved = fit + gain, max(moved, far)
        _spread(votes, rows, items, people, out[0])
        _weigh(out[0][:size], out[2][:size])
        for r in range(begin, stop):
            for k in range(start[r], start[r + 1]):
                shift[code[k] >> 1] += out[1][k - base] * items[2][r]
                load[code[k] >> 1] += out[0][k - base]
    return fit, moved


@compiled
def _normal(stream):
    """A standard normal variable (Box and Muller 1958)."""
    radius = np.sqrt(-2.0 * np.log(_uniform(stream)))
    return radius * np.cos(4.0 * HALF_PI * _uniform(stream))


@compiled
def _normal_above(least, stream):
    """A standard normal variable given that it exceeds `least` (Robert 1995)."""
    while least <= 0.0:
        z = _normal(stream)
        if z > least:
            return z
    rate = 0.5 * (least + np.sqrt(least * least + 4.0))
    while True:
        z = least - np.log(_uniform(stream)) / rate
        if np.log(_uniform(stream)) <= -0.5 * (z - rate) ** 2:
            return z


@compiled
def _short_passage(z, stream):
    """An inverse normal variable of mean 1 / z and shape 1, given that it is below `TURN`."""
    if z * TURN < 1.0:
        while True:
            first, second = -np.log(_uniform(stream)), -np.log(_uniform(stream))
            if first * first <= 2.0 * second / TURN:
                x = TURN / (1.0 + TURN * first) ** 2
                if _uniform(stream) <= np.exp(-0.5 * z * z * x):
                    return x
    mean = 1.0 / z
    while True:
        r = mean * _normal(stream) ** 2
        x = mean / (1.0 + 0.5 * (r + np.sqrt(4.0 * r + r * r)))
        x = mean * mean / x if _uniform(stream) > mean / (mean + x) else x
        if x <= TURN:
            return x


@compiled
def _term(n, x):
    """The n-th term of the alternating series of the density of J*(1, 0)."""
    k = 2.0 * (n + 0.5) * HALF_PI
    if x > TURN:
        return k * np.exp(-0.5 * k * k * x)
    return k * np.exp(-1.5 * np.log(HALF_PI * x) - 2.0 * (n + 0.5) ** 2 / x)


@compiled
def _accepted(x, stream):
    """Squeeze a point between the partial sums of the series."""
    total, n = _term(0, x), 0
    height = _uniform(stream) * total
    while True:
        total -= _term(n + 1, x)
        if height <= total:
            return True
        n += 2
        total += _term(n, x)
        if height > total:
            return False


@compiled
def polya_gamma(z, stream):
    """Draw a PG(1, z) variable exactly."""
    z, root = 0.5 * abs(z), np.sqrt(1.0 / TURN)
    rate = 0.5 * HALF_PI * HALF_PI + 0.5 * z * z
    up = np.log(rate) + rate * TURN
    left = np.exp(up - z + np.log(_normal_below(root * (TURN * z - 1.0))))
    left += np.exp(up + z + np.log(_normal_below(-root * (TURN * z + 1.0))))
    long_share = 1.0 / (1.0 + left * 2.0 / HALF_PI)
    while True:
        long = _uniform(stream) < long_share
        x = TURN - np.log(_uniform(stream)) / rate if long else _short_passage(z, stream)
        if _accepted(x, stream):
            return 0.25 * x


@compiled
def _sweep(votes, state, prior, sums, stream):
    """Draw the augmentation and the items, then the annotators; ``sums`` are filled anew."""
    (start, column, weight, kappa, side), (b, c, chance) = votes, state
    omega, (shift, precision) = np.empty(len(column)), sums
    shift[:], precision[:] = prior[1] * prior[2], prior[2]
    for i in range(len(b)):
        mean, exact = 0.0, prior[0]
        for k in range(start[i], start[i + 1]):
            a, omega[k] = column[k], 0.0
            for _ in range(int(weight[k])):
                omega[k] += polya_gamma(b[i] * c[a], stream)
            mean += kappa[k] * c[a]
            exact += omega[k] * c[a] * c[a]
        x, deviation = mean / np.sqrt(exact), 1.0 / np.sqrt(exact)
        chance[i] = _normal_below(x)
        if side[i] == 0:
            b[i] = deviation * (x + _normal(stream))
        else:
            x *= side[i]
            b[i] = side[i] * deviation * max(x + _normal_above(-x, stream), 1e-300)
        for k in range(start[i], start[i + 1]):
            shift[column[k]] += kappa[k] * b[i]
            precision[column[k]] += omega[k] * b[i] * b[i]
    for a in range(len(c)):
        c[a] = shift[a] / precision[a] + _normal(stream) / np.sqrt(precision[a])


@compiled
def _part_sums(state, parts):
    """Per part: sums of b^2, c^2, c and votes times c, numbers of items and of annotators."""
    (item_part, annotator_part, anchored, votes), (b, c) = parts, state
    sums, size = np.empty((6, len(anchored) + 1)), len(anchored) + 1
    for row, value in ((0, b * b), (4, np.ones(len(b)))):
        sums[row] = np.bincount(item_part, value, size)
    for row, value in ((1, c * c), (2, c), (3, votes * c), (5, np.ones(len(c)))):
        sums[row] = np.bincount(annotator_part, value, size)
    return sums


@compiled
def _part_move(sums, anchored, prior, stream):
    """Factor of the items of a part, whose annotators are divided by it; votes never notice.

    First the scale, then the sign, both by Metropolis; where the prior does not know the sign
    the mean ability is made positive instead, which is exact by symmetry.
    """
    factor, step = 1.0, min(1.0, 2.4 / np.sqrt(2.0 * (sums[4] + sums[5])))
    for _ in range(3):
        log_step = step * _normal(stream)
        new = factor * np.exp(log_step)
        gain = (sums[4] - sums[5]) * log_step
        gain -= 0.5 * prior[0] * sums[0] * (new**2 - factor**2)
        gain -= 0.5 * prior[2] * sums[1] * (new**-2 - factor**-2)
        gain += prior[1] * prior[2] * sums[2] * (1.0 / new - 1.0 / factor)
        if np.log(_uniform(stream)) < gain:
            factor = new
    if anchored or prior[1] == 0.0:
        return factor if anchored or sums[3] >= 0.0 else -factor
    turned = np.log(_uniform(stream)) < -2.0 * prior[1] * prior[2] * sums[2] / factor
    return -factor if turned else factor


@compiled
def chain(votes, parts, prior, steps, out):
    """Run one Gibbs chain.

    ``votes`` is by item and ends with the known sides; ``parts`` is (part of each item, part of
    each annotator, which parts have a known item, votes of each annotator), one part more for
    those without votes; ``prior`` is (precision of items, mean and precision of annotators);
    ``steps`` is (burn-in, key); ``out`` is (chance (items,), mean (items,), ability (draws,
    annotators)), filled in place; the chain starts from the first row of abilities.
    """
    (item_part, annotator_part, anchored, _), (total_chance, total_item, ability) = parts, out
    b, c, chance = np.zeros(len(item_part)), ability[0].copy(), np.empty(len(item_part))
    work, factor = (np.empty(len(c)), np.empty(len(c))), np.ones(len(anchored) + 1)
    stream = np.array([_mix(uint64(steps[1]))], dtype=np.uint64)
    for number in range(steps[0] + len(ability)):
        _sweep(votes, (b, c, chance), prior, work, stream)
        sums = _part_sums((b, c), parts)
        for part in range(len(anchored)):
            factor[part] = _part_move(sums[:, part], anchored[part], prior, stream)
        b *= factor[item_part]
        c /= factor[annotator_part]
        if number >= steps[0]:
            total_chance += chance
            total_item += b
            ability[number - steps[0]] = c
    total_chance /= len(ability)
    total_item /= len(ability)
