"""Choices: the same evaluation under several aggregation models, side by side.

The annotations do not say which model of them is right. Here the models are scored against the
truth of each that suits the annotations, once with its usual settings, all on the same
resampled items, so that choices and models are paired. A conclusion (one model above another)
holds when its interval excludes zero, in the same direction, under every choice.

Models of annotators are left out with fewer than six annotators, unless they are asked for:
from so few they do not learn who errs how.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import comb
from typing import Any, Unpack

import numpy as np

from equipoise.inference.ranks import spearman
from equipoise.metrics import DEFAULT, Metric
from equipoise.study import LABELS, Evaluation, evaluate
from equipoise.study.analyses.options import (
    ResamplingKeywords,
    ResamplingOptions,
    checked_options,
)
from equipoise.study.analyses.result import GridResult
from equipoise.study.analyses.words import (
    BRACKETS,
    IN_FILES,
    QUESTION,
    TIES_SHARE,
    as_notices,
    lowest_by,
    score_head,
)
from equipoise.study.arguments import as_annotations, as_metrics, as_predictions
from equipoise.study.study import Study
from equipoise.truth import MODELS, model_title
from equipoise.truth.choosing import model, suitable
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import (
    Floats,
    InputError,
    positions,
    require_drawn,
    require_number,
    short_repr,
    wrong_type,
)
from equipoise.types.findings import Chart, Column, Finding, Line, Lines, columns
from equipoise.types.findings.record import cite
from equipoise.types.notices import Notice, notice
from equipoise.types.numbers import number
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.predictions import Predictions
from equipoise.types.words import capital, joined

TITLE = "Does it depend on how votes are combined?"
USUAL = "mean_vote"
ENOUGH = 6  # annotators from which models of annotators are among the usual choices
DRAWN = 12  # models with a line; all are in the table
BRIEF = {
    "unanimity": "The model does not describe how these annotators agree; its probabilities "
    "rest on annotators who err independently of each other.",
    "decided_otherwise": "The model decides many items of the rarer class otherwise than the "
    "votes do; its errors can look certain.",
}
HOLDS, LEANS, DEPENDS = "holds under all", "same order, not separated", "depends on the choice"
TIED, UNDEFINED = "tied", "undefined"
ONE_PAIR = {
    HOLDS: "holds under all of them",
    LEANS: "keeps its direction under all of them, but is not always separated",
    DEPENDS: "depends on the choice",
    TIED: "is tied under all of them",
    UNDEFINED: "is undefined under some of them",
}
FITTED_ONCE = Notice(
    "fitted_once",
    "Each aggregation model is fitted once, to all items; resampling items does not fit it "
    "again, so intervals leave out how uncertain the fit is.",
)
FEW = (
    "Models of annotators ({models:listed}) are left out: {people:count} annotators are too "
    "few to learn how each of them errs."
)
NOTE = (
    "Every aggregation turns the same votes into another truth, and the models are scored "
    "against each of them. A conclusion that depends on the choice is no property of the "
    "models. The rank correlation (Spearman's) compares the order of the models with that "
    "under {reference}: 1 is the same order, 0 no relation, −1 the reverse."
)
LEGEND = (
    "Best in: share of resampled items in which that model is best, ties shared. " + BRACKETS
)
CHANGE_COLUMNS = (
    Column("choice", "aggregation"),
    *QUESTION,
    Column("spearman", "rank correlation", "number"),
    Column("moved", "models that move", "count"),
    Column("most_moved", "most", "model"),
    Column("by_ranks", "by ranks", "change"),
)
CONCLUSION_COLUMNS = (
    *QUESTION,
    *columns("model", "above", "below"),
    *columns("text", "verdict"),
    *columns("count", "choices_with_this_order", "choices_separated"),
)


class _ChoiceKeywords(ResamplingKeywords, total=False):
    """Keywords of `aggregation_choices`."""

    threshold: float | None
    draws: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices(ResamplingOptions):
    threshold: float | None = None
    draws: int = 1

    def __post_init__(self) -> None:
        ResamplingOptions.__post_init__(self)
        require_drawn("choices, draws", self.draws, least=1)
        if self.threshold is not None:
            require_number("choices, threshold", self.threshold)


@dataclass(frozen=True, eq=False, kw_only=True)
class Choices(GridResult):
    """What `aggregation_choices` returns.

    Attributes
    ----------
    choices
        Name of the aggregation model of each choice.
    values, low, high, ranks, p_best
        Shape (choices, tasks, metrics, labels, models).
    gap_low, gap_high
        Intervals of the paired differences, (choices, tasks, metrics, labels, pairs), pairs in
        the order of `pairs`.
    better
        Direction of each metric.
    reference
        The choice that the others are compared with: the mean vote, which evaluations take,
        or the first where it is not among them.
    """

    choices: tuple[str, ...]
    values: Floats
    low: Floats
    high: Floats
    ranks: Floats
    p_best: Floats
    gap_low: Floats
    gap_high: Floats
    better: tuple[str, ...]

    __repr__ = short_repr

    @property
    def reference(self) -> str:
        """The choice that the others are compared with, in words."""
        return model_title(self.choices[self._reference])

    @property
    def _reference(self) -> int:
        return self.choices.index(USUAL) if USUAL in self.choices else 0

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Positions of every pair of models."""
        return list(combinations(range(len(self.models)), 2))

    def _by_choice(self) -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
        """Every choice in every cell: its place, and what its rows begin with."""
        for c, name in enumerate(self.choices):
            for cell, names in self.cells():
                yield (c, *cell), {"aggregation": name, "choice": model_title(name), **names}

    def rows(self) -> list[dict[str, Any]]:
        """One row per choice, task, metric, labels and model."""
        numbers = {"value": self.values, "low": self.low, "high": self.high}
        numbers |= {"rank": self.ranks, "p_best": self.p_best}
        return [
            names | {"model": model} | {key: float(n[at][m]) for key, n in numbers.items()}
            for at, names in self._by_choice()
            for m, model in enumerate(self.models)
        ]

    def rank_changes(self) -> list[dict[str, Any]]:
        """One row per choice, task, metric and labels: agreement with the reference."""
        found = []
        for cell, names in self._by_choice():
            usual = (self._reference, *cell[1:])
            moved = self.ranks[cell] - self.ranks[usual]
            most = int(np.argmax(np.abs(moved)))
            changes = {
                "reference": self.reference,
                "spearman": float(spearman(self.values[usual], self.values[cell])),
                "moved": int((np.abs(moved) > 0).sum()),
                "most_moved": self.models[most],
                "by_ranks": float(moved[most]),
            }
            found.append(names | changes)
        return found

    def conclusions(self) -> list[dict[str, Any]]:
        """One row per task, metric, labels and pair: does one stand above the other always?"""
        return [names | pair for cell, names in self.cells() for pair in self._pairs(cell)]

    def _pairs(self, cell: tuple[int, ...]) -> Iterator[dict[str, Any]]:
        """What becomes of every pair of models under all choices, in one cell."""
        t, k, label = cell
        sign = 1 if self.better[k] == "higher" else -1
        values = self.values[:, t, k, label]
        for pair, (a, b) in enumerate(self.pairs):
            gap = np.round(sign * (values[:, a] - values[:, b]), 12)
            ends = [e[:, t, k, label, pair] * sign for e in (self.gap_low, self.gap_high)]
            low, high = np.minimum(*ends), np.maximum(*ends)
            below = bool((gap < 0).all())
            first, second = (b, a) if below else (a, b)
            yield {
                "above": self.models[first],
                "below": self.models[second],
                "verdict": _verdict(gap, low, high),
                "choices_with_this_order": int((gap < 0 if below else gap > 0).sum()),
                "choices_separated": int(((high < 0) if below else (low > 0)).sum()),
            }

    def said(self, labels: str = "soft") -> str:
        """Tell how many conclusions survive, in one sentence, for the last task."""
        label, what = LABELS.index(labels), self.what(labels)
        several, ranks = len(self.choices) > 1, self.ranks[:, -1, 0, label]
        number_of = f"{len(self.choices)} choices of" if several else "one"
        start = f"Under {number_of} aggregation"
        if np.isnan(ranks).any():
            return f"{start}, {what} is undefined for some model or choice."
        if len(self.models) == 1:
            values = self.values[:, -1, 0, label, 0]
            ends = f"{number(values.min())} and {number(values.max())}"
            return f"{start}, {what} of {self.models[0]} lies between {ends}."
        first = (ranks == ranks.min(axis=1, keepdims=True)).any(axis=0)
        names = [name for name, here in zip(self.models, first, strict=True) if here]
        pairs = self._pairs((len(self.tasks) - 1, 0, label))
        verdicts = [str(pair["verdict"]) for pair in pairs]
        best = f"the best is {joined(names, 'or')} by {what}"
        return f"{start}, {best}; {_verdicts_sentence(verdicts)}."

    finding = property(said)

    def report(self, labels: str = "soft") -> Finding:
        """The finding for every surface; `labels` stand in front."""
        rows, changes = self.rows(), self.rank_changes()
        head = score_head(self.metrics[0], labels)
        value_columns = (
            Column("choice", "aggregation"),
            *IN_FILES,
            Column("model", "model", "model"),
            Column("value", head, "number", ("low", "high")),
            Column("rank", "rank", "rank", brief=False),
            Column("p_best", "best in", "resample_share"),
        )
        values = f"{self.what(labels)} by aggregation"
        best = lowest_by(self.in_front(rows, labels), "choice", "rank")
        order = f"Order of the models, compared with {self.reference}"
        moved = {"rows": changes, "brief": self.in_front(changes, labels)}
        pairs, found = "Comparisons of two models", self.conclusions()
        tables = (
            self.table("choices", values, value_columns, rows=rows, brief=best, legend=LEGEND),
            self.table("choices_changes", order, CHANGE_COLUMNS, **moved),
            self.table("choices_conclusions", pairs, CONCLUSION_COLUMNS, rows=found),
        )
        sources = {name: MODELS[name].references for name in self.choices}
        titles = [f"{model_title(name)}{cite(*keys)}" for name, keys in sources.items()]
        compared = f", and the orders of the models compared with that under {self.reference}"
        return Finding(
            key="choices",
            title=TITLE,
            sentence=self.said(labels),
            tables=tables,
            charts=self._charts(labels),
            note=NOTE.format(reference=self.reference),
            methods=f"The evaluation was repeated under {len(self.choices)} choices of "
            f"aggregation model ({', '.join(titles)})"
            f"{compared * (len(self.models) > 1)}.",
            references=tuple(key for keys in sources.values() for key in keys),
            notices=self.notices,
        )

    def _charts(self, labels: str) -> tuple[Chart, ...]:
        """Value, less the mean of the models, and rank of each model over the choices."""
        label, what = LABELS.index(labels), self.what(labels)
        values, ranks = self.values[:, -1, 0, label], self.ranks[:, -1, 0, label]
        if len(self.models) < 2:
            return (self._lines("choices-value", what, values),)
        less = f"{what}, minus the mean"
        return (
            self._lines("choices-value", less, values - values.mean(axis=1, keepdims=True)),
            self._lines("choices-rank", "rank, 1 is best", ranks, down=True),
        )

    def _lines(self, name: str, y: str, each: Floats, *, down: bool = False) -> Lines:
        order = np.argsort(self.ranks[0, -1, 0, 1], kind="stable")[:DRAWN]
        ties = f"; {TIES_SHARE}" if down else ""
        return Lines(
            name=name,
            caption=f"{capital(y)}, under every aggregation{ties}",
            x="",
            y=y,
            lines=[
                Line(self.models[m], list(enumerate(each[:, m].tolist())), self.models[m])
                for m in order
            ],
            ticks=[(float(c), model_title(name)) for c, name in enumerate(self.choices)],
            downward=down,
        )


