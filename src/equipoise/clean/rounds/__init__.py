r"""Fast near-duplicate rounds: all groups of near duplicates from about one question per item.

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
"""

from equipoise.clean.rounds.report import group_rows, pair_rows
from equipoise.clean.rounds.state import DuplicateRounds, Round
from equipoise.clean.rounds.votes import JUDGES, UNDECIDED, Judging, PairVote, read_pair_votes

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
