"""`equipoise evaluate --truth` as a user meets it: models, files of draws, groups, refusals."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from equipoise import (
    Annotations,
    Predictions,
    evaluate,
    metrics,
    read_annotations,
    read_predictions,
)
from equipoise.inference.resampling import resample
from equipoise.metrics import conditioned, named
from equipoise.truth import Chain, dawid_skene_ordinal, dirichlet, plackett_luce
from equipoise.types import Grouping, coarsened
from tests.cli_sample import equipoise

CLASSES = ("naevus", "wart", "melanoma", "cyst")
RISK = {"naevus": "low", "wart": "low", "cyst": "medium", "melanoma": "high"}
OF_DRAWS = "topk_accuracy:k=1,topk_accuracy:k=3,average_overlap:k=3,set_accuracy:k=3"


def table(path, header, rows):
    lines = [",".join(map(str, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def study(tmp_path):
    """Votes of five readers on twenty lesions, and two models' probabilities."""
    random = np.random.default_rng(3)
    clear = random.dirichlet(np.full(4, 0.5), 20)
    said = [[random.choice(4, p=row) for _ in range(5)] for row in clear]
    votes = [(i, f"r{a}", CLASSES[k]) for i, row in enumerate(said) for a, k in enumerate(row)]
    votes.append((0, "r0", CLASSES[3]))
    table(tmp_path / "votes.csv", ("item", "annotator", "label"), votes)
    (tmp_path / "models").mkdir()
    for model, noise in (("good", 0.1), ("weak", 0.8)):
        values = (1 - noise) * clear + noise * random.dirichlet(np.ones(4), 20)
        rows = [(i, *row) for i, row in enumerate((values / values.sum(1)[:, None]).tolist())]
        table(tmp_path / f"models/{model}.csv", ("item", *CLASSES), rows)
    table(tmp_path / "risk.csv", ("class", "group"), RISK.items())
    levels = {"low": 0, "medium": 1, "high": 3}
    worth = [(name, level, levels[level]) for name, level in RISK.items()]
    table(tmp_path / "worth.csv", ("class", "group", "value"), worth)
    return tmp_path


def run(folder, *words):
    given = ("--metrics", "topk_accuracy") if "--metrics" not in words else ()
    start = ("evaluate", "-a", "votes.csv", "-p", "models", "--replicates", 300)
    few = ("--draws", 50) if "--truth" in words else ()
    return equipoise(*start, *few, *given, *words, cwd=folder)


def rows_of(done):
    assert done.returncode == 0, done.stderr
    return {
        (row["metric"], row["model"], row["labels"]): row
        for row in json.loads(done.stdout)["rows"]
    }


def card(done):
    return json.loads(done.stdout)["answer"]


def library(folder):
    """The same votes and models, read by the library."""
    votes = read_annotations(folder / "votes.csv")
    paths = sorted((folder / "models").iterdir())
    return votes, read_predictions(paths, classes=votes.classes)


def test_a_model_of_the_truth_gives_the_library_s_numbers(study):
    done = run(study, "--truth", "dirichlet", "--reliability", 2, "--seed", 4, "--json")
    votes, models = library(study)
    truth = dirichlet(votes, reliability=2).drawn(50, seed=4)
    plan = resample(truth, replicates=300, seed=4)
    result = evaluate(models, truth, metrics=["topk_accuracy"], resampling=plan)
    for key, row in rows_of(done).items():
        wanted = result.estimate(key[1], key[0], labels=key[2])
        assert row["value"] == wanted.value
        assert (row["low"], row["high"]) == wanted.interval()
    assert f"dirichlet was asked for. {truth.method}, 50 draws" in done.stderr
    assert "empirical prior: base rates" in truth.method
    assert "judged by this model of the truth" in card(done)["holds_for"]


def test_the_record_says_how_the_truth_was_made(study):
    done = run(study, "--truth", "auto", "--out", "run", "--metrics", "topk_accuracy,auroc")
    assert done.returncode == 0, done.stderr
    header = json.loads((study / "run/run.json").read_text())
    made = header["truth_model"]
    assert made["model"] == "dirichlet" and "because" in made["reason"]
    assert made["draws"] == 50 and made["seed"] == 0 and made["method"] in done.stderr
    assert header["settings"]["resample"] == "items x posterior"
    assert "50 draws" in header["settings"]["soft"]
    assert header["question"]["truth"] == "auto"
    assert (study / "run/report.html").exists()
    again = run(study, "--truth", "auto", "--out", "b", "--metrics", "topk_accuracy,auroc")
    assert again.returncode == 0
    for file in ("run.json", "replicates.npy", "report.html"):
        assert (study / "run" / file).read_bytes() == (study / "b" / file).read_bytes()