def aggregation_choices(
    predictions: Predictions | Iterable[Predictions],
    annotations: Annotations,
    *,
    models: Sequence[str] | None = None,
    metrics: Sequence[str | Metric] = DEFAULT,
    **how: Unpack[_ChoiceKeywords],
) -> Choices:
    """Evaluate under several aggregation models, side by side.

    Parameters
    ----------
    models
        Names of aggregation models; by default all that can take these annotations, models of
        annotators only with at least six of them.
    **how
        ``replicates``, ``seed``, ``settings`` and ``progress`` as in `ResamplingOptions`;
        ``threshold`` for ratings, ``draws`` for metrics that meet draws.
    """
    told = checked_options(_Choices, how)
    given, annotations = as_predictions(predictions), as_annotations(annotations)
    scored = as_metrics(metrics)
    asked, few = _chosen(annotations, models)
    done, fits = [], []
    for step, name in enumerate(asked, 1):
        truth, fitted = _aggregated(annotations, name, told)
        fits += fitted
        plan = told.plan(truth, "items")
        if annotations.group is not None:
            rows = positions(plan.items, annotations.items, where="plan, items")
            plan = replace(plan, group=annotations.group[rows])
        done.append(
            evaluate(given, truth, metrics=scored, resampling=plan, settings=told.settings)
        )
        told.tell(step, len(asked))
    own = _evaluation_notices(asked, done)
    return _collected(
        asked, done, as_notices(annotations.notices, few, [FITTED_ONCE], fits, own)
    )


