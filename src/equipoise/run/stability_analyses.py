"""Analyses of stability, each as plain facts: a finding, rows, notices and what is drawn.

Analyses of one metric take the first that was asked for; rankings, choices of aggregation and
critical differences take all of them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from equipoise.arrays import InputError, Ints
from equipoise.evaluation import MACRO
from equipoise.evaluation.questions import Question
from equipoise.predictions import Predictions
from equipoise.run.stability_case import Case, Facts, reason

if TYPE_CHECKING:
    from equipoise.analyses.ranking import RankStability

MAJORITY = 0.5  # to be exceeded: a tie is negative


def _facts(result: Any, names: Sequence[str] = ()) -> Facts:
    """What every result has, and the fields that a figure needs."""
    base = {"finding": result.finding, "rows": result.rows(), "notices": result.notices}
    return base | {name: getattr(result, name) for name in names}


def _ranking(case: Case) -> Facts:
    from equipoise.analyses.ranking import rank_stability

    found = rank_stability(
        case.predictions, case.annotations, metrics=case.how.metrics, **case.redrawn
    )
    facts = _facts(found, ("kinds", "tasks", "metrics", "models", "level"))
    facts["finding"] = found.said(case.how.labels)
    facts |= {"model_rows": found.model_rows(), "pair_rows": found.pair_rows()}
    return facts | ({"sign_test": _sign_tests(found)} if case.how.sign_test else {})


def _sign_tests(found: "RankStability") -> list[Facts]:
    from equipoise.analyses.sign_test import sign_test

    return [
        sign_test(found, metric, kind=kind, task=task)._asdict()
        for kind in found.kinds
        for task in found.tasks
        for metric in found.metrics
    ]


def _leave_one_out(case: Case) -> Facts:
    from equipoise.analyses.leave_one_out import leave_one_out

    found = leave_one_out(case.predictions, case.annotations, **case.single)
    names = ("task", "metric", "labels", "models", "annotators", "full", "full_ranks")
    return _facts(found, (*names, "shifts", "low", "high", "ranks", "spearman", "kappa"))


def _vote_cutoffs(case: Case) -> Facts:
    from equipoise.analyses.vote_cutoffs import vote_cutoffs

    found = vote_cutoffs(case.predictions, case.annotations, **case.single)
    names = ("task", "metric", "labels", "models", "cutoffs", "items", "coverage", "known")
    return _facts(found, (*names, "values", "low", "high", "ranks", "spearman"))


def _panel_size(case: Case) -> Facts:
    from equipoise.analyses.panel_size import panel_size

    found = panel_size(case.predictions, case.annotations, **case.single)
    names = ("task", "metric", "labels", "models", "unit", "sizes", "coverage", "mean")
    more = ("half_width", "spearman", "spearman_low", "limit", "limit_low", "limit_high")
    return _facts(found, (*names, *more, "slope", "separate", "separate_low", "separate_high"))


def _experts(case: Case) -> Facts:
    from equipoise.analyses.experts import experts

    found = experts(case.predictions, case.annotations, **case.single)
    names = ("task", "metric", "better", "labels", "models", "experts", "items", "values")
    ends = ("low", "high", "model_values", "gap", "gap_low", "gap_high")
    more = ("sizes", "crowd", "crowd_low", "crowd_high", "held_out", "every_group", "caveat")
    return _facts(found, (*names, *ends, *more))


def _flips(case: Case) -> Facts:
    """The three kinds of moves together; one that is refused is said in a notice."""
    from equipoise.analyses.flips import UNITS, flips

    every, notices = [], []
    for number, unit in enumerate(UNITS, 1):
        try:
            every.append(
                flips(
                    case.predictions, case.annotations, metric=case.how.metrics[0], unit=unit,
                    labels=case.how.labels, most=case.how.most, on_missing=case.how.on_missing,
                )
            )  # fmt: skip
        except InputError as error:
            if unit == "items":
                raise
            notices.append(f"No search by {unit}: {reason('flips', error)}")
        case.tell(number, len(UNITS))
    return {
        "finding": every[0].finding,
        "findings": list(dict.fromkeys(one.finding for one in every)),
        "rows": [row for one in every for row in one.rows()],
        "members": [
            {"unit": one.unit, **row} for one in every for row in one.member_rows()
        ],
        "notices": tuple(dict.fromkeys([*notices, *(n for one in every for n in one.notices)])),
        "metric": every[0].metric, "labels": every[0].labels, "most": every[0].most,
    }  # fmt: skip


def _critical_difference(case: Case) -> Facts:
    """One diagram per metric; the first is in front."""
    from equipoise.analyses.critical_difference import LEAST, critical_difference

    single = [one for one in case.evaluation.tasks if one != MACRO]
    if len(single) < LEAST:
        raise InputError(
            "critical difference", f"{len(single)} task{'s' * (len(single) > 1)}",
            f"at least {LEAST} tasks",
            "look at the ranking instead",
        )  # fmt: skip
    names = ("metric", "labels", "models", "tasks", "ranks", "average", "low", "high")
    more = ("statistic", "p_value", "difference", "cliques", "alpha", "level", "kind")
    found = []
    for metric in case.evaluation.metrics:
        one = critical_difference(case.evaluation, metric.name, labels=case.how.labels)
        found.append(_facts(one, (*names, *more)))
        case.tell(len(found), len(case.evaluation.metrics))
    rows = [row for one in found for row in one["rows"]]
    return found[0] | {"rows": rows, "metrics": found}


def _choices(case: Case) -> Facts:
    from equipoise.analyses.choices import aggregation_choices

    found = aggregation_choices(
        case.predictions, case.annotations, metrics=case.how.metrics, **case.redrawn
    )
    facts = _facts(found, ("choices", "tasks", "metrics", "models", "reference"))
    facts["finding"] = found.said(case.how.labels)
    return facts | {"changes": found.rank_changes(), "conclusions": found.conclusions()}


def _components(case: Case) -> Facts:
    from equipoise.analyses.components import variance_components

    found = variance_components(
        case.predictions, case.annotations, metric=case.how.metrics[0],
        labels=case.how.labels, **case.redrawn,
    )  # fmt: skip
    return _facts(found, ("metric", "labels", "level", "total"))


def _subgroups(case: Case) -> Facts:
    from equipoise.analyses.subgroups import subgroups

    if case.how.attributes is None:
        raise InputError(
            "subgroups", "no attributes of items", "a table with a row per item",
            "give attributes such as sex, age or site",
        )  # fmt: skip
    given = case.how.attributes
    found = subgroups(case.predictions, case.annotations, given, **case.single)
    facts = _facts(found, ("task", "metric", "labels", "models", "level", "against"))
    return facts | {"sizes": [one._asdict() for one in found.sizes]}


def _threshold_sweep(case: Case) -> Facts:
    """How large a share of yes makes an item positive, around the majority."""
    from equipoise.analyses.sweep_words import over_tasks

    asked = case.evaluation.questions
    if any(len(one.classes) > 1 for one in asked):
        raise InputError(
            "threshold sweep", f"votes of kind {case.annotations.kind}", "yes or no",
            "ask about one class: --positive CLASS, in Python Annotations.against",
        )  # fmt: skip
    pairs = list(zip(asked, case.evaluation.scores, strict=True))
    kept = [pair for pair in pairs if not _one_group(case, pair[0])]
    if not kept:
        raise InputError(
            "threshold sweep", "a single group of scored items in every task",
            "at least two groups, which are redrawn as wholes", "add items of other groups",
        )  # fmt: skip
    every, found = [one for one, _ in kept], []
    for question, scores in kept:
        found.append(_swept(case, question, scores))
        case.tell(len(found), len(every))
    lead = over_tasks({o.task: f.pop("moves") for o, f in zip(every, found, strict=True)},
                      MAJORITY, strict=True)  # fmt: skip
    each = [one["finding"] for one in found] if len(found) > 1 else []
    return {
        "finding": lead,
        "findings": [lead, *each],
        "rows": [row for one in found for row in one["rows"]],
        "notices": (
            *(f"{one.task}: left out of the other majorities, because all of its scored items "
              "are of one group." for one in asked if _one_group(case, one)),
            *dict.fromkeys(note for one in found for note in one["notices"]),
        ),
        "agreement": [row for one in found for row in one["agreement"]],
        "centre": MAJORITY, "strict": True, "tasks": [one.task for one in every],
        "groups": max(one["groups"] for one in found),
    }  # fmt: skip


def _swept(case: Case, question: Question, scores: Mapping[str, Any]) -> Facts:
    """One task, on the items that were scored."""
    from equipoise.analyses.threshold_sweep import Grid, threshold_sweep

    how, items, where = case.how, question.items, {"task": question.task}
    grid = Grid(
        metrics=[one.name for one in case.evaluation.metrics], replicates=how.replicates,
        seed=how.seed, level=how.level, strict=True, group=_groups(case, question),
    )  # fmt: skip
    models = [Predictions(name, items, values) for name, values in scores.items()]
    found = threshold_sweep(models, question.shares[0], items, MAJORITY, grid)
    return {
        "finding": (f"{question.task}: " if question.task else "") + found.finding,
        "rows": [where | row for row in found.rows()],
        "moves": found.moves,
        "notices": [
            f"{question.task}: {one}" if question.task else one for one in found.notices
        ],
        "agreement": [
            where | {"threshold": t, "metric": metric, "spearman": value}
            for (t, metric), value in found.agreement.items()
        ],
        "groups": found.groups,
    }


def _groups(case: Case, question: Question) -> Ints | None:
    """Groups of the items that were scored, by the numbers that the plan of items draws."""
    every = case.annotations.group
    return None if every is None else every[question.place]


def _one_group(case: Case, question: Question) -> bool:
    """Whether all items of a task are of one group, which leaves nothing to redraw."""
    group = _groups(case, question)
    return group is not None and len(set(group.tolist())) == 1


def _certainty(case: Case) -> Facts:
    from equipoise.run.stability_certainty import certainty_facts

    return certainty_facts(case)


ANALYSES: Mapping[str, Callable[[Case], Facts]] = {
    "ranking": _ranking,
    "flips": _flips,
    "leave_one_out": _leave_one_out,
    "vote_cutoffs": _vote_cutoffs,
    "panel_size": _panel_size,
    "experts": _experts,
    "critical_difference": _critical_difference,
    "choices": _choices,
    "components": _components,
    "subgroups": _subgroups,
    "threshold_sweep": _threshold_sweep,
    "certainty": _certainty,
}
