"""Label rules: plain metrics at every threshold, and a verdict that is compared."""

import numpy as np
import pytest

from equipoise import metrics
from equipoise.study import Settings, evaluate
from equipoise.study.analyses.threshold_in_use import ModelsBeside
from equipoise.study.questions import ask, label_rules
from equipoise.study.variants import Contest
from equipoise.types import Annotations, InputError, Predictions
from tests.analysed import study_of
from tests.oracles import bootstrap
from tests.strategies import names
from tests.threshold_study import threshold_of

RANDOM = np.random.default_rng(7)
CAST = RANDOM.random((80, 5)) < RANDOM.random(80)[:, None]
SHARE = CAST.mean(axis=1)
SCORES = [SHARE + RANDOM.normal(0, spread, 80) for spread in (0.2, 0.5)]
MODELS = [Predictions(name, names(80), s) for name, s in zip("ab", SCORES, strict=True)]
VOTES = bootstrap.annotations(CAST.astype(float))


def around(centre, reach, *, models=MODELS, values=SHARE, strict=False):
    """Variants of labels by what is above some threshold."""
    items = names(len(values))
    votes = Annotations(
        kind="binary", items=items, classes=("no", "yes"), item=np.arange(len(values)),
        label=(values > 0.5).astype(int),
    )  # fmt: skip
    contest = Contest.of(study_of(models, votes, resampling="influence"))
    return list(label_rules.labels_around(contest, [values], centre, reach, strict=strict))


def test_variants_score_everybody_as_plain_metrics_do():
    found = ask("threshold_sweep", MODELS, VOTES, metrics=["auroc"])
    assert {line.variant for line in found.lines} == {one.label for one in found.outcomes}
    for line in found.lines:
        cut = float(line.variant.split(" to ")[0])
        label = cut + 1e-12 < SHARE
        expected = metrics.auroc(label, SCORES["ab".index(line.competitor)])
        assert line.value == pytest.approx(expected, abs=1e-12)
        centre = metrics.auroc(SHARE > 0.5, SCORES["ab".index(line.competitor)])
        assert line.change == pytest.approx(expected - centre, abs=1e-12)
        assert line.low <= line.value <= line.high


def test_intervals_are_those_of_an_evaluation_against_the_labels():
    found = ask("threshold_sweep", MODELS, VOTES, metrics=["auroc"])
    for outcome in found.outcomes:
        cut = float(outcome.label.split(" to ")[0])
        labels = Annotations(
            kind="binary", items=names(80), classes=("no", "yes"), item=np.arange(80),
            label=(cut + 1e-12 < SHARE).astype(int),
        )  # fmt: skip
        rows = [
            row
            for row in evaluate(MODELS, labels, metrics=["auroc"]).table()
            if row.labels == "hard"
        ]
        for line, row in zip(outcome.lines, rows, strict=True):
            assert (line.low, line.high) == pytest.approx((row.low, row.high), abs=1e-12)
        positives = (cut + 1e-12 < SHARE).sum()
        assert outcome.facts == {"positives": positives, "prevalence": positives / 80}


def test_thresholds_that_give_the_same_labels_are_one_variant():
    found = ask("threshold_sweep", MODELS, VOTES, metrics=["auroc"])
    assert [outcome.label for outcome in found.outcomes] == ["0.35 to 0.38", "0.41 to 0.59",
                                                             "0.62 to 0.65"]  # fmt: skip
    assert found.outcomes[1].lines[0].change == 0  # the strict majority itself


def test_more_than_half_is_a_rule_and_a_tie_is_negative():
    values = np.repeat([0.25, 0.5, 0.75], 10)
    models = [Predictions("m", names(30), values)]
    counts = {}
    for strict in (True, False):
        variants = around(0.5, 0.15, models=models, values=values, strict=strict)
        counts[strict] = [variant.facts["positives"] for variant in variants]
    assert counts == {True: [20, 10], False: [20, 10]}
    at = label_rules.called(values, 0.5), label_rules.called(values, 0.5, strict=True)
    assert [labels.sum() for labels in at] == [20, 10]


