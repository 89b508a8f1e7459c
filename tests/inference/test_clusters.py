"""Annotators in groups and items in groups: what is random is the group."""

from dataclasses import replace

import numpy as np
import pyarrow
import pytest
from benchmarks._clusters import SCHOOLS, SITES, annotated, drawn, equal_pair_apart

from equipoise import Predictions, Settings, evaluate, resample
from equipoise.inference import Reason
from equipoise.read.attributes import Attributes, grouped

METRICS = ("auroc", "sensitivity")


def study(seed=0, *, schools=3, items=90, readers=12):
    """Votes of readers from schools, and three models that decide."""
    drawing = drawn(np.random.default_rng(seed), items, readers, schools=schools)
    votes = annotated(drawing)
    models = [
        Predictions(f"m{k}", votes.items, (drawing.scores[k] > 0.5) * 1.0) for k in range(3)
    ]
    return votes, models, drawing


def cell(votes, models, metric="sensitivity", labels="soft"):
    plan = resample(votes, "influence", replicates=2)
    found = evaluate(models, votes, metrics=[metric], resampling=plan)
    return found.two_way(metric, labels=labels)


def test_groups_of_a_single_annotator_change_nothing():
    votes, models, _ = study()
    votes = replace(votes, annotator_groups=None, annotator_group=None)
    alone = replace(votes, annotator_groups=votes.annotators, annotator_group=np.arange(12))
    for metric in (*METRICS, "cohen_kappa"):
        for labels in ("soft", "hard"):
            one, other = (cell(v, models, metric, labels) for v in (votes, alone))
            for part in ("values", "items", "annotators", "cells", "df_items"):
                np.testing.assert_allclose(
                    getattr(one, part), getattr(other, part), rtol=1e-12, atol=1e-18
                )
            assert one.df_annotators == pytest.approx(other.df_annotators, rel=1e-12)


def by_hand(drawing, called):
    """V_R, V_C and degrees of freedom of sensitivity, by the formulas, vote by vote."""
    votes, school = drawing.votes, drawing.school
    items, readers = votes.shape
    share = votes.mean(axis=1)
    slope = (called - (share * called).sum() / share.sum()) / share.sum()
    psi = slope[:, None] * (votes - share[:, None]) / readers
    member = np.eye(school.max() + 1)[school]
    by_school = psi @ member
    load = np.tile(member.sum(axis=0), (items, 1)) / readers
    left = np.diag(load.sum(axis=0)) - load.T @ load
    square = left @ left
    total = (load.sum(axis=0) ** 2).sum() * (1 - 1 / items)
    factor = total / (np.trace(square) * (1 - 1 / items)) / (1 - 1 / items)
    df = np.trace(square) ** 2 / (square * square).sum()
    return factor * (by_school.sum(axis=0) ** 2).sum(), factor * (by_school**2).sum(), df


@pytest.mark.parametrize("schools", [3, 6])
def test_votes_are_summed_over_schools_before_squaring(schools):
    votes, models, drawing = study(schools=schools)
    found = cell(votes, models[:1])
    annotators, cells, df = by_hand(drawing, models[0].values)
    assert found.annotators[0, 0] == pytest.approx(annotators, rel=1e-9)
    assert found.cells[0, 0] == pytest.approx(cells, rel=1e-9)
    assert found.df_annotators == pytest.approx(df) == schools - 1


def test_two_schools_give_no_verdict_on_schools_like_these():
    votes, models, _ = study(schools=2)
    found = cell(votes, models)
    assert found.population.reason is Reason.TOO_FEW
    assert "groups of annotators are too few" in found.population.scope


def test_whole_schools_are_drawn():
    votes = study()[0]
    plan = resample(votes, "panel", replicates=50)
    counts = plan.annotator_counts(0, plan.replicates)
    assert plan.panel_size == 3 and plan.replicates == 10  # all panels of three schools
    for school in range(3):
        members = counts[votes.annotator_group == school]
        assert (members == members[0]).all()


@pytest.mark.parametrize("design", SCHOOLS)
def test_equal_models_are_seldom_apart_and_would_be_without_schools(design):
    apart = equal_pair_apart(design, studies=80)
    assert apart["outer"] <= 0.09
    assert apart["inner"] >= apart["outer"]
    if design.schools == 3:
        assert apart["inner"] >= 0.12


# ---- the table ------------------------------------------------------------------------------


def table(**columns):
    return pyarrow.table(columns)


PEOPLE = [f"r{a:02d}" for a in range(12)]


def known(school, names=PEOPLE, group="school"):
    frame = table(annotator=list(names), school=school, hobby=["x"] * len(names))
    return Attributes.from_dataframe(frame, of="annotator", group=group)


