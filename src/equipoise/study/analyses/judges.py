r"""Judges: metrics, models or people who score the outputs that others rated.

Two questions beside how well a judge follows ratings output by output. *Do judges order systems
as people do?* At the level of systems, the means :math:`h_s` of ratings and :math:`m_s` of what
the judge says are correlated over systems (these systems, which are not drawn anew); within
items, outputs of the same item are compared, so that a judge that only knows hard items from
easy ones gets nothing: with :math:`x^c, y^c` less their means over the item,
:math:`\sum x^c y^c / \sqrt{\sum (x^c)^2 \sum (y^c)^2}`. Both have exact derivatives, and so the
two-way variance of everything else.

*How many ratings does a judge save?* A judge that scores all N outputs of a system, with
ratings of n of them, gives the prediction-powered mean

.. math:: \hat\theta_s = \frac{\lambda}{N} \sum_{\text{all}} x +
    \frac1n \sum_{\text{rated}} (y - \lambda x)

which is unbiased whatever the judge is worth; :math:`\lambda`
makes its variance smallest. What comes from items shrinks from that of :math:`y` to that of
:math:`y - \lambda x`; what comes from annotators stays as it is, however good the judge. With
:math:`V_y` and :math:`V_r` those two parts, n ratings with many outputs judged are worth
:math:`n V_y / V_r` ratings alone, of the same annotators.

References
----------
Angelopoulos and others (2023), *Prediction-powered inference*. Deutsch, Foster and Freitag
(2023), *Ties matter*.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from equipoise.inference import TwoWay
from equipoise.metrics import Influence
from equipoise.metrics.correlations import kendall_tau_b, pairwise_accuracy
from equipoise.metrics.ratings import ends_of_scale
from equipoise.study.analyses.words import RowUnderWay
from equipoise.study.scoring import target_population
from equipoise.study.study import Study
from equipoise.study.uncertainty import Uncertainty
from equipoise.types import (
    Column,
    Finding,
    Floats,
    InputError,
    Ints,
    Names,
    PerItem,
    Table,
    joined,
    number,
    percent,
    positions,
)

TITLE = "Do judges order systems as people do?"
SAVINGS_TITLE = "How many ratings does a judge save?"
FEWEST = 3  # systems
ALIKE = 1e-12  # of a variance, below which nothing varies


class _Outputs(NamedTuple):
    """The rated outputs of a task, and what judges say of them.

    Attributes
    ----------
    rating
        Mean rating of every output, on its scale, shape (outputs,).
    width
        Of the scale, by which shares of votes become ratings.
    system, item
        Codes of the system, and of the item, of every output.
    said
        By judge, shape (outputs,).
    """

    task: str
    rating: PerItem
    width: float
    system: Ints
    item: Ints
    systems: Names
    said: dict[str, PerItem]

    def means(self, values: PerItem) -> Floats:
        """Means of the systems."""
        sizes = np.bincount(self.system, minlength=len(self.systems))
        return np.asarray(np.bincount(self.system, values, len(self.systems)) / sizes)

    def centred(self, values: PerItem) -> PerItem:
        """Less the mean over the outputs of an item."""
        sizes = np.bincount(self.item)
        mean = np.bincount(self.item, values) / np.maximum(sizes, 1)
        return np.asarray(values - mean[self.item])


def analyse(study: Study) -> Finding:
    """Correlation of every judge with people over systems, and within items."""
    shared, tasks = _shared(study), list(_outputs(study))
    rows = [
        row for t, outputs in enumerate(tasks) for row in _levels(shared, t, outputs, study)
    ]
    ranked = sorted(rows, key=lambda row: np.nan_to_num(row["systems"], nan=-2.0))
    low, high = (_in_words(row, several=len(tasks) > 1) for row in (ranked[0], ranked[-1]))
    ends = high if len(rows) == 1 else f"from {low} to {high}"
    run = "is" if len(rows) == 1 else "runs"
    sentence = (
        f"Over {len(tasks[0].systems)} systems the correlation with people {run} {ends}, "
        "each interval by itself."
    )
    return Finding(
        key="levels",
        title=TITLE,
        sentence=sentence,
        tables=(_levels_table(rows),),
        note="Over systems: means of these systems, other items and annotators like these. "
        "Within items: outputs of the same item, less their mean.",
    )


def _in_words(row: RowUnderWay, *, several: bool) -> str:
    """A correlation over systems with its interval, and whose it is."""
    whose = f"{row['model']}, {row['task']}" if several else row["model"]
    ends = f"{number(row['systems_low'], 2)}, {number(row['systems_high'], 2)}"
    return f"{number(row['systems'], 2)} [{ends}] ({whose})"


def _shared(study: Study) -> Uncertainty:
    """What uncertainty is made of; refuses a study without judges of systems' outputs."""
    votes = study.voted
    if votes.systems is None or study.judged:
        got = "no systems" if votes.systems is None else "no judges"
        wanted = "ratings of systems' outputs, and what judges say of these"
        raise InputError("judges", got, wanted, "give item, system and the judges' scores")
    if len(votes.systems) < FEWEST:
        got = f"{len(votes.systems)} systems"
        raise InputError("judges", got, f"at least {FEWEST}", "leave the analysis out")
    target = target_population(study.aligned, study.plan, study.settings)
    return Uncertainty(study.aligned, [], study.plan, target, workers=1)


