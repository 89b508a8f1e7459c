"""Words about flips: what was found or not, true also where there was nothing to search."""

from collections.abc import Sequence
from typing import NamedTuple

from equipoise.analyses.words import capital
from equipoise.evaluation import MACRO

DONE = {"items": "leaving out", "votes": "leaving out", "changed votes": "changing"}
NAMED = 4  # models named in a sentence
ONE, LEVEL, UNDEFINED, NOTHING = "one model", "all level", "undefined", "no votes"


class Outcome(NamedTuple):
    """What a sentence says.

    Attributes
    ----------
    score
        Labels and metric, such as ``soft AUROC``.
    task, unit, most
        Where, what was moved, and up to how many.
    leaders, rival
        Who is first, and who is then.
    size, number
        Parts of the set, 0 for none, and of all there is.
    cleared
        No set of this size or less exists.
    idle
        Why nothing was searched, if so.
    """

    score: str
    task: str
    unit: str
    most: int
    leaders: tuple[str, ...]
    rival: str
    size: int
    number: int
    cleared: int
    idle: str


def together(names: Sequence[str]) -> str:
    """Names in one breath; of many the first few.

    Examples
    --------
    >>> together(["a"]), together(["a", "b"]), together(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    >>> together(["a", "b", "c", "d", "e", "f"])
    'a, b, c, d and 2 more'
    """
    if len(names) > NAMED:
        return f"{', '.join(names[:NAMED])} and {len(names) - NAMED} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def where(task: str) -> str:
    """Name a task within a sentence.

    Examples
    --------
    >>> where("Edema"), where("macro average"), where("")
    (' for Edema', ' (macro average)', '')
    """
    if not task:
        return ""
    return f" ({task})" if task == MACRO else f" for {task}"


def noun(unit: str, number: int = 1) -> str:
    """Item or vote, as many as there are."""
    return ("item" if unit == "items" else "vote") + "s" * (number != 1)


def told(one: Outcome) -> str:
    """What came out, in one sentence."""
    if one.idle:
        return _idle(one)
    if not one.size:
        return _none(one)
    bound = "no smaller set does" if one.cleared + 1 == one.size else "a smaller set may exist"
    level = ", which are level" if len(one.leaders) > 1 else ""
    apart = ", counted in each task" if one.task == MACRO else ""
    return (
        f"By {one.score}{where(one.task)}, {DONE[one.unit]} {one.size:,} of {one.number:,} "
        f"{noun(one.unit, one.number)} ({100 * one.size / one.number:.2g}% of all{apart}) puts "
        f"{one.rival} ahead of {together(one.leaders)}{level}; {bound}."
    )


def least(one: Outcome) -> str:
    """Which of several tasks hangs on least, after the sentence about their average."""
    return (
        f"Among the tasks least is needed for {one.task}: {DONE[one.unit]} {one.size:,} of "
        f"{one.number:,} {noun(one.unit, one.number)} puts {one.rival} ahead of "
        f"{together(one.leaders)}."
    )


def _idle(one: Outcome) -> str:
    """Nothing was searched."""
    if one.idle == ONE:
        return "There is only one model: nobody can overtake it."
    if one.idle == UNDEFINED:
        return f"{capital(one.score)} is undefined{where(one.task)}: nothing was searched."
    if one.idle == NOTHING:
        return f"There are no votes to move{where(one.task)}: nothing was searched."
    return (
        f"{together(one.leaders)} are level at the top already by {one.score}"
        f"{where(one.task)}, and there is no other model: nothing was searched."
    )


def _none(one: Outcome) -> str:
    """Nothing was found; what that means depends on what was tried."""
    limit = min(one.most, one.number)
    proved = one.cleared >= limit
    verb = "exists" if proved else "was found"
    rest = "" if limit == one.number else "larger ones were not searched"
    loose = "" if proved else "the search is greedy"
    said = " and ".join(filter(None, [loose, rest]))
    gone = "change" if one.unit == "changed votes" else "absence"
    return (
        f"By {one.score}{where(one.task)}, no set of up to {limit:,} {noun(one.unit, limit)} "
        f"{verb} whose {gone} puts another model ahead of {together(one.leaders)}"
        + (f"; {said}." if said else ".")
    )


def level(one: Outcome, *, parted: bool | None) -> str:
    """What a tie at the top means for the search."""
    said = (
        f"{together(one.leaders)} are level at the top by {one.score}{where(one.task)}: "
        f"searched is what puts another model ahead of all of them"
    )
    if parted is None:
        return f"{said}."
    some = "some single" if parted else "no single"
    gone = "changed" if one.unit == "changed votes" else "left out"
    return f"{said}; {some} {noun(one.unit)} {gone} parts them."
