"""Gibbs chains of the Plackett-Luce model with ties, one per case, cost independent of classes.

Classes arrive at exponential times with rates lambda; a reading observes the order up to its
last ranked class, later arrivals are censored there. A class is exposed while it is awaited, so
its exposure is the sum of the waits of all stages that it takes part in. The wait of a stage is
exponential with the sum of the rates still awaited; n stages that await the same classes wait
Gamma(n) together, whatever readings they belong to, and are drawn as one. Classes that nobody
mentions matter only through the sum of their rates, which stands as one more rate at the end.

A tied block hides the order of its classes: with up to `EXACT` of them an order is drawn from
the exact chances of all subsets, R(A) = sum over a in A of R(A minus a) / (Z + sum of A);
larger blocks draw the first arrival T of the others from its log-concave density
Z exp(-Z T) prod(1 - exp(-lambda T)), then each arrival before T.

Rates that are known together but not against each other, such as those of all classes but the
strongest, would move slowly one by one. With the hidden orders fixed and the waits left open,
the density of the log of a common factor s of some rates S is log-concave,

    (sum of shapes in S) log s - s (sum of rate x exposure in S) - sum n log(fixed + s scaled)

over all stages (n copies, awaiting rates that stay and that are scaled): it is drawn by slice
sampling for the weakest class, the two weakest, ..., all but the strongest, before the waits
and then single rates are drawn.

`expected_exposures` is the mean of all that under given rates, for the likeliest ones.

Normal variables come from a ziggurat of 256 layers, gamma variables from rejection with a
squeeze (both Marsaglia and Tsang 2000, both exact); random numbers from one counter-based
stream per case (`equipoise.kernels.resampling`).
"""

import math
from typing import Any

import numpy as np
from numba import int64, uint64

from equipoise.kernels import compiled, compiled_as_numpy
from equipoise.kernels.resampling import GOLDEN, _mix

EXACT = 8
WIDTH, STEPS = 2.0, 64  # of the slice of a log scale: its first width, and most steps out
TAIL = 3.6541528853610088  # where the tail of the ziggurat of 256 layers begins


def _layers() -> tuple[Any, Any]:
    """Right ends of the layers of the ziggurat, and the normal density (times a constant)."""
    last = math.exp(-0.5 * TAIL * TAIL)
    area = TAIL * last + math.sqrt(0.5 * math.pi) * math.erfc(TAIL / math.sqrt(2.0))
    edge = [area / last, TAIL]
    while len(edge) < 256:
        x = edge[-1]
        edge.append(math.sqrt(-2.0 * math.log(area / x + math.exp(-0.5 * x * x))))
    edges = np.array([*edge, 0.0])
    return edges, np.exp(-0.5 * edges * edges)


EDGE, HEIGHT = _layers()


