r"""Two-way inference: variances and covariances of all models at once, items by annotators.

Per model there is a value T, the influence :math:`g_i` of every item (the derivative by its
weight) and :math:`h_{ik}`, its derivative by the share of class k among the votes. Summed over
groups of items (S), annotators (R) and cells of both (C),

.. math:: \mathrm{Cov} = e \sum_g S S' + f \Big[ \sum_r R R' - \sum_{gr} C C' \Big]

where e and f undo the centring (`equipoise.inference.ballots`). On complete designs of a linear
metric this is exactly the analysis of variance with random items and annotators (Owen 2007;
Cameron, Gelbach, Miller 2011).

Seeds: several runs of one method are one competitor, and how they differ counts.

A method that chance has a part in is run K times. With :math:`T_s` the value of run s and
:math:`C` any covariance of the runs by items, annotators, cells or draws,

.. math:: \bar T = \frac1K \sum_s T_s, \qquad
    \mathrm{Cov}(\bar T_a, \bar T_b) = \frac{1}{K_a K_b} \sum_{s \in a} \sum_{u \in b} C_{su},
    \qquad V_s = \frac{1}{K (K-1)} \sum_s (T_s - \bar T)^2

The last is what other seeds would change, with K - 1 degrees of freedom. Runs of two methods
are independent, so that of a difference it is the sum of both, unless seeds are shared: then
run s of one is paired with run s of the other. As :math:`T_s - T_u` on the same items holds
some of the noise of items, :math:`V_s` is rather too large than too small.

Families: which models are surely apart, all pairs at once, and the ranks that are possible.

All pairs of models are one family. Step-down max-t (Romano and Wolf 2005) with the two-way
covariance and the median of the pairs' degrees of freedom keeps the probability of any false
separation at 1 - level; of few annotators the mean square is a pivot, as it is for one pair
(`equipoise.inference.spread`). A model's rank is at least one more than the number of models
that are surely better (Mogstad and others 2024); those that may be first are the best group.
Several questions (tasks) are one family by Sidak's inequality: each has the level
:math:`1 - \alpha` to the power of 1 over their number.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from equipoise.inference.ballots import Design, few_units
from equipoise.inference.proportions import Trials
from equipoise.inference.spread import TOO_FEW, Population, Reason, Spread
from equipoise.types import (
    Bools,
    Claim,
    Floats,
    InputError,
    Ints,
    frozen,
    immutable,
    name_order,
    ratio,
    short_repr,
)

MATRICES = ("items", "annotators", "cells", "draws", "df_items", "seeds", "df_seeds")
_ROUNDING = 1e-14  # of a value, up to which its influences are rounding; of variances, too


@immutable(eq=False)
class TwoWay:
    """Values of models in one question, and what their uncertainty is made of.

    Attributes
    ----------
    values
        Shape (models,); nan where undefined.
    items, annotators, cells, draws
        Covariances by source, shape (models, models); annotators hold the cells.
    df_items
        Degrees of freedom of items, of values on the diagonal and of differences elsewhere,
        shape (models, models).
    df_annotators
        Degrees of freedom of annotators.
    floor
        Standard error of a value that did not vary; of a difference it is the same.
    population
        Whom the result speaks for.
    seeds, df_seeds
        Covariance of means over runs with different seeds, and its degrees of freedom laid
        out as `df_items`; None where nothing is such a mean.
    trials
        Of shares: what every model's value is a share of.
    """

    values: Floats
    items: Floats
    annotators: Floats
    cells: Floats
    draws: Floats
    df_items: Floats
    df_annotators: float
    floor: float
    population: Population
    seeds: Floats | None = None
    df_seeds: Floats | None = None
    trials: "tuple[Trials, ...] | None" = None

    __repr__ = short_repr

    def __post_init__(self) -> None:
        for name in ("values", *MATRICES):
            matrix = getattr(self, name)
            if matrix is not None:
                object.__setattr__(self, name, frozen(np.asarray(matrix, float)))

    def of(self, model: int) -> Spread:
        """Uncertainty of one model's value."""
        parts = [float(matrix[model, model]) for matrix in self._sources]
        spread = self._spread(parts, (model, model), self.floor)
        return spread if self.trials is None else replace(spread, trials=self.trials[model])

    def between(self, a: int, b: int) -> Spread:
        """Uncertainty of the difference of two models."""
        matrices = self._sources
        parts = [float(matrix[a, a] + matrix[b, b] - 2 * matrix[a, b]) for matrix in matrices]
        scale = [float(matrix[a, a] + matrix[b, b]) for matrix in matrices]
        parts = [
            0.0 if part < 1e-12 * size else part
            for part, size in zip(parts, scale, strict=True)
        ]
        floor = self.floor if self.values[a] != self.values[b] else 0.0
        return self._spread(parts, (a, b), floor)

    @property
    def _sources(self) -> list[Floats]:
        matrices = (self.items, self.annotators, self.cells, self.draws, self.seeds)
        return [matrix for matrix in matrices if matrix is not None]

    def _spread(self, parts: Sequence[float], place: tuple[int, int], floor: float) -> Spread:
        items, annotators, cells, draws, *seeds = parts
        return Spread(
            items=items,
            annotators=max(annotators, 0.0),
            cells=max(cells, 0.0),
            draws=max(draws, 0.0),
            df_items=float(self.df_items[place]),
            df_annotators=self.df_annotators,
            population=self.population,
            floor=floor**2,
            seeds=max(seeds[0], 0.0) if seeds else 0.0,
            df_seeds=math.inf if self.df_seeds is None else float(self.df_seeds[place]),
        )

    def covariance(self) -> Floats:
        """Covariance of the values, positive semidefinite, shape (models, models)."""
        whom = self.population
        annotators = self.annotators - (self.cells if whom.items else 0.0)
        base = self.draws + (self.items if whom.items else 0.0)
        if self.seeds is not None:
            base = base + self.seeds
        if not whom.items and not whom.annotators:
            base = base + self.cells
        if not whom.annotators or np.isnan(annotators).any():
            return np.asarray(base)
        size, direction = np.linalg.eigh((annotators + annotators.T) / 2)
        return np.asarray(base + (direction * np.maximum(size, 0)) @ direction.T)

    def subset(self, models: Sequence[int]) -> "TwoWay":
        """The same of some models, in their order."""
        rows = np.asarray(models, dtype=np.int64)
        square = np.ix_(rows, rows)
        parts = {name: getattr(self, name) for name in MATRICES}
        there = {name: matrix[square] for name, matrix in parts.items() if matrix is not None}
        trials = None if self.trials is None else tuple(self.trials[m] for m in models)
        return replace(self, values=self.values[rows], trials=trials, **there)


