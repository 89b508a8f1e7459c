"""The page as text: complete, the same every time, and harmless whatever it is given."""

import hashlib
import html
import json
import re
from base64 import b64encode
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise.read import codec
from equipoise.report.page import render
from equipoise.report.page.svg import element, escape
from equipoise.types import Report
from tests.odd_studies import ODD, odd
from tests.report_stability_sample import BAD, sample

SHAPES = {
    "every analysis": lambda: sample("stability"),
    "hostile names": lambda: sample("stability of the hostile"),
    "a crowd": lambda: sample("stability of a crowd"),
    **{name: lambda name=name: odd(name).report for name in ODD},
}
page = cache(lambda name: render(SHAPES[name]()))
every = pytest.mark.parametrize("name", SHAPES)


class Reader(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self.inside = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        if self.inside not in ("style", "script"):
            self.words.append(data)


def shown(text):
    """All words of a page in a row."""
    return " ".join(" ".join(Reader(text).words).split())


def clean(words):
    """Words as a page shows them: without control characters."""
    return " ".join(re.sub("[\x00-\x08\u202e]", "\ufffd", words).split())


@every
def test_every_study_makes_a_page_that_says_the_answer(name):
    report, text = SHAPES[name](), page(name)
    words = re.sub(r"\s", "", shown(text))
    card = report.card
    for said in (card.answer, card.lede, card.holds_for, card.settled_by, card.caveat):
        assert re.sub(r"\s", "", clean(said)) in words, said
    assert not re.search(r"(?<![\w&;<])(nan|None(?! is more)|NaN)(?![\w])", shown(text))
    for one in report.findings:
        title = one.about if one.verdict else one.title
        for said in (one.sentence, title if one.evidence else ""):
            assert re.sub(r"\s", "", clean(said).removesuffix(".")) in words, (one.key, said)
    assert len(text.encode()) < (950_000 if name == "a crowd" else 700_000)


@every
def test_a_report_that_was_written_and_read_makes_the_same_page(name):
    text, report = page(name), SHAPES[name]()
    stored = json.dumps(codec.encode(report), allow_nan=False)
    assert render(codec.read(Report, json.loads(stored))) == text


@every
def test_the_page_asks_for_nothing_and_no_name_becomes_markup(name):
    text = page(name)
    read = Reader(text)
    links = [v for _, key, v in read.attributes if key in {"href", "src", "action", "srcset"}]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "@import" not in text and not re.search(r"url\((?!#)", text)
    assert not {"img", "iframe", "object", "embed", "base"} & set(read.tags)
    assert read.tags.count("script") == 1
    assert not [key for _, key, _ in read.attributes if key.startswith("on")]
    assert "\x00" not in text and "\u202e" not in text


def test_the_policy_allows_exactly_the_script_and_the_style():
    text = page("every analysis")
    policy = next(
        v for t, k, v in Reader(text).attributes if t == "meta" and "default-src" in str(v)
    )
    for name in ("script", "style"):
        (inside,) = re.findall(rf"<{name}>(.*?)</{name}>", text, flags=re.S)
        digest = b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy


def test_hostile_names_are_shown_and_do_nothing():
    text = page("hostile names")
    assert html.escape(BAD[:30], quote=True) in text
    assert "<img" not in text and text.count("<script") == 1


@given(text=st.text(st.characters(exclude_categories=[])), name=st.text("'\"<>&= /`"))
def test_text_never_becomes_markup(text, name):
    read = Reader(element("p", text, title=name + text))
    assert read.tags == ["p"]
    assert len(read.attributes) == 1
    escape(text).encode("utf-8")


def test_every_drawing_has_a_text_alternative():
    depth, outer = 0, []
    for end, own in re.findall(r"<(/?)svg([^>]*)>", page("every analysis")):
        outer += [own] if not end and depth == 0 else []
        depth += -1 if end else 1
    assert depth == 0 and len(outer) > 20
    assert all("aria-label=" in one or "aria-hidden=" in one for one in outer)
