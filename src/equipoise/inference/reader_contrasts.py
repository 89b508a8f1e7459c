r"""Reader contrasts: models next to readers, each reader scored on the truth made without it.

*Estimand.* :math:`d_{mr}` is the value of model m less that of reader r, both on the items that
r read and against :math:`q_i(r)`, the mean vote of the other readers of item i (or a reference
standard, from which nobody is left out). The mean :math:`\theta_m = \sum_r w_r d_{mr}` speaks
for *these readers* with random items, or for *readers like these* with random readers too.

*Values.* With D the decision of the model less that of the reader, P and Q the sums of q and
1 - q, and :math:`D^+ = \sum q D / P`, :math:`D^- = \sum (1 - q) D / Q`: sensitivity
:math:`D^+`, specificity :math:`-D^-`, balanced accuracy their mean. An item moves them by
:math:`q (D - D^+) / P` and :math:`-(1 - q)(D - D^-) / Q`, times :math:`\sqrt{n/(n - 1)}` with
Kish's n of the class; its q by :math:`(D - D^+) / P` and :math:`(D - D^-) / Q`. A model with
scores and no cut is compared at the false positives of the reader, (fp + 1/2) Q / (Q + 1), by
interpolation on its ROC curve, so that a reader without false alarms is not compared at an
infinite cut; then with :math:`\lambda` the slope of the curve there

.. math:: d = D^+, \quad g = q (D - d) / P - \lambda (1 - q) D / Q, \quad
    h = (D - d) / P + \lambda D / Q

*Weights.* :math:`w_r \propto 1 / (\tau^2 + \kappa c_r)`, where :math:`c_r` is 1/P (1/P + 1/Q of
decisions, 1/n of other metrics), :math:`\kappa` is pooled over readers, because a reader with
12 reads has no usable variance of its own, and :math:`\tau^2` is Paule and Mandel's with the
full covariance of the :math:`d_r` (readers share items), common to all models.

*Variance.* S are sums of g by reader and unit (item, or group of items). Reader s moves
:math:`\theta` as competitor by :math:`a_s = w_s (d_s - \theta)`, and as a maker of the truth of
the others by

.. math:: t_s = \sum_i \sum_{r \ne s} w_r h_i(r) \omega_{is}
    \frac{y_{is} - q_i(r)}{W_i - \omega_{ir}}

with :math:`\omega` the weights of votes and W their sums. With e of the units,
:math:`f_c = u / (u - 2 \sum w^3 + u^2)`, :math:`u = \sum w^2`, and t scaled by the root of
:math:`f_t`, which undoes the centring in this design,

.. math:: V_I &= e \sum_g \Big(\sum_r w_r S_{gr}\Big)^2, \qquad V_R = f_c \sum_s a_s^2, \qquad
    V_C = f_c \sum_{gs} [w_s (S_{gs} - S_g)]^2, \\
    V_T &= \sum_s (a_s + t_s)^2 - \sum_s a_s^2 - \text{the same of cells} \\
    V &= V_I + \max(V_T, 0) + \max(V_R - V_C, 0)

The roles are kept apart: a truth made mostly by one reader has 1.5 degrees of freedom and is
mostly noise, which in one sum would widen every interval. Intervals are those of
`equipoise.inference.spread`, with the degrees of freedom of the competitor role; below its
limit nothing is said of readers like these. Readers of one group (a school) are alike: a, t and
cells are summed over the readers of a group before they are squared, and the factors are those
of the groups' weights.

References
----------
Paule and Mandel 1982; Hartung and Knapp 2001; Owen 2007; Hillis 2014; Weerahandi 1993.

Examples
--------
>>> others, answer = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0])
>>> decision_gains(np.array([[1.0, 1, 0, 0]]), answer, others)[0].gain
array([0.5])
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.inference.ballots import Design, unit_design
from equipoise.inference.intervals import TwoWay, floor_of
from equipoise.inference.spread import TOO_FEW, Population, Reason, Spread
from equipoise.types import Bools, Floats, Ints, immutable, ratio

NOTHING = 1e-9  # of a class, up to which it is empty
NARROW = 0.1  # least spread of a share that the width of a secant is taken from
MOST_CELLS = 2**22  # rows times readers times units that are looked at together
STEPS = 60  # bisections for tau squared, which lies between 0 and MOST_BETWEEN
MOST_BETWEEN = 4.0


class Gains(NamedTuple):
    """What every row (a model by a measure) gains over one reader.

    Attributes
    ----------
    value
        Of the reader, (rows,).
    gain
        Of the model less that of the reader, (rows,).
    influence
        How each vote of the reader moves the gain, by its item, (rows, votes).
    by_truth
        Derivative of the gain by the mean vote of the others, (rows, votes, classes).
    scale
        Variance of the gain but for a factor that all readers share.
    """

    value: Floats
    gain: Floats
    influence: Floats
    by_truth: Floats
    scale: float


def decision_gains(
    called: Floats, answer: Floats, truth: Floats
) -> tuple[Gains, Gains, Gains] | None:
    """Balanced accuracy, sensitivity and specificity; None where a class is empty.

    Parameters
    ----------
    called
        What every model decides, (models, votes).
    answer, truth
        What the reader says of its items, and q, (votes,).
    """
    yes, no = float(truth.sum()), float((1 - truth).sum())
    if min(yes, no) <= NOTHING:
        return None
    apart = called - answer
    up, down = apart @ truth / yes, apart @ (1 - truth) / no
    by_yes, by_no = (apart - up[:, None]) / yes, (apart - down[:, None]) / no
    found = kish_factor(truth) * truth * by_yes
    spared = -kish_factor(1 - truth) * (1 - truth) * by_no
    sensitivity, specificity = answer @ truth / yes, (1 - answer) @ (1 - truth) / no
    same = np.ones(len(called))
    return (
        Gains(
            same * (sensitivity + specificity) / 2,
            (up - down) / 2,
            (found + spared) / 2,
            (by_yes + by_no)[:, :, None] / 2,
            1 / yes + 1 / no,
        ),
        Gains(same * sensitivity, up, found, by_yes[:, :, None], 1 / yes),
        Gains(same * specificity, -down, spared, by_no[:, :, None], 1 / no),
    )


def matched_gains(scores: Floats, answer: Floats, truth: Floats) -> Gains | None:
    """Sensitivity at the false positives of the reader; None where a class is empty.

    Parameters
    ----------
    scores
        Of every model, (models, votes).
    answer, truth
        What the reader says of its items, and q, (votes,).
    """
    yes, no = float(truth.sum()), float((1 - truth).sum())
    if min(yes, no) <= NOTHING:
        return None
    wrong = no * (float((1 - truth) @ answer) + 0.5) / (no + 1)
    curves = [_called_at(score, truth, wrong) for score in scores]
    apart = np.array([called for called, _ in curves]) - answer
    slope = np.array([steep for _, steep in curves])[:, None]
    gain = apart @ truth / yes
    by_yes, by_no = (apart - gain[:, None]) / yes, slope * apart / no
    return Gains(
        np.full(len(scores), answer @ truth / yes),
        gain,
        kish_factor(truth) * truth * by_yes - kish_factor(1 - truth) * (1 - truth) * by_no,
        (by_yes + by_no)[:, :, None],
        1 / yes,
    )


def kish_factor(mass: Floats) -> float:
    """What undoes the centring of influences at the mean of so few weighted items."""
    effective = float(mass.sum() ** 2 / (mass**2).sum())
    return float(np.sqrt(effective / max(effective - 1, 0.5)))


def _called_at(score: Floats, truth: Floats, wrong: float) -> tuple[Floats, float]:
    """How much of each item is called positive at so many false positives; slope there."""
    order = np.argsort(-score, kind="stable")
    ranked, positive = score[order], truth[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    yes = np.append(0.0, np.cumsum(positive)[ends])
    no = np.append(0.0, np.cumsum(1 - positive)[ends])
    place = int(np.searchsorted(no, wrong, side="right")) - 1
    place = min(place, len(ends) - 1)
    step = max(no[place + 1] - no[place], 1e-12)
    part = float(np.clip((wrong - no[place]) / step, 0, 1))
    edge = ranked[ends[place]]
    share = wrong / no[-1]
    width = max(np.sqrt(share * (1 - share)), NARROW) * no[-1] ** -0.2
    low, high = np.clip([share - width, share + width], 0, 1)
    rise = np.interp([low, high], no / no[-1], yes / yes[-1])
    return (score > edge) + part * (score == edge), float((rise[1] - rise[0]) / (high - low))


@immutable(eq=False)
class Readings:
    """Who says what in one task, each pair of item and reader once, sorted by unit.

    Attributes
    ----------
    item, reader, unit
        Codes, (votes,); those of readers and units are shared by all tasks.
    weight, answer
        What a vote counts, (votes,), and how much of it goes to each class, (votes, classes).
    truth
        The truth that its reader is scored against, (votes, classes): see `others`.
    rest
        Weight of the votes that this truth is made of, (votes,); None for a reference
        standard, which nobody is left out of.
    """

    item: Ints
    reader: Ints
    unit: Ints
    weight: Floats
    answer: Floats
    truth: Floats
    rest: Floats | None = None

    @classmethod
    def of_votes(
        cls, item: Ints, reader: Ints, unit: Ints, weight: Floats, answer: Floats
    ) -> "Readings":
        """Readings against the mean vote of the others; items of one reader are left out."""
        number = 1 + int(item.max(initial=-1))
        whole = np.bincount(item, weight, number)
        rest = whole[item] - weight
        mass = [np.bincount(item, weight * share, number) for share in answer.T]
        others = np.stack(mass, axis=1)[item] - weight[:, None] * answer
        keep = rest > NOTHING * whole[item]
        keep &= np.bincount(item, minlength=number)[item] > 1
        rows = np.flatnonzero(keep)
        rows = rows[np.argsort(unit[rows], kind="stable")]
        truth = np.clip(others[rows] / rest[rows, None], 0, 1)
        return cls(
            item[rows], reader[rows], unit[rows], weight[rows], answer[rows], truth, rest[rows]
        )

    def in_units(self, unit: Ints) -> "Readings":
        """The same with other units, sorted by them."""
        return replace(self, unit=unit).of(np.argsort(unit, kind="stable"))

    def of_reader(self, reader: int) -> "Readings":
        """The votes of a reader."""
        return self.of(np.flatnonzero(self.reader == reader))

    def of(self, votes: Ints) -> "Readings":
        """Some of the votes, in an order."""
        columns = {name: getattr(self, name)[votes] for name in vars(self) if name != "rest"}
        return replace(self, **columns, rest=None if self.rest is None else self.rest[votes])


@immutable(eq=False)
class _Task:
    """A task with its weights, and what votes add.

    Attributes
    ----------
    readings
        Who says what.
    value, gain
        Of every row and reader, (rows, readers); nan where nothing can be compared.
    weight
        Of every reader in the mean, summing to 1, (readers,).
    influence, truth_effect
        What each vote adds by its item, and by being in the truth of others, (rows, votes).
    member
        Whether a reader is of a group, (readers, groups); each its own without groups.
    units, competitor, truth
        Designs of the three sources: factors and degrees of freedom.
    """

    readings: Readings
    value: Floats
    gain: Floats
    weight: Floats
    influence: Floats
    truth_effect: Floats
    member: Floats
    units: Design
    competitor: Design
    truth: Design

    @property
    def mean(self) -> Floats:
        """Weighted mean gain, (rows,)."""
        return np.nan_to_num(self.gain) @ self.weight


@immutable(eq=False)
class ReaderContrasts:
    """Every row next to every reader, on average over tasks.

    Attributes
    ----------
    value, gain
        Of each reader, and of the row less that, (rows, readers).
    weight
        Of every reader in the mean, (readers,).
    these, like_these
        Mean gains for other items and these readers (None where nobody asks), and for other
        readers too.
    spread
        Uncertainty of each gain for other items and this reader, (rows, readers); may be none.
    competitor
        Value of the row beside each reader, where that is not the reader's and the gain.
    """

    value: Floats
    gain: Floats
    weight: Floats
    these: TwoWay | None
    like_these: TwoWay
    spread: tuple[tuple[Spread, ...], ...] = ()
    competitor: Floats | None = None


def compare_readers(
    tasks: Sequence[tuple[Readings, Sequence[Gains | None]]],
    leading: int,
    *,
    units: str = "items",
    items: bool = True,
    annotators: bool = True,
    group: Ints | None = None,
) -> ReaderContrasts | None:
    """Mean gains over readers and tasks; None where no reader can be compared.

    Parameters
    ----------
    tasks
        Readings, and the gains over each reader on its votes in the same order; None where
        the reader cannot be compared.
    leading
        The first rows, which make the weights of readers.
    units, items, annotators
        What items are counted by, and whether items and readers are taken as samples.
    group
        Group of every reader; None where they do not come in groups.
    """
    someone = [task for task in tasks if any(x is not None for x in task[1])]
    parts = [_task(*task, leading, group) for task in someone]
    if not parts:
        return None
    sums = _sums(parts)
    means = np.mean([part.mean for part in parts], axis=0)
    as_reader = np.mean([_as_competitor(part) for part in parts], axis=0)
    both = as_reader + np.mean([_as_truth(part) for part in parts], axis=0)
    people = as_reader @ as_reader.T
    truth = _positive(both @ both.T - people - (sums.both - sums.cells))
    df_units = min(part.units.df_units for part in parts)
    df_items = sums.item_freedom(df_units)
    df_readers = min(part.competitor.df_annotators for part in parts)
    df_truth = min(part.truth.df_annotators for part in parts)
    reason = Reason.NONE if annotators else Reason.FIXED
    if annotators and df_readers < TOO_FEW:
        reason = Reason.TOO_FEW
    zero = np.zeros_like(truth)
    floor = floor_of(float(sums.units), 1.0)
    these = TwoWay(
        values=means,
        items=sums.items,
        annotators=zero,
        cells=zero,
        draws=zero,
        df_items=np.broadcast_to(df_items, zero.shape),
        df_annotators=0.0,
        floor=floor,
        population=Population(
            annotators=False, reason=Reason.FIXED, units=units, effective=df_readers + 1
        ),
    )
    role = np.diag(truth)
    df = _satterthwaite((np.diag(sums.items) * items, df_items), (role, df_truth))
    like_these = replace(
        these,
        annotators=people,
        cells=sums.cells,
        draws=truth,
        df_items=np.broadcast_to(df, zero.shape),
        df_annotators=df_readers,
        population=Population(
            items=items,
            annotators=reason is Reason.NONE,
            reason=reason,
            units=units,
            effective=df_readers + 1,
            people="annotators" if group is None else "groups of annotators",
        ),
    )
    value, gain = (
        defined_mean(np.stack([getattr(part, name) for part in parts]))
        for name in ("value", "gain")
    )
    weight = np.mean([part.weight for part in parts], axis=0)
    return ReaderContrasts(value, gain, weight, these, like_these, sums.of_readers())


def defined_mean(values: Floats) -> Floats:
    """Mean over the first axis of what is defined; nan where nothing is."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return ratio(total, defined.sum(axis=0))


