"""Every side of a study in combination with the others, against the definitions.

Tasks, votes or draws of possible truths, names or none, groups, level, direction of the metric
and who is a sample: a bug in one side often shows only in company of another.
"""

import math
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from equipoise import Annotations, Plausibilities, Predictions, evaluate, resample
from equipoise.metrics import named
from equipoise.metrics.draws import conditioned
from equipoise.study.study import Settings
from equipoise.types import Grouping
from tests.oracles import combinations as oracle

ITEMS, MODELS, MARGIN = 30, ("ash", "birch", "cedar"), 0.03
LEVELS = (0.8, 0.95, 0.99)
METRICS = ("auroc", "brier_score", "normalised_expected_cost")
TRUTHS = ("many", "few", "strangers", "draws")
GROUPS = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6, 7, 7, 8, 8] + [9, 10] * 5)
BOTH = (True, True)


@cache
def world(truth, tasks, grouped):
    """Tasks for the definitions: items, models, and votes or draws."""
    random = np.random.default_rng([TRUTHS.index(truth), tasks])
    latent = random.normal(size=ITEMS)
    made = []
    for t in range(tasks):
        items = np.setdiff1d(np.arange(ITEMS), (2, 5, 8, 20) if t and grouped else ())
        z = latent[items]
        noise = np.array([1.5, 1.8, 3.0])[:, None] * random.normal(size=(3, len(items)))
        task = {"items": items.tolist(), "models": 1 / (1 + np.exp(-(1.5 * z + noise) + 0.3))}
        if truth == "draws":
            level = z + 0.8 * random.normal(size=(40 + 20 * t, len(items)))
            task["draws"] = 1 / (1 + np.exp(-3 * level + 0.5 + t * level[:, :1]))
        else:
            people = 3 if truth == "few" else 8
            lean = np.random.default_rng(5).normal(0.2, 0.6, people)
            task["votes"] = [
                (item, int(who), int(z[place] + lean[who] + random.normal() > 0.2))
                for place, item in enumerate(items.tolist())
                for who in sorted(random.permutation(people)[: 3 if people == 3 else 5 - t])
            ]
        made.append(task)
    return made


def inputs(truth, tasks, *, grouped):
    """The same as the product takes it: models, truth and plan."""
    made, names = world(truth, tasks, grouped), [f"i{i:02d}" for i in range(ITEMS)]
    words = "ab"[:tasks]
    models = [
        Predictions(name, tuple(names[i] for i in task["items"]), task["models"][m], task=word)
        for m, name in enumerate(MODELS)
        for word, task in zip(words, made, strict=True)
    ]
    if truth == "draws":
        fits = [
            replace(
                Plausibilities.dense(
                    np.stack([1 - task["draws"], task["draws"]], axis=2),
                    items=tuple(names[i] for i in task["items"]),
                    classes=("no", "yes"),
                    method="by hand",
                ),
                task=word,
            )
            for word, task in zip(words, made, strict=True)
        ]
        group = GROUPS if grouped else None
        return models, fits, resample(fits[0], "influence", replicates=400, group=group)
    rows = [(i, who, yes, t) for t, task in enumerate(made) for i, who, yes in task["votes"]]
    item, who, label, task = np.array(rows).T
    people = 1 + int(who.max())
    more = {"group": GROUPS, "groups": tuple(f"g{g:02d}" for g in range(11))} if grouped else {}
    if truth != "strangers":
        more |= {"annotator": who, "annotators": tuple(f"r{r}" for r in range(people))}
    votes = Annotations(
        kind="binary", items=tuple(names), classes=("no", "yes"), tasks=tuple(words),
        item=item, label=label, task=task, **more,
    )  # fmt: skip
    return models, votes, resample(votes, "influence", replicates=400)


@cache
def done(truth, tasks, grouped, level, items="random", annotators="random"):
    """The evaluation of the product."""
    models, votes, plan = inputs(truth, tasks, grouped=grouped)
    how = Settings(level=level, margin=MARGIN, items=items, annotators=annotators)
    return evaluate(models, votes, metrics=METRICS, resampling=plan, settings=how)


def whom(truth, items="random", annotators="random"):
    """Whether items and annotators are samples."""
    return items == "random", annotators == "random" and truth in ("many", "few")


