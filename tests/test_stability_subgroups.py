"""Subgroups: attributes read and refused, quantities by hand, a noisy group that is found."""

import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise.aggregate import dirichlet
from equipoise.agreement import krippendorff_alpha
from equipoise.analyses.subgroups import Attributes, read_attributes, subgroups
from equipoise.analyses.subgroups.groups import holm
from equipoise.arrays import InputError
from equipoise.metrics import auroc
from equipoise.predictions import Predictions
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
KNOWN = Attributes(
    items=names(ITEMS), columns=("site",), levels=(("north", "south", "west"),),
    codes=SITE[None],
)  # fmt: skip


def models():
    return [Predictions(f"model-{m}", names(ITEMS), s) for m, s in enumerate(SCORES)]


def cell(done, level, quantity, model=""):
    return next(
        one
        for one in done.cells
        if (one.level, one.quantity, one.model) == (level, quantity, model)
    )


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
    done = subgroups(models(), bootstrap.annotations(VOTES), KNOWN, replicates=300)
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
    side = Attributes(items=names(ITEMS), columns=("side",), levels=(("a", "b"),),
                      codes=random.integers(0, 2, (1, ITEMS)))  # fmt: skip
    done = subgroups(models(), bootstrap.annotations(even), side, replicates=200)
    assert all(one.p_holm > 0.05 for one in done.cells)
    assert "not told apart from chance" in done.finding
    one, two = cell(done, "a", "entropy"), cell(done, "b", "entropy")
    assert_allclose(one.difference, -two.difference, atol=1e-12)
    assert_allclose(one.difference_low, -two.difference_high, atol=1e-12)


def test_small_groups_stay_in_the_rows_without_a_value():
    done = subgroups(models(), bootstrap.annotations(VOTES), KNOWN, replicates=10)
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


def test_against_the_largest_group():
    done = subgroups(models(), bootstrap.annotations(VOTES), KNOWN, against="largest",
                     replicates=10)  # fmt: skip
    one, two = cell(done, "north", "entropy"), cell(done, "south", "entropy")
    assert one.other == two.value
    assert np.isnan(two.difference)
    assert np.isnan(two.p_holm)


def test_the_largest_group_is_told_by_what_was_tested_against_it():
    """The most divided group has no difference to itself, but others have one to it."""
    done = subgroups(models(), bootstrap.annotations(VOTES), KNOWN, against="largest",
                     replicates=100)  # fmt: skip
    assert "could not be tested" not in done.finding
    told = "Votes are most divided for site = south (135 items; entropy "
    assert done.finding.startswith(told)
    assert "), the largest group; site = north has 0." in done.finding
    assert "a difference more than chance explains" in done.finding


def test_a_column_of_two_values_is_one_comparison():
    """x - y and y - x: Holm counts one, so that with one model nothing is adjusted."""
    side = Attributes(items=names(ITEMS), columns=("side",), levels=(("a", "b"),),
                      codes=(SITE == 1).astype(int)[None])  # fmt: skip
    done = subgroups(models()[:1], bootstrap.annotations(VOTES), side, replicates=100)
    assert all(one.p_holm == one.p for one in done.cells)
    assert str(done.notices[-1]).startswith("4 differences are looked at")
    twice = Attributes(items=names(ITEMS), columns=("side", "copy"), levels=(("a", "b"),) * 2,
                       codes=np.stack([side.codes[0]] * 2))  # fmt: skip
    again = subgroups(models()[:1], bootstrap.annotations(VOTES), twice, replicates=100)
    assert all(one.p_holm == one.p for one in again.cells)
    three = subgroups(models(), bootstrap.annotations(VOTES), KNOWN, replicates=100)
    for quantity, number in (("entropy", 2), ("auroc", 4)):
        rows = [one for one in three.cells if one.quantity == quantity and one.level != "west"]
        assert len(rows) == number
        expected = holm([one.p for one in rows])
        assert_allclose([one.p_holm for one in rows], expected)