# ---- one task ------------------------------------------------------------------------------


def _task(
    readings: Readings, gains: Sequence[Gains | None], leading: int, group: Ints | None
) -> _Task:
    """Weights of readers, and what every vote adds to the mean gains."""
    rows = len(next(x for x in gains if x is not None).gain)
    votes, readers = len(readings.item), len(gains)
    value, gain = np.full((2, rows, readers), np.nan)
    influence, slope = np.zeros((rows, votes)), np.zeros((rows, *readings.answer.shape))
    scale = np.full(readers, np.inf)
    for reader, part in enumerate(gains):
        if part is not None:
            mine = readings.reader == reader
            value[:, reader], gain[:, reader], scale[reader] = part.value, part.gain, part.scale
            influence[:, mine], slope[:, mine] = part.influence, part.by_truth
    covariance = np.mean(
        [_reader_covariance(readings, moved, readers) for moved in influence[:leading]], axis=0
    )
    weight = information_weights(gain[:leading], covariance, scale)
    group = np.arange(readers) if group is None else group
    member = (group[:, None] == np.unique(group)) * 1.0
    return _Task(
        readings,
        value,
        gain,
        weight,
        influence,
        _truth_effects(readings, slope * weight[readings.reader, None]),
        member,
        unit_design(readings.unit),
        competitor_design(weight @ member),
        truth_design(readings, weight, member),
    )


