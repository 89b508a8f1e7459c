"""Stability as plain facts: everything is JSON, and what is left out says why."""

import json

import numpy as np
import pytest

from equipoise import Annotations, InputError, Predictions, evaluate, resample
from equipoise.cli.stability import NAMES
from equipoise.export import stability_methods, stability_texts
from equipoise.export.stability_texts import SAID
from equipoise.run.compare import compare_facts
from equipoise.run.stability import ANALYSES, StabilityHow, stability_facts
from equipoise.run.stability_case import NAMES as KNOWN
from equipoise.stability import Attributes, flips, leave_one_out
from tests.strategies import names

ITEMS, PEOPLE = 40, 4
RANDOM = np.random.default_rng(11)
EVIDENCE = RANDOM.standard_normal(ITEMS)
SAYS = (EVIDENCE[:, None] + 0.8 * RANDOM.standard_normal((ITEMS, PEOPLE)) > 0).astype(np.intp)
SCORES = {
    name: EVIDENCE + noise * RANDOM.standard_normal(ITEMS)
    for name, noise in (("good", 0.4), ("fair", 0.6), ("weak", 2.0))
}
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


@pytest.fixture(scope="module")
def facts():
    known = Attributes(
        items=names(ITEMS), columns=("site",), levels=(("north", "south"),),
        codes=np.arange(ITEMS)[None] % 2,
    )  # fmt: skip
    how = StabilityHow(**QUICK, attributes=known, sign_test=True)
    return stability_facts(models(), votes(), how)


def test_the_names_of_the_analyses_are_the_same_everywhere():
    assert tuple(ANALYSES) == NAMES == KNOWN == tuple(SAID)


def test_every_analysis_has_a_sentence_rows_and_notices(facts):
    text = json.dumps(facts, allow_nan=False)
    assert json.loads(text) == facts
    for name in ANALYSES:
        if name == "critical_difference":
            assert "1 task; it takes at least 3 tasks. Look at" in facts[name]["left_out"]
            continue
        assert facts[name]["finding"].endswith("."), name
        assert facts[name]["rows"] and isinstance(facts[name]["notices"], list), name


def test_the_numbers_are_those_of_the_library(facts):
    direct = leave_one_out(models(), votes(), metric="auroc", replicates=20)
    assert facts["leave_one_out"]["rows"] == direct.rows()
    assert facts["leave_one_out"]["finding"] == direct.finding
    found = flips(models(), votes(), metric="auroc", unit="votes", most=5)
    ours = [row for row in facts["flips"]["rows"] if row["unit"] == "votes"]
    assert [row["size"] for row in ours] == [row["size"] for row in found.rows()]
    assert "sign_test" in facts["ranking"]
    assert "no evidence" in facts["ranking"]["sign_test"][0]["warning"]


def test_the_centre_of_the_sweep_is_the_strict_majority(facts):
    sweep = facts["threshold_sweep"]
    centre = [row for row in sweep["rows"] if row["threshold"] == sweep["centre"]]
    hard = {row["model"]: row["value"] for row in facts["values"] if row["labels"] == "hard"}
    assert {row["model"]: row["value"] for row in centre} == pytest.approx(hard)
    assert centre[0]["positives"] == (SAYS.mean(axis=1) > 0.5).sum()
    assert (SAYS.mean(axis=1) == 0.5).any()


