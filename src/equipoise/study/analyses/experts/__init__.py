"""Experts as competitors: do the models do better than one of the people who set the truth?

Every expert in turn is compared with the models on the items that the expert read, against the
mean vote of the other experts. A model has a score and an expert a yes or no, so that AUROC
would reward the finer scale: the model's threshold is set to give *exactly the expert's
specificity*, and the gain is how much more sensitive it is there. With several classes the
truth is the left-out expert, and the gain is how much better the model agrees with it than the
other experts do: by accuracy, or by quadratic weighted kappa for grades (`experts.compared`).

The mean over experts has an interval for items and experts like these (`equipoise.inference`),
and so has the difference of two models, on the same items and experts. A model is said to beat
a typical expert, or to fall behind one, only where its interval leaves out 0.

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

import numpy as np
from numpy.typing import ArrayLike

from equipoise.inference import Population
from equipoise.study import MACRO
from equipoise.study.alignment import align
from equipoise.study.analyses.experts.compared import (
    Answers,
    answers_of,
    averages,
    compare_task,
    uncertainty,
)
from equipoise.study.analyses.options import AnalysisOptions
from equipoise.study.analyses.result import StudyResult, ends_of
from equipoise.study.analyses.scoring import Given
from equipoise.study.analyses.study import Study
from equipoise.study.analyses.words import as_notices
from equipoise.study.arguments import as_annotations, as_predictions
from equipoise.study.truth import task_truths
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Floats, InputError, Ints, short_repr
from equipoise.types.findings import Cell, Column, Dot, Dots, Finding, Heat, Table, rows_of
from equipoise.types.notices import Notice
from equipoise.types.numbers import UNDEFINED, change, count, estimate
from equipoise.types.words import joined

__all__ = ["Experts", "analyse", "experts"]

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
class Experts(StudyResult):
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

    __repr__ = short_repr

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
        name, known = self.models[best], int((~np.isnan(self.gap[:, best])).sum())
        over = f"on average over {count(known, 'expert')}"
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
        return SENSITIVITY if self.yes_no else super().score.removeprefix("soft ")

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per expert, then one per model."""
        return [*self._expert_rows(), *self._model_rows()]

    def _expert_rows(self) -> list[dict[str, Cell]]:
        columns: dict[str, ArrayLike] = {"kind": "expert", "items": self.items}
        columns |= {"value": self.values, "specificity": self.specificity}
        return rows_of(self.named, {"who": self.experts}, columns)

    def _model_rows(self) -> list[dict[str, Cell]]:
        columns: dict[str, ArrayLike | None] = {
            "kind": "model",
            "value": _known_mean(self.model_values),
            **self.with_ends("mean_gap", "gap"),
            **self.with_ends("behind"),
        }
        return rows_of(self.named, {"who": self.models}, columns)

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
        own = [Column("value", self.score if self.yes_no else "others' agreement", "number")]
        if self.yes_no:
            own.append(Column("specificity", "specificity", "number"))
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
                columns=(Column("who", "expert"), Column("items", "items", "count"), *own),
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
                    self.named,
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
            texts=[[change(one, 2) for one in line] for line in values.tolist()],
        )
        return dots, heat


def experts(
    predictions: Given,
    annotations: Annotations,
    *,
    task: str | None = None,
    level: float = 0.95,
    on_missing: str = "error",
) -> Experts:
    """Compare every expert with the models against the other experts.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators with ids.
    task
        Which question; None is the only one, or the average over all.
    level
        Level of the intervals.
    on_missing
        As in `equipoise.study.Settings`.
    """
    AnalysisOptions(task=task, level=level, on_missing=on_missing)  # checks them
    given, annotations = as_predictions(predictions), as_annotations(annotations)
    _refuse(annotations)
    if task is not None:
        annotations.in_task(task)
        given = [one for one in given if one.task == task]
    asked = [one for one in task_truths(annotations) if task in (None, one.task)]
    aligned, notices = align(given, asked, on_missing=on_missing)
    laid = [answers_of(one) for one in aligned]
    people, more = _compared(laid, len(annotations.annotators or ()))
    compared = [compare_task(*one, people) for one in zip(aligned, laid, strict=True)]
    several = len(aligned[0].question.classes) > 1
    by_class = "quadratic_weighted_kappa" if aligned[0].question.ordered else "accuracy"
    models = tuple(aligned[0].scores)
    means = averages(compared, len(models))
    gain = _known_mean(means["gap"])
    spread = uncertainty(compared, laid, annotations, gain)
    best = int(np.nanargmax(gain)) if not np.isnan(gain).all() else 0
    behind, every = gain[best] - gain, range(len(models))
    most = 2.0 if several and aligned[0].question.ordered else 1.0  # kappa goes down to -1
    within = (level, (-most, most))
    ends = [spread.of(m).interval(float(gain[m]), *within) for m in every]
    apart = [spread.between(best, m).interval(float(behind[m]), *within) for m in every]
    names = annotations.annotators or ()
    whom = spread.population
    if not whom.annotators:
        more.append(Notice("few_experts", FEW, (), {"effective": whom.effective}))
    return Experts(
        task=MACRO if len(aligned) > 1 else aligned[0].question.task,
        metric=by_class if several else SENSITIVITY,
        labels="soft",
        models=models,
        level=level,
        experts=tuple(names[who] for who in people),
        **means,
        sensitivity=np.full(len(people), np.nan) if several else means["values"],
        **ends_of("mean_gap", gain, np.array(ends).T),
        **ends_of("behind", behind, np.array(apart).T),
        population=whom,
        notices=as_notices(annotations.notices, notices, more),
    )


def analyse(study: Study) -> Finding:
    """Models among the experts of a study."""
    asked = study.options
    given = study.predictions, study.annotations
    return experts(*given, level=asked.level, on_missing=asked.on_missing).report()


def _compared(laid: Sequence[Answers], annotators: int) -> tuple[Ints, list[Notice]]:
    """The experts with most votes, and what the user should know."""
    load = np.sum([np.bincount(one.annotator, minlength=annotators) for one in laid], axis=0)
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
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), total / np.maximum(known.sum(axis=0), 1), np.nan)


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