def _outputs(study: Study) -> Iterator[_Outputs]:
    votes = study.voted
    assert votes.systems is not None and votes.system is not None and votes.group is not None
    for task in study.aligned:
        question = task.question
        low, high = ends_of_scale(question.classes) or (0.0, 1.0)
        rows = positions(question.items, votes.items, where="judges, outputs")
        item = np.unique(votes.group[rows], return_inverse=True)[1]
        rating = low + (high - low) * question.shares[0]
        yield _Outputs(
            question.task,
            rating,
            high - low,
            votes.system[rows],
            item,
            votes.systems,
            dict(task.scores),
        )


def _levels(
    shared: Uncertainty, t: int, outputs: _Outputs, study: Study
) -> Iterator[RowUnderWay]:
    """A row per judge."""
    people = outputs.means(outputs.rating)
    for judge, said in outputs.said.items():
        means = outputs.means(said)
        both = _over_systems(outputs, said), _within_items(outputs, said)
        values = [level.value for level in both]
        items = np.stack([level.items for level in both])
        slopes = np.stack([level.shares for level in both])
        cell = shared.of_values(t, np.array(values), items, slopes[..., None])
        row: RowUnderWay = {"task": outputs.task, "model": judge}
        for place, name in enumerate(("systems", "within")):
            ends = cell.of(place).interval(values[place], study.settings.level)
            low, high = (max(-1.0, min(1.0, end)) for end in ends)
            row |= {name: values[place], f"{name}_low": low, f"{name}_high": high}
        yield {
            **row,
            "tau": float(kendall_tau_b(people, means)),
            "pairs": float(pairwise_accuracy(people, means)),
        }


def _correlation(a: Floats, b: Floats) -> tuple[float, Floats, Floats]:
    """Pearson's correlation of deviations that sum to 0, and its derivatives by each."""
    aa, bb, ab = float(a @ a), float(b @ b), float(a @ b)
    root = math.sqrt(aa * bb)
    if not root > ALIKE:
        none = np.full(len(a), math.nan)
        return math.nan, none, none
    r = ab / root
    return r, b / root - r * a / aa, a / root - r * b / bb


def _over_systems(outputs: _Outputs, said: PerItem) -> Influence:
    """Correlation over systems, by the weight of every output and by its share of votes."""
    people, judge = outputs.means(outputs.rating), outputs.means(said)
    value, by_people, by_judge = _correlation(people - people.mean(), judge - judge.mean())
    sizes = np.bincount(outputs.system, minlength=len(outputs.systems))[outputs.system]
    s = outputs.system
    items = by_people[s] * (outputs.rating - people[s]) + by_judge[s] * (said - judge[s])
    return Influence(value, items / sizes, outputs.width * by_people[s] / sizes)


def _within_items(outputs: _Outputs, said: PerItem) -> Influence:
    """The same of outputs less their item's mean."""
    y, x = outputs.centred(outputs.rating), outputs.centred(said)
    value, by_y, _ = _correlation(y, x)
    yy, xx = float(y @ y), float(x @ x)
    root = math.sqrt(yy * xx) if yy * xx > 0 else math.nan
    items = (
        x * y / root - value * (y * y / yy + x * x / xx) / 2 if root > ALIKE else y * math.nan
    )
    return Influence(value, items - items.mean(), outputs.width * by_y)


def _levels_table(rows: list[RowUnderWay]) -> Table:
    return Table(
        name="levels",
        caption="Judges against people, over systems and within items",
        columns=(
            Column("task", "task", brief=False),
            Column("model", "judge", "model"),
            Column("systems", "over systems", "number", ("systems_low", "systems_high")),
            Column("within", "within items", "number", ("within_low", "within_high")),
            Column("tau", "Kendall's tau over systems", "number"),
            Column("pairs", "pairs of systems ordered alike", "percent"),
        ),
        rows=rows,
    )


# ---- what a judge saves --------------------------------------------------------------------


