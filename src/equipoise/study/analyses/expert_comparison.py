r"""Experts as competitors: do the models do better than one of the people who set the truth?

Every expert in turn is compared with the models on the items that the expert read, against the
mean vote of the other experts. A model has a score and an expert a yes or no, so that AUROC
would reward the finer scale: the model's threshold is set to give *exactly the expert's
specificity*, and the gain is how much more sensitive it is there. With several classes the
truth is the left-out expert, and the gain is how much better the model agrees with it than the
other experts do: by accuracy, or by quadratic weighted kappa for grades.

The mean over experts has an interval for items and experts like these (`equipoise.inference`),
and so has the difference of two models, on the same items and experts. A model is said to beat
a typical expert, or to fall behind one, only where its interval leaves out 0.

The mean gain over experts moves with an item by the mean of its influences on the gains, and
with a vote in two ways: it is part of the truth of the other experts, by
:math:`h_i (a_{ri} - p_i) / m_i` with h the mean derivative of the gains by p, and it is the
expert's own answer, by how its part of the gain differs from that of the other readers of the
item. Both sum to 0 over the votes of an item, as `equipoise.inference` wants it.

*Yes or no.* On the items that the expert read, with p the mean vote of the other experts and a
the expert's own answer, sensitivity and specificity weigh every item by its mass,

.. math:: \mathrm{sens} = \frac{\sum p_i a_i}{\sum p_i}, \qquad
          \mathrm{spec} = \frac{\sum (1 - p_i)(1 - a_i)}{\sum (1 - p_i)}

A model calls an item positive with d, 0 or 1 by a threshold that gives exactly the expert's
specificity; the items tied at the threshold share what is left. The gain is

.. math:: \mathrm{gain} = \sum p_i (d_i - a_i) / \sum p_i

*Several classes.* The truth is what the left-out expert said; the gain is the agreement of the
model's decisions with it minus that of the other experts, who are pooled: accuracy, or
quadratic weighted kappa for grades.

*Influences.* An item moves the gain of a yes/no question by

.. math:: g_i = p_i (D_i - \mathrm{gain}) / P - \lambda (1 - p_i) D_i / Q

with D = d - a, P and Q the sums of p and 1 - p, and :math:`\lambda` the slope of the ROC curve
where the specificities meet (a secant whose width falls with the fifth root of Q); p moves it
by :math:`h_i = (D_i - \mathrm{gain}) / P + \lambda D_i / Q`.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> among = experts(scores, readings)
>>> among.experts[int(np.argmax(among.sensitivity + among.specificity))]
'Dr Abel'
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from equipoise.inference import (
    Ballots,
    Population,
    TwoWay,
    joint_design,
    population_of,
    two_way,
    unit_design,
)
from equipoise.metrics import titled
from equipoise.metrics.decisions import decide
from equipoise.study import MACRO
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.scoring import Given, freeze, study_of
from equipoise.study.analyses.words import ENDS, as_notices, ends_of
from equipoise.study.arguments import as_annotations
from equipoise.study.study import Study
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints, short_repr
from equipoise.types.findings import Cell, Column, Dot, Dots, Finding, Heat, Table, rows_of
from equipoise.types.notices import Notice
from equipoise.types.numbers import UNDEFINED, change, count, estimate
from equipoise.types.words import joined

NARROW = 0.1  # least spread of a share that the width of a secant is taken from
ROUNDING = 1e-9


class _Comparison(NamedTuple):
    """One expert next to all models, on the items that the expert read.

    Attributes
    ----------
    expert, specificity
        Sensitivity and specificity of the expert; for several classes the agreement of the
        other experts with this one, and nan.
    models, gain
        The same of every model at that specificity, and how much more it is, (models,).
    influence
        What each item adds to the gain, summing to 0, (models, items).
    mass
        How much of the gain rests on each item, summing to 1, (items,).
    by_share
        Derivative of the gain by the mean vote of the others, (models or 1, items, classes).
    prevalence
        Mean vote of the others on these items; nan for several classes.
    item, pair
        Which items these are in the task, and which pairs of expert and item.
    """

    expert: float
    specificity: float
    models: Floats
    gain: Floats
    influence: Floats
    mass: Floats
    by_share: Floats
    prevalence: float = np.nan
    item: Ints = np.arange(0)
    pair: Ints = np.arange(0)


def at_specificity(answers: Floats, others: Floats, scores: Floats) -> _Comparison | None:
    """Models at the expert's own specificity; None where a class is empty.

    Parameters
    ----------
    answers, others
        The expert's answers and the mean votes of the others, (items,).
    scores
        Of every model, (models, items).

    Examples
    --------
    >>> own, others = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])
    >>> better = np.array([[4.0, 3, 2, 1]])
    >>> made = at_specificity(own, others, better)
    >>> made.expert, made.specificity, made.models, made.gain
    (0.5, 0.5, array([1.]), array([0.5]))
    """
    yes, no = float(others.sum()), float((1 - others).sum())
    if min(yes, no) <= ROUNDING:
        return None
    sensitivity = float(others @ answers) / yes
    wrong = float((1 - others) @ answers)
    values, called, slope = [], [], []
    for score in scores:
        decided, steep = _called(score, others, wrong)
        values.append(float(others @ decided) / yes)
        called.append(decided - answers)
        slope.append(steep)
    gain, ahead = np.array(values) - sensitivity, np.array(called)
    first, second = (ahead - gain[:, None]) / yes, np.array(slope)[:, None] * ahead / no
    return _Comparison(
        sensitivity,
        1 - wrong / no,
        np.array(values),
        gain,
        others * first - (1 - others) * second,
        others / yes,
        (first + second)[:, :, None],
        yes / (yes + no),
    )


def _called(score: Floats, truth: Floats, wrong: float) -> tuple[Floats, float]:
    """Which items are called positive when so much negative mass is, and the slope there."""
    order = np.argsort(-score, kind="stable")
    ranked = score[order]
    ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    yes = np.append(0.0, np.cumsum(truth[order])[ends])
    no = np.append(0.0, np.cumsum(1 - truth[order])[ends])
    place = int(np.searchsorted(no, wrong + ROUNDING * no[-1], side="right")) - 1
    decided = np.zeros(len(score))
    if place:
        decided[score >= ranked[ends[place - 1]]] = 1.0
    if place < len(ends):
        part = max(wrong - no[place], 0.0) / (no[place + 1] - no[place])
        decided[score == ranked[ends[place]]] = part
    share = wrong / no[-1]
    width = max(np.sqrt(max(share * (1 - share), 0.0)), NARROW) * no[-1] ** -0.2
    low, high = np.clip([share - width, share + width], 0, 1) * no[-1]
    rise = np.interp([low, high], no, yes)
    return decided, float((rise[1] - rise[0]) / yes[-1] / ((high - low) / no[-1]))


def agreement_gains(
    answers: Floats, others: Floats, decided: Floats, *, grades: bool
) -> _Comparison:
    """Agreement with the expert: of the models' decisions, and of the other experts.

    Parameters
    ----------
    answers, others
        The expert's answers and the mean votes of the others, (items, classes).
    decided
        The class that each model decides for, tied ones sharing, (models, items, classes).
    grades
        Whether classes have an order: quadratic weighted kappa instead of accuracy.

    Examples
    --------
    >>> own, others = np.eye(3)[[0, 1, 2]], np.eye(3)[[0, 2, 2]]
    >>> agreement_gains(own, others, own[None], grades=False).gain
    array([0.333])
    """
    items, classes = answers.shape
    far = 1.0 - np.eye(classes)
    if grades:
        grade = np.arange(classes)
        far = np.subtract.outer(grade, grade).astype(np.float64) ** 2
    theirs, their_influence, by_share = _agreement(answers, others, far, chance=grades)
    ours = [_agreement(answers, decisions, far, chance=grades) for decisions in decided]
    values = np.array([value for value, _, _ in ours])
    return _Comparison(
        theirs,
        np.nan,
        values,
        values - theirs,
        np.stack([moved - their_influence for _, moved, _ in ours]),
        np.full(items, 1 / items),
        -by_share[None],
    )


def _agreement(
    answers: Floats, two: Floats, far: Floats, *, chance: bool
) -> tuple[float, Floats, Floats]:
    """Agreement of two answers (items, classes), its influences, its derivative by the second.

    Corrected for chance it is 1 minus the mean distance over that of independent answers.
    """
    spent, items = ((answers @ far) * two).sum(axis=1), len(answers)
    if not chance:
        return 1 - float(spent.mean()), (spent.mean() - spent) / items, -(answers @ far) / items
    first, second = answers.mean(axis=0), two.mean(axis=0)
    expected = float(first @ far @ second)
    if expected <= 0:
        return np.nan, np.full(items, np.nan), np.full(answers.shape, np.nan)
    ratio = float(spent.mean()) / expected
    moved = answers @ (far @ second) + two @ (first @ far) - 2 * expected
    influence = (ratio * moved - (spent - spent.mean())) / expected / items
    return 1 - ratio, influence, (ratio * (first @ far) - answers @ far) / expected / items


class Answers(NamedTuple):
    """Who said what in one task, each pair of annotator and item once, sorted by annotator.

    `place` says where the items stand among those of the annotations; `weight` is (pairs,) and
    `mass` (pairs, classes); `whole` and `share` are the sums of weights (items,) and the mean
    votes (items, classes). Items of known truth are nobody's opinion and have no pairs.
    """

    place: Ints
    annotator: Ints
    item: Ints
    weight: Floats
    mass: Floats
    whole: Floats
    share: Floats

    @classmethod
    def of_pairs(
        cls, place: Ints, annotator: Ints, item: Ints, weight: Floats, mass: Floats
    ) -> "Answers":
        """Sum up what the pairs say of each item."""
        items = len(place)
        whole: Floats = np.bincount(item, weight, items).astype(np.float64)
        total = np.stack(
            [np.bincount(item, class_mass, items) for class_mass in mass.T], axis=1
        )
        share = total / np.where(whole > 0, whole, 1.0)[:, None]
        return cls(place, annotator, item, weight, mass, whole, share)

    def by_truth(self, slope: Floats) -> Floats:
        """What each pair adds as a part of the truth: slopes are (models, items, classes)."""
        apart = self.mass / self.weight[:, None] - self.share[self.item]
        moved = np.einsum("mvc,vc->mv", slope[:, self.item], apart)
        return np.asarray(moved * (self.weight / self.whole[self.item]))

    def ballots(self, unit: Ints) -> Ballots:
        """The same as inference wants it; `unit` is the group of each pair's item."""
        units = np.zeros(len(self.whole), dtype=np.int64)
        units[self.item] = unit
        rated = np.flatnonzero(self.whole > 0)
        place = np.cumsum(self.whole > 0) - 1
        return Ballots(
            unit=units[rated],
            item=place[self.item],
            annotator=self.annotator,
            share=self.weight / self.whole[self.item],
            mass=self.mass / self.weight[:, None],
            labels=self.share[rated],
            harden=lambda shares: shares,
            named=True,
        )


