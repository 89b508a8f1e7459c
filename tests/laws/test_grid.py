"""Every number that a user can see, over a grid of studies, against slow twins.

A cell of the grid combines where the truth is from (votes of many or few people, of two, of
strangers, single votes among others, a rare class, a reference standard, draws of a model),
one task or two, two classes or three, groups of items (none, few and uneven, many and uneven),
groups of annotators, what is fixed, the level, and models that are alike or perfect.
"""

import math
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from equipoise import Annotations, Plausibilities, Predictions, evaluate, resample
from equipoise.inference.spread import Reason
from equipoise.scale import disk
from equipoise.scale.disk import coded
from equipoise.study.questions import ask
from equipoise.study.study import Settings
from tests.oracles import combinations as basic
from tests.oracles import grid as twin
from tests.scale.test_disk import cut

ITEMS, NAMES = 26, ("ash", "birch", "cedar")
LEANS = np.array([0.5, -0.4, 0.3, 0.0, -0.2, 0.6, -0.5, 0.1])
SCHOOL = np.array([0, 0, 1, 2, 2, 3, 4, 5])
FEW = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5, 5, 6] + [7, 8] * 5)
MANY = np.array([*range(18), 18, 18, 19, 19, 20, 20, 21, 21])  # 22 units, uneven
UNITS = {"none": np.arange(ITEMS), "few": FEW, "many": MANY}
BINARY = (
    ("auroc", "brier_score", "accuracy", "ppv"),
    ("average_precision", "sensitivity", "cohen_kappa", "log_score"),
    ("balanced_accuracy", "net_benefit", "specificity", "mcc"),
    ("auroc", "npv", "f1", "normalised_expected_cost"),
)
SEVERAL = (
    ("auroc", "ranked_probability_score", "accuracy", "f1"),
    ("auroc:average=weighted", "quadratic_weighted_kappa", "mcc", "log_score"),
    ("average_precision", "sensitivity:positive=c2", "balanced_accuracy", "brier_score"),
    ("mean_absolute_error", "ppv:positive=c0", "cohen_kappa", "f1:average=weighted"),
    ("auroc", "log_score", "normalised_expected_cost", "accuracy"),  # grades without an order
)


class Cell(NamedTuple):
    """One study, and how it is evaluated."""

    truth: str = "many"
    classes: int = 2
    tasks: int = 1
    units: str = "none"
    schools: bool = False
    level: float = 0.95
    fixed: str = ""
    metrics: int = 0
    margin: float | None = 0.03
    models: int = 3

    @property
    def names(self):
        return (BINARY if self.classes == 2 else SEVERAL)[self.metrics]

    @property
    def whom(self):
        """Whether items and annotators are samples, as far as they can be."""
        people = (
            self.truth in ("many", "few", "single", "rare", "common")
            and self.fixed != "annotators"
        )
        return self.fixed != "items", people


def name_of(cell):
    usual = Cell()
    return "-".join(str(x) for x, y in zip(cell, usual, strict=True) if x != y) or "usual"


