"""State: the rounds so far, and what is to be asked now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

import numpy as np

from equipoise.clean.collection import SEPARATOR, Collection, Pairs, pair_name
from equipoise.clean.detector import NEEDED, Progress, name_order
from equipoise.clean.rounds.search import Clusters, ClusterSearch
from equipoise.clean.rounds.votes import (
    OPEN,
    SPELT,
    YES,
    Judging,
    PairVote,
    RoundVotes,
    as_pair_votes,
    label_code,
)
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, InputError, Ints, listed, meant, require_whole
from equipoise.types.findings import Finding
from equipoise.types.notices import Notice, notice

NEVER_ASKED = (
    "{votes:count} votes are left out, as their pairs were not asked in these rounds, such as "
    "{pair}."
)
MOST_NAMES = 20_000  # pairs among which a name that was meant is looked for


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """Pairs that were asked together.

    Attributes
    ----------
    pairs, distances
        What is asked, nearest first, and how far apart the two items are, shape (pairs,).
    votes
        What was said: label by pair and annotator.
    answers
        1 for yes, 0 for no, -1 for undecided, shape (pairs,); None while the round is open.
    """

    pairs: Pairs
    distances: Floats
    votes: RoundVotes = field(default_factory=lambda: MappingProxyType({}))
    answers: Ints | None = None

    def counts(self) -> Ints:
        """How many votes each pair has, shape (pairs,)."""
        voted = np.fromiter((pair for pair, _ in self.votes), np.int64, len(self.votes))
        return np.bincount(voted, minlength=len(self.pairs))

    def confirmed(self, judging: Judging) -> Bools:
        """Which pairs are near duplicates, once the round is closed, shape (pairs,)."""
        assert self.answers is not None
        yes = self.answers == YES
        return np.asarray(yes | (self.answers == OPEN) if judging.undecided == "yes" else yes)


@dataclass(frozen=True, eq=False)
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
    paths
        Where the images are, by item; empty where there are none.

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

    items: tuple[str, ...]
    embeddings: Floats
    search: ClusterSearch
    clusters: Clusters
    rounds: tuple[Round, ...]
    judging: Judging
    patience: int = 1
    paths: tuple[str, ...] = ()

    def __repr__(self) -> str:
        state = "finished" if self.finished else f"{len(self.pairs):,} pairs asked"
        return f"DuplicateRounds({len(self.items):,} items, {len(self.rounds)} rounds, {state})"

    @classmethod
    def start(
        cls,
        collection: Collection,
        *,
        judging: Judging | None = None,
        patience: int = 1,
        progress: Progress | None = None,
    ) -> "DuplicateRounds":
        """Ask for the nearest neighbour of every item."""
        how = Judging() if judging is None else judging
        made = cls.begun(collection, judging=how, patience=patience, progress=progress)
        return made.asking()

    @classmethod
    def begun(
        cls,
        collection: Collection,
        *,
        judging: Judging,
        patience: int = 1,
        near: Ints | None = None,
        progress: Progress | None = None,
    ) -> "DuplicateRounds":
        """The state before the first round.

        Parameters
        ----------
        near
            Lists of neighbours that were made before, by places among the sorted names.
        """
        require_whole("rounds, patience", patience, least=1, do="take 1, or a few")
        if collection.embeddings is None:
            what, do = NEEDED["embeddings"]
            raise InputError("rounds", f"no {what}", what, do)
        _check_names(collection.items)
        order = name_order(collection.items)
        embeddings = np.ascontiguousarray(collection.embeddings[order])
        paths = _image_paths(collection)
        return cls(
            items=tuple(collection.items[place] for place in order),
            embeddings=embeddings,
            search=ClusterSearch.of(embeddings, near, progress),
            clusters=Clusters.single(len(order)),
            rounds=(),
            judging=judging,
            patience=patience,
            paths=tuple(paths[place] for place in order) if paths else (),
        )

    @classmethod
    def load(cls, folder: Path, collection: Collection | None = None) -> "DuplicateRounds":
        """Take rounds up again where they stopped; see `equipoise.clean.rounds.folder`."""
        from equipoise.clean.rounds.folder import load

        return load(folder, collection)

    def save(self, folder: Path) -> Path:
        """Write the rounds to a folder, or what is new to the folder that they came from."""
        from equipoise.clean.rounds.folder import save

        return save(self, folder)

    def report(self) -> Finding:
        """What was found so far, against the bounds of the lemma."""
        from equipoise.clean.rounds.report import finding

        return finding(self)

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
    def names(self) -> tuple[str, ...]:
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
        digest = sha256()
        for name in self.items:
            digest.update(name.encode("utf-8", "surrogatepass") + b"\0")
        digest.update(f"{self.embeddings.dtype.str}{self.embeddings.shape}".encode())
        digest.update(self.embeddings.data if self.items else b"")
        return digest.hexdigest()

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Near duplicates so far, the largest groups first; items without any are in none."""
        labels = self.clusters.labels
        order = np.argsort(labels, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
        groups = [tuple(self.items[place] for place in part) for part in parts if len(part) > 1]
        return tuple(sorted(groups, key=lambda one: (-len(one), one)))

    def answered(self, votes: Annotations | Iterable[PairVote]) -> "DuplicateRounds":
        """Take votes in, and go on to the next round once no pair needs more.

        Votes that are known already change nothing; others on pairs of rounds that are closed
        are refused.
        """
        return self._with_votes(as_pair_votes(votes)).settled()

    def asked(self, votes: Iterable[PairVote]) -> tuple[list[PairVote], tuple[Notice, ...]]:
        """Votes without those on pairs that were never asked, and a notice that counts these.

        Where no pair of theirs was asked nothing is left out: they are of other rounds.
        """
        given, names = list(votes), self._places()
        every = set(self.items)
        other = [
            vote
            for vote in given
            if not any(one in names for one in _spellings(vote.pair))
            and every.issuperset(vote.pair.split(SEPARATOR))
        ]
        if not other or len(other) == len(given):
            return given, ()
        said = notice("never_asked", NEVER_ASKED, votes=len(other), pair=other[0].pair)
        left = set(other)
        return [vote for vote in given if vote not in left], (said,)

    def knows(self, votes: Iterable[PairVote]) -> bool:
        """Whether these votes would change nothing."""
        known = sum(len(one.votes) for one in self.rounds)
        try:
            more = self._with_votes(votes)
        except InputError:
            return False
        return sum(len(one.votes) for one in more.rounds) == known

    def settled(self) -> "DuplicateRounds":
        """Close the round, if no pair needs more votes, and open the next."""
        if self.finished or len(self.missing):
            return self
        last = self.rounds[-1]
        answers = self.judging.answers(self._votes(), len(last.pairs))
        return self.closed(answers).asking()

    def closed(self, answers: Ints) -> "DuplicateRounds":
        """The round that is open with its answers, and nothing asked."""
        last = replace(self.rounds[-1], answers=answers)
        clusters = self.clusters.after(last.pairs, last.confirmed(self.judging), self.patience)
        return replace(self, rounds=(*self.rounds[:-1], last), clusters=clusters)

    def asking(self) -> "DuplicateRounds":
        """The next round, if there is anything to ask."""
        pairs, distances = self.search.questions(self.clusters, self.patience)
        return self.opened(pairs, distances) if len(pairs) else self

    def opened(self, pairs: Pairs, distances: Floats) -> "DuplicateRounds":
        """A round with these pairs."""
        return replace(self, rounds=(*self.rounds, Round(pairs, distances)))

    def with_votes(self, votes: Mapping[tuple[int, str], int]) -> "DuplicateRounds":
        """The open round with these votes and no others."""
        last = replace(self.rounds[-1], votes=MappingProxyType(dict(votes)))
        return replace(self, rounds=(*self.rounds[:-1], last))

    def _votes(self) -> list[RoundVotes]:
        return [one.votes for one in self.rounds]

    def _places(self) -> dict[str, tuple[int, int]]:
        """Round and place of every pair that was asked, by its name."""
        return {
            name: (number, place)
            for number, one in enumerate(self.rounds)
            for place, name in enumerate(one.pairs.names(self.items))
        }

    def _with_votes(self, votes: Iterable[PairVote]) -> "DuplicateRounds":
        """The open round with more votes."""
        known, asked = [dict(one.votes) for one in self.rounds], self._places()
        for vote in votes:
            label = label_code(vote)
            where = vote.place or "votes on pairs"
            name = next((one for one in _spellings(vote.pair) if one in asked), None)
            if name is None:
                raise self._unknown_pair(vote.pair, where)
            number, place = asked[name]
            before = known[number].get((place, vote.annotator))
            if before is not None and before != label:
                raise _conflict(vote, SPELT[before], where)
            if before is None and (self.finished or number < len(self.rounds) - 1):
                raise InputError(
                    f"{where}, pair {vote.pair!r}",
                    f"a vote of {vote.annotator!r} on round {number + 1}, which is closed",
                    "votes on the pairs of the open round" if not self.finished else "no votes",
                    "leave it out, or start again with all votes",
                )
            known[number][place, vote.annotator] = label
        return self if self.finished else self.with_votes(known[-1])

    def _unknown_pair(self, name: str, where: str) -> InputError:
        """A pair that nobody asked for, or that is none."""
        every, parts = set(self.items), name.split(SEPARATOR)
        wrong = [part for part in parts if part not in every]
        got = f"no item is called {wrong[0]!r}" if wrong else "was never asked"
        names = self.names
        do = "give the answers of this folder's pairs.csv"
        if names and len(names) <= MOST_NAMES:
            do = meant(name, names, do)
        expected = f"one of {listed(names)}" if names else "no votes: all is finished"
        return InputError(f"{where}, pair {name!r}", got, expected, do)


def _spellings(name: str) -> tuple[str, ...]:
    """How a pair may be written: as it is, and turned round."""
    parts = name.split(SEPARATOR)
    turned = pair_name(*parts) if len(parts) == 2 else name
    return name, turned


def _image_paths(collection: Collection) -> tuple[str, ...]:
    """Where the images of a collection are, in the order of the items; empty for none."""
    from equipoise.clean.images import FileImages

    images = collection.images
    if not isinstance(images, FileImages):
        return ()
    return tuple(str(images.root / path) for path in images.paths)


def _conflict(vote: PairVote, before: str, where: str) -> InputError:
    return InputError(
        f"{where}, pair {vote.pair!r}",
        f"{vote.annotator!r} says {vote.label!r} and said {before!r}",
        "one answer of an annotator on a pair",
        "keep one of the two, or name annotators apart in a column annotator",
    )


def _check_names(items: Iterable[str]) -> None:
    for name in items:
        if SEPARATOR in name:
            raise InputError(
                f"rounds, item {name!r}",
                f"{SEPARATOR!r} in its name",
                "names that make the names of pairs unique",
                "rename the item",
            )
