r"""Spread: what the uncertainty of one number is made of, and the interval that follows.

With :math:`V_i` the part of items, :math:`V_r` that of annotators with the noise of their votes
and :math:`V_c` that noise alone, the variance for items and annotators like these is
:math:`V_i + \max(V_r - V_c, 0)`. From five effective annotators on the interval is Student's t
with Satterthwaite's degrees of freedom; the annotators' mean square stays in the denominator
where the bracket was cut to 0. With fewer, the mean square is a pivot: the half width q solves

.. math:: E_X \Big[ 2 P\big( t_{\nu_i} > q / \sqrt{V_i + \max(V_r \nu_a / X - V_c, 0)} \big)
    \Big] = \alpha, \quad X \sim \chi^2_{\nu_a}

which is t when annotators are all the uncertainty there is, and never collapses at the cut.
Values between 0 and 1 have their interval on the logit scale; shares of items (sensitivity,
predictive values, accuracy) the exact one on their effective number of units
(`equipoise.inference.proportions`), where annotators take as much as they widen the plain
interval: :math:`n_e` of items alone times the square of the ratio of both half widths.

A mean over K runs with different seeds varies by :math:`V_s = S^2 / K` besides, with K - 1
degrees of freedom (`equipoise.inference.intervals`); items and seeds together then have
Satterthwaite's.

A number that did not vary at all (every item alike, a metric at its bound) has the variance
that one more unit at the other extreme would give it.

Margins: whether one model is no worse than another, by a margin stated beforehand.

A lead is how much better the first model is. It is superior when the interval of the lead lies
above 0, non-inferior when it lies above minus the margin (one-sided 2.5 % at a level of 95 %),
and equivalent when it lies within the margin on both sides. Where only the narrower interval
does (90 % at a level of 95 %), two one-sided tests at 5 % say so; that is less than
non-inferiority, and has a name of its own.
"""

import math
from dataclasses import replace
from enum import Enum
from functools import cached_property, lru_cache

import numpy as np

from equipoise.inference.proportions import Trials, clopper_pearson
from equipoise.types import Floats, InputError, immutable, number

FEW = 4.5  # degrees of freedom of annotators below which their mean square is a pivot
TOO_FEW = 1.9  # below which nothing can be said about annotators like these
_STEPS = 100
_NORMAL = 1e8  # degrees of freedom beyond which Student's t is normal
_CLOSE = 1e-6  # of the p-value, from which on a step ends at the end of the interval
_FARTHEST = 2.3  # half widths that an end lies from a value between 0 and 1
_NOTHING = 1e-12  # of the floor, up to which a number did not vary
_POINTS = 200


class Reason(Enum):
    """Why a result does not speak for annotators like these."""

    NONE = ""
    FIXED = "fixed"
    ALONE = "one annotator"
    ANONYMOUS = "anonymous"
    SINGLE = "single votes"
    GOLD = "gold"
    RESULTS = "results"
    MODEL = "truth model"
    TOO_FEW = "too few annotators"