GRID = (
    Cell(),
    Cell(level=0.8, metrics=1),
    Cell(level=0.99, metrics=2, units="few"),
    Cell(level=0.9, metrics=3, units="many"),
    Cell(tasks=2, units="few", level=0.9),
    Cell(tasks=2, metrics=1, level=0.99, fixed="annotators"),
    Cell(tasks=2, metrics=3, units="many", level=0.8, margin=None),
    Cell(schools=True, level=0.9, units="few"),
    Cell(schools=True, metrics=1, tasks=2, level=0.99),
    Cell(fixed="items", level=0.8, metrics=2),
    Cell("few", level=0.8),
    Cell("few", metrics=1, units="few", level=0.99),
    Cell("few", metrics=3, tasks=2, level=0.9, units="many"),
    Cell("few", metrics=2, fixed="items", level=0.9),
    Cell("two", level=0.9, metrics=1),
    Cell("two", level=0.99, units="few", tasks=2),
    Cell("strangers", level=0.9, metrics=0),
    Cell("strangers", level=0.99, metrics=1, tasks=2, units="many"),
    Cell("strangers", level=0.8, metrics=3, fixed="items", tasks=2),
    Cell("strangers", classes=3, level=0.9, metrics=2, units="few"),
    Cell("single", level=0.9, metrics=3),
    Cell("single", level=0.99, metrics=0, tasks=2, units="few"),
    Cell("single", classes=3, level=0.8, metrics=1),
    Cell("rare", level=0.9, metrics=0),
    Cell("rare", level=0.99, metrics=1, units="many"),
    Cell("rare", level=0.8, metrics=3, schools=True),
    Cell("common", level=0.9, metrics=0),
    Cell("gold", level=0.9, metrics=0),
    Cell("gold", level=0.99, metrics=1, units="few"),
    Cell("gold", level=0.8, metrics=3, tasks=2, units="many"),
    Cell("gold", classes=3, level=0.9, metrics=2),
    Cell("draws", level=0.9, metrics=0, units="few"),
    Cell("draws", level=0.99, metrics=1),
    Cell("draws", level=0.8, metrics=2, tasks=2),
    Cell("draws", level=0.9, metrics=3, tasks=2, units="many"),
    Cell("draws", classes=3, level=0.9, metrics=4, tasks=2, units="few"),
    Cell("draws", classes=3, level=0.8, metrics=2, fixed="items"),
    Cell(classes=3, level=0.9, metrics=0),
    Cell(classes=3, level=0.99, metrics=1, units="few", tasks=2),
    Cell(classes=3, level=0.8, metrics=2, schools=True),
    Cell(classes=3, level=0.9, metrics=3, units="many"),
    Cell("few", classes=3, level=0.9, metrics=0, tasks=2),
    Cell(models=2, level=0.9, metrics=0, margin=0.15),
    Cell("strangers", models=2, level=0.8, metrics=1, margin=0.1),
    Cell("draws", models=2, level=0.99, metrics=3, tasks=2, margin=0.1),
)


# ---- studies -------------------------------------------------------------------------------
@cache
def world(truth, classes, tasks, models=3):
    """Tasks for the definitions."""
    random = np.random.default_rng([len(truth), ord(truth[0]), classes, tasks])
    latent, cuts = random.normal(size=ITEMS), (0.1,) if classes == 2 else (-0.6, 0.7)
    cuts = {"rare": (1.35,), "common": (-1.2,)}.get(truth, cuts)
    made = []
    for t in range(tasks):
        items = np.setdiff1d(np.arange(ITEMS), (1, 7, 19) if t else ())
        z = latent[items] + 0.3 * t * random.normal(size=len(items))
        bins = np.array([*cuts, math.inf])
        noise = np.array([0.5, 0.9, 1.6])[:, None] * random.normal(size=(3, len(items)))
        chance = _chances(
            1.3 * (z + noise), np.array(cuts) * (0.4 if truth in ("rare", "common") else 1)
        )
        task = {
            "items": items.tolist(),
            "models": np.clip(np.round(chance[:models], 3), 0.002, 0.998),
        }
        task["models"] /= task["models"].sum(axis=2, keepdims=True)
        if truth == "draws":
            level = z + 0.5 * random.normal(size=(30 + 10 * t, len(items)))
            task["draws"] = _chances(5 * level, 5 * np.array(cuts))
        elif truth == "gold":
            says = (z + 0.8 * random.normal(size=len(items)))[:, None] > bins
            task["votes"] = [
                (i, -1, int(k)) for i, k in zip(items, says.sum(axis=1), strict=True)
            ]
        else:
            people = {"few": 3, "two": 2}.get(truth, 8)
            task["votes"] = []
            for place, item in enumerate(items.tolist()):
                number = {3: 3, 2: 2}.get(people, 5 - t)
                if truth == "single":
                    number = 1 + (place * 7) % 4
                for who in sorted(random.permutation(people)[:number].tolist()):
                    says = z[place] + LEANS[who] + 0.9 * random.normal()
                    task["votes"].append((item, who, int((says > bins).sum())))
        made.append(task)
    return made


def _chances(level, cuts):
    """Probabilities of grades, of which the one above the last cut is the highest."""
    above = [1 / (1 + np.exp(-(level - cut))) for cut in cuts]
    edges = [np.ones_like(level), *above, np.zeros_like(level)]
    return np.moveaxis(-np.diff(edges, axis=0), 0, -1)


def item_names():
    return tuple(f"i{i:02d}" for i in range(ITEMS))


def predictions(cell, made):
    """The models, as the product takes them."""
    names, words = item_names(), "ab"[: cell.tasks]
    found = []
    for m, model in enumerate(NAMES[: cell.models]):
        for word, task in zip(words, made, strict=True):
            values, more = (
                task["models"][m],
                {"classes": tuple(f"c{k}" for k in range(cell.classes))},
            )
            if cell.classes == 2:
                values, more = values[:, 1], {}
            items = tuple(names[i] for i in task["items"])
            found.append(Predictions(model, items, values, task=word, **more))
    return found


