"""Votes on disk: the same bytes from every engine, though a worker dies in the middle."""

import hashlib
import json
import os
import signal
import sys
from contextlib import suppress

import pytest
from typer.testing import CliRunner

import equipoise.scale.engine as engines
from equipoise.cli import app
from equipoise.scale import disk
from equipoise.scale.disk import ranking
from equipoise.scale.disk.evaluation import METRICS
from equipoise.scale.disk.votes import map_partitions
from equipoise.scale.engine import Engine, EngineError, choose_engine, send_by_code, using
from equipoise.truth import Fit, GladFit
from tests.cluster_sample import two_workers
from tests.scale.test_disk import contents, cut, ranged, scored, study

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
send_by_code(sys.modules[__name__])


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as made:
        yield made


@pytest.fixture
def cluster_engine(cluster):
    return choose_engine("dask", address=cluster.scheduler_address)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Send everything away, however little it is, and merge in several ranges."""
    monkeypatch.setattr(engines, "ENOUGH", 0.0)
    ranged(monkeypatch, 20)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Votes and scores in six partitions."""
    home, table = tmp_path_factory.mktemp("study"), study(4)
    cut(table, home / "votes", 6)
    cut(scored(table, 4, tied=True), home / "scores", 5)
    return home


def results(place, out, *names):
    """What every kind of work writes or says."""
    votes, made = disk.open_votes(place / "votes"), {}
    every = {
        "soft_labels": lambda to: disk.soft_labels(votes, to, model="dirichlet"),
        "dawid_skene": lambda to: disk.dawid_skene(votes, to, fit=Fit(0, 3)),
        "glad": lambda to: disk.glad(votes, to, fit=GladFit(0, 3)),
    }
    for name in names or every:
        if name in every:
            every[name](out / name)
            made[name] = contents(out / name)
    if not names:
        made["agreement"] = repr(disk.agreement(votes))
    if not names or "evaluate" in names:
        scores = disk.open_scores(place / "scores")
        found = disk.evaluate(votes, scores, metrics=METRICS, work=out)
        said = [repr((found.models, found.gaps))]
        said += [one.covariance().tobytes().hex() for one in found.cells.values()]
        made["evaluate"] = hashlib.sha256(json.dumps(said).encode()).hexdigest()
    return made


@pytest.fixture(scope="module")
def serial(place, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch, using(Engine("local", 1)):
        ranged(patch, 20)
        return results(place, tmp_path_factory.mktemp("serial"))


@pytest.mark.parametrize(
    "engine", [Engine("local", 3), *(Engine("processes", n) for n in (1, 2))]
)
def test_threads_and_processes_give_the_same_bytes(place, serial, tmp_path, engine):
    with using(engine):
        assert results(place, tmp_path) == serial


def test_a_cluster_gives_the_same_bytes(place, serial, tmp_path, cluster_engine):
    with using(cluster_engine):
        assert results(place, tmp_path) == serial


class Deadly:
    """Work whose process dies once, after it wrote what it found and before it says so."""

    def __init__(self, work, flag):
        self.work, self.flag, self.parent = work, flag, os.getpid()

    def __call__(self, task):
        made = self.work(task)
        if os.getpid() != self.parent:
            with suppress(FileExistsError):
                self.flag.touch(exist_ok=False)  # of two at a time, one dies
                os.kill(os.getpid(), signal.SIGKILL)
        return made


@pytest.mark.parametrize(
    ("name", "work", "turn"),
    [
        ("dawid_skene", "truth.confusion.partial", 3), ("glad", "truth.ability._Sweep", 2),
        ("soft_labels", "scale.disk.label_files.partial", 2),
        ("evaluate", "scale.disk.ranking._Merge", 1),
    ],
)  # fmt: skip
def test_a_worker_that_dies_changes_no_byte(
    place, serial, tmp_path, cluster_engine, monkeypatch, name, work, turn
):
    module, kind = work.rsplit(".", 1)
    home, flag, made = sys.modules[f"equipoise.{module}"], tmp_path / "died", []
    plain = getattr(home, kind)

    def deadly(*fields, **named):
        made.append(plain(*fields, **named))
        return Deadly(made[-1], flag) if len(made) == turn else made[-1]

    monkeypatch.setattr(home, kind, deadly)
    with using(cluster_engine):
        assert results(place, tmp_path, name) == {name: serial[name]}
    assert flag.exists()


def test_little_is_sent(tmp_path, monkeypatch):
    from equipoise.scale.engine import _processes

    sizes, pack = [], _processes.pack

    def weighed(function):
        sizes.append(len(pack(function).content))
        return pack(function)

    monkeypatch.setattr(_processes, "pack", weighed)
    table = study(4, items=2000, votes=20_000, text=False)
    cut(table, tmp_path / "votes", 3)
    cut(scored(table, 4, tied=True), tmp_path / "scores", 3)
    monkeypatch.setattr(ranking, "RANGE", 1000)
    with using(Engine("processes", 1)):
        results(tmp_path, tmp_path, "soft_labels", "dawid_skene", "evaluate")
    assert len(sizes) > 10 and max(sizes) < 16_000  # the votes are more than 20,000 bytes


def hide(folder):
    """Take a folder away in this process, so that others do not see it."""
    parent = os.getpid()

    def work(task):
        if os.getpid() == parent:
            folder.rename(folder.with_name("elsewhere"))
        return task

    return work


def test_a_folder_that_workers_do_not_see_is_told(tmp_path, cluster_engine):
    for engine in (Engine("processes", 1), cluster_engine):
        folder = tmp_path / engine.kind / "votes"
        folder.mkdir(parents=True)
        with using(engine), pytest.raises(EngineError, match=r"no folder .*votes") as found:
            map_partitions(hide(folder), range(3), 0, [folder])
        assert "a disk that all workers see" in found.value.expected
        assert "TMPDIR" in str(found.value.do)


def test_the_commands_run_on_an_engine(place, tmp_path, cluster, monkeypatch):
    used = []
    real = engines._started
    monkeypatch.setattr(engines, "_started", lambda one: used.append(one.kind) or real(one))
    monkeypatch.chdir(place)  # where workers are not
    far = ["--engine", "dask", "--address", cluster.scheduler_address]
    near = ["--engine", "local", "--workers", "2"]

    def run(*words):
        done = CliRunner().invoke(app, [*map(str, words), "--on-disk", "--json"])
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        told.pop("folder", None)
        return told

    for number, words in enumerate(
        [
            ["aggregate", "votes", "--model", "dawid_skene"],
            ["agreement", "votes"],
            ["evaluate", "votes", "scores", "--metrics", "auroc,brier_score"],
        ]
    ):
        out = [["--out", tmp_path / f"{n}-{number}"] if not number else [] for n in "ab"]
        assert run(*words, *out[0], *far) == run(*words, *out[1], *near)
        assert used == ["dask"] * (number + 1)
    assert contents(tmp_path / "a-0") == contents(tmp_path / "b-0")
    refused = CliRunner().invoke(app, ["agreement", "votes", "--engine", "slurm-array"])
    assert refused.exit_code == 2 and "no parts" in refused.output