def _reader_covariance(readings: Readings, influence: Floats, readers: int) -> Floats:
    """Covariance of the gains over the readers, by the units that they share."""
    from scipy.sparse import csr_matrix

    shape = (readers, 1 + int(readings.unit.max()))
    sums = csr_matrix((influence, (readings.reader, readings.unit)), shape=shape)
    return np.asarray((sums @ sums.T).toarray())


def information_weights(gain: Floats, covariance: Floats, scale: Floats) -> Floats:
    """Weights of readers by information, summing to 1; 0 where nothing can be compared.

    Parameters
    ----------
    gain
        Over every reader, (rows, readers).
    covariance
        Of the gains over items, mean over rows, (readers, readers).
    scale
        Variance of each but for a common factor; infinite where nothing can be compared.
    """
    able = np.flatnonzero(np.isfinite(scale))
    size, gain = scale[able], gain[:, able]
    covariance = covariance[np.ix_(able, able)]
    common = float((np.diag(covariance) / size**2).sum() / (1 / size).sum())
    common = common if common > 0 else 1.0

    def excess(between: float) -> float:
        """How much more the gains differ than they should with this tau squared."""
        variance = between + common * size
        weight = 1 / variance / (1 / variance).sum()
        centring = np.eye(len(size)) - weight
        whole = covariance + between * np.eye(len(size))
        seen = (((gain - (gain @ weight)[:, None]) ** 2).mean(axis=0) / variance).sum()
        return float(seen - (np.diag(centring @ whole @ centring.T) / variance).sum())

    low, high = 0.0, MOST_BETWEEN
    if excess(0.0) > 0:
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    weight = np.zeros(len(scale))
    weight[able] = 1 / (low + common * size)
    return np.asarray(weight / weight.sum())


