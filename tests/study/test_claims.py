"""What may be claimed: by which metric, among which family, for whom, and by whose truth."""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from equipoise import Annotations, InputError, Predictions, evaluate
from equipoise.inference.intervals import Family, TwoWay, best_claims, distances, family
from equipoise.inference.spread import Judgement, Population, Spread, judge
from equipoise.metrics import named
from equipoise.report.answer import AnswerContent, answer_report, evaluation_card
from equipoise.report.answer.deciders import decider_findings
from equipoise.study import Settings, Study
from equipoise.study.analyses import calibration_curves
from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.study.questions import answers
from equipoise.study.questions.alone import asked_alone
from equipoise.study.thresholds import Thresholds
from equipoise.study.variants import Contest
from equipoise.truth import dirichlet
from equipoise.types import (
    Claim,
    ClaimFamily,
    Decision,
    Estimand,
    Nouns,
    claims_in_words,
    decide,
)
from tests.odd_studies import world
from tests.report.test_claims import by_gold, probabilities, report_of


def rare(seed=0, share=0.05):
    """A study of rare positives: somebody who always says no, and two who see something."""
    random = np.random.default_rng(seed)
    items, people = 400, 6
    yes = random.random(items) < share
    said = np.where(random.random((items, people)) < 0.9, yes[:, None], ~yes[:, None])
    item, annotator = (axis.ravel() for axis in np.indices(said.shape))
    votes = Annotations(
        kind="binary", items=tuple(f"i{k}" for k in range(items)), classes=("no", "yes"),
        annotators=tuple("abcdef"), item=item, annotator=annotator,
        label=said.ravel().astype(int),
    )  # fmt: skip
    sees = np.where(yes, 0.85, 0.15)
    models = {"never": np.zeros(items), "good": random.random(items) < sees}
    models["fair"] = random.random(items) < np.where(yes, 0.8, 0.2)
    return [Predictions(name, votes.items, x * 1.0) for name, x in models.items()], votes


# ---- by which metric -----------------------------------------------------------------------


def test_a_constant_answer_is_never_in_the_best_group_by_default():
    models, votes = rare()
    done = evaluate(models, votes)
    best = {claim.estimand.competitor for claim in done.claims(done.metrics[0].name)
            if claim.decision is not Decision.INFERIOR}  # fmt: skip
    assert done.metrics[0].name == "balanced_accuracy" and best == {"good", "fair"}
    by_accuracy = evaluate(models, votes, metrics=["accuracy"])
    assert max(zip(by_accuracy.values[0, 0, 1], by_accuracy.models, strict=True))[1] == "never"


def test_best_groups_that_differ_between_metrics_are_said_in_the_headline():
    models, votes = rare()
    done = evaluate(models, votes, metrics=["balanced_accuracy", "accuracy"])
    said = evaluation_card(done).answer
    assert "by soft balanced accuracy against their votes, " in said
    assert said.endswith(". By soft accuracy, never is the best; the other two fall behind.")
    models, votes = world([0.2, 3.0], items=80)
    same = evaluate(models, votes, metrics=["auroc", "average_precision"])
    assert evaluation_card(same).answer.endswith(", net 0 is better than net 1.")


def mixed():
    """Two models with scores and one that decides, in two tasks."""
    scores, votes = world([0.4, 0.6], people=6, items=150, tasks=("x", "y"))
    rules = [
        Predictions("rule", one.items, (one.values > cut) * 1.0, task=one.task)
        for one, cut in zip(scores[:2], (0.3, 0.8), strict=True)
    ]
    return scores, rules, votes


def test_one_model_of_decisions_does_not_change_the_metric_of_all():
    scores, rules, votes = mixed()
    study = Study.of([*scores, *rules], votes)
    alone = Study.of(scores, votes).evaluation
    assert study.evaluation.models == ("net 0", "net 1")
    assert [metric.name for metric in study.metrics] == ["auroc", "average_precision"]
    assert_allclose(study.evaluation.values, alone.values, rtol=0, atol=0)
    assert any(note.code == "deciders" and "rule" in str(note) for note in study.notices)
    explicit = Study.of([*scores, *rules], votes, metrics=["accuracy"])
    assert explicit.evaluation.models == ("net 0", "net 1", "rule") and not explicit.deciders
    everything = Study.of(rules, votes)
    assert not everything.deciders and everything.metrics[0].name == "balanced_accuracy"


