"""Adjudicated gold: the truth of its items, nobody's vote, and a score for annotators."""

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import accuracy_score, cohen_kappa_score, roc_curve

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.study.analyses import experts, gold, rank_stability
from equipoise.study.analyses.annotators import skilled_rows
from equipoise.study.analyses.gold_standard import sensitivity_at
from equipoise.study.questions import ask
from equipoise.study.truth import task_truths
from equipoise.truth import dawid_skene, dirichlet, glad
from equipoise.truth.agreement import krippendorff_alpha
from tests.analysed import panel_size
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
    assert plan.scope.endswith("against adjudicated gold; items like these.")
    done = evaluate(models, votes, metrics=["auroc"])
    assert_array_equal(done.questions[0].shares[0], truth)
    for row in done.table():
        assert row.high - row.low > 0.02
    assert "All 90 items are scored against adjudicated gold; items like these." in [
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
    assert "30 items are scored against adjudicated gold" in said
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
    assert "adjudicator" not in str(experts(models, votes).rows())
    assert max(panel_size(models, votes, replicates=10).sizes) <= READERS
    drawn = rank_stability(models, votes, metrics=["auroc"], kind="panel", replicates=10)
    assert drawn.kind == "panel"


@pytest.mark.parametrize("model", [dirichlet, dawid_skene, glad])
def test_who_wrote_gold_down_does_not_matter(model):
    _, votes, _ = world(settled=30)
    other = replace(votes, annotator=np.where(votes.is_gold, 0, votes.annotator))
    first, second = model(votes), model(other)
    assert_array_equal(first.mean, second.mean)
    assert_array_equal(first.mean[:30, 1], votes.label[votes.is_gold])
    listed = {row["annotator"] for row in skilled_rows(votes, "", first.skills)}
    assert listed == set(PEOPLE[:-1])


# Models and annotators against gold


def by_hand(truth, votes, code):
    """Items, votes and truth of one annotator."""
    own = ~votes.is_gold & (votes.annotator == code)
    return votes.item[own], votes.label[own], truth[votes.item[own]]


def test_annotators_are_scored_on_the_items_they_read():
    truth, votes, models = world()
    found = gold(models, votes, replicates=100)
    scores = {one.who: one for one in found.scores}
    assert set(scores) == {*PEOPLE[:-1], "good", "poor"}
    for code, name in enumerate(PEOPLE[:-1]):
        items, said, known = by_hand(truth, votes, code)
        one = scores[name]
        assert (one.kind, one.items, one.positives) == ("annotator", len(items), known.sum())
        assert one.accuracy == pytest.approx(accuracy_score(known, said))
        assert one.sensitivity == pytest.approx(said[known == 1].mean())
        assert one.specificity == pytest.approx(1 - said[known == 0].mean())
        assert one.sensitivity_low < one.sensitivity <= one.sensitivity_high


def test_repeated_votes_of_an_annotator_count_by_their_weight():
    _, votes, models = world()
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(votes))
    twice = np.concatenate([np.arange(len(votes)), np.flatnonzero(~votes.is_gold)])
    said = np.where(np.arange(len(twice)) < len(votes), votes.label[twice], 1)
    columns = {name: getattr(votes, name)[twice] for name in ("item", "annotator", "is_gold")}
    many = replace(votes, label=said, weight=weight[twice], **columns)
    heavy = replace(many, weight=np.where(np.arange(len(twice)) < len(votes), 1e9, 1e-9))
    before = {one.who: one.accuracy for one in gold(models, votes, replicates=20).scores}
    found = {one.who: one.accuracy for one in gold(models, heavy, replicates=20).scores}
    even = {one.who: one.accuracy for one in gold(models, many, replicates=20).scores}
    for name in PEOPLE[:-1]:
        assert found[name] == pytest.approx(before[name], abs=1e-9)
        assert even[name] != pytest.approx(before[name], abs=1e-3)


def test_a_model_is_compared_at_the_specificity_of_the_annotator():
    truth, votes, models = world()
    found = gold(models, votes, replicates=100)
    assert len(found.gains) == 2 * READERS
    for gain in found.gains:
        code = PEOPLE.index(gain.annotator)
        items, said, known = by_hand(truth, votes, code)
        model = next(one for one in models if one.model == gain.model)
        alarms, hits, _ = roc_curve(known, model.values[items], drop_intermediate=False)
        allowed = said[known == 0].mean()
        last = np.flatnonzero(alarms <= allowed + 1e-12)[-1]
        if last + 1 < len(alarms):
            part = (allowed - alarms[last]) / (alarms[last + 1] - alarms[last])
            expected = hits[last] + part * (hits[last + 1] - hits[last])
        else:
            expected = hits[last]
        assert gain.model_value == pytest.approx(expected)
        assert gain.gain == pytest.approx(expected - said[known == 1].mean())
        assert gain.gain_low < gain.gain < gain.gain_high


def test_replicates_of_a_sensitivity_are_those_of_expanded_items():
    random = np.random.default_rng(0)
    scores, truth = random.random(12).round(1), np.arange(12) % 2.0
    counts = random.integers(0, 3, (12, 20)).astype(np.uint8)
    target = random.random(20)
    found = sensitivity_at(scores, truth, counts, target)
    for r in range(20):
        rows = np.repeat(np.arange(12), counts[:, r])
        once = np.ones((len(rows), 1), dtype=np.uint8)
        alone = sensitivity_at(scores[rows], truth[rows], once, target[r : r + 1])
        assert alone[0] == pytest.approx(found[r])


