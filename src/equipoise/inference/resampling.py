"""Resampling: one plan of what is drawn again, shared by every model, metric and task.

============  ================================================================================
kind          what is drawn anew in each replicate
============  ================================================================================
items         items with replacement, or whole groups of items (patients, nights)
votes         each item's own votes: the annotation bootstrap, for anonymous crowds
panel         annotators, the same draw for all items: for panels who rate many items
posterior     a draw of the aggregation model's possible truths
items x ...   both, on the wide side: items bring the noise of votes (``items x panel``, ...)
influence     nothing: items by influence functions, for a million items and more
============  ================================================================================

The plan holds no resamples; it makes any run of them from the seed, always the same. What is
drawn belongs to names: to the item, and to the annotator, of a rank among the sorted names (to
the group whose first item comes first), so that the order of a file cannot matter. Streams of
different purposes have keys of their own. Another set of names is another resample.

A panel of A annotators has C(2A - 1, A) distinct resamples, 126 for five. Where these are no
more than the replicates asked for, ``panel`` lists them all, each with its multinomial
probability A! / (c_1! ... c_A!) / A^A as its weight, in place of drawing some at random. Under
``items x panel``, which cannot list them, replicate r takes the one at which the cumulated
probabilities reach the fractional part of u + r (sqrt(5) - 1) / 2, with u from the seed: along
this evenly spread sequence each panel occurs as often as it should, up to a replicate or two.

Gold is no opinion: items that it settles keep it in every replicate, and who gave nothing but
gold, or votes on nothing but settled items, is not drawn.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equipoise.types import (
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Option,
    Plausibilities,
    choice,
    counted_votes,
    distinct,
    frozen,
    hint,
    immutable,
    is_panel,
    listed,
    name_order,
    name_ranks,
    require_drawn,
    short_repr,
)

USUAL = 2000  # replicates
MANY = 100_000  # items from which nothing is resampled

KINDS = (
    "items",
    "votes",
    "panel",
    "posterior",
    "items x votes",
    "items x panel",
    "items x posterior",
    "influence",
)
VOTES = Option("gold", "ignore", "annotations.with_gold('ignore')")
MOST_PANELS = 2000  # distinct panels that are listed
GOLDEN = (5**0.5 - 1) / 2  # multiples of it spread most evenly over the unit interval


@immutable(eq=False, kw_only=True)
class Resampling:
    """A plan of replicates.

    Two models scored under the same plan are compared replicate by replicate, so
    differences and ranks are paired by construction.

    Attributes
    ----------
    kind
        One of `KINDS`.
    items
        Names of the items the plan draws from.
    replicates, seed
        How many resamples, and from which seed.
    group
        Which group each item belongs to, shape (items,); groups are drawn as a whole.
    annotators, draws
        How many annotators and possible truths there are to draw from.
    reason
        Why this kind was chosen, as a sentence for the user.
    voters
        Codes of the annotators with a vote that counts, who alone are drawn; None is all.
    ranks
        Rank of each annotator's name, shape (annotators,); None where they stand in order.
    weights
        Probability of each replicate, shape (replicates,), where a panel's resamples are all
        listed; None where all replicates count alike.
    gold
        Whether adjudicated gold settles every item.
    annotator_group
        Which group each annotator belongs to, shape (annotators,), in the order of their names;
        groups are drawn as a whole.

    Examples
    --------
    >>> plan = Resampling(kind="items", items=("a", "b", "c"), replicates=2, seed=1)
    >>> plan.item_counts(0, 2).sum(axis=0)
    array([3, 3], dtype=uint64)
    """

    kind: str
    items: Names
    replicates: int = 2000
    seed: int = 0
    group: Ints | None = None
    annotators: int = 0
    draws: int = 0
    reason: str = ""
    voters: Ints | None = None
    weights: Floats | None = None
    gold: bool = False
    ranks: Ints | None = None
    annotator_group: Ints | None = None
    _fingerprint: str = field(default="", repr=False)
    _places: tuple[Ints, ...] | None = field(default=None, repr=False)

    __repr__ = short_repr

    def __post_init__(self) -> None:
        choice("resampling, kind", self.kind, KINDS)
        replicates = require_drawn("resampling, replicates", self.replicates, do="try 2000")
        object.__setattr__(self, "replicates", replicates)
        object.__setattr__(self, "seed", int(self.seed))
        if self.group is not None:
            if len(np.unique(self.group)) < 2 and (self.over_items or self.kind == "influence"):
                raise InputError(
                    f"resampling {self.kind}",
                    "a single group",
                    "at least two groups of items",
                    "leave the group column out, or choose another resampling",
                )
            codes = np.unique(np.asarray(self.group), return_inverse=True)[1]
            object.__setattr__(self, "group", frozen(codes.astype(np.int64)))
        if self.weights is not None:
            if self.kind != "panel" or len(self.weights) != self.replicates:
                raise InputError(
                    f"resampling {self.kind}, weights",
                    f"{len(self.weights):,} weights of {self.replicates:,} replicates",
                    "all panels, with a weight each",
                    "make the plan with resample(truth, 'panel')",
                )
            object.__setattr__(self, "weights", frozen(np.asarray(self.weights, float)))
        object.__setattr__(self, "_fingerprint", "")
        object.__setattr__(self, "_places", None)

    @property
    def over_items(self) -> bool:
        """Whether items are drawn anew."""
        return self.kind.startswith("items")

    @property
    def truth(self) -> Literal["votes", "panel", "posterior"] | None:
        """What of the truth is drawn anew."""
        for part in ("votes", "panel", "posterior"):
            if self.kind.endswith(part):
                return part
        return None

    @property
    def scope(self) -> str:
        """What the intervals speak for, as a sentence."""
        if self.over_items or self.kind == "influence":
            groups = (
                "" if self.group is None else f", {int(self.group.max()) + 1} groups as wholes"
            )
            both = " The total of both errs on the wide side." if self.truth else ""
            if self.gold:
                return (
                    f"Items are resampled{groups}: by the reference standard; items like these."
                )
            return f"Items are resampled{groups}: the result speaks for items like these.{both}"
        who = {"panel": "annotators", "votes": "votes", "posterior": "draws"}[str(self.truth)]
        return (
            f"Items are held fixed, only {who} are resampled: the result speaks for these "
            f"items, not for others like them; 'items x {self.truth}' counts both."
        )

    @property
    def fingerprint(self) -> str:
        """A name for everything that decides the draws, which the order of items does not."""
        if not self._fingerprint:
            object.__setattr__(self, "_fingerprint", self._digest())
        return self._fingerprint

    def _digest(self) -> str:
        names = "\x1f".join(sorted(self.items)).encode(errors="surrogatepass")
        group = None
        if self.group is not None and (ranks := self._unit_ranks) is not None:
            order = name_order(self.items)
            group = ranks if order is None else ranks[order]
        parts = [
            self.kind,
            self.replicates,
            self.seed,
            hashlib.sha256(names).hexdigest(),
            None
            if group is None
            else hashlib.sha256(np.ascontiguousarray(group).tobytes()).hexdigest(),
            self.annotators,
            self.draws,
        ]
        if self.voters is not None:
            ranked = self.voters if self.ranks is None else self.ranks[self.voters]
            parts.append(sorted(ranked.tolist()))
        if self.weights is not None:
            parts.append("all panels")
        if self.annotator_group is not None:
            group = self.annotator_group
            group = group if self.ranks is None else group[np.argsort(self.ranks)]
            parts.append(group.tolist())
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def of_items(self, keep: Bools) -> "Resampling":
        """The same plan for some of its items, shape (items,)."""
        names = tuple(name for name, use in zip(self.items, keep, strict=True) if use)
        group = None if self.group is None else self.group[keep]
        return replace(self, items=names, group=group)

    def key(self, purpose: str) -> np.uint64:
        """Key of the random stream for one purpose."""
        digest = hashlib.sha256(f"{self.seed}/{purpose}".encode()).digest()
        return np.uint64(int.from_bytes(digest[:8], "little"))

    def item_counts(self, first: int, stop: int) -> NDArray[np.uint8]:
        """How often each item stands in replicates first..stop, shape (items, replicates)."""
        if not self.over_items:
            return np.ones((len(self.items), stop - first), dtype=np.uint8)
        units = len(self.items) if self.group is None else int(self.group.max()) + 1
        counts = self._draw("items", units, first, stop)
        ranks = self._unit_ranks
        return counts if ranks is None else counts[ranks]

    @property
    def _unit_ranks(self) -> Ints | None:
        """Rank of each item's name, or of its group's first; None where items are in order."""
        if self._places is None:
            ranks = name_ranks(self.items)
            if self.group is not None:
                ranks = _group_ranks(self.group, ranks)
            object.__setattr__(self, "_places", () if ranks is None else (ranks,))
        return self._places[0] if self._places else None

    def annotator_counts(self, first: int, stop: int) -> NDArray[np.uint8]:
        """How often each annotator stands in them, shape (annotators, replicates)."""
        who = np.arange(self.annotators) if self.voters is None else self.voters
        name = who if self.ranks is None else self.ranks[who]
        drawn_as = name if self.annotator_group is None else self.annotator_group[who]
        counts = np.zeros((self.annotators, stop - first), dtype=np.uint8)
        drawn = self._panels(first, stop)
        counts[who] = drawn[np.unique(drawn_as, return_inverse=True)[1]]
        return counts

    @property
    def panel_size(self) -> int:
        """How many annotators, or groups of them, there are to draw from."""
        if self.annotator_group is not None:
            group = self.annotator_group
            return len(np.unique(group if self.voters is None else group[self.voters]))
        return self.annotators if self.voters is None else len(self.voters)

    def _panels(self, first: int, stop: int) -> NDArray[np.uint8]:
        """The same for those who are drawn: all panels in turn, evenly spread ones, or draws.

        Replicates beyond the last of all panels begin again with the first.
        """
        size = self.panel_size
        if comb(2 * size - 1, size) > MOST_PANELS:
            return self._draw("panel", size, first, stop)
        counts, weights = distinct_panels(size)
        numbers = np.arange(first, stop)
        if self.weights is not None:
            return np.ascontiguousarray(counts[:, numbers % self.replicates])
        points = (float(self.key("panel")) / 2**64 + numbers * GOLDEN) % 1.0
        taken = np.searchsorted(np.cumsum(weights)[:-1], points, side="right")
        return np.ascontiguousarray(counts[:, taken])

    def draw_numbers(self, first: int, stop: int, draws: int | None = None) -> Ints:
        """Which possible truth each replicate takes: all of them in turn."""
        return np.arange(first, stop) % max(self.draws if draws is None else draws, 1)

    def _draw(self, purpose: str, units: int, first: int, stop: int) -> NDArray[np.uint8]:
        from equipoise.kernels.resampling import draw_counts

        counts = np.empty((units, stop - first), dtype=np.uint8)
        draw_counts(self.key(purpose), first, counts)
        return counts


def _group_ranks(group: Ints, ranks: Ints | None) -> Ints:
    """Rank of each item's group by the item of it that comes first, shape (items,).

    >>> _group_ranks(np.array([1, 0, 1]), np.array([2, 1, 0]))
    array([0, 1, 0])
    """
    first = np.full(int(group.max()) + 1, len(group))
    np.minimum.at(first, group, np.arange(len(group)) if ranks is None else ranks)
    return np.argsort(np.argsort(first))[group]


@cache
def distinct_panels(size: int) -> tuple[NDArray[np.uint8], Floats]:
    """All resamples of a panel: counts (annotators, panels), and their probabilities (panels,).

    Examples
    --------
    >>> counts, weights = distinct_panels(2)
    >>> counts
    array([[2, 1, 0],
           [0, 1, 2]], dtype=uint8)
    >>> weights
    array([0.25, 0.5 , 0.25])
    """
    panels = list(combinations_with_replacement(range(size), size))
    counts = np.stack([np.bincount(panel, minlength=size) for panel in panels], axis=1)
    ways = [factorial(size) // prod(map(factorial, panel)) for panel in counts.T.tolist()]
    return frozen(counts.astype(np.uint8)), frozen(np.array(ways) / size**size)


def resample(
    truth: Annotations | Plausibilities,
    kind: str | None = None,
    *,
    replicates: int | None = None,
    seed: int = 0,
    group: Any = None,
    fixed: str | None = None,
) -> Resampling:
    """Make the plan for a truth; without a kind, the one that fits how it was collected.

    Without a number of replicates there are 2,000, fewer for more than 10,000 items; from
    100,000 items on nothing is resampled: replicates are normal by influence functions.

    ``group`` names the group (patient, night) of every item, drawn as a whole; annotations know
    theirs, plausibilities do not: give them ``annotations.group`` of the same items. Groups of
    your own are safest by name, as ``{item: group}`` or a series with names as its index; an
    array goes with ``truth.items``, which readers put in the order of names.

    Annotators whose ids are shared across items form a panel; anonymous votes are drawn per
    item; draws of an aggregation model are taken in turn; otherwise only items can be drawn.
    Where gold settles items, items are drawn anew, and the annotators of the others with them.
    Without a kind, what is ``fixed`` (``items`` or ``annotators``) is not drawn where that
    leaves anything to draw. A panel with no more distinct resamples than ``replicates`` has
    them all, with weights.

    >>> votes = Annotations(kind="binary", items=("a", "b"), classes=("0", "1"),
    ...     annotators=("ana", "bo"), item=np.array([0, 0, 1, 1]),
    ...     annotator=np.array([0, 1, 0, 1]), label=np.array([1, 0, 1, 1]))
    >>> resample(votes).kind
    'items x panel'
    """
    if kind is None:
        chosen, reason = _without_fixed(*_default(truth), fixed)
        if len(truth.items) > MANY:
            reason = f"influence, in place of {chosen}: there are more than {MANY:,} items."
            chosen = "influence"
    else:
        chosen = normalised(kind)
        reason = f"{chosen} was asked for."
    voters, all_gold = None, False
    if isinstance(truth, Annotations):
        all_gold = _all_items_gold(truth)
        voters = _voters_or_refuse(truth, chosen, all_gold=all_gold)
        annotators = 0 if truth.annotators is None else len(truth.annotators)
        group_of_truth, draws = truth.group, 0
    else:
        annotators, group_of_truth, draws = 0, None, truth.draws
        if chosen.endswith("posterior") and draws == 1:
            raise InputError(
                f"resampling {chosen}",
                "a single draw",
                "several possible truths",
                "draw more from the model, or choose items",
            )
        if chosen.split(" x ")[-1] in ("votes", "panel"):
            raise InputError(
                f"resampling {chosen}",
                "plausibilities without votes",
                "items, posterior or items x posterior",
                "evaluate the annotations instead",
            )
    group_given = None if group is None else _groups_of(group, truth.items)
    number = usual_replicates(len(truth.items), chosen) if replicates is None else replicates
    plan = Resampling(
        kind=chosen,
        items=truth.items,
        replicates=number,
        seed=seed,
        group=group_of_truth if group_given is None else group_given,
        annotators=annotators,
        draws=draws,
        reason=reason,
        voters=voters,
        ranks=_ranks(truth),
        gold=all_gold,
        annotator_group=truth.annotator_group if isinstance(truth, Annotations) else None,
    )
    weights = _panel_weights(plan.panel_size, number) if chosen == "panel" else None
    return plan if weights is None else replace(plan, replicates=len(weights), weights=weights)


def _groups_of(group: Any, items: Names) -> Ints:
    """The group of every item as a number: by name where the groups have names, else as given.

    >>> _groups_of({"b": "ana", "a": "zoe"}, ("a", "b"))
    array([1, 0])
    """
    index = getattr(group, "index", ())  # of a series; of a list it is a method
    if not callable(index) and len(index) and all(isinstance(name, str) for name in index):
        group = dict(zip(index, group, strict=True))  # numbers would only count the rows
    if isinstance(group, Mapping):
        named = {str(item): group_of_item for item, group_of_item in group.items()}
        lacking = [item for item in items if item not in named]
        if lacking:
            raise InputError(
                "resampling, group",
                f"no group for {listed(lacking)}",
                f"one for each of the {len(items):,} items",
                "add them",
            )
        group = [named[item] for item in items]
    if len(group) != len(items):
        raise InputError(
            "resampling, group",
            f"{len(group):,} groups",
            f"one for each of the {len(items):,} items",
            "give {item: group}, or an array in the order of the items of the truth",
        )
    return np.unique(np.asarray(group), return_inverse=True)[1]


def _panel_weights(size: int, replicates: int) -> Floats | None:
    """Probabilities of all panels, where they are no more than the replicates asked for."""
    if size < 2 or comb(2 * size - 1, size) > min(replicates, MOST_PANELS):
        return None
    return distinct_panels(size)[1]


def usual_replicates(items: int, kind: str) -> int:
    """How many replicates are made when nobody says."""
    if kind == "influence" or items <= MANY // 10:
        return USUAL
    return max(USUAL * (MANY // 10) // items // 100 * 100, 200)


def normalised(kind: str) -> str:
    """Read a kind however it is spelt: ``items-x-panel``, ``items*panel``, ``ITEMS x PANEL``.

    Examples
    --------
    >>> normalised("items-x-panel")
    'items x panel'
    """
    letters = "".join(c for c in kind.lower().replace("*", "x") if c.isalpha())
    for usual in KINDS:
        if letters == usual.replace(" ", ""):
            return usual
    return choice("resampling, kind", kind, KINDS)


def _without_fixed(kind: str, reason: str, fixed: str | None) -> tuple[str, str]:
    """A kind and its reason, without what is fixed."""
    left = kind
    if fixed == "items":
        left = kind.removeprefix("items x ")
    elif fixed == "annotators":
        left = kind.removesuffix(" x panel")
    return (kind, reason) if left == kind else (left, f"{left}, because {fixed} are fixed.")


def _default(truth: Annotations | Plausibilities) -> tuple[str, str]:
    """The kind of resampling that fits how the truth was collected, and why."""
    if isinstance(truth, Plausibilities):
        if truth.draws > 1:
            return (
                "items x posterior",
                "items x posterior, because the truth comes as draws of a model.",
            )
        return "items", "items, because the truth is a single distribution per item."
    if not truth.gold.any():
        return _default_of_votes(truth)
    if _all_items_gold(truth):
        return "items", "items, because every item has adjudicated gold, which is the truth."
    kind, _ = _default_of_votes(truth.rows(counted_votes(truth)))
    return kind, f"{kind}, because some items have adjudicated gold and the others votes."


def _all_items_gold(truth: Annotations) -> bool:
    """Whether gold settles every item."""
    return bool(truth.gold.any()) and not counted_votes(truth).any()


def _default_of_votes(truth: Annotations) -> tuple[str, str]:
    if truth.annotators is None or truth.annotator is None:
        return "items", "items, because votes are anonymous: items bring their votes along."
    if is_panel(truth.item, truth.annotator, len(truth.items)):
        return (
            "items x panel",
            "items x panel, because annotator ids are shared across items: items and people "
            "are resampled.",
        )
    if len(distinct(truth.annotator)[0]) == 1:
        return "items", "items, because there is only one annotator."
    if _votes_per_item(truth) <= 1:
        return "items", "items, because every item has a single vote."
    return "items", "items, because most annotators rated a single item."


def _ranks(truth: Annotations | Plausibilities) -> Ints | None:
    """Rank of each annotator's name; None where they stand in order, or there are none."""
    names = truth.annotators if isinstance(truth, Annotations) else None
    ranks = None if names is None else name_ranks(names)
    return None if ranks is None else frozen(ranks)