@compiled
def _uniform(stream):
    """A number in (0, 1)."""
    stream[0] += GOLDEN
    return (int64(_mix(stream[0]) >> uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@compiled
def _normal(stream):
    """A standard normal variable."""
    while True:
        stream[0] += GOLDEN
        word = _mix(stream[0])
        layer = int64(word & uint64(255))
        x = ((int64(word >> uint64(11)) + 0.5) * (2.0 / 9007199254740992.0) - 1.0) * EDGE[layer]
        if abs(x) < EDGE[layer + 1]:
            return x
        if layer == 0:
            step = -np.log(_uniform(stream)) / TAIL
            if -2.0 * np.log(_uniform(stream)) > step * step:
                return math.copysign(TAIL + step, x)
        else:
            low, high = HEIGHT[layer], HEIGHT[layer + 1]
            if low + _uniform(stream) * (high - low) < np.exp(-0.5 * x * x):
                return x


@compiled
def _gamma(stream, shape):
    """A standard gamma variable; below shape 1 that of shape + 1 times a power of a uniform."""
    boost = 1.0
    if shape < 1.0:
        boost = np.exp(np.log(_uniform(stream)) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = _normal(stream)
        v = 1.0 + c * x
        if v > 0.0:
            v, square, u = v * v * v, x * x, _uniform(stream)
            if u < 1.0 - 0.0331 * square * square:
                return d * v * boost
            if np.log(u) < 0.5 * square + d * (1.0 - v + np.log(v)):
                return d * v * boost


@compiled
def _subset_chances(rates, block, rest, chance, total):
    """Fill in R(A) of every subset A of a block; `rest` is the rate of all that come later."""
    size = len(block)
    chance[0], total[0] = 1.0, 0.0
    for subset in range(1, 1 << size):
        sum_, member = 0.0, -1
        for i in range(size):
            if subset & (1 << i):
                sum_ += chance[subset ^ (1 << i)]
                member = i
        total[subset] = total[subset ^ (1 << member)] + rates[block[member]]
        chance[subset] = sum_ / (rest + total[subset])


@compiled
def _next_of(left, chance, size, point):
    """Which class of a block comes next, given which are left and a number in (0, 1)."""
    sum_ = 0.0
    for i in range(size):
        if left & (1 << i):
            sum_ += chance[left ^ (1 << i)]
    point, pick = point * sum_, -1
    for i in range(size):
        if left & (1 << i):
            pick = i
            point -= chance[left ^ (1 << i)]
            if point < 0.0:
                break
    return pick


@compiled
def _log_first(log_time, rates, block, rest):
    """Log density, in log T, of the first arrival T after a block."""
    time = np.exp(log_time)
    value = log_time - rest * time
    for k in block:
        value += np.log(-np.expm1(-rates[k] * time))
    return value


@compiled
def _slope_first(log_time, rates, block, rest):
    """Derivative of `_log_first`, which falls everywhere: the density is log-concave."""
    time = np.exp(log_time)
    value = 1.0 - rest * time
    for k in block:
        x = rates[k] * time
        value += x / np.expm1(x) if x < 700.0 else 0.0
    return value


@compiled
def _where_slope(slope, rates, block, rest):
    """The point where the derivative is about `slope`, by bisection."""
    low = high = -np.log(rest)
    while _slope_first(low, rates, block, rest) < slope:
        low -= 2.0
    while _slope_first(high, rates, block, rest) > slope:
        high += 1.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        if _slope_first(middle, rates, block, rest) > slope:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@compiled
def _draw_first(rates, block, rest, stream):
    """Draw log T exactly, by rejection from its tangents on either side of the mode."""
    left = _where_slope(0.5, rates, block, rest)
    right = _where_slope(-1.0, rates, block, rest)
    high_left = _log_first(left, rates, block, rest)
    high_right = _log_first(right, rates, block, rest)
    up = _slope_first(left, rates, block, rest)
    down = _slope_first(right, rates, block, rest)
    meet = (high_right - high_left + up * left - down * right) / (up - down)
    share = (1.0 / up) / (1.0 / up - 1.0 / down)
    while True:
        side, step = _uniform(stream), -np.log(_uniform(stream))
        point = meet - step / up if side < share else meet - step / down
        bound = min(high_left + up * (point - left), high_right + down * (point - right))
        if np.log(_uniform(stream)) <= _log_first(point, rates, block, rest) - bound:
            return point


@compiled
def _expose_large(tie, rates, stream, exposure):
    """Arrivals of a large tied block before the first T of the others; returns the last."""
    block, rest = tie
    first, last = np.inf, 0.0
    if rest > 0.0:
        first = np.exp(_draw_first(rates, block, rest, stream))
    for k in block:
        reach = -np.expm1(-rates[k] * first)
        time = -np.log1p(-_uniform(stream) * reach) / rates[k]
        exposure[k] += time
        last = max(last, time)
    return last


@compiled
def _add_stage(stages, number, tie, left, copies):
    """Append a stage that awaits what is left of a block and all later classes."""
    start, element, times = stages
    block, later = tie
    place = start[number]
    for i in range(len(block)):
        if left & (1 << i):
            element[place] = block[i]
            place += 1
    for k in later:
        element[place] = k
        place += 1
    times[number] = copies
    start[number + 1] = place
    return number + 1


@compiled
def _order_small(tie, rates, stream, placed, scratch):
    """Draw hidden orders of a small tied block; appends its stages after the first arrival.

    ``scratch`` is (chance, total, flow) of all subsets; flow counts the copies of the
    block of which exactly this subset is left at some time, and is zero before and after.
    """
    block, later, copies = tie
    stages, number = placed
    chance, total, flow = scratch
    size, rest = len(block), 0.0
    for k in later:
        rest += rates[k]
    _subset_chances(rates, block, rest, chance, total)
    full = (1 << size) - 1
    flow[full] = copies
    for left in range(full, 0, -1):
        copies = flow[left]
        if copies == 0:
            continue
        flow[left] = 0
        if left != full:
            number = _add_stage(stages, number, (block, later), left, copies)
        if left & (left - 1):
            for _ in range(copies):
                flow[left ^ (1 << _next_of(left, chance, size, _uniform(stream)))] += 1
    return number


@compiled
def _order_ties(span, ties, rates, work, placed, scratch):
    """Draw what tied blocks hide: stages of small ones, exposures of and after large ones."""
    stream, exposure = work
    stages, number = placed
    start, element, size, copies = ties
    for t in range(span[0], span[1]):
        middle = start[t] + size[t]
        block, later = element[start[t] : middle], element[middle : start[t + 1]]
        if size[t] <= EXACT:
            tie = (block, later, copies[t])
            number = _order_small(tie, rates, stream, (stages, number), scratch)
            continue
        rest, waited = 0.0, 0.0
        for k in later:
            rest += rates[k]
        for _ in range(copies[t]):
            waited += _expose_large((block, rest), rates, stream, exposure)
        for k in later:
            exposure[k] += waited
    return number


@compiled
def _log_scaled(log_scale, density):
    """Log density of scaling some rates together, the times of all stages left open.

    ``density`` is (sum of their shapes, of rates times exposures, and of every stage its
    copies, the rates that stay and those that are scaled).
    """
    shape, mass, copies, fixed, scaled = density
    scale = np.exp(log_scale)
    value = shape * log_scale - mass * scale
    for w in range(len(copies)):
        if scaled[w] > 0.0:
            value -= copies[w] * np.log(fixed[w] + scale * scaled[w])
    return value


@compiled
def _draw_scale(width, density, stream):
    """A new log scale, from 0, by slice sampling with at most `STEPS` steps out."""
    level = _log_scaled(0.0, density) + np.log(_uniform(stream))
    low = -width * _uniform(stream)
    high = low + width
    left = int64(STEPS * _uniform(stream))
    right = STEPS - 1 - left
    while left > 0 and _log_scaled(low, density) > level:
        low, left = low - width, left - 1
    while right > 0 and _log_scaled(high, density) > level:
        high, right = high + width, right - 1
    while True:
        point = low + _uniform(stream) * (high - low)
        if not _log_scaled(point, density) < level:
            return point
        if point < 0.0:
            low = point
        else:
            high = point


@compiled
def _scale_groups(groups, shapes, rates, work, stages, parts):
    """Scale the rates of the weakest class, the two weakest, ..., all but the strongest."""
    order, rank = groups
    stream, exposure = work
    start, element, copies = stages
    whole, shape, mass = shapes.sum(), 0.0, 0.0
    fixed, scaled = parts[0, : len(copies)], parts[1, : len(copies)]
    for last in range(len(order) - 1):
        k = order[last]
        shape += shapes[k]
        mass += rates[k] * exposure[k]
        if not mass > 0.0:
            continue
        fixed[:], scaled[:] = 0.0, 0.0
        for w in range(len(copies)):
            for j in range(start[w], start[w + 1]):
                if rank[element[j]] <= last:
                    scaled[w] += rates[element[j]]
                else:
                    fixed[w] += rates[element[j]]
        width = WIDTH * np.sqrt(1.0 / shape + 1.0 / (whole - shape))
        density = (shape, mass, copies, fixed, scaled)
        scale = np.exp(_draw_scale(width, density, stream))
        mass *= scale
        for j in range(last + 1):
            rates[order[j]] *= scale


@compiled
def _await(stages, rates, work):
    """Add the waits of all stages to the exposures of what they await."""
    stream, exposure = work
    start, element, copies = stages
    for w in range(len(copies)):
        rate = 0.0
        for j in range(start[w], start[w + 1]):
            rate += rates[element[j]]
        wait = _gamma(stream, copies[w]) / rate
        for j in range(start[w], start[w + 1]):
            exposure[element[j]] += wait


@compiled
def _room(span, waits, tied, ties, classes):
    """Room for the stages of a case: those of all waits, filled in, and of hidden orders."""
    start, element, copies = waits
    tie_size, tie_copies = ties[2], ties[3]
    fixed = span[1] - span[0]
    most, size = fixed, start[span[1]] - start[span[0]]
    for t in range(tied[0], tied[1]):
        if tie_size[t] <= EXACT:
            more = min(1 << tie_size[t], tie_copies[t] * tie_size[t])
            most += more
            size += more * classes
    stages = np.empty(most + 1, np.int64), np.empty(size, np.int64), np.empty(most)
    stages[0][: fixed + 1] = start[span[0] : span[1] + 1] - start[span[0]]
    stages[1][: stages[0][fixed]] = element[start[span[0]] : start[span[1]]]
    stages[2][:fixed] = copies[span[0] : span[1]]
    return stages


@compiled
def _by_strength(shapes, stages):
    """Classes from the weakest to the strongest, by mentions per stage that awaited them."""
    start, element, copies = stages
    awaited = np.ones(len(shapes))
    for w in range(len(copies)):
        for j in range(start[w], start[w + 1]):
            awaited[element[j]] += copies[w]
    order = np.argsort(shapes / awaited)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return order, rank


@compiled
def chains(steps, cases, waits, ties, out):
    """Run the chains of a range of cases.

    ``steps`` is (first case, stop, burn-in, thinning); ``cases`` is (start of the rates of each
    case, posterior shapes of its classes and last of all others together, stream of each case,
    its first wait, its first tie); ``waits`` is (start, what is awaited, copies) of the stages;
    ``ties`` is (start, block and then all later classes, size of the block, whole copies).
    ``out`` is (masses (draws, rates of these cases), mean sum of rates (cases)), filled in.
    """
    first, stop, burn, thin = steps
    case_start, case_shape, streams, case_wait, case_tie = cases
    mass, mean_sum = out
    stream = np.empty(1, dtype=np.uint64)
    subsets = 1 << EXACT
    scratch = (np.empty(subsets), np.empty(subsets), np.zeros(subsets, dtype=np.int64))
    for c in range(first, stop):
        stream[0] = streams[c]
        shapes = case_shape[case_start[c] : case_start[c + 1]]
        rates, exposure = shapes.copy(), np.empty(len(shapes))
        place, sums = case_start[c] - case_start[first], 0.0
        tied = (case_tie[c], case_tie[c + 1])
        stages = _room((case_wait[c], case_wait[c + 1]), waits, tied, ties, len(shapes))
        fixed = case_wait[c + 1] - case_wait[c]
        groups = _by_strength(shapes, (stages[0], stages[1], stages[2][:fixed]))
        parts = np.empty((2, len(stages[2])))
        for step in range(1, burn + len(mass) * thin + 1):
            exposure[:] = 1.0  # the rate of the prior, which normalised masses forget
            work = (stream, exposure)
            number = _order_ties(tied, ties, rates, work, (stages, fixed), scratch)
            some = (stages[0], stages[1], stages[2][:number])
            _scale_groups(groups, shapes, rates, work, some, parts)
            _await(some, rates, work)
            total = 0.0
            for k in range(len(shapes)):
                if shapes[k] > 0.0:
                    rates[k] = _gamma(stream, shapes[k]) / exposure[k]
                    total += rates[k]
            if step > burn and (step - burn) % thin == 0:
                sums += total
                row = (step - burn) // thin - 1
                for k in range(len(shapes)):
                    mass[row, place + k] = rates[k] / total
        mean_sum[c] = sums / len(mass)


@compiled_as_numpy
def _expect_block(rates, later, chance, reach):
    """Log chance that a block comes before a later rate, and the expected time until then.

    Also the expected time that each class of the block is awaited. ``chance`` and ``reach`` are
    room for all subsets: to be the first to arrive, and to be what is left at some time.
    """
    inside, whole, full = np.zeros(len(rates)), 0.0, (1 << len(rates)) - 1
    total = np.full(full + 1, later)
    chance[: full + 1], reach[: full + 1] = 0.0, 0.0
    chance[0], reach[full] = 1.0, 1.0
    for subset in range(1, full + 1):
        for i in range(len(rates)):
            if subset >> i & 1:
                chance[subset] += rates[i] * chance[subset ^ 1 << i]
                total[subset] += rates[i]
        chance[subset] /= total[subset]
    for subset in range(full, 0, -1):
        wait = reach[subset] * chance[subset] / chance[full] / total[subset]
        whole += wait
        for i in range(len(rates)):
            if subset >> i & 1:
                inside[i] += wait
                reach[subset ^ 1 << i] += rates[i] / total[subset] * reach[subset]
    return np.log(chance[full]), whole, inside


@compiled_as_numpy
def expected_exposures(cases, rates, exposure):
    """Log-likelihood of all readings; adds the expected time that each rate is awaited.

    ``cases`` is (first entry of each case, its first reading, first block of each reading,
    first element of each block, classes in order as places in their case, copies of each
    reading); ``rates`` and ``exposure`` are of all entries, then of the rest of each case.
    """
    start, readings, blocks, elements, element, copies = cases
    chance, reach, likelihood = np.empty(1 << EXACT), np.empty(1 << EXACT), 0.0
    for c in range(len(start) - 1):
        entries = np.append(np.arange(start[c], start[c + 1]), start[-1] + c)
        case_rates, time = rates[entries], np.zeros(len(entries))
        for r in range(readings[c], readings[c + 1]):
            later = np.ones(len(entries))
            later[element[elements[blocks[r]] : elements[blocks[r + 1]]]] = 0.0
            for b in range(blocks[r + 1] - 1, blocks[r] - 1, -1):
                block, rate = element[elements[b] : elements[b + 1]], (later * case_rates).sum()
                log, wait, inside = _expect_block(case_rates[block], rate, chance, reach)
                likelihood += copies[r] * log
                time += copies[r] * wait * later
                time[block] += copies[r] * inside
                later[block] = 1.0
        exposure[entries] += time
    return likelihood
