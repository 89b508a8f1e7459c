"""The README, run from top to bottom as a stranger would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """The two files that the README describes, with disagreement in them."""
    random = np.random.default_rng(5)
    evidence = random.standard_normal(60)
    votes = ["item,annotator,label"]
    for reader in ("ana", "bo", "cy"):
        said = evidence + 0.8 * random.standard_normal(60) > 0
        votes += [f"scan-{i + 1},{reader},{int(vote)}" for i, vote in enumerate(said)]
    resnet, vit = (evidence + noise * random.standard_normal(60) for noise in (1.2, 0.4))
    scores = ["item,resnet,vit"]
    scores += [
        f"scan-{i + 1},{a},{b}" for i, (a, b) in enumerate(zip(resnet, vit, strict=True))
    ]
    (tmp_path / "votes.csv").write_text("\n".join(votes) + "\n")
    (tmp_path / "scores.csv").write_text("\n".join(scores) + "\n")
    return tmp_path


def blocks(kind, language):
    """Fenced blocks that the README marks as part of the story."""
    return re.findall(rf"<!-- story: {kind} -->\n```{language}\n(.*?)```", README, re.DOTALL)


def run(command, folder):
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def test_the_commands_work_as_printed(folder):
    outputs = []
    for line in "".join(blocks("commands", "sh")).splitlines():
        words = line.split()
        assert words[0] == "equipoise"
        done = run([sys.executable, "-m", "equipoise", *words[1:]], folder)
        assert done.returncode == 0, done.stderr
        outputs.append(done.stdout)
    assert "vit" in outputs[1] and "Holds for" in outputs[1]
    assert {path.name for path in (folder / "run").iterdir()} == {
        "disputed.csv",
        "run.json",
        "replicates.npy",
        "report.html",
    }
    made = {"study.csv", "run", "full", "paper"}
    assert {path.name for path in folder.iterdir()} == {"votes.csv", "scores.csv", *made}
    assert "vit against resnet" in outputs[3] or "Pair" in outputs[3]


def test_the_python_works_as_printed(folder):
    code = "\n".join(blocks("python", "python"))
    assert code.count("import equipoise") == 1
    done = run([sys.executable, "-c", code], folder)
    assert done.returncode == 0, done.stderr
    assert "vit" in done.stdout
    assert {"page.html", "forest.svg"} <= {path.name for path in folder.iterdir()}


def test_every_link_leads_somewhere():
    root = Path(__file__).parent.parent
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
