"""Fast near-duplicate rounds: all groups of near duplicates from about one question per item.

Judging all pairs takes N (N - 1) / 2 answers. Here, as in Borůvka's algorithm for spanning
trees, every item asks about its nearest neighbour; pairs that are confirmed are joined (single
linkage); every cluster that grew asks about its nearest other cluster; and so on until nobody
asks.

**The rule.** A cluster asks one question a round: the closest pair between it and the nearest
other cluster whose closest pair was not judged yet. It rests after `patience` refusals in a row
(one by default) and asks again once it has grown, be it by its own question or by another's.
All clusters are looked at, those that rest too. A pair is never asked twice, and ties go by the
names of the items. With a patience of one the rounds end when a round confirms nothing.

**The lemma.** Let "is a near duplicate of" be an equivalence (so groups are cliques), let the
answers be right, let no two distances be equal (here ties are broken, so they may be), and let

    d(i, j) < d(i, k)   whenever i, j are near duplicates and i, k are not.     (fast cleaning)

Then all groups are found, with at most N questions in all, in at most ceil(log2 K) + 1 rounds,
K being the size of the largest group.

*Proof.* Take a cluster A that is part of a group C, A ≠ C. For every x in A the items of C
outside of A are near duplicates of x, so the nearest item outside of A belongs to C: the
closest pair is not judged (else it would be joined), is asked, and is confirmed. So (1) while C
is in parts, every part grows in every round, and p parts become at most p / 2: after floor(log2
|C|) rounds C is whole. Then its question is refused, and it rests for good. That makes at most
floor(log2 K) rounds that confirm something and one that does not: floor(log2 K) + 1, never more
than ceil(log2 K) + 1. (2) Questions of the parts of C, each the closest pair of its part in a
strict order of pairs, form a forest: along a circle of them pairs would have to become ever
closer. So they are |C| - 1 over all rounds, and with the last one |C|; over all groups the sum
is at most N. ∎ With a patience of m it is floor(log2 K) + m rounds, and at most N + (m - 1) G
questions, G the number of groups and single items.

*What the published lemma leaves open.* (a) Its proof looks for nearest clusters among those
that grew alone; the bound holds, too, when all are looked at, as above, and that finds more
where the assumption fails. (b) It speaks of connected components, and near duplicates need not
be transitive (frames of a film). Then the claim is wrong: with w = -2.5, y = -2, x = 0, a = 1,
c = 3.5, e = 4.5, z = 6.5, v = 7 on a line and near duplicates w-y, x-a, a-c, c-e and z-v the
assumption holds; the first round finds all but a-c; then {x, a} asks about x-y, {c, e} about
e-z, both are refused, and the component {x, a, c, e} is left in two. (c) The rounds count the
last, which confirms nothing; judgements count all rounds together.

**Where the assumption fails** a group may stay in parts, and more rounds and questions may be
needed. `DuplicateRounds.report` compares both with their bounds, and counts what cannot happen
under the assumption: clusters that grew after they had been refused, and pairs that were
refused and yet came to lie in one group. A patience of two or more asks about the next nearest,
too.

**The search.** The distance of two items is d = (1 - cos)/2, that of two clusters the smallest
of any member of one to any member of the other. Pairs are put in order by distance, then by the
places of their items, so that equal distances leave nothing open. Every member of a cluster
that asks has its nearest item outside of the cluster from `equipoise.clean.similarity`,
exactly; the closest of these pairs is that of the clusters. Where it was judged, the other
cluster counts as part of the asking one, and the search is made again.

**Votes.** An annotator says of a pair ``yes`` (near duplicates), ``no``, or ``unsure``. The
majority of the votes that are not unsure, or another aggregation model, gives a pair its
probability of yes; above the threshold the answer is yes, below it no. At the threshold, and
where everybody is unsure, the pair is undecided and follows a rule: it counts as ``no`` (the
default: groups that were joined do not come apart again), as ``yes``, or is put to somebody
``more``.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from equipoise.clean.collection import SEPARATOR, Collection, Pairs, Task, components, pair_name
from equipoise.clean.detector import NEEDED, name_order, silent
from equipoise.clean.similarity import Directions, Search, neighbours
from equipoise.read.files import AnyPath
from equipoise.scale.cells import digest
from equipoise.truth import MODELS
from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Notices,
    Progress,
    choice,
    immutable,
    listed,
    meant,
    notice,
    positions,
    require_number,
    require_whole,
    short_repr,
)

__all__ = [
    "JUDGES",
    "UNDECIDED",
    "DuplicateRounds",
    "Judging",
    "PairVote",
    "Round",
    "group_rows",
    "pair_rows",
    "read_pair_votes",
]


JUDGES = tuple(name for name, model in MODELS.items() if "binary" in model.suits)
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
RoundVotes = tuple[tuple[int, str, int], ...]  # pair, annotator and label, in their order
NEVER_ASKED = (
    "{votes:count} votes are left out, as their pairs were not asked in these rounds, such as "
    "{pair}."
)
MOST_NAMES = 20_000  # pairs among which a name that was meant is looked for


class PairVote(NamedTuple):
    """What one person said of one pair, by its name; `label` is yes, no or unsure."""

    pair: str
    annotator: str
    label: str
    place: str = ""

    @property
    def spelling(self) -> str:
        """The name of the pair, whichever item was written first."""
        return SEPARATOR.join(sorted(self.pair.split(SEPARATOR)))


@immutable(kw_only=True)
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
    >>> votes = ((0, "ann", YES), (0, "bob", YES), (1, "ann", NO), (1, "bob", YES))
    >>> Judging().answers([votes], 2)
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

    def answers(self, rounds: list[RoundVotes], pairs: int) -> Ints:
        """Yes, no or undecided for each pair of the last round, shape (pairs,)."""
        if not pairs:
            return np.zeros(0, dtype=np.int64)
        chance = self._probabilities(rounds, pairs)
        yes = np.where(chance > self.threshold + TIED, YES, OPEN)
        return np.where(chance < self.threshold - TIED, NO, yes)

    def _probabilities(self, rounds: list[RoundVotes], pairs: int) -> Floats:
        """Probability of yes of each pair of the last round; nan where nobody is sure."""
        chance = np.full(pairs, np.nan)
        sure = [
            (number, pair, who, label)
            for number, votes in enumerate(rounds)
            for pair, who, label in votes
            if label != OPEN
        ]
        if any(number == len(rounds) - 1 for number, *_ in sure):
            fitted = MODELS[self.model].fit(_annotations(sure))
            prefix = f"{len(rounds) - 1}:"
            mean = fitted.mean[:, fitted.classes.index("yes")]
            for name, value in zip(fitted.items, mean.tolist(), strict=True):
                if name.startswith(prefix):
                    chance[int(name.removeprefix(prefix))] = value
        return chance


def _annotations(sure: list[tuple[int, int, str, int]]) -> Annotations:
    """Votes of all rounds as one table, in an order that does not depend on that of files."""
    sure = sorted(sure)
    of_row = [f"{number}:{pair}" for number, pair, *_ in sure]
    items = tuple(dict.fromkeys(of_row))
    people = tuple(sorted({who for *_, who, _ in sure}))
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        annotators=people,
        item=positions(of_row, items, where="votes"),
        annotator=positions([who for *_, who, _ in sure], people, where="votes"),
        label=np.array([label for *_, label in sure]),
    )


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
    """Read votes from a table.

    Columns are ``pair`` or ``item`` (the name of a pair), or ``first`` and ``second``; then
    ``label`` and, where several people voted, ``annotator``. Rows without a label are pairs
    that nobody answered yet, so ``pairs.csv`` can be filled in and given back. Where there is a
    column ``task``, as the page of a scan writes it, votes on other tasks are passed over.
    """
    from equipoise.clean.reading import read_table
    from equipoise.read.tables import code_names

    table = read_table(path)
    table.required("label", {})
    wanted = ("pair", "item", "first", "second", "label", "annotator", "task")
    columns = {name: code_names(table, name).by_row for name in wanted if name in table.columns}
    labels, pairs = columns["label"], columns.get("pair", columns.get("item"))
    if pairs is None and {"first", "second"} <= columns.keys():
        pairs = tuple(map(pair_name, columns["first"], columns["second"]))
    if pairs is None:
        raise InputError(
            table.name,
            f"columns {listed(table.columns, most=8)}",
            "a column pair, or columns first and second",
            "name the pairs as in pairs.csv",
        )
    people = columns.get("annotator", ("",) * len(labels))
    tasks = columns.get("task", (TASK,) * len(labels))
    if labels and TASK not in tasks:
        raise InputError(
            f"{table.name}, column task",
            listed(sorted(set(tasks))),
            f"votes on {TASK}",
            "give votes on pairs, or leave the column out",
        )
    return [
        PairVote(name, who or UNNAMED, label, table.where(row))
        for row, (name, who, label) in enumerate(zip(pairs, people, labels, strict=True))
        if label and tasks[row] == TASK
    ]


@immutable(eq=False)
class Round:
    """Pairs that were asked together.

    Attributes
    ----------
    pairs, distances
        What is asked, nearest first, and how far apart the two items are, shape (pairs,).
    votes
        What was said: pair, annotator and label.
    answers
        1 for yes, 0 for no, -1 for undecided, shape (pairs,); None while the round is open.
    """

    pairs: Pairs
    distances: Floats
    votes: RoundVotes = ()
    answers: Ints | None = None

    def counts(self) -> Ints:
        """How many votes each pair has, shape (pairs,)."""
        voted = np.fromiter((pair for pair, *_ in self.votes), np.int64, len(self.votes))
        return np.bincount(voted, minlength=len(self.pairs))

    def confirmed(self, judging: Judging) -> Bools:
        """Which pairs are near duplicates, once the round is closed, shape (pairs,)."""
        assert self.answers is not None
        yes = self.answers == YES
        return np.asarray(yes | (self.answers == OPEN) if judging.undecided == "yes" else yes)


Question = tuple[float, int, int]  # distance and places of two items, the smaller first


@immutable(eq=False)
class Clusters:
    """Who belongs together so far, and who still asks.

    Attributes
    ----------
    labels
        Of every item the smallest place of its cluster, shape (items,).
    refusals
        At that place: how often the cluster was refused since it last grew, shape (items,).
    judged
        Pairs that were judged, as first * items + second, rising.
    regrown
        How many clusters grew after a refusal.
    """

    labels: Ints
    refusals: Ints
    judged: Ints
    regrown: int = 0

    @classmethod
    def single(cls, items: int) -> "Clusters":
        """Every item by itself, nothing asked."""
        nothing = np.zeros(items, dtype=np.int64)
        return cls(np.arange(items), nothing, np.zeros(0, dtype=np.int64))

    def after(self, pairs: Pairs, confirmed: Bools, patience: int) -> "Clusters":
        """The clusters once pairs were judged; those that were not confirmed were refused."""
        items = len(self.labels)
        first, second = (self.labels[ends[confirmed]] for ends in (pairs.first, pairs.second))
        labels = components(first, second, items)[self.labels]
        before, now = (np.bincount(codes, minlength=items) for codes in (self.labels, labels))
        roots = np.flatnonzero(before)
        grew = now[labels[roots]] > before[roots]
        refused = self.refusals[roots]
        refusals = np.zeros(items, dtype=np.int64)
        refusals[roots[~grew]] = np.minimum(refused + 1, patience)[~grew]
        codes = pairs.first * items + pairs.second
        return Clusters(
            labels=labels,
            refusals=refusals,
            judged=np.union1d(self.judged, codes),
            regrown=self.regrown + int((grew & (refused > 0)).sum()),
        )

    def asking(self, patience: int) -> Bools:
        """Which items belong to clusters that ask, shape (items,)."""
        return (self.refusals < patience)[self.labels]

    def was_judged(self, first: int, second: int) -> bool:
        """Whether a pair, the smaller place first, was judged."""
        code = first * len(self.labels) + second
        place = np.searchsorted(self.judged, code)
        return bool(place < len(self.judged) and self.judged[place] == code)


def questions(
    points: Directions, clusters: Clusters, patience: int, progress: Progress = silent
) -> tuple[Pairs, Floats]:
    """What the clusters that ask want to know: pairs in their order, and distances."""
    labels, items = clusters.labels, len(points)
    search = Search(points, np.arange(items), exact=True)
    rows = np.flatnonzero(clusters.asking(patience))
    if len(clusters.judged) or items < 2:
        far, near = search.nearest_elsewhere(labels, rows, progress)
    else:  # in the first round copies of one picture are many
        distances, places = neighbours(points.values, 1, exact=True, progress=progress)
        far, near = distances[:, 0], places[:, 0]
    order = np.lexsort((np.maximum(rows, near), np.minimum(rows, near), far, labels[rows]))
    _, first = np.unique(labels[rows][order], return_index=True)
    open_pairs = (
        _open_pair(search, clusters, int(row), (float(away), int(other)))
        for row, away, other in zip(
            rows[order][first], far[order][first], near[order][first], strict=True
        )
    )
    closest = sorted({pair for pair in open_pairs if pair is not None})
    ends = np.array([both for _, *both in closest], dtype=np.int64).reshape(-1, 2)
    return Pairs(ends[:, 0], ends[:, 1]), np.array([away for away, *_ in closest])


def _open_pair(
    search: Search, clusters: Clusters, row: int, nearest: tuple[float, int]
) -> Question | None:
    """The question of the cluster of a row, whose closest other row is given; None for none.

    Clusters whose closest pair was judged are passed over one by one, as if they were its own.
    """
    group, (far, other) = clusters.labels.copy(), nearest
    members = np.flatnonzero(group == group[row])
    while np.isfinite(far):
        low, high = min(row, other), max(row, other)
        if not clusters.was_judged(low, high):
            return far, low, high
        group[group == group[other]] = group[row]
        lengths, ends = search.nearest_elsewhere(group, members)
        best = np.lexsort((np.maximum(members, ends), np.minimum(members, ends), lengths))[0]
        row, far, other = int(members[best]), float(lengths[best]), int(ends[best])
    return None


@immutable(eq=False)
class DuplicateRounds:
    """Rounds of questions on near duplicates; every answer gives a new state.

    Attributes
    ----------
    items
        Names, sorted, whatever the order of the collection: pairs are places among these.
    rounds
        What was asked, the last round being open unless all is finished.
    judging
        How votes become answers.
    patience
        How often in a row a cluster is refused before it stops asking.

    Examples
    --------
    >>> rows = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1], [-1, -1]])
    >>> rounds = DuplicateRounds.start(Collection(items=tuple("abcde"), embeddings=rows))
    >>> rounds.names
    ('a | b', 'c | d', 'a | e')
    >>> say = dict(zip(rounds.names, ("yes", "yes", "no")))
    >>> rounds = rounds.answered(PairVote(pair, "ann", label) for pair, label in say.items())
    >>> rounds.groups, rounds.names
    ((('a', 'b'), ('c', 'd')), ('b | d',))
    >>> rounds.answered([PairVote("b | d", "ann", "no")]).finished
    True
    """

    items: Names
    embeddings: Floats
    points: Directions
    clusters: Clusters
    rounds: tuple[Round, ...]
    judging: Judging
    patience: int = 1

    __repr__ = short_repr

    @classmethod
    def start(
        cls,
        collection: Collection,
        *,
        judging: Judging | None = None,
        patience: int = 1,
        progress: Progress = silent,
    ) -> "DuplicateRounds":
        """Ask for the nearest neighbour of every item."""
        state = cls.before_first_round(collection, judging or Judging(), patience)
        return state.with_next_round(progress)

    @classmethod
    def before_first_round(
        cls, collection: Collection, judging: Judging, patience: int
    ) -> "DuplicateRounds":
        """The state before the first round."""
        require_whole("rounds, patience", patience, least=1, do="take 1, or a few")
        if collection.embeddings is None:
            what, do = NEEDED["embeddings"]
            raise InputError("rounds", f"no {what}", what, do)
        order = name_order(collection.items)
        embeddings = np.ascontiguousarray(collection.embeddings[order])
        return cls(
            items=tuple(collection.items[place] for place in order),
            embeddings=embeddings,
            points=Directions.of(embeddings),
            clusters=Clusters.single(len(order)),
            rounds=(),
            judging=judging,
            patience=patience,
        )

    @property
    def finished(self) -> bool:
        """Whether nothing is left to ask."""
        return not self.rounds or self.rounds[-1].answers is not None

    @property
    def pairs(self) -> Pairs:
        """What is asked now; empty when all is finished."""
        nothing = np.zeros(0, dtype=np.int64)
        return Pairs(nothing, nothing) if self.finished else self.rounds[-1].pairs

    @property
    def names(self) -> Names:
        """Names of the pairs that are asked now."""
        return self.pairs.names(self.items)

    @property
    def missing(self) -> Ints:
        """Which of the pairs that are asked now still need votes, rising."""
        if self.finished:
            return np.zeros(0, dtype=np.int64)
        lacking = self.rounds[-1].counts() < self.judging.votes
        if self.judging.undecided == "more" and not lacking.all():
            answers = self.judging.answers(self._votes(), len(lacking))
            lacking |= answers == OPEN
        return np.flatnonzero(lacking)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the items and their embeddings."""
        return digest([self.items, self.embeddings])

    @property
    def groups(self) -> tuple[Names, ...]:
        """Near duplicates so far, the largest groups first; items without any are in none."""
        labels = self.clusters.labels
        order = np.argsort(labels, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        groups = [tuple(self.items[place] for place in part) for part in parts if len(part) > 1]
        return tuple(sorted(groups, key=lambda group: (-len(group), group)))

    @cached_property
    def largest(self) -> int:
        """How many items the largest group has."""
        return int(np.bincount(self.clusters.labels, minlength=1).max(initial=1))

    @property
    def most_rounds(self) -> int:
        """Rounds that the lemma allows, the last of which confirms nothing."""
        return math.ceil(math.log2(self.largest)) + self.patience

    @property
    def judgements(self) -> int:
        """How many pairs were asked."""
        return sum(len(closed.pairs) for closed in self.rounds)

    @property
    def most_judgements(self) -> int:
        """Pairs that the lemma allows: one per item (and per group and further refusal)."""
        groups = len(np.unique(self.clusters.labels))
        return len(self.items) + (self.patience - 1) * groups

    def answered(self, votes: Iterable[PairVote]) -> "DuplicateRounds":
        """Take votes in, and go on to the next round once no pair needs more.

        Votes that are known already change nothing; others on pairs of rounds that are closed
        are refused.
        """
        return self._with_votes(votes).closed_if_complete()

    def without_unasked(self, votes: Iterable[PairVote]) -> tuple[list[PairVote], Notices]:
        """Votes without those on pairs that were never asked, and a notice that counts these.

        Where no pair of theirs was asked nothing is left out: they are of other rounds.
        """
        listed, places, items = list(votes), self._places(), set(self.items)
        left = [
            vote
            for vote in listed
            if vote.spelling not in places and items.issuperset(vote.pair.split(SEPARATOR))
        ]
        if not left or len(left) == len(listed):
            return listed, ()
        left_out = notice("never_asked", NEVER_ASKED, votes=len(left), pair=left[0].pair)
        return [vote for vote in listed if vote not in left], (left_out,)

    def contains(self, votes: Iterable[PairVote]) -> bool:
        """Whether these votes would change nothing."""
        before = sum(len(round_.votes) for round_ in self.rounds)
        try:
            more = self._with_votes(votes)
        except InputError:
            return False
        return sum(len(round_.votes) for round_ in more.rounds) == before

    def closed_if_complete(self) -> "DuplicateRounds":
        """Close the round, if no pair needs more votes, and open the next."""
        if self.finished or len(self.missing):
            return self
        last = self.rounds[-1]
        answers = self.judging.answers(self._votes(), len(last.pairs))
        return self.with_answers(answers).with_next_round()

    def with_answers(self, answers: Ints) -> "DuplicateRounds":
        """The round that is open with its answers, and nothing asked."""
        last = replace(self.rounds[-1], answers=answers)
        clusters = self.clusters.after(last.pairs, last.confirmed(self.judging), self.patience)
        return replace(self, rounds=(*self.rounds[:-1], last), clusters=clusters)

    def with_next_round(self, progress: Progress = silent) -> "DuplicateRounds":
        """The next round, if there is anything to ask."""
        pairs, distances = questions(self.points, self.clusters, self.patience, progress)
        if not len(pairs):
            return self
        return replace(self, rounds=(*self.rounds, Round(pairs, distances)))

    def _votes(self) -> list[RoundVotes]:
        return [round_.votes for round_ in self.rounds]

    def _places(self) -> dict[str, tuple[int, int]]:
        """Round and place of every pair that was asked, by its name."""
        return {
            name: (number, place)
            for number, round_ in enumerate(self.rounds)
            for place, name in enumerate(round_.pairs.names(self.items))
        }

    def _with_votes(self, votes: Iterable[PairVote]) -> "DuplicateRounds":
        """The open round with more votes."""
        places = self._places()
        labels = [
            {(pair, who): label for pair, who, label in round_.votes} for round_ in self.rounds
        ]
        for vote in votes:
            label = label_code(vote)
            where = vote.place or "votes on pairs"
            if vote.spelling not in places:
                raise self._unknown_pair(vote.pair, where)
            number, place = places[vote.spelling]
            before = labels[number].get((place, vote.annotator))
            if before is not None and before != label:
                raise _conflict(vote, SPELT[before], where)
            if before is None and (self.finished or number < len(self.rounds) - 1):
                raise InputError(
                    f"{where}, pair {vote.pair!r}",
                    f"a vote of {vote.annotator!r} on round {number + 1}, which is closed",
                    "votes on the pairs of the open round" if not self.finished else "no votes",
                    "leave it out, or start again with all votes",
                )
            labels[number][place, vote.annotator] = label
        if self.finished:
            return self
        votes_now = tuple((*whose, label) for whose, label in sorted(labels[-1].items()))
        return replace(
            self, rounds=(*self.rounds[:-1], replace(self.rounds[-1], votes=votes_now))
        )

    def _unknown_pair(self, name: str, where: str) -> InputError:
        """A pair that nobody asked for, or that is none."""
        items, parts = set(self.items), name.split(SEPARATOR)
        wrong = [part for part in parts if part not in items]
        got = f"no item is called {wrong[0]!r}" if wrong else "was never asked"
        names = self.names
        do = "give the answers of this folder's pairs.csv"
        if names and len(names) <= MOST_NAMES:
            do = meant(name, names, do)
        expected = f"one of {listed(names)}" if names else "no votes: all is finished"
        return InputError(f"{where}, pair {name!r}", got, expected, do)


def _conflict(vote: PairVote, before: str, where: str) -> InputError:
    return InputError(
        f"{where}, pair {vote.pair!r}",
        f"{vote.annotator!r} says {vote.label!r} and said {before!r}",
        "one answer of an annotator on a pair",
        "keep one of the two, or name annotators apart in a column annotator",
    )


def group_rows(state: DuplicateRounds) -> list[dict[str, str | int]]:
    """A row for every item that has near duplicates, with the number of its group."""
    return [
        {"group": place + 1, "size": len(group), "item": name}
        for place, group in enumerate(state.groups)
        for name in group
    ]


def pair_rows(state: DuplicateRounds) -> list[dict[str, str | float | int]]:
    """A row for every pair that needs votes, nearest first, with room for a label."""
    rows: list[dict[str, str | float | int]] = []
    names, missing = state.names, state.missing
    votes = np.zeros(0, dtype=int) if state.finished else state.rounds[-1].counts()
    for place in missing.tolist():
        first, second = int(state.pairs.first[place]), int(state.pairs.second[place])
        rows.append(
            {
                "pair": names[place],
                "first": state.items[first],
                "second": state.items[second],
                "distance": float(state.rounds[-1].distances[place]),
                "votes": int(votes[place]),
                "annotator": "",
                "label": "",
            }
        )
    return rows