@cache
def by_definition(truth, tasks, grouped, place, metric, labels):
    """Values of all models in a task, or in the average, and the parts of their covariance."""
    made = world(truth, tasks, grouped)
    chosen = made if place == "macro" else [made["ab".index(place)]]
    unit = GROUPS if grouped else np.arange(ITEMS)
    values = np.mean(
        [[oracle.value(t, metric, labels, m) for m in range(3)] for t in chosen], axis=0
    )
    named = truth != "strangers"
    return values, oracle.parts(chosen, metric, labels, unit, named=named)


def same_rows(study, combination, people):
    """Values, errors, intervals, ranks and differences of a study are those of its parts."""
    truth, tasks, grouped, level = combination
    places = [*"ab"[:tasks], *(["macro"] if tasks > 1 else [])]
    assert study.tasks[:tasks] == tuple("ab"[:tasks]) and len(study.tasks) == len(places)
    table = {(r.task, r.metric, r.labels, r.model): r for r in study.table()}
    for (number, place), metric, labels in product(
        enumerate(places), METRICS, ("hard", "soft")
    ):
        values, found = by_definition(truth, tasks, grouped, place, metric, labels)
        _, higher, bounds = oracle.METRICS[metric]
        rows = [table[study.tasks[number], metric, labels, model] for model in MODELS]
        df = found["df_annotators"]
        for m, row in enumerate(rows):
            of = oracle.spread(found, np.eye(3)[m], people)
            close(row.value, values[m], 1e-12)
            close(row.standard_error, math.sqrt(oracle.variance(of)), 1e-6)
            half = oracle.half_width(of, df, level)
            ends = oracle.interval(values[m], half, bounds)
            same_ends((row.low, row.high), ends, half)
        gaps = study.differences(metric, labels=labels, task=study.tasks[number])
        critical = study.family(metric, labels=labels, task=study.tasks[number]).critical
        same_gaps(gaps, values, found, people, (level, higher, bounds, critical))
        same_ranks(rows, gaps, level, higher=higher)
        if labels == "soft":
            best = study.to_best(metric, task=study.tasks[number])[0].a
            assert best == MODELS[int(np.argmax(values if higher else -values))]
        cov = oracle.covariance(found, people)
        for gap in gaps:
            a, b = MODELS.index(gap.a), MODELS.index(gap.b)
            c = np.eye(3)[a] - np.eye(3)[b]
            lead = (values[a] - values[b]) * (1 if higher else -1)
            assert abs(gap.p_better - norm.cdf(lead / math.sqrt(c @ cov @ c))) < 0.08


def same_gaps(gaps, values, found, people, question):
    """Differences, their errors, intervals, p-values and verdicts on the margin."""
    level, higher, bounds, critical = question
    df, far = found["df_annotators"], bounds[1] - bounds[0]
    for gap in gaps:
        a, b = MODELS.index(gap.a), MODELS.index(gap.b)
        of = oracle.spread(found, np.eye(3)[a] - np.eye(3)[b], people)
        apart = values[a] - values[b]
        close(gap.value, apart, 1e-11)
        close(gap.standard_error, math.sqrt(oracle.variance(of)), 1e-6)
        half = oracle.half_width(of, df, level)
        ends = oracle.interval(apart, half, (-far, far))
        same_ends((gap.low, gap.high), ends, half)
        close(gap.p, oracle.tails(abs(apart), of, df), 1e-4)
        reach = critical * math.sqrt(oracle.variance(of))
        for sign, verdict in ((1, gap.judgement), (-1, gap.reverse)):
            lead = apart * sign * (1 if higher else -1)
            assert verdict == judged(lead, reach, apart=gap.separated)


def judged(lead, reach, *, apart):
    """What a lead says about the margin, all pairs at once, so far as its interval reaches."""
    if apart and lead > 0:
        return "superior"
    if lead - reach > -MARGIN:
        return "equivalent" if lead + reach < MARGIN else "non-inferior"
    return "inferior" if lead + reach < -MARGIN else "undecided"


def same_ranks(rows, gaps, level, *, higher):
    """Ranks follow from the adjusted p-values, the level and the direction alone."""
    beaten, beats = dict.fromkeys(MODELS, 0), dict.fromkeys(MODELS, 0)
    for gap in gaps:
        assert gap.p_adjusted >= gap.p - 1e-12
        sure = gap.p_adjusted < 1 - level and gap.value != 0
        assert gap.separated is sure
        if sure:
            first, second = (gap.a, gap.b) if (gap.value > 0) is higher else (gap.b, gap.a)
            beats[first] += 1
            beaten[second] += 1
    good = [round(row.value if higher else -row.value, 12) for row in rows]
    for row in rows:
        assert (row.rank_low, row.rank_high) == (1 + beaten[row.model], 3 - beats[row.model])
        mine = round(row.value if higher else -row.value, 12)
        assert row.rank == sum(other > mine for other in good) + (1 + good.count(mine)) / 2