def test_a_grid_ends_at_0_and_1_and_is_compared_with_its_centre():
    values = np.linspace(0, 1, 40)
    variants = around(0.9, 0.3, models=[Predictions("m", names(40), values)], values=values)
    starts = [float(variant.label.split(" to ")[0]) for variant in variants]
    assert starts[0] == pytest.approx(0.6) and max(starts) == pytest.approx(0.96)
    (centre,) = {id(variant.against): variant.against for variant in variants}.values()
    assert centre.tasks[0].question.shares[0].sum() == (values >= 0.9).sum()


def test_where_all_items_are_of_one_class_nobody_is_scored_and_that_is_said():
    votes = bootstrap.annotations(np.repeat([[1.0, 1, 1, 0, 0], [0, 0, 0, 0, 0]], 10, axis=0))
    models = [Predictions("m", names(20), np.arange(20.0)[::-1])]
    found = ask("threshold_sweep", models, votes, metrics=["auroc"])
    lost = [outcome.label for outcome in found.outcomes if not outcome.lines]
    assert lost == ["0.62 to 0.65"]
    assert "Nobody is scored where a share of yes above 0.62 to 0.65" in str(found.notices[0])


def test_a_model_of_the_truth_is_cut_by_its_plausibility():
    from equipoise.truth import dirichlet

    truth = dirichlet(VOTES)
    found = ask("threshold_sweep", MODELS, truth, metrics=["auroc"])
    for outcome in found.outcomes:
        cut = float(outcome.label.split(" to ")[0])
        assert outcome.facts["positives"] == (truth.soft[:, 1] > cut + 1e-12).sum()


def test_several_classes_are_refused():
    votes = Annotations(kind="nominal", items=names(9), classes=("x", "y", "z"),
                        item=np.arange(9), label=np.arange(9) % 3)  # fmt: skip
    scores = np.full((9, 3), 1 / 3)
    model = Predictions("m", names(9), scores, classes=("x", "y", "z"))
    with pytest.raises(InputError, match="threshold sweep: several classes, expected a yes/no"):
        ask("threshold_sweep", model, votes)


def test_groups_of_items_stay_wholes():
    patient = np.repeat(np.arange(20), 4)
    share = np.repeat(np.random.default_rng(5).random(20), 4)
    cast = np.random.default_rng(6).random((80, 5)) < share[:, None]
    score = share + np.repeat(np.random.default_rng(7).normal(0, 0.4, 20), 4)

    def widths(**groups):
        votes = Annotations(
            kind="binary", items=names(80), classes=("no", "yes"),
            item=np.repeat(np.arange(80), 5), label=cast.ravel().astype(int), **groups,
        )  # fmt: skip
        found = ask("threshold_sweep", [Predictions("a", names(80), score)], votes,
                    metrics=["auroc"])  # fmt: skip
        return np.mean([line.high - line.low for line in found.lines])

    grouped = widths(group=patient, groups=tuple(f"p{k}" for k in range(20)))
    assert grouped > 1.2 * widths()


def test_models_beside_a_threshold_are_scored_around_it():
    report = threshold_of(metrics=("auroc", "average_precision"))
    finding = next(part for part in report.findings if part.key == "sweep")
    (whole,) = next(part for part in report.findings if part.key == "threshold").tables[1].rows
    rows = finding.tables[0].rows
    here = [row for row in rows if row["change"] == 0]
    assert {row["competitor"] for row in here} == {f"model {m}" for m in range(3)}
    positives = {row["positives"] for row in here}
    prevalence = next(part for part in report.findings if part.key == "prevalence")
    at = [row for row in prevalence.tables[0].rows if row["threshold"] == whole["threshold"]]
    assert positives == {at[0]["positives"]}
    assert [table.name for table in finding.tables] == ["sweep", "sweep_metrics"]
    assert "@groger2025" in finding.methods and "average precision" in finding.methods


def test_what_models_beside_a_threshold_cannot_be_is_refused():
    for beside, words in (
        (ModelsBeside(MODELS, reach=2), "threshold sweep, reach: 2"),
        (ModelsBeside([3]), r"predictions: 3 \(int\)"),
        (ModelsBeside([Predictions("m", ("else",), np.ones(1))]), "models, "),
    ):
        with pytest.raises(InputError, match=words):
            threshold_of(beside=beside)
    with pytest.raises(InputError, match="did you mean 'drop'"):
        Settings(on_missing="dorp")