def analyse(study: Study) -> Finding:
    """The evaluation of a study under every aggregation model that suits it."""
    return aggregation_choices(
        study.predictions, study.annotations, metrics=study.metrics, **study.resampled
    ).report(study.settings.labels)


def _collected(
    asked: list[str], done: list[Evaluation], notices: tuple[Notice, ...]
) -> Choices:
    """Put the tables and the differences of all evaluations side by side."""
    first = done[0]
    tables = [one.table() for one in done]
    shape = (len(done), *first.values.shape)
    fields = {"low": "low", "high": "high", "rank": "ranks", "p_best": "p_best"}
    columns = {
        field: np.array([[getattr(row, name) for row in rows] for rows in tables]).reshape(
            shape
        )
        for name, field in fields.items()
    }
    names = tuple(metric.name for metric in first.metrics)
    ends = []  # of the paired differences, as `Evaluation.differences` has
    for one, task, metric, labels in product(done, first.tasks, names, LABELS):
        each = [one.estimate(m, metric, labels=labels, task=task) for m in one.models]
        ends.append([(a - b).interval(one.level) for a, b in combinations(each, 2)])
    gaps = np.array(ends).reshape(*shape[:-1], comb(len(first.models), 2), 2)
    return Choices(
        choices=tuple(asked),
        tasks=first.tasks,
        models=first.models,
        metrics=names,
        values=np.stack([one.values for one in done]),
        **columns,
        gap_low=gaps[..., 0],
        gap_high=gaps[..., 1],
        better=tuple(one.better for one in first.metrics),
        notices=notices,
    )


