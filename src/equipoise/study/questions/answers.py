"""Answers: does the verdict depend on this annotator, these items, that truth?

A sensitivity analysis is a `Question`: a function that yields labelled `Variant`s of a contest
(other votes, items, truth or competitors), and words. Everything else is the same for all of
them. Competitors of every variant are scored as `equipoise.evaluate` scores them; each variant
has its best group, by the same simultaneous inference as the evaluation, and

* the *verdict* against that of the study: the same best group, a larger one (less is known), a
  smaller one, or another one;
* the *change* of every competitor, paired with the study: the same items and annotators stand
  behind both values (`equipoise.study.variants`);
* the *gap change*: how far a competitor moves against the best of the study. Values may rise
  together, on easy items for example; only gaps say whether the comparison depends on the
  variant. Their p-values are adjusted for all of them (Holm).

Verdicts are by the first metric and compared for one population: where a variant cannot speak
for other annotators, the study is judged again for other items and these votes. Averages over
tasks are compared only where the same tasks have values. Other metrics, and the other kind of
labels, have values alone.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference import TwoWay
from equipoise.inference.ranks import TIE, average_ranks, spearman
from equipoise.study.blocks import LABELS
from equipoise.study.result import MACRO
from equipoise.study.truth import no_votes
from equipoise.study.variants import (
    Contest,
    Contributions,
    Scored,
    affordable,
    contrasts,
    label_kappa,
)
from equipoise.types import (
    EXACT,
    Cell,
    Chart,
    Claim,
    ClaimFamily,
    Column,
    Dot,
    Dots,
    Estimand,
    Finding,
    Floats,
    InputError,
    Names,
    Notice,
    Notices,
    Progress,
    Table,
    capital,
    change,
    columns,
    count,
    estimate,
    immutable,
    joined,
    largest_by,
    notice,
    spanned,
)

SAME, LARGER, SMALLER, OTHER, UNKNOWN = (
    "same best group",
    "larger best group",
    "smaller best group",
    "another best group",
    "undefined",
)
CLAUSES = {
    SAME: "as in the study",
    LARGER: "with others beside (less is known)",
    SMALLER: "with fewer beside",
    OTHER: "not so",
}
HOLDS, LEANS, DEPENDS = "holds in all", "same order, not separated in all", "depends on it"
TIED = "tied in all"
PAIR_CLAUSES = {
    HOLDS: "{} in all variants",
    LEANS: "{} order without being separated in all",
    DEPENDS: "{} on it",
}
NOT_SCORED = "Nobody is scored {where}: {why}."
WITHIN = "Only the first {most:count} variants are scored, to keep the time in bounds."
DRAWN = 20  # variants in a chart; all are in the table
NAMED = 3  # variants, or competitors, in a sentence
NOTE = (
    "Verdict: who may be the best, by the same simultaneous comparison of all competitors as "
    "in the evaluation. A larger best group alone means that less is known, not that somebody "
    "else is better. Change: against {reference}, paired: the same items{people} stand behind "
    "both values. Change of the gap: how far a competitor moves against the best of the study; "
    "where all move together it is 0, and only where it is not does the comparison depend on "
    "the variant. Its p-values are adjusted for all that were looked at (Holm)."
)
NO_SLOPES = (
    " {metric} has no derivative by votes: changes speak for other items and these votes."
)
LEGEND = (
    "Change: of the competitor that moves most. Gap change: how far the lead over (or lag "
    "behind) {best} changes; positive is better. Spearman: rank correlation with the order in "
    "the study. Brackets: {level:g}% intervals."
)


KAPPA_LEGEND = (
    "Kappa of labels: Cohen's kappa of the majority's labels with those of the study (1: the "
    "same, 0: no better than guessing). "
)


@immutable(eq=False)
class Variant:
    """A contest in which one thing is different.

    Attributes
    ----------
    label
        What is different, as it stands in tables: ``Dr Abel``, ``5 votes``, ``sex = f``.
    contest
        The variant itself.
    against
        What it is compared with; None is the whole study.
    facts
        More columns of its rows, such as how many votes were left out.
    """

    label: str
    contest: Contest
    against: Contest | None = None
    facts: Mapping[str, Cell] = field(default_factory=dict)


@immutable(kw_only=True)
class Question:
    """A sensitivity analysis.

    Attributes
    ----------
    key, about
        Of its finding, and what the verdict may depend on, which ends the heading "Does the
        verdict depend on ...?".
    variants
        Makes the variants of a contest; raises `InputError` where there are none.
    head
        What labels are, as the head of their column: ``without``, ``votes at least``.
    over, at
        The variants in a sentence, as a plural: ``annotators left out``, and one of them:
        ``without {}``.
    reference
        What variants are compared with, in words.
    annotators
        Whether changes speak for other annotators too. Not where variants are certain people.
    of_votes
        Whether it varies votes, so that a reference standard, which is not made of them, leaves
        nothing to vary.
    kappa, pairs
        Whether the labels of variants are compared with those of the study, and whether every
        pair of competitors is followed over the variants.
    nothing
        What is said where there is no variant.
    note, methods, references, facts
        What is special about this question: for the reader, for a paper, and as columns.
    sentence
        A rule of its own; None is the usual one.
    finish
        Adds to the finding what only this question has; None is nothing.
    """

    key: str
    about: str
    variants: Callable[[Contest], Iterable[Variant]]
    head: str
    over: str
    at: str = "{}"
    reference: str = "the whole study"
    annotators: bool = True
    of_votes: bool = True
    kappa: bool = False
    pairs: bool = False
    nothing: str = "There is no variant to score."
    note: str = ""
    methods: str = ""
    references: Names = ()
    facts: tuple[Column, ...] = ()
    sentence: "Callable[[Answer], str] | None" = None
    finish: "Callable[[Answer, Finding], Finding] | None" = None

    @property
    def title(self) -> str:
        """Its heading."""
        return f"Does the verdict depend on {self.about}?"


class Line(NamedTuple):
    """One competitor in one variant.

    Attributes
    ----------
    value, low, high
        In the variant.
    rank, spearman
        In the variant, and the rank correlation of its order with that of the study.
    verdict, in_best_group
        Of the variant, and whether this competitor may be the best there.
    change, change_low, change_high
        Against what the variant is compared with, paired; nan for whom only the variant has.
    gap_change, gap_change_low, gap_change_high, gap_p
        How far it moves against the best of the study, positive is better; `gap_p` is
        adjusted for all variants and competitors (Holm).
    """

    variant: str
    competitor: str
    items: int
    value: float
    low: float
    high: float
    rank: float
    spearman: float
    verdict: str
    in_best_group: bool
    change: float = math.nan
    change_low: float = math.nan
    change_high: float = math.nan
    gap_change: float = math.nan
    gap_change_low: float = math.nan
    gap_change_high: float = math.nan
    gap_p: float = math.nan


@immutable(eq=False)
class Outcome:
    """What became of one variant.

    Attributes
    ----------
    label, facts
        As in `Variant`.
    scored
        The competitors there; None where they cannot be scored.
    verdict
        Its best group against that of the study.
    lines
        One per competitor.
    """

    label: str
    facts: Mapping[str, Cell]
    scored: Scored | None = None
    verdict: str = UNKNOWN
    lines: tuple[Line, ...] = ()


@immutable(eq=False)
class Answer:
    """All variants of one question.

    Attributes
    ----------
    question, contest, whole
        What was asked of which contest, and its competitors scored.
    outcomes
        One per variant.
    notices
        What the reader should know.
    """

    question: Question
    contest: Contest
    whole: Scored
    outcomes: tuple[Outcome, ...]
    notices: Notices = ()

    def __repr__(self) -> str:
        return f"Answer({self.question.key}, {len(self.outcomes)} variants: {self.verdict})"

    @property
    def score(self) -> str:
        """What was scored, as one would say it."""
        task = MACRO if len(self.whole.tasks) > 1 else "".join(self.whole.tasks)
        return f"{self._metric} ({task})" if task else self._metric

    @property
    def _metric(self) -> str:
        return self.whole.metric.called(self.contest.labels)

    @property
    def judged(self) -> list[Outcome]:
        """Variants that have a verdict."""
        return [outcome for outcome in self.outcomes if outcome.verdict != UNKNOWN]

    @cached_property
    def lines(self) -> list[Line]:
        """One per variant and competitor."""
        return [line for outcome in self.outcomes for line in outcome.lines]

    def rows(self) -> list[dict[str, Cell]]:
        """The same as plain dicts, with the facts of their variants."""
        return [
            {**line._asdict(), **outcome.facts}
            for outcome in self.outcomes
            for line in outcome.lines
        ]

    @property
    def best(self) -> str:
        """Who has the best value in the study."""
        return self.whole.competitors[self.whole.leader]

    # ---- words -------------------------------------------------------------------------------

    @property
    def verdict(self) -> str:
        """Whether the verdict depends on it, in a few words."""
        judged = self.judged
        if not self.outcomes:
            return "Nothing to vary"
        if not judged or len(self.whole.competitors) == 1:
            return "No verdict to compare"
        number = {name: sum(one.verdict == name for one in judged) for name in CLAUSES}
        every = count(len(judged))
        if number[OTHER]:
            return f"Yes, in {count(number[OTHER])} of {every}"
        if number[LARGER]:
            return f"No, but less is known in {count(number[LARGER])} of {every}"
        return "No"

    def verdict_clause(self) -> str:
        """Whether the best group stays, as a clause; empty with a single competitor."""
        if len(self.whole.competitors) == 1:
            return ""
        best, judged = self.whole.best_group(annotators=self.whole.of_votes), self.judged
        best = best or self.whole.best_group(annotators=False)
        if not judged or not best:
            return f"no verdict can be compared over the {self.question.over}"
        names = joined(sorted(best), most=NAMED)
        role = "is the best" if len(best) == 1 else "are the best group"
        clauses = []
        for verdict, clause in CLAUSES.items():
            where = [self._at(one.label) for one in judged if one.verdict == verdict]
            if where and verdict in (SAME, LARGER):
                clauses.append(f"{clause} in {count(len(where))}")
            elif where:
                clauses.append(f"{clause} {joined(where, most=NAMED)}")
        against = any(one.verdict == OTHER for one in judged)
        start = "the verdict depends on it" if against else "nothing contradicts the verdict"
        every = f"{count(len(judged))} {self.question.over}"
        return f"{start}: of {every}, {names} {role} {joined(clauses)}"

    @property
    def largest(self) -> Line | None:
        """The largest finite change."""
        finite = [line for line in self.lines if math.isfinite(line.change)]
        return max(finite, key=lambda line: round(abs(line.change) / EXACT), default=None)

    @property
    def surest(self) -> Line | None:
        """The change of a gap that is least likely by chance."""
        tested = [line for line in self.lines if not math.isnan(line.gap_p)]
        return min(tested, key=lambda line: line.gap_p, default=None)

    @property
    def _whom(self) -> str:
        """Whom changes speak for."""
        others = self.question.annotators and self.whole.of_votes
        return (self.whole.table if others else self.whole.for_these_votes).population.whom

    def claims(self) -> Iterator[Claim]:
        """Who falls behind where the best group is another, and the surest change of a gap."""
        labels, level = tuple(one.label for one in self.outcomes), self.whole.level
        strict = 1 - (1 - level) / max(len(labels), 1)
        best = self.whole.best_group(annotators=self.whole.of_votes)
        for one in self.outcomes:
            if one.verdict == OTHER and one.scored:
                title = f"{self.score}, {self._at(one.label)}"
                claims = one.scored.claims(title, f"{self.question.key}, verdicts", strict)
                yield from (claim for claim in claims if claim.estimand.competitor in best)
        gap = self.surest
        if gap is not None:
            low, high = gap.gap_change_low, gap.gap_change_high
            if gap.gap_p >= 1 - level:
                low, high = min(low, 0.0), max(high, 0.0)
            whose = self.whole.table.population.whose(self.contest.labels)
            score = f"gap to {self.best} in {self.score}"
            estimand = Estimand(score, whose, self._where(gap), "all")
            of = ClaimFamily(f"{self.question.key}, changes of gaps", len(labels))
            yield Claim(estimand, self._whom, of, gap.gap_change, low, high, level)

    def change_clauses(self) -> list[str]:
        """The largest change, and whether any gap changes by more than chance."""
        most, gap, clauses = self.largest, self.surest, self._odd_values()
        if most is not None and abs(most.change) > 10.0**-TIE:
            ends = estimate(most.change, most.change_low, most.change_high, change)
            clauses.insert(0, f"{self.score} changes most for {self._where(most)} ({ends})")
        elif most is not None:
            clauses.insert(0, f"{self.score} of nobody changes")
        if gap is None:
            return clauses
        if gap.gap_p < 1 - self.whole.level:
            ends = estimate(gap.gap_change, gap.gap_change_low, gap.gap_change_high, change)
            clauses.append(
                f"the gap to {self.best} changes by more than chance, most surely for "
                f"{self._where(gap)} ({ends}), for {self._whom}"
            )
        else:
            clauses.append(f"no gap to {self.best} changes by more than chance")
        return clauses

    def _odd_values(self) -> list[str]:
        """Whose values are infinite or undefined somewhere, as clauses."""
        every = [(line.competitor, line.value) for line in self.lines]
        every += zip(self.whole.competitors, self.whole.table.values.tolist(), strict=True)
        odd = {
            word: [name for name in self.whole.competitors if name in set(names)]
            for word, names in (
                ("infinite", [name for name, value in every if math.isinf(value)]),
                ("undefined", [name for name, value in every if math.isnan(value)]),
            )
        }
        return [
            f"that of {joined(names, most=NAMED)} is {word} in some of them"
            for word, names in odd.items()
            if names
        ]

    def _at(self, label: str) -> str:
        return self.question.at.format(label)

    def _where(self, line: Line) -> str:
        return f"{line.competitor} {self._at(line.variant)}"

    @property
    def sentence(self) -> str:
        """The answer."""
        if self.question.sentence is not None:
            return self.question.sentence(self)
        if not self.outcomes:
            return self.question.nothing
        if not self.lines:
            return f"None of the {self.question.over} can be scored."
        clauses = [self.verdict_clause(), *self.change_clauses(), self._pairs_clause()]
        return f"{capital('; '.join(filter(None, clauses)))}."

    # ---- pairs of competitors ----------------------------------------------------------------

    def conclusions(self) -> list[dict[str, Cell]]:
        """One row per pair: does one stand above the other in the study and all variants?"""
        if not self.question.pairs:
            return []
        every = [self.whole, *(one.scored for one in self.outcomes if one.scored is not None)]
        sign = 1 if self.whole.metric.better == "higher" else -1
        rows: list[dict[str, Cell]] = []
        for first, second in combinations(self.whole.competitors, 2):
            gaps = [one.gap(first, second, annotators=False) for one in every]
            lead = np.round([sign * gap.value for gap in gaps], TIE)
            apart = np.array([(gap.low > 0) | (gap.high < 0) for gap in gaps])
            below = bool((lead < 0).all())
            ordered = lead < 0 if below else lead > 0
            rows.append(
                {
                    "above": second if below else first,
                    "below": first if below else second,
                    "conclusion": _conclusion(lead, apart),
                    "with_this_order": int(ordered.sum()),
                    "separated": int((ordered & apart).sum()),
                    "variants": len(every),
                }
            )
        return rows

    def _pairs_clause(self) -> str:
        kinds = [str(row["conclusion"]) for row in self.conclusions()]
        if not kinds:
            return ""
        verbs = {HOLDS: ("holds", "hold"), LEANS: ("keeps its", "keep their")}
        verbs[DEPENDS] = ("depends", "depend")
        clauses = [
            f"{count(number)} {clause.format(verbs[kind][number > 1])}"
            for kind, clause in PAIR_CLAUSES.items()
            if (number := kinds.count(kind))
        ]
        return f"of {count(len(kinds), 'pair')} {joined(clauses)}" if clauses else ""

    # ---- surfaces ----------------------------------------------------------------------------

    def tables(self) -> tuple[Table, ...]:
        """Variants by competitors; by every metric; and pairs of competitors."""
        question, rows = self.question, self.rows()
        shown = {name for outcome in self.outcomes for name in outcome.facts}
        better = " (lower is better)" * (self.whole.metric.better == "lower")
        head = self._metric + better
        main = Table(
            name=question.key,
            caption=f"{capital(self.score)}: {question.head}, against {question.reference}",
            columns=(
                Column("variant", question.head),
                *(column for column in question.facts if column.key in shown),
                *([Column("kappa", "kappa of labels", "number")] if question.kappa else []),
                Column("items", "items", "count"),
                Column("competitor", "competitor", "model"),
                Column("value", head, "number", ("low", "high")),
                spanned("change", kind="change"),
                Column("rank", "rank", "rank", brief=False),
                spanned("gap_change", "change of the gap", "change", brief=False),
                Column("gap_p", "adjusted p", "p", brief=False),
                Column("spearman", "Spearman", "number"),
                *columns("text", "verdict"),
            ),
            rows=rows,
            brief=largest_by(rows, "variant", "change"),
            legend=KAPPA_LEGEND * question.kappa
            + LEGEND.format(best=self.best, level=100 * self.whole.level),
        )
        pairs = Table(
            name=f"{question.key}_conclusions",
            caption="Pairs of competitors in the study and all variants, for other items",
            columns=(
                *columns("model", "above", "below"),
                *columns("text", "conclusion"),
                *columns("count", "with_this_order", "separated", "variants"),
            ),
            rows=self.conclusions(),
            brief=(),
        )
        return tuple(table for table in (main, self._by_metric(), pairs) if table.rows)

    def _by_metric(self) -> Table:
        """Values by every metric and kind of labels; nothing where there is only one metric."""
        metrics = self.contest.metrics if len(self.contest.metrics) > 1 else ()
        before = dict(
            zip(self.whole.competitors, np.moveaxis(self.whole.by_metric, 2, 0), strict=True)
        )
        rows: list[dict[str, Cell]] = []
        for outcome in self.outcomes:
            scored = outcome.scored
            if scored is None:
                continue
            for k, metric in enumerate(metrics):
                for label, labels in enumerate(LABELS):
                    for name, value in zip(
                        scored.competitors, scored.by_metric[k, label].tolist(), strict=True
                    ):
                        moved = value - before[name][k, label] if name in before else math.nan
                        row = {"variant": outcome.label, "metric": metric.name}
                        row |= {"labels": labels, "competitor": name}
                        rows.append({**row, "value": value, "change": float(moved)})
        return Table(
            name=f"{self.question.key}_metrics",
            caption="Values by every metric and kind of labels, and their change",
            columns=(
                Column("variant", self.question.head),
                Column("metric", "metric", words={one.name: one.title for one in metrics}),
                *columns(labels="text", competitor="model", value="number", change="change"),
            ),
            rows=rows,
            brief=(),
            page=False,
        )

    def charts(self) -> tuple[Chart, ...]:
        """The largest change of every variant."""
        most: dict[str, Line] = {}
        for line in self.lines:
            before = most.get(line.variant)
            size = -1.0 if before is None else abs(before.change)
            if math.isfinite(line.change) and abs(line.change) > size + EXACT:
                most[line.variant] = line
        shown = list(most.values())
        if len(shown) > DRAWN:  # those that move most
            shown = sorted(shown, key=lambda line: -abs(line.change))[:DRAWN]
        if not shown:
            return ()
        key = self.question.key.replace("_", "-")
        full = "; full dots: the best group stays" * (len(self.whole.competitors) > 1)
        dots = Dots(
            name=key,
            caption=f"Largest change of {self.score}{full}",
            axis=f"change of {self.score}",
            rows=[
                Dot(
                    line.variant,
                    line.change,
                    line.change_low,
                    line.change_high,
                    line.competitor,
                    remark=line.competitor,
                    hollow=line.verdict not in (SAME, UNKNOWN),
                )
                for line in shown
            ],
            zero=True,
        )
        return (dots,)

    def finding(self) -> Finding:
        """For every surface."""
        question, metric = self.question, self.whole.metric
        speaks = question.annotators and self.whole.of_votes
        note = f"{question.note} " + NOTE.format(
            reference=question.reference, people=" and annotators" * speaks
        )
        if metric.influence is None:
            note += NO_SLOPES.format(metric=capital(metric.title))
        finding = Finding(
            key=question.key,
            title=question.title,
            sentence=self.sentence,
            verdict=self.verdict,
            about=question.about,
            tables=self.tables(),
            charts=self.charts(),
            note=note.strip(),
            methods=question.methods.format(
                number=count(len(self.outcomes)),
                labels=joined([outcome.label for outcome in self.outcomes], "or"),
            ),
            references=question.references,
            notices=self.notices,
            claims=tuple(self.claims()),
        )
        finding = finding if question.finish is None else question.finish(self, finding)
        if self.lines:
            return finding
        nothing = Finding(key=question.key, title=question.title, sentence=finding.sentence)
        return replace(nothing, left_out=True, notices=finding.notices)


def _conclusion(lead: Floats, apart: Floats) -> str:
    """What becomes of a pair: how far one is ahead, and whether separated, by variant."""
    if np.isnan(lead).any():
        return UNKNOWN
    if not lead.any():
        return TIED
    if not ((lead > 0).all() or (lead < 0).all()):
        return DEPENDS
    return HOLDS if apart.all() else LEANS


# ---- the mechanism --------------------------------------------------------------------------


def answer(
    question: Question,
    contest: Contest,
    whole: Scored | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Score all variants of a contest and compare them with it.

    Parameters
    ----------
    whole
        The contest scored; None is that it is done here.
    progress
        Called as ``progress(done, all)``; how many variants come is not known before.
    """
    if question.of_votes and contest.by_standard:
        raise no_votes(question.key)
    whole = whole or contest.scored()
    if np.isnan(whole.table.values).all():
        got, do = f"{whole.metric.title} undefined for everybody", "choose another metric"
        raise InputError(question.key, got, "a value to compare with", do)
    outcomes: list[Outcome] = []
    notices: list[Notice] = []
    most = affordable(contest)
    for number, variant in enumerate(question.variants(contest)):
        if number == most:
            notices.append(notice("variants_within", WITHIN, most=most))
            break
        try:
            outcomes.append(_outcome(variant, whole, contest, question))
        except InputError as error:
            outcomes.append(Outcome(variant.label, variant.facts))
            where = question.at.format(variant.label)
            notices.append(notice("variant_left_out", NOT_SCORED, where=where, why=error.got))
        if progress is not None:
            progress(number + 1, number + 2)
    return Answer(question, contest, whole, _adjusted(outcomes, whole), tuple(notices))


