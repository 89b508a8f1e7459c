r"""Calibration: how far probabilities are from what annotators say, less the noise of both.

In ten bins of equally many items, :math:`\delta_b` is the mean of votes less predictions. The
plug-in error is above 0 even where a model is right, because bins are off by chance. Here that
chance is taken off: with :math:`\Sigma` the two-way covariance of the :math:`\delta_b`, for
items and annotators like these,

.. math:: CE^2 = \sum_b w_b (\delta_b^2 - \Sigma_{bb})

which is unbiased and may come out below 0: then there is no error to be seen. The interval of
CE holds every error that the data do not contradict, along the direction that was found and
along the noisiest one; it can hold 0. Slope and intercept are those of a logistic regression of
votes on the logit of the prediction, 1 and 0 for a calibrated model. Of few annotators who
lean one way or the other, the mean of the votes rises more steeply than that of all annotators
like them, so that the slope of a calibrated model is above 1 on average. With
:math:`\beta_{(r)}` the coefficients without the votes of annotator r, :math:`-\delta_r` what
the votes of r move them by to first order, and f as in `equipoise.inference.ballots`, that
bias is taken off, and what annotators add to the variance is that of the jackknife,

.. math:: \beta - f \sum_r (\beta_{(r)} - \beta + \delta_r), \qquad
    f \sum_r (\beta_{(r)} - \beta) (\beta_{(r)} - \beta)'

(of a complete design A - 1 times the mean of :math:`\beta_{(r)} - \beta`; more than forty
annotators are left out in forty groups). With several classes every class is taken against the
rest, and errors are averaged.

It takes a large error, or many annotators, to be sure: an error of .11 is found in 7 to 38 % of
studies with up to eight annotators.

References
----------
Kumar, Liang and Ma (2019), *Verified uncertainty calibration*, for the bias by items. Efron and
Stein (1981), *The jackknife estimate of variance*.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from equipoise.inference import Ballots, TwoWay
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.words import ENDS, as_notices, ends_of
from equipoise.study.scoring import target_population
from equipoise.study.study import Study
from equipoise.study.sums import Sums
from equipoise.study.uncertainty import Uncertainty
from equipoise.types import (
    Claim,
    ClaimFamily,
    Column,
    Decision,
    Dot,
    Dots,
    Estimand,
    Finding,
    Floats,
    InputError,
    Notice,
    Predictions,
    Table,
    exact_percent,
    interval,
    joined,
    number,
    require_memory,
    spanned,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

TITLE = "Do probabilities mean what they say?"
BINS = 10
Rows = Sequence[dict[str, Any]]
DRAWS = 4000
SEED = 20190101
STEPS = 100  # of Newton, after which a line has no finite slope
CLOSE = 1e-9
LEAST = 1e-6  # a prediction of 0 or 1 is this far from it on the logit scale
NAMED = 3
NUMBERS = (
    "squared",
    *(f"{name}{end}" for name in ("error", "slope", "intercept") for end in ENDS),
)
FEW = 2  # tasks that are named
FEW_GAPS = 200  # up to which their covariance is written out
NOTE = (
    "Calibration error: how far mean labels (shares of votes, or the reference standard) are "
    "from mean predictions in ten bins of equally many items, root mean square, less what "
    "chance adds. It can be 0; an interval from 0 says that the model may be calibrated, not "
    "that it is. Slope below 1: predictions are too extreme; intercept above 0: too low."
)
METHODS = (
    "Calibration error is the root mean squared gap of ten equally full bins, debiased by its "
    "two-way covariance over items and annotators, with an interval by test inversion; slope "
    "and intercept are of a logistic regression of votes on logit predictions [@kumar2019], "
    "corrected for the finite number of annotators by leaving out each in turn."
)


def analyse(study: Study) -> Finding:
    """Calibration error, slope and intercept of every model, for others like these.

    Examples
    --------
    >>> from equipoise.types import Annotations
    >>> chance = np.linspace(0.05, 0.95, 60)
    >>> votes = np.random.default_rng(0).random((60, 8)) < chance[:, None]
    >>> item, who = (axis.ravel() for axis in np.indices(votes.shape))
    >>> truth = Annotations(kind="binary", items=tuple(map(str, range(60))), item=item,
    ...     classes=("no", "yes"), annotators=tuple("abcdefgh"), annotator=who,
    ...     label=votes.ravel().astype(int))
    >>> extreme = 1 / (1 + (1 / chance - 1) ** 4)
    >>> models = [Predictions("fair", truth.items, chance),
    ...     Predictions("extreme", truth.items, extreme)]
    >>> (table,) = analyse(Study.of(models, truth)).tables
    >>> [(round(row["error"], 2), round(row["slope"], 2)) for row in table.rows]
    [(0.0, 0.99), (0.18, 0.25)]
    """
    votes, level = study.annotations, study.settings.level
    probable, plain = _probabilities(study.predictions)
    if plain:
        study = study.with_competitors(probable)
    target = target_population(study.aligned, study.plan, study.settings)
    shared = Uncertainty(study.aligned, [], study.plan, target, workers=1)
    rows, claims, whom = [], [], ""
    whose = "the reference standard" if study.by_standard else "the votes"
    size = len(study.aligned[0].scores) * len(study.aligned)
    family = ClaimFamily("calibration of all models in every task", size)
    strict = 1 - (1 - level) / size
    for t, task in enumerate(study.aligned):
        for model in task.scores:
            row: dict[str, Any] = {"task": task.question.task, "model": model}
            row |= dict.fromkeys(NUMBERS, math.nan)
            gaps = _gaps(task, task.distributions(model))
            scatter = _scatter(shared, t, gaps)
            whom = scatter.whom
            squared, *ends = _inverted(gaps, scatter, level)
            error = math.sqrt(max(squared, 0.0))
            row |= {"squared": squared} | ends_of("error", error, ends)
            _, low, high = _inverted(gaps, scatter, strict)
            where = f" ({row['task']})" if row["task"] else ""
            estimand = Estimand(f"calibration error{where}", whose, model, "none")
            claims.append(Claim(estimand, whom, family, -error, -high, -low, level))
            if len(task.question.classes) == 1:
                line = _line(shared, t, task.distributions(model)[:, 1])
                for place, name in ((1, "slope"), (0, "intercept")):
                    value = float(line.values[place])
                    row |= ends_of(name, value, line.of(place).interval(value, level))
            rows.append(row)
    tasks = tuple(dict.fromkeys(row["task"] for row in rows))
    largest = sorted(rows, key=lambda row: -np.nan_to_num(row["error"], nan=-1.0))
    table = Table(
        name="calibration",
        caption=f"Calibration, {exact_percent(level)} intervals of each number by itself",
        columns=(
            *([Column("task", "task")] if len(tasks) > 1 else []),
            Column("model", "model", "model"),
            spanned("error", "calibration error"),
            spanned("slope"),
            spanned("intercept", kind="change"),
            Column("squared", "squared, unclipped", "figures", brief=False),
        ),
        rows=rows,
        brief=rows if len(rows) <= 12 else largest[:8],
    )
    return Finding(
        key="calibration",
        title=TITLE,
        sentence=_sentence(rows, claims),
        tables=(table,),
        charts=tuple(_chart(rows, task, place) for place, task in enumerate(tasks, 1)),
        note=NOTE,
        methods=METHODS,
        references=("kumar2019",),
        notices=as_notices(votes.notices, study.dropped, plain),
        claims=tuple(claims),
    )


def _chart(rows: Rows, task: str, place: int) -> Dots:
    """Calibration errors of one task."""
    several = any(row["task"] != task for row in rows)
    return Dots(
        name=f"calibration-{place}" if several else "calibration",
        caption="Calibration error" + (f", {task}" if several else ""),
        axis="calibration error",
        rows=[
            Dot(
                row["model"],
                row["error"],
                row["error_low"],
                row["error_high"],
                model=row["model"],
                remark=number(row["error"]),
            )
            for row in rows
            if row["task"] == task
        ],
        zero=True,
    )


def _sentence(rows: Rows, claims: Sequence[Claim]) -> str:
    """Which models are surely not calibrated, all of them at once."""
    whom = claims[0].population
    defined = [row for row in rows if math.isfinite(row["error"])]
    if not defined:
        return "No calibration error is defined here."
    tasks, models = (list(dict.fromkeys(row[key] for row in rows)) for key in ("task", "model"))
    off: dict[str, list[str]] = {}
    for row, claim in zip(rows, claims, strict=True):
        if claim.decision is Decision.INFERIOR:
            off.setdefault(row["model"], []).append(row["task"])
    most = max(defined, key=lambda row: row["error"])
    where = f" in {most['task']}" if len(tasks) > 1 else ""
    size = f"{number(most['error'])} {interval(most['error_low'], most['error_high'])}"
    last = f"the largest calibration error is that of {most['model']}{where} {size}"
    if len(models) == 1:
        last = f"its calibration error is {size}"
        last = f"the largest calibration error is {size}{where}" if where else last
    if not off:
        none = "No model is" if len(models) > 1 else f"{models[0]} is not"
        return f"{none} surely miscalibrated, for {whom}; {last}."
    clauses = []
    for model in sorted(models, key=lambda model: -len(off.get(model, ()))):
        here = off.get(model, [])
        place = f" in {joined(here)}" if len(here) <= FEW else f" in {len(here)} tasks"
        if len(here) == len(tasks):
            place = " in every task" if len(tasks) > 1 else ""
        clauses += [f"{model}{place}"] * bool(here)
    verb = "is" if len(off) == 1 else "are"
    return f"{joined(clauses, most=NAMED)} {verb} not calibrated, for {whom}; {last}."


def _probabilities(
    predictions: Sequence[Predictions],
) -> tuple[list[Predictions], list[Notice]]:
    """Predictions of models that do not only decide; decisions are no probabilities."""
    names = dict.fromkeys(
        prediction.model for prediction in predictions if not prediction.decides
    )
    plain = tuple(
        dict.fromkeys(
            prediction.model for prediction in predictions if prediction.model not in names
        )
    )
    if not names:
        raise InputError(
            "calibration",
            "decisions, 0 or 1 for every item",
            "probabilities",
            "give the models' probabilities to see whether they mean what they say",
        )
    text = (
        "{models:listed} only decide, and decisions are no probabilities: left out of "
        "calibration."
    )
    notices = [Notice("decisions_left_out", text, (), {"models": plain})] if plain else []
    return [prediction for prediction in predictions if prediction.model in names], notices


class _Gaps(NamedTuple):
    """Gaps of all bins of all scored classes.

    Attributes
    ----------
    values, weight
        Mean votes less mean prediction, and share of items and classes, shape (gaps,).
    items, slopes
        Derivatives by the weight of items, (gaps, items), and by the shares of classes, (gaps,
        items times classes).
    classes
        Number of scored classes.
    """

    values: Floats
    weight: Floats
    items: "csr_matrix"
    slopes: "csr_matrix"
    classes: int

    @property
    def size(self) -> float:
        """Squared error with what chance adds."""
        return float((self.weight * self.values**2).sum())


def _gaps(task: Aligned, predicted: Floats) -> _Gaps:
    from scipy.sparse import csr_matrix

    shares = task.question.shares
    classes, items = shares.shape
    bins = min(BINS, items)
    require_memory(
        f"calibration, {items:,} items x {classes} classes",
        _memory(classes, items),
        "ask about fewer classes, or leave calibration out",
    )
    values, weights, moved, steps, rows = [], [], [], [], []
    for k, (share, chance) in enumerate(zip(shares, predicted[:, -classes:].T, strict=True)):
        code = _equal_bins(chance, bins)
        size = np.bincount(code, minlength=bins).astype(np.float64)
        safe = np.maximum(size, 1.0)
        gap = share - chance
        mean = np.bincount(code, gap, bins) / safe
        moved.append((gap - mean[code]) / safe[code])
        steps.append(1 / safe[code])
        rows.append(k * bins + code)
        values.append(mean)
        weights.append(size / items / classes)
    row, item = np.concatenate(rows), np.tile(np.arange(items), classes)
    column = item * classes + np.repeat(np.arange(classes), items)
    number = classes * bins
    return _Gaps(
        np.concatenate(values),
        np.concatenate(weights),
        csr_matrix((np.concatenate(moved), (row, item)), (number, items)),
        csr_matrix((np.concatenate(steps), (row, column)), (number, items * classes)),
        classes,
    )


def _memory(classes: int, items: int) -> float:
    """Bytes: sparse derivatives of every item and class, and a covariance taken apart."""
    side = min(classes * BINS, items)
    return 100.0 * classes * items + 48.0 * side**2


def _equal_bins(chance: Floats, bins: int) -> Any:
    """Bins of about equally many items; equal predictions stay together."""
    ranked = np.sort(chance)
    first = np.searchsorted(ranked, chance, side="left")
    last = np.searchsorted(ranked, chance, side="right")
    middle = (first + last - 1) / 2
    return np.minimum((middle * bins / len(chance)).astype(np.intp), bins - 1)


class _Scatter(NamedTuple):
    """How gaps scatter by chance.

    Attributes
    ----------
    squared
        Squared error less what chance adds to it.
    total
        What chance adds.
    along
        Draws of the noise along the gaps and along the noisiest direction, (2, draws).
    square
        Squared length of every draw, shape (draws,).
    whom
        Whom it speaks for.
    """

    squared: float
    total: float
    along: Floats
    square: Floats
    whom: str


def _inverted(gaps: _Gaps, scatter: _Scatter, level: float) -> tuple[float, float, float]:
    """Squared error, unbiased, and the errors that the data do not contradict."""
    squared, size = scatter.squared, gaps.size
    if not size > 0 or not scatter.total > 0:
        return squared, math.sqrt(max(squared, 0.0)), math.sqrt(size)
    tail, far = (1 - level) / 2, math.sqrt(size) + 30 * math.sqrt(scatter.total)
    square = scatter.square
    lows, highs = [], []
    for along in scatter.along:

        def above(c: float, along: Floats = along) -> bool:
            return bool((c * c + 2 * c * along + square >= size).mean() > tail)

        def below(c: float, along: Floats = along) -> bool:
            return bool((c * c + 2 * c * along + square <= size).mean() > tail)

        lows.append(0.0 if above(0.0) else _edge(above, far, last=False))
        highs.append(_edge(below, far, last=True))
    return squared, min(lows), max(*highs, min(lows))


def _scatter(shared: Uncertainty, t: int, gaps: _Gaps) -> _Scatter:
    """The scatter of few gaps by their whole covariance, of many on its principal axes."""
    sums = shared.sums_of(t, gaps.items, gaps.slopes)
    return _few(sums, gaps) if len(gaps.values) <= FEW_GAPS else _many(sums, gaps)


def _few(sums: Sums, gaps: _Gaps) -> _Scatter:
    cell = sums.covariances(gaps.values)
    used = gaps.weight > 0
    gap, w, size = gaps.values[used], gaps.weight[used], gaps.size
    items, annotators, cells = (
        part[np.ix_(used, used)] for part in (cell.items, cell.annotators, cell.cells)
    )
    covariance = cell.covariance()[np.ix_(used, used)]
    squared = float((w * (gap**2 - np.diag(items + (annotators - cells)))).sum())
    causes = [float((w * np.diag(part)).sum()) for part in (items, annotators)]
    total = float((w * np.diag(covariance)).sum())
    df = _freedom(total, causes, float(cell.df_items.max()), sums.df_annotators)
    variances, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    drawn, scale = _draws(len(w), df)
    noise = drawn @ (axes * np.sqrt(np.maximum(variances, 0))).T * scale[:, None]
    root = np.sqrt(w)
    noisiest = np.linalg.eigh(covariance * root[:, None] * root)[1][:, -1] / root
    along = [noise @ (w * gap) / math.sqrt(size or 1.0), noise @ (w * noisiest)]
    return _Scatter(squared, total, np.array(along), (noise**2) @ w, sums.population.whom)


def _many(sums: Sums, gaps: _Gaps) -> _Scatter:
    root, size = np.sqrt(gaps.weight), gaps.size
    squared = float((gaps.weight * (gaps.values**2 - sums.variance)).sum())
    axis = root * gaps.values / math.sqrt(size or 1.0)
    variances, along, causes = sums.spectrum(root, axis)
    total, bins = float(variances.sum()), len(root) // gaps.classes
    of_class = (slice(first, first + bins) for first in range(0, len(root), bins))
    units = max(
        float(sums.covariances(gaps.values[rows], rows).df_items.max()) for rows in of_class
    )
    df = _freedom(total, causes.tolist(), units, sums.df_annotators)
    drawn, scale = _draws(len(variances), df)
    noisiest = math.sqrt(variances[-1]) * drawn[:, -1]
    return _Scatter(
        squared,
        total,
        np.array([drawn @ along, noisiest]) * scale,
        (drawn**2 @ variances) * scale**2,
        sums.population.whom,
    )


def _freedom(total: float, causes: Sequence[float], units: float, annotators: float) -> float:
    """Satterthwaite's degrees of freedom of a scatter caused by items and by annotators."""
    below = causes[0] ** 2 / max(units, 1.0)
    if annotators > 0:
        below += causes[1] ** 2 / annotators
    return max(total**2 / below, 1.0) if below > 0 else math.inf


