"""The grid: every (method, architecture, seed) once, whatever interrupts it.

Steps are *training a baseline* (those of the seeds, and the further members of deep ensembles),
*calibrating* the corruptions by the baselines of the first seed, and *finishing* a cell. A step
comes after what it stands on. Cells whose file is there are left alone, so the same command
goes on where another stopped; a cell that fails is named with its reason and stops no other.

With one worker all steps are done in this process, which needs numpy and torch alone. Several
workers, as a small network leaves most of a GPU idle, and other engines make the cells in three
rounds, because some stand on others: those by whose baselines corruptions are calibrated, then
the other baselines, then everything else. Cells that train further members of an ensemble
together are one task, as they share them. A task leaves its files in the folder of the grid,
which all workers must see, and takes one GPU slot of a worker where a GPU is asked for.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
import torch

from equipoise.scale import cells as tasks_of
from equipoise.scale.engine import Engine, current, using
from equipoise.types import InputError, Progress, immutable
from equipoise.uq.training.loop import Bench
from equipoise.uq.training.plan import Cell, Folder, Machine, Plan, Setup
from equipoise.uq.training.resident import require_device

_GPU_WORKERS = 8
_FINISHED = "cells"  # folder of what is known of finished tasks
_GPU = "GPU"  # slot of a worker


@immutable
class Outcome:
    """What became of a grid.

    Attributes
    ----------
    done, missing
        Cells whose files are there, and those that are not yet.
    failed
        Reasons by the name of the step.
    renewed
        Why cells were made anew whose files were there.
    """

    folder: Path
    done: tuple[Cell, ...]
    missing: tuple[Cell, ...]
    failed: dict[str, str]
    renewed: dict[str, str]


def run_grid(
    plan: Plan,
    setup: Setup,
    out: Path,
    machine: Machine | None = None,
    tell: Progress = lambda *_: None,
) -> Outcome:
    """Run what is missing of a grid, on the engine in use.

    Parameters
    ----------
    out
        The folder; one of another configuration is refused.
    tell
        Called as ``tell(done, all)`` after every epoch and step.
    """
    machine = machine or Machine()
    gpu = require_device(machine.device).type == "cuda"
    limit = machine.minutes * 60
    deadline = time.time() + limit - min(15.0, 0.1 * limit) if limit < math.inf else math.inf
    machine = replace(machine, deadline=deadline)
    bench = Bench(plan, setup, Folder(out), machine, setup.read())
    bench.claim()
    todo = [cell for cell in plan.cells() if not bench.is_done(cell)]
    renewed = dict(bench.renewed)
    workers = max(1, min(machine.workers or (_GPU_WORKERS if gpu else 1), len(todo)))
    elsewhere = not current().is_local or bool(tasks_of.apart())
    bench.machine = replace(machine, workers=1 if elsewhere else workers)
    with tasks_of.resumable(out, "grid.json"):
        if elsewhere:
            failed = _on_workers(bench, todo, tell)
        elif workers > 1:
            with using(Engine("processes", workers)):
                failed = _on_workers(bench, todo, tell)
        else:
            failed = _in_order(bench, todo, tell)
    done = tuple(cell for cell in plan.cells() if cell not in todo or bench.is_done(cell))
    missing = tuple(cell for cell in todo if cell not in done)
    return Outcome(out, done, missing, failed, renewed)


def _in_order(
    bench: Bench, cells: Sequence[Cell], tell: Progress = lambda *_: None
) -> dict[str, str]:
    """Do what cells still need in this process; the reasons of what failed, by its name."""
    threads, workers = torch.get_num_threads(), bench.machine.workers
    # threads that wait for each other cost more than they bring
    torch.set_num_threads(1 if bench.setup.small else max(1, threads // workers))
    steps, failed = _steps(bench, cells), {}
    try:
        for done, (name, run) in enumerate(steps.items()):

            def report(epochs: int, most: int, done: int = done) -> None:
                part = int(0.8 * tasks_of.STEPS * epochs / most)
                tell(done * tasks_of.STEPS + part, len(steps) * tasks_of.STEPS)

            report(0, 1)
            try:
                bench.require_time()
                run(report)
            except TimeoutError:
                break
            except InputError as error:
                failed[name] = str(error)
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {error}"
        else:
            tell(len(steps), len(steps))
    finally:
        torch.set_num_threads(threads)
    return failed


def _steps(bench: Bench, cells: Sequence[Cell]) -> dict[str, Callable[[Progress], None]]:
    """What cells still need, by name, in an order in which it can be done.

    What stands on something that failed fails, too, as that is not there.
    """
    parts: list[tuple[list[Cell], str, Callable[[Progress], None]]]
    parts = [(bench.setup.stands_on(cell), cell.name, partial(bench.finish, cell))
             for cell in cells]  # fmt: skip
    if cells and bench.setup.ood is None and not bench.folder.corruptions.exists():
        parts.insert(0, (bench.plan.references(), "severities", bench.calibrate))
    steps: dict[str, Callable[[Progress], None]] = {}
    for baselines, name, run in parts:
        for cell in baselines:
            if not bench.folder.weights(cell).exists():
                steps[f"training {cell.name}"] = partial(bench.train_baseline, cell)
        steps[name] = run
    return steps


def _on_workers(bench: Bench, cells: Sequence[Cell], tell: Progress) -> dict[str, str]:
    """Have cells made by the workers of the engine in use; the reasons of what failed."""
    folder = Folder(bench.folder.root.resolve())
    place, slot = folder.root / _FINISHED, _GPU if bench.machine.device == "cuda" else None
    facts = {
        "grid": str(folder.root),
        "setup": {**asdict(bench.setup), "settings": repr(bench.setup.settings)},
        "plan": asdict(bench.plan),
    }
    make = partial(_make_cells, bench.plan, bench.setup, folder, bench.machine)

    def task_of(some: tuple[Cell, ...]) -> tasks_of.Cell:
        """Some cells as one task, whose result is that their files are there."""
        whole = {**facts, "cells": [list(cell) for cell in some]}
        return tasks_of.Cell(" ".join(cell.name for cell in some), whole, partial(make, some))

    rounds = [{some: task_of(some) for some in together}
              for together in _rounds(bench.plan, bench.setup)]  # fmt: skip
    if tasks_of.apart() == "one":
        tasks_of.run_cells([task for tasks in rounds for task in tasks.values()], place)
    failed: dict[str, str] = {}
    for tasks in rounds:
        missing = [task for some, task in tasks.items() if set(some).intersection(cells)]
        for task in missing:  # known as finished, but its files are gone
            task.path(place).unlink(missing_ok=True)
        outcomes = tasks_of.run_cells(missing, place, tell, resource=slot)
        failed |= {done.cell.name: done.reason for done in outcomes if done.arrays is None}
    return failed


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


def _make_cells(
    plan: Plan,
    setup: Setup,
    folder: Folder,
    machine: Machine,
    cells: tuple[Cell, ...],
    tell: Progress,
) -> tasks_of.Arrays:
    """Make cells on a worker; refused where the folder is not there, or one failed."""
    del tell
    if not folder.configuration.exists():
        raise InputError(
            f"{folder.root}", "not there on a worker", "a folder that all workers see",
            "name one on a disk that the machines share",
        )  # fmt: skip
    bench = _bench(plan, setup, folder, machine)
    failed = _in_order(bench, [cell for cell in cells if not bench.is_done(cell)])
    if failed:
        name, reason = next(iter(failed.items()))
        raise InputError(name, reason, "a trained network", "mend it")
    return {"files": np.array([f"{cell.name}.npz" for cell in cells if bench.is_done(cell)])}


@lru_cache(1)
def _bench(plan: Plan, setup: Setup, folder: Folder, machine: Machine) -> Bench:
    """The bench of a worker, which reads the images once."""
    bench = Bench(plan, setup, folder, machine, setup.read(folder))
    try:
        folder.claim(bench.configuration)
    except InputError as error:
        raise InputError(
            f"{folder.copies[0].parent}", f"copies of other images ({error.got})",
            "the images of the grid", "remove the folder: it is made anew",
        ) from error  # fmt: skip
    return bench