def test_a_perfect_sensitivity_of_few_positives_has_a_width():
    truth, votes, models = world()
    few = (truth == 0) | (np.cumsum(truth) <= 3)
    kept = votes.rows(few[votes.item])
    right = replace(kept, label=np.where(kept.annotator == 0, truth[kept.item], kept.label))
    perfect = Predictions("perfect", names(ITEMS), truth.astype(float))
    shown = [
        replace(one, items=tuple(np.array(one.items)[few]), values=one.values[few])
        for one in (perfect, models[1])
    ]
    found = gold(shown, right, replicates=100)
    first = next(one for one in found.scores if one.who == PEOPLE[0])
    assert first.sensitivity == 1 and first.sensitivity_low < 0.6
    tied = next(
        one for one in found.gains if (one.model, one.annotator) == ("perfect", PEOPLE[0])
    )
    assert tied.gain == 0 and tied.gain_low < -0.2 and tied.gain_high > 0.2


def test_items_that_move_together_make_intervals_wider():
    truth, votes, models = world()
    group = np.arange(ITEMS) // 9
    leaning = np.where(votes.is_gold, votes.label, (group % 2)[votes.item])
    alone = gold(models, replace(votes, label=leaning), replicates=300)
    grouped = replace(votes, label=leaning, group=group, groups=names(10, "patient"))
    whole = gold(models, grouped, replicates=300)
    width = [
        [one.specificity_high - one.specificity_low for one in found.scores[:READERS]]
        for found in (alone, whole)
    ]
    assert np.mean(width[1]) > 1.5 * np.mean(width[0])
    assert truth.any()


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_classes_are_scored_by_accuracy_and_grades_by_kappa(kind):
    random = np.random.default_rng(5)
    truth = random.integers(0, 3, ITEMS)
    item, who = (grid.ravel() for grid in np.mgrid[0:ITEMS, 0:3])
    said = np.where(
        random.random(len(item)) < 0.3, random.integers(0, 3, len(item)), truth[item]
    )
    votes = Annotations(
        kind=kind, items=names(ITEMS), classes=("x", "y", "z"),
        annotators=(*names(3, "reader"), "gold"), item=np.append(item, np.arange(ITEMS)),
        annotator=np.append(who, np.full(ITEMS, 3)), label=np.append(said, truth),
        is_gold=np.arange(4 * ITEMS) >= 3 * ITEMS,
    )  # fmt: skip
    table = np.eye(3)[truth] + random.random((ITEMS, 3))
    model = Predictions(
        "net", names(ITEMS), table / table.sum(1, keepdims=True), ("x", "y", "z")
    )
    found = gold(model, votes, replicates=50)
    for code in range(3):
        one = found.scores[code]
        own = said[who == votes.annotators.index(one.who)]
        assert one.accuracy == pytest.approx(accuracy_score(truth, own))
        kappa = cohen_kappa_score(truth, own, weights="quadratic")
        assert np.isnan(one.kappa) if kind == "nominal" else one.kappa == pytest.approx(kappa)
    best = table.argmax(axis=1)
    expected = (
        accuracy_score(truth, best)
        if kind == "nominal"
        else cohen_kappa_score(truth, best, weights="quadratic")
    )
    assert found.gains[0].measure == ("accuracy" if kind == "nominal" else "kappa")
    assert found.gains[0].model_value == pytest.approx(expected)


def test_what_has_no_gold_or_no_readers_is_refused():
    _, votes, models = world()
    plain = votes.with_gold("ignore")
    cases = [plain, votes.anonymous(), votes.rows(votes.is_gold)]
    for table, words in zip(
        cases, ("no gold rows", "anonymous votes", "no annotator with a vote"), strict=True
    ):
        with pytest.raises(InputError, match=words):
            gold(models, table)


def test_the_same_seed_gives_the_same_rows():
    _, votes, models = world()
    first, second, other = (gold(models, votes, replicates=40, seed=s) for s in (1, 1, 2))
    assert first.rows() == second.rows() or str(first.rows()) == str(second.rows())
    assert str(first.gain_rows()) == str(second.gain_rows()) != str(other.gain_rows())


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
    assert "Items like these, against adjudicated gold. 90 items." in " ".join(out.split())
    assert "adjudicator" not in out
    header = json.loads((tmp_path / "run" / "run.json").read_text())
    (gold,) = (one for one in header["report"]["findings"] if one["key"] == "gold")
    who = {row.get("who") for table in gold["tables"] for row in table["rows"]}
    assert {*PEOPLE[:-1], "good", "poor"} <= who
    assert header["settings"]["soft"] == "adjudicated gold"
    page = (tmp_path / "run" / "report.html").read_text()
    assert "Models and annotators against adjudicated gold" in page
    assert "anonymous votes" not in page and "single vote" not in page
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
    keys = [one["key"] for one in header["report"]["findings"]]
    assert ("gold" in keys) == (use != "ignore")
    words = ("evaluate", tmp_path / "run", "--only", "gold", "--replicates", 20, "--json")
    code, out, said = equipoise(*words)
    assert code == 0, said
    (gold,) = (one for one in json.loads(out)["findings"] if one["key"] == "gold")
    assert ("left_out" in gold) == (use == "ignore")


def test_an_unknown_use_of_gold_is_wrong_usage(equipoise, tmp_path):
    code, _, said = equipoise("evaluate", *written(tmp_path, 30), "--gold", "maybe")
    assert code == 2 and "--gold" in said