def test_a_group_of_one_class_is_undefined_and_said():
    sure = VOTES.copy()
    sure[SITE == 0] = 1
    done = subgroups(models(), bootstrap.annotations(sure), KNOWN, replicates=10)
    one = cell(done, "north", "auroc", "model-0")
    assert one.status == "undefined"
    assert np.isnan([one.value, one.low, one.p_holm]).all()
    assert cell(done, "north", "entropy").status == "measured"
    why = "For site = north auroc is undefined: all its labels are the same."
    assert why in map(str, done.notices)
    assert "For site = north agreement is undefined." in map(str, done.notices)
    hard = VOTES.copy()
    hard[SITE == 0] = [1, 1, 1, 0, 0]
    done = subgroups(models(), bootstrap.annotations(hard), KNOWN, labels="hard", replicates=5)
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
    truth = bootstrap.annotations(VOTES)
    alone = Attributes(items=names(ITEMS), columns=("site",), levels=(("all",),),
                       codes=np.zeros((1, ITEMS)))  # fmt: skip
    one = subgroups(models()[:1], truth, alone, replicates=20)
    assert "entropy of votes is known for site = all alone (240 items): 0." in one.finding
    assert "which could not be compared; agreement is known for site = all alone" in one.finding
    assert "most divided" not in one.finding and "lowest" not in one.finding
    assert "No difference" not in one.finding
    same = np.tile([[1.0, 1, 0], [0, 0, 1]], (ITEMS // 2, 1))
    level = subgroups(models()[:1], bootstrap.annotations(same), KNOWN, replicates=20)
    assert "Votes are equally divided in all 2 groups" in level.finding
    assert "No difference in soft AUROC between groups is told apart from" in level.finding
    every = Attributes(items=names(ITEMS), columns=("id",), levels=(tuple(names(ITEMS)),),
                       codes=np.arange(ITEMS)[None])  # fmt: skip
    none = subgroups(models()[:1], truth, every, replicates=5)
    assert none.finding == "No group has 10 items: nothing is measured."
    sharp = [Predictions("sharp", names(ITEMS), np.where(SITE == 1, SCORES[1], TRUTH))]
    apart = subgroups(sharp, truth, KNOWN, replicates=100)
    gap = cell(apart, "south", "auroc", "sharp").difference
    assert gap < -0.1
    assert "Soft AUROC of sharp is" in apart.finding
    assert "more than chance explains." in apart.finding


@pytest.mark.parametrize("wrong", [{}, None, "known.csv", 3, [("site", "a")]])
def test_attributes_of_a_wrong_type_are_refused(wrong):
    with pytest.raises(InputError, match=r"attributes: .*, expected a table with a row per"):
        subgroups(models(), bootstrap.annotations(VOTES), wrong)


def test_attributes_made_of_wrong_parts_are_refused():
    truth, good = bootstrap.annotations(VOTES), {"columns": ("x",), "levels": (("u",),)}
    empty = Attributes(items=names(ITEMS), columns=(), levels=(), codes=np.zeros((0, ITEMS)))
    with pytest.raises(InputError, match="attributes: no column, expected at least one"):
        subgroups(models(), truth, empty)
    for codes in ("x", [[0.5]], [[None]]):
        with pytest.raises(InputError, match=r"attributes, codes: .*, expected whole numbers"):
            Attributes(items=("a",), codes=codes, **good)
    with pytest.raises(InputError, match="attributes, items: 5"):
        Attributes(items=5, codes=[[0]], **good)
    for against in (None, 3, "all"):
        with pytest.raises(InputError, match=r"against: .*, expected one of rest, largest"):
            subgroups(models(), truth, KNOWN, against=against)


def test_same_seed_same_bytes():
    one, two = (
        str(
            subgroups(
                models(), bootstrap.annotations(VOTES), KNOWN, replicates=7, seed=3
            ).rows()
        )
        for _ in range(2)
    )
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


def test_codes_are_checked():
    with pytest.raises(InputError, match="shape"):
        Attributes(items=("a",), columns=("x",), levels=(("u",),), codes=np.zeros((2, 1)))
    with pytest.raises(InputError, match="a code without a level"):
        Attributes(items=("a",), columns=("x",), levels=(("u",),), codes=np.ones((1, 1)))


def test_items_without_attributes_are_refused_or_left_out():
    part = Attributes(items=KNOWN.items[:235], columns=("site",), levels=KNOWN.levels,
                      codes=KNOWN.codes[:, :235])  # fmt: skip
    truth = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="no row for 5 annotated items"):
        subgroups(models(), truth, part)
    done = subgroups(models(), truth, part, on_missing="drop", replicates=5)
    assert [one.items for one in done.sizes] == [100, 135, 0]
    assert any("5 of 240 items have no attributes" in str(said) for said in done.notices)
    strangers = Attributes(items=("z",), columns=("site",), levels=(("u",),),
                           codes=np.zeros((1, 1)))  # fmt: skip
    with pytest.raises(InputError, match="no row for 240"):
        subgroups(models(), truth, strangers, on_missing="drop")
    with pytest.raises(InputError, match="one of rest, largest"):
        subgroups(models(), truth, KNOWN, against="all")


def test_holm_by_hand():
    assert_allclose(holm([0.001, 0.5, 0.02]), [0.003, 0.5, 0.04])
    assert_allclose(holm([0.4, 0.6]), [0.8, 0.8])


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_by_another_finding():
    """Where most radiologists see an effusion, they disagree more about edema."""
    from equipoise.datasets import chexpert
    from equipoise.votes import collect_votes

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
    done = subgroups(models(), bootstrap.annotations(VOTES), KNOWN, replicates=20)
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
    few = Attributes(items=names(ITEMS), columns=("site",), levels=(("a", "b"),),
                     codes=np.array([[0] * 5 + [1] * (ITEMS - 5)]))  # fmt: skip
    small = subgroups(models(), bootstrap.annotations(VOTES), few, replicates=5).report()
    assert "too few items" in [row["value"] for row in small.tables[0].brief]
    assert "Holm" not in small.methods
