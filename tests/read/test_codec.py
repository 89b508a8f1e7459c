"""Reports as files: what is written is what is read, and damage is named."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.read import codec
from equipoise.read.codec import check_sealed, sealed
from equipoise.report.text import texts
from equipoise.types import (
    Card,
    Column,
    Dot,
    Dots,
    Finding,
    Heat,
    Hint,
    InputError,
    Line,
    Lines,
    Notice,
    Option,
    Point,
    Report,
    Standings,
    Strip,
    Strips,
    Table,
    as_json,
    hint,
)
from equipoise.types import Standing as Place
from tests.findings_sample import HOSTILE, PLAIN, report
from tests.odd_studies import odd

TEXT = st.text(max_size=12) | st.sampled_from(HOSTILE)
REAL = st.floats(allow_nan=True, allow_infinity=True)
CELL = TEXT | REAL | st.integers(-9, 9) | st.booleans() | st.none() | st.tuples(TEXT, TEXT)
NOTICE = st.builds(
    lambda n: Notice("odd", "{items:count} items are odd.", ("a",), {"items": n}),
    st.integers(0, 5),
)
CHART = st.one_of(
    st.builds(
        Dots,
        name=TEXT,
        caption=TEXT,
        axis=TEXT,
        rows=st.lists(st.builds(Dot, TEXT, REAL, REAL, REAL, TEXT), max_size=3).map(tuple),
        zero=st.booleans(),
        margin=st.none() | REAL,
    ),
    st.builds(
        Lines,
        name=TEXT,
        caption=TEXT,
        x=TEXT,
        y=TEXT,
        lines=st.lists(
            st.builds(Line, TEXT, st.lists(st.tuples(REAL, REAL), max_size=3).map(tuple), TEXT),
            max_size=2,
        ).map(tuple),
    ),
    st.builds(
        lambda rows: Heat(
            name="heat", caption="", rows=("a",), columns=("b",), values=np.array([[rows]]),
            strong=np.array([[True]])
        ),
        REAL,
    ),
    st.builds(
        Lines,
        name=TEXT,
        caption=TEXT,
        x=TEXT,
        y=TEXT,
        points=st.lists(st.builds(Point, TEXT, REAL, REAL, TEXT), max_size=2).map(tuple),
    ),
    st.builds(
        lambda name, value, inside: Standings(
            name="standings", caption="", metric="AUROC", columns=("all",), models=(name,),
            cells=((Place(value=value, inside=inside, best=False, same=False),),),
            intervals=((value, value),), known_to=(value,), foot=(("alpha", ("", "0.5")),),
        ),
        TEXT, REAL, st.booleans(),
    ),
    st.builds(
        lambda task, value, split: Strips(
            name="agreement", caption="", votes_title="", alpha_title="", rates_title="",
            rows=(
                Strip(
                    task=task, shares=((value, value, split),), left="", right="", split="",
                    alpha=(value, value, value), rates=((task, value),),
                ),
            ),
        ),
        TEXT, REAL, st.booleans(),
    ),
)  # fmt: skip
TABLE = st.builds(
    lambda rows, name: Table(
        name=name,
        caption="",
        columns=(Column("a", "A"), Column("b", "B", "number", ("low", "high"))),
        rows=rows,
        brief=rows[:1],
    ),
    st.lists(st.fixed_dictionaries({"a": CELL, "b": REAL}), max_size=3),
    TEXT,
)
FINDING = st.builds(
    Finding,
    key=TEXT,
    title=TEXT,
    sentence=TEXT,
    more=st.lists(TEXT, max_size=2).map(tuple),
    tables=st.lists(TABLE, max_size=2).map(tuple),
    charts=st.lists(CHART, max_size=2).map(tuple),
    notices=st.lists(NOTICE, max_size=1).map(tuple),
    left_out=st.booleans(),
    evidence=st.booleans(),
)
REPORT = st.builds(
    Report,
    title=TEXT,
    findings=st.lists(FINDING, max_size=2).map(tuple),
    models=st.lists(TEXT, max_size=2).map(tuple),
    settings=st.lists(st.tuples(TEXT, TEXT), max_size=2).map(tuple),
    notices=st.lists(NOTICE, max_size=1).map(tuple),
    card=st.none()
    | st.builds(
        Card,
        answer=TEXT,
        lede=TEXT,
        standing=st.lists(st.tuples(TEXT, st.booleans()), max_size=2).map(tuple),
    ),
)


def stored(made):
    """Plain JSON of a record, as a file holds it."""
    return json.loads(json.dumps(codec.encode(made), allow_nan=False))


@given(REPORT)
def test_what_is_written_is_what_is_read(made):
    text = stored(made)
    again = codec.read(Report, text)
    assert codec.encode(again) == text
    assert as_json(again) == json.loads(json.dumps(as_json(made), allow_nan=False))
    assert again.card == made.card and again.settings == made.settings
    assert [one.key for one in again.findings] == [one.key for one in made.findings]


@given(REAL)
def test_numbers_come_back_to_the_last_bit(value):
    again = codec.read(Dot, stored(Dot("a", value)))
    assert again.value == value or (math.isnan(value) and math.isnan(again.value))


@given(CELL)
def test_cells_come_back_as_they_were(cell):
    table = Table(name="t", caption="", columns=(Column("a", "A"),), rows=[{"a": cell}])
    again = codec.read(Table, stored(table)).rows[0]["a"]
    if isinstance(cell, float) and math.isnan(cell):
        assert again is None
    else:
        assert again == cell and isinstance(again, type(cell))


@pytest.mark.parametrize("names", [PLAIN, HOSTILE])
def test_every_kind_of_chart_and_column_comes_back(names):
    made = report(names)
    again = codec.read(Report, stored(made))
    assert texts(again) == texts(made)
    assert [type(x) for y in again.findings for x in y.charts] == [
        type(x) for y in made.findings for x in y.charts
    ]
    assert stored(again) == stored(made)


def test_advice_keeps_the_options_that_it_names():
    advice = hint("give {}, or {}", Option("attributes"), Option("labels", "soft"))
    again = codec.read(Finding, stored(Finding(key="a", title="A", sentence=advice)))
    assert again.sentence == advice and isinstance(again.sentence, Hint)
    assert again.sentence.in_command() == "give --attributes FILE, or --labels soft"


# ---- damage --------------------------------------------------------------------------------


def places(value, path=()):
    """Every place in JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, part in items:
        yield from places(part, (*path, key))