def answers_of(aligned: Aligned) -> Answers:
    """Lay out who said what."""
    truth = aligned.question
    votes, items = truth.votes, len(truth.items)
    assert votes is not None
    keep = votes.annotator >= 0
    item = np.repeat(np.arange(items), votes.sizes)[keep]
    code, pair = np.unique(
        votes.annotator[keep].astype(np.int64) * items + item, return_inverse=True
    )
    annotator, item = np.divmod(code, items)
    weight: Floats = np.bincount(pair, votes.weight[keep], len(code)).astype(np.float64)
    parts = [(votes.weight * class_mass)[keep] for class_mass in truth.masses]
    mass: Floats = np.stack(
        [np.bincount(pair, class_mass, len(code)) for class_mass in parts], axis=1
    )
    return Answers.of_pairs(truth.place, annotator, item, weight, mass)


def compare_task(aligned: Aligned, laid: Answers, people: Ints) -> list[_Comparison | None]:
    """Every expert next to all models in one task; None where nothing can be compared."""
    several, scores = len(aligned.question.classes) > 1, aligned.scores
    predicted = [
        decide(aligned.distributions(model)) if several else scores[model] for model in scores
    ]
    models, comparisons = np.stack(predicted), list[_Comparison | None]()
    for who in people:
        pair = np.arange(*np.searchsorted(laid.annotator, [who, who + 1]))
        left = laid.whole[laid.item[pair]] - laid.weight[pair]
        pair, left = pair[left > 1e-9], left[left > 1e-9, None]
        item = laid.item[pair]
        others = (laid.share[item] * laid.whole[item, None] - laid.mass[pair]) / left
        answer, others = laid.mass[pair] / laid.weight[pair, None], np.clip(others, 0, 1)
        gains = None
        if len(pair) and several:
            grades = aligned.question.ordered
            gains = agreement_gains(answer, others, models[:, item], grades=grades)
        elif len(pair):
            gains = at_specificity(answer[:, 0], others[:, 0], models[:, item])
        if gains is None or np.isnan(gains.gain).any():
            comparisons.append(None)
        else:
            comparisons.append(gains._replace(item=item, pair=pair))
    return comparisons


