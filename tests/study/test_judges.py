"""Judges of systems' outputs: correlations by loops, savings and prediction-powered means."""

import numpy as np
import pyarrow as pa
import pytest

from equipoise import InputError, evaluate
from equipoise.study import Settings, Study
from equipoise.study.analyses.judges import analyse, analyse_savings, prediction_powered

SYSTEMS, RATERS = 4, 5


def study_of(
    seed: int, items: int = 60, rated: int = 60, good: float = 0.8
) -> dict[str, object]:
    """Qualities, ratings and a judge, with both tables."""
    random = np.random.default_rng(seed)
    mean = np.linspace(0, 0.6, SYSTEMS)
    quality = mean + random.normal(0, 0.5, (items, 1)) + random.normal(0, 1, (items, SYSTEMS))
    severity = random.normal(0, 0.2, (SYSTEMS, RATERS))
    noise = random.normal(0, 0.7, (rated, SYSTEMS, RATERS))
    ratings = quality[:rated, :, None] + severity + noise
    said = good * quality + random.normal(0, 0.5, quality.shape)
    item, system, rater = (axis.ravel() for axis in np.indices(ratings.shape))
    votes = pa.table({
        "item": [f"i{k:03}" for k in item],
        "system": [f"s{k}" for k in system],
        "annotator": [f"r{k}" for k in rater],
        "rating": ratings.ravel(),
    })  # fmt: skip
    item, system = (axis.ravel() for axis in np.indices(said.shape))
    judge = pa.table({
        "item": [f"i{k:03}" for k in item],
        "system": [f"s{k}" for k in system],
        "judge": said.ravel(),
    })  # fmt: skip
    return {"votes": votes, "judge": judge, "ratings": ratings, "said": said, "mean": mean}


def test_a_judge_is_correlated_with_people_at_every_level_as_a_loop_does() -> None:
    made = study_of(0)
    rating, said = made["ratings"].mean(axis=2), made["said"]
    study = Study.of(made["judge"], made["votes"])
    assert study.evaluation.values[0, 0, 1] == pytest.approx(
        [np.corrcoef(rating.ravel(), said.ravel())[0, 1]]
    )
    (row,) = analyse(study).tables[0].rows
    assert row["systems"] == pytest.approx(
        np.corrcoef(rating.mean(axis=0), said.mean(axis=0))[0, 1]
    )
    inside = [values - values.mean(axis=1, keepdims=True) for values in (rating, said)]
    assert row["within"] == pytest.approx(np.corrcoef(*(x.ravel() for x in inside))[0, 1])


def jackknifed(made: dict[str, object]) -> float:
    """Variance of the correlation over systems from leaving out items, and then raters."""
    ratings, said = made["ratings"], made["said"]

    def value(rows: list[int], people: list[int]) -> float:
        by_people = ratings[np.ix_(rows, range(SYSTEMS), people)].mean(axis=(0, 2))
        return float(np.corrcoef(by_people, said[rows].mean(axis=0))[0, 1])

    everything = [list(range(n)) for n in (len(said), RATERS)]
    parts = []
    for axis in (0, 1):
        without = []
        for k in everything[axis]:
            left = [[j for j in part if j != k] if a == axis else part
                    for a, part in enumerate(everything)]  # fmt: skip
            without.append(value(*left))
        n = len(without)
        parts.append((n - 1) / n * float(((np.array(without) - np.mean(without)) ** 2).sum()))
    return sum(parts)


def test_its_interval_is_about_that_of_a_jackknife_over_items_and_raters() -> None:
    made = study_of(3)
    study = Study.of(made["judge"], made["votes"])
    (row,) = analyse(study).tables[0].rows
    half = (row["systems_high"] - row["systems_low"]) / 2
    assert half > 1.2 * np.sqrt(jackknifed(made))  # t with few annotators
    assert half < 6 * np.sqrt(jackknifed(made))


def test_a_good_judge_saves_ratings_and_a_blind_one_none() -> None:
    worth = []
    for good in (2.0, 0.0):
        made = study_of(1, items=200, rated=200, good=good)
        (row,) = analyse_savings(Study.of(made["judge"], made["votes"])).tables[0].rows
        worth.append(row["worth"])
    assert worth[0] > 3
    assert worth[1] == pytest.approx(1.0, abs=0.05)


def test_prediction_powered_means_are_unbiased_with_honest_errors() -> None:
    away, errors, alone = [], [], []
    for seed in range(60):
        made = study_of(100 + seed, items=200, rated=40)
        study = Study.of(
            made["judge"], made["votes"], settings=Settings(on_missing="drop", replicates=10)
        )
        means, error = prediction_powered(study, "judge")
        away.append(means - made["mean"])
        errors.append(error)
        alone.append(made["ratings"].mean(axis=(0, 2)) - made["mean"])
    spread = np.std(away)
    assert abs(np.mean(away)) < 0.04
    assert np.mean(errors) == pytest.approx(spread, rel=0.2)
    assert np.mean(np.abs(away) < 2.2 * np.array(errors)) > 0.9
    assert spread < 0.85 * np.std(alone)


def test_their_variance_is_that_of_the_rest_and_of_what_the_judge_says_of_all() -> None:
    made = study_of(8, items=90, rated=30, good=1.5)
    study = Study.of(
        made["judge"], made["votes"], settings=Settings(on_missing="drop", replicates=10)
    )
    error = prediction_powered(study, "judge")[1]
    said, rating = made["said"], made["ratings"].mean(axis=2)
    x, y = said[:30] - said[:30].mean(axis=0), rating - rating.mean(axis=0)
    slope = float((x * y).sum() / (x * x).sum())
    of_all = slope**2 * said.var(axis=0) / len(said)
    rest = made["ratings"] - slope * said[:30, :, None]
    for s in range(SYSTEMS):
        by_item, by_rater = rest[:, s].mean(axis=1), rest[:, s].mean(axis=0)
        noise = rest[:, s] - by_item[:, None] - by_rater + rest[:, s].mean()
        squares = (noise**2).sum() / (29 * (RATERS - 1)) / (30 * RATERS)
        people = max(by_rater.var(ddof=1) / RATERS - squares, 0.0)
        expected = by_item.var(ddof=1) / 30 + people + of_all[s]
        assert error[s] ** 2 == pytest.approx(expected, rel=1e-6)


def test_what_nobody_rated_is_asked_about() -> None:
    made = study_of(2, rated=30)
    with pytest.raises(InputError, match="unknown items"):
        evaluate(made["judge"], made["votes"])


def test_a_judge_without_systems_is_told_what_is_missing() -> None:
    made = study_of(2)
    with pytest.raises(InputError) as error:
        evaluate(made["judge"].drop(["system"]), made["votes"])
    assert "the item and the system of every output" in str(error.value)


def test_numbers_on_the_scale_have_errors_and_others_correlations_alone() -> None:
    made = study_of(4)
    inside = evaluate(made["judge"], made["votes"])
    wide = made["judge"].set_column(2, "judge", pa.array(np.arange(240) + 100.0))
    assert [metric.name for metric in inside.metrics] == ["pearson", "absolute_error", "rmse"]
    assert [metric.name for metric in evaluate(wide, made["votes"]).metrics] == ["pearson"]