def test_a_file_of_plausibilities_is_a_truth_too(study):
    made = equipoise(
        "aggregate", "votes.csv", "--model", "dirichlet", "--out", "t.npz", cwd=study
    )
    assert made.returncode == 0, made.stderr
    by_file = rows_of(run(study, "--truth", "t.npz", "--json"))
    by_model = rows_of(run(study, "--truth", "dirichlet", "--json"))
    assert by_file == by_model
    table(study / "votes.csv", ("item", "annotator", "label"), [("z", "a", "wart")])
    other = run(study, "--truth", "t.npz")
    assert other.returncode == 1
    assert "20 items without annotations" in other.stderr
    missing = run(study, "--truth", "nowhere.npz")
    assert missing.returncode == 1 and "nowhere.npz" in missing.stderr


def test_a_single_distribution_resamples_items(study):
    for name in ("majority_vote", "inverse_rank"):
        done = run(study, "--truth", name, "--json")
        assert all(row["low"] < row["high"] for row in rows_of(done).values())
        assert card(done)["holds_for"].startswith("Items like these")
        assert run(study, "--truth", name, "--out", name).returncode == 0
        held = json.loads((study / name / "run.json").read_text())["settings"]
        assert held["resample"] == "items" and "single distribution" in held["resample_reason"]


def test_groups_are_scored_as_grades(study):
    wanted = "ranked_probability_score,topk_accuracy"
    done = run(
        study, "--truth", "dirichlet", "--groups", "risk.csv", "--by-group", "--json",
        "--metrics", wanted,
    )  # fmt: skip
    votes, models = library(study)
    risk = Grouping.of(RISK, groups=("low", "medium", "high"))
    truth = coarsened(dirichlet(votes).drawn(50, seed=0), risk)
    for key, row in rows_of(done).items():
        if key[0] == "ranked_probability_score" and key[2] == "soft":
            one = next(one for one in models if one.model == key[1]).coarsened(risk)
            wanted = metrics.ranked_probability_score(truth.soft, one.aligned(truth.items))
            assert row["value"] == pytest.approx(wanted, abs=1e-12)
    by_votes = run(
        study, "--groups", "risk.csv", "--by-group", "--json",
        "--metrics", "ranked_probability_score,quadratic_weighted_kappa",
    )  # fmt: skip
    assert len(rows_of(by_votes)) == 8


def test_cases_of_a_group_and_what_they_are_worth(study):
    done = run(
        study, "--truth", "dirichlet", "--groups", "worth.csv", "--within", "high,low", "--json"
    )
    rows = rows_of(done)
    assert {key[0] for key in rows} == {
        "topk_accuracy|worth=high", "topk_accuracy|worth=low",
    }  # fmt: skip
    votes, models = library(study)
    truth = dirichlet(votes).drawn(50, seed=0)
    worth = Grouping.of(RISK, groups=("low", "medium", "high"), name="worth")
    one = conditioned(named("topk_accuracy"), worth, "high")
    result = evaluate(models, truth, metrics=[one])
    found = result.estimate("good", one.name).value
    assert rows[one.name, "good", "soft"]["value"] == found
    assert "Expected worth: " in done.stderr


