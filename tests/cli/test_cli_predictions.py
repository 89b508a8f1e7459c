"""`equipoise evaluate` and predictions of many shapes: decisions, class columns, refusals."""

import json
from collections import Counter
from pathlib import Path
from time import sleep

import numpy as np
import pytest

from equipoise.cli import screen
from equipoise.metrics import CATALOGUE, require_known
from tests.cli_sample import equipoise, flat

STAGES = ("wake", "light", "deep", "rem")


@pytest.fixture
def night(tmp_path):
    """Three readers on thirty epochs, and the stages that two models name."""
    random = np.random.default_rng(5)
    true = random.integers(4, size=30)
    for names, place in ((STAGES, "names"), ("0123", "codes")):
        folder = tmp_path / place
        folder.mkdir()
        votes = [f"{i},r{r},{names[k]}" for i, k in enumerate(true) for r in range(3)]
        for r, i in enumerate(np.flatnonzero(true == 3)[:3]):  # nobody votes like a model
            votes[3 * i + r] = f"{i},r{r},{names[0]}"
        (folder / "votes.csv").write_text("item,annotator,label\n" + "\n".join(votes) + "\n")
        rows = [f"{i},{names[k]},{names[(k + i % 2) % 4]}" for i, k in enumerate(true)]
        (folder / "models.csv").write_text("item,good,half\n" + "\n".join(rows) + "\n")
    return tmp_path


def run(folder, *words, models="models.csv"):
    start = ("evaluate", "-a", "votes.csv", "-p", models, "--replicates", 50)
    return equipoise(*start, *words, cwd=folder)


def values(done):
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["rows"]
    return {(row["model"], row["metric"], row["labels"]): row["value"] for row in rows}


@pytest.mark.parametrize("place", ["names", "codes"])
def test_predicted_classes_are_decisions(night, place):
    done = run(night / place, "--metrics", "accuracy", "--json")
    found = values(done)
    assert found["good", "accuracy", "hard"] == 1.0
    assert found["half", "accuracy", "hard"] == 0.5
    assert "name one class per item" in done.stderr
    advised = run(night / place)
    assert "--metrics accuracy" in advised.stderr


@pytest.mark.parametrize(("place", "stage"), [("names", "rem"), ("codes", "3")])
def test_a_question_about_one_class_never_takes_ids_as_scores(night, place, stage):
    done = run(night / place, "--positive", stage, "--metrics", "brier_score", "--json")
    assert values(done)["good", "brier_score", "hard"] == 0.0
    assert f"scores 1 where it names '{stage}'" in done.stderr


def test_yes_and_no_stay_answers_to_the_question(night):
    folder = night / "codes"
    votes = (folder / "votes.csv").read_text().splitlines()[1:]
    yes = Counter(line.split(",")[0] for line in votes if line.endswith(",3"))
    rows = [f"{i},{int(yes[str(i)] > 1)}" for i in range(30)]
    (folder / "models.csv").write_text("item,m\n" + "\n".join(rows) + "\n")
    done = run(folder, "--positive", "3", "--metrics", "accuracy", "--json")
    assert values(done)["m", "accuracy", "hard"] == 1.0
    assert "as no and yes to '3'" in done.stderr


def test_predicted_grades_are_scores_of_at_least(night):
    words = ("--kind", "ordinal", "--classes", "0,1,2,3", "--at-least", "2")
    done = run(night / "codes", *words, "--metrics", "auroc", "--json")
    assert values(done)["good", "auroc", "hard"] == 1.0
    assert "a higher grade scores higher" in done.stderr


def classes_file(folder, columns, cell="0.25"):
    rows = [",".join([str(i), *[cell] * len(columns)]) for i in range(30)]
    text = "\n".join([",".join(["item", *columns]), *rows]) + "\n"
    (folder / "probabilities").mkdir(exist_ok=True)
    for name in ("a", "b"):
        (folder / f"probabilities/{name}.csv").write_text(text)


@pytest.mark.parametrize(
    ("columns", "cell", "words", "parts"),
    [
        ("012", "0.25", [], ["no columns for '3'"]),
        ("012", "0.25", ["--prediction-layout", "classes"], ["no columns for '3'"]),
        ("01234", "0.3", [], ["predictions of 'a'", "sum to 1.5"]),
        ("0123", "0.3", [], ["predictions of 'a'", "sum to 1.2"]),
    ],
)
def test_columns_of_classes_are_classes(night, columns, cell, words, parts):
    classes_file(night / "codes", columns, cell)
    done = run(night / "codes", *words, models="probabilities")
    assert done.returncode == 1
    for part in parts:
        assert part in done.stderr


