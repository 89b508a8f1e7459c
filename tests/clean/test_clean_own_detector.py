"""A detector of your own comes from a file: as the only one, by its name, or refused."""

import json

import numpy as np
import pytest

from equipoise.clean import DETECTORS, Collection
from equipoise.clean.detector import choose, load_detector, scores_of
from equipoise.types import InputError
from tests.cli_sample import caller

OWN = """
from dataclasses import dataclass
from typing import ClassVar
from equipoise.clean import Detector
from equipoise.clean.detector import CatalogueDetector

@dataclass(frozen=True)
class Mine(Detector):
    name: ClassVar[str] = "mine"
    title: ClassVar[str] = "My own"
    task: ClassVar[str] = "off_topic"
    needs: ClassVar[tuple[str, ...]] = ("embeddings",)
    feature: int = 0

    def score(self, data, *, seed=0, progress=None):
        return self.of_items(data.items, data.embeddings[:, self.feature])
"""
ANOTHER = """
@dataclass(frozen=True)
class Other(Mine):
    name: ClassVar[str] = "other"

second = Mine(feature=1)
"""


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "mine.py"
        path.write_text(text)
        return path

    return written


def test_the_only_detector_of_a_file_needs_no_name_and_imports_do_not_count(file):
    path = file(OWN)
    one = load_detector(str(path))
    assert one.name == "mine" and one.settings == {"feature": 0}
    chosen = choose(["knn_distance", f"{path}:Mine"], DETECTORS)
    assert [each.name for each in chosen] == ["knn_distance", "mine"]


def test_classes_and_made_detectors_are_found_by_name(file):
    path = file(OWN + ANOTHER)
    assert load_detector(f"{path}:Other").name == "other"
    assert load_detector(f"{path}:second").settings == {"feature": 1}
    with pytest.raises(InputError, match=r"3 detectors.*Mine, Other, second"):
        load_detector(str(path))


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("x = 1", "", "no detectors"),
        (OWN, ":Mime", "no detector Mime.*Mine"),
        ("import nothing_like_this", "", "ModuleNotFoundError"),
        ("raise SystemExit(7)", "", "SystemExit: 7"),
        (OWN.replace("feature: int = 0", "feature: int"), "", "without arguments"),
        (OWN.replace("off_topic", "odd"), "", "task: 'odd'"),
        (OWN.replace('    title: ClassVar[str] = "My own"\n', ""), "", "no title"),
    ],
)
def test_files_without_a_whole_detector_are_refused(file, text, name, said):
    with pytest.raises(InputError, match=said):
        load_detector(f"{file(text)}{name}")


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="no file"):
        load_detector(str(tmp_path / "gone.py"))
    with pytest.raises(InputError, match=r"path\.py"):
        load_detector("knn_distance")


BROKEN = [
    ("raise SystemExit(3)", "SystemExit: 3 (mine.py, line 16)"),
    ("1 / 0", "ZeroDivisionError: division by zero (mine.py, line 16)"),
    ("return data.embeddings[:, 0]", "ndarray"),
    ("return self.of_items(('nobody',), [1.0])", "a score of 'nobody'"),
    ("return self.of_items(data.items, data.embeddings[:, 0] * np.nan)", "nan"),
    ("object.__setattr__(self, 'bounded', True); "
     "return self.of_items(data.items, 9 + 0 * data.embeddings[:, 0])", "beyond 0 and 1"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "got"), BROKEN)
def test_what_a_detector_of_your_own_does_wrong_is_said_with_its_file(file, line, got):
    last = "return self.of_items(data.items, data.embeddings[:, self.feature])"
    detector = load_detector(str(file("import numpy as np" + OWN.replace(last, line))))
    rows = Collection(items=("a", "b", "c"), embeddings=np.eye(3))
    with pytest.raises(InputError) as refused:
        scores_of(detector, rows)
    assert got in str(refused.value)
    if "nan" not in got:
        assert "mine.py" in refused.value.where and refused.value.do


def test_what_a_detector_of_your_own_prints_stands_in_no_result(file, capsys):
    detector = load_detector(str(file(OWN.replace("return self", "print(7); return self"))))
    scores_of(detector, Collection(items=("a", "b"), embeddings=np.eye(2)))
    seen = capsys.readouterr()
    assert seen.out == "" and seen.err == "7\n"


def test_a_scan_ranks_with_a_detector_of_your_own(file, tmp_path, monkeypatch, capsys):
    rows = np.random.default_rng(0).normal(size=(30, 4))
    np.savez(tmp_path / "rows.npz", embeddings=rows, items=np.arange(30).astype(str))
    call = caller(monkeypatch, capsys)
    code, out, err = call("clean", "scan", tmp_path / "rows.npz", "--detectors",
                          f"{file(OWN)}:Mine", "--no-check", "--json")  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["rows"][0]["item"] == str(rows[:, 0].argmax())
