"""equipoise uq: which uncertainty of an image classifier can be trusted, and for what.

`evaluate` judges models that were trained elsewhere; `benchmark` trains every method on one's
own images first.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from equipoise.cli.command import verb
from equipoise.cli.options import OF_FOLDER, Options, words
from equipoise.cli.results import check_report_folder, input_facts, present
from equipoise.cli.screen import progress
from equipoise.types import InputError, listed
from equipoise.uq.evaluate import Scoring, evaluate_study
from equipoise.uq.predictions import MethodRuns, find_files, read_study
from equipoise.uq.training.grid import Outcome

MARK = "uncertainty.json"
FOLDER = Path("uq-benchmark")
NOISE = "Seed of the noise that gives the null of correlations."
OF_RECIPE = ("epochs", "batch", "uncertain", "blank")
OF_SCORING = ("image", "decomposition", "binning", "level", "seed")


@verb(
    *("files", "ood", *OF_SCORING, *OF_FOLDER),
    arguments=("files",),
    required=("files",),
    texts={
        "files": "Files of predictions (.npz, one per method), then the file of labels; or the "
        "folder of a benchmark.",
        "seed": NOISE,
    },
    heavy="maps",
)
def evaluate(options: Options) -> None:
    """Does a model's uncertainty flag bad images, ambiguous findings and its own mistakes?

    Takes predictions of any framework: arrays `probs` (members, items, classes) in one .npz
    file per method, whose name is the method, and `labels` (items, classes) with 1, 0, -1 for
    uncertain and nan for blank. `val_probs` and `val_labels` let it choose scores on validation
    images, `ood_probs` holds out-of-distribution images, `groups` the patient of each image.

    Example: equipoise uq evaluate ensemble.npz dropout.npz labels.npz --out uncertainty

    Example: equipoise uq evaluate benchmark/ --json
    """
    files = _saved(options)
    check_report_folder(options, MARK)
    with progress("reading"):
        other = options.ood or ()
        how = {"decomposition": options.decomposition, "image": options.image}
        study = read_study(files, other, **how)
    inputs = {"predictions": files[:-1], "labels": files[-1:], "ood": other}
    _judge(study, options, input_facts(inputs))


def _saved(options: Options) -> list[Path]:
    """The files, the labels last, all of which exist."""
    paths = options.files or []
    if len(paths) == 1 and paths[0].is_dir():
        return find_files(paths[0])
    if len(paths) < 2:
        do = "give predictions first, and the file of labels last"
        raise InputError(str(paths[0]), "one file", "predictions and labels", do)
    for path in (*paths, *(options.ood or ())):
        if not path.is_file():
            raise InputError(str(path), "no such file", "an .npz file", "check its name")
    return paths


def _judge(study: MethodRuns, options: Options, facts: Mapping[str, Any]) -> None:
    """Judge all scores, under a bar, and present what comes out."""
    how = {name: getattr(options, name) for name in OF_SCORING}
    with progress("uncertainty") as tell:
        result = evaluate_study(study, Scoring(**how, progress=tell))
    rows = [row._asdict() for row in result.table()]
    present(result.report(), options, MARK, {**facts, "rows": rows})


@verb(
    *("data", "ood_data", "image_size", "uncertain", "blank"),
    *("methods", "archs", "trainings", "drop", "device", "minutes", "epochs", "batch"),
    *("setting", *OF_SCORING, *OF_FOLDER),
    required=("data",),
    texts={"seed": NOISE},
    heavy="cells",
)
def benchmark(options: Options) -> None:
    """Which uncertainty method suits my images? Trains all of them and compares.

    Every method, network and seed is a file in the folder, so a benchmark that was stopped goes
    on with the same command, on another machine, too. Needs `pip install "equipoise[torch]"`;
    `equipoise uq evaluate FOLDER` judges anywhere.

    Example: equipoise uq benchmark --data demo --out uncertainty

    `--workers` processes share the device (by default 8 on a GPU, 1 on a CPU); with
    `--engine dask` each worker of a cluster trains one network at a time.

    Example: equipoise uq benchmark --data chexpert/ --seeds 3 --device cuda --out uncertainty
    """
    if find_spec("torch") is None:
        do = 'run pip install "equipoise[torch]"'
        raise InputError("equipoise uq benchmark", "torch is not installed", "torch", do)
    check_report_folder(options, MARK)
    folder = options.out or FOLDER
    done = _trained(options, folder)
    for reason in done.renewed.values():
        typer.echo(f"{reason}. It was made anew.", err=True)
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
    study = read_study(files, decomposition=options.decomposition, image=options.image)
    _judge(study, options, input_facts({"labels": [folder / "labels.npz"]}))


def _trained(options: Options, folder: Path) -> Outcome:
    """Run the grid under a bar."""
    from math import inf

    from equipoise.scale.engine import current
    from equipoise.uq.training.grid import run_grid
    from equipoise.uq.training.methods import METHODS
    from equipoise.uq.training.plan import (
        Machine,
        Plan,
        Setup,
        default_architectures,
        default_recipe,
        settings_of,
    )

    assert options.data is not None
    plan = Plan(
        methods=tuple(words(options.methods)) or tuple(METHODS),
        architectures=tuple(words(options.archs)) or default_architectures(options.data),
        seeds=tuple(range(options.trainings)),
    )
    setup = Setup(
        source=options.data,
        ood=options.ood_data,
        size=options.image_size,
        drop=options.drop,
        small=options.data == "demo",
        recipe=default_recipe(
            options.data,
            **{name: getattr(options, name) for name in OF_RECIPE},
        ),
        settings=settings_of(options.setting or ()),
    )
    minutes = inf if options.minutes is None else options.minutes
    machine = Machine(device=options.device, workers=current().workers, minutes=minutes)
    with progress("training") as tell:
        return run_grid(plan, setup, folder, machine, tell)


def _files(folder: Path, done: Outcome) -> list[Path]:
    """The files of the cells that were asked for; others that lie there are named."""
    *runs, labels = find_files(folder)
    wanted = {f"{cell.name}.npz" for cell in done.done}
    others = [path.name for path in runs if path.name not in wanted]
    if others:
        typer.echo(
            f"{folder} also holds {listed(others)}, which this grid does not ask for and which "
            "are left out; equipoise uq evaluate takes all that lies there.",
            err=True,
        )
    return [*(path for path in runs if path.name in wanted), labels]
