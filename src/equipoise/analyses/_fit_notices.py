"""What fits say, merged: each sentence once, with the aggregation and the tasks it is about."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from equipoise.analyses.words import joined

COUNTED = re.compile(r"(?P<number>[\d,]+) (?P<rest>items? .+)", re.DOTALL)


class Said(NamedTuple):
    """One sentence of one fit."""

    choice: str
    task: str
    sentence: str


def fit_notices(every: Iterable[Said]) -> list[str]:
    """Merge sentences that differ only in task, aggregation or the number of items.

    Examples
    --------
    >>> one = Said("majority vote", "heart", "49 items have no strict majority.")
    >>> two = Said("majority vote", "lung", "1,038 items have no strict majority.")
    >>> fit_notices([one, two])
    ['Majority vote: 49 (heart) and 1,038 (lung) items have no strict majority.']
    >>> fit_notices([Said("glad", "", "The fit did not settle.")])
    ['Glad: The fit did not settle.']
    """
    merged: dict[str, list[tuple[str, Said]]] = {}
    for one in dict.fromkeys(every):
        match = COUNTED.fullmatch(one.sentence)
        number, rest = (match["number"], match["rest"]) if match else ("", one.sentence)
        merged.setdefault(rest, []).append((number, one))
    return [_sentence(rest, told) for rest, told in merged.items()]


def _sentence(rest: str, told: list[tuple[str, Said]]) -> str:
    choices = joined(list(dict.fromkeys(one.choice for _, one in told)))
    head = choices[:1].upper() + choices[1:]
    parts = {(number, one.task): None for number, one in told}
    if all(number for number, _ in parts):
        counts = [f"{number} ({task})" if task else number for number, task in parts]
        return f"{head}: {joined(counts)} {rest}"
    tasks = [task for _, task in parts if task]
    return f"{head}{f' ({joined(tasks)})' if tasks else ''}: {rest}"
