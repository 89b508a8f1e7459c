"""Methods say what was run and shown, and cite exactly what references.bib holds."""

import re
from functools import cache

import numpy as np
import pytest

from equipoise import Annotations, Predictions
from equipoise.datasets import CATALOGUE
from equipoise.metrics import hard_labels_rule
from equipoise.report.text import methods, texts
from equipoise.types import bibtex
from equipoise.types.findings import ENTRIES
from tests.analysed import analysed
from tests.report_stability_sample import STUDIES, found, sample
from tests.strategies import names

ITEMS = 24
RANDOM = np.random.default_rng(8)
EVIDENCE = RANDOM.standard_normal(ITEMS)


def votes(people=3, classes=("no", "yes"), **changes):
    item, annotator = (axis.ravel() for axis in np.indices((ITEMS, people)))
    drift = EVIDENCE[item] + RANDOM.standard_normal(len(item))
    label = np.clip(np.floor(drift * len(classes) / 4 + len(classes) / 2), 0, len(classes) - 1)
    kind = "binary" if len(classes) == 2 else "nominal"
    known = {"annotators": names(people, "reader"), "annotator": annotator}
    return Annotations(
        kind=kind, items=names(ITEMS), classes=classes, item=item, label=label.astype(np.intp),
        **{**known, **changes},
    )  # fmt: skip


def models(number=2, items=ITEMS):
    return [
        Predictions(f"model {m}", names(ITEMS)[:items],
                    (EVIDENCE + (m + 0.3) * RANDOM.standard_normal(ITEMS))[:items])
        for m in range(number)
    ]  # fmt: skip


def how(*only, **more):
    told = {"metrics": ["auroc"], "replicates": 10, "most": 3, "only": only}
    return {**told, **more}


def keys(text):
    """Keys that a text cites, and those that a bibliography holds."""
    return set(re.findall(r"@(\w+)", " ".join(re.findall(r"\[@[^\]]*\]", text))))


@cache
def compared():
    return analysed(models(), votes(), **how("flips"), pair=("model 0", "model 1"))


@pytest.mark.parametrize("name", STUDIES)
def test_the_bibliography_is_exactly_what_the_methods_cite(name):
    made = texts(sample(name))
    held = set(re.findall(r"^@\w+\{(\w+),", made["references.bib"], re.MULTILINE))
    assert keys(made["methods.md"]) == held <= set(ENTRIES)
    assert held


def test_an_evaluation_cites_what_it_holds_too():
    from equipoise.cli.results import cited

    report = analysed(models(), votes(), **how("components"))
    made = texts(cited(report, {"name": "cifar10h"}))
    held = set(re.findall(r"^@\w+\{(\w+),", made["references.bib"], re.MULTILINE))
    assert keys(made["methods.md"]) == held >= {"lionetti2025", "owen2007", "peterson2019"}
    assert "compared 2 models on" in made["methods.md"]


def test_a_key_is_the_one_of_its_entry():
    for key, text in ENTRIES.items():
        assert re.match(rf"@\w+\{{{key},", text), key
        assert re.search(r"year\s*=\s*\{\d{4}\}", text)[0].endswith(f"{key[-4:]}}}"), key
    assert "@article{brier1950," in bibtex(["brier1950"])


def test_every_public_data_set_is_cited():
    without = {name for name, source in CATALOGUE.items() if not source.references}
    assert not without
    assert CATALOGUE["chexpert"].references == ("irvin2019", "rajpurkar2021")


def test_a_cut_off_that_leaves_nothing_out_is_not_described():
    report = analysed(models(), votes(), **how("vote_cutoffs"))
    assert found(report, "vote_cutoffs").left_out
    assert "at least" not in methods(report)
    full = votes()
    some = (full.annotator < 2) | (full.item < 12)
    fewer = Annotations(
        kind="binary", items=full.items, classes=full.classes, annotators=full.annotators,
        item=full.item[some], annotator=full.annotator[some], label=full.label[some],
    )  # fmt: skip
    report = analysed(models(), fewer, **how("vote_cutoffs"))
    assert "on items with at least 3 votes [@groger2025]." in methods(report)


def test_a_comparison_says_what_was_resampled_and_nothing_else():
    text = methods(compared())
    assert "We compared 2 models on 24 items" in text
    assert "two-way t, for items and annotators like these [@owen2007; @cameron2011]" in text
    assert "Shares of resamples are from" in text and "of items and annotators (seed" in text
    for word in ("variance components", "jackknife", "chi-square", "stability of a comparison"):
        assert word not in text


def test_one_model_has_no_order_and_no_rival():
    text = methods(analysed(models(1), votes(), **how()))
    for word in ("Rank stability", "We searched", "All models", "Spearman-Brown"):
        assert word not in text
    assert "scored one model (model 0)" in text


def test_scored_items_are_counted_and_the_rest_is_said():
    few, asked = models(items=20), how("flips", on_missing="drop")
    for pair in (None, ("model 0", "model 1")):
        text = methods(analysed(few, votes(), **asked, pair=pair))
        assert "on 20 items (4 more had no votes or not the scores of every model)" in text
        assert "with 60 votes of 3 annotators" in text


def test_annotators_without_a_scored_item_do_not_count():
    people = np.where(np.arange(ITEMS * 3) // 3 >= 20, 3, np.arange(ITEMS * 3) % 3)
    late = votes(annotators=names(4, "reader"), annotator=people)
    report = analysed(models(items=20), late, **how("flips", on_missing="drop"))
    assert "3 annotators" in report.known


def test_groups_that_are_drawn_as_wholes_are_said():
    grouped = votes(group=np.arange(ITEMS) // 4, groups=names(6, "night"))
    text = methods(analysed(models(), grouped, **how("flips")))
    assert "Items belong to 6 groups, which were resampled as wholes." in text
    assert "groups" not in methods(analysed(models(), votes(), **how("flips")))


def test_hard_labels_of_several_classes_are_told_as_they_are():
    three = votes(classes=("a", "b", "c"))
    scores = RANDOM.dirichlet([1, 1, 1], ITEMS)
    given = [
        Predictions(name, names(ITEMS), np.roll(scores, k, axis=0), classes=three.classes)
        for k, name in enumerate("xy")
    ]
    text = methods(analysed(given, three, **how("ranking", metrics=["accuracy"])))
    assert (
        "hard labels: the class with most votes, shared by classes with equally many." in text
    )
    assert "strict majority" not in text
    both = hard_labels_rule(["classes", "distribution"], classes=3, ties="negative")
    assert "more than half" in both and "shared by classes" in both