def truth_of(cell, made):
    """Votes or fits, and the plan."""
    names, words, unit = item_names(), "ab"[: cell.tasks], UNITS[cell.units]
    classes = tuple(f"c{k}" for k in range(cell.classes))
    grouped = None if cell.units == "none" else unit
    if cell.truth == "draws":
        fits = [
            Plausibilities.dense(
                task["draws"], items=tuple(names[i] for i in task["items"]), classes=classes,
                method="by hand",
            ).noted(task=word)
            for word, task in zip(words, made, strict=True)
        ]  # fmt: skip
        return fits, resample(fits[0], "influence", replicates=300, group=grouped)
    rows = [(*row, t) for t, task in enumerate(made) for row in task["votes"]]
    item, who, label, task = np.array(rows).T
    more = {}
    if grouped is not None:
        more |= {"group": unit, "groups": tuple(f"g{g:02d}" for g in range(1 + unit.max()))}
    if cell.truth == "gold":
        more |= {"is_gold": np.ones(len(item), bool)}
    elif cell.truth != "strangers":
        people = 1 + int(who.max())
        more |= {"annotator": who, "annotators": tuple(f"r{r}" for r in range(people))}
    if cell.schools:
        more |= {"annotator_group": SCHOOL, "annotator_groups": tuple("uvwxyz")}
    votes = Annotations(
        kind="binary" if cell.classes == 2 else "ordinal", items=names, classes=classes,
        tasks=tuple(words), item=item, label=label, task=task, **more,
    )  # fmt: skip
    return votes, resample(votes, "influence", replicates=300)


@cache
def done(cell):
    """The evaluation of the product."""
    made = world(cell.truth, cell.classes, cell.tasks, cell.models)
    truth, plan = truth_of(cell, made)
    fixed = {cell.fixed: "fixed"} if cell.fixed else {}
    how = Settings(level=cell.level, margin=cell.margin, **fixed)
    models = predictions(cell, made)
    return evaluate(models, truth, metrics=cell.names, resampling=plan, settings=how)


@cache
def by_definition(cell, place, metric, labels):
    """The same from the definitions; ``place`` is a task or their average."""
    made = world(cell.truth, cell.classes, cell.tasks, cell.models)
    chosen = made if place == "macro" else [made["ab".index(place)]]
    grouped = cell.units != "none" and cell.fixed != "items"
    how = {
        "unit": UNITS[cell.units] if grouped else np.arange(ITEMS),
        "grouped": grouped,
        "named": cell.truth not in ("strangers", "gold", "draws"),
        "of_group": SCHOOL if cell.schools else None,
        "items": cell.fixed != "items",
    }
    values = [
        np.mean([twin.value(task, metric, labels, m) for task in chosen])
        for m in range(cell.models)
    ]
    found = twin.parts(chosen, metric, labels, how)
    bounds = twin.METRICS[metric][2]
    whom = cell.whom
    if cell.truth == "two":
        whom = whom[0], False
    return twin.Numbers(found, values, whom, cell.level, bounds)


def places(cell):
    return ["a"] if cell.tasks == 1 else ["a", "b", "macro"]


def contrast(models, a, b=None):
    row = np.eye(models)[a]
    return row if b is None else row - np.eye(models)[b]


def near(found, expected, size, what=""):
    assert abs(found - expected) <= size, (what, found, expected)


def questions(cell):
    """Every task, metric and kind of label of a study, with the twin of each."""
    for number, place in enumerate(places(cell)):
        for metric in cell.names:
            for labels in ("hard", "soft"):
                yield (number, metric, labels), by_definition(cell, place, metric, labels)


# ---- numbers -------------------------------------------------------------------------------
def words_of(cell):
    study = done(cell)
    assert study.models == NAMES[: cell.models] and study.level == cell.level
    assert study.tasks[: cell.tasks] == tuple("ab"[: cell.tasks])
    assert len(study.tasks) == len(places(cell))
    return study