def two_way(
    values: Floats,
    influence: Floats,
    unit: Ints | None,
    *,
    design: Design,
    population: Population,
    votes: tuple[Floats, Floats] | None = None,
) -> TwoWay:
    """Put the parts together.

    Parameters
    ----------
    values
        Shape (models,).
    influence
        Influence of every item on every model, shape (models, items).
    unit
        Unit of every item, shape (items,); None where each is its own.
    votes
        Uncorrected covariances over annotators and over cells, from a `Layout`.
    """
    sums = influence
    if unit is not None and not _each_alone(unit):
        units = 1 + int(unit.max())
        sums = np.stack([np.bincount(unit, of_model, units) for of_model in influence])
    number = len(values)
    zero = np.zeros((number, number))
    unit_factor = design.unit_factor
    if design.leverage is None:
        there = sums.shape[1] if unit is None else design.units  # other tasks may have more
        df_items = item_degrees(*gap_sums(sums), there, design, np.asarray(values))
    else:
        correction, df = few_units(design.leverage)
        sums, unit_factor, df_items = sums * correction, 1.0, zero + df
    people, cells = (zero, zero) if votes is None else votes
    factor = design.annotator_factor if population.reason is not Reason.ANONYMOUS else 1.0
    return TwoWay(
        values=values,
        items=unit_factor * (sums @ sums.T),
        annotators=factor * people,
        cells=factor * cells,
        draws=zero,
        df_items=df_items,
        df_annotators=design.df_annotators,
        floor=0.0,
        population=population,
    )


