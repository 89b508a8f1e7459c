"""Clear cases: certainties are exact, cut-offs score what they keep, sentences stay true."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import betainc

from equipoise import Annotations, Predictions, evaluate
from equipoise.study.analyses.certainty import (
    LEVELS,
    SURE,
    _cutoffs,
    clear_cases,
    sorted_points,
)
from equipoise.truth import dirichlet

RANDOM = np.random.default_rng(3)
ITEMS = 60
YES = RANDOM.integers(0, 10, ITEMS)
NAMES = tuple(f"scan {n}" for n in range(ITEMS))
VOTES = Annotations.from_counts(
    np.stack([9 - YES, YES], axis=1), items=NAMES, classes=("no", "yes")
).against("yes")
NOISE = [RANDOM.normal(0, 1 + m, ITEMS) for m in range(3)]
MODELS = [
    Predictions(f"net {m}", NAMES, 1 / (1 + np.exp(4.5 - YES - noise)))
    for m, noise in enumerate(NOISE)
]


def found_in(models=MODELS, votes=VOTES, **how):
    return clear_cases(models, votes, **({"replicates": 30} | how))


def sure_of(yes):
    """Probability that the leading side has the larger share, with the votes' own prior."""
    made = dirichlet(VOTES)
    no, also = made.parameters["concentration"] * np.array(made.parameters["base_rate"])
    above = float(betainc(9 - yes + no, yes + also, 0.5))
    return max(above, 1 - above)


def test_certainties_are_exact_and_cut_offs_keep_equals_together():
    exact = np.array([sure_of(y) for y in YES.tolist()])
    found = found_in()
    steps = list(found.cutoffs)
    assert {round(one, 7) for one in steps} <= set(exact.round(7)) and len(steps) > 4
    kept = {row["certainty"]: row["items"] for row in found.rows()}
    assert list(kept.values()) == [(exact >= c - 1e-8).sum() for c in steps]
    (first, *_) = found.curves
    assert first.below == (exact < SURE).sum()
    assert first.mean == pytest.approx(exact.mean())
    below = [one.share_below for one in found.curves]
    assert below == sorted(below, reverse=True)


def test_values_are_those_of_an_evaluation_of_what_is_kept():
    found = found_in()
    for least in found.cutoffs[1:3]:
        rows = [row for row in found.rows() if row["certainty"] == least]
        keep = [
            n for n, y in enumerate(YES.tolist())
            if sure_of(y) >= least - 1e-8
        ]  # fmt: skip
        names = tuple(NAMES[n] for n in keep)
        votes = Annotations.from_counts(
            np.stack([9 - YES, YES], axis=1)[keep], items=names, classes=("no", "yes")
        ).against("yes")
        models = [Predictions(one.model, names, one.values[keep]) for one in MODELS]
        done = evaluate(models, votes, metrics=["auroc"])
        assert len(keep) == rows[0]["items"] < ITEMS
        for row in rows:
            assert row["value"] == pytest.approx(done.estimate(row["model"], "auroc").value)
            assert row["change"] == pytest.approx(
                row["value"]
                - next(r["value"] for r in found.rows() if r["model"] == row["model"])
            )
            assert row["low"] <= row["value"] <= row["high"]


def test_several_tasks_are_averaged_and_told_one_by_one():
    from tests.report_stability_sample import study

    found = found_in(*study(items=40))
    assert found.task == "macro average"
    assert [one.task for one in found.shares][:4] == [
        "lung", "heart", "bone", "all tasks together"
    ]  # fmt: skip
    assert found.curves[0].items == 3 * 40
    assert found.finding.startswith("Over all tasks the votes leave ")


def test_sentences_hold_for_one_model_and_for_metrics_where_less_is_better():
    alone = found_in(MODELS[:1])
    assert "soft AUROC is " in alone.finding
    assert "leads" not in alone.finding
    assert len(alone.report().charts) == 2
    lower = found_in(metric="brier_score")
    whole = [row for row in lower.rows() if row["certainty"] == lower.cutoffs[0]]
    best = min(whole, key=lambda row: row["value"])
    assert best["rank"] == 1
    assert best["model"] in lower.finding


def test_sentences_hold_where_every_item_is_clear_and_where_none_can_be_scored():
    clear = Annotations.from_counts(
        np.array([[40, 0], [0, 40], [40, 0], [0, 40]]), items=NAMES[:4], classes=("no", "yes")
    ).against("yes")
    models = [Predictions(one.model, NAMES[:4], one.values[:4]) for one in MODELS]
    assert found_in(models, clear).finding == "Every item is clear: no certainty is below 0.99."
    thin = Annotations.from_counts(
        np.array([[1, 0], [0, 1], [1, 0], [20, 0]]), items=NAMES[:4], classes=("no", "yes")
    ).against("yes")
    found = found_in(models, thin)
    assert found.finding.endswith("cannot be scored on the clearer ones alone.")
    assert any("is not defined for every model" in str(one) for one in found.notices)
    assert found.rows()[-1]["status"] == "undefined"


