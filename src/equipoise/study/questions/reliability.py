r"""Reliability: does the verdict depend on how far annotators are trusted?

A model of the truth with a reliability says how much an annotation is worth. Variants have the
truth by every such model that suits the annotations, at all published reliabilities and at that
of the study, and by the one distribution that it becomes where annotators are fully trusted.
The variant with the model and the reliability of the study is the study, to the last digit.

Beside values and verdicts stand the *certainty* that a truth leaves of the first one, two and
three classes, on average over the items that name as many, and the *spread* of every value by
every metric: its standard deviation over the draws of the possible truths. At full trust there
is none. The cases behind it are drawn in `equipoise.study.analyses.truth_cases`.

References
----------
Stutz et al., *Evaluating medical AI systems in dermatology under uncertain ground truth*.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from equipoise.inference.ranks import average_ranks, higher_is_better
from equipoise.study.analyses.truth_cases import case_charts
from equipoise.study.blocks import LABELS
from equipoise.study.questions.answers import Answer, Outcome, Question, Variant
from equipoise.study.variants import Contest, Scored
from equipoise.truth import MODELS, Chain, annotation_certainty, model_title
from equipoise.truth.choosing import Model, like, model, suitable
from equipoise.types import (
    Cell,
    Column,
    Finding,
    InputError,
    Line,
    Lines,
    Plausibilities,
    Point,
    Table,
    capital,
    columns,
    count,
    joined,
    number,
)

SETS = (1, 2, 3)  # first classes that must be the same, of which certainty is told
METRICS = 4  # that are drawn
FULL = "∞"
SCORED, FEWEST, MOST = 50_000_000, 20, 200  # cells of all draws, and draws, of votes
GROUPED = "a truth about groups of the classes"
Setting = tuple[str, float]  # a model, and its reliability; infinite where fully trusted


def own_setting(contest: Contest) -> Setting:
    """Model and reliability of the study; of votes no model, and nan where it has none."""
    fitted = [task.question.plausible for task in contest.tasks]
    truth = next((fit for fit in fitted if fit is not None), None)
    if truth is None:
        return "", math.nan
    return truth.model, float(truth.parameters.get("reliability", math.nan))


def _draws(contest: Contest) -> int:
    """As many as the truth of the study has; of votes, as many as are soon scored."""
    if contest.modelled:
        return contest.draws
    cells = sum(task.question.shares.size for task in contest.tasks)
    return int(np.clip(SCORED // max(cells, 1), FEWEST, MOST))


def settings_of(contest: Contest) -> list[Setting]:
    """Every model with a reliability, that of the study first, and its reliabilities."""
    own, value = own_setting(contest)
    ranked = contest.votes.kind == "ranking"
    names = [
        name
        for name in suitable(contest.votes)
        if MODELS[name].reliability and (MODELS[name].suits == ("ranking",)) == ranked
    ]
    names = sorted(names, key=lambda name: name != own)
    settings: list[Setting] = []
    for name in names:
        record = MODELS[name]
        assert record.reliability is not None
        levels = {*record.reliability.published, *([value] if name == own else [])}
        settings += [(name, level) for level in sorted(levels)]
        settings += [(name, math.inf)] * bool(record.limit)
    return settings


def trusted_otherwise(contest: Contest) -> Iterator[Variant]:
    """The contest by every model and reliability."""
    own = own_setting(contest)
    contest = replace(contest, spreads=True)
    for name, level in settings_of(contest):
        there = contest
        if (name, level) != own:
            there = contest.with_truth(list(_fitted(contest, name, level)))
        facts: dict[str, Cell] = {"model": model_title(name), "reliability": level}
        yield Variant(_label(name, level), there, facts=facts | _certainties(there))


def _label(name: str, level: float) -> str:
    if math.isinf(level):
        return model_title(MODELS[name].limit)
    return f"{model_title(name)}, {level:g}"


def _fitted(contest: Contest, name: str, level: float) -> Iterator[Plausibilities]:
    """The truth of every task by a setting, about the classes of the study."""
    for place, task in enumerate(contest.tasks):
        fit = _model_at(contest, name, level, place)
        truth = fit(contest.votes, task=task.question.task)
        scored = task.question.plausible
        if scored is not None and truth.classes != scored.classes:
            do = "score all classes of the annotations"
            raise InputError("reliability", GROUPED, "one about the classes themselves", do)
        truth = replace(truth, notices=())
        if math.isinf(level):
            truth = truth.averaged()
        elif truth.law is not None:
            truth = truth.drawn(_draws(contest), seed=contest.settings.seed + place)
        yield truth


def _model_at(contest: Contest, name: str, level: float, place: int) -> Model:
    """A model at a reliability; that of the study keeps its other settings.

    Another model has its own, and a prior of the same name where it knows it.
    """
    if math.isinf(level):
        return MODELS[MODELS[name].limit].fit
    scored = contest.tasks[place].question.plausible
    if scored is not None and scored.model == name:
        return like(scored, reliability=level)
    prior = None if scored is None else scored.parameters.get("prior")
    words = getattr(MODELS[name].prior, "words", ())
    return model(
        name,
        contest.votes,
        reliability=level,
        prior=str(prior) if prior in words else None,
        chain=Chain(draws=_draws(contest), seed=contest.settings.seed + place),
    )


def _certainties(contest: Contest) -> dict[str, Cell]:
    """Mean certainty of the first classes, over tasks and the items that name as many."""
    facts: dict[str, Cell] = {}
    truths = [task.question.plausible for task in contest.tasks]
    for size in SETS:
        parts = [
            annotation_certainty(truth, size).well_posed_mean
            for truth in truths
            if truth is not None and size < len(truth.classes)
        ]
        if parts:
            facts[f"certainty_{size}"] = float(np.mean(parts))
    return facts


# ---- what is told ----------------------------------------------------------------------------


def _rows(answer: Answer) -> list[dict[str, Cell]]:
    """Values by every metric with their spread over draws, and how ranks change."""
    soft, rows = LABELS.index("soft"), list[dict[str, Cell]]()
    for outcome in answer.outcomes:
        if outcome.scored is None:
            continue
        for k, metric in enumerate(answer.contest.metrics):
            values = outcome.scored.by_metric[k, soft]
            before, now = (
                dict(zip(scored.competitors, _ranks(scored, k, metric.better), strict=True))
                for scored in (answer.whole, outcome.scored)
            )
            for m, name in enumerate(outcome.scored.competitors):
                rows.append(
                    {
                        "variant": outcome.label,
                        "metric": metric.name,
                        "competitor": name,
                        "value": float(values[m]),
                        "spread": float(outcome.scored.spreads[k, m]),
                        "rank": now[name],
                        "rank_change": now[name] - before.get(name, math.nan),
                    }
                )
    return rows


def _ranks(scored: Scored, k: int, better: str) -> list[float]:
    """Ranks by a metric against soft labels."""
    values = scored.by_metric[k, LABELS.index("soft")]
    ranks: list[float] = average_ranks(higher_is_better(values, better)).tolist()
    return ranks


def with_possible_truths(answer: Answer, finding: Finding) -> Finding:
    """Add values with their spread, certainty, the cases behind them, and what they say."""
    rows = _rows(answer)
    words = {metric.name: metric.title for metric in answer.contest.metrics}
    table = Table(
        name="reliability_spread",
        caption="Values against possible truths, and their spread over them",
        columns=(
            Column("variant", "truth"),
            Column("metric", "metric", words=words),
            *columns(competitor="model", value="number"),
            Column("spread", "standard deviation over draws", "number"),
            Column("rank", "rank", "rank"),
            Column("rank_change", "change of rank", "change"),
        ),
        rows=rows,
        brief=[row for row in rows if row["rank_change"]],
    )
    tables = (*finding.tables, table) if rows else finding.tables
    charts = (*setting_charts(answer), *case_charts(answer.contest))
    sentence = f"{_summary(answer, rows)} {finding.sentence}"
    return replace(finding, sentence=sentence, tables=tables, charts=charts)


def _summary(answer: Answer, rows: Sequence[Mapping[str, Cell]]) -> str:
    """From where to where certainty runs, and how often ranks change."""
    sure = [
        (float(str(outcome.facts["certainty_1"])), outcome.label)
        for outcome in answer.outcomes
        if "certainty_1" in outcome.facts
    ]
    moved = {row["variant"] for row in rows if row["rank_change"]}
    of = count(len(answer.outcomes), "setting")
    text = f"Ranks by {_metrics(answer)} change in {count(len(moved))} of {of} of the truth."
    if sure:
        (low, least), (high, most) = min(sure), max(sure)
        text = (
            f"The first class is certain to {number(low)} on average ({least}) and up to "
            f"{number(high)} ({most}). {text}"
        )
    return text


def _metrics(answer: Answer) -> str:
    metrics = answer.contest.metrics
    return metrics[0].title if len(metrics) == 1 else f"{len(metrics)} metrics"


# ---- charts over settings --------------------------------------------------------------------


def setting_charts(answer: Answer) -> list[Lines]:
    """Certainty, and values by the first metrics, over models and reliabilities."""
    places = [
        (place, outcome) for place, outcome in enumerate(answer.outcomes) if outcome.lines
    ]
    if len(places) < 2:
        return []
    groups = [list(group) for _, group in groupby(places, lambda at: str(at[1].facts["model"]))]
    axis = Lines(
        name="reliability-certainty",
        caption="",
        x="reliability",
        y="certainty",
        ticks=[(place, _tick(outcome)) for place, outcome in places],
        marks=[(group[0][0] - 0.5, "") for group in groups[1:]],
    )
    drawn = [
        replace(
            axis,
            name="reliability" if not k else f"reliability-{k + 1}",
            caption=f"{capital(metric.called('soft'))} by reliability, from left: "
            f"{joined([_model_of(group) for group in groups])}. Bands: standard deviation over "
            "draws; hollow: annotators fully trusted",
            y=metric.title,
            lines=[line for group in groups for line in _segments(answer, group, k, groups)],
            points=_full_trust(answer, groups, k),
        )
        for k, metric in enumerate(answer.contest.metrics[:METRICS])
    ]
    return [*drawn[:1], *_certainty_charts(groups, axis), *drawn[1:]]


Group = Sequence[tuple[int, Outcome]]


def _model_of(group: Group) -> str:
    return str(group[0][1].facts["model"])


def _tick(outcome: Outcome) -> str:
    level = float(str(outcome.facts["reliability"]))
    return FULL if math.isinf(level) else f"{level:g}"


def _finite(group: Group) -> list[tuple[int, Outcome]]:
    return [(place, outcome) for place, outcome in group if _tick(outcome) != FULL]


def _value(outcome: Outcome, name: str, k: int) -> tuple[float, float]:
    """Value of a competitor by a metric against soft labels, and its spread."""
    scored = outcome.scored
    assert scored is not None
    m = scored.competitors.index(name)
    soft = LABELS.index("soft")
    return float(scored.by_metric[k, soft, m]), float(scored.spreads[k, m])


def _segments(answer: Answer, group: Group, k: int, groups: Sequence[Group]) -> list[Line]:
    """A line per competitor over the reliabilities of one model."""
    lines = []
    for name in answer.whole.competitors:
        there = [(place, *_value(outcome, name, k)) for place, outcome in _finite(group)]
        lines.append(
            Line(
                name if group is groups[-1] else "",
                [(place, value) for place, value, _ in there],
                model=name,
                band=[(place, value - sd, value + sd) for place, value, sd in there],
            )
        )
    return lines


def _full_trust(answer: Answer, groups: Sequence[Group], k: int) -> list[Point]:
    """Values where annotators are fully trusted."""
    return [
        Point(
            f"{name}, {outcome.label}", place, _value(outcome, name, k)[0], name, labelled=False
        )
        for group in groups
        for place, outcome in group
        if _tick(outcome) == FULL
        for name in answer.whole.competitors
    ]


def _certainty_charts(groups: Sequence[Group], axis: Lines) -> Iterator[Lines]:
    """Mean certainty of the first one, two and three classes, a chart per model."""
    for number_of_group, group in enumerate(groups, 1):
        there = _finite(group)
        lines = [
            Line(
                f"first {size}" if size > 1 else "first class",
                [
                    (place, float(str(outcome.facts[f"certainty_{size}"])))
                    for place, outcome in there
                    if f"certainty_{size}" in outcome.facts
                ],
            )
            for size in SETS
        ]
        yield replace(
            axis,
            name=f"reliability-certainty-{number_of_group}",
            caption=f"Mean certainty of the most plausible classes, {_model_of(group)}",
            lines=[line for line in lines if line.points],
            ticks=[(place, _tick(outcome)) for place, outcome in there],
            marks=(),
            y_range=(0.5, 1.0),
        )


QUESTION = Question(
    key="reliability",
    about="how far annotators are trusted",
    variants=trusted_otherwise,
    head="truth, reliability",
    over="settings of the truth",
    at="under {}",
    reference="the truth of the study",
    annotators=False,
    of_votes=False,
    nothing="No model of these annotations has a reliability.",
    facts=(
        Column("certainty_1", "certainty, first class", "number"),
        Column("certainty_2", "first 2", "number"),
        Column("certainty_3", "first 3", "number"),
    ),
    note="Reliability: how much an annotation is worth; values of different models do not "
    "compare. Certainty: the probability of the likeliest set of first classes, on average "
    "over the items that name as many; at full trust only ties are "
    "open. A value without spread is by one distribution per item.",
    methods="Everybody was scored against possible truths by {number} settings of model and "
    "reliability [@stutz2025].",
    references=("stutz2025",),
    finish=with_possible_truths,
)
