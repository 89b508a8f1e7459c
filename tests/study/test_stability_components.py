"""Variance components: the analysis of variance, fresh studies, and words that they allow."""

import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

from equipoise.study import MACRO, Settings, evaluate
from equipoise.study.analyses import components
from equipoise.study.analyses.components import Component, Components
from equipoise.types import InputError, Predictions, cell
from tests.analysed import variance_components
from tests.oracles.bootstrap import annotations
from tests.strategies import names
from tests.study.worlds import ITEMS, world

FEW = {"settings": Settings(workers=1)}
real = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="needs the CheXpert files (EQUIPOISE_DATA)"
)


def part(source, variance, low, high):
    return Component("", "a - b", source, variance, low, high, variance**0.5, 1.0, 9.0)


def said(*parts):
    """The sentence on the difference of two models, which is called *it* here."""
    every = tuple(part(*one) for one in parts)
    found = Components("auroc", "soft", 0.95, ("a", "b"), "soft AUROC", every)
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
        "1; whether annotators (1.7) move it less cannot be told."
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
        "No items or votes move it."
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
        "No items, annotators or votes move the difference model-0 - twin in soft AUROC."
    )


def test_an_infinite_model_leaves_the_others_their_components():
    truth, given = world(3, tasks=1, models=2)
    never = Predictions("never", names(ITEMS), np.zeros(ITEMS))
    both = [*given[:1], never]
    found = variance_components(both, truth, metric="log_score", **FEW)
    rows = {(row["result"], row["source"]): row for row in found.rows()}
    assert rows["model-0", "items"]["variance"] > 0
    assert np.isnan(rows["never", "items"]["variance"])
    assert "cannot be told: it is undefined or infinite" in found.finding


def test_the_average_over_tasks_is_explained():
    truth, given = world(6, tasks=2)
    notes = " ".join(map(str, variance_components(given, truth, **FEW).notices))
    assert "With several tasks the result is the average over them" in notes
    single = variance_components(*reversed(world(6, tasks=1)), **FEW).notices
    assert not any("several tasks" in str(note) for note in single)


def test_a_large_source_leaves_the_others_readable_in_the_figure():
    parts = (part("items", 0.003, 0.0, 0.02), part("annotators", 6.0, 1.0, 9.0))
    found = Components("auroc", "soft", 0.95, ("a", "b"), "soft AUROC", parts).report()
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


def anova(votes, given):
    """Mean squares of the difference in Brier score over (items, annotators)."""
    first, second = ((one.values[:, None] - votes) ** 2 for one in given)
    each = 2 * (first - second)
    items, people = each.shape
    by_item, by_person, whole = each.mean(axis=1), each.mean(axis=0), each.mean()
    rest = each - by_item[:, None] - by_person + whole
    return (
        people * np.sum((by_item - whole) ** 2) / (items - 1),
        items * np.sum((by_person - whole) ** 2) / (people - 1),
        np.sum(rest**2) / (items - 1) / (people - 1),
    )


@pytest.mark.parametrize(("people", "lean"), [(3, 0.0), (5, 1.0), (8, 0.5)])
def test_parts_are_those_of_the_analysis_of_variance(people, lean):
    votes, given = study(7, people, lean=lean)
    found = variance_components(given, annotations(votes), metric="brier_score", **FEW)
    parts, number = of_difference(found), votes.size
    items, annotators, rest = (one / number for one in anova(votes, given))
    assert_allclose(parts["annotators"].variance, max(annotators - rest, 0), atol=1e-15)
    noise = rest + annotators / (len(votes) - 1)
    assert_allclose(parts["votes"].variance, min(noise, items))
    assert_allclose(parts["items"].variance, items - min(noise, items), atol=1e-15)
    assert_allclose(parts["total"].variance, items + max(annotators - rest, 0))
    shares = [parts[source].share for source in ("items", "annotators", "votes")]
    assert_allclose([sum(shares), parts["total"].share], 1)


def test_the_total_is_the_variance_of_the_evaluation_and_intervals_are_chi_square():
    votes, given = study(7, people=8, lean=0.5)
    done = evaluate(given, annotations(votes), metrics=["auroc"])
    (gap,), parts = (
        done.differences("auroc"),
        of_difference(components.variance_components(done)),
    )
    assert_allclose(parts["total"].deviation, gap.standard_error)
    assert_allclose(parts["total"].freedom, gap.df)
    assert 6.9 < parts["annotators"].freedom < 7.1
    spread = done.two_way("auroc").between(0, 1)
    low, high = (spread.annotators * 7 / chi2.ppf(p, 7) - spread.cells for p in (0.975, 0.025))
    assert_allclose(parts["annotators"][4:6], [max(low, 0), max(high, 0)], rtol=1e-6)