def test_several_tasks_are_fitted_one_by_one(tmp_path):
    random = np.random.default_rng(0)
    votes = [
        (i, f"r{a}", task, random.integers(2))
        for i in range(8) for a in range(3) for task in ("oedema", "effusion")
    ]  # fmt: skip
    table(tmp_path / "votes.csv", ("item", "annotator", "task", "label"), votes)
    scores = [
        (i, task, m, round(random.random(), 3))
        for i in range(8) for task in ("oedema", "effusion") for m in ("a", "b")
    ]  # fmt: skip
    table(tmp_path / "scores.csv", ("item", "task", "model", "score"), scores)
    done = equipoise(
        "evaluate", "-a", "votes.csv", "-p", "scores.csv", "--truth", "dirichlet",
        "--draws", 40, "--replicates", 200, "--resample", "items-x-posterior",
        "--metrics", "topk_accuracy,auroc", "--out", "run", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    header = json.loads((tmp_path / "run/run.json").read_text())
    assert header["tasks"] == ["oedema", "effusion", "macro average"]
    assert [one["task"] for one in header["truth_model"]["tasks"]] == ["oedema", "effusion"]


def test_rankings_answer_a_question_about_one_class(study):
    rankings = [[[[0], [1, 2]], [[0]]], [[[3]], [[1], [3]]], [[[2], [3]], [[2]]]]
    (study / "ddx.json").write_text(json.dumps(rankings))
    random = np.random.default_rng(0)
    rows = [(i, *random.dirichlet(np.ones(5)).tolist()) for i in range(3)]
    table(study / "ddx.csv", ("item", *range(5)), rows)
    words = ("evaluate", "-a", "ddx.json", "-p", "ddx.csv", "--truth", "plackett_luce")
    done = equipoise(
        *words, "--draws", 60, "--metrics", "brier_score,topk_accuracy", "--positive", "3",
        "--resample", "items", "--replicates", 200, "--json", cwd=study,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    truth = plackett_luce(
        Annotations.from_rankings(rankings, classes=list("01234")), chain=Chain(60)
    )
    model = Predictions("ddx", truth.items, np.array(rows)[:, 1:], classes=truth.classes)
    sides = Grouping.of({name: "yes" if name == "3" else "no" for name in truth.classes})
    asked = coarsened(truth, sides).mean[:, sides.code("yes")]
    wanted = metrics.brier_score(asked, model.values[:, 3])
    assert rows_of(done)["brier_score", "ddx", "soft"]["value"] == pytest.approx(
        wanted, abs=1e-12
    )
    assert "Classes that nobody named are taken from the predictions: '4'" in done.stderr
    wrong = equipoise(*words, "--positive", "7", "--metrics", "auroc", cwd=study)
    assert wrong.returncode == 1 and "one of its classes" in wrong.stderr


def test_grades_and_ratings_are_fitted_before_a_threshold_is_asked(tmp_path):
    random = np.random.default_rng(0)
    level = random.normal(2, 1, 24)
    rated = level[:, None] + random.normal(0, 0.5, (24, 4))
    for name, values in (("ratings", rated.round(2)), ("grades", rated.round().clip(0, 4))):
        rows = [
            (i, f"r{a}", f"{value:g}", f"p{i // 3}")
            for i, row in enumerate(values) for a, value in enumerate(row)
        ]  # fmt: skip
        table(tmp_path / f"{name}.csv", ("item", "annotator", "label", "group"), rows)
    scores = [(i, "one", f"{1 / (1 + np.exp(2 - each)):.4f}") for i, each in enumerate(level)]
    table(tmp_path / "scores.csv", ("item", "model", "score"), scores)
    both = (
        ("ratings.csv", "auto", ("--kind", "interval"), "Normal ratings"),
        ("grades.csv", "dawid_skene_ordinal", ("--kind", "ordinal", "--classes", "0,1,2,3,4"),
         "2 groups"),
    )  # fmt: skip
    for name, truth, how, method in both:
        done = equipoise(
            "evaluate", "-a", name, "-p", "scores.csv", "--truth", truth, *how, "--at-least", 2,
            "--draws", 60, "--replicates", 200, "--resample", "items-x-posterior",
            "--metrics", "auroc,topk_accuracy", "--json", cwd=tmp_path,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert method in done.stderr
        assert card(done)["holds_for"].startswith("Groups like these, judged by")
        rows = rows_of(done)
        assert rows["auroc", "one", "soft"]["value"] > 0.7
    grades = read_annotations(tmp_path / "grades.csv", kind="ordinal", classes=list("01234"))
    sides = {grade: "at least" if grade >= "2" else "below" for grade in grades.classes}
    truth = coarsened(dawid_skene_ordinal(grades).drawn(60, seed=0), Grouping.of(sides))
    chance = np.array([float(each) for _, _, each in scores])
    wanted = metrics.topk_accuracy(truth, np.stack([1 - chance, chance], axis=1))
    found = rows["topk_accuracy", "one", "soft"]["value"]
    assert found == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--truth", "dirichlt"], 2, "did you mean 'dirichlet'?"),
        (["--truth", "dirichlet", "--draws", 1], 2, "--draws"),
        (["--truth", "dirichlet", "--within", "high"], 2, "--groups"),
        (["--groups", "risk.csv", "--by-group", "--within", "low"], 2, "expected one"),
        ([], 1, "--truth auto"),
        (["--reliability", 3], 1, "a model of the truth"),
        (["--truth", "mean_vote", "--reliability", 3], 1, "it has no such setting"),
        (["--truth", "normal"], 1, "--at-least"),
        (["--truth", "dirichlet", "--groups", "risk.csv", "--within", "hi"], 1, "'high'"),
        (["--truth", "dirichlet", "--groups", "gaps.csv", "--by-group"], 1, "row 2"),
        (["--truth", "dirichlet", "--groups", "twice.csv"], 1, "more than once"),
        (["--truth", "dirichlet", "--groups", "short.csv", "--by-group"], 1, "no group for"),
        (["--truth", "dirichlet", "--groups", "odd.csv"], 1, "one finite number per group"),
        (["--truth", "dirichlet", "--groups", "votes.csv"], 1, "class"),
        (["--truth", "dirichlet", "--groups", "nowhere.csv"], 1, "nowhere.csv"),
    ],
)
def test_refusals_name_the_remedy(study, words, code, message):
    table(study / "gaps.csv", ("class", "group"), [("naevus", ""), ("wart", "low")])
    table(study / "twice.csv", ("class", "group"), [("wart", "high"), ("wart", "low")])
    table(study / "short.csv", ("class", "group"), [("naevus", "low"), ("wart", "high")])
    rows = [("naevus", "low", 1), ("wart", "low", 2), ("cyst", "low", 1), ("melanoma", "b", 1)]
    table(study / "odd.csv", ("class", "group", "value"), rows)
    done = run(study, *words)
    assert done.returncode == code, done.stderr
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_every_metric_is_listed_with_its_meaning():
    done = equipoise("evaluate", "--list-metrics")
    assert done.returncode == 0
    for name in metrics.CATALOGUE:
        assert name.replace("_at_k", "_at_100") in done.stdout
    taught = equipoise("evaluate", "--help").stdout
    assert "set_accuracy" in taught and "Under a model of the truth" in taught


def test_differential_diagnoses_from_end_to_end(tmp_path):
    """Simulated class probabilities for the public dermatology cases."""
    folder = os.environ.get("EQUIPOISE_DATA")
    if folder is None:
        pytest.skip("EQUIPOISE_DATA is not set: the dermatology cases are not here")
    source = Path(folder) / "dermatology_ddx"
    names = (source / "dermatology_conditions.txt").read_text().splitlines()
    cases = json.loads((source / "dermatology_selectors.json").read_text())[:120]
    (tmp_path / "ddx.json").write_text(json.dumps(cases))
    (tmp_path / "conditions.txt").write_text("\n".join(names) + "\n")
    random = np.random.default_rng(1)
    first = np.zeros((len(cases), len(names)))
    for i, case in enumerate(cases):
        for reading in case:
            first[i, reading[0]] += 1
    for model, noise in (("near", 0.3), ("far", 0.95)):
        share = first / first.sum(axis=1, keepdims=True)
        values = (1 - noise) * share + noise * random.dirichlet(np.full(419, 0.05), len(cases))
        rows = [(i, *np.round(row, 6)) for i, row in enumerate(values)]
        table(tmp_path / f"{model}.csv", ("item", *names), rows)
    done = equipoise(
        "evaluate", "-a", "ddx.json", "-p", "near.csv", "-p", "far.csv", "--classes",
        "conditions.txt", "--truth", "plackett_luce", "--draws", 100, "--replicates", 200,
        "--metrics", OF_DRAWS, "--json", cwd=tmp_path,
    )  # fmt: skip
    rows = rows_of(done)
    assert len(rows) == 16
    for metric in ("topk_accuracy", "topk_accuracy:k=3", "average_overlap", "set_accuracy"):
        assert rows[metric, "near", "soft"]["value"] > rows[metric, "far", "soft"]["value"]
