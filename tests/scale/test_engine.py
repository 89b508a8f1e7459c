"""Engines: the same bytes from every one of them, whatever dies, and errors that say so."""

import errno
import hashlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import equipoise
import equipoise.scale.engine as engines
from equipoise import InputError, evaluate, resample
from equipoise.cli.engine import _script, use_engine
from equipoise.cli.options import Options
from equipoise.datasets.demo import reading_study
from equipoise.read import codec
from equipoise.scale.cells import (
    Cell,
    CellMadeError,
    CellsWaitError,
    only,
    run_cells,
    waiting,
)
from equipoise.scale.engine import (
    ROOM,
    Engine,
    EngineError,
    TaskError,
    choose_engine,
    current,
    send_by_code,
    using,
)
from equipoise.scale.engine import threads as on_threads
from equipoise.study.planning import plan_size
from equipoise.truth import annotator_bootstrap, dawid_skene, plackett_luce
from equipoise.truth.ranking_chains import Chain
from equipoise.types import Annotations, Option, hint
from tests.cluster_sample import two_workers

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
send_by_code(sys.modules[__name__])
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as made:
        yield made


@pytest.fixture
def dask(cluster):
    return choose_engine("dask", address=cluster.scheduler_address)


@pytest.fixture
def at_once(monkeypatch):
    """Send everything away, however little it is."""
    monkeypatch.setattr(engines, "ENOUGH", 0.0)


class Work:
    """A pure function with data that may be written to, and data that may not."""

    def __init__(self, pause=0.0):
        self.own = np.random.default_rng(0).random((400, 300))
        self.shared = self.own.copy()
        self.shared.flags.writeable = False
        self.pause = pause

    def __call__(self, seed):
        assert self.own.flags.writeable and not self.shared.flags.writeable
        time.sleep(self.pause)
        weights = np.random.default_rng(seed).random((300, 40))
        return (self.own @ weights).sum(axis=0), self.shared[seed % 400, 0]


def digest(results):
    whole = hashlib.sha256()
    for one in results:
        whole.update(b"".join(np.ascontiguousarray(part).tobytes() for part in one))
    return whole.hexdigest()


@pytest.fixture(scope="module")
def serial():
    return digest(Engine("local", 1).map(Work(), range(40)))


@pytest.mark.parametrize("engine", [Engine("local", 2), Engine("local", 5)])
def test_threads_give_the_same_bytes(engine, serial):
    assert digest(engine.map(Work(), range(40))) == serial


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_processes_give_the_same_bytes(workers, serial, monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 0.01)
    assert digest(Engine("processes", workers).map(Work(0.002), range(40))) == serial


@pytest.mark.usefixtures("at_once")
def test_a_cluster_gives_the_same_bytes(dask, serial):
    assert digest(dask.map(Work(), range(40))) == serial


@pytest.mark.usefixtures("at_once")
def test_a_cluster_gives_the_same_bytes_though_a_worker_dies(cluster, dask, serial):
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        before = client.run(os.getpid)
    victim = next(iter(before.values()))
    told = []

    def progress(done, _):
        told.append(done)
        if done == 8:
            os.kill(victim, signal.SIGKILL)

    assert digest(dask.map(Work(0.03), range(40), progress=progress)) == serial
    assert told == list(range(1, 41))
    with pytest.raises(ProcessLookupError):
        for _ in range(1000):  # until its parent noticed
            os.kill(victim, 0)
            time.sleep(0.01)


# ---- what runs on it -----------------------------------------------------------------------


def rankings():
    chosen = np.random.default_rng(1)
    label = np.concatenate([chosen.permutation(5)[:3] for _ in range(400)])
    return Annotations(
        kind="ranking", items=tuple(f"c{n}" for n in range(200)), classes=tuple("abcde"),
        item=np.repeat(np.arange(200), 6), label=label, rank=np.tile([0, 1, 2], 400),
        reading=np.repeat(np.arange(400), 3),
    )  # fmt: skip