def same_ends(found, expected, half):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * half)


def close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * 1e-2)


GRID = [
    (truth, tasks, grouped, level)
    for level, truth, tasks, grouped in product(LEVELS, TRUTHS, (1, 2), (False, True))
]


@pytest.mark.parametrize(("truth", "tasks", "grouped", "level"), GRID)
def test_numbers_are_those_of_the_definitions(truth, tasks, grouped, level):
    combination = (truth, tasks, grouped, level)
    same_rows(done(*combination), combination, whom(truth))


@pytest.mark.parametrize(
    ("truth", "tasks"), [case for case in product(TRUTHS, (1, 2)) if case != ("few", 2)]
)
@pytest.mark.parametrize("fixed", [("fixed", "random"), ("random", "fixed")])
def test_what_is_fixed_does_not_count(truth, fixed, tasks):
    combination = (truth, tasks, False, 0.8)
    same_rows(done(*combination, *fixed), combination, whom(truth, *fixed))


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("metric", METRICS[:2])
def test_all_pairs_at_once(truth, tasks, metric):
    place = "macro" if tasks > 1 else "a"
    grouped = True
    values, found = by_definition(truth, tasks, grouped, place, metric, "soft")
    p, largest = oracle.family(found, values, whom(truth))
    for level in LEVELS:
        study = done(truth, tasks, grouped, level)
        family = study.family(metric)
        for (a, b), expected in p.items():
            assert abs(family.p[a, b] - expected) < 0.015
        assert family.critical == pytest.approx(np.quantile(largest, level), rel=0.1)


@pytest.mark.parametrize("truth", TRUTHS)
def test_pairs_of_all_tasks_are_one_family(truth):
    grouped = True
    study = done(truth, 2, grouped, 0.95)
    for task, metric in product("ab", METRICS[:2]):
        values, found = by_definition(truth, 2, grouped, task, metric, "soft")
        p, largest = oracle.family(found, values, whom(truth))
        family = study.family(metric, task=study.tasks["ab".index(task)])
        for (a, b), alone in p.items():
            assert abs(family.p[a, b] - (1 - (1 - alone) ** 2)) < 0.02
        assert family.critical == pytest.approx(np.quantile(largest, 0.95**0.5), rel=0.15)


# ---- what did not vary, draws, jackknives, infinite values ---------------------------------
def yes_no(label, *, annotators=5, tasks=1, **more):
    """Annotations in which everybody says the same."""
    n = len(label)
    rows = [(i, a, t) for t in range(tasks) for i in range(n) for a in range(annotators)]
    item, who, task = np.array(rows).T
    return Annotations(
        kind="binary", items=tuple(f"i{i:02d}" for i in range(n)), classes=("no", "yes"),
        tasks=tuple("ab"[:tasks]), item=item, label=np.asarray(label)[item], task=task,
        annotator=who, annotators=tuple(f"r{a}" for a in range(annotators)), **more,
    )  # fmt: skip


@pytest.mark.parametrize("positives", [4, 16])
def test_a_perfect_value_rests_on_the_rarer_class(positives):
    label = np.arange(20) < positives
    votes = yes_no(label.astype(int))
    perfect = Predictions("perfect", votes.items, label + 0.01 * np.arange(20), task="a")
    study = evaluate(perfect, votes, metrics=["auroc"], resampling="influence")
    for labels in ("hard", "soft"):
        error = study.estimate("perfect", "auroc", labels=labels).standard_error
        assert error == pytest.approx(1 / (4 + 1))


def test_hard_and_soft_labels_have_floors_of_their_own():
    """A sixth of the votes on each negative is yes: 4 positives by majority, 6 2/3 by votes."""
    yes = np.arange(20) < 4
    item, who = np.repeat(np.arange(20), 6), np.tile(np.arange(6), 20)
    votes = Annotations(
        kind="binary", items=tuple(f"i{i:02d}" for i in range(20)), classes=("no", "yes"),
        item=item, annotator=who, annotators=tuple("abcdef"),
        label=np.where(yes[item], 1, (who == item % 6).astype(int)),
    )  # fmt: skip
    perfect = Predictions("perfect", votes.items, 1.0 * yes)
    study = evaluate(perfect, votes, metrics=["auroc"], resampling="influence")
    assert study.two_way("auroc", labels="hard").floor == pytest.approx(1 / 5)
    assert study.two_way("auroc", labels="soft").floor == pytest.approx(1 / (4 + 16 / 6 + 1))


