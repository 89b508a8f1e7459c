"""The command line as a user meets it: what it prints where, exit codes, and bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from equipoise.cli.help import manual
from tests.cli_sample import equipoise

ROOT = Path(__file__).parents[2]
ROWS = [
    "task", "model", "metric", "labels", "value", "low", "high", "rank", "p_best",
    "standard_error", "df", "rank_low", "rank_high",
]  # fmt: skip

PER_READER = ("--inference", "per_reader_truth")


@pytest.fixture
def study(tmp_path):
    """A folder with a small, noisy, well-formed study."""
    random = np.random.default_rng(1)
    evidence = random.standard_normal(40)
    votes = ["item,annotator,label"]
    for reader in range(4):
        said = evidence + random.standard_normal(40) > 0
        votes += [f"{i},r{reader},{int(vote)}" for i, vote in enumerate(said)]
    scores = ["item,model,score"]
    for model, noise in (("good", 0.3), ("weak", 2.0)):
        values = evidence + noise * random.standard_normal(40)
        scores += [f"{i},{model},{value!r}" for i, value in enumerate(map(float, values))]
    (tmp_path / "votes.csv").write_text("\n".join(votes) + "\n")
    (tmp_path / "scores.csv").write_text("\n".join(scores) + "\n")
    return tmp_path


def evaluate(folder, *words):
    return equipoise("evaluate", "-a", "votes.csv", "-p", "scores.csv", *words, cwd=folder)


def test_json_is_all_there_is_on_standard_output(study):
    done = evaluate(study, "--json", "--replicates", 200)
    told = json.loads(done.stdout)
    rows = told["rows"]
    assert done.returncode == 0
    assert {"answer", "findings", "rows", "differences", "metrics", "notices"} <= set(told)
    assert told["answer"]["answer"].endswith(", good is better than weak.")
    assert len(told["differences"]) == 4
    assert [list(row) for row in rows] == [ROWS] * 8
    assert {(row["metric"], row["labels"]) for row in rows} == {
        (metric, labels)
        for metric in ("auroc", "average_precision")
        for labels in ("hard", "soft")
    }
    best = [row for row in rows if row["model"] == "good"]
    assert all(row["rank"] == 1 and row["low"] <= row["high"] for row in best)
    assert "11 of 40 items have as many votes for as against" in done.stderr
    assert not (study / "run").exists()


def test_a_shell_meets_the_same_program(study):
    words = ("evaluate", "-a", "votes.csv", "-p", "scores.csv", "--replicates", "20", "--json")
    shell = {"cwd": study, "capture_output": True, "text": True, "check": False}
    start = [sys.executable, "-m", "equipoise"]
    done = subprocess.run([*start, *words], **shell)
    assert (done.returncode, done.stdout) == (0, equipoise(*words, cwd=study).stdout)
    refused = subprocess.run([*start, "report", "elsewhere"], **shell)
    assert refused.returncode == 1 and refused.stderr.startswith("equipoise: ")
    assert "Traceback" not in refused.stderr


def test_the_same_seed_gives_the_same_bytes_whatever_the_threads(study):
    for name, workers in (("a", 1), ("b", 2)):
        done = evaluate(
            study, "--out", name, "--workers", workers, "--resample", "items-x-panel"
        )
        assert done.returncode == 0, done.stderr
    for file in ("run.json", "replicates.npy", "report.html"):
        assert (study / "a" / file).read_bytes() == (study / "b" / file).read_bytes()
    other = evaluate(study, "--out", "c", "--seed", 1)
    assert other.returncode == 0
    assert (study / "a/run.json").read_bytes() != (study / "c/run.json").read_bytes()


def test_a_run_is_never_overwritten_unasked(study):
    assert evaluate(study, "--out", "run").returncode == 0
    before = (study / "run/run.json").read_bytes()
    again = evaluate(study, "--out", "run", "--seed", 3)
    assert again.returncode == 1
    assert "already holds a run" in again.stderr
    assert (study / "run/run.json").read_bytes() == before
    assert evaluate(study, "--out", "run", "--seed", 3, "--overwrite").returncode == 0


def test_report_writes_the_page_and_refuses_a_damaged_run(study):
    assert evaluate(study, "--out", "run").returncode == 0
    page = (study / "run/report.html").read_bytes()
    assert equipoise("report", "run", "--out", "pages/one.html", cwd=study).returncode == 0
    assert (study / "pages/one.html").read_bytes() == page
    assert len(page) < 1_000_000
    data = bytearray((study / "run/replicates.npy").read_bytes())
    data[-1] ^= 1
    (study / "run/replicates.npy").write_bytes(data)
    broken = equipoise("report", "run", cwd=study)
    assert broken.returncode == 1
    assert "changed or damaged" in broken.stderr
    nowhere = equipoise("report", "elsewhere", cwd=study)
    assert nowhere.returncode == 1
    assert "no run.json" in nowhere.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metrics", "aurok"], "did you mean 'auroc'?"),
        (["--metrics", "auroc:form=strickt"], "did you mean 'strict'?"),
        (["--resample", "panle"], "did you mean 'panel'?"),
        (["--replicates", "0"], "--replicates"),
        (["--interval", "bayes"], "No such option"),
        (["--margin", "-0.1"], "-0.1, expected a number above 0"),
        (["--margin", "nan"], "expected a number above 0"),
        (["--margin", "little"], "--margin"),
        (["--matters", "0"], "0, expected a number above 0"),
        (["--matters", "inf"], "expected a number above 0"),
        (["--items", "fix"], "random, fixed"),
        (["--annotators", "these"], "random, fixed"),
        (["--inference", "mrcm"], "per_reader_truth"),
        (["--on-missing", "ignore"], "error, drop"),
        (["--ties", "positive"], "half, negative, drop"),
        (["--columns", "item:Study"], "OURS=THEIRS"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_code_two(study, words, message):
    done = evaluate(study, *words)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--items", "fixed", "--annotators", "fixed"], ["at most one of them"]),
        (
            ["--inference", "per_reader_truth", "--items", "fixed"],
            ["items fixed", "--inference two-way"],
        ),
        ([*PER_READER, "--annotators", "fixed"], ["annotators fixed"]),
        ([*PER_READER, "--exchangeable"], ["named annotators"]),
    ],
)
def test_settings_that_do_not_go_together_are_refused(study, words, parts):
    done = evaluate(study, "--replicates", 20, "--out", "run", *words)
    assert done.returncode == 1
    (message,) = [x for x in done.stderr.splitlines() if x.startswith("equipoise:")]
    assert ", expected " in message and "; " in message
    assert all(part in message for part in parts)
    assert done.stdout == "" and not (study / "run").exists()


def test_whom_a_verdict_speaks_for_is_said_followed_and_recorded(study):
    words = ("--metrics", "auroc", "--replicates", 100, "--overwrite", "--out", "run")
    whom = {
        (): ("items and annotators like these", "items x panel"),
        ("--items", "fixed"): ("these items and annotators like these", "panel"),
        ("--annotators", "fixed"): ("items like these and these annotators", "items"),
        PER_READER: (
            "items and annotators like these",
            "items x panel",
        ),
    }
    rows = {}
    for how, (said, drawn) in whom.items():
        done = evaluate(study, *words, *how)
        assert done.returncode == 0, done.stderr
        shown = " ".join(done.stdout.split())
        assert said[0].upper() + said[1:] in shown
        record = json.loads((study / "run/run.json").read_text())
        settings = record["settings"]
        assert (settings["population"], settings["resample"]) == (said, drawn)
        assert f"The result speaks for {said}." in record["report"]["scope"]
        both = not {"--annotators", "--items"} & {*how}
        assert ("So few annotators make wide intervals." in shown) == both
        terms = dict(record["report"]["terms"])
        assert ("Obuchowski-Rockette" in terms["Intervals"]) == (how == PER_READER)
        sources = {"obuchowski1995", "hillis2007"}
        assert sources.isdisjoint(record["report"]["references"]) == (
            "per_reader_truth" not in how
        )
        assert ("[@obuchowski1995; @hillis2007]" in str(record["report"])) == (
            "per_reader_truth" in how
        )
        rows[how] = record["rows"]
    wide, *other = ([row["high"] - row["low"] for row in one] for one in rows.values())
    assert all(wide != one for one in other)
    mrmc = {(row["model"], row["labels"]): row["value"] for row in rows[PER_READER]}
    assert mrmc["good", "hard"] == mrmc["good", "soft"]


def test_a_margin_and_what_matters_are_said_and_recorded(study):
    how = ("--metrics", "auroc", "--margin", "0.5", "--matters", "0.9", "--out", "run")
    done = evaluate(study, "--replicates", 100, *how)
    assert done.returncode == 0, done.stderr
    assert "good is better than weak." in done.stdout
    record = json.loads((study / "run/run.json").read_text())
    assert (record["settings"]["margin"], record["settings"]["matters"]) == (0.5, 0.9)
    assert [pair["reverse"] for pair in record["differences"]] == ["undecided", "equivalent"]
    for pair in record["differences"]:
        assert pair["judgement"] in ("superior", "equivalent", "non-inferior")
        assert 0 <= pair["p"] <= pair["p_adjusted"] <= 1 and pair["df"] > 0
        assert pair["separated"] == (pair["p_adjusted"] < 0.05)


def test_two_annotators_make_no_verdict(study):
    lines = (study / "votes.csv").read_text().splitlines()
    two = [line for line in lines if ",r2," not in line and ",r3," not in line]
    (study / "votes.csv").write_text("\n".join(two) + "\n")
    done = evaluate(study, "--metrics", "auroc", "--replicates", 20)
    said = " ".join(done.stdout.split())
    assert "good scores highest in soft AUROC against the votes of annotators, but" in said
    assert "too few to say for others" in said
    assert "they are too few to stand for others" in said
    assert (
        "Settled by Votes of more annotators, from effectively three on (now 2.0); or taking"
        in said
    )
    assert "better" not in said and "best" not in said


HEADER = "item,annotator,label\n"
GOOD = "".join(f"{i},r{r},{(i + r) % 2}\n" for i in range(6) for r in range(3))
NAMED = GOOD.replace(",0\n", ",a\n").replace(",1\n", ",b\n")
ODD = "item,model,0,1\n0,m,0.9,0.3\n"
SCORES = "item,model,score\n" + "".join(f"{i},m,{i / 6}\n" for i in range(6))


@pytest.mark.parametrize(
    ("votes", "scores", "words", "parts"),
    [
        ("", SCORES, [], ["votes.csv"]),
        (HEADER, SCORES, [], ["votes.csv", "no"]),
        (HEADER.replace("label", "lable") + GOOD, SCORES, ["--layout", "tidy"], ["label"]),
        (HEADER + GOOD + "5,r9,maybe\n", SCORES, ["--kind", "binary"], ["maybe", "votes.csv"]),
        (HEADER + GOOD + "0,r0,1\n", SCORES, ["--repeats", "error"], ["row 20"]),
        (HEADER + GOOD, SCORES.replace("0.5", "nan"), [], ["'m'", "'3'"]),
        (HEADER + GOOD, SCORES.replace("0.5", "inf"), [], ["'m'", "'3'"]),
        (HEADER + GOOD, SCORES.replace("0.5", "high"), [], ["'m'", "'3'"]),
        (HEADER + GOOD + "7,r0,1\n", SCORES, [], ["1 annotated item without", "'7'"]),
        (HEADER + GOOD, SCORES + "9,m,0.1\n", [], ["1 prediction for unknown items", "'9'"]),
        (HEADER + GOOD, SCORES + "0,m,0.1\n", [], ["'m'", "'0'"]),
        (HEADER + GOOD, SCORES.replace("score", "skore"), [], ["scores.csv"]),
        (
            HEADER + GOOD.replace(",0\n", ",2\n"), SCORES,
            ["--kind", "ordinal", "--classes", "0,1"], ["'2'", "row 2"],
        ),
        (HEADER + GOOD, ODD, ["--prediction-layout", "classes"], ["1.2"]),
        (HEADER + NAMED, SCORES, [], ["positive"]),
        (HEADER + GOOD, SCORES, ["--resample", "posterior"], ["plausibilities"]),
        (HEADER + GOOD, SCORES, ["--metrics", "precision_at_100"], ["100", "6"]),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_place_and_remedy(tmp_path, votes, scores, words, parts):
    (tmp_path / "votes.csv").write_text(votes)
    (tmp_path / "scores.csv").write_text(scores)
    done = evaluate(tmp_path, "--replicates", 50, "--out", "run", *words)
    assert done.returncode == 1, done.stdout + done.stderr
    message = [line for line in done.stderr.splitlines() if line.startswith("equipoise:")]
    assert len(message) == 1
    for part in parts:
        assert part in message[0]
    assert ", expected " in message[0]
    assert "; " in message[0]
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


def rows_of(folder, votes, scores, *words):
    (folder / "votes.csv").write_text(votes)
    (folder / "scores.csv").write_text(scores)
    done = evaluate(folder, "--json", "--replicates", 50, *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["rows"], done.stderr


def test_a_folder_of_predictions_is_one_model_per_file(study):
    (study / "models").mkdir()
    lines = (study / "scores.csv").read_text().splitlines()
    for model in ("good", "weak"):
        rows = [line.replace(f",{model},", ",") for line in lines if f",{model}," in line]
        (study / f"models/{model}.csv").write_text("\n".join(["item,score", *rows]) + "\n")
    words = ["evaluate", "-a", "votes.csv", "--json", "--replicates", 200]
    one, many = (
        equipoise(*words, "-p", place, cwd=study) for place in ("scores.csv", "models")
    )
    assert one.returncode == many.returncode == 0, many.stderr
    one, many = json.loads(one.stdout), json.loads(many.stdout)
    assert one["rows"] == many["rows"] and one["findings"] == many["findings"]
    (study / "empty").mkdir()
    refused = equipoise(*words, "-p", "empty", cwd=study)
    assert refused.returncode == 1
    assert "a folder without tables" in refused.stderr


def test_repeats_are_kept_and_counted(tmp_path):
    rows, notes = rows_of(tmp_path, HEADER + GOOD + "0,r0,1\n", SCORES)
    assert rows
    assert "1 vote" in notes


def test_missing_items_are_dropped_when_asked(tmp_path):
    votes = HEADER + GOOD + "7,r0,1\n"
    rows, notes = rows_of(tmp_path, votes, SCORES, "--on-missing", "drop")
    assert rows
    assert "Dropped 1 annotated items" in notes
    assert "'7'" in notes


def test_ties_of_hard_labels_are_as_asked_and_recorded(tmp_path):
    votes = HEADER + GOOD + "".join(f"{i},r9,{1 - i % 2}\n" for i in range(6))
    found = {}
    for ties, words in (("half", "1/2"), ("negative", "negative"), ("drop", "left out")):
        out = tmp_path / ties
        how = ("--ties", ties, "--metrics", "accuracy", "--replicates", 10, "--out", out)
        rows, notes = rows_of(tmp_path, votes, SCORES, *how)
        assert words in notes
        record = json.loads((out / "run.json").read_text())
        assert record["question"]["ties"] == ties and words in record["settings"]["hard"]
        found[ties] = [row["value"] for row in rows if row["labels"] == "hard"]
    assert len({str(values) for values in found.values()}) == 3


def test_one_class_only_is_undefined_and_null(tmp_path):
    rows, notes = rows_of(
        tmp_path, HEADER + GOOD.replace(",0\n", ",1\n"), SCORES, "--metrics", "auroc"
    )
    assert all(row["value"] is None and row["low"] is None for row in rows)
    assert "undefined" in notes
    told = evaluate(tmp_path, "--metrics", "auroc")
    assert "No model has a value of soft AUROC against the votes" in told.stdout


def test_all_tied_scores_are_a_coin_and_one_annotator_resamples_items(tmp_path):
    votes = HEADER + "".join(f"{i},r0,{i % 2}\n" for i in range(6))
    scores = "item,model,score\n" + "".join(f"{i},m,0.5\n" for i in range(6))
    rows, notes = rows_of(tmp_path, votes, scores, "--metrics", "auroc")
    assert [row["value"] for row in rows] == [0.5, 0.5]
    assert [row["p_best"] for row in rows] == [1.0, 1.0]
    assert "6 items with a single vote" in notes


@pytest.mark.parametrize("spoil", ["bom", "crlf", "latin-1"])
def test_spellings_of_text_files(tmp_path, spoil):
    votes = HEADER + GOOD.replace("r0", "Müller")
    text = {"bom": "\ufeff" + votes, "crlf": votes.replace("\n", "\r\n"), "latin-1": votes}[
        spoil
    ]
    (tmp_path / "votes.csv").write_bytes(
        text.encode("latin-1" if spoil == "latin-1" else "utf-8")
    )
    (tmp_path / "scores.csv").write_text(SCORES)
    done = evaluate(tmp_path, "--replicates", 50, "--out", "run")
    assert done.returncode == 0, done.stderr
    header = json.loads((tmp_path / "run/run.json").read_text())
    (found,) = (one for one in header["report"]["findings"] if one["key"] == "agreement")
    (strip,) = found["charts"][0]["rows"]
    assert {name for name, _ in strip["rates"]} == {"Müller", "r1", "r2"}


def test_reproduce_prints_fifty_rows_and_how_many_cells_agree():
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds chexpert/")
    done = equipoise("reproduce", "chexpert-leaderboard", "--json")
    rows = json.loads(done.stdout)
    assert len(rows) == 50
    assert list(rows[0]) == [
        "task", "model", "auroc", "soft_auroc", "average_precision", "soft_average_precision",
        "published", "tolerance", "agrees",
    ]  # fmt: skip
    assert {row["agrees"] for row in rows} == {True, None}
    (jfaboy,) = [r for r in rows if (r["task"], r["model"]) == ("Atelectasis", "jfaboy")]
    assert jfaboy["soft_auroc"] == pytest.approx(0.839, abs=0.0015)  # Table 4
    shown = equipoise("reproduce", "chexpert-leaderboard")
    assert "120 of 120 published cells agree within 0.0015" in shown.stdout
    wrong = equipoise("reproduce", "chexpert")
    assert wrong.returncode == 2


def test_datasets_are_listed():
    rows = json.loads(equipoise("datasets", "--json").stdout)
    assert {row["name"] for row in rows} == {
        "chexpert", "cifar10h", "dermatology_ddx", "enhance", "sleep_dodh", "vindr",
    }  # fmt: skip
    assert "chexpert" in equipoise("datasets").stdout


def test_demo_ends_with_the_page_and_says_what_is_simulated(tmp_path):
    done = equipoise("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"equipoise-demo"}
    page = (tmp_path / "equipoise-demo/report.html").read_text(encoding="utf-8")
    assert "simulated" in page
    assert "simulated" in done.stderr
    shown = equipoise("demo", "--overwrite", cwd=tmp_path)
    assert "readers of this study are simulated" in " ".join(shown.stdout.split())
    command = next(line for line in done.stderr.splitlines() if "equipoise evaluate" in line)
    by_hand = equipoise(*command.split()[1:], "--json", cwd=tmp_path)
    assert by_hand.returncode == 0, by_hand.stderr
    mine = json.loads((tmp_path / "my-run/run.json").read_text())
    theirs = json.loads((tmp_path / "equipoise-demo/run.json").read_text())
    assert mine["rows"] == theirs["rows"]
    assert len(json.loads(done.stdout)["rows"]) == len(theirs["rows"]) == 28


def test_help_teaches_every_option():
    text = equipoise("evaluate", "--help").stdout
    for option in ("--annotations", "--help-all", "--json", "--positive"):
        assert option in text
    assert equipoise("--version").stdout.strip() == "0.1.0"


def test_the_manual_is_up_to_date():
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == manual()
