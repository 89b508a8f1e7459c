"""Variance components in words: only what the intervals allow, for one model, twins, tasks."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise.arrays import InputError
from equipoise.cli._stability_lines import LINES
from equipoise.evaluation import Settings
from equipoise.predictions import Predictions
from equipoise.stability._component_words import Component, components_said
from equipoise.stability.components import variance_components
from tests.strategies import names
from tests.test_stability_choices import ITEMS, world

FEW = {"replicates": 60, "seed": 2, "settings": Settings(workers=1)}


def part(source, variance, low, high):
    return Component("", "a - b", source, variance, low, high, variance**0.5, 1.0, 9.0)


def said(*parts):
    return components_said([part(*one) for one in parts], "it")


def test_sources_are_ordered_only_where_their_intervals_are_apart():
    level = said(("items", 4.0, 2.0, 8.0), ("annotators", 3.0, 1.0, 9.0), ("votes", 2, 1, 4.0))
    assert level == (
        "Items, annotators and votes move it about equally, as far as their intervals tell: "
        "standard deviations of 1.4 to 2."
    )
    some = said(("items", 4.0, 2.0, 8.0), ("annotators", 3.0, 1.0, 9.0), ("votes", 1, 0.5, 1.9))
    assert some == (
        "Items move it more than votes: a standard deviation of 2 (1.4 to 2.8), against votes "
        "1; the intervals do not place annotators 1.7."
    )
    one = said(("model choice", 4.0, 2.0, 8.0), ("items", 1.0, 0.5, 1.9))
    assert one == (
        "Model choice moves it most: a standard deviation of 2 (1.4 to 2.8), against items 1."
    )


def test_rounding_is_no_spread_and_equal_sizes_are_said_once():
    assert said(("items", 4.0, 2.0, 8.0), ("votes", 4.01, 2, 9)).endswith("deviations of 2.")
    truth, given = world(3, tasks=1, models=2)
    same = [replace(given[0], values=np.full(ITEMS, 0.3)), given[1]]
    found = variance_components(same, truth, metric="auroc", **FEW)
    parts = {p.source: p for p in found.parts if p.result == "model-0"}
    assert parts["items"].variance == parts["votes"].variance == 0


def test_nothing_undefined_and_alone_are_said_as_such():
    nan = float("nan")
    assert said(("items", 0.0, 0.0, 0.0), ("votes", 0.0, 0.0, 0.0)) == (
        "Nothing that was drawn anew (items and votes) moves it."
    )
    assert "cannot be told" in said(("items", nan, nan, nan))
    alone = said(("items", 4.0, 1.0, 9.0), ("votes", nan, nan, nan))
    assert alone == (
        "Items move it by a standard deviation of 2 (1 to 3); no other source can be looked at."
    )


def test_one_model_is_told_by_its_own_value():
    truth, given = world(3, tasks=1, models=1)
    found = variance_components(given, truth, **FEW)
    assert "soft AUROC of model-0" in found.finding and "difference" not in found.finding
    heads, lines = LINES["components"](
        {"rows": found.rows()}, {"tasks": [""], "metrics": [{"name": "auroc"}]}
    )
    assert "interval" in heads[2] and all("[" in line[2] or not line[2] for line in lines)


def test_identical_models_have_a_difference_that_nothing_moves():
    truth, given = world(3, tasks=1, models=1)
    found = variance_components([*given, replace(given[0], model="twin")], truth, **FEW)
    assert found.finding == (
        "Nothing that was drawn anew (items, annotators, votes and model choice) moves the "
        "difference model-0 - twin in soft AUROC."
    )


def test_an_infinite_model_leaves_the_others_their_components():
    truth, given = world(3, tasks=1, models=2)
    never = Predictions("never", names(ITEMS), np.zeros(ITEMS))
    both = [*given[:1], never]
    found = variance_components(both, truth, metric="log_score", **FEW)
    rows = {(row["result"], row["source"]): row for row in found.rows()}
    assert rows["model-0", "items"]["variance"] > 0
    assert np.isnan(rows["never", "items"]["variance"])
    assert "cannot be told: some redraws leave it undefined or infinite" in found.finding


def test_the_total_and_the_average_over_tasks_are_explained():
    truth, given = world(6, tasks=2)
    notes = " ".join(variance_components(given, truth, **FEW).notices)
    assert (
        "The total is the variance when items and annotators are drawn anew together" in notes
    )
    assert "With several tasks the result is the average over them" in notes
    single = " ".join(variance_components(*reversed(world(6, tasks=1)), **FEW).notices)
    assert "several tasks" not in single


@pytest.mark.parametrize("change", [
    {"predictions": "x"}, {"annotations": "x"}, {"metric": 3}, {"metric": ["auroc"]},
    {"models": "glad"}, {"models": [3]}, {"models": 3}, {"labels": 2}, {"replicates": 1.5},
    {"seed": "a"}, {"settings": 3}, {"reliability": "a"}, {"reliability": 0},
    {"threshold": "a"}, {"progress": 3},
])  # fmt: skip
def test_arguments_of_a_wrong_type_are_refused_in_four_parts(change):
    truth, given = world(3, tasks=1, models=2)
    how = {"predictions": given, "annotations": truth, **FEW, **change}
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
        variance_components(how.pop("predictions"), how.pop("annotations"), **how)


def test_a_large_source_leaves_the_others_readable_in_the_figure():
    from equipoise.report.stability_components import _row, _scale, _ticks

    sizes = {"items": 0.0055, "annotators": 0.0075, "votes": 0.0028, "model choice": 0.078}
    scale = _scale([*sizes.values(), 0.22, 0.0, float("nan")])
    places = sorted(scale(np.log10(one)) for one in sizes.values())
    assert min(np.diff(places)) > 5  # on an even axis all but the last are within 4
    assert 2 <= len(_ticks(scale)) <= 6
    none = {"source": "interaction", "variance": -0.1, "low": -1.0, "high": 0.01}
    drawn = str(_row(none, scale, 0.0))
    assert "none" in drawn and drawn.count("<path") == 1
    undefined = {"source": "votes", "variance": None, "low": None, "high": None}
    assert "undefined" in str(_row(undefined, scale, 0.0))
