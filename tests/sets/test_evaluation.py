"""What is said of prediction sets: held-out coverage, strata, readers' own sets, the verb."""

import csv
import json
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from equipoise import InputError
from equipoise.read.attributes import Attributes
from equipoise.sets import Calibration, SetsWanted, calibrate, sets_finding, smallest_sets
from equipoise.sets.evaluation import BOUND, MAJORITY, READERS, VOTES, _own_sets
from equipoise.sets.rules import SetSample
from equipoise.study import Tuning
from equipoise.study.study import Study
from equipoise.types import Annotations, Decision, Grouping, Plausibilities, Predictions
from tests.cli_sample import caller
from tests.oracles import sets as slow
from tests.sets.worlds import CLASSES, World


@pytest.fixture
def equipoise(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


def study_of(votes, *models, **how):
    return Study.of(models, votes, metrics=["brier_score"], **how)


def table_of(finding, name):
    return next(table.rows for table in finding.tables if table.name == name)


def by_rule(finding, model="net"):
    rows = [row for row in table_of(finding, "coverage") if row["model"] == model]
    return {row["calibrated_on"]: row for row in rows}


def test_every_item_has_the_sets_of_a_rule_that_has_not_seen_it():
    votes, model = World(6).study(0, 90)
    wanted = SetsWanted(Calibration(alpha=0.2), Tuning(folds=3), by_item=True)
    study = study_of(votes, model)
    finding = sets_finding(study, wanted)
    fold = Tuning(folds=3).fold_of(votes.items)
    rows = table_of(finding, "sets")
    assert [row["item"] for row in rows] == list(votes.items)
    for k in range(3):
        rest = study.of_items([n for n, f in zip(votes.items, fold, strict=True) if f != k])
        rule = calibrate(model, rest.truth, alpha=0.2)
        own = rule.sets(model).names
        for place in np.flatnonzero(fold == k):
            assert rows[place]["set"] == " | ".join(own[place])
    labels = SetSample.of(study).labels(0)
    member = [[name in row["set"].split(" | ") for name in CLASSES] for row in rows]
    held = by_rule(finding)[VOTES]
    everywhere = np.ones(labels.shape, bool).tolist()
    expected = slow.coverage(labels.tolist(), member, everywhere)
    assert held["reader"] == pytest.approx(expected)
    assert held["size"] == np.sum(member) / 90
    assert rows[0]["held"] == pytest.approx((labels[0] * member[0]).sum())


def test_items_that_are_set_aside_are_not_looked_at():
    votes, model = World(6).study(0, 90)
    aside = votes.items[:50]
    wanted = SetsWanted(Calibration(alpha=0.2), Tuning(items=aside), by_item=True)
    finding = sets_finding(study_of(votes, model), wanted)
    assert [row["item"] for row in table_of(finding, "sets")] == list(votes.items[50:])
    assert "set aside" in finding.note
    part = study_of(votes, model).of_items(aside)
    expected = calibrate(model, part.truth, alpha=0.2).threshold
    row = by_rule(finding)[VOTES]
    assert row["threshold_low"] == row["threshold_high"] == expected


def test_groups_of_items_stay_in_one_fold():
    votes, model = World(6, group=6).study(0, 120)
    wanted = SetsWanted(Calibration(alpha=0.3), Tuning(folds=4), by_item=True)
    study = study_of(votes, model)
    finding = sets_finding(study, wanted)
    heads = [votes.items[k - k % 6] for k in range(120)]
    fold = Tuning(folds=4).fold_of(heads)
    rest = study.of_items([n for n, f in zip(votes.items, fold, strict=True) if f != fold[0]])
    rule = calibrate(model, rest.truth, alpha=0.3)
    assert table_of(finding, "sets")[5]["set"] == " | ".join(rule.sets(model).names[5])


def test_rules_on_the_majority_hold_it_and_miss_readers():
    votes, model = World(12).study(1, 300)
    finding = sets_finding(study_of(votes, model), SetsWanted())
    rows = by_rule(finding)
    assert list(rows) == [MAJORITY, VOTES, BOUND]
    assert rows[MAJORITY]["majority"] == pytest.approx(0.9, abs=0.03)
    assert rows[MAJORITY]["reader_high"] < 0.9 < rows[VOTES]["reader_high"]
    assert rows[VOTES]["reader"] < rows[BOUND]["reader"]
    assert rows[VOTES]["size"] < rows[BOUND]["size"]
    assert next(claim.decision for claim in finding.claims) is Decision.INFERIOR
    assert "Sets on the majority label of net surely hold less than 90%." in finding.more


def test_coverage_of_classes_groups_and_risk():
    votes, model = World(6).study(2, 150)
    sites = np.arange(150)[None] % 2
    known = Attributes(
        items=votes.items, columns=("site",), levels=(("north", "south"),), codes=sites
    )
    risk = Grouping.of(dict(zip(CLASSES, ["low"] * 4 + ["high"] * 2, strict=True)), name="risk")
    wanted = SetsWanted(Calibration(alpha=0.2), risk=risk, by_item=True)
    finding = sets_finding(study_of(votes, model, attributes=[known]), wanted)
    strata = table_of(finding, "strata")
    assert {row["by"] for row in strata} == {"class", "risk", "site"}
    for kind in ("class", "risk", "site"):
        rows = [row for row in strata if row["by"] == kind]
        assert sum(row["share"] for row in rows) == pytest.approx(1)
        whole = sum(row["share"] * row["reader"] for row in rows)
        assert whole == pytest.approx(by_rule(finding)[VOTES]["reader"])
        assert all(row["reader_low"] <= row["reader"] <= row["reader_high"] for row in rows)
    labels = SetSample.of(study_of(votes, model)).labels(0)
    member = [
        [name in row["set"].split(" | ") for name in CLASSES]
        for row in table_of(finding, "sets")
    ]
    high = np.broadcast_to(np.arange(6) >= 4, labels.shape).tolist()
    (row,) = (row for row in strata if row["stratum"] == "high")
    assert row["reader"] == pytest.approx(slow.coverage(labels.tolist(), member, high))


def test_readers_own_sets_are_their_labels():
    votes, model = World(4).study(3, 40)
    row = _own_sets(SetSample.of(study_of(votes, model)), 0)
    expected = []
    for i in range(40):
        labels = votes.label[votes.item == i].tolist()
        expected.append(slow.others_held([{k} for k in labels], [{k: 1.0} for k in labels]))
    assert row["reader"] == pytest.approx(np.mean(expected))
    assert row["size"] == row["single"] == 1 and row["empty"] == 0
    assert row["reader_low"] < row["reader"] < row["reader_high"]


def test_readers_own_sets_are_their_differential_diagnoses():
    cases = [
        [[["a"], ["b", "c"]], [["b", "a"]], [["c"]]],
        [[["a"]], [["a"], ["d"]]],
        [[["d"]]],
    ]
    votes = Annotations.from_rankings(
        [[[[ord(c) - 97 for c in block] for block in r] for r in case] for case in cases] * 9,
        classes=list("abcd"),
    )
    model = Predictions("net", votes.items, np.full((27, 4), 0.25), votes.classes)
    row = _own_sets(SetSample.of(study_of(votes, model)), 0)
    sets = [[{*chain(*reading)} for reading in case] for case in cases]
    said = [[{c: 1 / len(r[0]) for c in r[0]} for r in case] for case in cases]
    held = [slow.others_held(s, m) for s, m in zip(sets[:2], said[:2], strict=True)]
    assert row["reader"] == pytest.approx(np.mean(held))
    assert row["size"] == pytest.approx(np.mean([2, 1.5, 1]))


def test_a_model_of_the_truth_has_plausible_mass_and_readers():
    votes, model = World(6).study(4, 120)
    from equipoise.truth import dirichlet

    truth = dirichlet(votes).drawn(40, seed=0)
    study = study_of(truth, model).with_votes(votes)
    finding = sets_finding(study, SetsWanted())
    row = by_rule(finding)[VOTES]
    assert 0.8 < row["mass"] < 1 and 0.8 < row["reader"] < 1
    assert row["mass_low"] < row["mass"] < row["mass_high"]
    alone = sets_finding(study_of(truth, model), SetsWanted())
    assert "what is plausible" in alone.sentence
    assert alone.claims[0].estimand.truth == "a model of the truth"


def test_a_reference_standard_has_no_majority():
    labels = np.random.default_rng(0).integers(0, 3, 80)
    chance = 0.1 + 0.7 * np.eye(3)[labels]
    gold = Annotations(
        kind="nominal", items=tuple(f"g{k}" for k in range(80)), classes=tuple("abc"),
        item=np.arange(80), label=labels, is_gold=np.ones(80, bool),
    )  # fmt: skip
    finding = sets_finding(
        study_of(gold, Predictions("net", gold.items, chance, tuple("abc"))), SetsWanted()
    )
    assert list(by_rule(finding)) == [VOTES, BOUND]
    assert READERS not in [row["calibrated_on"] for row in table_of(finding, "coverage")]


def test_too_few_items_are_left_out_with_the_reason():
    votes, model = World(4).study(0, 9)
    with pytest.raises(InputError, match="expected at least 9 items"):
        sets_finding(study_of(votes, model), SetsWanted())


def test_the_same_seed_gives_the_same_bytes_whatever_the_order():
    votes, model = World(5).study(5, 60)
    first = sets_finding(study_of(votes, model), SetsWanted(by_item=True))
    order = np.random.default_rng(0).permutation(60)
    turned = Predictions(
        "net", tuple(model.items[k] for k in order), model.values[order], model.classes
    )
    again = sets_finding(study_of(votes, turned), SetsWanted(by_item=True))
    assert first.tables == again.tables and first.sentence == again.sentence


def test_plausibility_sets_hold_the_mass_that_was_asked_for():
    mass = np.random.default_rng(0).dirichlet(np.ones(5), size=50)
    for level in (0.5, 0.9):
        member = smallest_sets(mass, level)
        assert ((mass * member).sum(axis=1) >= level - 1e-9).all()
        without_last = np.where(member, mass, 2).min(axis=1)
        assert ((mass * member).sum(axis=1) - without_last < level).all()
    truth = Plausibilities.dense(
        mass[None], items=tuple(map(str, range(50))), classes=tuple("abcde"), method="by hand"
    )
    assert smallest_sets(truth.mean, 0.9).sum() == smallest_sets(mass, 0.9).sum()


# ---- the verb --------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    votes, model = World(6).study(0, 80)
    rows = zip(votes.item, votes.annotator, votes.label, strict=True)
    lines = [f"{votes.items[i]},{votes.annotators[a]},{CLASSES[k]}" for i, a, k in rows]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *lines]) + "\n")
    lines = [
        ",".join([i, *map(repr, map(float, p))])
        for i, p in zip(model.items, model.values, strict=True)
    ]
    (tmp_path / "net.csv").write_text("\n".join(["item," + ",".join(CLASSES), *lines]) + "\n")
    lines = [f"{c},{'high' if c > 'd' else 'low'}" for c in CLASSES]
    (tmp_path / "risk.csv").write_text("\n".join(["class,group", *lines]) + "\n")
    lines = [f"{item},{'north' if k % 2 else 'south'}" for k, item in enumerate(votes.items)]
    (tmp_path / "items.csv").write_text("\n".join(["item,site", *lines]) + "\n")
    monkeypatch.chdir(tmp_path)
    return ("-a", "votes.csv", "-p", "net.csv")


