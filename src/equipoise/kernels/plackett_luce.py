"""Gibbs chains of the Plackett-Luce model with ties, one per case, cost independent of classes.

Classes arrive at exponential times with rates lambda; a reading observes the order up to its
last ranked class, later arrivals are censored there. Classes that nobody mentions matter only
through the sum of their rates, which stands as one more rate at the end. A tied block hides the
order of its classes: with up to `EXACT` of them an order is drawn from the exact chances of all
subsets, R(A) = sum over a in A of R(A minus a) / (Z + sum of A); larger blocks draw the first
arrival T of the others from its log-concave density Z exp(-Z T) prod(1 - exp(-lambda T)), then
each arrival before T.

Random numbers come from one counter-based stream per case (`equipoise.kernels.resampling`).
"""

from typing import Any

import numpy as np
from numba import njit, uint64

from equipoise.kernels.resampling import GOLDEN, _mix

EXACT = 8


@njit(cache=True)
def _uniform(stream: Any) -> Any:
    """A number in (0, 1)."""
    stream[0] += GOLDEN
    return ((_mix(stream[0]) >> uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def _gamma(stream: Any, shape: Any) -> Any:
    """A standard gamma variable (Marsaglia and Tsang 2000)."""
    if shape == 1.0:
        return -np.log(_uniform(stream))
    boost = 1.0
    if shape < 1.0:
        boost = _uniform(stream) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        u1, u2 = _uniform(stream), _uniform(stream)
        x = np.sqrt(-2.0 * np.log(u1)) * np.cos(6.283185307179586 * u2)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(_uniform(stream)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return d * v * boost


@njit(cache=True)
def _subset_chances(rates: Any, block: Any, rest: Any, chance: Any, total: Any) -> None:
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


@njit(cache=True)
def _next_of(left: Any, chance: Any, size: Any, point: Any) -> Any:
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


@njit(cache=True)
def _order_block(rates: Any, block: Any, rest: Any, stream: Any, scratch: Any) -> None:
    """Draw the hidden order of a small tied block."""
    order, _, _, chance, total = scratch
    size = len(block)
    _subset_chances(rates, block, rest, chance, total)
    left = (1 << size) - 1
    for place in range(size):
        pick = _next_of(left, chance, size, _uniform(stream))
        order[place] = block[pick]
        left ^= 1 << pick


@njit(cache=True)
def _log_first(log_time: Any, rates: Any, block: Any, rest: Any) -> Any:
    """Log density, in log T, of the first arrival T after a block."""
    time = np.exp(log_time)
    value = log_time - rest * time
    for k in block:
        value += np.log(-np.expm1(-rates[k] * time))
    return value


@njit(cache=True)
def _slope_first(log_time: Any, rates: Any, block: Any, rest: Any) -> Any:
    """Derivative of `_log_first`, which falls everywhere: the density is log-concave."""
    time = np.exp(log_time)
    value = 1.0 - rest * time
    for k in block:
        x = rates[k] * time
        value += x / np.expm1(x) if x < 700.0 else 0.0
    return value


@njit(cache=True)
def _where_slope(slope: Any, rates: Any, block: Any, rest: Any) -> Any:
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


@njit(cache=True)
def _draw_first(rates: Any, block: Any, rest: Any, stream: Any) -> Any:
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


@njit(cache=True)
def _expose_big(rates: Any, block: Any, state: Any, stream: Any, exposure: Any) -> Any:
    """Arrivals of a large tied block before T; returns the time of the last.

    ``state`` is (rate of all that come later, time so far).
    """
    rest, elapsed = state
    first, last = np.exp(_draw_first(rates, block, rest, stream)), 0.0
    for k in block:
        reach = -np.expm1(-rates[k] * first)
        time = -np.log1p(-_uniform(stream) * reach) / rates[k]
        exposure[k] += elapsed + time
        last = max(last, time)
    return elapsed + last


@njit(cache=True)
def _expose_strict(order: Any, later: Any, work: Any, stream: Any, exposure: Any) -> Any:
    """Arrivals of classes in a known order; ``work`` is (rates, copies, time so far)."""
    rates, copies, elapsed = work
    for place in range(len(order)):
        rest = later
        for other in order[place:]:
            rest += rates[other]
        elapsed += _gamma(stream, copies) / rest
        exposure[order[place]] += elapsed
    return elapsed


@njit(cache=True)
def _later_rates(bounds: Any, element: Any, rates: Any, inside: Any, later: Any) -> None:
    """Fill in the rate of everything from each block on, last of what is never ranked."""
    inside[: len(rates)] = False
    for k in element:
        inside[k] = True
    sum_ = 0.0
    for k in range(len(rates)):
        if not inside[k]:
            sum_ += rates[k]
    later[len(bounds) - 1] = sum_
    for b in range(len(bounds) - 2, -1, -1):
        later[b] = later[b + 1]
        for k in element[bounds[b] : bounds[b + 1]]:
            later[b] += rates[k]


@njit(cache=True)
def _expose_reading(reading: Any, rates: Any, copies: Any, stream: Any, exposure: Any) -> None:
    """Add the exposures of one reading, `copies` of it at once when it has no ties.

    ``reading`` is (where its blocks start, the classes, scratch); rates and exposures end with
    those of all unmentioned classes together.
    """
    bounds, element, scratch = reading
    order, inside, later = scratch[0], scratch[1], scratch[2]
    _later_rates(bounds, element, rates, inside, later)
    elapsed = 0.0
    for b in range(len(bounds) - 1):
        block = element[bounds[b] : bounds[b + 1]]
        size = len(block)
        if size == 1:
            elapsed += _gamma(stream, copies) / later[b]
            exposure[block[0]] += elapsed
        elif size <= EXACT:
            _order_block(rates, block, later[b + 1], stream, scratch)
            work = (rates, copies, elapsed)
            elapsed = _expose_strict(order[:size], later[b + 1], work, stream, exposure)
        else:
            state = (later[b + 1], elapsed)
            elapsed = _expose_big(rates, block, state, stream, exposure)
    for k in range(len(rates)):
        if not inside[k]:
            exposure[k] += elapsed


@njit(cache=True)
def _sweep(case: Any, readings: Any, rates: Any, stream: Any) -> None:
    """One Gibbs sweep: exposures given rates, then rates given exposures."""
    first, stop, shapes, exposure, scratch = case
    starts, bounds, element, copies, tied = readings
    exposure[:] = 1.0  # the rate of the prior, which normalised masses forget
    for r in range(first, stop):
        begin, end = starts[r], starts[r + 1]
        offset = bounds[begin]
        local = bounds[begin : end + 1] - offset
        classes = element[offset : bounds[end]]
        reading = (local, classes, scratch)
        repeats = int(copies[r]) if tied[r] else 1
        for _ in range(repeats):
            each = 1.0 if tied[r] else copies[r]
            _expose_reading(reading, rates, each, stream, exposure)
    for k in range(len(rates)):
        if shapes[k] > 0.0:
            rates[k] = _gamma(stream, shapes[k]) / exposure[k]


@njit(cache=True, nogil=True)
def chains(cases: Any, readings: Any, steps: Any, key: Any, out: Any) -> None:
    """Run the chains of all cases.

    ``cases`` is (first reading of each case, first entry of each case, posterior shape of each
    entry, shape of the unmentioned classes of each case); ``readings`` is (first block of each
    reading, first element of each block, elements as classes of the case, copies of readings,
    whether a reading has ties); ``steps`` is (burn-in, thinning); ``out``
    is (mass (draws, entries), rest (draws, cases)), filled in place.
    """
    case_reading, case_entry, entry_shape, rest_shape = cases
    burn, thin = steps
    mass, rest = out
    stream = np.empty(1, dtype=np.uint64)
    widest = np.diff(case_entry).max() + 2
    scratch = (
        np.empty(EXACT, dtype=np.int64), np.empty(widest, dtype=np.bool_), np.empty(widest),
        np.empty(1 << EXACT), np.empty(1 << EXACT),
    )  # fmt: skip
    for c in range(len(rest_shape)):
        stream[0] = _mix(uint64(key) + uint64(c + 1) * GOLDEN)
        begin, end = case_entry[c], case_entry[c + 1]
        shapes = np.empty(end - begin + 1)
        shapes[:-1] = entry_shape[begin:end]
        shapes[-1] = rest_shape[c]
        rates = shapes.copy()
        case = (case_reading[c], case_reading[c + 1], shapes, np.empty(len(shapes)), scratch)
        for step in range(burn + len(mass) * thin):
            _sweep(case, readings, rates, stream)
            draw = step - burn
            if draw >= 0 and (draw + 1) % thin == 0:
                total = rates.sum()
                mass[draw // thin, begin:end] = rates[:-1] / total
                rest[draw // thin, c] = rates[-1] / total
