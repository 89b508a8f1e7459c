"""A study as one report: every analysis says something, and what is left out says why."""

import json

import numpy as np
import pytest

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.read.attributes import Attributes
from equipoise.report.text import texts
from equipoise.study.analyses.catalogue import ANALYSES, OF_JUDGES
from equipoise.study.questions import ask
from equipoise.types import as_json, plain
from tests.analysed import analysed, flips
from tests.report_stability_sample import found, rows
from tests.strategies import names

ITEMS, PEOPLE = 40, 4
RANDOM = np.random.default_rng(11)
EVIDENCE = RANDOM.standard_normal(ITEMS)
SAYS = (EVIDENCE[:, None] + 0.8 * RANDOM.standard_normal((ITEMS, PEOPLE)) > 0).astype(np.intp)
SCORES = {
    name: EVIDENCE + noise * RANDOM.standard_normal(ITEMS)
    for name, noise in (("good", 0.4), ("fair", 0.6), ("weak", 2.0))
}
FRONT = ("standings", "distance", "readers", "subgroups", "agreement", "disputed")
LEFT_OUT = ("calibration", "net_benefit", "vote_cutoffs", "truths", "sets", "retained")
OF_LABELS = [key for key, one in ANALYSES.items() if one.of_predictions]
REST = [name for name in OF_LABELS if name not in (*FRONT, *OF_JUDGES)]
QUICK = {"metrics": ["auroc"], "replicates": 20, "most": 5}


def votes(**changes):
    item, annotator = (axis.ravel() for axis in np.indices(SAYS.shape))
    known = {"annotators": names(PEOPLE, "reader"), "annotator": annotator}
    return Annotations(
        kind="binary", items=names(ITEMS), classes=("no", "yes"), item=item,
        label=SAYS.ravel(), **{**known, **changes},
    )  # fmt: skip


def models():
    return [Predictions(name, names(ITEMS), values) for name, values in SCORES.items()]


def quickly(given=None, truth=None, **options):
    return analysed(given or models(), truth or votes(), **{**QUICK, **options})


@pytest.fixture(scope="module")
def report():
    known = Attributes(
        items=names(ITEMS), columns=("site",), levels=(("north", "south"),),
        codes=np.arange(ITEMS)[None] % 2,
    )  # fmt: skip
    return quickly(attributes=known)


def test_every_analysis_has_a_sentence_rows_and_notices(report):
    text = json.dumps(plain(as_json(report)), allow_nan=False)
    assert len(json.loads(text)["findings"]) == len(report.findings)
    assert [one.key for one in report.findings] == [*FRONT, "labels", "differences", *REST]
    assert [one.key for one in report.findings if not one.evidence] == list(FRONT)
    for finding in report.findings[-len(REST) :]:
        assert finding.title == ANALYSES[finding.key].title
        assert finding.sentence.endswith("."), finding.key
        absent = finding.key in LEFT_OUT
        assert finding.left_out == absent
        assert finding.left_out or any(table.rows for table in finding.tables), finding.key


def test_the_numbers_are_those_of_the_library(report):
    direct = ask("leave_one_out", models(), votes(), metrics=["auroc"])
    assert str(rows(report, "leave_one_out")) == str(direct.rows())
    assert found(report, "leave_one_out").sentence == direct.sentence
    by_votes = flips(models(), votes(), metric="auroc", unit="changed votes", most=5)
    ours = [row for row in rows(report, "flips") if row["unit"] == "changed votes"]
    assert [row["size"] for row in ours] == [row["size"] for row in by_votes.rows()]


def test_the_centre_of_the_sweep_is_the_strict_majority():
    report = quickly(only=["threshold_sweep"], ties="negative")
    centre = [row for row in rows(report, "threshold_sweep") if row["change"] == 0]
    values = rows(report, "standings", "values")
    hard = {row["model"]: row["value"] for row in values if row["labels"] == "hard"}
    assert {row["competitor"]: row["value"] for row in centre} == pytest.approx(hard)
    assert centre[0]["positives"] == (SAYS.mean(axis=1) > 0.5).sum()
    assert (SAYS.mean(axis=1) == 0.5).any()


