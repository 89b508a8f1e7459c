"""What is said of a model among experts: its difference, its share of pairs, and its worth.

A model is said to be *worth* a number of experts above one only where nothing speaks against
more than one: the interval of its difference to the average expert leaves out zero, it beats a
colleague in at least half of the pairs, and the interval of its worth begins above one. Else
the number is an estimate, and the sentence says what speaks against it. So it is where a worth
below one might be one or more.
"""

import math
from typing import NamedTuple

from equipoise.analyses.words import counted, joined, percent
from equipoise.arrays import Floats
from equipoise.digits import fixed

Three = tuple[float, float, float]  # value, low and high


class Standing(NamedTuple):
    """One model among experts.

    Attributes
    ----------
    gap
        Model minus average expert as higher-is-better: value, low and high.
    superior
        Share of pairs in which the model beats the colleague: value, low and high.
    worth
        Worth in experts: value, low and high.
    most
        The largest number of experts looked at together.
    scores, crowd
        The model against a held-out expert, and the mean vote of one expert to the most, on
        the same items, (sizes,).
    """

    gap: Three
    superior: Three
    worth: Three
    most: int
    scores: Floats
    crowd: Floats

    def said(self) -> str:
        """The worth as a sentence, and what speaks against more than one expert."""
        words = (
            f"{worth_words(self.worth[0], self.most)} ({worth_range(self.worth, self.most)})"
        )
        doubts = self.doubts()
        if self.worth[0] < 1 <= self.worth[2]:
            return f"Its worth is put at {words}{self._beside()}."
        if not doubts:
            return f"It is worth {words}{self._beside()}."
        return (
            f"Its worth is put at {words}{self._beside()}. That it is more than one expert is "
            f"not shown: {joined(doubts)}."
        )

    def _beside(self) -> str:
        """The values behind the worth, those of the largest groups if it is beyond them."""
        beyond = math.isinf(self.worth[0])
        ours, theirs = (float(one[-1 if beyond else 0]) for one in (self.scores, self.crowd))
        if math.isnan(self.worth[0]) or not math.isfinite(ours + theirs):
            return ""
        who = f"the mean of {self.most} experts" if beyond and self.most > 1 else "a colleague"
        return f": against a held-out expert it has {fixed(ours)}, {who} {fixed(theirs)}"

    def doubts(self) -> list[str]:
        """Why a model whose worth is put above one expert might not be worth more.

        Examples
        --------
        >>> scores, crowd = np.array([0.8, 0.8]), np.array([0.79, 0.81])
        >>> gap, won, worth = (0.1, -0.1, 0.3), (0.4, 0.1, 0.8), (1.5, 1.2, 3.0)
        >>> Standing(gap, won, worth, 2, scores, crowd).doubts()
        ['its difference to the average expert may be zero', 'it beats ... in 40% of pairs']
        """
        worth, worth_low, _ = self.worth
        if not worth > 1:
            return []
        said = []
        if self.gap[2] < 0:
            said.append("it agrees with the others less well than the average expert")
        elif not self.gap[1] > 0:
            said.append("its difference to the average expert may be zero")
        if self.superior[0] < 0.5:
            said.append(f"it beats a colleague only in {percent(self.superior[0])} of pairs")
        if math.isnan(worth_low):
            said.append("the interval of its worth is undefined")
        elif worth_low <= 1:
            said.append("its worth may be one expert or fewer")
        return said


def difference(value: float, low: float, high: float) -> str:
    """A difference with its sign and interval.

    Examples
    --------
    >>> difference(0.0088, -0.025, 0.033), difference(-0.1, float("nan"), 0.0)
    ('+0.009 [-0.025, 0.033]', '-0.100, interval undefined')
    """
    words = f"{'+' if value > 0 else ''}{fixed(value)}"
    if math.isnan(low) or math.isnan(high):
        return f"{words}, interval undefined"
    return f"{words} [{fixed(low)}, {fixed(high)}]"


def _end(number: float, most: int) -> str:
    """A number of experts, in words."""
    if number < 1:
        return "fewer than one"
    return f"more than {most}" if math.isinf(number) else f"{number:.1f}"


def worth_words(number: float, most: int) -> str:
    """A model's worth in experts, in words.

    Examples
    --------
    >>> worth_words(2.46, 7), worth_words(1.0, 7), worth_words(float("inf"), 7)
    ('the mean of 2.5 experts', 'one expert', 'more than 7 experts')
    """
    if math.isnan(number):
        return "an undefined number of experts"
    if number <= 1:
        return "one expert" if number == 1 else "fewer than one expert"
    if f"{number:.1f}" == "1.0":
        return "about one expert"
    whole = f"{_end(number, most)} experts"
    return whole if math.isinf(number) else f"the mean of {whole}"


def worth_range(worth: Three, most: int) -> str:
    """The interval of a model's worth, in words."""
    if math.isnan(worth[1]) or math.isnan(worth[2]):
        return "interval undefined"
    low, high = (_end(one, most) for one in worth[1:])
    return f"{low} at both ends" if low == high else f"{low} to {high}"


def pairs_won(superior: Three, pairs: int) -> str:
    """In how many pairs of experts a model beats the colleague, in words.

    Examples
    --------
    >>> pairs_won((1.0, 0.68, 1.0), 56)
    'in all 56 pairs (68% to 100%)'
    """
    share, low, high = superior
    if math.isnan(share):
        return "in an undefined share of pairs"
    said = {1.0: f"in all {pairs} pairs", 0.0: f"in none of {pairs} pairs"}
    words = said.get(share, f"in {percent(share)} of {pairs} pairs")
    if math.isnan(low) or math.isnan(high):
        return f"{words} (interval undefined)"
    return f"{words} ({percent(low)} to {percent(high)})"


def passing(sizes: list[int]) -> list[str]:
    """Say which numbers of experts are passed over where the worth is read from the curve.

    Examples
    --------
    >>> passing([2])[0][:57], passing([])
    ('The mean vote of 2 experts agrees with another expert les', [])
    """
    if not sizes:
        return []
    some = joined([str(one) for one in sizes[:-1]] + [counted(sizes[-1], "expert")], "or")
    return [
        f"The mean vote of {some} agrees with another expert less well than that of fewer "
        "experts does, as where two can only tie: such a number is passed over where a model's "
        "worth is read from the curve."
    ]
