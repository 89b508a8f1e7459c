"""Hundreds of classes: the plain and the full command within two gigabytes."""

import json
import resource
import subprocess
import sys

import numpy as np
import pytest

CLASSES, ITEMS, READERS, LIMIT = 419, 150, 4, 2 * 2**30
# what needs two classes, attributes of items, or a standard beside votes
NEEDS_TWO = {
    "curves", "net_benefit", "vote_cutoffs", "threshold_sweep", "subgroups", "truths",
    "retained",
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Votes of four readers and two models' probabilities for 419 classes, with long tails."""
    folder = tmp_path_factory.mktemp("many")
    random = np.random.default_rng(0)
    names = [f"condition {k}" for k in range(CLASSES)]
    usual = random.dirichlet(np.full(CLASSES, 0.3))
    chance = np.stack([random.dirichlet(3 * usual + 0.001) for _ in range(ITEMS)])
    rows = [
        f"i{i},r{r},{names[random.choice(CLASSES, p=chance[i])]}"
        for i in range(ITEMS)
        for r in range(READERS)
    ]
    (folder / "votes.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    (folder / "classes.txt").write_text("\n".join(names) + "\n")
    for model, noise in (("near", 0.1), ("far", 0.95)):
        mixed = (1 - noise) * chance + noise * random.dirichlet(np.ones(CLASSES), ITEMS)
        lines = [",".join([f"i{i}", *(f"{p:.6g}" for p in row)]) for i, row in enumerate(mixed)]
        header = ",".join(["item", *names])
        (folder / f"{model}.csv").write_text("\n".join([header, *lines]) + "\n")
    return folder


@pytest.mark.parametrize("full", [False, True], ids=["plain", "full"])
def test_419_classes_are_evaluated_in_two_gigabytes(study, full):
    script = (
        f"import resource; resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT}));"
        "import sys; from equipoise import cli; sys.exit(cli.run())"
    )
    words = [
        "evaluate", "-a", "votes.csv", "-p", "near.csv", "-p", "far.csv",
        "--classes", "classes.txt", "--replicates", "20", "--most", "5",
        "--out", "full" if full else "plain", *(["--full"] if full else []),
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", script, *words], cwd=study, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "  near " in done.stdout and "  far " in done.stdout
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 < LIMIT
    if full:
        run = json.loads((study / "full" / "run.json").read_text())
        missing = {x["key"]: x["sentence"] for x in run["report"]["findings"] if x["left_out"]}
        assert set(missing) <= NEEDS_TWO, missing
        assert not any("memory" in sentence.lower() for sentence in missing.values())
