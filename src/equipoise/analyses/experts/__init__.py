r"""Experts as competitors: where the models stand among the people who set the truth.

Three questions, each with the metric of the evaluation and intervals that resample items:

- *The human range.* Every expert is scored against the mean vote of the others on the items
  that expert rated; every model on the same items against the same labels.
- *Better than a colleague?* For two experts e and f on the items both rated,

  .. math:: P = P_{e \ne f}\big(M(\text{model}, e) > M(f, e)\big)

  is the probability that the model agrees with a random expert better than another expert does;
  ties count half. Its interval allows for the few experts: see `experts.equivalents`.
- *Worth how many experts?* The k for which the mean vote of k random others agrees with a
  held-out expert as well as the model does, interpolated between whole numbers; 0 stands for
  fewer than one, infinity for more than there are. Numbers of experts who do no better than
  fewer do, such as two who can only tie, are passed over: see `experts.equivalents`.
  One held-out expert is another truth than the mean of several, so that the value of a model
  against it is not the one among the human range; it is given beside it.
  Up to nine experts all groups of k are taken, so that nothing depends on the seed but the
  intervals; of larger panels different groups are drawn: see `experts.held_out`.

An expert's vote counts as a certain prediction. Metrics of order reward the finer scale of a
model's scores, and scores of probabilities that a model can hedge; metrics of decisions, such
as accuracy, compare like with like, and the finding says when the metric does not. With several
classes only metrics of whole distributions make sense of single votes.

Examples
--------
>>> from equipoise.demo import reading_study
>>> readings, scores = reading_study()
>>> among = experts(scores[0], readings, metric="accuracy", replicates=20)
>>> among.experts[int(np.argmax(among.values))]
'Dr Abel'
"""

from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from equipoise.analyses.experts.equivalents import (
    GroupComparison,
    Standing,
    Three,
    compare_with_groups,
    passed_over,
)
from equipoise.analyses.experts.held_out import (
    DRAWN,
    against_others,
    drawn_sizes,
    expert_votes,
    known_mean,
    merge_task,
)
from equipoise.analyses.options import AnalysisKeywords, as_options
from equipoise.analyses.result import ends_of
from equipoise.analyses.scoring import Given, StudyScorer, study
from equipoise.analyses.study import Study
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.evaluation.arguments import as_annotations
from equipoise.findings import (
    Band,
    Cell,
    Column,
    Dot,
    Dots,
    Finding,
    Line,
    Lines,
    Row,
    Table,
    rows_of,
)
from equipoise.notices import Notice
from equipoise.numbers import UNDEFINED, change, count, estimate
from equipoise.ranks import higher_is_better
from equipoise.wording import capital, joined

__all__ = ["Experts", "analyse", "experts"]

