"""Where a verb's heavy work runs: the options --engine, --address and --workers, and jobs."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli.options import Options, check_choice, misused
from equipoise.cli.screen import say

if TYPE_CHECKING:
    from equipoise.scale.cells import CellsWaitError

JOBS = "slurm-array"
_WITH_CELLS = (("clean", "benchmark"), ("uq", "benchmark"))
UNFINISHED = 3  # exit code of a command whose parts are not all there
SCRIPT = """#!/bin/bash
#SBATCH --job-name=equipoise
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task=1
#SBATCH --output={logs}
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1
cd {place} || exit
task=${{SLURM_ARRAY_TASK_ID:?start this with sbatch, or set it to the number of a task}}
cell=$(sed -n "$((task + 1))p" {listed})
[ -n "$cell" ] || {{ echo "there is no task $task in this list of {number}" >&2; exit 1; }}
exec {python} -m equipoise cell --folder {folder} "$cell" -- {command}
"""


@contextmanager
def use_engine(options: Options, *, cells: bool) -> Iterator[None]:
    """Run what is inside on the engine that was asked for.

    Parameters
    ----------
    cells
        Whether the verb has parts that jobs can make.
    """
    from equipoise.scale.engine import KINDS, choose_engine, groups_sent, using

    check_choice("engine", options.engine, (*KINDS, JOBS))
    if options.address is not None and options.engine not in ("dask", "ray"):
        raise misused("belongs to --engine dask or ray", "address")
    if options.workers and (options.engine == JOBS or options.address is not None):
        raise misused("the cluster has its own number; leave it out", "workers")
    if options.engine == JOBS:
        if not cells:
            raise misused("this verb has no parts for jobs; choose dask or ray", "engine")
        with _jobs():
            yield
        return
    chosen = choose_engine(options.engine, address=options.address, workers=options.workers)
    with using(chosen) as engine:
        yield
        if not engine.is_local and not groups_sent():
            say(f"Note: Nothing took long enough to be sent to {options.engine}: all ran here.")


@contextmanager
def _jobs() -> Iterator[None]:
    """Print the job script where parts are missing, and stop."""
    from equipoise.scale.cells import CellsWaitError, waiting

    try:
        with waiting():
            yield
    except CellsWaitError as wait:
        print(_script(wait, sys.argv[1:]), end="")
        say(
            f"{wait.got} are there. Save what is printed as job.sh, run sbatch job.sh, and the "
            f"same command again when the job is done; what goes wrong is told by the logs in "
            f"{wait.folder}."
        )
        raise typer.Exit(UNFINISHED) from wait


def _script(wait: "CellsWaitError", command: Sequence[str]) -> str:
    """A job whose tasks are the cells of a command that are waiting."""
    folder = wait.folder.resolve()
    return SCRIPT.format(
        last=len(wait.keys) - 1,
        number=len(wait.keys),
        logs=shlex.quote(f"{folder}/job-%A-%a.log"),
        listed=shlex.quote(str(folder / wait.listed.name)),
        folder=shlex.quote(str(folder)),
        python=shlex.quote(sys.executable),
        place=shlex.quote(str(Path.cwd())),
        command=shlex.join(_without_engine(command)),
    )


def cell(
    key: Annotated[str, typer.Argument(help="Hash of the part, from a list of waiting ones.")],
    command: Annotated[
        list[str], typer.Argument(help="Of which it is a part: `-- clean benchmark ...`.")
    ],
    folder: Annotated[Path, typer.Option(help="Folder of the results.")],
) -> None:
    """Make one part of a benchmark, as a task of `--engine slurm-array` does.

    Example: equipoise cell --folder run/cells 5d41402abc4b... -- uq benchmark --out run
    """
    from equipoise.scale.cells import CellMadeError, only
    from equipoise.types import InputError

    if tuple(command[:2]) not in _WITH_CELLS:
        why = "only clean benchmark and uq benchmark have parts"
        raise typer.BadParameter(why, param_hint="COMMAND")
    try:
        with only(key, folder.resolve()):
            _run(_without_engine(command))
    except CellMadeError as made:
        outcome = made.outcome
        if outcome.arrays is None:
            do = "mend it and run this again; collecting leaves the cell out with this reason"
            raise InputError(outcome.cell.name, outcome.reason, "a result", do) from made
        say(f"{outcome.cell.name} is made.")


def _without_engine(words: Sequence[str]) -> list[str]:
    """A command as it was typed, but for its engine.

    Examples
    --------
    >>> _without_engine(["uq", "benchmark", "--engine", "slurm-array", "--out", "run"])
    ['uq', 'benchmark', '--out', 'run']
    """
    words_left, skip = [], False
    for word in words:
        if not skip and word not in ("--engine", f"--engine={JOBS}"):
            words_left.append(word)
        skip = word == "--engine"
    return words_left


def _run(words: Sequence[str]) -> None:
    from equipoise.cli.verbs import application

    before, sys.argv = sys.argv, [sys.argv[0], *words]
    try:
        application(words)(list(words), standalone_mode=False)
    finally:
        sys.argv = before
