"""What is said of agreement: the table of one task, its findings, and how it is kept in runs.

Surfaces show all coefficients and annotators, and of the pairs the matrix of those with most
votes and the pairs at both ends. A table goes into a run as JSON and comes back from it, so
that a page of an old run is made by the same code as a new one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.truth.agreement._study import NAMES, Coefficient, Person
from equipoise.truth.agreement.cohen_kappa import WEIGHTS, Pairs, landis_koch
from equipoise.truth.agreement.krippendorff_alpha import LEVELS, TENTATIVE
from equipoise.types.arrays import short_repr
from equipoise.types.findings import (
    Cell,
    Chart,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Row,
    Table,
    columns,
)
from equipoise.types.findings.json import plain
from equipoise.types.notices import Notice
from equipoise.types.numbers import count, estimate, number, percent

SHOWN = 60  # annotators in the matrix of pairs, those with most votes
ENOUGH = 10  # items that a pair must share to be called close or far, if any does
EXTREME = 5  # pairs named at each end
LISTED = 60  # pairs beyond which only the ends are listed
BRIEF = 20  # annotators in a terminal
NUMBERED = 20  # annotators beyond which cells of the matrix hold no numbers
TITLE = "How far do annotators agree?"
SHORT = {
    "alpha": "Krippendorff’s alpha",
    "fleiss": "Fleiss’ kappa",
    "cohen": "Cohen’s kappa, mean",
    "percent": "percent agreement",
    "others": "others’ first choice",
    "readings": "reading agreement",
}
REFERENCES = ("krippendorff2004", "cohen1960")
METHODS = (
    "Agreement of the annotators was measured by coefficients [@krippendorff2004; @cohen1960]"
)
TERMS = tuple(
    {
        "Krippendorff’s alpha": "One minus observed over expected disagreement of all pairs of "
        "votes on the same item. Any number of annotators, missing votes and counts; the level "
        "says how far apart two labels are. At least 0.8 is reliable, 0.667 enough for "
        "tentative conclusions.",
        "Fleiss’ kappa": "Share of agreeing pairs of votes, beyond what the shares of classes "
        "would give by chance. Annotators are interchangeable, items count alike.",
        "Cohen’s kappa": "The same for two annotators on the items both rated, with the habits "
        "of each. The mean weighs pairs by the items they share. Words are those of Landis and "
        "Koch, a convention: slight to 0.2, fair to 0.4, moderate to 0.6, substantial to 0.8.",
        "Percent agreement": "How often two votes on the same item are the same; chance is not "
        "taken off, so a common class makes it large.",
        "Others’ first choice, reading agreement": "How often a vote or reading names what the "
        "others on the same item put first.",
        "Alpha without": "Krippendorff’s alpha of all other annotators: higher than alpha "
        "means that this annotator pulls it down.",
        "Interval": "Middle 95% of the coefficient over resamples of items, or of whole groups "
        "of items. Annotators are held fixed: it speaks for items like these, read by these "
        "people.",
    }.items()
)
JSON_KEYS = ("task", "kind", "level", "weights", "items", "votes", "scope")
_MEASURES = {
    **{name: measure for measure, name in NAMES.items()},
    **{f"{NAMES['alpha']} ({level})": "alpha" for level in LEVELS},
    f"{NAMES['fleiss']} (nominal)": "fleiss",
    **{f"{NAMES['cohen']}, {weights} weights": "cohen" for weights in WEIGHTS[1:]},
}


class Pair(NamedTuple):
    """Two annotators, the kappa between them, the items they share, and its word."""

    first: str
    second: str
    kappa: float
    items: int
    words: str

    @classmethod
    def of(cls, pairs: Pairs, a: int, b: int) -> "Pair":
        """Take a cell of the matrix."""
        kappa, names = float(pairs.kappa[a, b]), pairs.annotators
        return cls(names[a], names[b], kappa, int(pairs.items[a, b]), landis_koch(kappa))


class _PairSummary(NamedTuple):
    """What is shown of the pairs.

    Attributes
    ----------
    people
        How many annotators there are.
    matrix
        Kappa and items shared of those with most votes, the highest mean kappa first.
    closest, furthest
        The pairs that agree most and least, of all annotators; none is in both.
    """

    people: int
    matrix: Pairs
    closest: tuple[Pair, ...]
    furthest: tuple[Pair, ...]

    @classmethod
    def of(cls, pairs: Pairs, shown: int = SHOWN) -> "_PairSummary":
        """Take at most so many annotators into the matrix."""
        a, b = np.triu_indices(len(pairs.annotators), 1)
        kappa = pairs.kappa[a, b]
        known = np.isfinite(kappa)
        many = known & (pairs.items[a, b] >= ENOUGH)
        use = np.flatnonzero(many if many.any() else known)
        falling = use[np.argsort(-kappa[use], kind="stable")]
        half = min(EXTREME, (len(falling) + 1) // 2)
        last = falling[::-1][: min(EXTREME, len(falling) - half)]
        closest, furthest = (
            tuple(Pair.of(pairs, a[p], b[p]) for p in end) for end in (falling[:half], last)
        )
        mean = np.nan_to_num(pairs.mean_of_each[:shown], nan=-2.0)
        order = np.argsort(-mean, kind="stable")
        names, grid = tuple(pairs.annotators[a] for a in order), np.ix_(order, order)
        matrix = Pairs(names, pairs.kappa[grid], pairs.items[grid])
        return cls(len(pairs.annotators), matrix, closest, furthest)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "_PairSummary":
        """Take what a run holds."""
        kappa, items = (np.array(stored[name], dtype=float) for name in ("kappa", "items"))
        ends = (tuple(Pair(**one) for one in stored[end]) for end in ("closest", "furthest"))
        return cls(stored["people"], Pairs(tuple(stored["annotators"]), kappa, items), *ends)

    def as_json(self) -> dict[str, object]:
        """For a run."""
        return {
            "people": self.people,
            "annotators": list(self.matrix.annotators),
            "kappa": plain(self.matrix.kappa.tolist()),
            "items": self.matrix.items.tolist(),
            "closest": [one._asdict() for one in self.closest],
            "furthest": [one._asdict() for one in self.furthest],
        }

    def rows(self) -> list[Row]:
        """All pairs of few annotators, else those at both ends."""
        size = len(self.matrix.annotators)
        if self.people > size or size * (size - 1) // 2 > LISTED:
            return self.end_rows()
        every = (Pair.of(self.matrix, i, j) for i in range(size) for j in range(i + 1, size))
        order = ("first", "second", "kappa", "words", "items")
        return [{key: getattr(one, key) for key in order} for one in every]

    def end_rows(self) -> list[Row]:
        """The pairs that agree most, then those that agree least."""
        return [one._asdict() for one in (*self.closest, *self.furthest)]

    @property
    def finding(self) -> str:
        """Name the closest and the furthest pair."""
        ends = {" agree most": self.closest, " least": self.furthest}
        parts = [
            f"{one.first} and {one.second}{how} ({number(one.kappa)}, {one.words}, sharing "
            f"{count(one.items, 'item')})"
            for how, pairs in ends.items()
            for one in pairs[:1]
        ]
        return f"{', '.join(parts)}."


class AgreementTable(NamedTuple):
    """Everything that was found about the agreement on one task.

    Attributes
    ----------
    task, kind, level, weights
        Which question, the kind of its labels, the level of alpha, and Cohen's weights.
    items, votes
        How many items and votes there are, gold rows aside; readings where labels are ranked.
    coefficients
        One row each: name, value, interval, words, and the items and votes it rests on.
    annotators
        Those who voted, most votes first; empty when votes are anonymous.
    pairs
        Cohen's kappa of all pairs, most votes first; None without single labels by known
        annotators.
    cautions
        What to keep in mind.
    scope
        What the intervals speak for.
    shown
        What is shown of the pairs, which is all that a run keeps of them.
    """

    task: str
    kind: str
    level: str
    weights: str
    items: int
    votes: int
    coefficients: tuple[Coefficient, ...]
    annotators: tuple[Person, ...]
    pairs: Pairs | None
    cautions: tuple[Notice, ...]
    scope: str
    shown: _PairSummary | None = None

    def __repr__(self) -> str:
        return short_repr(self)

    def summary(self, *, shown: int = SHOWN) -> "AgreementTable":
        """The same with a matrix of at most so many annotators."""
        some = None if self.pairs is None else _PairSummary.of(self.pairs, shown)
        return self._replace(shown=some)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "AgreementTable":
        """Take what a run holds, which knows coefficients by their names."""
        rows, people = (stored[part] for part in ("coefficients", "annotators"))
        pairs = stored["pairs"]
        return cls(
            **{name: stored[name] for name in JSON_KEYS},
            coefficients=tuple(
                Coefficient(**_numbers(row), measure=_MEASURES.get(row["name"], ""))
                for row in rows
            ),
            annotators=tuple(Person(**_numbers(row)) for row in people),
            pairs=None,
            cautions=tuple(
                Notice("recorded", "{text}", (), {"text": text}) for text in stored["cautions"]
            ),
            shown=None if pairs is None else _PairSummary.from_json(pairs),
        )

    def as_json(self) -> dict[str, object]:
        """For a run, and for people who asked for JSON; undefined is None."""
        return {
            **{name: getattr(self, name) for name in JSON_KEYS},
            "cautions": [str(one) for one in self.cautions],
            "coefficients": [plain(one.row()) for one in self.coefficients],
            "annotators": [plain(one._asdict()) for one in self.annotators],
            "pairs": None if self.shown is None else self.shown.as_json(),
        }

    @property
    def finding(self) -> str:
        """The agreement in one sentence."""
        first = self.coefficients[0]
        if np.isnan(first.value):
            return f"{first.name} is undefined here."
        text = f"{first.name} is {estimate(first.value, first.low, first.high)}"
        return f"{text}." if first.measure == "readings" else f"{text}, {first.words}."

    @property
    def known(self) -> tuple[str, ...]:
        """How much there is: items, votes and annotators."""
        who = len(self.annotators)
        return (
            count(self.items, "item"),
            count(self.votes, "reading" if self.kind == "ranking" else "vote"),
            count(who, "annotator") if who else "anonymous votes",
        )

    def findings(self) -> tuple[Finding, ...]:
        """Coefficients, annotators and pairs, each by itself."""
        parts = (self._coefficients(), self._people(), self._pairs())
        return tuple(one.under(task=self.task) for one in parts if one is not None)

    def report(self) -> Finding:
        """Coefficients, annotators and pairs as one finding."""
        first, *others = parts = self.findings()
        sentences = (text for one in others for text in (one.sentence, *one.more) if text)
        return replace(
            first,
            more=(*first.more, *sentences),
            tables=tuple(table for one in parts for table in one.tables),
            charts=tuple(chart for one in parts for chart in one.charts),
        )

    def _coefficients(self) -> Finding:
        more = [f"{', '.join(self.known)}."] + [
            f"Two votes on the same item agree {percent(one.value)} of the time, chance "
            "included."
            for one in self.coefficients
            if one.measure == "percent" and not np.isnan(one.value)
        ]
        table = Table(
            name="agreement",
            caption="Coefficients of agreement",
            columns=[
                Column("name", "coefficient"),
                Column("value", "value, 95% interval", "number", ("low", "high")),
                Column("words", "in words"),
                Column("items", "items", "count"),
                Column("votes", "readings" if self.kind == "ranking" else "votes", "count"),
            ],
            rows=[{"task": self.task, **one.row()} for one in self.coefficients],
            legend="1 is perfect, 0 what chance gives where the coefficient corrects for it. "
            f"{self.scope}",
            open=True,
        )
        alpha = any(one.measure == "alpha" for one in self.coefficients)
        caption = "Coefficients and their 95% intervals over items"
        if alpha:
            caption += "; dashed: 0.667, Krippendorff’s least alpha for tentative conclusions"
        dots = [
            Dot(SHORT.get(c.measure, c.name), *c[1:4], remark=number(c.value, 2))
            for c in self.coefficients
        ]
        forest = Dots(
            name="agreement",
            caption=caption,
            axis="agreement",
            rows=dots,
            zero=True,
            reference=TENTATIVE if alpha else None,
        )
        return Finding(
            key="agreement",
            title=f"{TITLE[:-1]} on {self.task}?" if self.task else TITLE,
            sentence=self.finding,
            more=tuple(more),
            tables=(table,),
            charts=(forest,),
            note=self.scope,
            methods=METHODS,
            references=REFERENCES,
            notices=tuple(one.of(self.task) for one in self.cautions),
        )

    def _people(self) -> Finding:
        key, title = "agreement_annotators", "Who agrees with the others?"
        if not self.annotators:
            text = "The votes are anonymous, so nothing can be said of single annotators."
            return Finding(key=key, title=title, sentence=text, brief=False)
        parts = (
            Column("kappa", "mean kappa with others", "number"),
            Column("agreement", "same as others", "percent"),
            Column("alpha_without", "alpha without", "number"),
        )
        rows = [one._asdict() for one in self.annotators]
        some = f", the {BRIEF} with most votes" if len(rows) > BRIEF else ", most votes first"
        table = Table(
            name=key,
            caption=f"Annotators{some}",
            columns=[
                *columns(annotator="text", votes="count"),
                Column("items", "items shared", "count"),
                *(c for c in parts if any(row[c.key] == row[c.key] for row in rows)),
            ],
            rows=rows,
            brief=rows[:BRIEF],
            open=len(rows) <= 15,
        )
        return Finding(key=key, title=title, sentence=self._spread(), tables=(table,))

    def _spread(self) -> str:
        """Who agrees most and least with the others, and whose absence would change most."""
        people = self.annotators
        known = sorted((p for p in people if p.kappa == p.kappa), key=lambda p: p.kappa)
        if len(known) < 2:
            return ""
        low, high = (
            f"{number(one.kappa)} ({one.annotator}, {count(one.votes, 'vote')})"
            for one in (known[0], known[-1])
        )
        text = f"The mean kappa with the others runs from {low} to {high}."
        left = [one for one in people if one.alpha_without == one.alpha_without]
        if len(left) < 3:
            return text
        most = max(left, key=lambda one: one.alpha_without)
        return (
            f"{text} Alpha is highest without {most.annotator}: {number(most.alpha_without)}."
        )

    def _pairs(self) -> Finding | None:
        key, title, pairs = "agreement_pairs", "Which annotators agree with whom?", self.shown
        if pairs is None or np.isnan(pairs.matrix.kappa).all():
            why = {
                "interval": "Ratings are numbers, so pairs have no kappa.",
                "ranking": "Rankings are not single labels, so pairs have no kappa.",
            }.get(self.kind, "No pair of annotators has a kappa.")
            none = Finding(key=key, title=title, sentence=why, brief=False)
            return none if self.annotators else None
        rows, ends = pairs.rows(), pairs.end_rows()
        table = Table(
            name=key,
            caption="Pairs that agree most, then those that agree least"
            if rows == ends
            else "Cohen's kappa of all pairs",
            columns=[
                *columns("text", "first", "second"),
                Column("kappa", "kappa", "number"),
                Column("words", "in words"),
                Column("items", "items shared", "count"),
            ],
            rows=rows,
            brief=ends,
        )
        chart = (self._heat(pairs.matrix, pairs.people),)
        return Finding(
            key=key, title=title, sentence=pairs.finding, tables=(table,), charts=chart
        )

    def _heat(self, matrix: Pairs, total: int) -> Chart:
        shown, kappa = len(matrix.annotators), matrix.kappa
        some = f", the {shown} annotators with most votes of {total:,}" if shown < total else ""
        weighted = "" if self.weights == "none" else f" with {self.weights} weights"
        texts = [["" if v != v else number(v, 2) for v in line] for line in kappa.tolist()]
        return Heat(
            name="agreement-pairs",
            caption=f"Cohen’s kappa{weighted} of every pair{some}; highest mean kappa first, "
            "columns numbered as the rows; empty: no item shared",
            alternative=f"Heatmap of Cohen's kappa between {shown} annotators; "
            f"{int(np.isfinite(kappa).sum()) // 2} of {shown * (shown - 1) // 2} pairs are "
            "defined.",
            rows=[f"{name} {place}" for place, name in enumerate(matrix.annotators, start=1)],
            columns=[str(place) for place in range(1, shown + 1)],
            values=kappa.astype(np.float64),
            scale="signed",
            texts=texts if shown <= NUMBERED else (),
        )


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row with undefined numbers as nan."""
    return {name: np.nan if value is None else value for name, value in row.items()}