def test_an_average_rests_on_its_rarest_task():
    label = np.arange(20) < 8
    votes = yes_no(label.astype(int), tasks=2)
    second = (votes.task == 1) & (votes.item >= 3)
    votes = replace(votes, label=np.where(second, 0, votes.label))
    models = [
        Predictions("perfect", votes.items, 1.0 * (np.arange(20) < many), task=task)
        for task, many in (("a", 8), ("b", 3))
    ]
    study = evaluate(models, votes, metrics=["auroc"], resampling="influence")
    assert study.two_way("auroc").floor == pytest.approx(1 / 4)
    assert study.two_way("auroc", task="a").floor == pytest.approx(1 / 9)


def test_an_item_counts_once_in_an_average_however_many_tasks_it_has():
    """Sizes of many groups decide the factor; the second task has large groups alone."""
    group = np.repeat(np.arange(24), [1] * 12 + [5] * 12)
    random, names = np.random.default_rng(8), tuple(f"g{g:02d}" for g in range(24))
    label = random.integers(0, 2, 72)
    votes = yes_no(label, tasks=2, group=group, groups=names)
    votes = votes.rows((votes.task == 0) | (votes.item >= 30))
    models, moved = [], np.zeros(24)
    for task, first in (("a", 0), ("b", 30)):
        hit = random.random(72 - first) < 0.7
        score = np.where(hit, label[first:], 1 - label[first:]).astype(float)
        models.append(Predictions("model", votes.items[first:], score, task=task))
        moved += np.bincount(group[first:], (hit - hit.mean()) / len(hit) / 2, 24)
    study = evaluate(models, votes, metrics=["accuracy"], resampling="influence")
    factor, _ = oracle.unit_factor(np.bincount(group))
    assert study.two_way("accuracy").items[0, 0] == pytest.approx(factor * moved @ moved)


@pytest.mark.parametrize("grouped", [False, True])
def test_metrics_without_derivatives_leave_units_out(grouped):
    """Jackknife by hand of a calibration error: items of values, tasks and their average."""
    name = "expected_calibration_error:bins=4:binning=mass"
    models, votes, plan = inputs("strangers", 2, grouped=grouped)
    study = evaluate(models, votes, metrics=[name], resampling=plan)
    made = world("strangers", 2, grouped)
    unit = GROUPS if grouped else np.arange(ITEMS)
    places = [[0], [1], [0, 1]]
    for place, (tasks, got) in enumerate(zip(places, study.cells, strict=True)):
        sums = np.zeros((3, unit.max() + 1))
        for t in tasks:
            task, p = made[t], oracle.shares(made[t])
            own = unit[task["items"]]
            for m, score in enumerate(task["models"]):
                whole, moved = binned(p, score), np.zeros(unit.max() + 1)
                share = np.bincount(own, minlength=len(moved)) / len(own)
                for u in np.unique(own):
                    moved[u] = (1 - share[u]) * (whole - binned(p, score, own != u))
                sums[m] += (moved - share * moved.sum()) / len(tasks)
        sizes = np.sum([np.bincount(unit[made[t]["items"]]) for t in tasks], axis=0)
        e, _ = oracle.unit_factor(sizes)
        if grouped:
            chosen = [made[t] for t in tasks]
            _, mass = oracle.leverage(chosen, "items", "hard", unit)
            e, sums = 1.0, sums * oracle.few_units(mass)[0]
        assert place < len(study.tasks)
        close(got[0][1].items, e * sums @ sums.T, 1e-9)


def binned(share, score, use=slice(None)):
    """Mean gap of four equally full bins of the chance of each class in turn."""
    return (one_class(share, score, use) + one_class(1 - share, 1 - score, use)) / 2


def one_class(share, score, use):
    """The same of one class; all items make the cuts."""
    ranked, n = np.sort(score), len(score)
    cuts = [ranked[math.ceil(b * n / 4) - 1] for b in (1, 2, 3)]
    code = np.array([sum(s > cut for cut in cuts) for s in score])[use]
    gaps = [abs((share[use] - score[use])[code == b].sum()) for b in range(4)]
    return sum(gaps) / len(code)


