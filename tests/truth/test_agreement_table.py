"""Everything about agreement in one table: rows, annotators, pairs and cautions."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise import Annotations, InputError, resample
from equipoise.truth.agreement import (
    agreement_table,
    cohen_kappa_pairs,
    krippendorff_alpha,
    reading_agreement,
)
from tests.report_truth_sample import rankings, votes
from tests.truth.test_agreement import table


def names(found):
    return [row.measure for row in found.coefficients]


def test_labels_of_known_annotators_have_every_row():
    panel = votes(people=4, items=25)
    found = agreement_table(panel, replicates=100)
    assert names(found) == ["alpha", "fleiss", "cohen", "percent", "others"]
    for row in found.coefficients:
        assert row.low <= row.value <= row.high
        assert (row.items, row.votes) == (25, 100)
    plan = resample(panel, "items", replicates=100)
    alpha = krippendorff_alpha(panel, plan=plan)
    first = found.coefficients[0]
    assert (first.value, *first.alone) == (alpha.value, *alpha.interval())
    assert first.low < first.alone[0]  # annotators vary it, too
    assert found.coefficients[-1].value == reading_agreement(panel).mean


def test_each_annotator_is_compared_with_the_others_and_left_out():
    panel = votes(people=4, items=25)
    found = agreement_table(panel, replicates=10)
    pairs = cohen_kappa_pairs(panel)
    for one in found.annotators:
        a = panel.annotators.index(one.annotator)
        others = [b for b in range(4) if b != a]
        assert one.kappa == pytest.approx(np.mean(pairs.kappa[a, others]))
        grid = panel.label.reshape(25, 4)
        same = (grid[:, others] == grid[:, [a]]).mean()
        assert one.agreement == pytest.approx(same)
        rest = Annotations.from_counts(
            np.stack([(grid[:, others] == k).sum(axis=1) for k in (0, 1)], axis=1)
        )
        assert one.alpha_without == pytest.approx(krippendorff_alpha(rest).value)
    assert found.pairs.mean == pytest.approx(found.coefficients[2].value)


def test_an_annotator_with_a_single_item_alone_is_undefined_and_said():
    data = [[1, 2, 1, np.nan], [1, 2, 2, np.nan], [np.nan, np.nan, np.nan, 1]]
    found = agreement_table(table(data), replicates=20)
    last = found.annotators[-1]
    assert (last.votes, last.items) == (1, 0)
    assert np.isnan([last.kappa, last.agreement]).all()
    said = " ".join(map(str, found.cautions))
    assert "1 item of 4 with a single vote" in said
    assert "2 of 3 pairs of annotators share no item" in said
    assert "rough" in said


def test_prevalence_is_named_where_it_explains():
    data = np.zeros((2, 100))
    data[0, :4], data[1, 4:8] = 1, 1
    found = agreement_table(table(data, "nominal"), replicates=50)
    said = [str(one) for one in found.cautions if one.code == "prevalence"]
    assert len(said) == 1 and "92%" in said[0] and "96% of all votes are '0'" in said[0]


def test_votes_all_alike_are_undefined_and_said():
    found = agreement_table(table(np.ones((3, 30)), classes=[1, 2]), replicates=20)
    assert np.isnan(found.coefficients[0].value)
    assert found.coefficients[0].words == "undefined"
    said = " ".join(map(str, found.cautions))
    assert "All votes are of one class" in said
    assert "kappa of 3 pairs is undefined" in said


def test_anonymous_votes_ratings_and_rankings_have_what_they_can():
    anonymous = agreement_table(votes(people=3).anonymous(), replicates=10)
    assert anonymous.annotators == () and anonymous.pairs is None
    assert "cohen" not in names(anonymous)
    rated = agreement_table(table([[1, 2.5, 3], [1, 2, 3.5]], "interval"), replicates=10)
    assert names(rated) == ["alpha", "percent"] and rated.pairs is None
    assert rated.level == "interval"
    assert np.isfinite(rated.annotators[0].votes)
    ranked = agreement_table(rankings(), replicates=10)
    assert names(ranked) == ["readings"]
    assert ranked.coefficients[0].value == reading_agreement(rankings()).mean


def test_groups_gold_weights_and_repeats_are_told():
    panel = votes(people=3, items=30)
    group = np.arange(30) // 3
    grouped = replace(panel, groups=tuple(f"p{g}" for g in range(10)), group=group)
    assert "10 groups count as wholes" in agreement_table(grouped, replicates=10).scope
    item = panel.item.copy()
    item[3] = 0
    odd = replace(
        panel,
        item=item,
        is_gold=np.arange(len(panel)) == 5,
        weight=np.ones(len(panel)),
    )
    said = " ".join(map(str, agreement_table(odd, replicates=10).cautions))
    for words in ("1 gold row left aside", "weights", "voted more than once"):
        assert words in said


def test_tasks_are_kept_apart():
    data = votes(people=3, items=20)
    both = replace(data, tasks=("one", "two"), task=(data.item >= 10).astype(int))
    for task, rows in (("one", data.item < 10), ("two", data.item >= 10)):
        part = replace(
            data, item=data.item[rows], label=data.label[rows], annotator=data.annotator[rows]
        )
        found = agreement_table(both, task=task, replicates=10)
        assert found.items == 10
        assert found.coefficients[0].value == krippendorff_alpha(part).value


def test_wrong_words_are_refused():
    panel = votes()
    for how, words in (
        ({"level": "ordnal"}, "did you mean 'ordinal'"),
        ({"weights": "square"}, "none, linear, quadratic"),
        ({"task": "x"}, "annotations, task"),
        ({"replicates": 0}, "from 1 to"),
    ):
        with pytest.raises(InputError, match=words):
            agreement_table(panel, **how)
    with pytest.raises(TypeError, match="unexpected keyword argument 'replicate'"):
        agreement_table(panel, replicate=5)


def test_the_pairs_at_both_ends_are_named_once():
    pairs = agreement_table(votes(people=6, items=40), replicates=10).as_json()["pairs"]
    closest, furthest = pairs["closest"], pairs["furthest"]
    ends = [(one["first"], one["second"]) for one in closest + furthest]
    assert len(ends) == len(set(ends)) == 10
    kappa = np.array(pairs["kappa"], dtype=float)
    assert closest[0]["kappa"] == pytest.approx(np.nanmax(kappa))
    assert furthest[0]["kappa"] == pytest.approx(np.nanmin(kappa))
    assert (np.diff(np.nanmean(kappa, axis=1)) <= 1e-9).all()


def test_the_matrix_shows_the_sixty_with_most_votes():
    pairs = agreement_table(votes(people=75, items=30), replicates=5).as_json()["pairs"]
    assert pairs["people"] == 75
    assert len(pairs["annotators"]) == len(pairs["kappa"]) == 60


def test_pairs_that_share_little_shift_their_mean_and_that_is_said():
    random = np.random.default_rng(2)
    who = np.concatenate([random.choice(200, 4, replace=False) for _ in range(1500)])
    item = np.repeat(np.arange(1500), 4)
    label = np.where(random.random(6000) < 0.9, item % 2, 1 - item % 2)
    crowd = Annotations(
        kind="binary", items=tuple(map(str, range(1500))), classes=("no", "yes"),
        annotators=tuple(map(str, range(200))), item=item, annotator=who, label=label,
    )  # fmt: skip
    found = agreement_table(crowd, replicates=200)
    (mean,) = (one for one in found.coefficients if one.measure == "cohen")
    assert mean.value > mean.high
    (notice,) = (one for one in found.cautions if one.code == "interval_apart")
    assert "leaves out its value" in str(notice) and f"{mean.high:.3f}" in str(notice)
    assert notice.values["name"] == mean.name
