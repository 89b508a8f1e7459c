"""Models next to readers: loops by hand, claims, words, gold, cuts, and what is refused."""

import os
import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise.datasets.demo import reading_study
from equipoise.metrics import (
    accuracy,
    balanced_accuracy,
    cohen_kappa,
    mean_absolute_error,
    quadratic_weighted_kappa,
)
from equipoise.study import Settings, Study, Thresholds, competitors
from equipoise.study.analyses.operating_curves import curves
from equipoise.study.analyses.readers import readers_finding
from equipoise.study.competitors import BALANCED, GOLD, MATCHED, OTHERS, reader_tables
from equipoise.types import (
    Annotations,
    Claim,
    ClaimFamily,
    Decision,
    Estimand,
    InputError,
    Predictions,
    Whom,
)
from tests.oracles import bootstrap
from tests.strategies import names

RANDOM = np.random.default_rng(21)
ITEMS = 300
TRUTH = RANDOM.random(ITEMS) < 0.5


def noisy(right):
    return np.where(RANDOM.random(ITEMS) < right, TRUTH, ~TRUTH).astype(float)


VOTES = np.stack([noisy(r) for r in (0.95, 0.8, 0.8, 0.75, 0.7)], axis=1)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.3, np.nan, VOTES)
GAPS[np.isnan(GAPS).sum(axis=1) > 3] = VOTES[np.isnan(GAPS).sum(axis=1) > 3]
SCORES = np.clip(TRUTH * 0.4 + 0.3 + RANDOM.normal(0, 0.2, ITEMS), 0, 1)


def model(values, name="model", **more):
    return Predictions(name, names(len(values)), np.asarray(values, dtype=float), **more)


def study_of(models, votes, metrics=("auroc",), **how):
    table = votes if isinstance(votes, Annotations) else bootstrap.annotations(votes)
    return Study.of(models, table, metrics=metrics, settings=Settings(replicates=20, **how))


def tables(models, votes, metrics=("auroc",), **how):
    return reader_tables(study_of(models, votes, metrics, **how))


