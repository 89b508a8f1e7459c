"""Sensitivity and its like: exact for gold, wider with groups and with annotators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binomtest

from equipoise import Annotations, Predictions, Settings, evaluate, resample
from equipoise.inference.proportions import proportion

METRICS = ("sensitivity", "specificity", "ppv", "npv", "accuracy")


def gold_of(positive, groups=None):
    number = len(positive)
    names = None if groups is None else tuple(f"site {g}" for g in range(max(groups) + 1))
    return Annotations(
        kind="binary",
        items=tuple(f"item {i:03d}" for i in range(number)),
        classes=("no", "yes"),
        item=np.arange(number),
        label=np.asarray(positive, int),
        groups=names,
        group=groups,
    )


def intervals_of(annotations, calls, level=0.95, labels="hard"):
    model = Predictions("model", annotations.items, np.asarray(calls, float))
    evaluation = evaluate(
        [model],
        annotations,
        metrics=METRICS,
        resampling=resample(annotations, "influence", replicates=2),
        settings=Settings(workers=1),
    )
    return {
        metric: evaluation.estimate("model", metric, labels=labels).interval(level)
        for metric in METRICS
    }


def table(hits, positives, alarms, negatives):
    truth = np.repeat([1, 0], [positives, negatives])
    calls = np.concatenate([np.arange(positives) < hits, np.arange(negatives) < alarms])
    return truth, calls


@pytest.mark.parametrize("counts", [(34, 34, 3, 80), (33, 34, 0, 80), (15, 16, 9, 300)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_by_gold_shares_have_the_exact_interval_of_their_counts(counts, level):
    hits, positives, alarms, negatives = counts
    truth, calls = table(*counts)
    expected = {
        "sensitivity": (hits, positives),
        "specificity": (negatives - alarms, negatives),
        "ppv": (hits, hits + alarms),
        "npv": (negatives - alarms, negatives - alarms + positives - hits),
        "accuracy": (hits + negatives - alarms, positives + negatives),
    }
    for metric, ends in intervals_of(gold_of(truth), calls, level).items():
        exact = binomtest(*expected[metric]).proportion_ci(level, "exact")
        assert_allclose(ends, exact, atol=1e-9, err_msg=metric)


def test_one_more_hit_raises_both_ends():
    ends = [
        intervals_of(gold_of(truth), calls)["sensitivity"]
        for truth, calls in (table(hits, 20, 5, 60) for hits in range(21))
    ]
    assert (np.diff(np.array(ends), axis=0) >= 0).all()


def test_groups_count_as_in_a_proportion_of_their_items():
    random = np.random.default_rng(5)
    groups = np.repeat(np.arange(20), 12)
    truth = (random.random(240) < 0.4).astype(int)
    easy = np.repeat(random.random(20), 12)
    calls = np.where(random.random(240) < 0.3 + 0.6 * easy, truth, 1 - truth)
    ends = intervals_of(gold_of(truth, groups), calls)
    sick = truth == 1
    right = proportion((calls == truth)[sick].astype(float), cluster=groups[sick])
    assert_allclose(ends["sensitivity"], right[1:3], atol=1e-9)
    whole = proportion((calls == truth).astype(float), cluster=groups)
    assert_allclose(ends["accuracy"], whole[1:3], atol=1e-9)


def votes_of(number, annotators, bias, seed):
    random = np.random.default_rng(seed)
    difficulty = random.normal(size=number)
    leaning = bias * random.normal(size=annotators)
    chance = 1 / (1 + np.exp(-2 * difficulty[:, None] - leaning))
    votes = random.random((number, annotators)) < chance
    item, annotator = np.divmod(np.arange(votes.size), annotators)
    annotations = Annotations(
        kind="binary",
        items=tuple(f"item {i:03d}" for i in range(number)),
        classes=("no", "yes"),
        annotators=tuple(f"reader {r}" for r in range(annotators)),
        item=item,
        annotator=annotator,
        label=votes.ravel().astype(int),
    )
    return annotations, votes.mean(axis=1), difficulty + random.normal(size=number) > 0


def test_annotators_who_differ_widen_the_interval_of_a_share():
    alike, _, calls = votes_of(150, 6, 0.0, 3)
    apart, _, same = votes_of(150, 6, 1.5, 3)
    narrow, wide = (
        intervals_of(votes, called, labels="soft")["ppv"]
        for votes, called in ((alike, calls), (apart, same))
    )
    assert np.diff(wide) > 1.3 * np.diff(narrow)


def test_shares_of_votes_are_worth_more_than_items_and_less_than_votes():
    annotations, share, calls = votes_of(150, 6, 0.0, 3)
    low, high = intervals_of(annotations, calls, labels="soft")["accuracy"]
    value = float(np.where(calls, share, 1 - share).mean())
    items, votes = (
        np.diff(binomtest(round(value * units), units).proportion_ci(0.95, "exact"))
        for units in (150, 900)
    )
    assert votes < high - low < 1.1 * items


def test_coverage_of_soft_shares_holds_with_rare_positives():
    inside = []
    for seed in range(60):
        random = np.random.default_rng(seed)
        severity = random.normal(size=200) - 2.2
        chance = 1 / (1 + np.exp(-2 * severity[:, None] - 0.4 * random.normal(size=5)))
        votes = random.random((200, 5)) < chance
        calls = severity + random.normal(size=200) > -1
        item, annotator = np.divmod(np.arange(votes.size), 5)
        annotations = Annotations(
            kind="binary",
            items=tuple(f"item {i:03d}" for i in range(200)),
            classes=("no", "yes"),
            annotators=tuple(f"reader {r}" for r in range(5)),
            item=item,
            annotator=annotator,
            label=votes.ravel().astype(int),
        )
        ends = intervals_of(annotations, calls, labels="soft")
        inside.append(ends["sensitivity"][0] <= TRUE_SENSITIVITY <= ends["sensitivity"][1])
    assert 0.88 <= np.mean(inside) <= 1.0


def _true_sensitivity():
    """For items and annotators like those, by numerical integration."""
    from scipy.stats import norm

    severity = np.linspace(-9, 5, 2001)
    density = norm.pdf(severity + 2.2)
    leaning = norm.ppf((np.arange(400) + 0.5) / 400) * 0.4
    share = (1 / (1 + np.exp(-2 * severity[:, None] - leaning))).mean(axis=1)
    called = norm.cdf(severity + 1)
    return float((density * share * called).sum() / (density * share).sum())


TRUE_SENSITIVITY = _true_sensitivity()
