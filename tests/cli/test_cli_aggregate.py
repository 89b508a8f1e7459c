"""`equipoise aggregate` as a user meets it: tables, warnings, JSON, and refused input."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import equipoise
from equipoise import read_plausibilities
from tests.cli_sample import equipoise as invoke
from tests.truth.test_choosing import crowd


def run(*words, cwd):
    return invoke("aggregate", *words, cwd=cwd, COLUMNS="140")


@pytest.fixture
def folder(tmp_path):
    _, votes = crowd([0.9, 0.8, 0.6], items=30)
    rows = zip(votes.item, votes.annotator, votes.label, strict=True)
    lines = ["item,annotator,label", *(f"i{i},r{a},{k}" for i, a, k in rows)]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_command_line_shows_items_annotators_and_models(folder):
    done = run("votes.csv", "--compare", "--out", "truth.npz", cwd=folder)
    assert done.returncode == 0, done.stderr
    for words in (
        "Which items are most ambiguous?",
        "How do annotators differ?",
        "held-out log-likelihood",
        "dawid_skene",
    ):
        assert words in done.stdout
    assert "because it takes votes as they are" in done.stderr
    assert "empirical prior: base rate" in read_plausibilities(folder / "truth.npz").method
    assert {path.name for path in folder.iterdir()} == {"votes.csv", "truth.npz"}


def test_json_is_all_there_is_on_standard_output(folder):
    done = run("votes.csv", "--model", "dirichlet", "--json", cwd=folder)
    facts = json.loads(done.stdout)
    assert facts["model"] == "dirichlet"
    assert len(facts["items"]) == 30
    for one in facts["items"]:
        assert sum(one["plausibility"].values()) + one["others"] == pytest.approx(1)
    assert {row["annotator"] for row in facts["annotators"]} == {"r0", "r1", "r2"}
    digest = hashlib.sha256((folder / "votes.csv").read_bytes()).hexdigest()
    assert facts["input"] == {"name": "votes.csv", "sha256": digest}
    assert facts["version"] == equipoise.__version__
    assert (facts["kind"], facts["classes"], facts["gold_items"]) == ("binary", ["0", "1"], [])
    assert facts["settings"]["prior"] == "empirical"
    uniform = run(
        "votes.csv", "--model", "dirichlet", "--prior", "uniform", "--json", cwd=folder
    )
    assert json.loads(uniform.stdout)["settings"] == {"reliability": 1.0, "prior": "uniform"}


def test_wrong_words_and_refused_input(folder):
    wrong = run("votes.csv", "--model", "dawid_skeen", cwd=folder)
    assert wrong.returncode == 2
    assert "did you mean 'dawid_skene'?" in " ".join(wrong.stderr.replace("│", " ").split())
    refused = run("votes.csv", "--model", "dawid_skene", "--exchangeable", cwd=folder)
    assert refused.returncode == 1
    assert "expected annotators with ids" in refused.stderr
    (folder / "tasks.csv").write_text("item,annotator,label,task\na,x,1,t\na,x,0,u\n")
    several = run("tasks.csv", "--out", "truth.npz", cwd=folder)
    assert several.returncode == 1
    assert "choose one with --task" in several.stderr
    assert run("tasks.csv", "--task", "t", "--out", "t.npz", cwd=folder).returncode == 0
    unknown = run("tasks.csv", "--task", "v", cwd=folder)
    assert "--task v: no such task, expected one of 't', 'u'" in unknown.stderr


def test_rankings_are_aggregated_too(tmp_path):
    (tmp_path / "ddx.json").write_text("[[[[0], [1, 2]], [[0]]], [[[3]], [[1], [3]]]]")
    done = run("ddx.json", "--compare", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert facts["model"] == "plackett_luce"
    assert {row["model"] for row in facts["comparison"]} >= {"plackett_luce", "inverse_rank"}
    assert Path(tmp_path / "ddx.json").exists()


def test_chains_are_as_long_as_the_options_say(tmp_path):
    (tmp_path / "ddx.json").write_text("[[[[0], [1, 2]], [[0]]], [[[3]], [[1], [3]]]]")
    words = ("--draws", "40", "--burn-in", "7", "--out", "truth.npz")
    assert run("ddx.json", *words, cwd=tmp_path).returncode == 0
    truth = read_plausibilities(tmp_path / "truth.npz")
    assert truth.draws == 40
    assert truth.parameters["burn_in"] == 7
    for words in (("--draws", "40"), ("--burn-in", "7")):
        refused = run("ddx.json", "--model", "inverse_rank", *words, cwd=tmp_path)
        assert refused.returncode == 1
        assert f"{words[0]}: {words[1]} with inverse_rank, expected" in refused.stderr


def real(name):
    if "EQUIPOISE_DATA" not in os.environ:
        pytest.skip("set EQUIPOISE_DATA to a folder that holds votes/")
    return str(Path(os.environ["EQUIPOISE_DATA"]) / "votes" / name)


def test_auto_warns_where_annotators_lean(tmp_path):
    done = run(real("bluebirds.csv"), "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)
    fitted = [row["model"] for row in facts["comparison"]]
    assert fitted == ["dirichlet", "dawid_skene", "glad", "mean_vote"]
    pairs = {row["models"]: row for row in facts["decisions"]}
    assert pairs["dawid_skene, glad"]["share"] > 0.1
    warned = [one for one in facts["notices"] if one.startswith("The models disagree")]
    assert len(warned) == 1
    assert "dawid_skene and glad decide" in warned[0]
    assert "dawid_skene does better" in warned[0]
    assert warned[0] in done.stderr


def test_compare_says_which_votes_a_model_had_ruled_out(tmp_path):
    done = run(real("bluebirds.csv"), "--compare", cwd=tmp_path)
    assert "otherwise than dirichlet, the most of all models" in done.stdout
    assert "−∞" in done.stdout
    assert done.stderr.count("a held-out vote got probability 0") == 1
    facts = json.loads(run(real("bluebirds.csv"), "--compare", "--json", cwd=tmp_path).stdout)
    assert {row["held_out_log_likelihood"] for row in facts["comparison"]} >= {"-inf"}


def test_ratings_on_the_command_line(tmp_path):
    words = (real("emotion_scores.csv"), "--kind", "interval")
    refused = run(*words, cwd=tmp_path)
    assert refused.returncode == 1
    assert "here -100 to 100; say where ratings become 'at least': --threshold 0 is midway" in (
        refused.stderr
    )
    done = run(*words, "--threshold", "0", "--compare", "--json", cwd=tmp_path)
    facts = json.loads(done.stdout)
    assert facts["model"] == "normal"
    assert facts["settings"]["threshold"] == 0
    assert set(facts["settings"]["prior"]) == {"mean", "worth", "shape", "scale"}
    assert any("likelihood of ratings is not held out" in one for one in facts["notices"])
    assert {"mean_rating", "above_the_item_mean"} <= set(facts["annotators"][0])


def test_the_bootstrap_on_the_command_line(folder):
    words = ("--model", "dawid_skene", "--bootstrap", "6", "--out", "truth.npz")
    done = run("votes.csv", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "annotator bootstrap of Dawid-Skene (full) (6 draws)" in done.stdout
    assert read_plausibilities(folder / "truth.npz").draws == 6


def test_models_that_agree_are_said_to_agree(tmp_path):
    lines = [f"i{i},r{a},{i % 2}" for i in range(12) for a in range(4)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *lines]) + "\n")
    done = run("votes.csv", cwd=tmp_path)
    assert "All models decide every item alike." in done.stdout
    assert "Every item is unanimous" in done.stderr
    assert "disagree:" not in done.stderr


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--model", "normal"], ["normal: binary labels", "choose dirichlet", "--kind "]),
        (["--task", "foo"], ["only one, and it has no name; leave --task out"]),
        (["--model", "glad", "--reliability", "2"], ["glad, reliability: 2", "choose dir"]),
        (["--model", "dirichlet", "--prior", "much"], ["dirichlet, prior: 'much'"]),
        (["--positive", "maybe"], ["'maybe'", "one of '0', '1'; choose one of these"]),
        (["--kind", "interval", "--model", "glad"], ["choose normal", "--at-least VALUE"]),
        (["--exchangeable", "--bootstrap", "3"], ["--bootstrap: anonymous votes"]),
        (["--out", "votes.csv/a"], ["votes.csv/a: cannot be written", "votes.csv is a file"]),
        (["--out", "none/truth.npz"], ["--out none/truth.npz: there is no folder 'none'"]),
        (["--page", "none/truth.html"], ["--page none/truth.html: there is no folder"]),
    ],
)  # fmt: skip
def test_refusals_are_one_line_in_the_words_of_the_command_line(folder, words, parts):
    done = run("votes.csv", *words, cwd=folder)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    for part in parts:
        assert part in line
    assert ", expected " in line
    assert "='" not in line
    assert [path.name for path in folder.iterdir()] == ["votes.csv"]


def test_files_are_checked_before_anything_is_read(tmp_path):
    for words in (["--out", "truth.txt"], ["--page", "truth.txt"]):
        assert run("absent.csv", *words, cwd=tmp_path).returncode == 2
    done = run("absent.csv", "--out", "none/truth.npz", cwd=tmp_path)
    assert "there is no folder 'none'" in done.stderr


def test_columns_are_explained_and_certainties_not_compared(folder):
    done = run("votes.csv", "--compare", "--model", "dawid_skene", cwd=folder)
    assert "disagreement" not in done.stdout
    text = " ".join(done.stdout.split())
    for words in (
        "nats per vote, 5 folds; higher is better",
        "Positive share: share of the votes for 1.",
        "guessing evenly among 2 classes has 0.50",
        "answer different questions and are not to be compared",
        "Other top class: items whose most plausible class is another than by dawid_skene",
    ):
        assert words in text
    facts = json.loads(run("votes.csv", "--compare", "--json", cwd=folder).stdout)
    rows = {row["model"]: row for row in facts["comparison"]}
    assert (
        rows["mean_vote"]["mean_certainty"] is rows["majority_vote"]["mean_certainty"] is None
    )
    assert rows["dawid_skene"]["certainty_is"] == "probability of the class"
    assert rows["dirichlet"]["certainty_is"] == "probability of the largest share"


def test_one_item_is_not_one_items(tmp_path):
    (tmp_path / "votes.csv").write_text("item,annotator,label\na,x,1\na,y,0\na,z,1\n")
    done = run("votes.csv", "--model", "dirichlet", cwd=tmp_path)
    assert "For 1 of 1 item (100%)" in done.stdout
    assert "1 items" not in done.stdout


def test_settings_are_plain_numbers(folder):
    words = ("votes.csv", "--model", "dawid_skene", "--json")
    facts = json.loads(run(*words, cwd=folder).stdout)
    assert facts["settings"]["smoothing"] == {"every": 0.5, "right": 1.0}


def test_the_question_and_the_prior_reach_the_model(tmp_path):
    lines = [f"i{i},r{a},{'abc'[(i + a) % 3]}" for i in range(6) for a in range(2)]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *lines]) + "\n")
    words = ("votes.csv", "--model", "dirichlet", "--json")
    done = run(*words, "--prior", "1", cwd=tmp_path)
    assert "The prior outweighs the votes: it counts as 3 votes per item" in done.stderr
    fewer = run(*words, "--prior", "0.1", cwd=tmp_path)
    assert json.loads(fewer.stdout)["settings"]["prior"] == 0.1
    assert "outweighs" not in fewer.stderr
    one = json.loads(run(*words, "--positive", "b", cwd=tmp_path).stdout)
    assert one["classes"] == ["not b", "b"]
    grades = ("--kind", "ordinal", "--classes", "a,b,c", "--at-least", "b")
    assert json.loads(run(*words, *grades, cwd=tmp_path).stdout)["classes"] == [
        "below b", "at least b",
    ]  # fmt: skip


def test_labels_that_are_no_classes_are_refused_or_noted(tmp_path):
    texts = [f"{i},{','.join(f'text {4 * i + r}' for r in range(4))}" for i in range(300)]
    (tmp_path / "wide.csv").write_text("\n".join(["id,a,b,c,d", *texts]) + "\n")
    done = run("wide.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert "column 'a': a different word in almost every row" in done.stderr
    assert "see `equipoise check wide.csv`" in done.stderr
    done = run("wide.csv", "--layout", "wide", cwd=tmp_path)
    assert done.returncode == 1
    assert "1,200 distinct ones" in done.stderr
    assert "--layout tidy, --layout wide), or name the classes with --classes" in done.stderr
    rows = [f"i{i},r{a},{(7 * i + a) % 30}" for i in range(30) for a in range(3)]
    (tmp_path / "scores.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    done = run("scores.csv", "--model", "dirichlet", cwd=tmp_path)
    assert "look like ratings (30 distinct numbers from 0 to 29)" in done.stderr
    words = ("scores.csv", "--kind", "interval", "--threshold", "99")
    assert "The threshold 99 does not divide the ratings" in run(*words, cwd=tmp_path).stderr


def test_the_page_of_a_bootstrap_says_what_its_certainty_is(folder):
    words = ("--bootstrap", "4", "--compare", "--page", "truth.html")
    assert run("votes.csv", *words, cwd=folder).returncode == 0
    text = (folder / "truth.html").read_text(encoding="utf-8")
    assert "share of resampled panels that name the same class" in text
    assert "There are 4 draws, so it comes in steps of 0.25" in text
    assert "What do other models say?" in text
    assert "majority_vote" in text
    assert run("votes.csv", "--page", "plain.html", cwd=folder).returncode == 0
    assert "What do other models say?" not in (folder / "plain.html").read_text(
        encoding="utf-8"
    )


@pytest.fixture
def several(tmp_path):
    """Two tasks, one with a name that a spreadsheet would run, half of the items with gold."""
    random = np.random.default_rng(0)
    lines = ["item,annotator,label,task,is_gold"]
    for task in ("Edema", "=Effusion"):
        for item in range(30):
            truth = random.integers(2)
            if item < 15:
                lines.append(f"i{item},board,{truth},{task},true")
            votes = [truth if random.random() < 0.6 + 0.1 * a else 1 - truth for a in range(4)]
            lines += [f"i{item},r{a},{vote},{task},false" for a, vote in enumerate(votes)]
    (tmp_path / "tasks.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_every_task_has_a_row_and_the_page_all_of_them(several):
    done = run("tasks.csv", "--page", "truth.html", cwd=several)
    assert done.returncode == 0, done.stderr
    for words in ("How certain is each task?", "Edema", "=Effusion", "accuracy against"):
        assert words in done.stdout
    assert "Which items are most ambiguous?" not in done.stdout
    page = (several / "truth.html").read_text(encoding="utf-8")
    assert page.count("Which items are most ambiguous?") >= 1 and "data-t=1" in page
    both = json.loads(run("tasks.csv", "--json", cwd=several).stdout)["tasks"]
    alone = json.loads(run("tasks.csv", "--task", "Edema", "--json", cwd=several).stdout)
    assert [one["task"] for one in both] == ["Edema", "=Effusion"]
    assert both[0]["items"] == alone["items"] and alone["task"] == "Edema"
    two = run("tasks.csv", "--task", "=Effusion", "--task", "Edema", "--json", cwd=several)
    assert [one["task"] for one in json.loads(two.stdout)["tasks"]] == ["=Effusion", "Edema"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "CSV"])
def test_the_consensus_leaves_as_a_table(several, ending):
    done = run("tasks.csv", "--out", f"consensus.{ending}", cwd=several)
    assert done.returncode == 0, done.stderr
    path = several / f"consensus.{ending}"
    rows = pd.read_parquet(path) if ending == "parquet" else pd.read_csv(path, dtype=str)
    assert len(rows) == 60
    assert list(rows["task"].unique()) == [
        "Edema",
        "=Effusion" if ending == "parquet" else "'=Effusion",
    ]
    facts = json.loads(run("tasks.csv", "--task", "Edema", "--json", cwd=several).stdout)
    for row, item in zip(rows[:30].to_dict("records"), facts["items"], strict=True):
        assert row["item"] == item["item"] and int(row["votes"]) == 4
        assert float(row["certainty"]) == item["certainty"]
        top = max(item["plausibility"].values())
        assert float(row["probability"]) == pytest.approx(top)
        assert item["plausibility"][str(row["consensus"])] == pytest.approx(top)


def test_a_folder_holds_everything_and_is_not_overwritten_unasked(several):
    done = run("tasks.csv", "--out", "truth", cwd=several)
    assert done.returncode == 0, done.stderr
    names = {
        str(one.relative_to(several / "truth")) for one in (several / "truth").rglob("*.*")
    }
    wanted = ("truth.json", "report.html", "truth-edema.npz", "truth-effusion.npz")
    tables = [f"tables/consensus.{end}" for end in ("csv", "parquet", "md")]
    assert {*wanted, *tables, "tables/aggregates_gold.csv", "tables/tasks.csv"} <= names
    assert read_plausibilities(several / "truth" / "truth-edema.npz").task == "Edema"
    again = run("tasks.csv", "--out", "truth", cwd=several)
    assert again.returncode == 1 and "already holds truth.json" in again.stderr
    assert run("tasks.csv", "--out", "truth", "--overwrite", cwd=several).returncode == 0
    assert run("tasks.csv", "--overwrite", cwd=several).returncode == 2


INTERRUPTED = """
import signal, sys
def stop(*_args, **_how):
    signal.raise_signal(signal.SIGINT)
sys.argv = ["equipoise", "aggregate", "votes.csv", "--out", "truth.npz", "--page", "truth.html"]
{setup}
from equipoise.cli import main
main()
"""


@pytest.mark.parametrize(
    "setup",
    [
        "sys.meta_path.insert(0, type('Stop', (), {'find_spec': stop}))",
        "import equipoise.cli.aggregate; sys.modules['equipoise.cli.aggregate'].fit = stop",
        "import numpy; numpy.savez_compressed = stop",
        "import equipoise.report.page as page; page.render = stop",
    ],
    ids=["importing", "fitting", "writing", "making the page"],
)
def test_an_interrupt_is_told_and_leaves_nothing_half_done(folder, setup):
    code = INTERRUPTED.replace("{setup}", "import equipoise, equipoise.cli; " + setup)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("equipoise: interrupted")
    left = {path.name for path in folder.iterdir()}
    assert left <= {"votes.csv", "truth.npz"}
    assert ("truth.npz" in left) == ("Wrote truth.npz" in done.stderr)
