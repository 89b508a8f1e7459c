"""Paths in Python give the study that the command line makes of the same files."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from equipoise import InputError, evaluate, read_annotations, read_predictions, write_study
from equipoise.cli import app
from equipoise.study import Settings


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(3)
    truth = random.random(60)
    votes = ["item,annotator,label"] + [
        f"i{i},r{r},{int(truth[i] + random.normal(0, 0.3) > 0.5)}"
        for i in range(60)
        for r in range(4)
    ]
    scores = ["item,vit,cnn"] + [
        f"i{i},{x + random.normal(0, 0.2):.6f},{x + random.normal(0, 0.5):.6f}"
        for i, x in enumerate(truth)
    ]
    for name, lines in (("votes", votes), ("scores", scores)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "votes.csv", tmp_path / "scores.csv"


def numbers(result):
    return [(row.model, row.metric, row.labels, row.value, row.low, row.high) for row in result]


def test_python_and_the_command_line_build_the_same_study(files):
    votes, scores = files
    words = ["evaluate", str(votes), str(scores), "--replicates", "200", "--json"]
    record = json.loads(CliRunner().invoke(app, words).stdout)
    result = evaluate(scores, votes, settings=Settings(replicates=200))
    names = ("model", "metric", "labels", "value", "low", "high")
    assert [tuple(row[name] for name in names) for row in record["rows"]] == numbers(
        result.table()
    )


def test_paths_come_in_any_order_and_beside_what_is_read(files, tmp_path):
    votes, scores = files
    how = {"settings": Settings(replicates=50), "metrics": ["auroc"]}
    read = read_annotations(votes), read_predictions(scores)
    write_study(tmp_path / "study.csv", read[0], read[1])
    expected = numbers(evaluate(read[1], read[0], **how).table())
    for given in (
        (str(scores), str(votes)), (votes, scores), ([scores, votes],), (scores, read[0]),
        (read[0], scores), (read[1], votes), (tmp_path / "study.csv",),
    ):  # fmt: skip
        assert numbers(evaluate(*given, **how).table()) == expected


def test_one_side_alone_is_refused(files):
    for path, there in zip(files, ("annotations", "predictions"), strict=True):
        with pytest.raises(InputError, match=f"{path.name}.: {there} alone, expected"):
            evaluate(path)
    with pytest.raises(InputError, match=r"nothing\.csv"):
        evaluate("nothing.csv", files[0])


def test_the_reference_standard_may_be_a_file_of_its_own(files, tmp_path):
    votes, scores = files
    gold = tmp_path / "panel.csv"
    gold.write_text("item,label\n" + "".join(f"i{i},{int(i < 30)}\n" for i in range(60)))
    how = {"metrics": ["auroc"], "settings": Settings(replicates=50)}
    by_file = evaluate(scores, votes, gold=gold, **how)
    rows = "".join(f"i{i},panel,{int(i < 30)}\n" for i in range(60))
    votes.write_text(votes.read_text() + rows)
    assert numbers(by_file.table()) == numbers(
        evaluate(scores, votes, gold="panel", **how).table()
    )
    assert by_file.questions[0].votes.gold.all()
