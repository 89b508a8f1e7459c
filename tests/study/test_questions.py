"""Questions: every variant equals an evaluation of its own, and is compared as it should be."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import cohen_kappa_score

from equipoise.datasets.demo import reading_study
from equipoise.inference.intervals import simultaneous_widths
from equipoise.metrics import CATALOGUE, auroc
from equipoise.metrics.distributions import entropy
from equipoise.read.attributes import Attributes
from equipoise.study import Settings, Study, evaluate, variants
from equipoise.study.competitors import reader_tables
from equipoise.study.questions import Question, Variant, answers, ask, choices, leave_one_out
from equipoise.study.questions.answers import LARGER, OTHER, SAME, SMALLER, UNKNOWN, holm
from equipoise.study.questions.certainty import cutoffs
from equipoise.study.questions.subgroups import GROUPS, beside_annotators
from equipoise.study.variants import Contest, contrasts
from equipoise.truth import dirichlet, glad
from equipoise.truth.agreement import cohen_kappa, krippendorff_alpha
from equipoise.types import SURE, Annotations, InputError, Predictions
from tests.oracles import bootstrap
from tests.strategies import names

# From the golden agreement figures, experts_loo: three experts on ten items.
EXPERTS = np.array(
    [[1, 1, 0], [0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 0],
     [0, 0, 1], [1, 0, 1], [0, 0, 0], [0, 1, 1], [1, 1, 1]], dtype=float,
)  # fmt: skip
WITHOUT = {
    0: [0, 0, 0, 1, 0, 0, 0, 0, 1, 1],
    1: [0, 0, 0, 1, 0, 0, 1, 0, 0, 1],
    2: [1, 0, 0, 1, 0, 0, 0, 0, 0, 1],
}
KAPPA = [0.6, 0.6, 0.6]

RANDOM = np.random.default_rng(3)
ITEMS = 40
TRUTH = RANDOM.random(ITEMS) < 0.4
VOTES = np.where(RANDOM.random((ITEMS, 5)) < 0.8, TRUTH[:, None], ~TRUTH[:, None]).astype(float)
GAPS = np.where(RANDOM.random(VOTES.shape) < 0.5, np.nan, VOTES)
GAPS[np.isnan(GAPS).all(axis=1), 0] = 1
SCORES = [TRUTH + RANDOM.normal(0, s, ITEMS) for s in (0.5, 0.8, 1.5)]
AUROC = {"metrics": ["auroc"]}
EXACT = {"rtol": 0, "atol": 1e-12}


def models(scores=SCORES, items=ITEMS):
    return [Predictions(f"model-{m}", names(items), s) for m, s in enumerate(scores)]


def by_variant(found, key="value"):
    """Numbers of an answer, by variant and competitor."""
    return {(line.variant, line.competitor): getattr(line, key) for line in found.lines}


def facts(found, key):
    return [outcome.facts[key] for outcome in found.outcomes]


# ---- one annotator --------------------------------------------------------------------------


def test_golden_folds_of_three_experts():
    score = Predictions("one", names(10), np.arange(10) / 10)
    how = Settings(ties="negative", labels="hard")
    found = ask("leave_one_out", score, bootstrap.annotations(EXPERTS), **AUROC, settings=how)
    assert_allclose(facts(found, "kappa"), KAPPA, **EXACT)
    for fold, labels in WITHOUT.items():
        value = found.outcomes[fold].lines[0].value
        assert_allclose(value, auroc(labels, np.arange(10) / 10), **EXACT)


def test_kappa_is_that_of_the_agreement_module_on_the_items_that_are_left():
    how = Settings(ties="negative")
    votes = bootstrap.annotations(GAPS)
    found = ask("leave_one_out", models(), votes, **AUROC, settings=how)
    for fold, outcome in enumerate(found.outcomes):
        left = np.delete(GAPS, fold, axis=1)
        here = ~np.isnan(left).all(axis=1)
        both = np.stack([np.nanmean(one[here], axis=1) > 0.5 for one in (left, GAPS)], axis=1)
        two = bootstrap.annotations(both.astype(float))
        expected = cohen_kappa(two, ("reader-0", "reader-1")).value
        assert_allclose(outcome.facts["kappa"], expected, **EXACT)
        assert outcome.facts["items_lost"] == (~here).sum()
        assert outcome.facts["votes"] == (~np.isnan(GAPS[:, fold])).sum()
    halves = ask("leave_one_out", models(), votes, **AUROC)
    marks = [np.sign(np.nanmean(one, axis=1) - 0.5) for one in (GAPS[:, 1:], GAPS)]
    here = ~np.isnan(marks[0])
    expected = cohen_kappa_score(marks[0][here], marks[1][here])
    assert halves.outcomes[0].facts["kappa"] == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["auroc", "brier_score", "cohen_kappa"])
@pytest.mark.parametrize("votes", [VOTES, GAPS])
def test_folds_equal_an_evaluation_without_the_annotator(metric, votes):
    likely = models([1 / (1 + np.exp(-one)) for one in SCORES])
    found = ask("leave_one_out", likely, bootstrap.annotations(votes), metrics=[metric])
    whole = evaluate(likely, bootstrap.annotations(votes), metrics=[metric])
    for fold in range(5):
        left = np.delete(votes, fold, axis=1)
        here = np.flatnonzero(~np.isnan(left).all(axis=1))
        again = evaluate(
            [Predictions(one.model, names(len(here)), one.values[here]) for one in likely],
            bootstrap.annotations(left[here]),
            metrics=[metric],
        )
        rows = [row for row in again.table() if row.labels == "soft"]
        lines = found.outcomes[fold].lines
        for line, row in zip(lines, rows, strict=True):
            own = (line.value, line.low, line.high, line.rank)
            assert_allclose(own, (row.value, row.low, row.high, row.rank), **EXACT)
            before = whole.estimate(line.competitor, metric).value
            assert_allclose(line.change, row.value - before, **EXACT)
        best = again.family(metric).best
        assert [line.in_best_group for line in lines] == list(best)


def test_the_odd_one_out_is_found():
    odd = VOTES.copy()
    odd[:, 3] = 1 - TRUTH
    found = ask("leave_one_out", models(), bootstrap.annotations(odd), **AUROC)
    assert found.largest.variant == "reader-3" and found.largest.change_low > 0
    assert "without reader-3" in found.sentence
    assert len(found.rows()) == 15


def test_only_the_busiest_annotators_are_left_out(monkeypatch):
    monkeypatch.setattr(leave_one_out, "MOST", 2)
    thin = VOTES.copy()
    thin[5:, [0, 2, 4]] = np.nan
    found = ask("leave_one_out", models(), bootstrap.annotations(thin), **AUROC)
    assert [outcome.label for outcome in found.outcomes] == ["reader-1", "reader-3"]


def test_an_annotator_who_rated_alone_leaves_items_that_cannot_be_scored():
    votes = np.array([[1, np.nan], [0, np.nan], [np.nan, 1], [np.nan, 1]])
    four = models([np.arange(4.0)], 4)
    found = ask("leave_one_out", four, bootstrap.annotations(votes), **AUROC)
    assert facts(found, "items_lost") == [2, 2]
    assert found.outcomes[0].scored is None and "reader-0" in str(found.notices[0])
    assert found.outcomes[1].lines[0].value == 0


def test_who_cannot_be_left_out_is_refused():
    votes = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="anonymous votes, expected at least two annotators"):
        ask("leave_one_out", models(), votes.anonymous(), **AUROC)
    with pytest.raises(InputError, match="a single annotator"):
        ask("leave_one_out", models(), bootstrap.annotations(VOTES[:, :1]), **AUROC)
    same = bootstrap.annotations(np.repeat(VOTES[:, :1], 2, axis=1))
    gold = replace(same, is_gold=np.ones(len(same.item), dtype=bool))
    with pytest.raises(InputError, match="a reference standard of every item"):
        ask("leave_one_out", models(), gold, **AUROC)
    with pytest.raises(InputError, match="question: 'leave_one', expected"):
        ask("leave_one", models(), votes, **AUROC)


def test_infinite_values_and_models_that_tie_are_said_so():
    sure = models([np.zeros(ITEMS), np.full(ITEMS, 0.5)])
    found = ask("leave_one_out", sure, bootstrap.annotations(VOTES), metrics=["log_score"])
    assert "that of model-0 is infinite in some of them" in found.sentence
    assert "model-1" in found.sentence and "nan" not in found.sentence
    same = bootstrap.annotations(np.repeat(VOTES[:, :1], 3, axis=1))
    still = ask("leave_one_out", models(), same, **AUROC)
    assert "soft AUROC of nobody changes" in still.sentence and still.verdict == "No"
    twins = ask("leave_one_out", models([SCORES[0]] * 2), same, **AUROC)
    assert {outcome.verdict for outcome in twins.outcomes} == {SAME}
    alone = ask("leave_one_out", models(SCORES[:1]), bootstrap.annotations(VOTES), **AUROC)
    assert "best" not in alone.sentence and alone.verdict == "No verdict to compare"
    assert [chart.name for chart in alone.charts()] == ["leave-one-out"]


# ---- few votes ------------------------------------------------------------------------------


def test_cutoffs_equal_metrics_on_the_items_that_are_left():
    found = ask("vote_cutoffs", models(), bootstrap.annotations(GAPS), **AUROC)
    number, soft = (~np.isnan(GAPS)).sum(axis=1), np.nanmean(GAPS, axis=1)
    values = by_variant(found)
    for label, share in zip(found_labels(found), facts(found, "share"), strict=True):
        keep = number >= int(label)
        assert share == keep.mean() < 1
        for m, score in enumerate(SCORES):
            expected = auroc(soft[keep], score[keep])
            assert_allclose(values[label, f"model-{m}"], expected, **EXACT)
    assert found_labels(found) == ["3"] or found_labels(found) == ["3", "5"]


def found_labels(found):
    return [outcome.label for outcome in found.outcomes if outcome.scored is not None]


def test_cutoffs_count_every_vote_of_a_count_matrix_and_keep_known_truths():
    counts = np.array([[9, 1], [1, 11], [0, 2], [1, 0]])
    votes = Annotations.from_counts(counts, items=names(4), classes=["no", "yes"])
    four = models([np.arange(4.0)], 4)
    found = ask("vote_cutoffs", four, votes.against("yes"), **AUROC)
    assert facts(found, "share") == [0.5] * 4  # at 3, 5, 7 and 10 votes; nothing at 15
    item = [*range(20), *np.repeat(range(10, 30), 5), *np.repeat(range(30, 35), 2)]
    gold = Annotations(
        kind="binary", items=names(35), classes=("no", "yes"), item=np.array(item),
        label=np.array(item) % 2, is_gold=np.arange(len(item)) < 20,
    )  # fmt: skip
    one = [Predictions("a", names(35), np.random.default_rng(0).random(35))]
    found = ask("vote_cutoffs", one, gold, **AUROC)
    assert [line.items for line in found.lines] == [30, 30, 20, 20, 20]
    whole = ask("vote_cutoffs", models(), bootstrap.annotations(VOTES[:, :1]), **AUROC)
    assert whole.sentence == "No cut-off leaves out some of the items and keeps others."
    assert whole.finding().left_out and whole.verdict == "Nothing to vary"


# ---- clear cases ----------------------------------------------------------------------------


def test_values_on_clear_items_are_those_of_an_evaluation_of_them():
    yes = np.random.default_rng(5).integers(0, 10, 60)
    counts = np.stack([9 - yes, yes], axis=1)
    votes = Annotations.from_counts(counts, items=names(60), classes=("no", "yes"))
    votes = votes.against("yes")
    nets = models([yes + RANDOM.normal(0, 1 + m, 60) for m in range(3)], 60)
    found = ask("certainty", nets, votes, **AUROC)
    sure = np.round(dirichlet(votes).certainty, 9)
    cuts = [cut for cut in cutoffs(sure)[1:] if (sure >= cut).sum() >= 10]
    assert len(found.outcomes) == len(cuts) > 2
    for outcome, cut in zip(found.outcomes, cuts, strict=True):
        keep = np.flatnonzero(sure >= cut)
        items = tuple(votes.items[i] for i in keep)
        some = Annotations.from_counts(counts[keep], items=items, classes=("no", "yes"))
        again = evaluate(
            [Predictions(one.model, items, one.values[keep]) for one in nets],
            some.against("yes"),
            **AUROC,
        )
        assert outcome.facts["share"] == (sure >= cut).mean()
        for line in outcome.lines:
            row = again.estimate(line.competitor, "auroc")
            ends = row.interval(0.95)
            assert_allclose((line.value, line.low, line.high), (row.value, *ends), **EXACT)
    left = int((sure < SURE).sum())
    assert f"The votes leave {left} of 60 items open" in found.finding().sentence


def test_sentences_hold_where_every_item_is_clear_or_none_can_be_left_out():
    clear = Annotations.from_counts(
        np.array([[40, 0], [0, 40]] * 6), items=names(12), classes=("no", "yes")
    ).against("yes")
    twelve = models([np.arange(12.0)], 12)
    said = ask("certainty", twelve, clear, **AUROC).finding().sentence
    assert said.startswith("Every item is clear: no certainty is below 0.99.")
    alike = Annotations.from_counts(
        np.array([[4, 1], [1, 4]] * 6), items=names(12), classes=("no", "yes")
    ).against("yes")
    said = ask("certainty", twelve, alike, **AUROC).finding().sentence
    assert said.endswith("All are equally certain, so none can be left out.")


def test_cut_offs_of_many_certainties_are_few_and_hold_the_clear_one():
    steps = cutoffs(np.append(RANDOM.random(2000) * 0.98, [0.9912, 0.999]))
    assert len(steps) <= 9 and steps == sorted(set(steps)) and 0.9912 in steps
    assert cutoffs(np.array([0.7])) == [0.7]


# ---- groups of items ------------------------------------------------------------------------

SIDE = Attributes(
    items=names(ITEMS), columns=("side", "rare"), levels=(("left", "right"), ("no", "yes")),
    codes=np.stack([np.arange(ITEMS) % 2, np.arange(ITEMS) < 5]),
)  # fmt: skip


def readers_themselves(votes):
    """Mean AUROC of readers against the others, by how many items each has with another."""
    values, numbers = [], []
    for reader in range(votes.shape[1]):
        others = np.delete(votes, reader, axis=1)
        rows = ~np.isnan(votes[:, reader]) & ~np.isnan(others).all(axis=1)
        if rows.sum() >= 10:
            values.append(auroc(np.nanmean(others[rows], axis=1), votes[rows, reader]))
            numbers.append(rows.sum())
    return np.average(values, weights=numbers)


def test_groups_equal_evaluations_of_their_items_and_differ_from_the_rest():
    votes = bootstrap.annotations(GAPS)
    found = ask("subgroups", models(), votes, **AUROC, attributes=SIDE)
    assert found_labels(found) == ["side = left", "side = right"]  # five are too few
    values, done = {}, {}
    for side in range(2):
        keep = np.arange(ITEMS) % 2 == side
        here = [Predictions(m.model, names(20), m.values[keep]) for m in models()]
        some = bootstrap.annotations(GAPS[keep])
        done[side] = evaluate(here, some, **AUROC)
        values[side] = done[side].values[0, 0, 1]
        given = found.outcomes[side].facts
        soft = np.nanmean(GAPS[keep], axis=1)
        assert_allclose(given["entropy"], entropy(np.stack([1 - soft, soft])).mean(), **EXACT)
        assert_allclose(given["agreement"], krippendorff_alpha(some).value, **EXACT)
        assert_allclose(given["attainable"], readers_themselves(GAPS[keep]), **EXACT)
    for side, outcome in enumerate(found.outcomes):
        for m, line in enumerate(outcome.lines):
            assert_allclose(line.value, values[side][m], **EXACT)
            assert_allclose(line.change, values[side][m] - values[1 - side][m], **EXACT)


@pytest.mark.parametrize("metric", ["auroc", "balanced_accuracy"])
def test_what_models_have_beyond_annotators_is_that_of_the_group_alone(metric):
    """By the same truth without each annotator; intervals hold over groups and models."""
    given = models()
    if metric != "auroc":
        given = [replace(m, values=(m.values > 0.5) * 1.0) for m in given]
    found = ask("subgroups", given, bootstrap.annotations(VOTES), metrics=[metric],
                attributes=SIDE)  # fmt: skip
    table = beside_annotators(found.contest)
    claims = table.task_claims(table.models, (), GROUPS)
    assert len(claims) == 2 * len(given)
    for side, label in enumerate(("side = left", "side = right")):
        keep = np.arange(ITEMS) % 2 == side
        here = [Predictions(m.model, names(20), m.values[keep]) for m in given]
        study = Study.of(here, bootstrap.annotations(VOTES[keep]), metrics=[metric])
        (alone,) = reader_tables(study)
        cell = alone.contrasts.like_these
        cell = cell if cell.population.annotators else alone.contrasts.these
        places = range(len(given))
        widths = simultaneous_widths(cell.subset(places), 0.975)
        for place, model in enumerate(table.models):
            claim = claims[label, model]
            assert claim.family == (GROUPS, 2 * len(given))
            assert_allclose(claim.value, cell.values[place], **EXACT)
            assert_allclose(claim.high - claim.value, widths[place], rtol=1e-4)
    rows = found.finding().tables[-1].rows
    assert [(row["group"], row["competitor"]) for row in rows] == list(claims)
    assert all(claim in found.finding().claims for claim in claims.values())


def test_a_group_of_one_class_is_not_scored_and_that_is_said():
    votes = np.where(np.arange(ITEMS)[:, None] % 2, 1.0, VOTES)
    found = ask("subgroups", models(), bootstrap.annotations(votes), **AUROC, attributes=SIDE)
    assert {outcome.verdict for outcome in found.outcomes} == {UNKNOWN}
    assert any("Nobody is scored for side = right" in str(said) for said in found.notices)


def test_items_without_attributes_are_refused_or_left_out():
    some = Attributes(
        items=names(30), columns=("side",), levels=(("left", "right"),),
        codes=np.arange(30)[None] % 2,
    )  # fmt: skip
    votes = bootstrap.annotations(VOTES)
    with pytest.raises(InputError, match="no row for 10 annotated items"):
        ask("subgroups", models(), votes, **AUROC, attributes=some)
    how = Settings(on_missing="drop")
    found = ask("subgroups", models(), votes, **AUROC, attributes=some, settings=how)
    assert {line.items for line in found.lines} == {15}
    assert "10 of 40 items have no attributes" in str(found.finding().notices[-1])
    with pytest.raises(InputError, match=r"attributes: .*, expected a table with a row per"):
        ask("subgroups", models(), votes, **AUROC, attributes="known.csv")
    empty = Attributes(items=names(ITEMS), columns=(), levels=(), codes=np.zeros((0, ITEMS)))
    with pytest.raises(InputError, match="attributes: no column, expected at least one"):
        ask("subgroups", models(), votes, **AUROC, attributes=empty)
    with pytest.raises(InputError, match="no attributes of items"):
        ask("subgroups", models(), votes, **AUROC)


# ---- other aggregations ---------------------------------------------------------------------


def test_choices_equal_evaluations_against_their_truths():
    votes = bootstrap.annotations(np.hstack([VOTES, VOTES[:, ::-1]]))
    likely = models([1 / (1 + np.exp(-one)) for one in SCORES])
    found = ask("choices", likely, votes, metrics=["brier_score"])
    assert len(found.outcomes) >= 4
    place = next(k for k, one in enumerate(found.outcomes) if one.label.startswith("Dirichlet"))
    done = evaluate(likely, dirichlet(votes), metrics=["brier_score"])
    for line in found.outcomes[place].lines:
        row = done.estimate(line.competitor, "brier_score")
        ends = row.interval(0.95)
        assert_allclose((line.value, line.low, line.high), (row.value, *ends), **EXACT)
    every = {outcome.label: outcome.scored.table.values for outcome in found.outcomes}
    every["study"] = found.whole.table.values
    rows = {(row["above"], row["below"]): row for row in found.conclusions()}
    for a, b in combinations(range(3), 2):
        lead = np.array([one[b] - one[a] for one in every.values()])  # lower is better
        names_of = [f"model-{m}" for m in ((b, a) if (lead < 0).all() else (a, b))]
        row = rows[tuple(names_of)]
        assert row["with_this_order"] == max(
            (lead > 0).sum(), (lead < 0).sum() * (lead < 0).all()
        )
        assert (row["conclusion"] == "depends on it") == (min(lead) < 0 < max(lead))
    kappa = {outcome.label: outcome.facts["kappa"] for outcome in found.outcomes}
    assert kappa["majority vote"] == pytest.approx(1) and all(
        0 < k <= 1 for k in kappa.values()
    )


def test_models_of_annotators_take_part_from_six_annotators_on():
    few = ask("choices", models(), bootstrap.annotations(VOTES), **AUROC)
    assert "Dawid-Skene" not in found_labels(few)
    notices = " ".join(map(str, few.finding().notices))
    assert "5 annotators are too few" in notices and "Dawid-Skene" in notices
    many = ask("choices", models(), bootstrap.annotations(np.hstack([VOTES] * 2)), **AUROC)
    assert "Dawid-Skene" in found_labels(many)
    assert "[@dawid1979]" in many.finding().methods


# ---- readers --------------------------------------------------------------------------------


def sparse(kind="binary", classes=("no", "yes"), gold=()):
    """Readings with holes and repeated answers; probabilities of two models."""
    random, rows, items, readers = np.random.default_rng(0), [], 40, 5
    for item in range(items):
        for who in range(readers):
            if random.random() < 0.7:
                labels = random.integers(len(classes), size=1 + (random.random() < 0.1))
                rows += [(item, who, label, False) for label in labels]
    rows += [(item, 0, random.integers(len(classes)), True) for item in gold]
    item, who, label, known = (np.array(one) for one in zip(*rows, strict=True))
    table = Annotations(
        kind=kind, classes=classes, items=names(items), annotators=names(readers, "r"),
        item=item, annotator=who, label=label, is_gold=known if len(gold) else None,
    )  # fmt: skip
    plain, given = kind == "binary", []
    for name in ("a", "b"):
        values = random.dirichlet(np.ones(len(classes)), items)
        given.append(
            Predictions(name, table.items, values[:, 1] if plain else values,
                        () if plain else classes)
        )  # fmt: skip
    return table, given


def slow_truths(table, who):
    """Items that a reader read and others did, with both distributions, vote by vote."""
    found = {}
    gold = np.zeros(len(table), bool) if table.is_gold is None else table.is_gold
    for item in range(len(table.items)):
        here = [r for r in range(len(table)) if table.item[r] == item]
        own = [r for r in here if table.annotator[r] == who and not gold[r]]
        known = [r for r in here if gold[r]]
        others = known or [r for r in here if table.annotator[r] != who and not gold[r]]
        if own and others:
            found[item] = [
                np.bincount(table.label[part], minlength=len(table.classes)) / len(part)
                for part in (own, others)
            ]
    return found


# ---- the mechanism --------------------------------------------------------------------------


def contest_of(votes=GAPS, metric="auroc", **more):
    table = bootstrap.annotations(votes, **more)
    return ask("vote_cutoffs", models(), table, metrics=[metric]).contest


def test_a_contrast_within_one_part_is_the_difference_of_the_evaluation():
    for votes in (VOTES, GAPS):
        scored = contest_of(votes).scored()
        weights = np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]])
        table = contrasts([scored.parts], weights)
        for ours, theirs in (
            (table.of(0), scored.table.between(0, 1)),
            (table.of(1), scored.table.of(2)),
        ):
            for part in ("items", "annotators", "cells"):
                assert_allclose(getattr(ours, part), getattr(theirs, part), rtol=1e-9)


def test_a_contrast_with_itself_is_nothing_and_halves_of_the_items_add_up():
    contest = contest_of(VOTES)
    item = contest.votes.item
    halves = [contest.of_votes(item % 2 == side).scored() for side in range(2)]
    weights = np.array([[1.0, 0, 0, -1.0, 0, 0]])
    table = contrasts([one.parts for one in halves], weights, annotators=False)
    each = [one.for_these_votes.of(0).items for one in halves]
    assert_allclose(table.of(0).items, sum(each), rtol=1e-9)
    same = contrasts([halves[0].parts] * 2, weights)
    assert same.of(0).items == same.of(0).annotators == 0


def test_changes_are_as_wide_as_resampled_items_make_them():
    random = np.random.default_rng(1)
    truth = random.standard_normal(400)
    lean = np.array([0.8, 0.0, -0.4, 0.2])
    votes = (truth[:, None] + lean + 0.7 * random.standard_normal((400, 4)) > 0).astype(float)
    score = truth + 0.8 * random.standard_normal(400)
    found = ask("leave_one_out", models([score], 400), bootstrap.annotations(votes), **AUROC)
    for fold, outcome in enumerate(found.outcomes):
        left, drawn = np.delete(votes, fold, axis=1).mean(axis=1), []
        for _ in range(400):
            rows = random.integers(400, size=400)
            both = [auroc(one[rows], score[rows]) for one in (left, votes.mean(axis=1))]
            drawn.append(both[0] - both[1])
        line = outcome.lines[0]
        width = line.change_high - line.change_low
        assert width == pytest.approx(2 * 1.96 * np.std(drawn), rel=0.2)


@pytest.mark.parametrize(
    ("before", "now", "verdict"),
    [("ab", "ab", SAME), ("ab", "abc", LARGER), ("ab", "a", SMALLER), ("ab", "bc", OTHER)],
)
def test_a_larger_best_group_is_less_known_and_not_another_verdict(before, now, verdict):
    class Best:
        competitors, of_votes, level = tuple("abc"), True, 0.95

        class table:
            class population:
                decides = True

        def __init__(self, group):
            self.group = frozenset(group)

        def best_group(self, **_):
            return self.group

    assert answers._verdict(Best(before), Best(now)) == verdict
    assert answers._verdict(Best(before), Best("")) == UNKNOWN


def test_averages_over_tasks_are_compared_where_all_tasks_have_values():
    both = replace(
        bootstrap.annotations(VOTES), tasks=("x", "y"),
        task=(np.arange(VOTES.size) % 5 > 2).astype(int),
    )  # fmt: skip
    given = [replace(one, task=task) for task in ("x", "y") for one in models()]
    found = ask("leave_one_out", given, both, **AUROC)
    whole = evaluate(given, both, **AUROC)
    assert "(macro average)" in found.sentence
    assert_allclose(found.whole.table.values, whole.values[-1, 0, 1], **EXACT)
    assert all(outcome.scored is None or outcome.scored.tasks == ("x", "y")
               for outcome in found.outcomes)  # fmt: skip


def test_all_metrics_and_labels_have_values_and_the_first_has_the_verdict():
    metrics = ["average_precision", "auroc"]
    found = ask("leave_one_out", models(), bootstrap.annotations(VOTES), metrics=metrics)
    (table,) = [one for one in found.tables() if one.name == "leave_one_out_metrics"]
    assert len(table.rows) == 5 * 2 * 2 * 3
    again = evaluate(models(), bootstrap.annotations(VOTES[:, 1:]), metrics=metrics)
    for row in table.rows:
        if row["variant"] == "reader-0":
            place = metrics.index(row["metric"]), ("hard", "soft").index(row["labels"])
            m = int(row["competitor"][-1])
            assert_allclose(row["value"], again.values[0][place][m], **EXACT)
    assert "soft average precision" in found.sentence


def test_groups_of_items_count_as_wholes():
    pairs = {"group": np.arange(ITEMS) // 2, "groups": names(ITEMS // 2, "patient")}
    apart = ask("leave_one_out", models(), bootstrap.annotations(VOTES), **AUROC)
    whole = ask("leave_one_out", models(), bootstrap.annotations(VOTES, **pairs), **AUROC)
    again = evaluate(models(), bootstrap.annotations(VOTES[:, 1:], **pairs), **AUROC)
    for line in whole.outcomes[0].lines:
        ends = again.estimate(line.competitor, "auroc").interval(0.95)
        assert_allclose((line.low, line.high), ends, **EXACT)
    choice = ask("choices", models(), bootstrap.annotations(VOTES, **pairs), **AUROC)
    assert choice.outcomes[0].scored.table.population.units == "groups of items"
    assert by_variant(apart) == by_variant(whole)


def test_a_model_of_the_truth_stays_the_truth_or_is_fitted_again():
    readings, scores = reading_study()

    def contest(truth, votes=readings):
        return Contest.of(replace(Study.of(scores[:2], truth, **AUROC), votes=votes))

    whole, fewer = contest(dirichlet(readings)), readings.annotator != 0
    some = whole.of_votes(readings.item < 200).tasks[0].question
    assert some.plausible is not None and len(some.items) == 200
    question = whole.tasks[0].question
    rows = [question.items.index(name) for name in some.items]
    assert_allclose(some.shares, question.shares[:, rows], **EXACT)
    again = dirichlet(readings.rows(fewer)).soft[:, 1]
    assert_allclose(whole.of_votes(fewer).tasks[0].question.shares[0], again, **EXACT)
    trusted = contest(dirichlet(readings, reliability=3)).of_votes(fewer).tasks[0].question
    again = dirichlet(readings.rows(fewer), reliability=3).soft[:, 1]
    assert_allclose(trusted.shares[0], again, **EXACT)
    with pytest.raises(InputError, match="not fitted again to fewer votes"):
        contest(glad(readings)).of_votes(fewer)
    with pytest.raises(InputError, match="a truth without votes"):
        answers.answer(leave_one_out.QUESTION, contest(dirichlet(readings), None))
    found = answers.answer(leave_one_out.QUESTION, whole)
    assert found.whole.table.population.reason.value == "truth model" and len(found.lines) == 16
    (other, *_) = answers.answer(choices.QUESTION, whole).outcomes
    assert "Dirichlet" not in other.label


def test_a_metric_without_a_derivative_speaks_for_other_items_and_says_so():
    name = next(n for n, make in CATALOGUE.items() if _blocked(make()))
    likely = models([1 / (1 + np.exp(-one)) for one in SCORES])
    found = ask("leave_one_out", likely, bootstrap.annotations(VOTES), metrics=[name])
    assert "has no derivative by votes" in found.finding().note
    line = found.lines[0]
    assert line.change_low < line.change < line.change_high


def _blocked(metric):
    return (
        metric.influence is None and metric.labels not in ("draws",) and metric.min_items < 20
    )


def test_many_variants_are_cut_short_and_progress_is_told(monkeypatch):
    told = []
    contest = contest_of(VOTES)
    found = answers.answer(
        leave_one_out.QUESTION, contest, progress=lambda *step: told.append(step)
    )
    assert [done for done, _ in told] == [1, 2, 3, 4, 5] and all(a < b for a, b in told)
    assert not found.notices
    monkeypatch.setattr(variants, "WORK", 1)
    few = answers.answer(leave_one_out.QUESTION, contest)
    assert len(few.outcomes) == variants.FEWEST
    assert "Only the first 4 variants are scored" in str(few.notices[-1])


def test_a_question_of_ones_own_and_the_same_bytes():
    def halves(contest):
        item = contest.votes.item
        rest = contest.of_votes(item % 2 == 1)
        yield Variant("even", contest.of_votes(item % 2 == 0), against=rest)

    asked = Question(key="halves", about="halves", variants=halves, head="half", over="halves")
    first, second = (ask(asked, models(), bootstrap.annotations(GAPS), **AUROC) for _ in "ab")
    assert str(first.rows()) == str(second.rows()) and len(first.rows()) == 3
    assert first.finding().title == "Does the verdict depend on halves?"
    assert math.isnan(first.lines[first.whole.leader].gap_p)


def test_holm_by_hand():
    assert_array_equal(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])
    assert_array_equal(holm([0.5, 0.9]), [1.0, 1.0])
