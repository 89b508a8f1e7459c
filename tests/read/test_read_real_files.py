"""Files as they are found: the numbers of items, annotators and votes are published."""

import os
from pathlib import Path

import numpy as np
import pytest

from equipoise.datasets import load_chexpert
from equipoise.read.annotations import read_annotations
from equipoise.read.canonical import read_study, write_study
from equipoise.read.predictions import read_predictions
from equipoise.types import InputError
from tests.read.test_read_dataframes import same

DATA = Path(os.environ.get("EQUIPOISE_DATA", "no-data"))
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="EQUIPOISE_DATA does not point at the shared data sets"
)

GRADES = {"kind": "ordinal", "classes": [1, 2, 3, 4, 5]}
VOTES = [
    ("adult2", GRADES | {"classes": ["G", "P", "R", "X"]}, "ordinal", 4, (11040, 825, 92721)),
    ("anesthesia", {"kind": "ordinal", "classes": [1, 2, 3, 4]}, "ordinal", 4, (45, 5, 315)),
    ("bluebirds", {}, "binary", 2, (108, 39, 4212)),
    ("cifar10n", {}, "nominal", 10, (50000, 3, 150000)),
    ("dogs", {}, "nominal", 4, (807, 109, 8070)),
    ("emotion_scores", {"kind": "interval"}, "interval", 0, (700, 38, 7000)),
    ("enhance", {"kind": "interval"}, "interval", 0, (5508, 114, 42608)),
    ("face_sentiment", {}, "nominal", 4, (584, 27, 5242)),
    ("hitspam_cf", {}, "binary", 2, (5380, 153, 42762)),
    ("lidc", GRADES | {"columns": {"group": "patient"}}, "ordinal", 5, (2651, 8, 6859)),
    ("music_genre", {}, "nominal", 10, (700, 44, 2945)),
    ("product", {}, "binary", 2, (8315, 176, 24945)),
    ("sentiment_sp", {}, "binary", 2, (4999, 203, 27746)),
    ("sleep_dodh", {}, "nominal", 5, (25440, 5, 126274)),
    ("snow_rte", {}, "binary", 2, (800, 164, 8000)),
    ("snow_wsd", {}, "nominal", 3, (177, 34, 1770)),
    ("weather_amt", {}, "nominal", 5, (300, 110, 6030)),
    ("weather_cf", {}, "nominal", 5, (300, 461, 1720)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "how", "kind", "classes", "size"), VOTES, ids=[each[0] for each in VOTES]
)
def test_votes(name, how, kind, classes, size):
    table = read_annotations(DATA / "votes" / f"{name}.csv", **how)
    assert (len(table.items), len(table.annotators), len(table)) == size
    assert (table.kind, len(table.classes)) == (kind, classes)
    assert "many_annotators" not in {notice.code for notice in table.notices}


REFUSED = ("cifar10n", "face_sentiment", "hitspam_cf", "lidc", "music_genre", "sentiment_sp",
           "sleep_dodh")  # fmt: skip


@pytest.mark.parametrize("name", [*REFUSED, "adult2", "emotion_scores", "weather_amt"])
def test_swapped_columns_are_refused_or_said(name, tmp_path):
    header, body = (DATA / "votes" / f"{name}.csv").read_text().split("\n", 1)
    swapped = header.replace("item,annotator", "annotator,item")
    (tmp_path / "votes.csv").write_text(f"{swapped}\n{body}")
    how = {"kind": "interval"} if name == "emotion_scores" else {}
    if name in REFUSED:
        with pytest.raises(InputError, match="the columns look swapped"):
            read_annotations(tmp_path / "votes.csv", **how)
    else:
        notices = read_annotations(tmp_path / "votes.csv", **how).notices
        assert "many_annotators" in {notice.code for notice in notices}


def test_the_folders_of_chexpert_are_the_published_study():
    study = load_chexpert()
    table = read_annotations(DATA / "chexpert" / "radiologists")
    assert (len(table.items), len(table.annotators), len(table.tasks)) == (500, 8, 14)
    for task in study.annotations.tasks:
        ours, theirs = (
            {
                (one.items[i], one.annotators[a].split("_")[0]): int(label)
                for i, a, label in zip(
                    one.item[use], one.annotator[use], one.label[use], strict=True
                )
            }
            for one in (table, study.annotations)
            for use in [one.in_task(task)]
        )
        assert ours == theirs
    models = read_predictions(DATA / "chexpert" / "predictions", tasks=table.tasks)
    known = {(one.model, one.task): one for one in study.predictions}
    assert len(models) == len(known) == 50
    for one in models:
        same = known[one.model.split("_")[0], one.task]
        assert np.array_equal(one.values, same.aligned(one.items))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_real_study_in_one_file_comes_back(ending, tmp_path):
    study = load_chexpert()
    write_study(tmp_path / f"study.{ending}", study.annotations, study.predictions)
    table, models = read_study(tmp_path / f"study.{ending}")
    assert same(table, study.annotations)
    for one, two in zip(models, study.predictions, strict=True):
        assert (one.model, one.task, one.items) == (two.model, two.task, two.items)
        assert np.array_equal(one.values, two.values)


def test_every_votes_file_is_listed():
    files = {path.stem for path in (DATA / "votes").glob("*.csv")}
    assert files == {each[0] for each in VOTES} | {"sleep_dodh_models"}


def test_repeats_of_hitspam():
    path = DATA / "votes" / "hitspam_cf.csv"
    lines = path.read_text().splitlines()[1:]
    distinct = len({line.rsplit(",", 1)[0] for line in lines})
    notices = {notice.code: notice for notice in read_annotations(path).notices}
    assert str(notices["repeats_kept"]).startswith(f"{len(lines) - distinct:,} votes repeat")
    assert len(read_annotations(path, repeats="last")) == distinct


def test_differential_diagnoses():
    folder = DATA / "dermatology_ddx"
    names = (folder / "dermatology_conditions.txt").read_text().splitlines()
    table = read_annotations(folder / "dermatology_selectors.json", classes=names)
    assert (len(table.items), int(table.reading.max()) + 1) == (1947, 9602)
    assert table.annotators is None
    assert len(table.classes) == 419
    assert table.label[:3].tolist() == [56, 372, 15]
    last = read_annotations(folder / "dermatology_selectors.json")
    np.testing.assert_array_equal(last.rank, table.rank)


def test_counts_of_cifar10h():
    path = DATA / "cifar10h" / "cifar10h-counts.npy"
    table, matrix = read_annotations(path), np.load(path)
    assert (len(table.items), len(table.classes)) == (10000, 10)
    back = np.zeros((10000, 10))
    back[table.item, table.label] = table.count
    np.testing.assert_array_equal(back, matrix)


def test_predictions_of_chexpert_and_sleep():
    paths = sorted((DATA / "chexpert" / "predictions").glob("*.csv"))
    found = read_predictions(paths, layout="tasks", columns={"item": "Study"})
    assert len(found) == 50
    assert {len(each.items) for each in found} == {500}
    assert len({each.task for each in found}) == 5
    sleep = read_predictions(DATA / "votes" / "sleep_dodh_models.csv")
    assert len(sleep) == 6