@pytest.mark.parametrize("cell", GRID, ids=name_of)
def test_values_errors_and_ends_are_those_of_the_definitions(cell):
    study = words_of(cell)
    rows = {(r.task, r.metric, r.labels, r.model): r for r in study.table()}
    assert len(rows) == len(places(cell)) * len(cell.names) * 2 * cell.models
    for (t, metric, labels), of in questions(cell):
        for m, model in enumerate(study.models):
            row = rows[study.tasks[t], metric, labels, model]
            what, one = (metric, labels, t, m), contrast(cell.models, m)
            near(row.value, of.values[m], 1e-11, what)
            error = of.error(one)
            near(row.standard_error, error, 2e-5 * error + 1e-10, what)
            near(row.df, of.df(one), 2e-3 * of.df(one), what)
            half = of.half(one)
            for end, expected in zip((row.low, row.high), of.interval(m), strict=True):
                near(end, expected, 2e-4 * half + 1e-9, what)


@pytest.mark.parametrize("cell", GRID, ids=name_of)
def test_differences_and_verdicts_on_a_margin_are_those_of_the_definitions(cell):
    study = words_of(cell)
    for (t, metric, labels), of in questions(cell):
        gaps = study.differences(metric, labels=labels, task=study.tasks[t])
        assert [(g.a, g.b) for g in gaps] == list(combinations(study.models, 2))
        critical = study.family(metric, labels=labels, task=study.tasks[t]).critical
        for gap in gaps:
            a, b = study.models.index(gap.a), study.models.index(gap.b)
            both, what = contrast(cell.models, a, b), (metric, labels, t, gap.a, gap.b)
            near(gap.value, of.values[a] - of.values[b], 1e-11, what)
            error, half = of.error(both), of.half(both)
            near(gap.standard_error, error, 2e-5 * error + 1e-10, what)
            near(gap.df, of.df(both), 2e-3 * of.df(both), what)
            near(gap.p, of.p(both), 1e-4, what)
            for end, expected in zip((gap.low, gap.high), of.gap(both), strict=True):
                near(end, expected, 2e-4 * half + 1e-9, what)
            sign = 1 if twin.METRICS[metric][1] else -1
            lead = sign * gap.value
            verdicts = ("", "")
            if cell.margin is not None:
                verdicts = tuple(
                    verdict(cell, of, both, x, critical, gap) for x in (lead, -lead)
                )
            assert (gap.judgement, gap.reverse) == verdicts, what


def verdict(cell, of, both, lead, critical, gap):
    """What a lead says about the margin: by its interval, or that of all pairs at once."""
    if cell.truth == "two" and cell.fixed != "annotators":
        return "undecided"
    alone = cell.models == 2 and cell.tasks == 1
    reach = of.half(both) if alone else critical * of.error(both)
    if gap.separated and lead > 0:
        return "superior"
    low = min(lead - reach, 0.0)
    high = min(lead + reach, -1e-300) if gap.separated else max(lead + reach, 0.0)
    if low > -cell.margin:
        return "equivalent" if high < cell.margin else "non-inferior"
    if alone and cell.level > 0.5:
        near_half = of.reach(both, 2 * cell.level - 1)
        if abs(lead) + near_half < cell.margin:
            return "equivalent by two one-sided tests"
    return "inferior" if high < -cell.margin else "undecided"


@pytest.mark.parametrize("cell", GRID, ids=name_of)
def test_all_pairs_at_once_and_ranks_are_those_of_the_definitions(cell):
    study = words_of(cell)
    rows = {(r.task, r.metric, r.labels, r.model): r for r in study.table()}
    for (t, metric, labels), of in questions(cell):
        where = {"labels": labels, "task": study.tasks[t]}
        family = study.family(metric, **where)
        gaps = study.differences(metric, **where)
        higher, number = twin.METRICS[metric][1], cell.models
        good = np.array(of.values) * (1 if higher else -1)
        mine = [rows[study.tasks[t], metric, labels, model] for model in study.models]
        ranks = [1 + (np.round(good, 12) > x).sum() + ((np.round(good, 12) == x).sum() - 1) / 2
                 for x in np.round(good, 12)]  # fmt: skip
        assert [row.rank for row in mine] == ranks
        if cell.truth == "two" and cell.fixed != "annotators":
            assert math.isnan(family.critical) and not family.better.any()
            assert all(math.isnan(gap.p_adjusted) and not gap.separated for gap in gaps)
            assert all((row.rank_low, row.rank_high) == (1, number) for row in mine)
            continue
        several = cell.tasks if places(cell)[t] != "macro" else 1
        p, largest = of.family()
        one = cell.level ** (1 / several)
        wide = 4.5 * math.sqrt(one * (1 - one) / 10_000) + 1e-3
        assert (largest < family.critical).mean() < one + wide, (metric, labels, t)
        assert (largest <= family.critical).mean() > one - wide, (metric, labels, t)
        beats = np.zeros((number, number), bool)
        for gap in gaps:
            a, b = study.models.index(gap.a), study.models.index(gap.b)
            alone = p[a, b]
            expected = 1 - (1 - alone) ** several
            wide = several * (4.5 * math.sqrt(alone * (1 - alone) / 10_000) + 1e-3)
            near(gap.p_adjusted, expected, wide, (metric, labels, t))
            assert gap.p_adjusted >= gap.p - 1e-9
            sure = gap.p_adjusted < 1 - cell.level and gap.value != 0
            assert gap.separated == sure
            beats[(a, b) if good[a] > good[b] else (b, a)] = sure
        np.testing.assert_array_equal(family.better, beats)
        for m, row in enumerate(mine):
            assert row.rank_low == 1 + beats[:, m].sum()
            assert row.rank_high == number - beats[m].sum()
        assert family.best.tolist() == (beats.sum(axis=0) == 0).tolist()
        same_claims(study, metric, where, of, (good, beats, family.critical))


