"""A small study on disk, and two ways to run one verb in this process."""

import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import numpy as np

from equipoise import cli

QUICK = ("--replicates", "20", "--most", "5")
FILES = ("-a", "votes.csv", "-p", "scores.csv")


def write_study(folder, items=40):
    """Votes of four readers, scores of three models, and a table of attributes."""
    random = np.random.default_rng(1)
    evidence = random.standard_normal(items)
    lines = ["item,annotator,label"]
    for reader in range(4):
        said = evidence + random.standard_normal(items) > 0
        lines += [f"{i},r{reader},{int(vote)}" for i, vote in enumerate(said)]
    (folder / "votes.csv").write_text("\n".join(lines) + "\n")
    noisy = [evidence + noise * random.standard_normal(items) for noise in (0.3, 0.5, 2.0)]
    lines = ["item,good,fair,[weak]"]
    lines += [
        ",".join([str(i), *map(repr, map(float, x))]) for i, x in enumerate(np.transpose(noisy))
    ]
    (folder / "scores.csv").write_text("\n".join(lines) + "\n")
    lines = ["item,site", *(f"{i},{'north' if i % 2 else 'south'}" for i in range(items))]
    (folder / "items.csv").write_text("\n".join(lines) + "\n")
    return folder


def caller(monkeypatch, capsys):
    """Run one verb; returns exit code, output and messages."""
    monkeypatch.setenv("COLUMNS", "140")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["equipoise", *map(str, words)])
        code = cli.run()
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed where."""

    returncode: int
    stdout: str
    stderr: str


def equipoise(*words, cwd=None, **environment):
    """Run one verb in a folder, as a shell would, without starting another Python."""
    out, said = StringIO(), StringIO()
    with (
        chdir(cwd or Path.cwd()),
        patch.dict(os.environ, {"COLUMNS": "120", **environment}),
        patch.object(sys, "argv", ["equipoise", *map(str, words)]),
        redirect_stdout(out),
        redirect_stderr(said),
    ):
        code = cli.run()
    return Done(code, out.getvalue(), said.getvalue())


def flat(text):
    """Text without the frame and the line ends of a terminal."""
    return " ".join(text.replace("│", " ").split())
