"""Known attributes that should be groups, and who orders the two leaders the other way."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from benchmarks._clusters import annotated, drawn

from equipoise import Annotations, Predictions, Settings
from equipoise.read.attributes import Attributes
from equipoise.report.answer import AnswerContent, answer_report
from equipoise.study import Study
from equipoise.study.clusters import cluster_notices, inside_less_between
from equipoise.study.questions.alone import asked_alone, reversals
from equipoise.study.variants import Contest

pyarrow = pytest.importorskip("pyarrow")


def table(of, **columns):
    return Attributes.from_dataframe(pyarrow.table(columns), of=of)


def study_of(drawing, *tables, **settings):
    votes = annotated(drawing, outer=False)
    models = [Predictions(f"m{k}", votes.items, x) for k, x in enumerate(drawing.scores[:2])]
    how = Settings(replicates=50, workers=1, **settings)
    return Study.of(models, votes, metrics=["auroc"], settings=how, attributes=tables)


def codes(study):
    return [note.code for note in cluster_notices(study)]


def people(school):
    names = [f"r{a:02d}" for a in range(len(school))]
    return table("annotator", annotator=names, school=[f"s{k}" for k in school])


def test_residual_agreement_is_that_of_every_pair_by_itself():
    random = np.random.default_rng(1)
    residual, there = random.normal(size=(30, 6)), random.random((30, 6)) < 0.7
    group = np.array([0, 0, 1, 1, 2, 2])
    sums = {True: [0.0, 0], False: [0.0, 0]}
    for r, s in combinations(range(6), 2):
        both = there[:, r] & there[:, s]
        side = sums[bool(group[r] == group[s])]
        side[0] += (residual[both, r] * residual[both, s]).sum()
        side[1] += both.sum()
    slow = sums[True][0] / sums[True][1] - sums[False][0] / sums[False][1]
    filled, counted = np.where(there, residual, 0.0), there * 1.0
    found = inside_less_between(filled.T @ filled, counted.T @ counted, group)
    assert found == pytest.approx(slow)


def test_schools_that_agree_inside_are_noticed_unless_they_are_the_groups():
    drawing = drawn(np.random.default_rng(5), 200, 12, schools=3)
    assert codes(study_of(drawing, people(drawing.school))) == ["annotator_group_unused"]
    used = study_of(drawing, people(drawing.school), annotator_group="school")
    assert codes(used) == []
    assert codes(study_of(drawing)) == []


def test_schools_by_chance_are_seldom_noticed():
    hits = 0
    for seed in range(60):
        random = np.random.default_rng([3, seed])
        drawing = drawn(random, 60, 9)
        hits += bool(codes(study_of(drawing, people(random.permutation(9) % 3))))
    assert hits <= 7  # 3 are expected of 60


def test_sites_whose_items_are_alike_are_noticed_and_kinds_of_items_are_not():
    drawing = drawn(np.random.default_rng(4), 300, 5, patients=300, sites=12)
    items = [f"i{i:04d}" for i in range(300)]
    sites = table("item", item=items, site=[f"c{s:02d}" for s in drawing.site])
    assert codes(study_of(drawing, sites)) == ["item_group_unused"]
    assert codes(study_of(drawing, sites, item_group="site")) == []
    halves = table("item", item=items, half=[f"h{s % 2}" for s in drawing.site])
    assert codes(study_of(drawing, halves)) == []


def judged(away, *, reverse):
    """Six annotators of two hospitals; some may see what the other model sees."""
    random = np.random.default_rng(8)
    seen = random.normal(size=(2, 300))
    labels = np.empty((300, 6), dtype=int)
    for r in range(6):
        side = int(reverse and r in away)
        labels[:, r] = seen[side] + 0.3 * random.normal(size=300) > 0
    votes = Annotations(
        kind="binary",
        items=tuple(f"i{i}" for i in range(300)),
        classes=("no", "yes"),
        annotators=tuple("abcdef"),
        item=np.repeat(np.arange(300), 6),
        annotator=np.tile(np.arange(6), 300),
        label=labels.ravel(),
    )
    noise = 0.4 * random.normal(size=(2, 300))
    models = [
        Predictions(name, votes.items, x) for name, x in zip("xy", seen + noise, strict=True)
    ]
    hospital = table("annotator", annotator=list("abcdef"), hospital=list("gggooo"))
    how = Settings(replicates=50, annotator_group="hospital", annotators="fixed")
    return Study.of(models, votes, metrics=["auroc"], settings=how, attributes=[hospital])


def test_a_group_or_an_annotator_that_reverses_the_leaders_is_said_on_the_card():
    study = judged({4, 5}, reverse=True)
    who = {reversal.who for reversal in reversals(study, "x", "y", separated=True)}
    assert {"e", "f"} <= who <= {"e", "f", "o"}
    report = answer_report(study, AnswerContent())
    assert "o, e and f, each alone," in report.card.caveat
    assert "the other way round" in report.card.caveat
    assert "alone" in {finding.key for finding in report.findings}
    same = judged({4, 5}, reverse=False)
    assert reversals(same, "x", "y", separated=True) == []
    assert "other way round" not in answer_report(same, AnswerContent()).card.caveat


def test_who_surely_reverses_two_models_follows_the_level():
    study = judged({4, 5}, reverse=True)
    for level, who in ((0.95, {"e", "f", "o"}), (1 - 1e-12, {"e", "f"})):
        how = study.with_settings(replace(study.settings, level=level))
        found = reversals(how, "x", "y", separated=False)
        assert {one.who for one in found} == who


def test_reversals_by_a_loss_have_their_ends_in_order():
    study = judged({4, 5}, reverse=True)
    chances = [replace(one, values=1 / (1 + np.exp(-one.values))) for one in study.predictions]
    losses = study.with_competitors(chances).with_metrics(["brier_score"])
    found = reversals(losses, "x", "y", separated=True)
    assert {"e", "f"} <= {one.who for one in found}
    assert all(one.low < one.value < one.high for one in found)


def test_orders_that_differ_by_chance_are_no_reversals():
    found = 0
    for seed in range(20):
        drawing = drawn(np.random.default_rng([6, seed]), 120, 6)
        study = study_of(drawing)
        first, second = sorted(
            ("m0", "m1"), key=lambda m: -study.evaluation.estimate(m, "auroc").value
        )
        found += bool(reversals(study, first, second, separated=False))
    assert found <= 3


def test_who_gave_few_votes_is_not_asked_alone():
    drawing = drawn(np.random.default_rng(2), 29, 4)
    assert [variant.label for variant in asked_alone(Contest.of(study_of(drawing)))] == []
    with pytest.raises(ValueError, match=r"alone.*people with names"):
        votes = annotated(drawing, outer=False).anonymous()
        model = Predictions("m", votes.items, drawing.scores[0])
        list(asked_alone(Contest.of(Study.of([model], votes, metrics=["auroc"]))))
