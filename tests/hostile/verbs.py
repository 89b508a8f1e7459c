"""Every verb with its options, and what nobody would ask of it."""

import itertools
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st
from typer.main import get_command

from equipoise.cli import app
from tests.hostile.formats import equipoise, write_inputs
from tests.hostile.generators import names

ROOM = 6 * 2**30  # bytes of addresses that a verb may take
WRITES = ("out", "page", "cache", "shown", "export")  # options that name what is written
WHERE = ("folder", "run")  # arguments that are a folder to be written into
KEPT = ("embeddings", "cells")  # of what is done, so that the same command goes on
SLOW = ("demo",)  # which never get as far as their work

NUMBERS = ("-1", "0", "1", "2", "3", "20", "101", "1000000000", "9" * 30, "1.5", "", "x", "nan")
FLOATS = ("-1", "0", "0.5", "0.95", "1", "2", "nan", "inf", "-inf", "1e400", "1e-320", "", "x")
FILES = (
    "votes.csv", "scores.csv", "items.csv", "problems.csv", "features.npz", "labels.npz",
    "one.npz", "truth.npz", "study.csv", "run", "scan", "rounds", "run/run.json", "images",
)  # fmt: skip
STRANGE = (
    "", "-", "missing.csv", "folder", "empty.csv", "binary.csv", "binary.npz", "binary.parquet",
    "loop.csv", "pipe.csv", "/dev/zero", "/dev/null", "votes.csv/inside", "far/away/x.csv",
    "x" * 300, "=1+1.csv", "--", "odd\udcff.csv", ".", "..", "~", "\U0001f600.csv", "votes",
    "locked.csv", "header.csv", "deep.json", "image.onnx",
)  # fmt: skip
OUT = (
    "new", "new.csv", "new.npz", "new.html", "new.parquet", "new/deeper", "run", "scan",
    "votes.csv", "folder", "", "-", "/dev/null", "votes.csv/inside", "x" * 300, "pipe.csv",
    "loop.csv", "folder/new.csv",
)  # fmt: skip
WORDS = (
    "auroc", "accuracy", "brier_score", "dawid_skene", "votes", "dirichlet", "all", "none",
    "quick", "good", "good,fair", "binary", "nominal", "ordinal", "interval", "ranking", "tidy",
    "wide", "label=annotator", "label=label,label=item", "0,1", "1", "site", "items",
    "resnet18", "mine.py:Mine", "nothing:None", "timm:x", "beta_edl.kl=x", "a=b=c", "=",
    "seed=1", "threshold=x", "recall_at_5:k=3", "auroc,auroc", "off_topic=problems.csv",
    "off_topic=missing.csv", "near_duplicates=votes.csv", ",", ",,", ";", "x" * 5000, "\udcff",
    "off_topic", "ecod", "hbos,ecod", "mean", "max",
)  # fmt: skip
BASES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("evaluate",): ("-a", "votes.csv", "-p", "scores.csv", "--replicates", "20"),
    ("check",): ("votes.csv", "scores.csv"),
    ("report",): ("run",),
    ("aggregate",): ("votes.csv",),
    ("agreement",): ("votes.csv", "--replicates", "20"),
    ("plan",): ("-a", "votes.csv", "-p", "scores.csv", "--simulations", "20"),
    ("audit",): ("--found", "3", "--audited", "9", "--positives", "1", "--unaudited", "20"),
    ("threshold", "plan"): ("truth.npz", "--bins", "3", "--per-bin", "2"),
    ("threshold", "set"): ("truth.npz", "--experts", "votes.csv", "--replicates", "20"),
    ("uq", "evaluate"): ("one.npz", "two.npz", "labels.npz"),
    ("uq", "benchmark"): ("--data", "one.npz"),
    ("clean", "scan"): ("features.npz", "--no-check"),
    ("clean", "benchmark"): (
        *("features.npz", "--votes", "off_topic=problems.csv", "--detectors", "ecod"),
        *("--replicates", "20", "--analyses", "none"),
    ),
    ("clean", "rounds", "start"): ("features.npz", "--out", "new"),
    ("clean", "rounds", "next"): ("rounds",),
    ("clean", "rounds", "show"): ("rounds",),
}


class Verb(NamedTuple):
    """A verb: the words that call it, and its parameters."""

    words: tuple[str, ...]
    params: tuple[Any, ...]

    @property
    def name(self) -> str:
        return " ".join(self.words)


def every_verb() -> list[Verb]:
    """Walk the command line, so that a new verb is found."""
    return [Verb(words, tuple(one.params)) for words, one in _leaves(get_command(app))]


