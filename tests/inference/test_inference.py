"""Two-way inference against slow code, exact analyses of variance, and its own laws."""

import dataclasses
import math
import tracemalloc
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, Predictions, Settings, evaluate, resample
from equipoise.inference import (
    Population,
    Reason,
    Spread,
    TwoWay,
    family,
    judge,
    two_way,
    unit_design,
)
from equipoise.inference.intervals import DRAWS, SEED, simultaneous_widths
from equipoise.metrics import CATALOGUE, Block, Truth, named
from equipoise.metrics._metric import Topic
from equipoise.study.blocks import hard_labels
from equipoise.types import InputError
from tests.oracles import two_way as slow
from tests.oracles.combinations import unit_factor as of_sizes

GRADES = ("a", "b", "c")


def study(votes, items, *, classes=2, unit=None, people=None, seed=0, models=3, gold=()):
    """Annotations of (item, annotator, class) and models that guess."""
    random = np.random.default_rng(seed)
    names = tuple(f"i{i:03d}" for i in range(items))
    item, who, label = (np.array(column) for column in zip(*votes, strict=True))
    marks = np.zeros(len(item), dtype=bool)
    marks[list(gold)] = True
    annotations = Annotations(
        kind="binary" if classes == 2 else "ordinal",
        items=names,
        classes=GRADES[:classes],
        annotators=tuple(f"r{r}" for r in range(people or who.max() + 1)),
        item=item,
        annotator=who,
        label=label,
        groups=None if unit is None else tuple(f"g{g}" for g in range(max(unit) + 1)),
        group=None if unit is None else np.array(unit),
        is_gold=marks if len(gold) else None,
    )
    wide = random.dirichlet(np.ones(classes), (models, items))
    made = [
        Predictions(f"m{k}", names, one if classes > 2 else one[:, 1], _named(classes))
        for k, one in enumerate(wide)
    ]
    return annotations, made


def _named(classes):
    return GRADES if classes > 2 else ()


def complete(items, people, classes=2, seed=0):
    """Everybody votes on everything, with leanings."""
    random = np.random.default_rng(seed)
    lean = random.normal(size=people) / 2
    seen = random.normal(size=items)[:, None] + lean + random.normal(size=(items, people)) / 2
    code = np.searchsorted(np.linspace(-0.5, 0.7, classes - 1), seen)
    return [(i, r, int(code[i, r])) for i in range(items) for r in range(people)]


def thinned(votes, seed=0, share=0.6):
    """Some votes only; every item keeps its first."""
    random = np.random.default_rng(seed)
    return [v for v in votes if v[1] == v[0] % 3 or random.random() < share]


def run(annotations, predictions, *metrics, **settings):
    plan = resample(annotations, "influence", replicates=50)
    how = Settings(workers=1, **settings)
    return evaluate(predictions, annotations, metrics=metrics, resampling=plan, settings=how)


def hits(votes, predictions, items, people):
    """Table of which votes a model agrees with."""
    table = np.zeros((items, people))
    wide = predictions.values
    decided = wide.argmax(axis=1) if wide.ndim == 2 else (wide > 0.5).astype(int)
    for i, r, label in votes:
        table[i, r] = label == decided[i]
    return table


# ---- complete designs of a linear metric: the analysis of variance ---------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("people", [3, 6])
def test_accuracy_of_a_complete_design_is_the_analysis_of_variance(people, classes):
    votes = complete(40, people, classes)
    annotations, models = study(votes, 40, classes=classes)
    found = run(annotations, models, "accuracy").two_way("accuracy")
    for k, model in enumerate(models):
        items, annotators = slow.anova(hits(votes, model, 40, people))
        assert_allclose(found.items[k, k], items)
        assert_allclose((found.annotators - found.cells)[k, k], annotators, atol=1e-15)
        assert_allclose(found.of(k).variance, items + max(annotators, 0))
    gap = hits(votes, models[0], 40, people) - hits(votes, models[1], 40, people)
    items, annotators = slow.anova(gap)
    assert_allclose(found.between(0, 1).variance, items + max(annotators, 0))
    assert_allclose(found.df_annotators, people - 1)


def test_equal_groups_are_the_analysis_of_variance_of_their_means():
    votes, unit = complete(60, 4), [i % 12 for i in range(60)]
    annotations, models = study(votes, 60, unit=unit)
    found = run(annotations, models, "accuracy").two_way("accuracy")
    for k, model in enumerate(models):
        table = hits(votes, model, 60, 4)
        means = np.stack([table[np.array(unit) == g].mean(axis=0) for g in range(12)])
        items, annotators = slow.anova(means)
        assert_allclose(found.items[k, k], items)
        assert_allclose((found.annotators - found.cells)[k, k], annotators, atol=1e-15)
    assert found.of(0).df_items < 11 + 1e-9


# ---- any design, any metric: slow sums over votes -----------------------------------------