def by_hand(own, others, score):
    """Sensitivity at (fp + 1/2) Q / (Q + 1) false positives, by interpolation."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    x = np.append(0, np.cumsum((1 - others)[order])[last])
    y = np.append(0, np.cumsum(others[order])[last])
    return np.interp(x[-1] * ((1 - others) @ own + 0.5) / (x[-1] + 1), x, y) / y[-1]


@pytest.mark.parametrize("votes", [VOTES, GAPS], ids=["complete", "with gaps"])
@pytest.mark.parametrize("scores", [SCORES, SCORES.round(1)], ids=["fine", "tied"])
def test_scores_without_a_cut_equal_a_loop(votes, scores):
    (table,) = tables(model(scores), votes)
    assert table.rows == (("model", MATCHED),)
    for r in range(5):
        others = np.delete(votes, r, axis=1)
        here = ~np.isnan(votes[:, r]) & ~np.isnan(others).all(axis=1)
        own, truth = votes[here, r], np.nanmean(others[here], axis=1)
        sens, spec = (truth * own).sum() / truth.sum(), ((1 - truth) * own).sum()
        assert table.tasks[0].items[r] == here.sum()
        assert_allclose(table.contrasts.value[0, r], sens, atol=1e-12)
        assert_allclose(table.tasks[0].rates[:2, r], [spec / (1 - truth).sum(), sens])
        wanted = by_hand(own, truth, scores[here]) - sens
        assert_allclose(table.contrasts.gain[0, r], wanted, atol=1e-12)
    mean = table.contrasts.gain[0] @ table.contrasts.weight
    assert_allclose(table.contrasts.these.values[0], mean, atol=1e-12)


def cut_at(scores, cut, kind):
    """The same decisions: as decisions, by a threshold of the model, or by one in settings."""
    if kind == "decisions":
        return [model(scores >= cut)], {}
    if kind == "own threshold":
        return [model(scores, threshold=np.array(cut))], {}
    return [model(scores)], {"thresholds": Thresholds(cut)}


@pytest.mark.parametrize("kind", ["decisions", "own threshold", "settings"])
@pytest.mark.parametrize("metric", ["auroc", "balanced_accuracy", "accuracy"])
def test_decisions_are_compared_at_the_stated_cut(kind, metric):
    models, how = cut_at(SCORES, 0.45, kind)
    (table,) = tables(models, GAPS, (metric, "average_precision"), **how)
    measure = metric if metric == "accuracy" else BALANCED
    assert [row.measure for row in table.rows] == [measure, "sensitivity", "specificity"]
    score = accuracy if metric == "accuracy" else balanced_accuracy
    for r in range(5):
        others = np.delete(GAPS, r, axis=1)
        here = ~np.isnan(GAPS[:, r]) & ~np.isnan(others).all(axis=1)
        truth = np.nanmean(others[here], axis=1)
        decided, own = (SCORES[here] >= 0.45) * 1.0, GAPS[here, r]
        values = [score(truth, x) for x in (decided, own)]
        assert_allclose(table.contrasts.gain[0, r], values[0] - values[1], atol=1e-12)
        apart = (truth * (decided - own)).sum() / truth.sum()
        assert_allclose(table.contrasts.gain[1, r], apart, atol=1e-12)
    sides = table.contrasts.these.values
    if measure == BALANCED:
        assert_allclose(sides[0], sides[1:].mean(), atol=1e-12)


def test_nobody_is_cut_at_a_half_in_silence():
    given = [model(SCORES, "scored"), model(SCORES >= 0.45, "decides")]
    (table,) = tables(given, VOTES, ["accuracy"])
    assert [row.measure for row in table.rows[:2]] == [MATCHED, "accuracy"]
    (wide,) = tables(model(8 * SCORES), VOTES, ["auroc"])
    assert wide.rows == (("model", MATCHED),)
    (plain,) = tables(model(SCORES), VOTES, ["accuracy"])
    assert plain.rows == (("model", MATCHED),) and np.isfinite(plain.contrasts.these.values)


@pytest.mark.parametrize("kind", ["nominal", "ordinal"])
def test_several_classes_are_compared_against_the_votes_of_the_others(kind):
    random = np.random.default_rng(9)
    truth = random.integers(0, 3, 200)
    right = np.array([0.9, 0.6, 0.6, 0.6])
    label = np.where(random.random((200, 4)) < right, truth[:, None],
                     random.integers(0, 3, (200, 4)))  # fmt: skip
    item, annotator = (axis.ravel() for axis in np.indices((200, 4)))
    votes = Annotations(
        kind=kind, items=names(200), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    sure = Predictions("sure", names(200), np.eye(3)[truth], ("a", "b", "c"))
    (table,) = tables(sure, votes, ["auroc"] if kind == "nominal" else ["brier_score"])
    score = cohen_kappa if kind == "nominal" else quadratic_weighted_kappa
    for r in range(4):
        others = np.eye(3)[np.delete(label, r, axis=1)].mean(axis=1)
        wanted = score(others, np.eye(3)[truth]) - score(others, np.eye(3)[label[:, r]])
        assert_allclose(table.contrasts.gain[0, r], wanted, atol=1e-12)
    claim = table.claims(["sure"])["sure", Whom.THESE_READERS]
    assert claim.decision is Decision.SUPERIOR and "answers" in claim.estimand.truth
    assert (
        "by the answers of the other readers"
        in readers_finding(study_of(sure, votes, ["accuracy"])).sentence
    )


def test_a_constant_answer_is_no_better_than_readers_where_one_class_is_common():
    random = np.random.default_rng(10)
    truth = np.where(random.random(300) < 0.9, 0, random.integers(1, 3, 300))
    label = np.where(random.random((300, 4)) < 0.85, truth[:, None],
                     random.integers(0, 3, (300, 4)))  # fmt: skip
    item, annotator = (axis.ravel() for axis in np.indices((300, 4)))
    votes = Annotations(
        kind="nominal", items=names(300), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    always = Predictions("always", names(300), np.eye(3)[np.zeros(300, int)], ("a", "b", "c"))
    found = readers_finding(study_of(always, votes, ["auroc"]))
    assert re.match(r"Cohen's kappa of always is 0\.\d+ lower than", found.sentence)
    by_accuracy = readers_finding(study_of(always, votes, ["accuracy"]))
    assert "Accuracy of always is 0." in by_accuracy.sentence  # where somebody names it
    assert "higher than" in by_accuracy.sentence


def test_an_error_is_lower_where_a_model_is_better():
    random = np.random.default_rng(4)
    truth = random.integers(0, 3, 100)
    label = np.clip(truth[:, None] + random.integers(-1, 2, (100, 4)), 0, 2)
    item, annotator = (axis.ravel() for axis in np.indices((100, 4)))
    votes = Annotations(
        kind="ordinal", items=names(100), classes=("a", "b", "c"), annotators=names(4, "p"),
        item=item, annotator=annotator, label=label.ravel(),
    )  # fmt: skip
    sure = Predictions("sure", names(100), np.eye(3)[truth], ("a", "b", "c"))
    found = readers_finding(study_of(sure, votes, ["mean_absolute_error"]))
    assert re.match(r"Mean absolute error of sure is 0\.\d+ lower than", found.sentence)
    others = np.eye(3)[np.delete(label, 0, axis=1)].mean(axis=1)
    errors = [mean_absolute_error(others, np.eye(3)[grades]) for grades in (label[:, 0], truth)]
    row = found.tables[1].rows[0]
    assert_allclose([row["reader_value"], row["value"]], errors)
    assert_allclose(row["gain"], errors[0] - errors[1])


# ---- claims and words -----------------------------------------------------------------------


def claim(low, high, margin=None, value=None):
    estimand = Estimand("sensitivity", "positives by the reference standard", "m", "readers")
    middle = (low + high) / 2 if value is None else value
    family = ClaimFamily("all models", 1)
    return Claim(estimand, Whom.LIKE_THESE, family, middle, low, high, 0.95, margin)


def test_claims_decide_by_their_interval():
    assert claim(0.01, 0.2).decision is Decision.SUPERIOR
    assert claim(0.0, 0.2).decision is Decision.NOT_SHOWN
    assert claim(-0.2, -0.01).decision is Decision.INFERIOR
    assert claim(-0.04, 0.2, 0.05).decision is Decision.NON_INFERIOR
    assert claim(-0.05, 0.2, 0.05).decision is Decision.NOT_SHOWN
    assert claim(0.01, 0.2, 0.05).decision is Decision.SUPERIOR


def test_the_leader_and_the_rest_have_their_families():
    readings, scores = reading_study()
    (table,) = reader_tables(Study.of(scores, readings, metrics=["auroc"]))
    narrow, wide = table.claims(table.models[:2]), table.claims(table.models)
    assert set(narrow) == {(m, w) for m in table.models
                           for w in (Whom.LIKE_THESE, Whom.THESE_READERS)}  # fmt: skip
    for key, one in narrow.items():
        inside = key[0] in table.models[:2]
        assert one.family.size == (2 if inside else len(table.models))
        assert (one.high - one.low < wide[key].high - wide[key].low) == inside
        assert one.value == wide[key].value


def test_the_direction_comes_first_and_the_claim_after_it():
    found = readers_finding(
        study_of([model(TRUTH, "perfect"), model(1 - SCORES, "odd")], VOTES)
    )
    assert (
        re.match(
            r"At equal false positives perfect finds \d+ in 100 more positives than readers on "
            r"average, positives as the other readers call them \(above each of 5\)\. That "
            r"holds for items and readers like these \(\+0\.\d+ \[\+0\.\d+, \+0\.\d+\]\)\.$",
            found.sentence,
        )
        or "perfect" in found.sentence
    )
    low = readers_finding(study_of(model(RANDOM.random(ITEMS)), VOTES))
    assert "in 100 fewer positives" in low.sentence and "(below each of 5)" in low.sentence
    fixed = readers_finding(study_of(model(RANDOM.random(ITEMS)), VOTES, annotators="fixed"))
    assert "That holds for these readers on items like these" in fixed.sentence
    assert "too few" not in fixed.sentence
    items = readers_finding(study_of(model(RANDOM.random(ITEMS)), VOTES, items="fixed"))
    assert "these items and readers like these" in items.sentence


def test_a_margin_speaks_of_readers():
    word = {}
    for margin in (0.02, 0.3):
        found = readers_finding(study_of(model(SCORES), VOTES, margin=margin))
        word[margin] = found.sentence
        assert f"With a margin of {margin:g} in sensitivity" in found.sentence
        assert "these readers" in found.sentence and "readers like these" in found.sentence
    assert "is superior for items and" in word[0.3] or "is non-inferior for items" in word[0.3]
    guess = readers_finding(study_of(model(RANDOM.random(ITEMS)), VOTES, margin=0.02))
    assert "not shown to be non-inferior for items and readers like these" in guess.sentence


def test_few_readers_leave_a_claim_on_these():
    (table,) = tables(model(TRUTH), VOTES[:, 1:3])
    assert not table.contrasts.like_these.population.annotators
    claims = table.claims(["model"])
    assert {whom for _, whom in claims} == {Whom.THESE_READERS}
    found = readers_finding(study_of(model(TRUTH * 1.0 + SCORES), VOTES[:, 1:3]))
    assert "too few to speak of other readers" in found.sentence
    assert any("readers like these" in str(note) for note in found.notices)


def test_a_reader_who_is_one_of_them_is_neither_better_nor_worse():
    random = np.random.default_rng(1)
    truth = random.random(400) < 0.4
    said = np.where(random.random((400, 6)) < 0.8, truth[:, None], ~truth[:, None]) * 1.0
    found = readers_finding(study_of(model(said[:, 5]), said[:, :5], ["auroc"]))
    assert "A difference is not shown for items and readers like these" in found.sentence


def test_items_of_one_group_count_together():
    votes = np.repeat(VOTES[:100], 3, axis=0)
    group = np.repeat(np.arange(100), 3)
    alone, copies = bootstrap.annotations(VOTES[:100]), bootstrap.annotations(votes)
    grouped = replace(copies, groups=names(100, "g"), group=group)
    decided = TRUTH[:100] * 1.0
    width = [
        tables(model(values), table)[0].contrasts.these.of(0).half_width()
        for values, table in (
            (decided, alone), (np.repeat(decided, 3), grouped), (np.repeat(decided, 3), copies)
        )
    ]  # fmt: skip
    assert_allclose(width[0], width[1], rtol=0.05)
    assert width[2] < 0.7 * width[1]


def test_curves_show_the_same_readers():
    readings, scores = reading_study()
    (table,) = reader_tables(Study.of(scores, readings, metrics=["auroc"]))
    (task,) = curves(Study.of(scores, readings, metrics=["auroc"]))
    assert {point["reader"] for point in task.readers} == set(table.readers)
    for point in task.readers:
        rates = [point[name] for name in ("false_positive_rate", "sensitivity", "precision")]
        assert_allclose(rates, table.tasks[0].rates[:, table.readers.index(point["reader"])])


# ---- gold -----------------------------------------------------------------------------------


def with_gold(settled, reader=None):
    """Votes and gold on the first items; one reader may be alone."""
    table = bootstrap.annotations(GAPS)
    keep = np.ones(len(table), bool) if reader is None else table.annotator == reader
    table = table.rows(keep)
    item = np.append(table.item, np.arange(settled))
    return replace(
        table, annotators=(*table.annotators, "board"), item=item,
        annotator=np.append(table.annotator, np.full(settled, 5)),
        label=np.append(table.label, TRUTH[:settled]),
        is_gold=np.arange(len(item)) >= len(item) - settled,
    )  # fmt: skip


@pytest.mark.parametrize("settled", [ITEMS, 120])
def test_nobody_is_left_out_of_a_reference_standard(settled):
    found = {table.truth: table for table in tables(model(SCORES >= 0.5), with_gold(settled))}
    assert set(found) == ({GOLD} if settled == ITEMS else {OTHERS, GOLD})
    gold = found[GOLD]
    for r in range(5):
        read = np.flatnonzero(~np.isnan(GAPS[:settled, r]))
        truth, own = TRUTH[read] * 1.0, GAPS[read, r]
        wanted = balanced_accuracy(truth, (SCORES[read] >= 0.5) * 1.0)
        wanted -= balanced_accuracy(truth, own)
        who = gold.readers.index(bootstrap.annotations(GAPS).annotators[r])
        assert_allclose(gold.contrasts.gain[0, who], wanted, atol=1e-12)
        assert gold.tasks[0].items[who] == len(read)
    assert (np.diag(gold.contrasts.like_these.draws) == 0).all()  # no makers of the truth
    words = readers_finding(study_of(model(SCORES >= 0.5), with_gold(settled)))
    said = " ".join((words.sentence, *words.more))
    assert "by the reference standard" in said
    assert ("as the other readers call them" in said) == (settled < ITEMS)
    assert "board" not in str(words.tables)


def test_one_reader_beside_gold_is_compared_as_this_reader():
    (gold,) = tables(model(SCORES), with_gold(ITEMS, reader=0))
    assert gold.truth == GOLD and not gold.contrasts.like_these.population.annotators
    assert gold.claims(["model"])["model", Whom.THESE_READERS].low > -1


def test_a_perfect_model_and_a_perfect_reader_are_not_known_to_be_equal():
    table = with_gold(40)
    right = replace(table, label=np.where(table.annotator == 0, TRUTH[table.item], table.label))
    own = right.rows((right.annotator == 0) | right.is_gold)
    own = own.of_items(np.bincount(own.item[own.is_gold], minlength=len(own.items)) > 0)
    (gold,) = tables(model(TRUTH[:40]), own)
    one = gold.claims(["model"])["model", Whom.THESE_READERS]
    assert one.value == 0 and one.low < -0.03 and one.high > 0.03


def test_repeated_answers_count_by_their_weight():
    table = Annotations(
        kind="binary", classes=("no", "yes"), items=("a", "b", "c"), annotators=("ana", "bo"),
        item=np.array([0, 0, 1, 2, 0, 1, 2]), annotator=np.array([0, 0, 0, 0, 1, 1, 1]),
        label=np.array([1, 0, 1, 0, 1, 0, 0]), count=np.array([1, 2, 1, 1, 1, 1, 1]),
        weight=np.array([3.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0]),
    )  # fmt: skip
    decided = Predictions("net", ("a", "b", "c"), np.array([1.0, 0, 0]))
    (table,) = tables(decided, table, ["balanced_accuracy"])
    assert_allclose(table.contrasts.value[0, 0], (0.75 + 0.5) / 2)
    assert_allclose(table.tasks[0].rates[:, 0], [0.5, 0.75, 0.75 / 1.75])


# ---- what is refused ------------------------------------------------------------------------


def test_what_cannot_be_compared_is_refused():
    for votes, words in (
        (bootstrap.annotations(VOTES).anonymous(), "anonymous votes"),
        (VOTES[:, :1], "1 annotator without an item"),
        (
            np.where(np.arange(ITEMS)[:, None] % 2 == np.arange(2), VOTES[:, :2], np.nan),
            "2 ann",
        ),
        (VOTES * 0 + 1, "without an item that can be compared"),
    ):
        with pytest.raises(InputError, match=rf"readers: .*{words}.*, expected .+; .+"):
            reader_tables(study_of(model(SCORES), votes))
    ratings = Annotations(
        kind="interval", items=names(3), annotators=names(3, "p"), item=np.arange(3),
        annotator=np.arange(3), value=np.array([0.1, 0.5, 0.9]),
    )  # fmt: skip
    with pytest.raises(InputError, match="ask a yes/no question"):
        reader_tables(Study.unchecked([model([0.0, 1, 0])], ratings, Settings()))
    with pytest.raises(InputError, match="a number above 0"):
        study_of(model(SCORES), VOTES, margin=0.0)


def test_a_reader_whose_truth_has_no_positives_is_left_out():
    votes = VOTES.copy()
    votes[:, 4] = np.nan
    votes[:20, :4], votes[:20, 4] = 0, 1  # the fifth read what all others call negative
    (table,) = tables(model(SCORES), votes)
    assert np.isnan(table.contrasts.gain[0, 4]) and table.contrasts.weight[4] == 0
    assert np.isfinite(table.contrasts.these.values).all()


def test_many_readers_are_said_to_be_too_many():
    random = np.random.default_rng(6)
    votes = (random.random((60, 103)) < 0.5) * 1.0
    (table,) = tables(model(random.random(60)), votes)
    assert (~np.isnan(table.contrasts.gain[0])).sum() == 100
    assert any("Of 103 annotators the 100 with most votes" in str(x) for x in table.notices)


@pytest.mark.skipif("EQUIPOISE_DATA" not in os.environ, reason="needs EQUIPOISE_DATA")
def test_chexpert_models_find_a_little_more_than_a_radiologist():
    from equipoise.datasets import load_chexpert

    study = load_chexpert()
    (table,) = reader_tables(Study.of(study.predictions, study.annotations, metrics=["auroc"]))
    assert table.contrasts.these.values.max() == pytest.approx(0.065, abs=0.001)
    assert table.above(table.models.index("sensexdr")) == (8, 0, 8)
    claims = table.claims(table.models)
    assert {one.decision for one in claims.values()} == {Decision.SUPERIOR}


def test_slopes_of_many_classes_are_refused_before_they_are_made(monkeypatch):
    item, who = (axis.ravel() for axis in np.mgrid[0:30, 0:4])
    votes = Annotations(
        kind="nominal", classes=("a", "b", "c"), items=names(30), annotators=tuple("wxyz"),
        item=item, annotator=who, label=RANDOM.integers(0, 3, 120),
    )  # fmt: skip
    chance = RANDOM.dirichlet(np.ones(3), 30)
    study = Study.of(Predictions("net", votes.items, chance, votes.classes), votes)
    assert reader_tables(study)
    monkeypatch.setattr(competitors, "ROOM", 3 * 8 * 120 * 3 - 1)
    with pytest.raises(InputError, match=r"MiB of memory, expected at most .* fewer classes"):
        reader_tables(study)