def everything():
    votes, scores = reading_study()
    drawn = resample(votes, "items x panel", replicates=300)  # in three blocks
    found = evaluate(scores, votes, metrics=["auroc"], resampling=drawn)
    panels = annotator_bootstrap(dawid_skene, votes, draws=4)
    chains = plackett_luce(rankings(), chain=Chain(draws=20, burn_in=10))
    told = []
    plan = plan_size(
        scores, votes, difference=0.01, simulations=4, progress=lambda *a: told.append(a)
    )
    assert told[-1][0] == told[-1][1]
    simulated = np.array([one.simulated for one in plan.designs])
    return digest(
        [
            (found.values, found.replicates), (panels.mass, panels.mean),
            (chains.mass, chains.rest), (simulated,),
        ]
    )  # fmt: skip


@pytest.fixture(scope="module")
def of_everything():
    with using(Engine("local", 1)):
        return everything()


@pytest.mark.usefixtures("at_once")
def test_evaluations_chains_panels_and_plans_are_the_same_everywhere(of_everything, dask):
    for engine in (Engine("local", 2), Engine("processes", 2), dask):
        with using(engine):
            assert everything() == of_everything, engine.kind


# ---- how tasks are sent --------------------------------------------------------------------


class Backwards:
    """Workers that answer the last group first."""

    workers = 2

    def __init__(self):
        self.groups = []

    def run(self, function, groups, _):
        from equipoise.scale.engine._worker import answer, pack

        self.groups = groups
        for number in reversed(range(len(groups))):
            yield number, answer(pack(function), groups[number])

    def close(self):
        pass


@pytest.fixture
def backwards(monkeypatch):
    made = Backwards()
    monkeypatch.setattr(engines, "_started", lambda _: made)
    return made


def slow(number):
    time.sleep(0.02)
    return number**2


def test_results_are_in_order_and_groups_worth_sending(backwards, monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 0.1)
    told = []
    made = Engine("processes").map(slow, range(60), progress=lambda *a: told.append(a))
    assert made == [n**2 for n in range(60)]
    sizes = [len(one.tasks) for one in backwards.groups]
    assert sum(sizes) == 59 and min(sizes[:-1]) >= 2 and max(sizes) <= 5
    assert told == [(n, 60) for n in range(1, 61)]


def late(number):
    time.sleep(0.02)
    return 1 / (32 - number)  # first of no group but one of its own: 31 is prime


@pytest.mark.usefixtures("backwards")
def test_an_error_inside_a_group_names_its_own_task(monkeypatch):
    monkeypatch.setattr(engines, "ENOUGH", 0.1)
    with pytest.raises(TaskError, match="ZeroDivisionError") as found:
        Engine("processes").map(late, range(60), name=lambda n: f"cell {n}")
    assert found.value.where == "cell 32"


def test_threads_that_end_out_of_order_leave_results_in_order():
    def waits(number):
        time.sleep(0.05 * (number == 0))
        return number

    assert Engine("local", 4).map(waits, range(8)) == list(range(8))


def test_little_work_stays_here(backwards):
    assert Engine("processes").map(abs, [-1, -2, -3]) == [1, 2, 3]
    assert Engine("processes").map(abs, []) == []
    assert backwards.groups == []


def test_long_tasks_are_sent_one_by_one_and_told_as_they_come(backwards):
    order = []
    Engine("processes").map(abs, [-1, -2, -3], done=lambda place, _: order.append(place))
    assert [len(one.tasks) for one in backwards.groups] == [1, 1, 1] and order == [2, 1, 0]


def inner(number):
    names = current(4).map(lambda _: threading.get_ident(), range(4))
    names += on_threads(4).map(lambda _: threading.get_ident(), range(4))
    return number, set(names) == {threading.get_ident()}


@pytest.mark.usefixtures("backwards", "at_once")
def test_tasks_of_tasks_run_one_after_another():
    assert all(alone for _, alone in Engine("local", 3).map(inner, range(6)))
    made = Engine("processes").map(inner, range(3), done=lambda *_: None)
    assert all(alone for _, alone in made)


def blas(_):
    from threadpoolctl import threadpool_info

    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


def test_every_task_sees_one_thread_of_linear_algebra(dask):
    for engine in (Engine("local", 1), Engine("local", 2), Engine("processes", 1), dask):
        assert engine.map(blas, range(2), done=lambda *_: None) == [{1}, {1}]


# ---- errors --------------------------------------------------------------------------------


def refused(number):
    if number == 3:
        raise InputError(
            "item 3", "nothing", "a vote", hint("say {}", Option("kind", "nominal"))
        )
    return number