def test_the_verb_writes_a_page_and_the_set_of_every_item(equipoise, files):
    code, out, said = equipoise(
        "sets", *files, "--alpha", "0.2", "--groups", "risk.csv", "--out", "o"
    )
    assert code == 0 and "Sets calibrated on the votes to hold 80%" in out
    assert "fewer than ten (6 here)" in said
    with Path("o/tables/sets.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 80 and {row["calibrated_on"] for row in rows} == {VOTES}
    assert all(int(row["size"]) == len(row["set"].split(" | ")) for row in rows if row["set"])
    record = json.loads(Path("o/sets.json").read_text("utf-8"))
    assert record["sets"]["coverage"][0]["calibrated_on"] == MAJORITY
    assert {row["by"] for row in record["sets"]["strata"]} == {"class", "risk"}
    page = Path("o/report.html").read_text("utf-8")
    assert "in 5 folds, each by the others" in page
    code, out, _ = equipoise("sets", *files, "--alpha", "0.2", "--json")
    assert code == 0 and json.loads(out)["sets"]["rows"][0]["model"] == "net"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--by", "class"), "thresholds by class"), (("--guarantee", "two_way"), BOUND),
        (("--groups", "risk.csv", "--by", "groups"), "thresholds by risk"),
        (("--attributes", "items.csv", "--by", "site"), "thresholds by groups of items"),
        (("--score", "aps", "--tuning", "0.5"), "items that were set aside"),
        (("--truth", "dirichlet", "--draws", "20"), "plausible mass"),
    ],
)  # fmt: skip
def test_options_of_the_verb_are_said_on_the_page(equipoise, files, words, found):
    code, _, said = equipoise("sets", *files, "--alpha", "0.3", *words, "--out", "o")
    assert code == 0, said
    page = re.sub(r"<[^>]+>|\s+", " ", Path("o/report.html").read_text("utf-8"))
    assert found.lower() in " ".join(page.split()).lower()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--alpha", "0"), "--alpha"), (("--alpha", "1"), "between 0 and 1"),
        (("--alpha", "2"), "--alpha"), (("--by", "site"), "--by"),
        (("--guarantee", "all"), "--guarantee"), (("--alpha", "0.001"), "at least 999 items"),
    ],
)  # fmt: skip
def test_what_the_verb_refuses(equipoise, files, words, message):
    code, out, said = equipoise("sets", *files, *words)
    assert code in (1, 2) and not out and message in " ".join(said.split())