def _evaluation_notices(asked: list[str], done: list[Evaluation]) -> list[Notice]:
    """What evaluations say; of what only some choices say, under which."""
    under: dict[str, list[str]] = {}
    notices = {}
    for name, evaluation in zip(asked, done, strict=True):
        for note in as_notices(evaluation.notices):
            notices[str(note)] = note
            under.setdefault(str(note), []).append(model_title(name))
    return [
        note if len(under[text]) == len(done) else note.of(*under[text])
        for text, note in notices.items()
    ]


def _chosen(
    annotations: Annotations, models: Sequence[str] | None
) -> tuple[list[str], list[Notice]]:
    """The models asked for, or all that suit; and which were left out with few annotators."""
    if models is None:
        every, people = suitable(annotations), len(annotations.annotators or ())
        few = [name for name in every if MODELS[name].annotators and people < ENOUGH]
        notices = []
        if few:
            names = tuple(map(model_title, few))
            notices.append(notice("few_to_model", FEW, people=people, models=names))
        return [name for name in every if name not in few], notices
    if (
        isinstance(models, str)
        or not isinstance(models, Sequence)
        or not all(isinstance(one, str) for one in models)
    ):
        raise wrong_type(
            "aggregation models", models, "a list of names", "try ['mean_vote', 'dirichlet']"
        )
    if not models:
        raise InputError("aggregation models", "none", "at least one", "leave models out")
    return list(dict.fromkeys(models)), []