def _each_alone(unit: Ints) -> bool:
    return len(unit) == int(unit.max()) + 1 and bool((np.diff(unit) == 1).all())


def gap_sums(sums: Floats) -> tuple[Floats, Floats]:
    """Sums of squares and of fourth powers of models' influences, and of gaps between models.

    Both (models, models), values on the diagonal and gaps in the upper half, given influences
    (models, units).
    """
    total, fourth = np.zeros((2, len(sums), len(sums)))
    for a in range(len(sums)):
        gap = sums[a] - sums[a:]
        gap[0] = sums[a]
        square = gap * gap
        total[a, a:], fourth[a, a:] = square.sum(axis=1), np.einsum("bu,bu->b", square, square)
    return total, fourth


def item_degrees(
    total: Floats, fourth: Floats, units: int, design: Design, values: Floats
) -> Floats:
    """Degrees of freedom of items from these sums, less where few units carry a number."""
    size = np.maximum(np.abs(values[:, None]), np.abs(values))
    moves = total > (_ROUNDING * size) ** 2
    excess = units * fourth / np.where(moves, total, 1.0) ** 2 - 1
    few = moves & (excess > 0)
    fewer = np.maximum(2 * units / np.where(few, excess, 1.0), 1.0)
    df = np.where(few, np.minimum(design.df_units, fewer), design.df_units)
    return np.triu(df) + np.triu(df, 1).T


def population_of(
    design: Design,
    *,
    named: bool,
    reason: Reason = Reason.NONE,
    units: str = "items",
    items: bool = True,
    annotators: bool = True,
) -> Population:
    """Whom the result can speak for, given the design and what was asked.

    Parameters
    ----------
    named
        Whether annotators are people who rated many items.
    reason
        Known already, where the truth comes from gold labels or from a model.
    items, annotators
        Whether items and annotators are taken as samples.
    """
    if reason is Reason.NONE:
        if not named:
            reason = Reason.ANONYMOUS
        elif not design.df_annotators > 0:
            reason = Reason.SINGLE
        elif not annotators:
            reason = Reason.FIXED
        elif design.df_annotators < TOO_FEW:
            reason = Reason.TOO_FEW
    effective = design.effective if named else 0.0
    return Population(items, reason is Reason.NONE, reason, units, effective)


def normal_replicates(cell: TwoWay, replicates: int, key: int, models: Sequence[str]) -> Floats:
    """Jointly normal values with exactly these means and covariance, (models, replicates).

    Every model has the noise of the rank of its name, and the root of the covariance is the
    symmetric one, so that the order of models cannot matter.
    """
    out = np.full((len(cell.values), replicates), np.nan)
    covariance = cell.covariance()
    defined = np.flatnonzero(np.isfinite(cell.values) & np.isfinite(np.diag(covariance)))
    if not len(defined):
        return out
    order = name_order([models[m] for m in defined.tolist()])
    defined = defined if order is None else defined[order]
    size, direction = np.linalg.eigh(covariance[np.ix_(defined, defined)])
    size = np.where(size > 1e-12 * max(float(size.max()), 1e-300), size, 0.0)
    factor = (direction * np.sqrt(size)) @ direction.T
    random = np.random.default_rng(np.random.Philox(key=key))
    noise = random.standard_normal((replicates, len(defined)))
    noise -= noise.mean(axis=0)
    if noise.shape[1] and replicates > noise.shape[1] + 1:
        root = np.linalg.cholesky(noise.T @ noise / replicates)
        noise = np.linalg.solve(root, noise.T).T
    out[defined] = cell.values[defined, None] + factor @ noise.T
    return out


def floor_of(units: float, width: float) -> float:
    """Standard error where nothing varied: one more unit at the other extreme.

    Examples
    --------
    >>> floor_of(99, 1.0)
    0.01
    """
    return width / (units + 1) if math.isfinite(width) else 0.0


