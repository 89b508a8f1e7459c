"""One worker's bench: trains baselines, calibrates corruptions, finishes cells.

What a cell leaves is one ``.npz`` with ``meta`` (JSON) and, for each part of val, test, ood and
val_ood, the logits of the members as float16, or Beta parameters, and perhaps the method's own
score. Seconds of training count everything a method stands on: for temperature scaling its
baseline, for a deep ensemble all its members.
"""

import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from equipoise.uq.training.auroc import macro_auroc
from equipoise.uq.training.corruptions import Severity, calibrate, corrupt_all
from equipoise.uq.training.data import ImageData, read_images
from equipoise.uq.training.loop import Epoch, Trained, Trainer, read_whole, write_whole
from equipoise.uq.training.methods.method import Forecast, Method
from equipoise.uq.training.networks import architecture_of
from equipoise.uq.training.plan import SCHEMA, Cell, Folder, Plan, Setup
from equipoise.uq.training.resident import DeviceData, seeded

_BUILD, _SETTLE, _PREDICT = 0, 3, 4  # streams of random numbers; training has 1 and 2
_CHECKPOINT_SECONDS = 20.0


class Limits(NamedTuple):
    """Until when an epoch may begin, and whom to tell of epochs."""

    deadline: float
    tell: Callable[[Epoch], None]


class Bench:
    """Data on a device and the steps of a grid."""

    def __init__(self, setup: Setup, data: ImageData, folder: Folder, device: str) -> None:
        self.setup, self.data, self.folder = setup, data, folder
        self.there = DeviceData(data, setup.policy, device)
        if self.there.device.type == "cuda":
            torch.backends.cudnn.benchmark = True
            torch.set_float32_matmul_precision("high")

    def train_baseline(self, cell: Cell, limits: Limits) -> None:
        """Train a baseline and keep its weights."""
        model, trained = self._trained(cell, [], limits)
        write_whole(
            self.folder.weights(cell),
            {
                "fingerprint": self._fingerprint(cell), "model": model.state_dict(),
                "auroc": trained.auroc, "epochs": trained.epochs, "seconds": trained.seconds,
                "peak": self._peak(),
            },
        )  # fmt: skip
        self.folder.checkpoint(cell).unlink(missing_ok=True)

    def calibrate(self, plan: Plan) -> None:
        """Find the severities of corruptions by the mean AUROC of the reference baselines."""
        models = [self._load(cell)[0].eval() for cell in plan.references()]
        labels = self.there.val_labels

        def auroc_of(images: NDArray[np.uint8]) -> float:
            tensor = self.there.images(images)
            found = [self.there.apply(one, tensor).cpu().numpy() for one in models]
            return float(np.mean([macro_auroc(one, labels) for one in found]))

        severities = calibrate(auroc_of, self.data.part("val").images, drop=self.setup.drop)
        text = json.dumps([asdict(one) for one in severities], indent=1)
        part = self.folder.corruptions.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(self.folder.corruptions)

    def finish(self, cell: Cell, limits: Limits) -> None:
        """Train a cell (or take over what it stands on), predict, and write its file."""
        method, architecture = (
            self.setup.method(cell.method),
            architecture_of(cell.architecture),
        )
        if cell.method == "baseline":
            seeds: tuple[int, ...] = (cell.seed,)
        else:
            seeds = method.baselines(architecture, cell.seed)
        stands_on = [self._load(Cell("baseline", cell.architecture, seed)) for seed in seeds]
        states = [model.state_dict() for model, _ in stands_on]
        model, trained = self._trained(cell, states, limits)
        before = sum(kept["seconds"] for _, kept in stands_on)
        started = time.time()
        with seeded(self.there.device, cell.seed, _SETTLE):
            method.settle(model.eval(), self.there)
        meta = self._facts(cell, method, model, trained._replace(
            seconds=before + trained.seconds + time.time() - started
        ))  # fmt: skip
        started = time.time()
        arrays = self._predictions(cell, method, model)
        meta["predict_seconds"] = time.time() - started
        kept_peaks = [kept["peak"] for _, kept in stands_on]
        meta["peak_bytes"] = max([self._peak(), *kept_peaks])
        save_arrays(self.folder.run(cell), {"meta": np.array(json.dumps(meta)), **arrays})
        self.folder.checkpoint(cell).unlink(missing_ok=True)

    def _fingerprint(self, cell: Cell) -> str:
        return self.setup.fingerprint(cell, self.data)

    def _peak(self) -> int:
        """The most memory taken so far, in bytes: of the GPU, else of the process."""
        if self.there.device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self.there.device))
        unit = 1 if sys.platform == "darwin" else 1024
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit

    def _built(self, cell: Cell) -> nn.Module:
        """A new model on the device."""
        method, architecture = (
            self.setup.method(cell.method),
            architecture_of(cell.architecture),
        )
        with seeded(self.there.device, cell.seed, _BUILD):
            make = partial(architecture.network, self.there.shape)
            model = method.build(make, self.there.classes)
        return model.to(self.there.device, memory_format=self.there.memory_format)

    def _load(self, cell: Cell) -> tuple[nn.Module, dict[str, Any]]:
        """A trained baseline."""
        path, device = self.folder.weights(cell), self.there.device
        kept = read_whole(path, self._fingerprint(cell), device)
        model = self._built(cell)
        model.load_state_dict(kept["model"])
        return model, kept

    def _trained(
        self, cell: Cell, states: list[dict[str, torch.Tensor]], limits: Limits
    ) -> tuple[nn.Module, Trained]:
        """A model, trained unless it only takes over baselines."""
        if self.there.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.there.device)
        method, model = self.setup.method(cell.method), self._built(cell)
        if states:
            method.start(model, states)
        if states and method.training.epochs is None:
            return model.eval(), Trained(math.nan, 0, 0.0)
        trainer = Trainer(
            method=method, recipe=self.setup.recipe, seed=cell.seed,
            checkpoint=self.folder.checkpoint(cell), fingerprint=self._fingerprint(cell),
            every=_CHECKPOINT_SECONDS, deadline=limits.deadline, tell=limits.tell,
        )  # fmt: skip
        trained = trainer.train(model, self.there)
        return model.eval(), trained

    def _facts(
        self, cell: Cell, method: Method, model: nn.Module, trained: Trained
    ) -> dict[str, Any]:
        """What a file says of its run."""
        there = self.there
        gpu = there.device.type == "cuda"
        with seeded(there.device, cell.seed, _PREDICT):
            found = there.apply(partial(method.probability, model), there.val.images)
        return {
            "schema": SCHEMA, "method": cell.method, "title": method.title,
            "reference": method.reference, "architecture": cell.architecture,
            "seed": cell.seed, "settings": asdict(method),
            "network": repr(architecture_of(cell.architecture)),
            "parameters": sum(one.numel() for one in model.parameters()),
            "recipe": asdict(self.setup.recipe), "policy": asdict(self.setup.policy),
            "data": self.data.name, "fingerprint": self._fingerprint(cell),
            "train_seconds": trained.seconds, "epochs": trained.epochs,
            "val_auroc": macro_auroc(found.cpu().numpy(), there.val_labels),
            "device": torch.cuda.get_device_name(there.device) if gpu else "cpu",
            "precision": "bfloat16 mixed" if gpu else "float32",
            "versions": {"torch": torch.__version__, "numpy": np.__version__},
        }  # fmt: skip

    def _predictions(
        self, cell: Cell, method: Method, model: nn.Module
    ) -> dict[str, NDArray[Any]]:
        """Arrays of every part; members are the same draws in each."""
        arrays: dict[str, NDArray[Any]] = {}
        for part, images in self.parts.items():
            with seeded(self.there.device, cell.seed, _PREDICT):
                found = method.predict(model, images, self.there)
            arrays |= {f"{part}_{name}": array for name, array in _plain(found).items()}
        return arrays

    @cached_property
    def parts(self) -> dict[str, torch.Tensor]:
        """Images of every part that is predicted, clean and strange."""
        clean = {part: self.data.part(part).images for part in ("val", "test")}
        if self.setup.ood is not None:
            other = read_images(self.setup.ood, size=self.setup.size)
            strange = {"ood": other.part("test").images, "val_ood": other.part("val").images}
        else:
            told = json.loads(self.folder.corruptions.read_text(encoding="utf-8"))
            severities = {one.corruption: one.severity for one in (Severity(**s) for s in told)}
            strange = {
                "ood": corrupt_all(clean["test"], severities),
                "val_ood": corrupt_all(clean["val"], severities, seed=100),
            }
        return {part: self.there.images(one) for part, one in {**clean, **strange}.items()}


