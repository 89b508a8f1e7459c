"""`equipoise threshold plan` and `equipoise threshold set` as a user meets them."""

import csv
import json
import os
import shutil
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from equipoise.read.annotations import read_annotations
from equipoise.study.analyses.thresholds import sampling_plan
from equipoise.truth import dawid_skene
from tests.threshold_study import EXPERTS, filled, scores_csv, votes_csv, with_probabilities

SIZE = ("--bins", "10", "--per-bin", "12")
FILE = ("votes.csv", "--truth", "votes", *SIZE)
GIVEN = tuple(word for name in EXPERTS for word in ("--experts", f"{name}.csv"))
QUICK = ("--replicates", "40")


def table(path):
    return list(csv.DictReader(StringIO(Path(path).read_text())))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Votes, scores, a plan, and the plan as three experts filled it in."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "votes.csv").write_text(votes_csv())
    (folder / "scores.csv").write_text(scores_csv())
    shares = {}
    for row in table(folder / "votes.csv"):
        shares.setdefault(row["item"], []).append(int(row["label"]))
    values = [float(np.mean(one)) for one in shares.values()]
    plan = sampling_plan(values, list(shares), 10, 12)
    (folder / "plan.csv").write_text(with_probabilities(plan))
    for seed, name in enumerate(EXPERTS):
        (folder / f"{name}.csv").write_text(filled(with_probabilities(plan), seed))
    return folder


@pytest.fixture
def study(made, tmp_path, monkeypatch):
    for path in made.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_plan_is_printed_written_once_and_the_same_every_time(study, equipoise):
    code, out, said = equipoise("threshold", "plan", *FILE, "--out", "new.csv")
    assert code == 0, said
    assert (study / "new.key.json").exists()
    assert "120 of 200 items go to the experts" in out and "in the sample" in out
    assert "cuts between bins go through items of equal probability" in said
    before = (study / "new.csv").read_bytes()
    code, out, said = equipoise("threshold", "plan", *FILE, "--seed", 4, "--out", "new.csv")
    assert code == 1 and "is there already" in said and not out
    assert (study / "new.csv").read_bytes() == before
    words = ("threshold", "plan", *FILE, "--seed", 4, "--out", "new.csv", "--overwrite")
    assert equipoise(*words)[0] == 0
    rows = table(study / "new.csv")
    assert list(rows[0]) == ["item", "label"] and len(rows) == 120
    assert not [one for one in study.iterdir() if one.name.startswith(".")]


@pytest.mark.usefixtures("study")
def test_a_plan_takes_probabilities_votes_models_and_what_aggregate_wrote(equipoise):
    def items(*words):
        code, out, said = equipoise("threshold", "plan", *words, *SIZE, "--json")
        assert code == 0, said
        found = json.loads(out)
        assert [row["items"] for row in found["sample"]["rows"]] == [20] * 10
        return {row["item"]: row["probability"] for row in found["sample"]["sample_items"]}

    fit = dawid_skene(read_annotations("votes.csv"))
    chance = dict(zip(fit.items, fit.mean[:, 1], strict=True))
    for item, value in items("votes.csv", "--truth", "dawid_skene").items():
        assert value == pytest.approx(chance[item], abs=1e-12)
    assert (
        equipoise("aggregate", "votes.csv", "--model", "dawid_skene", "--out", "t.npz")[0] == 0
    )
    for item, value in items("t.npz").items():
        assert value == pytest.approx(chance[item], abs=1e-9)
    lines = ["item,resnet,vit", *(f"{name},{p},{1 - p}" for name, p in chance.items())]
    Path("chances.csv").write_text("\n".join(lines) + "\n")
    assert items("chances.csv", "--model", "resnet") == items(
        "votes.csv", "--truth", "dawid_skene"
    )
    other = items("chances.csv", "--model", "vit")
    assert all(value == pytest.approx(1 - chance[item]) for item, value in other.items())


def test_the_threshold_is_found_back_and_printed(study, equipoise):
    code, out, said = equipoise("threshold", "set", *FILE, *GIVEN, *QUICK, "-p", "scores.csv")
    assert code == 0, said
    for words in ("Experts call an item positive from a probability of", "At this threshold",
                  "Does the verdict depend on the threshold?",
                  "best group", "AUROC"):  # fmt: skip
        assert words in out, words
    code, out, _ = equipoise("threshold", "set", *FILE, *GIVEN, *QUICK, "--json")
    facts = json.loads(out)
    (whole,) = facts["threshold"]["threshold"]
    assert code == 0 and 0.55 < whole["threshold"] < 0.75
    assert (whole["experts"], whole["labelled"], facts["settings"]["Bins"]) == (3, 120, "10")
    assert facts["settings"]["Rule"] == "isotonic"
    assert whole["low"] <= whole["threshold"] <= whole["high"]
    assert "sweep" not in facts
    rows = facts["prevalence"]["rows"]
    here = next(row for row in rows if row["threshold"] == whole["threshold"])
    assert here["prevalence"] == here["positives"] / 200
    assert equipoise("threshold", "set", *FILE, *GIVEN, *QUICK, "--json")[1] == out
    assert len(list(study.iterdir())) == 6


