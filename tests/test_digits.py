"""One number is written alike in sentences, terminals, pages and printed tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from equipoise.digits import fixed
from equipoise.export import table_texts
from equipoise.report.numerals import signed


@pytest.mark.parametrize(
    ("value", "text"),
    [(5.3e-05, "0.000053"), (0.000136, "0.00014"), (0.0004999, "0.00050"), (0.0005, "0.001"),
     (0.12, "0.120"), (0.0, "0.000"), (4e-7, "4.0e-07")],
)  # fmt: skip
def test_every_surface_writes_the_same_digits(value, text):
    assert fixed(value) == text
    if value:
        assert signed(value) == f"+{text}".replace("-", "−")
        assert signed(-value) == f"-{text}".replace("-", "−")
    table = table_texts("t", [{"model": "a", "gap": value, "low": value, "high": value}])
    assert f"| a | {text} [{text}, {text}] |" in table["tables/t.md"]


@given(some.floats(1e-6, 1, exclude_min=True) | some.floats(-1, -1e-6, exclude_max=True))
def test_no_number_is_lost_and_none_has_an_exponent(value):
    text = fixed(value)
    assert "e" not in text
    assert float(text) == pytest.approx(value, abs=max(0.0005, 0.05 * abs(value)), rel=0.05)
    assert float(text) != 0