def same_claims(study, metric, where, of, question):
    """How far each model is below the best: as seen, at most and at least."""
    good, beats, critical = question
    claims = {c.estimand.competitor: c for c in study.claims(metric, **where)}
    assert len(claims) == len(good)
    for m, model in enumerate(study.models):
        most, least = -math.inf, 0.0
        for other in range(len(good)):
            if other == m:
                continue
            ahead = good[other] - good[m]
            reach = critical * of.error(contrast(len(good), m, other))
            least = max(least, ahead - reach)
            most = max(most, min(ahead + reach, 0.0) if beats[m, other] else ahead + reach)
        claim, tie = claims[model], 1e-7 + 2e-5 * abs(most)
        beaten = beats[:, m].any()
        if not beaten and all(beats[:, x].any() for x in range(len(good)) if x != m):
            near(claim.value, good[m] - np.sort(good)[-2], 1e-11)
            near(claim.low, max(-most, 0.0), tie)
            assert claim.high == math.inf and claim.low > 0
            continue
        near(claim.value, good[m] - good.max(), 1e-11)
        near(claim.low, -most, tie)
        near(claim.high, -least if beaten else 0.0, tie)
        assert (claim.high < 0) == beaten
    order = [c.estimand.competitor for c in study.claims(metric, **where)]
    assert order == sorted(
        order, key=lambda name: (-round(good[study.models.index(name)], 12), name)
    )


@pytest.mark.parametrize("cell", GRID, ids=name_of)
def test_replicates_have_the_means_and_covariances_of_the_definitions(cell):
    study = words_of(cell)
    rows = {(r.task, r.metric, r.labels, r.model): r for r in study.table()}
    for (t, metric, labels), of in questions(cell):
        k, label = cell.names.index(metric), ("hard", "soft").index(labels)
        drawn = study.drawn(t, k, label)
        assert drawn.shape == (cell.models, 300)
        np.testing.assert_allclose(drawn.mean(axis=1), of.values, atol=1e-9)
        covariance = basic.covariance(of.found, of.whom)
        scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance))) + 1e-8
        found = np.cov(drawn, bias=True).reshape(covariance.shape)
        np.testing.assert_allclose((found - covariance) / scale, 0, atol=2e-4)
        good = np.round(drawn if twin.METRICS[metric][1] else -drawn, 12)
        shares = np.zeros((cell.models, cell.models))
        for column in good.T:
            for m, mine in enumerate(column):
                first, tied = (column > mine).sum(), (column == mine).sum()
                shares[m, first : first + tied] += 1 / 300 / tied
        where = {"labels": labels, "task": study.tasks[t]}
        np.testing.assert_allclose(study.rank_probabilities(metric, **where), shares, atol=1e-9)
        for m, model in enumerate(study.models):
            near(rows[study.tasks[t], metric, labels, model].p_best, shares[m, 0], 1e-9)
        for gap in study.differences(metric, **where):
            a, b = study.models.index(gap.a), study.models.index(gap.b)
            wins = (good[a] > good[b]) + 0.5 * (good[a] == good[b])
            near(gap.p_better, wins.mean(), 1e-9)
        first = study.to_best(metric, **where)
        sign = 1 if twin.METRICS[metric][1] else -1
        order = sorted(range(cell.models), key=lambda m: round(-sign * of.values[m], 12))
        assert [g.a for g in first] == [NAMES[order[0]]] * (cell.models - 1)
        assert [g.b for g in first] == [NAMES[m] for m in order[1:]]