def averages(compared: Sequence[Sequence[_Comparison | None]], models: int) -> dict[str, Any]:
    """Every expert and the models there, on average over the tasks that are known."""
    nothing = [np.nan, np.nan, *[np.nan] * 2 * models]
    rows, items = [], []
    for of_expert in zip(*compared, strict=True):
        comparisons = [comparison for comparison in of_expert if comparison is not None]
        numbers = [[row.expert, row.specificity, *row.models, *row.gain] for row in comparisons]
        rows.append(np.mean(numbers, axis=0) if numbers else nothing)
        items.append(sum(len(comparison.item) for comparison in comparisons))
    table = np.array(rows)
    return {
        "items": np.array(items),
        "values": table[:, 0],
        "specificity": table[:, 1],
        "model_values": table[:, 2 : 2 + models],
        "gap": table[:, 2 + models :],
    }


def uncertainty(
    compared: Sequence[Sequence[_Comparison | None]],
    laid: Sequence[Answers],
    annotations: Annotations,
    gain: Floats,
) -> TwoWay:
    """Covariances of the mean gains, (models,), for items and experts like these."""
    experts_compared = np.array(
        [[comparison is not None for comparison in in_task] for in_task in compared]
    ).sum(axis=0)
    weight: Floats = (
        1 / np.maximum(experts_compared, 1) / max(int((experts_compared > 0).sum()), 1)
    )
    used, place = np.unique(
        np.concatenate([answers.place[answers.item] for answers in laid]), return_inverse=True
    )
    parts = np.split(place, np.cumsum([len(answers.item) for answers in laid])[:-1])
    influence = np.zeros((len(gain), len(used)))
    votes = []
    for in_task, answers, where in zip(compared, laid, parts, strict=True):
        for comparison, share in zip(in_task, weight, strict=True):
            if comparison is not None:
                influence[:, where[comparison.pair]] += share * comparison.influence
        votes.append((answers, where, _by_vote(in_task, answers, weight, len(gain))))
    return _covariances(gain, influence, used, votes, annotations)