@pytest.mark.parametrize("group", [None, GROUPS], ids=["alone", "grouped"])
def test_metrics_of_draws_average_over_tasks(group):
    """Top-1 accuracy: units, and the spread over draws of the average of both tasks."""
    models, fits, _ = inputs("draws", 2, grouped=False)
    wide = [
        replace(m, values=np.stack([1 - m.values, m.values], 1), classes=("no", "yes"))
        for m in models
    ]
    fits = [replace(f, mass=f.mass[:40], rest=f.rest[:40]) for f in fits]
    plan = resample(fits[0], "influence", group=group)
    study = evaluate(wide, fits, metrics=["topk_accuracy"], resampling=plan)
    unit = np.arange(ITEMS) if group is None else group
    factor = oracle.unit_factor(np.bincount(unit))[0]
    hits = []
    for task in world("draws", 2, grouped=False):
        yes = task["draws"][:40] > 0.5
        hits.append([(yes == (score > 0.5)).astype(float) for score in task["models"]])
    hits = np.array(hits)  # tasks, models, draws, items
    for place, tasks in enumerate([[0], [1], [0, 1]]):
        cell = study.cells[place][0][1]
        of_draws = hits[tasks].mean(axis=(0, 3))
        close(cell.draws, np.cov(of_draws), 1e-9)
        of_items = hits[tasks].mean(axis=(0, 2))
        moved = (of_items - of_items.mean(axis=1, keepdims=True)) / ITEMS
        sums = np.stack([np.bincount(unit, of_model) for of_model in moved])
        close(cell.items, factor * sums @ sums.T, 1e-9)


def test_uneven_units_are_centred_by_their_size_where_a_metric_of_draws_is_a_ratio():
    """Top-1 accuracy where the most plausible class is yes: hits over chances, by units."""
    models, fits, _ = inputs("draws", 1, grouped=False)
    wide = [
        replace(m, values=np.stack([1 - m.values, m.values], 1), classes=("no", "yes"))
        for m in models
    ]
    kind = Grouping.of({"no": "well", "yes": "ill"}, name="kind")
    ill = conditioned(named("topk_accuracy"), kind, "ill")
    plan = resample(fits[0], "influence", group=GROUPS)
    study = evaluate(wide, fits, metrics=[ill], resampling=plan)
    (task,) = world("draws", 1, grouped=False)
    chance = (task["draws"] > 0.5).mean(axis=0)
    size = np.bincount(GROUPS)
    sums = []
    for score in task["models"]:
        hit = chance * (score > 0.5)
        left = [hit[g != GROUPS].sum() / chance[g != GROUPS].sum() for g in range(len(size))]
        moved = (1 - size / ITEMS) * (hit.sum() / chance.sum() - np.array(left))
        sums.append(moved - size / ITEMS * moved.sum())
    sums = np.array(sums)
    expected = oracle.unit_factor(size)[0] * sums @ sums.T
    close(study.cells[0][0][1].items, expected, 1e-9)


def test_a_model_without_a_value_takes_nobodys_rank():
    models, votes, plan = inputs("many", 1, grouped=False)
    sure = replace(models[2], values=np.where(models[2].values > 0.5, 1.0, 0.0))
    study = evaluate([*models[:2], sure], votes, metrics=["log_score"], resampling=plan)
    ranks = study.family("log_score").ranks
    assert math.isinf(study.values[0, 0, 1, 2]) and ranks[2].tolist() == [0, 0]
    assert ranks[:2].max() <= 2


@pytest.mark.parametrize("threshold", [0.25, 0.5])
def test_acting_begins_at_the_threshold_itself(threshold):
    from equipoise.metrics import net_benefit

    labels, chance = np.array([1.0, 0.6, 0.0, 0.2]), np.array([0.5, 0.25, 0.5, 0.1])
    expected = oracle.net_benefit(np.ones(4), labels, chance, threshold)
    assert net_benefit(labels, chance, threshold=threshold) == pytest.approx(expected)


def test_a_weighted_average_moves_with_the_mass_of_its_classes():
    from equipoise.metrics import named
    from equipoise.study.uncertainty import influence_of

    random = np.random.default_rng(4)
    shares, scores = random.dirichlet(np.ones(3), 12), random.random((12, 3))
    metric = named("auroc:average=weighted")

    def value(weight):
        each = [oracle.auroc(weight, shares[:, k], scores[:, k]) for k in range(3)]
        return np.average(each, weights=weight @ shares)

    got = influence_of(metric, metric.prepare(scores), np.ascontiguousarray(shares.T))
    steps = 1e-5 * np.eye(12)
    slopes = [(value(1 + s) - value(1 - s)) / 2e-5 for s in steps]
    close(got.value, value(np.ones(12)), 1e-12)
    np.testing.assert_allclose(got.items, slopes, atol=1e-8)
