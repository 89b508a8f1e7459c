"""``python -m equipoise.uq.training``: a grid of uncertainty methods, on numpy and torch."""

import argparse
import math
import os
import sys
from pathlib import Path
from typing import get_type_hints

from equipoise.types.arrays import InputError
from equipoise.types.numbers import count, duration
from equipoise.uq.training.data import LabelPolicy
from equipoise.uq.training.grid import Outcome, progress_line, run_grid
from equipoise.uq.training.methods import METHODS
from equipoise.uq.training.plan import (
    Machine,
    Plan,
    Recipe,
    Setup,
    default_architectures,
    default_recipe,
    pack,
    settings_of,
    unpack,
)

_UNFINISHED = 3


def _parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(prog="python -m equipoise.uq.training", description=__doc__)
    add = words.add_argument
    add("--data", help="npz file, folder of images with a CSV, 'nih' or 'demo'")
    add("--out", type=Path, required=True, help="folder of results; the same one goes on")
    add("--methods", help=f"comma-separated; default all: {','.join(METHODS)}")
    add(
        "--archs",
        help="comma-separated; default resnet18,vit_tiny (demo: resnet_demo,vit_demo)",
    )
    add("--seeds", type=int, default=3, help="how many seeds (default 3)")
    add("--minutes", type=float, default=math.inf, help="stop in time; run again to go on")
    add("--workers", type=int, default=0, help="processes on the device (GPU 8, CPU 1)")
    add("--device", default="auto", help="cpu, cuda or auto")
    add("--ood", help="a second data set instead of corruptions")
    add("--drop", type=float, default=0.2, help="fall of validation AUROC by corruptions")
    add("--size", type=int, default=64, help="pixels of images of a folder")
    add("--uncertain", default="ignore", help="-1 in training: ignore, zeros or ones")
    add("--blank", default="ignore", help="blank labels in training: ignore or zeros")
    for name, kind in get_type_hints(Recipe).items():
        if kind is not bool:
            add(f"--{name.replace('_', '-')}", type=kind, help="of the training recipe")
    add("--no-flip", action="store_true", help="no mirror images in training")
    add("--with",
        dest="settings", action="append", default=[], metavar="METHOD.FIELD=VALUE",
        help="a setting of a method, such as beta_edl.kl=full; may be repeated")  # fmt: skip
    add("--pack", type=Path, help="bundle the results into archives in this folder")
    add("--unpack", type=Path, help="first put back archives from this folder")
    return words


def _split(text: str | None, default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip()) if text else default


def _run(arguments: argparse.Namespace) -> Outcome:
    recipe = {name: getattr(arguments, name, None) for name in get_type_hints(Recipe)}
    recipe["flip"] = False if arguments.no_flip else None
    setup = Setup(
        source=arguments.data, ood=arguments.ood, size=arguments.size, drop=arguments.drop,
        small=arguments.data == "demo", recipe=default_recipe(arguments.data, **recipe),
        policy=LabelPolicy(uncertain=arguments.uncertain, blank=arguments.blank),
        settings=settings_of(arguments.settings),
    )  # fmt: skip
    plan = Plan(
        methods=_split(arguments.methods, tuple(METHODS)),
        architectures=_split(arguments.archs, default_architectures(arguments.data)),
        seeds=tuple(range(arguments.seeds)),
    )
    machine = Machine(
        device=arguments.device, workers=arguments.workers, minutes=arguments.minutes
    )
    with progress_line(sys.stderr) as tell:
        return run_grid(plan, setup, arguments.out, machine, tell)


def main() -> int:
    """Run, pack, and say what is missing; 0 all is there, 1 something failed, 3 go on later."""
    arguments = _parser().parse_args()
    code = 0
    try:
        if arguments.unpack is not None:
            unpack(arguments.unpack, arguments.out)
        if arguments.data is not None:
            done = _run(arguments)
            many = len(done.done) + len(done.missing)
            took = duration(1000 * done.seconds)
            lines = [f"{len(done.done)} of {many} cells in {took}, {done.folder}"]
            lines += [f"failed: {name}: {reason}" for name, reason in done.failed.items()]
            if done.missing and not done.failed:
                lines.append("time is over: run the same command again to go on")
            sys.stderr.write("\n".join(lines) + "\n")
            code = 1 if done.failed else _UNFINISHED if done.missing else 0
        if arguments.pack is not None:
            for archive in pack(arguments.out, arguments.pack):
                sys.stderr.write(f"{archive} {count(archive.stat().st_size // 1000)} KB\n")
    except InputError as error:
        sys.stderr.write(f"equipoise: {error.in_command()}\n")
        return 1
    return code


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
