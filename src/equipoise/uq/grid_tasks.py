"""The grid of trainings on an engine: its cells as tasks of workers that share the folder.

`equipoise.uq.training` knows numpy and torch alone and runs a grid on one machine. On another
engine, or as jobs, cells are made in three rounds, because some stand on others: the baselines
by which corruptions are calibrated, then the other baselines, then everything else. Cells that
train further members of an ensemble together are one task, as they share them. A task leaves
its files in the folder of the grid, which all workers must see, and takes one GPU slot of a
worker where a GPU is asked for.
"""

import math
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from equipoise.scale.cells import STEPS, Arrays, Cell, Progress, apart, run_cells
from equipoise.scale.engine import current
from equipoise.types.arrays import InputError

if TYPE_CHECKING:
    from equipoise.uq.training.grid import Machine, Outcome, Tell
    from equipoise.uq.training.plan import Cell as Training
    from equipoise.uq.training.plan import Plan, Setup

CELLS = "cells"  # folder of what is known of finished tasks
GPU = "GPU"  # slot of a worker
MARK = "grid.json"


def train_grid(
    plan: "Plan", setup: "Setup", out: Path, machine: "Machine", tell: "Tell"
) -> "Outcome":
    """Run what is missing of a grid on the engine in use; see `run_grid`."""
    from equipoise.uq.training.grid import Progress as Told
    from equipoise.uq.training.grid import run_grid

    if current().is_local and not apart():
        return run_grid(plan, setup, out, machine, tell)
    begun = run_grid(plan, setup, out, machine, tell, cells=())  # checks and claims the folder
    place, slot = out / CELLS, GPU if machine.device == "cuda" else None
    shared = plan, setup, out.resolve(), replace(machine, workers=1)
    rounds = [[_Task(*shared, each) for each in some] for some in _rounds(plan, setup)]
    if apart() == "one":
        run_cells([task.cell for tasks in rounds for task in tasks], place)
    failed: dict[str, str] = {}
    for number, tasks in enumerate(rounds, 1):
        start = time.monotonic()

        def progress(done: int, total: int, start: float = start, number: int = number) -> None:
            left = (time.monotonic() - start) * (total - done) / done if done else math.nan
            text = f"round {number} of {len(rounds)}"
            tell(Told(done // STEPS, total // STEPS, left, text))

        missing = [task for task in tasks if set(begun.missing).intersection(task.cells)]
        for task in missing:  # known as finished, but its files are gone
            task.cell.path(place).unlink(missing_ok=True)
        outcomes = run_cells([task.cell for task in missing], place, progress, resource=slot)
        failed |= {one.cell.name: one.reason for one in outcomes if one.arrays is None}
    done = run_grid(plan, setup, out, machine, tell, cells=())
    return replace(done, failed=failed, seconds=begun.seconds + done.seconds)


def _rounds(plan: "Plan", setup: "Setup") -> "list[list[tuple[Training, ...]]]":
    """Cells that are made together, by the round in which they can be."""
    cells = plan.cells()
    first: set[Training] = set()
    if setup.ood is None:
        first = set(plan.references()).intersection(cells) or {cells[0]}
    later = [cell for cell in cells if cell not in first]
    baselines = [(cell,) for cell in later if cell.method == "baseline"]
    together: dict[object, tuple[Training, ...]] = {}
    for cell in later:
        if cell.method != "baseline":  # where none is asked for, some train theirs together
            kind = cell if "baseline" in plan.methods else (cell.architecture, cell.seed)
            together[kind] = (*together.get(kind, ()), cell)
    start = [tuple(cell for cell in cells if cell in first)] if first else []
    return [list(some) for some in (start, baselines, together.values()) if some]


@dataclass(frozen=True, slots=True)
class _Task:
    """Some cells of a grid, which a worker makes one after another."""

    plan: "Plan"
    setup: "Setup"
    out: Path
    machine: "Machine"
    cells: "tuple[Training, ...]"

    @property
    def cell(self) -> Cell:
        """As a cell of the engine, whose result is that its files are there."""
        facts = {
            "grid": str(self.out),
            "setup": {**asdict(self.setup), "settings": repr(self.setup.settings)},
            "plan": asdict(self.plan),
            "cells": [list(one) for one in self.cells],
        }
        return Cell(" ".join(one.name for one in self.cells), facts, self.run)

    def run(self, tell: Progress) -> Arrays:
        """Make them; refused where the folder is not there, or something went wrong."""
        from equipoise.uq.training.grid import run_grid

        del tell
        if not (self.out / MARK).exists():
            raise InputError(
                f"{self.out}",
                "not there on a worker",
                "a folder that all workers see",
                "name one on a disk that the machines share",
            )
        found = run_grid(self.plan, self.setup, self.out, self.machine, cells=self.cells)
        own = [one.name for one in self.cells if one not in found.done]
        if found.failed:
            name, reason = next(iter(found.failed.items()))
            raise InputError(name, reason, "a trained network", "mend it")
        if own:
            raise InputError(" ".join(own), "not done in time", "trained networks", "go on")
        return {"files": np.array([f"{one.name}.npz" for one in self.cells])}
