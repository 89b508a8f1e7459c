"""No verb depends on the order of rows or of models in the files it is given.

Every verb runs on a small study, and again with shuffled rows of votes, of predictions and of
attributes, and with the columns of models turned round. Whatever it says in JSON is compared
row by row, matched by names: words exactly, numbers to 1e-9. Only what shows the file itself
(its hash, its first lines, its header) may differ.
"""

import csv
import json
from functools import cache

import numpy as np
import pytest

from equipoise.study.analyses.catalogue import ANALYSES
from equipoise.truth import MODELS
from tests.cli_sample import equipoise

FILE_ITSELF = (
    *("annotations: ", "predictions: ", "attributes: ", "sha256", "seconds"),
    *(".inputs[", "first_lines", "|preview,", "].columns"),
)
PAIR = ("standard_error", "df", "p", "p_adjusted")  # of a pair, whichever comes first
EVALUATE = ("evaluate", "-a", "votes.csv", "-p", "scores.csv", "--json")
FEW = ("--replicates", "12", "--most", "3")
PEOPLE = ("r9", "r10", "ana", "bo")
ITEMS = 26


def _written(path, head, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])


def _shuffled(rows, seed):
    return [rows[k] for k in np.random.default_rng(seed).permutation(len(rows))]


class Files:
    """A study as tables, by name of the file: header and rows."""

    def __init__(self, kind):
        random = np.random.default_rng(2)
        names = [f"scan-{k}" for k in random.permutation(ITEMS)]
        level = random.normal(size=ITEMS)
        self.tables = {}
        votes = []
        for who, name in enumerate(PEOPLE):
            seen = level + random.normal(0, 0.7 + 0.2 * who, ITEMS)
            for i in range(ITEMS):
                if random.random() < 0.9:
                    votes += self.answers(kind, names[i], name, seen[i], f"p{i // 2}", random)
        head = ["item", "annotator", "label", "group", "weight"]
        self.tables["votes.csv"] = (
            ["item", "annotator", "label", "rank"] if kind == "ranking" else head, votes
        )  # fmt: skip
        scores = np.clip(
            0.5 + 0.2 * (level[:, None] + random.normal(0, [0.4, 0.9, 1.2], (ITEMS, 3))), 0, 1
        ).round(2)
        rows = [[name, *map(str, row)] for name, row in zip(names, scores, strict=True)]
        self.tables["scores.csv"] = (["item", "net", "tree", "a rule"], rows)
        sites = [[name, ("north", "south")[k % 2]] for k, name in enumerate(names)]
        self.tables["items.csv"] = (["item", "site"], sites)

    @staticmethod
    def answers(kind, item, who, seen, group, random):
        if kind == "ranking":
            order = random.permutation(["a", "b", "c", "d"])[: 1 + int(random.integers(3))]
            first = "abcd"[int(np.digitize(seen, [-0.7, 0, 0.7]))]
            every = [first, *(one for one in order if one != first)]
            return [[item, who, one, str((n + 1) // 2)] for n, one in enumerate(every)]
        steps = {"binary": [0], "nominal": [-0.5, 0.5], "ordinal": [-0.5, 0.5]}
        label = seen.round(1) if kind == "interval" else np.digitize(seen, steps[kind])
        word = {"nominal": "xyz"}.get(kind)
        weight = "1" if random.random() < 0.9 else "2"
        return [[item, who, word[label] if word else str(label), group, weight]]

    def written(self, folder, change):
        """Write all files into a folder, one of them in another order."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, (head, rows) in self.tables.items():
            if change == name:
                rows = _shuffled(rows, 5)
            if change == "columns" and name == "scores.csv":
                head = [head[0], *head[:0:-1]]
                rows = [[row[0], *row[:0:-1]] for row in rows]
            _written(folder / name, head, rows)
        return folder


@cache
def files(kind):
    return Files(kind)


def _told(value, path=""):
    """Leaves of a record by path; rows of a table are found by the names in them."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _told(part, f"{path}.{key}")
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        seen = {}
        for row in value:
            name = "|".join(sorted(str(v) for v in row.values() if isinstance(v, str)))
            seen[name] = seen.get(name, -1) + 1
            yield from _told(row, f"{path}[{name}, {seen[name]}]")
    elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        yield path, sorted(value)
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from _told(part, f"{path}[{number}]")
    else:
        yield path, value


def told(folder, words):
    done = equipoise(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    found = dict(_told(json.loads(done.stdout)))
    return {key: one for key, one in found.items() if not any(x in key for x in FILE_ITSELF)}


def same(one, other):
    assert one.keys() == other.keys(), sorted(one.keys() ^ other.keys())[:4]
    for key, value in one.items():
        if isinstance(value, float):
            assert other[key] == pytest.approx(value, rel=0, abs=1e-9, nan_ok=True), key
        else:
            assert other[key] == value, key
    assert any(isinstance(value, float) for value in one.values())


def holds(tmp_path, kind, words, changes=("votes.csv",)):
    one = told(files(kind).written(tmp_path / "as they are", ""), words)
    for change in changes:
        same(one, told(files(kind).written(tmp_path / change, change), words))


ROWS = ("votes.csv", "scores.csv")


@pytest.mark.parametrize("kind", ["items", "votes", "panel", "items x votes", "influence"])
def test_evaluate_whatever_is_resampled(tmp_path, kind):
    words = (*EVALUATE, "--metrics", "auroc,f1,brier_score", "--resample", f"{kind}", *FEW)
    holds(tmp_path, "binary", words, ROWS)


def test_the_order_of_models(tmp_path):
    """Of pairs, which are told the other way round, what has no direction."""
    words = (*EVALUATE, "--full", *FEW)
    one, other = (
        told(files("binary").written(tmp_path / what, what), words) for what in ("", "columns")
    )
    assert {key for key in one if key.endswith(".p_best")} <= other.keys()
    both = one.keys() & other.keys()
    assert len(both) > 0.97 * len(one)
    for key in both:
        whole = not any(word in key for word in ("differences", "pair", "choices_changes"))
        if isinstance(one[key], float) and (whole or key.rpartition(".")[2] in PAIR):
            assert other[key] == pytest.approx(one[key], rel=0, abs=1e-9, nan_ok=True), key


def test_every_analysis(tmp_path):
    words = (*EVALUATE, "--full", "--attributes", "items.csv", *FEW)
    holds(tmp_path, "binary", words, (*ROWS, "items.csv"))
    assert len(ANALYSES) > 10


@pytest.mark.parametrize("truth", [m.name for m in MODELS.values() if "binary" in m.kinds])
def test_evaluate_under_every_model_of_the_truth(tmp_path, truth):
    quick = ("--draws", "30", "--burn-in", "10") if MODELS[truth].chains else ()
    draws = ("--draws", "30") if MODELS[truth].reliability else ()
    words = (*EVALUATE, "--truth", truth, "--replicates", "12", *(quick or draws))
    holds(tmp_path, "binary", words, ROWS)


@pytest.mark.parametrize(
    ("model", "kind"), [(m.name, kind) for m in MODELS.values() for kind in m.kinds]
)
def test_aggregate_by_every_model(tmp_path, model, kind):
    more = ("--threshold", "0") if MODELS[model].threshold else ()
    scale = ("--kind", kind, "--classes", "0,1,2") if kind == "ordinal" else ("--kind", kind)
    words = ("aggregate", "votes.csv", "--json", *scale, "--model", model, *more)
    holds(tmp_path, kind, words)


@pytest.mark.parametrize("kind", ["binary", "nominal", "ordinal", "interval", "ranking"])
def test_agreement(tmp_path, kind):
    scale = ("--kind", kind, "--classes", "0,1,2") if kind == "ordinal" else ("--kind", kind)
    words = ("agreement", "votes.csv", "--json", *scale, "--replicates", "40")
    holds(tmp_path, kind, words)


@pytest.mark.parametrize("more", [(), ("--ranking", "--difference", "0.1", "--next", "3")])
def test_plan(tmp_path, more):
    words = ("plan", *EVALUATE[1:], "--simulations", "20", *more)
    holds(tmp_path, "binary", words, (*ROWS, "columns"))


def test_check(tmp_path):
    holds(tmp_path, "binary", ("check", *EVALUATE[1:]), ROWS)


@pytest.fixture(scope="module")
def audit():
    """Audited items of two pools, as a table."""
    random = np.random.default_rng(3)
    head, rows = ["item", "pool", "annotator", "label"], []
    for k in random.permutation(30):
        rows += [[f"found-{k}", "xy"[k % 2], who, str(int(random.random() < 0.3))]
                 for who in PEOPLE[:3]]  # fmt: skip
    return head, rows


@pytest.mark.parametrize("against", [False, True])
def test_audit(tmp_path, audit, against):
    head, rows = audit
    words = ["audit", "audited.csv", "--json", "--size", "x=40", "--size", "y=20"]
    words += ["-a", "votes.csv"] if against else ["--found", "9"]
    made = []
    for change in ("", "votes.csv"):
        folder = files("binary").written(tmp_path / f"of {change}", change)
        own = _shuffled(rows, 4) if change else rows
        _written(folder / "audited.csv", head, own)
        made.append(told(folder, words))
    same(*made)


def test_thresholds(tmp_path):
    size = ("--truth", "votes", "--bins", "3", "--per-bin", "4", "--json")
    holds(tmp_path, "binary", ("threshold", "plan", "votes.csv", *size))
    _, votes = files("binary").tables["votes.csv"]
    made = []
    for change in ("", "votes.csv"):
        folder = files("binary").written(tmp_path / f"of {change}", change)
        given = []
        for who in PEOPLE[:3]:
            own = [[row[0], row[2]] for row in votes if row[1] == who]
            _written(folder / f"{who}.csv", ["item", "label"], _shuffled(own, len(change)))
            given += ["--experts", f"{who}.csv"]
        words = ("threshold", "set", "votes.csv", *size, *given, "-p", "scores.csv", *FEW[:2])
        made.append(told(folder, words))
    same(*made)


def test_uncertainty(tmp_path):
    random = np.random.default_rng(1)
    names = np.array([f"scan-{k}" for k in range(30)])
    logits, labels = random.normal(size=(4, 30, 2)), random.integers(0, 2, (30, 2))
    groups = np.arange(30) // 2
    made = []
    for order in (np.arange(30), random.permutation(30)):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        np.savez(
            folder / "labels.npz", classes=["a", "b"], test_items=names[order],
            test_labels=labels[order].astype(float), test_groups=groups[order],
        )  # fmt: skip
        for number, name in enumerate(("one.cnn.0", "two.cnn.0")):
            np.savez(folder / f"{name}.npz", test_logits=logits[:, order] + 0.1 * number)
        made.append(told(folder, ("uq", "evaluate", ".", "--json")))
    same(*made)
