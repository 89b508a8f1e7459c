"""What we wrote ourselves is input too: opened as it was, or refused in four parts."""

import itertools
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipoise import InputError
from tests.hostile.formats import FORMATS, changes, hurried, make_all
from tests.hostile.generators import cases, confined

pytest.importorskip("torch", reason="checkpoints are written by torch")
by_format = pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stored")
    make_all(folder)
    return folder


@by_format
def test_a_damaged_one_is_refused_or_read_as_it_was(form, home, tmp_path_factory):
    before = form.open(home / form.name)
    number = itertools.count()

    @cases()
    @given(st.data())
    def hostile(data):
        name, change = data.draw(changes(home / form.name, form.files))
        folder = tmp_path_factory.getbasetemp() / f"{form.name}-{next(number)}"
        shutil.copytree(home / form.name, folder)
        change(folder / name)
        size = sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
        try:
            with hurried():
                watched = None if form.heals else folder
                outcome = confined(lambda: form.open(folder), size=size, folder=watched)
        finally:
            shutil.rmtree(folder)
        if form.sealed and outcome.error is None:
            assert outcome.value == before

    hostile()


@by_format
def test_every_format_opens_again_as_it_was(form, home):
    assert form.open(home / form.name) == form.open(home / form.name)


@by_format
def test_nothing_is_there(form, tmp_path):
    if form.heals or form.name == "grid":
        return
    with pytest.raises((InputError, StopIteration)):
        form.open(tmp_path)
