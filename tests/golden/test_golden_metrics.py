"""Golden values of the ranking metrics: tests/golden/metrics.json says where they come from."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from equipoise.metrics import (
    Copies,
    auroc,
    auroc_one_vs_one,
    auroc_per_class,
    average_precision,
    named,
    precision_at_k,
    recall_at_k,
)

GOLDEN = json.loads((Path(__file__).parent / "metrics.json").read_text(encoding="utf-8"))
BINARY = GOLDEN["binary"]
every_case = pytest.mark.parametrize("case", BINARY.values(), ids=BINARY)


def same(value, expected):
    if expected is None:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(expected, abs=1e-12)


@every_case
@pytest.mark.parametrize("form", ["pairs", "trapezoid", "strict", "inclusive", "expected"])
def test_auroc(case, form):
    if form not in case["sauroc"]:
        pytest.skip(f"no golden value for form {form}")
    same(auroc(case["p"], case["scores"], form=form), case["sauroc"][form])
    metric = named(f"auroc:form={form}")
    same(metric(np.array(case["p"], float), np.array(case["scores"])), case["sauroc"][form])


@every_case
@pytest.mark.parametrize("form", ["conditional", "printed", "expected"])
@pytest.mark.parametrize("ties", ["block", "random"])
def test_average_precision(case, form, ties):
    key = f"{form}.{ties}"
    if key not in case["sap"]:
        pytest.skip(f"no golden value for {key}")
    same(average_precision(case["p"], case["scores"], form=form, ties=ties), case["sap"][key])
    metric = named(f"average_precision:form={form}:ties={ties}")
    same(metric(np.array(case["p"], float), np.array(case["scores"])), case["sap"][key])


@every_case
def test_precision_and_recall_at_k(case):
    for k, values in case.get("at_k", {}).items():
        same(precision_at_k(case["p"], case["scores"], int(k)), values["soft_precision"])
        same(recall_at_k(case["p"], case["scores"], int(k)), values["soft_recall"])
        truth, scores = np.array(case["p"], float), np.array(case["scores"])
        same(named(f"precision_at_{k}")(truth, scores), values["soft_precision"])
        same(named(f"recall_at_{k}")(truth, scores), values["soft_recall"])


@every_case
def test_influence_standard_error(case):
    if "pairs_IF_SE" not in case["sauroc"]:
        pytest.skip("no golden standard error")
    expected = case["sauroc"]["pairs_IF_SE"]
    metric = named("auroc")
    order = metric.prepare(np.array(case["scores"], float))[0]
    g = metric.influence(order, np.array(case["p"], float)).items
    same(math.sqrt((g**2).sum()), expected)


def test_with_counts():
    case = GOLDEN["binary_with_counts"]
    p, s, copies = case["p"], case["scores"], Copies(case["counts"])
    same(auroc(p, s, weights=copies), case["sauroc.pairs"])
    same(auroc(p, s, form="trapezoid", weights=copies), case["sauroc.trapezoid"])
    same(average_precision(p, s, weights=copies), case["sap.conditional.block"])
    same(average_precision(p, s, form="printed", weights=copies), case["sap.printed.block"])


def test_multiclass():
    case = GOLDEN["multiclass"]
    truth, probs = np.array(case["label_distributions"]), np.array(case["probs"])
    np.testing.assert_allclose(
        auroc_per_class(truth, probs), case["sauroc_ovr_per_class"], atol=1e-12
    )
    same(auroc(truth, probs), case["sauroc_ovr_macro"])
    same(named("auroc")(truth, probs), case["sauroc_ovr_macro"])
    same(named("auroc:average=weighted")(truth, probs), case["sauroc_ovr_weighted"])
    same(auroc_one_vs_one(truth, probs), case["sauroc_ovo_macro_hand_till"])
    same(average_precision(truth, probs), case["sap_macro"])
    same(named("average_precision")(truth, probs), case["sap_macro"])