def broken(number):
    return 1 / (3 - number)


def hungry(number):
    if number == 3:
        raise MemoryError
    return number


def full(number):
    if number == 3:
        raise OSError(errno.ENOSPC, "No space left on device", "/data/x")
    return number


def deadly(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _of_linear_algebra():
    from threadpoolctl import threadpool_info

    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]


def test_two_at_a_time_share_the_one_thread_and_leave_the_others_as_they_were():
    from threadpoolctl import threadpool_limits

    pytest.importorskip("faiss")  # whose linear algebra is on OpenMP

    begun, go_on, seen = threading.Event(), threading.Event(), []

    def later(_):
        begun.set()
        assert go_on.wait(20)
        seen.append(_of_linear_algebra())

    with threadpool_limits(3, user_api="blas"):
        before = _of_linear_algebra()
        other = threading.Thread(target=lambda: on_threads(1).map(later, [0]))

        def first(_):
            other.start()
            assert begun.wait(20)

        on_threads(1).map(first, [0])
        go_on.set()
        other.join(20)
        assert seen == [[1] * len(before)]
        assert _of_linear_algebra() == before != seen[0]


def test_an_error_of_a_task_comes_back_in_four_parts(dask):
    keep = {"done": lambda *_: None}
    for engine in (Engine("processes", 2), dask):
        with using(engine):
            with pytest.raises(InputError, match=r"item 3: nothing, expected a vote") as found:
                engine.map(refused, range(6), **keep)
            assert found.value.in_command().endswith("say --kind nominal")
            with pytest.raises(TaskError, match="ZeroDivisionError") as found:
                engine.map(broken, range(6), name=lambda n: f"cell {n}", **keep)
            assert (
                found.value.where == "cell 3" and "return 1 / (3 - number)" in found.value.trace
            )
            with pytest.raises(EngineError, match=r"task 4 of 6: a worker ran out of memory"):
                engine.map(hungry, range(6), **keep)
            with pytest.raises(EngineError, match=r"the disk is full \(/data/x\)"):
                engine.map(full, range(6), **keep)
    assert str(pickle.loads(pickle.dumps(found.value))) == str(found.value)


def test_a_task_that_kills_its_worker_is_told(dask):
    with pytest.raises(EngineError, match=r"killed \(out of memory\?\).*fewer workers"):
        Engine("processes", 1).map(deadly, range(5), done=lambda *_: None)
    with pytest.raises(EngineError, match=r"killed \(out of memory\?\).*more memory"):
        dask.map(deadly, range(5), done=lambda *_: None)


def test_work_that_cannot_be_sent_is_told():
    lock = threading.Lock()
    with pytest.raises(EngineError, match="cannot be sent to another process"):
        Engine("processes", 1).map(lambda _: lock, range(3), done=lambda *_: None)


def test_an_interrupt_cancels_what_has_not_begun(tmp_path):
    def begin(number):
        (tmp_path / str(number)).touch()
        time.sleep(0.02)

    def stop(done, _):
        if done == 2:
            raise KeyboardInterrupt

    for engine in (Engine("local", 2), Engine("processes", 1)):
        with pytest.raises(KeyboardInterrupt):
            engine.map(begin, range(50), progress=stop, done=lambda *_: None)
        assert len(list(tmp_path.iterdir())) < 40
        for one in tmp_path.iterdir():
            one.unlink()


def test_a_scheduler_that_is_lost_is_told(monkeypatch):
    from dask import config as dask_config
    from distributed import LocalCluster

    monkeypatch.setattr("equipoise.scale.engine._clusters._PATIENCE", 5)
    quick = dask_config.set({"distributed.comm.timeouts.connect": "2s"})
    with quick, LocalCluster(
        n_workers=1, processes=False, host="127.0.0.1", protocol="tcp",
        dashboard_address="127.0.0.1:0", silence_logs=50,
    ) as own:  # fmt: skip

        def lose(*_):
            own.sync(own.scheduler.close, timeout=1, reason="lost")

        engine = choose_engine("dask", address=own.scheduler_address)
        with pytest.raises(EngineError, match=r"the scheduler was lost.*what is finished"):
            engine.map(Work(0.1), range(30), done=lose)


