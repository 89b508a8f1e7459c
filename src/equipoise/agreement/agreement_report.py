"""What is said of agreement: the summary of one task, kept in runs, and its findings.

A summary holds what surfaces show: all coefficients and annotators, and of the pairs the matrix
of those with most votes and the pairs at both ends. It goes into a run as JSON and comes back
from it, so that a page of an old run is made by the same code as a new one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.agreement._study import NAMES, Coefficient, Person
from equipoise.agreement.cohen_kappa import WEIGHTS, Pairs
from equipoise.agreement.krippendorff_alpha import LEVELS
from equipoise.agreement.words import TENTATIVE, landis_koch
from equipoise.arrays import Floats
from equipoise.findings import Cell, Chart, Column, Dot, Dots, Finding, Heat, Row, Table
from equipoise.notices import Notice
from equipoise.numbers import count, estimate, number, percent

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
METHODS = (
    "Agreement of the annotators was measured by coefficients [@krippendorff2004; @cohen1960]"
)
TERMS = (
    (
        "Krippendorff’s alpha",
        "One minus observed over expected disagreement of all pairs of votes on the same item. "
        "Any number of annotators, missing votes and counts; the level says how far apart two "
        "labels are. At least 0.8 is reliable, 0.667 enough for tentative conclusions.",
    ),
    (
        "Fleiss’ kappa",
        "Share of agreeing pairs of votes, beyond what the shares of classes would give by "
        "chance. Annotators are interchangeable, items count alike.",
    ),
    (
        "Cohen’s kappa",
        "The same for two annotators on the items both rated, with the habits of each. The "
        "mean weighs pairs by the items they share. Words are those of Landis and Koch, a "
        "convention: slight to 0.2, fair to 0.4, moderate to 0.6, substantial to 0.8.",
    ),
    (
        "Percent agreement",
        "How often two votes on the same item are the same; chance is not taken off, so a "
        "common class makes it large.",
    ),
    (
        "Others’ first choice, reading agreement",
        "How often a vote or reading names what the others on the same item put first.",
    ),
    (
        "Alpha without",
        "Krippendorff’s alpha of all other annotators: higher than alpha means that this "
        "annotator pulls it down.",
    ),
    (
        "Interval",
        "Middle 95% of the coefficient over resamples of items, or of whole groups of items. "
        "Annotators are held fixed: it speaks for items like these, read by these people.",
    ),
)


class Pair(NamedTuple):
    """Two annotators, the kappa between them, the items they share, and its word."""

    first: str
    second: str
    kappa: float
    items: int
    words: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PairSummary:
    """What is shown of the pairs.

    Attributes
    ----------
    people
        How many annotators there are.
    annotators
        Those with most votes, the highest mean kappa first.
    kappa, items
        Between them: kappa and items shared, shape (annotators, annotators).
    closest, furthest
        The pairs that agree most and least, of all annotators; none is in both.
    """

    people: int
    annotators: tuple[str, ...]
    kappa: Floats
    items: Floats
    closest: tuple[Pair, ...]
    furthest: tuple[Pair, ...]

    @classmethod
    def of(cls, pairs: Pairs, shown: int = SHOWN) -> "PairSummary":
        """Take at most so many annotators into the matrix."""
        closest, furthest = _ends(pairs)
        mean = np.nan_to_num(pairs.mean_of_each[:shown], nan=-2.0)
        order = np.argsort(-mean, kind="stable")
        grid = np.ix_(order, order)
        return cls(
            people=len(pairs.annotators),
            annotators=tuple(pairs.annotators[a] for a in order),
            kappa=pairs.kappa[grid],
            items=pairs.items[grid],
            closest=closest,
            furthest=furthest,
        )

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "PairSummary":
        """Take what a run holds."""
        return cls(
            people=stored["people"],
            annotators=tuple(stored["annotators"]),
            kappa=np.array(stored["kappa"], dtype=np.float64),
            items=np.array(stored["items"], dtype=np.float64),
            closest=tuple(Pair(**one) for one in stored["closest"]),
            furthest=tuple(Pair(**one) for one in stored["furthest"]),
        )

    def as_json(self) -> dict[str, object]:
        """For a run."""
        return {
            "people": self.people,
            "annotators": list(self.annotators),
            "kappa": [[_known(one) for one in line] for line in self.kappa.tolist()],
            "items": self.items.tolist(),
            "closest": [one._asdict() for one in self.closest],
            "furthest": [one._asdict() for one in self.furthest],
        }

    def rows(self) -> list[Row]:
        """All pairs of few annotators, else those at both ends."""
        size = len(self.annotators)
        if self.people > size or size * (size - 1) // 2 > LISTED:
            return self.end_rows()
        return [
            {
                "first": self.annotators[i],
                "second": self.annotators[j],
                "kappa": float(self.kappa[i, j]),
                "words": landis_koch(float(self.kappa[i, j])),
                "items": int(self.items[i, j]),
            }
            for i in range(size)
            for j in range(i + 1, size)
        ]

    def end_rows(self) -> list[Row]:
        """The pairs that agree most, then those that agree least."""
        return [one._asdict() for one in (*self.closest, *self.furthest)]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AgreementSummary:
    """What is shown of the agreement on one task; see `AgreementTable` for the fields."""

    task: str
    kind: str
    level: str
    weights: str
    items: int
    votes: int
    coefficients: tuple[Coefficient, ...]
    annotators: tuple[Person, ...]
    pairs: PairSummary | None
    cautions: tuple[Notice, ...]
    scope: str

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "AgreementSummary":
        """Take what a run holds."""
        plain = {name: stored[name] for name in _PLAIN}
        return cls(
            **plain,
            coefficients=tuple(_coefficient(one) for one in stored["coefficients"]),
            annotators=tuple(Person(**_numbers(one)) for one in stored["annotators"]),
            pairs=None if stored["pairs"] is None else PairSummary.from_json(stored["pairs"]),
            cautions=tuple(
                Notice("recorded", "{text}", (), {"text": text}) for text in stored["cautions"]
            ),
        )

    def as_json(self) -> dict[str, object]:
        """For a run, and for people who asked for JSON; undefined is None."""
        rows = [one._asdict() for one in self.coefficients]
        return {
            **{name: getattr(self, name) for name in _PLAIN},
            "cautions": [str(one) for one in self.cautions],
            "coefficients": [
                {name: _known(one) for name, one in row.items() if name != "measure"}
                for row in rows
            ],
            "annotators": [
                {name: _known(one) for name, one in person._asdict().items()}
                for person in self.annotators
            ],
            "pairs": None if self.pairs is None else self.pairs.as_json(),
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
        first, *others = self.findings()
        parts = (first, *others)
        sentences = (text for one in others for text in (one.sentence, *one.more) if text)
        return replace(
            first,
            more=(*first.more, *sentences),
            tables=tuple(table for one in parts for table in one.tables),
            charts=tuple(chart for one in parts for chart in one.charts),
        )

    def _coefficients(self) -> Finding:
        by_measure = {one.measure: one for one in self.coefficients}
        same, more = by_measure.get("percent"), [f"{', '.join(self.known)}."]
        if same is not None and not np.isnan(same.value):
            share = percent(same.value)
            more.append(
                f"Two votes on the same item agree {share} of the time, chance included."
            )
        rows = [
            {"task": self.task, **{k: v for k, v in one._asdict().items() if k != "measure"}}
            for one in self.coefficients
        ]
        columns = [
            Column("name", "coefficient"),
            Column("value", "value, 95% interval", "number", ("low", "high")),
            Column("words", "in words"),
            Column("items", "items", "count"),
            Column("votes", "readings" if self.kind == "ranking" else "votes", "count"),
        ]
        table = Table(
            name="agreement",
            caption="Coefficients of agreement",
            columns=columns,
            rows=rows,
            legend="1 is perfect, 0 what chance gives where the coefficient corrects for it. "
            f"{self.scope}",
            open=True,
        )
        return Finding(
            key="agreement",
            title=f"{TITLE[:-1]} on {self.task}?" if self.task else TITLE,
            sentence=self.finding,
            more=tuple(more),
            tables=(table,),
            charts=(self._forest(),),
            note=self.scope,
            methods=METHODS,
            references=("krippendorff2004", "cohen1960"),
            notices=tuple(one.of(self.task) for one in self.cautions),
        )

    def _forest(self) -> Chart:
        alpha = any(one.measure == "alpha" for one in self.coefficients)
        caption = "Coefficients and their 95% intervals over items"
        if alpha:
            caption += "; dashed: 0.667, Krippendorff’s least alpha for tentative conclusions"
        return Dots(
            name="agreement",
            caption=caption,
            axis="agreement",
            rows=[
                Dot(SHORT.get(one.measure, one.name), one.value, one.low, one.high,
                    remark=number(one.value, 2))
                for one in self.coefficients
            ],
            zero=True,
            reference=TENTATIVE if alpha else None,
        )  # fmt: skip

    def _people(self) -> Finding | None:
        title = "Who agrees with the others?"
        if not self.annotators:
            text = "The votes are anonymous, so nothing can be said of single annotators."
            return Finding(key="agreement_annotators", title=title, sentence=text, brief=False)
        parts = {
            "kappa": Column("kappa", "mean kappa with others", "number"),
            "agreement": Column("agreement", "same as others", "percent"),
            "alpha_without": Column("alpha_without", "alpha without", "number"),
        }
        rows = [one._asdict() for one in self.annotators]
        some = f", the {BRIEF} with most votes" if len(rows) > BRIEF else ", most votes first"
        table = Table(
            name="agreement_annotators",
            caption=f"Annotators{some}",
            columns=[
                Column("annotator", "annotator"),
                Column("votes", "votes", "count"),
                Column("items", "items shared", "count"),
                *(c for k, c in parts.items() if any(row[k] == row[k] for row in rows)),
            ],
            rows=rows,
            brief=rows[:BRIEF],
            open=len(rows) <= 15,
        )
        return Finding(
            key="agreement_annotators",
            title=title,
            sentence=self._spread(),
            tables=(table,),
        )

    def _spread(self) -> str:
        """Who agrees most and least with the others, and whose absence would change most."""
        known = sorted((one for one in self.annotators if one.kappa == one.kappa), key=_kappa)
        if len(known) < 2:
            return ""
        low, high = (
            f"{number(one.kappa)} ({one.annotator}, {count(one.votes, 'vote')})"
            for one in (known[0], known[-1])
        )
        text = f"The mean kappa with the others runs from {low} to {high}."
        left = [one for one in self.annotators if one.alpha_without == one.alpha_without]
        if len(left) < 3:
            return text
        most = max(left, key=lambda one: one.alpha_without)
        return (
            f"{text} Alpha is highest without {most.annotator}: {number(most.alpha_without)}."
        )

    def _pairs(self) -> Finding | None:
        title = "Which annotators agree with whom?"
        pairs = self.pairs
        if pairs is None or np.isnan(pairs.kappa).all():
            if not self.annotators:
                return None
            why = {
                "interval": "Ratings are numbers, so pairs have no kappa.",
                "ranking": "Rankings are not single labels, so pairs have no kappa.",
            }.get(self.kind, "No pair of annotators has a kappa.")
            return Finding(key="agreement_pairs", title=title, sentence=why, brief=False)
        every = pairs.rows()
        table = Table(
            name="agreement_pairs",
            caption="Pairs that agree most, then those that agree least"
            if every == pairs.end_rows()
            else "Cohen's kappa of all pairs",
            columns=[
                Column("first", "first"),
                Column("second", "second"),
                Column("kappa", "kappa", "number"),
                Column("words", "in words"),
                Column("items", "items shared", "count"),
            ],
            rows=every,
            brief=pairs.end_rows(),
        )
        return Finding(
            key="agreement_pairs",
            title=title,
            sentence=_ends_sentence(pairs),
            tables=(table,),
            charts=(self._heat(pairs),),
        )

    def _heat(self, pairs: PairSummary) -> Chart:
        shown, total = len(pairs.annotators), pairs.people
        some = f", the {shown} annotators with most votes of {total:,}" if shown < total else ""
        weighted = "" if self.weights == "none" else f" with {self.weights} weights"
        known = int(np.isfinite(pairs.kappa).sum()) // 2
        texts = [
            ["" if v != v else number(v, 2) for v in line] for line in pairs.kappa.tolist()
        ]
        return Heat(
            name="agreement-pairs",
            caption=f"Cohen’s kappa{weighted} of every pair{some}; highest mean kappa first, "
            "columns numbered as the rows; empty: no item shared",
            alternative=f"Heatmap of Cohen's kappa between {shown} annotators; {known} of "
            f"{shown * (shown - 1) // 2} pairs are defined.",
            rows=[f"{name} {place}" for place, name in enumerate(pairs.annotators, start=1)],
            columns=[str(place) for place in range(1, shown + 1)],
            values=pairs.kappa.astype(np.float64),
            scale="signed",
            texts=texts if shown <= NUMBERED else (),
        )


_PLAIN = ("task", "kind", "level", "weights", "items", "votes", "scope")


def agreement_findings(summaries: Sequence[AgreementSummary]) -> tuple[Finding, ...]:
    """Findings of one task, or an overview of several and those of each under its name."""
    every = tuple(one for summary in summaries for one in summary.findings())
    if len(summaries) < 2:
        return every
    return (agreement_overview(summaries), *(replace(one, brief=False) for one in every))


def agreement_overview(summaries: Sequence[AgreementSummary]) -> Finding:
    """All tasks, those with the highest agreement first."""
    order = sorted(summaries, key=lambda one: -_first(one))
    names = dict.fromkeys(c.name for one in summaries for c in one.coefficients)
    rows: list[dict[str, Cell]] = []
    for one in order:
        known = {c.name: c for c in one.coefficients}
        row: dict[str, Cell] = {"task": one.task, "items": one.items}
        for place, name in enumerate(names):
            found = known.get(name)
            row |= {
                name: "" if found is None else found.value,
                f"{place}_low": None if found is None else found.low,
                f"{place}_high": None if found is None else found.high,
            }
        rows.append(row | {"words": one.coefficients[0].words})
    columns = [
        Column("task", "task"),
        Column("items", "items", "count"),
        *(
            Column(
                name, name, "number", (f"{place}_low", f"{place}_high") if not place else None
            )
            for place, name in enumerate(names)
        ),
        Column("words", "in words"),
    ]
    defined = [one for one in order if not np.isnan(one.coefficients[0].value)]
    text = "Agreement is undefined for every task."
    if defined:
        high, low = defined[0], defined[-1]
        text = (
            f"{high.coefficients[0].name} runs from {number(_first(low))} ({low.task}) to "
            f"{number(_first(high))} ({high.task})."
        )
    return Finding(
        key="agreement",
        title=TITLE,
        sentence=text,
        tables=(
            Table(
                name="agreement_tasks",
                caption="Agreement by task; 1 is perfect, 0 what chance gives where corrected "
                "for it",
                columns=columns,
                rows=rows,
                open=True,
                legend=summaries[0].scope,
            ),
        ),
        methods=METHODS,
        references=("krippendorff2004", "cohen1960"),
        notices=tuple(n.of(one.task) for one in summaries for n in one.cautions),
    )


def _first(summary: AgreementSummary) -> float:
    value = summary.coefficients[0].value
    return -9.0 if np.isnan(value) else value


def _kappa(person: Person) -> float:
    return person.kappa


def _ends_sentence(pairs: PairSummary) -> str:
    """Name the closest and the furthest pair."""

    def named(pair: Pair, end: str) -> str:
        numbers = f"{number(pair.kappa)}, {pair.words}, sharing {count(pair.items, 'item')}"
        return f"{pair.first} and {pair.second}{end} ({numbers})"

    text = named(pairs.closest[0], " agree most")
    return f"{text}, {named(pairs.furthest[0], ' least')}." if pairs.furthest else f"{text}."


def _ends(pairs: Pairs) -> tuple[tuple[Pair, ...], tuple[Pair, ...]]:
    """The pairs that agree most and least; none twice."""
    a, b = np.triu_indices(len(pairs.annotators), 1)
    kappa, items = pairs.kappa[a, b], pairs.items[a, b]
    known = np.isfinite(kappa)
    many = known & (items >= ENOUGH)
    use = np.flatnonzero(many if many.any() else known)
    order = use[np.argsort(-kappa[use], kind="stable")]
    half = min(EXTREME, (len(order) + 1) // 2)
    rows = tuple(
        Pair(
            first=pairs.annotators[a[p]],
            second=pairs.annotators[b[p]],
            kappa=float(kappa[p]),
            items=int(items[p]),
            words=landis_koch(float(kappa[p])),
        )
        for p in [*order[:half], *order[::-1][: min(EXTREME, len(order) - half)]]
    )
    return rows[:half], rows[half:]


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def _numbers(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.nan if value is None else value for name, value in row.items()}


def _coefficient(stored: Mapping[str, Any]) -> Coefficient:
    """A coefficient of a run, which knows it by its name."""
    return Coefficient(**_numbers(stored), measure=_MEASURES.get(stored["name"], ""))


_MEASURES = {
    **{name: measure for measure, name in NAMES.items()},
    **{f"{NAMES['alpha']} ({level})": "alpha" for level in LEVELS},
    f"{NAMES['fleiss']} (nominal)": "fleiss",
    **{f"{NAMES['cohen']}, {weights} weights": "cohen" for weights in WEIGHTS[1:]},
}