def _outcome(variant: Variant, whole: Scored, contest: Contest, question: Question) -> Outcome:
    """One variant against what it is compared with, and against the verdict of the study."""
    here = variant.contest.scored()
    reference = whole if variant.against is None else variant.against.scored()
    for scored in (here, reference):
        if not scored.tasks:
            got = f"{whole.metric.title} is undefined"
            raise InputError("variants", got, "a value", "choose another metric")
        if scored.tasks != whole.tasks:
            got = f"a value in {count(len(scored.tasks), 'task')} of {len(whole.tasks)}"
            raise InputError("variants", got, "one in every task", "look at one task")
    verdict = _verdict(whole, here)
    changes = _changes(here, reference, whole, annotators=question.annotators)
    ranks = average_ranks(here.good)
    shared = [name for name in here.competitors if name in whole.competitors]
    orders = [
        np.array([scored.good[scored.competitors.index(name)] for name in shared])
        for scored in (whole, here)
    ]
    rho = float(spearman(*orders)) if len(shared) > 1 else math.nan
    best = here.best_group()
    lines = []
    for m, name in enumerate(here.competitors):
        low, high = here.interval(m)
        line = Line(
            variant=variant.label,
            competitor=name,
            items=here.items,
            value=float(here.table.values[m]),
            low=float(low),
            high=float(high),
            rank=float(ranks[m]),
            spearman=rho,
            verdict=verdict,
            in_best_group=name in best,
        )
        lines.append(line._replace(**changes.get(name, {})))
    facts = dict(variant.facts)
    if question.kappa:
        facts["kappa"] = label_kappa(variant.contest, contest)
    light = replace(here, parts=None)  # contributions are as large as the votes
    return Outcome(variant.label, facts, light, verdict, tuple(lines))