def _votes_per_item(truth: Annotations) -> float:
    """Mean number of votes per item and task."""
    votes = len(truth) if truth.count is None else int(truth.count.sum())
    if truth.reading is not None:
        votes = len(np.unique(truth.reading))
    return votes / len(distinct(truth.cells)[0])


def _voters_or_refuse(truth: Annotations, kind: str, *, all_gold: bool) -> Ints | None:
    """Refuse kinds that these annotations cannot be resampled by; who of them can be drawn."""
    part = kind.split(" x ")[-1]
    if all_gold and part in ("panel", "votes"):
        raise InputError(
            f"resampling {kind}",
            "adjudicated gold for every item",
            "votes that count",
            hint("choose items instead, or score against the votes: {}", VOTES),
        )
    if truth.gold.any() and not all_gold:
        truth = truth.rows(counted_votes(truth))
    voters = (
        np.empty(0, int)
        if truth.annotator is None
        else np.flatnonzero(np.bincount(truth.annotator))
    )
    if part == "panel" and len(voters) < 2:
        who = "anonymous votes" if truth.annotator is None else "a single annotator"
        raise InputError(
            f"resampling {kind}",
            who,
            "at least two annotators with ids",
            "choose votes or items instead",
        )
    if part == "votes" and _votes_per_item(truth) <= 1:
        raise InputError(
            f"resampling {kind}",
            "one vote per item",
            "several votes per item",
            "choose items instead: a single vote drawn again is itself",
        )
    if part == "posterior":
        raise InputError(
            f"resampling {kind}",
            "annotations",
            "plausibilities with draws",
            "aggregate the annotations first, or choose panel, votes or items",
        )
    everybody = len(voters) == len(truth.annotators or ())
    return None if everybody or part != "panel" else frozen(voters.astype(np.intp))