def competitor_design(weight: Floats) -> Design:
    """What centring at the weighted mean takes from readers as competitors."""
    u, third = float((weight**2).sum()), float((weight**3).sum())
    trace = u - 2 * third + u * u
    if trace <= NOTHING * u:  # a single reader
        return Design(0, 1, 0.0, 0.0, 0.0, 0.0)
    centred = (np.eye(len(weight)) - weight) * weight[:, None]
    square = centred.T @ centred
    freedom = float(np.trace(square) ** 2 / (square**2).sum())
    return Design(0, int((weight > 0).sum()), 0.0, u / trace, 0.0, freedom)


def truth_design(readings: Readings, weight: Floats, member: Floats | None = None) -> Design:
    """What centring at the others takes from readers as makers of the truth.

    A leaning l of the makers moves the mean gain by W'l, where their centred sums are L l; a
    group of makers leans as one, and `member` says who is of which group, (readers, groups).
    """
    from scipy.sparse import csr_matrix, diags

    nothing = Design(0, 0, 0.0, 0.0, 0.0, 1.0)
    if readings.rest is None:
        return nothing
    readers, load = len(weight), np.bincount(readings.reader, minlength=len(weight))
    per_vote = weight / np.maximum(load, 1)
    item = np.unique(readings.item, return_inverse=True)[1]
    there = csr_matrix((np.ones(len(item)), (item, readings.reader)), (item.max() + 1, readers))
    others = np.bincount(item) - 1.0
    total = there @ per_vote
    beside = (total[item] - per_vote[readings.reader]) / others[item]
    pull = np.bincount(readings.reader, beside, readers).astype(np.float64)
    together = (there.T @ diags(total / others**2) @ there).toarray()
    apart = (there.T @ diags(1 / others**2) @ there).toarray()
    shared = together - per_vote[:, None] * apart - apart * per_vote
    shared[np.diag_indices(readers)] += per_vote * np.diag(apart)
    left = np.diag(pull) - shared
    if member is not None:
        left, pull = member.T @ left @ member, pull @ member
    square = left.T @ left
    trace = float(np.trace(square))
    if trace <= 1e-12 * float((pull**2).sum()):
        return nothing
    freedom = trace**2 / float((square**2).sum())
    return Design(0, readers, 0.0, float((pull**2).sum()) / trace, 0.0, freedom)


