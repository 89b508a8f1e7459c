"""Adjudicated gold: the truth of its items, nobody's vote, and a score for annotators."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.study.analyses.annotators import skilled_rows
from equipoise.study.questions import ask
from equipoise.study.truth import task_truths
from equipoise.truth import dawid_skene, dirichlet, glad
from equipoise.truth.agreement import krippendorff_alpha
from tests.analysed import rank_stability
from tests.strategies import names

ITEMS, READERS = 90, 4
PEOPLE = (*names(READERS, "reader"), "adjudicator")


def world(settled=ITEMS, seed=2, **more):
    """Votes of four readers on part of the items, gold by a fifth person, and two models."""
    random = np.random.default_rng(seed)
    truth = (random.random(ITEMS) < 0.35).astype(int)
    read = random.random((ITEMS, READERS)) < 0.8
    read[np.arange(ITEMS), np.arange(ITEMS) % READERS] = True
    item, who = np.nonzero(read)
    wrong = random.random(len(item)) < 0.1 + 0.07 * who
    known = np.arange(settled)
    votes = Annotations(
        kind="binary", items=names(ITEMS), classes=("no", "yes"), annotators=PEOPLE,
        item=np.append(item, known), annotator=np.append(who, np.full(settled, READERS)),
        label=np.append(truth[item] ^ wrong, truth[known]),
        is_gold=np.arange(len(item) + settled) >= len(item), **more,
    )  # fmt: skip
    models = [
        Predictions(name, names(ITEMS), truth + random.normal(0, spread, ITEMS).round(1))
        for name, spread in (("good", 0.5), ("poor", 1.0))
    ]
    return truth, votes, models


# The truth of its items


def test_gold_of_all_items_is_the_truth_and_items_are_what_is_uncertain():
    truth, votes, models = world()
    plan = resample(votes)
    assert plan.kind == "items" and plan.gold
    assert plan.scope.endswith("by the reference standard; items like these.")
    done = evaluate(models, votes, metrics=["auroc"])
    assert_array_equal(done.questions[0].shares[0], truth)
    for row in done.table():
        assert row.high - row.low > 0.02
    assert "All 90 items are scored by the reference standard; items like these." in [
        str(one) for one in done.notices
    ]


def test_groups_of_gold_items_are_resampled_as_wholes():
    _, votes, models = world(group=np.arange(ITEMS) // 9, groups=names(10, "patient"))
    plan = resample(votes)
    assert plan.kind == "items" and "10 groups as wholes" in plan.scope
    drawn = plan.item_counts(0, 50).reshape(10, 9, 50)
    assert (drawn == drawn[:, :1]).all()
    assert evaluate(models, votes, resampling=plan).plan.gold


@pytest.mark.parametrize("kind", ["panel", "votes", "items x panel", "items x votes"])
def test_votes_that_gold_overrules_cannot_be_resampled(kind):
    with pytest.raises(InputError, match="adjudicated gold for every item"):
        resample(world()[1], kind)


def test_gold_of_some_items_leaves_the_others_their_votes():
    truth, votes, models = world(settled=30)
    plan = resample(votes, replicates=50)
    assert plan.kind == "items x panel" and not plan.gold
    assert "some items have adjudicated gold" in plan.reason
    (question,) = task_truths(votes)
    mean = np.bincount(votes.item[~votes.is_gold], votes.label[~votes.is_gold])
    number = np.bincount(votes.item[~votes.is_gold])
    rest = question.place >= 30
    assert_array_equal(question.shares[0][~rest], truth[:30])
    assert_allclose(
        question.shares[0][rest], (mean / np.maximum(number, 1))[30:][number[30:] > 0]
    )
    soft = question.blocks(plan, 0, 50)["classes"][1].classes[0].positive
    assert (soft[~rest] == truth[:30, None]).all()
    assert (soft[rest].std(axis=1) > 0).any()
    done = evaluate(models, votes, resampling=plan)
    said = " ".join(str(one) for one in done.notices)
    assert "30 items are scored by the reference standard" in said
    assert f"the other {rest.sum()} against their votes" in said


def test_who_gave_gold_alone_is_never_drawn():
    _, votes, models = world(settled=30)
    for kind in ("panel", "items x panel"):
        plan = resample(votes, kind)
        assert plan.panel_size == READERS
        counts = plan.annotator_counts(0, 64)
        assert (counts[READERS] == 0).all() and (counts.sum(axis=0) == READERS).all()
    four = replace(
        votes, annotators=PEOPLE[:-1], annotator=np.where(votes.is_gold, 0, votes.annotator)
    )
    done, same = (evaluate(models, one, resampling="panel") for one in (votes, four))
    assert_array_equal(done.replicates, same.replicates)


# What gold is for


def test_gold_can_be_ignored_or_asked_for_alone():
    truth, votes, _ = world(settled=30)
    ignored, only = votes.with_gold("ignore"), votes.with_gold("only")
    assert votes.with_gold() is votes and ignored.is_gold is None
    assert len(ignored) == (~votes.is_gold).sum() and (only.item < 30).all()
    assert_array_equal(task_truths(only)[0].shares[0], truth[:30])
    assert resample(ignored).kind == "items x panel" and not resample(ignored).gold
    with pytest.raises(InputError, match="no gold rows"):
        ignored.with_gold("only")
    with pytest.raises(InputError, match="nothing but gold rows"):
        votes.rows(votes.is_gold).with_gold("ignore")
    with pytest.raises(InputError, match="truth, ignore"):
        votes.with_gold("both")


def test_a_task_without_gold_goes_where_only_gold_counts():
    _, votes, _ = world(settled=30)
    two = replace(votes, task=(votes.item >= 30).astype(int), tasks=("known", "open"))
    assert two.with_gold("only").tasks == ("known",)


# Nobody's vote


def test_gold_rows_are_nobodys_votes():
    _, votes, models = world(settled=30)
    plain = votes.with_gold("ignore")
    assert krippendorff_alpha(votes).value == krippendorff_alpha(plain).value
    left = ask("leave_one_out", models, votes, metrics=["auroc"])
    assert {outcome.label for outcome in left.outcomes} == set(PEOPLE[:-1])
    halves = ask("half_panels", models, votes, metrics=["auroc"]).outcomes
    assert all(PEOPLE[-1] not in half.facts["annotators"] for half in halves)
    drawn = rank_stability(models, votes, metrics=["auroc"], kind="panel", replicates=10)
    assert drawn.evaluation.plan.kind == "panel"


@pytest.mark.parametrize("model", [dirichlet, dawid_skene, glad])
def test_who_wrote_gold_down_does_not_matter(model):
    _, votes, _ = world(settled=30)
    other = replace(votes, annotator=np.where(votes.is_gold, 0, votes.annotator))
    first, second = model(votes), model(other)
    assert_array_equal(first.mean, second.mean)
    assert_array_equal(first.mean[:30, 1], votes.label[votes.is_gold])
    listed = {row["annotator"] for row in skilled_rows(votes, "", first.skills)}
    assert listed == set(PEOPLE[:-1])


# The command line


def written(folder, settled):
    _, votes, models = world(settled=settled)
    lines = ["item,annotator,label,is_gold"]
    lines += [
        f"{votes.items[i]},{PEOPLE[a]},{votes.classes[k]},{int(g)}"
        for i, a, k, g in zip(
            votes.item, votes.annotator, votes.label, votes.is_gold, strict=True
        )
    ]
    (folder / "votes.csv").write_text("\n".join(lines))
    rows = zip(votes.items, *(one.values for one in models), strict=True)
    scores = ["item,good,poor", *(f"{name},{a},{b}" for name, a, b in rows)]
    (folder / "scores.csv").write_text("\n".join(scores))
    return "-a", folder / "votes.csv", "-p", folder / "scores.csv", "--replicates", 50


def test_a_run_holds_and_shows_annotators_beside_models(equipoise, tmp_path):
    words = written(tmp_path, ITEMS)
    code, out, said = equipoise("evaluate", *words, "--out", tmp_path / "run")
    assert code == 0, said
    assert "Items like these, by the reference standard. 90 items." in " ".join(out.split())
    assert "adjudicator" not in out
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    (gold,) = (one for one in header["report"]["findings"] if one["key"] == "readers")
    rows = [row for table in gold["tables"] for row in table["rows"]]
    assert {*PEOPLE[:-1]} == {row["reader"] for row in rows if "reader" in row}
    assert {"good", "poor"} == {row["model"] for row in rows}
    assert header["settings"]["soft"] == "adjudicated gold"
    page = (tmp_path / "run" / "report.html").read_text()
    assert "by the reference standard" in page
    assert "anonymous votes" not in page
    code, _, said = equipoise("report", tmp_path / "run")
    assert code == 0 and (tmp_path / "run" / "report.html").read_text() == page


@pytest.mark.parametrize(
    ("use", "kind", "items"),
    [("truth", "items x panel", 90), ("ignore", "items x panel", 90), ("only", "items", 30)],
)
def test_the_option_says_what_gold_is_for(use, kind, items, equipoise, tmp_path):
    words = written(tmp_path, 30)
    code, _, said = equipoise("evaluate", *words, "--gold", use, "--out", tmp_path / "run")
    assert code == 0, said
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    assert header["settings"]["resample"] == kind
    assert f"{items} items" in header["report"]["card"]["holds_for"]
    assert ("gold" in header["question"]) == (use != "truth")
    found = {one["key"]: one for one in header["report"]["findings"]}
    said = str(found["readers"])
    assert ("by the reference standard" in said) == (use != "ignore")
    assert ("as the other annotators call them" in said) == (use != "only")


def test_an_unknown_use_of_gold_is_wrong_usage(equipoise, tmp_path):
    code, _, said = equipoise("evaluate", *written(tmp_path, 30), "--gold", "maybe")
    assert (
        code == 1 and "gold: 'maybe', expected one of truth, ignore, only, adjudicator" in said
    )