REASONS = {
    "two": Reason.TOO_FEW, "strangers": Reason.ANONYMOUS, "gold": Reason.GOLD,
    "draws": Reason.MODEL,
}  # fmt: skip


@pytest.mark.parametrize("cell", GRID, ids=name_of)
def test_floors_and_populations_are_those_of_the_definitions(cell):
    study = words_of(cell)
    for (t, metric, labels), of in questions(cell):
        found = study.two_way(metric, labels=labels, task=study.tasks[t])
        near(found.floor, of.found["floor"], 1e-9, (metric, labels, t))
        whom = found.population
        reason = REASONS.get(cell.truth, Reason.NONE)
        if cell.fixed == "annotators":
            reason = Reason.FIXED
        assert (whom.items, whom.annotators) == of.whom and whom.reason is reason
        grouped = cell.units != "none" and cell.fixed != "items"
        assert whom.units == ("groups of items" if grouped else "items")
        assert whom.people == ("groups of annotators" if cell.schools else "annotators")
        assert whom.decides == (reason is not Reason.TOO_FEW)
        named = cell.truth not in ("strangers", "gold", "draws")
        near(whom.effective, of.found["df_annotators"] + 1 if named else 0.0, 1e-6)
        assert whom.few == (whom.annotators and of.found["df_annotators"] < 4.5)


def test_accuracy_is_as_sure_as_the_cost_of_all_errors_alike():
    """Its derivatives by the shares of classes are those of the cost, turned and moved."""
    cell = Cell("single", classes=3)
    truth, plan = truth_of(cell, world("single", 3, 1))
    models = predictions(cell, world("single", 3, 1))
    study = evaluate(models, truth, metrics=["accuracy", "expected_cost"], resampling=plan)
    for labels in ("hard", "soft"):
        right, wrong = (
            study.two_way(name, labels=labels) for name in ("accuracy", "expected_cost")
        )
        np.testing.assert_allclose(right.annotators, wrong.annotators)
        np.testing.assert_allclose(right.cells, wrong.cells)


# ---- on disk -------------------------------------------------------------------------------
ON_DISK = (
    Cell(level=0.9),
    Cell("few", level=0.99),
    Cell("two", level=0.8),
    Cell("strangers", level=0.99),
    Cell("single", level=0.9),
    Cell("rare", level=0.8),
    Cell(level=0.99, classes=3),
)
DISK_METRICS = ("auroc", "average_precision", "accuracy", "brier_score", "log_score")


def two_classes(cell):
    """The first task; of three classes the last against the rest."""
    (task,) = world(cell.truth, cell.classes, 1)
    last = cell.classes - 1
    chance = task["models"][:, :, last]
    votes = [(item, who, int(label == last)) for item, who, label in task["votes"]]
    return {**task, "models": np.stack([1 - chance, chance], axis=2), "votes": votes}


def on_disk(cell, folder, parts):
    task = two_classes(cell)
    names = np.array([*item_names(), "unused"])
    item, who, label = np.array(world(cell.truth, cell.classes, 1)[0]["votes"]).T
    columns = {"item": names[item], "label": np.array(["c0", "c1", "c2"])[label]}
    if cell.truth != "strangers":
        columns["annotator"] = np.array([f"r{r}" for r in who])
    scores = {"item": names[:-1]} | dict(zip(NAMES, task["models"][:, :, 1], strict=True))
    scores = {
        key: [*value, value[0] if key != "item" else "unused"] for key, value in scores.items()
    }
    votes = disk.open_votes(cut(pa.table(columns), folder / "votes", parts), workers=1)
    opened = disk.open_scores(cut(pa.table(scores), folder / "scores", parts))
    positive = f"c{cell.classes - 1}" if cell.classes > 2 else None
    return disk.evaluate(
        votes, opened, metrics=DISK_METRICS, level=cell.level, positive=positive
    )


