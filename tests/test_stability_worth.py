"""Worth in experts: curves that fall, values on the curve's own scale, and what is claimed."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.analyses.experts import experts
from equipoise.analyses.experts.equivalents import Standing, equivalent_experts, passed_over
from equipoise.annotations import Annotations
from equipoise.metrics import accuracy, brier_score
from equipoise.predictions import Predictions
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(12)
ITEMS = 400
TRUTH = RANDOM.random(ITEMS) < 0.4


def noisy(right, random=RANDOM):
    return np.where(random.random(ITEMS) < right, TRUTH, ~TRUTH).astype(float)


VOTES = np.stack([noisy(0.8) for _ in range(5)], axis=1)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.2, np.nan, VOTES)
GAPS[np.isnan(GAPS).sum(axis=1) > 2] = VOTES[np.isnan(GAPS).sum(axis=1) > 2]


def model(values, name="model"):
    return Predictions(name, names(ITEMS), np.asarray(values, dtype=float))


def two(share):
    return np.stack([1 - share, share], axis=1)


def plain(sizes, curve, value):
    """Worth by the definition, in a loop: sizes that beat all smaller ones, read off."""
    kept = [(sizes[0], curve[0])]
    for size, height in zip(sizes[1:], curve[1:], strict=True):
        if height > kept[-1][1]:
            kept.append((size, height))
    at, heights = zip(*kept, strict=True)
    if value < heights[0]:
        return 0.0
    return np.inf if value > heights[-1] else float(np.interp(value, heights, at))


def test_worth_on_curves_that_fall_is_read_from_sizes_that_beat_all_smaller_ones():
    random = np.random.default_rng(0)
    for _ in range(200):
        sizes = np.sort(random.choice(np.arange(1, 20), 6, replace=False))
        curve, value = random.normal(size=6), random.normal(size=9)
        found = equivalent_experts(sizes, curve[:, None] - value)
        assert_allclose(found, [plain(sizes, curve, one) for one in value], atol=1e-9)
        rising = found[np.argsort(value)]
        assert (rising[:-1] <= rising[1:]).all()
        assert_array_equal(found >= 1, value >= curve[0])


def test_a_model_like_one_expert_is_not_worth_two_because_two_only_tie():
    """By the old reading the least lead over one expert was worth more than two."""
    sizes = np.array([1, 2, 3, 4])
    curve = np.array([0.786, 0.768, 0.824, 0.829])
    assert_allclose(equivalent_experts(sizes, curve - 0.786), 1)
    assert_allclose(equivalent_experts(sizes, curve - 0.7861), 1 + 2 * 0.0001 / 0.038)
    assert_allclose(equivalent_experts(sizes, curve - 0.795), 1 + 2 * 0.009 / 0.038)
    assert equivalent_experts(sizes, curve - 0.77) == 0  # above two experts, and below one
    assert passed_over(sizes, curve) == [2]
    assert passed_over(sizes, np.full(4, 0.5)) == passed_over(sizes, sizes * 0.1) == []


@pytest.mark.parametrize("metric", ["accuracy", "brier_score"])
def test_a_models_value_against_one_expert_equals_a_loop_over_pairs(metric):
    score = {"accuracy": accuracy, "brier_score": brier_score}[metric]
    ours = np.clip(TRUTH * 0.4 + 0.3 + RANDOM.normal(0, 0.2, ITEMS), 0, 1)
    done = experts(model(ours), bootstrap.annotations(GAPS), metric=metric, replicates=20)
    pairs = []
    for e, f in permutations(range(5), 2):
        here = ~np.isnan(GAPS[:, e]) & ~np.isnan(GAPS[:, f])
        pairs.append(score(two(GAPS[here, e]), two(ours[here])))
    row = done.rows()[-1]
    assert_allclose(row["held_out"], np.mean(pairs), atol=1e-12)
    assert row["held_out_low"] < row["held_out"] < row["held_out_high"]
    good = 1 if metric == "accuracy" else -1
    lead = good * (done.crowd[:, None] - done.held_out)
    assert_allclose(done.worth, equivalent_experts(done.sizes, lead), atol=1e-6)
    full = experts(model(ours), bootstrap.annotations(VOTES), metric=metric, replicates=3)
    assert_allclose(full.held_out, full.held_out[:1].repeat(4, axis=0), atol=1e-12)


def test_a_model_that_is_one_more_expert_is_not_claimed_to_be_worth_more():
    """A sixth reader of the same skill: in most studies nothing above one may be claimed."""
    claimed = 0
    for seed in range(12):
        random = np.random.default_rng(seed)
        votes = np.stack([noisy(0.8, random) for _ in range(5)], axis=1)
        done = experts(model(noisy(0.8, random)), bootstrap.annotations(votes),
                       metric="accuracy", replicates=100, seed=seed)  # fmt: skip
        claimed += "It is worth the mean of" in done.finding
        if done.worth[0] > 1 and done.mean_gap_low[0] < 0:
            assert "Its worth is put at" in done.finding
            assert "not shown: its difference to the average expert may be zero" in done.finding
    assert claimed <= 1


def standing(gap=(0.1, 0.05, 0.2), superior=(0.9, 0.6, 1.0), worth=(2.5, 1.5, 4.0)):
    return Standing(gap, superior, worth, 4, np.full(4, 0.8), np.array([0.7, 0.75, 0.8, 0.9]))


def test_what_speaks_against_a_worth_above_one_is_said():
    assert standing().said() == (
        "It is worth the mean of 2.5 experts (1.5 to 4.0): "
        "against a held-out expert it has 0.800, a colleague 0.700."
    )
    endless = standing(worth=(np.inf, 1.5, np.inf)).said()
    assert "worth more than 4 experts (1.5 to more than 4)" in endless
    assert "it has 0.800, the mean of 4 experts 0.900" in endless
    doubted = standing((0.01, -0.02, 0.03), (0.45, 0.1, 0.9), (2.5, 0.0, 4.0))
    assert doubted.said().endswith(
        "That it is more than one expert is not shown: its difference to the average expert "
        "may be zero, it beats a colleague only in 45% of pairs and its worth may be one "
        "expert or fewer."
    )
    assert standing((-0.1, -0.2, -0.01)).doubts() == [
        "it agrees with the others less well than the average expert"
    ]
    nothing = standing(worth=(2.5, np.nan, np.nan))
    assert nothing.doubts() == ["the interval of its worth is undefined"]
    below = standing((0.0, -1.0, 1.0), worth=(0.0, 0.0, 2.0))
    assert below.doubts() == []
    assert below.said().startswith("Its worth is put at fewer than one expert (fewer than one ")
    assert (
        standing(worth=(0.0, 0.0, 0.0)).said().startswith("It is worth fewer than one expert")
    )
    assert (
        "put at about one expert (1.0 at both ends)" in standing(worth=(1.01, 1, 1.04)).said()
    )
    undefined = standing(worth=(np.nan, np.nan, np.nan)).said()
    assert undefined == "It is worth an undefined number of experts (interval undefined)."


def test_numbers_of_experts_that_are_passed_over_are_said():
    """Ties go to the first of three classes, which is the rarest: two readers do worse."""
    random = np.random.default_rng(5)
    truth = random.choice(3, ITEMS, p=[0.1, 0.3, 0.6])
    wrong = random.random((ITEMS, 4)) < 0.3
    label = np.where(wrong, random.integers(0, 3, (ITEMS, 4)), truth[:, None])
    item, annotator = (axis.ravel() for axis in np.indices((ITEMS, 4)))
    votes = Annotations(
        kind="nominal", items=names(ITEMS), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    given = Predictions("model", names(ITEMS), np.eye(3)[truth], ("a", "b", "c"))
    done = experts(given, votes, metric="accuracy", replicates=5)
    assert done.crowd[1] < done.crowd[0] < done.crowd[2]
    assert str(done.notices[-1]).startswith(
        "The mean vote of 2 experts agrees with another expert l"
    )


def test_lower_is_better_turns_the_doubt_around():
    good, bad = TRUTH * 0.98 + 0.01, noisy(0.55)
    done = experts([model(good, "good"), model(bad, "bad")], bootstrap.annotations(VOTES),
                   metric="brier_score", replicates=60)  # fmt: skip
    rows = {row["who"]: row for row in done.rows()}
    assert rows["good"]["gap_high"] < 0
    assert rows["good"]["worth"] > 1
    assert rows["good"]["worth_doubts"] == ""
    assert "(against the average expert −0." in done.finding
    assert "It is worth" in done.finding
    assert rows["bad"]["worth"] == 0


def test_the_finding_has_every_model_on_the_scale_of_the_curve():
    given = [model(TRUTH * 0.4 + 0.3, "good"), model(noisy(0.8), "like an expert")]
    done = experts(given, bootstrap.annotations(VOTES), metric="accuracy", replicates=40)
    finding = done.report()
    assert finding.sentence == done.finding and finding.key == "experts"
    among, crowd = finding.charts
    assert [dot.label for dot in among.rows][:2] == ["good", "like an expert"]
    assert len(among.rows) == 2 + len(done.experts)
    curve, *levels = [line for line in crowd.lines if line.name != "every k"]
    assert {line.model for line in levels} == {"good", "like an expert"}
    for line in levels:
        m = done.models.index(line.model)
        assert_allclose([y for _, y in line.points], done.held_out[:, m])
    heights = [y for _, y in curve.points]
    assert heights == sorted(heights) and crowd.y == "agreement with one held-out expert"
    brief, people, models = finding.tables
    assert (people.name, models.name) == ("experts", "models_among_experts")
    assert [*people.rows, *models.rows] == done.rows() and not brief.file
    for row in brief.rows:
        assert ("(?)" in row["worth_read"]) == bool(row["worth_doubts"])
        assert row["worth_words"] in row["worth_read"]
    assert "all groups of k" in finding.note and "all groups of experts" in finding.methods
    assert "[@wilson1927]" in finding.methods and finding.references == ("wilson1927",)


def test_a_curve_that_falls_is_drawn_whole_and_as_it_is_read():
    done = experts(model(noisy(0.8)), bootstrap.annotations(VOTES), metric="accuracy",
                   replicates=5)  # fmt: skip
    fallen = replace(done, crowd=np.array([0.7, 0.6, *done.crowd[2:]]))
    curve, whole = fallen.report().charts[1].lines[:2]
    assert len(whole.points) == len(fallen.sizes) > len(curve.points) and whole.dashed
