"""The tour, run from top to bottom as a stranger would; what it prints is what it shows."""

import re
import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from equipoise import cli

TOUR = Path(__file__).parent.parent / "docs" / "tour.md"
BLOCK = re.compile(r"```(python|sh)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def printed(code, names):
    """Run Python in a namespace and return what it prints."""
    out = StringIO()
    with redirect_stdout(out):
        exec(code, names)
    return out.getvalue()


def test_every_block_runs_and_prints_what_the_tour_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, shown, verbs = {}, 0, []
    for language, code, output in BLOCK.findall(TOUR.read_text(encoding="utf-8")):
        if language == "python":
            assert printed(code, names) == output
            shown += bool(output)
            continue
        for line in code.splitlines():
            monkeypatch.setattr(sys, "argv", shlex.split(line))
            assert cli.run() == 0, capsys.readouterr().err
            verbs.append(shlex.split(line)[1])
    assert shown >= 7
    assert {"stability", "compare", "evaluate", "report"} <= set(verbs)
    assert (tmp_path / "stability/report.html").stat().st_size > 10_000
    assert "vit against resnet" in capsys.readouterr().out


def test_the_lines_of_code_fit_a_page():
    for _, code, _ in BLOCK.findall(TOUR.read_text(encoding="utf-8")):
        assert max(map(len, code.splitlines())) <= 105