@pytest.mark.parametrize("cell", ON_DISK, ids=name_of)
def test_numbers_on_disk_are_those_of_the_definitions(tmp_path, monkeypatch, cell):
    monkeypatch.setattr(coded, "_GROUPS", 2)  # sums of several partitions in one go
    made, task = on_disk(cell, tmp_path, 3), two_classes(cell)
    assert made.items == ITEMS and made.positive == f"c{cell.classes - 1}"
    (unused,) = [n for n in made.notices if n.code == "items_without_votes"]
    assert unused.values["items"] == 1
    whom, rows = made.population, iter(made.models)
    gaps = iter(made.gaps)
    assert whom.items and whom.annotators == cell.whom[1]
    assert whom.reason is REASONS.get(cell.truth, Reason.NONE) and whom.units == "items"
    for metric in DISK_METRICS:
        of = twin_on_disk(cell, task, metric)
        if metric == "accuracy" and cell.truth != "strangers":
            near(whom.effective, of.found["df_annotators"] + 1, 1e-6)
        near(made.cells[metric].floor, of.found["floor"], 1e-9)
        beats = np.zeros((3, 3), bool)
        good = of.values * (1 if twin.METRICS[metric][1] else -1)
        decides = made.cells[metric].population.decides
        p = of.family()[0] if decides else {}
        for (a, b), row in zip(combinations(range(3), 2), gaps, strict=False):
            both = contrast(3, a, b)
            assert (row.metric, row.a, row.b) == (metric, NAMES[a], NAMES[b])
            near(row.value, both @ of.values, 1e-11)
            for end, expected in zip((row.low, row.high), of.gap(both), strict=True):
                near(end, expected, 2e-4 * of.half(both), (metric, a, b))
            if decides:
                near(row.p, p[a, b], 4.5 * math.sqrt(p[a, b] * (1 - p[a, b]) / 10_000) + 1e-3)
                beats[(a, b) if good[a] > good[b] else (b, a)] = row.p < 1 - cell.level
            else:
                assert math.isnan(row.p)
        for m in range(3):
            row, one = next(rows), contrast(3, m)
            assert (row.metric, row.model) == (metric, NAMES[m])
            near(row.value, of.values[m], 1e-11)
            near(row.standard_error, of.error(one), 2e-5 * of.error(one))
            for end, expected in zip((row.low, row.high), of.interval(m), strict=True):
                near(end, expected, 2e-4 * of.half(one), (metric, m))
            assert row.best_rank == 1 + beats[:, m].sum()
            assert row.worst_rank == 3 - beats[m].sum()


def twin_on_disk(cell, task, metric):
    how = {
        "unit": np.arange(ITEMS), "grouped": False, "named": cell.truth != "strangers",
        "of_group": None, "items": True,
    }  # fmt: skip
    values = [twin.value(task, metric, "soft", m) for m in range(3)]
    whom = (True, cell.whom[1] and cell.truth != "two")
    found = twin.parts([task], metric, "soft", how)
    return twin.Numbers(found, values, whom, cell.level, twin.METRICS[metric][2])


# ---- variants of a study -------------------------------------------------------------------
VARIED = (
    Cell(level=0.9, metrics=0),
    Cell(level=0.8, metrics=1, units="many"),
    Cell(level=0.99, metrics=1, tasks=2),
    Cell(classes=3, level=0.9, metrics=1),
    Cell("rare", level=0.8, metrics=0, units="few"),
    Cell("single", level=0.8, metrics=1, units="few"),
    Cell(level=0.9, metrics=0, schools=True, fixed="annotators"),
)


