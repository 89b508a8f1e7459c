"""Runs with class probabilities: invented votes and models, evaluated by the engine."""

import dataclasses

import numpy as np

from equipoise.annotations import Annotations
from equipoise.evaluation import evaluate
from equipoise.evaluation.alignment import align
from equipoise.evaluation.truth import task_truths
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from equipoise.run import Provenance, Run, record
from tests.report_sample import HOSTILE

GRADES = ("none", "mild", "moderate", "severe")
MANY = tuple(f"a-class-with-a-rather-long-name-{k}" for k in range(9))
MODELS = ("careful", "bold", "shy", HOSTILE)
ITEMS = 60
METRICS = ("ranked_probability_score", "log_score", "retained_samples_area")


def votes(classes=GRADES, kind="ordinal", tasks=("",), seed=0):
    """Five people vote on every item; each item has a class of its own that most see."""
    random = np.random.default_rng(seed)
    size = len(classes)
    item = np.tile(np.repeat(np.arange(ITEMS), 5), len(tasks))
    task = np.repeat(np.arange(len(tasks)), ITEMS * 5)
    centre = random.integers(0, size, (len(tasks), ITEMS))
    stray = np.where(random.random(len(item)) < 0.35, random.integers(-1, 2, len(item)), 0)
    return Annotations(
        kind=kind,
        items=tuple(f"{HOSTILE}{i}" if i == 1 else f"frame_{i:03d}" for i in range(ITEMS)),
        classes=classes,
        annotators=("ana", "bo", "cy", "di", f"dr {HOSTILE}"),
        item=item,
        annotator=np.tile(np.arange(5), ITEMS * len(tasks)),
        label=np.clip(centre[task, item] + stray, 0, size - 1),
        **({} if tasks == ("",) else {"tasks": tasks, "task": task}),
    )


def models(table, names=MODELS, impossible=(), seed=1):
    """One answer per model and task: blurred shares of votes, sharper or flatter."""
    random = np.random.default_rng(seed)
    made = []
    for question in task_truths(table):
        for name, power in zip(names, np.linspace(2.5, 0.4, len(names)), strict=True):
            shares = question.shares.T
            shares = np.hstack([1 - shares, shares]) if shares.shape[1] == 1 else shares
            chances = (shares + 0.1) ** power * random.uniform(0.3, 1.0, shares.shape)
            chances /= chances.sum(axis=1, keepdims=True)
            if name in impossible:
                chances[0] = np.where(shares[0] == shares[0].max(), 0.0, 1.0)
                chances[0] /= chances[0].sum()
            made.append(
                Predictions(name, question.items, chances, table.classes, question.task)
            )
    return made


def evaluated(truth, predictions, metrics=METRICS):
    """Evaluate, with the scores of the models kept."""
    plan = resample(truth, "items", replicates=60)
    result = evaluate(predictions, truth, metrics=metrics, resampling=plan)
    aligned, _ = align(predictions, task_truths(truth))
    return dataclasses.replace(result, scores=tuple(one.scores for one in aligned))


def made(table=None, metrics=METRICS, **how):
    """The run of an evaluation."""
    table = votes() if table is None else table
    result = evaluated(table, models(table, **how), metrics)
    return record(result, Provenance(title=f"Grades {HOSTILE}", annotators=table.annotators))


def sample_runs() -> dict[str, Run]:
    """One run of every sort, to make pages of."""
    two = votes(tasks=("left", "right"))
    return {
        "grades": made(impossible=("bold",)),
        "many classes": made(votes(MANY, "nominal"), ("brier_score", "accuracy")),
        "yes or no": made(votes(("no", "yes"), "binary"), ("brier_score", "auroc")),
        "two tasks": made(two, ("log_score", "retained_samples_area:metric=accuracy")),
        "one model": made(names=("m" * 200,)),
    }
