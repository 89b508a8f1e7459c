"""From files to a collection: by item, never by position."""

import os
import random
import re

import numpy as np
import pytest

from equipoise.clean.encoders import GreyPixels
from equipoise.clean.reading import read_collection
from equipoise.types import InputError

Image = pytest.importorskip("PIL.Image")


def fill(folder, names):
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        values = np.random.default_rng(number).integers(0, 256, (9, 9, 3), np.uint8)
        Image.fromarray(values).save(path)
    return folder


def codes(reading):
    return [one.code for one in reading.notices]


def labels_of(reading):
    data = reading
    return {
        item: data.classes[code] if code >= 0 else None
        for item, code in zip(data.items, data.labels.tolist(), strict=True)
    }


def write(path, text):
    path.write_text(text)
    return path


def test_a_folder_with_bad_files_is_read_without_them(tmp_path):
    fill(tmp_path, ["b.png", "a/c.png"])
    (tmp_path / "bad.png").write_bytes(b"x")
    (tmp_path / "notes.txt").write_text("x")
    told = []
    reading = read_collection(
        tmp_path, encoder="pixels", progress=lambda a, b: told.append((a, b))
    )
    assert reading.items == ("a/c.png", "b.png")
    assert [one.where for one in reading.rejected] == ["bad.png"]
    assert codes(reading) == ["files_rejected", "no_images"]
    expected = GreyPixels().encode(reading.images, [0, 1])
    assert (reading.embeddings == expected).all()
    assert [a for a, _ in told] == sorted(a for a, _ in told) and told[-1][0] == told[-1][1]