def seed_means(cell: TwoWay, runs: Sequence[Sequence[int]], *, shared: bool = False) -> TwoWay:
    """Competitors in place of their runs.

    Parameters
    ----------
    runs
        Places of the runs of every competitor; one run for a method without chance.
    shared
        Whether run s of all competitors with several runs has the same seed, which moves them
        together.

    Examples
    --------
    >>> from equipoise.inference import Population
    >>> zero = np.zeros((2, 2))
    >>> cell = TwoWay(np.array([0.7, 0.9]), zero + 1, zero, zero, zero, zero + 99, 0.0, 0.0,
    ...     Population())
    >>> spread = seed_means(cell, [[0, 1]]).of(0)
    >>> spread.items, spread.seeds, spread.df_seeds
    (1.0, 0.01, 1.0)
    """
    seeds = _covariance(cell.values, runs, shared=shared)
    values = np.array([cell.values[list(places)].mean() for places in runs])
    return replace(
        cell,
        values=values,
        trials=None,
        items=_means(cell.items, runs),
        annotators=_means(cell.annotators, runs),
        cells=_means(cell.cells, runs),
        draws=_means(cell.draws, runs),
        df_items=_by_runs(np.minimum, cell.df_items, runs),  # the fewest among runs of both
        seeds=seeds,
        df_seeds=_freedom(seeds, runs, shared=shared),
    )


def _means(covariance: Floats, runs: Sequence[Sequence[int]]) -> Floats:
    """Covariance of means over runs."""
    sizes = np.array([len(run) for run in runs])
    return _by_runs(np.add, covariance, runs) / np.outer(sizes, sizes)


def _by_runs(function: np.ufunc, matrix: Floats, runs: Sequence[Sequence[int]]) -> Floats:
    """Reduce rows and columns of a matrix to one per competitor."""
    order = [place for run in runs for place in run]
    start = np.cumsum([0, *(len(run) for run in runs[:-1])])
    rows = function.reduceat(matrix[np.ix_(order, order)], start, axis=0)
    return function.reduceat(rows, start, axis=1)


def _covariance(values: Floats, runs: Sequence[Sequence[int]], *, shared: bool) -> Floats:
    """Covariance of the means by seeds, shape (competitors, competitors)."""
    covariance = np.zeros((len(runs), len(runs)))
    several = [place for place, run in enumerate(runs) if len(run) > 1]
    sizes = sorted({len(runs[place]) for place in several})
    if shared and len(sizes) > 1:
        raise InputError(
            "seeds",
            f"{sizes[0]} and {sizes[-1]} runs of two methods",
            "the same number, where seeds are shared",
            "run every method with the same seeds",
        )
    if shared and several:
        of_seeds = np.stack([values[list(runs[place])] for place in several])
        covariance[np.ix_(several, several)] = np.cov(of_seeds) / sizes[0]
        return covariance
    for place in several:
        covariance[place, place] = np.var(values[list(runs[place])], ddof=1) / len(runs[place])
    return covariance


def _freedom(seeds: Floats, runs: Sequence[Sequence[int]], *, shared: bool) -> Floats:
    """Degrees of freedom of seeds, of values on the diagonal and of differences elsewhere."""
    variances, own_df = np.diag(seeds), np.array([len(run) - 1.0 for run in runs])
    df = np.full(seeds.shape, np.inf)
    for a in range(len(runs)):
        for b in range(len(runs)):
            moving = [m for m in {a, b} if variances[m] > 0]
            if not moving:
                continue
            below = sum(variances[m] ** 2 / own_df[m] for m in moving)
            df[a, b] = sum(variances[m] for m in moving) ** 2 / below
            if shared and len(moving) == 2:
                df[a, b] = own_df[a]
    return df


TINY = 5e-324  # how far from 0 where only the steps after the first say that it is not
DRAWS = 20_000
RESOLVED = 20  # draws that must lie beyond a level, or tails take their place
SEED = 20070101
_CHUNK = 1000
_HELD = 2**17  # numbers of pairs and draws that are looked at together
_LEAST = 16  # draws of them