def test_at_its_operating_point_everybody_is_compared_as_decisions():
    scores, rules, votes = mixed()
    (finding,) = decider_findings(Study.of([*scores, *rules], votes), Nouns())
    named_cuts = {}
    for one in scores:  # as many are called positive as by the rule
        (rule,) = (rule for rule in rules if rule.task == one.task)
        ranked = np.sort(one.values)[::-1]
        named_cuts[f"{one.model}/{one.task}"] = float(ranked[int(rule.values.sum()) - 1])
    how = Settings(thresholds=Thresholds(named=named_cuts))
    metrics = ["balanced_accuracy", "sensitivity", "specificity"]
    slow = evaluate([*scores, *rules], votes, metrics=metrics, settings=how)
    for row in finding.tables[0].rows:
        where = {"task": row["task"], "labels": row["labels"]}
        value = slow.estimate(row["model"], row["metric"], **where).value
        assert row["value"] == pytest.approx(value)
    claims = slow.claims("balanced_accuracy")
    assert [(c.estimand, c.decision) for c in finding.claims][: len(claims)] == [
        (c.estimand, c.decision) for c in claims
    ]
    share = np.mean([rule.values.mean() for rule in rules])
    assert f"where {100 * share:.0f}% of the items are called positive" in finding.sentence


def test_a_model_that_always_says_yes_has_no_operating_point():
    scores, rules, votes = mixed()
    sure = [replace(rule, values=np.ones(len(rule.items))) for rule in rules]
    (finding,) = decider_findings(Study.of([*scores, *sure], votes), Nouns())
    assert finding.left_out and "rule" in finding.title


def test_models_that_only_decide_are_compared_with_readers():
    scores, rules, votes = mixed()
    report = answer_report(Study.of([*scores, *rules], votes), AnswerContent())
    (readers,) = (one for one in report.findings if one.key == "readers")
    assert "rule" in {claim.estimand.competitor for claim in readers.claims}
    assert report.known[0] == "3 models"


# ---- among which family --------------------------------------------------------------------


def test_tasks_and_pairs_are_one_family_where_a_task_is_named():
    scores, votes = world([0.4, 0.7, 1.2], items=80, tasks=("x", "y", "z"))
    done = evaluate(scores, votes, metrics=["auroc"])
    for task in done.tasks:
        cell = done.two_way("auroc", task=task)
        alone = family(cell)
        times = 3 if task in ("x", "y", "z") else 1
        every = done.family("auroc", task=task)
        assert_allclose(every.p, 1 - (1 - alone.p) ** times)
        assert every.critical == pytest.approx(family(cell, level=0.95 ** (1 / times)).critical)
        assert (every.critical > alone.critical) == (times > 1)
        for gap in done.differences("auroc", task=task):
            assert gap.separated == (gap.p_adjusted < 0.05)
        names = {claim.family.name for claim in done.claims("auroc", task=task)}
        among = "in every task" if times > 1 else "(macro average)"
        assert names == {f"all pairs of models by soft AUROC {among}"}


def test_some_task_separates_equal_models_in_few_studies():
    """Eight tasks, six equal models: some task separates in .05 of studies, not in .15."""
    studies, wrong = 60, 0
    for seed in range(studies):
        tasks = tuple(f"t{k}" for k in range(8))
        scores, votes = world([0.8] * 6, items=60, people=6, tasks=tasks, seed=1000 + seed)
        how = Settings(workers=1, replicates=2)
        done = evaluate(scores, votes, metrics=["auroc"], resampling="influence", settings=how)
        wrong += any(done.family("auroc", task=task).better.any() for task in tasks)
    assert wrong <= 7  # .05 of 60 is 3, and two standard errors more


@pytest.mark.parametrize("seed", range(4))
def test_superior_by_the_margin_is_always_told_apart(seed):
    scores, votes = world([0.3, 0.5, 0.8, 1.4], items=70, seed=seed)
    for models in (scores, scores[:2]):
        for margin in (0.001, 0.05):
            how = Settings(margin=margin)
            done = evaluate(models, votes, metrics=["auroc", "brier_score"], settings=how)
            for metric in done.metrics:
                for gap in done.differences(metric.name):
                    assert not (
                        "superior" in (gap.judgement, gap.reverse) and not gap.separated
                    )
                    if gap.judgement.startswith("equivalent"):
                        assert abs(gap.value) < margin
                claims = done.claims(metric.name)
                behind = {
                    c.estimand.competitor for c in claims if c.decision is Decision.INFERIOR
                }
                ahead = {
                    c.estimand.competitor for c in claims if c.decision is Decision.SUPERIOR
                }
                assert not ahead or behind == set(done.models) - ahead


