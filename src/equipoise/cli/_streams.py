r"""Streams that are not UTF-8: what they cannot show is written in letters that they can.

A minus sign becomes a hyphen, an inequality two letters, and so on; a name in another script
becomes its escapes, ``\u4e2d``, so nothing is lost and no two names become one.
"""

import codecs
import sys
from contextlib import suppress
from io import TextIOWrapper

_PLAIN = {
    "−": "-", "–": "-", "—": "-", "‑": "-", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "×": "x",
    "·": "*", "…": "...", "±": "+/-", "→": "->", "←": "<-", "↑": "^", "↓": "v", "’": "'",
    "‘": "'", "“": '"', "”": '"', "∞": "inf", "•": "*", "\u00a0": " ", "\u2009": " ",
    "█": "#", "■": "#", "●": "o", "○": "o", "│": "|", "─": "-", "├": "|", "┤": "|",
    "▾": "v", "▸": ">", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "━": "-", "┃": "|", "┼": "+",
    "α": "alpha", "κ": "kappa", "Δ": "Delta", "²": "^2", "�": "?",
}  # fmt: skip
_NAME = "equipoise.plain"


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    words = [
        _PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in letters
    ]
    return "".join(words), error.end


def make_writable() -> None:
    """Let standard output and standard error take any text."""
    codecs.register_error(_NAME, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            with suppress(OSError, ValueError):
                stream.reconfigure(errors=_NAME)
