"""Subgroups: attributes read and refused, quantities by hand, a noisy group that is found.

Also shuffled labels: p-values by hand, small groups that are alike, and patients as wholes.
"""

import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student

from equipoise.inference.resampling import Resampling, resample
from equipoise.metrics import auroc, average_precision
from equipoise.study.analyses.subgroups import Attributes, read_attributes, subgroups
from equipoise.study.analyses.subgroups.groups import (
    bootstrap_by_chance,
    holm,
    p_value,
    shuffles,
    sides,
)
from equipoise.truth import dirichlet
from equipoise.truth.agreement import krippendorff_alpha
from equipoise.types.arrays import InputError
from equipoise.types.predictions import Predictions
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(17)
ITEMS = 240
TRUTH = RANDOM.random(ITEMS) < 0.5
SITE = np.repeat([0, 1, 2], [100, 135, 5])
RIGHT = np.where(SITE == 1, 0.65, 0.95)
VOTES = np.where(RANDOM.random((ITEMS, 5)) < RIGHT[:, None], TRUTH[:, None], ~TRUTH[:, None])
VOTES = VOTES.astype(float)
SCORES = [TRUTH + RANDOM.normal(0, s, ITEMS) for s in (0.6, 1.2)]


def column(codes, levels=("a", "b"), name="side"):
    """Attributes of one column, by the codes of the items."""
    codes = np.asarray(codes)[None]
    return Attributes(items=names(codes.size), columns=(name,), levels=(levels,), codes=codes)


KNOWN = column(SITE, ("north", "south", "west"), "site")


def models():
    return [Predictions(f"model-{m}", names(ITEMS), s) for m, s in enumerate(SCORES)]


def measured(given=None, known=KNOWN, votes=VOTES, **how):
    """Groups of the study above, or of one that differs in a part."""
    return subgroups(given or models(), bootstrap.annotations(votes), known, **how)


def cell(done, level, quantity, model=None):
    """The cell of a group and quantity, of the first model unless one is named."""
    own = [one for one in done.cells if (one.level, one.quantity) == (level, quantity)]
    return next(one for one in own if model in (None, one.model))


def test_every_quantity_equals_its_own_computation():
    truth = bootstrap.annotations(VOTES)
    done = subgroups(models(), truth, KNOWN, replicates=30)
    share = VOTES.mean(axis=1)
    inside, outside = SITE == 1, SITE != 1
    sure = dirichlet(truth).certainty
    p = np.stack([1 - share, share])
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=0)
    for m, score in enumerate(SCORES):
        one = cell(done, "south", "auroc", f"model-{m}")
        assert_allclose(one.value, auroc(share[inside], score[inside]), atol=1e-12)
        assert_allclose(one.other, auroc(share[outside], score[outside]), atol=1e-12)
    assert_allclose(cell(done, "south", "certainty").value, sure[inside].mean(), atol=1e-12)
    assert_allclose(cell(done, "south", "entropy").value, entropy[inside].mean(), atol=1e-12)
    alpha = krippendorff_alpha(bootstrap.annotations(VOTES[inside])).value
    assert_allclose(cell(done, "south", "agreement").value, alpha, atol=1e-12)
    alpha = krippendorff_alpha(bootstrap.annotations(VOTES[outside])).value
    assert_allclose(cell(done, "south", "agreement").other, alpha, atol=1e-12)


def test_the_noisy_group_is_found_and_survives_the_adjustment():
    done = measured(replicates=300)
    assert done.most_disputed.level == done.least_agreement.level == "south"
    for quantity in ("agreement", "certainty"):
        one = cell(done, "south", quantity)
        assert one.difference_high < 0
        assert one.p <= one.p_holm < 0.01
    assert cell(done, "south", "entropy").difference_low > 0
    assert "site = south" in done.finding
    assert "more than chance explains" in done.finding
    assert "no more than" not in done.finding


def test_like_groups_are_not_called_different():
    random = np.random.default_rng(0)
    even = np.where(random.random((ITEMS, 5)) < 0.8, TRUTH[:, None], ~TRUTH[:, None]) * 1.0
    side = column(random.integers(0, 2, (1, ITEMS))[0])
    done = measured(known=side, votes=even, replicates=200)
    assert all(one.p_holm > 0.05 for one in done.cells)
    assert "not told apart from chance" in done.finding
    one, two = cell(done, "a", "entropy"), cell(done, "b", "entropy")
    assert_allclose(one.difference, -two.difference, atol=1e-12)
    assert_allclose(one.difference_low, -two.difference_high, atol=1e-12)


