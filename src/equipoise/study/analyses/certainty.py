r"""Certainty: does the order of the models hold on the items whose truth is clear?

The certainty of an item is the probability that the class that leads it really is the most
plausible one, by independent :math:`\mathrm{Dirichlet}(r \cdot \text{votes} + s \pi)`
distributions at a reliability :math:`r` of 1; base rate :math:`\pi` and concentration s come
from the votes of all items. For every cut-off c only items with a certainty of at least c
count; cut-offs are certainties that occur, so that equally certain items stay together.
Intervals resample items; the change against all items is paired, replicate by replicate. Shares
of uncertain items are also told at other reliabilities.

Sentences name the cut-off of clear items, or the last below it, that keeps enough items and
leaves every model a value; they say so where there is none.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.

Examples
--------
>>> from equipoise.datasets.demo import reading_study
>>> readings, scores = reading_study()
>>> found = clear_cases(scores, readings, replicates=20)
>>> found.curves[0].items == found.items[0].item(), found.cutoffs[0] < 0.99
(True, True)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Unpack

import numpy as np

from equipoise.inference.ranks import TIE, higher_is_better
from equipoise.study import MACRO
from equipoise.study.analyses.cuts import Cuts, cut
from equipoise.study.analyses.options import AnalysisKeywords
from equipoise.study.analyses.scoring import Given, StudyScorer, study
from equipoise.study.analyses.words import BRACKETS, lowest_by, scored_again
from equipoise.study.study import Study
from equipoise.study.truth import TaskTruth
from equipoise.truth import dirichlet
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, positions, short_repr
from equipoise.types.findings import (
    Chart,
    Column,
    Finding,
    Line,
    Lines,
    Table,
    columns,
    spanned,
)
from equipoise.types.notices import Notice, Value
from equipoise.types.numbers import count, number, percent, significant
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.words import capital, joined

TITLE = "Does the order hold on the clear cases?"
SURE = 0.99  # below this an item counts as uncertain
RELIABILITIES = (1.0, 3.0, 10.0)
MANY = 200_000  # items times classes of all tasks, beyond which only the first is looked at
STEPS = 8  # cut-offs at most, besides that of clear items
FINE = 9  # decimals to which certainties must differ
LEAST = 10  # items, below which a cut-off is in no sentence
LEVELS = 50  # different certainties up to which every one has its own piece of the line
POINTS = 101
NOTE = (
    "The certainty of an item is the probability that the class with most votes really is the "
    "most plausible one, by a Dirichlet distribution over its votes; few or divided votes "
    "make it small. What it believes without votes comes from all items ({prior}). "
    "Reliability is what one vote counts: nothing in the votes tells it, so "
    "the curve is drawn for several. Models are scored on the items whose certainty (at "
    "reliability 1) reaches a cut-off; intervals come from resampled items and take it as "
    "known which are clear, and the change is paired with the value on all items. Clear items "
    "are also the easy ones, so values rise; what matters is whether the order stays."
)
LEGEND = (
    "Certainty: probability that the leading class is the most plausible one. Spearman with "
    "all: rank correlation with the order on all items. " + BRACKETS
)
NOT_DEFINED = (
    "On the items with a certainty of at least {sure:number} alone, {metric} is not defined "
    "for every model{where}."
)
SHARE_COLUMNS = (
    *columns(task="text", reliability="text", items="count"),
    Column("mean", "mean certainty", "number"),
    Column("below", "uncertain", "count"),
    Column("share_below", "share uncertain", "percent"),
)


class _SortedCertainty(NamedTuple):
    """Certainties at one reliability: how many items are uncertain, and the sorted line."""

    task: str
    reliability: float
    items: int
    mean: float
    below: int
    share_below: float
    points: list[list[float]]


@dataclass(frozen=True, eq=False, kw_only=True)
class ClearCases(Cuts):
    """Every model on the items of at least some certainty; fields are also those of `Cuts`.

    Attributes
    ----------
    study
        What was scored, and how.
    below
        Share of items that are uncertain.
    curves, shares
        Sorted certainties of all items by reliability, and the same task by task.
    prior
        The prior of the votes in words, task by task where they are several.
    """

    cut_by = "certainty"
    reaching = "of at least some certainty"
    axis = "least certainty of an item"

    study: StudyScorer
    below: float
    curves: tuple[_SortedCertainty, ...]
    shares: tuple[_SortedCertainty, ...]
    prior: str

    __repr__ = short_repr

    @property
    def finding(self) -> str:
        """What came out, in a sentence or two."""
        over = "Over all tasks " if len(self.study.subjects) > 1 else ""
        if not self.below:
            return capital(f"{over}every item is clear: no certainty is below {SURE:g}.")
        open_ = capital(f"{over}the votes leave {percent(self.below)} of the items open")
        start = f"{open_} (certainty below {SURE:g} when a vote counts once)"
        clear = self._clear()
        if clear is None and len(self.cutoffs) == 1:
            return f"{start}. All are equally certain, so none can be left out."
        if clear is None:
            return f"{start}. The models cannot be scored on the clearer ones alone."
        least = self.cutoffs[clear]
        reached = SURE if least >= SURE else int(1000 * least) / 1000
        clearest = count(int(self.items[clear]), "item").replace(" ", " clearest ")
        return (
            f"{start}. On the {clearest} (certainty at least {reached:g}) "
            f"{self._outcome(clear)}."
        )

    def _clear(self) -> int | None:
        """The cut-off of clear items, or the last below it at which all models have a value."""
        clear = [c for c, least in enumerate(self.cutoffs) if least >= SURE][:1]
        last = clear[0] if clear else len(self.cutoffs) - 1
        fine = [bool(np.isfinite(line).all()) for line in self.values]
        usable = [c for c in range(1, last + 1) if fine[c] and self.items[c] >= LEAST]
        return usable[-1] if usable and fine[0] else None

    def _outcome(self, cutoff: int) -> str:
        """Who leads there, against who leads on all items."""
        values, title = self.values, self.score
        if len(self.models) == 1:
            return f"{title} is {number(values[cutoff, 0])}, on all {number(values[0, 0])}"
        now, before = self._leaders(cutoff), self._leaders(0)
        if len(now) == len(self.models):
            return f"all models have the same {title}" + ", as on all items" * (now == before)
        text = f"{_names(now)} {self._change(cutoff, now, before)}"
        rho = float(self.spearman[cutoff])
        if len(self.models) > 2 and not np.isnan(rho):
            rho_text = f"a rank correlation of {number(rho, 2)} with that on all"
            text += f"; the order there has {rho_text}"
        return text

    def _change(self, cutoff: int, now: list[str], before: list[str]) -> str:
        """How the lead changed."""
        verb = f"{'leads' if len(now) == 1 else 'lead'} by {self.score}"
        if now == before:
            return f"still {verb}"
        gone = [name for name in before if name not in now]
        come = [name for name in now if name not in before]
        if not come:
            return f"{verb}, no longer tied with {_names(gone)}"
        if not gone:
            return f"{verb}, {_names(come)} now tied with {_names(before)}"
        return f"{verb} in place of {_names(before)}{self._gap(cutoff, now[0], before[0])}"

    def _gap(self, cutoff: int, first: str, other: str) -> str:
        """By how much one model is ahead of another, with its interval."""
        a, b = (self.models.index(name) for name in (first, other))
        gap, drawn = (
            self.sign * (each[cutoff, a] - each[cutoff, b])
            for each in (self.values, self.drawn)
        )
        ends = self.study.ends(gap, drawn, difference=True)
        gap, low, high = (float(np.round(end, TIE)) + 0.0 for end in (gap, *ends))
        if not gap > 0 or np.isnan(low) or np.isnan(high):
            return ""
        noise = "" if low > 0 else ", which may be chance"
        return f", {significant(gap)} ahead{noise} ({significant(low)} to {significant(high)})"

    def _leaders(self, cutoff: int) -> list[str]:
        """Models that share the best value."""
        good = higher_is_better(self.values[cutoff], self.better)
        return [self.models[m] for m in np.flatnonzero(good == good.max())]

    def tick(self, cutoff: int) -> str:
        """A cut-off in words, by its position."""
        return _cut_words(self.cutoffs[cutoff]) if cutoff else "all"

    def report(self) -> Finding:
        """The finding for every surface."""
        rows = self.rows()
        table = Table(
            name="certainty",
            caption=f"{capital(self.what)} by least certainty, and its change from all items",
            columns=(
                Column("certainty", "certainty at least", "number"),
                Column("items", "items", "count"),
                Column("coverage", "share", "percent"),
                Column("model", "model", "model"),
                Column("value", self.head, "number", ("low", "high")),
                spanned("change", kind="change", brief=False),
                Column("rank", "rank", "rank", brief=False),
                Column("spearman", "Spearman with all", "number"),
            ),
            rows=rows,
            brief=lowest_by(rows, "certainty", "rank"),
            legend=LEGEND,
        )
        every = [share._asdict() for share in self.shares]
        shares = Table(
            name="certainty_shares",
            caption=f"Items with a certainty below {SURE:g}, by reliability",
            columns=SHARE_COLUMNS,
            rows=[{key: row[key] for key in row if key != "points"} for row in every],
            brief=(),
        )
        return Finding(
            key="certainty",
            title=TITLE,
            sentence=self.finding,
            tables=(table, shares),
            charts=self._charts(),
            note=NOTE.format(prior=self.prior),
            methods=f"{scored_again(self.models)} on the items of at least some certainty, the "
            "probability by a Dirichlet distribution over the votes that the leading class is "
            "the most plausible [@stutz2025].",
            references=("stutz2025",),
            notices=self.notices,
        )

    def _charts(self) -> tuple[Chart, ...]:
        """Sorted certainties; the value and the rank of each model over the cut-offs."""
        curves = Lines(
            name="certainty",
            caption="Items sorted by certainty, by what one vote counts",
            x="share of items",
            y="certainty",
            lines=[
                Line(
                    f"reliability {one.reliability:g}",
                    [(x, y) for x, y in one.points],
                    dots=False,
                )
                for one in self.curves
            ],
            y_range=(0.5, 1.0),
        )
        value = self.lines("certainty-models")
        if len(self.models) == 1:
            return curves, value
        return curves, value, self.lines("certainty-ranks", ranks=True)


def clear_cases(
    predictions: Given, annotations: Annotations, **how: Unpack[AnalysisKeywords]
) -> ClearCases:
    """Score every model on the items of at least some certainty.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say.
    **how
        See `equipoise.study.analyses.options.AnalysisOptions`; replicates resample items.
    """
    scorer = study(predictions, annotations, how)
    questions = [task.question for task in scorer.subjects]
    made = [dirichlet(annotations, task=question.task) for question in questions]
    sure = [_certainties(one, question) for one, question in zip(made, questions, strict=True)]
    pooled = np.concatenate(sure)
    steps = _cutoffs(pooled)
    curves, shares = _sorted(annotations, questions)
    found = cut(
        ClearCases,
        scorer,
        [one >= np.array(steps)[:, None] for one in sure],
        study=scorer,
        cutoffs=steps,
        below=float((pooled < SURE).mean()),
        curves=curves,
        shares=shares,
        prior="; ".join(map(_prior_words, made)),
    )
    clear = [c for c, least in enumerate(steps) if least >= SURE][:1]
    if not clear or np.isfinite(found.values[clear[0]]).all():
        return found
    where = " in every task" if len(questions) > 1 else ""
    values: dict[str, Value] = {"sure": SURE, "metric": found.score, "where": where}
    undefined = Notice("clear_items_undefined", NOT_DEFINED, (), values)
    return replace(found, notices=(*found.notices, undefined))


def analyse(study: Study) -> Finding:
    """The models of a study on the items whose truth is clear."""
    return clear_cases(study.predictions, study.annotations, **study.single).report()


def _prior_words(made: Plausibilities) -> str:
    """The prior that a Dirichlet names in its method, behind its task."""
    words = made.method.partition(", ")[2].removesuffix(")")
    return f"{made.task}: {words}" if made.task else words


def _certainties(made: Plausibilities, question: TaskTruth) -> Floats:
    """Certainty of the items of a question, shape (items,)."""
    rows = positions(question.items, made.items, where="certainty")
    return np.round(made.certainty[rows], FINE)


def _cutoffs(certainty: Floats) -> tuple[float, ...]:
    """Certainties to cut at, rising: all that occur, or of many those at even shares.

    The first keeps every item; the smallest that makes an item clear is among them.

    Examples
    --------
    >>> _cutoffs(np.array([0.5, 0.5, 0.9, 1.0]))
    (0.5, 0.9, 1.0)
    >>> [round(one, 2) for one in _cutoffs(np.linspace(0.5, 1.0, 1001))]
    [0.5, 0.56, 0.62, 0.69, 0.75, 0.81, 0.88, 0.94, 0.99]
    """
    levels = np.unique(certainty)
    if len(levels) > STEPS:
        shares = np.arange(STEPS) / STEPS
        some = np.sort(certainty)[(shares * len(certainty)).astype(np.intp)]
        levels = np.unique(np.append(some, levels[levels >= SURE][:1]))
    return tuple(float(one) for one in levels)


def _sorted(
    annotations: Annotations, questions: Sequence[TaskTruth]
) -> tuple[tuple[_SortedCertainty, ...], tuple[_SortedCertainty, ...]]:
    """Lines of all items together, and shares of uncertain items task by task."""
    size = sum(len(question.items) for question in questions) * len(annotations.classes)
    curves, shares = [], []
    for reliability in RELIABILITIES if size <= MANY else RELIABILITIES[:1]:
        each = {
            one.task: _certainties(
                dirichlet(annotations, reliability=reliability, task=one.task), one
            )
            for one in questions
        }
        pooled = np.concatenate(list(each.values()))
        if len(each) > 1:
            each[MACRO] = pooled
        curves.append(_summary("", reliability, pooled))
        for task, own in each.items():
            title = "all tasks together" if task == MACRO else task
            shares.append(_summary(title, reliability, own))
    return tuple(curves), tuple(shares)


def _summary(task: str, reliability: float, certainty: Floats) -> _SortedCertainty:
    """How many items there are, how certain on average, and how many are uncertain."""
    items, below = len(certainty), int((certainty < SURE).sum())
    mean, points = float(certainty.mean()), sorted_points(certainty)
    return _SortedCertainty(task, reliability, items, mean, below, below / items, points)


def sorted_points(certainty: Floats) -> list[list[float]]:
    """Certainties from the least to the most, as a line: (share of items, certainty).

    A place along the line is the share of items that are no more certain. Items that are
    equally certain are one even piece; where there are many different certainties the line
    runs through evenly spaced ranks.

    Examples
    --------
    >>> sorted_points(np.array([1.0, 0.5, 1.0, 1.0]))
    [[0.0, 0.5], [0.25, 0.5], [0.25, 1.0], [1.0, 1.0]]
    >>> sorted_points(np.array([]))
    []
    """
    rising = np.sort(np.round(certainty, 6))
    if not len(rising):
        return []
    levels, first = np.unique(rising, return_index=True)
    if len(levels) <= LEVELS:
        ends = np.append(first[1:], len(rising))
        return [
            [round(float(place) / len(rising), 6), float(level)]
            for level, *places in zip(levels, first, ends, strict=True)
            for place in places
        ]
    ranks = np.unique(np.linspace(0, len(rising) - 1, POINTS).round().astype(np.intp))
    shares = ranks / (len(rising) - 1)
    return [[round(float(s), 6), float(c)] for s, c in zip(shares, rising[ranks], strict=True)]


def _names(names: Sequence[str]) -> str:
    """Name a few models, and count the others."""
    return joined(names if len(names) < 4 else [*names[:2], f"{len(names) - 2} others"])


def _cut_words(least: float) -> str:
    """Write a cut-off so that no two of them look alike.

    Examples
    --------
    >>> _cut_words(0.74609), _cut_words(0.998), _cut_words(1.0)
    ('0.75', '0.998', '1')
    """
    return number(least, 2) if least < 0.985 else f"{least:.4g}"
