"""Whatever the truth is, every analysis takes it and its metrics, or says that it cannot."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Predictions, Settings
from equipoise.datasets.demo import reading_study
from equipoise.read.attributes import Attributes
from equipoise.report.answer.report import analyse_study
from equipoise.study import Study
from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.study.questions import answer_study, question_of
from equipoise.study.questions.certainty import certainties
from equipoise.study.variants import Contest
from equipoise.truth import dawid_skene, dirichlet, glad, mean_vote
from equipoise.types import InputError, Plausibilities

OF_VOTES = {"annotators", "pairs"}  # of annotators alone: no model, no truth
KEEPS = ("certainty", "subgroups", "vote_cutoffs")  # questions that vary items alone
EXACT = {"rtol": 0, "atol": 1e-12}
METRICS = {"classes": ["auroc", "accuracy"], "draws": ["topk_accuracy", "auroc"]}


@cache
def data():
    votes, scores = reading_study()
    return votes, [
        Predictions(one.model, one.items, 1 / (1 + np.exp(-one.values))) for one in scores
    ]


def inverted(votes):
    """Possible truths that say the opposite of the votes."""
    share = mean_vote(votes).soft
    random = np.random.default_rng(0)
    shapes = 1 + 4 * share[:, ::-1]
    draws = np.stack([random.dirichlet(shape, 60) for shape in shapes], axis=1)
    items = mean_vote(votes).items
    return Plausibilities.dense(draws, items=items, classes=votes.classes, method="opposite")


TRUTHS = {
    "dirichlet": lambda votes: dirichlet(votes, reliability=2).drawn(60, seed=0),
    "dawid_skene": lambda votes: dawid_skene(votes).drawn(60, seed=0),
    "glad": lambda votes: glad(votes).drawn(60, seed=0),
    "opposite": inverted,
}


@cache
def study(truth, metrics):
    votes, scores = data()
    made = votes if truth == "votes" else TRUTHS[truth](votes)
    levels = np.arange(len(votes.items))[None] % 2
    known = Attributes(
        items=votes.items, columns=("site",), levels=(("north", "south"),), codes=levels
    )
    how = {"metrics": METRICS[metrics], "settings": Settings(replicates=20, most=5)}
    whole = Study.of(scores, made, attributes=[known], **how)
    return whole if truth == "votes" else whole.with_votes(votes)


@cache
def finding(key, truth, metrics):
    return ANALYSES[key].attempt(study(truth, metrics))


every_truth = pytest.mark.parametrize("truth", TRUTHS)
every_metric = pytest.mark.parametrize("metrics", METRICS)


@every_truth
@every_metric
@pytest.mark.parametrize("key", ANALYSES)
def test_no_analysis_takes_votes_and_usual_metrics_in_silence(key, truth, metrics):
    there = finding(key, truth, metrics)
    assert "error of equipoise" not in there.sentence, there.sentence
    if there.left_out or key in OF_VOTES:
        return
    if truth == "opposite" and metrics == "classes":
        assert there.tables != finding(key, "votes", "classes").tables
    if not ANALYSES[key].is_question:
        return
    first = named_first(metrics)
    assert first in there.tables[0].caption.lower().replace("-", "") or any(
        first in column.head.lower().replace("-", "") for column in there.tables[0].columns
    )


def named_first(metrics):
    return {"classes": "auroc", "draws": "top1 accuracy"}[metrics]


@every_truth
@every_metric
@pytest.mark.parametrize("key", [key for key, one in ANALYSES.items() if one.is_question])
def test_a_question_is_about_the_study_as_it_was_scored(key, truth, metrics):
    whole, question = study(truth, metrics), question_of(ANALYSES[key].module)
    try:
        answer = answer_study(question, whole)
    except InputError as error:
        assert finding(key, truth, metrics).left_out and str(error)
        return
    done, (name, *_) = whole.evaluation, METRICS[metrics]
    assert [metric.name for metric in answer.contest.metrics] == METRICS[metrics]
    for m, model in enumerate(answer.whole.competitors):
        expected = done.estimate(model, name)
        assert_allclose(answer.whole.table.values[m], expected.value, **EXACT)
        assert_allclose(answer.whole.interval(m), expected.interval(0.95), **EXACT)
    if key not in KEEPS:
        return
    (own,) = answer.contest.tasks
    soft = dict(zip(own.question.items, own.question.shares[0].tolist(), strict=True))
    for variant in question.variants(answer.contest):
        (task,) = variant.contest.tasks
        assert task.question.plausible is not None
        for item, share in zip(task.question.items, task.question.shares[0], strict=True):
            assert share == soft[item]


@pytest.mark.parametrize("truth", ["dirichlet", "dawid_skene"])
def test_fewer_votes_are_fitted_by_the_same_model_with_the_same_settings(truth):
    votes, _ = data()
    contest = Contest.of(study(truth, "draws"))
    keep = votes.annotator != 0
    (task,) = contest.of_votes(keep).tasks
    fit = TRUTHS[truth](votes.rows(keep))
    assert task.question.plausible.method == fit.method
    assert_allclose(task.question.shares[0], fit.soft[:, 1], rtol=0, atol=1e-9)
    assert task.question.plausible.draws == 60
    with pytest.raises(InputError, match="not fitted again"):
        Contest.of(study("opposite", "draws")).of_votes(keep)


@every_truth
def test_clear_items_are_clear_by_the_truth_that_is_asked_for(truth):
    contest = Contest.of(study(truth, "classes"))
    (task,) = contest.tasks
    plausible = task.question.plausible
    sure = dict(zip(plausible.items, plausible.certainty, strict=True))
    for name, value in zip(contest.votes.items, certainties(contest), strict=True):
        assert value == pytest.approx(sure[name], abs=1e-8)


@every_truth
@every_metric
def test_a_pair_is_looked_at_by_the_same_truth_and_metric(truth, metrics):
    whole = study(truth, metrics)
    first, second = whole.evaluation.models[:2]
    report = analyse_study(whole, only=["ranking"], pair=(first, second))
    name = METRICS[metrics][0]
    values = [whole.evaluation.estimate(model, name).value for model in (first, second)]
    pair = next(part for part in report.findings if part.nav == "Pair")
    text = str([table.rows for table in pair.tables])
    assert repr(abs(values[0] - values[1]))[:10] in text, text
    ranking = next(part for part in report.findings if part.key == "ranking")
    assert {row["metric"] for row in ranking.tables[0].rows} == set(METRICS[metrics])