@immutable(eq=False)
class Family:
    """Simultaneous statements about all pairs of models of one question.

    Attributes
    ----------
    better
        ``better[a, b]``: a is surely better than b, shape (models, models).
    p
        Adjusted p-values of the differences, symmetric, 1 on the diagonal; nan where a value
        is undefined.
    ranks
        Lowest and highest rank of every model that the data allow, shape (models, 2); 0 where
        undefined.
    critical
        Quantile of the largest ``|t|``: what simultaneous intervals multiply errors by.
    """

    better: Bools
    p: Floats
    ranks: Ints
    critical: float

    __repr__ = short_repr

    def ends(self, a: int, b: int, low: float, high: float) -> tuple[float, float]:
        """The interval of a lead of a over b, beyond 0 exactly where one is surely better."""
        low = max(low, TINY) if self.better[a, b] else min(low, 0.0)
        return low, min(high, -TINY) if self.better[b, a] else max(high, 0.0)

    @property
    def best(self) -> Bools:
        """Models that may be the best, shape (models,)."""
        return np.asarray(self.ranks[:, 0] == 1)


def family(
    cell: TwoWay, *, higher: bool = True, level: float = 0.95, questions: int = 1
) -> Family:
    """All pairs of models of a question at once.

    Parameters
    ----------
    higher
        Whether a higher value is better.
    questions
        How many questions are one family, such as the tasks of a study.
    """
    number = len(cell.values)
    p = np.full((number, number), np.nan)
    defined = np.flatnonzero(np.isfinite(cell.values) & np.isfinite(np.diag(cell.covariance())))
    ranks = np.zeros((number, 2), dtype=np.int64)
    better = np.zeros((number, number), dtype=bool)
    p[defined, defined] = 1.0
    ranks[defined] = 1, len(defined)
    if len(defined) < 2 or not cell.population.decides:
        return Family(better, p, ranks, np.nan)
    order = defined[
        np.lexsort((_rounded(np.diag(cell.items)[defined]), -_rounded(cell.values[defined])))
    ]
    adjusted, critical = _adjusted(cell, order, level ** (1 / questions))
    if questions > 1:
        adjusted = 1 - (1 - adjusted) ** questions
    p[np.ix_(order, order)] = adjusted
    sign = 1.0 if higher else -1.0
    with np.errstate(invalid="ignore"):
        gap = sign * (cell.values[:, None] - cell.values[None, :])
        better = (p < 1 - level) & (gap > 0)
    ranks[defined, 0] = 1 + better[np.ix_(defined, defined)].sum(axis=0)
    ranks[defined, 1] = len(defined) - better[np.ix_(defined, defined)].sum(axis=1)
    return Family(better, p, ranks, critical)


def distances(cell: TwoWay, family: Family, good: Floats) -> tuple[Floats, Floats, Floats]:
    """How far every model is below the best: seen, at least and at most.

    Where that is below 0, the model is surely the best by so much.
    """
    number = len(good)
    seen, least, most = (np.full(number, np.nan) for _ in range(3))
    defined: Ints = np.flatnonzero(np.isfinite(good))
    if not len(defined):
        return seen, least, most
    seen[defined] = good[defined].max() - good[defined]
    if len(defined) < 2 or not math.isfinite(family.critical):
        return seen, least, most
    for i in defined:
        others = [j for j in defined if j != i]
        ahead = good[others] - good[i]
        reach = family.critical * np.array(
            [cell.between(int(i), int(j)).standard_error for j in others]
        )
        reach = np.where(family.better[i, others], np.minimum(reach, -ahead), reach)
        most[i] = (ahead + reach).max()
        least[i] = np.maximum(0.0, (ahead - reach).max())
    beaten: Bools = np.asarray(family.better.any(axis=0))
    least[defined[~beaten[defined]]] = 0.0  # the best group may be best
    return seen, least, most


