"""Experts as competitors: loops by hand, resamples, experts of known skill, real readings."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.metrics import accuracy, quadratic_weighted_kappa
from equipoise.study.analyses.expert_comparison import agreement_gains, at_specificity, experts
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.predictions import Predictions
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(21)
ITEMS = 300
TRUTH = RANDOM.random(ITEMS) < 0.5


def noisy(right, size=ITEMS):
    return np.where(RANDOM.random(size) < right, TRUTH[:size], ~TRUTH[:size]).astype(float)


VOTES = np.stack([noisy(r) for r in (0.95, 0.8, 0.8, 0.75, 0.7)], axis=1)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.3, np.nan, VOTES)
GAPS[np.isnan(GAPS).sum(axis=1) > 3] = VOTES[np.isnan(GAPS).sum(axis=1) > 3]
SCORES = np.clip(TRUTH * 0.4 + 0.3 + RANDOM.normal(0, 0.2, ITEMS), 0, 1)


def model(values, name="model", items=ITEMS):
    return Predictions(name, names(items), np.asarray(values, dtype=float))


def by_hand(own, others, score):
    """Sensitivity at the expert's specificity, walking down the distinct scores."""
    wrong, yes, no = ((1 - others) * own).sum(), 0.0, 0.0
    for value in np.unique(score)[::-1]:
        here = score == value
        if no + (1 - others[here]).sum() > wrong + 1e-9:
            part = (wrong - no) / (1 - others[here]).sum()
            return (yes + part * others[here].sum()) / others.sum()
        yes, no = yes + others[here].sum(), no + (1 - others[here]).sum()
    return yes / others.sum()


@pytest.mark.parametrize("votes", [VOTES, GAPS], ids=["complete", "with gaps"])
@pytest.mark.parametrize("scores", [SCORES, SCORES.round(1)], ids=["fine", "tied"])
def test_experts_and_models_equal_a_loop(votes, scores):
    done = experts(model(scores), bootstrap.annotations(votes))
    for e in range(5):
        others = np.delete(votes, e, axis=1)
        here = ~np.isnan(votes[:, e]) & ~np.isnan(others).all(axis=1)
        own, truth = votes[here, e], np.nanmean(others[here], axis=1)
        assert done.items[e] == here.sum()
        assert_allclose(done.sensitivity[e], (truth * own).sum() / truth.sum(), atol=1e-12)
        no = 1 - truth
        assert_allclose(done.specificity[e], (no * (1 - own)).sum() / no.sum(), atol=1e-12)
        wanted = by_hand(own, truth, scores[here])
        assert_allclose(done.model_values[e, 0], wanted, atol=1e-9)
        assert_allclose(done.gap[e, 0], wanted - done.sensitivity[e], atol=1e-9)
    assert_allclose(done.mean_gap[0], done.gap.mean(), atol=1e-12)


def test_a_model_that_answers_as_the_expert_gains_nothing():
    others = VOTES[:, 1:].mean(axis=1)
    own = VOTES[:, 0]
    made = at_specificity(own, others, np.stack([own, 5 * own - 7, SCORES]))
    assert_allclose(made.gain[:2], 0, atol=1e-12)
    assert_allclose(made.influence.sum(axis=1), 0, atol=1e-9)
    rising = at_specificity(own, others, np.stack([SCORES, np.exp(SCORES)]))
    assert rising.gain[0] == rising.gain[1]  # only the order counts


def test_influences_of_items_have_the_spread_of_resamples():
    random = np.random.default_rng(4)
    others, own = VOTES[:, 1:].mean(axis=1), VOTES[:, 0]
    score = np.stack([SCORES, SCORES + random.normal(0, 0.1, ITEMS)])
    made = at_specificity(own, others, score)
    drawn = []
    for _ in range(300):
        rows = random.integers(0, ITEMS, ITEMS)
        drawn.append(at_specificity(own[rows], others[rows], score[:, rows]).gain)
    spread = np.sqrt((made.influence**2).sum(axis=1))
    assert_allclose(spread, np.std(drawn, axis=0), rtol=0.2)