def test_the_same_seed_gives_the_same_facts_and_progress_ends_whole():
    told = []
    how = StabilityHow(
        **QUICK, only=["ranking", "components"], progress=lambda *x: told.append(x)
    )
    first = stability_facts(models(), votes(), how)
    assert stability_facts(models(), votes(), how) == first
    assert told == sorted(told[: len(told) // 2]) * 2
    assert told[-1] == (200, 200)


def test_several_tasks_have_a_critical_difference():
    item, annotator = (axis.ravel() for axis in np.indices(SAYS.shape))
    many = Annotations(
        kind="binary", items=names(ITEMS), classes=("no", "yes"),
        item=np.tile(item, 3), annotator=np.tile(annotator, 3),
        annotators=names(PEOPLE, "reader"), label=np.tile(SAYS.ravel(), 3),
        tasks=("a", "b", "c"), task=np.repeat([0, 1, 2], len(item)),
    )  # fmt: skip
    given = [Predictions(m, names(ITEMS), SCORES[m], task=t) for m in SCORES for t in "abc"]
    how = StabilityHow(**QUICK, only=["critical_difference"])
    found = stability_facts(given, many, how)["critical_difference"]
    assert [row["average_rank"] for row in found["rows"]] == [1, 2, 3]
    assert found["tasks"] == ["a", "b", "c"]


def test_what_the_data_do_not_allow_is_said():
    anonymous = votes(annotators=None, annotator=None)
    how = StabilityHow(**QUICK, only=["leave_one_out", "experts", "ranking"])
    found = stability_facts(models(), anonymous, how)
    assert "Anonymous votes; it takes" in found["experts"]["left_out"]
    assert "left_out" in found["leave_one_out"]
    assert found["ranking"]["rows"]
    assert "flips" not in found


def test_nothing_possible_is_an_error():
    with pytest.raises(InputError, match="no attributes of items"):
        stability_facts(models(), votes(), StabilityHow(**QUICK, only=["subgroups"]))
    with pytest.raises(InputError, match="only: 'flip', expected one of"):
        StabilityHow(only=["flip"])
    with pytest.raises(InputError, match="did you mean 'auroc'"):
        stability_facts(models(), votes(), StabilityHow(metrics=["aurok"]))
    with pytest.raises(InputError, match="at least 2"):
        StabilityHow(replicates=1)


def test_infinite_scores_stay_quiet_and_plain():
    certain = [
        Predictions(m, names(ITEMS), np.clip(np.round(SCORES[m]), 0, 1))
        for m in ("good", "weak")
    ]
    how = StabilityHow(metrics=["log_score"], replicates=10, most=2)
    found = stability_facts(certain, votes(), how)
    assert "inf" in json.dumps(found, allow_nan=False)
    assert stability_texts(found)["tables/leave_one_out.csv"].count("inf") > 1


def test_only_what_was_run_is_said_and_cited(facts):
    texts = stability_texts(facts)
    methods = stability_methods(facts)
    assert "3 models on 40 items with 160 votes of 4 annotators" in methods
    assert "Friedman" not in methods and "demsar" not in texts["references.bib"]
    assert "holm" in texts["references.bib"]
    few = stability_facts(models(), votes(), StabilityHow(**QUICK, only=["flips"]))
    assert "Holm" not in stability_methods(few)
    assert {path.split(".")[-1] for path in texts} == {"csv", "md", "tex", "bib"}
    for path, text in texts.items():
        if path.endswith(".csv"):
            width = len(text.splitlines()[0].split(","))
            assert width > 3, path
            assert f"{path[:-4]}.tex" in texts and f"{path[:-4]}.md" in texts


def test_two_models_are_compared_as_the_evaluation_does():
    how = StabilityHow(metrics=["auroc", "brier_score"], replicates=30, most=5)
    given = [
        Predictions(m, names(ITEMS), 1 / (1 + np.exp(-SCORES[m])))
        for m in ("good", "fair", "weak")
    ]
    found = compare_facts(("weak", "good"), given, votes(), how)
    plan = resample(votes(), replicates=30)
    whole = evaluate(given, votes(), metrics=["auroc", "brier_score"], resampling=plan)
    gap = next(one for one in whole.differences("auroc") if (one.a, one.b) == ("good", "weak"))
    row = next(one for one in found["differences"] if one["labels"] == "soft")
    assert row["value"] == pytest.approx(-gap.value)
    assert row["low"] == pytest.approx(-gap.high)
    assert row["p_better"] == pytest.approx(1 - gap.p_better)
    assert found["finding"].startswith("By soft AUROC good is better than weak by")
    other = compare_facts(("good", "weak"), given, votes(), how)
    assert [-one["value"] for one in other["differences"]] == pytest.approx(
        [one["value"] for one in found["differences"]]
    )
    brier = StabilityHow(metrics=["brier_score"], replicates=30, most=5)
    lower = compare_facts(("good", "weak"), given, votes(), brier)
    assert lower["finding"].startswith("By Brier score good is better than weak by")


def test_models_that_are_not_there_are_refused():
    with pytest.raises(InputError, match=r"'goood', expected one of .*did you mean 'good'"):
        compare_facts(("goood", "weak"), models(), votes())
    with pytest.raises(InputError, match="'good' twice"):
        compare_facts(("good", "good"), models(), votes())