def test_an_empty_folder_an_archive_and_a_missing_path_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no image, expected a folder with images"):
        read_collection(tmp_path / "empty")
    (tmp_path / "empty/a.png").touch()
    with pytest.raises(InputError, match=r"a\.png \(an empty file\)"):
        read_collection(tmp_path / "empty")
    (tmp_path / "images.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="unpack it"):
        read_collection(tmp_path / "images.zip")
    with pytest.raises(InputError, match="no such file"):
        read_collection(tmp_path / "gone")


def test_labels_are_put_to_items_by_path_in_any_order(tmp_path):
    fill(tmp_path / "images", ["a/1.png", "a/2.png", "b/1.png"])
    table = write(
        tmp_path / "labels.csv",
        "item,label,split\nb/1.png,cat,test\na/2.png,dog,train\n./a\\1.png,cat,train\n",
    )
    reading = read_collection(tmp_path / "images", labels=table)
    assert labels_of(reading) == {"a/1.png": "cat", "a/2.png": "dog", "b/1.png": "cat"}
    assert reading.split == ("train", "train", "test")
    assert reading.classes == ("cat", "dog") and codes(reading) == ["class_single"]


@pytest.mark.parametrize(
    "rows", ["2.png,dog\n1.png,cat", "x/2.png,dog\ny/1.png,cat", "2,dog\n1,cat"]
)
def test_labels_by_file_name_with_or_without_ending(tmp_path, rows):
    fill(tmp_path / "images", ["a/1.png", "b/2.png"])
    table = write(tmp_path / "labels.csv", f"Image ID,Diagnosis\n{rows}\n")
    reading = read_collection(tmp_path / "images", labels=table)
    assert labels_of(reading) == {"a/1.png": "cat", "b/2.png": "dog"}
    assert "items_by_name" in codes(reading) and "columns_by_synonym" in codes(reading)


def test_file_names_that_are_not_unique_are_no_items(tmp_path):
    fill(tmp_path / "images", ["a/1.png", "b/1.png"])
    table = write(tmp_path / "labels.csv", "item,label\n1.png,cat\n")
    with pytest.raises(InputError, match=r"none of its items.*'1\.png'.*'a/1\.png'"):
        read_collection(tmp_path / "images", labels=table)


def test_missing_and_unknown_labels_are_counted(tmp_path):
    fill(tmp_path / "images", [f"{n}.png" for n in range(6)])
    table = write(
        tmp_path / "labels.tsv",
        "item\tlabel\n0.png\tx\n1.png\tx\n2.png\t\n3.png\tnan\n4.png\ty\ngone.png\ty\n",
    )
    reading = read_collection(tmp_path / "images", labels=table)
    assert reading.labels.tolist() == [0, 0, -1, -1, 1, -1]
    told = {one.code: one.values for one in reading.notices}
    assert told["labels_missing"] == {"missing": 3, "items": 6}
    assert told["labels_unknown"] == {"labels": 1, "names": ("gone.png",)}
    assert told["class_single"] == {"classes": ("y",)}
    assert all(str(one) for one in reading.notices)


def test_labels_twice_without_column_or_without_any_are_refused(tmp_path):
    fill(tmp_path / "images", ["1.png"])
    for text, words in (
        ("item,label\n1.png,a\n1.png,b\n", "more than once"),
        ("item,age\n1.png,3\n", "columns item and label"),
        ("label,age\na,3\n", "name the column of ids"),
        ("item,label\n1.png,\n", "a label for some items"),
        ("item,label\n,a\n", "blank id"),
    ):
        table = write(tmp_path / "labels.csv", text)
        with pytest.raises(InputError, match=words):
            read_collection(tmp_path / "images", labels=table)


def test_labels_and_parts_by_folders(tmp_path):
    fill(tmp_path, ["cat/1.png", "dog/x/1.png", "loose.png"])
    reading = read_collection(tmp_path, labels="folders")
    assert labels_of(reading) == {"cat/1.png": "cat", "dog/x/1.png": "dog", "loose.png": None}
    fill(tmp_path / "parts", ["train/cat/1.png", "test/dog/1.png", "test/2.png"])
    both = read_collection(tmp_path / "parts", labels="folders", split="folders")
    assert both.split == ("test", "test", "train")
    assert labels_of(both) == {
        "test/2.png": None, "test/dog/1.png": "dog", "train/cat/1.png": "cat"
    }  # fmt: skip
    fill(tmp_path / "flat", ["1.png"])
    for how in ({"labels": "folders"}, {"split": "folders"}):
        with pytest.raises(InputError, match="no image in a sub-folder"):
            read_collection(tmp_path / "flat", **how)
    with pytest.raises(InputError, match="one of folders"):
        read_collection(tmp_path / "flat", split="column")


def test_a_mapping_gives_labels(tmp_path):
    fill(tmp_path, ["1.png", "2.png"])
    assert labels_of(read_collection(tmp_path, labels={"2.png": "b", "1.png": "a"})) == {
        "1.png": "a", "2.png": "b"
    }  # fmt: skip


def test_classes_that_are_numbers_stand_in_their_order(tmp_path):
    np.savez(
        tmp_path / "a.npz", embeddings=np.eye(3), items=["a", "b", "c"], labels=["10", "9", ""]
    )
    data = read_collection(tmp_path / "a.npz")
    assert data.classes == ("9", "10") and data.labels.tolist() == [1, 0, -1]


def test_embeddings_whose_order_differs_are_put_to_images_by_id(tmp_path):
    fill(tmp_path / "images", ["1.png", "2.png", "3.png"])
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    np.savez(tmp_path / "f.npz", features=values, ids=["3.png", "1.png", "2.png"])
    reading = read_collection(tmp_path / "images", encoder=str(tmp_path / "f.npz"))
    assert reading.embeddings.tolist() == values[[1, 2, 0]].tolist()
    np.savez(tmp_path / "g.npz", features=values[:2], ids=["3.png", "1.png"])
    with pytest.raises(InputError, match=r"item '2\.png'.*an embedding for every image"):
        read_collection(tmp_path / "images", encoder=str(tmp_path / "g.npz"))


# files of embeddings


def test_npz_with_everything(tmp_path):
    np.savez(
        tmp_path / "a.npz", features=np.eye(4, dtype=np.float16), index=[8, 11, 16, 5],
        labels=[1, 0, -1, 1], classes=["no", "yes"], split=["train", "test", "test", "x"],
    )  # fmt: skip
    reading = read_collection(tmp_path / "a.npz", encoder="default")
    data = reading
    assert data.items == ("8", "11", "16", "5") and data.classes == ("no", "yes")
    assert data.labels.tolist() == [1, 0, -1, 1] and data.split[3] == "x"
    assert data.embeddings.dtype == np.float32 and data.images is None
    table = write(tmp_path / "l.csv", "id,label\n5,maybe\n8,no\n")
    assert labels_of(read_collection(tmp_path / "a.npz", labels=table)) == {
        "8": "no", "11": None, "16": None, "5": "maybe"
    }  # fmt: skip


def test_npy_has_rows_for_ids(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3))
    reading = read_collection(tmp_path / "a.npy")
    assert reading.items == ("0", "1", "2") and codes(reading) == ["ids_are_rows"]
    np.save(tmp_path / "a.npy", np.float64(1))
    with pytest.raises(InputError, match="one row per item"):
        read_collection(tmp_path / "a.npy")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("f0,f1,f2", ""),
        ("0,1,2", ""),
        ("f0,f1,fold,f2,age", "5 columns.*'fold' and 'age'"),
        ("age,weight", "2 columns of numbers are the features; .*'age' and 'weight'"),
        ("fold,0,1", "3 columns.*'fold'"),
        ("f", ""),
    ],
)
def test_columns_that_are_features_by_chance_are_named(tmp_path, columns, said):
    values = ",".join("1.5" for _ in columns.split(","))
    reading = read_collection(
        write(tmp_path / "a.csv", f"item,{columns}\na,{values}\nb,{values}\n")
    )
    found = [str(one) for one in reading.notices if one.code == "columns_features"]
    assert bool(found) == bool(said)
    assert not said or re.search(said, found[0])


