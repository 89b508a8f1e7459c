"""Finding: what an analysis says, as data that every surface renders.

A finding is a sentence, tables, charts, how it was done and what it rests on, made by the
analysis next to its numbers. Terminal, text files, methods, JSON and page are renderings of it;
none of them knows which analysis a finding came from. A `Report` is what one command has to
say: findings in their order, and what the reader needs to know about all of them.

JSON: findings for programs, numbers at full precision, undefined as null.

Bibliography: every source that a methods text may cite, as BibTeX by its key.

They stand in ``references.bib`` beside this file, an empty line between two. In a text a source
is cited as ``[@key]``.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from equipoise.types import numbers
from equipoise.types.arrays import InputError, Names
from equipoise.types.charts import (
    MAYBE,
    Chart,
    Dispute,
    Dot,
    Dots,
    Gallery,
    Heat,
    Line,
    Lines,
    Pattern,
    Picture,
    Point,
    Standing,
    Standings,
    Strip,
    Strips,
    Suspect,
    Worklist,
    distinct_lines,
)
from equipoise.types.claims import Claim
from equipoise.types.notices import Notices, worded
from equipoise.types.numbers import UNDEFINED
from equipoise.types.records import immutable
from equipoise.types.words import capital, hint, joined

__all__ = [
    "ENTRIES",
    "WRITERS",
    "Card",
    "Cell",
    "Chart",
    "Column",
    "Dispute",
    "Dot",
    "Dots",
    "Finding",
    "Gallery",
    "Heat",
    "JsonValue",
    "Kind",
    "Line",
    "Lines",
    "Pattern",
    "Picture",
    "Point",
    "Report",
    "Row",
    "Standing",
    "Standings",
    "Strip",
    "Strips",
    "Suspect",
    "Table",
    "Worklist",
    "as_json",
    "bibtex",
    "cell",
    "cite",
    "cited",
    "columns",
    "distinct_lines",
    "finding_json",
    "largest_by",
    "left_out",
    "plain",
    "reasons",
    "rows_of",
    "spanned",
]

Kind = Literal[
    "text", "model", "names", "number", "change", "percent", "count", "rank", "p", "figures",
    "duration", "resample_share", "bound", "hundredths",
]  # fmt: skip
Cell = str | float | int | bool | None | Sequence[str]
Row = Mapping[str, Cell]
FAMILIES = "Families"  # the term that lists them
CELLS = {"cells": True}  # of a field with rows of a table, for `equipoise.read.codec`
MOST_LETTERS = 240  # of an answer where it is one of many lines


@immutable
class Column:
    """A column of a table.

    Attributes
    ----------
    key
        Its key in the rows.
    head
        Its head, where people read.
    kind
        How values are written: ``model`` is the name of a model, ``names`` a list,
        ``figures`` two significant digits, ``change`` a signed difference, ``p`` a p-value,
        ``resample_share`` a share that shows neither 0% nor 100%, ``bound`` an upper bound,
        rounded outward, ``hundredths`` a share in per cent under a head that says so.
    ends
        Keys of the ends of the interval, which is written behind the value.
    brief
        Whether it is shown where room is scarce.
    words
        What names are called where people read, such as titles of metrics.
    under
        Key of the column below whose cells its own stand where a line is too long.
    """

    key: str
    head: str
    kind: Kind = "text"
    ends: tuple[str, str] | None = None
    brief: bool = True
    words: Mapping[str, str] = field(default_factory=dict)
    under: str = field(default="", metadata=MAYBE)

    @property
    def is_text(self) -> bool:
        """Whether it holds words, which stand on the left; numbers stand on the right."""
        return self.kind in ("text", "model", "names")


def columns(kind: Kind = "text", /, *keys: str, **kinds: Kind) -> tuple[Column, ...]:
    """Columns that are headed by their keys: some of one kind, others each of its own.

    Examples
    --------
    >>> [one.head for one in columns("count", "items", "votes_per_item")]
    ['items', 'votes per item']
    >>> [(one.head, one.kind) for one in columns(model="model", net_benefit="number")]
    [('model', 'model'), ('net benefit', 'number')]
    """
    kind_of = {**dict.fromkeys(keys, kind), **kinds}
    return tuple(
        Column(key, key.replace("_", " "), column_kind) for key, column_kind in kind_of.items()
    )


def spanned(key: str, head: str = "", kind: Kind = "number", *, brief: bool = True) -> Column:
    """A column with an interval, whose ends are ``low`` and ``high`` behind its key.

    Examples
    --------
    >>> spanned("gain", kind="change").ends
    ('gain_low', 'gain_high')
    """
    ends = (f"{key}_low", f"{key}_high")
    return Column(key, head or key.replace("_", " "), kind, ends, brief)


@immutable(kw_only=True)
class Table:
    """Rows with the columns that people read; files for machines hold every key of the rows.

    A column that is empty in every row, such as the task where there is only one, is left out.

    Attributes
    ----------
    name
        Of its files: ``tables/<name>.csv``.
    brief
        The few rows that a terminal shows; None is all of them, empty is none.
    legend
        What the columns mean, in a line.
    open
        Whether it stands open on the page, not folded under the chart.
    file, page
        Whether it is written as files, and whether it is on the page.
    download
        Whether the page offers it as a CSV file.
    """

    name: str
    caption: str
    columns: Sequence[Column]
    rows: Sequence[Row] = field(metadata=CELLS)
    brief: Sequence[Row] | None = field(default=None, metadata=CELLS)
    legend: str = ""
    open: bool = False
    file: bool = True
    page: bool = True
    download: bool = False

    def __post_init__(self) -> None:
        filled = [
            column
            for column in self.columns
            if any(row.get(column.key, "") != "" for row in self.rows)
        ]
        object.__setattr__(self, "columns", tuple(filled or self.columns))


@immutable(kw_only=True)
class Finding:
    """What one analysis found.

    Attributes
    ----------
    key, title
        Its anchor, and its heading, best a question.
    sentence
        The answer; `more` are further sentences.
    tables, charts
        The numbers behind it; the first table is the one that a terminal shows.
    note
        How to read it, and how it was done.
    methods
        A sentence for the methods of a paper, with sources as ``[@key]``.
    references
        Keys of the sources of everything that it says.
    notices
        What the reader should know about it.
    task, metric
        The choice of the reader under which it is shown; empty where it is shown under all.
    left_out
        Whether the data did not allow it; the sentence then says why.
    brief
        Whether a terminal shows it.
    evidence
        Whether the page folds it away under "Evidence", with its sentence.
    nav
        What the navigation of the page calls it; empty where it is not named there.
    claims
        What it asserts; its sentences say no more than these.
    about, verdict
        Of a question whether the verdict depends on something: on what, and the answer in a
        few words; empty where it is none. All of them are one section of the page.
    """

    key: str
    title: str
    sentence: str
    more: Names = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    note: str = ""
    methods: str = ""
    references: Names = ()
    notices: Notices = ()
    task: str = ""
    metric: str = ""
    left_out: bool = False
    brief: bool = True
    evidence: bool = False
    nav: str = ""
    claims: tuple[Claim, ...] = ()
    about: str = ""
    verdict: str = ""

    def under(self, *, task: str = "") -> "Finding":
        """The same, shown under a task that the reader chooses."""
        return replace(self, task=task, metric="")


@immutable(kw_only=True)
class Card:
    """The answer, as it stands on top of the page and of the terminal.

    Attributes
    ----------
    answer
        One sentence.
    lede
        The numbers behind it, in a sentence or two.
    standing
        Models, best first, and whether each is in the best group.
    holds_for, settled_by, caveat
        Whom it speaks for, what would settle what it leaves open, and the one thing that may
        change the decision; empty where there is none.
    claims
        What it asserts.
    """

    answer: str
    lede: str = ""
    standing: tuple[tuple[str, bool], ...] = ()
    holds_for: str = ""
    settled_by: str = ""
    caveat: str = ""
    claims: tuple[Claim, ...] = ()

    def __str__(self) -> str:
        return self.answer

    def __repr__(self) -> str:
        more = "..." if len(self.answer) > MOST_LETTERS else ""
        return f"Card({self.answer[:MOST_LETTERS] + more!r})"


@immutable(kw_only=True)
class Report:
    """What one command has to say.

    Attributes
    ----------
    title, scope, banner
        Heading, one sentence on what was looked at, and a warning above everything.
    models
        Names of the models, in the order of their colours.
    findings
        In the order in which they are shown.
    known
        A few numbers for the line under the title.
    terms
        What words mean: word and definition.
    settings
        What was asked: name and value.
    notices
        What the reader should know about everything.
    methods, references
        Sentences for the methods of a paper before those of the findings, and their sources.
    task
        The task that is in front where findings are of several.
    card
        The answer; where there is none, the first finding comes first.
    command
        What was typed, for the foot of the page.
    """

    title: str
    findings: tuple[Finding, ...]
    models: Names = ()
    scope: str = ""
    banner: str = ""
    known: Names = ()
    terms: tuple[tuple[str, str], ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    notices: Notices = ()
    methods: Names = ()
    references: Names = ()
    task: str = ""
    card: Card | None = None
    command: str = ""

    def with_families(self) -> "Report":
        """The same with the families of what it asserts, and their level, among its terms.

        A finding that asserts something and does not say of whom says it in a sentence more.
        """
        parts: list[Card | Finding] = [*self.findings]
        if self.card is not None:
            parts.insert(0, self.card)
        names = dict.fromkeys(claim.held for part in parts for claim in part.claims)
        terms = [term for term in self.terms if term[0] != FAMILIES]
        if names:
            text = "Claims of one family hold all together, so surely"
            terms.append((FAMILIES, f"{text}: {'; '.join(names)}."))
        return replace(self, terms=tuple(terms), findings=tuple(map(_for_whom, self.findings)))

    @property
    def all_notices(self) -> Notices:
        """What the reader should know about everything and about each finding."""
        return (
            *self.notices,
            *(notice for finding in self.findings for notice in finding.notices),
        )

    @property
    def in_front(self) -> tuple[Finding, ...]:
        """Findings of the task in front, and those of no task."""
        return tuple(finding for finding in self.findings if finding.task in ("", self.task))


def cell(row: Row, column: Column) -> str:
    """A value as people read it, with its interval, if it has one.

    Examples
    --------
    >>> row = {"shift": 0.0123, "low": -0.01, "high": 0.03, "who": None}
    >>> cell(row, Column("shift", "shift", "change", ("low", "high")))
    '+0.012 [−0.010, +0.030]'
    >>> cell(row, Column("who", "who"))
    'undefined'
    """
    value = row.get(column.key)
    if isinstance(value, str) and value in column.words:
        return column.words[value]
    if column.is_text:
        return _words(value)
    write = WRITERS[column.kind]
    if isinstance(value, str):
        return value  # the reason why there is no number
    size = _real(value)
    if column.ends is None:
        return write(size)
    low, high = (_real(row.get(end)) for end in column.ends)
    return numbers.estimate(size, low, high, write)


WRITERS: Mapping[str, Callable[[float | None], str]] = {
    "number": numbers.number,
    "bound": numbers.bound,
    "change": numbers.change,
    "percent": numbers.percent,
    "count": numbers.count,
    "rank": numbers.rank,
    "p": numbers.p_value,
    "figures": numbers.significant,
    "duration": numbers.duration,
    "resample_share": numbers.resample_share,
    "hundredths": lambda share: numbers.percent(share).removesuffix("%"),
}


def _real(value: Cell) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _words(value: Cell) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return UNDEFINED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if isinstance(value, str | int) else ", ".join(value)


def left_out(key: str, title: str, error: InputError) -> Finding:
    """A finding that the data did not allow, with the reason.

    Examples
    --------
    >>> error = InputError("readers", "anonymous votes", "names", "give ids")
    >>> left_out("readers", "Models against readers", error).sentence
    'Anonymous votes; it takes names. Give ids.'
    """
    about_key = error.where.replace(" ", "_").startswith(key)
    got = error.got if about_key else f"{error.where}: {error.got}"
    reason = hint("{}; it takes {}. {}.", capital(got), error.expected, capital(error.do))
    return Finding(key=key, title=title, sentence=reason, left_out=True)


def reasons(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Those that the data did not allow; those of one reason as one, which names them all.

    Examples
    --------
    >>> parts = [Finding(key=w, title=f"Is it {w}?", sentence="No votes.", left_out=True)
    ...          for w in ("big", "red", "new", "far", "odd")]
    >>> [(part.title, part.sentence) for part in reasons(parts)]
    [('Is it big, red, new, far or odd?', 'No votes.')]
    """
    by_reason: dict[tuple[str, ...], list[str]] = {}
    first: dict[tuple[str, ...], Finding] = {}
    for finding in findings:
        if finding.left_out:
            key = (finding.sentence, *finding.title.split()[:2])
            by_reason.setdefault(key, []).append(finding.title)
            first.setdefault(key, finding)
    for key, titles in by_reason.items():
        words = [title.removesuffix("?").split() for title in dict.fromkeys(titles)]
        same = len([*takewhile(lambda at: len({*at}) == 1, zip(*words, strict=False))])
        names = joined([" ".join(some[same:]) for some in words], "or", most=len(words))
        title = " ".join([*words[0][:same], names]) + "?" * titles[0].endswith("?")
        yield replace(first[key], title=title if len(words) > 1 else titles[0])