def test_small_groups_stay_in_the_rows_without_a_value():
    done = measured(replicates=10)
    assert [(one.level, one.items, one.measured) for one in done.sizes] == [
        ("north", 100, True),
        ("south", 135, True),
        ("west", 5, False),
    ]
    small = [one for one in done.cells if one.level == "west"]
    assert [one.quantity for one in small] == [
        "auroc", "auroc", "certainty", "entropy", "agreement",
    ]  # fmt: skip
    assert all(np.isnan(one.value) and np.isnan(one.p_holm) for one in small)
    assert {(row["items"], row["status"]) for row in done.rows() if row["level"] == "west"} == {
        (5, "too few items")
    }
    assert any("Holm" in str(said) for said in done.notices)


def test_the_largest_group_is_told_by_what_was_tested_against_it():
    """The most divided group has no difference to itself, but others have one to it."""
    done = measured(against="largest", replicates=100)
    one, two = cell(done, "north", "entropy"), cell(done, "south", "entropy")
    assert one.other == two.value
    assert np.isnan(two.difference)
    assert np.isnan(two.p_holm)
    assert "could not be tested" not in done.finding
    told = "Votes are most divided for site = south (135 items; entropy "
    assert done.finding.startswith(told)
    assert "), the largest group; site = north has 0." in done.finding
    assert "a difference more than chance explains" in done.finding


def test_a_column_of_two_values_is_one_comparison():
    """x - y and y - x: Holm counts one, so that with one model nothing is adjusted."""
    side = column((SITE == 1).astype(int))
    done = measured(models()[:1], side, replicates=100)
    assert all(one.p_holm == one.p for one in done.cells)
    assert str(done.notices[-1]).startswith("4 differences are looked at")
    twice = Attributes(items=names(ITEMS), columns=("side", "copy"), levels=(("a", "b"),) * 2,
                       codes=np.stack([side.codes[0]] * 2))  # fmt: skip
    again = measured(models()[:1], twice, replicates=100)
    assert all(one.p_holm == one.p for one in again.cells)
    three = measured(replicates=100)
    for quantity, number in (("entropy", 2), ("auroc", 4)):
        rows = [one for one in three.cells if one.quantity == quantity and one.level != "west"]
        assert len(rows) == number
        expected = holm([one.p for one in rows])
        assert_allclose([one.p_holm for one in rows], expected)


def test_a_group_of_one_class_is_undefined_and_said():
    sure = VOTES.copy()
    sure[SITE == 0] = 1
    done = measured(votes=sure, replicates=10)
    one = cell(done, "north", "auroc", "model-0")
    assert one.status == "undefined"
    assert np.isnan([one.value, one.low, one.p_holm]).all()
    assert cell(done, "north", "entropy").status == "measured"
    why = "For site = north auroc is undefined: all its labels are the same."
    assert why in map(str, done.notices)
    assert "For site = north agreement is undefined." in map(str, done.notices)
    hard = VOTES.copy()
    hard[SITE == 0] = [1, 1, 1, 0, 0]
    done = measured(votes=hard, labels="hard", replicates=5)
    assert why in map(str, done.notices)


def test_the_task_without_a_value_is_named():
    votes = np.concatenate([VOTES, VOTES])
    votes[:100] = 1
    item, annotator = np.nonzero(~np.isnan(votes))
    both = replace(
        bootstrap.annotations(VOTES), tasks=("lung", "heart"), item=item % ITEMS,
        annotator=annotator, label=votes[item, annotator].astype(int),
        task=(item >= ITEMS).astype(int),
    )  # fmt: skip
    given = [replace(one, task=task) for task in both.tasks for one in models()]
    done = subgroups(given, both, KNOWN, replicates=4)
    assert "For site = north auroc is undefined: all its labels of lung are the same." in map(
        str, done.notices
    )


