"""Every verb, whatever it is asked: it does it, or says in a sentence why not, and no more."""

import io
import shutil
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from equipoise import InputError
from equipoise.cli import app
from tests.cli_sample import equipoise
from tests.hostile.formats import hurried
from tests.hostile.generators import cases
from tests.hostile.verbs import (
    BASES,
    KEPT,
    commands,
    cramped,
    every_verb,
    kind_of,
    make_home,
    tree,
    written,
)

VERBS = every_verb()
LONGEST = 20_000  # characters of all that a verb says when it refuses


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    home = tmp_path_factory.mktemp("verbs") / "whole"
    home.mkdir()
    make_home(home)
    return home


@pytest.fixture
def no_network(monkeypatch):
    import pooch

    def retrieve(*_, **__):
        raise OSError("no network here")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.delenv("EQUIPOISE_DATA", raising=False)


def fresh(whole):
    """A copy of the files, with what cannot be copied."""
    home = whole.parent / "here"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(whole, home, symlinks=True, ignore=shutil.ignore_patterns("pipe.csv"))
    import os

    os.mkfifo(home / "pipe.csv")
    return home


def check(verb, words, home):
    """Run one command and hold it to its promises; returns whether it left the files alone."""
    before = tree(home)
    with hurried(), cramped():
        done = equipoise(*words, cwd=home)
    said = done.stderr
    assert done.returncode in (0, 1, 2), said
    assert "Traceback" not in said + done.stdout
    now = tree(home)
    changed = [name for name in {*before, *now} if before.get(name) != now.get(name)]
    if done.returncode == 0:
        places = [one.strip("/") for one in written(verb, words) if one]
        other = [n for n in changed if not any(n == p or n.startswith(f"{p}/") for p in places)]
        other = [n for n in other if not any(p.startswith(f"{n}/") for p in places)]
    else:
        assert said + done.stdout and len(said) < LONGEST, said[:500]
        kept = [name for name in changed if any(part in KEPT for part in name.split("/"))]
        around = {name.split("/")[0] for name in kept}
        other = [name for name in changed if name not in kept and name not in around]
    assert not other, f"exit {done.returncode}, and left {other}: {said[-300:]}"
    return not changed


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
@pytest.mark.usefixtures("no_network")
def test_odd_commands(verb, whole, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    home = [fresh(whole)]

    @cases(0.3)
    @given(st.data())
    def hostile(data):
        words = data.draw(commands(verb))
        clean = False
        try:
            clean = check(verb, words, home[0])
        finally:
            if not clean:
                home[0] = fresh(whole)

    hostile()


def test_verbs_and_what_their_options_take_are_known():
    assert {"evaluate", "clean rounds next", "uq benchmark"} <= {one.name for one in VERBS}
    kinds = {one.name: kind_of(one) for verb in VERBS for one in verb.params}
    assert [kinds[name] for name in ("seed", "level", "annotations", "overwrite", "title")] == [
        *("whole", "number", "path", "flag", "word")
    ]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_commands_to_be_spoilt_work(verb, whole):
    """What odd options are added to would work without them."""
    if verb.words not in BASES or verb.words == ("uq", "benchmark"):
        return
    done = equipoise(*verb.words, *BASES[verb.words], cwd=fresh(whole))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", [("clean", "rounds", "start"), ("clean", "scan")])
def test_a_link_to_itself_as_the_result_is_refused(tmp_path, verb):
    (tmp_path / "loop").symlink_to("loop")
    words = [*verb, str(tmp_path), "--out", str(tmp_path / "loop")]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, InputError | SystemExit)