@pytest.mark.parametrize("cell", VARIED, ids=name_of)
def test_variants_are_those_of_the_definitions(cell):
    """Without each annotator in turn: values, changes, changes of gaps and Holm's p-values."""
    whole = world(cell.truth, cell.classes, cell.tasks)
    truth, _ = truth_of(cell, whole)
    fixed = {cell.fixed: "fixed"} if cell.fixed else {}
    how, metric = Settings(level=cell.level, **fixed), cell.names[0]
    found = ask(
        "leave_one_out", predictions(cell, whole), truth, metrics=[metric], settings=how
    )
    study = variant_twin(cell, whole, metric)
    sign = 1 if twin.METRICS[metric][1] else -1
    best = int(np.argmax(sign * study.values))
    assert found.best == NAMES[best]
    raw, lines = [], []
    for outcome in found.outcomes:
        who = int(outcome.label[1:])
        left = [leave_out(task, lambda row, who=who: row[1] != who) for task in whole]
        of = variant_twin(cell, left, metric)
        assert outcome.facts["votes"] == sum(
            row[1] == who for task in whole for row in task["votes"]
        )
        for m, line in enumerate(outcome.lines):
            one = np.eye(3)[m]
            near(line.value, of.values[m], 1e-11)
            for end, expected in zip((line.low, line.high), of.interval(m), strict=True):
                near(end, expected, 3e-4 * of.half(one), (line.variant, m))
            assert line.items == sum(len(task["items"]) for task in left)
            change = paired(cell, of, study, one, one)
            near(line.change, change[0], 1e-10)
            same_interval((line.change_low, line.change_high), change)
            if m == best:
                assert math.isnan(line.gap_change) and math.isnan(line.gap_p)
                continue
            gap = sign * (one - np.eye(3)[best])
            lead = paired(cell, of, study, gap, gap)
            near(line.gap_change, lead[0], 1e-10)
            same_interval((line.gap_change_low, line.gap_change_high), lead)
            raw.append(lead[3])
            lines.append(line)
    same_claim(found, cell)
    order, running = np.argsort(raw), 0.0
    for place, n in enumerate(order):
        running = max(running, min(1.0, raw[n] * (len(raw) - place)))
        near(lines[n].gap_p, running, 2e-3)


def same_claim(found, cell):
    """The change of a gap that is least by chance, which is claimed as sure as it is."""
    claims, surest = list(found.claims()), found.surest
    low, high = surest.gap_change_low, surest.gap_change_high
    if surest.gap_p >= 1 - cell.level:
        low, high = min(low, 0.0), max(high, 0.0)
    (claim,) = [claim for claim in claims if claim.estimand.metric.startswith("gap to")]
    assert (claim.value, claim.low, claim.high) == (surest.gap_change, low, high)
    assert {claim.level for claim in claims} == {cell.level}
    assert surest.gap_p == min(line.gap_p for line in found.lines if line.gap_p >= 0)


def same_interval(ends, expected):
    _, low, high, _ = expected
    near(ends[0], low, 1e-3 * (high - low) + 1e-9, expected)
    near(ends[1], high, 1e-3 * (high - low) + 1e-9, expected)


def leave_out(task, keep):
    """A task by some of its votes, on the items that still have any."""
    votes = [row for row in task["votes"] if keep(row)]
    rows = [n for n, item in enumerate(task["items"]) if any(item == v[0] for v in votes)]
    items = [task["items"][n] for n in rows]
    return {"items": items, "models": task["models"][:, rows], "votes": votes}


def variant_twin(cell, tasks, metric):
    how = {
        "unit": UNITS[cell.units], "grouped": cell.units != "none", "named": True,
        "of_group": SCHOOL if cell.schools else None, "items": True,
    }  # fmt: skip
    values = [np.mean([twin.value(t, metric, "soft", m) for t in tasks]) for m in range(3)]
    found = twin.parts(tasks, metric, "soft", how)
    return twin.Numbers(found, values, cell.whom, cell.level, twin.METRICS[metric][2])


def paired(cell, first, second, a, b):
    """A contrast of a variant minus one of the study, by these votes: value, ends, p-value."""
    sums = {}
    for name in ("units", "people", "by_cell"):
        rows = {}
        for of, weights, sign in ((first, a, 1.0), (second, b, -1.0)):
            for key, moved in of.found[name].items():
                rows[key] = rows.get(key, 0.0) + sign * float(weights @ moved)
        sums[name] = np.array(list(rows.values())) if rows else np.zeros(1)
    sums["units"] = sums["units"][np.abs(sums["units"]) > 1e-13]
    found = {
        "items": np.array([[(sums["units"] ** 2).sum()]]),
        "annotators": np.array([[(sums["people"] ** 2).sum()]]),
        "cells": np.array([[(sums["by_cell"] ** 2).sum()]]),
        "draws": np.zeros((1, 1)),
        "by_unit": sums["units"][:, None],
        "df_units": min(of.found["df_units"] for of in (first, second)),
        "df_annotators": min(of.found["df_annotators"] for of in (first, second)),
        "few units": False, "floor": 0.0, "trials": None,
    }  # fmt: skip
    value = [float(a @ first.values - b @ second.values)]
    of, one = twin.Numbers(found, value, (True, False), cell.level, first.bounds), np.ones(1)
    far = (first.bounds[1] - first.bounds[0]) * (1 if (a >= 0).all() else 2)
    half = of.half(one)
    return value[0], max(value[0] - half, -far), min(value[0] + half, far), of.p(one)
