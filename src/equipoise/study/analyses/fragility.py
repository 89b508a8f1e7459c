"""Flips: how few items or votes must go, or change, for another model to be the best.

The leaders are the models that are tied at the top, mostly one. A set of moves flips the
result when, after it, some model that was not among them is strictly ahead of all of them:
every other model is tried as the rival, and the smallest set over all of them is reported,
with the model that is then first. A tie among the leaders is no lead, so breaking it is not
a flip.

A move is taking an item away (``items``; whole ``groups`` of items where annotations have
them), or changing one vote to another class (``changed votes``), always within one task. By the
average of several tasks, sets may take moves from any of them, and the items or votes of all
tasks count. A set after which the metric is undefined in a task is not taken.

For a metric that is a mean over items the lead is a sum over items, so a sort gives the
smallest set, and so it does for changed votes where the score of an item is linear in its
label: `exact`. Elsewhere the moves are sorted by influence functions and the models scored
exactly after the first few: at most so many are needed. Every set is verified by sorting and
scoring everything anew.

References
----------
Broderick, Giordano and Meager, *An automatic finite-sample robustness metric: when can dropping
a little data make a big difference?*, 2020.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from equipoise.study import MACRO
from equipoise.study.analyses.flip_search import (
    AHEAD,
    UNITS,
    LeaderSearch,
    Member,
    SmallestSet,
    TaskMoves,
)
from equipoise.study.analyses.scoring import ModelScorer, TaskScorer, scorer_of
from equipoise.study.study import Study, silent
from equipoise.types import (
    Annotations,
    Cell,
    Column,
    Dot,
    Dots,
    Finding,
    Floats,
    InputError,
    Names,
    Notice,
    Notices,
    Option,
    Row,
    Table,
    capital,
    choice,
    columns,
    count,
    hint,
    immutable,
    joined,
    left_out,
    require_whole,
    short_repr,
    significant,
)

KEY, TITLE = "flips", "How little would change who is best?"
NAMED = 4  # models named in a sentence
DRAWN = 12  # tasks in the chart
ONE, LEVEL, UNDEFINED, NOTHING = "one model", "all level", "undefined", "no votes"
VERBS = {  # what is done to a unit, its head in tables, and what one searches
    "items": ("leaving out", "items left out", "items to leave out"),
    "groups": ("leaving out", "groups of items left out", "groups of items to leave out"),
    "changed votes": ("changing", "votes changed", "votes to change"),
}
NOTE = (
    "Every other model is tried as the one that overtakes, and every set that is named is "
    "checked by scoring the models anew. A number without ≤ is the smallest there is; with ≤ "
    "it is enough, and fewer may do. Where the search ended without a set, the chart says up "
    "to which size. By the average of tasks, changes are counted in each task. Where models "
    "are tied at the top, another one must pass all of them. A lead that hangs on a few items "
    "or votes is no reason to prefer a model."
)
OF_FLIP = (
    *("b", "place", "margin", "lead", "lead_after", "share", "number", "verified", "exact"),
    "idle",
)
COLUMNS = (
    Column("task", "task"),
    Column("unit", "what moves"),
    Column("a", "best"),
    Column("margin", "ahead by", "number"),
    Column("size", "fewest", "count"),
    Column("number", "of", "count"),
    Column("b", "then first"),
    Column("exact", "no smaller set"),
    Column("tried_up_to", "searched up to", "count"),
    Column("idle", "not searched"),
)
MEMBER_COLUMNS = (
    Column("unit", "what moves"),
    Column("task", "task"),
    Column("within", "of task"),
    Column("item", "item or group"),
    *columns("text", "annotator", "said", "instead"),
)


@immutable
class Flip:
    """The smallest set found for one task, or for the average of all.

    Attributes
    ----------
    task
        Name of the task, or ``macro average``.
    leaders
        The models that are best, several when they are tied.
    b
        Who is first after the set; where none was found, the next model below; None where
        there is no other.
    place
        Rank of b before.
    margin
        By how much the leaders are better than the next model below.
    lead, lead_after
        By how much they are better than b, with all data and after the set.
    members
        The set, empty when none was found.
    number
        How many items, groups or votes there are.
    verified
        Whether b is ahead when everything is computed anew.
    exact
        Whether no smaller set exists, for any rival; where none was found, whether none
        exists up to the size that was searched.
    idle
        Why nothing was searched: one model, all level, undefined, or no votes; empty when it
        was.
    """

    task: str
    leaders: Names
    b: str | None
    place: int | None
    margin: float
    lead: float
    lead_after: float
    members: tuple[Member, ...]
    number: int
    verified: bool
    exact: bool
    idle: str = ""

    __repr__ = short_repr

    @property
    def a(self) -> str:
        """The leaders in one breath."""
        return joined(self.leaders, most=NAMED)

    @property
    def share(self) -> float:
        """Size of the set as a share of all items or votes; nan when none was found."""
        return len(self.members) / self.number if self.members else float("nan")

    @property
    def where(self) -> str:
        """The task within a sentence: `` for Edema``."""
        if not self.task:
            return ""
        return f" ({self.task})" if self.task == MACRO else f" for {self.task}"


@immutable
class Flips:
    """What `flips` returns: one `Flip` per task, that of their average first.

    Attributes
    ----------
    metric, labels, score, unit, most
        What was asked; `score` is what was scored in words.
    tasks
        The sets.
    notices
        What the user should know.
    """

    metric: str
    labels: str
    score: str
    unit: str
    most: int
    tasks: tuple[Flip, ...]
    notices: Notices = ()

    __repr__ = short_repr

    def rows(self) -> list[dict[str, Cell]]:
        """One row per task."""
        return [
            {
                "task": flip.task,
                "metric": self.metric,
                "labels": self.labels,
                "unit": self.unit,
                "a": flip.a,
                **{key: getattr(flip, key) for key in OF_FLIP},
                "size": len(flip.members) or None,
                "tried_up_to": min(self.most, flip.number),
            }
            for flip in self.tasks
        ]

    def member_rows(self) -> list[dict[str, Cell]]:
        """One row per item or vote of every set, in the order they were found."""
        return [
            {"task": flip.task, **member._asdict()}
            for flip in self.tasks
            for member in flip.members
        ]

    @property
    def finding(self) -> str:
        """What the first rank hangs on; by the average first, then the task with least."""
        first, *rest = self.tasks
        flipped = [flip for flip in rest if flip.members]
        sentence = self._sentence(first)
        if not flipped or first.task != MACRO:
            return sentence
        fewest = min(flipped, key=lambda flip: (len(flip.members), flip.share))
        return (
            f"{sentence} Among the tasks least is needed for {fewest.task}: "
            f"{self._moved(fewest)} puts {fewest.b} ahead of {fewest.a}."
        )

    def report(self) -> Finding:
        """The finding for every surface."""
        return _finding([self])

    def _moved(self, flip: Flip) -> str:
        """What is done: ``leaving out at most 3 of 60 items``."""
        whole, most = count(flip.number, _noun(self.unit)), "" if flip.exact else "at most "
        return f"{VERBS[self.unit][0]} {most}{count(len(flip.members))} of {whole}"

    def _sentence(self, flip: Flip) -> str:
        """What came out for one task; where nothing was found, by what was tried."""
        score = self.score
        if flip.idle:
            return _idle_sentence(flip, score)
        if flip.members:
            bound = "; no smaller set does" if flip.exact else ""
            tied = ", which are tied" if len(flip.leaders) > 1 else ""
            apart = ", counted in each task" if flip.task == MACRO else ""
            return (
                f"By {score}{flip.where}, {self._moved(flip)} "
                f"({significant(100 * flip.share)}% of all{apart}) puts {flip.b} ahead of "
                f"{flip.a}{tied}{bound}."
            )
        limit = min(self.most, flip.number)
        gone = "change" if self.unit == UNITS[1] else "absence"
        none = (
            f"By {score}{flip.where}, no set of up to {count(limit, _noun(self.unit))} "
            f"{'exists' if flip.exact else 'was found'} whose {gone} puts another model ahead "
            f"of {flip.a}"
        )
        return f"{none}{'; larger ones were not searched' * (limit < flip.number)}."


def flips(study: Study, unit: str = "items") -> Flips:
    """Find a small set of items or votes that the lead of the best model hangs on.

    Parameters
    ----------
    study
        Models by the first metric, and votes; the search ends at ``most`` of its settings.
    unit
        ``items`` (taken away; those of a group go together), or ``changed votes``.
    """
    choice("flips, unit", unit, UNITS)
    most = require_whole("flips, most", study.settings.most, least=1, do="50 is usual")
    if study.settings.labels == "hard" and unit != "items":
        raise InputError(
            f"flips of {unit}",
            "hard labels",
            "soft labels: single votes rarely turn a majority",
            hint("choose {}, or take items away", Option("labels", "soft")),
        )
    scorer, annotations = scorer_of(study), study.annotations
    if unit == "items" and scorer.plan.group is not None:
        unit = "groups"
    tasks = [_task_moves(task, unit, scorer, annotations) for task in scorer.subjects]
    searches = [
        LeaderSearch(task_moves.task.question.task, (task_moves,)) for task_moves in tasks
    ]
    if scorer.task == MACRO:
        searches.insert(0, LeaderSearch(MACRO, tuple(tasks)))
    done, ties = [], []
    for number, search in enumerate(searches, 1):
        flip = _flip(search, scorer.models, most, annotations)
        done.append(flip)
        if len(flip.leaders) > 1 and not flip.idle:
            ties.append(_tied_notice(flip, scorer))
        scorer.tell(number, len(searches))
    notices = (*scorer.notices, *ties)
    how = scorer.metric.name, scorer.settings.labels, scorer.score
    return Flips(*how, unit, most, tuple(done), notices)


def _task_moves(
    task: TaskScorer, unit: str, scorer: ModelScorer, annotations: Annotations
) -> TaskMoves:
    """The moves of a task; the groups are those of its items."""
    if unit not in ("items", "groups"):
        return TaskMoves(task, unit)
    if scorer.plan.group is None:
        return TaskMoves(task, unit, np.arange(len(task.question.items)), task.question.items)
    codes, group = np.unique(scorer.plan.group[task.question.place], return_inverse=True)
    names = annotations.groups or ()
    member_names = tuple(names[code] if names else str(code) for code in codes)
    return TaskMoves(task, unit, group, member_names)


def _tied_notice(flip: Flip, scorer: ModelScorer) -> Notice:
    """What a tie at the top means for the search."""
    return Notice(
        "flips_tied",
        "{leaders:listed} are tied at the top by {score}: searched is what puts another model "
        "ahead of all of them.",
        (flip.task,) if flip.task else (),
        {
            "leaders": flip.leaders,
            "score": scorer.score,
        },
    )


def analyse(study: Study) -> Finding:
    """The three kinds of moves together; one that is refused is said in a notice."""
    results, refused = [], []
    for number, unit in enumerate(UNITS, 1):
        try:
            results.append(flips(study.telling(silent), unit))
        except InputError as error:
            if unit == "items":
                raise
            why = left_out(KEY, TITLE, error).sentence
            template = "No search by {unit}: {why}"
            refused.append(Notice("flips_refused", template, (), {"unit": unit, "why": why}))
        study.tell(number, len(UNITS))
    finding = _finding(results)
    return replace(finding, notices=(*refused, *finding.notices))


def _finding(results: Sequence[Flips]) -> Finding:
    """What some kinds of moves come to, together."""
    first = results[0]
    sentences = list(dict.fromkeys(result.finding for result in results))
    rows: list[Row] = [row for result in results for row in result.rows()]
    members: list[Row] = [
        {"unit": result.unit, **row} for result in results for row in result.member_rows()
    ]
    searched = any(not flip.idle for result in results for flip in result.tasks)
    unnamed = () if any(flip.task for flip in first.tasks) else ("task", "within")
    tables = []
    sets = "Smallest sets found, and who is then first"
    parts = "Items and votes of the smallest sets found"
    shown = (("flips", sets, COLUMNS, rows), ("flips_members", parts, MEMBER_COLUMNS, members))
    for name, caption, all_columns, table_rows in shown:
        shown_columns = [column for column in all_columns if column.key not in unnamed]
        if table_rows:
            tables.append(
                Table(
                    name=name, caption=caption, columns=shown_columns, rows=table_rows, brief=()
                )
            )
    return Finding(
        key=KEY,
        title=TITLE,
        sentence=sentences[0],
        more=tuple(sentences[1:]),
        tables=tuple(tables),
        charts=(_chart(results),) if searched else (),
        note=NOTE if searched else "",
        methods=_methods(results),
        references=("broderick2020",) if searched else (),
        notices=tuple(dict.fromkeys(n for result in results for n in result.notices)),
    )


def _fewest(flip: Flip, most: int) -> str:
    """Size of the set found and who is then first; ≤ where fewer may do."""
    if not flip.members:
        return f"none up to {count(min(most, flip.number))}"
    return f"{'' if flip.exact else '≤ '}{count(len(flip.members))}: {flip.b}"


def _chart(results: Sequence[Flips]) -> Dots:
    """A dot at the share of each set."""
    dots = []
    for tasks in list(zip(*(result.tasks for result in results), strict=True))[:DRAWN]:
        for flip, result in zip(tasks, results, strict=True):
            if flip.idle:
                continue
            head, model = VERBS[result.unit][1], flip.b if flip.members else None
            name, at = f"{flip.task}: {head}" if flip.task else head, flip.share
            remark = _fewest(flip, result.most)
            dots.append(Dot(name, at, at, at, model=model or "", remark=remark))
    number = len(results[0].tasks)
    few = f"; the first {DRAWN} of {count(number, 'task')}" if number > DRAWN else ""
    return Dots(
        name="flips",
        caption="Share of all items or votes that must go, or change, before another model is "
        f"first, and which{few}",
        axis="share of all items or votes",
        rows=dots,
        logarithmic=True,
    )


def _methods(results: Sequence[Flips]) -> str:
    all_flips = [(result.unit, flip) for result in results for flip in result.tasks]
    units = list(dict.fromkeys(VERBS[unit][2] for unit, flip in all_flips if not flip.idle))
    if not units:
        return ""
    verified = any(flip.members for _, flip in all_flips)
    return (
        f"We searched for the fewest {joined(units, 'or')} that put another model ahead of the "
        "best, trying every other model as the rival, in the order of what each takes from the "
        "lead [@broderick2020]"
        + ("; every set found was verified by scoring anew." if verified else ".")
    )


def _noun(unit: str) -> str:
    """What one moves."""
    return {"items": "item", "groups": "group of items"}.get(unit, "vote")


def _idle_sentence(flip: Flip, score: str) -> str:
    """Nothing was searched."""
    if flip.idle == ONE:
        return "There is only one model: nobody can overtake it."
    if flip.idle == UNDEFINED:
        return f"{capital(score)} is undefined{flip.where}: nothing was searched."
    if flip.idle == NOTHING:
        return f"There are no votes to move{flip.where}: nothing was searched."
    return (
        f"{flip.a} are tied at the top already by {score}{flip.where}, and there is no other "
        "model: nothing was searched."
    )


def _flip(search: LeaderSearch, models: Names, most: int, annotations: Annotations) -> Flip:
    """Search, verify the set and name its parts."""
    idle = "" if search.rivals else LEVEL
    if len(search.full) == 1:
        idle = ONE
    elif not search.leaders:
        idle = UNDEFINED
    elif not search.number:
        idle = NOTHING
    best = SmallestSet() if idle else search.smallest(min(most, search.number))
    after = search.rescored(best.moves) if best.size else search.full
    rivals = search.rivals
    b = rivals[int(np.argmax(after[rivals]))] if rivals else None
    lead_after = _lead(search, after, b) if best.size else float("nan")
    members = [
        scorer.member(int(which), int(target), annotations)
        for scorer, moves in zip(search.scorers, best.moves, strict=bool(best.moves))
        for which, target in zip(*moves, strict=True)
    ]
    return Flip(
        task=search.task,
        leaders=tuple(models[m] for m in search.leaders),
        b=None if b is None else models[b],
        place=None if b is None else search.place(b),
        margin=_lead(search, search.full, rivals[0] if rivals else None),
        lead=_lead(search, search.full, b),
        lead_after=lead_after,
        members=tuple(members),
        number=search.number,
        verified=bool(lead_after < -AHEAD),
        exact=best.exact,
        idle=idle,
    )


def _lead(search: LeaderSearch, values: Floats, b: int | None) -> float:
    """How far the best leader is ahead of a model; nan where there is none."""
    if b is None:
        return float("nan")
    return float(values[search.leaders].max() - values[b])
