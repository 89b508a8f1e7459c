"""One worker's bench: trains baselines, calibrates corruptions, finishes cells.

What a cell leaves is one ``.npz`` with ``meta`` (JSON) and, for each part of val, test, ood and
val_ood, the logits of the members as float16, or Beta parameters, and perhaps the method's own
score. Seconds and epochs of training count everything a method stands on: for temperature
scaling its baseline, for a deep ensemble all its members; how many processes shared the device
(``workers``) is told beside them. Images are made and corrupted before prediction is timed.
"""

import json
import math
import time
from dataclasses import asdict
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from equipoise.read import codec
from equipoise.read.files import content, read_json
from equipoise.read.writing import whole_file
from equipoise.types.arrays import InputError
from equipoise.uq.training.auroc import macro_auroc
from equipoise.uq.training.corruptions import Severity, assigned, calibrate, corrupt_all
from equipoise.uq.training.loop import TellEpoch, Trained, Trainer, read_whole, write_whole
from equipoise.uq.training.methods.method import Forecast, Method
from equipoise.uq.training.networks import architecture_of
from equipoise.uq.training.plan import SCHEMA, Cell, Folder, Plan, Setup, Sources, write_text
from equipoise.uq.training.resident import DeviceData, seeded

_BUILD, _SETTLE, _PREDICT = 0, 3, 4  # streams of random numbers; training has 1 and 2
_CHECKPOINT_SECONDS = 20.0
SEEDS = {"ood": 0, "val_ood": 100}  # of corruptions


class Place(NamedTuple):
    """The device, how many processes share it, and until when an epoch may begin."""

    device: str
    workers: int
    deadline: float


class Job(NamedTuple):
    """What every worker is given: what to do, where its results go, and where it works."""

    plan: Plan
    setup: Setup
    folder: Folder
    place: Place


