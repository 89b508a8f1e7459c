"""What the page may claim: of these items, of defined numbers, in the words of the question."""

import dataclasses
import re

import numpy as np
import pytest

from equipoise.numbers import percent
from equipoise.page.lettering import unique_short_names
from equipoise.run.findings.panels import RunView
from equipoise.run.findings.verdict import conclusions, disagreement, headline, standing
from tests.report_sample import (
    LIKE_THESE,
    THESE,
    Shape,
    changed,
    finding,
    render,
    sample,
    section,
)
from tests.test_report_words import (
    APART,
    CLOSE,
    NOTHING,
    SWAPPED,
    TWINS,
    model,
    panel,
    said_by,
)

SINGLE = Shape(tasks=("",), undefined=None)
BINARY = ("Positive by majority", "ean soft label", "positive votes", "base rate", "say yes")


def holes(made, labels, names=("alpha",)):
    """Take the intervals of some models away."""

    def change(header):
        for row in header["rows"]:
            if row["labels"] == labels and row["model"] in names:
                row.update(low=None, high=None)
        for pair in header["differences"]:
            if pair["labels"] == labels and {pair["a"], pair["b"]} & set(names):
                pair.update(low=None, high=None, separated=False)

    return RunView(changed(made.view.run, change)).panels()[0]


@pytest.mark.parametrize(
    ("hard", "soft", "start"),
    [
        (CLOSE, CLOSE, "On these items, alpha scores highest, but"),
        (TWINS, TWINS, "On these items, alpha and beta are identical"),
        (APART, SWAPPED, "On these items, the winner depends on how"),
    ],
)
def test_with_fixed_items_every_ranking_is_about_these_items(hard, soft, start):
    assert headline(panel(hard, soft, redrawn=False)).startswith(start)
    assert "these items" not in headline(panel(hard, soft))


def test_with_fixed_items_the_verdict_says_so_once():
    said = headline(panel(APART, APART, redrawn=False))
    assert said == (
        "alpha is the best model with hard and soft labels, for these items and annotators "
        "like these."
    )
    for made_of in (NOTHING, APART[:1], [APART[0], *NOTHING[1:]]):
        assert "these items" not in headline(panel(made_of, made_of, redrawn=False))


def told(hard, soft, **settings):
    """The verdict of a panel whose run has other settings."""
    made = panel(hard, soft).view.run
    made = changed(made, lambda header: header["settings"].update(settings))
    return RunView(made).panels()[0]


def test_two_annotators_make_no_verdict():
    made = told(APART, APART, decides=False, effective_annotators=2.0)

    def unite(header):  # what the engine says of all pairs then
        for pair in header["differences"]:
            pair.update(separated=False, p_adjusted=None)

    made = RunView(changed(made.view.run, unite)).panels()[0]
    assert headline(made) == (
        "alpha scores highest on these annotators' votes; annotators are too few (effectively "
        "2.0) for a verdict on annotators like these."
    )
    assert "no verdict for annotators like these" in standing(made.verdict("soft"))
    assert "separated with" not in said_by(made, "differences")


def test_a_pair_that_is_apart_only_by_itself_is_not_called_better():
    def unite(header):
        for pair in header["differences"]:
            pair.update(separated=False, p_adjusted=0.2)

    made = RunView(changed(panel(APART, APART).view.run, unite)).panels()[0]
    assert headline(made) == (
        "alpha scores highest, but the data do not separate it from beta and gamma."
    )
    said = standing(made.verdict("soft"))
    assert "apart as a single pair, but not among all pairs of 3 models" in said
    assert said_by(made, "differences").startswith(
        "Of 3 pairs, the data separate 0 with hard labels and 0 with soft labels"
    )


@pytest.mark.parametrize(
    ("settings", "end"),
    [
        ({}, "is the best model with hard and soft labels, for {}."),
        ({"matters": 0.05}, "is the best model with hard and soft labels, for {}."),
        ({"matters": 0.2}, "scores highest with hard and soft labels, for {}, but by no "
         "difference that matters."),
    ],
)  # fmt: skip
def test_a_difference_that_does_not_matter_makes_no_best_model(settings, end):
    made = told(APART, APART, **settings)
    assert headline(made) == "alpha " + end.format("items and annotators like these")
    small = "but by no difference that matters" in standing(made.verdict("soft"))
    assert small == (settings.get("matters") == 0.2)


def test_half_a_printed_digit_is_no_difference_that_matters_unless_asked():
    close = [model(0.9, 1e-5), model(0.8998, 1e-5), model(0.7)]
    assert headline(told(close, close)).endswith("but by no difference that matters.")
    assert "is the best model" in headline(told(close, close, matters=1e-4))


