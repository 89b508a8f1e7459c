r"""Risk: how grave the plausible classes are, and what models miss where they are grave.

Classes have levels, such as the risk of a condition, worth numbers :math:`v_g`. The expected
risk of a case is one of two numbers that are easily mistaken for each other,

.. math:: \sum_g v_g \sum_{k \in g} \lambda_{ik} \qquad\text{or}\qquad
    v_{g(\arg\max_k \lambda_{ik})}

averaged over possible truths :math:`\lambda_i`: with every class by its plausibility, or with
the most plausible class alone, which leaves out what is grave but second. Certainty of a level
is the probability that the most plausible class has it, as that of a class is.

Models are judged in every level by the plausible mass there: which share of it goes to cases
whose first class is right, and to cases that are put into the right level. Cases that may be of
the highest level and are put into a lower one are named, the likeliest first.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from equipoise.sets.coverage import Coverage
from equipoise.sets.rules import SetSample
from equipoise.study.analyses.words import ends_of
from equipoise.study.study import Study
from equipoise.truth.certainty import annotation_certainty, group_certainty
from equipoise.types import (
    SURE,
    Bools,
    Column,
    Finding,
    Grouping,
    Ints,
    Line,
    Lines,
    Plausibilities,
    Table,
    capital,
    columns,
    count,
    estimate,
    exact_percent,
    expected_group_value,
    expected_mass_value,
    number,
    percent,
    spanned,
)

SHOWN = 8  # missed cases of a model that a terminal shows
LIKELY = 0.1  # mass in the highest level, from which on a case may be missed
METHODS = (
    "Levels of classes were judged by the plausible mass in each: expected levels, certainty "
    "of the level, and how much of the mass lies on cases that models put right [@stutz2025]."
)
Rows = list[dict[str, Any]]


def risk_finding(
    study: Study, grouping: Grouping, values: Mapping[str, float]
) -> Iterator[Finding]:
    """What is expected of levels, and what models make of them, task by task.

    Parameters
    ----------
    study
        Models against plausibilities of classes.
    grouping, values
        Levels of the classes, lowest first, and what each is worth; values may be empty.

    Examples
    --------
    >>> from equipoise.types import Predictions
    >>> draws = np.array([[[0.5, 0.4, 0.1], [0.1, 0.2, 0.7]],
    ...     [[0.6, 0.3, 0.1], [0.2, 0.2, 0.6]]])
    >>> truth = Plausibilities.dense(draws, items=("x", "y"),
    ...     classes=("wart", "mole", "cancer"), method="by hand")
    >>> net = Predictions("net", truth.items, np.array([[0.8, 0.1, 0.1], [0.6, 0.3, 0.1]]),
    ...     truth.classes)
    >>> risk = Grouping.of({"wart": "low", "mole": "low", "cancer": "high"}, name="risk")
    >>> study = Study.of(net, truth, metrics=["brier_score"])
    >>> (finding,) = risk_finding(study, risk, {"low": 0, "high": 1})
    >>> print(finding.sentence)
    Expected risk is 0.375 where every class counts by its plausibility, and 0.500 where the ...
    """
    sample = SetSample.of(study)
    for t, task in enumerate(study.aligned):
        truth = task.question.plausible
        if truth is not None:
            yield _of_task(sample, t, truth, grouping, values)


def _of_task(
    sample: SetSample,
    t: int,
    truth: Plausibilities,
    grouping: Grouping,
    values: Mapping[str, float],
) -> Finding:
    study, name, task = sample.study, grouping.name, sample.study.aligned[t].question.task
    of_class, of_level = (
        annotation_certainty(truth).value,
        group_certainty(truth, grouping).value,
    )
    certainties = zip(truth.items, of_class.tolist(), of_level.tolist(), strict=True)
    cases = [
        {"item": item, "class_certainty": a, "level_certainty": b} for item, a, b in certainties
    ]
    charts = [_certainties(name, of_class, of_level)]
    shares = [percent(float((value < SURE).mean())) for value in (of_level, of_class)]
    said = [
        f"In {shares[0]} of the cases the {name} is less certain than {SURE:g}, in {shares[1]} "
        "the class."
    ]
    if values and truth.draws > 1:
        mass, top = (
            measure(truth, values, grouping)
            for measure in (expected_mass_value, expected_group_value)
        )
        for place, row in enumerate(cases):
            for key, part in (("mass", mass), ("top", top)):
                ends = float(part.least[place]), float(part.most[place])
                row |= ends_of(f"expected_{key}", float(part.mean[place]), ends)
        charts.insert(0, _expected(name, mass.mean, mass.least, mass.most))
        said.insert(
            0,
            f"Expected {name} is {number(float(mass.mean.mean()))} where every class counts by "
            f"its plausibility, and {number(float(top.mean.mean()))} where the most plausible "
            "class alone counts.",
        )
    levels, missed = _levels(sample, t, grouping), _missed(sample, t, grouping)
    highest = [row for row in levels if row["level"] == grouping.groups[-1]]
    worst = min(highest, key=lambda row: (row["level_right"], row["model"]))
    low, high = worst["level_right_low"], worst["level_right_high"]
    said.append(
        f"Of the mass in {grouping.groups[-1]} {name}, {worst['model']} puts "
        f"{estimate(worst['level_right'], low, high)} into that level"
        f"{', the least of all models' if len(highest) > 1 else ''}."
    )
    first, *more = said
    return Finding(
        key="risk",
        title=f"What do models make of {name}?",
        sentence=capital(first),
        more=tuple(map(capital, more)),
        tables=tuple(_tables(name, levels, missed, cases, study.settings.level)),
        charts=tuple(charts),
        note=f"Mass: how plausible classes are, over {count(truth.draws, 'possible truth')}. A "
        f"case may be missed where at least {percent(LIKELY)} of its mass is in the highest "
        "level, and the first class of a model is in a lower one.",
        methods=METHODS,
        references=("stutz2025",),
        nav=capital(name),
        task=task,
    )


def _first_level(sample: SetSample, t: int, model: str, group: Ints) -> tuple[Ints, Ints]:
    """The first class of a model for every case, and its level."""
    first: Ints = sample.study.aligned[t].distributions(model).argmax(axis=1)
    return first, group[first]


def _levels(sample: SetSample, t: int, grouping: Grouping) -> Rows:
    """How much of the mass of every level models put right."""
    labels, level = sample.labels(t), sample.study.settings.level
    group, rows = grouping.codes(sample.classes(t)), []
    weight = np.bincount(group, labels.sum(axis=0), len(grouping.groups)) / len(labels)
    for model in sample.study.aligned[t].scores:
        first, of_first = _first_level(sample, t, model, group)
        hits: dict[str, Bools] = {
            "class_right": first[:, None] == np.arange(labels.shape[1]),
            "level_right": of_first[:, None] == group,
        }
        right = {}
        for key, member in hits.items():
            covered = Coverage.of_sets(labels, member)
            within = covered.within(group[None], len(grouping.groups))
            right[key] = within.values, within.cell(sample.shared, t)
        for place, name in enumerate(grouping.groups):
            row: dict[str, Any] = {"model": model, "level": name, "mass": float(weight[place])}
            for key, (values, cell) in right.items():
                value = float(values[place])
                ends = cell.of(place).interval(value, level, (0.0, 1.0))
                row |= ends_of(key, value, ends)
            rows.append(row)
    return rows


def _missed(sample: SetSample, t: int, grouping: Grouping) -> Rows:
    """Cases that may be of the highest level, which models put into a lower one."""
    labels, classes = sample.labels(t), sample.classes(t)
    group, items = grouping.codes(classes), sample.study.aligned[t].question.items
    highest = len(grouping.groups) - 1
    mass, rows = labels[:, group == highest].sum(axis=1), []
    for model in sample.study.aligned[t].scores:
        first, of_first = _first_level(sample, t, model, group)
        chance = sample.study.aligned[t].distributions(model)[:, group == highest].sum(axis=1)
        lost = np.flatnonzero((mass >= LIKELY) & (of_first < highest))
        order = lost[np.lexsort(([items[i] for i in lost], -mass[lost]))]
        rows += [
            {
                "model": model, "item": items[i], "mass": float(mass[i]),
                "says": classes[first[i]], "chance": float(chance[i]),
            }
            for i in order.tolist()
        ]  # fmt: skip
    return rows


def _tables(
    name: str, levels: Rows, missed: Rows, cases: Rows, level: float
) -> Iterator[Table]:
    yield Table(
        name="levels",
        caption=f"Models by {name}, {exact_percent(level)} intervals",
        columns=(
            Column("model", "model", "model"),
            Column("level", name),
            Column("mass", "plausible mass", "percent"),
            spanned("class_right", "first class right"),
            spanned("level_right", f"{name} right"),
        ),
        rows=levels,
        open=True,
    )
    if missed:
        yield Table(
            name="missed",
            caption=f"Cases that may be of the highest {name}, and that a model puts lower",
            columns=(
                Column("model", "model", "model"),
                *columns("text", "item"),
                Column("mass", f"mass in the highest {name}", "percent"),
                Column("says", "the model's first class"),
                Column("chance", "its probability of that level", "percent"),
            ),
            rows=missed,
            brief=missed[:SHOWN],
            download=True,
        )
    spans = [key for key in ("expected_mass", "expected_top") if key in cases[0]]
    yield Table(
        name=f"{name}_by_case",
        caption=f"Certainty and expected {name} of every case, and its range over truths",
        columns=(
            *columns("text", "item"),
            *columns("number", "class_certainty", "level_certainty"),
            *(spanned(key) for key in spans),
        ),
        rows=cases,
        brief=(),
        page=False,
    )


def _sorted_line(name: str, values: Any) -> Line:
    """Values of all cases, rising, over the share of cases."""
    ranked = np.sort(values)
    share = (np.arange(len(ranked)) + 1) / len(ranked)
    kept = np.unique(np.linspace(0, len(ranked) - 1, min(len(ranked), 200)).astype(int))
    points = list(zip(share[kept].tolist(), ranked[kept].tolist(), strict=True))
    return Line(name, points, dots=False)


def _certainties(name: str, of_class: Any, of_level: Any) -> Lines:
    return Lines(
        name=f"{name}-certainty",
        caption=f"Certainty of the class and of the {name}, cases in the order of each",
        x="share of cases",
        y="certainty",
        lines=[_sorted_line("class", of_class), _sorted_line(name, of_level)],
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
    )


def _expected(name: str, mean: Any, least: Any, most: Any) -> Lines:
    parts = (("least", least), ("mean", mean), ("most", most))
    return Lines(
        name=f"{name}-expected",
        caption=f"Expected {name} of the cases: mean, least and most over possible truths, "
        "each in its own order",
        x="share of cases",
        y=f"expected {name}",
        lines=[_sorted_line(part, values) for part, values in parts],
        x_range=(0.0, 1.0),
    )