def _draws(number: int, df: float) -> tuple[Floats, Floats]:
    """Standard normal draws (draws, number), and what makes each one of a t."""
    random = np.random.default_rng(SEED)
    drawn = random.standard_normal((DRAWS, number))
    scale = np.sqrt(df / random.chisquare(df, DRAWS)) if math.isfinite(df) else np.ones(DRAWS)
    return drawn, scale


def _edge(inside: Callable[[float], bool], far: float, *, last: bool) -> float:
    """The last (or first) place inside, between 0 and far."""
    low, high = 0.0, far
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) == last else (low, middle)
    return high


def _line(shared: Uncertainty, t: int, chance: Floats) -> TwoWay:
    """Intercept and slope of a logistic regression of votes on the logit of predictions."""
    from scipy.special import expit

    share = shared.aligned[t].question.shares[0]
    clipped = np.clip(chance, LEAST, 1 - LEAST)
    x = np.stack([np.ones(len(share)), np.log(clipped / (1 - clipped))], axis=1)
    beta = _logistic(x, share)
    if beta is None:
        none = np.zeros((2, len(share)))
        return shared.of_values(t, np.full(2, math.nan), none, none[..., None])
    mean = expit(x @ beta)
    moved = np.linalg.solve((x * (mean * (1 - mean))[:, None]).T @ x, x.T)
    cell = shared.of_values(t, beta, moved * (share - mean), moved[..., None])
    return _of_any_panel(cell, shared.crowds[t], (x, share, moved))


