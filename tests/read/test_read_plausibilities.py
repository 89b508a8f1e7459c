"""Plausibilities come back from disk as they were, or not at all."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from equipoise import Annotations, InputError, read_plausibilities, write_plausibilities
from equipoise.read import codec
from equipoise.truth import (
    Chain,
    NormalPrior,
    dawid_skene,
    dirichlet,
    inverse_rank,
    mean_vote,
    normal,
    plackett_luce,
)


@pytest.fixture
def votes():
    random = np.random.default_rng(0)
    return Annotations(
        kind="nominal", items=("a", "b", "ü"), classes=("x", "y", "z"),
        annotators=("ana", "bo"), item=np.repeat(np.arange(3), 4),
        annotator=np.tile([0, 1], 6), label=random.integers(0, 3, 12),
    )  # fmt: skip


MODELS = {
    "mean_vote": mean_vote,
    "dirichlet": dirichlet,
    "drawn": lambda table: dirichlet(table, prior=0.3).drawn(20, seed=4),
    "inverse_rank": inverse_rank,
    "dawid_skene": dawid_skene,
    "plackett_luce": lambda table: plackett_luce(table, chain=Chain(30)),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_what_is_written_is_read(votes, model, tmp_path):
    made = model(votes)
    write_plausibilities(made, tmp_path / "p.npz")
    back = read_plausibilities(tmp_path / "p.npz")
    for name in ("start", "label", "mass", "rest"):
        assert_array_equal(getattr(back, name), getattr(made, name))
    for name in ("items", "classes", "method", "task", "rest_shape", "split_seed", "model"):
        assert getattr(back, name) == getattr(made, name)
    assert back.notices == made.notices
    assert_array_equal(back.certainty, made.certainty)
    if made.law is not None:
        assert_array_equal(back.drawn(5, seed=1).mass, made.drawn(5, seed=1).mass)
    if made.skills is not None:
        assert back.skills.annotators == made.skills.annotators
        assert_array_equal(back.skills.confusion, made.skills.confusion)


def test_the_same_plausibilities_give_the_same_bytes(votes, tmp_path):
    for name in ("a.npz", "b.npz"):
        write_plausibilities(dirichlet(votes), tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", "b.npz"}


def test_damage_is_noticed(votes, tmp_path):
    path = tmp_path / "p.npz"
    write_plausibilities(dirichlet(votes), path)
    whole = path.read_bytes()
    for spoilt in (b"", b"PK", whole[: len(whole) // 2], whole[:200] + b"x" + whole[201:]):
        path.write_bytes(spoilt)
        with pytest.raises(
            InputError,
            match=r"damaged .*, expected (a file written by|arrays of numbers)|an empty file",
        ):
            read_plausibilities(path)
    with pytest.raises(InputError):
        read_plausibilities(tmp_path / "nowhere.npz")
    codec.write_sealed(path, {"schema": 99}, {}, packed=True)
    with pytest.raises(InputError, match="schema 99, expected schema 4"):
        read_plausibilities(path)


@pytest.mark.parametrize("prior", [NormalPrior(mean=1.0), None])
def test_normal_ratings_keep_their_law(tmp_path, prior):
    ratings = Annotations(
        kind="interval", items=("a", "b", "c"), item=np.array([0, 0, 1, 1, 2]),
        value=np.array([1.0, 2.5, 4.0, 4.5, 0.1]),
    )  # fmt: skip
    made = normal(ratings, threshold=1 / 3, prior=prior)
    write_plausibilities(made, tmp_path / "p.npz")
    back = read_plausibilities(tmp_path / "p.npz")
    assert (back.law.name, back.law.threshold) == ("normal", 1 / 3)
    for name in ("level", "worth", "shape", "scale"):
        assert_array_equal(getattr(back.law, name), getattr(made.law, name))
    assert back.notices == made.notices
    assert_array_equal(back.certainty, made.certainty)
    assert_array_equal(back.drawn(5, seed=1).mass, made.drawn(5, seed=1).mass)


def parts_of(path):
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    return json.loads(str(arrays.pop("meta"))), arrays


def rewritten(path, *, sealed=True, **changed):
    """Write a file again with other facts or arrays, with a seal of them or the old one."""
    header, arrays = parts_of(path)
    for name, value in changed.items():
        kept = header if name in header else arrays
        if value is None:
            del kept[name]
        else:
            kept[name] = value
    if sealed:
        codec.write_sealed(path, header, arrays, packed=True)
    else:
        np.savez_compressed(path, meta=np.array(json.dumps(header)), **arrays)


STRANGE = {
    "no array 'mass'": {"mass": None},
    "an array 'more'": {"more": np.zeros(3)},
    "array 'mass': <U1": {"mass": np.array(["a", "b"])},
    "array 'start': float64": {"start": np.zeros(4)},
    "start (2,)": {"start": np.arange(2)},
    "p.npz, items: 5 (int), expected a list": {"items": 5},
    "key 'method': absent": {"method": None},
    "p.npz, task: [] (list), expected text": {"task": []},
    "law: 'cauchy', expected one of dirichlet": {"law": "cauchy"},
    "no array 'law_concentration'": {"law_concentration": None},
    "p.npz, notices[0]: 3 (int)": {"notices": [3]},
}


@pytest.mark.parametrize("said", STRANGE)
def test_a_strange_file_is_refused_by_name(votes, tmp_path, said):
    path = tmp_path / "p.npz"
    write_plausibilities(dirichlet(votes), path)
    rewritten(path, **STRANGE[said])
    with pytest.raises(InputError) as refused:
        read_plausibilities(path)
    assert said in str(refused.value)


def test_what_was_changed_since_it_was_written_is_refused(votes, tmp_path):
    path = tmp_path / "p.npz"
    write_plausibilities(dirichlet(votes), path)
    arrays = parts_of(path)[1]
    changes = [{name: arrays[name][::-1]} for name in ("law_concentration", "label")]
    for change in (*changes, {"method": "another"}, {"content": "0"}, {"seal": "0"}):
        write_plausibilities(dirichlet(votes), path)
        rewritten(path, sealed=False, **change)
        with pytest.raises(InputError, match="changed since it was written"):
            read_plausibilities(path)
    write_plausibilities(dirichlet(votes), path)
    rewritten(path, sealed=False)
    assert read_plausibilities(path).items == votes.items
    rewritten(path, sealed=False, seal=None)
    with pytest.raises(InputError, match="no seal"):
        read_plausibilities(path)


def test_a_header_that_claims_gigabytes_is_refused_before_they_are_taken(tmp_path):
    import io
    import zipfile

    held = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        held, {"shape": (2_000_000_000,), "fortran_order": False, "descr": "<f8"}
    )
    with zipfile.ZipFile(tmp_path / "p.npz", "w") as packed:
        packed.writestr("mass.npy", held.getvalue() + b"\0" * 64)
    with pytest.raises(InputError, match=r"the header of mass\.npy does not fit what it holds"):
        read_plausibilities(tmp_path / "p.npz")
    (tmp_path / "p.npz").unlink()


def test_a_missing_file_is_said_to_be_missing(tmp_path):
    with pytest.raises(InputError, match=r"truth.npz: no such file, expected a file; check"):
        read_plausibilities(tmp_path / "truth.npz")
    (tmp_path / "truths.npz").write_bytes(b"")
    with pytest.raises(InputError, match=r"did you mean 'truths.npz'\?"):
        read_plausibilities(tmp_path / "truth.npz")
    with pytest.raises(InputError, match="a folder, expected a file"):
        read_plausibilities(tmp_path)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, ValueError])
def test_nothing_is_left_of_a_write_that_was_stopped(votes, tmp_path, monkeypatch, kind):
    def stopped(file, **_):
        file.write(b"half")
        raise kind

    monkeypatch.setattr(np, "savez_compressed", stopped)
    with pytest.raises(kind):
        write_plausibilities(dirichlet(votes), tmp_path / "truth.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named_as_it_was_given(votes, tmp_path):
    for place in (tmp_path / "none" / "truth.npz", tmp_path):
        with pytest.raises(InputError, match="cannot be written") as refused:
            write_plausibilities(dirichlet(votes), place)
        assert refused.value.where == str(place)
    assert list(tmp_path.iterdir()) == []