def parts(question, metric, model, label):
    """Influence and slopes of a model in a task, classes of a yes/no question both."""
    whole = metric.labels == "distribution"
    shares = list(question.shares)
    truth = hard_labels(shares, whole=whole)
    if label == "soft":
        truth = [1 - shares[0], shares[0]] if whole and len(shares) == 1 else shares
    values = model.values
    if not whole:
        found = metric.influence(metric.prepare(values)[0], truth[0])
        return found.items, np.stack([np.zeros(len(truth[0])), found.shares], axis=1)
    wide = values if values.ndim == 2 else np.stack([1 - values, values], axis=1)
    found = metric.influence(metric.prepare(wide), np.stack(truth, axis=1))
    return found.items, found.shares


def labels_expected(question, models, classes):
    """What scores predict of a vote on each item, classes of a yes/no question both."""
    scores = np.stack([np.reshape(model.values, (len(question.items), -1)) for model in models])
    shares = [
        slow.expected_share(share, scores[:, :, k]) for k, share in enumerate(question.shares)
    ]
    if classes == 2:
        shares = [1 - shares[0], shares[0]]
    return np.stack(shares, axis=1)


def expected(found, metric, models, votes, unit, label, classes):
    """Items, annotators and cells by slow code."""
    question = found.questions[0]
    every = [parts(question, metric, model, label) for model in models]
    pairs = [(i, r) for i, r, _ in votes]
    factors = slow.design(pairs, unit)
    moves = slow.soft_moves if label == "soft" else slow.hard_moves
    labels = labels_expected(question, models, classes)
    labels /= labels.sum(axis=1, keepdims=True)
    moved = [moves(votes, classes, h, labels) for _, h in every]
    people, cells = slow.sums(votes, unit, np.stack(moved))
    by_unit = np.stack([np.bincount(unit, g) for g, _ in every])
    items = factors["unit"] * by_unit @ by_unit.T
    return items, factors["annotator"] * people, factors["annotator"] * cells, factors


