"""A reference standard beside readers: named by an annotator or a file, never taken for one."""

import json

import numpy as np
import pytest

from equipoise import Annotations, InputError
from tests.cli_sample import equipoise

ITEMS, READERS = 60, 4


@pytest.fixture
def folder(tmp_path):
    """A file for each of four readers, one of a panel, and a model."""
    random = np.random.default_rng(2)
    truth = random.random(ITEMS) < 0.4
    (tmp_path / "readers").mkdir()

    def write(path, answers):
        rows = [f"{i},{int(x)}" for i, x in enumerate(answers)]
        path.write_text("\n".join(["item,edema", *rows]) + "\n")

    for reader in range(READERS):
        wrong = random.random(ITEMS) < 0.2
        write(tmp_path / f"readers/r{reader}.csv", truth ^ wrong)
    write(tmp_path / "consensus.csv", truth)
    evidence = 2 * truth + random.normal(size=ITEMS)
    other = truth + random.normal(size=ITEMS)
    rows = [
        f"{i},edema,{name},{score!r}"
        for name, scores in (("net", evidence), ("tree", other))
        for i, score in enumerate(scores.tolist())
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["item,task,model,score", *rows]) + "\n")
    return tmp_path


def evaluated(folder, *words, code=0):
    out = (
        "--layout",
        "tasks",
        "-p",
        "scores.csv",
        "--replicates",
        20,
        "--out",
        "run",
        "--overwrite",
    )
    done = equipoise("evaluate", *words, *out, cwd=folder)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_a_file_named_as_gold_is_the_truth_and_readers_stay_readers(folder):
    done = evaluated(folder, "-a", "readers", "--gold", "consensus.csv", "--threshold", "1")
    run = json.loads((folder / "run/run.json").read_text())
    assert f"{READERS} annotators" in done
    assert "by the reference standard" in done
    assert "by the reference standard" in done
    assert "Agreement" in done
    assert "split the annotators" in done
    finding = next(part for part in run["report"]["findings"] if part["key"] == "stated_cuts")
    counts = {row["model"]: row["sensitivity_count"] for row in finding["tables"][0]["rows"]}
    truth = np.loadtxt(folder / "consensus.csv", delimiter=",", skiprows=1)[:, 1] == 1
    lines = (folder / "scores.csv").read_text().split()[1:]
    for name in ("net", "tree"):
        called = np.array([float(x.split(",")[3]) for x in lines if f",{name}," in x]) >= 1
        assert counts[name] == f"{(called & truth).sum()}/{truth.sum()}"


def test_a_run_that_is_opened_again_knows_its_standard(folder):
    evaluated(folder, "-a", "readers", "--gold", "consensus.csv")
    again = equipoise("evaluate", "run", "--out", "again", "--replicates", 20, cwd=folder)
    assert "by the reference standard" in again.stdout


def test_an_annotator_called_like_a_standard_is_asked_about(folder):
    done = evaluated(folder, "-a", "readers", "-a", "consensus.csv", code=1)
    assert "--gold consensus" in done
    assert "--gold ignore" in done
    for gold, whom in (("consensus", "standard"), ("ignore", "annotators like these")):
        done = evaluated(folder, "-a", "readers", "-a", "consensus.csv", "--gold", gold)
        assert whom in done


def test_an_unknown_standard_is_refused_with_the_annotators(folder):
    done = evaluated(folder, "-a", "readers", "--gold", "r9", code=1)
    assert "r0" in done


def test_a_standard_without_readers_is_refused():
    votes = Annotations(
        kind="binary", items=("a",), classes=("0", "1"), item=np.array([0]),
        label=np.array([1]), annotators=("panel",), annotator=np.array([0]),
    )  # fmt: skip
    with pytest.raises(InputError, match="votes of nobody else"):
        votes.with_gold("panel")