def largest_by(rows: Sequence[Row], by: str, key: str) -> list[Row]:
    """The row with the largest finite number of each group, for a brief table.

    Examples
    --------
    >>> rows = [{"g": 1, "x": 0.1}, {"g": 1, "x": -0.4}, {"g": 2, "x": None}]
    >>> [row["x"] for row in largest_by(rows, "g", "x")]
    [-0.4, None]
    """
    best: dict[Cell, tuple[float, Row]] = {}
    for row in rows:
        size = abs(_real(row[key]))
        size = size if math.isfinite(size) else -1.0
        if row[by] not in best or size > best[row[by]][0]:
            best[row[by]] = (size, row)
    return [row for _, row in best.values()]


def rows_of(
    fixed: Row, axes: Mapping[str, Sequence[Cell]], columns: Mapping[str, ArrayLike | None]
) -> list[dict[str, Cell]]:
    """Plain rows of arrays over named axes: a row per cell, arrays of fewer axes repeated.

    Parameters
    ----------
    fixed
        What every row begins with.
    axes
        Names of the axes, with what stands on them; the last moves fastest.
    columns
        Arrays over the first axes, or over all, of length one where they do not vary. None
        is the place of an axis that does not stand first.

    Examples
    --------
    >>> rows_of({"task": ""}, {"k": [1, 2], "model": ["a", "b", "c"]},
    ...         {"items": [5, 4], "model": None, "value": np.arange(6).reshape(2, 3)})[-1]
    {'task': '', 'k': 2, 'items': 4, 'model': 'c', 'value': 5}
    """
    shape = tuple(len(axis) for axis in axes.values())
    grid = dict(zip(axes, np.indices(shape), strict=True))
    cells: dict[str, list[Cell]] = {}
    for name in [*(name for name in axes if name not in columns), *columns]:
        values = columns.get(name)
        if values is None:
            cells[name] = [axes[name][place] for place in grid[name].ravel()]
        else:
            array = np.asarray(values)
            array = array.reshape(*array.shape, *[1] * (len(shape) - array.ndim))
            cells[name] = np.broadcast_to(array, shape).ravel().tolist()
    rows = zip(*cells.values(), strict=True)
    return [{**fixed, **dict(zip(cells, row, strict=True))} for row in rows]


