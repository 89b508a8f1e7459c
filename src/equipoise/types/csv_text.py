r"""CSV: the only writer of its cells, and what its readers undo.

Numbers are written at full length and stay numbers, also negative ones; what is undefined or
not there is an empty cell. A text that a spreadsheet would take for a formula, because it
begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return, stands behind an apostrophe,
unless it is a number; so does one that begins with such an apostrophe itself. Our readers take
that apostrophe away again, so every text is read back as it was.

Examples
--------
>>> print(csv_text(["model", "auroc"], [["=1+1", -0.5], ["-1", float("nan")]]), end="")
model,auroc
'=1+1,-0.5
-1,
"""

import math
import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r"[\s']*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_SPECIAL = re.compile(r'[",\r\n]')


def csv_text(names: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table with a header as comma-separated text."""
    return "".join(map(csv_line, [names, *rows]))


def csv_line(cells: Iterable[object]) -> str:
    r"""One line, with its end.

    Examples
    --------
    >>> csv_line(["a,b", 0.1, None, True]), csv_line([""])
    ('"a,b",0.1,,True\n', '""\n')
    """
    every = [_cell(value) for value in cells]
    return ('""' if every == [""] else ",".join(every)) + "\n"


def guarded(text: str) -> str:
    """A text that no spreadsheet computes.

    Examples
    --------
    >>> guarded("@SUM(A1)"), guarded("'=1"), guarded("-0.5"), guarded("o'clock")
    ("'@SUM(A1)", "''=1", '-0.5', "o'clock")
    """
    return f"'{text}" if _is_formula(text) else text


def unguarded(text: str) -> str:
    """The text that `guarded` was given.

    Examples
    --------
    >>> unguarded("'@SUM(A1)"), unguarded("'-0.5"), unguarded("'tis")
    ('@SUM(A1)', "'-0.5", "'tis")
    """
    return text[1:] if text[:1] == "'" and _is_formula(text[1:]) else text


def unguarded_all(texts: Sequence[str]) -> list[str]:
    """The same for many texts."""
    return [unguarded(text) if text[:1] == "'" else text for text in texts]


def _is_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        return repr(float(value)) if isinstance(value, float) else str(value)
    text = guarded(value)
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
