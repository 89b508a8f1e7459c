"""Votes on pairs, and how several become one answer.

An annotator says of a pair ``yes`` (near duplicates), ``no``, or ``unsure``. The majority of
the votes that are not unsure, or another aggregation model, gives a pair its probability of
yes; above the threshold the answer is yes, below it no. At the threshold, and where everybody
is unsure, the pair is undecided and follows a rule: it counts as ``no`` (the default: groups
that were joined do not come apart again), as ``yes``, or is put to somebody ``more``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from equipoise.clean.detector import Task
from equipoise.read.files import AnyPath
from equipoise.truth import MODELS
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    choice,
    listed,
    require_number,
    require_whole,
)

JUDGES = tuple(name for name, one in MODELS.items() if "binary" in one.suits)
Undecided = Literal["no", "yes", "more"]
UNDECIDED: tuple[Undecided, ...] = ("no", "yes", "more")
NO, YES, OPEN = 0, 1, -1  # answers; OPEN is undecided, and as a vote unsure
LABELS: Mapping[str, int] = {
    **dict.fromkeys(("yes", "y", "true", "1", "duplicate"), YES),
    **dict.fromkeys(("no", "n", "false", "0", "distinct"), NO),
    **dict.fromkeys(("unsure", "uncertain"), OPEN),
}
SPELT = {YES: "yes", NO: "no", OPEN: "unsure"}
TASK: Task = "near_duplicates"
UNNAMED = "unnamed"  # the annotator of votes without one
TIED = 1e-9  # from the threshold


class PairVote(NamedTuple):
    """What one person said of one pair, by its name; `label` is yes, no or unsure."""

    pair: str
    annotator: str
    label: str
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """How votes become answers.

    Attributes
    ----------
    model
        An aggregation model for yes/no votes; it is fitted to the votes of all rounds so far,
        and answers of earlier rounds stay as they were.
    threshold
        Probability of yes that must be exceeded.
    votes
        How many votes a pair needs at least.
    undecided
        What becomes of pairs at the threshold: ``no``, ``yes``, or ``more`` votes.

    Examples
    --------
    >>> rounds = [{(0, "ann"): YES, (0, "bob"): YES, (1, "ann"): NO, (1, "bob"): YES}]
    >>> Judging().answers(rounds, 2)
    array([ 1, -1])
    """

    model: str = "majority_vote"
    threshold: float = 0.5
    votes: int = 1
    undecided: Undecided = "no"

    def __post_init__(self) -> None:
        choice("rounds, model", self.model, JUDGES)
        choice("rounds, undecided", self.undecided, UNDECIDED)
        do = "choose a probability, such as 0.5"
        require_number("rounds, threshold", self.threshold, above=0, below=1, do=do)
        require_whole("rounds, votes", self.votes, least=1, do="ask for one vote or more")

    def answers(self, rounds: "list[RoundVotes]", pairs: int) -> Ints:
        """Yes, no or undecided for each pair of the last round, shape (pairs,)."""
        if not pairs:
            return np.zeros(0, dtype=np.int64)
        chance = self._probabilities(rounds, pairs)
        yes = np.where(chance > self.threshold + TIED, YES, OPEN)
        return np.where(chance < self.threshold - TIED, NO, yes)

    def _probabilities(self, rounds: "list[RoundVotes]", pairs: int) -> Floats:
        """Probability of yes of each pair of the last round; nan where nobody is sure."""
        chance = np.full(pairs, np.nan)
        sure = [
            (number, pair, who, label)
            for number, votes in enumerate(rounds)
            for (pair, who), label in votes.items()
            if label != OPEN
        ]
        if any(number == len(rounds) - 1 for number, *_ in sure):
            made = MODELS[self.model].fit(_annotations(sure))
            prefix = f"{len(rounds) - 1}:"
            mean = made.mean[:, made.classes.index("yes")]
            for name, value in zip(made.items, mean.tolist(), strict=True):
                if name.startswith(prefix):
                    chance[int(name.removeprefix(prefix))] = value
        return chance


RoundVotes = Mapping[tuple[int, str], int]  # (pair, annotator): label


def _annotations(sure: list[tuple[int, int, str, int]]) -> Annotations:
    """Votes of all rounds as one table, in an order that does not depend on that of files."""
    sure = sorted(sure)
    items = dict.fromkeys(f"{number}:{pair}" for number, pair, *_ in sure)
    place = {name: code for code, name in enumerate(items)}
    people = {name: code for code, name in enumerate(sorted({who for *_, who, _ in sure}))}
    return Annotations(
        kind="binary",
        items=tuple(items),
        classes=("no", "yes"),
        annotators=tuple(people),
        item=np.array([place[f"{number}:{pair}"] for number, pair, *_ in sure]),
        annotator=np.array([people[who] for *_, who, _ in sure]),
        label=np.array([label for *_, label in sure]),
    )


def as_pair_votes(votes: "Annotations | Iterable[PairVote]") -> Iterator[PairVote]:
    """Votes one by one; of annotations the second class is yes."""
    if not isinstance(votes, Annotations):
        yield from votes
        return
    odd = votes.kind != "binary" or votes.count is not None or votes.is_gold is not None
    if odd or votes.label is None:
        raise InputError(
            "votes on pairs",
            f"{votes.kind} annotations, or counts, or gold",
            "a row for each yes or no of an annotator",
            "give single yes/no votes",
        )
    names = votes.annotators
    who = np.zeros(len(votes), dtype=int) if votes.annotator is None else votes.annotator
    for row, (item, label) in enumerate(zip(votes.item, votes.label, strict=True)):
        annotator = UNNAMED if names is None else names[who[row]]
        yield PairVote(votes.items[item], annotator, SPELT[int(label)], f"row {row}")


def label_code(vote: PairVote) -> int:
    """The code of a label, or a refusal that says which there are."""
    code = LABELS.get(vote.label.strip().lower())
    if code is None:
        raise InputError(
            f"{vote.place or 'votes on pairs'}, pair {vote.pair!r}",
            f"label {vote.label!r}",
            "yes, no or unsure",
            "correct the label, or leave the row out",
        )
    return code


def read_pair_votes(path: AnyPath) -> list[PairVote]:
    """Read votes from delimited text.

    Columns are ``pair`` or ``item`` (the name of a pair), or ``first`` and ``second``; then
    ``label`` and, where several people voted, ``annotator``. Rows without a label are pairs
    that nobody answered yet, so ``pairs.csv`` can be filled in and given back. Where there is a
    column ``task``, as the page of a scan writes it, votes on other tasks are passed over.
    """
    from equipoise.clean.collection import pair_name
    from equipoise.read.delimited import ENDINGS, read_delimited
    from equipoise.read.files import content, unknown_ending
    from equipoise.read.tables import words_of

    file = content(path)
    if file.suffix not in ENDINGS:
        raise unknown_ending(file, ENDINGS)
    table = read_delimited(file)

    def column(name: str) -> list[str]:
        codes, words = words_of(table, name)
        return [words[code] if code >= 0 else "" for code in codes]

    labels = column(table.required("label", {}))
    by_name = next((name for name in ("pair", "item") if name in table.columns), None)
    if by_name is not None:
        names = column(by_name)
    elif {"first", "second"} <= set(table.columns):
        both = zip(column("first"), column("second"), strict=True)
        names = [pair_name(one, other) for one, other in both]
    else:
        raise InputError(
            table.name,
            f"columns {listed(table.columns, most=8)}",
            "a column pair, or columns first and second",
            "name the pairs as in pairs.csv",
        )
    people = column("annotator") if "annotator" in table.columns else [""] * len(labels)
    tasks = column("task") if "task" in table.columns else [TASK] * len(labels)
    if labels and TASK not in tasks:
        raise InputError(
            f"{table.name}, column task",
            listed(sorted(set(tasks))),
            f"votes on {TASK}",
            "give votes on pairs, or leave the column out",
        )
    return [
        PairVote(name, who or UNNAMED, label, table.where(row))
        for row, (name, who, label) in enumerate(zip(names, people, labels, strict=True))
        if label and tasks[row] == TASK
    ]