@pytest.mark.usefixtures("study")
def test_one_file_of_votes_says_the_same_as_a_file_of_each(equipoise):
    rows = []
    for name in EXPERTS:
        rows += [f"{row['item']},{name},{row['label']}\n" for row in table(f"{name}.csv")]
    Path("panel.csv").write_text("".join(["item,annotator,label\n", *rows]))
    outs = [
        equipoise("threshold", "set", *FILE, *given, *QUICK, "--rule", "rise", "--json")[1]
        for given in (GIVEN, ("--experts", "panel.csv"))
    ]
    first, second = (json.loads(out) for out in outs)
    assert first["threshold"] == second["threshold"]


def test_the_folder_holds_everything_and_is_the_same_again(study, equipoise):
    words = ("threshold", "set", *FILE, *GIVEN, *QUICK, "-p", "scores.csv", "--metric",
             "auroc,average_precision", "--out", "t")  # fmt: skip
    code, _, said = equipoise(*words)
    assert code == 0 and "Wrote t: threshold.json, report.html, 5 tables" in said
    record = json.loads((study / "t/threshold.json").read_text())
    there = {str(p.relative_to(study / "t")) for p in (study / "t").rglob("*") if p.is_file()}
    assert there == set(record["files"])
    files = {"figures/threshold-bins.svg", "tables/bins.tex", "tables/sweep.csv", "methods.md"}
    assert files <= there
    methods = (study / "t/methods.md").read_text()
    assert "3 experts labelled 120" in methods and "10 bins" in methods
    assert f"It was {record['threshold']['threshold'][0]['threshold']:.3f}" in methods
    bib = (study / "t/references.bib").read_text()
    assert "groger2025" in bib and "wilson1927" in bib
    rows = table(study / "t/tables/sweep_metrics.csv")
    assert {row["metric"] for row in rows} == {"auroc", "average_precision"}
    whole = {name: (study / "t" / name).read_bytes() for name in there}
    assert equipoise(*words)[0] == 1
    assert equipoise(*words, "--overwrite")[0] == 0
    assert {name: (study / "t" / name).read_bytes() for name in there} == whole


@pytest.mark.parametrize(
    ("words", "told", "exit_code"),
    [
        (("threshold", "plan", "votes.csv"), "add --truth votes", 1),
        (("threshold", "plan", "votse.csv", "--truth", "votes"), "did you mean 'votes.csv'", 1),
        (("threshold", "plan", "scores.csv"), "one, chosen with --model", 1),
        (("threshold", "plan", "scores.csv", "--model", "m9"), "one of 'm0'", 1),
        (("threshold", "plan", "scores.csv", "--model", "m3"), "a number in [0, 1]", 1),
        (("threshold", "plan", *FILE[:3], "--bins", "300"), "no more bins than items", 1),
        (("threshold", "plan", *FILE[:3], "--bins", "2.5"), "a valid integer", 2),
        (("threshold", "plan", *FILE[:3], "--seed", "-1"), "greater than or equal to 0", 2),
        (("threshold", "plan", "votes.csv", "--truth", "voets"), "did you mean 'votes'", 2),
        (("threshold", "plan", *FILE, "--out", "plan.txt"), "ends in .csv", 2),
        (("threshold", "plan", *FILE, "--out", "no/plan.csv"), "make the folder first", 1),
        (("threshold", "set", *FILE, "--experts", "plan.csv"), "no label in any row", 1),
        (("threshold", "set", *FILE, *GIVEN, "--rule", "rises"), "did you mean 'rise'", 2),
        (("threshold", "set", *FILE, *GIVEN, "--metric", "aurok"), "did you mean 'auroc'", 2),
        (("threshold", "set", *FILE, *GIVEN, "--metric", "auroc"), "belongs to models", 2),
        (("threshold", "set", *FILE, *GIVEN, "--on-missing", "drop"), "belongs to models", 2),
        (("threshold", "set", *FILE, *GIVEN, "--seed", "5"), "--bins, --per-bin and --seed", 1),
        (("threshold", "set", *FILE[:3], *GIVEN), "--bins, --per-bin and --seed", 1),
        (("threshold", "set", *FILE, *GIVEN, "--experts", "anna.csv"), "file of 'anna'", 1),
        (("threshold", "set", *FILE, "--experts", "nobody.csv"), "no such file", 1),
        (("threshold", "set", *FILE, *GIVEN, "--margin", "0.2"), "--rule isotonic", 2),
        (("threshold", "set", *FILE, *GIVEN, "--model", "m0"), "leave out --truth", 2),
        (("threshold", "plan", *FILE, "--reliability", "2"), "a model of votes", 2),
        (("threshold", "plan", "scores.csv", "--at-least", "2"), "belongs to votes", 2),
    ],
)  # fmt: skip
def test_bad_input_is_met_with_a_sentence_and_leaves_nothing(
    study, equipoise, words, told, exit_code
):
    before = sorted(study.iterdir())
    code, out, said = equipoise(*words)
    assert code == exit_code, said
    assert told in " ".join(said.replace("│", " ").split()) and not out
    assert sorted(study.iterdir()) == before