def test_two_one_sided_tests_are_of_a_pair_alone():
    spread = Spread(0.005**2, df_items=99)
    assert judge(-0.011, spread, 0.02) is Judgement.BY_TWO_TESTS
    alone = spread.interval(-0.011, 0.95)
    assert judge(-0.011, spread, 0.02, 0.95, alone, alone=False) is Judgement.UNDECIDED
    assert (
        judge(0.03, spread, 0.02, 0.95, (-0.001, 0.06), alone=False) is Judgement.NON_INFERIOR
    )


def test_ends_of_a_pair_lie_beyond_0_where_it_is_told_apart():
    zero = np.zeros((2, 2))
    for a_is_better in (False, True):
        better = zero.astype(bool)
        better[0, 1] = a_is_better
        every = Family(better, zero, np.ones((2, 2)), 2.0)
        for low, high in ((0.01, 0.05), (-0.01, 0.05)):
            ends = every.ends(0, 1, low, high)
            assert (ends[0] > 0) == a_is_better and ends[1] == high
            reverse = every.ends(1, 0, -high, -low)
            assert (reverse[1] < 0) == a_is_better and reverse[0] == -high


@pytest.mark.parametrize("noise", [(0.2, 1.0, 3.0), (0.4, 0.5, 2.5)])
def test_claims_say_what_distances_and_families_say(noise):
    scores, votes = world(noise, items=150, people=8)
    done = evaluate(scores, votes, metrics=["auroc", "brier_score"])
    for metric in done.metrics:
        cell, every = done.two_way(metric.name), done.family(metric.name)
        good = cell.values if metric.better == "higher" else -cell.values
        gap, least, most = distances(cell, every, good)
        for claim in done.claims(metric.name):
            m = done.models.index(claim.estimand.competitor)
            beaten = bool(every.better[:, m].any())
            assert (claim.decision is Decision.INFERIOR) == beaten
            if claim.decision is Decision.SUPERIOR:
                assert every.better[m].sum() == 2
                assert claim.low == pytest.approx(-most[m])
                assert claim.value == pytest.approx(np.sort(gap)[1])
            else:
                assert_allclose((claim.value, claim.low), (-gap[m], -most[m]))
                assert claim.high == pytest.approx(-least[m]) and claim.low <= claim.value
            assert claim.estimand.truth == "the votes"


def test_another_best_group_is_claimed_among_all_variants():
    class Whole:
        competitors, of_votes, level = tuple("abc"), True, 0.95

        class table:
            class population:
                decides = True

        def __init__(self, group, strict=None):
            self.group, self.strict = group, strict or group

        def best_group(self, *, annotators, level=None):
            del annotators
            return frozenset(self.group if (level or 0.95) < 0.951 else self.strict)

    whole = Whole("a")
    line = answers.Line("v", "a", 9, 0.5, 0.4, 0.6, 1, 1, answers.OTHER, in_best_group=False)
    made = [
        answers.Outcome("v", {}, Whole("bc", strict), answers.OTHER, (line,))
        for strict in ("bc", "abc")
    ]
    done = answers._adjusted(made, whole)
    assert [one.verdict for one in done] == [answers.OTHER, answers.LARGER]
    assert [one.lines[0].verdict for one in done] == [answers.OTHER, answers.LARGER]


def test_models_that_are_not_calibrated_are_claimed_in_one_family():
    scores, votes = world([0.4, 0.6, 0.9], items=120, people=8, tasks=("x", "y"))
    study = Study.of(probabilities(scores), votes)
    found = calibration_curves.analyse(study)
    assert len(found.claims) == 6 and len({claim.family for claim in found.claims}) == 1
    lows = np.array([-claim.high for claim in found.claims])
    alone = np.array([row["error_low"] for row in found.tables[0].rows])
    assert (lows <= alone + 1e-12).all() and (lows < alone).any()
    strict = calibration_curves.analyse(study.with_settings(Settings(level=1 - 0.05 / 6)))
    assert_allclose(lows, [row["error_low"] for row in strict.tables[0].rows])
    for claim in found.claims:
        where = claim.estimand.metric.partition("(")[2].rstrip(")")
        assert where in ("x", "y")
        if claim.decision is Decision.INFERIOR:
            assert claim.estimand.competitor in found.sentence


