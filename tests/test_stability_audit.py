"""Audits of retrieval: published numbers, hand-computed pools, weights as copies."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise import metrics
from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.estimate import wilson
from equipoise.predictions import Predictions
from equipoise.stability.audit import Audited, Pool, audit, reevaluate
from tests.strategies import names


@pytest.mark.parametrize(
    ("positives", "low", "high"), [(0, 0.0, 2.5), (24, 11.0, 22.7), (26, 12.1, 24.2)]
)
def test_intervals_of_the_published_audit(positives, low, high):
    """CleanPatrick, table 3: 150 audited of each pool of 5,000."""
    line = audit([Pool("pool", 150, positives, 5000)], 4000, finite=False).pools[0]
    assert round(100 * line.share_low, 1) == low
    assert round(100 * line.share_high, 1) == high


def test_a_pool_by_hand():
    done = audit([Pool("pool", 100, 10, 1000)], found=200)
    line = done.pools[0]
    trials = 100 * 999 / 900
    low, high = wilson(0.1 * trials, trials)
    assert (line.share_low, line.share_high) == (low, high)
    assert done.missed == pytest.approx((100, 1000 * low, 1000 * high))
    assert done.recall[0] == pytest.approx(2 / 3)
    assert done.recall[1:] == pytest.approx(
        (200 / (200 + 1000 * high), 200 / (200 + 1000 * low))
    )
    assert "About 100 positives were missed" in done.finding and "66.7%" in done.finding
    assert done.rows()[0]["pool"] == "pool"


def test_a_whole_pool_leaves_no_doubt_and_finite_pools_leave_less():
    whole = audit([Pool("pool", 50, 7, 50)], found=3)
    assert whole.missed == (7, 7, 7)
    assert whole.recall == pytest.approx((0.3, 0.3, 0.3))
    finite, endless = (
        audit([Pool("pool", 50, 7, 60)], 3, finite=one).missed for one in (True, False)
    )
    assert finite[2] - finite[1] < endless[2] - endless[1]


def test_pools_add_up_with_distances_in_squares():
    pools = [Pool("x", 50, 5, 500), Pool("y", 80, 4, 800)]
    both = audit(pools, 100)
    alone = [audit([one], 100) for one in pools]
    assert both.missed[0] == pytest.approx(sum(one.missed[0] for one in alone))
    up = math.hypot(*(one.missed[2] - one.missed[0] for one in alone))
    assert both.missed[2] == pytest.approx(both.missed[0] + up)


def test_the_interval_of_a_finite_pool_covers():
    random = np.random.default_rng(1)
    inside = 0
    for _ in range(1000):
        found = random.hypergeometric(60, 340, 120)
        _, low, high = audit([Pool("pool", 120, int(found), 400)], 10).missed
        inside += low <= 60 <= high
    assert 0.93 <= inside / 1000 <= 0.98


@given(st.integers(1, 40), st.data())
def test_ends_hold_the_value_and_what_is_certain(size, data):
    audited = data.draw(st.integers(1, size))
    positives = data.draw(st.integers(0, audited))
    done = audit([Pool("pool", audited, positives, size)], data.draw(st.integers(0, 5)))
    value, low, high = done.missed
    assert positives - 1e-9 <= low <= value + 1e-9 <= high + 2e-9
    assert high <= size - audited + positives + 1e-9


@pytest.mark.parametrize(
    ("pools", "found", "words"),
    [
        ([], 3, "a list of at least one Pool"),
        ([Pool("p", 10, 11, 20)], 3, "pool 'p': 11 of 10 audited, of 20"),
        ([Pool("p", 10, 1, 9)], 3, "positives <= audited <= size"),
        ([Pool("p", 0, 0, 9)], 3, "at least 1 audited"),
        ([Pool("p", 1, 0, 9), Pool("p", 1, 0, 9)], 3, "more than once"),
        ([Pool("p", 1, 0, 9)], -1, "audit, found: -1"),
        ([Pool("p", 1, 0, 9)], math.nan, "audit, found: nan"),
        ([Pool("p", 150.5, 0, 900)], 3, "pool 'p', audited: 150.5"),
        ([Pool("p", 150, positives=True, size=900)], 3, "pool 'p', positives: True"),
        (Pool("p", 1, 0, 9), 3, "a list of at least one Pool"),
        ([("p", 1, 0, 9)], 3, "a list of at least one Pool"),
    ],
)
def test_bad_audits_are_refused(pools, found, words):
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
        audit(pools, found)
    assert words in str(refused.value)


def labelled(items, labels):
    return Annotations(
        kind="binary", items=tuple(items), classes=("no", "yes"),
        item=np.arange(len(items)), label=np.asarray(labels, dtype=int),
    )  # fmt: skip


RANDOM = np.random.default_rng(3)
OLD, NEW = names(40, "old"), names(8, "new")
LABELS = RANDOM.integers(0, 2, 48)
SCORES = {name: LABELS + RANDOM.normal(0, s, 48) for name, s in (("good", 0.5), ("poor", 2))}
MODELS = [Predictions(name, OLD + NEW, one) for name, one in SCORES.items()]
POOL = {name: "first" if k < 5 else "second" for k, name in enumerate(NEW)}
SIZES = {"first": 15, "second": 3}


def audited(**more):
    how = {"pool": POOL, "sizes": SIZES, "replicates": 40, **more}
    return Audited(labelled(NEW, LABELS[40:]), **how)


def lines(**more):
    done = reevaluate(MODELS, labelled(OLD, LABELS[:40]), audited(**more), metric="auroc")
    return done, {(one.version, one.model): one for one in done.lines}


def test_values_before_and_after_equal_plain_metrics_with_copies():
    done, by = lines()
    for name, score in SCORES.items():
        before = metrics.auroc(LABELS[:40], score[:40])
        added = metrics.auroc(LABELS, score)
        copies = np.concatenate([np.ones(40), np.repeat([3, 1], [5, 3])]).astype(int)
        weighed = metrics.auroc(np.repeat(LABELS, copies), np.repeat(score, copies))
        assert by["before", name].value == pytest.approx(before)
        assert by["added", name].value == pytest.approx(added)
        assert by["reweighed", name].value == pytest.approx(weighed)
        assert by["reweighed", name].change == pytest.approx(weighed - before)
        assert by["before", name].change_low == by["before", name].change_high == 0
    for one in done.lines:
        assert one.low < one.value < one.high or one.high == 1
    assert done.items == (40, 8, 18)
    assert "8 audited items standing for 18" in done.finding
    assert "The order of models stays" in done.finding


def test_reevaluation_is_deterministic_and_takes_other_metrics():
    assert lines()[0].rows() == lines()[0].rows()
    assert lines(seed=1)[0].rows() != lines()[0].rows()
    chances = [Predictions(m.model, m.items, 1 / (1 + np.exp(-m.values))) for m in MODELS]
    for metric in ("precision_at_10", "brier_score", "average_precision:form=printed"):
        seen = []
        how = audited(replicates=3, labels="soft", progress=lambda *at, to=seen: to.append(at))
        done = reevaluate(chances, labelled(OLD, LABELS[:40]), how, metric=metric)
        assert len(done.rows()) == 6 and seen[-1] == (4, 4)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"pool": {}}, "no pool for 'new-0'"),
        ({"sizes": {"first": 15}}, "for 'second'"),
        ({"sizes": {"first": 4, "second": 3}}, "less than was audited, for 'first'"),
        ({"labels": "firm"}, "one of hard, soft"),
        ({"replicates": 0}, "audit, replicates: 0"),
        ({"replicates": 2.5}, "audit, replicates: 2.5"),
        ({"seed": -1}, "audit, seed: -1"),
        ({"level": "a"}, "audit, level: 'a'"),
        ({"sizes": {"first": 15.5, "second": 3}}, "size of pool 'first': 15.5"),
    ],
)
def test_bad_reevaluations_are_refused(more, words):
    with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
        lines(**more)
    assert words in str(refused.value)


def test_an_audit_of_the_benchmark_itself_is_refused():
    with pytest.raises(InputError, match="expected items that were not retrieved"):
        reevaluate(MODELS, labelled(NEW, LABELS[40:]), audited())
    with pytest.raises(InputError, match="a metric of draws"):
        reevaluate(MODELS, labelled(OLD, LABELS[:40]), audited(), metric="topk_accuracy")
    short = [Predictions("short", OLD, SCORES["good"][:40])]
    with pytest.raises(InputError, match="unknown"):
        reevaluate(short, labelled(OLD, LABELS[:40]), audited())


def test_the_sum_of_pools_covers():
    """Distances that add in squares: three pools of different shares, 2,000 audits."""
    random = np.random.default_rng(4)
    shape = [(40, 1960, 150), (300, 700, 100), (5, 1995, 200)]
    truth, inside = 345, 0
    for _ in range(2000):
        pools = [
            Pool(str(k), n, int(random.hypergeometric(yes, no, n)), yes + no)
            for k, (yes, no, n) in enumerate(shape)
        ]
        _, low, high = audit(pools, 10).missed
        inside += low <= truth <= high
    assert 0.93 <= inside / 2000 <= 0.98


def test_sentences_of_audits_at_the_edges():
    none = audit([Pool("p", 150, 0, 5000)], 120)
    assert none.finding.startswith("None of 150 audited items is positive; ")
    assert "at most 121 of the audited pool may be" in none.finding
    whole = audit([Pool("p", 50, 0, 50)], 3)
    assert "none was missed: the retrieval found 100.0% of those there are" in whole.finding
    nothing = audit([Pool("p", 50, 0, 50)], 0)
    assert "none was missed, and the retrieval found none" in nothing.finding
    lost = audit([Pool("p", 50, 5, 500)], 0)
    assert "and the retrieval found none" in lost.finding
    for one in (none, whole, nothing, lost):
        assert "nan" not in one.finding
    with pytest.raises(InputError, match="audit, level: 'a'"):
        audit([Pool("p", 1, 0, 9)], 3, level="a")


def test_reevaluation_refuses_what_it_cannot_score():
    bench = labelled(OLD, LABELS[:40])
    cases = [
        ({"metric": "expected_calibration_error"}, MODELS, "a metric that takes no weights"),
        ({"metric": "entropy_correlation"}, MODELS, "a metric that takes no weights"),
        ({}, [], "expected at least one model"),
        ({}, [MODELS[0], MODELS[0]], "'good' more than once"),
    ]
    for how, models, words in cases:
        with pytest.raises(InputError, match=r".+: .+, expected .+; .+") as refused:
            reevaluate(models, bench, audited(), **how)
        assert words in str(refused.value)
    other = Annotations(
        kind="binary", items=OLD, classes=("well", "sick"), item=np.arange(40),
        label=LABELS[:40],
    )  # fmt: skip
    with pytest.raises(InputError, match="positive class 'yes', expected 'sick'"):
        reevaluate(MODELS, other, audited())


def test_things_of_another_type_are_refused():
    bench = labelled(OLD, LABELS[:40])
    calls = [
        lambda: audit(3, 4),
        lambda: audit(None, 4),
        lambda: reevaluate(3, bench, audited()),
        lambda: reevaluate(MODELS, "votes.csv", audited()),
        lambda: reevaluate(MODELS, bench, 5),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r".+: .+, expected .+; .+"):
            call()


def test_infinite_and_undefined_values_are_said_in_words():
    bench = labelled(OLD, LABELS[:40])
    wrong = np.where(LABELS == 1, 0.9, 0.1)
    wrong[40] = 1.0 - LABELS[40]
    models = [
        Predictions("bold", OLD + NEW, wrong),
        Predictions("shy", OLD + NEW, wrong * 0 + 0.5),
    ]
    done = reevaluate(models, bench, audited(replicates=20), metric="log_score")
    assert "log score changes most for bold: by ∞" in done.finding
    assert "nan" not in done.finding
    wrong[0] = 1.0 - LABELS[0]
    lost = reevaluate(models[:1], bench, audited(replicates=5), metric="log_score")
    assert "inf" not in lost.finding
    gone = Predictions("bold", OLD + NEW, wrong)
    none = reevaluate(gone, bench, audited(replicates=5), metric="log_score")
    assert "the change of log score is undefined." in none.finding
    assert "The order" not in none.finding
