"""Models before and after an audit: plain metrics, copies of items, whole groups, weights."""

from dataclasses import replace

import numpy as np
import pytest

from equipoise import metrics
from equipoise.study.analyses.audits import Audited, Pool, audit, reevaluate
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError
from equipoise.types.predictions import Predictions
from tests.strategies import names


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


def test_copies_of_an_item_are_items_and_not_weights():
    """Soft labels: intervals are those of the metric on the items drawn one by one."""
    random = np.random.default_rng(8)
    share = random.integers(0, 4, 48) / 3
    score = 0.6 * share + 0.4 * random.random(48)

    def table(items, own):
        votes = (np.arange(3) < (3 * own)[:, None] - 0.5).astype(int)
        return Annotations(
            kind="binary", items=tuple(items), classes=("no", "yes"),
            item=np.repeat(np.arange(len(items)), 3), label=votes.ravel(),
        )  # fmt: skip

    how = Audited(table(NEW, share[40:]), POOL, SIZES, "soft", 60)
    done = reevaluate(Predictions("m", OLD + NEW, score), table(OLD, share[:40]), how)
    drawn, found = np.random.default_rng(0), [[], [], []]
    weight = np.repeat([1.0, 3.0, 1.0], [40, 5, 3])
    for _ in range(60):
        times = np.concatenate([drawn.multinomial(n, np.full(n, 1 / n)) for n in (40, 5, 3)])
        rows = np.repeat(np.arange(48), times)
        old = rows[rows < 40]
        found[0].append(metrics.auroc(share[old], score[old]))
        found[1].append(metrics.auroc(share[rows], score[rows]))
        found[2].append(metrics.auroc(share[rows], score[rows], weights=weight[rows]))
    for line, own in zip(done.lines, found, strict=True):
        assert (line.low, line.high) == pytest.approx(np.quantile(own, [0.025, 0.975]))


def test_groups_of_the_benchmark_and_of_the_audit_are_redrawn_as_wholes():
    """Copies of an item in one group: the redraws are those of the items without copies."""
    copies, rows = np.repeat(np.arange(40), 3), np.repeat(np.arange(48), 3)
    items = tuple(f"{name}/{k}" for name in OLD + NEW for k in range(3))
    models = [Predictions(name, items, one[rows]) for name, one in SCORES.items()]
    old, new = items[:120], items[120:]
    pool = {name: POOL[name.split("/")[0]] for name in new}

    def again(**more):
        bench = labelled(old, LABELS[rows][:120])
        votes = labelled(new, LABELS[rows][120:])
        if more:
            bench = replace(bench, group=copies, groups=OLD)
            votes = replace(votes, group=np.repeat(np.arange(8), 3), groups=NEW)
        sizes = {name: 3 * size for name, size in SIZES.items()}
        return reevaluate(models, bench, Audited(votes, pool, sizes, replicates=40))

    whole, single = again(grouped=True), again()
    thin = lines()[0]
    assert (whole.groups, single.groups) == (40, 0)
    for one, other in zip(whole.lines, thin.lines, strict=True):
        assert one[2:] == pytest.approx(other[2:])
    assert whole.lines[0].high - whole.lines[0].low > 1.3 * (
        single.lines[0].high - single.lines[0].low
    )
    bench = replace(labelled(OLD, LABELS[:40]), group=np.zeros(40, int), groups=("p",))
    with pytest.raises(InputError, match="all 40 items in one group, expected at least two"):
        reevaluate(MODELS, bench, audited())


def test_groups_of_unequal_size_leave_the_pool_its_size():
    """However many items a redraw of groups has, they stand for the whole pool."""
    label = np.array([1, 0, 1, 1, 1, 1, 0, 0])
    votes = replace(
        labelled(NEW, label), group=np.array([0, 0, 0, 1, 1, 2, 3, 4]), groups=tuple("abcde")
    )
    bench = labelled(OLD, LABELS[:40])
    right = np.where(LABELS[:40] == 1, 0.9, 0.1)  # every score is 0.02, in the pool 0.5
    model = Predictions("m", OLD + NEW, np.concatenate([right, np.full(8, 0.5)]))
    how = Audited(votes, dict.fromkeys(NEW, "all"), {"all": 100}, replicates=60)
    done = reevaluate(model, bench, how, metric="brier_score")
    whole = (40 * 0.02 + 100 * 0.5) / 140
    assert done.lines[2][2:5] == pytest.approx((whole, whole, whole))
    assert done.lines[1].low < done.lines[1].value < done.lines[1].high


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
        ({"sizes": [1]}, "audit, sizes: [1] (list)"),
        ({"sizes": {1: 2}}, "audit, sizes: {1: 2} (dict)"),
        ({"pool": 3}, "audit, pool: 3 (int)"),
        ({"pool": POOL | {"new-0": ["first"]}}, "pool of 'new-0': ['first'] (list)"),
        ({"progress": 3}, "progress: 3 (int)"),
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
        lambda: reevaluate(MODELS, bench, audited(), metric=["auroc"]),
        lambda: Audited("x", {}, {}),
        lambda: audit([Pool("p", 1, 0, 9)], 4, finite="no"),
        lambda: audit([Pool(None, 1, 0, 9)], 4),
        lambda: audit([Pool(["p"], 1, 0, 9)], 4),
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
    assert "log score changes most for bold: by +∞" in done.finding
    assert "nan" not in done.finding
    wrong[0] = 1.0 - LABELS[0]
    lost = reevaluate(models[:1], bench, audited(replicates=5), metric="log_score")
    assert "inf" not in lost.finding
    gone = Predictions("bold", OLD + NEW, wrong)
    none = reevaluate(gone, bench, audited(replicates=5), metric="log_score")
    assert "the change of log score is undefined." in none.finding
    assert "The order" not in none.finding