@immutable
class Population:
    """Whom a result speaks for.

    Attributes
    ----------
    items, annotators
        Whether it speaks for other items, and for other annotators, like these.
    reason
        Why not for other annotators.
    units
        What items are resampled by: items, or groups of them.
    effective
        Effective number of annotators, or of groups of them; 0 where they cannot be told apart.
    people
        What annotators are random by: themselves, or groups of them.
    """

    items: bool = True
    annotators: bool = True
    reason: Reason = Reason.NONE
    units: str = "items"
    effective: float = 0.0
    people: str = "annotators"

    @property
    def decides(self) -> bool:
        """Whether a verdict is possible: not when annotators matter and are too few."""
        return self.reason is not Reason.TOO_FEW

    @property
    def few(self) -> bool:
        """Whether annotators are so few that intervals must be wide."""
        return self.annotators and 0 < self.effective - 1 < FEW

    @property
    def whom(self) -> str:
        """Whom the result speaks for, in a few words.

        Examples
        --------
        >>> Population().whom, Population(annotators=False, reason=Reason.FIXED).whom
        ('items and annotators like these', 'items like these and these annotators')
        """
        if self.items and self.annotators:
            return f"{self.units} and {self.people} like these"
        if self.annotators:
            return f"these {self.units} and {self.people} like these"
        others = {
            Reason.ANONYMOUS: ", with votes like these",
            Reason.SINGLE: ", with votes like these",
            Reason.ALONE: ", judged by this annotator",
            Reason.GOLD: ", by the reference standard",
            Reason.RESULTS: "",
            Reason.MODEL: ", judged by this model of the truth",
        }
        if not self.items:
            return f"these {self.units}{others.get(self.reason, ', with votes like these')}"
        return f"{self.units} like these{others.get(self.reason, ' and these annotators')}"

    def whose(self, labels: str = "soft") -> str:
        """Whose truth it is about.

        Examples
        --------
        >>> Population().whose(), Population(annotators=False, reason=Reason.GOLD).whose()
        ('the votes', 'the reference standard')
        """
        votes = "the votes" if labels == "soft" else "the majority of the votes"
        others = {
            Reason.GOLD: "the reference standard",
            Reason.RESULTS: "the results",
            Reason.MODEL: "a model of the truth",
        }
        return others.get(self.reason, votes)

    @property
    def scope(self) -> str:
        """The same as a sentence or two, with what the annotators leave open.

        Examples
        --------
        >>> Population(effective=3.0).scope
        'The result speaks for items and annotators like these. Few annotators (...'
        """
        people, number_of = "", f"effectively {number(self.effective, 1)}"
        if self.reason is Reason.TOO_FEW:
            people = (
                f" The {self.people} are too few ({number_of}) for a verdict on {self.people} "
                "like these; intervals are for these annotators."
            )
        elif self.few:
            people = f" Few {self.people} ({number_of}): intervals are wide."
        elif self.reason is Reason.ANONYMOUS:
            people = (
                " Habits that annotators share across items cannot be seen in anonymous votes."
            )
        return f"The result speaks for {self.whom}.{people}"