# ---- for whom, and by whose truth ----------------------------------------------------------


def test_fixed_annotators_are_fixed_in_every_analysis():
    scores, votes = world([0.4, 0.6, 2.0], items=120, people=8)
    scores = probabilities(scores)
    random, fixed = (
        report_of(scores, votes, analyses=tuple(ANALYSES), annotators=how)[0]
        for how in ("random", "fixed")
    )
    for report, others in ((random, True), (fixed, False)):
        said = [str(one.sentence) for one in report.findings if not one.left_out]
        said += [report.card.holds_for, report.card.answer]
        assert any("annotators like these" in text for text in said) == others
        for finding in report.findings:
            for claim in finding.claims:
                if finding.key not in ("leave_one_out", "alone", "choices", "threshold_sweep"):
                    assert ("readers like these" in claim.population) <= others
                    assert ("annotators like these" in claim.population) <= others
    by_key = {finding.key: finding for finding in fixed.findings}
    sources = {row["source"] for row in by_key["components"].tables[0].rows}
    assert "annotators" not in sources
    spans = [
        {row["model"]: row["error_high"] - row["error_low"] for row in report_rows}
        for report_rows in (
            next(f for f in report.findings if f.key == "calibration").tables[0].rows
            for report in (random, fixed)
        )
    ]
    assert all(spans[1][model] < spans[0][model] for model in spans[0])


@pytest.mark.parametrize("side", ["items", "annotators"])
def test_a_page_made_in_python_speaks_for_whom_the_evaluation_does(side, tmp_path):
    scores, votes = world([0.4, 2.0], items=80, people=6)
    done = evaluate(scores, votes, metrics=["auroc"], settings=Settings(**{side: "fixed"}))
    text = done.report(tmp_path / "page.html").read_text(encoding="utf-8")
    assert not re.search(r"(?<!these )items and annotators like these", text.casefold())
    assert f"these {side}" in text.casefold()


def test_hard_labels_decide_in_python_too():
    scores, votes = world([0.4, 2.0], items=80, people=5)
    done = evaluate(scores, votes, metrics=["auroc"], settings=Settings(labels="hard"))
    assert "the majority of their votes" in str(done.verdict)


def test_a_reference_standard_stays_the_truth():
    scores, votes = world([0.4, 0.6, 2.0], items=100, people=8)
    report, study = report_of(probabilities(scores), by_gold(votes), analyses=tuple(ANALYSES))
    assert study.by_standard and not Study.of(scores, votes).by_standard
    questions = ("certainty", "leave_one_out", "alone", "vote_cutoffs", "choices",
                 "threshold_sweep")  # fmt: skip
    by_key = {finding.key: finding for finding in report.findings}
    for key in questions:
        assert by_key[key].left_out and "A reference standard" in by_key[key].sentence, key
    assert "By the others' votes" in by_key["annotators"].sentence
    assert {row["reader"] for row in by_key["curves"].tables[0].rows} == set(votes.annotators)
    for metric in study.metrics:
        assert metric.soft_title == metric.title == metric.called("hard") and not metric.plain
    assert named("auroc").soft_title == "soft AUROC"


def test_items_of_known_truth_keep_it_where_annotators_are_asked_alone():
    scores, votes = world([0.4, 2.0], items=100, people=6)
    some = by_gold(votes, 0.3)
    contest = Contest.of(Study.of(scores, some))
    whole = contest.tasks[0].question
    for variant in asked_alone(contest):
        question = variant.contest.tasks[0].question
        gold = question.votes.gold
        assert gold.sum() == 30 and len(question.items) == 100
        place = [whole.items.index(name) for name in np.array(question.items)[gold]]
        assert_allclose(question.shares[0][gold], whole.shares[0][place])


def test_a_model_of_the_truth_stays_the_truth_or_the_analysis_says_that_it_cannot():
    scores, votes = world([0.4, 2.0], items=100, people=6)
    truth = dirichlet(votes)
    report, study = report_of(probabilities(scores), votes, truth, analyses=tuple(ANALYSES))
    assert "a model of the truth" in report.card.answer
    for finding in report.findings:
        if finding.left_out:
            assert not finding.tables and not finding.claims
        for claim in finding.claims:
            assert claim.estimand.truth == "a model of the truth"
    ranking = next(one for one in report.findings if one.key == "ranking")
    assert ranking.claims == study.evaluation.claims("auroc")