def test_the_same_seed_gives_the_same_report_and_progress_ends_whole():
    told = []
    options = {"only": ["ranking", "components"], "progress": lambda *x: told.append(x)}
    first = plain(as_json(quickly(**options)))
    assert plain(as_json(quickly(**options))) == first
    assert told == sorted(told[: len(told) // 2]) * 2
    assert told[-1][0] == told[-1][1] == 400


def test_what_the_data_do_not_allow_is_said():
    anonymous = votes(annotators=None, annotator=None)
    report = quickly(truth=anonymous, only=["leave_one_out", "readers", "ranking"])
    assert "Anonymous votes; it takes" in found(report, "readers").sentence
    assert found(report, "leave_one_out").left_out
    assert rows(report, "ranking")
    assert "flips" not in [finding.key for finding in report.findings]


def test_what_cannot_be_asked_is_an_error_and_what_cannot_be_answered_is_said():
    found_none = found(quickly(only=["subgroups"]), "subgroups")
    assert found_none.left_out and "No attributes of items" in found_none.sentence
    with pytest.raises(InputError, match="analyses: 'flip', expected one of"):
        quickly(only=["flip"])
    with pytest.raises(InputError, match="did you mean 'auroc'"):
        quickly(metrics=["aurok"])
    with pytest.raises(InputError, match="at least 1"):
        quickly(replicates=0)


def test_infinite_scores_stay_quiet_and_plain():
    certain = [
        Predictions(m, names(ITEMS), np.clip(np.round(SCORES[m]), 0, 1))
        for m in ("good", "weak")
    ]
    report = quickly(certain, metrics=["log_score"], replicates=10, most=2)
    assert "inf" in json.dumps(plain(as_json(report)), allow_nan=False)
    assert texts(report)["tables/leave_one_out.csv"].count("inf") > 1


def test_only_what_was_run_is_said_and_cited(report):
    made = texts(report)
    methods = made["methods.md"]
    assert "3 models on 40 items with 160 votes of 4 annotators" in methods
    assert "holm" in made["references.bib"]
    assert "Holm" not in texts(quickly(only=["flips"]))["methods.md"]
    for path, text in made.items():
        if path.endswith(".csv"):
            assert len(text.splitlines()[0].split(",")) >= 3, path
            assert f"{path[:-4]}.tex" in made and f"{path[:-4]}.md" in made


def test_two_models_are_compared_as_the_evaluation_does():
    options = {
        "metrics": ["auroc", "brier_score"],
        "replicates": 30,
        "most": 5,
        "only": ["components"],
    }
    given = [
        Predictions(m, names(ITEMS), 1 / (1 + np.exp(-SCORES[m])))
        for m in ("good", "fair", "weak")
    ]
    report = analysed(given, votes(), **options, pair=("weak", "good"))
    plan = resample(votes(), replicates=30)
    whole = evaluate(given, votes(), metrics=["auroc", "brier_score"], resampling=plan)
    gap = next(one for one in whole.differences("auroc") if (one.a, one.b) == ("good", "weak"))
    gaps = rows(report, "comparison", "pair")
    row = next(one for one in gaps if one["labels"] == "soft")
    assert row["value"] == pytest.approx(-gap.value)
    assert row["low"] == pytest.approx(-gap.high)
    assert row["p_better"] == pytest.approx(1 - gap.p_better)
    first = found(report, "comparison").sentence
    assert first.startswith("By soft AUROC good is better than weak by")
    assert first.endswith("for items and annotators like these, as a single pair.")
    keys = [one.key for one in report.findings]
    assert keys[0] == "comparison" and keys[-1] == "pair_flips"
    other = analysed(given, votes(), **options, pair=("good", "weak"))
    assert [-one["value"] for one in rows(other, "comparison", "pair")] == (
        pytest.approx([one["value"] for one in gaps])
    )
    brier = {"metrics": ["brier_score"], "replicates": 30, "most": 5, "only": ["components"]}
    lower = analysed(given, votes(), **brier, pair=("good", "weak")).findings[0].sentence
    assert lower.startswith("By Brier score good is better than weak by")


def test_models_that_are_not_there_are_refused():
    with pytest.raises(InputError, match=r"'goood', expected one of .*did you mean 'good'"):
        analysed(models(), votes(), pair=("goood", "weak"))
    with pytest.raises(InputError, match="'good' twice"):
        analysed(models(), votes(), pair=("good", "good"))


def test_a_report_survives_an_analysis_that_fails(monkeypatch):
    def analyse(_study):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("equipoise.study.analyses.components.analyse", analyse)
    report = quickly(only=["components", "certainty"])
    stopped = found(report, "components")
    assert stopped.left_out and "ZeroDivisionError: division by zero" in stopped.sentence
    assert not found(report, "certainty").left_out and report.card is not None