def _of_any_panel(
    cell: TwoWay, ballots: Ballots | None, line: tuple[Floats, Floats, Floats]
) -> TwoWay:
    """Coefficients less the bias of a finite panel, and their scatter without each annotator.

    Parameters
    ----------
    line
        Terms of the regression (items, coefficients), soft labels, and how labels move
        coefficients (coefficients, items).
    """
    x, share, moved = line
    if ballots is None or not (ballots.named and cell.population.annotators):
        return cell
    moves, first = [], []
    for who in np.unique(ballots.annotator):
        votes = ballots.annotator == who
        taken = np.bincount(ballots.item[votes], ballots.soft[votes, 0], len(share))
        without = _logistic(x, np.clip(share - taken, 0.0, 1.0))
        moves.append(np.full(2, math.nan) if without is None else without - cell.values)
        first.append(-moved @ taken)
    whole, straight = np.stack(moves), np.stack(first)
    factor = ballots.design.annotator_factor
    bent = factor * (whole.T @ whole - straight.T @ straight)
    bias = factor * (whole - straight).sum(axis=0)
    return replace(cell, values=cell.values - bias, annotators=cell.annotators + bent)


def _logistic(x: Floats, share: Floats) -> Floats | None:
    """Coefficients that fit shares best; None where no finite ones do.

    Newton's steps, halved until the likelihood does not fall: it has one top.
    """
    from scipy.special import expit, log_expit

    def likelihood(beta: Floats) -> float:
        line = x @ beta
        return float(share @ log_expit(line) + (1 - share) @ log_expit(-line))

    beta: Floats = np.zeros(x.shape[1])
    value = likelihood(beta)
    for _ in range(STEPS):
        mean = expit(x @ beta)
        curve = (x * (mean * (1 - mean))[:, None]).T @ x
        if np.linalg.matrix_rank(curve) < len(beta):
            return None
        step = np.linalg.solve(curve, x.T @ (share - mean))
        if np.abs(step).max() < CLOSE * max(1.0, float(np.abs(beta).max())):
            return beta
        while likelihood(beta + step) < value and np.abs(step).max() > CLOSE:
            step = step / 2
        beta = beta + step
        value = likelihood(beta)
    return None