def test_the_finding_is_true_where_there_is_little_to_say():
    one = measured(models()[:1], column(np.zeros(ITEMS), ("all",), "site"), replicates=20)
    assert "entropy of votes is known for site = all alone (240 items): 0." in one.finding
    assert "which could not be compared; agreement is known for site = all alone" in one.finding
    assert "most divided" not in one.finding and "lowest" not in one.finding
    assert "No difference" not in one.finding
    same = np.tile([[1.0, 1, 0], [0, 0, 1]], (ITEMS // 2, 1))
    level = measured(models()[:1], votes=same, replicates=20)
    assert "Votes are equally divided in all 2 groups" in level.finding
    assert "No difference in soft AUROC between groups is told apart from" in level.finding
    every = column(np.arange(ITEMS), tuple(names(ITEMS)), "id")
    none = measured(models()[:1], every, replicates=5)
    assert none.finding == "No group has 10 items: nothing is measured."
    sharp = [Predictions("sharp", names(ITEMS), np.where(SITE == 1, SCORES[1], TRUTH))]
    apart = measured(sharp, replicates=100)
    gap = cell(apart, "south", "auroc", "sharp").difference
    assert gap < -0.1
    assert "Soft AUROC of sharp is" in apart.finding
    assert "more than chance explains." in apart.finding


@pytest.mark.parametrize("wrong", [{}, None, "known.csv", 3, [("site", "a")]])
def test_attributes_of_a_wrong_type_are_refused(wrong):
    with pytest.raises(InputError, match=r"attributes: .*, expected a table with a row per"):
        measured(known=wrong)


def test_attributes_made_of_wrong_parts_are_refused():
    good = {"columns": ("x",), "levels": (("u",),)}
    empty = Attributes(items=names(ITEMS), columns=(), levels=(), codes=np.zeros((0, ITEMS)))
    with pytest.raises(InputError, match="attributes: no column, expected at least one"):
        measured(known=empty)
    for codes in ("x", [[0.5]], [[None]]):
        with pytest.raises(InputError, match=r"attributes, codes: .*, expected whole numbers"):
            Attributes(items=("a",), codes=codes, **good)
    with pytest.raises(InputError, match="attributes, items: 5"):
        Attributes(items=5, codes=[[0]], **good)
    for against in (None, 3, "all"):
        with pytest.raises(InputError, match=r"against: .*, expected one of rest, largest"):
            measured(against=against)
    with pytest.raises(InputError, match="shape"):
        Attributes(items=("a",), codes=np.zeros((2, 1)), **good)
    with pytest.raises(InputError, match="a code without a level"):
        Attributes(items=("a",), codes=np.ones((1, 1)), **good)


def test_same_seed_same_bytes():
    one, two = (str(measured(replicates=7, seed=3).rows()) for _ in range(2))
    assert one == two


def test_attributes_from_a_file(tmp_path):
    path = tmp_path / "known.csv"
    lines = [f"{k},{'f' if k % 2 else 'm'},{k},{k % 3 + 1},{'' if k == 4 else 'x'},id{k}"
             for k in range(100)]  # fmt: skip
    path.write_text("item,sex,age,skin,site,patient\n" + "\n".join(lines) + "\n")
    known = read_attributes(path)
    assert known.columns == ("sex", "age", "skin", "site")
    assert known.levels[0] == ("f", "m")
    assert known.levels[1] == ("0 to 24.75", "24.75 to 49.5", "49.5 to 74.25", "74.25 to 99")
    assert known.levels[2] == ("1", "2", "3")
    assert_array_equal(np.bincount(known.codes[1]), [25, 25, 25, 25])
    assert known.codes[3, 4] == -1
    assert "cut at its quartiles" in str(known.notices[0])
    assert "'patient' has 100 different values and is left out" in str(known.notices[1])
    assert not known.codes.flags.writeable


def test_quartiles_with_ties_and_gaps():
    ages = [20, 20, 20, 20, 20, 30, 40, 50, 60, 70, 80, None]
    known = Attributes.from_dataframe(
        pa.table({"item": [str(k) for k in range(12)], "age": pa.array(ages, pa.float64())})
    )
    assert known.levels[0] == ("20 to 30", "30 to 55", "55 to 80")
    assert_array_equal(known.codes[0], [0] * 6 + [1, 1, 2, 2, 2, -1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,sex\na,f\na,m\n", "'a' more than once, expected each name once"),
        ("itm,sex\na,f\n", "did you mean 'item'"),
        ("item,sex\n,f\n", "row 2: no item, expected the item's id"),
        ("item\na\n", "an attribute beside the item"),
        ("item,sex\n", "a header but no rows"),
        ("item,sex\na,\nb,\n", "an attribute beside the item"),
    ],
)
def test_attributes_that_cannot_be_used(tmp_path, text, message):
    path = tmp_path / "known.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_attributes(path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_attributes(tmp_path / "absent.csv")
    other = tmp_path / "known.xlsx"
    other.write_text("item")
    with pytest.raises(InputError, match="ending"):
        read_attributes(other)


def test_items_without_attributes_are_refused_or_left_out():
    part = replace(KNOWN, items=KNOWN.items[:235], codes=KNOWN.codes[:, :235])
    with pytest.raises(InputError, match="no row for 5 annotated items"):
        measured(known=part)
    done = measured(known=part, on_missing="drop", replicates=5)
    assert [one.items for one in done.sizes] == [100, 135, 0]
    assert any("5 of 240 items have no attributes" in str(said) for said in done.notices)
    strangers = replace(KNOWN, items=("z",), codes=np.zeros((1, 1)))
    with pytest.raises(InputError, match="no row for 240"):
        measured(known=strangers, on_missing="drop")


def test_holm_by_hand():
    assert_allclose(holm([0.001, 0.5, 0.02]), [0.003, 0.5, 0.04])
    assert_allclose(holm([0.4, 0.6]), [0.8, 0.8])


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_by_another_finding():
    """Where most radiologists see an effusion, they disagree more about edema."""
    from equipoise.datasets import chexpert
    from equipoise.types.votes import collect_votes

    study = chexpert()
    votes = collect_votes(study.annotations, "Pleural Effusion")
    seen = (votes.shares(1) > 0.5).astype(int)
    known = Attributes(
        items=study.annotations.items, columns=("effusion",), levels=(("no", "yes"),),
        codes=seen[None],
    )  # fmt: skip
    done = subgroups(study.predictions, study.annotations, known, task="Edema", replicates=100)
    assert [one.items for one in done.sizes] == [int((seen == 0).sum()), int(seen.sum())]
    one = cell(done, "yes", "entropy")
    assert one.low < one.value < one.high
    assert done.most_disputed.level == "yes"
    assert cell(done, "yes", "certainty").difference_high < 0


def test_the_finding_has_every_group_and_names_what_has_no_value():
    done = measured(replicates=20)
    finding = done.report()
    (table,) = finding.tables
    assert finding.sentence == done.finding and str(table.rows) == str(done.rows())
    assert {row["quantity"] for row in table.brief} == {"entropy", "agreement"}
    names_of = [chart.name for chart in finding.charts]
    assert names_of == ["subgroups-entropy", "subgroups-agreement", "subgroups-metric"]
    best = finding.charts[-1].rows[0].model
    mean = {
        model: np.mean([one.value for one in done.cells if one.model == model])
        for model in done.models
    }
    assert best == max(mean, key=mean.get)
    assert finding.references == ("holm1979", "krippendorff2004")
    assert all(f"[@{key}]" in finding.methods for key in finding.references)
    few = column([0] * 5 + [1] * (ITEMS - 5), name="site")
    small = measured(known=few, replicates=5).report()
    assert "too few items" in [row["value"] for row in small.tables[0].brief]
    assert "Holm" not in small.methods


def test_chances_by_hand_and_without_spread():
    assert p_value(0.0, np.zeros(9), 7) == p_value(1e-17, np.full(9, 1e-17), 7) == 1
    assert np.isnan(p_value(1.0, np.zeros(9), 7))
    assert np.isnan(p_value(np.nan, np.arange(9.0), 7))
    assert np.isnan(p_value(1.0, np.array([1.0, np.nan]), 7))
    assert np.isnan(p_value(1.0, np.arange(9.0), 0))
    assert_allclose(p_value(2.0, np.array([1.0, -1.0]), 10), 2 * student.sf(2, 10))
    assert p_value(5.0, np.array([5.0] * 3 + [0.0] * 7), 10) == 0.3


def test_small_groups_that_are_alike_are_rarely_called_different():
    """Eight groups of twelve: the normal law with a group's own spread is wrong in 20 %."""
    place = column(np.repeat(np.arange(8), 12), tuple("abcdefgh"), "site")
    found = {}
    for seed in range(60):
        random = np.random.default_rng(seed)
        case = random.normal(size=96)
        votes = (random.random((96, 4)) < 1 / (1 + np.exp(-1.5 * case[:, None]))) * 1.0
        score = 1 / (1 + np.exp(-case - random.normal(0, 0.8, 96)))
        given, how = [Predictions("model", names(96), score)], {"metric": "accuracy"}
        done = measured(given, place, votes, replicates=100, seed=seed, **how)
        for quantity in ("accuracy", "certainty", "entropy", "agreement"):
            least = min(one.p_holm for one in done.cells if one.quantity == quantity)
            found.setdefault(quantity, []).append(least < 0.05)
    assert max(np.mean(one) for one in found.values()) <= 0.12
    assert np.mean(list(found.values())) <= 0.06


def test_patients_are_shuffled_as_wholes():
    patient = np.repeat(np.arange(20), 3)
    plan = Resampling(kind="items", items=names(60), replicates=30, group=patient)
    group = patient < 6
    both = sides(group, patient >= 12, plan)
    assert both.numbers in ((6, 8), (8, 6)) and not both.mixed
    for drawn, number in zip(shuffles(both, plan), both.numbers, strict=True):
        members = drawn.members.reshape(20, 3, 30)
        assert (members == members[:, :1]).all()
        assert (members[:, 0].sum(axis=0) == number).all()
        assert not members[6:12].any()
    one, two = shuffles(both, plan)
    assert_array_equal((one.members + two.members).any(axis=1), group | (patient >= 12))
    assert len(np.unique(one.members, axis=1).T) > 20
    many = Resampling(kind="items", items=names(60), replicates=2000, group=patient)
    assert shuffles(both, many)[0].members.shape == (60, 500)
    halves = sides(np.arange(60) % 3 == 0, np.arange(60) % 3 == 1, plan)
    assert halves.mixed and halves.numbers == (20, 20)
    by_chance, degrees = bootstrap_by_chance(np.array([1.0, 2.0, 0.0]), halves)
    assert_allclose(by_chance, np.array([1, -1]) * np.sqrt(20 / 19))
    assert degrees == 19


def test_copies_of_an_item_under_one_patient_add_no_evidence():
    random = np.random.default_rng(3)
    votes, score = (random.random((40, 5)) < 0.6) * 1.0, random.random(40)
    side = (random.random(40) < 0.5).astype(int)
    found = []
    for times in (1, 4):
        truth = bootstrap.annotations(np.repeat(votes, times, axis=0))
        truth = replace(truth, groups=tuple(f"p{k}" for k in range(40)),
                        group=np.repeat(np.arange(40), times))  # fmt: skip
        known = column(np.repeat(side, times))
        given = [Predictions("model", names(40 * times), np.repeat(score, times))]
        done = subgroups(given, truth, known, metric="accuracy", replicates=200)
        found.append([cell(done, "a", name).p for name in ("agreement", "entropy")])
    assert_allclose(found[0], found[1], atol=1e-9)
    mixed = column(np.arange(160) % 2)
    apart = subgroups(given, truth, mixed, metric="accuracy", replicates=50)
    assert cell(apart, "a", "entropy").p == 1
    assert 0 < cell(done, "a", "agreement").p <= 1


@pytest.mark.parametrize("metric", ["auroc", "average_precision"])
def test_shuffles_scored_at_once_equal_one_by_one(metric):
    random = np.random.default_rng(8)
    votes, score = (random.random((60, 3)) < 0.5) * 1.0, random.random(60).round(1)
    side = (random.random(60) < 0.4).astype(int)
    known = column(side)
    truth, given = bootstrap.annotations(votes), Predictions("model", names(60), score)
    done = subgroups([given], truth, known, metric=metric, replicates=40, seed=2)
    plan = resample(truth, "items", replicates=40, seed=2)
    both, share = sides(side == 0, side == 1, plan), votes.mean(axis=1)
    plain = {"auroc": auroc, "average_precision": average_precision}[metric]
    p = np.stack([1 - share, share])
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=0)
    slow = {metric: lambda here: plain(share[here], score[here]),
            "entropy": lambda here: entropy[here].mean()}  # fmt: skip
    one, two = (plan.members.astype(bool).T for plan in shuffles(both, plan))
    for name, value in slow.items():
        gap = value(side == 0) - value(side == 1)
        by_chance = np.array([value(a) - value(b) for a, b in zip(one, two, strict=True)])
        assert_allclose(cell(done, "a", name).p, p_value(gap, by_chance, 58), atol=1e-9)