def reader_intervals(
    compared: Sequence[_Comparison | None],
    laid: Answers,
    annotations: Annotations,
    level: float,
) -> Floats:
    """Ends of each expert's own gains in one task, (2, experts, models).

    They speak for this expert as a person, on other items and with other experts like the
    others to set the truth.
    """
    models = next(
        (len(comparison.gain) for comparison in compared if comparison is not None), 0
    )
    ends = np.full((2, len(compared), models), np.nan)
    for place, comparison in enumerate(compared):
        if comparison is not None:
            spread = _alone(comparison, laid, annotations)
            for m, gain in enumerate(comparison.gain):
                ends[:, place, m] = spread.of(m).interval(float(gain), level, (-1.0, 1.0))
    return ends


def _alone(comparison: _Comparison, laid: Answers, annotations: Annotations) -> TwoWay:
    """Covariances of one expert's gains, (models,): its own votes make no truth here."""
    where = np.full(len(laid.whole), -1)
    where[comparison.item] = np.arange(len(comparison.item))
    keep = (laid.annotator != laid.annotator[comparison.pair[0]]) & (where[laid.item] >= 0)
    item, place = where[laid.item[keep]], laid.place[comparison.item]
    others = Answers.of_pairs(
        place, laid.annotator[keep], item, laid.weight[keep], laid.mass[keep]
    )
    votes = [(others, item, others.by_truth(comparison.by_share))]
    return _covariances(comparison.gain, comparison.influence, place, votes, annotations)


