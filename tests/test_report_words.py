"""The sentences: never more certain than the numbers they are made of."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.run.findings.influence import influence_words
from equipoise.run.findings.panels import RunView
from equipoise.run.findings.verdict import disagreement, headline, lead_replicates, standing
from tests.report_sample import METRICS, Shape, finding, header, opened, sample

NOISE = np.linspace(-1, 1, 201)


def panel(hard, soft, *, metric=0, models=("alpha", "beta", "gamma"), redrawn=True):
    """Make a panel from (value, replicates) of each model under hard and soft labels."""
    shape = Shape(models[: len(hard)], ("",), undefined=None, items_redrawn=redrawn)
    shape = dataclasses.replace(shape, metrics=METRICS[metric : metric + 1], replicates=201)
    values = np.array([[[[value for value, _ in labels] for labels in (hard, soft)]]])
    drawn = np.array([[[[draws for _, draws in labels] for labels in (hard, soft)]]])
    return RunView(opened(header(shape, values, drawn), drawn)).panels()[0]


def said_by(made, key):
    """The sentence of the finding of a panel."""
    return finding(made.view.run, key).sentence


def model(value, spread=0.001, shift=0.0, phase=0):
    return value, value + shift + spread * np.roll(NOISE, phase)


APART = [model(0.9), model(0.8), model(0.7)]
CLOSE = [model(0.9, 0.1), model(0.899, 0.1, phase=70), model(0.7)]
SWAPPED = [model(0.8), model(0.9), model(0.7)]
TWINS = [model(0.9), model(0.9), model(0.7)]
NOTHING = [(np.nan, np.full(201, np.nan))] * 3


def test_a_clear_winner_is_called_so():
    made = panel(APART, APART)
    assert headline(made) == (
        "alpha is the best model with hard and soft labels, for items and annotators like "
        "these."
    )
    said = standing(made.verdict("soft"))
    assert "ahead of beta by 0.100 [+0.100, +0.100]: it is better." in said
    assert "It is best in >99% of resamples." in said
    assert "does not change the winner; no model changes rank." in disagreement(made)


def test_an_interval_that_includes_zero_is_never_a_win():
    made = panel(CLOSE, CLOSE)
    assert headline(made) == (
        "alpha scores highest, but the data do not separate it from beta."
    )
    said = standing(made.verdict("hard"))
    assert "the data do not separate them" in said
    assert "better" not in said


def test_separation_under_one_kind_of_labels_only():
    said = headline(panel(CLOSE, APART))
    assert said.endswith("but only soft labels separate it from every other model.")


def test_a_change_of_winner_is_said_with_its_certainty():
    sure = panel(APART, SWAPPED)
    assert headline(sure) == (
        "The winner depends on how disagreement is counted: alpha with hard labels, "
        "beta with soft labels."
    )
    assert "and soft labels separate the two" in disagreement(sure)
    unsure = panel(CLOSE, [CLOSE[1], CLOSE[0], CLOSE[2]])
    assert headline(unsure).endswith("Neither choice of labels separates the two.")
    assert "but soft labels do not separate the two" in disagreement(unsure)


def test_identical_models_are_called_identical():
    made = panel(TWINS, TWINS)
    assert headline(made).startswith("alpha and beta are identical and score highest")
    said = standing(made.verdict("hard"))
    assert "alpha and beta are identical in every resample" in said
    assert "ahead of gamma by 0.200" in said
    assert "1 pair is identical" in said_by(made, "differences")


def test_equal_scores_with_different_resamples_are_tied_not_identical():
    tied = [model(0.9, 0.1), model(0.9, 0.1, phase=50), model(0.7)]
    assert "are tied" in headline(panel(tied, tied))


def test_two_identical_models_alone():
    made = panel(TWINS[:2], TWINS[:2])
    assert "and no other model was given" in headline(made)
    assert len(lead_replicates(made.verdict("hard"))[0]) == 0


def test_one_model_is_not_ranked():
    made = panel(APART[:1], APART[:1])
    assert headline(made) == "One model, so there is nothing to rank it against."
    assert "there is no other model to compare" in standing(made.verdict("hard"))
    assert disagreement(made) == ""
    assert said_by(made, "probabilities") == "With one model there are no ranks."
    assert said_by(made, "differences") == "With one model there are no pairs."


def test_undefined_is_said():
    made = panel(NOTHING, NOTHING)
    assert headline(made) == "AUROC is undefined for every model: no ranking."
    assert "is undefined for every model" in standing(made.verdict("soft"))
    assert "cannot be compared" in disagreement(made)
    assert said_by(made, "forest") == "AUROC has no defined interval here."
    assert said_by(made, "differences") == "No difference between models is defined here."
    assert said_by(made, "probabilities") == "Ranks are undefined here."


def test_undefined_under_one_kind_of_labels():
    made = panel(NOTHING, APART)
    assert headline(made) == (
        "alpha is the best model with soft labels, for items and annotators like these."
    )
    assert "cannot be compared" in disagreement(made)


def test_a_single_defined_model_is_not_a_winner():
    lonely = [model(0.9), *NOTHING[1:]]
    assert headline(panel(lonely, lonely)) == (
        "Only alpha has a defined score, so there is no ranking."
    )
    assert "Undefined for beta and gamma." in standing(panel(lonely, lonely).verdict("hard"))


def test_where_lower_is_better_leads_are_turned():
    made = panel(APART, APART, metric=1)
    assert made.verdict("hard").best == ("gamma",)
    lead = made.lead("hard", "gamma", "alpha")
    assert lead.value == pytest.approx(0.2)
    assert lead.separated
    assert lead.p_better == 1
    assert made.lead("hard", "alpha", "gamma").high == pytest.approx(-0.2)
    quantiles, _ = lead_replicates(made.verdict("hard"))
    assert quantiles == pytest.approx(np.full(201, 0.1))


def test_a_model_that_is_best_more_often_than_the_leader_is_named():
    shifted = [model(0.9, shift=-0.1), model(0.89), model(0.7)]
    made = panel(shifted, APART)
    said = standing(made.verdict("hard"))
    assert "It is best in <1% of resamples, although beta is best more often, in >99%." in said
    assert "alpha is the best model" not in headline(made)


def test_two_models_that_change_places():
    made = panel(APART[:2], SWAPPED[:2])
    assert said_by(made, "leaderboard").startswith("The two models change places")
    said = said_by(made, "differences")
    assert said == "The two models are separated with hard and soft labels."
    still = panel(CLOSE[:2], CLOSE[:2])
    assert said_by(still, "differences") == "The two models are separated with no labels."


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
    found = made.verdict("soft")
    lows = [made.lead("soft", found.best[0], m).low for m in made.order if m not in found.best]
    sure = len(found.best) == 1 and min(lows, default=-1.0) > 0 and found.matters
    assert ("is the best model" in headline(made)) == sure


def test_leads_are_antisymmetric():
    made = RunView(sample()).panels()[0]
    for a in made.order[:4]:
        for b in made.order[4:]:
            there, back = made.lead("hard", a, b), made.lead("hard", b, a)
            assert there.value == pytest.approx(-back.value)
            assert (there.low, there.high) == pytest.approx((-back.high, -back.low))
            assert there.p_better == pytest.approx(1 - back.p_better)


def test_bars_of_the_lead_hold_every_resample_and_part_at_zero():
    made = panel(CLOSE, CLOSE)
    chart = finding(made.view.run, "verdict").charts[0]
    assert sum(bar.value for bar in chart.bars) == pytest.approx(1)
    sides = {bar.model: bar.ends for bar in chart.bars}
    assert set(sides) == {"alpha", "beta"}
    assert all(bar.ends[1] <= 1e-12 for bar in chart.bars if bar.model == "beta")
    assert all(bar.ends[0] >= -1e-12 for bar in chart.bars if bar.model == "alpha")
    behind = sum(bar.value for bar in chart.bars if bar.model == "beta")
    assert behind == pytest.approx(1 - made.verdict("hard").lead.p_better, abs=0.01)


def test_findings_about_people_and_items():
    run = sample()
    record = run.record
    entries = [row for row in record.annotators if row.task == record.tasks[0]]
    rates = {row.annotator: row.base_rate for row in entries}
    said = finding(run, "annotators").sentence
    assert min(rates, key=rates.get) in said
    assert max(rates, key=rates.get) in said
    truth = record.truth[0]
    assert f"unanimous on {truth.unanimous} of 500 items" in finding(run, "labels").sentence
    made = RunView(run).panels()[0]
    row = record.influential[0]
    assert "view1_frontal_0000 alone would change" in influence_words(made, row)
    assert " by about " in influence_words(made, row)
    gap = made.lead("soft", row.a, row.b).value
    big = dataclasses.replace(row.items[0], influence=-2 * gap)
    turned = influence_words(made, dataclasses.replace(row, items=(big,)))
    assert "1 item could each reverse the order" in turned
