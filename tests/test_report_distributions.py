"""Sections on predicted probabilities: right numbers, true sentences, harmless pages."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equipoise.metrics import expected_calibration_error, item_scores
from equipoise.run import Provenance, record
from equipoise.run.findings.panels import RunView
from equipoise.run.findings.predictions import (
    calibration_words,
    hardest_words,
    retained_words,
)
from equipoise.run.record import HardItem, ReliabilityRow, read
from equipoise.run.recording import predicted
from tests.report_distributions_sample import (
    GRADES,
    MODELS,
    evaluated,
    made,
    models,
    sample_runs,
    votes,
)
from tests.report_sample import HOSTILE, finding, opened, render, section
from tests.test_report import Reader

PARTS = ("reliability", "retained", "hardest")


@pytest.fixture(scope="module")
def runs():
    return sample_runs()


def test_reliability_is_the_calibration_error_with_ten_bins():
    table = votes()
    result = evaluated(table, models(table))
    (one,) = predicted(result)
    (entry,) = record(result, Provenance()).header["reliability"]
    for row in entry["models"]:
        error = expected_calibration_error(one.labels, one.models[row["model"]], bins=10)
        assert row["error"] == pytest.approx(error, abs=1e-12)
        assert sum(items for *_, items in row["bins"]) == len(table.items)
        mean = sum(p * n for p, _, n in row["bins"]) / len(table.items)
        assert row["predicted"] == pytest.approx(mean)
        assert row["predicted"] == pytest.approx(one.models[row["model"]].max(axis=1).mean())


def test_with_two_classes_the_second_is_what_is_predicted(runs):
    (entry,) = runs["yes or no"].header["reliability"]
    assert entry["class"] == "yes"
    said = finding(runs["yes or no"], "reliability").sentence
    assert "predicted probability of yes is off by" in said
    assert "from the share of votes for it" in said


def test_hardest_items_are_those_of_the_best_model_by_the_first_proper_score():
    table = votes()
    result = evaluated(table, models(table), ("accuracy", "log_score", "brier_score"))
    (one,) = predicted(result)
    (entry,) = record(result, Provenance()).header["hardest"]
    means = {m: item_scores("log_score", one.labels, p).mean() for m, p in one.models.items()}
    assert (entry["metric"], entry["asked"]) == ("log_score", True)
    assert entry["model"] == min(means, key=means.get)
    assert entry["mean"] == pytest.approx(means[entry["model"]])
    scores = item_scores("log_score", one.labels, one.models[entry["model"]])
    assert [i["score"] for i in entry["items"]] == pytest.approx(np.sort(scores)[::-1][:10])
    first = entry["items"][0]
    assert [part["class"] for part in first["shares"]] == list(GRADES)
    assert sum(part["observed"] for part in first["shares"]) == pytest.approx(1)
    assert sum(part["votes"] for part in first["counts"]) == first["votes"] == 5


def test_without_a_finite_proper_score_the_brier_score_is_taken():
    plain = made(metrics=("accuracy",)).header["hardest"][0]
    assert (plain["metric"], plain["asked"]) == ("brier_score", False)
    impossible = made(metrics=("log_score",), impossible=MODELS).header["hardest"][0]
    assert impossible["metric"] == "brier_score"


def test_the_mean_of_a_curve_is_its_area(runs):
    run = runs["grades"]
    (entry,) = run.header["retained"]
    rows = {
        row["model"]: row["value"]
        for row in run.header["rows"]
        if row["metric"] == entry["metric"] and row["labels"] == "soft"
    }
    for one in entry["models"]:
        heights = np.array(one["heights"])
        assert ((heights[1:] + heights[:-1]) / 2).mean() == pytest.approx(rows[one["model"]])
    assert entry["removed"][0] == 0
    assert entry["removed"][-1] == pytest.approx(0.2)


def test_scores_of_a_yes_no_question_are_probabilities_only_when_asked_so():
    table = votes(("no", "yes"), "binary")
    header = made(table, ("auroc",)).header
    assert [header[part] for part in PARTS] == [[], [], []]
    asked = made(table, ("auroc", "accuracy")).header
    assert asked["reliability"]
    assert not asked["retained"]
    nominal = made(votes(("a", "b", "c"), "nominal"), ("auroc",)).header
    assert nominal["reliability"]
    assert nominal["hardest"]


def test_probabilities_of_classes_that_the_truth_lacks_are_not_shown():
    table = votes(("a", "b", "c"), "nominal")
    result = evaluated(table, models(table), ("auroc",))
    short = tuple({m: p * 0.9 for m, p in one.items()} for one in result.scores)
    near = tuple({m: p * 0.9995 for m, p in one.items()} for one in result.scores)
    assert list(predicted(dataclasses.replace(result, scores=short))) == []
    (one,) = predicted(dataclasses.replace(result, scores=near))
    assert np.allclose(one.models["bold"].sum(axis=1), 1, rtol=0, atol=1e-12)


def test_a_run_without_the_entries_lacks_the_sections(runs):
    run = runs["grades"]
    old = {key: value for key, value in run.header.items() if key not in PARTS}
    ids = re.findall(r"<section id=(\w+)", render(opened(old, run.replicates)))
    assert not set(PARTS) & set(ids)
    assert set(PARTS) <= set(re.findall(r"<section id=(\w+)", render(run)))


@pytest.mark.parametrize(
    "name", ["grades", "many classes", "yes or no", "two tasks", "one model"]
)
def test_pages_are_harmless_small_and_say_no_raw_numbers(runs, name):
    text = render(runs[name])
    read = Reader(text)
    assert not {"b", "script src", "img"} & set(read.tags)
    assert len(text.encode()) < 300_000
    told = " ".join(read.words[2:-3])
    assert not re.search(r"(?<![\w&;])(nan|None|NaN|inf)(?![\w])", told)
    drawings = [dict(pairs).get("aria-label") for pairs in _svg(text)]
    assert all(drawings)


def _svg(text):
    return [
        re.findall(r'([\w-]+)=("[^"]*"|[^\s>]+)', tag)
        for tag in re.findall(r"<svg[^>]*>", text)
    ]


def test_hostile_names_are_shown_in_every_section(runs):
    page = render(runs["grades"])
    assert "&lt;b&gt;x&lt;/b&gt;" in section(page, "reliability")
    assert "&lt;b&gt;x&lt;/b&gt;" in section(page, "retained")
    assert HOSTILE not in page


def test_a_typical_run_has_a_small_page():
    names = ("one", "two", "three", "four", "five")
    text = render(made(names=names))
    assert len(text.encode()) < 300_000
    for part in PARTS:
        body = section(text, part)
        assert "class=finding" in body
        assert "<figure" in body
        assert "<details>" in body
        assert "class=note" in body


# --- sentences


def bins(*rows):
    total = sum(n for *_, n in rows)
    return {
        "bins": [list(row) for row in rows],
        "error": sum(abs(p - o) * n for p, o, n in rows) / total,
        "predicted": sum(p * n for p, _, n in rows) / total,
        "observed": sum(o * n for _, o, n in rows) / total,
    }


def calibration(by_model, positive=None):
    every = [{"model": name, **one} for name, one in by_model.items()]
    return {"class": positive, "from_votes": True, "models": every, "bins": 10, "task": ""}


def said_of(by_model, positive=None):
    return calibration_words(read(ReliabilityRow, calibration(by_model, positive)))


def test_the_sentence_on_calibration_names_the_right_models_and_side():
    fine, sure = bins((0.5, 0.52, 10)), bins((0.9, 0.6, 10))
    shy = bins((0.4, 0.9, 10))
    said = said_of({"fine": fine, "sure": sure})
    assert said.startswith("fine is best calibrated: ")
    assert "off by 2.0 percentage points" in said
    assert "sure is furthest off, by 30.0 percentage points." in said
    assert "On the whole it is too sure: it says 90%, and 60% of the votes agree." in said
    assert "shy is furthest off" in said_of({"fine": fine, "shy": shy})
    assert "not sure enough: it says 40%, and 90%" in said_of({"fine": fine, "shy": shy})
    assert "too high: it says 90%, and 60% of the votes are for it" in said_of(
        {"fine": fine, "sure": sure}, "ill"
    )
    both = said_of({"a": fine, "b": fine})
    assert both.startswith("a and b are best calibrated")
    assert "furthest" not in both
    assert "best" not in said_of({"a": fine})


def test_errors_on_both_sides_have_no_side():
    mixed = bins((0.2, 0.4, 10), (0.8, 0.6, 10))
    assert "On the whole" not in said_of({"mixed": mixed})


share = st.floats(0.01, 0.99)
row_of = st.tuples(share, share, st.integers(1, 50))


@given(st.lists(row_of, min_size=1, max_size=5), st.lists(row_of, min_size=1, max_size=5))
@settings(max_examples=60, deadline=None)
def test_the_best_calibrated_model_has_the_smallest_error(first, second):
    one, two = bins(*first), bins(*second)
    said = said_of({"one": one, "two": two})
    if one["error"] < two["error"] - 1e-9:
        assert said.startswith("one is best calibrated")
        assert "two is furthest off" in said
    if "too sure" in said:
        worst = max((one, two), key=lambda each: each["error"])
        assert worst["predicted"] > worst["observed"]


def test_the_sentence_on_the_hardest_item_tells_both_sides(runs):
    run = runs["grades"]
    (entry,) = run.header["hardest"]
    said = finding(run, "hardest").sentence
    top = entry["items"][0]
    guess = max(top["shares"], key=lambda part: part["predicted"])
    most = max(part["observed"] for part in top["shares"])
    assert f"class {guess['class']}" in said
    assert ("it says" in said) == (guess["observed"] < most - 1e-12)
    wrong = 0
    for one in entry["items"]:
        first = max(one["shares"], key=lambda part: part["predicted"])
        wrong += first["observed"] < max(p["observed"] for p in one["shares"]) - 1e-12
    assert f"On {wrong} of these 10 items the first choice" in said
    agreeing = {"class": "a", "predicted": 0.7, "observed": 0.5}
    other = {"class": "b", "predicted": 0.3, "observed": 0.5}
    tied = {"item": "x", "score": 1.0, "shares": [agreeing, other], "votes": 2}
    row = dataclasses.replace(run.record.hardest[0], items=(read(HardItem, tied),))
    assert "it gives class a 70%, the votes 50%. On 0 of this 1 item" in hardest_words(
        RunView(run), row
    )


def test_the_sentence_on_retained_samples_claims_no_more_than_the_verdict(runs):
    run = runs["grades"]
    (entry,) = run.header["retained"]
    place = [metric["name"] for metric in run.header["metrics"]].index(entry["metric"])
    panel = RunView(run).panels()[place]
    said = retained_words(panel, run.record.retained[0])
    values = {model: panel.score("soft", model).value for model in panel.view.models}
    best = max(values, key=values.get)
    assert said.startswith(f"{best} has the highest")
    others = [m for m in values if m != best]
    clear = all(panel.lead("soft", best, other).separated for other in others)
    assert ("do not separate" in said) == (not clear)
    heights = next(one["heights"] for one in entry["models"] if one["model"] == best)
    assert ("rises to" in said) == (heights[-1] > heights[0])


def test_where_a_cost_is_removed_the_lowest_is_best():
    run = made(metrics=("retained_samples_area:metric=expected_cost",))
    panel = RunView(run).panels()[0]
    said = retained_words(panel, run.record.retained[0])
    values = {model: panel.score("soft", model).value for model in panel.view.models}
    assert said.startswith(f"{min(values, key=values.get)} has the lowest")
    assert "falls to" in said
