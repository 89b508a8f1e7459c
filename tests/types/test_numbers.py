"""One number is written alike in sentences, terminals, pages and printed tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from equipoise.report.text import as_markdown
from equipoise.types import Column, Notice, Table, bound, change, number


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (5.3e-05, "0.000053"),
        (0.000136, "0.00014"),
        (0.0004999, "0.00050"),
        (0.0005, "0.001"),
        (0.12, "0.120"),
        (0.0, "0.000"),
        (4e-7, "4.0e−07"),
    ],
)
def test_every_surface_writes_the_same_digits(value, text):
    assert number(value) == text
    if value:
        assert change(value) == f"+{text}"
        assert change(-value) == f"−{text}"
    assert str(Notice("gap", "{gap:number}", (), {"gap": value})) == text
    table = Table(
        name="t", caption="", columns=[Column("gap", "gap", "number")], rows=[{"gap": value}]
    )
    assert f"| {text} |" in as_markdown(table)


@given(some.floats(1e-6, 1, exclude_min=True) | some.floats(-1, -1e-6, exclude_max=True))
def test_no_number_is_lost_and_none_has_an_exponent(value):
    text = number(value).replace("−", "-")
    assert "e" not in text
    assert float(text) == pytest.approx(value, abs=max(0.0005, 0.05 * abs(value)), rel=0.05)
    assert float(text) != 0


@given(some.floats(-2, 2), some.integers(1, 4))
def test_a_bound_is_rounded_outward_and_by_less_than_a_digit(value, digits):
    said, step = float(bound(value, digits).replace("−", "-")), 10.0**-digits
    assert value - 1.1e-9 * step <= said < value + step + 1e-12


def test_a_bound_of_few_digits_is_itself():
    for n in range(1000):
        assert bound(n / 1000) == bound(0.001 * n) == f"{n / 1000:.3f}"
