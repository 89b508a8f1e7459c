"""Data sets: found where the user says, fetched when they are nowhere, never unverified."""

import hashlib
import os
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from equipoise import InputError
from equipoise.datasets import (
    CATALOGUE,
    LOADERS,
    load_chexpert,
    load_cifar10h,
    load_dermatology_ddx,
    load_sleep_dodh,
)
from equipoise.datasets._store import VARIABLE, File, Source, fetched, located
from equipoise.datasets.enhance import group_of, load_enhance, normalised
from equipoise.datasets.vindr import load_vindr

needs_data = pytest.mark.skipif(
    VARIABLE not in os.environ, reason=f"set {VARIABLE} to a folder with the public data sets"
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_words):
        pass


@pytest.fixture
def published(tmp_path):
    """A data set of one file on a server of our own, on loopback."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/votes.csv").write_bytes(b"item,label\n")
    server = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path / "site"))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    digest = hashlib.sha256(b"item,label\n").hexdigest()

    def source(sha=digest, name="votes.csv"):
        url = f"http://127.0.0.1:{server.server_port}/{name}"
        return Source(
            "tiny", "a tiny set", {"deep/votes.csv": File(url, sha)}, "none", "nobody"
        )

    yield source
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_set_is_downloaded_once_and_then_found(published, monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    source = published()
    assert located(source) is None
    folder = fetched(source)
    assert (folder / "deep/votes.csv").read_bytes() == b"item,label\n"
    assert tmp_path in folder.parents
    assert located(published(name="gone.csv")) == folder
    assert fetched(published(name="gone.csv")) == folder


def test_a_wrong_hash_or_no_server_is_refused_in_four_parts(published, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    for source in (published(sha="0" * 64), published(name="gone.csv")):
        with pytest.raises(InputError, match=r"could not be fetched.*, expected .*; .*network"):
            fetched(source)
    assert located(published()) is None


def test_a_damaged_file_is_refused(published, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mine"))
    (tmp_path / "mine/tiny/deep").mkdir(parents=True)
    (tmp_path / "mine/tiny/deep/votes.csv").write_bytes(b"item,lable\n")
    with pytest.raises(InputError, match="SHA-256"):
        fetched(published())


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_source_is_pinned_and_cited(name):
    source = CATALOGUE[name]
    assert source.name == name
    assert source.licence
    assert source.citation
    for file in source.files.values():
        assert file.url.startswith("https://") == source.published
        assert len(file.sha256) == (0 if name == "vindr" else 64)  # nobody may publish those


def test_a_set_that_is_not_published_says_which_folder_it_needs(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(
        InputError, match=r"not here .*sleep_dodh.csv.* in \$EQUIPOISE_DATA/votes"
    ):
        load_sleep_dodh()
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(InputError, match="no EQUIPOISE_DATA is set"):
        load_sleep_dodh()


@needs_data
def test_chexpert():
    study = load_chexpert()
    votes = study.annotations
    assert (len(votes.items), len(votes.annotators), len(votes.tasks)) == (500, 8, 5)
    assert len(votes) == 20_000
    assert len({one.model for one in study.predictions}) == 10
    assert len(study.predictions) == 50
    # bc1 calls this study Consolidation; the order of columns differs between files
    row = (
        (votes.item == votes.items.index("CheXpert-v1.0/test/patient64741/study1"))
        & (votes.annotator == votes.annotators.index("bc1"))
        & (votes.task == votes.tasks.index("Consolidation"))
    )
    assert votes.label[row].tolist() == [1]


@needs_data
def test_cifar10h():
    votes = load_cifar10h().annotations
    assert votes.annotators is None
    assert len(votes.items) == 10_000
    assert int(votes.count.sum()) == 511_000
    counts = np.bincount(votes.item, votes.count)
    assert 47 <= counts.min() <= counts.max() <= 63


@needs_data
def test_dermatology_ddx():
    study = load_dermatology_ddx()
    votes = study.annotations
    assert votes.kind == "ranking"
    assert votes.annotators is None
    assert (len(votes.items), len(votes.classes)) == (1947, 419)
    assert len(np.unique(votes.reading)) == 9602
    first = votes.label[(votes.item == 0) & (votes.rank == 0)]
    assert [votes.classes[code] for code in first] == ["Burn of skin"]
    assert study.risk.classes == votes.classes
    assert dict(zip(study.risk.groups, np.bincount(study.risk.group), strict=True)) == {
        "low": 201, "medium": 150, "high": 68,
    }  # fmt: skip
    assert study.risk.codes(votes.classes)[votes.classes.index("Melanoma")] == 2


@needs_data
def test_sleep_dodh():
    study = load_sleep_dodh()
    votes = study.annotations
    assert (len(votes.items), len(votes.annotators), len(votes.groups)) == (25_440, 5, 25)
    assert len(votes) == 126_274 and votes.classes == ("Wake", "N1", "N2", "N3", "REM")
    assert [len(one.items) for one in study.predictions] == [22_180] * 6
    assert {votes.groups[g] for g in votes.group[:100]} == {"night 0"}
    # scorer 1 calls the first half-minute Wake, as one model alone does not
    row = (votes.item == votes.items.index("0")) & (votes.annotator == 0)
    assert votes.label[row].tolist() == [0] and votes.annotators[0] == "scorer 1"
    first = {
        one.model: int(one.values[one.items.index("0")].argmax()) for one in study.predictions
    }
    assert [name for name, stage in first.items() if stage] == ["Chambon et al."]


@needs_data
@pytest.mark.parametrize("name", LOADERS)
def test_every_loader_loads(name):
    if name == "vindr":
        pytest.skip("its files are for people who signed for them")
    assert LOADERS[name]().source is CATALOGUE[name]


def test_ratings_are_scaled_by_group_and_task():
    ratings = np.array([0.0, 2, 1, 50, 100, 3, 3])
    task, group = np.array([0, 0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 1, 0, 0])
    assert normalised(ratings, task, group).tolist() == [0, 1, 0.5, 0, 1, 0, 0]


@needs_data
def test_enhance():
    scaled, raw = (load_enhance(raw=raw).annotations for raw in (False, True))
    assert scaled.tasks == ("Asymmetry", "Border", "Color")
    assert len(scaled.items) == 1836
    assert (scaled.value.min(), scaled.value.max(), raw.value.max()) == (0, 1, 100)
    assert len({group_of(name) for name in scaled.annotators}) == 25


def test_vindr_is_read_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(
        InputError, match=r"not here .*, expected image_labels_train.csv in .*; set"
    ):
        load_vindr()
    (tmp_path / "vindr").mkdir()
    path = tmp_path / "vindr" / "image_labels_train.csv"
    path.write_text("image_id,rad_id,Edema,No finding\na,R1,1,0\na,R2,0.0,1.0\nb,R1,0,1\n")
    votes = load_vindr().annotations
    assert votes.tasks == ("Edema", "No finding")
    assert votes.label.tolist() == [1, 0, 0, 1, 0, 1]
    assert [votes.items[i] for i in votes.item] == list("aaaabb")
    path.write_text("image_id,Edema\na,1\n")
    with pytest.raises(InputError, match="expected columns image_id and rad_id, and findings"):
        load_vindr()
    path.write_text("image_id,rad_id,Edema\na,R1,maybe\n")
    with pytest.raises(InputError, match="'maybe', expected 0 or 1; take it from PhysioNet"):
        load_vindr()
