"""Notices as a terminal should have them: in its own words, and each thing said once.

A sentence that is told of several tasks and differs by one number alone becomes one sentence,
with the range of the numbers and the number of every task behind it. Sentences that differ in
what follows their last semicolon become one, too.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from equipoise.cli._hints import in_options

SAID = ("finding", "left_out")
KIND = re.compile(r"'(?:items|votes|panel|posterior)(?: x (?:votes|panel|posterior))?'")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?%?")


class _Told(NamedTuple):
    """A notice of one task: its words around one number."""

    task: str
    before: str
    number: str
    after: str


def told_in_options(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts whose sentences name options in place of Python, with notices merged.

    Examples
    --------
    >>> told = told_in_options({"tasks": [], "flips": {"finding": "Try labels='soft'."}})
    >>> told["flips"]["finding"]
    'Try --labels soft.'
    """
    tasks = facts.get("tasks", ())
    return {
        name: _spoken(one, tasks) if isinstance(one, dict) else one
        for name, one in _spoken(facts, tasks).items()
    }


def _spoken(facts: Mapping[str, Any], tasks: Sequence[str]) -> dict[str, Any]:
    told = dict(facts)
    for name in SAID:
        if isinstance(told.get(name), str):
            told[name] = in_options(told[name])
    if "findings" in told:
        told["findings"] = [in_options(one) for one in told["findings"]]
    if "notices" in told:
        told["notices"] = merged(told["notices"], tasks)
    return told


def merged(notices: Iterable[str], tasks: Sequence[str] = ()) -> list[str]:
    """Say each thing once, in options.

    Examples
    --------
    >>> merged(["a: 3 items are odd.", "b: 12 items are odd.", "So be it.", "So be it."],
    ...        ["a", "b"])
    ['3 to 12 items are odd (a 3, b 12).', 'So be it.']
    >>> merged(["a: 3 items are odd.", "b: 3 items are odd."], ["a", "b"])
    ['3 items are odd (a, b).']
    >>> merged(["They tie; no item parts them.", "They tie; no vote parts them."])
    ['They tie; no item parts them; no vote parts them.']
    """
    said = [in_options(one) for one in dict.fromkeys(notices)]
    found = {one: told for one in said if (told := _told(one, tasks)) is not None}
    groups: dict[tuple[str, str], list[_Told]] = {}
    for told in found.values():
        groups.setdefault((told.before, told.after), []).append(told)
    result: dict[str, None] = {}
    for one in said:
        same = groups[found[one].before, found[one].after] if one in found else []
        result[_sentence(same) if len(same) > 1 else one] = None
    return _by_kind(_joined(result))


def _by_kind(notices: Iterable[str]) -> list[str]:
    """Put together what differs in the kind of redraw that it names.

    Examples
    --------
    >>> _by_kind(["'items x votes' moves more.", "'items x panel' moves more."])
    ["'items x votes' or 'items x panel' moves more."]
    """
    kinds: dict[str, list[str]] = {}
    for one in notices:
        found = KIND.findall(one)
        known = kinds.setdefault(KIND.sub("\0", one) if len(found) == 1 else one, [])
        known += [kind for kind in found if kind not in known]
    return [text.replace("\0", " or ".join(found)) for text, found in kinds.items()]


def _joined(notices: Iterable[str]) -> list[str]:
    """Put together what differs behind the last semicolon alone."""
    ends: dict[str, list[str]] = {}
    for one in notices:
        head, _, tail = one.rpartition("; ")
        ends.setdefault(head or one, []).extend([tail.removesuffix(".")] if head else [])
    return [f"{'; '.join([head, *tails])}." if tails else head for head, tails in ends.items()]


def _told(notice: str, tasks: Sequence[str]) -> _Told | None:
    """Read a notice that begins with a task and holds one number."""
    task = next((one for one in tasks if one and notice.startswith(f"{one}: ")), None)
    if task is None:
        return None
    text = notice.removeprefix(f"{task}: ")
    numbers = list(NUMBER.finditer(text))
    if len(numbers) != 1:
        return _Told(task, text, "", "")
    (number,) = numbers
    return _Told(task, text[: number.start()], number[0], text[number.end() :])


def _sentence(same: Sequence[_Told]) -> str:
    first = same[0]
    numbers = list(dict.fromkeys(one.number for one in same))
    if len(numbers) == 1:
        text, behind = f"{first.before}{numbers[0]}{first.after}", [one.task for one in same]
    else:
        low, high = (end(numbers, key=_value) for end in (min, max))
        text = f"{first.before}{low} to {high}{first.after}"
        behind = [f"{one.task} {one.number}" for one in same]
    return f"{text.removesuffix('.')} ({', '.join(behind)})."


def _value(number: str) -> float:
    return float(number.replace(",", "").rstrip("%"))
