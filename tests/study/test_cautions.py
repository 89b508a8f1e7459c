"""What the user is told before trusting an interval, and what is never claimed."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.read.writing import check_folder
from equipoise.report.run import PAGE, RUN_FILES, Provenance, StoredQuestion, record
from equipoise.study import Settings
from equipoise.types import Report

NOTHING = Report(title="", findings=())


def table(votes, **more):
    """Annotations of a matrix (items, annotators) of 0, 1 and nan."""
    votes = np.asarray(votes, dtype=float)
    item, reader = np.nonzero(~np.isnan(votes))
    named = {
        "annotators": tuple(f"r{r}" for r in range(votes.shape[1])), "annotator": reader
    }  # fmt: skip
    if more.pop("anonymous", False):
        named = {}
    return Annotations(
        kind="binary", items=tuple(map(str, range(len(votes)))), classes=("no", "yes"),
        item=item, label=votes[item, reader].astype(int), **named, **more,
    )  # fmt: skip


def model(items, name="m", seed=0):
    scores = np.random.default_rng(seed).random(items)
    return Predictions(name, tuple(map(str, range(items))), scores)


VOTES = (np.random.default_rng(3).random((30, 6)) < 0.5).astype(float)


def notices(truth, kind=None, **how):
    plan = resample(truth, kind, **how)
    return " ".join(map(str, evaluate(model(len(truth.items)), truth, resampling=plan).notices))


def test_tied_items_are_counted():
    ties = int((VOTES.mean(axis=1) == 0.5).sum())
    assert ties
    said = f"{ties} of 30 items have as many votes for as against: they count 1/2"
    assert said in notices(table(VOTES))


def test_an_item_tied_in_several_tasks_is_one_item():
    item, annotator = np.repeat(np.arange(6), 2), np.tile([0, 1], 6)
    label = np.array([1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0])
    truth = Annotations(
        kind="binary", items=tuple("012345"), classes=("no", "yes"), annotators=("r", "s"),
        tasks=("a", "b"), task=np.repeat([0, 1], 12), item=np.tile(item, 2),
        annotator=np.tile(annotator, 2), label=np.concatenate([label, np.roll(label, 2)]),
    )  # fmt: skip
    given = [replace(model(6), task=task) for task in ("a", "b")]
    plan = resample(truth, "items", replicates=20)
    for ties, how in (("half", "count 1/2"), ("negative", "as negative"), ("drop", "left out")):
        done = evaluate(given, truth, resampling=plan, settings=Settings(ties=ties))
        (said,) = [str(one) for one in done.notices if one.code == "tied_votes"]
        assert said.startswith("3 of 6 items have as many votes for as against") and how in said


def test_single_votes_are_cautioned_when_only_votes_are_redrawn():
    thin = VOTES.copy()
    thin[:10, 1:] = np.nan
    truth = table(thin, anonymous=True)
    assert "10 of 30 items have a single vote" in notices(truth, "votes")
    assert "single vote" not in notices(truth, "items")


def test_mostly_single_anonymous_votes_resample_items():
    thin = VOTES.copy()
    thin[:27, 1:] = np.nan
    assert resample(table(thin, anonymous=True)).kind == "items"


def test_small_panels_and_few_replicates_are_cautioned():
    assert "only 3 annotators" in notices(table(VOTES[:, :3]), "panel")
    assert "annotators:" not in notices(table(VOTES), "panel")
    assert "Only 50 replicates" in notices(table(VOTES), replicates=50)


def test_groups_that_are_not_used_are_told_and_one_group_is_refused():
    grouped = table(VOTES, group=np.arange(30) // 3, groups=tuple("abcdefghij"))
    assert "groups of items are not used" in notices(grouped, "panel")
    assert "not used" not in notices(grouped, "items x panel")
    assert "10 groups as wholes" in resample(grouped, "items").scope
    lone = table(VOTES, group=np.zeros(30, int), groups=("a",))
    with pytest.raises(InputError, match=r"a single group, expected at least two"):
        resample(lone, "items")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("panel", "Items are held fixed, only annotators are resampled"),
        ("votes", "Items are held fixed, only votes are resampled"),
        ("items", "Items are resampled"),
        ("items x panel", "errs on the wide side"),
        ("influence", "Items are resampled"),
    ],
)
def test_every_plan_says_what_it_speaks_for(kind, words):
    plan = resample(table(VOTES), kind)
    assert words in plan.scope
    assert plan.reason == f"{kind} was asked for."


def test_a_run_records_scope_question_and_groups_only_when_they_count():
    grouped = table(VOTES, group=np.arange(30) // 3, groups=tuple("abcdefghij"))
    made = {}
    for items in ("fixed", "random"):
        done = evaluate(model(30), grouped, settings=Settings(items=items))
        run = record(done, Provenance(question=StoredQuestion(at_least="3")), NOTHING)
        made[items] = run.header["settings"]
    assert [made[items]["group"] for items in made] == [None, "10 groups of items"]
    assert [made[items]["items_redrawn"] for items in made] == [False, True]
    assert [made[items]["resample"] for items in made] == ["panel", "items x panel"]
    assert run.header["question"] == {"at_least": "3"}
    json.dumps(made, allow_nan=False)


def test_precision_at_k_has_another_interval_when_items_come_in_groups():
    truth = table(VOTES)
    grouped = table(VOTES, group=np.arange(30) // 15, groups=("a", "b"))
    rows = [
        evaluate(model(30), one, metrics=["precision_at_5"], resampling="items").table()[0]
        for one in (truth, grouped)
    ]
    assert rows[0].value == rows[1].value
    assert (rows[0].low, rows[0].high) != (rows[1].low, rows[1].high)


def test_an_undefined_score_has_no_rank_and_no_chance_of_being_best():
    votes = np.zeros((20, 5))
    votes[:8, :2] = 1  # never a majority, but soft labels vary
    done = evaluate([model(20), model(20, "n", 1)], table(votes), metrics=["auroc"])
    hard, soft = done.table()[0], done.table()[2]
    assert math.isnan(hard.value) and math.isnan(hard.rank) and math.isnan(hard.p_best)
    assert not math.isnan(soft.p_best)
    assert np.isnan(done.rank_probabilities("auroc", labels="hard")).all()
    assert math.isnan(done.differences("auroc", labels="hard")[0].p_better)


def test_classes_that_make_a_score_undefined_are_named():
    truth = Annotations(
        kind="nominal", items=("0", "1", "2"), classes=("x", "y", "z"), item=np.arange(3),
        label=np.array([0, 1, 0]),
    )  # fmt: skip
    guess = Predictions("m", truth.items, np.full((3, 3), 1 / 3), classes=truth.classes)
    done = evaluate(guess, truth, metrics=["auroc"])
    assert any("belongs to class 'z'" in str(one) for one in done.notices)


def test_ties_of_redrawn_votes_stay_ties_in_wins():
    truth = table(np.array([[1, 1], [1, 0], [0, 1], [0, 0]]))
    names = truth.items
    one = Predictions("a", names, np.array([0.9, 0.8, 0.2, 0.1]))
    two = Predictions("b", names, np.array([0.9, 0.2, 0.8, 0.1]))
    plan = resample(truth, "votes", replicates=4000)
    done = evaluate([one, two], truth, metrics=["auroc"], resampling=plan)
    (gap,) = done.differences("auroc")
    assert gap.p_better == pytest.approx(0.5, abs=0.03)


def test_too_many_replicates_are_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr("equipoise.study.scoring.MOST_BYTES", 2**20)
    truth = table(VOTES)
    plan = resample(truth, "items", replicates=10**5)
    with pytest.raises(InputError, match=r"GB\), expected at most .* GB"):
        evaluate(model(30), truth, resampling=plan)


def test_a_folder_is_checked_before_the_work_and_nothing_of_the_user_is_lost(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / PAGE).write_text("mine")
    with pytest.raises(InputError, match=r"already holds a run \(report.html\)"):
        check_folder(tmp_path / "mine", RUN_FILES)
    assert (tmp_path / "mine" / PAGE).read_text() == "mine"
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=r"cannot be written .*, expected a folder"):
        check_folder(tmp_path / "file", RUN_FILES)
    check_folder(tmp_path / "new" / "deep", RUN_FILES)
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError, match="cannot be written"):
        check_folder(tmp_path / "file" / "deep", RUN_FILES)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (",item,m\n0,a,0.1\n1,b,0.2\n", "index=False"),
        ("item,m,label\na,0.1,1\nb,0.2,0\n", "a name of annotations"),
        ("item,m,group\na,0.1,1\nb,0.2,0\n", "a name of annotations"),
    ],
)
def test_columns_that_are_no_models_are_refused(tmp_path, text, words):
    from equipoise import read_predictions

    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_predictions(tmp_path / "p.csv")


def test_two_models_that_sum_to_one_are_two_models(tmp_path):
    from equipoise import read_predictions

    (tmp_path / "p.csv").write_text("item,good,bad\na,0.5,0.5\nb,0.5,0.5\n")
    assert [one.model for one in read_predictions(tmp_path / "p.csv")] == ["good", "bad"]


def test_a_misspelt_annotator_column_is_not_silently_anonymous(tmp_path):
    from equipoise import read_annotations

    (tmp_path / "v.csv").write_text("item,anotator,label\na,x,1\nb,y,0\n")
    with pytest.raises(InputError, match="did you mean 'annotator'"):
        read_annotations(tmp_path / "v.csv")


def test_numbers_too_large_to_tell_apart_are_refused():
    import pyarrow as pa

    frame = pa.table({"item": ["a", "b"], "m": [2**53 + 1, 2**60 + 1]})
    with pytest.raises(InputError, match="too large to tell apart"):
        Predictions.from_dataframe(frame)
