"""Spelling: names that look alike and are told apart nevertheless.

``Ana``, ``ana`` and ``Ana`` with a zero-width space in it are three annotators, because nobody
but the user knows whether they are one. The reader says so: compared are the names without what
cannot be seen, in one Unicode form (NFKC), with single spaces and without upper case.
"""

import unicodedata
from collections.abc import Sequence

from equipoise.types.notices import Notice, notice

_MOST = 200_000  # names up to which they are compared


def alike_notices(what: str, names: Sequence[str]) -> tuple[Notice, ...]:
    r"""Say which names may be one, such as ``what="annotators"``.

    Examples
    --------
    >>> [str(one) for one in alike_notices("annotators", ["Ana", "Ben", "ana\u200b"])]
    ["'Ana' and 'ana\\u200b' are read as different annotators, though they look alike"]
    """
    sets = alike_names(names) if len(names) <= _MOST else []
    text = f"{{names:names}} are read as different {what}, though they look alike"
    return tuple(notice("alike_names", text, names=tuple(same)) for same in sets[:3])


def alike_names(names: Sequence[str]) -> list[list[str]]:
    """Names that are the same to the eye."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_look(name), []).append(name)
    return [same for same in alike.values() if len(same) > 1]


def _look(name: str) -> str:
    """What a reader sees of a name."""
    if name.isascii():
        return " ".join(name.casefold().split())
    seen = "".join(one for one in name if unicodedata.category(one) != "Cf")
    return " ".join(unicodedata.normalize("NFKC", seen).casefold().split())