def put(value, path, new):
    """JSON with another value at a place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize(
    ("path", "new", "where", "expected"),
    [
        (("title",), 3, "run.json, title", "text"),
        (("findings",), {}, "run.json, findings", "a list"),
        (("findings", 0), "x", "run.json, findings[0]", "an object with keys"),
        (("findings", 0, "left_out"), "yes", "findings[0], left_out", "true or false"),
        (("card", "answer"), None, "run.json, card, answer", "text"),
        (("card", "standing", 0), ["a"], "card, standing[0]", "a list of 2"),
        (("findings", 0, "charts", 0, "kind"), "Pie", "charts[0], kind", "one of "),
        (("findings", 0, "tables", 0, "rows"), 7, "tables[0], rows", "a list of rows"),
        (("settings", 0), [1, 2], "settings[0][0]", "text"),
        (("notices", 0), 5, "notices[0]", "a notice"),
    ],
)
def test_damage_is_named_in_four_parts(path, new, where, expected):
    good = stored(replace(odd("copies_and_more").report, settings=(("Seed", "0"),)))
    if path[0] == "notices" and not good["notices"]:
        good = put(good, ("notices",), [None])
    with pytest.raises(InputError) as refused:
        codec.read(Report, put(good, path, new))
    assert where in refused.value.where, refused.value
    assert refused.value.expected.startswith(expected)
    assert refused.value.got and refused.value.do == "write the run again"


@pytest.mark.parametrize(
    "edited",
    [{"b": 1, "a": [2.0]}, {"a": 1, "b": [2.0], "c": 0}, {"a": 1}, {"a": 2, "b": [2.0]},
     {"a": 1, "c": [2.0]}, {"a": "1", "b": [2.0]}, {"a": 1, "b": [2.5]}],
)  # fmt: skip
def test_a_seal_holds_names_and_values_but_not_their_order(edited):
    held = sealed({"a": 1, "b": [2.0]})
    check_sealed(held, None, "run.json", "x")
    check_sealed(dict(reversed(held.items())), None, "run.json", "x")
    with pytest.raises(InputError, match="changed since it was written"):
        check_sealed({**edited, "seal": held["seal"]}, None, "run.json", "x")


def test_a_key_that_is_missing_is_named():
    good = stored(odd("copies_and_more").report)
    del good["findings"][0]["sentence"]
    with pytest.raises(InputError, match=r"findings\[0\], key 'sentence': absent, expected"):
        codec.read(Report, good)


@given(st.data())
def test_no_damage_escapes_as_another_error(data):
    good = stored(odd("one_model").report)
    path = data.draw(st.sampled_from(list(places(good))))
    new = data.draw(
        st.sampled_from([None, 3, 1.5, "word", True, [], {}, [[1]], {"kind": "x"}, "nan"])
    )
    try:
        codec.read(Report, put(good, path, new))
    except InputError as error:
        assert error.where.startswith("run.json") and error.expected and error.do
