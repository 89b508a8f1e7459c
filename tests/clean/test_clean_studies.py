"""Studies with known problems load, offline, and say what they are."""

import hashlib
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from equipoise.clean.collection import TASKS, pair_name
from equipoise.clean.encoders import GreyPixels
from equipoise.clean.images import ArrayImages
from equipoise.clean.studies import STUDIES
from equipoise.clean.studies.cleanpatrick import load_cleanpatrick
from equipoise.clean.studies.demo import load_demo
from equipoise.types import InputError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture(scope="module")
def small():
    return load_demo()


def test_the_modules_load_nothing_heavy():
    code = (
        "import sys, equipoise.clean, equipoise.clean.studies, equipoise.clean.reading; "
        "heavy = {'torch', 'sklearn', 'PIL', 'onnxruntime', 'faiss', 'pyarrow'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# the small one


def test_the_demo_has_everything_that_detectors_need(small):
    data = small.collection
    assert set(small.truths) == set(TASKS)
    assert data.images is not None and data.embeddings.shape == (len(data), 64)
    assert (data.known >= 0).sum() > 50 and set(data.split) == {"train", "test"}
    assert len(data.classes) == 10 and 400 < len(data) < 900
    assert "simulated" in small.simulated and "planted" in small.simulated
    made = GreyPixels(8).encode(data.images, range(0, len(data), 50))
    assert (made == data.embeddings[::50]).all()


def test_people_of_the_demo_differ_in_skill(small):
    for task in TASKS:
        votes = small.truths[task]
        assert votes.annotators is not None and len(votes.annotators) == 7
        assert votes.is_gold is None and len(votes) == 7 * len(votes.items)
        table = np.zeros((len(votes.items), 7))
        table[votes.item, votes.annotator] = votes.label
        share = table.mean(axis=1)
        majority = share > 0.5
        right = (majority == table.T).mean(axis=1)
        assert right[0] > 0.95 and right[0] > right[6] + 0.02
        assert 0.02 < majority.mean() < 0.45


def test_judged_pairs_of_the_demo_are_pairs_of_its_items(small):
    seen = small.collection_for("near_duplicates")
    assert len(seen.pairs) == len(small.truths["near_duplicates"].items)
    assert seen.pairs.names(seen.items) == small.truths["near_duplicates"].items


def test_the_demo_is_the_same_for_a_seed(small):
    again, other = load_demo(), load_demo(1)
    assert again.collection.items == small.collection.items != other.collection.items
    assert (again.collection.embeddings == small.collection.embeddings).all()
    for task in TASKS:
        assert (again.truths[task].label == small.truths[task].label).all()


def test_the_catalogue_names_studies_as_they_name_themselves(small):
    assert STUDIES["demo"] is load_demo and small.name == "demo"
    assert "cleanpatrick" in STUDIES


# CleanPatrick, made up in the form of its release


def md5(number):
    return hashlib.md5(str(number).encode()).hexdigest()


NAMES = [md5(number) for number in range(8)]
VOTES = {"ann": (1, 0), "bob": (1, 1), "eve": (0, 0)}  # on the first and on all others


def write(path, header, rows):
    path.write_text(
        "\n".join([",".join(header), *(",".join(map(str, r)) for r in rows)]) + "\n"
    )


def quoted(*names):
    return f'"{", ".join(names)}"'


@pytest.fixture
def files(tmp_path):
    images, release = tmp_path / "fitz/images", tmp_path / "release"
    images.mkdir(parents=True)
    release.mkdir()
    for number, name in enumerate(NAMES[:7]):  # the last one could not be fetched
        values = np.random.default_rng(number).integers(0, 256, (9, 9, 3), np.uint8)
        Image.fromarray(values).save(images / f"{name}.jpg")
    rows = [(n, name, 3, "acne" if n % 2 else "lupus") for n, name in enumerate(NAMES)]
    write(tmp_path / "fitz/fitzpatrick17k.csv", ["", "md5hash", "fitzpatrick", "label"], rows)
    for stem in ("off_topic_samples", "label_errors"):
        write(
            release / f"{stem}.csv",
            ["md5hash", "label"],
            [(m, int(m == NAMES[0])) for m in NAMES],
        )
        long = [(m, who, says[m != NAMES[0]]) for m in NAMES for who, says in VOTES.items()]
        write(release / f"{stem}_meta.csv", ["md5hash", "annotator_id", "vote"], long)
    groups = [(NAMES[:2], 1), (NAMES[1:3], 1), (NAMES[3:5], 0), (NAMES[:4], 0), (NAMES[6:], 1)]
    write(
        release / "near_duplicates.csv",
        ["md5hash_list", "label"],
        [(quoted(*g), y) for g, y in groups],
    )
    long = [(quoted(*g), who, says[1 - y]) for g, y in groups for who, says in VOTES.items()]
    write(release / "near_duplicates_meta.csv", ["md5hash_list", "annotator_id", "vote"], long)
    return SimpleNamespace(release=release, images=images)


def load(files, **options):
    return load_cleanpatrick(**vars(files), **options, encoder="pixels")


def truth(study, task):
    votes = study.truths[task]
    return {votes.items[i]: bool(y) for i, y in zip(votes.item, votes.label, strict=True)}


def test_released_labels_and_their_closure(files):
    study = load(files, votes=False)
    data = study.collection
    assert data.items == tuple(sorted(NAMES[:7])) and data.classes == ("acne", "lupus")
    for place, name in enumerate(data.items):
        number = NAMES.index(name)
        assert data.classes[data.labels[place]] == ("acne" if number % 2 else "lupus")
        alone = ArrayImages(data.images.rgb(place)[None])
        assert (GreyPixels().encode(alone, [0])[0] == data.embeddings[place]).all()
    for task in ("off_topic", "label_errors"):
        assert truth(study, task) == {name: name == NAMES[0] for name in NAMES[:7]}
        assert study.truths[task].is_gold.all()
        (said,) = study.truths[task].notices
        assert said.code == "images_missing" and said.values == {"questions": 1}
    a, b, c, d, e = NAMES[:5]
    assert truth(study, "near_duplicates") == {
        pair_name(a, b): True, pair_name(b, c): True, pair_name(a, c): True,  # closed
        pair_name(a, d): False, pair_name(b, d): False, pair_name(c, d): False,
        pair_name(d, e): False,
    }  # fmt: skip
    assert study.collection_for("near_duplicates").pairs is not None
    assert study.source.references == ("groger2025",) and not study.simulated


def test_raw_votes_one_per_row(files):
    study = load(files)
    votes = study.truths["off_topic"]
    assert votes.annotators == ("ann", "bob", "eve") and len(votes) == 21
    assert votes.label[votes.item == votes.items.index(NAMES[0])].tolist() == [1, 1, 0]
    assert votes.label[votes.item == votes.items.index(NAMES[3])].tolist() == [0, 1, 0]
    pairs = study.truths["near_duplicates"]
    a, b, c, d, _ = NAMES[:5]
    place = {name: number for number, name in enumerate(pairs.items)}
    assert pairs.label[pairs.item == place[pair_name(a, b)]].tolist() == [1, 1, 0]
    assert pairs.label[pairs.item == place[pair_name(c, d)]].tolist() == [0, 1, 0]


@pytest.mark.parametrize("shape", [dict, list])
def test_raw_votes_packed_into_a_cell(files, shape):
    plain = load(files)
    for path in files.release.glob("*_meta.csv"):
        first = "md5hash_list" if "near" in path.name else "md5hash"
        cells: dict = {}
        for line in path.read_text().splitlines()[1:]:
            name, who, says = line.rsplit(",", 2)
            cells.setdefault(name, {})[who] = int(says)
        packed = [
            (n, f'"{dict(v) if shape is dict else list(v.items())}"') for n, v in cells.items()
        ]
        write(path, [first, "votes"], packed)
    study = load(files)
    for task in TASKS:
        assert study.truths[task].items == plain.truths[task].items
        assert (study.truths[task].label == plain.truths[task].label).all()
        assert study.truths[task].annotators == plain.truths[task].annotators


def test_unknown_columns_fail_loudly(files):
    path = files.release / "label_errors_meta.csv"
    path.write_text(path.read_text().replace("annotator_id", "Rater"))
    with pytest.raises(InputError) as caught:
        load(files)
    assert "'md5hash', 'Rater', 'vote'" in str(caught.value) and "annotator" in caught.value.do
    (files.release / "near_duplicates.csv").write_text("hashes,label\nx,1\n")
    with pytest.raises(
        InputError, match=r"near_duplicates\.csv.*'hashes', 'label'.*md5hash_list"
    ):
        load(files, votes=False)


def test_bad_rows_and_missing_parts_are_refused(files, tmp_path, monkeypatch):
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)
    with pytest.raises(InputError, match="no EQUIPOISE_DATA is set"):
        load_cleanpatrick()
    with pytest.raises(InputError, match="the release not here"):
        load(SimpleNamespace(release=tmp_path / "gone", images=files.images))
    labels = files.release / "label_errors.csv"
    labels.write_text(labels.read_text().replace(f"{NAMES[2]},0", f"{NAMES[2]},maybe"))
    with pytest.raises(InputError, match=r"row 4: 'maybe', expected 0 or 1"):
        load(files, votes=False)
    (tmp_path / "fitz/fitzpatrick17k.csv").unlink()
    with pytest.raises(InputError, match=r"no fitzpatrick17k\.csv"):
        load(files)


def test_folders_below_the_data_folder_are_found_and_embeddings_do_for_images(
    files, tmp_path, monkeypatch
):
    monkeypatch.setenv("EQUIPOISE_DATA", str(tmp_path))
    files.release.rename(tmp_path / "cleanpatrick")
    (tmp_path / "fitz").rename(tmp_path / "fitzpatrick17k")
    assert len(load_cleanpatrick(encoder="pixels").collection) == 7
    np.savez(tmp_path / "f.npz", embeddings=np.eye(8), items=NAMES)
    (tmp_path / "fitzpatrick17k/fitzpatrick17k.csv").rename(tmp_path / "fitzpatrick17k.csv")
    study = load_cleanpatrick(images=tmp_path / "f.npz")
    assert len(study.collection) == 8 and study.collection.images is None
    np.savez(tmp_path / "f.npz", embeddings=np.eye(2), items=["x", "y"])
    with pytest.raises(InputError, match="files named by their md5hash"):
        load_cleanpatrick(images=tmp_path / "f.npz")