def _truth_effects(readings: Readings, slope: Floats) -> Floats:
    """What every vote adds as part of the truth of the others, (rows, votes)."""
    if readings.rest is None:
        return np.zeros(slope.shape[:2])
    item, number = readings.item, 1 + int(readings.item.max())
    slope = slope / readings.rest[:, None]
    centre = (slope * readings.truth).sum(axis=2)
    effects = np.empty(slope.shape[:2])
    for row, (by_class, middle) in enumerate(zip(slope, centre, strict=True)):
        total = np.stack([np.bincount(item, moved, number) for moved in by_class.T], axis=1)
        whole = np.bincount(item, middle, number)
        voted = ((total[item] - by_class) * readings.answer).sum(axis=1)
        effects[row] = readings.weight * (voted - (whole[item] - middle))
    return effects


def _as_competitor(task: _Task) -> Floats:
    """What each group of readers adds by being compared with, (rows, groups)."""
    apart = task.weight * np.nan_to_num(task.gain - task.mean[:, None])
    return np.asarray(np.sqrt(task.competitor.annotator_factor) * apart @ task.member)


def _as_truth(task: _Task) -> Floats:
    """What each group of readers adds by being in the truth of others, (rows, groups)."""
    readers = len(task.weight)
    sums = [np.bincount(task.readings.reader, x, readers) for x in task.truth_effect]
    return np.asarray(np.sqrt(task.truth.annotator_factor) * np.stack(sums) @ task.member)


