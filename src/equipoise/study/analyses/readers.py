"""Readers: do the models do better than the people who set the truth?

The words, tables and charts of every table of contrasts: models next to readers by the votes of
the others or by gold (`equipoise.study.competitors`), arms of readers and models alone
(`equipoise.study.reader_arms`). The estimate and its direction come first, then what is claimed
of it, for these readers and for readers like these. Whatever is asserted is a `Claim`;
per-reader gains are estimates, each with an interval of its own, from which nothing is
concluded.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from equipoise.inference.ranks import higher_is_better
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
from equipoise.study.reader_arms import TIME, arms_study, is_reader_study, reader_study
from equipoise.study.study import Study
from equipoise.types import (
    UNDEFINED,
    Annotations,
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
    percent,
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
ARMS_NOTE = (
    "Each reader is scored against the reference standard on the items it read. Arms are "
    "compared by readers who read in both, else by readers who read in one; models alone with "
    "the mean reader on the items of each. Sensitivity and specificity are estimates alone."
)
METHODS = (
    "Each reader was compared with the models on the items read, against the mean vote of the "
    "other readers or the reference standard; gains were averaged over readers by information "
    "weights (Paule and Mandel), with two-way variance of items and of readers as competitors "
    "and as makers of the truth, simultaneously over models (max-t)."
)
ARMS_METHODS = (
    "Readers were compared with models alone, and arms with each other, against the "
    "reference standard by the analysis of Obuchowski and Rockette [@obuchowski1995] with "
    "degrees of freedom by Hillis [@hillis2007], readers and items random."
)
LEGEND = (
    "Gain: the model's value less the reader's, mean over readers; positive is better. "
    "Brackets: {level}, simultaneous over the models that could be first{others}. Above: over "
    "how many readers the estimate is above 0. Sensitivity and specificity at the cut are "
    "estimates alone."
)
ARMS_LEGEND = (
    "Brackets: {level}, of claims simultaneous in their family; p and degrees of freedom of "
    "each by itself, for items and readers like these. Gains in time are shares of it."
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
    def values(self) -> list[float]:
        """Mean gains, by row."""
        return list(map(float, self.table.contrasts.like_these.values))

    @property
    def level(self) -> str:
        """Of all intervals, in words."""
        return exact_percent(self.table.settings.level)

    def populations(self, competitor: str) -> dict[str, Claim | None]:
        """The claims on readers like these, and on these readers, by whom they speak for."""
        people = self.nouns.annotators
        like = (self.claims.get((competitor, x)) for x in (Whom.LIKE_THESE, Whom.THESE_ITEMS))
        return {
            f"{self._sampled} like these": next(filter(None, like), None),
            f"these {people}": self.claims.get((competitor, Whom.THESE_READERS)),
        }

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

    def sentences(self) -> Iterator[str]:
        """The estimate and its direction, then what is claimed: arms, then the first model."""
        for place, competitor in enumerate(self.table.competitors):
            if competitor in (self.leader, *self.table.arms):
                gain = self.values[place]
                if math.isnan(gain):
                    people = self.nouns.annotators
                    yield f"{competitor} and {people} cannot be compared."
                else:
                    estimate = self._estimate(place, gain)
                    yield f"{estimate}. {self._claimed(competitor)}"
        for place, row in enumerate(self.table.rows):
            if row.measure == TIME:
                yield self._saved(place, row.competitor)

    @property
    def _sampled(self) -> str:
        """What is taken as a sample of others: readers, or groups of them."""
        whom = self.table.contrasts.like_these.population
        return whom.people.replace("annotators", self.nouns.annotators)

    def _estimate(self, place: int, gain: float) -> str:
        """How much better or worse, by whose truth, and over how many readers."""
        competitor, measure = self.table.rows[place]
        whom, extent = self._whom(place, gain)
        end = f"{whom}, {self.truth} ({extent})"
        if measure == MATCHED:
            more = f"{_in_hundred(gain)} positives {'than' if gain else 'as'}"
            return f"At equal false positives {competitor} finds {more} {end}"
        title, size = capital(self.table.titles[measure]), number(abs(gain), 2)
        who, of = competitor, "that of "
        if who in self.table.arms:
            who = f"{who} {self.nouns.annotators}"
        higher = (gain > 0) is not (measure == self.table.lower)
        apart = f"{size} {'higher' if higher else 'lower'} than" if gain else "the same as"
        return f"{title} of {who} is {apart} {of}{end}{self._sides(place)}"

    def _whom(self, place: int, gain: float) -> tuple[str, str]:
        """With whom a competitor is compared, and over how many readers."""
        people, against = self.nouns.annotators, self.table.against(self.table.rows[place][0])
        if not self.table.arms:
            above, below, whole = self.table.above(place)
            side, many = ("below", below) if gain < 0 else ("above", above)
            each = (
                f"each of {count(whole)}" if many == whole > 1 else f"{many} of {count(whole)}"
            )
            return f"{people} on average", f"{side} {each}"
        readers, paired = self.table.designs[place]
        who, design = f"{against} ones", "who read in both" if paired else "each in one arm"
        if against not in self.table.arms:
            who = f"the mean {against}".removesuffix("readers") + self.nouns.annotator
            design = "on the items of each"
        return who, f"{count(readers)} {people}, {design}"

    def _sides(self, place: int) -> str:
        """What a decision of a model at the cut finds, and what it spares."""
        model, measure = self.table.rows[place]
        rows = [Row(model, side) for side in (SENSITIVITY, SPECIFICITY)]
        if (
            measure != BALANCED
            or not set(rows) <= set(self.table.rows)
            or model in self.table.arms
        ):
            return ""
        sens, spec = (self.values[self.table.rows.index(row)] for row in rows)
        return (
            f": at its cut it finds {_in_hundred(sens)} positives and {_in_hundred(-spec)} "
            "false ones"
        )

    def _claimed(self, competitor: str) -> str:
        """What holds for these readers, and for readers like these."""
        (like, others), (people, these) = self.populations(competitor).items()
        how, whom = self.table.settings, self.table.contrasts.like_these.population
        items = self.nouns.items if whom.units == "items" else self.nouns.groups
        start = f"these {items}" if how.items == "fixed" else items
        text = claims_in_words(
            [(f"{start} and {like}", others), (f"{people} on {items} like these", these)],
            "that" if self.table.arms else "it",
        )
        if others is None and these is not None and how.annotators == "random":
            return f"{text} They are too few to speak of other {self._sampled}."
        return text

    def _saved(self, place: int, arm: str) -> str:
        """How much less time readings take than in the first arm, or more."""
        spread, log = self.table.contrasts.like_these.of(place), self.values[place]
        less = -np.expm1([log, *spread.interval(log)[::-1]])
        word, sign = ("less", 1) if less[0] >= 0 else ("more", -1)
        ends = [percent(sign * share) for share in less[1:][::sign]]
        return (
            f"{capital(arm)} {self.nouns.annotators} take {percent(sign * less[0])} {word} "
            f"time a reading than {self.table.arms[0]} ones ({ends[0]} to {ends[1]})."
        )

    # ---- tables and charts -------------------------------------------------------------------

    def _ends(self, place: int, claim: Claim | None) -> tuple[float, ...]:
        """Mean gain of a row and its interval, that of its claim; of times in shares."""
        value, ends = self.values[place], (math.nan, math.nan)
        if claim is not None:
            ends = claim.low, claim.high
        elif self.table.arms:
            spread = self.table.contrasts.like_these.of(place)
            ends = spread.interval(value, self.table.settings.level)
        return tuple(self._shown(place, x) for x in (value, *ends))

    def _shown(self, place: int, gain: float) -> float:
        return float(np.expm1(gain)) if self.table.rows[place].measure == TIME else gain

    def mean_rows(self) -> Iterator[dict[str, Cell]]:
        """Every competitor by every measure, on average over readers."""
        table = self.table
        for place, row in enumerate(table.rows):
            others, these = self.populations(row.competitor).values()
            if place >= len(table.competitors):
                others = these = None
            cells: dict[str, Cell] = {
                "truth": table.truth,
                self.who: row.competitor,
                "measure": table.titles[row.measure],
            }
            if these is not None or not table.arms:
                cells |= _spanned("these_readers", self._ends(place, these))
            cells |= _spanned("like_these", self._ends(place, others))
            if table.arms:
                spread, (readers, paired) = (
                    table.contrasts.like_these.of(place),
                    table.designs[place],
                )
                cells |= {
                    "against": table.against(row.competitor),
                    "p": spread.p_value(self.values[place]),
                    "df": spread.df,
                    "readers": readers,
                    "design": "paired" if paired else "split plot",
                }
            else:
                above, _, whole = table.above(place)
                cells |= {"above": f"{above} of {whole}"}
            claim = these or others
            cells["family"] = claim.family.name if claim else ""
            for name, claim in (("these", these), ("like_these", others)):
                cells[f"{name}_decision"] = claim.decision.value if claim else ""
            yield cells

    @property
    def who(self) -> str:
        """What competitors are called."""
        return "competitor" if self.table.arms else "model"

    def reader_rows(self) -> Iterator[dict[str, Cell]]:
        """Every reader next to every competitor, task by task."""
        table, level = self.table, self.table.settings.level
        for task in table.tasks:
            contrasts = task.contrasts
            if contrasts is None:
                continue
            values, gains = contrasts.value, contrasts.gain
            beside = values + gains if contrasts.competitor is None else contrasts.competitor
            for place, reader in np.argwhere(~np.isnan(values) | ~np.isnan(beside)).tolist():
                row, gain = table.rows[place], float(gains[place, reader])
                sign = -1 if row.measure == table.lower else 1
                cells: dict[str, Cell] = {
                    "truth": table.truth,
                    "task": task.task,
                    "reader": table.readers[reader],
                    "items": int(task.items[reader]),
                    self.who: row.competitor,
                    "measure": table.titles[row.measure],
                    "reader_value": sign * float(values[place, reader]),
                    "value": sign * float(beside[place, reader]),
                    "gain": self._shown(place, gain),
                }
                if contrasts.spread:
                    ends = contrasts.spread[place][reader].interval(gain, level, (-2.0, 2.0))
                    cells |= _spanned("gain", (gain, *ends))
                    cells["weight"] = float(contrasts.weight[reader])
                yield cells

    def chart(self) -> Dots:
        """Each reader with a dot per competitor, and means with their claims."""
        table, names = self.table, self.table.competitors
        gains = table.contrasts.gain[: len(names)]
        lead = names.index(self.leader) if self.leader in names else 0
        mine = gains[lead]
        compared = np.flatnonzero(~np.isnan(gains).all(axis=0))
        order = compared[np.argsort(-np.nan_to_num(mine[compared], nan=-np.inf), kind="stable")]
        rows = [
            Dot(
                table.readers[reader],
                float(gains[place, reader]),
                model=self._coloured(name),
                remark=_two_digits(float(mine[reader])),
                hollow=name in self.hollow,
            )
            for reader in order[:SHOWN]
            for place, name in enumerate(names)
            if math.isfinite(gains[place, reader])
        ]
        means = [
            (name if table.arms else whom, claim)
            for name in (names if table.arms else [self.leader])
            for whom, claim in self.populations(name).items()
        ]
        rows += [
            Dot(
                label, claim.value, claim.low, claim.high,
                self._coloured(claim.estimand.competitor),
                remark=_two_digits(claim.value), strong=True,
            )
            for label, claim in means
            if claim
        ]  # fmt: skip
        title = table.titles[table.rows[lead].measure]
        people, gold = self.nouns.annotators, table.truth == GOLD and not table.arms
        return Dots(
            name="readers-gold" if gold else "readers",
            caption=f"Gain in {title}, {self.truth}. Each dot one {self.who}; numbers and the "
            f"last rows: {names[lead]}, mean over {people}, {self.level}.",
            axis=f"gain in {title}",
            rows=rows,
            zero=True,
            zero_title="as without" if table.arms else f"as the {self.nouns.annotator}",
            margin=table.settings.margin,
        )

    def _coloured(self, competitor: str) -> str:
        """Whose colour a dot has; arms have none."""
        return "" if competitor in self.table.arms else competitor


def readers_finding(
    study: Study,
    *,
    nouns: Nouns | None = None,
    hollow: Sequence[str] = (),
    tables: Sequence[ReaderTable] | None = None,
) -> Finding:
    """Models next to readers, by every truth that there is; arms of readers.

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
        tables = (reader_study(study),)
    elif tables is None:
        tables = reader_tables(study)
    return _finding(
        study,
        [_Page(table, table.claims(possible), leader, hollow, nouns) for table in tables],
        "" if len(possible) == len(tables[0].models) else ", those of others over all models",
    )


