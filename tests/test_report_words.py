"""The sentences: never more certain than the numbers they are made of."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.report import (
    annotators,
    forest,
    heatmap,
    histogram,
    influence,
    matrix,
    moves,
    words,
)
from equipoise.report.dots import common_size, lead_quantiles, stacks
from equipoise.report.verdict import verdict
from equipoise.report.view import Panel, view
from tests.report_sample import METRICS, SampleRun, Shape, header, sample

NOISE = np.linspace(-1, 1, 201)


def panel(hard, soft, *, metric=0, models=("alpha", "beta", "gamma"), redrawn=True):
    """Make a panel from (value, replicates) of each model under hard and soft labels."""
    shape = Shape(models[: len(hard)], ("",), undefined=None, items_redrawn=redrawn)
    shape = dataclasses.replace(shape, metrics=METRICS[metric : metric + 1], replicates=201)
    values = np.array([[[[value for value, _ in labels] for labels in (hard, soft)]]])
    drawn = np.array([[[[draws for _, draws in labels] for labels in (hard, soft)]]])
    return Panel(view(SampleRun(header(shape, values, drawn), drawn)), 0, 0)


def model(value, spread=0.001, shift=0.0, phase=0):
    return value, value + shift + spread * np.roll(NOISE, phase)


APART = [model(0.9), model(0.8), model(0.7)]
CLOSE = [model(0.9, 0.1), model(0.899, 0.1, phase=70), model(0.7)]
SWAPPED = [model(0.8), model(0.9), model(0.7)]
TWINS = [model(0.9), model(0.9), model(0.7)]
NOTHING = [(np.nan, np.full(201, np.nan))] * 3


def test_a_clear_winner_is_called_so():
    made = panel(APART, APART)
    assert words.headline(made) == "alpha is the best model with hard and soft labels."
    said = words.standing(verdict(made, "soft"))
    assert "ahead of beta by 0.1000 [+0.1000, +0.1000]: the interval excludes 0." in said
    assert "P(best) is 100%." in said
    assert "does not change the winner; no model changes rank." in words.change(made)


def test_an_interval_that_includes_zero_is_never_a_win():
    made = panel(CLOSE, CLOSE)
    assert words.headline(made) == (
        "alpha scores highest, but the data do not separate it from beta."
    )
    said = words.standing(verdict(made, "hard"))
    assert "the data do not separate them" in said
    assert "excludes" not in said


def test_separation_under_one_kind_of_labels_only():
    said = words.headline(panel(CLOSE, APART))
    assert said.endswith("but only soft labels separate it from every other model.")


def test_a_change_of_winner_is_said_with_its_certainty():
    sure = panel(APART, SWAPPED)
    assert words.headline(sure) == (
        "The winner depends on how disagreement is counted: alpha with hard labels, "
        "beta with soft labels."
    )
    assert "and soft labels separate the two" in words.change(sure)
    unsure = panel(CLOSE, [CLOSE[1], CLOSE[0], CLOSE[2]])
    assert words.headline(unsure).endswith("Neither choice of labels separates the two.")
    assert "but soft labels do not separate the two" in words.change(unsure)


def test_identical_models_are_called_identical():
    made = panel(TWINS, TWINS)
    assert words.headline(made).startswith("alpha and beta are identical and score highest")
    said = words.standing(verdict(made, "hard"))
    assert "alpha and beta are identical in every resample" in said
    assert "ahead of gamma by 0.2000" in said
    assert "1 pair is identical" in matrix.finding(made)


def test_equal_scores_with_different_resamples_are_tied_not_identical():
    tied = [model(0.9, 0.1), model(0.9, 0.1, phase=50), model(0.7)]
    assert "are tied" in words.headline(panel(tied, tied))


def test_two_identical_models_alone():
    made = panel(TWINS[:2], TWINS[:2])
    assert "and no other model was given" in words.headline(made)
    assert len(lead_quantiles(verdict(made, "hard"))) == 0


def test_one_model_is_not_ranked():
    made = panel(APART[:1], APART[:1])
    assert words.headline(made) == "One model, so there is nothing to rank it against."
    assert "there is no other model to compare" in words.standing(verdict(made, "hard"))
    assert words.change(made) == ""
    assert heatmap.finding(made) == "With one model there are no ranks."
    assert matrix.finding(made) == "With one model there are no pairs."


def test_undefined_is_said():
    made = panel(NOTHING, NOTHING)
    assert words.headline(made) == "AUROC is undefined for every model: no ranking."
    assert "is undefined for every model" in words.standing(verdict(made, "soft"))
    assert "cannot be compared" in words.change(made)
    assert forest.finding(made) == "AUROC has no defined interval here."
    assert matrix.finding(made) == "No difference between models is defined here."
    assert heatmap.finding(made) == "Ranks are undefined here."


def test_undefined_under_one_kind_of_labels():
    made = panel(NOTHING, APART)
    assert words.headline(made) == "alpha is the best model with soft labels."
    assert "cannot be compared" in words.change(made)


def test_a_single_defined_model_is_not_a_winner():
    lonely = [model(0.9), *NOTHING[1:]]
    assert words.headline(panel(lonely, lonely)) == (
        "Only alpha has a defined score, so there is no ranking."
    )
    assert "Undefined for beta and gamma." in words.standing(
        verdict(panel(lonely, lonely), "hard")
    )


def test_where_lower_is_better_leads_are_turned():
    made = panel(APART, APART, metric=1)
    assert verdict(made, "hard").best == ("gamma",)
    lead = made.lead("hard", "gamma", "alpha")
    assert lead.value == pytest.approx(0.2)
    assert lead.separated
    assert lead.p_better == 1
    assert made.lead("hard", "alpha", "gamma").high == pytest.approx(-0.2)
    quantiles = lead_quantiles(verdict(made, "hard"))
    assert quantiles == pytest.approx(np.full(50, 0.1))


def test_a_lead_that_resampling_reverses_is_not_trusted():
    shifted = [model(0.9, shift=-0.1), model(0.89), model(0.7)]
    made = panel(shifted, APART)
    said = words.standing(verdict(made, "hard"))
    assert "0.9000† [" in said
    assert "in the resamples the order is reversed" in said
    assert "although beta is best more often, in 100%" in said
    assert made.lead("hard", "alpha", "beta").contrary
    assert "alpha is the best model" not in words.headline(made)
    assert "With hard labels 1 of 3 scores lies outside its own interval (†)." in (
        forest.finding(made)
    )


def test_two_models_that_change_places():
    made = panel(APART[:2], SWAPPED[:2])
    assert moves.moved_words(made).startswith("The two models change places")
    assert matrix.finding(made) == ("The two models are separated with hard and soft labels.")
    still = panel(CLOSE[:2], CLOSE[:2])
    assert matrix.finding(still) == "The two models are separated with no labels."


@given(
    st.lists(st.floats(0.5, 0.9), min_size=2, max_size=3),
    st.lists(st.floats(0.001, 0.2), min_size=3, max_size=3),
)
def test_best_model_is_only_said_of_a_model_separated_from_all(values, spreads):
    made_of = [
        model(value, spread, phase=37 * place)
        for place, (value, spread) in enumerate(zip(values, spreads, strict=False))
    ]
    made = panel(made_of, made_of)
    found = verdict(made, "soft")
    lows = [made.lead("soft", found.best[0], m).low for m in made.order if m not in found.best]
    sure = len(found.best) == 1 and min(lows, default=-1.0) > 0
    assert ("is the best model" in words.headline(made)) == sure


def test_leads_are_antisymmetric():
    made = Panel(view(sample()), 0, 0)
    for a in made.order[:4]:
        for b in made.order[4:]:
            there, back = made.lead("hard", a, b), made.lead("hard", b, a)
            assert there.value == pytest.approx(-back.value)
            assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
            assert there.p_better == pytest.approx(1 - back.p_better)


def test_dots_keep_every_outcome_on_the_drawing():
    for places in (np.zeros(50), np.linspace(14, 426, 50), np.repeat([20.0, 400.0], 25)):
        size = common_size([places])
        piles = stacks(places, size)
        assert sum(height for _, height in piles) == 50
        assert max(height for _, height in piles) * size <= 104 + 1e-9


def test_findings_about_people_and_items():
    shown = view(sample())
    entries = shown.of_task("annotators", 0)
    rates = {e["annotator"]: e["base_rate"] for e in entries}
    said = annotators.finding(entries)
    assert min(rates, key=rates.get) in said
    assert max(rates, key=rates.get) in said
    truth = shown.of_task("truth", 0)[0]
    assert f"unanimous on {truth['unanimous']} of 500 items" in histogram.finding(truth)
    made = Panel(shown, 0, 0)
    entry = made.entry("influential")
    assert "view1_frontal_0000 alone would change" in influence.finding(made, entry)
    assert " by about " in influence.finding(made, entry)
    big = {**entry, "items": [{**entry["items"][0], "influence": 9.0}]}
    gap = made.lead("soft", entry["a"], entry["b"]).value
    big["items"][0]["influence"] = -2 * gap
    assert "1 item could each reverse the order" in influence.finding(made, big)
