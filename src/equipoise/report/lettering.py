"""Lettering: how much room words take, before any font is known.

Counted in columns of an average letter of a wide font (0.62 of its size). Letters that are
broader than that count for more, so that words given some columns stay inside them; narrow
ones never count for less.
"""

import math
import unicodedata

BROAD, BROADER = "mwMW@%", 0.6
SIGNS, LARGER = "<>=+~&#", 0.2


def width(text: str) -> int:
    """Count columns: two for wide characters, none for combining ones.

    Examples
    --------
    >>> width("resnet"), width("mmmmm"), width("ABCDE"), width("日本")
    (6, 8, 6, 4)
    """
    return math.ceil(sum(_columns(letter) for letter in text) - 1e-9)


def _columns(letter: str) -> float:
    """Columns of one letter."""
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in BROAD:
        return 1.0 + BROADER
    return 1.0 + LARGER * (letter.isupper() or letter in SIGNS)