def test_a_margin_says_of_every_other_model_what_it_is():
    verdicts = {("alpha", "beta"): "equivalent", ("alpha", "gamma"): "undecided"}

    def judge(header):
        header["settings"]["margin"] = 0.02
        for pair in header["differences"]:
            pair["judgement"] = "superior"
            pair["reverse"] = verdicts.get((pair["a"], pair["b"]), "undecided")
            if pair["labels"] == "hard" and pair["reverse"] == "undecided":
                pair["reverse"] = "inferior"

    made = RunView(changed(panel(APART, APART).view.run, judge)).panels()[0]
    assert conclusions(made)[-1] == (
        "By a margin of 0.020, each pair by itself, with hard labels, beta is equivalent to "
        "alpha; gamma is inferior. With soft labels, beta is equivalent to alpha; gamma is "
        "undecided."
    )
    (_, leads) = finding(made.view.run, "differences").tables
    assert [row["soft_judged"] for row in leads.rows] == ["superior"] * 3
    assert not any("margin" in said for said in conclusions(panel(APART, APART)))


def test_the_scope_stands_right_under_the_headline():
    for redrawn, whom in ((True, LIKE_THESE), (False, THESE)):
        page = render(sample(dataclasses.replace(SINGLE, items_redrawn=redrawn)))
        scope = f"The result speaks for {whom}."
        assert f"<p class=scope>{scope}" in page.split("<main")[0]
        assert scope in section(page, "method")


def test_a_run_without_the_newer_keys_still_makes_a_page():
    def age(header):
        del header["question"]
        for key in ("scope", "items_redrawn", "population", "decides"):
            del header["settings"][key]
        for pair in header["differences"]:
            del pair["separated"], pair["p_adjusted"]
        for entry in header["truth"]:
            del entry["classes"], entry["no_majority"], entry["single_vote"]

    page = render(changed(sample(), age))
    assert "On these items" not in page
    assert "positive by majority" in page
    assert "How answers were read" not in page


def test_runs_that_ask_different_questions_can_be_told_apart():
    pages = []
    for least in (3, 4):
        run = changed(sample(SINGLE), lambda h, n=least: h["question"].update(at_least=n))
        pages.append(section(render(run), "method"))
        assert f"Positive is every class from {least} upwards." in pages[-1]
    assert pages[0] != pages[1]
    assert "item: image, annotator: reader" in pages[0]
    named = changed(
        sample(SINGLE), lambda h: h["question"].update(at_least=None, positive="ill")
    )
    assert "Positive is ill." in section(render(named), "method")


def test_groups_are_mentioned_where_they_apply():
    for redrawn in (True, False):
        how = {"group": "patient", "items_redrawn": redrawn}
        page = render(changed(sample(SINGLE), lambda h, how=how: h["settings"].update(how)))
        assert ("Items of the same patient stay together" in page) == redrawn


def test_undefined_labels_have_no_ranks_on_the_page():
    made = panel(NOTHING, APART)
    assert [len(made.rank_shares(labels)) for labels in made.labels] == [0, 3]
    assert said_by(made, "probabilities").endswith("With hard labels the ranks are undefined.")
    assert said_by(made, "leaderboard") == (
        "AUROC with hard labels is undefined for every model, "
        "so there are no two rankings to compare."
    )
    assert finding(made.view.run, "ranks").charts == ()


def test_a_filled_rank_of_an_undefined_score_is_not_shown():
    def fill(header):
        for row in header["rows"]:
            row.update(rank=1.0, p_best=0.5)
        for entry in header["rank_probabilities"]:
            entry["matrix"] = [[0.5, 0.5, 0.0]] * 3

    undefined = panel(NOTHING, NOTHING).view
    made = RunView(changed(undefined.run, fill)).panels()[0]
    assert np.isnan(made.score("hard", "alpha").p_best)
    assert made.ranked("soft") == []
    assert finding(made.view.run, "probabilities").charts == ()
    assert "Every model has" not in said_by(made, "leaderboard")


def test_one_undefined_model_has_an_empty_row():
    mixed = [*APART[:2], NOTHING[0]]
    made = panel(mixed, mixed)

    def fill(header):
        for entry in header["rank_probabilities"]:
            entry["matrix"] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [None, None, None]]

    made = RunView(changed(made.view.run, fill)).panels()[0]
    assert np.isnan(made.rank_shares("soft")[-1]).all()
    (last,) = [row for row in finding(made.view.run, "probabilities").tables[0].rows
               if (row["model"], row["labels"]) == ("gamma", "soft")]  # fmt: skip
    assert last["likeliest"] == "undefined"
    assert said_by(made, "leaderboard").startswith(
        "Models with a defined score have the same rank"
    )


