"""Readers as competitors, on the curves of the models, and what each confuses."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise.datasets.demo import reading_study
from equipoise.report.page.charts import draw
from equipoise.report.page.figure import ModelStyles
from equipoise.study import Settings, Study, Thresholds, Tuning, evaluate
from equipoise.study.analyses.annotators import confusions
from equipoise.study.analyses.operating_curves import analyse, curves
from equipoise.study.competitors import reader_tables
from equipoise.types import Annotations, InputError, Predictions
from tests.analysed import analysed


def sparse(kind="binary", classes=("no", "yes"), seed=0, items=40, readers=5, gold=()):
    """Readings with holes, repeated answers and two tasks; probabilities of two models."""
    random = np.random.default_rng(seed)
    rows = []
    for task in range(2):
        for item in range(items):
            for who in range(readers):
                if random.random() < 0.7:
                    labels = random.integers(len(classes), size=1 + (random.random() < 0.1))
                    rows += [(task, item, who, label, False) for label in labels]
    rows += [(0, item, 0, random.integers(len(classes)), True) for item in gold]
    task, item, who, label, known = (np.array(one) for one in zip(*rows, strict=True))
    table = Annotations(
        kind=kind, classes=classes, items=tuple(f"i{i}" for i in range(items)),
        annotators=tuple(f"r{a}" for a in range(readers)), tasks=("Edema", "Effusion"),
        task=task, item=item, annotator=who, label=label, is_gold=known if len(gold) else None,
    )  # fmt: skip
    models = []
    for one in table.tasks:
        for name in ("a", "b"):
            values = random.dirichlet(np.ones(len(classes)), items)
            plain = kind == "binary"
            models.append(
                Predictions(
                    name, table.items, values[:, 1] if plain else values,
                    () if plain else classes, one,
                )
            )  # fmt: skip
    return table, models


def slow_truths(table, task, who):
    """Items that a reader read and others did, with both distributions, vote by vote."""
    found = {}
    gold = np.zeros(len(table), bool) if table.is_gold is None else table.is_gold
    rows = [r for r in range(len(table)) if table.task[r] == task]
    for item in range(len(table.items)):
        here = [r for r in rows if table.item[r] == item]
        own = [r for r in here if table.annotator[r] == who and not gold[r]]
        known = [r for r in here if gold[r]]
        others = known or [r for r in here if table.annotator[r] != who and not gold[r]]
        if own and others:
            share = [
                np.bincount(table.label[part], minlength=len(table.classes)) / len(part)
                for part in (own, others)
            ]
            found[item] = share
    return found


def test_readers_are_compared_at_the_thresholds_of_the_models():
    readings, scores = reading_study()
    how = Settings(thresholds=Thresholds("prevalence", tuning=Tuning(fraction=0.3)))
    study = Study.of(scores[:2], readings, metrics=["auroc"], settings=how)
    (table,) = reader_tables(study)
    done = evaluate(scores[:2], readings, metrics=["accuracy"], settings=how)
    assert set(table.tasks[0].items) == {len(done.questions[0].items)}
    assert max(table.tasks[0].items) < 569
    assert table.measure(scores[0].model) == "balanced_accuracy"
    assert {"thresholds", "tuning_split"} <= {notice.code for notice in table.notices}


# ---- curves ---------------------------------------------------------------------------------


def test_readers_are_points_against_the_others():
    table, models = sparse(items=60)
    found = curves(Study.of(models, table, metrics=["auroc"]))
    assert [one.task for one in found] == list(table.tasks)
    assert all(task.readers for task in found)
    for place, task in enumerate(found):
        for point in task.readers:
            truth = slow_truths(table, place, table.annotators.index(point["reader"]))
            own = np.array([mine[1] for mine, _ in truth.values()])
            p = np.array([others[1] for _, others in truth.values()])
            sens, false = p @ own / p.sum(), (1 - p) @ own / (1 - p).sum()
            assert point["sensitivity"] == pytest.approx(sens)
            assert point["false_positive_rate"] == pytest.approx(false)
            assert point["precision"] == pytest.approx(p @ own / own.sum())


def test_curves_are_drawn_with_rings_for_readers_and_thresholds():
    readings, scores = reading_study()
    models = tuple(one.model for one in scores)
    decided = [replace(one, threshold=np.array(0.4)) for one in scores[:2]]
    report = analyse(Study.of(decided, readings, metrics=["auroc"]))
    assert [one.name for one in report.charts] == ["roc", "precision-recall"]
    roc = str(draw(report.charts[0], ModelStyles(models)))
    for name in (*readings.annotators, scores[0].model):
        assert f"<title>{name}</title>" in roc
    assert len(report.charts[0].points) == 8 + 2
    plain = str(draw(replace(report.charts[0], points=()), ModelStyles(models)))
    assert roc.count("<g") > plain.count("<g")
    assert "8 points of readers stand beside them" in report.sentence
    assert (
        analyse(Study.of(scores, readings.anonymous(), metrics=["auroc"])).charts[0].points
        == []
    )


def test_decisions_have_no_curve():
    readings, scores = reading_study()
    plain = [replace(one, values=(one.values > 0.5).astype(float)) for one in scores[:2]]
    only = ("curves", "annotators")
    options = {"metrics": ["accuracy"], "only": only, "replicates": 20}
    report = analysed(plain, readings, **options)
    assert {one.key: one.left_out for one in report.findings if one.key in only} == {
        "curves": True, "annotators": False,
    }  # fmt: skip
    (mixed,) = curves(Study.of([plain[0], scores[1]], readings, metrics=["accuracy"]))
    assert mixed.models == (scores[1].model,)
    assert [name for name, *_ in mixed.decisions] == [plain[0].model]


# ---- confusions -----------------------------------------------------------------------------


def test_confusions_are_what_they_say():
    table, _ = sparse("nominal", ("x", "y", "z"), gold=(1, 4, 9, 12, 20))
    found = confusions(table)
    votes = table.rows(~table.is_gold)
    for who in range(len(table.annotators)):
        for place, task in enumerate(table.tasks):
            counts = np.zeros((3, 3))
            for item in range(len(table.items)):
                here = (votes.item == item) & (votes.task == place)
                own = votes.label[here & (votes.annotator == who)]
                others = votes.label[here & (votes.annotator != who)]
                if len(own) and len(others):
                    share = np.bincount(others, minlength=3) / len(others)
                    counts += np.outer(share, np.bincount(own, minlength=3))
            expected = counts / counts.sum(axis=1, keepdims=True)
            assert found[task][who] == pytest.approx(expected)


def test_annotators_are_shown_by_sensitivity_and_specificity():
    readings, scores = reading_study()
    options = {"metrics": ["auroc"], "only": ["annotators"], "replicates": 20}
    report = analysed(scores[:2], readings, **options)
    finding = next(one for one in report.findings if one.key == "annotators")
    assert finding.sentence.startswith(
        "By the others' votes they differ in sensitivity from 0."
    )
    rates = next(one for one in finding.tables if one.name == "annotators")
    answers = next(one for one in finding.tables if one.name == "annotator_confusions")
    for row in rates.rows:
        (right,) = (
            one["share"]
            for one in answers.rows
            if one["annotator"] == row["annotator"]
            and one["true_class"] == one["answer"] == readings.classes[1]
        )
        assert 0 < row["sensitivity"] == right < 1


# ---- a truth made from a model --------------------------------------------------------------


def made_from(scores, cut, others=None):
    labels = np.stack([scores >= cut, *([] if others is None else others)]).astype(int)
    who, item = (axis.ravel() for axis in np.indices(labels.shape))
    return Annotations(
        kind="binary", items=tuple(f"i{i}" for i in range(len(scores))), classes=("no", "yes"),
        annotators=tuple(f"r{a}" for a in range(len(labels))), item=item, annotator=who,
        label=labels.ravel(),
    )  # fmt: skip


def test_a_truth_made_from_scores_is_refused():
    random = np.random.default_rng(5)
    scores = random.random(80)
    model = Predictions("net", tuple(f"i{i}" for i in range(80)), scores)
    alone = made_from(scores, 0.3)
    with pytest.raises(InputError, match=r"exactly the scores of 'net', cut at 0.3"):
        evaluate(model, alone, metrics=["auroc"])
    how = Settings(circular="keep")
    kept = evaluate(model, alone, metrics=["auroc"], resampling="influence", settings=how)
    assert kept.estimate("net", "auroc").value == 1
    with pytest.raises(InputError, match="'net'"):
        evaluate(model, alone.anonymous(), metrics=["auroc"])
    apart = Predictions("net", model.items, np.where(scores >= 0.3, scores + 0.5, scores))
    assert evaluate(apart, alone, metrics=["auroc"], resampling="influence").values.size
    noisy = Predictions("net", model.items, scores + random.normal(0, 0.05, 80))
    assert evaluate(noisy, alone, metrics=["auroc"], resampling="influence").values.size


def test_an_annotator_that_is_a_model_cut_somewhere_is_left_out():
    random = np.random.default_rng(6)
    scores = random.random(300)
    others = random.random((2, 300)) < scores
    table = made_from(scores, 0.7, others)
    model = Predictions("net", table.items, scores)
    with pytest.raises(InputError, match=r"annotators who are models: 'r0 \(net\)'"):
        evaluate(model, table, metrics=["auroc"])
    how = Settings(circular="drop")
    done = evaluate(model, table, metrics=["auroc"], resampling="influence", settings=how)
    assert done.questions[0].shares[0] == pytest.approx(others.mean(axis=0))
    assert "circular" in [one.code for one in done.notices]
    classes = replace(table, kind="nominal")
    both = Predictions("net", table.items, np.stack([1.4 - scores, scores], 1) / 1.4,
                       table.classes)  # fmt: skip
    with pytest.raises(InputError, match="annotators who are models"):
        evaluate(both, classes, metrics=["accuracy"])
