"""Truth: what models make of the annotations of a task, and how far that can be trusted.

A chosen model is fitted, and others beside it: where they differ, one looks before trusting.
Reliability says how much one vote or reading is worth; nothing in the annotations tells it, so
a sweep shows what each of the published values would make of them. Models without a
reliability have no sweep. Several tasks have a row each, and everything about every one under
its name.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from equipoise.read.codec import encode
from equipoise.study.analyses.annotators import annotators_finding, skilled_rows
from equipoise.study.analyses.certainty import SURE
from equipoise.study.analyses.consensus import consensus_finding
from equipoise.study.analyses.result import ENDS
from equipoise.study.analyses.truth_cases import SEED, cases_finding, truth_cases
from equipoise.study.analyses.truth_certainty import certainty, certainty_meaning
from equipoise.study.analyses.truth_gold import GoldAggregates
from equipoise.truth import Chain, dirichlet, plackett_luce, probabilistic_inverse_rank
from equipoise.truth.choosing import (
    SkillRanks,
    cautions,
    decisions,
    differ,
    disagreement,
    remarks,
    skill_ranks,
    verdict,
)
from equipoise.truth.choosing.cautions import FEW, vote_table
from equipoise.truth.choosing.comparing import FOLDS
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import short_repr
from equipoise.types.findings import (
    Cell,
    Column,
    Finding,
    Line,
    Lines,
    Report,
    Table,
    columns,
    spanned,
)
from equipoise.types.notices import Notice, as_notices, notice
from equipoise.types.numbers import count, number, percent, rank
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.votes import collect_votes, gold_items
from equipoise.types.words import capital

COUNTS = (1.0, 2.0, 3.0, 5.0, 10.0)
FACTORS = (10.0, 20.0, 30.0, 50.0, 100.0)
QUICK = Chain(draws=200, burn_in=100)
VOTES = "dirichlet"  # votes with an empirical prior, which a model of annotators must beat
FINE = 0.2  # shares below it are said with a decimal
SKILLS = {
    "accuracy": "probability of naming the true class, by the model; guessing evenly among "
    "{classes} classes has {chance}",
    "ability": "0 is guessing, below 0 the classes are turned around",
}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FittedModels:
    """Models of one task.

    Attributes
    ----------
    name, reason
        The chosen model, and a sentence on why.
    task
        Which question.
    models
        Plausibilities by the name of their model, the chosen one among them.
    scores
        Mean log-likelihood of held-out votes; empty where they were not scored.
    compared
        Whether a comparison of all suitable models was asked for.
    gold
        The models against gold, or a notice why not; None where the task has no gold.
    """

    name: str
    reason: str
    task: str
    models: Mapping[str, Plausibilities]
    scores: Mapping[str, float]
    compared: bool = False
    gold: GoldAggregates | Notice | None = None

    __repr__ = short_repr

    @property
    def chosen(self) -> Plausibilities:
        """What the chosen model made of the annotations."""
        return self.models[self.name]

    @property
    def decided_otherwise(self) -> dict[str, int]:
        """How many items each model decides otherwise than the chosen one."""
        return {name: int(differ(one, self.chosen).sum()) for name, one in self.models.items()}


# ---- reliability ---------------------------------------------------------------------------


class _SweepStep(NamedTuple):
    """One reliability, whether it is in use, the mean certainty, and the uncertain items."""

    reliability: float
    in_use: bool
    mean: float
    below: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReliabilitySweep:
    """Certainty over reliabilities.

    Attributes
    ----------
    used
        The reliability in use.
    how
        How the fits were made, in a sentence.
    steps
        Rising, the one in use among them.
    """

    used: float
    how: str
    steps: tuple[_SweepStep, ...]

    @property
    def finding(self) -> str:
        """How far the choice of reliability moves the certainty."""
        first, last = self.steps[0], self.steps[-1]
        digits = 1 if max(first.share, last.share) < FINE else 0
        low, high = (percent(one.share, digits) for one in (first, last))
        ends = f"from {first.reliability:g} to {last.reliability:g}"
        if low == high:
            return (
                f"Trusting each annotation more changes little: with a reliability {ends}, "
                f"{low} of the items stay below a certainty of {SURE:g}."
            )
        return (
            f"How far annotations are trusted matters: with a reliability {ends}, the items "
            f"with a certainty below {SURE:g} go from {low} to {high}; {self.used:g} is in use."
        )

    def report(self) -> Finding:
        """What another reliability would change."""
        ticks = [(float(i), f"{one.reliability:g}") for i, one in enumerate(self.steps)]
        used = next(float(i) for i, one in enumerate(self.steps) if one.in_use)
        below = f"items with a certainty below {SURE:g}"
        drawn = {
            "mean": ("mean certainty", [one.mean for one in self.steps]),
            "below": (below, [one.share for one in self.steps]),
        }
        charts = tuple(
            Lines(
                name=f"reliability-{key}",
                caption=f"{capital(title)} over the reliability",
                alternative=f"{capital(title)} over {len(ticks)} reliabilities; {self.used:g} "
                "is in use.",
                x="reliability of an annotation",
                y=title,
                lines=[Line("", [(float(i), value) for i, value in enumerate(values)])],
                ticks=ticks,
                marks=[(used, "in use")],
            )
            for key, (title, values) in drawn.items()
        )
        table = Table(
            name="reliability",
            caption="Certainty by reliability",
            columns=(
                *columns(reliability="text", in_use="text"),
                Column("mean", "mean certainty", "number"),
                Column("below", f"items below {SURE:g}", "count"),
                Column("share", "share", "percent"),
            ),
            rows=[one._asdict() for one in self.steps],
        )
        note = (
            "Reliability is what one annotation counts, a choice that the annotations "
            f"themselves do not settle. {self.how}"
        )
        return replace(
            _VARIED, sentence=self.finding, tables=(table,), charts=charts, note=note
        )


_VARIED = Finding(
    key="reliability", title="What if annotations counted more?", sentence="", brief=False
)


def reliability_sweep(
    annotations: Annotations, plausibilities: Plausibilities
) -> _ReliabilitySweep | None:
    """Certainty over reliabilities, the one in use among them; None without a reliability.

    Examples
    --------
    >>> votes = Annotations.from_counts(np.array([[3, 2], [9, 0]]))
    >>> [step.below for step in reliability_sweep(votes, dirichlet(votes)).steps]
    [1, 1, 1, 1, 1]
    """
    made = plausibilities
    given: Mapping[str, Any] = made.parameters
    values, how = COUNTS, "Each value is a fit of the same model; certainties are exact."
    fit: Callable[..., Plausibilities]
    if made.model == "dirichlet":
        fit = partial(dirichlet, prior=given["prior"])
    elif made.model == "probabilistic_inverse_rank":
        values = FACTORS
        fit = partial(probabilistic_inverse_rank, preset=str(given["preset"]))
    elif made.model == "plackett_luce":
        fit = partial(plackett_luce, prior=given["prior"], chain=QUICK)
        how = (
            f"Each value is a fit of the same model with {QUICK.draws} draws after "
            f"{QUICK.burn_in} (seed {QUICK.seed}), fewer than elsewhere, so the numbers at the "
            "reliability in use can differ a little from those of the fit."
        )
    else:
        return None
    used = float(given["reliability"])
    steps = []
    for reliability in sorted({*values, used}):
        sure = fit(annotations, reliability=reliability, task=made.task).certainty
        below = int((sure < SURE).sum())
        share = below / (len(made.items) or 1)
        in_use, mean = reliability == used, float(sure.mean())
        steps.append(_SweepStep(reliability, in_use, mean, below, share))
    return _ReliabilitySweep(used=used, how=how, steps=tuple(steps))


# ---- models beside each other --------------------------------------------------------------


def _comparison_rows(fits: FittedModels) -> list[dict[str, Cell]]:
    """A row per model."""
    rows: list[dict[str, Cell]] = []
    otherwise = fits.decided_otherwise
    for name, one in fits.models.items():
        meaning = certainty_meaning(one)
        rows.append(
            {
                "model": name,
                "held_out_log_likelihood": fits.scores.get(name),
                "against_votes": _against_votes(fits.scores, name),
                "other_top_class": otherwise[name],
                "mean_certainty": float(one.certainty.mean()) if meaning.uncertain else None,
                "certainty_is": meaning.words,
            }
        )
    return rows


def _against_votes(scores: Mapping[str, float], name: str) -> float | None:
    """How much better a model foretells held-out votes than votes with an empirical prior."""
    if name not in scores or VOTES not in scores or not np.isfinite(scores[VOTES]):
        return None
    return scores[name] - scores[VOTES]


def _decision_rows(fits: FittedModels) -> list[dict[str, Cell]]:
    """A row per pair of models: how many items they decide differently."""
    return [
        {
            "models": f"{one.first}, {one.second}",
            "items": one.items,
            "share": one.share,
            "share_of_rarer_class": one.rarer,
        }
        for one in decisions(fits.models)
    ]


def _skill_comparisons(annotations: Annotations, fits: FittedModels) -> list[SkillRanks]:
    """Every pair of models that have skills; of annotators with enough votes, if there are."""
    if sum(one.skills is not None for one in fits.models.values()) < 2:
        return []
    judged = vote_table(annotations, fits.task).sum(axis=1) >= FEW
    return skill_ranks(fits.models, judged if judged.sum() > 2 else None)


def _skill_row(one: SkillRanks) -> dict[str, Cell]:
    numbers = {"annotators": one.annotators, "rank_correlation": one.spearman}
    return {"models": f"{one.first}, {one.second}", **numbers}


def models_finding(fits: FittedModels) -> Finding:
    """What other models make of the same annotations."""
    rows, other = _comparison_rows(fits), fits.decided_otherwise
    most = max(other, key=lambda name: other[name])
    text = "All models decide every item alike."
    if other[most]:
        every = ", the most of all models" if len(other) > 2 else ""
        text = (
            f"Of {count(len(fits.chosen.items), 'item')}, {most} decides {count(other[most])} "
            f"otherwise than {fits.name}{every}."
        )
    legend = (
        "Other top class: items whose most plausible class is another than by "
        f"{fits.name}. Certainties of different models answer different questions and are not "
        "to be compared; models that know no uncertainty have none."
    )
    if fits.scores:
        legend = (
            "Held-out log-likelihood: mean log probability of votes that the model had not "
            f"seen, in nats per vote, {FOLDS} folds; higher is better, −∞: a vote it had ruled "
            f"out. Against votes: its difference to that of {VOTES}. {legend}"
        )
    scored = (
        Column("held_out_log_likelihood", "held-out log-likelihood", "number"),
        Column("against_votes", "against votes", "change"),
    )
    models = Table(
        name="models",
        caption="Models of the same annotations",
        columns=(
            Column("model", "model"),
            *(scored if fits.scores else ()),
            *columns(other_top_class="count", mean_certainty="number"),
            Column("certainty_is", "certainty is the"),
        ),
        rows=[{**row, "mean_certainty": row["mean_certainty"] or "none"} for row in rows],
        legend=legend,
        open=True,
    )
    apart = Table(
        name="decisions",
        caption="Items decided differently",
        columns=(
            *columns(models="text", items="count", share="percent"),
            Column("share_of_rarer_class", "of the rarer class", "percent"),
        ),
        rows=[row for row in _decision_rows(fits) if row["items"]],
    )
    title = "What do other models say?"
    return Finding(key="models", title=title, sentence=text, tables=(models, apart))


def _unanimity_finding(fits: FittedModels) -> Finding | None:
    """Whether models of annotators expect the agreement that is seen; None without any."""
    checked = {name: one.unanimity for name, one in fits.models.items() if one.unanimity}
    if not checked:
        return None
    name = fits.name if fits.name in checked else next(iter(checked))
    own = checked[name]
    inside = own.low <= own.observed <= own.high
    text = (
        f"{name} expects {percent(own.expected, 1)} of the items to be unanimous "
        f"({percent(own.low, 1)} to {percent(own.high, 1)}), observed "
        f"{percent(own.observed, 1)}: {'that fits' if inside else 'that does not fit'}."
    )
    table = Table(
        name="unanimity",
        caption="Items on which all annotators agree",
        columns=(
            Column("model", "model"),
            Column("expected", "expected", "percent", ("low", "high")),
            *columns(observed="percent", items="count"),
        ),
        rows=[{"model": name, **asdict(one)} for name, one in checked.items()],
        legend="Expected: if the same annotators voted once more as the fitted model says, and "
        "where 95% of such data lie. Items with at least two votes.",
    )
    title = "Does the model expect the agreement that is seen?"
    return Finding(key="unanimity", title=title, sentence=text, tables=(table,))


def _skill_ranks_finding(comparisons: Sequence[SkillRanks]) -> Finding:
    """How models rank annotators."""
    least = min(comparisons, key=lambda one: one.spearman)
    rows = []
    for one in comparisons:
        moved = ", ".join(f"{name} ({rank(a)} to {rank(b)})" for name, a, b in one.moved)
        rows.append({**_skill_row(one), "move_most": moved or "nobody"})
    table = Table(
        name="skill_ranks",
        caption="How models rank annotators",
        columns=(
            *columns(models="text", annotators="count", rank_correlation="number"),
            Column("move_most", "move most"),
        ),
        rows=rows,
        legend="Rank correlation is Spearman's, of the skills of the annotators in the two "
        "models; 1 is the same order.",
    )
    return Finding(
        key="skill_ranks",
        title="How do models rank annotators?",
        sentence="The rank correlation of the skills is at least "
        f"{number(least.spearman)} ({least.first}, {least.second}).",
        tables=(table,),
    )


# ---- everything about the truth ------------------------------------------------------------


def truth_notices(annotations: Annotations, fits: FittedModels) -> tuple[Notice, ...]:
    """What the data, the fit and the comparison say that the reader should know."""
    notices = [
        *as_notices(annotations.notices),
        *remarks(annotations, fits.chosen),
        *cautions(annotations, fits.task, fit=fits.models.get("dawid_skene")),
        *as_notices(fits.chosen.notices),
        *verdict(fits.models),
        *([fits.gold] if isinstance(fits.gold, Notice) else []),
    ]
    if fits.compared and not fits.scores:
        kinds = {"interval": "of ratings", "ranking": "of rankings"}
        text = (
            "The likelihood {what} is not held out: it needs single labels of known "
            "annotators. Compare decisions instead."
        )
        what = kinds.get(annotations.kind, "of anonymous votes")
        notices.append(notice("not_held_out", text, what=what))
    if float("-inf") in fits.scores.values():
        text = (
            "A held-out log-likelihood of −∞: a held-out vote got probability 0, because the "
            "model had ruled its class out."
        )
        notices.append(Notice("ruled_out", text))
    return tuple(notices)


def truth_report(
    annotations: Annotations, fits: FittedModels, *, title: str, close_up: bool = True
) -> Report:
    """Everything about the truth of one task.

    Parameters
    ----------
    title
        Heading of the report.
    close_up
        Whether to look at cases and at other reliabilities too, which takes further fits.
    """
    made = fits.chosen
    sure = certainty(annotations, made)
    meaning = certainty_meaning(made)
    how = f"The model is {made.method}; the certainty is the {meaning.words}."
    scored = [fits.gold.report()] if isinstance(fits.gold, GoldAggregates) else []
    findings = [
        replace(sure.report(meaning.sentence), more=(how,)),
        *scored,
        _with_distances(sure.ambiguous_report(), fits),
        _annotators(annotations, fits),
        consensus_finding(annotations, made),
    ]
    if close_up:
        drawn = None if made.law is None else SEED
        findings.append(cases_finding(truth_cases(annotations, made), seed=drawn))
        sweep = reliability_sweep(annotations, made)
        none = f"The model, {made.method}, has no reliability that could be varied."
        varied = replace(_VARIED, sentence=none) if sweep is None else sweep.report()
        findings.append(varied)
    if len(fits.models) > 1:
        findings.append(models_finding(fits))
    checked = _unanimity_finding(fits)
    findings += [] if checked is None else [checked]
    ranks = _skill_comparisons(annotations, fits)
    findings += [_skill_ranks_finding(ranks)] if ranks else []
    what = "reading" if annotations.kind == "ranking" else "vote"
    votes = int(annotations.in_task(fits.task).sum())
    if annotations.kind != "interval":
        votes = int(collect_votes(annotations, fits.task).sizes.sum())
    people = annotations.annotators
    return Report(
        title=title,
        findings=tuple(one.under() for one in findings),
        scope=f"Model: {fits.reason}",
        known=(
            fits.task,
            count(len(made.items), "item"),
            f"{count(len(made.classes))} classes",
            count(votes, what),
            "anonymous votes" if people is None else count(len(people), "annotator"),
            made.method,
        ),
        settings=(("Method", made.method), ("Seed of the draws", str(SEED))),
        notices=truth_notices(annotations, fits),
        methods=(
            f"The truth of {count(len(made.items), 'item')} was inferred by {made.method}",
        ),
    )


def _with_distances(finding: Finding, fits: FittedModels) -> Finding:
    """Ambiguous items with how far models are apart on each, where there are several."""
    if len(fits.models) < 2:
        return finding
    apart = dict(zip(fits.chosen.items, disagreement(fits.models).tolist(), strict=True))
    (table,) = finding.tables
    column = Column("models_apart", "models apart", "number")
    rows = [{**row, "models_apart": apart[str(row["item"])]} for row in table.rows]
    legend = (
        "Models apart: largest distance (total variation) between the plausibilities of any "
        "two models, 0 the same to 1 nothing in common; it says nothing about annotators."
    )
    wider = replace(table, columns=(*table.columns, column), rows=rows, legend=legend)
    return replace(finding, tables=(wider,))


def _annotators(annotations: Annotations, fits: FittedModels) -> Finding:
    skills, classes = fits.chosen.skills, fits.chosen.classes
    rows = skilled_rows(annotations, fits.task, skills)
    if not rows:
        text = "The votes are anonymous, so nothing can be said of single annotators."
        title = "How do annotators differ?"
        return Finding(key="annotators", title=title, sentence=text, brief=False)
    meaning = "" if skills is None else skills.meaning
    legend = []
    if annotations.kind == "interval":
        legend.append(
            "Above the item mean: how far the annotator's ratings lie above those of all on "
            "the same items, on average."
        )
    else:
        legend.append("Agreement: share of others' votes on the same items that say the same.")
    if len(classes) == 2 and annotations.kind != "interval":
        legend.append(f"Positive share: share of the votes for {classes[1]}.")
    if meaning in SKILLS:
        chance = number(1 / len(classes), 2)
        legend.append(f"Skill: {SKILLS[meaning].format(classes=len(classes), chance=chance)}.")
    return annotators_finding(rows, skill=meaning, legend=" ".join(legend))


def truth_json(annotations: Annotations, fits: FittedModels) -> dict[str, object]:
    """Everything about every item, annotator and model, for people who asked for JSON."""
    made = fits.chosen
    sure, meaning = made.certainty, certainty_meaning(made)
    gold = np.flatnonzero(gold_items(annotations, fits.task))
    return {
        "kind": annotations.kind,
        "classes": list(made.classes),
        "gold_items": [annotations.items[i] for i in gold],
        "settings": encode(made.parameters),
        "certainty_is": meaning.words,
        "mean_certainty": float(sure.mean()) if meaning.uncertain else None,
        "items_below_0.99": int((sure < SURE).sum()),
        "items": _items(fits),
        "skill": None if made.skills is None else made.skills.meaning,
        "annotators": skilled_rows(annotations, fits.task, made.skills),
        "comparison": _comparison_rows(fits),
        "against_gold": fits.gold.rows() if isinstance(fits.gold, GoldAggregates) else [],
        "unanimity": {
            name: asdict(one.unanimity)
            for name, one in fits.models.items()
            if one.unanimity is not None
        },
        "decisions": _decision_rows(fits),
        "skill_ranks": [
            {
                **_skill_row(one),
                "move_most": [{"annotator": n, "ranks": [a, b]} for n, a, b in one.moved],
            }
            for one in _skill_comparisons(annotations, fits)
        ],
    }


def _items(fits: FittedModels) -> list[dict[str, object]]:
    """A row per item: the classes that have any mass of their own, and all others together."""
    made = fits.chosen
    sure, entropy = made.certainty, made.entropy
    mass, rest = made.mass.mean(axis=0), made.rest.mean(axis=0)
    apart = disagreement(fits.models) if len(fits.models) > 1 else None
    rows: list[dict[str, object]] = []
    for i, item in enumerate(made.items):
        own = range(int(made.start[i]), int(made.start[i + 1]))
        plausible = {made.classes[made.label[k]]: float(mass[k]) for k in own if mass[k] > 0}
        rows.append(
            {
                "item": item,
                "certainty": float(sure[i]),
                "entropy": float(entropy[i]),
                "models_apart": None if apart is None else float(apart[i]),
                "plausibility": plausible,
                "others": max(0.0, float(rest[i])),
            }
        )
    return rows


# ---- several tasks -------------------------------------------------------------------------


def _task_rows(every: Sequence[FittedModels]) -> list[dict[str, Cell]]:
    """One row per task: items, certainty, where models differ, accuracy against gold."""
    rows: list[dict[str, Cell]] = []
    for fits in every:
        made, meaning = fits.chosen, certainty_meaning(fits.chosen)
        sure = made.certainty
        row: dict[str, Cell] = {
            "task": fits.task,
            "items": len(made.items),
            "model": fits.name,
            "mean_certainty": float(sure.mean()) if meaning.uncertain else None,
            "below": int((sure < SURE).sum()),
            "share_below": float((sure < SURE).mean()),
            "decided_otherwise": max(fits.decided_otherwise.values()),
        }
        if isinstance(fits.gold, GoldAggregates):
            own = next(one for one in fits.gold.rows() if one["model"] == fits.name)
            row |= {f"accuracy{end}": own[f"accuracy{end}"] for end in ENDS}
            row |= {"gold_items": fits.gold.items}
        rows.append(row)
    return rows


def tasks_report(
    annotations: Annotations,
    every: Sequence[FittedModels],
    *,
    title: str,
    close_up: bool = True,
) -> Report:
    """Everything about the truth of some tasks; of one alone it is that of `truth_report`.

    Parameters
    ----------
    close_up
        As in `truth_report`.
    """
    reports = [truth_report(annotations, one, title=title, close_up=close_up) for one in every]
    if len(reports) == 1:
        return reports[0]
    first = reports[0]
    findings = [
        finding.under(task=fits.task)
        for fits, report in zip(every, reports, strict=True)
        for finding in report.findings
    ]
    notices = [
        one if one in annotations.notices else one.of(fits.task)
        for fits, report in zip(every, reports, strict=True)
        for one in report.notices
    ]
    return replace(
        first,
        findings=(_overview(every), *findings),
        known=(count(len(every), "task"), *first.known[2:3], *first.known[4:5]),
        notices=tuple(dict.fromkeys(notices)),
        methods=tuple(dict.fromkeys(said for one in reports for said in one.methods)),
        task=every[0].task,
    )


def _overview(every: Sequence[FittedModels]) -> Finding:
    """Which task is least certain, and all tasks in a table."""
    rows = _task_rows(every)
    worst = max(every, key=lambda fits: float((fits.chosen.certainty < SURE).mean()))
    below = worst.chosen.certainty < SURE
    text = (
        f"Least certain is {worst.task}: {count(int(below.sum()))} of "
        f"{count(len(below), 'item')} ({percent(float(below.mean()))}) have a certainty below "
        f"{number(SURE, 2)}."
    )
    if not below.any():
        text = f"In every task all items have a certainty of at least {number(SURE, 2)}."
    scored = any("accuracy" in row for row in rows)
    gold = (
        Column("gold_items", "items with gold", "count"),
        spanned("accuracy", "accuracy against gold"),
    )
    table = Table(
        name="tasks",
        caption="Certainty by task",
        columns=(
            *columns(task="text", items="count", model="text", mean_certainty="number"),
            Column("below", f"items below {SURE:g}", "count"),
            Column("share_below", "share", "percent"),
            Column("decided_otherwise", "decided otherwise by another model", "count"),
            *(gold if scored else ()),
        ),
        rows=[{**row, "mean_certainty": row["mean_certainty"] or "none"} for row in rows],
        open=True,
    )
    return Finding(
        key="tasks", title="How certain is each task?", sentence=text, tables=(table,)
    )
