"""Ratings on a scale of each annotator's own: as scipy ranks and standardises them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from equipoise import Annotations, InputError


def ratings(seed: int, groups: bool = False) -> Annotations:  # noqa: FBT001, FBT002
    random = np.random.default_rng(seed)
    rows = 60
    return Annotations(
        kind="interval",
        items=tuple(f"i{k}" for k in range(12)),
        item=random.integers(0, 12, rows),
        annotators=("ana", "bo", "cy"),
        annotator=np.arange(rows) % 3,
        tasks=("t", "u"),
        task=np.arange(rows) // 30,
        value=random.integers(1, 6, rows).astype(float),
        annotator_groups=("x", "y") if groups else None,
        annotator_group=np.array([0, 0, 1]) if groups else None,
    )


@given(st.integers(0, 1000))
def test_every_annotator_and_task_is_ranked_and_standardised_alone(seed: int) -> None:
    votes = ratings(seed)
    z, rank = votes.normalised("z"), votes.normalised("rank")
    for who in range(3):
        for task in range(2):
            rows = (votes.annotator == who) & (votes.task == task)
            mine = votes.value[rows]
            away = mine - mine.mean()
            expected = away / mine.std() if mine.std() else away * 0
            assert z.value[rows] == pytest.approx(expected, abs=1e-12)
            place = (stats.rankdata(mine) - 0.5) / len(mine)
            assert rank.value[rows] == pytest.approx(place, abs=1e-12)
    assert rank.scale == (0.0, 1.0)
    assert z.scale == (z.value.min(), z.value.max())
    assert [note.code for note in z.notices] == ["normalised"]


def test_groups_of_annotators_may_share_a_scale() -> None:
    votes = ratings(3, groups=True)
    by_group = votes.normalised("z", by="annotator_group")
    rows = (votes.annotator < 2) & (votes.task == 0)
    mine = votes.value[rows]
    assert by_group.value[rows] == pytest.approx((mine - mine.mean()) / mine.std())


def test_a_scale_stretched_by_an_annotator_changes_nothing() -> None:
    votes = ratings(5)
    stretched = np.where(votes.annotator == 1, 7 * votes.value + 3, votes.value)
    other = Annotations(**{**vars(votes), "value": stretched})
    for how in ("z", "rank"):
        assert other.normalised(how).value == pytest.approx(votes.normalised(how).value)


def test_what_has_no_distance_is_refused() -> None:
    labels = Annotations(kind="binary", items=("a",), classes=("0", "1"),
                         item=np.array([0]), label=np.array([1]))  # fmt: skip
    with pytest.raises(InputError, match="binary labels"):
        labels.normalised("z")
    with pytest.raises(InputError, match="no annotator_group"):
        ratings(1).normalised("z", by="annotator_group")
    with pytest.raises(InputError, match="z"):
        ratings(1).normalised("percentile")
