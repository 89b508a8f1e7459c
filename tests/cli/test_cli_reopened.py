"""The folder of an evaluation is enough to go on: its files are found again, or it is said."""

import inspect
import json
import shutil
from pathlib import Path

import pytest

from equipoise.cli.evaluate import ASKED_AGAIN, FILES_AGAIN, evaluate
from equipoise.cli.options import OF_ENGINE
from equipoise.cli.reopened import AS_IN_RUN
from equipoise.read.codec import sealed
from tests.cli_sample import QUICK, flat, write_study

STABILITY = (*QUICK, "--only", "flips", "--json")


def evaluated(equipoise, folder, out, *words):
    files = ("-a", folder / "votes.csv", "-p", folder / "scores.csv")
    code, _, said = equipoise(
        "evaluate", *files, "--replicates", 20, "--json", "--out", out, *words
    )
    assert code == 0, said


@pytest.fixture
def apart(tmp_path, monkeypatch, equipoise):
    """Inputs in one folder, the run in another, as in the gallery."""
    monkeypatch.chdir(tmp_path)
    Path("inputs").mkdir()
    write_study(Path("inputs"))
    evaluated(equipoise, Path("inputs"), "pages/study")
    return tmp_path


def test_inputs_are_found_from_anywhere(apart, equipoise, monkeypatch):
    header = json.loads((apart / "pages/study/run.json").read_text())
    assert [one["path"] for one in header["inputs"]] == [
        "../../inputs/votes.csv", "../../inputs/scores.csv",
    ]  # fmt: skip
    assert str(apart) not in (apart / "pages/study/run.json").read_text()
    for place, run in ((apart, "pages/study"), (apart / "pages/study", "."), ("/", None)):
        monkeypatch.chdir(place)
        code, _, said = equipoise("evaluate", run or apart / "pages/study", *STABILITY)
        assert code == 0, said
        words = (
            "evaluate",
            run or apart / "pages/study",
            "--pair",
            "good",
            "fair",
            *QUICK,
            "--json",
        )
        assert equipoise(*words)[0] == 0
        words = ("plan", run or apart / "pages/study", "--simulations", 0, "--json")
        assert equipoise(*words)[0] == 0


def test_a_moved_tree_still_works_and_has_the_same_bytes(apart, equipoise, monkeypatch):
    other = apart / "other"
    other.mkdir()
    shutil.copytree(apart / "inputs", other / "inputs")
    monkeypatch.chdir(other)
    evaluated(equipoise, Path("inputs"), "pages/study")
    for name in ("run.json", "replicates.npy", "report.html"):
        ours, theirs = (top / "pages/study" / name for top in (apart, other))
        assert ours.read_bytes() == theirs.read_bytes(), name
    (apart / "moved").mkdir()
    (apart / "inputs").rename(apart / "moved/inputs")
    (apart / "pages").rename(apart / "moved/pages")
    monkeypatch.chdir(apart)
    assert equipoise("evaluate", "moved/pages/study", *STABILITY)[0] == 0


def test_links_are_followed_either_way(apart, equipoise):
    (apart / "deep/er").mkdir(parents=True)
    (apart / "deep/er/link").symlink_to(apart / "pages/study")
    assert equipoise("evaluate", "deep/er/link", *STABILITY)[0] == 0


def test_a_file_that_was_found_but_changed_is_named(apart, equipoise):
    votes = apart / "inputs/votes.csv"
    whole = votes.read_text()
    votes.write_text(whole + "0,r9,1\n")
    code, _, said = equipoise("evaluate", "pages/study", *STABILITY)
    assert code == 1
    assert "inputs/votes.csv was found but is changed since (SHA-256" in flat(said)
    assert "take the changed file: -a inputs/votes.csv" in flat(said)
    code, _, said = equipoise("evaluate", "pages/study", *STABILITY, "-a", votes)
    assert code == 0 and "not the file that was evaluated" in said
    Path("votes.csv").write_text(whole)  # in this folder: the right one counts
    assert equipoise("evaluate", "pages/study", *STABILITY)[0] == 0


def test_a_file_that_is_nowhere_is_asked_for(apart, equipoise):
    (apart / "inputs/votes.csv").rename(apart / "inputs/mine.csv")
    code, _, said = equipoise("evaluate", "pages/study", *STABILITY)
    assert code == 1
    assert "neither where it lay (../../inputs/votes.csv from the run), beside" in flat(said)
    assert "give its place: -a votes.csv" in flat(said)
    words = ("evaluate", "pages/study", *STABILITY, "-a", "inputs/mine.csv")
    assert equipoise(*words)[0] == 0


def test_files_are_looked_for_where_a_run_does_not_say_where_they_lay(apart, equipoise):
    path = apart / "pages/study/run.json"
    header = json.loads(path.read_text())
    for one in header["inputs"]:
        del one["path"]
    path.write_text(json.dumps(sealed(header)))
    code, _, said = equipoise("evaluate", "pages/study", *STABILITY)
    assert code == 1 and "neither beside the run, in it nor in this folder" in flat(said)
    for place in ("pages", "pages/study", "."):
        for name in ("votes.csv", "scores.csv"):
            shutil.copy(apart / "inputs" / name, apart / place)
        assert equipoise("evaluate", "pages/study", *STABILITY)[0] == 0, place
        for name in ("votes.csv", "scores.csv"):
            (apart / place / name).unlink()