def arms_finding(votes: Annotations) -> Finding | None:
    """Readers by arm where there are no models; None without arms, a standard, or yes and no.

    Parameters
    ----------
    votes
        Of people with names, and gold.
    """
    study = arms_study(votes)
    if study is None:
        return None
    table = reader_study(study)
    return replace(_finding(study, [_Page(table, table.claims(()), "")], ""), key="arms")


def _finding(study: Study, pages: Sequence[_Page], others: str) -> Finding:
    """All pages as one; `others` is what else intervals hold over."""
    arms, people = bool(pages[0].table.arms), pages[0].nouns.annotators
    first, *more = [" ".join(page.sentences()) for page in pages]
    title = f"Models against {people}"
    if arms:
        title = f"Models and {people} against the reference standard"
    return Finding(
        key=KEY,
        title=title,
        sentence=first,
        more=tuple(more),
        charts=tuple(page.chart() for page in pages),
        tables=_tables(pages, others),
        note=ARMS_NOTE if arms else NOTE,
        methods=ARMS_METHODS if arms else METHODS,
        references=("obuchowski1995", "hillis2007") if arms else (),
        claims=tuple(claim for page in pages for claim in page.claims.values()),
        notices=(
            *study.annotations.notices,
            *study.dropped,
            *dict.fromkeys(notice for page in pages for notice in page.table.notices),
        ),
        nav="Readers",
    )