def _plain(found: Forecast) -> dict[str, NDArray[Any]]:
    """A forecast as arrays for a file."""
    arrays = {}
    for name, tensor in found._asdict().items():
        if tensor is not None:
            kind = np.float16 if name == "logits" else np.float32
            whole = tensor.float().cpu().numpy()
            arrays[name] = np.clip(whole, -6e4, 6e4).astype(kind) if name == "logits" else whole
    return arrays


def save_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a compressed ``.npz``, whole or not at all."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with part.open("wb") as out:
        np.savez_compressed(out, allow_pickle=False, **arrays)
    part.replace(path)


def save_labels(setup: Setup, data: ImageData, folder: Folder) -> None:
    """Write the labels of every part once."""
    if folder.labels.exists():
        return
    arrays: dict[str, NDArray[Any]] = {"classes": np.array(data.classes)}
    parts = {"val": data.part("val"), "test": data.part("test")}
    if setup.ood is None:
        parts |= {"ood": parts["test"], "val_ood": parts["val"]}
    else:
        other = read_images(setup.ood, size=setup.size)
        if other.classes != data.classes:
            blank = np.full((len(other.items), len(data.classes)), np.nan, np.float32)
            other_labels = {part: blank[other.split == part] for part in ("val", "test")}
        else:
            other_labels = {part: other.part(part).labels for part in ("val", "test")}
        for name, part in (("ood", "test"), ("val_ood", "val")):
            parts[name] = other.part(part)._replace(labels=other_labels[part])
    for name, whole in parts.items():
        arrays[f"{name}_labels"] = whole.labels
        arrays[f"{name}_items"] = np.array(whole.items)
        arrays[f"{name}_groups"] = np.array(whole.patients)
    save_arrays(folder.labels, arrays)
