"""The gallery: every page is made by the one command that stands there."""

import json
import os
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli_sample import caller, flat, write_study

GALLERY = Path(__file__).parent.parent / "docs" / "gallery.md"
COMMANDS = re.findall(r"^    equipoise (.*)$", GALLERY.read_text("utf-8"), re.MULTILINE)
QUICK = {
    "evaluate": ("--replicates", "10"),
    "aggregate": (),
    "clean": (
        "--detectors",
        "knn_disagreement",
        "--analyses",
        "none",
    ),
}
needs_data = pytest.mark.skipif(
    "EQUIPOISE_DATA" not in os.environ, reason="set EQUIPOISE_DATA to a folder with data sets"
)
TOLD = {  # on the page, and meanwhile
    "chexpert": ("ine of ten models cannot be told apart", ""),
    "sleep_dodh": (
        "our of six models cannot be told apart",
        "read as probability 1 of that class.",
    ),
}


def quick(command):
    """The words of a command, with two analyses in place of all."""
    words = shlex.split(command)
    if "--full" in words:
        place = words.index("--full")
        words[place : place + 1] = ["--analyses", "ranking,annotators"]
    return [*words, *QUICK[words[0]]]


def page(words):
    """The page that a command writes."""
    place = dict(pairwise(words))
    return Path(place["--page"]) if "--page" in place else Path(place["--out"]) / "report.html"


@needs_data
@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if "--dataset" in one or one.startswith("clean")]
)
def test_one_command_makes_one_page(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pages").mkdir()
    words = shlex.split(command)
    code, _, said = caller(monkeypatch, capsys)(*quick(command))
    assert code == 0, said
    text = page(words).read_text("utf-8")
    assert "</html>" in text and "<title>" in text
    name = dict(pairwise(words)).get("--dataset")
    if name in TOLD:
        shown, meanwhile = TOLD[name]
        assert shown in text and meanwhile in flat(said)
    if name == "sleep_dodh":
        rows = json.loads(page(words).with_name("run.json").read_text("utf-8"))["rows"]
        found = [row["value"] for row in rows if row["metric"] == "accuracy"]
        assert min(found) > 0.6 and max(found) < 0.9
    if "--title" in words:
        assert f"<title>{words[words.index('--title') + 1]}</title>" in text


def test_your_own_study_comes_the_same_way(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path)
    own = [one for one in COMMANDS if "--dataset" not in one and one.startswith("evaluate")]
    own = [one for one in own if "dialsummeval" not in one]  # whose file is public
    assert [one.split()[0] for one in own] == ["evaluate", "evaluate"]
    for command in own:
        code, _, said = caller(monkeypatch, capsys)(*quick(command))
        assert code == 0, said
        assert page(shlex.split(command)).is_file()


def test_the_four_studies_are_there():
    named = {words[words.index("--dataset") + 1] for words in map(shlex.split, COMMANDS)
             if "--dataset" in words}  # fmt: skip
    assert named == {"chexpert", "cifar10h", "dermatology_ddx", "sleep_dodh"}
