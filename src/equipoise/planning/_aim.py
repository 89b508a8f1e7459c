"""What a plan is to achieve: power and level, the designs to look at, and what they cost."""

import math
from dataclasses import dataclass
from typing import TypedDict

from equipoise.arrays import InputError
from equipoise.planning._pilot import Progress


class Aims(TypedDict, total=False):
    """The fields of `Aim` as keywords; see there."""

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
class Aim:
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
        for name in ("power", "level"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise InputError(
                    f"plan, {name}", f"{value}", "a number between 0 and 1", "try 0.8 or 0.95"
                )
        for name in ("votes", "items"):
            numbers = getattr(self, name)
            if any(one != int(one) or one < 1 for one in numbers):
                raise InputError(
                    f"plan, {name}", f"{numbers}", "whole numbers of at least 1", "correct them"
                )
        if not self.votes:
            raise InputError("plan, votes", "none", "at least one number", "try 1, 2, 3, 5")
        if self.simulations < 0 or self.seed < 0:
            raise InputError(
                "plan", f"{self.simulations} simulations, seed {self.seed}",
                "numbers of at least 0", "correct them",
            )  # fmt: skip
        if self.difference is not None and not 0 < self.difference < math.inf:
            raise InputError(
                "plan, difference", f"{self.difference}", "a number above 0",
                "say how much better a model must be to matter",
            )  # fmt: skip
        self._check_prices()

    def _check_prices(self) -> None:
        prices = (self.price_item, self.price_vote)
        given = [one for one in prices if one is not None]
        if len(given) == 1 or any(not 0 <= one < math.inf for one in given):
            raise InputError(
                "plan, prices", f"item {prices[0]}, vote {prices[1]}",
                "two numbers of at least 0, or none",
                "say what one more item and one more vote cost",
            )  # fmt: skip
        if given and not sum(given) > 0:
            raise InputError("plan, prices", "both 0", "a price above 0", "leave prices out")

    def cost(self, items: float, votes: float) -> float:
        """What a design costs; nan without prices."""
        if self.price_item is None or self.price_vote is None:
            return math.nan
        return items * (self.price_item + votes * self.price_vote)