def _leaves(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield words, command
        return
    for name, inner in command.commands.items():
        yield from _leaves(inner, (*words, name))


def kind_of(param: Any) -> str:
    """What a parameter takes: flag, whole, number, path or word."""
    described = getattr(param, "type_descriptor", None)  # of typer without click
    told = str(param.type.name if described is None else described.annotation).lower()
    marks = {"bool": "flag", "int": "whole", "float": "number", "path": "path"}
    return next((name for mark, name in marks.items() if mark in told), "word")


def _values(param: Any) -> st.SearchStrategy[str]:
    if param.name in WRITES:
        return st.sampled_from(OUT)
    pools = {"whole": NUMBERS, "number": FLOATS, "path": FILES + STRANGE}
    kind = kind_of(param)
    if kind in pools:
        return st.sampled_from(pools[kind])
    return st.one_of(st.sampled_from(WORDS), st.sampled_from(FILES + STRANGE), names())


@st.composite
def commands(draw: st.DrawFn, verb: Verb) -> tuple[str, ...]:
    """Words after `equipoise`: what works, or nothing, and up to three odd options."""
    base = BASES.get(verb.words, ())
    arguments = [one for one in verb.params if one.param_type_name == "argument"]
    options = [one for one in verb.params if one.param_type_name == "option"]
    words = list(base)
    if not base or draw(st.integers(0, 3)) == 0:
        words = [
            draw(_values(one)) for one in arguments for _ in range(draw(st.integers(0, 2)))
        ]
    elif draw(st.integers(0, 2)) == 0:  # one word of what works is another
        place = draw(st.integers(0, len(words) - 1))
        pool = st.sampled_from(FILES + STRANGE + NUMBERS)
        words[place] = draw(pool)
    for option in draw(st.lists(st.sampled_from(options), max_size=3)):
        words.append(draw(st.sampled_from(option.opts)))
        if kind_of(option) != "flag":
            words.append(draw(_values(option)))
    if verb.words in {(name,) for name in SLOW}:
        words += draw(st.sampled_from((("--nonsense",), ("--out", "votes.csv"), ("x", "y"))))
    return (*verb.words, *words)


def written(verb: Verb, words: tuple[str, ...]) -> list[str]:
    """What a command may write, by its own words."""
    named = {
        name
        for one in verb.params
        if one.name in WRITES and one.param_type_name == "option"
        for name in one.opts
    }
    places = [after for before, after in itertools.pairwise(words) if before in named]
    places += [
        word.partition("=")[2]
        for word in words
        if word.partition("=")[0] in named and "=" in word
    ]
    keys = [f"{place.removesuffix('.csv')}.key.json" for place in places]
    here = [one.name for one in verb.params if one.name in WHERE]
    beside = [word.rpartition("/")[0] for word in words]  # of a run that is named by its file
    return [*places, *keys, *((*words, *beside) if here else ()), "uq-benchmark"]


def make_home(home: Path) -> None:
    """Files that verbs take, and some that they cannot."""
    write_inputs(home)
    for words in (
        ("aggregate", "votes.csv", "--model", "dirichlet", "--out", "truth.npz"),
        ("check", "votes.csv", "scores.csv", "--out", "study.csv"),
        ("evaluate", *BASES["evaluate",], "--out", "run"),
        ("clean", "scan", "features.npz", "--no-check", "--out", "scan"),
        ("clean", "rounds", "start", "features.npz", "--out", "rounds"),
    ):
        done = equipoise(*words, cwd=home)
        assert done.returncode == 0, (words, done.stderr)
    for name in ("folder", "images"):
        (home / name).mkdir()
    (home / "images" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n cut")
    (home / "empty.csv").write_bytes(b"")
    (home / "header.csv").write_text("item,annotator,label\n")
    (home / "deep.json").write_text("[" * 50_000)
    for name in ("binary.csv", "binary.npz", "binary.parquet", "image.onnx"):
        (home / name).write_bytes(bytes(range(256)) * 3)
    (home / "loop.csv").symlink_to("loop.csv")
    (home / "locked.csv").write_text("item,annotator,label\n1,a,1\n")
    (home / "locked.csv").chmod(0)
    os.mkfifo(home / "pipe.csv")
    (home / "mine.py").write_text("raise SystemExit(7)\n")


def tree(home: Path) -> dict[str, tuple[int, int, int]]:
    """Everything that lies in a folder, by kind, size and time; of folders the kind alone."""
    found = {}
    for folder, inside, files in os.walk(home):
        for name in [*inside, *files]:
            path = Path(folder) / name
            about = path.lstat()
            kind = stat.S_IFMT(about.st_mode)
            own = stat.S_ISDIR(about.st_mode)
            now = (kind, 0, 0) if own else (kind, about.st_size, about.st_mtime_ns)
            found[path.relative_to(home).as_posix()] = now
    return found


@contextmanager
def cramped() -> Iterator[None]:
    """Hold a verb to so much memory; more is a `MemoryError`."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
