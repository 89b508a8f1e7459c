"""What a plan is to achieve: power and level, the designs to look at, and what they cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any, TypedDict

from equipoise.arrays import (
    InputError,
    require_keywords,
    require_number,
    require_whole,
    wrong_type,
)
from equipoise.planning._pilot import Progress

NORMAL = NormalDist()


class PowerKeywords(TypedDict, total=False):
    """The fields of `PowerTarget` as keywords; see there."""

    power: float
    level: float
    votes: tuple[int, ...]
    items: tuple[int, ...]
    difference: float | None
    price_item: float | None
    price_vote: float | None
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
    votes, items
        Votes per item and numbers of items to look at; without items, multiples of the pilot.
    difference
        The difference to resolve; without one, that of the pilot.
    price_item, price_vote
        What an item and a vote cost; both or none.
    simulations, seed
        How many studies are simulated to check each design (0: none), and from which seed.
    task
        Which question, when there are several.
    progress
        Called as ``progress(done, all)``.
    """

    power: float = 0.8
    level: float = 0.95
    votes: tuple[int, ...] = (1, 2, 3, 5, 8, 10)
    items: tuple[int, ...] = ()
    difference: float | None = None
    price_item: float | None = None
    price_vote: float | None = None
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
        for name in ("votes", "items"):
            where, found, do = f"plan, {name}", getattr(self, name), "try (1, 2, 5)"
            if isinstance(found, str) or not isinstance(found, Sequence):
                raise wrong_type(where, found, "a list of whole numbers", do)
            whole = tuple(require_whole(where, one, least=1, do=do) for one in found)
            object.__setattr__(self, name, whole)
        if not self.votes:
            raise InputError("plan, votes", "none", "at least one number", "try 1, 2, 3, 5")
        require_whole("plan, simulations", self.simulations, do="400 is usual, 0 for none")
        require_whole("plan, seed", self.seed, do="try 0")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("plan, progress", self.progress, "a function", "leave it out")
        if self.difference is not None:
            do = "say how much better a model must be to matter"
            require_number("plan, difference", self.difference, above=0, do=do)
        self._check_prices()

    def _check_prices(self) -> None:
        prices = (self.price_item, self.price_vote)
        named = {"plan, price of an item": prices[0], "plan, price of a vote": prices[1]}
        known = [require_number(n, one) for n, one in named.items() if one is not None]
        if len(known) == 1 or any(one < 0 for one in known):
            got = f"item {prices[0]}, vote {prices[1]}"
            do = "say what one more item and one more vote cost"
            raise InputError("plan, prices", got, "two numbers of at least 0, or none", do)
        if known and not sum(known) > 0:
            raise InputError("plan, prices", "both 0", "a price above 0", "leave prices out")

    @property
    def z(self) -> float:
        """Standard errors from the middle of the interval to its ends."""
        return NORMAL.inv_cdf(0.5 + self.level / 2)

    @property
    def reach(self) -> float:
        """Standard errors that the difference must be from 0."""
        return self.z + NORMAL.inv_cdf(self.power)

    def cost(self, items: float, votes: float) -> float:
        """What a design costs; nan without prices."""
        if self.price_item is None or self.price_vote is None:
            return math.nan
        return items * (self.price_item + votes * self.price_vote)


def power_target(how: Mapping[str, Any]) -> PowerTarget:
    """Check the keywords given by a caller.

    Examples
    --------
    >>> power_target({"simulation": 10})
    Traceback (most recent call last):
    ...
    equipoise.arrays.InputError: keyword 'simulation': unknown, expected one of ...
    """
    require_keywords(how, [one.name for one in fields(PowerTarget)])
    return PowerTarget(**how)