def test_items_of_one_certainty_cannot_be_left_out():
    alike = Annotations.from_counts(
        np.array([[4, 1], [1, 4]] * 6), items=NAMES[:12], classes=("no", "yes")
    ).against("yes")
    models = [Predictions(one.model, NAMES[:12], one.values[:12]) for one in MODELS]
    found = found_in(models, alike)
    assert found.finding.endswith("All are equally certain, so none can be left out.")
    assert len(found.cutoffs) == 1


def test_a_tie_that_begins_is_not_called_a_change_of_hands():
    yes = np.array([9, 9, 9, 0, 0, 0, 5, 4] * 4)
    names = NAMES[:32]
    votes = Annotations.from_counts(
        np.stack([9 - yes, yes], axis=1), items=names, classes=("no", "yes")
    ).against("yes")
    clear = np.isin(yes, (0, 9))
    best, flawed = yes / 9, np.where(clear, yes / 9, 1 - yes / 9)
    models = [Predictions("best", names, best), Predictions("flawed", names, flawed),
              Predictions("poor", names, 1 - best)]  # fmt: skip
    said = found_in(models, votes, labels="hard").finding
    assert "best and flawed lead by hard AUROC, flawed now tied with best;" in said


def test_a_lead_that_changes_hands_is_told_with_its_interval():
    yes = np.array([9, 9, 0, 0, 5, 6, 5, 4, 4, 3] * 3)
    names = NAMES[:30]
    votes = Annotations.from_counts(
        np.stack([9 - yes, yes], axis=1), items=names, classes=("no", "yes")
    ).against("yes")
    clear = np.isin(yes, (0, 9))
    right = yes / 9
    on_clear = np.where(clear, right, 1 - right)
    on_open = np.where(clear, 0.5 + 0.1 * np.sin(np.arange(30)), right)
    models = [Predictions("sure", names, on_clear), Predictions("subtle", names, on_open)]
    found = found_in(models, votes, labels="hard")
    assert "sure leads by hard AUROC in place of subtle, 0.44 ahead (0." in found.finding
    values = {(row["model"], row["certainty"]): row["value"] for row in found.rows()}
    first, last = found.cutoffs[0], found.cutoffs[-1]
    assert values["sure", first] < values["subtle", first]
    assert values["sure", last] - values["subtle", last] == pytest.approx(0.44, abs=0.005)


def test_an_end_that_is_zero_but_for_rounding_is_written_as_zero():
    told = replace(
        found_in(),
        study=SimpleNamespace(ends=lambda *_, **__: (-5.8e-17, 0.0251)),
        models=("a", "b"),
        values=np.array([[0.9, 0.888]]),
        drawn=np.zeros((1, 2, 3)),
    )
    assert told._gap(0, "a", "b") == ", 0.012 ahead, which may be chance (0 to 0.025)"


def test_the_line_is_that_of_sorted_certainties():
    many = RANDOM.random(5000)
    points = np.array(sorted_points(many))
    assert len(points) <= 2 * LEVELS + 1
    assert np.all(np.diff(points, axis=0) >= 0)
    assert np.interp(0.5, *points.T) == pytest.approx(np.median(many), abs=0.01)
    few = np.array(sorted_points(np.repeat([0.5, 0.9, 1.0], [1, 2, 1])))
    assert few.tolist() == [[0, 0.5], [0.25, 0.5], [0.25, 0.9], [0.75, 0.9], [0.75, 1], [1, 1]]


def test_cut_offs_of_many_certainties_are_few_and_hold_the_clear_one():
    steps = _cutoffs(np.append(RANDOM.random(2000) * 0.98, [0.9912, 0.999]))
    assert len(steps) <= 9
    assert list(steps) == sorted(set(steps))
    assert 0.9912 in steps
    assert _cutoffs(np.array([0.7])) == (0.7,)


def test_certainty_is_a_finding_with_tables_and_charts():
    found = found_in()
    finding = found.report()
    table, shares = finding.tables
    assert len(table.rows) == len(found.rows()) and len(table.brief) == len(found.cutoffs)
    assert [row["reliability"] for row in shares.rows] == [c.reliability for c in found.curves]
    certainty, value, ranks = finding.charts
    assert [line.name for line in certainty.lines] == [
        f"reliability {one.reliability:g}" for one in found.curves
    ]
    assert value.lines[0].band is not None and ranks.downward
    assert "[@stutz2025]" in finding.methods