def test_a_class_nobody_named_is_taken_from_the_predictions(night):
    classes_file(night / "codes", "01234", "0.2")
    done = run(night / "codes", "--metrics", "accuracy", models="probabilities")
    assert done.returncode == 0, done.stderr
    assert "taken from the predictions: '4'" in done.stderr


@pytest.mark.parametrize(
    ("header", "hint"),
    [
        ("item,model,u\n0,m,1\n", "--prediction-layout classes or --prediction-layout tasks"),
        ("case_of,good\n0,1\n", "--prediction-columns item="),
        ("item,scor\n0,1\n", "--prediction-layout NAME"),
    ],
)
def test_hints_name_the_options_of_predictions(night, header, hint):
    (night / "codes/models.csv").write_text(header)
    done = run(night / "codes")
    assert done.returncode == 1
    assert hint in done.stderr
    assert " --layout" not in done.stderr and " --columns" not in done.stderr


@pytest.mark.parametrize("place", ["/proc/foo", "votes.csv/run"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(night, place):
    if place.startswith("/proc") and not Path("/proc").is_dir():
        pytest.skip("this system has no /proc")
    (night / "names/models.csv").write_text("not read\n")
    done = run(night / "names", "--out", place)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    if place.startswith("/proc"):
        page = equipoise(
            "agreement", "votes.csv", "--page", "/proc/x.html", cwd=night / "names"
        )
        assert page.returncode == 1
        assert "read-only" in page.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ["--metrics", "topk_accuracy:m=1"],
            2,
            "'m', expected 'k'; write topk_accuracy:k=VALUE",
        ),
        (["--metrics", "brier"], 2, "did you mean 'brier_score'? --list-metrics lists all"),
        (["--metrics", "qqqqqq"], 2, "--list-metrics lists all"),
        (["--metrics", "topk_accuracy:k=5", "--truth", "dirichlet"], 1, "'topk_accuracy:k=5'"),
        (["--resample", "panel", "--truth", "dirichlet"], 1, "leave out --truth"),
        (["--resample", "items-x-votes", "--truth", "auto"], 1, "leave out --truth"),
        (["--resample", "posterior"], 1, "add --truth MODEL"),
        (["--groups", "groups.csv"], 2, "--by-group"),
        (["--groups", "groups.csv", "--truth", "dirichlet"], 2, "--by-group"),
        (["--draws", "50"], 1, "add --truth MODEL"),
        (["--burn-in", "50"], 1, "add --truth MODEL"),
        (["--burn-in", "50", "--truth", "dirichlet"], 1, "leave out --burn-in"),
        (["--burn-in", "50", "--truth", "auto"], 1, "leave out --burn-in"),
        (["--seed", "-1"], 2, "--seed"),
    ],
)
def test_options_that_do_not_go_together_are_refused(night, words, code, message):
    rows = [f"{name},{'asleep' if name != 'wake' else 'awake'}" for name in STAGES]
    (night / "names/groups.csv").write_text("class,group\n" + "\n".join(rows) + "\n")
    done = run(night / "names", *words)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_every_metric_is_known_with_its_own_parameters():
    for name in CATALOGUE:
        require_known(name.replace("_at_k", "_at_5"), CATALOGUE)


def test_decisions_are_taken_by_stability_which_names_what_suits_them(night):
    files = ("-a", "votes.csv", "-p", "models.csv", "--replicates", 20, "--only", "ranking")
    for metric, advice in (("accuracy", ""), ("brier_score", "suit them: --metrics accuracy.")):
        done = equipoise("evaluate", "--full", *files, "--metric", metric, cwd=night / "names")
        assert done.returncode == 0, done.stderr
        said = flat(done.stderr)
        assert "read as probability 1 of that class." in said
        assert ("suit them" in said) == bool(advice) and advice in said


def test_report_prints_its_tables_and_writes_nothing(night):
    folder = night / "names"
    assert run(folder, "--metrics", "accuracy", "--out", "run").returncode == 0
    (folder / "run/report.html").unlink()
    done = equipoise("report", "run", "--json", cwd=folder)
    told = json.loads(done.stdout)
    header = json.loads((folder / "run/run.json").read_text())
    assert told["rows"] == header["rows"] and told["differences"] == header["differences"]
    assert not (folder / "run/report.html").exists()


def test_long_work_says_one_line_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(screen, "PATIENCE", 0.01)
    with screen.progress("scoring"):
        for _ in range(400):
            said = capsys.readouterr().err
            if said:
                break
            sleep(0.01)
    assert said == "scoring ...\n"
    monkeypatch.setattr(screen, "PATIENCE", 60.0)
    with screen.progress("scoring"):
        pass
    assert capsys.readouterr().err == ""