# ---- bad input -----------------------------------------------------------------------------


def test_what_readers_cannot_be_compared_with_is_said_and_nothing_given():
    scores, votes = world([0.4, 2.0], items=60, people=4)
    one = votes.rows(votes.annotator == 0)
    apart = votes.rows(votes.annotator == votes.item % 4)  # nobody shares an item
    for few in (one, apart):
        report, _ = report_of(scores, few, analyses=())
        (readers,) = (finding for finding in report.findings if finding.key == "readers")
        assert readers.left_out and not readers.claims
        assert "at least two annotators with ids who read the same items" in readers.sentence
    anonymous, _ = report_of(scores, votes.anonymous(), analyses=())
    assert "readers" not in {finding.key for finding in anonymous.findings}


def test_a_margin_of_nothing_is_refused():
    with pytest.raises(InputError, match=r"margin: 0.*expected a number above 0; leave it out"):
        Settings(margin=0)
    assert decide(-0.01, 0.02, 0.0) is Decision.NOT_SHOWN


def test_a_group_of_one_annotator_is_a_group():
    pyarrow = pytest.importorskip("pyarrow")
    from equipoise.read.attributes import Attributes

    scores, votes = world([0.4, 2.0], items=80, people=6)
    names = list(votes.annotators)

    def people(who, schools):
        rows = pyarrow.table({"annotator": who, "school": schools})
        return Attributes.from_dataframe(rows, of="annotator")

    how = Settings(annotator_group="school", replicates=20)
    study = Study.of(scores, votes, metrics=["auroc"], settings=how,
                     attributes=[people(names, ["solo", *"aabbc"])])  # fmt: skip
    assert study.evaluation.population.people == "groups of annotators"
    assert study.annotations.annotator_groups == ("a", "b", "c", "solo")
    with pytest.raises(
        InputError, match=r"no row for 1 annotator \('reader 0'\), expected a row"
    ):
        Study.of(scores, votes, settings=how, attributes=[people(names[1:], list("aabbc"))])
    more = people([*names, "nobody"], ["solo", *"aabbc", "z"])  # knows more than who voted
    study = Study.of(scores, votes, metrics=["auroc"], settings=how, attributes=[more])
    assert "z" not in (study.annotations.annotator_groups or ())


def test_a_model_behind_by_later_steps_alone_is_claimed_to_be_behind():
    size = 3
    zero = np.zeros((size, size))
    cell = TwoWay(
        np.array([0.9, 0.8, 0.7]), zero, zero, zero, zero, zero + 99, 0.0, 0.0, Population()
    )
    better = np.zeros((size, size), dtype=bool)
    better[0, 1:] = better[1, 2] = True  # by the steps: single intervals reach 0
    ranks = np.array([[1, 1], [2, 2], [3, 3]])
    every = Family(better, zero, ranks, 2.0)
    blank = Estimand("accuracy", "the votes", "", "the best")
    like = Claim(blank, "items", ClaimFamily("all", 3), 0.0, 0.0, 0.0)
    wide = replace(cell, items=np.eye(size))
    said = {
        claim.estimand.competitor: claim
        for claim in best_claims(wide, every, cell.values, "cba", like)
    }
    decisions = {name: claim.decision for name, claim in said.items()}
    behind = Decision.INFERIOR
    assert decisions == {"c": Decision.SUPERIOR, "b": behind, "a": behind}
    assert list(said) == ["c", "b", "a"] and said["b"].high < 0


def test_every_population_has_its_own_decision_in_words():
    blank, family = Estimand("accuracy", "x", "net", "readers"), ClaimFamily("all", 1)
    claims = [
        Claim(blank, "x", family, 0.1, low, 0.3, margin=0.05) for low in (-0.1, -0.04, 0.01)
    ]
    said = claims_in_words(zip(("others", "these", "both"), claims, strict=True))
    assert said == (
        "With a margin of 0.05 in accuracy it is not shown to be non-inferior for others "
        "(+0.100 [−0.100, +0.300]), non-inferior for these (+0.100 [−0.040, +0.300]) and "
        "superior for both (+0.100 [+0.010, +0.300])."
    )
    free = [Claim(blank, "x", family, 0.1, low, 0.3) for low in (-0.1, 0.01)]
    said = claims_in_words(zip(("others", "these"), free, strict=True))
    assert said.startswith("That holds for these (") and "for others (" in said
    assert said.endswith("it is not shown.")
