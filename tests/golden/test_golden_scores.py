"""Golden values of ordinal and proper scores: scores.json says where they come from."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.metrics import (
    brier_score,
    expected_cost,
    item_scores,
    log_score,
    named,
    normalised_expected_cost,
    quadratic_weighted_kappa,
    ranked_probability_score,
    retained_samples_area,
    retained_samples_curve,
    squared_absolute_rps,
)

GOLDEN = json.loads((Path(__file__).parent / "scores.json").read_text(encoding="utf-8"))
SCORES, TABLES, CURVES = GOLDEN["scores"], GOLDEN["ec_qwk"], GOLDEN["aursc"]
each_score = pytest.mark.parametrize("case", SCORES, ids=lambda case: case["name"])
each_table = pytest.mark.parametrize("case", TABLES, ids=lambda case: case["name"])
CLOSE = {"rtol": 0, "atol": 1e-12}
FIGURES = [
    (brier_score, "plug_in", "brier"),
    (brier_score, "expected", "brier_expected_over_votes"),
    (log_score, "expected", "log_score_cross_entropy"),
    (ranked_probability_score, "plug_in", "rps"),
    (ranked_probability_score, "expected", "rps_expected_over_votes"),
    (squared_absolute_rps, "plug_in", "sa_rps_unit(RECOMMENDED)"),
    (squared_absolute_rps, "expected", "sa_rps_unit_expected_over_votes"),
]


def same(value, expected):
    if expected is None:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(float(expected), abs=1e-12)


@each_score
@pytest.mark.parametrize(
    ("function", "soft", "figure"), FIGURES, ids=lambda x: getattr(x, "__name__", x)
)
def test_scores_of_one_item(case, function, soft, figure):
    truth, model = [case["label_dist"]], [case["pred"]]
    same(function(truth, model, soft=soft), case[figure])
    metric = named(f"{function.__name__}:soft={soft}")
    same(metric(np.array(truth, float), np.array(model, float)), case[figure])


@each_score
def test_the_normalisation_is_what_other_packages_leave_out(case):
    value = ranked_probability_score([case["label_dist"]], [case["pred"]], soft="plug_in")
    other = case["rps_unnormalised(scoringrules,dlordinal,skordinal)"]
    same(value * (len(case["pred"]) - 1), other)


@each_table
@pytest.mark.parametrize("cost", ["zero_one", "linear", "quadratic"])
def test_costs_of_decisions(case, cost):
    truth = np.array(case["label_dist"])
    model = np.eye(truth.shape[1])[case["decisions"]]
    figure = cost.replace("zero_one", "01")
    same(expected_cost(truth, model, cost=cost), case[f"ec_{figure}"])
    same(normalised_expected_cost(truth, model, cost=cost), case[f"nec_{figure}"])
    same(named(f"expected_cost:cost={cost}")(truth, model), case[f"ec_{figure}"])
    same(named(f"normalised_expected_cost:cost={cost}")(truth, model), case[f"nec_{figure}"])


@each_table
def test_quadratic_weighted_kappa(case):
    truth = np.array(case["label_dist"])
    model = np.eye(truth.shape[1])[case["decisions"]]
    same(quadratic_weighted_kappa(truth, model), case["qwk"])
    same(named("quadratic_weighted_kappa")(truth, model), case["qwk"])


@pytest.mark.parametrize(
    ("score", "key"), [("ranked_probability_score", "rps"), ("brier_score", "brier")]
)
def test_retained_samples(score, key):
    truth, model, case = CURVES["y"], CURVES["probs"], CURVES["curves"][key]
    how = {"score": score, "max_removed": CURVES["max_removed"], "points": 3}
    assert_allclose(item_scores(score, truth, model), case["per_item_score"], **CLOSE)
    removed, height = retained_samples_curve(truth, model, **how)
    assert_allclose(removed, case["removed_fraction"], **CLOSE)
    assert_allclose(height, case["qwk"], **CLOSE)
    cost = retained_samples_curve(truth, model, metric="expected_cost", scale="paper", **how)[1]
    assert_allclose(cost, case["ec_linear_unnormalised"], **CLOSE)
    same(retained_samples_area(truth, model, **how), case["aursc_qwk_normalised_mean"])
    paper = {**how, "scale": "paper"}
    same(retained_samples_area(truth, model, **paper), case["aursc_qwk_percent_scale"])
    same(
        retained_samples_area(truth, model, metric="expected_cost", **paper),
        case["aursc_ec_percent_scale"],
    )
    engine = named(
        f"retained_samples_area:score={score}:metric=expected_cost:points=3:scale=paper"
    )
    value = engine(np.eye(3)[truth], np.array(model))
    same(value, case["aursc_ec_percent_scale"])
