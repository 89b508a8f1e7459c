"""equipoise uq benchmark: train every uncertainty method on one's own images and judge it."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from equipoise.cli._results import input_facts, present
from equipoise.cli._screen import progress
from equipoise.cli.options import FILES, OutputOptions, command, panel, words
from equipoise.cli.uq_evaluate import MARK, ScoreOptions
from equipoise.types.arrays import InputError, listed

if TYPE_CHECKING:
    from equipoise.uq.predictions import Files
    from equipoise.uq.training.grid import Outcome

FOLDER = Path("uq-benchmark")
_file = panel(
    FILES,
    data="`demo`, `nih`, an .npz file (images, labels, split, patient), or a folder of images "
    "with a CSV of labels (CheXpert, MIMIC-CXR-JPG or one column per label).",
    ood="A second data set as out of distribution; without one, test images are corrupted.",
    size="Height and width to which the images of a folder are brought.",
    uncertain="What -1 is in training: `ignore`, `zeros` or `ones`.",
    blank="What a blank label is in training: `ignore` or `zeros`.",
)
_grid = panel(
    "Grid",
    methods="Comma-separated methods; all by default.",
    archs="Comma-separated networks: `resnet18`, `vit_tiny`, `resnet_demo`, `vit_demo`, or "
    "`timm:NAME`.",
    seeds="How many seeds each method is trained with.",
    drop="By what share corruptions lower the validation AUROC.",
    device="`cpu`, `cuda` or `auto`.",
    minutes="Stop in time; the same command goes on later.",
    epochs="Epochs at most.",
    batch="Images of a batch.",
    setting="A setting of a method, such as `beta_edl.kl=full`. Repeatable.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ImageOptions:
    """Which images, and how their labels enter training."""

    data: Annotated[str, _file("data")]
    ood: Annotated[str | None, _file("ood")] = None
    size: Annotated[int, _file("size", min=16)] = 64
    uncertain: Annotated[str, _file("uncertain")] = "ignore"
    blank: Annotated[str, _file("blank")] = "ignore"


@dataclass(frozen=True, slots=True, kw_only=True)
class _GridOptions:
    """Which methods, networks and seeds, where and how long."""

    methods: Annotated[str | None, _grid("methods")] = None
    archs: Annotated[str | None, _grid("archs")] = None
    seeds: Annotated[int, _grid("seeds", min=1, max=1000)] = 5
    drop: Annotated[float, _grid("drop")] = 0.2
    device: Annotated[str, _grid("device")] = "auto"
    minutes: Annotated[float | None, _grid("minutes")] = None
    epochs: Annotated[int | None, _grid("epochs", min=1)] = None
    batch: Annotated[int | None, _grid("batch", min=1)] = None
    setting: Annotated[
        list[str] | None, _grid("setting", "--with", metavar="METHOD.FIELD=VALUE")
    ] = None


@command(heavy="cells")
def benchmark(
    images: _ImageOptions, grid: _GridOptions, asked: ScoreOptions, output: OutputOptions
) -> None:
    """Which uncertainty method suits my images? Trains all of them and compares.

    Every method, network and seed is a file in the folder, so a benchmark that was stopped goes
    on with the same command. Needs `pip install "equipoise[torch]"`; on a machine that has only
    numpy and torch, `python -m equipoise.uq.training` trains, and `equipoise uq evaluate
    FOLDER` judges elsewhere.

    Example: equipoise uq benchmark --data demo --out uncertainty

    `--workers` processes share the device (by default 8 on a GPU, 1 on a CPU); with
    `--engine dask` each worker of a cluster trains one network at a time.

    Example: equipoise uq benchmark --data chexpert/ --seeds 3 --device cuda --out uncertainty
    """
    if find_spec("torch") is None:
        do = 'run pip install "equipoise[torch]"'
        raise InputError("equipoise uq benchmark", "torch is not installed", "torch", do)
    output.check_folder(MARK, "report.html")
    folder = output.out or FOLDER
    done = _trained(images, grid, folder)
    if done.failed:
        name, reason = next(iter(done.failed.items()))
        do = "mend it and run the same command again; what is done is kept"
        raise InputError(
            f"{len(done.failed)} cells, such as {name}", reason, "trained cells", do
        )
    if done.missing:
        typer.echo(
            f"{len(done.done)} of {len(done.done) + len(done.missing)} cells are done; run the "
            "same command again to go on.",
            err=True,
        )
        raise typer.Exit(3)
    files = _files(folder, done)
    with progress("uncertainty") as tell:
        result = asked.evaluate(asked.study(files), tell)
    rows = [row._asdict() for row in result.table()]
    facts = {**input_facts({"labels": [folder / "labels.npz"]}), "rows": rows}
    present(result.report(), output, MARK, facts)


def _trained(images: _ImageOptions, grid: _GridOptions, folder: Path) -> "Outcome":
    """Run the grid under a bar."""
    import sys
    from math import inf

    from equipoise.scale.engine import current
    from equipoise.uq.training.data import LabelPolicy
    from equipoise.uq.training.grid import progress_line, train_grid
    from equipoise.uq.training.methods import METHODS
    from equipoise.uq.training.plan import (
        Machine,
        Plan,
        Setup,
        default_architectures,
        default_recipe,
        settings_of,
    )

    plan = Plan(
        methods=tuple(words(grid.methods)) or tuple(METHODS),
        architectures=tuple(words(grid.archs)) or default_architectures(images.data),
        seeds=tuple(range(grid.seeds)),
    )
    setup = Setup(
        source=images.data,
        ood=images.ood,
        size=images.size,
        drop=grid.drop,
        small=images.data == "demo",
        policy=LabelPolicy(uncertain=images.uncertain, blank=images.blank),
        recipe=default_recipe(images.data, epochs=grid.epochs, batch=grid.batch),
        settings=settings_of(grid.setting or ()),
    )
    minutes = inf if grid.minutes is None else grid.minutes
    machine = Machine(device=grid.device, workers=current().workers, minutes=minutes)
    with progress_line(sys.stderr) as tell:
        return train_grid(plan, setup, folder, machine, tell)


def _files(folder: Path, done: "Outcome") -> "Files":
    """The files of the cells that were asked for; others that lie there are named."""
    from equipoise.uq.predictions import Files, find_files

    there = find_files(folder)
    asked = {f"{cell.name}.npz" for cell in done.done}
    others = [one.name for one in there.runs if one.name not in asked]
    if others:
        typer.echo(
            f"{folder} also holds {listed(others)}, which this grid does not ask for and which "
            "are left out; equipoise uq evaluate takes all that lies there.",
            err=True,
        )
    return Files([one for one in there.runs if one.name in asked], there.labels)
