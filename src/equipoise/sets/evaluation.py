r"""Evaluation: what sets hold on items that their thresholds have not seen.

Every item has the sets of a rule that was calibrated on other items: on the other folds (five
by default, whole groups of items together), or on the part that was set aside. Asked is

- how often the sets hold **what a new reader says**, which is what they promise; what the
  majority says; and, where the truth is a model of the votes, how much of what it leaves
  plausible;
- the same for every class, group of items and level of risk, where it may be far off;
- how large they are, how many hold a single class, how many none.

All of it has two-way intervals, for items and readers like these. Three rules stand side by
side: on the majority label, as is usual and too small where readers disagree; on the votes; and
on the votes with a lower bound. Beside them stand the readers' own sets: a differential
diagnosis is a set, a label one of a single class, and what it holds is what *another* reader
says.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from equipoise.inference import TwoWay, floor_of
from equipoise.inference.ballots import item_scale
from equipoise.sets.coverage import Coverage
from equipoise.sets.rules import (
    ENOUGH_READERS,
    By,
    Calibration,
    SetSample,
    every_reader,
    strata_of,
)
from equipoise.study.analyses.words import as_notices, ends_of
from equipoise.study.study import Study
from equipoise.study.sums import Sums, indicator
from equipoise.study.thresholds import Tuning
from equipoise.types import (
    Annotations,
    Bools,
    Claim,
    ClaimFamily,
    Column,
    Decision,
    Dot,
    Dots,
    Estimand,
    Finding,
    Floats,
    Grouping,
    InputError,
    Ints,
    Names,
    Notice,
    Report,
    Table,
    Votes,
    columns,
    count,
    estimate,
    exact_percent,
    immutable,
    joined,
    name_order,
    number,
    spanned,
)

TITLE = "Which classes must a set hold, so that it holds what a reader says?"
MAJORITY, VOTES, BOUND = "majority label", "votes", "votes, lower bound"
READERS = "readers' own sets"
FOLDS = 5
BRIEF = 12  # rows that a terminal shows
NAMED = 3
NOTE = (
    "Coverage: how often the set of an item holds the answer; a new reader's is a vote on a "
    "new item. A rule on the majority label holds the majority, not a reader. A lower bound "
    "holds 1 - alpha with 95 % confidence. Readers' own sets hold what another reader says; a "
    "single label is a set of one class."
)
METHODS = (
    "Prediction sets were calibrated on the shares of votes by conformal risk control "
    "[@angelopoulos2024], the limit of Monte Carlo conformal prediction under ambiguous "
    "ground truth [@stutz2023], and on the largest threshold whose simultaneous two-way lower "
    "bound on coverage reaches the nominal one; coverage was taken on items that calibration "
    "had not seen."
)
_SCORE = {
    "aps": " The score was that of adaptive prediction sets [@romano2020].",
    "raps": " The score was that of regularised adaptive prediction sets [@angelopoulos2021].",
}
SOURCES = ("angelopoulos2024", "stutz2023", "romano2020", "angelopoulos2021")
Rows = list[dict[str, Any]]


@immutable
class SetsWanted:
    """What is asked of sets.

    Attributes
    ----------
    calibration
        How thresholds are set; its guarantee is that of the sets by item.
    tuning
        Which items they are set on; None is five folds.
    risk
        Groups of classes, such as levels of risk, in which coverage is looked at.
    by_item
        Whether the sets of all items are written.
    """

    calibration: Calibration = Calibration()
    tuning: Tuning | None = None
    risk: Grouping | None = None
    by_item: bool = False


class HeldOut(NamedTuple):
    """Sets of one model by one rule, on items that it was not calibrated on.

    Attributes
    ----------
    model, rule
        The model, and what its rule was calibrated on.
    member
        Whether a class is in the set of an item, shape (items, classes).
    thresholds
        The lowest and the highest threshold of the folds.
    """

    model: str
    rule: str
    member: Bools
    thresholds: tuple[float, float]


def analyse(study: Study) -> Finding:
    """Sets of every model at alpha 0.1, calibrated and looked at in five folds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.dirichlet([0.6] * 3, size=90)
    >>> votes = Annotations.from_counts(np.array([rng.multinomial(6, p) for p in chance]))
    >>> from equipoise.types import Predictions
    >>> net = Predictions("net", votes.items, chance, votes.classes)
    >>> finding = analyse(Study.of(net, votes))
    >>> [(row["calibrated_on"], round(row["reader"], 1)) for row in finding.tables[0].rows][:2]
    [('majority label', 0.8), ('votes', 0.9)]
    """
    assert study.annotations  # refuses a model of the truth: a set is for what readers say
    return sets_finding(study, SetsWanted())


def sets_finding(study: Study, wanted: SetsWanted) -> Finding:
    """What sets of all models hold, by three rules."""
    held, folds = _folds(study, wanted)
    sample, level = SetSample.of(held), study.settings.level
    parts = [(SetSample.of(part), inside) for part, inside in folds]
    rows: Rows = []
    strata: Rows = []
    by_item: Rows = []
    notices: list[Notice] = []
    for t, task in enumerate(held.aligned):
        name = task.question.task
        for sets in _sets(sample, parts, t, wanted, notices):
            about = {"task": name, "model": sets.model, "calibrated_on": sets.rule}
            low, high = sets.thresholds
            rows.append(about | _row(sample, t, sets.member, level) | {
                "threshold_low": low, "threshold_high": high
            })  # fmt: skip
            if sets.rule == _front(wanted):
                strata += [about | row for row in _strata_rows(sample, t, sets.member, wanted)]
                by_item += _item_rows(sample, t, about, sets.member) if wanted.by_item else []
        own = _own_sets(sample, t)
        if own:
            rows.append({"task": name, "model": "", "calibrated_on": READERS} | own)
    keys = dict.fromkeys((key for row in rows for key in row), math.nan)
    rows = [{**keys, **row} for row in rows]
    claims = _claims(rows, sample, wanted.calibration.alpha, level)
    sentence, more = _sentences(rows, claims, wanted)
    score = _SCORE.get(wanted.calibration.score, "")
    return Finding(
        key="sets",
        title=TITLE,
        sentence=sentence,
        more=more,
        tables=tuple(_tables(rows, strata, by_item, wanted, level)),
        charts=tuple(_charts(rows, wanted.calibration.alpha)),
        note=f"{NOTE} {_how(wanted)}",
        methods=f"{METHODS}{score}",
        references=tuple(key for key in SOURCES if f"@{key}" in METHODS + score),
        notices=as_notices(notices, study.dropped, _too_few_readers(sample)),
        claims=tuple(claims),
    )


# ---- which items calibrate which -------------------------------------------------------------


def _folds(
    study: Study, wanted: SetsWanted
) -> tuple[Study, list[tuple[Study, frozenset[str]]]]:
    """The items that are looked at, and for parts of them the study that calibrates."""
    tuning = wanted.tuning or Tuning(folds=FOLDS, seed=study.seed)
    fold = tuning.fold_of(_first_of_units(study))
    if tuning.folds is None:  # 1 is set aside for calibration
        inside = {name for name, place in zip(study.items, fold, strict=True) if place == 0}
        rest = set(study.items) - inside
        _require_both(inside, rest)
        return study.of_items(inside), [(study.of_items(rest), frozenset(inside))]
    parts = []
    for number_of_fold in np.unique(fold).tolist():
        inside = {
            name for name, k in zip(study.items, fold, strict=True) if k == number_of_fold
        }
        _require_both(inside, set(study.items) - inside)
        rest = set(study.items) - inside
        parts.append((study.of_items(rest), frozenset(inside)))
    return study, parts


def _require_both(inside: set[str], rest: set[str]) -> None:
    if not inside or not rest:
        got = f"{len(rest):,} items to calibrate on and {len(inside):,} to look at"
        raise InputError("prediction sets", got, "some of both", "give more items")


def _first_of_units(study: Study) -> list[str]:
    """For every item the first name in its group: groups stay together, whatever the order."""
    names, group = study.items, study.plan.group
    if group is None:
        return list(names)
    first: dict[int, str] = {}
    order = name_order(names)
    for place in range(len(names)) if order is None else order.tolist():
        first.setdefault(int(group[place]), names[place])
    return [first[int(code)] for code in group]


def _rules(study: Study, calibration: Calibration) -> Iterator[tuple[str, Calibration, bool]]:
    """What rules are calibrated on, how, and whether labels are hard."""
    if not study.by_standard:
        yield MAJORITY, replace(calibration, guarantee="average"), True
    yield VOTES, replace(calibration, guarantee="average"), False
    if not calibration.midpoint:
        yield BOUND, replace(calibration, guarantee="two_way"), False


def _front(wanted: SetsWanted) -> str:
    """The rule whose sets are looked at closely."""
    return BOUND if wanted.calibration.guarantee == "two_way" else VOTES


def _sets(
    held: SetSample,
    parts: Sequence[tuple[SetSample, frozenset[str]]],
    t: int,
    wanted: SetsWanted,
    notices: list[Notice],
) -> Iterator[HeldOut]:
    """Sets of every model by every rule, for one task."""
    task = held.study.aligned[t]
    items, classes = task.question.items, held.classes(t)
    for model in task.scores:
        chance = task.distributions(model)
        for name, how, hard in _rules(held.study, wanted.calibration):
            member = np.zeros(chance.shape, dtype=bool)
            ends: list[float] = []
            for sample, inside in parts:
                rule = sample.rule(t, model, how, hard=hard)
                rows = np.array([item in inside for item in items])
                some = tuple(item for item in items if item in inside)
                strata = strata_of(how.by, some, classes, rule.strata)
                member[rows] = rule.member(chance[rows], strata)
                ends += rule.thresholds.tolist()
                notices += [note for note in rule.notices if note.code == "all_classes"]
            yield HeldOut(model, name, member, (min(ends), max(ends)))


# ---- what they hold --------------------------------------------------------------------------


def _row(sample: SetSample, t: int, member: Bools, level: float) -> dict[str, Any]:
    """Coverage and size of the sets of all items."""
    question = sample.study.aligned[t].question
    row: dict[str, Any] = {}
    if question.plausible is None:
        row |= _covered(sample, t, "reader", Coverage.of_sets(sample.labels(t), member), level)
    else:
        row |= _covered(sample, t, "mass", Coverage.of_sets(sample.labels(t), member), level)
        row |= _by_votes(sample.study, t, member, level)
    if not sample.study.by_standard:
        hard = Coverage.of_sets(sample.labels(t, hard=True), member)
        row |= _covered(sample, t, "majority", hard, level, "hard")
    size = member.sum(axis=1).astype(np.float64)
    about = {"size": size, "single": (size == 1) * 1.0, "empty": (size == 0) * 1.0}
    cell = item_means(sample, t, np.stack([*about.values()]))
    for place, name in enumerate(about):
        bounds = (0.0, np.inf) if name == "size" else (0.0, 1.0)
        value = float(cell.values[place])
        row |= ends_of(name, value, cell.of(place).interval(value, level, bounds))
    return row


def _covered(
    sample: SetSample, t: int, name: str, covered: Coverage, level: float, kind: str = "soft"
) -> dict[str, Any]:
    value = float(covered.values[0])
    spread = covered.cell(sample.shared, t, kind).of(0)
    return ends_of(name, value, spread.interval(value, level, (0.0, 1.0)))


def _by_votes(study: Study, t: int, member: Bools, level: float) -> dict[str, Any]:
    """What a new reader says, where the truth is a model of what readers said."""
    task = study.aligned[t].question
    if study.votes is None or task.task not in study.votes.tasks:
        return {}
    try:
        voted = SetSample.of(study.with_truth(study.votes))
        place = [part.question.task for part in voted.study.aligned].index(task.task)
        same = voted.study.aligned[place].question
        if (same.items, same.classes) != (task.items, task.classes):
            return {}
        covered = Coverage.of_sets(voted.labels(place), member)
        return _covered(voted, place, "reader", covered, level)
    except InputError:
        return {}


def item_means(sample: SetSample, t: int, of_items: Floats, width: float = 1.0) -> TwoWay:
    """Means over items of some numbers of each, shape (numbers, items).

    Parameters
    ----------
    width
        How far the numbers can be apart, for means that did not vary; 0 is unknown.
    """
    from scipy.sparse import csr_matrix

    items = of_items.shape[1]
    values = of_items.mean(axis=1)
    scored = len(sample.study.aligned[t].question.classes)
    moved = csr_matrix((of_items - values[:, None]) / items)
    nothing = csr_matrix((len(values), items * scored))
    cell = sample.shared.sums_of(t, moved, nothing).covariances(values)
    return replace(cell, floor=floor_of(len(np.unique(sample.shared.unit[t])), width))


def _strata_rows(
    sample: SetSample, t: int, member: Bools, wanted: SetsWanted
) -> Iterator[dict[str, Any]]:
    """Coverage by class, by level of risk and by groups of items."""
    study, classes = sample.study, sample.classes(t)
    items, labels = study.aligned[t].question.items, sample.labels(t)
    kinds: dict[str, By] = {"class": "class"}
    if wanted.risk is not None:
        kinds[wanted.risk.name] = wanted.risk
    if study.attributes is not None:
        codes = study.attributes.aligned(items, on_missing="drop")
        for place, column in enumerate(study.attributes.columns):
            levels = study.attributes.levels[place]
            names = [levels[k] if k >= 0 else "unknown" for k in codes[place]]
            kinds[column] = dict(zip(items, names, strict=True))
    for kind, by in kinds.items():
        strata = strata_of(by, items, classes)
        code = strata.code[:, None] if strata.of_items else strata.code[None]
        covered = Coverage.of_sets(labels, member).within(code, len(strata.names))
        cell, values = covered.cell(sample.shared, t), covered.values
        weight = np.bincount(np.broadcast_to(code, labels.shape).ravel(), labels.ravel())
        for place, name in enumerate(strata.names):
            if np.isfinite(values[place]):
                value = float(values[place])
                ends = cell.of(place).interval(value, study.settings.level, (0.0, 1.0))
                yield (
                    {"by": kind, "stratum": name}
                    | ends_of("reader", value, ends)
                    | {"share": float(weight[place] / weight.sum())}
                )


def _item_rows(
    sample: SetSample, t: int, about: Mapping[str, str], member: Bools
) -> Iterator[dict[str, Any]]:
    """The set of every item, and the share of the votes that it holds."""
    classes, labels = sample.classes(t), sample.labels(t)
    share = (labels * member).sum(axis=1)
    for place, item in enumerate(sample.study.aligned[t].question.items):
        names = [classes[k] for k in np.flatnonzero(member[place])]
        row = {"item": item, "set": " | ".join(names), "size": len(names)}
        yield {**about, **row, "held": float(share[place])}


# ---- the readers' own sets -------------------------------------------------------------------


def _own_sets(sample: SetSample, t: int) -> dict[str, Any]:
    r"""How often a reader's set holds what another says: pairs of readers of an item.

    With :math:`T_v` what the pairs of vote v hold in both directions, an item of m votes has
    the value :math:`a = \sum_v T_v / 2 m (m - 1)`, and a vote moves it by
    :math:`(T_v / (m - 1) - 2 a) / m`.
    """
    study, question = sample.study, sample.study.aligned[t].question
    votes = question.votes
    table = study.truth
    if votes is None or not isinstance(table, Annotations):
        return {}
    if study.by_standard or table.value is not None or (votes.annotator < 0).any():
        return {}
    classes, number_of_votes = len(sample.classes(t)), len(votes.weight)
    item = np.repeat(np.arange(len(votes.sizes)), votes.sizes)
    in_set, said = _reader_sets(table, votes, classes), np.zeros((number_of_votes, classes))
    said[votes.vote, votes.label] = votes.share
    start, m = votes.start[:-1], votes.sizes
    there, mass = (np.add.reduceat(table, start, axis=0)[item] for table in (in_set, said))
    pairs = (in_set * (mass - said) + said * (there - in_set)).sum(axis=1)
    several = m > 1
    if not several.any():
        return {}
    a = np.add.reduceat(pairs, start) / np.maximum(2 * m * (m - 1), 1)
    value, whole = float(a[several].mean()), float(several.sum())
    moved = (pairs / np.maximum(m - 1, 1)[item] - 2 * a[item]) / m[item] / whole
    moved = np.where(several[item], moved * item_scale(1 - 1 / m)[item], 0.0)
    influence = np.where(several, a - value, 0.0) / whole
    cell = _paired(sample, t, influence, (moved, item)).covariances(np.array([value]))
    ends = cell.of(0).interval(value, study.settings.level, (0.0, 1.0))
    size = np.add.reduceat(in_set.sum(axis=1), start) / m
    sizes = item_means(sample, t, size[None], 0.0)
    mean = float(sizes.values[0])
    of_size = sizes.of(0).interval(mean, study.settings.level, (0.0, np.inf))
    single = float((in_set.sum(axis=1) == 1).mean())
    return (
        ends_of("reader", value, ends)
        | ends_of("size", mean, of_size)
        | {"single": single, "empty": 0.0}
    )


def _reader_sets(table: Annotations, votes: Votes, classes: int) -> Floats:
    """Which classes every vote names: all of a differential diagnosis, (votes, classes)."""
    in_set = np.zeros((len(votes.weight), classes))
    in_set[votes.vote, votes.label] = 1.0
    if table.reading is None or table.label is None:
        return in_set
    place = np.full(int(table.reading.max()) + 1, -1)
    place[table.reading[votes.row]] = np.arange(len(votes.row))
    rows = np.flatnonzero(place[table.reading] >= 0)
    in_set[place[table.reading[rows]], table.label[rows]] = 1.0
    return in_set


def _paired(sample: SetSample, t: int, influence: Floats, votes: tuple[Floats, Ints]) -> Sums:
    """Contributions of units, readers and cells to a mean over pairs of readers."""
    from scipy.sparse import csr_matrix

    shared, question = sample.shared, sample.study.aligned[t].question
    empty = csr_matrix((1, len(influence) * len(question.classes)))
    sums = shared.sums_of(t, csr_matrix(influence[None]), empty)
    if sums.people is None or question.votes is None:
        return sums
    moved, item = votes
    group = shared.plan.annotator_group
    who = question.votes.annotator if group is None else group[question.votes.annotator]
    unit = shared.unit[t][item].astype(np.int64)
    cell = np.unique(unit * (1 + int(who.max())) + who, return_inverse=True)[1]
    row = csr_matrix(moved[None])
    return sums._replace(people=row @ indicator(who), cells=row @ indicator(cell))


# ---- how it is said --------------------------------------------------------------------------


def _too_few_readers(sample: SetSample) -> list[Notice]:
    """That a promise for every reader is useless here."""
    votes = sample.study.votes
    readers = 0 if votes is None or votes.annotators is None else len(votes.annotators)
    named = sample.shared.target.named
    return [every_reader(readers)] if named and 0 < readers < ENOUGH_READERS else []


def _claims(rows: Rows, sample: SetSample, alpha: float, level: float) -> list[Claim]:
    """Whether coverage of a new reader is below or above what was promised, all at once."""
    key = _promised(rows)
    whose = "the votes" if key == "reader" else "a model of the truth"
    ruled = [row for row in rows if row["model"]]
    family = ClaimFamily("coverage of the sets of all models by every rule", len(ruled))
    whom = sample.shared.population(0).whom
    claims = []
    for row in ruled:
        where = f" ({row['task']})" if row["task"] else ""
        metric = f"coverage{where} of sets on the {row['calibrated_on']}"
        gap = row[key] - (1 - alpha)
        wider = _simultaneous(row, key, len(ruled), level)
        low, high = (end - (1 - alpha) for end in wider)
        estimand = Estimand(metric, whose, row["model"], exact_percent(1 - alpha))
        claims.append(Claim(estimand, whom, family, gap, low, high, level))
    return claims


def _simultaneous(row: dict[str, Any], key: str, number_of: int, level: float) -> list[float]:
    """Ends of the interval widened to that of so many (Bonferroni), on the logit scale."""
    from statistics import NormalDist

    normal, value = NormalDist().inv_cdf, row[key]
    ratio = normal(1 - (1 - level) / 2 / number_of) / normal(0.5 + level / 2)
    ends = (row[f"{key}_low"], row[f"{key}_high"])
    return [min(max(value + ratio * (end - value), 0.0), 1.0) for end in ends]


def _sentences(rows: Rows, claims: Sequence[Claim], wanted: SetsWanted) -> tuple[str, Names]:
    """What the sets hold, and which rules promise too much."""
    calibration = wanted.calibration
    key = _promised(rows)
    who = "what a new reader says" if key == "reader" else "what is plausible"
    front = [row for row in rows if row["model"] and row["calibrated_on"] == VOTES]
    best = min(front, key=lambda row: (row["size"], row["model"]))
    where = f" in {best['task']}" if best["task"] else ""
    nominal = exact_percent(1 - calibration.alpha)
    held = estimate(best[key], best[f"{key}_low"], best[f"{key}_high"])
    sentence = (
        f"Sets calibrated on the votes to hold {nominal} of {who} do so with {held}{where}, "
        f"the smallest with {number(best['size'], 1)} classes on average ({best['model']})."
    )
    below = _named(rows, claims, Decision.INFERIOR)
    more = []
    if below:
        rules = [f"on the {rule} of {joined(models, most=NAMED)}" for rule, models in below]
        more.append(f"Sets {joined(rules)} surely hold less than {nominal}.")
    else:
        more.append(f"No rule surely holds less than {nominal}.")
    own = next((row for row in rows if row["calibrated_on"] == READERS), None)
    if own is not None:
        size = number(own["size"], 1)
        sets = estimate(own["reader"], own["reader_low"], own["reader_high"])
        more.append(f"Readers' own sets ({size} classes) hold what another says with {sets}.")
    return sentence, tuple(more)


def _named(
    rows: Rows, claims: Sequence[Claim], decision: Decision
) -> list[tuple[str, list[str]]]:
    """Models by rule of which something is claimed."""
    models: dict[str, dict[str, None]] = {}
    ruled = [row for row in rows if row["model"]]
    for row, claim in zip(ruled, claims, strict=False):
        if claim.decision is decision:
            models.setdefault(row["calibrated_on"], {})[row["model"]] = None
    return [(rule, list(names)) for rule, names in models.items()]


def _promised(rows: Rows) -> str:
    """What rules promise to hold: what readers say, or else what is plausible."""
    return "mass" if all(math.isnan(row.get("reader", math.nan)) for row in rows) else "reader"


def _tables(
    rows: Rows, strata: Rows, by_item: Rows, wanted: SetsWanted, level: float
) -> Iterator[Table]:
    """Coverage and size by rule; coverage by stratum; the sets themselves."""
    what = f"alpha {wanted.calibration.alpha:g}, {exact_percent(level)} intervals"
    yield Table(
        name="coverage",
        caption=f"What sets hold and how large they are, {what}",
        columns=(
            *columns("text", "task"),
            Column("model", "model", "model"),
            *columns("text", "calibrated_on"),
            spanned("reader", "a new reader"),
            spanned("majority", brief=False),
            *([spanned("mass", "plausible mass")] if "mass" in rows[0] else []),
            spanned("size", "classes"),
            Column("single", "of one class", "percent"),
            Column("empty", "empty", "percent", brief=False),
        ),
        rows=rows,
        brief=rows[:BRIEF],
    )
    if strata:
        lowest = sorted(strata, key=lambda row: (row["reader"], row["stratum"]))
        yield Table(
            name="strata",
            caption=f"What they hold by class and group, calibrated on the "
            f"{strata[0]['calibrated_on']}, {what}",
            columns=(
                *columns("text", "task"),
                Column("model", "model", "model"),
                *columns("text", "by", "stratum"),
                spanned("reader", "a new reader"),
                Column("share", "share of votes", "percent"),
            ),
            rows=strata,
            brief=lowest[:BRIEF],
        )
    if by_item:
        yield Table(
            name="sets",
            caption=f"The set of every item, calibrated on the {by_item[0]['calibrated_on']}",
            columns=(
                *columns("text", "task", "item"),
                Column("model", "model", "model"),
                *columns("text", "set"),
                Column("size", "classes", "count"),
                Column("held", "share of votes held", "percent"),
            ),
            rows=by_item,
            brief=(),
            page=False,
        )


def _charts(rows: Rows, alpha: float) -> Iterator[Dots]:
    """Coverage of a new reader by every rule, next to what was promised."""
    key = _promised(rows)
    for place, task in enumerate(dict.fromkeys(row["task"] for row in rows), 1):
        here = [row for row in rows if row["task"] == task and math.isfinite(row[key])]
        several = any(row["task"] != task for row in rows)
        yield Dots(
            name=f"sets-{place}" if several else "sets",
            caption=f"What sets hold (dotted: the {exact_percent(1 - alpha)} asked for), by "
            "what they are calibrated on" + (f", {task}" if several else ""),
            axis="share of a new reader's answers" if key == "reader" else "plausible mass",
            reference=1 - alpha,
            rows=[
                Dot(
                    f"{row['model']}, {row['calibrated_on']}" if row["model"] else READERS,
                    row[key],
                    row[f"{key}_low"],
                    row[f"{key}_high"],
                    model=row["model"],
                    remark=f"{number(row['size'], 1)} classes",
                )
                for row in here
            ],
        )


def _how(wanted: SetsWanted) -> str:
    """On which items thresholds were set, and by which score."""
    tuning, score = wanted.tuning, wanted.calibration.score
    folds = FOLDS if tuning is None else tuning.folds
    which = f"in {folds} folds, each by the others" if folds else "on items that were set aside"
    return f"Thresholds of the score {score!r} were set {which}."


def sets_report(study: Study, wanted: SetsWanted, title: str) -> Report:
    """The finding as a report of its own."""
    how, finding = wanted.calibration, sets_finding(study, wanted)
    by = how.by.name if isinstance(how.by, Grouping) else how.by
    by = "groups of items" if isinstance(by, Mapping) else by
    return Report(
        title=title,
        models=tuple(study.aligned[0].scores),
        findings=(finding,),
        scope=SetSample.of(study).shared.population(0).scope,
        known=(
            count(len(study.items), "item"),
            count(len(study.aligned[0].scores), "model"),
        ),
        terms=(
            ("Prediction set", "The classes whose score is at least a threshold."),
            ("Coverage", "How often the set of an item holds what a new reader says of it."),
            ("Alpha", "How often it may miss that."),
        ),
        settings=(
            ("Alpha", f"{how.alpha:g}"),
            ("Score", how.score),
            ("Sets by item", _front(wanted)),
            ("Thresholds by", by or "none: one for all"),
            ("Calibrated", _how(wanted)),
            ("Level of the intervals", exact_percent(study.settings.level)),
            (
                "Labels drawn per item",
                count(how.draws) if how.draws else "none: shares of votes",
            ),
        ),
    )