def agreement_findings(tables: Sequence[AgreementTable]) -> tuple[Finding, ...]:
    """Findings of one task, or an overview of several and those of each under its name."""
    every = tuple(one for table in tables for one in table.findings())
    if len(tables) < 2:
        return every
    return (agreement_overview(tables), *(replace(one, brief=False) for one in every))


def agreement_overview(tables: Sequence[AgreementTable]) -> Finding:
    """All tasks, those with the highest agreement first."""

    def first(table: AgreementTable) -> float:
        value = table.coefficients[0].value
        return -9.0 if np.isnan(value) else value

    order = sorted(tables, key=lambda one: -first(one))
    names = dict.fromkeys(c.name for one in tables for c in one.coefficients)
    rows: list[dict[str, Cell]] = []
    for one in order:
        known = {c.name: c for c in one.coefficients}
        row: dict[str, Cell] = {"task": one.task, "items": one.items}
        for name in names:
            ends: tuple[Cell, ...] = known[name][1:4] if name in known else ("", None, None)
            row |= dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))
        rows.append(row | {"words": one.coefficients[0].words})
    defined = [one for one in order if not np.isnan(one.coefficients[0].value)]
    text = "Agreement is undefined for every task."
    if defined:
        most, least = (
            f"{number(first(one))} ({one.task})" for one in (defined[0], defined[-1])
        )
        text = f"{defined[0].coefficients[0].name} runs from {least} to {most}."
    table = Table(
        name="agreement_tasks",
        caption="Agreement by task; 1 is perfect, 0 what chance gives where corrected for it",
        columns=[
            *columns(task="text", items="count"),
            *(
                Column(
                    name, name, "number", None if place else (f"{name}, low", f"{name}, high")
                )
                for place, name in enumerate(names)
            ),
            Column("words", "in words"),
        ],
        rows=rows,
        open=True,
        legend=tables[0].scope,
    )
    return Finding(
        key="agreement",
        title=TITLE,
        sentence=text,
        tables=(table,),
        methods=METHODS,
        references=REFERENCES,
        notices=tuple(n.of(one.task) for one in tables for n in one.cautions),
    )
