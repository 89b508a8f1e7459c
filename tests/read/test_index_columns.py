"""Columns that are no data: the index of a frame, identifiers, what is noted of items."""

import numpy as np
import pandas as pd
import pytest

from equipoise import Annotations, InputError, evaluate, read_annotations, read_predictions
from tests.cli_sample import equipoise

FINDINGS = ["edema", "mass"]


@pytest.fixture
def folder(tmp_path):
    """A frame per reader and per model, as pandas writes it with its index."""
    random = np.random.default_rng(5)
    truth = random.random((30, 2)) < 0.4
    index = [f"film-{k}" for k in range(30)]
    for reader in ("ana", "bo", "cy"):
        votes = truth ^ (random.random((30, 2)) < 0.1)
        pd.DataFrame(votes.astype(int), index, FINDINGS).to_csv(tmp_path / f"{reader}.csv")
    for model in ("cnn", "vit"):
        scores = (truth + random.random((30, 2))) / 2
        pd.DataFrame(scores, index, FINDINGS).to_csv(tmp_path / f"{model}.csv")
    return tmp_path


def test_the_first_column_without_a_name_holds_the_items(folder):
    files = [folder / f"{name}.csv" for name in ("ana", "bo", "cy")]
    votes = read_annotations(files, layout="tasks")
    models = read_predictions([folder / "cnn.csv", folder / "vit.csv"], layout="tasks")
    assert votes.items[0] == models[0].items[0] == "film-0"
    assert votes.tasks == ("edema", "mass")
    assert "which has no name, as item" in " ".join(map(str, votes.notices))
    shown = equipoise("check", "ana.csv", "bo.csv", "cy.csv", "cnn.csv", "vit.csv", cwd=folder)
    assert shown.returncode == 0, shown.stderr


def test_a_frame_that_was_written_and_read_twice_has_its_items(folder):
    pd.read_csv(folder / "cnn.csv").to_csv(folder / "twice.csv", index=False)
    assert read_predictions(folder / "twice.csv", layout="tasks")[0].items[0] == "film-0"


def test_the_advice_on_a_column_without_a_name_can_be_followed(folder):
    cells = [line.split(",") for line in (folder / "cnn.csv").read_text().split()]
    rows = [",".join([*line[1:], line[0]]) for line in cells]
    (folder / "late.csv").write_text("\n".join(rows))
    votes = ["-a", "ana.csv", "-a", "bo.csv", "-a", "cy.csv"]
    done = equipoise("evaluate", *votes, "-p", "late.csv", "--prediction-columns", "item=",
                     "--replicates", 20, cwd=folder)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_identifiers_and_notes_of_items_are_no_tasks(tmp_path):
    heads = "Image ID,Reader ID,Set ID,Patient,Age,sex,edema,mass"
    rows = [f"{i},r{r},{i % 2},P{i // 2},{40 + i},{'FM'[i % 2]},{(i + r) % 2},{i % 2}"
            for i in range(8) for r in range(3)]  # fmt: skip
    (tmp_path / "reads.csv").write_text("\n".join([heads, *rows]))
    votes = read_annotations(tmp_path / "reads.csv", layout="tasks")
    assert votes.tasks == ("edema", "mass")
    assert len(votes.annotators) == 3
    said = " ".join(map(str, votes.notices))
    assert "'Set ID', 'Patient', 'Age' and 'sex' are no tasks" in said
    assert "group" in said


def test_a_finding_named_like_a_note_is_a_task_where_it_has_its_labels(tmp_path):
    rows = [f"{i},{i % 2},{i // 4}" for i in range(8)]
    (tmp_path / "ana.csv").write_text("\n".join(["item,view,mass", *rows]))
    votes = read_annotations(tmp_path / "ana.csv", layout="tasks")
    assert votes.tasks == ("view", "mass")


def test_python_asks_what_the_command_line_asks():
    items = tuple(f"{k}" for k in range(40))
    random = np.random.default_rng(1)
    label = random.integers(0, 3, 40)
    votes = Annotations(
        kind="nominal", items=items, classes=("naevus", "melanoma", "wart"),
        annotators=("ana", "bo"), item=np.tile(np.arange(40), 2),
        annotator=np.repeat([0, 1], 40), label=np.concatenate([label, label]),
    )  # fmt: skip
    scores = (label == 1) / 2 + random.random(40) / 2
    frame = pd.DataFrame({"item": items, "cnn": scores})
    done = evaluate(frame, votes, metrics=["sensitivity"], positive="melanoma", threshold=0.6)
    expected = (scores[label == 1] >= 0.6).mean()
    assert done.estimate("cnn", "sensitivity").value == pytest.approx(expected)
    assert isinstance(done.to_dataframe(), pd.DataFrame)
    with pytest.raises(InputError, match="keyword"):
        evaluate(frame, votes, negative="wart")
    with pytest.raises(InputError, match="bo"):
        evaluate(frame, votes, positive="melanoma", gold="boo")
