"""Plausibilities come back from disk as they were, or not at all."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from equipoise import Annotations, InputError, read_plausibilities, write_plausibilities
from equipoise.aggregate import (
    Chain,
    dawid_skene,
    dirichlet,
    inverse_rank,
    mean_vote,
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
    for name in ("items", "classes", "method", "task", "notices", "rest_shape", "split_seed"):
        assert getattr(back, name) == getattr(made, name)
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
        with pytest.raises(InputError, match=r"damaged .*, expected a file written by"):
            read_plausibilities(path)
    with pytest.raises(InputError):
        read_plausibilities(tmp_path / "nowhere.npz")
    np.savez(path, header=np.frombuffer(b'{"schema": 99}', dtype=np.uint8))
    with pytest.raises(InputError, match="schema 99, expected schema 1"):
        read_plausibilities(path)