JsonValue = str | float | int | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


def as_json(report: Report) -> dict[str, JsonValue]:
    """Everything a report says: settings, notices, and each finding with all of its rows."""
    return {
        "title": report.title,
        "models": list(report.models),
        "settings": dict(report.settings),
        "notices": list(worded(report.notices)),
        "findings": [finding_json(finding) for finding in report.findings],
    }


def finding_json(finding: Finding) -> dict[str, JsonValue]:
    """One finding: its sentence and rows, or the reason why it was left out."""
    head: dict[str, JsonValue] = {"key": finding.key, "title": finding.title}
    for name in ("task", "metric"):
        if getattr(finding, name):
            head[name] = getattr(finding, name)
    if finding.left_out:
        return {**head, "left_out": str(finding.sentence)}
    first, *others = finding.tables or (None,)
    return {
        **head,
        "finding": str(finding.sentence),
        **({"more": [str(sentence) for sentence in finding.more]} if finding.more else {}),
        "rows": _rows(first),
        **{table.name: _rows(table) for table in others if table is not None},
        **({"claims": [_claim(claim) for claim in finding.claims]} if finding.claims else {}),
        "notices": list(worded(finding.notices)),
    }


def _for_whom(finding: Finding) -> Finding:
    """The same with whose truth its claims are taken by, and whom they speak for."""
    text = " ".join(map(str, (finding.sentence, *finding.more)))
    if "these" in text or not finding.claims or finding.left_out:
        return finding
    truths = dict.fromkeys(claim.estimand.truth for claim in finding.claims)
    whom = dict.fromkeys(str(claim.population) for claim in finding.claims)
    more = f"By {' and '.join(truths)}, for {'; or for '.join(whom)}."
    return replace(finding, more=(*finding.more, more))


