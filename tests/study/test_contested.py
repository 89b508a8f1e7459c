"""Unanimous and contested items: which is which, and values there."""

import numpy as np
import pytest

from equipoise import Annotations, Predictions
from equipoise.metrics import named
from equipoise.study import Settings, Study
from equipoise.study.questions import answer_study
from equipoise.study.questions.contested import QUESTION


def yes_no(seed: int = 0) -> tuple[Annotations, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    chance = np.where(np.arange(80) < 40, random.choice([0.02, 0.98], 80), 0.5)
    votes = (random.random((80, 5)) < chance[:, None]).astype(int)
    item, who = (axis.ravel() for axis in np.indices(votes.shape))
    table = Annotations(
        kind="binary", items=tuple(f"i{k:02}" for k in range(80)), classes=("no", "yes"),
        annotators=tuple("abcde"), item=item, annotator=who, label=votes.ravel(),
    )  # fmt: skip
    return table, votes, random.random(80) * 0.5 + votes.mean(axis=1) * 0.5


def test_values_are_those_of_each_half_alone() -> None:
    table, votes, scores = yes_no()
    models = [Predictions("net", table.items, scores), Predictions("no", table.items, -scores)]
    study = Study.of(models, table, metrics=["auroc"], settings=Settings(replicates=20))
    answer = answer_study(QUESTION, study)
    assert [outcome.label for outcome in answer.outcomes] == [
        "unanimous items", "contested items",
    ]  # fmt: skip
    split = votes.min(axis=1) != votes.max(axis=1)
    for outcome, rows in zip(answer.outcomes, (~split, split), strict=True):
        metric = named("auroc")
        expected = metric(votes[rows].mean(axis=1), scores[rows])
        (line,) = (line for line in outcome.lines if line.competitor == "net")
        assert line.value == pytest.approx(expected)
        assert line.items == rows.sum()
        assert outcome.facts["share"] == pytest.approx(rows.mean())
    finding = answer.finding()
    assert "on unanimous items" in finding.sentence
    assert "on contested items" in finding.sentence


def test_ratings_are_contested_from_half_of_the_scale_on() -> None:
    values = np.array([[1, 2], [1, 3], [5, 3], [2, 2]] * 12, dtype=float)
    item, who = (axis.ravel() for axis in np.indices(values.shape))
    table = Annotations(
        kind="interval", items=tuple(f"i{k:02}" for k in range(48)), annotators=("a", "b"),
        item=item, annotator=who, value=values.ravel(), scale=(1.0, 5.0),
    )  # fmt: skip
    noise = np.random.default_rng(0).normal(0, 1, (2, 48))
    models = [Predictions(f"m{k}", table.items, values.mean(axis=1) + noise[k]) for k in (0, 1)]
    study = Study.of(models, table, settings=Settings(replicates=20))
    answer = answer_study(QUESTION, study)
    assert [outcome.facts["share"] for outcome in answer.outcomes] == [0.5, 0.5]


def test_where_all_agree_there_is_nothing_to_vary() -> None:
    table, votes, scores = yes_no()
    same = np.repeat((votes[:, :1] > 0).astype(int), 5, axis=1)
    agreed = Annotations(**{**vars(table), "label": same.ravel()})
    models = [Predictions("net", table.items, scores), Predictions("no", table.items, -scores)]
    study = Study.of(models, agreed, metrics=["auroc"], settings=Settings(replicates=20))
    finding = answer_study(QUESTION, study).finding()
    assert "nearly" in finding.sentence
