"""Retained samples: how good a model is on what is left when its worst items are set aside.

A line per model, from all items on the left to the largest cut on the right. A line that rises
fast belongs to a model whose few worst items do most of the harm.
"""

import math
from collections.abc import Mapping

HIGH, LINE = 190.0, 15.0  # of the plot, and of a name


def spread(wanted: Mapping[str, float], room: tuple[float, float]) -> dict[str, float]:
    """Move the names apart, as little as needed, inside of the room.

    Examples
    --------
    >>> spread({"a": 10.0, "b": 12.0, "c": 90.0}, (0.0, 100.0))
    {'a': 10.0, 'b': 25.0, 'c': 90.0}
    >>> spread({"a": 99.0, "b": 98.0}, (0.0, 100.0))
    {'b': 85.0, 'a': 100.0}
    """
    low, high = room
    placed: dict[str, float] = {}
    last = -math.inf
    for name, place in sorted(wanted.items(), key=lambda pair: pair[1]):
        placed[name] = last = max(place, low, last + LINE)
    below = high
    for name in reversed(placed):
        placed[name] = min(placed[name], below)
        below = placed[name] - LINE
    return placed
