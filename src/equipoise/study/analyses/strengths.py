r"""Strengths: Bradley and Terry's model of which of two outputs is preferred.

With :math:`p_c` the share of votes for the first of two systems a and b in comparison c (a tie
is half a vote for both), strengths :math:`\theta` solve

.. math:: \sum_c \bigl(p_c - \sigma(\theta_{a(c)} - \theta_{b(c)})\bigr)
    (e_{a(c)} - e_{b(c)}) = 0, \qquad \sum_s \theta_s = 0

the likelihood equations of :math:`P(a \succ b) = \sigma(\theta_a - \theta_b)`. Against win
rates they take into account whom a system met: nobody is strong for having met the weak. With
:math:`H` the second derivative, a comparison moves them by
:math:`H^+ (e_a - e_b)(p_c - \sigma_c)` and a vote by :math:`H^+ (e_a - e_b)` times what it
moves its comparison, so that they have the two-way variance of everything else: of items and
annotators like these, whether or not the model holds.

A system that won, or lost, all of its comparisons has no finite strength; one virtual tie
(half a win and half a loss against everybody it met) then keeps all finite, and a notice says
so.

References
----------
Bradley and Terry (1952), *Rank analysis of incomplete block designs*.

Examples
--------
>>> wins = fit_strengths(np.array([0, 0, 0, 0]), np.array([1, 1, 1, 1]),
...     np.array([1.0, 1.0, 1.0, 0.0]), 2)
>>> wins.round(3)
array([ 0.549, -0.549])
"""

from collections.abc import Iterator

import numpy as np

from equipoise.inference import TwoWay, family
from equipoise.inference.intervals import best_claims
from equipoise.study.alignment import Aligned
from equipoise.study.analyses.words import RowUnderWay
from equipoise.study.scoring import target_population
from equipoise.study.study import Study
from equipoise.study.uncertainty import Uncertainty
from equipoise.types import (
    Claim,
    ClaimFamily,
    Column,
    Dot,
    Dots,
    Estimand,
    Finding,
    Floats,
    InputError,
    Ints,
    Notice,
    Table,
    capital,
    in_words,
    joined,
    notice,
)

TITLE = "How strong is every system, whomever it met?"
STEPS = 100
CLOSE = 1e-12  # of a step, relative
NAMED = 3


def analyse(study: Study) -> Finding:
    """Strengths of all systems of every task, with their best group."""
    shared = _shared(study)
    rows: list[RowUnderWay] = []
    dots: list[Dot] = []
    claims: list[Claim] = []
    notices: list[Notice] = []
    sentences = []
    for t, task in enumerate(study.aligned):
        cell, lone = _strengths_of_task(shared, t, task)
        notices += [note.of(task.question.task) for note in _about_lone(lone)]
        part, words, of_task = _ranked(study, cell, task)
        rows += part
        claims += of_task
        sentences.append(words)
        if len(study.aligned) == 1:
            dots = [_dot(row) for row in part]
    charts = (_chart(dots),) if dots else ()
    return Finding(
        key="strengths",
        title=TITLE,
        references=("bradley1952",),
        sentence=" ".join(sentences),
        charts=charts,
        tables=(_table(rows),),
        notices=tuple(notices),
        claims=tuple(claims),
        note="Strengths are log odds against a system of mean strength; a difference of 1.1 is "
        "three wins to one. Ranks are those that the data allow, all pairs at once.",
    )


def _shared(study: Study) -> Uncertainty:
    """What uncertainty is made of; refuses what is no comparison."""
    if study.judged != "preferences":
        got = study.judged or "labels of items"
        wanted = "preferences between outputs of systems"
        raise InputError("strengths", got, wanted, "leave the analysis out")
    target = target_population(study.aligned, study.plan, study.settings)
    return Uncertainty(study.aligned, [], study.plan, target, workers=1)


def strengths_of_study(study: Study) -> list[TwoWay]:
    """Strengths of all systems with their two-way parts, task by task."""
    shared = _shared(study)
    return [_strengths_of_task(shared, t, task)[0] for t, task in enumerate(study.aligned)]


def fit_strengths(first: Ints, second: Ints, share: Floats, systems: int) -> Floats:
    """Strengths of systems that met in pairs, by Newton's method; they add up to 0.

    Parameters
    ----------
    first, second
        Codes of the two systems of every comparison, shape (comparisons,).
    share
        Share of the votes for the first, shape (comparisons,).
    """
    number = systems * systems
    pair = first * systems + second
    met = np.bincount(pair, minlength=number).reshape(systems, systems).astype(float)
    won = np.bincount(pair, share, number).reshape(systems, systems)
    won, met = won + (met - won).T, met + met.T
    theta: Floats = np.zeros(systems)
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(theta[None, :] - theta[:, None]))
        gradient = (won - met * chance).sum(axis=1)
        step = np.linalg.solve(_curvature(met, chance), gradient)
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        theta = theta + step
        if np.abs(step).max() <= CLOSE * (1 + np.abs(theta).max()):
            break
    return np.asarray(theta - theta.mean())


