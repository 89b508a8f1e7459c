"""The wheel and the source archive: built, installed apart from the checkout, and used."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "equipoise"


def called(*words, cwd, path=None):
    """What a program prints; it must succeed."""
    env = {**os.environ, "PYTHONPATH": str(path) if path else "", "MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """Both archives, built without the network by the backend that pyproject.toml names."""
    pytest.importorskip("hatchling", reason="builds the wheel; it comes with the extra `test`")
    folder = tmp_path_factory.mktemp("archives")
    for kind in ("wheel", "sdist"):
        called("-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=ROOT)
    return folder


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(archives):
    (wheel,) = archives.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"equipoise/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"}
    }
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == expected
    assert {"equipoise/report/page/page.css", "equipoise/py.typed"} <= packed


def test_the_source_archive_can_be_tested(archives):
    (archive,) = archives.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    needed = {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile"}
    assert needed | {"tests/test_package.py", "docs/conf.py", "CITATION.cff"} <= names
    assert not [name for name in names if name.endswith((".pyc", ".nbi", ".nbc"))]


def test_the_installed_wheel_draws_the_page_of_the_demo(archives, tmp_path):
    (wheel,) = archives.glob("*.whl")
    where = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(where)
    said = called("-c", "import equipoise; print(equipoise.__file__)", cwd=tmp_path, path=where)
    assert said.startswith(str(where))
    called("-m", "equipoise", "demo", "--out", tmp_path / "demo", cwd=tmp_path, path=where)
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    assert "<style>" in page and "cannot be told apart" in page


def test_what_is_cited_is_this_version():
    import equipoise

    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {equipoise.__version__}\n" in cited
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {equipoise.__version__}" in changes


def test_every_dependency_is_argued_for():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    argued = (ROOT / "docs/adr/0007-dependencies.md").read_text(encoding="utf-8")
    names = [text.partition(">")[0] for text in project["dependencies"]]
    assert [name for name in names if name not in argued] == []