KEY, TITLE = "experts", "Models among the experts"
MOST = 100  # experts scored against the others
MOST_PAIRED = 16  # experts compared pair by pair
SHOWN = 24  # experts in the chart, the first and last of them
TICKS = 8  # numbers of experts written under the curve
NOTE = (
    "Every expert is scored against the mean vote of the other experts, as if the expert were "
    "a model; models are scored on the same items against the same labels. Lines of experts "
    "are intervals over items; those of models are intervals of the paired difference to the "
    "average expert. "
    "What one held-out expert said is another truth than the mean of several: a model's value "
    "against it, the line beside the curve, is not its value among the experts. "
    "A model is worth k experts when it agrees with a held-out expert as well as the mean vote "
    "of k others does, over {groups}; its interval resamples items and keeps these experts. "
    "The curve may fall: by accuracy two experts decide no better than one, as they can only "
    "tie where they differ. Numbers of experts who do no better than fewer do are passed over, "
    "and the worth is read between the others. (?) marks a worth above one expert that is not "
    "shown to be more than one, because the difference to the average expert may be zero, the "
    "model beats a colleague in fewer than half of the pairs, or the interval of its worth "
    "begins at one or fewer. "
    "That a model agrees better than a colleague is counted over pairs of experts; its "
    "interval allows for the items and for how few experts there are, so that it is wide even "
    "where all pairs agree."
)
METHODS = (
    "Each expert was scored against the labels of the others, and the models on the same items "
    "against the same labels. A model is worth as many experts as it takes for their mean vote "
    "to agree with another expert as well as the model does, over {groups} of experts."
)
WILSON = (
    "The share of pairs of experts in which a model agrees better than the colleague has "
    "Wilson's interval for no more comparisons than there are experts [@wilson1927]."
)
BY_PAIR = "compared pair by pair and in groups."
TOO_MANY = (
    "There are too many groups of {sizes} experts to take all: about {drawn:count} of each "
    "size were drawn, and the intervals allow for it."
)
WITH_MOST = "Of {people:count} annotators the {most:count} with most votes are"
EVERY_GROUP = "all groups of k"
SOME_GROUPS = "groups of k drawn at random, which the intervals allow for"
LEGEND = (
    "Minus expert: the model's value minus an expert's, on average{sign}. Against one expert: "
    "with the labels of a held-out expert instead of the mean of several. Beats a colleague: "
    "probability to agree with an expert better than another expert does. Worth: how many "
    "experts have together the model's value against one expert, and its interval; (?): not "
    "shown to be more than one expert. Brackets: interval when items are resampled."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Experts(GroupComparison):
    """Models among experts; also the fields of `GroupComparison`.

    Attributes
    ----------
    experts, items
        Who, and on how many items (summed over tasks), shape (experts,).
    values, low, high
        Each expert against the others, shape (experts,).
    model_values
        Each model on the same items against the same labels, shape (experts, models).
    gap, gap_low, gap_high
        Model minus expert, paired, shape (experts, models).
    mean_gap, mean_gap_low, mean_gap_high
        The same on average over experts, shape (models,).
    every_group
        Whether all groups of experts were taken, so that no number depends on a draw of them.
    caveat
        Why the metric favours models over experts, as a sentence; empty where it does not.
    """

    experts: tuple[str, ...]
    items: Ints
    values: Floats
    low: Floats
    high: Floats
    model_values: Floats
    gap: Floats
    gap_low: Floats
    gap_high: Floats
    mean_gap: Floats
    mean_gap_low: Floats
    mean_gap_high: Floats
    every_group: bool
    caveat: str = ""

    @property
    def equivalent_experts(self) -> Floats:
        """How many experts each model is worth, (models,)."""
        return self.worth

    def worth_words(self, model: int) -> str:
        """A model's worth in experts, in words."""
        return self._standing(model).worth_words()

    def worth_range(self, model: int) -> str:
        """The interval of a model's worth, in words."""
        return self._standing(model).worth_range()

    def superior_words(self, model: int) -> str:
        """In how many pairs of experts a model beats the colleague, in words."""
        return self._standing(model).superior_words(int(self.pairs[model]))

    def _standing(self, m: int) -> Standing:
        def of(name: str) -> Three:
            value, low, high = (float(one) for one in self.with_ends(name, at=m).values())
            return value, low, high

        gap, most = of("mean_gap"), int(self.sizes[-1])
        gap = gap if self.better == "higher" else (-gap[0], -gap[2], -gap[1])
        scores, crowd = self.held_out[:, m], self.crowd
        return Standing(gap, of("superior"), of("worth"), most, scores, crowd)

    @property
    def finding(self) -> str:
        """What came out for the model that agrees best, as a sentence or two."""
        if np.isnan(self.mean_gap).all():
            return f"{capital(self.score)} of models and experts is undefined."
        m = int(np.nanargmax(self.sign * self.mean_gap))
        known = self.gap[:, m][~np.isnan(self.gap[:, m])]
        above = int((self.sign * known > 0).sum())
        ends = float(self.mean_gap_low[m]), float(self.mean_gap_high[m])
        gap = estimate(float(self.mean_gap[m]), *ends, change)
        unknown = f", interval {UNDEFINED}" if np.isnan(ends).any() else ""
        return (
            f"By {self.score} {self.models[m]} agrees with the other experts better than "
            f"{above} of {len(known)} experts do (against the average expert {gap}{unknown}), "
            f"and with an expert better than a colleague does {self.superior_words(m)}. "
            f"{self._standing(m).said()} {self.caveat}"
        ).rstrip()

    def rows(self) -> list[dict[str, Cell]]:
        """One plain dict per expert, then one per model."""
        return [*self._expert_rows(), *self._model_rows()]

    def _expert_rows(self) -> list[dict[str, Cell]]:
        values = {"value": self.values, "low": self.low, "high": self.high}
        columns: dict[str, ArrayLike] = {"kind": "expert", "items": self.items, **values}
        return rows_of(self.named, {"who": self.experts}, columns)

    def _model_rows(self) -> list[dict[str, Cell]]:
        standings = [self._standing(m) for m in range(len(self.models))]
        columns: dict[str, ArrayLike | None] = {
            "kind": "model",
            "value": known_mean(self.model_values),
            **self.with_ends("held_out", at=0),
            **self.with_ends("mean_gap", "gap"),
            "pairs": self.pairs,
            **self.with_ends("superior"),
            **self.with_ends("worth"),
            "worth_words": [one.worth_words() for one in standings],
            "worth_range": [one.worth_range() for one in standings],
            "worth_doubts": ["; ".join(one.doubts()) for one in standings],
        }
        return rows_of(self.named, {"who": self.models}, columns)

    def report(self) -> Finding:
        """The finding for every surface."""
        superior = not np.isnan(self.superior).all()
        groups = "all groups" if self.every_group else "random groups"
        methods = METHODS.format(groups=groups)
        return Finding(
            key=KEY,
            title=TITLE,
            sentence=self.finding,
            tables=self._tables(),
            charts=(self._dots(), *self._crowd_charts()),
            note=NOTE.format(groups=EVERY_GROUP if self.every_group else SOME_GROUPS),
            methods=f"{methods} {WILSON}" if superior else methods,
            references=("wilson1927",) if superior else (),
            notices=self.notices,
        )

    def _tables(self) -> tuple[Table, ...]:
        rows, by_value = self._model_rows(), Column("value", self.head, "number")
        order = self.best_first(known_mean(self.model_values))
        won, held = ("superior_low", "superior_high"), ("held_out_low", "held_out_high")
        columns = (
            Column("who", "model", "model"),
            by_value,
            Column("gap", "minus expert", "change", ("gap_low", "gap_high")),
            Column("held_out", "against one expert", "number", held),
            Column("superior", "beats a colleague in pairs", "percent", won),
            Column("pairs", "pairs", "count", brief=False),
        )
        worth = (
            Column("worth_words", "worth"),
            Column("worth_range", "interval of the worth"),
            Column("worth_doubts", "what speaks against more than one"),
        )
        lower = " (below 0: model better)" if self.better == "lower" else ""
        return (
            Table(
                name="models_next_to_experts",
                caption="Models next to experts",
                columns=(*columns, Column("worth_read", "worth")),
                rows=[{**rows[m], "worth_read": _worth_read(rows[m])} for m in order],
                legend=LEGEND.format(sign=lower),
                file=False,
            ),
            Table(
                name="experts",
                caption="Experts against the other experts",
                columns=(
                    Column("who", "expert"),
                    Column("items", "items", "count"),
                    replace(by_value, ends=("low", "high")),
                ),
                rows=self._expert_rows(),
                brief=(),
            ),
            Table(
                name="models_among_experts",
                caption="Models among the experts",
                columns=(*columns, *worth),
                rows=rows,
                brief=(),
            ),
        )

    def _dots(self) -> Dots:
        """Models, then experts, the best first."""
        means, rows = known_mean(self.model_values), []
        for m in self.best_first(means):
            ends = (self.mean_gap_low, self.mean_gap_high)
            low, high = (float(means[m] + end[m] - self.mean_gap[m]) for end in ends)
            standing, name = self._standing(m), self.models[m]
            worth = standing.worth_words().removeprefix("the mean of ")
            remark = f"{worth}{' (?)' if standing.doubts() else ''}"
            rows.append(Dot(name, float(means[m]), low, high, model=name, remark=remark))
        order, half = self.best_first(self.values), SHOWN // 2
        for e in [*order[:half], *order[max(half, len(order) - half) :]]:
            value, low, high = (float(x[e]) for x in (self.values, self.low, self.high))
            rows.append(Dot(self.experts[e], value, low, high, remark="expert"))
        known, people = self.values[np.isfinite(self.values)], count(len(order), "expert")
        few = f" ({SHOWN} of {people})" if len(order) > SHOWN else ""
        return Dots(
            name="experts",
            caption=f"Agreement with the other experts by {self.score}: models, with what they "
            f"are worth, then experts{few}; shaded: from the lowest to the highest expert",
            alternative=f"{count(len(self.models), 'model')} next to {people}.",
            axis=self.score,
            rows=rows,
            band=(float(known.min()), float(known.max())) if len(known) else None,
        )

    def _crowd_charts(self) -> tuple[Lines, ...]:
        """How well the mean vote of k experts, and models, agree with another expert."""
        sizes = self.sizes.astype(float).tolist()
        columns = [sizes, *self.with_ends("crowd").values()]
        known = [one for one in zip(*columns, strict=True) if np.isfinite(one[1])]
        if len(known) < 2:
            return ()
        points = [(x, float(y)) for x, y, _, _ in known]
        band = Band([(x, float(low), float(high)) for x, _, low, high in known])
        rising = points[:1]
        for x, y in points[1:]:
            if self.sign * (y - rising[-1][1]) > 0:
                rising.append((x, y))
        lines = [Line("mean of k experts", rising, band=band)]
        if len(rising) < len(points):
            lines.append(Line("every k", points, dashed=True))
        best = self.best_first(known_mean(self.model_values))
        for m in best:
            level = list(zip(sizes, self.held_out[:, m].tolist(), strict=True))
            lines.append(Line(self.models[m], level, model=self.models[m], dots=False))
        worth = float(self.worth[best[0]])
        inside = self.sizes[0] <= worth <= self.sizes[-1]
        step = max(1, len(self.sizes) // TICKS)
        chart = Lines(
            name="experts-crowd",
            caption=f"Agreement with one held-out expert by {self.score}: "
            "the mean vote of k others, and the models, each worth the k at which its line "
            "meets the curve" + ("; upright line: worth of the best model" if inside else ""),
            alternative=f"Agreement of the mean vote of 1 to {self.sizes[-1]} experts, and of "
            f"{count(len(self.models), 'model')}, with another expert.",
            x="number of experts, k",
            y="agreement with one held-out expert",
            lines=lines,
            ticks=[(float(size), f"{size}") for size in self.sizes[::step]],
            marks=[(worth, "worth")] if inside else (),
        )
        return (chart,)


def _worth_read(row: Row) -> str:
    """The worth with its interval, and a mark where it is not shown to be more than one."""
    words, ends = row["worth_words"], row["worth_range"]
    interval = "" if words == ends else f" ({ends})"
    return f"{words}{interval}{' (?)' if row['worth_doubts'] else ''}"


@np.errstate(invalid="ignore")  # of two infinite values: undefined
def experts(
    predictions: Given, annotations: Annotations, **how: Unpack[AnalysisKeywords]
) -> Experts:
    """Score experts as if they were models, and models next to them.

    Parameters
    ----------
    predictions, annotations
        What models and annotators say; at least three annotators with ids.
    **how
        See `equipoise.analyses.options.AnalysisOptions`; replicates resample items.
    """
    _refuse(as_annotations(annotations))
    scorer = study(predictions, annotations, as_options(how))
    _refuse_metric(scorer)
    people, paired, notices = _compared(scorer, annotations)
    names = annotations.annotators or ()
    votes = [expert_votes(task, people, len(names), scorer) for task in scorer.subjects]
    items, scores = against_others(votes, scorer)
    own, models = scores[:, 0], scores[:, 1:]
    gap = models - own[:, None]
    mean = known_mean(gap)
    low, high = scorer.ends(own[:, 0], own[:, 1:])
    groups = compare_with_groups(
        [merge_task(task, paired, len(names), scorer) for task in scorer.subjects], scorer
    )
    passed = passed_over(groups.sizes, higher_is_better(groups.crowd, scorer.metric.better))
    apart = scorer.ends(gap[..., 0], gap[..., 1:], difference=True)
    mean_apart = scorer.ends(mean[:, 0], mean[:, 1:], difference=True)
    found = vars(groups) | {"notices": (*scorer.notices, *notices, *_passing(passed))}
    return Experts(
        **found,
        experts=tuple(names[p] for p in people),
        items=items,
        values=own[:, 0],
        low=low,
        high=high,
        model_values=models[..., 0],
        **ends_of("gap", gap[..., 0], apart),
        **ends_of("mean_gap", mean[:, 0], mean_apart),
        every_group=not drawn_sizes(len(paired)),
        caveat=_caveat(scorer),
    )


def analyse(study: Study) -> Finding:
    """Models among the experts of a study."""
    return experts(study.predictions, study.annotations, **study.single).report()


def _compared(scorer: StudyScorer, annotations: Annotations) -> tuple[Ints, Ints, list[Notice]]:
    """The experts with votes, those compared in pairs, and what the user should know."""
    load = scorer.votes_given(len(annotations.annotators or ()))
    active = np.flatnonzero(load)
    if len(active) < 3:
        raise InputError(
            "experts",
            f"{count(len(active), 'annotator')} with votes",
            "at least three",
            "compare annotators by their agreement instead",
        )
    order = active[np.argsort(-load[active], kind="stable")]
    people, paired = np.sort(order[:MOST]), np.sort(order[:MOST_PAIRED])
    notices = [
        Notice(
            f"experts_{code}", f"{WITH_MOST} {text}", (), {"people": len(active), "most": most}
        )
        for code, text, most in (("most", "scored.", MOST), ("paired", BY_PAIR, MOST_PAIRED))
        if len(active) > most
    ]
    few = joined([str(size) for size in drawn_sizes(len(paired))], "or")
    if few:
        notices.append(Notice("experts_drawn", TOO_MANY, (), {"sizes": few, "drawn": DRAWN}))
    return people, paired, notices


def _passing(sizes: list[int]) -> list[Notice]:
    """Which numbers of experts are passed over where the worth is read from the curve."""
    if not sizes:
        return []
    some = joined([*(str(size) for size in sizes[:-1]), count(sizes[-1], "expert")], "or")
    text = (
        "The mean vote of {sizes} agrees with another expert less well than that of fewer "
        "experts does, as where two can only tie: such a number is passed over where a model's "
        "worth is read from the curve."
    )
    return [Notice("experts_passed_over", text, (), {"sizes": some})]


def _caveat(scorer: StudyScorer) -> str:
    """Why the metric favours models over experts, if it does."""
    metric = scorer.metric
    if metric.labels == "classes":
        fine = any(
            len(np.unique(scores)) > 2
            for task in scorer.subjects
            for scores in task.aligned.scores.values()
        )
        why = "experts answer yes or no and models on a finer scale, which it rewards"
    else:
        fine = not metric.family.startswith("decision")
        why = "the experts' votes count as certain and models can hedge, which it rewards"
    if not fine:
        return ""
    return f"But {metric.title} flatters the models: {why}. Accuracy compares like with like."


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


def _refuse_metric(scorer: StudyScorer) -> None:
    """Raise unless the metric makes sense of single votes."""
    several = len(scorer.subjects[0].question.classes) > 1
    if several and scorer.metric.labels != "distribution":
        raise InputError(
            f"experts, metric {scorer.metric.name}",
            "single votes for one of several classes",
            "a metric of class distributions",
            "choose accuracy, or ask about one class",
        )