@pytest.mark.parametrize("grades", [False, True])
def test_influences_of_agreement_are_its_derivatives(grades):
    random = np.random.default_rng(5)
    own = np.eye(4)[random.integers(0, 4, 40)]
    others = random.dirichlet(np.ones(4), 40)
    decided = np.eye(4)[random.integers(0, 4, (2, 40))]
    made = agreement_gains(own, others, decided, grades=grades)
    step = 1e-6
    for item, label in ((3, 1), (11, 2)):
        moved = others.copy()
        moved[item, label] += step
        slope = (agreement_gains(own, moved, decided, grades=grades).gain - made.gain) / step
        assert_allclose(made.by_share[0, item, label], slope, atol=1e-5)
    assert_allclose(made.influence.sum(axis=1), 0, atol=1e-12)


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_several_classes_by_agreement_with_the_expert(kind):
    random = np.random.default_rng(9)
    truth = random.integers(0, 3, 200)
    right = np.array([0.9, 0.6, 0.6, 0.6])
    label = np.where(random.random((200, 4)) < right, truth[:, None],
                     random.integers(0, 3, (200, 4)))  # fmt: skip
    item, annotator = (axis.ravel() for axis in np.indices((200, 4)))
    votes = Annotations(
        kind=kind, items=names(200), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    sure = Predictions("sure", names(200), np.eye(3)[truth], ("a", "b", "c"))
    done = experts(sure, votes)
    own, others = np.eye(3)[label[:, 0]], np.eye(3)[label[:, 1:]].mean(axis=1)
    if kind == "nominal":
        value, theirs = (
            accuracy(own, np.eye(3)[truth]),
            float((own * others).sum(axis=1).mean()),
        )
    else:
        value = quadratic_weighted_kappa(own, np.eye(3)[truth])
        rows = np.repeat(np.arange(200), 3)  # every other expert's answer as a prediction
        theirs = quadratic_weighted_kappa(own[rows], np.eye(3)[label[:, 1:].ravel()])
    assert_allclose(done.model_values[0, 0], value, atol=1e-12)
    assert_allclose(done.values[0], theirs, atol=1e-12)
    assert np.isnan(done.specificity).all()
    assert done.mean_gap_low[0] > 0 and "sure beats a typical expert" in done.finding


def test_a_perfect_model_beats_and_a_guess_falls_behind():
    given = [model(TRUTH, "perfect"), model(RANDOM.random(ITEMS), "guess")]
    done = experts(given, bootstrap.annotations(VOTES))
    assert done.mean_gap_low[0] > 0 > done.mean_gap_high[1]
    assert "perfect beats a typical expert, guess falls behind one" in done.finding
    assert done.behind[0] == 0 and done.behind_low[1] > 0
    assert [row["kind"] for row in done.rows()] == ["expert"] * 5 + ["model"] * 2


def test_one_of_the_experts_is_neither_better_nor_worse_than_a_typical_one():
    """A sixth person as able as the others, who is not in the panel."""
    random = np.random.default_rng(1)
    truth = random.random(400) < 0.4
    said = np.where(random.random((400, 6)) < 0.8, truth[:, None], ~truth[:, None]) * 1.0
    done = experts(model(said[:, 5], items=400), bootstrap.annotations(said[:, :5]))
    assert done.mean_gap_low[0] < 0 < done.mean_gap_high[0]
    assert "it is not shown to be better or worse than a typical expert" in done.finding


def test_the_interval_is_as_wide_as_studies_vary():
    """Readers with leanings and tastes of their own; items and readers drawn anew."""
    values, widths, apart, behind = [], [], [], []
    for study in range(60):
        random = np.random.default_rng([7, study])
        skill, taste = random.normal(size=(2, 200))
        lean, bias = random.normal(0, 0.4, 5), random.normal(0, 0.5, 5)
        noise = random.normal(0, 0.8, (200, 5))
        votes = (skill[:, None] + taste[:, None] * lean + bias + noise > 0.5) * 1.0
        noise = random.normal(0, 0.7, (2, 200))
        given = [model(skill + side * 0.5 * taste + one, f"m{side}", 200)
                 for side, one in zip((1, -1), noise, strict=True)]  # fmt: skip
        done = experts(given, bootstrap.annotations(votes))
        values.append(done.mean_gap[0])
        widths.append(done.mean_gap_high[0] - done.mean_gap_low[0])
        apart.append(done.mean_gap[0] - done.mean_gap[1])
        behind.append((done.behind_high - done.behind_low).max())
    for spread, width in ((np.std(values), widths), (np.std(apart), behind)):
        assert 1.7 < np.mean(width) / 2 / spread < 4.2  # 2.8 is the t quantile of 4 degrees


def test_items_of_one_group_count_together():
    votes, scores = np.repeat(VOTES[:100], 3, axis=0), np.repeat(SCORES[:100], 3)
    alone = experts(model(SCORES[:100], items=100), bootstrap.annotations(VOTES[:100]))
    copies = bootstrap.annotations(votes)
    apart = experts(model(scores), copies)
    group = np.repeat(np.arange(100), 3)
    grouped = experts(model(scores), replace(copies, groups=names(100, "g"), group=group))
    width = [one.mean_gap_high[0] - one.mean_gap_low[0] for one in (alone, grouped, apart)]
    assert_allclose(width[0], width[1], rtol=0.2)  # slopes are taken over other widths
    assert width[2] < 0.9 * width[1]


def test_known_truths_are_nobodys_opinion():
    gold = np.zeros(VOTES.size, dtype=bool)
    gold[:5] = True
    votes = VOTES.copy()
    votes[0] = 1
    done = experts(model(TRUTH), bootstrap.annotations(votes, is_gold=gold))
    assert (done.items == ITEMS - 1).all()


def test_labels_that_are_all_the_same_are_undefined():
    done = experts(model(SCORES), bootstrap.annotations(VOTES * 0 + 1))
    assert done.finding == "The gain in sensitivity over the experts is undefined."
    assert np.isnan([done.mean_gap, done.mean_gap_low, done.mean_gap_high]).all()
    assert done.report().tables


def test_many_experts_are_said_to_be_too_many():
    random = np.random.default_rng(6)
    votes = (random.random((60, 103)) < 0.5) * 1.0
    done = experts(model(random.random(60), items=60), bootstrap.annotations(votes))
    assert len(done.experts) == 100
    assert any("Of 103 annotators the 100 with most votes" in str(one) for one in done.notices)


def test_too_few_effective_experts_are_no_typical_one():
    votes = VOTES[:, :3].copy()
    votes[6:, 2] = np.nan  # the third read next to nothing
    done = experts(model(TRUTH), bootstrap.annotations(votes))
    assert done.population.effective < 2.9 and not done.population.annotators
    assert "so few experts say nothing about a typical one" in done.finding
    assert any("these experts" in str(one) for one in done.notices)


def test_bad_input_says_what_to_do():
    truth = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="anonymous votes, expected at least three"):
        experts(model(TRUTH), truth.anonymous())
    with pytest.raises(InputError, match="2 annotators"):
        experts(model(TRUTH), bootstrap.annotations(VOTES[:, :2]))
    with pytest.raises(InputError, match="2 annotators with votes"):
        alone = VOTES.copy()
        alone[:, 2:] = np.nan
        experts(model(TRUTH), bootstrap.annotations(alone))
    ratings = Annotations(
        kind="interval", items=names(3), annotators=names(3, "p"), item=np.arange(3),
        annotator=np.arange(3), value=np.array([0.1, 0.5, 0.9]),
    )  # fmt: skip
    with pytest.raises(InputError, match="turn them into a yes/no question"):
        experts(model([0, 1, 0], items=3), ratings)
    wrong = {"level": (0, 2, "x"), "task": (3, "nope"), "on_missing": ("x", 3)}
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
                experts(model(TRUTH), truth, **{name: value})


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_models_gain_a_little_over_a_radiologist():
    from equipoise.datasets import load_chexpert

    study = load_chexpert()
    given = [one for one in study.predictions if one.model != "desmond"]
    done = experts(given, study.annotations)
    assert done.experts == ("bc1", "bc2", "bc3", "bc4", "bc5", "bc6", "bc7", "bc8")
    assert done.mean_gap.max() == pytest.approx(0.063, abs=0.001)  # AUROC would say 0.163
    assert done.population.effective == pytest.approx(8)
    assert (done.mean_gap_low > 0).all()
