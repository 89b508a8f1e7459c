"""The grid: every (method, architecture, seed) once, whatever interrupts it.

Steps are *training a baseline* (those of the seeds, and the further members of deep ensembles),
*calibrating* the corruptions by the baselines of the first seed, and *finishing* a cell. A step
runs when what it stands on is there: baselines first, then what reuses them, then the rest.
Cells whose file is there are left alone, so the same command goes on where another stopped; a
cell that fails is named with its reason and stops no other.

Several workers share one GPU: a small network leaves most of it idle. Each is a process of its
own; with one worker everything happens in this process.

`run_grid` needs numpy and torch alone and runs on one machine. `train_grid` runs the same on
the engine in use: on another one, or as jobs, cells are made in three rounds, because some
stand on others: the baselines by which corruptions are calibrated, then the other baselines,
then everything else. Cells that train further members of an ensemble together are one task, as
they share them. A task leaves its files in the folder of the grid, which all workers must see,
and takes one GPU slot of a worker where a GPU is asked for.
"""

import json
import math
import multiprocessing as mp
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

import numpy as np
import torch

from equipoise.read.files import read_arrays
from equipoise.types.arrays import InputError
from equipoise.types.numbers import number
from equipoise.uq.training.loop import (
    Bench,
    Epoch,
    Job,
    OutOfTimeError,
    TellEpoch,
    save_labels,
)
from equipoise.uq.training.plan import Cell, Folder, Machine, Plan, Setup, Sources
from equipoise.uq.training.resident import require_device

if TYPE_CHECKING:
    from equipoise.scale.cells import Arrays
    from equipoise.scale.cells import Cell as Task

_GPU_WORKERS = 8
_FINISHED = "cells"  # folder of what is known of finished tasks
_GPU = "GPU"  # slot of a worker
_WIDTH = 24  # of the bar in a line of progress
_TERMINAL_SECONDS, _LINE_SECONDS = 0.1, 20.0  # between two lines that are written


class Step(NamedTuple):
    """Something to do: train a baseline, calibrate, or finish a cell."""

    kind: Literal["train", "calibrate", "finish"]
    cell: Cell

    def __str__(self) -> str:
        """In words."""
        return "severities" if self.kind == "calibrate" else self.cell.name


class Progress(NamedTuple):
    """What is told while a grid runs; `left` is the seconds that are left, nan at first."""

    done: int
    total: int
    left: float
    text: str