@pytest.mark.parametrize(
    ("answer", "words"),
    [(None, "no scheduler answers within 0.5 s"), (b"HTTP/1.1 400", "is no Dask scheduler")],
)
def test_somebody_else_at_the_address_is_told(monkeypatch, answer, words):
    monkeypatch.setattr("equipoise.scale.engine._clusters._GREETING", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def speak():
            line, _ = server.accept()
            with line, suppress(OSError):
                line.sendall(answer or b"")
                line.recv(1)  # until the other side is gone

        other = threading.Thread(target=speak)
        other.start()
        engine = choose_engine("dask", address=address)
        with pytest.raises(EngineError, match=rf"{words}.*dask worker ADDRESS"), using(engine):
            raise AssertionError("an address is tried before anything runs")
        other.join()


@pytest.mark.parametrize(
    ("address", "words"),
    [("tcp://127.0.0.1:9", "nobody answers"), ("banana", "no host"), ("a:99999", "no host")],
)
def test_a_scheduler_that_is_not_there_is_told(address, words):
    with pytest.raises(EngineError, match=rf"{words}.*dask worker ADDRESS"):
        choose_engine("dask", address=address).map(Work(), range(3), done=print)


def test_workers_of_this_machine_leave_the_environment_as_it_was():
    before = dict(os.environ)
    with using(choose_engine("dask", workers=1)):
        assert digest(current().map(Work(0.6), range(2))) == digest(map(Work(), range(2)))
        assert "NUMBA_NUM_THREADS" not in os.environ.keys() - before.keys()
    assert dict(os.environ) == before


def test_what_ran_here_is_told(dask, capsys):
    for work, words in ((Work(), "all ran here"), (Work(0.6), "")):
        with use_engine(Options(engine="dask", address=dask.address), cells=False):
            current().map(work, range(3))
        told = " ".join(capsys.readouterr().err.split())
        assert ("all ran here" in told) == bool(words)


def test_another_version_or_none_is_told_with_the_command(dask, monkeypatch):
    from equipoise.scale.engine._worker import other_version

    theirs = equipoise.__version__
    monkeypatch.setattr(equipoise, "__version__", "99.0")
    with pytest.raises(EngineError) as found:
        dask.map(Work(), range(3), done=lambda *_: None)
    assert found.value.got == f"equipoise {theirs}"
    assert "pip install 'equipoise[dask]==99.0'" in found.value.do
    assert "no equipoise, expected" in str(other_version("a worker", "", "99.0"))


def test_what_is_not_installed_is_told_with_the_command(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    for kind in ("dask", "ray"):
        with pytest.raises(EngineError, match=rf"pip install 'equipoise\[{kind}\]'"):
            choose_engine(kind)
    with pytest.raises(InputError, match="one of local, processes, dask, ray"):
        choose_engine("dusk")


def test_a_slot_that_no_worker_has_is_told(dask):
    with pytest.raises(EngineError, match=r"no worker has a slot GPU.*--resources GPU=1"):
        dask.map(abs, [1, 2], done=lambda *_: None, resource="GPU")


# ---- cells ---------------------------------------------------------------------------------


def made_by(number):
    def run(_):
        if number == 4:
            raise ZeroDivisionError("four")
        return {"values": np.random.default_rng(number).random(3), "by": np.array(os.getpid())}

    return Cell(f"cell {number}", {"number": number}, run)


def test_cells_are_made_by_workers_and_kept_here(tmp_path, dask):
    told = []
    for engine in (Engine("processes", 2), dask):
        folder = tmp_path / engine.kind
        with using(engine):
            first = run_cells([made_by(n) for n in range(3)], folder)
            every = run_cells([made_by(n) for n in range(6)], folder, lambda *a: told.append(a))
        assert told[-1] == (6000, 6000)
        assert [one.cell.name for one in every] == [f"cell {n}" for n in range(6)]
        assert every[4].arrays is None and every[4].reason == "ZeroDivisionError: four"
        for one in every[:4]:
            assert int(one.arrays["by"]) != os.getpid()
        assert [int(one.arrays["by"]) for one in first] == [
            int(one.arrays["by"]) for one in every[:3]
        ]
        assert len(list(folder.glob("*.cell"))) == 5


def test_a_full_disk_stops_and_leaves_nothing_that_looks_whole(tmp_path, monkeypatch):
    keep = codec.write_sealed

    def put(path, *content, **how):
        if path.suffix == ".cell" and len(list(tmp_path.glob("*.cell"))) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        keep(path, *content, **how)

    monkeypatch.setattr(codec, "write_sealed", put)
    with pytest.raises(EngineError, match=r"cell 2: the disk is full.*finished is kept"):
        run_cells([made_by(n) for n in range(4)], tmp_path)
    assert len(list(tmp_path.glob("*.cell"))) == 2
    monkeypatch.setattr(codec, "write_sealed", keep)
    assert all(one.arrays for one in run_cells([made_by(n) for n in range(4)], tmp_path))


def test_jobs_make_cells_that_the_command_then_collects(tmp_path):
    work = [made_by(n) for n in range(6)]
    run_cells(work[:1], tmp_path)
    with (
        pytest.raises(CellsWaitError, match=r"1 of 6 cells") as found,
        waiting(),
    ):
        run_cells(work, tmp_path)
    keys = found.value.keys
    assert keys == tuple(one.key for one in work[1:])
    assert found.value.listed.read_text().split() == list(keys)
    assert {one.suffix for one in tmp_path.iterdir()} == {".cell", ".txt"}
    script = _script(found.value, ["uq", "benchmark", "--engine", "slurm-array", "a b; $x"])
    assert "--array=0-4" in script and script.endswith("-- uq benchmark 'a b; $x'\n")
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    for key in keys:
        with pytest.raises(CellMadeError), only(key, tmp_path):
            run_cells(work, tmp_path)
        if key == keys[0]:
            with pytest.raises(CellsWaitError, match=r"2 of 6 cells"), waiting():
                run_cells(work, tmp_path)
            assert found.value.listed.read_text().split() == list(keys)
    with waiting():
        every = run_cells(work, tmp_path)
    assert [one.arrays is None for one in every] == [n == 4 for n in range(6)]
    assert every[4].reason == "ZeroDivisionError: four"
    with pytest.raises(InputError, match="not among the cells"), only("0" * 64, tmp_path):
        run_cells(work, tmp_path)
    with pytest.raises(InputError, match="a result that is not kept"), waiting():
        run_cells([Cell("own", None, work[0].run)], tmp_path)


def test_ray_keeps_what_is_made_before_something_goes_wrong():
    pytest.importorskip("ray")
    told = []

    def one(number):
        time.sleep(0.1 if number else 1.5)
        if not number:
            raise InputError("task 0", "nothing", "something", "mend it")
        return number

    with using(choose_engine("ray", workers=2)), pytest.raises(InputError, match="task 0"):
        current().map(one, range(4), done=lambda place, value: told.append((place, value)))
    assert sorted(told) == [(n, n) for n in (1, 2, 3)]


def test_what_a_job_runs_does_not_come_from_the_folder(tmp_path):
    (tmp_path / "ab.json").write_text('{"name": "a", "command": ["demo"], "place": "/"}')
    words = [sys.executable, "-m", "equipoise", "cell", "--folder", str(tmp_path), "ab"]
    own = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for command in ([], ["--", "demo", "--out", str(tmp_path / "new")]):
        done = subprocess.run([*words, *command], capture_output=True, text=True, env=own)
        assert done.returncode == 2, done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ab.json"]


def test_options_of_the_engine_are_checked():
    import typer

    for wrong in (
        {"engine": "dusk"}, {"address": "tcp://127.0.0.1:1"},
        {"engine": "slurm-array", "workers": 2},
    ):  # fmt: skip
        engine = use_engine(Options(**wrong), cells=False)
        with pytest.raises(typer.BadParameter), engine:
            pass
    with use_engine(Options(workers=3), cells=False):
        assert current() == Engine("local", 3)
    jobs = use_engine(Options(engine="slurm-array"), cells=False)
    with pytest.raises(typer.BadParameter, match="no parts"), jobs:
        pass


def test_no_more_threads_run_than_tasks_fit_into_memory():
    local = choose_engine(workers=8)
    assert local.within(ROOM // 2).workers == 2 and local.within(4 * ROOM).workers == 1
    assert local.within(1) == local
    assert choose_engine("processes", workers=8).within(4 * ROOM).workers == 8