def _covariances(
    gain: Floats,
    influence: Floats,
    place: Ints,
    votes: Sequence[tuple[Answers, Ints, Floats]],
    annotations: Annotations,
) -> TwoWay:
    """Covariances of gains by what items, at their places, and votes add to them.

    `votes` are the answers of each task, which items they are about, and what each adds.
    """
    group, units = place, "items"
    if annotations.group is not None:
        group, units = annotations.group[place], "groups"
    unit = np.unique(group, return_inverse=True)[1]
    designs = [answers.ballots(unit[where]).design for answers, where, _ in votes]
    design = joint_design(designs, unit_design(unit))
    people = np.concatenate([answers.annotator for answers, _, _ in votes])
    cells = np.concatenate([unit[where] for _, where, _ in votes])
    psi = np.concatenate([added for _, _, added in votes], axis=1)
    code = people.astype(np.int64) * (int(cells.max()) + 1) + cells
    sums: list[Floats] = [  # by annotator, and by annotator and unit
        np.stack([np.bincount(cell, effects) for effects in psi]).astype(np.float64)
        for cell in (people, np.unique(code, return_inverse=True)[1])
    ]
    return two_way(
        gain,
        influence,
        unit,
        design=design,
        population=population_of(design, named=True, units=units),
        votes=(sums[0] @ sums[0].T, sums[1] @ sums[1].T),
    )


def _by_vote(
    comparisons: Sequence[_Comparison | None], answers: Answers, weight: Floats, models: int
) -> Floats:
    """What every vote adds: by being the expert, and by being in the truth of the others.

    Experts are compared with each other as if the truth were that of all; each one's own is
    without its votes, which would take back a part of what they add to the truth.
    """
    items, item = len(answers.whole), answers.item
    apart = answers.mass / answers.weight[:, None] - answers.share[item]
    slope = np.zeros((models, items, answers.mass.shape[1]))
    rival, readers = np.zeros((models, items)), np.zeros(items)
    psi = np.zeros((models, len(item)))
    weighted = [
        (comparison, share)
        for comparison, share in zip(comparisons, weight, strict=True)
        if comparison is not None
    ]
    for comparison, share in weighted:  # an item is there once
        pair = comparison.pair
        left = answers.whole[comparison.item] - answers.weight[pair]
        back = apart[pair] * (answers.weight[pair] / left)[:, None]
        alike = comparison.influence + comparison.gain[:, None] * comparison.mass
        psi[:, pair] = (alike + (comparison.by_share * back).sum(axis=2)) * len(pair)
        rival[:, comparison.item] += psi[:, pair]
        readers[comparison.item] += 1
        slope[:, comparison.item] += share * comparison.by_share
    rival /= np.maximum(readers, 1)
    for comparison, share in weighted:
        psi[:, comparison.pair] = (
            (psi[:, comparison.pair] - rival[:, comparison.item]) * share / len(comparison.pair)
        )
    return np.asarray(psi + answers.by_truth(slope))