def _verdict(whole: Scored, here: Scored, variants: int = 1) -> str:
    """The best group of a variant against that of the study, among whom both have.

    One of several variants is surely another only where it is among all of them.
    """
    level = 1 - (1 - here.level) / variants
    people = whole.of_votes and here.of_votes
    people &= whole.table.population.decides and here.table.population.decides
    now = here.best_group(annotators=people, level=level)
    groups = [whole.best_group(annotators=people), now]
    if not all(groups):
        return UNKNOWN
    before, now = (group & set(whole.competitors) for group in groups)
    if now == before:
        return SAME
    return LARGER if now > before else SMALLER if now and now < before else OTHER


def _changes(
    here: Scored, reference: Scored, whole: Scored, *, annotators: bool
) -> dict[str, dict[str, Any]]:
    """Change, and change of the gap to the best of the study, of whom both have."""
    metric, level = here.metric, here.level
    names = [name for name in here.competitors if name in reference.competitors]
    first, second = len(here.competitors), len(reference.competitors)
    moved = np.zeros((len(names), first + second))
    for row, name in enumerate(names):
        moved[row, here.competitors.index(name)] = 1.0
        moved[row, first + reference.competitors.index(name)] = -1.0
    best = whole.competitors[whole.leader]
    sign = 1.0 if metric.better == "higher" else -1.0
    gaps = sign * (moved - moved[names.index(best)]) if best in names else moved * np.nan
    parts: list[Contributions] = [one.parts for one in (here, reference) if one.parts]
    with np.errstate(invalid="ignore"):
        table = contrasts(parts, np.concatenate([moved, gaps]), annotators=annotators)
    width = metric.bounds[1] - metric.bounds[0]
    changes = {}
    for row, name in enumerate(names):
        changes[name] = _with_ends("change", table, row, level, width)
        if name == best:
            continue
        place = len(names) + row
        changes[name] |= _with_ends("gap_change", table, place, level, 2 * width)
        gap = float(table.values[place])
        rounding = abs(gap) <= 10.0**-TIE
        changes[name]["gap_p"] = 1.0 if rounding else table.of(place).p_value(gap)
    return changes


