"""How far annotators are trusted: the same setting is the same study, and spreads are told."""

import math
import os

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise import Annotations, InputError, Predictions, Settings
from equipoise.datasets.demo import reading_study
from equipoise.metrics import named
from equipoise.study import Study
from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.study.analyses.truth_cases import hits
from equipoise.study.questions import answer_study, ask, reliability
from equipoise.study.variants import Contest
from equipoise.truth import (
    Chain,
    annotation_certainty,
    dirichlet,
    inverse_rank,
    plackett_luce,
    plackett_luce_ml,
    probabilistic_inverse_rank,
)

METRICS = ["topk_accuracy:k=2", "set_accuracy:k=2", "accuracy"]
CASES, DRAWS, EXACT = 30, 80, {"rtol": 0, "atol": 1e-12}
CHAIN = Chain(draws=DRAWS, burn_in=20, seed=4)


def readings(seed=0):
    """Cases with five rankings of six conditions, most of them partial."""
    random = np.random.default_rng(seed)
    cases = []
    for _ in range(CASES):
        usual = random.gumbel(size=6)
        orders = [np.argsort(-usual - random.gumbel(size=6)) for _ in range(5)]
        named = [6, *random.integers(1, 4, 4)]  # one reading names all
        cases.append(
            [[[int(k)] for k in order[:few]] for order, few in zip(orders, named, strict=True)]
        )
    return Annotations.from_rankings(cases, classes=tuple("abcdef"))


def models(votes, noises=(0.3, 0.6, 2.0)):
    random, truth = np.random.default_rng(1), inverse_rank(votes)
    scores = []
    for name, noise in zip(("near", "next", "far"), noises, strict=True):
        logits = np.log(truth.soft + 0.05) + noise * random.normal(size=truth.soft.shape)
        chance = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        scores.append(Predictions(name, truth.items, chance, classes=truth.classes))
    return scores


VOTES = readings()
MODELS = models(VOTES)


def study(truth):
    how = {"metrics": METRICS, "resampling": "influence"}
    return Study.of(MODELS, truth, settings=Settings(seed=4), **how).with_votes(VOTES)


@pytest.fixture(scope="module")
def answer():
    truth = plackett_luce(VOTES, reliability=3, chain=CHAIN)
    return answer_study(reliability.QUESTION, study(truth))


def test_settings_are_all_published_ones_of_every_model_and_full_trust(answer):
    own = [f"Plackett-Luce, {level}" for level in (1, 2, 3, 5, 10)]
    other = [f"probabilistic inverse rank, {level}" for level in (10, 20, 30, 50, 100)]
    limits = ["Plackett-Luce (maximum likelihood)"], ["inverse rank"]
    labels = [outcome.label for outcome in answer.outcomes]
    assert labels == [*own, *limits[0], *other, *limits[1]]


def test_the_setting_of_the_study_is_the_study(answer):
    (own,) = [one for one in answer.outcomes if one.label == "Plackett-Luce, 3"]
    done = study(plackett_luce(VOTES, reliability=3, chain=CHAIN)).evaluation
    for line in own.lines:
        expected = done.estimate(line.competitor, "topk_accuracy:k=2")
        assert (line.value, line.low, line.high) == (expected.value, *expected.interval(0.95))
        assert (line.change, line.change_low, line.change_high) == (0, 0, 0)


@pytest.mark.parametrize("level", [1, 5, 10])
def test_a_setting_is_what_an_evaluation_of_its_own_finds(answer, level):
    (there,) = [one for one in answer.outcomes if one.label == f"Plackett-Luce, {level}"]
    truth = plackett_luce(VOTES, reliability=level, chain=CHAIN)
    done = study(truth).evaluation
    for m, line in enumerate(there.lines):
        for k, metric in enumerate(METRICS):
            expected = done.estimate(line.competitor, metric).value
            assert_allclose(there.scored.by_metric[k, 1, m], expected, **EXACT)
        expected = done.estimate(line.competitor, METRICS[0])
        assert_allclose((line.low, line.high), expected.interval(0.95), **EXACT)
    for size in (1, 2, 3):
        sure = annotation_certainty(truth, size)
        assert there.facts[f"certainty_{size}"] == sure.value[sure.well_posed].mean()


def test_spreads_are_those_over_draws_one_by_one(answer):
    (there,) = [one for one in answer.outcomes if one.label == "Plackett-Luce, 1"]
    truth = plackett_luce(VOTES, reliability=1, chain=CHAIN)
    metrics = [named(name) for name in METRICS]
    for m, model in enumerate(MODELS):
        for k, metric in enumerate(metrics):
            values = []
            for number in range(DRAWS):
                draw = truth.draw(number)
                if metric.labels == "draws":
                    value = _of_one(metric.name, model.values, draw)
                else:
                    best = model.values.argmax(axis=1)
                    value = draw[np.arange(CASES), best].mean()
                values.append(value)
            assert_allclose(there.scored.spreads[k, m], np.std(values, ddof=k > 1), rtol=1e-9)


def _of_one(name, chance, draw):
    """Slow twin: a metric of two first classes against one draw, item by item."""
    right = []
    for row, truth in zip(chance, draw, strict=True):
        first = set(np.argsort(-row)[:2])
        order = np.argsort(-truth)
        right.append(order[0] in first if name.startswith("top") else set(order[:2]) == first)
    return np.mean(right)


def test_changes_hold_the_spread_over_draws(answer):
    (there,) = [one for one in answer.outcomes if one.label == "Plackett-Luce, 1"]
    for m, line in enumerate(there.lines):
        most = 2 * there.scored.spreads[0, m]  # of two truths that are drawn apart
        assert line.change_high - line.change_low > most