def _curvature(met: Floats, chance: Floats) -> Floats:
    """Minus the second derivative, made regular along the direction that means nothing."""
    weight = met * chance * (1 - chance)
    return np.asarray(np.diag(weight.sum(axis=1)) - weight + 1.0 / len(met))


def _strengths_of_task(shared: Uncertainty, t: int, task: Aligned) -> tuple[TwoWay, list[str]]:
    """Strengths with their two-way parts, and systems that won or lost everything."""
    names = list(task.scores)
    marks = np.stack([task.scores[name] for name in names])
    first, second = marks.argmax(axis=0), marks.argmin(axis=0)
    share = task.question.shares[0]
    won = (marks > 0) @ share + (marks < 0) @ (1 - share)
    played = np.abs(marks).sum(axis=1)
    lone = [name for name, w, n in zip(names, won, played, strict=True) if w in (0, n)]
    if lone:  # a virtual tie against everybody that each met
        pairs = np.unique(np.stack([first, second]), axis=1)
        met = np.concatenate([first, pairs[0]]), np.concatenate([second, pairs[1]])
        theta = fit_strengths(*met, np.append(share, np.full(pairs.shape[1], 0.5)), len(names))
    else:
        theta = fit_strengths(first, second, share, len(names))
    chance = 1 / (1 + np.exp(theta[second] - theta[first]))
    weight = chance * (1 - chance)
    size = len(names)
    curvature = np.zeros((size, size))
    np.add.at(curvature, (first, first), weight)
    np.add.at(curvature, (second, second), weight)
    np.add.at(curvature, (first, second), -weight)
    np.add.at(curvature, (second, first), -weight)
    inverse = np.linalg.pinv(curvature, hermitian=True)
    slope = inverse[:, first] - inverse[:, second]
    moved = slope * (share - chance)
    moved -= moved.mean(axis=1, keepdims=True)
    return shared.of_values(t, theta, moved, slope[..., None]), lone


def _about_lone(lone: list[str]) -> Iterator[Notice]:
    """That some systems won or lost everything."""
    if lone:
        text = (
            "{systems} won, or lost, all comparisons: strengths are held finite by one virtual "
            "tie between any two systems that met."
        )
        yield notice("virtual_ties", text, systems=joined(lone, most=NAMED))


def _ranked(
    study: Study, cell: TwoWay, task: Aligned
) -> tuple[list[RowUnderWay], str, list[Claim]]:
    """Rows of a task, the strongest first, a sentence, and what it claims."""
    level, names = study.settings.level, list(task.scores)
    every = family(cell, level=level)
    order = np.argsort(-cell.values, kind="stable")
    rows: list[RowUnderWay] = []
    for rank, m in enumerate(order.tolist(), start=1):
        low, high = cell.of(m).interval(float(cell.values[m]), level)
        rows.append({
            "task": task.question.task, "model": names[m], "strength": float(cell.values[m]),
            "low": low, "high": high, "rank": rank,
            "rank_low": int(every.ranks[m, 0]), "rank_high": int(every.ranks[m, 1]),
        })  # fmt: skip
    where = f" for {task.question.task}" if task.question.task else ""
    if not cell.population.decides:
        why = f"{cell.population.people} are too few for a verdict"
        return rows, f"{names[order[0]]} is the strongest{where}, but {why}.", []
    best = [names[m] for m in order.tolist() if every.best[m]]
    if len(best) == 1:
        words = f"{best[0]} is the strongest of all{where}."
    else:
        who = joined(best, most=NAMED) if len(best) <= NAMED else in_words(len(best))
        words = f"{capital(who)} of {in_words(len(names))} systems may be the strongest{where}."
    like = Claim(
        Estimand(f"strength{where}", cell.population.whose("soft"), "", "the best"),
        cell.population.whom,
        ClaimFamily(f"all pairs of systems by strength{where}", len(names)),
        0.0, 0.0, 0.0, level, None,
    )  # fmt: skip
    return rows, words, list(best_claims(cell, every, cell.values, tuple(names), like))


def _chart(dots: list[Dot]) -> Dots:
    """Strengths with their intervals."""
    return Dots(
        name="strengths",
        caption="Strength of every system, log odds against the mean",
        axis="strength",
        rows=dots,
        zero=True,
        zero_title="mean",
    )


def _dot(row: RowUnderWay) -> Dot:
    """The strength of a system in the chart."""
    name, hollow = row["model"], row["rank_low"] > 1
    return Dot(name, row["strength"], row["low"], row["high"], model=name, hollow=hollow)


def _table(rows: list[RowUnderWay]) -> Table:
    """All strengths."""
    return Table(
        name="strengths",
        caption="Strengths by Bradley and Terry's model, with intervals and possible ranks",
        columns=(
            Column("task", "task", brief=False),
            Column("model", "system", "model"),
            Column("strength", "strength", "number", ("low", "high")),
            Column("rank", "rank", "rank", ("rank_low", "rank_high")),
        ),
        rows=rows,
    )
