"""Variance components in words: only what the intervals allow, for one model, twins, tasks."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise.analyses.components import Component, Components, variance_components
from equipoise.evaluation import Settings, evaluate
from equipoise.findings import cell
from equipoise.predictions import Predictions
from equipoise.resampling import resample
from tests.oracles.bootstrap import annotations
from tests.strategies import names
from tests.test_stability_choices import ITEMS, world

FEW = {"replicates": 60, "seed": 2, "settings": Settings(workers=1)}


def part(source, variance, low, high):
    return Component("", "a - b", source, variance, low, high, variance**0.5, 1.0, 9.0)


def said(*parts):
    """The sentence on the difference of two models, which is called *it* here."""
    every = tuple(part(*one) for one in parts)
    found = Components("auroc", "soft", 0.95, ("a", "b"), "", every)
    return found.finding.replace("the difference a - b in soft AUROC", "it")


def test_sources_are_ordered_only_where_their_intervals_are_apart():
    level = said(("items", 4.0, 2.0, 8.0), ("annotators", 3.0, 1.0, 9.0), ("votes", 2, 1, 4.0))
    assert level == (
        "Which of items, annotators and votes moves it most is open, their intervals overlap: "
        "standard deviations of items 2, annotators 1.7 and votes 1.4."
    )
    some = said(("items", 4.0, 2.0, 8.0), ("annotators", 3.0, 1.0, 9.0), ("votes", 1, 0.5, 1.9))
    assert some == (
        "Items move it more than votes: a standard deviation of 2 (1.4 to 2.8), against votes "
        "1; the intervals do not place annotators 1.7."
    )
    one = said(("annotators", 4.0, 2.0, 8.0), ("items", 1.0, 0.5, 1.9))
    assert one == (
        "Annotators move it most: a standard deviation of 2 (1.4 to 2.8), against items 1."
    )


def test_rounding_is_no_spread():
    truth, given = world(3, tasks=1, models=2)
    same = [replace(given[0], values=np.full(ITEMS, 0.3)), given[1]]
    found = variance_components(same, truth, metric="auroc", **FEW)
    parts = {p.source: p for p in found.parts if p.result == "model-0"}
    assert parts["items"].variance == parts["votes"].variance == 0


def test_nothing_undefined_and_alone_are_said_as_such():
    nan = float("nan")
    assert said(("items", 0.0, 0.0, 0.0), ("votes", 0.0, 0.0, 0.0)) == (
        "Nothing that was resampled (items and votes) moves it."
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
    (table,) = found.report().tables
    (column,) = [one for one in table.columns if one.key == "deviation"]
    assert all("[" in cell(row, column) for row in table.brief)


def test_identical_models_have_a_difference_that_nothing_moves():
    truth, given = world(3, tasks=1, models=1)
    found = variance_components([*given, replace(given[0], model="twin")], truth, **FEW)
    assert found.finding == (
        "Nothing that was resampled (items, annotators and votes) moves the difference "
        "model-0 - twin in soft AUROC."
    )


def test_an_infinite_model_leaves_the_others_their_components():
    truth, given = world(3, tasks=1, models=2)
    never = Predictions("never", names(ITEMS), np.zeros(ITEMS))
    both = [*given[:1], never]
    found = variance_components(both, truth, metric="log_score", **FEW)
    rows = {(row["result"], row["source"]): row for row in found.rows()}
    assert rows["model-0", "items"]["variance"] > 0
    assert np.isnan(rows["never", "items"]["variance"])
    assert "cannot be told: some resamples leave it undefined or infinite" in found.finding


def test_the_total_and_the_average_over_tasks_are_explained():
    truth, given = world(6, tasks=2)
    notes = " ".join(map(str, variance_components(given, truth, **FEW).notices))
    assert "Items, annotators and votes add up to the total" in notes
    assert "it is taken off there and counted once, as votes" in notes
    assert "With several tasks the result is the average over them" in notes
    single = variance_components(*reversed(world(6, tasks=1)), **FEW).notices
    assert not any("several tasks" in str(note) for note in single)


def test_a_large_source_leaves_the_others_readable_in_the_figure():
    parts = (part("items", 0.003, 0.0, 0.02), part("annotators", 6.0, 1.0, 9.0))
    found = Components("auroc", "soft", 0.95, ("a", "b"), "", parts).report()
    difference = found.charts[0]
    assert difference.logarithmic and [dot.label for dot in difference.rows] == [
        "items",
        "annotators",
    ]
    assert difference.rows[0].low == 0 and difference.rows[1].high == 3


def study(seed, people=3, items=60, lean=0.0, noise=(0.8, 1.3)):
    """Votes (items, people) of items of known difficulty, and the scores of two models."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=items)
    chance = 1 / (1 + np.exp(-1.5 * hidden[:, None] - lean * random.normal(size=people)))
    votes = (random.random((items, people)) < chance).astype(float)
    scores = [1 / (1 + np.exp(-hidden - s * random.normal(size=items))) for s in noise]
    given = [Predictions(f"m{k}", names(items), s) for k, s in enumerate(scores)]
    return votes, given