def _with_ends(key: str, table: TwoWay, row: int, level: float, width: float) -> dict[str, Any]:
    value = float(table.values[row])
    low, high = table.of(row).interval(value, level, (-width, width))
    return {key: value, f"{key}_low": float(low), f"{key}_high": float(high)}


def holm(values: Sequence[float]) -> Floats:
    """Holm's adjustment of p-values for all of them being looked at; nan stays nan.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(values, dtype=np.float64)
    out = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    times = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(p[order] * times), 1.0)
    return out


def _adjusted(outcomes: Sequence[Outcome], whole: Scored) -> tuple[Outcome, ...]:
    """The same where p-values and another best group hold among all variants together."""
    adjusted = iter(holm([line.gap_p for one in outcomes for line in one.lines]))
    verdicts = [one.verdict for one in outcomes]
    for place, one in enumerate(outcomes):
        if one.scored is not None and one.verdict in (OTHER, SMALLER):
            strict = _verdict(whole, one.scored, len(outcomes))
            fewer = one.verdict == SMALLER and strict == LARGER
            verdicts[place] = SAME if fewer else strict
    return tuple(
        replace(
            one,
            verdict=verdict,
            lines=tuple(
                line._replace(gap_p=float(next(adjusted)), verdict=verdict)
                for line in one.lines
            ),
        )
        for one, verdict in zip(outcomes, verdicts, strict=True)
    )