def test_a_study_takes_its_groups_from_the_table():
    votes, models, drawing = study()
    people = known([f"s{k}" for k in drawing.school])
    bare = replace(votes, annotator_groups=None, annotator_group=None)
    settings = Settings(annotator_group="school")
    found = evaluate(models, bare, metrics=["auroc"], attributes=[people], settings=settings)
    other = evaluate(models, votes, metrics=["auroc"])
    one, two = (e.estimate("m0", "auroc").interval() for e in (found, other))
    assert one == pytest.approx(two, rel=1e-12)
    assert found.population.whom == "items and groups of annotators like these"


def test_numbers_are_names_of_groups_and_people_without_votes_are_passed_over():
    votes = study()[0]
    ids = [float(k) for k in range(12)] + [3.0]
    people = known(ids, names=[*PEOPLE, "zoe"])
    assert len(grouped(votes, people, "school").annotator_groups) == 12


def test_whoever_has_no_school_is_a_group_and_a_notice_says_so():
    votes = study()[0]
    people = known(["a"] * 5 + ["b"] * 5 + [None, None])
    found = grouped(votes, people, "school")
    assert len(found.annotator_groups) == 4
    assert "groups_alone" in [note.code for note in found.notices]


def refused(match, **keywords):
    votes, models, _ = study()
    bare = replace(votes, annotator_groups=None, annotator_group=None)
    settings = Settings(**{"annotator_group": "school", **keywords.pop("settings", {})})
    with pytest.raises(ValueError, match=match):
        evaluate(
            models,
            keywords.get("votes", bare),
            attributes=keywords.get("attributes", ()),
            settings=settings,
        )


def test_tables_that_do_not_fit_are_refused():
    good = ["a"] * 6 + ["b"] * 6
    refused("without a table.*attributes")
    refused(
        "'scool': unknown.*'school'",
        attributes=[known(good)],
        settings={"annotator_group": "scool"},
    )
    refused("no row for 1 annotator .'r11'.", attributes=[known(good[:-1], PEOPLE[:-1])])
    refused("a single group, 'a'", attributes=[known(["a"] * 12)])
    anonymous = study()[0].anonymous()
    refused("anonymous votes", attributes=[known(good)], votes=anonymous)
    with pytest.raises(ValueError, match=r"per_reader_truth.*groups of annotators by 'school'"):
        Settings(annotator_group="school", inference="per_reader_truth")
    with pytest.raises(ValueError, match="annotator_group"):
        replace(study()[0], annotator_group=np.arange(3))


# ---- nested groups of items ------------------------------------------------------------------


def sites(names, values):
    frame = table(item=list(names), site=values)
    return Attributes.from_dataframe(frame, group="site")


def test_the_outermost_level_is_the_unit_and_must_hold_the_others():
    drawing = drawn(np.random.default_rng(1), 60, 4, patients=30, sites=6)
    votes = annotated(drawing, outer=False)
    place = [f"s{k}" for k in drawing.site]
    found = grouped(votes, sites(votes.items, place), "site")
    assert len(found.groups) == 6
    place[0] = "s9"
    moved = grouped(replace(votes, group=None), sites(votes.items, place), "site")
    assert len(moved.groups) == 7
    with pytest.raises(ValueError, match="groups of the votes in several"):
        grouped(votes, sites(votes.items, place), "site")


def test_few_sites_have_bell_and_mccaffreys_freedom_and_cr2():
    drawing = drawn(np.random.default_rng(2), 80, 5, patients=40, sites=6)
    votes = annotated(drawing)
    called = (drawing.scores[0] > 0.5) * 1.0
    found = cell(votes, [Predictions("m0", votes.items, called)])
    share = drawing.votes.mean(axis=1)
    total = share.sum()
    value = (share * called).sum() / total
    sums = np.bincount(drawing.site, share * (called - value) / total)
    mass = np.bincount(drawing.site, share) / total
    assert found.items[0, 0] == pytest.approx((sums**2 / (1 - mass)).sum(), rel=1e-9)
    spread = np.diag(mass / np.sqrt(1 - mass)) @ (np.eye(6) - mass)
    sizes = np.linalg.eigvalsh(spread.T @ spread)
    df = sizes.sum() ** 2 / (sizes**2).sum()
    assert found.df_items[0, 0] == pytest.approx(df, rel=1e-9)
    assert 2 < df < 5  # sites of unequal size tell less than six alike


def test_equal_sites_have_the_former_variance_and_one_less_degree_of_freedom():
    drawing = drawn(np.random.default_rng(2), 60, 5)
    votes = annotated(drawing)
    place = np.repeat(np.arange(6), 10)
    votes = replace(votes, group=place, groups=tuple("abcdef"))
    models = [Predictions("m0", votes.items, (drawing.scores[0] > 0.5) * 1.0)]
    found = cell(votes, models, "accuracy")
    assert found.df_items[0, 0] == pytest.approx(5.0)


@pytest.mark.parametrize("design", SITES)
def test_equal_models_are_seldom_apart_over_sites_and_would_be_over_patients(design):
    apart = equal_pair_apart(design, studies=80)
    assert apart["outer"] <= 0.08
    assert apart["inner"] >= 0.10