@immutable
class Spread:
    """Parts of the variance of one number.

    Attributes
    ----------
    items, annotators, cells
        :math:`V_i`, :math:`V_r` and :math:`V_c` as above.
    draws
        Variance over the possible truths of a model of them.
    df_items, df_annotators
        Degrees of freedom of the first two.
    population
        Whom it speaks for, which decides what counts.
    floor
        The variance of a number that did not vary.
    seeds, df_seeds
        Variance of a mean over runs with different seeds, and its degrees of freedom.
    trials
        Of a share: the units it is a share of.
    """

    items: float
    annotators: float = 0.0
    cells: float = 0.0
    draws: float = 0.0
    df_items: float = math.inf
    df_annotators: float = 0.0
    population: Population = Population()
    floor: float = 0.0
    seeds: float = 0.0
    df_seeds: float = math.inf
    trials: Trials | None = None

    @cached_property
    def parts(self) -> tuple[float, float, float]:
        """The parts that count: items (draws, seeds), annotators, cells; 0 for rounding."""
        parts, limit = self._counted(), _NOTHING * self.floor
        return (0.0, 0.0, 0.0) if all(part <= limit for part in parts) else parts

    def _counted(self) -> tuple[float, float, float]:
        whom, rest = self.population, self.draws + self.seeds
        if whom.items and whom.annotators:
            return self.items + rest, self.annotators, self.cells
        if whom.items:
            return self.items + rest, 0.0, 0.0
        if whom.annotators:
            return rest, self.annotators, 0.0
        return rest + self.cells, 0.0, 0.0

    @property
    def df_rest(self) -> float:
        """Degrees of freedom of everything but annotators: of items, less with few seeds."""
        whole = self.parts[0]
        if not (self.seeds > 0 and whole > 0):
            return self.df_items
        return whole**2 / self._below(whole)

    def _below(self, whole: float) -> float:
        """Satterthwaite's denominator of everything but annotators."""
        df_items = self.df_items or 1.0
        if not self.seeds > 0:
            return whole**2 / df_items
        return (whole - self.seeds) ** 2 / df_items + self.seeds**2 / self.df_seeds

    @cached_property
    def variance(self) -> float:
        """Variance of the number."""
        items, annotators, cells = self.parts
        variance = items + max(annotators - cells, 0.0)
        return self.floor if variance <= _NOTHING * self.floor else variance

    @property
    def standard_error(self) -> float:
        """Square root of the variance."""
        return math.sqrt(self.variance) if self.variance >= 0 else math.nan

    @property
    def df(self) -> float:
        """Satterthwaite's degrees of freedom, at least 1."""
        items, annotators, _ = self.parts
        below = self._below(items) if items > 0 else 0.0
        if annotators > 0 and self.df_annotators > 0:
            below += annotators**2 / self.df_annotators
        total = self.variance
        return (
            max(total**2 / below, 1.0) if below > 0 and total > 0 else max(self.df_items, 1.0)
        )

    @property
    def pivotal(self) -> bool:
        """Whether annotators are few, so that their mean square is taken as a pivot."""
        return self.parts[1] > 0 and 0 < self.df_annotators < FEW

    def p_value(self, difference: float) -> float:
        """Two-sided probability of a difference as large under equality."""
        from scipy.special import stdtr

        size = abs(difference)
        if math.isnan(size) or math.isnan(self.variance):
            return math.nan
        if not self.variance > 0:
            return 1.0 if size == 0 else 0.0
        if not self.pivotal:
            return float(2 * stdtr(self.df, -size / self.standard_error))
        return _tails(size, self._pivot_errors(), self.df_rest)

    def _pivot_errors(self) -> Floats:
        """Standard errors at equally probable points of the pivot."""
        items, annotators, cells = self.parts
        spread = items + np.maximum(annotators * _pivot(self.df_annotators) - cells, 0.0)
        return np.sqrt(np.where(spread <= _NOTHING * self.floor, self.floor, spread))

    def half_width(self, level: float = 0.95) -> float:
        """Half the width of the interval of a plain number."""
        from scipy.special import stdtrit

        if not 0 < level < 1:
            raise InputError(
                "interval", f"level {level}", "a number between 0 and 1", "try 0.95"
            )
        if math.isnan(self.variance) or not self.variance > 0:
            return self.variance
        if not self.pivotal:
            return float(stdtrit(self.df, 0.5 + level / 2)) * self.standard_error
        return self._pivot_width(1 - level)

    def _pivot_width(self, alpha: float) -> float:
        """Where the p-value of the pivot is alpha, by Newton's steps on logarithmic scales."""
        from scipy.special import stdtrit

        errors, df = self._pivot_errors(), self.df_rest
        low, high = 0.0, math.inf
        width = float(stdtrit(self.df, 1 - alpha / 2)) * self.standard_error
        for _ in range(_STEPS):
            tails, slope = _tails(width, errors, df), _tails_slope(width, errors, df)
            away = math.log(tails / alpha) if tails > 0 else -math.inf
            low, high = (width, high) if away > 0 else (low, width)
            step = away * tails / (slope * width) if slope < 0 else math.nan
            width *= math.exp(-step) if abs(step) < 1 else math.nan
            if not low <= width <= high:
                width = (low + high) / 2 if high < math.inf else 2 * low
            elif abs(away) < _CLOSE:
                break
        return width

    def interval(
        self,
        value: float,
        level: float = 0.95,
        bounds: tuple[float, float] = (-math.inf, math.inf),
    ) -> tuple[float, float]:
        """Lower and upper end around a value, on the logit scale between bounds of 0 and 1.

        The far end of a value close to a bound is no farther than an exact binomial interval
        reaches after a single failure: the logit has no meaning where the half width is much
        larger than the distance from the bound.

        Examples
        --------
        >>> Spread(0.0004, df_items=99).interval(0.9, bounds=(0.0, 1.0))
        (0.852, 0.934)
        """
        half = self.half_width(level)
        if not math.isfinite(value) or math.isnan(half):
            return math.nan, math.nan
        if self.trials and self.population.items and not self.trials.withheld():
            return self._share_interval(value, half, level)
        if bounds == (0.0, 1.0) and 0 < value < 1:
            centre, scaled = math.log(value / (1 - value)), half / (value * (1 - value))
            low, high = _logistic(centre - scaled), _logistic(centre + scaled)
            return max(low, value - _FARTHEST * half), min(high, value + _FARTHEST * half)
        return max(value - half, bounds[0]), min(value + half, bounds[1])

    def _share_interval(self, value: float, half: float, level: float) -> tuple[float, float]:
        """The exact one on the effective number of units, given the plain half width."""
        return clopper_pearson(value, self.share_size(half, level), level)

    def share_size(self, half: float, level: float) -> float:
        """How many independent units a share is worth, given its plain half width."""
        trials = self.trials
        assert trials is not None
        alone = replace(self, annotators=0.0, cells=0.0, draws=0.0, seeds=0.0)
        wider = half / alone.half_width(level) if half > 0 else 1.0
        return trials.effective(level) * trials.precision / max(wider, 1.0) ** 2


