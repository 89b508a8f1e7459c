"""Readers: do the models do better than the people who set the truth?

The words, tables and charts of `equipoise.study.competitors`. The estimate and its direction
come first, then what is claimed of it, for these readers and for readers like these. Whatever
is asserted is a `Claim`; per-reader gains are estimates, each with an interval of its own, from
which nothing is concluded.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

import numpy as np

from equipoise.inference.ranks import higher_is_better
from equipoise.study.analyses.reader_arms import is_reader_study, reader_study_finding
from equipoise.study.blocks import LABELS
from equipoise.study.competitors import (
    BALANCED,
    GOLD,
    MATCHED,
    SENSITIVITY,
    SPECIFICITY,
    ReaderTable,
    Row,
    reader_tables,
)
from equipoise.study.study import Study
from equipoise.types import (
    UNDEFINED,
    Cell,
    Claim,
    Column,
    Dot,
    Dots,
    Finding,
    Names,
    Nouns,
    Table,
    Whom,
    capital,
    change,
    claims_in_words,
    columns,
    count,
    exact_percent,
    immutable,
    number,
    spanned,
)

KEY, TITLE = "readers", "Models against annotators"
SHOWN = 24  # readers in a chart
NOTE = (
    "Every reader is compared with the models on the items that the reader read. The truth is "
    "the mean vote of the other readers there; where items have gold it is the reference "
    "standard, from which nobody is left out. A model with a stated cut decides by it and is "
    "compared by balanced accuracy, or by the metric that was named; a model with scores alone "
    "by its sensitivity at the reader's own false positives. The mean over readers weighs them "
    "by information, so that few reads count little."
)
METHODS = (
    "Each reader was compared with the models on the items read, against the mean vote of the "
    "other readers or the reference standard; gains were averaged over readers by information "
    "weights (Paule and Mandel), with two-way variance of items and of readers as competitors "
    "and as makers of the truth, simultaneously over models (max-t)."
)
LEGEND = (
    "Gain: the model's value less the reader's, mean over readers; positive is better. "
    "Brackets: {level}, simultaneous over the models that could be first{others}. Above: over "
    "how many readers the estimate is above 0. Sensitivity and specificity at the cut are "
    "estimates alone."
)


@immutable(eq=False)
class _Page:
    """One table with its claims, the model in front, and what things are called."""

    table: ReaderTable
    claims: Mapping[tuple[str, Whom], Claim]
    leader: str
    hollow: Sequence[str] = ()
    nouns: Nouns = field(default_factory=Nouns)

    @property
    def row(self) -> int:
        """Of the leader."""
        return self.table.models.index(self.leader)

    def claim(self, model: str, *whom: Whom) -> Claim | None:
        """The claim on a model, for the first population that has one."""
        return next((self.claims[model, x] for x in whom if (model, x) in self.claims), None)

    def others(self, model: str) -> Claim | None:
        """The claim on readers like these."""
        return self.claim(model, Whom.LIKE_THESE, Whom.THESE_ITEMS)

    # ---- sentences ---------------------------------------------------------------------------

    @property
    def truth(self) -> str:
        """Whose positives, or answers."""
        if self.table.truth == GOLD:
            return "by the reference standard"
        people = self.nouns.annotators
        if self.table.yes_no:
            return f"positives as the other {people} call them"
        return f"by the answers of the other {people}"

    def sentence(self) -> str:
        """The estimate and its direction, then what is claimed."""
        gain = float(self.table.contrasts.these.values[self.row])
        if math.isnan(gain):
            return f"{self.leader} and {self.nouns.annotators} cannot be compared."
        return f"{self._estimate(gain)}. {self._claimed()}"

    @property
    def _sampled(self) -> str:
        """What is taken as a sample of others: readers, or groups of them."""
        whom = self.table.contrasts.like_these.population
        return whom.people.replace("annotators", self.nouns.annotators)

    def _estimate(self, gain: float) -> str:
        """How much better or worse, by whose truth, and over how many readers."""
        measure, people = self.table.measure(self.leader), self.nouns.annotators
        above, below, whole = self.table.above(self.row)
        side, many = ("below", below) if gain < 0 else ("above", above)
        each = f"each of {count(whole)}" if many == whole > 1 else f"{many} of {count(whole)}"
        end = f"{people} on average, {self.truth} ({side} {each})"
        if measure == MATCHED:
            more = f"{_in_hundred(gain)} positives {'than' if gain else 'as'}"
            return f"At equal false positives {self.leader} finds {more} {end}"
        title = self.table.titles[measure]
        size = number(abs(gain), 2)
        way = "higher" if gain > 0 else "lower"
        apart = f"{size} {way} than" if gain else "the same as"
        start = f"{capital(title)} of {self.leader} is {apart} that of {end}"
        return f"{start}{self._sides(measure)}"

    def _sides(self, measure: str) -> str:
        """What a decision at the cut finds, and what it spares."""
        rows = [Row(self.leader, side) for side in (SENSITIVITY, SPECIFICITY)]
        if measure != BALANCED or not set(rows) <= set(self.table.rows):
            return ""
        values = self.table.contrasts.these.values
        sens, spec = (float(values[self.table.rows.index(row)]) for row in rows)
        return (
            f": at its cut it finds {_in_hundred(sens)} positives and {_in_hundred(-spec)} "
            "false ones"
        )

    def _claimed(self) -> str:
        """What holds for these readers, and for readers like these."""
        others, these = self.others(self.leader), self.claim(self.leader, Whom.THESE_READERS)
        people, whom = self.nouns.annotators, self.table.contrasts.these.population
        items = self.nouns.items if whom.units == "items" else self.nouns.groups
        like = f"{self._sampled} like these"
        like = f"these {items} and {like}" if these is None else f"{items} and {like}"
        here = f"these {people} on {items} like these"
        text = claims_in_words([(like, others), (here, these)])
        if others is None and these is not None and self.table.settings.annotators == "random":
            return f"{text} They are too few to speak of other {self._sampled}."
        return text

    # ---- tables and charts -------------------------------------------------------------------

    def model_rows(self) -> Iterator[dict[str, Cell]]:
        """Every model by every measure, on average over readers."""
        values = self.table.contrasts.these.values
        for place, row in enumerate(self.table.rows):
            verdict = place < len(self.table.models)
            others, these = self.others(row.model), self.claim(row.model, Whom.THESE_READERS)
            above, _, whole = self.table.above(place)
            yield {
                "truth": self.table.truth,
                "model": row.model,
                "measure": self.table.titles[row.measure],
                **_with_ends("these_readers", float(values[place]), these if verdict else None),
                **_with_ends("like_these", float(values[place]), others if verdict else None),
                "above": f"{above} of {whole}",
                "family": these.family.name if these and verdict else "",
                "these_decision": these.decision.value if these and verdict else "",
                "like_these_decision": others.decision.value if others and verdict else "",
            }

    def reader_rows(self) -> Iterator[dict[str, Cell]]:
        """Every reader next to every row, task by task."""
        level = self.table.settings.level
        for task in self.table.tasks:
            contrasts = task.contrasts
            if contrasts is None:
                continue
            for place, row in enumerate(self.table.rows):
                for reader in np.flatnonzero(~np.isnan(contrasts.gain[place])):
                    gain = float(contrasts.gain[place, reader])
                    spread = contrasts.spread[place][reader]
                    low, high = spread.interval(gain, level, (-2.0, 2.0))
                    value = float(contrasts.value[place, reader])
                    yield {
                        "truth": self.table.truth,
                        "task": task.task,
                        "reader": self.table.readers[reader],
                        "items": int(task.items[reader]),
                        "model": row.model,
                        "measure": self.table.titles[row.measure],
                        "reader_value": value,
                        "value": value + gain,
                        "gain": gain,
                        "gain_low": low,
                        "gain_high": high,
                        "weight": float(contrasts.weight[reader]),
                    }

    def chart(self) -> Dots:
        """Each reader with a dot per model, and the mean of the leader with its claim."""
        gains = self.table.contrasts.gain[: len(self.table.models)]
        mine = gains[self.row]
        known = np.flatnonzero(~np.isnan(gains).all(axis=0))
        order = known[np.argsort(-np.nan_to_num(mine[known], nan=-np.inf), kind="stable")]
        rows = [
            Dot(
                self.table.readers[reader],
                float(gains[m, reader]),
                model=model,
                remark=_two_digits(float(mine[reader])),
                hollow=model in self.hollow,
            )
            for reader in order[:SHOWN]
            for m, model in enumerate(self.table.models)
        ]
        mean = float(self.table.contrasts.these.values[self.row])
        for whom, claim in (
            (f"{self._sampled} like these", self.others(self.leader)),
            (
                f"these {self.nouns.annotators}",
                self.claim(self.leader, Whom.THESE_READERS),
            ),
        ):
            if claim is not None:
                rows.append(
                    Dot(
                        whom, mean, claim.low,
                        claim.high, self.leader, remark=_two_digits(mean), strong=True,
                    )
                )  # fmt: skip
        title = self.table.titles[self.table.measure(self.leader)]
        level = exact_percent(self.table.settings.level)
        gold = self.table.truth == GOLD
        return Dots(
            name="readers-gold" if gold else "readers",
            caption=f"Gain in {title}, {self.truth}. Each dot one model; numbers and the last "
            f"rows: {self.leader}, mean over {self.nouns.annotators}, {level}.",
            axis=f"gain in {title}",
            rows=rows,
            zero=True,
            zero_title=f"as the {self.nouns.annotator}",
            margin=self.table.settings.margin,
        )


def readers_finding(
    study: Study,
    *,
    nouns: Nouns | None = None,
    hollow: Sequence[str] = (),
    tables: Sequence[ReaderTable] | None = None,
) -> Finding:
    """Models next to readers, by every truth that there is.

    Parameters
    ----------
    study
        Models and votes of people with names.
    nouns
        What items and readers are called.
    hollow
        Models that are drawn hollow: those behind the best group.
    tables
        Models next to readers, where somebody has them.
    """
    nouns = nouns or Nouns(annotator="reader")
    leader, possible = _could_be_first(study)
    if is_reader_study(study):
        return reader_study_finding(study, KEY, leader, possible, nouns)
    pages = [
        _Page(table, table.claims(possible), leader, hollow, nouns)
        for table in (reader_tables(study) if tables is None else tables)
    ]
    first, *more = pages
    return Finding(
        key=KEY,
        title=f"Models against {nouns.annotators}",
        sentence=first.sentence(),
        more=tuple(page.sentence() for page in more),
        charts=tuple(page.chart() for page in pages),
        tables=_tables(pages, alone=len(possible) == len(first.table.models)),
        note=NOTE,
        methods=METHODS,
        claims=tuple(claim for page in pages for claim in page.claims.values()),
        notices=(
            *study.annotations.notices,
            *study.dropped,
            *dict.fromkeys(notice for page in pages for notice in page.table.notices),
        ),
        nav="Readers",
    )


def _tables(pages: Sequence[_Page], *, alone: bool) -> tuple[Table, Table]:
    """Means over readers, and every reader; `alone` is whether all models could be first."""
    words = {"others": "the other readers", GOLD: "reference standard"}
    truth = (Column("truth", "truth", words=words),) if len(pages) > 1 else ()
    level = exact_percent(pages[0].table.settings.level)
    others = "" if alone else ", those of others over all models"
    return (
        Table(
            name="models_against_readers",
            caption="Models against readers, mean over readers",
            columns=(
                *truth,
                *columns(model="model", measure="text"),
                spanned("these_readers", "gain, these readers", "change"),
                spanned("like_these", "gain, readers like these", "change"),
                *columns(above="text"),
            ),
            rows=[row for page in pages for row in page.model_rows()],
            legend=LEGEND.format(level=level, others=others),
        ),
        Table(
            name="readers",
            caption="Every model against every reader; each interval by itself, for items "
            "like these and this reader",
            columns=(
                *truth,
                *columns(task="text", reader="text", items="count"),
                *columns(model="model", measure="text"),
                Column("reader_value", "reader's", "number"),
                Column("value", "model's", "number"),
                spanned("gain", kind="change"),
                *columns("percent", "weight"),
            ),
            rows=[row for page in pages for row in page.reader_rows()],
            brief=(),
        ),
    )


def analyse(study: Study) -> Finding:
    """The readers of a study."""
    return readers_finding(study)


def _could_be_first(study: Study) -> tuple[str, Names]:
    """The best model by the first metric, and all that may be it."""
    done, metric = study.evaluation, study.evaluation.metrics[0]
    labels = study.settings.labels
    place = LABELS.index(labels)
    defined = np.flatnonzero(~np.isnan(done.values[:, 0, place]).all(axis=1))
    task = done.tasks[int(defined[-1]) if len(defined) else -1]
    cell = done.two_way(metric.name, labels=labels, task=task)
    good = higher_is_better(cell.values, metric.better)
    best = min(done.models, key=lambda name: (-_last(good[done.models.index(name)]), name))
    family = done.family(metric.name, labels=labels, task=task)
    possible = tuple(m for m, first in zip(done.models, family.best, strict=True) if first)
    return best, tuple(dict.fromkeys((*possible, best)))


def _last(value: float) -> float:
    """Undefined values come last."""
    return -math.inf if math.isnan(value) else float(value)


def _with_ends(name: str, value: float, claim: Claim | None) -> dict[str, Cell]:
    low, high = (math.nan, math.nan) if claim is None else (claim.low, claim.high)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _in_hundred(gain: float) -> str:
    """How many more or fewer in 100."""
    size = 100 * abs(gain)
    if size == 0:
        return "as many"
    many = number(size, 0) if size >= 0.5 else "less than 1"
    return f"{many} in 100 {'more' if gain > 0 else 'fewer'}"


def _two_digits(value: float) -> str:
    return change(round(value, 2), 2) if math.isfinite(value) else UNDEFINED