def best_claims(
    cell: TwoWay,
    every: Family,
    good: Floats,
    names: Sequence[str],
    like: Claim,
) -> Iterator[Claim]:
    """What is claimed of every model next to the best there is.

    Parameters
    ----------
    every, good
        All pairs at once, and values so that higher is better.
    like
        A claim with all but model, value and interval.
    """
    gap, least, most = distances(cell, every, good)
    inside = ~every.better.any(axis=0) & np.isfinite(good)
    if np.isnan(most).all() or not cell.population.decides:
        return
    defined = np.flatnonzero(np.isfinite(good)).tolist()
    for m in sorted(defined, key=lambda m: (gap[m], names[m])):
        below = gap[m], most[m], least[m] + TINY * (not inside[m])
        value, low, high = (0.0 - float(x) for x in below)
        if inside[m] and inside.sum() == 1:  # ahead of all others
            value = float(np.sort(gap[np.isfinite(gap)])[1])
            low, high = max(low, TINY), math.inf
        estimand = like.estimand._replace(competitor=names[m])
        yield replace(like, estimand=estimand, value=value, low=low, high=high)


def _rounded(values: Floats) -> Floats:
    """Values without the digits in which two machines may differ, so that ties are ties."""
    scale = np.abs(values).max()
    return np.round(values / scale, 9) if scale > 0 else values


def _adjusted(cell: TwoWay, order: Ints, level: float) -> tuple[Floats, float]:
    """Step-down p-values of all pairs of some models, and the first critical value."""
    first, second = np.triu_indices(len(order), 1)
    spreads = [
        cell.between(int(order[a]), int(order[b])) for a, b in zip(first, second, strict=True)
    ]
    gaps = cell.values[order[first]] - cell.values[order[second]]
    error = np.array([spread.standard_error for spread in spreads])
    moving = error > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        t = ratio(np.abs(gaps), error, np.where(gaps == 0, 0.0, np.inf))
    covariance = cell.covariance()[np.ix_(order, order)]
    variances = np.diag(covariance)
    variance = variances[first] + variances[second] - 2 * covariance[first, second]
    still = moving & (variance <= _ROUNDING * error**2)  # the same in every study: by its floor
    scale = np.where(still, 1.0, np.sqrt(np.maximum(variance, 1e-300)))
    down = np.argsort(-t, kind="stable")
    first_down, second_down, scale = first[down], second[down], scale[down, None]
    floors, unmoved = np.random.default_rng(SEED + 1), np.flatnonzero(still[down])
    exceed = np.zeros(len(t))
    largest = []
    random = np.random.default_rng(SEED)
    widths = _widths([spreads[place] for place in down], random)
    for draws, wide in zip(_draws(covariance, random), widths, strict=False):
        for some in _runs_of_draws(len(t)):
            z = np.ascontiguousarray(draws[some].T)
            size = z[first_down]
            size -= z[second_down]  # in place: room that is asked for anew costs more
            np.abs(size, out=size)
            size[unmoved] = np.abs(floors.standard_normal((len(unmoved), size.shape[1])))
            size *= wide(some)
            size /= scale
            size[~moving[down]] = 0.0
            step = 1
            while step < len(t):  # the largest from each pair on, twice as far every time
                np.maximum(size[:-step], size[step:], out=size[:-step])
                step *= 2
            exceed += np.count_nonzero(size >= t[down, None], axis=1)
            largest.append(size[0].copy())  # a view would keep all pairs
    p = np.empty(len(t))
    p[down] = np.maximum.accumulate((1 + exceed) / (1 + DRAWS))
    p[t == 0] = 1.0
    alone = [spread.p_value(float(gap)) for spread, gap in zip(spreads, gaps, strict=True)]
    critical = float(np.quantile(np.concatenate(largest), level))
    if _beyond_draws(level):
        holm = np.maximum.accumulate(np.arange(len(t), 0, -1) * np.array(alone)[down])
        p[down] = np.minimum(p[down], holm)
        bounds = _bonferroni_widths(spreads, level)
        critical = float(np.max(bounds[moving] / error[moving], initial=0.0))
    p = np.fmax(p, alone)  # never surer than the pair by itself
    return _square(np.minimum(p, 1.0), len(order)), critical


def _square(of_pairs: Floats, number: int) -> Floats:
    """Numbers of all pairs as a symmetric matrix, 1 on the diagonal."""
    square, pairs = np.eye(number), np.triu_indices(number, 1)
    square[pairs] = square.T[pairs] = of_pairs
    return square


def _beyond_draws(level: float) -> bool:
    """Whether a level, as of a first look, is one that draws cannot show."""
    return (1 - level) * DRAWS < RESOLVED


