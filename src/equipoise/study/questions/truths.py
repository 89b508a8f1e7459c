"""Truths: does the verdict depend on whose truth it is, and on how that was made?

Variants are the study by the readers' votes where a reference standard is the truth, by those
of two readers who made it, by the standard alone where only some items have one, by the first
votes alone where others were added after those disagreed, and with votes of the phase
adjudication, which do not count. Beside them stand how often the standard and the majority of
the readers part, and how the truth was made, as far as votes and their phases tell (`designs`):

=====================  =========================================================================
adjudication           a phase of its own, where the first votes split or elsewhere too; the
                       first votes, which count, are unbiased
votes added            more where the first k disagreed (`equipoise.types.added_votes`), as in
                       two plus one; soft values rise by it, the first k are unbiased
gold on the disputed   items have a standard where readers split, and almost none elsewhere: the
                       mix is neither the readers' truth nor the standard's
gold by these readers  the standard is the majority of the readers, or what two readers say
                       wherever they agree, where by chance they would both be wrong `CHANCE`
                       times: readers are compared with themselves, and what they reach by
                       the standard stands beside what they reach by the majority of the others
panel                  a standard by somebody else
=====================  =========================================================================
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from equipoise.study.questions.answers import Answer, Question, Variant
from equipoise.study.variants import Contest, Scored
from equipoise.types import (
    Annotations,
    Bools,
    Cell,
    Column,
    Finding,
    Hint,
    InputError,
    Ints,
    Names,
    Option,
    Table,
    added_votes,
    capital,
    count,
    counted,
    hint,
    joined,
    number,
)

MOSTLY = 0.95
READERS = 40  # who may have made the standard, those with most votes
FEWEST = 20  # items with votes and a standard, before it is said how that was made
CHANCE = 3.0  # both of two readers wrong together, if they erred independently
ADDED = (
    "Votes were added where the first {} disagreed, which raises soft values; those are the "
    "unbiased part: {}."
)
ADJUDICATED = (
    "Votes of the phase adjudication stand on {on} of {split} cases that split the readers"
    "{more}. They do not count, since soft values rise by them; those that count are the "
    "unbiased part."
)
EVERYWHERE = (
    "Votes of the phase adjudication stand on every case, as those of a panel: they do not "
    "count, and bias nothing."
)
DISPUTED = (
    "The reference standard stands almost only where readers split: with it the truth is a "
    "mix. Unbiased for the readers' truth are their votes alone: {}."
)
MAJORITY = (
    "The reference standard is the majority of these readers: they are compared with "
    "themselves, which favours them. Models among each other are not touched; readers by the "
    "others' votes are the unbiased part: {}.{}"
)
OF_TWO = (
    "Wherever {} and {} agree the reference standard says the same, as two plus one makes it: "
    "to compare models with these two by it favours the readers. Models among each other are "
    "not touched.{}"
)
THEMSELVES = (
    " In the mean over tasks the balanced accuracy of {whom} is {standard} by the standard and "
    "{others} by the majority of the others."
)
PANEL = "The reference standard was made by others than these readers."
HEADS = {
    "items": "items",
    "part": "they part",
    "standard": "only the standard says yes",
    "readers": "only readers do",
    "tied": "tied",
}
BY_VOTES = Option("gold", "ignore", "with_gold('ignore')")


class _Standard(NamedTuple):
    """Items of all tasks that have a standard, and votes.

    Attributes
    ----------
    gold, most
        What the standard says, and most readers, (items,); -1 where readers are tied.
    majority
        Whether more than half of the readers say that.
    said
        What the `READERS` with most votes say, (readers, items); -1 nothing.
    task
        Codes of tasks.
    names
        Of the readers.
    only_disputed
        Whether readers split on almost all of these items, and on almost no other.
    """

    gold: Ints
    most: Ints
    majority: Bools
    said: Ints
    task: Ints
    names: Names
    only_disputed: bool

    @property
    def by_majority(self) -> bool:
        """Whether it says what most readers say, of every item."""
        return bool(self.majority.all() and (self.most == self.gold).all())


def _standard(votes: Annotations) -> _Standard | None:
    """None without items that have both, and of ratings, rankings and counts."""
    gold, cell = votes.gold, votes.cells
    if votes.label is None or votes.rank is not None or votes.count is not None:
        return None
    both = np.intersect1d(cell[gold], cell[~gold])
    if not len(both):
        return None
    pairs = np.unique(np.stack([cell[~gold], votes.label[~gold]]), axis=1)
    names, answers = np.unique(pairs[0], return_counts=True)
    inside = np.isin(names, both)
    split = answers > 1
    disputed = split[inside].mean() > MOSTLY and int((~split[~inside]).sum()) >= FEWEST
    rows = np.flatnonzero(np.isin(cell, both))
    place, label = np.searchsorted(both, cell[rows]), votes.label[rows]
    shape, settled = (len(both), len(votes.classes)), gold[rows]
    by_gold, by_votes = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
    np.add.at(by_gold, (place[settled], label[settled]), 1)
    np.add.at(by_votes, (place[~settled], label[~settled]), 1)
    top = by_votes.max(axis=1)
    tied = (by_votes == top[:, None]).sum(axis=1) > 1
    people: Ints = np.zeros(0, dtype=np.int64)
    who = np.zeros(len(rows), np.int64) if votes.annotator is None else votes.annotator[rows]
    if votes.annotator is not None:
        load = np.bincount(who[~settled])
        people = np.argsort(-load, kind="stable")[:READERS]
        people = people[load[people] > 0]
    said = np.full((len(people), len(both)), -1)
    for row, person in enumerate(people):
        mine = ~settled & (who == person)
        said[row, place[mine]] = label[mine]
    return _Standard(
        gold=by_gold.argmax(axis=1),
        most=np.where(tied, -1, by_votes.argmax(axis=1)),
        majority=2 * top > by_votes.sum(axis=1),
        said=said,
        task=both // len(votes.items),
        names=tuple((votes.annotators or ())[person] for person in people),
        only_disputed=bool(disputed),
    )


def designs(votes: Annotations) -> Iterator[str]:
    """How the truth was made, as far as votes tell, with the part that is unbiased."""
    if votes.adjudication is not None:
        yield _adjudicated(votes)
    for first in _first_votes(votes):
        advice = Option("first_votes", first, python=f"annotations.first_votes({first})")
        yield hint(ADDED.format(first, "{}"), advice)
    found = _standard(votes)
    if found is None or len(found.gold) < FEWEST:
        return
    if found.only_disputed:
        yield hint(DISPUTED, BY_VOTES)
    elif found.by_majority:
        yield hint(MAJORITY, BY_VOTES, _themselves(found, range(len(found.names))))
    else:
        pair = _two(found)
        names = [found.names[place] for place in pair]
        yield OF_TWO.format(*names, _themselves(found, pair)) if pair else PANEL


def _adjudicated(votes: Annotations) -> str:
    """On which cases votes of adjudication stand, and whether as in two plus one."""
    gold, cell = votes.gold, votes.cells
    late = votes.adjudicated.cells[len(votes) :]
    answers = np.stack([cell, np.asarray(votes.label)])
    first = np.unique(answers[:, ~gold], axis=1)[0]
    cases, kinds = np.unique(first, return_counts=True)
    if np.isin(cases, late).all():
        return EVERYWHERE
    split = cases[kinds > 1]
    on, alone = np.isin(split, late).sum(), (~np.isin(late, split)).sum()
    sizes = np.bincount(cell[~gold])[split]
    more = f" and on {counted(int(alone), 'other')}" if alone else ""
    if not alone and (sizes == 2).all() and len(np.unique(late)) == len(late):
        more = ", as two plus one makes it"
    return ADJUDICATED.format(on=count(int(on)), split=count(len(split)), more=more)


def _themselves(standard: _Standard, readers: Sequence[int]) -> str:
    """What readers reach by a standard of theirs, and by the majority of the others."""
    gold, votes, tasks = standard.gold, standard.said, np.unique(standard.task)
    answers = np.arange(1 + max(gold.max(), votes.max()))
    counts = np.stack([(votes == answer).sum(axis=0) for answer in answers])
    shares: tuple[list[float], list[float]] = ([], [])
    for label in votes[list(readers)]:
        rest = counts - (label == answers[:, None])
        tied = (rest == rest.max(axis=0)).sum(axis=0) > 1
        for values, truth in zip(
            shares, (gold, np.where(tied, -1, rest.argmax(axis=0))), strict=True
        ):
            right = [
                label[use] == answer
                for task in tasks
                for answer in answers
                if (use := (label >= 0) & (standard.task == task) & (truth == answer)).any()
            ]
            values += [float(part.mean()) for part in right]
    if not all(shares):
        return ""
    by_standard, by_others = (number(float(np.mean(values)), 2) for values in shares)
    whom = "these two" if len(readers) == 2 else "these readers"
    return THEMSELVES.format(whom=whom, standard=by_standard, others=by_others)


def _first_votes(votes: Annotations) -> list[int]:
    """After how many votes others were added because they disagreed; empty where none were."""
    return [int(str(note.values["k"])) for note in added_votes(votes)[:1]]


def _two(standard: _Standard) -> tuple[int, ...]:
    """Places of the two readers who made the standard, as far as votes tell."""
    if standard.only_disputed or standard.by_majority or len(standard.gold) < FEWEST:
        return ()
    return next(_makers(standard), ())


def _makers(found: _Standard) -> Iterator[tuple[int, int]]:
    """Places of readers who are never wrong together, where by chance they would be."""
    for one, other in combinations(range(len(found.said)), 2):
        first, second = found.said[one], found.said[other]
        read = (first >= 0) & (second >= 0)
        if (read & (first == second) & (first != found.gold)).any():
            continue
        chance = 0.0
        for answer in np.unique(found.gold[read]):
            mine = read & (found.gold == answer)
            wrong = [int((said[mine] != answer).sum()) for said in (first, second)]
            chance += wrong[0] * wrong[1] / int(mine.sum())
        if chance >= CHANCE:
            yield one, other


def truths_of(contest: Contest) -> Iterator[Variant]:
    """The contest by the readers' votes, by the standard alone, and by first votes alone."""
    votes = contest.votes
    if not is_asked(votes):
        got, wanted = "one truth", "a reference standard beside votes, or votes that were added"
        raise InputError("truths", got, wanted, hint("name it ({})", Option("gold")))
    gold, cell = votes.gold, contest.cell
    if gold.any() and np.isin(cell[gold], cell[~gold]).any():
        yield Variant("the readers' votes", contest.of_votes(~gold))
        yield from _first_two(contest)
    if gold.any() and not np.isin(cell[~gold], cell[gold]).all():
        keep = np.isin(cell, cell[gold])
        yield Variant("the reference standard alone", contest.of_votes(keep))
    for first in _first_votes(votes):
        keep = gold | (votes.vote_places < first)
        yield Variant(f"the first {first} votes", contest.of_votes(keep))
    if votes.adjudication is not None and not contest.by_standard:
        yield Variant("votes with adjudication", contest.with_votes(votes.adjudicated))