def analyse_savings(study: Study) -> Finding:
    """What ratings of n outputs are worth with a judge of many, and what it cannot save."""
    shared, tasks = _shared(study), list(_outputs(study))
    rows = [row for t, outputs in enumerate(tasks) for row in _savings(shared, t, outputs)]
    worth = [row["worth"] for row in rows if math.isfinite(row["worth"])]
    people = [row["annotators"] for row in rows]
    least, most = (number(100 * end, 0) for end in (min(worth), max(worth)))
    said = least if least == most else f"{least} to {most}"
    sentence = (
        f"With a judge of many outputs 100 rated ones are worth about {said}, by the judge and "
        f"the task; what comes from annotators ({_span(people)} of the variance of a system's "
        "mean) no judge saves."
    )
    return Finding(
        key="savings",
        title=SAVINGS_TITLE,
        references=("angelopoulos2023",),
        sentence=sentence,
        tables=(
            Table(
                name="savings",
                caption="What ratings are worth with a judge of many outputs",
                columns=(
                    Column("task", "task", brief=False),
                    Column("model", "judge", "model"),
                    Column("worth", "a rating is worth", "number"),
                    Column("slope", "ratings per unit of the judge", "number"),
                    Column("annotators", "variance from annotators", "percent"),
                ),
                rows=rows,
            ),
        ),
        note="Prediction-powered means: the judge on all outputs, corrected by the ratings of "
        "some; unbiased whatever the judge is worth.",
    )


def _span(shares: list[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def _savings(shared: Uncertainty, t: int, outputs: _Outputs) -> Iterator[RowUnderWay]:
    """A row per judge."""
    alone = _system_means(shared, t, outputs, outputs.rating)
    from_items, from_people = _parts(alone)
    for judge, said in outputs.said.items():
        slope = _best_slope(outputs, said)
        rest = _system_means(shared, t, outputs, outputs.rating - slope * said)
        left = _parts(rest)[0]
        yield {
            "task": outputs.task,
            "model": judge,
            "worth": from_items / left if left > 0 else math.nan,
            "slope": slope,
            "annotators": from_people / (from_items + from_people),
        }


def _best_slope(outputs: _Outputs, said: PerItem) -> float:
    """The multiple of the judge that leaves least variance within systems."""
    x = said - outputs.means(said)[outputs.system]
    y = outputs.rating - outputs.means(outputs.rating)[outputs.system]
    xx = float(x @ x)
    return float(x @ y) / xx if xx > ALIKE else 0.0


def _system_means(shared: Uncertainty, t: int, outputs: _Outputs, values: PerItem) -> TwoWay:
    """Means of systems with their two-way parts, where ratings enter values as they are."""
    number_of_systems = len(outputs.systems)
    sizes = np.bincount(outputs.system, minlength=number_of_systems)
    mine = outputs.system == np.arange(number_of_systems)[:, None]
    means = outputs.means(values)
    items = mine * (values - means[:, None]) / sizes[:, None]
    slopes = outputs.width * mine / sizes[:, None]
    return shared.of_values(t, means, items, slopes[..., None])


def _parts(cell: TwoWay) -> tuple[float, float]:
    """Variance of a system's mean from items, and from annotators beyond the noise of votes."""
    items = float(np.mean(np.diag(cell.items)))
    people = np.diag(cell.annotators) - np.diag(cell.cells)
    return items, float(np.mean(np.maximum(people, 0.0)))


def prediction_powered(study: Study, judge: str, task: str = "") -> tuple[Floats, Floats]:
    """Prediction-powered means of all systems of a task, and their standard errors.

    Parameters
    ----------
    judge
        Who scored all outputs, also those that nobody rated.
    """
    tasks = list(_outputs(study))
    t = [outputs.task for outputs in tasks].index(task)
    outputs, shared = tasks[t], _shared(study)
    if judge not in outputs.said:
        raise InputError(
            "judge", f"{judge!r}", f"one of {joined(list(outputs.said))}", "see it"
        )
    slope = _best_slope(outputs, outputs.said[judge])
    rest = outputs.rating - slope * outputs.said[judge]
    everything, system = _all_outputs(study, judge, task)
    number_of_systems = len(outputs.systems)
    sizes = np.bincount(system, minlength=number_of_systems)
    judged = np.bincount(system, everything, number_of_systems) / sizes
    cell = _system_means(shared, t, outputs, rest)
    deviation = everything - judged[system]
    spread = slope**2 * np.bincount(system, deviation**2, number_of_systems) / sizes**2
    errors = [
        math.hypot(cell.of(s).standard_error, math.sqrt(spread[s]))
        for s in range(number_of_systems)
    ]
    return np.asarray(slope * judged + cell.values), np.array(errors)


def _all_outputs(study: Study, judge: str, task: str) -> tuple[PerItem, Ints]:
    """What a judge says of all outputs, and their systems."""
    votes = study.voted
    assert votes.system is not None
    said = next(p for p in study.predictions if p.model == judge and p.task == task)
    rows = positions(said.items, votes.items, where=f"judge {judge!r}, outputs")
    return said.values, votes.system[rows]