@pytest.mark.usefixtures("study")
def test_models_that_miss_items_are_refused_or_dropped(equipoise):
    lines = Path("scores.csv").read_text().splitlines()
    Path("fewer.csv").write_text("\n".join(lines[:-5]) + "\n")
    words = ("threshold", "set", *FILE, *GIVEN, *QUICK, "-p", "fewer.csv")
    code, _, said = equipoise(*words)
    assert code == 1 and "--on-missing drop" in said
    code, out, said = equipoise(*words, "--on-missing", "drop", "--json")
    assert code == 0, said
    assert json.loads(out)["sweep"]["rows"] and "Dropped 5 annotated items" in said


@pytest.mark.usefixtures("study")
def test_groups_of_the_votes_are_redrawn_as_wholes(equipoise):
    """A column group in the votes widens the intervals of the models."""
    rows = table("votes.csv")
    lines = ["item,annotator,label,group"]
    order = sorted({row["item"] for row in rows})
    lines += [
        f"{row['item']},{row['annotator']},{row['label']},p{order.index(row['item']) // 20}"
        for row in rows
    ]
    Path("grouped.csv").write_text("\n".join(lines) + "\n")
    words = (*GIVEN, "--replicates", "200", "-p", "scores.csv", "--json")
    plain, grouped = (
        json.loads(equipoise("threshold", "set", name, *FILE[1:], *words)[1])
        for name in ("votes.csv", "grouped.csv")
    )
    assert plain["threshold"] == grouped["threshold"]
    ends = [
        [(row["low"], row["high"]) for row in one["sweep"]["rows"]] for one in (plain, grouped)
    ]
    assert ends[0] != ends[1]


@pytest.mark.usefixtures("study")
def test_answers_in_words_are_asked_about_one(equipoise):
    words = {"0": "no", "1": "yes"}
    for name in EXPERTS:
        lines = ["item,bin,label"]
        for k, row in enumerate(table(f"{name}.csv")):
            answer = "uncertain" if k == 3 else words[row["label"]]
            lines.append(f"{row['item']},{row['bin']},{answer}")
        Path(f"{name}.csv").write_text("\n".join(lines) + "\n")
    code, _, said = equipoise("threshold", "set", *FILE, *GIVEN, *QUICK)
    assert code == 1 and "--positive CLASS" in said
    text = Path("votes.csv").read_text()
    Path("votes.csv").write_text(text.replace(",1\n", ",yes\n").replace(",0\n", ",no\n"))
    code, out, said = equipoise("threshold", "set", *FILE, *GIVEN, *QUICK, "--positive", "yes")
    assert code == 0 and "Experts call an item positive" in out, said


def test_an_interrupt_leaves_nothing_half_written(study, equipoise, monkeypatch):
    whole, number = os.fsync, iter(range(4))

    def stopping(handle):
        if next(number, None) is None:
            raise KeyboardInterrupt
        whole(handle)

    before = sorted(study.iterdir())
    monkeypatch.setattr(os, "fsync", stopping)
    assert equipoise("threshold", "set", *FILE, *GIVEN, *QUICK, "--out", "t")[0] == 130
    assert sorted(study.iterdir()) == before


@pytest.mark.usefixtures("study")
def test_experts_who_see_no_positives_set_no_threshold(equipoise):
    for name in EXPERTS:
        text = Path(f"{name}.csv").read_text()
        Path(f"{name}.csv").write_text(text.replace(",1\n", ",0\n"))
    words = ("threshold", "set", *FILE, *GIVEN, *QUICK, "-p", "scores.csv")
    code, out, said = equipoise(*words, "--out", "t")
    assert code == 0, said
    assert "The experts' labels set no threshold: the share of positives never reaches" in out
    assert "Not looked at, and why" in out and "nan" not in out
    assert "set no threshold" in Path("t/methods.md").read_text()
    assert not Path("t/tables/sweep.csv").exists()
    facts = json.loads(equipoise(*words, "--json")[1])
    assert facts["threshold"]["threshold"][0]["threshold"] is None
    assert any("too narrow" in one for one in facts["threshold"]["notices"])


@pytest.mark.usefixtures("study")
def test_one_expert_alone_leaves_items_to_resample(equipoise):
    code, out, said = equipoise("threshold", "set", *FILE, "--experts", "anna.csv", *QUICK)
    assert code == 0, said
    assert "resamples items alone" in " ".join((out + said).split())


@pytest.mark.parametrize("verb", ["threshold plan", "threshold set", "audit"])
def test_help_teaches_by_examples(equipoise, verb):
    code, out, _ = equipoise(*verb.split(), "--help")
    assert code == 0 and f"Example: equipoise {verb}" in " ".join(out.split())