@pytest.mark.usefixtures("apart")
def test_classes_and_layout_of_predictions_carry_over(equipoise):
    votes, scores = Path("inputs/votes.csv"), Path("inputs/stages.csv")
    votes.write_text(votes.read_text().replace(",1\n", ",b\n").replace(",0\n", ",a\n"))
    lines = [f"{item},m{k},{1 - k / 4},{k / 4},0" for k in (1, 3) for item in range(40)]
    scores.write_text("\n".join(["item,model,a,b,c", *lines]) + "\n")
    how = ("--classes", "a,b,c", "--prediction-layout", "classes", "--metrics", "accuracy")
    files = ("-a", votes, "-p", scores, "--replicates", 20)
    code, _, said = equipoise("evaluate", *files, *how, "--json", "--out", "pages/three")
    assert code == 0, said
    code, out, said = equipoise("evaluate", "pages/three", "--replicates", 20, "--only",
                                "ranking", "--json")  # fmt: skip
    assert code == 0, said
    found = json.loads(out)
    assert found["models"] == ["m1", "m3"] and found["metrics"] == ["accuracy"]


def test_items_that_were_dropped_stay_dropped(apart, equipoise):
    votes = apart / "inputs/votes.csv"
    votes.write_text(votes.read_text() + "extra,r0,1\n")
    evaluated(equipoise, Path("inputs"), "pages/more", "--on-missing", "drop")
    code, _, said = equipoise("evaluate", "pages/more", *STABILITY)
    assert code == 0 and "extra" in said
    assert equipoise("evaluate", "pages/more", "--pair", "good", "fair", *QUICK)[0] == 0


def grown(equipoise, items, *words):
    folder = write_study(Path(f"study{items}").resolve(), items=items)
    files = ("-a", folder / "votes.csv", "-p", folder / "scores.csv")
    out = ("--out", "run", "--overwrite", "--replicates", 20)
    return equipoise("evaluate", *files, *out, *words)


def test_a_grown_study_is_a_repeated_look_unless_looks_are_planned(
    equipoise, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for items in (40, 60, 80):
        Path(f"study{items}").mkdir()
    assert "repeated look" not in grown(equipoise, 40)[2]
    assert "repeated look" in grown(equipoise, 60)[2]
    assert grown(equipoise, 40, "--look", "1/3")[0] == 0
    code, _, said = grown(equipoise, 60, "--look", "1/3")
    assert code and "look 1 of 40 items was made" in said
    code, _, said = grown(equipoise, 60, "--look", "2/3")
    assert code == 0 and "Look 2 of 3" in said
    looks = json.loads(Path("run/run.json").read_text())["settings"]["looks"]
    assert [look["items"] for look in looks] == [40, 60]
    code, _, said = equipoise("evaluate", "run", "--replicates", 20)
    assert code == 0 and "Look 2 of 3" in said  # the same look at the same items
    assert "repeated look" in grown(equipoise, 80)[2]


AGAIN = {*ASKED_AGAIN, *FILES_AGAIN, *AS_IN_RUN, "columns", "prediction_columns", "classes",
         "dataset", "annotations", "predictions", "metrics", "title", "resample"}  # fmt: skip
NOT_AGAIN = {
    *("study", "on_disk", "list_metrics", "full", "analyses", "pair"),  # what is looked at
    *("groups", "by_group", "within"),  # runs by groups of classes are refused
    *("out", "overwrite", "as_json", "verbose", *OF_ENGINE),  # change no number
    "help_all",
}
ASKED = (
    ("--threshold", "0.4", "--prevalence", "0.1", "--margin", "0.1", "--level", "0.9",
     "--labels", "hard", "--seed", 3, "--replicates", 21, "--matters", "0.05", "--most", 7,
     "--metrics", "sensitivity", "--title", "Mine", "--resample", "items"),
    ("--attributes", "items.csv", "--item-group", "site", "--annotator-attributes",
     "people.csv", "--annotator-group", "school", "--look", "1/3", "--repeats", "last"),
    ("--threshold", "youden", "--tuning", "folds=2", "--annotators", "fixed", "--ties",
     "negative", "--exchangeable", "--classes", "0,1"),
    ("--truth", "dirichlet", "--draws", 30, "--reliability", "2", "--prior", "0.5"),
)  # fmt: skip


def test_an_option_of_evaluate_is_repeated_or_no_part_of_what_was_asked():
    taken = set(inspect.signature(evaluate).parameters)
    assert taken == AGAIN | NOT_AGAIN and not AGAIN & NOT_AGAIN


@pytest.mark.parametrize("words", ASKED)
def test_a_run_is_evaluated_again_as_it_was_asked(words, equipoise, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_study(Path())
    lines = [line.split(",") for line in Path("votes.csv").read_text().splitlines()[1:]]
    items, people = ({line[k] for line in lines} for k in (0, 1))
    for name, head, names in (
        ("items", "item,site", items), ("people", "annotator,school", people)
    ):  # fmt: skip
        lines = [f"{one},{'abc'[k % 3]}" for k, one in enumerate(sorted(names))]
        Path(f"{name}.csv").write_text("\n".join([head, *lines]) + "\n")
    evaluated(equipoise, Path(), "run", *words)
    code, _, said = equipoise("evaluate", "run", "--json", "--out", "again")
    assert code == 0, said
    first, again = (json.loads(Path(run, "run.json").read_text()) for run in ("run", "again"))
    for run in (first, again):
        del run["settings"]["resample_reason"]  # as before, in place of a rule
    for part in ("asked", "question", "settings", "title", "rows"):
        assert again[part] == first[part], part
    assert {file["role"] for file in again["inputs"]} == {
        file["role"] for file in first["inputs"]
    }
