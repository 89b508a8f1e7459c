"""Several seeds of one method are one competitor: by hand, by the definition, by simulation."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.seeds import coverage, results

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.inference import Population, TwoWay, seed_means
from equipoise.study.seeds import _replicates

RUNS = {"forest": ["forest#0", "forest#1", "forest#2"]}


@pytest.fixture(scope="module")
def study():
    random = np.random.default_rng(3)
    z = random.standard_normal(80)
    items = tuple(f"i{i}" for i in range(80))
    seen = z[:, None] + random.standard_normal((80, 6))
    votes = Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        annotators=tuple("abcdef"),
        item=np.repeat(np.arange(80), 6),
        annotator=np.tile(np.arange(6), 80),
        label=(seen > 0.4).astype(np.int64).ravel(),
    )
    names = ("forest#0", "knn", "forest#1", "forest#2", "other")
    runs = [Predictions(n, items, z + random.standard_normal(80)) for n in names]
    return votes, runs


@pytest.fixture(scope="module")
def done(study):
    votes, runs = study
    return evaluate(runs, votes, metrics=["auroc", "precision_at_10"])


def test_a_competitor_equals_its_runs_by_hand(done):
    made = done.across_seeds(RUNS)
    assert made.models == ("forest", "knn", "other")
    before, after = done.two_way("auroc"), made.two_way("auroc")
    rows = [0, 2, 3]
    runs = before.values[rows]
    assert after.values[0] == pytest.approx(runs.mean(), abs=1e-15)
    for name in ("items", "annotators", "cells"):
        old, new = getattr(before, name), getattr(after, name)
        by_hand = sum(old[a, b] for a in rows for b in rows) / 9
        assert new[0, 0] == pytest.approx(by_hand, rel=1e-12)
        assert new[0, 1] == pytest.approx(sum(old[a, 1] for a in rows) / 3, rel=1e-12)
        assert new[1, 2] == old[1, 4]
    spread = after.of(0)
    between = sum((x - runs.mean()) ** 2 for x in runs) / 2 / 3
    assert (spread.seeds, spread.df_seeds) == (pytest.approx(between, rel=1e-12), 2.0)
    plain = spread.items + max(spread.annotators - spread.cells, 0)
    assert spread.variance == pytest.approx(plain + between, rel=1e-12)
    below = spread.items**2 / spread.df_items + spread.annotators**2 / spread.df_annotators
    assert spread.df == pytest.approx(spread.variance**2 / (below + between**2 / 2), rel=1e-12)


def test_models_without_chance_keep_every_digit(done):
    made = done.across_seeds(RUNS)
    for metric in ("auroc", "precision_at_10"):
        for labels in ("hard", "soft"):
            for name in ("knn", "other"):
                old = done.estimate(name, metric, labels=labels)
                new = made.estimate(name, metric, labels=labels)
                assert old.interval() == new.interval() and old.value == new.value
                assert np.array_equal(old.replicates, new.replicates)
            old = done.subset(["knn", "other"]).differences(metric, labels=labels)[0]
            new = made.subset(["knn", "other"]).differences(metric, labels=labels)[0]
            assert old == new


def test_one_run_changes_no_digit_and_says_that_seeds_are_unknown(done):
    made = done.across_seeds({"forest": ["forest#0"]})
    old, new = done.two_way("auroc"), made.two_way("auroc")
    assert all(old.of(m) == new.of(m) for m in range(5))
    assert all(old.between(a, b) == new.between(a, b) for a in range(5) for b in range(5))
    assert [one.code for one in made.notices if "seed" in one.code] == ["one_seed"]
    assert "unknown" in str(next(one for one in made.notices if one.code == "one_seed"))
    assert not [one for one in done.across_seeds(RUNS).notices if one.code == "one_seed"]


def test_everything_that_follows_is_of_the_competitors(done):
    made = done.across_seeds(RUNS)
    assert {row.model for row in made.table()} == {"forest", "knn", "other"}
    assert made.family("auroc").better.shape == (3, 3)
    assert {gap.a for gap in made.differences("auroc")} == {"forest", "knn"}
    assert made.rank_probabilities("auroc").sum(axis=0) == pytest.approx([1, 1, 1])
    mean = np.mean([done.scores[0][run] for run in RUNS["forest"]], axis=0)
    assert np.array_equal(made.scores[0]["forest"], mean)
    (own,) = [one for one in made.predictions if one.model == "forest"]
    assert np.allclose(own.values, mean)
    assert "forest#" not in str(made.verdict)


def test_resamples_vary_by_seeds_too(done):
    made = done.across_seeds(RUNS)
    before = done.replicates[0, 0, 1][[0, 2, 3]].mean(axis=0)
    spread = made.two_way("auroc").of(0)
    more = made.estimate("forest", "auroc").replicates.var() - before.var()
    assert more == pytest.approx(spread.seeds, rel=0.4)
    again = done.across_seeds(RUNS)
    assert np.array_equal(again.replicates, made.replicates)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_resampled_runs_vary_by_what_other_seeds_would_change(size):
    """Runs alike on every resample of items: all that is left is the variance of their mean."""
    values, number = np.random.default_rng(size).random((1, 1, 1, size)), 200_000
    done = SimpleNamespace(
        plan=SimpleNamespace(replicates=number, key=lambda _: 7),
        replicates=np.broadcast_to(values[..., None], (*values.shape, number)),
        values=values,
        models=tuple("abcde"[:size]),
    )
    made = _replicates(done, {"a": list(range(size))}, shared=False)
    assert made.var() == pytest.approx(values.var(ddof=1) / size, rel=0.02)
    assert made.mean() == pytest.approx(values.mean(), abs=5 * made.std() / np.sqrt(number))


def test_seeds_that_are_shared_are_paired():
    values = np.array([0.70, 0.74, 0.60, 0.66])
    zero = np.zeros((4, 4))
    cell = TwoWay(values, zero, zero, zero, zero, zero + 99, 0.0, 0.0, Population())
    alone = seed_means(cell, [[0, 1], [2, 3]]).between(0, 1)
    both = seed_means(cell, [[0, 1], [2, 3]], shared=True).between(0, 1)
    a, b = np.var(values[:2], ddof=1) / 2, np.var(values[2:], ddof=1) / 2
    assert alone.seeds == pytest.approx(a + b)
    assert alone.df_seeds == pytest.approx((a + b) ** 2 / (a**2 + b**2))
    assert both.seeds == pytest.approx(np.var([0.10, 0.08], ddof=1) / 2)
    assert both.df_seeds == 1
    assert both.df == pytest.approx(1) and math.isfinite(both.half_width())


@pytest.mark.parametrize(
    "methods",
    [{"forest": ["forest#9"]}, {"a": ["knn"], "b": ["knn"]}, {"a": []}, {"knn": ["other"]}],
)
def test_runs_that_are_none_are_refused(done, methods):
    with pytest.raises(InputError, match="seeds of"):
        done.across_seeds(methods)


def test_intervals_hold_where_seeds_matter():
    value, gap, one_run = coverage(results(120, 3, moved=0.3, jitter=0.2))
    assert value > 0.85 and gap > 0.88
    assert one_run < 0.7  # what it would be without the variance of seeds