@pytest.mark.parametrize(("people", "named", "lean"), [(3, False, 0), (5, True, 1.0)])
def test_the_total_is_the_variance_of_fresh_studies(people, named, lean):
    totals, gaps = [], []
    for seed in range(240):
        votes, given = study(seed, people, lean=lean)
        truth = annotations(votes) if named else annotations(votes).anonymous()
        mean = votes.mean(axis=1)
        each = [2 * np.mean((one.values - mean) ** 2) for one in given]
        gaps.append(each[0] - each[1])
        if seed < 30:
            found = variance_components(given, truth, metric="brier_score", **FEW)
            totals.append(of_difference(found)["total"].variance)
    assert 0.75 < np.mean(totals) / np.var(gaps) < 1.35


def test_anonymous_votes_are_in_the_variance_of_items_and_nothing_is_counted_twice():
    votes, given = study(1, people=5)
    named, nobody = (
        variance_components(given, truth, metric="brier_score", **FEW)
        for truth in (annotations(votes), annotations(votes).anonymous())
    )
    parts, known = of_difference(nobody), of_difference(named)
    assert list(parts) == ["items", "votes", "total"]
    assert sum(parts[source].share for source in ("items", "votes")) == pytest.approx(1)
    assert_allclose(parts["votes"].variance, known["votes"].variance, rtol=0.05)
    assert any("Votes are anonymous" in str(note) for note in nobody.notices)


def test_items_that_do_not_matter_have_no_part():
    random = np.random.default_rng(0)
    votes = (random.random((100, 3)) < 0.5).astype(float)
    given = [Predictions(n, names(100), np.full(100, s)) for n, s in (("a", 0.4), ("b", 0.6))]
    truth = annotations(votes).anonymous()
    parts = of_difference(variance_components(given, truth, metric="brier_score", **FEW))
    assert parts["items"].variance < 0.3 * parts["votes"].variance
    sure = annotations(np.repeat(votes[:, :1], 3, axis=1))
    own = of_difference(variance_components(given, sure, metric="brier_score", **FEW))
    assert own["votes"].variance == 0 < own["items"].variance


def test_two_annotators_have_a_part_with_a_very_wide_interval():
    votes, given = study(5, people=2, lean=2.0)
    found = of_difference(variance_components(given, annotations(votes), **FEW))
    assert 0.9 < found["annotators"].freedom < 1.1
    assert found["annotators"].high > 100 * found["annotators"].variance


def test_people_without_votes_do_not_count():
    votes, given = study(3, people=5, lean=0.7)
    plain = annotations(votes)
    idle = replace(plain, annotators=(*plain.annotators, *names(20, "idle")))
    found, expected = (variance_components(given, one, **FEW) for one in (idle, plain))
    assert repr(found.parts) == repr(expected.parts)  # nan is not nan


def test_without_several_votes_per_item_there_is_only_what_items_cause():
    votes, given = study(4)
    votes[np.arange(60)[:, None] % 3 != np.arange(3)] = np.nan
    found = variance_components(given, annotations(votes), **FEW)
    assert list(of_difference(found)) == ["items", "total"]
    assert any(str(note).startswith("Votes cannot be told apart") for note in found.notices)
    half, _ = study(4)
    half[:20, 1:] = np.nan
    some = variance_components(given, annotations(half), **FEW)
    assert any(str(note).startswith("20 items with a single vote") for note in some.notices)


def test_labels_that_there_are_not_are_refused():
    truth, given = world(6, tasks=1)
    with pytest.raises(InputError, match="hard, soft"):
        variance_components(given, truth, labels="all")


@real
def test_eight_radiologists_leave_the_leader_open():
    from equipoise.datasets.chexpert import load_chexpert

    data = load_chexpert()
    found = variance_components(data.predictions, data.annotations)
    own = {p.source: p for p in found.parts if (p.task, p.result) == (MACRO, "hieupham")}
    assert own["items"].variance < own["total"].variance
    assert 0 < own["annotators"].low < own["annotators"].variance
    assert own["annotators"].freedom < 8