def test_an_interval_that_cannot_be_computed_is_said():
    made = holes(panel(APART, APART), "hard")
    assert headline(made) == (
        "alpha scores highest with hard and soft labels; soft labels separate it from every "
        "other model, but the interval of its hard lead cannot be computed."
    )
    said = standing(made.verdict("hard"))
    assert "the lead over beta has no defined interval" in said
    assert finding(made.view.run, "leaderboard").more == (
        "With hard labels alpha: its interval cannot be computed.",
    )
    both = holes(made, "soft")
    assert headline(both) == (
        "alpha scores highest, but the interval of its lead over beta and gamma cannot be "
        "computed."
    )
    split = holes(holes(panel(APART, SWAPPED), "hard"), "soft")
    assert headline(split).endswith("between the two can be computed.")
    assert "the interval of the soft lead cannot be computed" in disagreement(split)


@pytest.mark.parametrize("tasks", [("",), ("one", "two")])
@pytest.mark.parametrize("crowd", [8, 90])
def test_several_classes_are_not_told_as_yes_and_no(tasks, crowd):
    shape = dataclasses.replace(SINGLE, classes=("cat", "dog", "owl"), tasks=tasks)
    page = render(sample(dataclasses.replace(shape, annotators=crowd)))
    for anchor in ("annotators", "labels"):
        for word in BINARY:
            assert word not in section(page, anchor)
    assert "items with a majority class" in page
    assert "mean share of the leading class" in page
    assert "Share of the most voted class" in page
    assert "agreement with the others" in section(page, "annotators")


def test_items_without_a_majority_and_with_one_vote_are_counted():
    def change(header):
        header["truth"][0].update(no_majority=7, single_vote=1)

    said = "7 items have no strict majority and count as negative. 1 item has a single vote."
    assert said in section(render(changed(sample(SINGLE), change)), "labels")
    several = sample(dataclasses.replace(SINGLE, classes=("cat", "dog", "owl")))
    assert "7 items have no strict majority." in section(
        render(changed(several, change)), "labels"
    )


def test_a_difference_of_zero_at_both_ends_is_not_yet_identical():
    noise = np.zeros(201)
    noise[100] = 0.01
    tied = [(0.9, np.full(201, 0.9)), (0.9, 0.9 + noise), model(0.7)]
    made = panel(tied, tied)
    lead = made.lead("soft", "alpha", "beta")
    assert lead.low == pytest.approx(0)
    assert lead.high == pytest.approx(0)
    assert headline(made).startswith("alpha and beta are tied")
    assert "identical" not in said_by(made, "differences")


def test_long_names_stay_different_everywhere():
    start, end = "resnet50" * 5, "finetuned" * 5
    names = [f"{start}{letter}{end}" for letter in "abc"]
    for room in (14, 16, 20, 28, 40):
        shown = unique_short_names((*names, "short"), room)
        assert len(set(shown.values())) == 4
        assert max(map(len, shown.values())) <= room
        assert shown["short"] == "short"
    shape = dataclasses.replace(SINGLE, models=tuple(names))
    board = section(render(sample(shape)), "leaderboard")
    assert len(set(re.findall(r"<th [^>]*scope=row>([^<]+)", board))) == 3


@pytest.mark.parametrize(
    ("votes", "said"), [(1, "every item has a single vote."), (5, "unanimous on every item")]
)
def test_without_disagreement_there_is_nothing_to_count(votes, said):
    def settle(header):
        for entry in header["truth"]:
            entry.update(unanimous=entry["items"], votes_per_item=[votes] * 3)

    made = panel(APART, APART).view
    settled = RunView(changed(made.run, settle)).panels()[0]
    assert disagreement(settled).startswith("There is no disagreement to count")
    assert said in disagreement(settled)
    assert "does not change the winner" not in disagreement(settled)


def test_only_certainty_is_a_hundred_percent():
    assert [percent(share) for share in (0.9995, 1.0, 0.0004, 0.0)] == [
        ">99%", "100%", "<1%", "0%",
    ]  # fmt: skip

    def nearly(header):
        for entry in header["rank_probabilities"]:
            entry["matrix"] = [[0.9995, 0.0005, 0], [0.0005, 0.9995, 0], [0, 0, 1.0]]

    made = panel(APART, APART).view
    page = section(render(changed(made.run, nearly)), "probabilities")
    assert page.count(">&gt;99</text>") == 6 and ">100</text>" not in page