def test_tables_of_embeddings(tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    text = "image,f1,f2,camera,label,split\nb,1,0.5,Canon,x,train\na,-2,1e-3,Nikon,,test\n"
    reading = read_collection(write(tmp_path / "a.csv", text))
    data = reading
    assert data.items == ("b", "a") and data.split == ("train", "test")
    np.testing.assert_allclose(data.embeddings, [[1, 0.5], [-2, 1e-3]])
    assert labels_of(reading) == {"b": "x", "a": None} and "columns_aside" in codes(reading)
    columns = {"item": ["b", "a"], "embedding": [[1.0, 2.0], [3.0, 4.0]], "f": [5, 6]}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    data = read_collection(tmp_path / "a.parquet")
    assert data.embeddings.tolist() == [[1, 2, 5], [3, 4, 6]]
    columns["embedding"] = [[1.0, 2.0], [3.0]]
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="row 1: 1 numbers"):
        read_collection(tmp_path / "a.parquet")


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
def test_embeddings_that_are_not_finite_are_refused_with_their_item(tmp_path, ending):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / f"a.{ending}"
    if ending == "csv":
        write(path, "item,f\na,1\nb,\n")
    elif ending == "npz":
        np.savez(path, embeddings=[[1.0], [np.nan]], items=["a", "b"])
    else:
        parquet.write_table(pa.table({"item": ["a", "b"], "f": [1.0, float("inf")]}), path)
    with pytest.raises(InputError, match=r"item 'b'.*not finite"):
        read_collection(path)


def test_bad_files_of_embeddings_are_refused(tmp_path):
    for names, values, words in (
        (["a", "a"], np.eye(2), "more than once"),
        (["a", "b | c"], np.eye(2), "stands between the items of a pair"),
        (["a", ""], np.eye(2), "an empty name"),
        (["a"], np.eye(2), "one row per item"),
        (["a", "b"], np.ones(2), "one row per item"),
        (["a", "b"], np.array([["x"], ["y"]]), "numbers of shape"),
    ):
        np.savez(tmp_path / "a.npz", embeddings=values, items=names)
        with pytest.raises(InputError, match=words):
            read_collection(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", values=np.eye(2))
    with pytest.raises(InputError, match="one named items"):
        read_collection(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", embeddings=np.eye(2), items=np.array([{}, []], dtype=object))
    with pytest.raises(InputError, match="holds Python objects"):
        read_collection(tmp_path / "a.npz")
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04broken")
    with pytest.raises(InputError, match="is not a zip file"):
        read_collection(tmp_path / "a.npz")
    for text, words in (
        ("item,f\na,1\nb,x1\nc,2\n", "x1"),
        ("item,word\na,x\nb,y\n", "no column of numbers"),
        ("f1,f2\n1,2\n3,4\n", "column of ids"),
    ):
        with pytest.raises(InputError, match=words):
            read_collection(write(tmp_path / "a.csv", text))


def test_labels_of_the_archive_must_fit_it(tmp_path):
    for labels, classes in (([0], ["x"]), ([0, 3], ["x", "y"]), ([0.5, 1], ["x", "y"])):
        np.savez(
            tmp_path / "a.npz", embeddings=np.eye(2), items=["a", "b"], labels=labels,
            classes=classes,
        )  # fmt: skip
        with pytest.raises(InputError, match="labels"):
            read_collection(tmp_path / "a.npz")


@pytest.mark.parametrize("seed", range(3))
def test_a_collection_is_the_same_whatever_the_order_on_disk_and_in_the_table(
    tmp_path, monkeypatch, seed
):
    names = ["b/2.png", "a/1.png", "a.png", "B.png", "a/z/3.png"]
    fill(tmp_path / "images", names)
    lines = [f"{name},{'xy'[number % 2]}" for number, name in enumerate(names)]
    one = write(tmp_path / "one.csv", "item,label\n" + "\n".join(lines) + "\n")
    first = read_collection(tmp_path / "images", labels=one, encoder="pixels")
    random.Random(seed).shuffle(lines)
    other = write(tmp_path / "other.csv", "item,label\n" + "\n".join(lines) + "\n")
    real = os.scandir

    def shuffled(path):
        entries = list(real(path))
        random.Random(seed).shuffle(entries)
        return entries

    monkeypatch.setattr(os, "scandir", shuffled)
    second = read_collection(tmp_path / "images", labels=other, encoder="pixels")
    assert first.items == second.items and first.classes == second.classes
    assert (first.labels == second.labels).all()
    assert first.embeddings.tobytes() == second.embeddings.tobytes()


def test_the_real_features_are_read():
    from pathlib import Path

    path = Path(os.environ.get("EQUIPOISE_DATA", "")) / "cifar10n/features_10k.npz"
    if not path.is_file():
        pytest.skip("no CIFAR-10N here")
    data = read_collection(path)
    assert data.embeddings.shape == (10_000, 1280) and data.items[:3] == ("8", "11", "16")
