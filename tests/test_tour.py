"""The tour, the walk and the guides, run as a stranger would: they print what they show.

``EQUIPOISE_SNAPSHOTS=write`` writes what they print into the pages; look at the diff.
"""

import os
import re
import shlex
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from equipoise import cli

DOCS = Path(__file__).parent.parent / "docs"
WRITE = os.environ.get("EQUIPOISE_SNAPSHOTS") == "write"
BLOCK = re.compile(r"```(python|sh)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
WRITTEN = {
    "tour": ("full/report.html", "paper/figures", "line/report.html"),
    "walkthrough": ("study.csv", "run/disputed.csv", "pair/report.html", "paper/methods.md"),
    "start": ("demo/report.html", "study.csv", "run/report.html"),
    "formats": (),
    "guides/clinical": ("run/report.html",),
    "guides/crowd": ("consensus.csv",),
    "guides/judge": ("judged/report.html", "why/report.html", "preferred/report.html"),
    "guides/cleaning": ("bench/report.html",),
}
every_page = pytest.mark.parametrize("page", WRITTEN)


def printed(language, code, names):
    """Run Python or commands and return what they print."""
    out = StringIO()
    with redirect_stdout(out):
        if language == "python":
            exec(code, names)
            return out.getvalue()
        for line in code.splitlines():
            sys.argv[:] = shlex.split(line)
            assert cli.run() == 0, line
    return out.getvalue()


@every_page
def test_every_block_runs_and_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(sys, "argv", [])
    names = {}
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for language, code, output in BLOCK.findall(text):
        said = printed(language, code, names)
        if output and WRITE:
            text = text.replace(
                f"{code}```\n\n```text\n{output}", f"{code}```\n\n```text\n{said}"
            )
        else:
            assert not output or said == output, code
    if WRITE:
        (DOCS / f"{page}.md").write_text(text, encoding="utf-8")
    assert all((tmp_path / one).exists() for one in WRITTEN[page])
    if page in ("tour", "walkthrough"):
        assert text.count("```text") >= 3


@every_page
def test_the_lines_of_code_fit_a_page(page):
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    for _, code, _ in BLOCK.findall(text):
        assert max(map(len, code.splitlines())) <= 125
