"""equipoise check says how files are read, and the file it writes is the study."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from equipoise.cli import run
from equipoise.read.annotations import read_annotations
from equipoise.read.canonical import read_study
from equipoise.read.check_findings import check_report
from equipoise.read.options import VoteFormat
from equipoise.read.predictions import read_predictions
from equipoise.read.sources import check_files
from equipoise.types import Annotations, InputError, as_json
from tests.cli_sample import FILES, caller, write_study
from tests.read.test_read_dataframes import same

ITEMS = [f"s{number:02d}" for number in range(30)]
READERS = ("ana", "bo", "cy")


@pytest.fixture
def study(tmp_path):
    """Votes with a tie, a repeat, a gap, gold, a twin and patients; a model that is a copy."""
    random = np.random.default_rng(2)
    rows = ["Case,Reader,Label,patient,is_gold"]
    for number, item in enumerate(ITEMS):
        votes = random.integers(0, 2, 4)
        votes[1] = votes[0]  # bo copies ana
        for reader, vote in zip(READERS, votes, strict=False):
            if not (reader == "cy" and number == 3):
                rows.append(f"{item},{reader},{vote},p{number // 2},")
    rows += [rows[1], "s01,ana,1,p0,true"]
    (tmp_path / "votes.csv").write_text("\n".join(rows) + "\n")
    scores = random.random((len(ITEMS), 2)).round(4)
    scores[5] = scores[6]
    lines = ["image,cnn,copy,vit", *(
        f"{item},{a},{a},{b}" for item, (a, b) in zip(ITEMS, scores, strict=True)
    )]  # fmt: skip
    (tmp_path / "scores.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def rows(report, key):
    (finding,) = [one for one in as_json(report)["findings"] if one["key"] == key]
    return finding["rows"]


def said(report, key):
    (finding,) = [one for one in report.findings if one.key == key]
    cells = [row["what"] for table in finding.tables for row in table.rows if "what" in row]
    return " ".join((finding.sentence, *finding.more, *cells))


def checked(folder, *names, **how):
    return check_files([folder / name for name in names], votes=VoteFormat.of(how))


def test_roles_layouts_and_reasons(study):
    found = checked(study, "scores.csv", "votes.csv")
    assert [(one.name, one.role, one.layout, one.rows) for one in found.files] == [
        ("votes.csv", "annotations", "tidy", 91),
        ("scores.csv", "predictions", "wide", 30),
    ]
    assert [one.why for one in found.files] == [
        "column 'Reader' names annotators", "numbers with fractions",
    ]  # fmt: skip
    assert found.files[0].columns[:2] == ("Case", "Reader")
    alone = read_annotations(study / "votes.csv")
    (more,) = found.annotations.notices[len(alone.notices) :]
    assert "'image' as item" in str(more)
    assert same(replace(found.annotations, notices=alone.notices), alone)
    report = check_report(found)
    decided = said(report, "decided")
    assert "'Case' as item, 'Reader' as annotator and 'Label' as label" in decided
    assert "columns={'group': 'patient'}" in decided
    assert "--columns group=patient" in said(check_report(found, command=True), "decided")


def test_numbers_of_the_votes(study):
    found = checked(study, "votes.csv", columns={"group": "patient"})
    report = check_report(found)
    (row,) = rows(report, "annotations")
    table = found.annotations
    votes = [[] for _ in ITEMS]
    for item, label, gold in zip(table.item, table.label, table.is_gold, strict=True):
        if not gold:
            votes[item].append(int(label))
    tied = sum(2 * sum(one) == len(one) for one in votes)
    alone = np.mean([len(set(one)) == 1 for one in votes])
    assert row == {
        "task": "", "items": 30, "annotators": 3, "votes": 90,
        "votes_per_item": "2 to 4, mean 3.0", "unanimous": pytest.approx(alone),
        "tied": tied, "repeats": 1, "missing": 1, "gold": 1,
    }  # fmt: skip
    assert "30 items, 3 annotators, 15 groups and 90 votes" in said(report, "annotations")


def test_twins_of_every_kind(study):
    text = (study / "votes.csv").read_text().replace("s02,cy", "s02,CY ")
    (study / "votes.csv").write_text(text)
    report = check_report(checked(study, "votes.csv", "scores.csv"))
    twins = said(report, "twins")
    assert "ana and bo gave the same votes on 30 items" in twins
    assert "Models with identical predictions: cnn and copy." in twins
    assert "Items 's05' and 's06'" not in twins  # votes differ
    lines = [line.split(",") for line in text.splitlines()]
    own = {who: vote for item, who, vote, *_ in lines if item == "s05"}
    same = [",".join([item, who, own[who] if item == "s06" else vote, *rest])
            for item, who, vote, *rest in lines]  # fmt: skip
    (study / "votes.csv").write_text("\n".join(same) + "\n")
    twins = said(check_report(checked(study, "votes.csv", "scores.csv")), "twins")
    assert "Items 's05' and 's06' have the same votes, and the same scores" in twins
    assert "Annotators 'CY' and 'cy' differ only in case" in twins
    calm = check_report(checked(study, "scores.csv"))
    assert "identical" in said(calm, "twins")


@pytest.mark.parametrize("models", [1, 2])
def test_rounded_scores_make_no_twins(tmp_path, models):
    random = np.random.default_rng(6)
    items = [f"im{number}" for number in range(300)]
    scores = np.repeat(random.random((300, 1)).round(3), models, axis=1)  # one is a copy
    votes = "".join(f"{item},{who},0\n" for item in items for who in "ab") + "im1,c,1\n"
    (tmp_path / "votes.csv").write_text(f"item,annotator,label\n{votes}")
    names = ",".join(f"m{number}" for number in range(models))
    rows = [
        f"{item},{','.join(map(str, row))}" for item, row in zip(items, scores, strict=True)
    ]
    (tmp_path / "scores.csv").write_text("\n".join([f"item,{names}", *rows]) + "\n")
    assert len(np.unique(scores)) < 290
    assert "Items" not in said(
        check_report(checked(tmp_path, "votes.csv", "scores.csv")), "twins"
    )


def test_files_without_a_sign_take_the_side_that_is_missing(tmp_path):
    lines = "".join(f"{item},{n % 2},{n % 3 % 2}\n" for n, item in enumerate(ITEMS))
    for name in ("first.csv", "second.csv"):
        (tmp_path / name).write_text(f"item,a,b\n{lines}")
    (tmp_path / "third.csv").write_text(f"item,c,d\n{lines}")
    alike = checked(tmp_path, "first.csv", "second.csv")
    assert [one.role for one in alike.files] == ["annotations", "annotations"]
    assert alike.annotations.tasks == ("a", "b")
    other = checked(tmp_path, "first.csv", "third.csv")
    assert [one.role for one in other.files] == ["annotations", "predictions"]
    assert other.files[1].why == "guessed: the first file holds the annotations"
    given = check_files([tmp_path / "first.csv"], predictions=[tmp_path / "third.csv"])
    assert [one.role for one in given.files] == ["annotations", "predictions"]
    assert given.files[0].why == "guessed: other files hold the predictions"


def test_arrays_and_rankings(tmp_path):
    np.save(tmp_path / "counts.npy", np.array([[3, 1], [2, 2]]))
    np.save(tmp_path / "probabilities.npy", np.array([[0.3, 0.7], [0.5, 0.5]]))
    (tmp_path / "rankings.json").write_text(json.dumps([[[["x"], ["y"]]], [[["y"]]]]))
    found = checked(tmp_path, "counts.npy", "probabilities.npy")
    assert [(one.role, one.layout) for one in found.files] == [
        ("annotations", "counts"), ("predictions", "classes"),
    ]  # fmt: skip
    (row,) = rows(check_report(found), "annotations")
    assert (row["votes"], row["tied"], row["annotators"]) == (8, 1, "")
    ranked = checked(tmp_path, "rankings.json")
    assert ranked.files[0].layout == "rankings"
    assert "x (rank 1)" in json.dumps(rows(check_report(ranked), "preview"))


def test_nothing_to_check_and_a_study_beside_votes(study):
    with pytest.raises(InputError, match="no files"):
        check_files()
    command(study, "votes.csv", "scores.csv", "--out", str(study / "study.csv"))
    with pytest.raises(InputError, match="a whole study beside other annotations"):
        checked(study, "study.csv", "votes.csv")
    with pytest.raises(InputError, match="keyword 'kind'"):
        checked(study, "study.csv", kind="nominal")


def command(folder, *words, capture=None):
    """Run the verb in this process; return the exit code and what was printed."""
    before, here = sys.argv, Path.cwd()
    verb = () if words[0] in ("agreement", "evaluate") else ("check",)
    sys.argv = ["equipoise", *verb, *words]
    os.chdir(folder)
    try:
        code = run()
    finally:
        sys.argv = before
        os.chdir(here)
    return (code, *capture.readouterr()) if capture else code


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_file_is_the_study_and_verbs_take_it(study, capsys, ending):
    out = study / f"study.{ending}"
    code, shown, told = command(
        study, "votes.csv", "scores.csv", "--out", out.name, capture=capsys
    )
    assert code == 0
    assert "How were the files read?" in shown
    assert f"equipoise evaluate {out.name}" in told
    table, models = read_study(out)
    assert np.array_equal(table.label, read_annotations(study / "votes.csv").label)
    assert [one.model for one in models] == ["cnn", "copy", "vit"]
    for one, two in zip(models, read_predictions(study / "scores.csv"), strict=True):
        assert np.array_equal(one.values, two.values)
    code, _, told = command(study, "votes.csv", "--out", out.name, capture=capsys)
    assert code == 1
    assert "add --overwrite" in told
    again, shown, _ = command(study, out.name, "--json", capture=capsys)
    assert again == 0
    assert json.loads(shown)["findings"][0]["rows"][0]["role"] == "study"


def test_every_option_of_reading_is_there(study, capsys):
    words = ("--columns", "item=Case,annotator=Reader,label=Label", "--layout", "tidy",
             "--kind", "ordinal", "--classes", "0,1", "--exchangeable", "--repeats", "last",
             "--prediction-columns", "item=image", "--prediction-layout", "wide",
             "--first-votes", "2")  # fmt: skip
    code, _, told = command(study, "-a", "votes.csv", "-p", "scores.csv", *words, "--out",
                            "s.csv", capture=capsys)  # fmt: skip
    assert (code, "Wrote s.csv" in told) == (0, True)
    table, _ = read_study(study / "s.csv")
    assert (table.kind, table.classes, table.annotators) == ("ordinal", ("0", "1"), None)
    assert len(table) == 2 * len(ITEMS) + 1  # the gold row stays
    code, _, told = command(study, "scores.csv", "--out", "t.csv", capture=capsys)
    assert (code, "predictions alone" in told) == (1, True)


@pytest.fixture
def readers(study):
    """The same votes, one file per reader, and a file of one model, with a column per task."""
    folder = study / "readers"
    folder.mkdir()
    lines = [line.split(",") for line in (study / "votes.csv").read_text().splitlines()[1:-2]]
    for reader in READERS:
        rows = "".join(f"{item},{vote}\n" for item, who, vote, *_ in lines if who == reader)
        (folder / f"{reader}.csv").write_text(f"case,lump\n{rows}")
    scores = [line.split(",") for line in (study / "scores.csv").read_text().splitlines()[1:]]
    pairs = "".join(f"{item},{score}\n" for item, score, *_ in scores)
    (study / "cnn.csv").write_text(f"image,lump\n{pairs}")
    return study


def test_verbs_take_several_files_a_folder_or_the_study(readers, capsys):
    assert command(readers, "-a", "readers", "-p", "cnn.csv", "--out", "study.csv") == 0
    capsys.readouterr()
    several = [word for reader in READERS for word in ("-a", f"readers/{reader}.csv")]
    how = ("--metrics", "accuracy", "--replicates", "10", "--json")
    shown = []
    for words in ([*several, "-p", "cnn.csv"], ["-a", "readers", "-p", "cnn.csv"],
                  ["-a", "study.csv"]):  # fmt: skip
        code, out, told = command(readers, "evaluate", *words, *how, capture=capsys)
        assert code == 0, told
        found = json.loads(out)["findings"]
        shown.append([(one["key"], one["finding"], one["rows"]) for one in found])
        settled = "named like the file" not in out
        assert settled == (words[-1] == "study.csv")
    assert shown[0] == shown[1] == shown[2]
    words = ("agreement", "study.csv", "--json", "--replicates", "5")
    code, out, _ = command(readers, *words, capture=capsys)
    assert (code, json.loads(out)["tasks"][0]["task"]) == (0, "lump")


def test_verbs_refuse_options_of_reading_for_a_study_and_name_check(readers, capsys):
    command(readers, "-a", "readers", "--out", "study.csv")
    capsys.readouterr()
    words = ("agreement", "study.csv", "--kind", "nominal")
    code, _, told = command(readers, *words, capture=capsys)
    assert (code, "is about reading files" in told) == (2, True)
    (readers / "bad.csv").write_text("item,annotator,label\na,x\n")
    code, _, told = command(readers, "agreement", "bad.csv", capture=capsys)
    assert (code, "see `equipoise check bad.csv`" in " ".join(told.split())) == (1, True)


def test_a_verb_tells_what_files_hold_like_the_check(tmp_path, monkeypatch, capsys):
    write_study(tmp_path)
    monkeypatch.chdir(tmp_path)
    call = caller(monkeypatch, capsys)
    told = call("evaluate", *FILES, "--json")
    assert told[0] == 0
    for names in (("votes.csv", "scores.csv"), ("scores.csv", "votes.csv")):
        assert call("evaluate", *names, "--json")[:2] == told[:2]
    code, out, err = call("evaluate", "votes.csv", "-p", "scores.csv", "--json")
    assert (code, out) == told[:2]
    code, _, err = call("evaluate", "votes.csv")
    assert code == 1 and "annotations alone" in err and "-a votes.csv -p scores.csv" in err
    assert call("check", "votes.csv", "scores.csv", "--out", "study.csv")[0] == 0
    code, out, err = call("evaluate", "study.csv", "--json")
    assert code == 0
    assert call("evaluate", "votes.csv", "scores.csv", "--out", "run")[0] == 0
    code, _, err = call("evaluate", "run", "votes.csv")
    assert code == 1 and "beside other files" in err


def test_classes_beside_the_positive_one_are_named():
    votes = Annotations(kind="nominal", items=("a",), classes=("maybe", "no", "yes"),
                        item=np.zeros(3, int), label=np.array([0, 1, 2]))  # fmt: skip
    (said,) = votes.against("yes").notices
    assert str(said) == "Votes for maybe and no count as not yes."
    assert votes.rows(np.array([False, True, True])).against("yes").notices == ()