def _first_two(contest: Contest) -> Iterator[Variant]:
    """The contest by the two readers whose agreement the standard repeats."""
    votes, standard = contest.votes, _standard(contest.votes)
    names = [standard.names[place] for place in _two(standard)] if standard else []
    if names and votes.annotators is not None and votes.annotator is not None:
        keep = ~votes.gold & np.isin(votes.annotator, [*map(votes.annotators.index, names)])
        yield Variant(f"the votes of {joined(names)} alone", contest.of_votes(keep))


def _leaders(answer: Answer) -> str:
    """Who has the best value by each truth."""
    if not answer.outcomes:
        return ""
    votes = [task.question.votes for task in answer.contest.tasks]
    whose = "in the study"
    if all(part is not None and part.gold.all() for part in votes):
        whose = "by the reference standard"
    own = f"{answer.score}: {_best(answer.whole)} {whose}"
    parts = [
        f"{_best(outcome.scored)} by {outcome.label} ({outcome.verdict})"
        for outcome in answer.outcomes
        if outcome.scored is not None
    ]
    return f"{capital('; '.join([own, *parts]))}."


def _best(scored: Scored) -> str:
    return f"{scored.competitors[scored.leader]} {number(scored.table.values[scored.leader])}"


def with_both(answer: Answer, finding: Finding) -> Finding:
    """Say how the truth was made, and where the standard and the readers part."""
    votes = answer.contest.votes
    found, sentences = _standard(votes), [finding.sentence, *designs(votes)]
    if found is None:
        return replace(finding, sentence=_together(sentences))
    part = (found.most >= 0) & (found.most != found.gold)
    yes_no = votes.kind == "binary"
    sides = {
        "items": found.gold >= 0,
        "part": part,
        **({"standard": part & (found.gold == 1), "readers": part & (found.most == 1)} if yes_no
           else {}),
        "tied": found.most < 0,
    }  # fmt: skip
    rows: list[dict[str, Cell]] = [
        {
            "task": votes.tasks[code],
            **{name: int((side & (found.task == code)).sum()) for name, side in sides.items()},
        }
        for code in np.unique(found.task)
    ]
    table = Table(
        name="standard_and_readers",
        caption="Items by the reference standard and by the majority of the readers",
        columns=(
            Column("task", "task"),
            *(Column(name, HEADS[name], "count") for name in sides),
        ),
        rows=rows,
        open=True,
    )
    whole = f"{int(part.sum()):,} of {len(part):,} cases"
    parting = f"The reference standard and most readers part on {whole}."
    sentence = _together([parting, *sentences])
    return replace(finding, sentence=sentence, tables=(*finding.tables, table))


def _together(sentences: Sequence[str]) -> Hint:
    some = [sentence for sentence in sentences if sentence]
    return hint(" ".join(["{}"] * len(some)), *some)


def is_asked(votes: Annotations) -> bool:
    """Whether there are two truths, or votes were added."""
    try:
        return bool(votes.gold.any() and not votes.gold.all()) or any(designs(votes))
    except InputError:
        return False


QUESTION = Question(
    key="truths",
    about="whose truth it is",
    variants=truths_of,
    head="by",
    over="other truths",
    at="by {}",
    reference="the study",
    of_votes=False,
    note="Where readers' votes are the truth, an item counts on both sides by its shares. "
    "Ties among readers are no majority.",
    methods="Everybody was scored by {labels}, too.",
    sentence=_leaders,
    finish=with_both,
)