def test_full_trust_is_one_distribution_without_spread(answer):
    for label, truth in (
        ("inverse rank", inverse_rank(VOTES)),
        ("Plackett-Luce (maximum likelihood)", plackett_luce_ml(VOTES)),
    ):
        (there,) = [one for one in answer.outcomes if one.label == label]
        assert not there.scored.spreads.any()
        done = study(truth).evaluation
        for line in there.lines:
            expected = done.estimate(line.competitor, METRICS[0]).value
            assert_allclose(line.value, expected, **EXACT)


def test_ranks_that_change_are_told_and_shown(answer):
    finding = answer.finding()
    table = next(one for one in finding.tables if one.name == "reliability_spread")
    assert len(table.rows) == len(answer.outcomes) * len(METRICS) * len(MODELS)
    moved = {row["variant"] for row in table.rows if row["rank_change"]}
    assert f"change in {len(moved)} of 12 settings" in finding.sentence
    own = [row for row in table.rows if row["variant"] == "Plackett-Luce, 3"]
    assert {row["rank_change"] for row in own} == {0.0}


def test_charts_have_every_model_setting_and_the_cases(answer):
    charts = {chart.name: chart for chart in answer.finding().charts}
    assert len(charts) == 1 + 2 + 2 + 4 + 4  # metrics, certainty, cases, two cases
    main = charts["reliability"]
    assert [text for _, text in main.ticks] == ["1", "2", "3", "5", "10", "∞", "10", "20", "30",
                                                "50", "100", "∞"]  # fmt: skip
    for line in main.lines:
        assert [x for x, _ in line.points] == [x for x, *_ in line.band] and len(line.band) == 5
    simplex = next(chart for name, chart in charts.items() if name.endswith("simplex"))
    places = np.array([(point.x, point.y) for point in simplex.points])
    assert (places[:, 1] >= -1e-9).all() and (places[:, 1] <= 3**0.5 / 2 + 1e-9).all()


def test_hits_of_cases_are_values_of_single_items():
    truth = plackett_luce(VOTES, reliability=3, chain=CHAIN)
    contest = Contest.of(study(truth))
    metric = named("set_accuracy:k=2")
    for name, values in hits(contest.tasks[0], metric).items():
        chance = next(model.values for model in MODELS if model.model == name)
        expected = metric.per_item(truth, chance)
        assert_allclose(values.mean(axis=1), expected, **EXACT)


def test_another_model_takes_a_prior_of_the_same_name():
    truth = plackett_luce(VOTES, reliability=2, prior="notebook", chain=CHAIN)
    found = answer_study(reliability.QUESTION, study(truth))
    (there,) = [one for one in found.outcomes if one.label == "probabilistic inverse rank, 30"]
    fit = probabilistic_inverse_rank(VOTES, reliability=30, prior="notebook")
    assert there.facts["certainty_1"] == pytest.approx(fit.certainty.mean(), abs=1e-12)


def test_votes_are_asked_too_and_their_own_reliability_joins_the_published():
    votes, scores = reading_study()
    found = ask("reliability", scores, votes, metrics=["auroc"])
    assert [one.label for one in found.outcomes][-1] == "mean vote"
    assert not found.outcomes[-1].scored.spreads.any()
    assert found.outcomes[0].scored.spreads.all()
    assert len(found.outcomes) == 6 and "certainty_2" not in found.outcomes[0].facts
    truth = dirichlet(votes, reliability=4).drawn(50, seed=0)
    how = {"metrics": ["auroc"], "resampling": "influence"}
    own = Study.of(scores, truth, **how).with_votes(votes)
    labels = [one.label for one in answer_study(reliability.QUESTION, own).outcomes]
    assert labels[3] == "Dirichlet, 4" and len(labels) == 7


def test_a_truth_about_groups_of_the_classes_is_refused():
    from equipoise.types import Grouping, coarsened

    truth = plackett_luce(VOTES, chain=CHAIN)
    sides = {name: "left" if name in "abc" else "right" for name in VOTES.classes}
    grouping = Grouping.of(sides)
    scores = [model.coarsened(grouping) for model in MODELS]
    how = {"metrics": ["accuracy"], "resampling": "influence"}
    coarse = Study.of(scores, coarsened(truth, grouping), **how).with_votes(VOTES)
    with pytest.raises(InputError, match="about groups of the classes"):
        ANALYSES["reliability"].run(coarse)


def test_the_public_cases_have_the_published_certainties():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds dermatology_ddx/")
    from equipoise.datasets import load_dermatology_ddx

    votes = load_dermatology_ddx().annotations
    chain = Chain(draws=200, burn_in=200, seed=0)
    truth = plackett_luce(votes, reliability=3, prior="notebook", chain=chain)
    uniform = np.full((len(truth.items), len(truth.classes)), 1 / len(truth.classes))
    scores = [Predictions("even", truth.items, uniform, classes=truth.classes)]
    how = {"metrics": ["topk_accuracy:k=3"], "resampling": "influence"}
    contest = Contest.of(Study.of(scores, truth, **how).with_votes(votes))
    golden = {
        "plackett_luce": (0.712, 0.803, 0.841, 0.878, 0.911),
        "probabilistic_inverse_rank": (0.751, 0.818, 0.846, 0.874, 0.901),
    }
    settings = [one for one in reliability.settings_of(contest) if math.isfinite(one[1])]
    assert [name for name, _ in settings] == [name for name in golden for _ in range(5)]
    expected = np.concatenate(list(golden.values()))
    found = []
    for name, level in settings:
        (fit,) = reliability._fitted(contest, name, level)
        found.append(annotation_certainty(fit).mean)
    assert_allclose(found, expected, atol=0.004)  # 200 draws: maxima of shares lean upwards
    assert_array_equal(np.argsort(found[:5]), np.arange(5))