@pytest.mark.parametrize("label", ["hard", "soft"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    ("name", "classes"),
    [("auroc", 2), ("average_precision", 2), ("brier_score", 2), ("accuracy", 2),
     ("quadratic_weighted_kappa", 3), ("ranked_probability_score", 3), ("log_score", 3)],
)  # fmt: skip
def test_incomplete_designs_equal_slow_sums_over_votes(name, classes, grouped, label):
    votes = thinned(complete(30, 5, classes))
    unit = [i * i % 47 for i in range(30)] if grouped else list(range(30))  # 24 groups
    unit = np.unique(unit, return_inverse=True)[1].tolist()
    annotations, models = study(votes, 30, classes=classes, unit=unit if grouped else None)
    found = run(annotations, models, name)
    cell = found.two_way(name, labels=label)
    items, people, cells, factors = expected(
        found, named(name), models, votes, unit, label, classes
    )
    assert_allclose(cell.items, items, rtol=1e-9)
    assert_allclose(cell.annotators, people, rtol=1e-9)
    assert_allclose(cell.cells, cells, rtol=1e-9)
    assert_allclose(cell.df_annotators, factors["df_annotators"])
    assert (cell.df_items <= factors["df_units"] * (1 + 1e-9)).all()


def test_one_class_against_the_rest_is_averaged_over_classes():
    votes = thinned(complete(30, 5, 3))
    annotations, models = study(votes, 30, classes=3)
    found = run(annotations, models, "auroc")
    metric, question = named("auroc"), found.questions[0]
    hard, moved = question.hard, []
    for model in models:
        prepared = metric.prepare(model.values)
        own = [metric.influence(prepared[k], hard[k]).shares / 3 for k in range(3)]
        slopes = np.stack(own, axis=1)
        labels = labels_expected(question, models, 3)
        moved.append(slow.hard_moves(votes, 3, slopes, labels))
    sums = slow.sums(votes, range(30), np.stack(moved))
    factor = slow.design([(i, r) for i, r, _ in votes], range(30))["annotator"]
    cell = found.two_way("auroc", labels="hard")
    assert_allclose(cell.annotators, factor * sums[0])
    assert_allclose(cell.cells, factor * sums[1])


def scored(metric, prepared, labels, counts=None):
    """The metric of labels (items, classes), by the engine."""
    one = np.ones((len(labels), 1), dtype=np.uint8) if counts is None else counts[:, None]
    truths = tuple(Truth(np.ascontiguousarray(column)) for column in labels.T)
    return float(metric.finish(metric.reduce(prepared, Block(truths, one)))[0])


ABLE = [
    name
    for name in [*CATALOGUE, "brier_score:soft=plug_in", "expected_cost:cost=linear"]
    if "_at_" not in name
    and named(name).influence is not None
    and named(name).topic not in (Topic.JUDGED, Topic.RATINGS)
]  # operating points have the slope of a line across their curve: see test_decision_labels


def test_what_is_a_mean_or_ranks_pairs_has_derivatives():
    assert {"auroc", "average_precision", "accuracy", "quadratic_weighted_kappa"} < set(ABLE)
    assert {"brier_score", "log_score", "ranked_probability_score"} < set(ABLE)


@pytest.mark.parametrize("name", ABLE)
def test_derivatives_equal_central_differences_and_doubled_items(name):
    metric, random, items = named(name), np.random.default_rng(3), 60
    whole = metric.labels == "distribution"
    labels = random.dirichlet([1.0, 2.0, 0.7], items) * 0.94 + 0.02
    scores = random.dirichlet(np.ones(3), items)
    if whole:
        prepared = metric.prepare(scores)
        found = metric.influence(prepared, labels)
        slopes = found.shares
    else:
        labels, prepared = labels[:, :1], metric.prepare(np.round(scores[:, 0], 1))
        found = metric.influence(prepared[0], labels[:, 0])
        slopes = found.shares[:, None]
    assert_allclose(found.value, scored(metric, prepared, labels), rtol=1e-12)
    assert_allclose(found.items.sum(), 0, atol=1e-12)
    step, moved, slope = 1e-5, [], []
    for i in range(items):
        for k in range(labels.shape[1]):
            toward = np.eye(labels.shape[1])[k] - labels[i] if whole else np.ones(1)
            up, down = labels.copy(), labels.copy()
            up[i] += step * toward
            down[i] -= step * toward
            gap = scored(metric, prepared, up) - scored(metric, prepared, down)
            moved.append(gap / (2 * step))
            slope.append(slopes[i] @ toward)
    assert_allclose(slope, moved, atol=1e-5 * np.abs(moved).max())
    twice = [
        scored(metric, prepared, labels, 1 + (np.arange(items) == i).astype(np.uint8))
        for i in range(items)
    ]
    change = (np.array(twice) - found.value) * (items + 1) / items
    assert np.corrcoef(change, found.items)[0, 1] > 0.99
    assert_allclose(np.abs(change).sum(), np.abs(found.items).sum(), rtol=0.1)


@pytest.mark.parametrize("label", ["hard", "soft"])
def test_the_jackknife_of_metrics_without_derivatives_is_close_to_them(label):
    votes = thinned(complete(150, 6, seed=5), share=0.7)
    annotations, models = study(votes, 150)
    closed = named("auroc")
    left_out = replace(closed, name="auroc_again", influence=None)
    found = run(annotations, models, closed, left_out)
    one, other = (found.two_way(name, labels=label) for name in ("auroc", "auroc_again"))
    assert_allclose(one.df_annotators, other.df_annotators)
    for a, b in combinations(range(3), 2):
        errors = [cell.between(a, b).standard_error for cell in (one, other)]
        assert_allclose(errors[0], errors[1], rtol=0.15)
    for m in range(3):
        assert_allclose(one.of(m).standard_error, other.of(m).standard_error, rtol=0.15)


def test_the_jackknife_of_a_mean_over_items_is_exactly_its_derivatives():
    annotations, models = study(thinned(complete(40, 5, seed=6)), 40)
    closed = named("accuracy")
    left_out = replace(closed, name="accuracy_again", influence=None)
    found = run(annotations, models, closed, left_out)
    one, other = (found.two_way(name) for name in ("accuracy", "accuracy_again"))
    assert_allclose(other.items, one.items, rtol=1e-9, atol=1e-15)
    assert_allclose(np.diag(other.df_items), np.diag(one.df_items), rtol=1e-9)


@pytest.mark.parametrize(("half", "word"), [(1.05, "equivalent by two one-sided tests"),
                                            (0.95, "equivalent"),
                                            (1.25, "undecided")])  # fmt: skip
def test_equivalence_below_non_inferiority_says_so(half, word):
    """Where the interval of 90 % lies within the margin and that of 95 % does not."""
    from scipy.stats import t

    spread = Spread(4e-4, df_items=60.0)
    margin = t.ppf(0.975, 60) * spread.standard_error / half
    assert judge(0.0, spread, margin).value == word


WHOM = [(items, annotators) for items in (True, False) for annotators in (True, False)]


@pytest.mark.parametrize(("items", "annotators"), WHOM)
def test_the_covariance_has_the_variance_of_every_value_and_difference(items, annotators):
    """Whatever counts: for items, for annotators, for both, or for votes alone."""
    random = np.random.default_rng(4)
    own, people, noise, draws = (x @ x.T for x in random.normal(size=(4, 3, 9)))
    whom = Population(items=items, annotators=annotators)
    freedom = np.full((3, 3), 50.0)
    values = np.array([0.5, 0.6, 0.7])
    cell = TwoWay(values, own, people + noise, noise, draws, freedom, 6.0, 0.0, whom)
    covariance = cell.covariance()
    for a in range(3):
        assert covariance[a, a] == pytest.approx(cell.of(a).variance)
        for b in range(a):
            gap = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
            assert gap == pytest.approx(cell.between(a, b).variance)


def test_only_models_of_different_values_have_a_floor():
    same, freedom = np.full((2, 2), 0.01), np.full((2, 2), 50.0)
    nothing = np.zeros((2, 2))
    for values, error in (([0.7, 0.7], 0.0), ([0.7, 0.6], 0.02)):
        cell = TwoWay(np.array(values), same, nothing, nothing, nothing, freedom, 0.0, 0.02,
                      Population(annotators=False))  # fmt: skip
        assert cell.between(0, 1).standard_error == pytest.approx(error)
        assert cell.of(0).standard_error == pytest.approx(0.1)


# ---- one number ----------------------------------------------------------------------------

FEW = Spread(4e-4, 9e-4, 2e-4, df_items=80.0, df_annotators=2.0)
MANY = replace(FEW, df_annotators=7.0)


def test_few_annotators_solve_the_equation_of_the_pivot():
    from scipy.stats import chi2, t

    at = (np.arange(4000) + 0.5) / 4000
    for level in (0.8, 0.95):
        q = FEW.half_width(level)
        spread = FEW.items + np.maximum(
            FEW.annotators * 2.0 / chi2.ppf(at, 2.0) - FEW.cells, 0.0
        )
        assert_allclose(2 * t.sf(q / np.sqrt(spread), 80.0).mean(), 1 - level, rtol=0.02)
        assert_allclose(FEW.p_value(q), 1 - level, atol=1e-8)
    assert FEW.pivotal and not MANY.pivotal


def test_a_rare_class_is_ranked_by_those_who_call_it(monkeypatch):
    calls = np.array([12, 3, 3, 2])
    random = np.random.default_rng(1)
    rare = [set(random.permutation(40)[:number].tolist()) for number in calls]
    votes = [(i, r, int(i in rare[r])) for i in range(200) for r in range(4)]
    annotations, models = study(votes, 200)

    def cell(metric):
        return evaluate(models, annotations, metrics=[metric]).two_way(metric)

    factor, df = of_sizes(calls)
    ranked, plain = cell("auroc"), cell("brier_score")
    assert ranked.df_annotators == pytest.approx(df)
    assert plain.df_annotators == pytest.approx(3.0)
    assert ranked.population.reason is Reason.TOO_FEW
    monkeypatch.setattr("equipoise.inference.ballots.RARE", 0.0)
    before = cell("auroc")
    assert before.df_annotators == pytest.approx(3.0)
    assert_allclose(ranked.annotators, before.annotators * factor / (4 / 3))
    assert_allclose(ranked.cells, before.cells * factor / (4 / 3))


def called(label, *calls):
    """Gold, and what models decide."""
    names = tuple(f"i{i}" for i in range(len(label)))
    gold = Annotations(
        kind="binary", items=names, classes=("no", "yes"), item=np.arange(len(label)),
        label=np.asarray(label), is_gold=np.ones(len(label), bool),
    )  # fmt: skip
    return gold, [Predictions(f"m{k}", names, call * 1.0) for k, call in enumerate(calls)]


def test_few_items_of_a_class_are_few_units():
    label = np.repeat([1, 0], [8, 52])
    first, second = label.copy(), label.copy()
    first[[0, 1, 20]], second[[2, 3, 4, 30, 31]] = (0, 0, 1), (0, 0, 0, 1, 1)
    gold, models = called(label, first, second)
    found = evaluate(models, gold, metrics=["sensitivity", "cohen_kappa", "f1", "accuracy"])
    cell = found.two_way("sensitivity")
    hits = np.stack([first[:8], second[:8]])
    assert_allclose(cell.items, np.cov(hits) / 8, atol=1e-12)
    assert_allclose(cell.df_items, 7.0)
    for metric in ("cohen_kappa", "f1"):
        assert_allclose(found.two_way(metric).df_items, 7.0)
        assert found.two_way(metric).floor == pytest.approx(
            (2.0 if metric == "cohen_kappa" else 1.0) / 9
        )
    assert found.two_way("accuracy").df_items.max() > 7
    many = evaluate(*called(np.repeat([1, 0], 30), np.arange(60) % 3 > 0)[::-1])
    assert many.two_way(many.metrics[0].name).df_items[0, 0] > 7


def test_where_the_pivot_leaves_nothing_a_number_is_as_unsure_as_one_more_unit():
    from scipy.stats import chi2, t

    spread = Spread(0.0, 1e-4, 2e-4, df_items=50.0, df_annotators=2.0, floor=4e-4)
    points = chi2.isf((np.arange(200) + 0.5) / 200, 2)
    left = np.maximum(1e-4 * 2 / points - 2e-4, 0.0)
    assert 0 < (left == 0).sum() < 200
    error = np.sqrt(np.where(left == 0, 4e-4, left))
    for size in (0.01, 0.02, 0.05):
        wanted = 2 * t.sf(size / error, 50).mean()
        assert spread.p_value(size) == pytest.approx(wanted, rel=1e-6)


def test_annotators_alone_make_the_pivot_an_exact_t():
    from scipy.stats import t

    alone = Spread(0.0, 1.0, 0.0, df_items=1e9, df_annotators=3.0)
    for level in (0.5, 0.9):
        assert_allclose(alone.half_width(level), t.ppf(0.5 + level / 2, 3), rtol=0.02)


def test_more_annotators_are_students_t_with_satterthwaites_degrees_of_freedom():
    from scipy.stats import t

    variance = 4e-4 + 7e-4
    df = variance**2 / ((4e-4) ** 2 / 80 + (9e-4) ** 2 / 7)
    assert_allclose(MANY.variance, variance)
    assert_allclose(MANY.df, df)
    assert_allclose(MANY.half_width(), t.ppf(0.975, df) * math.sqrt(variance))
    assert_allclose(MANY.p_value(0.05), 2 * t.sf(0.05 / math.sqrt(variance), df))
    cut = replace(MANY, cells=2e-3)
    assert_allclose(cut.variance, 4e-4)
    assert_allclose(cut.df, (4e-4) ** 2 / ((4e-4) ** 2 / 80 + (9e-4) ** 2 / 7))


@pytest.mark.parametrize("spread", [FEW, MANY])
@pytest.mark.parametrize("value", [0.06, 0.4, 0.97])
def test_intervals_of_shares_lie_inside_and_widen_with_the_level(spread, value):
    levels = (0.5, 0.8, 0.95, 0.99, 0.999)
    ends = [spread.interval(value, level, (0.0, 1.0)) for level in levels]
    for low, high in ends:
        assert 0 < low < value < high < 1
    for inner, outer in pairwise(ends):
        assert outer[0] < inner[0] and inner[1] < outer[1]
    plain = spread.interval(0.0, 0.95)
    assert_allclose(plain[1], -plain[0])


def test_p_values_and_intervals_agree():
    for spread in (FEW, MANY):
        half = spread.half_width(0.9)
        assert spread.p_value(half * 1.001) < 0.1 < spread.p_value(half * 0.999)
        assert spread.p_value(0.0) == 1.0


def test_a_level_is_a_share():
    with pytest.raises(InputError):
        FEW.half_width(1.0)


# ---- all pairs -----------------------------------------------------------------------------


def board(seed=0, models=6, df=7.0, spread=3.0):
    """A question with models that are partly apart."""
    random = np.random.default_rng(seed)
    root = random.normal(size=(3, models, models + 4)) / 100
    items, annotators, cells = (one @ one.T for one in root)
    values = 0.7 + 0.1 * spread * random.random(models)
    return TwoWay(
        values=values,
        items=items,
        annotators=annotators + cells,
        cells=cells,
        draws=np.zeros((models, models)),
        df_items=np.full((models, models), 120.0),
        df_annotators=df,
        floor=0.0,
        population=Population(effective=df + 1),
    )


def null_draws(cell, order, pairs, spreads):
    """|t| of all pairs under equality, chunk by chunk as the package draws them."""
    covariance = cell.covariance()
    size, direction = np.linalg.eigh(covariance[np.ix_(order, order)])
    root = (direction * np.sqrt(np.maximum(size, 0.0))) @ direction.T
    place = {int(m): n for n, m in enumerate(order)}
    random, rows, size = np.random.default_rng(SEED), [], 1000
    for _ in range(DRAWS // size):
        z = random.standard_normal((size, len(order))) @ root.T
        if spreads[0].pivotal:
            chi = random.chisquare(cell.df_annotators, size)
            df = np.median([one.df_items for one in spreads])
        else:
            df = np.median([one.df for one in spreads])
        student = np.sqrt(df / random.chisquare(df, size))
        columns = []
        for (a, b), one in zip(pairs, spreads, strict=True):
            error = np.sqrt(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b])
            t = np.abs(z[:, place[a]] - z[:, place[b]]) / error * student
            if spreads[0].pivotal:
                people = one.annotators * cell.df_annotators / chi - one.cells
                t = t * np.sqrt((one.items + np.maximum(people, 0)) / one.variance)
            columns.append(t)
        rows.append(np.stack(columns, axis=1))
    return np.concatenate(rows)


@pytest.mark.parametrize("df", [2.0, 7.0])
def test_step_down_equals_slow_code(df):
    cell = board(1, df=df, spread=3.0 if df > 4.5 else 8.0)
    found = family(cell)
    order = np.argsort(-cell.values)
    pairs = list(combinations(order.tolist(), 2))
    spreads = [cell.between(a, b) for a, b in pairs]
    gaps = np.array([cell.values[a] - cell.values[b] for a, b in pairs])
    t = np.abs(gaps) / [one.standard_error for one in spreads]
    draws = null_draws(cell, order, pairs, spreads)
    alone = np.array([one.p_value(gap) for one, gap in zip(spreads, gaps, strict=True)])
    adjusted = np.maximum(slow.step_down(t, draws), alone)
    assert_allclose([found.p[a, b] for a, b in pairs], np.minimum(adjusted, 1.0), atol=1e-3)
    assert_allclose(found.critical, np.quantile(draws.max(axis=1), 0.95), rtol=1e-3)
    assert 0 < found.better.sum() < len(pairs)
    for (a, b), p in zip(pairs, adjusted, strict=True):
        assert found.better[a, b] == (p < 0.05) and not found.better[b, a]


@pytest.mark.parametrize("df", [2.0, 7.0])
def test_a_family_of_two_is_the_pair_by_itself(df):
    cell = board(3, models=2, df=df)
    alone = cell.between(0, 1).p_value(float(cell.values[0] - cell.values[1]))
    assert_allclose(family(cell).p[0, 1], alone, atol=0.01)


def test_a_family_of_many_models_keeps_no_draw_of_all_its_pairs():
    cell = board(4, models=80)
    tracemalloc.start()
    family(cell)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * DRAWS * 80 * 79 / 2 / 2


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_widths_of_all_values_at_once_hold_all_of_them_at_their_level(level):
    cell = dataclasses.replace(board(1, df=900.0), df_items=np.full((6, 6), 1e6))
    widths = simultaneous_widths(cell, level)
    random = np.random.default_rng(5)
    drawn = random.multivariate_normal(np.zeros(6), cell.covariance(), 40_000)
    held = (np.abs(drawn) <= widths).all(axis=1).mean()
    assert held == pytest.approx(level, abs=0.015)


def test_no_value_is_surer_at_once_than_the_median_one():
    cell = dataclasses.replace(board(1, df=900.0), items=np.diag([0.01, 0.1, 1, 1, 4, 9]))
    alone = np.array([cell.of(m).half_width() for m in range(6)])
    widths = simultaneous_widths(cell)
    assert_allclose(widths / widths[0], np.maximum(alone, np.median(alone)) / np.median(alone))


@pytest.mark.parametrize("higher", [True, False])
def test_ranks_follow_from_who_is_surely_better(higher):
    cell = board(1)
    found = family(cell, higher=higher)
    gap = np.subtract.outer(cell.values, cell.values) * (1 if higher else -1)
    assert (gap[found.better] > 0).all()
    for m in range(6):
        assert found.ranks[m, 0] == 1 + sum(found.better[k, m] for k in range(6))
        assert found.ranks[m, 1] == 6 - sum(found.better[m, k] for k in range(6))
    own = (-cell.values if higher else cell.values).argsort().argsort() + 1
    assert (found.ranks[:, 0] <= own).all() and (own <= found.ranks[:, 1]).all()
    assert found.best[own == 1].all() and not found.best.all()


def test_the_order_of_models_does_not_matter():
    cell, turn = board(1), np.array([3, 0, 5, 1, 4, 2])
    other = replace(
        cell,
        values=cell.values[turn],
        **{
            name: getattr(cell, name)[np.ix_(turn, turn)]
            for name in ("items", "annotators", "cells", "draws", "df_items")
        },
    )
    first, second = family(cell), family(other)
    assert_allclose(second.p, first.p[np.ix_(turn, turn)], atol=1e-9)
    assert (second.better == first.better[np.ix_(turn, turn)]).all()
    assert (second.ranks == first.ranks[turn]).all()


def test_adjusting_never_makes_a_pair_surer():
    cell = board(2)
    found = family(cell)
    for a, b in combinations(range(6), 2):
        alone = cell.between(a, b).p_value(float(cell.values[a] - cell.values[b]))
        assert found.p[a, b] >= alone


def test_the_same_model_twice_is_never_apart():
    cell = board(1, models=3)
    twin = np.array([0, 1, 2, 0])
    parts_of = ("items", "annotators", "cells", "draws", "df_items")
    again = replace(
        cell,
        values=cell.values[twin],
        **{name: getattr(cell, name)[np.ix_(twin, twin)] for name in parts_of},
    )
    found = family(again)
    assert found.p[0, 3] == 1.0 and not found.better[0, 3] and not found.better[3, 0]


# ---- whom it speaks for --------------------------------------------------------------------


def test_one_annotator_speaks_for_items_and_votes_like_these():
    annotations, models = study(complete(30, 1), 30)
    found = run(annotations, models, "accuracy")
    whom = found.population
    assert whom.items and not whom.annotators and whom.decides
    assert whom.reason is Reason.ALONE
    cell = found.two_way("accuracy")
    assert_allclose(cell.of(0).variance, cell.items[0, 0])


def test_two_annotators_give_no_verdict():
    annotations, models = study(complete(60, 2), 60)
    found = run(annotations, models, "accuracy")
    assert found.population.reason is Reason.TOO_FEW and not found.population.decides
    assert not found.family("accuracy").better.any()
    assert (found.family("accuracy").ranks == [1, 3]).all()
    cell = found.two_way("accuracy")
    assert_allclose(cell.of(0).variance, cell.items[0, 0])


def test_anonymous_votes_are_items_that_bring_their_votes_along():
    counts = np.array([[i % 4, 3 - i % 4] for i in range(40)])
    annotations = Annotations.from_counts(counts)
    values = np.random.default_rng(0).dirichlet(np.ones(2), 40)
    models = [Predictions("m0", annotations.items, values, annotations.classes)]
    found = run(annotations, models, "accuracy")
    assert found.population.reason is Reason.ANONYMOUS
    shares = counts / 3
    hit = shares[np.arange(40), values.argmax(axis=1)]
    cell = found.two_way("accuracy")
    assert_allclose(cell.of(0).variance, hit.var(ddof=1) / 40)


def test_single_votes_tell_nothing_about_annotators():
    votes = [(i, i % 4, label) for i, _, label in complete(40, 1)]
    annotations, models = study(votes, 40)
    found = run(annotations, models, "accuracy")
    assert found.population.reason is Reason.SINGLE
    assert found.two_way("accuracy").df_annotators == 0


def test_gold_is_nobodys_opinion():
    votes = [(i, 0, int(i % 3 == 0)) for i in range(40)]
    annotations, models = study(votes, 40, gold=range(40), people=3)
    found = run(annotations, models, "accuracy")
    assert found.population.reason is Reason.GOLD
    hit = (models[0].values > 0.5) == (np.arange(40) % 3 == 0)
    assert_allclose(found.two_way("accuracy").of(0).variance, hit.var(ddof=1) / 40)


def test_gold_items_among_voted_ones_have_no_annotators():
    votes = complete(40, 5)
    extra = [(40 + i, 0, i % 2) for i in range(20)]
    gold = range(len(votes), len(votes) + 20)
    annotations, models = study(votes + extra, 60, gold=gold)
    cell = run(annotations, models, "accuracy").two_way("accuracy")
    table = hits(votes, models[0], 60, 5)[:40]
    leaning = (table.mean(axis=0) - table.mean()) * 40 / 5 / 60
    assert_allclose(cell.df_annotators, 4)
    assert_allclose(
        cell.annotators[0, 0] / cell.cells[0, 0],
        (leaning**2).sum() / (((table - table.mean(axis=1)[:, None]) / 5 / 60) ** 2).sum(),
    )


def test_an_annotator_with_one_vote_changes_little():
    votes = complete(60, 5, seed=2)
    annotations, models = study(votes, 60)
    more, _ = study([*votes, (0, 5, 1)], 60)
    before = run(annotations, models, "accuracy").two_way("accuracy")
    after = run(more, models, "accuracy").two_way("accuracy")
    assert_allclose(before.of(0).standard_error, after.of(0).standard_error, rtol=0.05)
    assert_allclose(before.df_annotators, after.df_annotators, rtol=0.1)


def test_groups_of_one_item_are_items():
    votes = complete(30, 4)
    plain, models = study(votes, 30)
    grouped, _ = study(votes, 30, unit=list(range(30)))
    one, other = (run(x, models, "auroc").two_way("auroc") for x in (plain, grouped))
    for name in ("items", "annotators", "cells", "df_items"):
        assert_allclose(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("right", [True, False])
def test_a_share_at_its_bound_has_the_exact_interval(right):
    votes = [(i, r, i % 2) for i in range(30) for r in range(5)]
    annotations, _ = study(votes, 30)
    sure = np.array([0.9 if (i % 2) == right else 0.1 for i in range(30)])
    models = [Predictions("m0", annotations.items, sure)]
    estimate = run(annotations, models, "accuracy").estimate("m0", "accuracy")
    assert estimate.value == float(right)
    assert_allclose(estimate.standard_error, 1 / 31)
    low, high = estimate.interval()
    assert_allclose(high if not right else 1 - low, 1 - 0.025 ** (1 / 30))
    assert (low, high) == ((low, 1.0) if right else (0.0, high))


def test_fixed_annotators_leave_items_and_fixed_items_leave_annotators():
    votes = complete(40, 5)
    annotations, models = study(votes, 40)
    both = run(annotations, models, "accuracy").two_way("accuracy")
    items = run(annotations, models, "accuracy", annotators="fixed")
    people = run(annotations, models, "accuracy", items="fixed")
    assert items.population.reason is Reason.FIXED
    assert_allclose(items.two_way("accuracy").of(0).variance, both.items[0, 0])
    table = hits(votes, models[0], 40, 5)
    assert_allclose(
        people.two_way("accuracy").of(0).variance,
        table.mean(axis=0).var(ddof=1) / 5 * 40 / 39,
    )
    with pytest.raises(InputError):
        Settings(items="fixed", annotators="fixed")


# ---- several tasks -------------------------------------------------------------------------


@pytest.mark.parametrize("label", ["hard", "soft"])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_average_over_tasks_has_cells_that_span_them(grouped, label):
    items, people = 24, 5
    every = [thinned(complete(items, people, seed=s), seed=s) for s in range(2)]
    unit = [i % 20 for i in range(items)] if grouped else list(range(items))
    rows = [(i, r, c, t) for t, votes in enumerate(every) for i, r, c in votes]
    item, who, label_, task = (np.array(x) for x in zip(*rows, strict=True))
    random, names = np.random.default_rng(9), tuple(f"i{i:03d}" for i in range(items))
    annotations = Annotations(
        kind="binary", items=names, classes=("no", "yes"), tasks=("u", "v"), item=item,
        annotator=who, label=label_, task=task, annotators=tuple("abcde"),
        groups=tuple("abcdefghijklmnopqrst") if grouped else None,
        group=np.array(unit) if grouped else None,
    )  # fmt: skip
    models = [
        Predictions(f"m{k}", names, random.random(items), task=t)
        for t in ("u", "v")
        for k in range(2)
    ]
    found = run(annotations, models, "auroc")
    cell = found.two_way("auroc", labels=label)
    by_unit, moved, factors = 0.0, [], []
    for t, votes in enumerate(every):
        own = [parts(found.questions[t], named("auroc"), m, label) for m in models[2 * t :][:2]]
        by_unit = by_unit + np.stack([np.bincount(unit, g) for g, _ in own]) / 2
        move = slow.soft_moves if label == "soft" else slow.hard_moves
        labels = labels_expected(found.questions[t], models[2 * t :][:2], 2)
        moves = [move(votes, 2, h, labels) for _, h in own]
        moved.append(np.stack(moves) / 2)
        factors.append(slow.design([(i, r) for i, r, _ in votes], unit))
    sums = slow.sums(every[0] + every[1], unit, np.concatenate(moved, axis=1))
    f = np.mean([one["annotator"] for one in factors])
    assert_allclose(cell.values, found.values[:2, 0, ("hard", "soft").index(label)].mean(0))
    assert_allclose(cell.items, factors[0]["unit"] * by_unit @ by_unit.T)
    assert_allclose(cell.annotators, f * sums[0])
    assert_allclose(cell.cells, f * sums[1])
    assert_allclose(cell.df_annotators, min(one["df_annotators"] for one in factors))


def test_a_crowd_is_left_out_in_groups_whatever_its_order():
    random = np.random.default_rng(0)
    size, people = 300, 90
    names = tuple(f"item-{i}" for i in range(size))
    item = np.repeat(np.arange(size), 5)
    who = np.concatenate([random.choice(people, 5, replace=False) for _ in range(size)])
    evidence, leaning = random.standard_normal(size), 0.5 * random.standard_normal(people)
    label = (evidence[item] + leaning[who] + random.normal(0, 0.8, len(item)) > 0.3).astype(int)
    score = Predictions("net", names, evidence + random.normal(0, 0.7, size))
    slow = dataclasses.replace(named("auroc"), name="slow", influence=None, family="slow")
    found = []
    for code in (who, random.permutation(people)[who]):
        votes = Annotations(
            kind="binary", items=names, classes=("no", "yes"), item=item, annotator=code,
            annotators=tuple(f"reader-{r}" for r in range(people)), label=label,
        )  # fmt: skip
        done = evaluate(score, votes, metrics=["auroc", slow], resampling="influence")
        found.append([done.estimate("net", one).standard_error for one in ("auroc", "slow")])
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[0][1] == pytest.approx(found[0][0], rel=0.25)


def test_degrees_of_freedom_of_items_are_those_of_every_pair_by_itself():
    """Kurtosis of the influences: 2 n / excess, at most those of the design, pair by pair."""
    rng = np.random.default_rng(0)
    influence = rng.standard_t(3, size=(4, 60))
    influence[3] = influence[0]
    unit = np.arange(60)
    design = unit_design(unit)
    cell = two_way(np.arange(4.0), influence, unit, design=design, population=Population())
    for a in range(4):
        for b in range(4):
            gap = influence[a] if a == b else influence[a] - influence[b]
            total = (gap**2).sum()
            expected = design.df_units
            if total > 0:
                excess = 60 * (gap**4).sum() / total**2 - 1
                expected = min(design.df_units, max(2 * 60 / excess, 1.0))
            assert cell.df_items[a, b] == pytest.approx(expected)


@pytest.mark.parametrize("items", [100, 1000])
def test_the_far_end_close_to_a_bound_is_that_of_an_exact_interval(items):
    from scipy.stats import beta

    value = 1 - 1 / items
    spread = Spread(value * (1 - value) / items, df_items=items - 1)
    low, high = spread.interval(value, bounds=(0.0, 1.0))
    assert low == pytest.approx(beta.ppf(0.025, items - 1, 2), abs=0.3 / items)
    assert value < high < 1
    mirrored = spread.interval(1 - value, bounds=(0.0, 1.0))
    assert mirrored == pytest.approx((1 - high, 1 - low))
    wide = Spread(0.11**2, df_items=20).interval(0.9975, bounds=(0.0, 1.0))
    assert 0.4 < wide[0] < 0.9975 - 0.22