# ---- all tasks -----------------------------------------------------------------------------


class _Sums(NamedTuple):
    """Sums over units, which the tasks share.

    Attributes
    ----------
    items, cells, both
        Covariances by units, by cells of unit and reader (or group of readers) as competitors,
        and the same with what they add to the truth, (rows, rows).
    fourth
        Sums of fourth powers by units, (rows,).
    alone, alone_fourth
        Sums of squares and fourth powers of each gain by units, (rows, readers).
    reads
        Units that each reader read, (readers,).
    units
        How many units there are.
    """

    items: Floats
    cells: Floats
    both: Floats
    fourth: Floats
    alone: Floats
    alone_fourth: Floats
    reads: Floats
    units: int

    def item_freedom(self, most: float) -> Floats:
        """Degrees of freedom of items, less where few units carry a number, (rows,)."""
        return _fewer(np.diag(self.items), self.fourth, float(self.units), most)

    def of_readers(self) -> tuple[tuple[Spread, ...], ...]:
        """Uncertainty of the gain over each reader, for other items."""
        reads = np.maximum(self.reads, 2)
        factor, most = reads / (reads - 1), reads - 1
        df = _fewer(self.alone, self.alone_fourth, reads, most)
        whom = Population(annotators=False, reason=Reason.ALONE)
        return tuple(
            tuple(
                Spread(float(v), df_items=float(f), population=whom, floor=1 / (n + 1) ** 2)
                for v, f, n in zip(variances, freedoms, reads, strict=True)
            )
            for variances, freedoms in zip(self.alone * factor, df, strict=True)
        )