def _claim(claim: Claim) -> JsonValue:
    facts = {"population": str(claim.population), "family": claim.held}
    ends = {name: plain(getattr(claim, name)) for name in ("value", "low", "high")}
    return {**claim.estimand._asdict(), **facts, **ends, "decision": str(claim.decision)}


def plain(value: object) -> JsonValue:
    """Make a value JSON can hold: arrays become lists, undefined null, infinite "inf".

    Examples
    --------
    >>> plain({"a": np.array([1.0, np.nan, np.inf])})
    {'a': [1.0, None, 'inf']}
    """
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if is_dataclass(value):
        content = {
            field_of_value.name: getattr(value, field_of_value.name)
            for field_of_value in fields(value)
        }
        return plain({name: part for name, part in content.items() if part is not None})
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return None if math.isnan(value) else str(value)
    return str(value)


def _rows(table: Table | None) -> list[JsonValue]:
    return [] if table is None else [plain(row) for row in table.rows]


_FILE = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
ENTRIES: Mapping[str, str] = {
    entry.partition("{")[2].partition(",")[0]: entry for entry in _FILE.rstrip().split("\n\n")
}


def cite(*keys: str) -> str:
    """Sources at the end of a sentence, each once; nothing where there is none.

    Examples
    --------
    >>> cite("dawid1979", "whitehill2009"), cite()
    (' [@dawid1979; @whitehill2009]', '')
    """
    return f" [{'; '.join(f'@{key}' for key in dict.fromkeys(keys))}]" if keys else ""


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX entries of sources, each once.

    Examples
    --------
    >>> bibtex(["wilson1927", "wilson1927"]).count("@article")
    1
    """
    return "\n\n".join(ENTRIES[key] for key in dict.fromkeys(keys)) + "\n"


def cited(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Sources as people read them, each once: a short name, and the whole.

    Examples
    --------
    >>> cited(["groger2025"])[0][0]
    'Gröger and others 2025'
    >>> cited(["dawid1979"])[0][0]
    'Dawid and Skene 1979'
    """
    return [_as_read(ENTRIES[key]) for key in dict.fromkeys(keys)]


ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303"}


def _as_read(entry: str) -> tuple[str, str]:
    matches = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", entry)
    fields = {name: _plain(text) for name, text in matches}
    people = [person.partition(",")[0] for person in fields.get("author", "").split(" and ")]
    who = " and ".join(people) if len(people) < 3 and "others" not in people else (
        f"{people[0]} and others")  # fmt: skip
    year = fields.get("year", "")
    where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    whole = f"{who}. {fields.get('title', '')}. {', '.join(filter(None, [where, year]))}."
    return f"{who} {year}".strip(), whole


def _plain(text: str) -> str:
    """Text of BibTeX without its braces, accents as letters."""

    def letter(match: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", match[2] + ACCENTS[match[1]])

    text = re.sub(r"\{?\\([\"'`^~])\{?(\w)\}?\}?", letter, text)
    return " ".join(re.sub(r"[{}\\]", "", text).replace("--", "–").split())
