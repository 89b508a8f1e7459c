"""Items by falling score: a stable radix sort of doubles, exact to their last bit.

The bits of a double, turned so that larger scores have smaller keys, sort as whole numbers:
passes of 13 bits each, lowest first, move keys and items together, and a pass in which all
keys agree is left out (the low bits of scores that were 32-bit numbers). Equal scores keep the
order of their items; 0 and -0 are equal; what is no number comes last and is tied with nothing.

The sorted order is unique, so nothing about it can depend on threads or blocks.
"""

import numpy as np
from numba import uint64

from equipoise.kernels import compiled

DIGIT = 13
PASSES = 5
_SIZE = 1 << DIGIT
_MASK = np.uint64(_SIZE - 1)
_SIGN = np.uint64(1 << 63)
_NOTHING = np.uint64(2**64 - 1)


@compiled
def _falling_keys(scores, key, tally):
    """Keys that rise as scores fall, and how often each digit of each pass occurs."""
    bits = scores.view(np.uint64)
    for i in range(len(scores)):
        b = bits[i]
        if scores[i] == 0.0:
            b = uint64(0)
        k = b if b & _SIGN else ~(b | _SIGN)
        if scores[i] != scores[i]:
            k = _NOTHING
        key[i] = k
        for p in range(PASSES):
            tally[p, k & _MASK] += 1
            k >>= uint64(DIGIT)


@compiled
def _move(source, target, shift, place):
    """One pass: keys and items to where their digit has its place."""
    key, item = source
    key_to, item_to = target
    for i in range(len(key)):
        k = key[i]
        digit = (k >> shift) & _MASK
        spot = place[digit]
        place[digit] = spot + 1
        key_to[spot] = k
        item_to[spot] = item[i]


@compiled
def falling(scores):
    """Positions of the items, best first (int32), and where runs end (`Order`), uint8."""
    number = len(scores)
    key, tally = np.empty(number, np.uint64), np.zeros((PASSES, _SIZE), np.int64)
    _falling_keys(scores, key, tally)
    item = np.arange(number).astype(np.int32)
    key_to, item_to = np.empty_like(key), np.empty_like(item)
    for p in range(PASSES):
        if tally[p].max() == number:
            continue
        place = np.cumsum(tally[p]) - tally[p]
        _move((key, item), (key_to, item_to), uint64(p * DIGIT), place)
        key, key_to = key_to, key
        item, item_to = item_to, item
    last = np.empty(number, np.uint8)
    before = False
    for i in range(number):
        after = i + 1 < number and key[i] == key[i + 1] and key[i] != _NOTHING
        last[i] = 0 if after else 2 if before else 1
        before = after
    return item, last