class Bench:
    """Data on a device and the steps of a grid."""

    def __init__(self, job: Job, sources: Sources) -> None:
        self.plan, self.setup, self.folder, self.place = job
        self.sources, self.data = sources, sources.data
        self.there = DeviceData(self.data, self.setup.policy, self.place.device)
        if self.there.device.type == "cuda":
            torch.backends.cudnn.benchmark = True
            torch.set_float32_matmul_precision("high")

    def train_baseline(self, cell: Cell, tell: TellEpoch) -> None:
        """Train a baseline and keep its weights."""
        model, trained = self._trained(cell, [], tell)
        write_whole(
            self.folder.weights(cell),
            {
                "fingerprint": self._fingerprint(cell), "model": model.state_dict(),
                "auroc": trained.auroc, "epochs": trained.epochs, "seconds": trained.seconds,
                "peak": self._peak(), "workers": self.place.workers,
            },
        )  # fmt: skip
        self.folder.checkpoint(cell).unlink(missing_ok=True)

    def calibrate(self) -> None:
        """Find the severities of corruptions by the mean AUROC of the reference baselines."""
        models = [self._load(cell)[0].eval() for cell in self.plan.references()]
        labels = self.there.val_labels

        def auroc_of(images: NDArray[np.uint8]) -> float:
            tensor = self.there.images(images)
            found = [self.there.apply(one, tensor).cpu().numpy() for one in models]
            return float(np.mean([macro_auroc(one, labels) for one in found]))

        severities = calibrate(auroc_of, self.data.part("val").images, drop=self.setup.drop)
        text = json.dumps([asdict(one) for one in severities], indent=1)
        write_text(self.folder.corruptions, text)

    def finish(self, cell: Cell, tell: TellEpoch) -> None:
        """Train a cell (or take over what it stands on), predict, and write its file."""
        method, baselines = self.setup.method(cell.method), self.setup.stands_on(cell)
        stands_on = [self._load(one) for one in baselines]
        states = [model.state_dict() for model, _ in stands_on]
        model, trained = self._trained(cell, states, tell)
        parts, started = self.parts, time.time()
        with seeded(self.there.device, cell.seed, _SETTLE):
            method.settle(model.eval(), self.there)
        settled, started = time.time() - started, time.time()
        arrays = self._predictions(cell, method, model, parts)
        cost = {"predict_seconds": time.time() - started, "settle_seconds": settled}
        meta = {
            **self._facts(cell, method, model),
            **self._cost([kept for _, kept in stands_on], trained, settled), **cost,
            "baselines": [one.seed for one in baselines], "ood": self._strange_facts(),
            "val_auroc": macro_auroc(_mean(arrays, "val"), self.there.val_labels),
        }  # fmt: skip
        _save_arrays(self.folder.run(cell), {"meta": np.array(json.dumps(meta)), **arrays})
        self.folder.checkpoint(cell).unlink(missing_ok=True)

    def _cost(
        self, stands_on: list[dict[str, Any]], trained: Trained, settled: float
    ) -> dict[str, Any]:
        """What a cell took, with all that it stands on."""
        seconds = trained.seconds + sum(kept["seconds"] for kept in stands_on)
        epochs = trained.epochs + sum(kept["epochs"] for kept in stands_on)
        peaks = [self._peak(), *(kept["peak"] for kept in stands_on)]
        return {
            "train_seconds": seconds + settled, "epochs": epochs, "own_epochs": trained.epochs,
            "seconds_per_epoch": seconds / epochs,
            "workers": max([self.place.workers, *(kept["workers"] for kept in stands_on)]),
            "peak_bytes": None if None in peaks else max(peaks),
        }  # fmt: skip

    def _fingerprint(self, cell: Cell) -> str:
        return self.setup.fingerprint(cell, self.sources)

    def _peak(self) -> int | None:
        """The most GPU memory taken since the training began, in bytes; unknown on a CPU.

        The most memory of a process is that of all it has ever done, not of one cell.
        """
        if self.there.device.type == "cuda":
            return int(torch.cuda.max_memory_allocated(self.there.device))
        return None

    def _built(self, cell: Cell) -> nn.Module:
        """A new model on the device."""
        with seeded(self.there.device, cell.seed, _BUILD):
            make = partial(architecture_of(cell.architecture).network, self.there.shape)
            model = self.setup.method(cell.method).build(make, self.there.classes)
        return model.to(self.there.device, memory_format=self.there.memory_format)

    def _load(self, cell: Cell) -> tuple[nn.Module, dict[str, Any]]:
        """A trained baseline."""
        path, device = self.folder.weights(cell), self.there.device
        kept = read_whole(path, self._fingerprint(cell), device)
        model = self._built(cell)
        model.load_state_dict(kept["model"])
        return model, kept

    def _trained(
        self, cell: Cell, states: list[dict[str, torch.Tensor]], tell: TellEpoch
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
            every=_CHECKPOINT_SECONDS, deadline=self.place.deadline, tell=tell,
        )  # fmt: skip
        trained = trainer.train(model, self.there)
        return model.eval(), trained

    def _facts(self, cell: Cell, method: Method, model: nn.Module) -> dict[str, Any]:
        """What a file says of its run."""
        there = self.there
        gpu = there.device.type == "cuda"
        return {
            "schema": SCHEMA, "method": cell.method, "title": method.title,
            "reference": method.reference, "architecture": cell.architecture,
            "seed": cell.seed, "settings": asdict(method),
            "score_is": method.score_is,
            "network": repr(architecture_of(cell.architecture)),
            "parameters": sum(one.numel() for one in model.parameters()),
            "recipe": asdict(self.setup.recipe), "policy": asdict(self.setup.policy),
            "data": self.data.name, "fingerprint": self._fingerprint(cell),
            "device": torch.cuda.get_device_name(there.device) if gpu else "cpu",
            "precision": (
                "trained in bfloat16 mixed, predicted in float32" if gpu else "float32"
            ),
            "versions": {"torch": torch.__version__, "numpy": np.__version__},
        }  # fmt: skip

    def _strange_facts(self) -> dict[str, Any]:
        """What the images out of distribution are."""
        if self.sources.ood is not None:
            return {"data": self.sources.ood.name, "fingerprint": self.sources.fingerprints[1]}
        found = [asdict(one) for one in read_severities(self.folder.corruptions)]
        return {"drop": self.setup.drop, "corruptions": found}

    def _predictions(
        self, cell: Cell, method: Method, model: nn.Module, parts: dict[str, torch.Tensor]
    ) -> dict[str, NDArray[Any]]:
        """Arrays of every part; members are the same draws in each."""
        arrays: dict[str, NDArray[Any]] = {}
        for part, images in parts.items():
            with seeded(self.there.device, cell.seed, _PREDICT):
                found = method.predict(model, images, self.there)
            arrays |= {f"{part}_{name}": array for name, array in _plain(found).items()}
        return arrays

    @cached_property
    def parts(self) -> dict[str, torch.Tensor]:
        """Images of every part that is predicted, clean and strange."""
        clean = {part: self.data.part(part).images for part in ("val", "test")}
        if (other := self.sources.ood) is not None:
            strange = {"ood": other.part("test").images, "val_ood": other.part("val").images}
        else:
            found = read_severities(self.folder.corruptions)
            severities = {one.corruption: one.severity for one in found}
            strange = {
                name: corrupt_all(clean[part], severities, seed=SEEDS[name])
                for name, part in (("ood", "test"), ("val_ood", "val"))
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


def _mean(arrays: dict[str, NDArray[Any]], part: str) -> NDArray[Any]:
    """The mean prediction of a part, as a reader of the file will find it."""
    if f"{part}_alpha" in arrays:
        alpha, beta = arrays[f"{part}_alpha"], arrays[f"{part}_beta"]
        return alpha / (alpha + beta)
    logits = torch.from_numpy(arrays[f"{part}_logits"]).double()
    return logits.sigmoid().mean(0).numpy()


def read_severities(path: Path) -> list[Severity]:
    """What `Bench.calibrate` wrote."""
    told = read_json(content(path))
    if not isinstance(told, list):
        do = "remove the file to calibrate anew"
        raise InputError(f"{path}", f"a {type(told).__name__}", "a list of severities", do)
    return [codec.read(Severity, one, path.name) for one in told]


def _save_arrays(path: Path, arrays: dict[str, NDArray[Any]]) -> None:
    """Write a compressed ``.npz``, whole or not at all."""
    with whole_file(path) as out:
        np.savez_compressed(out, allow_pickle=False, **arrays)


def save_labels(sources: Sources, folder: Folder) -> None:
    """Write the labels of every part, and which corruption an image out of distribution has."""
    data, other = sources.data, sources.ood
    arrays: dict[str, NDArray[Any]] = {"classes": np.array(data.classes)}
    parts = {"val": data.part("val"), "test": data.part("test")}
    for name, clean in (("ood", "test"), ("val_ood", "val")):
        if other is None:
            parts[name] = parts[clean]
            arrays[f"{name}_corruptions"] = assigned(len(parts[name].items), seed=SEEDS[name])
            continue
        part = other.part(clean)
        blank = np.full((len(part.items), len(data.classes)), np.nan, np.float32)
        parts[name] = part if other.classes == data.classes else part._replace(labels=blank)
    for name, whole in parts.items():
        arrays[f"{name}_labels"] = whole.labels
        arrays[f"{name}_items"] = np.array(whole.items)
        arrays[f"{name}_groups"] = np.array(whole.patients)
    _save_arrays(folder.labels, arrays)
