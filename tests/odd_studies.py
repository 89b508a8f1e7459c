"""Odd studies, each with its answer: one model, copies, forty models, nothing defined, ..."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from equipoise.report.answer import Answer, AnswerContent, answer_report
from equipoise.study import Settings, Study
from equipoise.truth import Chain, plackett_luce
from equipoise.types import Annotations, Nouns, Plausibilities, Predictions, Report

QUICK = 30  # resamples; verdicts do not depend on them


@dataclass(frozen=True)
class Answered:
    """A study with its answer and its report."""

    answer: Answer
    report: Report
    study: Study


def answered(
    scores: Sequence[Predictions],
    votes: Annotations,
    metrics: Sequence[str] = ("auroc",),
    *,
    truth: Plausibilities | None = None,
    nouns: Nouns | None = None,
    labels: str = "soft",
    analyses: Sequence[str] = (),
    **settings: Any,
) -> Answered:
    """Evaluate a study and make its answer, without the analyses of the catalogue."""
    how = Settings(**settings, labels=labels, replicates=QUICK)
    given = votes if truth is None else truth
    study = replace(Study.of(scores, given, metrics=metrics, settings=how), votes=votes)
    asked = AnswerContent(nouns=nouns or Nouns(), analyses=tuple(analyses))
    return Answered(Answer(study.evaluation, labels), answer_report(study, asked), study)


def names(number: int, noun: str) -> tuple[str, ...]:
    """Names of some things."""
    return tuple(f"{noun} {k}" for k in range(number))


def world(
    noise: Sequence[float],
    *,
    items: int = 60,
    people: int = 5,
    tasks: Sequence[str] = ("",),
    seed: int = 1,
    **more: Any,
) -> tuple[list[Predictions], Annotations]:
    """Yes/no votes of named people, and models that see the same evidence with some noise."""
    random = np.random.default_rng(seed)
    evidence = random.standard_normal((len(tasks), items))
    said = evidence[..., None] + 0.8 * random.standard_normal((len(tasks), items, people)) > 0
    task, item, who = (axis.ravel() for axis in np.indices(said.shape))
    votes = Annotations(
        kind="binary", classes=("no", "yes"), items=names(items, "scan"), item=item,
        annotators=names(people, "reader"), annotator=who, label=said.ravel().astype(int),
        **({"tasks": tuple(tasks), "task": task} if len(tasks) > 1 else {}), **more,
    )  # fmt: skip
    scores = [
        Predictions(
            f"net {m}",
            votes.items,
            1 / (1 + np.exp(-(evidence[t] + size * random.standard_normal(items)))),
            task=name,
        )
        for m, size in enumerate(noise)
        for t, name in enumerate(tasks)
    ]
    return scores, votes


def renamed(one: Predictions, model: str) -> Predictions:
    """The same scores by another name."""
    return Predictions(model, one.items, one.values, one.classes, task=one.task)


def one_model() -> Answered:
    return answered(*world([0.5]))


def identical() -> Answered:
    (first,), votes = world([0.5])
    return answered([first, renamed(first, "copy")], votes)


def copies_and_more() -> Answered:
    scores, votes = world([0.5, 0.55, 3.0])
    return answered([*scores, renamed(scores[0], "copy")], votes)


def forty_models() -> Answered:
    return answered(*world(np.linspace(0.3, 2.5, 40), items=150))


def all_undefined() -> Answered:
    scores, votes = world([0.5, 0.6])
    label = np.ones_like(votes.label)
    same = {"items": votes.items, "annotators": votes.annotators, "annotator": votes.annotator}
    return answered(
        scores,
        Annotations(kind="binary", classes=("no", "yes"), item=votes.item, label=label, **same),
    )


def infinite() -> Answered:
    scores, votes = world([0.5, 0.6, 0.7])
    sure = [
        Predictions(one.model, one.items, np.round(one.values) if m else one.values)
        for m, one in enumerate(scores)
    ]
    return answered(sure, votes, ["log_score"])


def all_infinite() -> Answered:
    scores, votes = world([0.5, 0.6])
    sure = [Predictions(one.model, one.items, np.round(one.values)) for one in scores]
    return answered(sure, votes, ["log_score"])


def two_annotators() -> Answered:
    return answered(*world([0.5, 2.0, 2.5], people=2))


def parts_of_a_panel() -> Answered:
    """Six annotators, of whom three read each item."""
    scores, votes = world([0.4, 3.0], people=6, items=120)
    own = (votes.item + votes.annotator) % 2 == 0
    some = {name: getattr(votes, name)[own] for name in ("item", "annotator", "label")}
    return answered(scores, replace(votes, **some))


def three_annotators() -> Answered:
    return answered(*world([0.3, 3.0], people=3, items=200))


def anonymous() -> Answered:
    scores, votes = world([0.5, 0.6, 3.0])
    total = np.bincount(votes.item)
    yes = np.bincount(votes.item, votes.label).astype(int)
    counts = np.stack([total - yes, yes], axis=1)
    crowd = Annotations.from_counts(counts, items=votes.items, classes=("no", "yes"))
    return answered(scores, crowd)


def one_vote() -> Answered:
    scores, votes = world([0.3, 3.0], people=1, items=120)
    return answered(scores, votes)


def gold_only() -> Answered:
    scores, votes = world([0.3, 0.5, 3.0], people=1, items=120)
    gold = Annotations(
        kind="binary", classes=("no", "yes"), items=votes.items, item=votes.item,
        annotators=("panel",), annotator=votes.annotator, label=votes.label,
        is_gold=np.ones(len(votes.item), dtype=bool),
    )  # fmt: skip
    return answered(scores, gold)


def ratings() -> Answered:
    random = np.random.default_rng(4)
    evidence = random.standard_normal(60)
    item, who = (axis.ravel() for axis in np.indices((60, 4)))
    value = np.round(2 + evidence[item] + 0.5 * random.standard_normal(240), 1)
    rated = Annotations(
        kind="interval", classes=(), items=names(60, "scan"), item=item, value=value,
        annotators=names(4, "reader"), annotator=who,
    )  # fmt: skip
    scores = [
        Predictions(f"net {m}", rated.items, evidence + noise * random.standard_normal(60))
        for m, noise in enumerate((0.3, 2.0))
    ]
    return answered(scores, rated.at_least(2.5))


def grades() -> Answered:
    random = np.random.default_rng(3)
    truth = random.integers(0, 4, 60)
    item, who = (axis.ravel() for axis in np.indices((60, 4)))
    near = np.clip(truth[item] + random.integers(-1, 2, 240), 0, 3)
    votes = Annotations(
        kind="ordinal", classes=("none", "mild", "grave", "worst"), item=item, label=near,
        items=names(60, "eye"), annotators=tuple("ABCD"), annotator=who,
    )  # fmt: skip
    made = []
    for m, width in enumerate((0.5, 0.8, 4.0)):
        chance = np.exp(-np.abs(truth[:, None] - np.arange(4)) / width)
        chance /= chance.sum(axis=1, keepdims=True)
        made.append(Predictions(f"net {m}", votes.items, chance, votes.classes))
    return answered(made, votes, ["ranked_probability_score", "accuracy"])


def rankings() -> Answered:
    random = np.random.default_rng(6)
    truth = random.integers(0, 4, 30)
    every = []
    for true in truth:
        one = []
        for _ in range(4):
            first = true if random.random() < 0.7 else int(random.integers(0, 4))
            second = int((first + 1 + random.integers(0, 3)) % 4)
            one.append([[first], [second]])
        every.append(one)
    votes = Annotations.from_rankings(every, classes=("flu", "cold", "gout", "mumps"))
    made = []
    for m, width in enumerate((0.5, 2.0)):
        chance = np.where(np.arange(4) == truth[:, None], np.exp(1 / width), 1.0)
        chance = chance * np.exp(0.2 * random.standard_normal((30, 4)))
        made.append(
            Predictions(
                f"net {m}", votes.items, chance / chance.sum(axis=1, keepdims=True),
                votes.classes,
            )
        )  # fmt: skip
    fitted = plackett_luce(votes, chain=Chain(draws=40, burn_in=20, seed=0))
    return answered(made, votes, ["topk_accuracy:k=2"], truth=fitted)


def groups() -> Answered:
    where = np.arange(90) // 3
    return answered(*world([0.4, 0.5, 3.0], items=90, groups=names(30, "patient"), group=where))


def one_task_undefined() -> Answered:
    tasks = ("lung", "heart", "bone")
    scores, votes = world([0.5, 0.6, 3.0], tasks=tasks)
    label = np.where(votes.task == 1, 0, votes.label)
    same = {"items": votes.items, "annotators": votes.annotators, "annotator": votes.annotator}
    none = Annotations(
        kind="binary", classes=("no", "yes"), item=votes.item, label=label, tasks=tasks,
        task=votes.task, **same,
    )  # fmt: skip
    return answered(scores, none)


def tasks_with_copies() -> Answered:
    """Four models of which three are the same in two of three tasks, two in all."""
    scores, votes = world([0.5, 0.6, 3.0], tasks=("lung", "heart", "bone"))
    first = [one for one in scores if one.model == "net 0"]
    more = [renamed(one, "copy") for one in first]
    near = [renamed(one, "near") for one in first[:2]]
    other = next(one for one in scores if (one.model, one.task) == ("net 1", "bone"))
    return answered([*scores, *more, *near, renamed(other, "near")], votes)


def lower_is_better() -> Answered:
    return answered(*world([0.3, 0.4, 3.0], items=150), ["brier_score", "auroc"])


def margin_given() -> Answered:
    return answered(*world([0.3, 0.32, 3.0], items=200), margin=0.1)


def wide_margin() -> Answered:
    return answered(*world([0.5, 0.6]), margin=0.9)


def fixed_items() -> Answered:
    return answered(*world([0.3, 3.0]), items="fixed", nouns=Nouns("study", "reader"))


def hard_labels() -> Answered:
    return answered(*world([0.3, 0.4, 3.0]), labels="hard")


def a_missing_model() -> Answered:
    """Three models of which one has no value: it is sure of what is not so."""
    scores, votes = world([0.3, 0.35, 0.4], items=100)
    sure = [*scores[:2], Predictions("sure", scores[2].items, np.round(scores[2].values))]
    return answered(sure, votes, ["log_score"])


ODD: dict[str, Callable[[], Answered]] = {
    one.__name__: one
    for one in (
        one_model, identical, copies_and_more, forty_models, all_undefined, infinite,
        all_infinite, two_annotators, three_annotators, parts_of_a_panel, anonymous, one_vote,
        gold_only,
        ratings, grades, rankings, groups, one_task_undefined, tasks_with_copies,
        lower_is_better, margin_given, wide_margin, fixed_items, hard_labels, a_missing_model,
    )
}  # fmt: skip


@cache
def odd(name: str) -> Answered:
    """One of the odd studies, made once."""
    return ODD[name]()