def _sums(tasks: Sequence[_Task]) -> _Sums:
    """Add up units, in blocks, over all tasks."""
    rows, readers = tasks[0].gain.shape
    units = 1 + max(int(task.readings.unit.max()) for task in tasks)
    width = max(1, MOST_CELLS // (rows * readers))
    compared = np.maximum(np.sum([~np.isnan(task.gain[0]) for task in tasks], axis=0), 1)
    shares = [_as_truth(task) / len(np.unique(task.readings.unit)) for task in tasks]
    added = []
    for first in range(0, units, width):
        run = first, min(first + width, units)
        parts = [_block(task, run, x) for task, x in zip(tasks, shares, strict=True)]
        *roles, alone, reads = zip(*parts, strict=True)
        items, cells, truth = (np.mean(role, axis=0).reshape(rows, -1) for role in roles)
        square = (np.sum(alone, axis=0) / compared[:, None]) ** 2
        read, both = np.any(reads, axis=0), cells + truth
        added.append(
            (
                *(role @ role.T for role in (items, cells, both)),
                (items**4).sum(axis=1),
                square.sum(axis=2),
                (square**2).sum(axis=2),
                read.sum(axis=1),
                int(read.any(axis=0).sum()),
            )
        )
    return _Sums(*(sum(part) for part in zip(*added, strict=True)))


def _block(
    task: _Task, block: tuple[int, int], share: Floats
) -> tuple[Floats, Floats, Floats, Floats, Bools]:
    """A run of units in one task: sums of units, of cells in both roles, and of each reader.

    Cells are those of groups of readers, (rows, groups, units); `share` is the truth role of a
    group in a unit. The last says which reader read which unit.
    """
    (first, last), readings, weight = block, task.readings, task.weight
    votes = slice(*np.searchsorted(readings.unit, block))
    shape = (len(weight), last - first)
    code = readings.reader[votes] * shape[1] + readings.unit[votes] - first
    size = shape[0] * shape[1]
    alone, truth = (
        np.stack([np.bincount(code, x[votes], size) * 1.0 for x in moved]).reshape(-1, *shape)
        for moved in (task.influence, task.truth_effect)
    )
    reads: Bools = np.bincount(code, minlength=size).reshape(shape) > 0
    items = np.einsum("r,krg->kg", weight, alone)
    used = (weight * np.sqrt(task.competitor.annotator_factor))[:, None]
    used = used * (alone - items[:, None])
    cells, truths = (np.einsum("rg,kru->kgu", task.member, x) for x in (used, truth))
    truths = np.sqrt(task.truth.annotator_factor) * truths
    truths = truths - share[:, :, None] * reads.any(axis=0)
    return np.sqrt(task.units.unit_factor) * items, cells, truths, alone, reads


def _fewer(
    total: Floats, fourth: Floats, units: Floats | float, most: Floats | float
) -> Floats:
    """Degrees of freedom of units, less where few of them carry a number."""
    square = np.where(total > 0, total, 1.0) ** 2
    excess = np.where(total > 0, units * fourth / square - 1, 0.0)
    fewer = 2 * units / np.where(excess > 0, excess, 1.0)
    return np.where(excess > 0, np.minimum(most, fewer), most) * 1.0


def _satterthwaite(*sources: tuple[Floats, Floats | float]) -> Floats:
    """Degrees of freedom of a sum of variances; those of the first where all are 0."""
    total = sum(variance for variance, _ in sources)
    below = sum(variance**2 / freedom for variance, freedom in sources)
    return ratio(total**2, below, sources[0][1])


def _positive(matrix: Floats) -> Floats:
    """The nearest covariance, with the same variances where these are positive."""
    size, direction = np.linalg.eigh((matrix + matrix.T) / 2)
    whole = (direction * np.maximum(size, 0.0)) @ direction.T
    wanted, seen = np.maximum(np.diag(matrix), 0.0), np.diag(whole)
    scale = np.sqrt(wanted / np.where(seen > 0, seen, 1.0))
    return np.asarray(whole * np.outer(scale, scale))
