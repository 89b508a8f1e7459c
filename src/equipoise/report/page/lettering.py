"""Lettering: how much room words take, and names that fit into it and stay different.

Room is counted in columns of an average letter of a wide font (0.62 of its size). Letters that
are broader than that count for more, so that words given some columns stay inside them; narrow
ones never count for less.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

BROAD, BROADER = "mwMW@%", 0.6
SIGNS, LARGER = "~&#", 0.2  # as capitals are
MATHS, WIDER = "<>=+−±≤≥×", 0.4  # in fonts that make all signs of arithmetic alike


def width(text: str) -> int:
    """Count columns: two for wide characters, none for combining ones.

    Examples
    --------
    >>> width("resnet"), width("mmmmm"), width("ABCDE"), width("日本"), width("−10")
    (6, 8, 6, 4, 4)
    """
    return math.ceil(sum(_columns(letter) for letter in text) - 1e-9)


def shorten(name: str, room: int) -> str:
    """Shorten a name in the middle, because names often differ at their end.

    Examples
    --------
    >>> shorten("resnet", 12), shorten("resnet50-augmented-v2", 12)
    ('resnet', 'resnet5…d-v2')
    """
    if width(name) <= room:
        return name
    head, tail = "", ""
    for character in name:
        if width(head + character) > round(room * 0.6):
            break
        head += character
    for character in reversed(name):
        if width(head + "…" + character + tail) > room:
            break
        tail = character + tail
    return f"{head}…{tail}"


def lines_of(name: str, room: int, most: int = 3) -> list[str]:
    """Break a name into lines, best after a separator; only what is longer still is shortened.

    Examples
    --------
    >>> lines_of("resnet50-augmented-v2", 13), lines_of("abcdefghijkl", 5)
    (['resnet50-', 'augmented-v2'], ['abcde', 'fghij', 'kl'])
    """
    name = shorten(name, most * room - room // 3)
    lines = [""]
    for part in re.findall(r"[^\s\-_/.,]+[\s\-_/.,]*|[\s\-_/.,]+", name):
        if lines[-1] and width((lines[-1] + part).rstrip()) > room:
            lines.append("")
        for letter in part:
            if width((lines[-1] + letter).rstrip()) > room:
                lines.append("")
            lines[-1] += letter
    kept = [line.strip() for line in lines if line.strip()]
    return (
        kept
        if len(kept) <= most
        else [*kept[: most - 1], shorten("".join(kept[most - 1 :]), room)]
    )


def distinct(names: Sequence[str], room: int) -> list[str]:
    """Shorten names together, leaving out what they all begin or end with.

    Examples
    --------
    >>> distinct(["test/patient641/study1", "test/patient652/study1"], 14)
    ['…patient641…', '…patient652…']
    >>> distinct(["a/1", "a/2"], 14)
    ['a/1', 'a/2']
    """
    if len(set(names)) < 2 or all(width(name) <= room for name in names):
        return [shorten(name, room) for name in names]
    start = _shared(names)
    end = _shared([name[start:][::-1] for name in names])
    shown = []
    for name in names:
        core = shorten(name[start : len(name) - end], room - bool(start) - bool(end))
        shown.append(f"{'…' if start else ''}{core}{'…' if end else ''}")
    return shown


@lru_cache(4096)
def _columns(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2.0
    if letter in BROAD:
        return 1.0 + BROADER
    if letter in MATHS:
        return 1.0 + WIDER
    return 1.0 + LARGER * (letter.isupper() or letter in SIGNS)


def _shared(names: Sequence[str]) -> int:
    """Length of the beginning that all names share, up to a separator."""
    low, high = min(names), max(names)
    pairs = enumerate(zip(low, high, strict=False))
    common = low[: next((place for place, (a, b) in pairs if a != b), len(low))]
    return max(common.rfind(mark) + 1 for mark in "/\\_-. :")