KEY, TITLE = "experts", "Models among the experts"
MOST = 100  # experts compared with the models
SHOWN = 24  # experts in the chart
NAMED = 3  # models in a sentence
SENSITIVITY = "sensitivity"
NOTE_YES_NO = (
    "Every expert is compared with the models on the items that the expert read, against the "
    "mean vote of the other experts; an item counts by the share of them who call it positive, "
    "or negative. A model's threshold is set so that its specificity is exactly the expert's; "
    "the gain is its sensitivity there minus the expert's."
)
NOTE_CLASSES = (
    "What one expert said is the truth, on the items that this expert read: the gain is how "
    "much better the model's decisions agree with it than the other experts do, all of them "
    "together."
)
NOTE = (
    " The mean over experts has an interval for items and experts like these; it is not "
    "adjusted for the number of models."
)
METHODS_YES_NO = (
    "Each expert was compared with the models against the mean vote of the other experts, the "
    "threshold of a model set to the expert's own specificity; the gain in sensitivity was "
    "averaged over experts"
)
METHODS_CLASSES = (
    "The models and the other experts were compared by their agreement ({score}) with each "
    "expert in turn, and the difference averaged over experts"
)
INTERVAL = ", with intervals for items and experts alike (two-way variance)."
LEGEND = (
    "Gain: the model's {score} minus {whose}, on average over experts. Behind the best: gain "
    "of the best model minus this one's. Brackets: interval for items and experts like these."
)
WITH_MOST = "Of {people:count} annotators the {most:count} with most votes are compared."
FEW = (
    "The design has {effective:number} effective experts, too few to speak of experts like "
    "these: intervals are for other items and these experts."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Experts:
    """Models among experts.

    Attributes
    ----------
    experts, items
        Who, and on how many items (summed over tasks), shape (experts,).
    sensitivity, specificity
        Of each expert against the others, (experts,); nan for several classes.
    values
        What the models are compared with: each expert's sensitivity, or for several classes
        how well the other experts agree with this one, (experts,).
    model_values, gap
        Each model there, and its gain over the expert, (experts, models).
    mean_gap, mean_gap_low, mean_gap_high
        The gain on average over experts, (models,).
    behind, behind_low, behind_high
        Gain of the model with the largest one minus that of each, paired, (models,).
    population
        Whom the intervals speak for, with the effective number of experts.
    """

    task: str
    metric: str
    labels: str
    models: tuple[str, ...]
    level: float
    experts: tuple[str, ...]
    items: Ints
    sensitivity: Floats
    specificity: Floats
    values: Floats
    model_values: Floats
    gap: Floats
    mean_gap: Floats
    mean_gap_low: Floats
    mean_gap_high: Floats
    behind: Floats
    behind_low: Floats
    behind_high: Floats
    population: Population
    better: str = "higher"
    notices: tuple[Notice, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        freeze(self)

    def with_ends(self, name: str, key: str = "", at: Any = ...) -> dict[str, Any]:
        """A quantity and the ends of its interval as columns, under another key if given."""
        return {f"{key or name}{end}": getattr(self, f"{name}{end}")[at] for end in ENDS}

    @property
    def yes_no(self) -> bool:
        """Whether sensitivity is compared; else agreement with the left-out expert."""
        return self.metric == SENSITIVITY

    @property
    def finding(self) -> str:
        """What came out, as a sentence."""
        if np.isnan(self.mean_gap).all():
            return f"The gain in {self.score} over the experts is {UNDEFINED}."
        best = int(np.nanargmax(self.mean_gap))
        ends = float(self.mean_gap_low[best]), float(self.mean_gap_high[best])
        gain = estimate(float(self.mean_gap[best]), *ends, change)
        name, experts_compared = self.models[best], int((~np.isnan(self.gap[:, best])).sum())
        over = f"on average over {count(experts_compared, 'expert')}"
        start = (
            f"At each expert's own specificity the sensitivity of {name} minus the expert's is "
            f"{gain} {over}"
        )
        if not self.yes_no:
            start = (
                f"The {self.score} of {name} with a left-out expert minus that of the other "
                f"experts is {gain} {over}"
            )
        return f"{start}; {self._verdict()}."

    def _verdict(self) -> str:
        """Which models are shown to do better, or worse, than a typical expert."""
        if not self.population.annotators:
            return "so few experts say nothing about a typical one"
        ahead = [m for m, low in zip(self.models, self.mean_gap_low, strict=True) if low > 0]
        back = [m for m, high in zip(self.models, self.mean_gap_high, strict=True) if high < 0]
        parts = []
        if ahead:
            beat = "beats" if len(ahead) == 1 else "beat"
            parts.append(f"{joined(ahead, most=NAMED)} {beat} a typical expert")
        if back:
            fall = "falls" if len(back) == 1 else "fall"
            parts.append(f"{joined(back, most=NAMED)} {fall} behind one")
        left = len(self.models) - len(ahead) - len(back)
        if not parts:
            whole = "it" if left == 1 else "no model"
            shown = "is not shown" if left == 1 else "is shown"
            return f"{whole} {shown} to be better or worse than a typical expert"
        if left:
            rest = count(left, "other") if left > 1 else "one other"
            parts.append(f"{rest} cannot be told from a typical expert")
        return ", ".join(parts)

    @property
    def score(self) -> str:
        """What is compared, as one would say it."""
        title = titled(self.metric, self.labels).removeprefix("soft ")
        return SENSITIVITY if self.yes_no else title

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per expert, then one per model."""
        return [*self._expert_rows(), *self._model_rows()]

    def _expert_rows(self) -> list[dict[str, Cell]]:
        columns: dict[str, ArrayLike] = {"kind": "expert", "items": self.items}
        columns |= {"value": self.values, "specificity": self.specificity}
        return rows_of(
            {"task": self.task, "metric": self.metric, "labels": self.labels},
            {"who": self.experts},
            columns,
        )

    def _model_rows(self) -> list[dict[str, Cell]]:
        columns: dict[str, ArrayLike | None] = {
            "kind": "model",
            "value": _known_mean(self.model_values),
            **self.with_ends("mean_gap", "gap"),
            **self.with_ends("behind"),
        }
        return rows_of(
            {"task": self.task, "metric": self.metric, "labels": self.labels},
            {"who": self.models},
            columns,
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        methods = METHODS_YES_NO if self.yes_no else METHODS_CLASSES.format(score=self.score)
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=self._tables(),
            charts=self._charts(),
            note=(NOTE_YES_NO if self.yes_no else NOTE_CLASSES) + NOTE,
            methods=methods + INTERVAL,
            notices=self.notices,
        )

    def _tables(self) -> tuple[Table, ...]:
        rows, order = self._model_rows(), np.argsort(-self.mean_gap, kind="stable")
        whose = "the expert's, at the same specificity" if self.yes_no else "the others'"
        columns_of = [
            Column("value", self.score if self.yes_no else "others' agreement", "number")
        ]
        if self.yes_no:
            columns_of.append(Column("specificity", "specificity", "number"))
        return (
            Table(
                name="models_among_experts",
                caption="Models among the experts",
                columns=(
                    Column("who", "model", "model"),
                    Column("value", self.score, "number"),
                    Column("gap", "gain", "change", ("gap_low", "gap_high")),
                    Column(
                        "behind", "behind the best", "change", ("behind_low", "behind_high")
                    ),
                ),
                rows=[rows[m] for m in order],
                legend=LEGEND.format(score=self.score, whose=whose),
            ),
            Table(
                name="experts",
                caption="Experts against the other experts",
                columns=(
                    Column("who", "expert"),
                    Column("items", "items", "count"),
                    *columns_of,
                ),
                rows=self._expert_rows(),
            ),
            Table(
                name="gains",
                caption="Gain of every model over every expert",
                columns=(
                    Column("who", "expert"),
                    Column("model", "model", "model"),
                    Column("value", self.score, "number"),
                    Column("gap", "gain", "change"),
                ),
                rows=rows_of(
                    {"task": self.task, "metric": self.metric, "labels": self.labels},
                    {"who": self.experts, "model": self.models},
                    {"value": self.model_values, "gap": self.gap},
                ),
                brief=(),
            ),
        )

    def _charts(self) -> tuple[Dots, Heat]:
        """The mean gain of every model, and its gain over every expert; the best first."""
        order = np.argsort(-self.mean_gap, kind="stable")
        what, names = f"gain in {self.score}", [self.models[m] for m in order]
        gains = np.stack([*self.with_ends("mean_gap").values()])[:, order].T.tolist()
        dots = Dots(
            name="experts",
            caption=f"Mean {what} over the experts; right of 0: better than a typical expert",
            axis=what,
            rows=[
                Dot(name, value, low, high, name)
                for name, (value, low, high) in zip(names, gains, strict=True)
            ],
            zero=True,
        )
        values = np.asarray(self.gap[:SHOWN, order].T, dtype=np.float64)
        few = f" (the first {SHOWN})" if len(self.experts) > SHOWN else ""
        heat = Heat(
            name="experts-gains",
            caption=f"{what.capitalize()} of every model over every expert{few}",
            rows=names,
            columns=self.experts[:SHOWN],
            values=values,
            scale="signed",
            row_models=True,
            x="expert",
            texts=[[change(gain, 2) for gain in line] for line in values.tolist()],
        )
        return dots, heat


def experts(predictions: Given, annotations: Annotations, **how: Any) -> Experts:
    """Compare every expert with the models against the other experts.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators with ids.
    **how
        As for `equipoise.study.analyses.scoring.study_of`, such as ``task`` and ``level``.
    """
    _refuse(as_annotations(annotations))
    return experts_of(study_of(predictions, annotations, {"circular": "keep", **how}))


def experts_of(study: Study) -> Experts:
    """Every expert of a study with its models, against the other experts."""
    annotations, level = study.annotations, study.settings.level
    _refuse(annotations)
    aligned = study.aligned
    laid = [answers_of(scores) for scores in aligned]
    people, more = _compared(laid, len(annotations.annotators or ()))
    pairs = zip(aligned, laid, strict=True)
    compared = [compare_task(scores, answers, people) for scores, answers in pairs]
    several = len(aligned[0].question.classes) > 1
    by_class = "quadratic_weighted_kappa" if aligned[0].question.ordered else "accuracy"
    model_names = tuple(aligned[0].scores)
    means = averages(compared, len(model_names))
    gain = _known_mean(means["gap"])
    spread = uncertainty(compared, laid, annotations, gain)
    best = int(np.nanargmax(gain)) if not np.isnan(gain).all() else 0
    behind, all_models = gain[best] - gain, range(len(model_names))
    most = 2.0 if several and aligned[0].question.ordered else 1.0  # kappa goes down to -1
    within = (level, (-most, most))
    ends = [spread.of(m).interval(float(gain[m]), *within) for m in all_models]
    apart = [spread.between(best, m).interval(float(behind[m]), *within) for m in all_models]
    names = annotations.annotators or ()
    whom = spread.population
    if not whom.annotators:
        more.append(Notice("few_experts", FEW, (), {"effective": whom.effective}))
    return Experts(
        task=MACRO if len(aligned) > 1 else aligned[0].question.task,
        metric=by_class if several else SENSITIVITY,
        labels="soft",
        models=model_names,
        level=level,
        experts=tuple(names[who] for who in people),
        **means,
        sensitivity=np.full(len(people), np.nan) if several else means["values"],
        **ends_of("mean_gap", gain, np.array(ends).T),
        **ends_of("behind", behind, np.array(apart).T),
        population=whom,
        notices=as_notices(annotations.notices, study.dropped, more),
    )


def analyse(study: Study) -> Finding:
    """Models among the experts of a study."""
    return experts_of(study).report()


def _compared(laid: Sequence[Answers], annotators: int) -> tuple[Ints, list[Notice]]:
    """The experts with most votes, and what the user should know."""
    load = np.sum(
        [np.bincount(answers.annotator, minlength=annotators) for answers in laid], axis=0
    )
    active = np.flatnonzero(load)
    if len(active) < 3:
        raise InputError(
            "experts",
            f"{count(len(active), 'annotator')} with votes",
            "at least three",
            "compare annotators by their agreement instead",
        )
    order = active[np.argsort(-load[active], kind="stable")]
    values = {"people": len(active), "most": MOST}
    more = [Notice("experts_most", WITH_MOST, (), values)] if len(active) > MOST else []
    return np.sort(order[:MOST]), more


def _known_mean(values: Floats) -> Floats:
    """Mean over the first axis of what is defined; nan where nothing is."""
    defined = ~np.isnan(values)
    total = np.where(defined, values, 0.0).sum(axis=0)
    return np.where(defined.any(axis=0), total / np.maximum(defined.sum(axis=0), 1), np.nan)


def _refuse(annotations: Annotations) -> None:
    """Raise unless at least three people gave labels under their names."""
    if annotations.annotators is None or len(annotations.annotators) < 3:
        named = count(len(annotations.annotators or ()), "annotator")
        raise InputError(
            "experts",
            "anonymous votes" if annotations.annotators is None else named,
            "at least three annotators with ids",
            "look at agreement instead: krippendorff_alpha does not ask who voted",
        )
    if annotations.kind in ("interval", "ranking"):
        raise InputError(
            "experts",
            f"annotations of kind {annotations.kind}",
            "one label per vote",
            "turn them into a yes/no question first",
        )