def _tables(pages: Sequence[_Page], others: str) -> tuple[Table, Table]:
    """Means over readers, and every reader."""
    words = {"others": "the other readers", GOLD: "reference standard"}
    truth = [Column("truth", "truth", words=words)] * (len(pages) > 1)
    who = columns(model="model", competitor="text")
    first, arms = pages[0], pages[0].table.arms
    legend = ARMS_LEGEND if arms else LEGEND
    return (
        Table(
            name="models_against_readers",
            caption="Models against readers, mean over readers",
            columns=(
                *truth,
                *who,
                *columns(against="text", measure="text"),
                spanned("these_readers", "gain, these readers", "change"),
                spanned("like_these", "gain, readers like these", "change"),
                *columns(above="text", p="p", df="number", readers="count", design="text"),
            ),
            rows=[row for page in pages for row in page.mean_rows()],
            legend=legend.format(level=first.level, others=others),
        ),
        Table(
            name="readers",
            caption=f"Every {first.who} against every reader; each interval by itself, for "
            "items like these and this reader",
            columns=(
                *truth,
                *columns(task="text", reader="text", items="count"),
                *who,
                *columns(measure="text"),
                Column("reader_value", "without" if arms else "reader's", "number"),
                Column("value", "with, or model's" if arms else "model's", "number"),
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
    best = done.models[
        np.lexsort((np.array(done.models), -np.nan_to_num(good, nan=-math.inf)))[0]
    ]
    family = done.family(metric.name, labels=labels, task=task)
    possible = tuple(m for m, first in zip(done.models, family.best, strict=True) if first)
    return best, tuple(dict.fromkeys((*possible, best)))


def _spanned(name: str, value_and_ends: Sequence[float]) -> dict[str, Cell]:
    return dict(zip((name, f"{name}_low", f"{name}_high"), value_and_ends, strict=True))


def _in_hundred(gain: float) -> str:
    """How many more or fewer in 100."""
    size = 100 * abs(gain)
    if size == 0:
        return "as many"
    many = number(size, 0) if size >= 0.5 else "less than 1"
    return f"{many} in 100 {'more' if gain > 0 else 'fewer'}"


def _two_digits(value: float) -> str:
    return change(round(value, 2), 2) if math.isfinite(value) else UNDEFINED
