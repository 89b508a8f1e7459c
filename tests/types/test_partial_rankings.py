"""Average overlap of partial rankings against published figures, and bad input."""

import pytest
from numpy.testing import assert_allclose

from equipoise.types import InputError
from equipoise.types.partial_rankings import average_overlap_of_rankings

CLOSE = {"rtol": 0, "atol": 1e-12}
# shared golden figures, plausibilities.json, average_overlap
FULL = [
    ([2, 0, 1, 4, 3], [0, 1, 2, 4, 3], [0.0, 0.25, 0.5, None, 0.7]),
    ([2, 0, 1, 4, 3], [1, 0, 2, 4, 3], [0.0, 0.25, 0.5, None, 0.7]),
    ([3, 4, 1, 0, 2], [4, 1, 3, 0, 2], [0.0, 0.25, 0.5, None, 0.7]),
    ([0, 1, 2, 3, 4], [0, 2, 1, 4, 3], [1.0, 0.75, 0.8333333333333334, None, 0.85]),
]
PARTIAL = [
    ([[2, 0], [1]], [[0], [1, 2]], [0.5, 0.625, 0.75, 0.78125, 0.825],
     [0.7071067811865475, 0.7715167498104595, 0.8581163303210331, 0.8934271123648291,
      0.9170205237216018]),
    ([[2], [0, 1], [4]], [[1, 0], [2]], [0.0, 0.25, 0.5, 0.59375, 0.675],
     [0.0, 0.3086066999241838, 0.5720775535473555, 0.6675919504799912, 0.7403514710945605]),
    ([[3], [4], [1]], [[4], [1]],
     [0.0, 0.25, 0.4259259259259259, 0.5277777777777777, 0.6222222222222221],
     [0.0, 0.25, 0.44263520637871306, 0.5643581645152097, 0.6561836700880798]),
    ([[0, 1, 2]], [[0], [2], [1], [4], [3]],
     [0.3333333333333333, 0.5, 0.6666666666666666, 0.71875, 0.775],
     [0.5773502691896257, 0.7071067811865475, 0.816496580927726, 0.8477912478906585,
      0.8803408430829505]),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "values"), FULL)
def test_average_overlap_of_full_rankings(a, b, values):
    for length, value in enumerate(values, 1):
        if value is not None:
            blocks = [[[str(c)] for c in one] for one in (a, b)]
            assert_allclose(
                average_overlap_of_rankings(*blocks, length, "01234"), value, **CLOSE
            )


@pytest.mark.parametrize(("a", "b", "plain", "normal"), PARTIAL)
def test_average_overlap_of_partial_rankings(a, b, plain, normal):
    blocks = [[[str(c) for c in block] for block in one] for one in (a, b)]
    for length in range(1, 6):
        raw = average_overlap_of_rankings(*blocks, length, "01234", normalised=False)
        assert_allclose(raw, plain[length - 1], **CLOSE)
        value = average_overlap_of_rankings(*blocks, length, "01234")
        assert_allclose(value, normal[length - 1], **CLOSE)
        assert_allclose(average_overlap_of_rankings(blocks[0], blocks[0], length, "01234"), 1)


@pytest.mark.parametrize(
    ("a", "length", "part"),
    [
        ([["x"], ["x"]], 1, "'x' more than once"),
        ([], 1, "an empty ranking"),
        ([["x"], []], 1, "an empty ranking"),
        ([["melanome"]], 1, "did you mean 'melanoma'"),
        (["x"], 1, "names without blocks"),
        ("xy", 1, "names without blocks"),
        ([["x"]], 0, "1 to 3"),
        ([["x"]], 4, "1 to 3"),
        ([["x"]], 1.5, "a whole number"),
    ],
)
def test_bad_rankings_are_refused(a, length, part):
    with pytest.raises(InputError, match=part):
        average_overlap_of_rankings(a, [["y"]], length, ["x", "y", "melanoma"])