def _aggregated(
    annotations: Annotations, name: str, told: _Choices
) -> tuple[tuple[Plausibilities, ...], list[Notice]]:
    """The truth of every task under one choice, with draws where the model has them.

    What the fits have to say comes apart from them, of the model and the task it is about.
    """
    fit = model(name, annotations, threshold=told.threshold, seed=told.seed)
    title = model_title(name)
    truths, notices, known = [], [], {str(note) for note in annotations.notices}
    for task in annotations.tasks:
        truth = fit(annotations, task=task)
        own = [note for note in truth.notices if str(note) not in known]
        about = f"{title} of {task}" if task else title
        for note in as_notices(own):  # numbers left out: one sentence for all fits
            brief = note.code in BRIEF
            notices.append((Notice(note.code, BRIEF[note.code]) if brief else note).of(about))
        truth = replace(truth, notices=())
        drawn = told.draws > 1 and truth.law is not None
        truths.append(truth.drawn(told.draws, seed=told.seed) if drawn else truth)
    return tuple(truths), notices


def _verdict(gap: Floats, low: Floats, high: Floats) -> str:
    """What becomes of a comparison under all choices: its differences, with their intervals.

    Examples
    --------
    >>> _verdict(np.array([0.1, 0.2]), np.array([0.05, -0.1]), np.array([0.2, 0.3]))
    'same order, not separated'
    """
    if np.isnan(gap).any():
        return UNDEFINED
    if not gap.any():
        return TIED
    if not ((gap > 0).all() or (gap < 0).all()):
        return DEPENDS
    return HOLDS if (low > 0).all() or (high < 0).all() else LEANS


def _verdicts_sentence(verdicts: Sequence[str]) -> str:
    """How many comparisons of two models hold, and how many turn on the choice.

    Examples
    --------
    >>> _verdicts_sentence([HOLDS, HOLDS, DEPENDS])
    'of 3 comparisons of two models 2 hold under all of them and 1 depends on the choice'
    >>> _verdicts_sentence([HOLDS, LEANS, LEANS, UNDEFINED])
    'of 4 comparisons of two models 1 holds under all of them, 2 keep their order ...'
    >>> _verdicts_sentence([TIED])
    'the comparison of the two models is tied under all of them'
    """
    if len(verdicts) == 1:
        return f"the comparison of the two models {ONE_PAIR[verdicts[0]]}"
    words = {
        HOLDS: ("holds under all of them", "hold under all of them"),
        LEANS: (
            "keeps its order but is not separated under all",
            "keep their order but are not separated under all",
        ),
        TIED: ("is tied", "are tied"),
        DEPENDS: ("depends on the choice", "depend on the choice"),
        UNDEFINED: ("is undefined", "are undefined"),
    }
    told = [
        f"{size} {several if size > 1 else one}"
        for verdict, (one, several) in words.items()
        if (size := verdicts.count(verdict))
    ]
    return f"of {len(verdicts)} comparisons of two models {joined(told)}"
