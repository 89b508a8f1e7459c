"""Bibliography: every source that a methods text may cite, as BibTeX by its key.

They stand in ``references.bib`` beside this file, an empty line between two. In a text a source
is cited as ``[@key]``.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

_FILE = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
ENTRIES: Mapping[str, str] = {
    entry.partition("{")[2].partition(",")[0]: entry for entry in _FILE.rstrip().split("\n\n")
}


def cite(*keys: str) -> str:
    """Sources at the end of a sentence, each once; nothing where there is none.

    Examples
    --------
    >>> cite("dawid1979", "whitehill2009"), cite()
    (' [@dawid1979; @whitehill2009]', '')
    """
    return f" [{'; '.join(f'@{key}' for key in dict.fromkeys(keys))}]" if keys else ""


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX entries of sources, each once.

    Examples
    --------
    >>> bibtex(["wilson1927", "wilson1927"]).count("@article")
    1
    """
    return "\n\n".join(ENTRIES[key] for key in dict.fromkeys(keys)) + "\n"


def cited(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Sources as people read them, each once: a short name, and the whole.

    Examples
    --------
    >>> cited(["groger2025"])[0][0]
    'Gröger and others 2025'
    >>> cited(["dawid1979"])[0][0]
    'Dawid and Skene 1979'
    """
    return [_as_read(ENTRIES[key]) for key in dict.fromkeys(keys)]


ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303"}


def _as_read(entry: str) -> tuple[str, str]:
    found = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", entry)
    fields = {name: _plain(text) for name, text in found}
    people = [one.partition(",")[0] for one in fields.get("author", "").split(" and ")]
    who = " and ".join(people) if len(people) < 3 and "others" not in people else (
        f"{people[0]} and others")  # fmt: skip
    year = fields.get("year", "")
    where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    whole = f"{who}. {fields.get('title', '')}. {', '.join(filter(None, [where, year]))}."
    return f"{who} {year}".strip(), whole


def _plain(text: str) -> str:
    """Text of BibTeX without its braces, accents as letters."""

    def letter(found: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]])

    text = re.sub(r"\{?\\([\"'`^~])\{?(\w)\}?\}?", letter, text)
    return " ".join(re.sub(r"[{}\\]", "", text).replace("--", "–").split())
