"""evaluate(): every replicate equals a bootstrap written by hand, everything is paired."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.inference.resampling import resample
from equipoise.metrics import named
from equipoise.study import MACRO, Settings, evaluate
from equipoise.types import Annotations, InputError, Plausibilities, Predictions
from tests.oracles import bootstrap
from tests.strategies import names

ITEMS = 14
RANDOM = np.random.default_rng(12)
FULL = (RANDOM.random((ITEMS, 4)) < RANDOM.random((ITEMS, 1))).astype(float)
GAPS = np.where(RANDOM.random(FULL.shape) < 0.4, np.nan, FULL)
GAPS[np.isnan(GAPS).all(axis=1), 1] = 1
SCORES = [
    (FULL.mean(axis=1) + RANDOM.normal(0, 0.4, ITEMS)).round(1),
    RANDOM.integers(0, 4, ITEMS) / 4,
]
METRICS = list(bootstrap.METRICS)
ONE = Settings(workers=1)
STRICT = Settings(workers=1, ties="negative")  # yes/no labels, as scikit-learn needs them


def models(scores=SCORES, items=ITEMS, **more):
    return [Predictions(f"model-{m}", names(items), s, **more) for m, s in enumerate(scores)]


@pytest.mark.parametrize("votes", [FULL, GAPS], ids=["complete", "with gaps"])
@pytest.mark.parametrize("group", [None, np.arange(ITEMS) // 3], ids=["items", "groups"])
@pytest.mark.parametrize("kind", ["items", "panel", "votes", "items x panel", "items x votes"])
def test_replicates_equal_a_loop_with_scikit_learn(kind, group, votes):
    groups = {} if group is None else {"group": group, "groups": names(group.max() + 1, "g")}
    truth = bootstrap.annotations(votes, **groups)
    plan = resample(truth, kind, replicates=70, seed=8)
    done = evaluate(models(), truth, metrics=METRICS, resampling=plan, settings=STRICT)
    expected = bootstrap.replicates(votes, SCORES, plan)
    assert_allclose(done.replicates[0], expected, rtol=0, atol=1e-10)
    assert not np.isnan(expected).all(axis=-1).any()


@pytest.mark.parametrize("ties", ["half", "negative", "drop"])
def test_values_are_those_of_the_data_as_they_are(ties):
    settings = Settings(ties=ties)
    done = evaluate(models(), bootstrap.annotations(GAPS), metrics=METRICS, settings=settings)
    p = np.nanmean(GAPS, axis=1)
    tied = p == 0.5
    assert tied.any()
    hard = np.where(tied & (ties == "half"), 0.5, p > 0.5)
    use = ~tied if ties == "drop" else p >= 0
    for k, name in enumerate(METRICS):
        for m, s in enumerate(SCORES):
            expected = named(name)(hard[use], s[use])
            assert_allclose(done.values[0, k, 0, m], expected, atol=1e-12)
            if ties != "half":
                found = bootstrap.METRICS[name](hard[use], s[use])
                assert_allclose(expected, found, atol=1e-12)
            assert_allclose(done.values[0, k, 1, m], bootstrap.METRICS[name](p, s), atol=1e-12)


@pytest.mark.parametrize("kind", ["items", "panel", "votes", "items x panel"])
@pytest.mark.parametrize("ties", ["half", "drop"])
def test_ties_of_resampled_votes_follow_the_rule(kind, ties):
    truth = bootstrap.annotations(FULL)
    plan = resample(truth, kind, replicates=30, seed=8)
    how = Settings(ties=ties)
    done = evaluate(models(), truth, metrics=METRICS, resampling=plan, settings=how)
    seen = 0
    for r in range(30):
        p = bootstrap.shares(FULL, plan, r)
        tied = np.abs(p - 0.5) < 1e-12
        seen += tied.sum()
        counts = plan.item_counts(r, r + 1)[:, 0] * ~(tied & (ties == "drop"))
        label = np.repeat(np.where(tied, 0.5, p > 0.5), counts)
        expected = [[named(n)(label, np.repeat(s, counts)) for s in SCORES] for n in METRICS]
        assert_allclose(done.replicates[0][:, 0, :, r], expected, atol=1e-10)
    assert seen


@pytest.mark.parametrize("ties", ["half", "negative", "drop"])
def test_influence_takes_the_same_hard_labels(ties):
    truth = bootstrap.annotations(FULL)
    plan = resample(truth, "influence", replicates=200)
    how = Settings(ties=ties)
    wanted = ["auroc", "accuracy"]
    given = models([np.clip(s, 0.05, 0.95) for s in SCORES])
    done = evaluate(given, truth, metrics=wanted, resampling=plan, settings=how)
    assert_allclose(done.replicates.mean(axis=-1), done.values, atol=1e-10)
    p = FULL.mean(axis=1)
    use = np.flatnonzero(p != 0.5) if ties == "drop" else np.arange(ITEMS)
    hard = np.where((p == 0.5) & (ties == "half"), 0.5, p > 0.5)[use]
    metric, scores = named("auroc"), np.clip(SCORES[0], 0.05, 0.95)[use]
    slope = metric.influence(metric.prepare(scores)[0], hard)[1]
    cell = done.two_way("auroc", labels="hard")
    items = ITEMS / (ITEMS - 1) * (slope**2).sum()
    assert_allclose(cell.items[0, 0], items, rtol=1e-6)
    assert_allclose(done.replicates[0, 0, 0].var(axis=-1), np.diag(cell.covariance()))


@pytest.mark.parametrize("kind", ["items", "panel", "votes", "items x panel", "influence"])
def test_workers_and_repetition_never_change_a_byte(kind):
    truth = bootstrap.annotations(FULL)
    metrics = ["auroc", "average_precision"] if kind == "influence" else METRICS
    plan = resample(truth, kind, replicates=200, seed=1)
    results = [
        evaluate(
            models(), truth, metrics=metrics, resampling=plan, settings=Settings(workers=w)
        )
        for w in (1, 2, 1)
    ]
    for other in results[1:]:
        assert other.replicates.tobytes() == results[0].replicates.tobytes()
        assert other.values.tobytes() == results[0].values.tobytes()


@pytest.mark.parametrize("metric", METRICS)
def test_a_replicate_does_not_depend_on_how_many_follow(metric):
    random = np.random.default_rng(0)
    votes = (random.random((300, 3)) < 0.5).astype(float)
    scores = [random.random(300).round(2)]
    truth = bootstrap.annotations(votes)
    few, many = (
        evaluate(
            models(scores, 300), truth, metrics=[metric],
            resampling=resample(truth, "items x panel", replicates=number),
        ).replicates[..., :65]
        for number in (65, 128)
    )  # fmt: skip
    assert few.tobytes() == many.tobytes()


def test_a_model_alone_or_in_company_has_the_same_replicates():
    truth = bootstrap.annotations(GAPS)
    both = evaluate(models(), truth, resampling="items x panel")
    alone = evaluate(models()[1], truth, resampling="items x panel")
    assert_array_equal(alone.replicates[..., 0, :], both.replicates[..., 1, :])
    reverse = evaluate(models()[::-1], truth, resampling="items x panel")
    assert_array_equal(reverse.replicates[..., ::-1, :], both.replicates)


def test_the_order_of_rows_and_predictions_does_not_matter():
    truth = bootstrap.annotations(GAPS)
    order = np.random.default_rng(2).permutation(len(truth))
    moved = replace(
        truth,
        item=truth.item[order],
        label=truth.label[order],
        annotator=truth.annotator[order],
    )
    turned = [Predictions(m.model, m.items[::-1], m.values[::-1]) for m in models()]
    for kind in ("panel", "items x votes"):
        plan = resample(truth, kind, replicates=64)
        a = evaluate(models(), truth, metrics=METRICS, resampling=plan)
        b = evaluate(turned, moved, metrics=METRICS, resampling=plan)
        assert_allclose(b.values, a.values, atol=1e-12)
        assert_allclose(b.replicates, a.replicates, atol=1e-12)


CLASSES = ("x", "y", "z")
MANY = ["auroc", "auroc:multiclass=ovo", "auroc:average=weighted", "average_precision"]


def nominal(label):
    """Annotations of a matrix (items, annotators) of class codes."""
    items, readers = label.shape
    return Annotations(
        kind="nominal", items=names(items), classes=CLASSES, annotators=names(readers, "r"),
        item=np.repeat(np.arange(items), readers), label=label.ravel(),
        annotator=np.tile(np.arange(readers), items),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["items", "panel", "items x panel"])
def test_several_classes_equal_the_metric_on_expanded_arrays(kind):
    random = np.random.default_rng(9)
    label = random.integers(0, 3, (20, 4))
    probability = random.dirichlet(np.ones(3), 20)
    truth = nominal(label)
    plan = resample(truth, kind, replicates=70)
    turned = Predictions("m", names(20), probability[:, ::-1], classes=CLASSES[::-1])
    done = evaluate(turned, truth, metrics=MANY, resampling=plan)
    votes = np.eye(3)[label]
    for r in range(plan.replicates):
        times = np.ones(4) if plan.truth is None else plan.annotator_counts(r, r + 1)[:, 0]
        soft = np.einsum("iak,a->ik", votes, times / times.sum())
        counts = plan.item_counts(r, r + 1)[:, 0]
        first = np.isclose(soft, soft.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
        for labels, p in enumerate((first / first.sum(axis=1, keepdims=True), soft)):
            expected = [
                named(name)(
                    np.repeat(p, counts, axis=0), np.repeat(probability, counts, axis=0)
                )
                for name in MANY
            ]
            assert_allclose(done.replicates[0][:, labels, 0, r], expected, atol=1e-10)


@pytest.mark.parametrize("kind", ["items", "posterior", "items x posterior"])
@pytest.mark.parametrize("draws", [1, 7])
@pytest.mark.parametrize("thin", [False, True])
def test_plausibilities_as_truth(kind, draws, thin):
    random = np.random.default_rng(5)
    classes = ("a", "b", "c") if thin else ("no", "yes")
    full = random.dirichlet(np.ones(len(classes)), (draws, 15))
    truth = Plausibilities.dense(full, items=names(15), classes=classes, method="drawn")
    if thin:
        full[:, :, 1:] = full[:, :, 1:].mean(axis=2, keepdims=True)
        truth = Plausibilities(
            items=names(15), classes=classes, start=np.arange(16), label=np.zeros(15, int),
            mass=full[:, :, 0], rest=1 - full[:, :, 0], method="thin",
        )  # fmt: skip
    scores = random.dirichlet(np.ones(len(classes)), 15)
    if draws == 1 and kind != "items":
        with pytest.raises(InputError, match="a single draw"):
            resample(truth, kind)
        return
    plan = resample(truth, kind, replicates=20)
    model = Predictions("m", names(15), scores, classes=classes)
    done = evaluate(model, truth, metrics=["auroc", "average_precision"], resampling=plan)
    column = slice(None) if thin else 1
    assert_allclose(
        done.values[0, 0, 1, 0], named("auroc")(full.mean(axis=0)[:, column], scores[:, column])
    )
    for r in range(20):
        soft = full[r % draws] if plan.truth else full.mean(axis=0)
        counts = plan.item_counts(r, r + 1)[:, 0]
        first = np.isclose(soft, soft.max(axis=1, keepdims=True), rtol=0, atol=1e-9)
        for labels, p in enumerate((first / first.sum(axis=1, keepdims=True), soft)):
            parts = (np.repeat(x[:, column], counts, axis=0) for x in (p, scores))
            expected = named("average_precision")(*parts)
            assert_allclose(done.replicates[0, 1, labels, 0, r], expected, atol=1e-10)


def two_tasks(**more):
    """Every item is asked about in two tasks; the second may have one answer only."""
    item = np.tile(np.repeat(np.arange(ITEMS), 4), 2)
    return Annotations(
        kind="binary", items=names(ITEMS), classes=("no", "yes"), tasks=("a", "b"),
        annotators=names(4, "r"), annotator=np.tile(np.arange(4), 2 * ITEMS), item=item,
        task=np.repeat([0, 1], 4 * ITEMS), **more,
    )  # fmt: skip


def tasked():
    return [m for task in ("a", "b") for m in models(task=task)]


def test_the_macro_average_is_the_mean_of_tasks_replicate_by_replicate():
    label = np.concatenate([FULL.ravel(), 1 - FULL.ravel()]).astype(int)
    done = evaluate(tasked(), two_tasks(label=label), resampling="items x panel")
    assert done.tasks == ("a", "b", MACRO)
    assert_allclose(done.values[2], done.values[:2].mean(axis=0))
    assert_allclose(done.replicates[2], done.replicates[:2].mean(axis=0))
    assert_allclose(done.values[0, 0, 1] + done.values[1, 0, 1], 1)
    assert done.estimate("model-0", "auroc").value == done.values[2, 0, 1, 0]
    assert done.estimate("model-0", "auroc", task="a").value == done.values[0, 0, 1, 0]


def test_an_undefined_task_is_left_out_of_the_macro_average_and_told():
    label = np.concatenate([FULL.ravel(), np.zeros(FULL.size)]).astype(int)
    done = evaluate(tasked(), two_tasks(label=label), resampling="panel")
    assert np.isnan(done.values[1]).all() and np.isnan(done.replicates[1]).all()
    assert_array_equal(done.values[2], done.values[0])
    assert_array_equal(done.replicates[2], done.replicates[0])
    assert any(n.code == "undefined_score" and n.about == ("b",) for n in done.notices)
    rows = [row for row in done.table() if row.task == "b"]
    assert rows and all(np.isnan([row.value, row.low, row.high]).all() for row in rows)


def test_tasks_share_their_items_and_panel():
    label = np.tile(FULL.ravel().astype(int), 2)
    done = evaluate(tasked(), two_tasks(label=label), resampling="items x panel")
    assert_array_equal(done.replicates[0], done.replicates[1])


def test_differences_and_ranks_are_paired():
    third = [*SCORES, SCORES[0]]
    done = evaluate(models(third), bootstrap.annotations(FULL), resampling="items")
    a, b, c = done.replicates[0, 0, 1]
    gaps = {(d.a, d.b): d for d in done.differences("auroc")}
    gap = gaps["model-0", "model-1"]
    assert gap.value == pytest.approx(done.values[0, 0, 1, 0] - done.values[0, 0, 1, 1])
    cell = done.two_way("auroc")
    assert (gap.low, gap.high) == pytest.approx(cell.between(0, 1).interval(gap.value))
    wins = np.mean((a > b + 1e-12) + (abs(a - b) <= 1e-12) / 2)
    assert gap.p_better == pytest.approx(wins)
    same = gaps["model-0", "model-2"]
    assert (same.value, same.low, same.high, same.p_better) == (0, 0, 0, 0.5)
    rows = [r for r in done.table() if (r.metric, r.labels) == ("auroc", "soft")]
    assert sum(row.p_best for row in rows) == pytest.approx(1)
    assert rows[0].p_best == rows[2].p_best and rows[0].rank == rows[2].rank
    assert sum(row.rank for row in rows) == 6
    one = cell.of(0).interval(rows[0].value, bounds=(0.0, 1.0))
    assert (rows[0].low, rows[0].high) == pytest.approx(one)
    assert_array_equal(c, a)


def test_the_best_model_is_compared_with_every_other():
    third = [*SCORES, FULL.mean(axis=1)]
    done = evaluate(models(third), bootstrap.annotations(FULL), resampling="items")
    gaps = done.to_best("auroc")
    assert [gap.a for gap in gaps] == ["model-2", "model-2"]
    assert {gap.b for gap in gaps} == {"model-0", "model-1"}
    assert 0 <= gaps[0].value <= gaps[1].value
    mirrored = {(d.a, d.b): d for d in done.differences("auroc")}
    for gap in gaps:
        other = mirrored[gap.b, gap.a]
        assert (gap.value, gap.low, gap.high) == pytest.approx(
            (-other.value, -other.high, -other.low)
        )
        assert gap.p_better == pytest.approx(1 - other.p_better)