Tell = Callable[[Progress], None]
_Shares = dict[Connection, tuple[Step, float]]  # what workers are at, and how far


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a grid.

    Attributes
    ----------
    done, missing
        Cells whose files are there, and those that are not yet.
    failed
        Reasons by the name of the step.
    """

    folder: Path
    done: tuple[Cell, ...]
    missing: tuple[Cell, ...]
    failed: dict[str, str]
    seconds: float


def run_grid(
    plan: Plan,
    setup: Setup,
    out: Path,
    machine: Machine | None = None,
    tell: Tell | None = None,
    cells: Collection[Cell] | None = None,
) -> Outcome:
    """Run what is missing of a grid.

    Parameters
    ----------
    out
        The folder; one of another configuration is refused.
    tell
        Is given the progress, after every epoch and step.
    cells
        Those that are to be done now, with what they stand on; all by default.
    """
    started, machine = time.time(), machine or Machine()
    require_device(machine.device)
    sources = setup.read()
    plan.check(sources.data)
    folder = Folder(out)
    folder.claim(setup.configuration(sources))
    _store(setup, sources, folder)
    save_labels(sources, folder)
    wanted = plan.cells() if cells is None else [cell for cell in plan.cells() if cell in cells]
    todo = [cell for cell in wanted if not _is_done(cell, setup, folder, sources)]
    board = _Board.of(plan, setup, folder, todo)
    board.tell = tell
    limit = machine.minutes * 60
    deadline = started + limit - min(15.0, 0.1 * limit) if math.isfinite(limit) else math.inf
    gpu = require_device(machine.device).type == "cuda"
    workers = machine.workers or (_GPU_WORKERS if gpu else 1)
    machine = replace(machine, workers=max(1, min(workers, board.total)))
    job = Job(plan, setup, folder, machine, deadline)
    if board.todo and machine.workers == 1:
        _alone(job, board, sources)
    elif board.todo:
        _together(job, board)
    all_cells = plan.cells()
    done = tuple(cell for cell in all_cells if _is_done(cell, setup, folder, sources))
    missing = tuple(cell for cell in all_cells if cell not in done)
    return Outcome(out, done, missing, board.failed, time.time() - started)


def _store(setup: Setup, sources: Sources, folder: Folder) -> None:
    """Keep copies of images that take long to read, for the workers and for another time."""
    folder.images.parent.mkdir(exist_ok=True)
    for path, data, copy in (
        (setup.source, sources.data, folder.images),
        (setup.ood, sources.ood, folder.ood),
    ):
        if data is not None and Path(str(path)).suffix != ".npz" and not copy.exists():
            data.save(copy)


@dataclass(slots=True)
class _Board:
    """Steps to do, under way and done."""

    needs: dict[Step, tuple[Step, ...]]
    todo: list[Step]
    total: int
    extra: dict[Step, tuple[Cell, ...]]  # weights that are of no use after a step
    tell: Tell | None = None
    started: float = field(default_factory=time.time)
    busy: set[Step] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, setup: Setup, folder: Folder, missing: list[Cell]) -> "_Board":
        """The steps that missing cells of a grid still need."""
        needs: dict[Step, tuple[Step, ...]] = {}
        extra: dict[Step, tuple[Cell, ...]] = {}
        strange: tuple[Step, ...] = ()
        if missing and setup.ood is None and not folder.corruptions.exists():
            strange = (Step("calibrate", plan.references()[0]),)
            needs[strange[0]] = tuple(Step("train", cell) for cell in plan.references())
        for cell in missing:
            stands_on = setup.stands_on(cell)
            needs[Step("finish", cell)] = (
                *strange,
                *(Step("train", needed) for needed in stands_on),
            )
            extra[Step("finish", cell)] = tuple(
                needed for needed in stands_on if needed.seed not in plan.seeds
            )
        for step in [step for steps in list(needs.values()) for step in steps]:
            if step.kind == "train" and not folder.weights(step.cell).exists():
                needs[step] = ()
        todo = sorted(needs, key=lambda step: _rank(step, plan, needs))
        needs = {
            step: tuple(needed for needed in needs[step] if needed in needs) for step in needs
        }
        return cls(needs, todo, len(todo), extra)

    def next(self) -> Step | None:
        """The first step whose needs are done."""
        open_steps = {*self.todo, *self.busy}
        for step in self.todo:
            if not open_steps.intersection(self.needs[step]):
                self.todo.remove(step)
                self.busy.add(step)
                return step
        return None

    def finish(self, step: Step, folder: Folder) -> None:
        """A step is done."""
        self.busy.discard(step)
        for cell in self.extra.get(step, ()):
            folder.weights(cell).unlink(missing_ok=True)

    def fail(self, step: Step, reason: str) -> None:
        """A step, and all that needs it, cannot be done."""
        self.failed[str(step)] = reason
        self.busy.discard(step)
        for other in [waiting for waiting in self.todo if step in self.needs[waiting]]:
            if other in self.todo:
                self.todo.remove(other)
                self.fail(other, f"needs {step}, which failed")

    def report(self, text: str, shares: Iterable[float] = ()) -> None:
        """Tell how far all is, with the time that is left at the pace so far."""
        if self.tell is None:
            return
        open_steps = len(self.todo) + len(self.busy)
        done = self.total - open_steps
        worth = done + 0.8 * sum(shares)
        spent = time.time() - self.started
        left = spent * (self.total - worth) / worth if worth >= 1 else math.nan
        self.tell(Progress(done, self.total, left, text))


def _is_done(cell: Cell, setup: Setup, folder: Folder, sources: Sources) -> bool:
    """Whether a cell is done; one of another configuration is refused, a broken one redone."""
    path = folder.run(cell)
    try:
        fingerprint = json.loads(str(read_arrays(path)["meta"])).get("fingerprint")
    except (ValueError, KeyError, AttributeError, RecursionError):  # not there, or not whole
        return False
    if fingerprint != setup.fingerprint(cell, sources):
        raise InputError(
            f"{path}", f"a run of another configuration ({fingerprint})",
            "one of this configuration",
            "name another folder, or remove the file to make it anew",
        )  # fmt: skip
    return True


def _rank(step: Step, plan: Plan, needs: dict[Step, tuple[Step, ...]]) -> tuple[int, ...]:
    """Order: reference baselines, severities, baselines, what reuses one, ensembles, others."""
    cell = step.cell
    place = plan.seeds.index(cell.seed) if cell.seed in plan.seeds else len(plan.seeds)
    if step.kind == "calibrate":
        return (1,)
    if step.kind == "train":
        return (0 if cell in plan.references() else 2 if cell.seed in plan.seeds else 5, place)
    trained = sum(needed.kind == "train" for needed in needs[step])
    return (3 if trained == 1 else 4 if trained else 6, place)


def _run_step(bench: Bench, step: Step, tell: TellEpoch) -> None:
    if step.kind == "train":
        bench.train_baseline(step.cell, tell)
    elif step.kind == "calibrate":
        bench.calibrate()
    else:
        bench.finish(step.cell, tell)


def _alone(job: Job, board: _Board, sources: Sources) -> None:
    """Do all steps in this process."""
    bench = Bench(job, sources)
    threads = torch.get_num_threads()
    if job.setup.small:  # threads that wait for each other cost more than they bring
        torch.set_num_threads(1)
    try:
        _one_by_one(job, board, bench)
    finally:
        torch.set_num_threads(threads)


def _one_by_one(job: Job, board: _Board, bench: Bench) -> None:
    while time.time() < job.deadline and (step := board.next()) is not None:

        def tell(epoch: Epoch, step: Step = step) -> None:
            board.report(_epoch_text(step, epoch), [epoch.done / epoch.most])

        board.report(str(step))
        try:
            _run_step(bench, step, tell)
        except OutOfTimeError:
            return
        except Exception as error:
            board.fail(step, _reason(error))
        else:
            board.finish(step, job.folder)
        board.report(str(step))


def _reason(error: Exception) -> str:
    """Why a step failed; with the kind of error where it is not one of ours."""
    plain = isinstance(error, InputError)
    return str(error) if plain else f"{type(error).__name__}: {error}"


def _epoch_text(step: Step, epoch: Epoch) -> str:
    return f"{step} epoch {epoch.done}, AUROC {number(epoch.auroc)}"


def _together(job: Job, board: _Board) -> None:
    """Hand steps to worker processes as they become ready; each reads the images itself."""
    context = mp.get_context("spawn")
    pipes: dict[Connection, Any] = {}
    for _ in range(job.machine.workers):
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, job), daemon=True)
        process.start()
        theirs.close()
        pipes[ours] = process
    shares: _Shares = {}
    try:
        while _assign(job, board, pipes, shares):
            for pipe in wait(list(shares)):
                _hear(job, board, pipe, shares, pipes)
    finally:
        for pipe, process in pipes.items():
            with suppress(OSError):
                pipe.send(None)
            process.join(10)
            if process.is_alive():
                process.terminate()


def _assign(job: Job, board: _Board, pipes: Iterable[Connection], shares: _Shares) -> bool:
    """Give idle workers what is ready; whether some worker is at work."""
    for pipe in [worker for worker in pipes if worker not in shares]:
        if time.time() >= job.deadline or (step := board.next()) is None:
            break
        shares[pipe] = (step, 0.0)
        pipe.send(step)
    return bool(shares)


def _hear(
    job: Job, board: _Board, pipe: Any, shares: _Shares, pipes: dict[Connection, Any]
) -> None:
    """Take in one message of a worker; a worker that died fails its step alone."""
    step = shares[pipe][0]
    try:
        kind, content = pipe.recv()
    except (EOFError, OSError):
        kind, content = "died", "the worker died (out of memory?); run again with fewer workers"
    if kind == "epoch":
        shares[pipe] = (step, content.done / content.most)
        text = _epoch_text(step, content)
    else:
        del shares[pipe]
        text = str(step)
        if kind == "done":
            board.finish(step, job.folder)
        elif kind in ("failed", "died"):
            board.fail(step, content)
        if kind == "died":
            pipes.pop(pipe).join(1)
    board.report(text, [share for _, share in shares.values()])


def _work(pipe: Connection, job: Job) -> None:
    """A worker process: does the steps it is sent until it is sent none."""
    gpu = require_device(job.machine.device).type == "cuda"
    torch.set_num_threads(1 if gpu else max(1, (os.cpu_count() or 1) // job.machine.workers))
    bench = Bench(job, job.setup.read(job.folder))
    while (step := pipe.recv()) is not None:
        try:
            _run_step(bench, step, lambda epoch: pipe.send(("epoch", epoch)))
        except OutOfTimeError:
            pipe.send(("late", ""))
        except Exception as error:
            pipe.send(("failed", _reason(error)))
        else:
            pipe.send(("done", ""))


def train_grid(plan: Plan, setup: Setup, out: Path, machine: Machine, tell: Tell) -> Outcome:
    """Run what is missing of a grid on the engine in use; see `run_grid`."""
    from equipoise.scale.cells import STEPS, apart, run_cells
    from equipoise.scale.engine import current

    if current().is_local and not apart():
        return run_grid(plan, setup, out, machine, tell)
    begun = run_grid(plan, setup, out, machine, tell, cells=())  # checks and claims the folder
    place, slot = out / _FINISHED, _GPU if machine.device == "cuda" else None
    job = Job(plan, setup, Folder(out.resolve()), replace(machine, workers=1))
    rounds = [{cells: _task(job, cells) for cells in some} for some in _rounds(plan, setup)]
    if apart() == "one":
        run_cells([task for tasks in rounds for task in tasks.values()], place)
    failed: dict[str, str] = {}
    for which, tasks in enumerate(rounds, 1):
        start = time.monotonic()

        def progress(done: int, total: int, start: float = start, which: int = which) -> None:
            left = (time.monotonic() - start) * (total - done) / done if done else math.nan
            text = f"round {which} of {len(rounds)}"
            tell(Progress(done // STEPS, total // STEPS, left, text))

        missing = [
            task for cells, task in tasks.items() if set(begun.missing).intersection(cells)
        ]
        for task in missing:  # known as finished, but its files are gone
            task.path(place).unlink(missing_ok=True)
        outcomes = run_cells(missing, place, progress, resource=slot)
        failed |= {done.cell.name: done.reason for done in outcomes if done.arrays is None}
    finished = run_grid(plan, setup, out, machine, tell, cells=())
    return replace(finished, failed=failed, seconds=begun.seconds + finished.seconds)


def _rounds(plan: Plan, setup: Setup) -> list[list[tuple[Cell, ...]]]:
    """Cells that are made together, by the round in which they can be."""
    cells = plan.cells()
    first: set[Cell] = set()
    if setup.ood is None:
        first = set(plan.references()).intersection(cells) or {cells[0]}
    later = [cell for cell in cells if cell not in first]
    baselines = [(cell,) for cell in later if cell.method == "baseline"]
    together: dict[object, tuple[Cell, ...]] = {}
    for cell in later:
        if cell.method != "baseline":  # where none is asked for, some train theirs together
            kind = cell if "baseline" in plan.methods else (cell.architecture, cell.seed)
            together[kind] = (*together.get(kind, ()), cell)
    start = [tuple(cell for cell in cells if cell in first)] if first else []
    return [list(some) for some in (start, baselines, together.values()) if some]


def _task(job: Job, cells: tuple[Cell, ...]) -> "Task":
    """Some cells as one task of the engine, whose result is that their files are there."""
    from equipoise.scale.cells import Cell as Task

    facts = {
        "grid": str(job.folder.root),
        "setup": {**asdict(job.setup), "settings": repr(job.setup.settings)},
        "plan": asdict(job.plan),
        "cells": [list(cell) for cell in cells],
    }
    return Task(" ".join(cell.name for cell in cells), facts, partial(_make_cells, job, cells))


def _make_cells(
    job: Job, cells: tuple[Cell, ...], tell: Callable[[int, int], None]
) -> "Arrays":
    """Make cells, one after another; refused where the folder is not there, or one failed."""
    del tell
    out = job.folder.root
    if not job.folder.configuration.exists():
        raise InputError(
            f"{out}", "not there on a worker", "a folder that all workers see",
            "name one on a disk that the machines share",
        )  # fmt: skip
    outcome = run_grid(job.plan, job.setup, out, job.machine, cells=cells)
    missing = [cell.name for cell in cells if cell not in outcome.done]
    if outcome.failed:
        name, reason = next(iter(outcome.failed.items()))
        raise InputError(name, reason, "a trained network", "mend it")
    if missing:
        raise InputError(" ".join(missing), "not done in time", "trained networks", "go on")
    return {"files": np.array([f"{cell.name}.npz" for cell in cells])}


@contextmanager
def progress_line(stream: TextIO) -> Iterator[Tell]:
    """Write how far a grid is: over one line of a terminal, elsewhere a line now and then."""
    terminal, last = stream.isatty(), -math.inf

    def show(progress: Progress) -> None:
        nonlocal last
        now = time.monotonic()
        seldom = _TERMINAL_SECONDS if terminal else _LINE_SECONDS
        if now - last < seldom and progress.done < progress.total:
            return
        last = now
        line = _progress_line(progress)
        stream.write(f"\r\x1b[2K{line}" if terminal else f"{line}\n")
        stream.flush()

    try:
        yield show
    finally:
        if terminal:
            stream.write("\n")


def _progress_line(progress: Progress) -> str:
    """The progress in one line.

    Examples
    --------
    >>> _progress_line(Progress(3, 12, 95.0, "baseline.vit_tiny.0"))
    '[######..................] 3 of 12, about 1 min 35 s left, baseline.vit_tiny.0'
    """
    full = _WIDTH * progress.done // max(1, progress.total)
    bar = "#" * full + "." * (_WIDTH - full)
    left = "time left not known yet"
    if math.isfinite(progress.left):
        minutes, seconds = divmod(math.ceil(progress.left), 60)
        left = f"about {f'{minutes} min ' if minutes else ''}{seconds} s left"
    return f"[{bar}] {progress.done} of {progress.total}, {left}, {progress.text}"