def _bonferroni_widths(spreads: Sequence[Spread], level: float) -> Floats:
    """Half widths that hold together by the sum of their errors."""
    together = 1 - (1 - level) / max(len(spreads), 1)
    return np.array([spread.half_width(together) for spread in spreads])


def _draws(covariance: Floats, random: np.random.Generator) -> Iterator[Floats]:
    """Chunks of normal values with this covariance, shape (draws, models)."""
    variances = np.maximum(np.diag(covariance), 1e-300)
    jitter = np.diag(variances) * 1e-10  # models that are the same have no root
    size, direction = np.linalg.eigh((covariance + covariance.T) / 2 + jitter)
    # the symmetric root: rounding cannot turn it, however alike models are
    root = (direction * np.sqrt(np.maximum(size, 0.0))) @ direction.T
    for _ in range(DRAWS // _CHUNK):
        yield random.standard_normal((_CHUNK, len(covariance))) @ root.T


def _runs_of_draws(pairs: int) -> list[slice]:
    """Draws of a chunk that are looked at together, so that many pairs take no more memory."""
    rows = max(_LEAST, _HELD // max(pairs, 1))
    return [slice(start, start + rows) for start in range(0, _CHUNK, rows)]


def _widths(
    spreads: Sequence[Spread], random: np.random.Generator
) -> Iterator[Callable[[slice], Floats]]:
    """By how much estimated errors are too small, for some draws of a chunk, without end.

    Shape (pairs, draws) or (draws,). Of few annotators the mean square is a pivot, the same
    draw of it for all pairs.
    """
    if not any(spread.pivotal for spread in spreads):
        usual = float(np.median([spread.df for spread in spreads]))
        while True:
            yield _student(usual, random).__getitem__
    items, annotators, cells = np.array([spread.parts for spread in spreads]).T[:, :, None]
    df, usual = (
        spreads[0].df_annotators,
        float(np.median([spread.df_rest for spread in spreads])),
    )
    estimated = items + np.maximum(annotators - cells, 0.0)
    while True:
        pivot, student = df / random.chisquare(df, _CHUNK), _student(usual, random)

        def wide(some: slice, pivot: Floats = pivot, student: Floats = student) -> Floats:
            drawn = items + np.maximum(annotators * pivot[some] - cells, 0.0)
            return np.sqrt(ratio(drawn, estimated, 1.0)) * student[some]

        yield wide


def _student(df: float, random: np.random.Generator) -> Floats:
    """What turns normal draws into Student's t, shape (draws,)."""
    if not np.isfinite(df):
        return np.ones(_CHUNK)
    return np.sqrt(df / random.chisquare(df, _CHUNK))


def simultaneous_widths(cell: TwoWay, level: float = 0.95) -> Floats:
    """Half widths of intervals of all values at once, (models,): max-t.

    Each is that of the value alone, at least the median of them (the leader is also the one
    whose variance came out small), times the quantile of the largest ratio of a draw to it.
    """
    spreads = [cell.of(m) for m in range(len(cell.values))]
    alone = np.array([spread.half_width(level) for spread in spreads])
    if len(alone) < 2 or not np.isfinite(alone).all() or not alone.any():
        return alone
    if _beyond_draws(level):
        alone = _bonferroni_widths(spreads, level)
        return np.maximum(alone, np.median(alone))
    alone = np.maximum(alone, np.median(alone))
    error = np.array([spread.standard_error for spread in spreads])
    order = np.lexsort((_rounded(error), -_rounded(cell.values)))
    spreads, covariance = [spreads[m] for m in order], cell.covariance()[np.ix_(order, order)]
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))[:, None]
    error, plain = error[order, None], alone[order, None]
    largest, random = [], np.random.default_rng(SEED)
    draws = zip(_draws(covariance, random), _widths(spreads, random), strict=False)
    for z, wide in draws:
        size = np.abs(z.T) / scale * wide(slice(None)) * error / plain
        largest.append(size.max(axis=0))
    return np.asarray(alone * max(float(np.quantile(np.concatenate(largest), level)), 1.0))
