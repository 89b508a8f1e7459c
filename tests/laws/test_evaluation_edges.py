"""evaluate() at the edges: what does not match is refused, degenerate data stay honest."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau, spearmanr

from equipoise.inference.ranks import kendall_tau_b, spearman
from equipoise.inference.resampling import Resampling, resample
from equipoise.study import MACRO, Settings, evaluate
from equipoise.types import InputError, Plausibilities, Predictions
from tests.oracles import bootstrap, ranking
from tests.strategies import names

RANDOM = np.random.default_rng(5)
VOTES = (RANDOM.random((12, 3)) < RANDOM.random((12, 1))).astype(float)
TRUTH = bootstrap.annotations(VOTES)
SCORES = RANDOM.random(12)
DROP = Settings(on_missing="drop")


def model(scores=SCORES, name="m", items=None, **more):
    return Predictions(name, items or names(len(scores)), np.asarray(scores), **more)


def plausible(draws, task="", items=12, **more):
    values = np.random.default_rng(draws).dirichlet([1, 1], (draws, items))
    made = Plausibilities.dense(values, items=names(items), classes=("no", "yes"), method="x")
    return replace(made, task=task, **more)


def refused(call):
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    assert all((error.where, error.got, error.expected, error.do))
    return str(error)


REFUSED = {
    "no models": lambda: evaluate([], TRUTH),
    "no truth": lambda: evaluate(model(), []),
    "no metrics": lambda: evaluate(model(), TRUTH, metrics=[]),
    "a metric twice": lambda: evaluate(model(), TRUTH, metrics=["auroc", "auroc:form=pairs"]),
    "a model twice": lambda: evaluate([model(), model()], TRUTH),
    "an item missing": lambda: evaluate(model(SCORES[:11]), TRUTH),
    "an item too many": lambda: evaluate(model(np.append(SCORES, 1)), TRUTH),
    "no common items": lambda: evaluate(model(items=names(12, "x")), TRUTH, settings=DROP),
    "another task": lambda: evaluate(model(task="b"), TRUTH),
    "one task only": lambda: evaluate([model(), model(name="n", task="b")], TRUTH),
    "on_missing": lambda: evaluate(model(), TRUTH, settings=Settings(on_missing="ignore")),
    "another plan": lambda: evaluate(
        model(), TRUTH, resampling=Resampling(kind="items", items=names(5))
    ),
    "k beyond the items": lambda: evaluate(model(), TRUTH, metrics=["precision_at_13"]),
    "unknown kind": lambda: evaluate(model(), TRUTH, resampling="panels"),
    "unknown model": lambda: evaluate(model(), TRUTH).estimate("n", "auroc"),
    "unknown metric": lambda: evaluate(model(), TRUTH).estimate("m", "auprc"),
    "unknown labels": lambda: evaluate(model(), TRUTH).estimate("m", "auroc", labels="firm"),
    "a plan for a smaller panel": lambda: evaluate(
        model(), TRUTH, resampling=Resampling(kind="panel", items=TRUTH.items)
    ),
    "a plan for draws": lambda: evaluate(
        model(), TRUTH, resampling=Resampling(kind="posterior", items=TRUTH.items, draws=3)
    ),
    "a plan for votes": lambda: evaluate(
        model(), plausible(3), resampling=Resampling(kind="votes", items=TRUTH.items)
    ),
    "the same task twice": lambda: evaluate(model(), [plausible(3), plausible(3)]),
    "fewer than no workers": lambda: evaluate(model(), TRUTH, settings=Settings(workers=-1)),
    "one against one of a yes/no question": lambda: evaluate(
        model(), TRUTH, metrics=["auroc:multiclass=ovo"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_evaluated_is_refused_in_four_parts(call):
    refused(call)


def test_scores_for_classes_are_refused():
    truth = Plausibilities.dense(
        np.full((12, 3), 1 / 3), items=names(12), classes=("x", "y", "z"), method="even"
    )
    assert "3 classes" in refused(lambda: evaluate(model(), truth))
    probabilities = model(np.full((12, 3), 1 / 3), classes=("x", "y", "z"))
    refused(lambda: evaluate(probabilities, truth, metrics=["precision_at_2"]))


def test_tasks_may_have_different_numbers_of_draws():
    models = [model(task="a"), model(task="b")]
    truths = [plausible(5, "a"), plausible(3, "b")]
    done = evaluate(models, truths)
    assert done.tasks == ("a", "b", MACRO)
    for t, truth in enumerate(truths):
        alone = evaluate(models[t], truth)
        assert_allclose(
            np.unique(done.replicates[t, 0, 1]), np.unique(alone.replicates[0, 0, 1])
        )


def test_tasks_with_different_items_share_one_plan():
    models = [model(SCORES[:9], task="a"), model(task="b")]
    done = evaluate(models, [plausible(4, "a", 9), plausible(4, "b")], resampling="items")
    assert done.plan.items == names(12)
    assert_allclose(done.values[2], done.values[:2].mean(axis=0))


def test_dropping_scores_all_models_on_the_items_they_share():
    other = RANDOM.random(12)
    missing = Predictions("n", names(12)[:9], other[:9])
    done = evaluate([model(), missing], TRUTH, resampling="panel", settings=DROP)
    small = bootstrap.annotations(VOTES[:9])
    expected = evaluate([model(SCORES[:9]), missing], small, resampling="panel")
    assert_allclose(done.values, expected.values)
    assert_allclose(done.replicates, expected.replicates)
    assert any("Dropped 3" in str(notice) for notice in done.notices)
    more = evaluate(model(np.append(SCORES, 1)), TRUTH, settings=DROP)
    assert any("Ignored" in str(notice) for notice in more.notices)


@pytest.mark.parametrize("kind", ["items", "items x panel"])
def test_dropped_items_keep_their_neighbours_draws(kind):
    left = np.array([1, 3, 4, 5, 7, 8, 9, 10, 11])
    some = Predictions("m", tuple(names(12)[i] for i in left), SCORES[left])
    plan = resample(TRUTH, kind, replicates=70)
    done = evaluate(some, TRUTH, metrics=["auroc"], resampling=plan, settings=DROP)
    for r in range(70):
        counts = plan.item_counts(r, r + 1)[left, 0]
        p = bootstrap.shares(VOTES, plan, r)[left]
        expected = ranking.auroc(np.repeat(p, counts), np.repeat(SCORES[left], counts))
        assert_allclose(done.replicates[0, 0, 1, 0, r], expected, atol=1e-10)


def test_the_remedy_speaks_of_spelling_only_when_spelling_is_the_fault():
    upper = tuple(name.upper() for name in names(12))
    assert "spelling" in refused(lambda: evaluate(model(items=upper), TRUTH))
    missing = Predictions("n", names(12)[:9], SCORES[:9])
    assert "spelling" not in refused(lambda: evaluate(missing, TRUTH))


def test_identical_models_are_indistinguishable():
    done = evaluate([model(name="a"), model(2 * SCORES + 1, "b")], TRUTH)
    assert_array_equal(done.replicates[..., 0, :], done.replicates[..., 1, :])
    gap = done.differences("auroc")[0]
    assert (gap.value, gap.low, gap.high, gap.p_better) == (0, 0, 0, 0.5)
    assert {row.p_best for row in done.table()} == {0.5}


def test_tied_scores_are_chance_and_told():
    both = ["auroc", "average_precision"]
    done = evaluate(model(np.zeros(12)), TRUTH, metrics=both, resampling="items x panel")
    auroc = done.replicates[0, 0]
    assert_allclose(auroc[~np.isnan(auroc)], 0.5)
    assert any(notice.code == "constant_scores" for notice in done.notices)
    assert not any("tied" in str(notice) for notice in evaluate(model(), TRUTH).notices)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_only_is_undefined(label):
    done = evaluate(model(), bootstrap.annotations(np.full((12, 3), float(label))))
    assert np.isnan(done.values[0, 0]).all() and np.isnan(done.replicates[0, 0]).all()
    assert str(done.estimate("m", "auroc")) == "undefined"
    assert any("undefined" in str(notice) for notice in done.notices)
    assert np.isnan(done.table()[0].p_best)


def test_one_annotator_has_hard_and_soft_alike():
    done = evaluate(
        model(), bootstrap.annotations(VOTES[:, :1]), metrics=list(bootstrap.METRICS)
    )
    assert done.plan.kind == "items"
    assert_allclose(done.replicates[0, :, 0], done.replicates[0, :, 1], atol=1e-12)


@pytest.mark.parametrize("kind", ["items", "influence"])
def test_metrics_without_derivatives_have_intervals_whatever_is_resampled(kind):
    wanted = ["precision_at_4", "recall_at_4"]
    done = evaluate(model(), TRUTH, metrics=wanted, resampling=kind)
    plain = evaluate(model(), TRUTH, metrics=wanted)
    for row, same in zip(done.table(), plain.table(), strict=True):
        assert 0 <= row.low < row.value <= row.high <= 1
        assert (row.low, row.high) == (same.low, same.high)


def test_settings_reach_the_intervals():
    how = Settings(level=0.5)
    done = evaluate(model(), TRUTH, metrics=["auroc"], resampling="items", settings=how)
    row = done.table()[1]
    spread = done.estimate("m", "auroc").spread
    assert (row.low, row.high) == spread.interval(row.value, 0.5, (0.0, 1.0))
    wide = evaluate(model(), TRUTH, metrics=["auroc"], resampling="items").table()[1]
    assert wide.low < row.low < row.value < row.high < wide.high
    fixed = evaluate(model(), TRUTH, metrics=["auroc"], settings=Settings(annotators="fixed"))
    items = fixed.two_way("auroc").items[0, 0]
    assert fixed.table()[1].standard_error == pytest.approx(items**0.5)


def test_progress_is_told_in_order():
    told = []
    how = Settings(progress=lambda done, every: told.append((done, every)))
    evaluate(model(), TRUTH, resampling=resample(TRUTH, "items", replicates=300), settings=how)
    assert told == [(k + 1, len(told)) for k in range(len(told))] and len(told) > 1


def test_agreement_of_hard_and_soft_rankings():
    random = np.random.default_rng(8)
    models = [
        model(VOTES.mean(axis=1) + random.normal(0, s, 12), f"m{s}") for s in (0.2, 0.5, 1, 2)
    ]
    done = evaluate(models, TRUTH, metrics=["auroc"], resampling="panel")
    hard, soft = done.values[0, 0]
    assert float(spearman(hard, soft)) == pytest.approx(spearmanr(hard, soft).statistic)
    assert float(kendall_tau_b(hard, soft)) == pytest.approx(kendalltau(hard, soft).statistic)


def test_results_are_read_only_and_inputs_unchanged():
    scores, votes = SCORES.copy(), TRUTH.label.copy()
    done = evaluate(model(), TRUTH, resampling="items x panel")
    assert_array_equal(SCORES, scores)
    assert_array_equal(TRUTH.label, votes)
    with pytest.raises(ValueError, match="read-only"):
        done.replicates[...] = 0