def of_difference(found):
    return {p.source: p for p in found.parts if " - " in p.result}


@pytest.mark.parametrize(("people", "named", "lean"), [(3, False, 0), (5, True, 1.0)])
def test_the_total_is_the_variance_of_fresh_studies(people, named, lean):
    how = FEW | {"replicates": 100}
    totals, gaps = [], []
    for seed in range(240):
        votes, given = study(seed, people, lean=lean)
        truth = annotations(votes) if named else annotations(votes).anonymous()
        mean = votes.mean(axis=1)
        each = [2 * np.mean((one.values - mean) ** 2) for one in given]
        gaps.append(each[0] - each[1])
        if seed < 30:
            found = variance_components(given, truth, metric="brier_score", **how)
            totals.append(of_difference(found)["total"].variance)
    assert 0.75 < np.mean(totals) / np.var(gaps) < 1.35


def test_anonymous_votes_are_in_the_variance_of_items_and_nothing_is_counted_twice():
    votes, given = study(1)
    truth = annotations(votes).anonymous()
    found = of_difference(variance_components(given, truth, **FEW))
    plan = resample(truth, "items", replicates=60, seed=2)
    drawn = evaluate(given, truth, metrics=["auroc"], resampling=plan).replicates[0, 0, 1]
    assert found["total"].variance == pytest.approx(np.var(drawn[0] - drawn[1], ddof=1))
    shares = [found[source].share for source in ("items", "votes")]
    assert sum(shares) == pytest.approx(1) and found["total"].share == 1


def test_items_that_do_not_matter_have_no_part():
    random = np.random.default_rng(0)
    votes = (random.random((100, 3)) < 0.5).astype(float)
    given = [Predictions(n, names(100), np.full(100, s)) for n, s in (("a", 0.4), ("b", 0.6))]
    truth = annotations(votes).anonymous()
    how = FEW | {"replicates": 400}
    found = variance_components(given, truth, metric="brier_score", **how)
    parts = of_difference(found)
    assert parts["items"].variance < 0.3 * parts["votes"].variance
    assert parts["items"].low == 0
    sure = annotations(np.repeat(votes[:, :1], 3, axis=1))
    own = of_difference(variance_components(given, sure, metric="brier_score", **how))
    assert own["votes"].variance == 0 < own["items"].variance


def test_a_part_below_zero_is_zero_and_said():
    for seed in range(20):
        votes, given = study(seed)
        found = variance_components(given, annotations(votes), **FEW)
        low = [p for p in found.parts if p.source == "annotators" and p.variance == 0]
        said = [str(note) for note in found.notices if note.code == "components_below_zero"]
        assert bool(low) == bool(said)
        if low:
            assert f"annotators in {len(low)}" in said[0]
            assert all(p.low == 0 <= p.high and p.deviation == 0 for p in low)
            return
    pytest.fail("no part below zero in 20 studies")


def test_people_without_votes_on_scored_items_do_not_count():
    votes, given = study(3, people=5, lean=0.7)
    plain = annotations(votes)
    idle = replace(plain, annotators=(*plain.annotators, *names(20, "idle")))
    expected = variance_components(given, plain, **FEW)
    found = variance_components(given, idle, **FEW)
    assert repr(found.parts) == repr(expected.parts)  # nan is not nan
    assert "20 of 25 annotators without a vote" in " ".join(map(str, found.notices))
    assert "idle_annotators" not in [note.code for note in expected.notices]
    others = np.full((60, 9), np.nan)
    others[30:, 5:], others[:30, :5] = votes[30:, :4], votes[:30]
    some = [Predictions(p.model, p.items[:30], p.values[:30]) for p in given]
    how = FEW | {"settings": Settings(workers=1, on_missing="drop")}
    dropped = variance_components(some, annotations(others), **how)
    annotators = of_difference(dropped)["annotators"]
    assert not np.isnan(annotators.variance)
    notes = " ".join(map(str, dropped.notices))
    assert "4 of 9 annotators without a vote" in notes and "Dropped 30" in notes


def test_without_several_votes_per_item_there_is_no_total():
    votes, given = study(4)
    votes[np.arange(60)[:, None] % 3 != np.arange(3)] = np.nan
    found = variance_components(given, annotations(votes), **FEW)
    assert found.total == "" and "total" not in of_difference(found)
    assert any(str(note).startswith("Votes cannot be told apart") for note in found.notices)
    half, _ = study(4)
    half[:20, 1:] = np.nan
    some = variance_components(given, annotations(half), **FEW)
    assert any(str(note).startswith("20 items with a single vote") for note in some.notices)
