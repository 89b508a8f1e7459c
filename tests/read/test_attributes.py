"""Attributes of items: files and dataframes read, quartiles, and what cannot be used."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from equipoise.read.attributes import Attributes, read_attributes
from equipoise.types import InputError


def test_attributes_made_of_wrong_parts_are_refused():
    good = {"columns": ("x",), "levels": (("u",),)}
    for codes in ("x", [[0.5]], [[None]]):
        with pytest.raises(InputError, match=r"attributes, codes: .*, expected whole numbers"):
            Attributes(items=("a",), codes=codes, **good)
    with pytest.raises(InputError, match="attributes, items: 5"):
        Attributes(items=5, codes=[[0]], **good)
    with pytest.raises(InputError, match="shape"):
        Attributes(items=("a",), codes=np.zeros((2, 1)), **good)
    with pytest.raises(InputError, match="a code without a level"):
        Attributes(items=("a",), codes=np.ones((1, 1)), **good)


def test_attributes_from_a_file(tmp_path):
    path = tmp_path / "known.csv"
    lines = [f"{k},{'f' if k % 2 else 'm'},{k},{k % 3 + 1},{'' if k == 4 else 'x'},id{k}"
             for k in range(100)]  # fmt: skip
    path.write_text("item,sex,age,skin,site,patient\n" + "\n".join(lines) + "\n")
    known = read_attributes(path)
    assert known.columns == ("sex", "age", "skin", "site")
    assert known.levels[0] == ("f", "m")
    assert known.levels[1] == ("0 to 24", "25 to 49", "50 to 74", "75 to 99")
    assert known.levels[2] == ("1", "2", "3")
    assert_array_equal(np.bincount(known.codes[1]), [25, 25, 25, 25])
    assert known.codes[3, 4] == -1
    assert "cut at its quartiles" in str(known.notices[0])
    assert "'patient' has 100 different values and is left out" in str(known.notices[1])
    assert not known.codes.flags.writeable


def test_quartiles_with_ties_and_gaps():
    ages = [20, 20, 20, 20, 20, 30, 40, 50, 60, 70, 80, None]
    known = Attributes.from_dataframe(
        pa.table({"item": [str(k) for k in range(12)], "age": pa.array(ages, pa.float64())})
    )
    assert known.levels[0] == ("20 to 30", "40 to 50", "60 to 80")
    assert_array_equal(known.codes[0], [0] * 6 + [1, 1, 2, 2, 2, -1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,sex\na,f\na,m\n", "'a' more than once, expected each name once"),
        ("itm,sex\na,f\n", "did you mean 'item'"),
        ("item,sex\n,f\n", "row 2: a blank item, expected the item of every row"),
        ("item\na\n", "an attribute beside the item"),
        ("item,sex\n", "a header but no rows"),
        ("item,sex\na,\nb,\n", "an attribute beside the item"),
    ],
)
def test_attributes_that_cannot_be_used(tmp_path, text, message):
    path = tmp_path / "known.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_attributes(path)


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_attributes(tmp_path / "absent.csv")
    other = tmp_path / "known.xlsx"
    other.write_text("item")
    with pytest.raises(InputError, match="ending"):
        read_attributes(other)


def test_parts_of_numbers_share_no_end_however_close_they_are():
    near = [1 + k * 1e-9 for k in range(8)]
    table = pa.table({"item": [str(k) for k in range(8)], "dose": near})
    ends = [part.split(" to ") for part in Attributes.from_dataframe(table).levels[0]]
    flat = [float(end) for part in ends for end in part]
    assert flat == sorted(set(flat))


@pytest.mark.parametrize("header", ["Image ID", "Case", "", "Unnamed: 0"])
def test_items_are_found_by_the_header_that_the_votes_may_have(header, tmp_path):
    (tmp_path / "items.csv").write_text(f"{header},sex\na,f\nb,m\n")
    assert read_attributes(tmp_path / "items.csv").items == ("a", "b")
