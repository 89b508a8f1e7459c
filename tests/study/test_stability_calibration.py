"""Calibration of probabilities: against slow twins, scikit-learn and models of known error."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from equipoise import Annotations, InputError, Predictions, Settings
from equipoise.inference import Design, population_of
from equipoise.study import Study
from equipoise.study.analyses import calibration_curves
from equipoise.study.analyses.calibration_curves import _line
from equipoise.study.scoring import target_population
from equipoise.study.sums import Sums
from equipoise.study.uncertainty import Uncertainty
from tests.analysed import calibration
from tests.strategies import names


def logit(p):
    return np.log(p / (1 - p))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def drawn(items, people, *, classes=2, lean=0.0, seed=0):
    """Votes (items, people), and the probability of every class, (items, classes)."""
    random = np.random.default_rng(seed)
    chance = random.dirichlet([1.5] * classes, items)
    votes = (random.random((items, people, 1)) > chance.cumsum(axis=1)[:, None]).sum(axis=2)
    if lean:
        own = sigmoid(logit(chance[:, 1:]) + lean * random.standard_normal(people))
        votes = (random.random((items, people)) < own).astype(int)
    return votes, chance


def table(votes, **more):
    item, who = (axis.ravel() for axis in np.indices(votes.shape))
    size = int(votes.max()) + 1
    return Annotations(
        kind="binary" if size == 2 else "nominal", items=names(len(votes)), item=item,
        annotator=who, label=votes.ravel(), classes=tuple(f"c{k}" for k in range(size)),
        annotators=names(votes.shape[1], "p"), **more,
    )  # fmt: skip


def calibrated(votes, *chances, **how):
    given = [Predictions(f"m{k}", names(len(votes)), p) for k, p in enumerate(chances)]
    return calibration(given, table(votes), **how)


def slow_squared(votes, chance, bins=10):
    """Sum over bins of gap squared less its two-way variance, vote by vote."""
    items, people = votes.shape
    share, order = votes.mean(axis=1), sorted(range(items), key=lambda i: chance[i])
    total = 0.0
    for b in range(bins):
        inside = [i for rank, i in enumerate(order) if rank * bins // items == b]
        size = len(inside)
        gap = np.mean([share[i] - chance[i] for i in inside])
        of_items = sum(((share[i] - chance[i] - gap) / size) ** 2 for i in inside)
        votes_of = {
            (i, r): (votes[i, r] - share[i]) / people / size
            for i in inside
            for r in range(people)
        }
        of_people = sum(sum(votes_of[i, r] for i in inside) ** 2 for r in range(people))
        of_cells = sum(one**2 for one in votes_of.values())
        e, f = items / (items - 1), people / (people - 1) / (1 - 1 / items)
        variance = e * of_items + f * (of_people - of_cells)
        total += size / items * (gap**2 - variance)
    return total


@pytest.mark.parametrize("items", [40, 53])
def test_squared_error_equals_a_slow_twin(items):
    votes, chance = drawn(items, 6, lean=0.7, seed=items)
    wrong = sigmoid(2 * logit(chance[:, 1]))
    found = calibrated(votes, chance[:, 1], wrong)
    assert_allclose(
        found.squared[0], [slow_squared(votes, p) for p in (chance[:, 1], wrong)], atol=1e-12
    )
    assert_allclose(found.error, np.sqrt(np.maximum(found.squared, 0)))
    assert (found.error_low <= found.error).all() and (found.error <= found.error_high).all()


def test_it_is_unbiased_for_a_calibrated_model_whose_interval_holds_0():
    made = [calibrated(*_right(seed)) for seed in range(40)]
    squared = np.array([one.squared[0, 0] for one in made])
    assert abs(squared.mean()) < 3 * squared.std(ddof=1) / np.sqrt(len(squared))
    assert (squared < 0).any()  # not cut at 0
    assert np.mean([one.error_low[0, 0] > 0 for one in made]) <= 0.075
    assert np.mean([one.slope_low <= 1 <= one.slope_high for one in made]) >= 0.85
    assert np.mean([one.intercept_low <= 0 <= one.intercept_high for one in made]) >= 0.85


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_each_end_of_a_calibration_error_leaves_out_half_of_the_error(level):
    """Noise across the gaps, its square even between 0 and 1; the error seen is 2."""
    noise, tail = np.linspace(0, 1, 10_001), (1 - level) / 2
    gaps = SimpleNamespace(size=4.0)
    scatter = SimpleNamespace(
        squared=3.5, total=0.5, along=np.zeros((2, len(noise))), square=noise
    )
    ends = calibration_curves._inverted(gaps, scatter, level)[1:]
    assert_allclose(ends, np.sqrt([4 - (1 - tail), 4 - tail]), atol=1e-3)


def test_claims_hold_in_all_tasks_at_once():
    votes, chance = drawn(150, 8)
    one, n = table(votes), votes.size
    two = replace(
        one, tasks=("a", "b"), task=np.repeat([0, 1], n), item=np.tile(one.item, 2),
        annotator=np.tile(one.annotator, 2), label=np.tile(one.label, 2),
    )  # fmt: skip

    def claims(truth, level, *tasks):
        models = [Predictions("m", names(150), chance[:, 1], task=task) for task in tasks]
        return calibration_curves.analyse(
            Study.of(models, truth, settings=Settings(level=level))
        ).claims

    (alone,) = claims(one, 0.95, "")
    for claim in claims(two, 0.9, "a", "b"):
        assert_allclose((claim.low, claim.high), (alone.low, alone.high), rtol=1e-6)


def _right(seed):
    votes, chance = drawn(150, 8, seed=seed)
    return votes, chance[:, 1]


def test_strong_overconfidence_is_found_with_many_annotators():
    votes, chance = drawn(400, 30, lean=0.2)
    found = calibrated(votes, chance[:, 1], sigmoid(4 * logit(chance[:, 1])))
    right, wrong = (found.rows()[k] for k in (0, 1))
    assert right["error_low"] == 0 and right["slope_low"] < 1 < right["slope_high"]
    assert 0.05 < wrong["error_low"] < wrong["error"] < wrong["error_high"]
    assert wrong["slope_high"] < 0.5
    assert found.finding.startswith("m1 is not calibrated, for items and annotators like these")
    low = calibrated(votes, sigmoid(logit(chance[:, 1]) - 2)).rows()[0]
    assert low["intercept_low"] > 0.5 and low["slope"] == pytest.approx(right["slope"])


def by_scikit_learn(votes, chance):
    """Intercept and slope by maximum likelihood on single votes."""
    x = np.repeat(logit(np.clip(chance, 1e-6, 1 - 1e-6)), votes.shape[1])[:, None]
    line = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(x, votes.ravel())
    return np.array([line.intercept_[0], line.coef_[0, 0]])


def test_slope_and_intercept_equal_a_jackknife_over_annotators_with_scikit_learn():
    votes, chance = drawn(80, 5, lean=0.5, seed=4)
    given = sigmoid(0.5 + 1.7 * logit(chance[:, 1]))
    found = calibrated(votes, given)
    whole = by_scikit_learn(votes, given)
    without = np.stack([by_scikit_learn(np.delete(votes, r, axis=1), given) for r in range(5)])
    bias = 4 * (without - whole).mean(axis=0) / (1 - 1 / 80)
    assert abs(bias[1]) > 0.01  # a panel of five is steeper than the readers it stands for
    value = [found.intercept[0, 0], found.slope[0, 0]]
    assert_allclose(value, whole - bias, atol=1e-5)


def test_what_annotators_add_to_the_slope_is_the_jackknife_of_annotators():
    votes, chance = drawn(80, 5, lean=1.0, seed=5)
    model = Predictions("m", names(80), chance[:, 1])
    study = Study.of([model], table(votes))
    target = target_population(study.aligned, study.plan, study.settings)
    shared = Uncertainty(study.aligned, [], study.plan, target, workers=1)
    cell = _line(shared, 0, chance[:, 1])
    whole = by_scikit_learn(votes, chance[:, 1])
    moved = np.stack(
        [by_scikit_learn(np.delete(votes, r, axis=1), chance[:, 1]) for r in range(5)]
    )
    slow = 4 / 5 / (1 - 1 / 80) * (moved - whole).T @ (moved - whole)
    assert_allclose(cell.annotators, slow, atol=1e-5)


def test_a_line_that_hangs_on_one_annotator_has_no_slope():
    votes, _ = drawn(40, 4, seed=6)
    chance = np.linspace(0.1, 0.9, 40)
    votes[:] = (chance > 0.5)[:, None]
    votes[:, 0] = 1 - votes[:, 0]
    found = calibrated(votes, chance, circular="keep")
    assert np.isnan(found.slope).all() and np.isfinite(found.error).all()


def test_anonymous_votes_have_the_plain_line():
    votes, chance = drawn(80, 5, lean=0.5, seed=4)
    one = table(votes)
    strangers = replace(one, annotator=None, annotators=None)
    found = calibration([Predictions("m", one.items, chance[:, 1])], strangers)
    assert found.slope[0, 0] == pytest.approx(by_scikit_learn(votes, chance[:, 1])[1], abs=1e-5)


def test_several_classes_are_averaged_each_against_the_rest():
    votes, chance = drawn(90, 6, classes=3, seed=2)
    sharp = chance**2 / (chance**2).sum(axis=1, keepdims=True)
    truth = table(votes)
    model = Predictions("m", truth.items, sharp, truth.classes)
    found = calibration(model, truth)
    each = [calibrated((votes == k).astype(int), sharp[:, k]).squared[0, 0] for k in range(3)]
    assert found.squared[0, 0] == pytest.approx(np.mean(each), abs=1e-12)
    assert np.isnan(found.slope).all() and np.isnan(found.intercept).all()
    assert "undefined" not in found.finding


@pytest.mark.parametrize("classes, people, lean", [(2, 6, 0.7), (3, 8, 0.0), (9, 12, 0.0)])
def test_many_gaps_are_taken_apart_as_few_are(classes, people, lean, monkeypatch):
    """The principal axes of many gaps against the whole covariance of few."""
    votes, chance = drawn(150, people, classes=classes, lean=lean, seed=classes)
    truth = table(votes)
    sharp = chance**2 / (chance**2).sum(axis=1, keepdims=True)
    models = [
        Predictions(name, truth.items, p, truth.classes)
        for name, p in (("right", chance), ("sharp", sharp))
    ]
    few = calibration(models, truth)
    monkeypatch.setattr(calibration_curves, "FEW_GAPS", 0)
    many = calibration(models, truth)
    assert_allclose(many.squared, few.squared, atol=1e-15)
    assert_allclose(many.error_low, few.error_low, atol=0.01)
    assert_allclose(many.error_high, few.error_high, atol=0.015)
    assert many.finding[:30] == few.finding[:30]


def test_units_and_annotators_span_the_scatter_of_many_gaps():
    """Both ways round, by numbers and by causes, with the trace that variances have."""
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(3)
    design = Design(30, 5, 1.1, 1.3, 29.0, 4.0)
    whom = population_of(design, named=True)
    wide = [csr_matrix(random.standard_normal((12, size))) for size in (30, 5, 60)]
    root, direction = random.random(12), random.standard_normal(12)
    parts = [
        factor * (m @ m.T).toarray() for m, factor in zip(wide, (1.1, 1.3, 1.3), strict=True)
    ]
    for scale in (0.01, 0.4):
        sums = Sums(wide[0], wide[1], scale * wide[2], design, whom)
        people = root[:, None] * (parts[1] - scale**2 * parts[2]) * root
        size, axes = np.linalg.eigh(people)
        people = (axes * np.maximum(size, 0)) @ axes.T
        for units in (wide[0], csr_matrix(wide[0].toarray()[:, :3])):
            here = root[:, None] * 1.1 * (units @ units.T).toarray() * root + people
            size, along, causes = sums._replace(units=units).spectrum(root, direction)
            expected = np.linalg.eigvalsh(here)[::-1][: len(size)]
            assert_allclose(np.sort(size)[::-1], np.maximum(expected, 0), atol=1e-10)
            assert (along**2).sum() == pytest.approx(direction @ here @ direction)
            assert causes.sum() == pytest.approx(np.trace(here))
        raw = np.diag(parts[0] + parts[1] - scale**2 * parts[2])
        assert_allclose(sums.variance, raw)


def test_more_gaps_than_memory_are_refused_before_it_is_taken(monkeypatch):
    votes, chance = drawn(60, 5)
    monkeypatch.setattr("equipoise.types.arrays._memory_left", lambda: 1e3)
    with pytest.raises(InputError, match=r"calibration, 60 items x 1 .*fewer classes"):
        calibrated(votes, chance[:, 1])


def test_equal_predictions_stay_in_one_bin_whatever_the_order_of_items():
    votes, chance = drawn(60, 5, seed=8)
    rounded = chance[:, 1].round(1)
    order = np.random.default_rng(1).permutation(60)
    one, other = calibrated(votes, rounded), calibrated(votes[order], rounded[order])
    assert_allclose(one.squared, other.squared, atol=1e-14)
    same = calibrated(votes, np.full(60, 0.5))  # a single bin; no line through one point
    assert np.isfinite(same.squared).all() and np.isnan(same.slope).all()


def test_what_it_cannot_take_is_refused():
    votes, chance = drawn(20, 4)
    for level in (0, 1, 1.5):
        with pytest.raises(InputError, match=r"level: .* between 0 and 1"):
            calibrated(votes, chance[:, 1], level=level)
    with pytest.raises(InputError, match="items"):
        calibration(Predictions("m", names(19), chance[:19, 1]), table(votes))
    with pytest.raises(InputError, match="probabilit"):
        calibrated(votes, 3 * chance[:, 1])
    few = Predictions("m", names(19), chance[:19, 1])
    assert calibration(few, table(votes), on_missing="drop").notices


def test_the_sentence_says_which_model_is_off_in_which_task():
    votes, chance = drawn(400, 12)
    right = chance[:, 1]
    wrong = np.clip(1 - right, 0.01, 0.99)
    both = [table(votes), table(votes)]
    said = Annotations(
        kind="binary", items=both[0].items, classes=both[0].classes, tasks=("x", "y"),
        item=np.concatenate([one.item for one in both]),
        annotator=np.concatenate([one.annotator for one in both]),
        label=np.concatenate([one.label for one in both]),
        task=np.repeat([0, 1], len(both[0])), annotators=both[0].annotators,
    )  # fmt: skip
    scores = {
        ("bad", "x"): wrong,
        ("bad", "y"): wrong,
        ("odd", "x"): right,
        ("odd", "y"): wrong,
    }
    given = [
        Predictions(model, said.items, values, task=task)
        for (model, task), values in scores.items()
    ]
    found = calibration(given, said)
    assert found.finding.startswith("bad in every task and odd in y are not calibrated, for ")
    alone = calibration(given[2:], said).finding
    assert alone.startswith("odd in y is not calibrated") and "that of" not in alone
    one = calibrated(votes, right).finding
    assert one.startswith("m0 is not surely miscalibrated, ") and "that of" not in one