def _tails(size: float, errors: Floats, df: float) -> float:
    """Two-sided probability of a size, the mean over equally probable standard errors."""
    from scipy.special import stdtr

    with np.errstate(divide="ignore", invalid="ignore"):  # where nothing varies
        t = np.where(errors > 0, size / errors, np.inf if size else 0.0)
    return float(2 * stdtr(df, -t).mean())


def _tails_slope(size: float, errors: Floats, df: float) -> float:
    """Derivative of that by the size."""
    from scipy.special import gammaln

    number, errors = len(errors), errors[errors > 0]  # where nothing varies nothing changes
    t = (size / errors) ** 2
    shape, peak = -t / 2, math.sqrt(2 / math.pi)
    if df < _NORMAL:
        shape = -(df + 1) / 2 * np.log1p(t / df)
        peak = 2 * math.exp(gammaln((df + 1) / 2) - gammaln(df / 2)) / math.sqrt(df * math.pi)
    return -peak * float((np.exp(shape) / errors).sum()) / number


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


@lru_cache
def _pivot(df: float) -> Floats:
    """Degrees of freedom over chi-square, at equally probable points."""
    from scipy.special import chdtri

    return np.asarray(df / chdtri(df, (np.arange(_POINTS) + 0.5) / _POINTS))


class Judgement(Enum):
    """What the data say about a lead, given a margin."""

    SUPERIOR = "superior"
    EQUIVALENT = "equivalent"
    BY_TWO_TESTS = "equivalent by two one-sided tests"
    NON_INFERIOR = "non-inferior"
    INFERIOR = "inferior"
    UNDECIDED = "undecided"


def judge(
    lead: float,
    spread: Spread,
    margin: float,
    level: float = 0.95,
    ends: tuple[float, float] | None = None,
    *,
    alone: bool = True,
) -> Judgement:
    """Judge the lead of one model over another.

    Parameters
    ----------
    ends
        Of the interval, by default that of the lead by itself.
    alone
        Whether the pair is a family by itself; two one-sided tests are of such a pair.

    Examples
    --------
    >>> judge(0.001, Spread(0.0001**2, df_items=99), margin=0.02)
    <Judgement.SUPERIOR: 'superior'>
    >>> judge(-0.004, Spread(0.005**2, df_items=99), margin=0.02)
    <Judgement.EQUIVALENT: 'equivalent'>
    >>> judge(-0.011, Spread(0.005**2, df_items=99), margin=0.02)
    <Judgement.BY_TWO_TESTS: 'equivalent by two one-sided tests'>
    >>> judge(-0.012, Spread(0.005**2, df_items=99), margin=0.02)
    <Judgement.UNDECIDED: 'undecided'>
    """
    if not spread.population.decides:
        return Judgement.UNDECIDED
    low, high = ends or spread.interval(lead, level)
    if low > 0:
        return Judgement.SUPERIOR
    if low > -margin:
        return Judgement.EQUIVALENT if high < margin else Judgement.NON_INFERIOR
    within = spread.interval(lead, 2 * level - 1) if alone and level > 0.5 else (low, high)
    if within[0] > -margin and within[1] < margin:
        return Judgement.BY_TWO_TESTS
    return Judgement.INFERIOR if high < -margin else Judgement.UNDECIDED
