"""What a plan is to achieve: power and level, the designs to look at, and what they cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from equipoise.study.planning._pilot import Progress
from equipoise.types.arrays import (
    InputError,
    require_drawn,
    require_keywords,
    require_number,
    require_whole,
    wrong_type,
)

PEOPLE = (3, 5, 8, 12, 20)  # annotators that are looked at
VOTES = (1, 2, 3, 5, 8)  # votes per item, where nobody knows who votes
LEAST = 3  # annotators, below which nothing can be said about others like them


class PowerKeywords(TypedDict, total=False):
    """The fields of `PowerTarget` as keywords; see there."""

    power: float
    level: float
    annotators: tuple[int, ...]
    votes: tuple[int, ...]
    items_per_group: tuple[int, ...]
    difference: float | None
    margin: float | None
    price_item: float | None
    price_vote: float | None
    price_annotator: float
    simulations: int
    seed: int
    task: str | None
    progress: Progress | None


@dataclass(frozen=True, slots=True)
class PowerTarget:
    """What a plan is to achieve.

    Attributes
    ----------
    power, level
        How often the interval of this level must lie above 0.
    annotators
        Numbers of annotators to look at.
    votes
        Votes per item to look at; without any all annotators vote on every item.
    items_per_group
        Where items have groups, items in each to look at; without any, as in the pilot, and a
        tenth of that.
    difference
        The difference to resolve; without one, that of the pilot if it has found one.
    margin
        How much worse the first model may be: then the interval must lie above minus the
        margin, and without a difference models are taken as equal.
    price_item, price_vote, price_annotator
        What an item and a vote cost, both or none; and one more annotator.
    simulations, seed
        How many studies are simulated to check each design (0: none), and from which seed.
    task
        Which question, when there are several.
    progress
        Called as ``progress(done, all)``.
    """

    power: float = 0.8
    level: float = 0.95
    annotators: tuple[int, ...] = PEOPLE
    votes: tuple[int, ...] = ()
    items_per_group: tuple[int, ...] = ()
    difference: float | None = None
    margin: float | None = None
    price_item: float | None = None
    price_vote: float | None = None
    price_annotator: float = 0.0
    simulations: int = 400
    seed: int = 0
    task: str | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        require_number("plan, power", self.power, above=0, below=1, do="try 0.8")
        require_number("plan, level", self.level, above=0, below=1, do="try 0.95")
        by_luck = (1 - self.level) / 2
        if self.power <= by_luck:
            raise InputError(
                "plan, power",
                f"{self.power} with intervals of level {self.level}",
                f"more than {by_luck:g}, the probability of a study without any difference",
                "try a power of 0.8 and a level of 0.95",
            )
        for name in ("annotators", "votes", "items_per_group"):
            where, found, do = f"plan, {name}", getattr(self, name), "try (3, 5, 8)"
            if isinstance(found, str) or not isinstance(found, Sequence):
                raise wrong_type(where, found, "a list of whole numbers", do)
            least = LEAST if name == "annotators" else 1
            whole = {require_whole(where, one, least=least, do=do) for one in found}
            object.__setattr__(self, name, tuple(sorted(whole)))
        if not self.annotators:
            raise InputError("plan, annotators", "none", "at least one number", "try 3, 5, 8")
        require_drawn(
            "plan, simulations", self.simulations, least=0, do="400 is usual, 0 for none"
        )
        require_whole("plan, seed", self.seed, do="try 0")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("plan, progress", self.progress, "a function", "leave it out")
        if self.difference is not None:
            do = "say how much better a model must be to matter"
            require_number("plan, difference", self.difference, above=0, do=do)
        if self.margin is not None:
            do = "say how much worse the first model may be"
            require_number("plan, margin", self.margin, above=0, do=do)
        self._check_prices()

    def _check_prices(self) -> None:
        prices = (self.price_item, self.price_vote)
        named = {"plan, price of an item": prices[0], "plan, price of a vote": prices[1]}
        known = [require_number(n, one) for n, one in named.items() if one is not None]
        if len(known) == 1 or any(one < 0 for one in known):
            got = f"item {prices[0]}, vote {prices[1]}"
            do = "say what one more item and one more vote cost"
            raise InputError("plan, prices", got, "two numbers of at least 0, or none", do)
        if require_number("plan, price of an annotator", self.price_annotator) < 0:
            got = f"{self.price_annotator}"
            raise InputError("plan, prices", got, "at least 0", "leave it out")
        if known and not sum(known) > 0:
            raise InputError("plan, prices", "both 0", "a price above 0", "leave prices out")

    def cost(self, items: int, votes: int, annotators: int) -> float:
        """What a design costs, votes all together; nan without prices."""
        if self.price_item is None or self.price_vote is None:
            return math.nan
        own = items * self.price_item + votes * self.price_vote
        return own + annotators * self.price_annotator


def power_target(how: Mapping[str, Any]) -> PowerTarget:
    """Check the keywords given by a caller.

    Examples
    --------
    >>> power_target({"simulation": 10})
    Traceback (most recent call last):
    ...
    equipoise.InputError: keyword 'simulation': unknown, expected one of ...
    """
    require_keywords(how, [one.name for one in fields(PowerTarget)])
    return PowerTarget(**how)
