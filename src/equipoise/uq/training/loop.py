"""Training of a cell: the loop, one for all methods, and the bench of a worker.

AdamW at a learning rate of 1e-4 that falls along a cosine over at most 50 epochs, weight decay
0.1, gradients clipped to norm 1, batches of 128 of which the last, incomplete one of an epoch
is left out. After every epoch the macro AUROC of the validation images is taken; training stops
when it has not risen for ``patience`` epochs, and the weights of the best epoch are kept. On a
GPU it trains in mixed precision (bfloat16, the head in float32), channels last, with the fused
AdamW; validation and prediction are in float32.

Augmentation, on the device: a shift of up to ``shift`` pixels each way (edges repeated) and a
mirror image half of the time.

All randomness of an epoch comes from (seed, epoch), so a training that was killed goes on from
its last checkpoint to the same end, on a CPU to the same bytes. A checkpoint is written whole
or not at all, and one of another configuration is refused.

A `Bench` trains baselines, calibrates corruptions and finishes cells. What a cell leaves is one
``.npz`` with ``meta`` (JSON) and, for each part of val, test, ood and val_ood, the logits of
the members as float16, or Beta parameters, and perhaps the method's own score. Seconds and
epochs of training count everything a method stands on: for temperature scaling its baseline,
for a deep ensemble all its members; how many processes shared the device (``workers``) is told
beside them. Images are made and corrupted before prediction is timed.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from equipoise.read import codec
from equipoise.read.files import content
from equipoise.types import InputError, Progress, immutable
from equipoise.uq.training.corruptions import (
    Severity,
    assigned,
    calibrate,
    corrupt_all,
    macro_auroc,
    read_severities,
)
from equipoise.uq.training.data import ImageData, Images, Recipe
from equipoise.uq.training.methods.method import Clock, Forecast, Method
from equipoise.uq.training.networks import architecture_of
from equipoise.uq.training.plan import (
    SCHEMA,
    Cell,
    Folder,
    Machine,
    Plan,
    Setup,
)
from equipoise.uq.training.resident import Batch, DeviceData, seeded

_TRAIN, _VALIDATE = 1, 2  # streams of random numbers
ANEW = "remove the file: it is made anew"
_AT_ONCE = 16  # batches that are gathered and augmented together


Arrays = dict[str, NDArray[Any]]


def augmented(images: Tensor, shift: int, *, flip: bool) -> Tensor:
    """Images moved by up to some pixels, and mirrored half of the time."""
    if not shift and not flip:
        return images
    items, _, height, width = images.shape
    device = images.device
    move = torch.randint(-shift, shift + 1, (2, items, 1), device=device)
    rows = (torch.arange(height, device=device) + move[0]).clamp(0, height - 1)
    columns = (torch.arange(width, device=device) + move[1]).clamp(0, width - 1)
    if flip:
        mirror = torch.rand(items, 1, device=device) < 0.5
        columns = torch.where(mirror, width - 1 - columns, columns)
    item = torch.arange(items, device=device)[:, None, None]
    moved = images.permute(0, 2, 3, 1)[item, rows[:, :, None], columns[:, None]]
    return moved.permute(0, 3, 1, 2)


@dataclass
class Course:
    """How far a training is, and the best of it."""

    epochs: int = 0
    auroc: float = -math.inf
    since: int = 0
    seconds: float = 0.0
    state: dict[str, Tensor] = field(default_factory=dict)


@immutable(kw_only=True)
class Trainer:
    """Trains the model of a method.

    Attributes
    ----------
    checkpoint
        Where to keep the state between epochs, and to go on from; None keeps nothing.
    fingerprint
        Of the configuration; a checkpoint of another is refused.
    checkpoint_seconds
        Seconds between checkpoints at least; 0 is after every epoch.
    deadline
        Time (of ``time.time``) after which no epoch begins: TimeoutError is raised.
    """

    method: Method
    recipe: Recipe
    seed: int
    checkpoint: Path | None = None
    fingerprint: str = ""
    checkpoint_seconds: float = 0.0
    deadline: float = math.inf
    tell: Progress = lambda *_: None

    def train(self, model: nn.Module, data: DeviceData) -> Course:
        """Train to the end and leave the model with the weights to keep."""
        further = self.method.further_epochs
        most = further or self.recipe.epochs
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=self.recipe.lr, weight_decay=self.recipe.weight_decay,
            fused=data.device.type == "cuda",
        )  # fmt: skip
        course = self._resume(model, optimiser, data.device)
        written = started = time.time()
        before = course.seconds
        while course.epochs < most and (further or course.since < self.recipe.patience):
            if time.time() > self.deadline:
                self._write(model, optimiser, course)
                raise TimeoutError
            loss = self._epoch(model, data, optimiser, course.epochs, most)
            auroc = self._validate(model, data, course.epochs)
            self._judge(model, course, loss, auroc)
            course.seconds = before + time.time() - started
            if self.checkpoint is not None and time.time() - written >= self.checkpoint_seconds:
                self._write(model, optimiser, course)
                written = time.time()
            self.tell(course.epochs, most)
        if further:  # the last weights stay, not the best
            course.auroc = self._validate(model, data, course.epochs)
        elif course.state:
            model.load_state_dict(course.state)
        return course

    def _epoch(
        self,
        model: nn.Module,
        data: DeviceData,
        optimiser: torch.optim.Optimizer,
        epoch: int,
        most: int,
    ) -> float:
        """One pass over the training images; the mean loss."""
        recipe, images = self.recipe, len(data.train.labels)
        size = min(recipe.batch, images)
        steps = images // size
        model.train()
        total = torch.zeros((), device=data.device)
        with seeded(data.device, self.seed, _TRAIN, epoch):
            for step, batch in enumerate(self._batches(data, size, steps)):
                clock = Clock(epoch * steps + step, steps, most)
                if not self.method.further_epochs:
                    rate = recipe.lr * (1 + math.cos(math.pi * clock.share)) / 2
                    optimiser.param_groups[0]["lr"] = rate
                optimiser.zero_grad(set_to_none=True)
                with data.autocast():
                    loss = self.method.loss(model, batch, clock)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
                optimiser.step()
                self.method.observe(model, clock._replace(step=clock.step + 1))
                total += loss.detach()
        return float(total) / steps

    def _batches(self, data: DeviceData, size: int, steps: int) -> Iterator[Batch]:
        """Batches in random order, augmented; several at a time, as a GPU likes it."""
        images, labels, known = data.train
        order = torch.randperm(len(labels))[: steps * size]
        for some in order.split(size * _AT_ONCE):
            rows = some.to(data.device)
            chosen = images[rows if data.resident else some].to(data.device)
            moved = augmented(chosen, self.recipe.shift, flip=self.recipe.flip)
            parts = (data.inputs(moved), labels[rows], known[rows])
            yield from map(Batch, *(part.split(size) for part in parts))

    def _validate(self, model: nn.Module, data: DeviceData, epoch: int) -> float:
        """Macro AUROC of the validation images."""
        model.eval()
        with seeded(data.device, self.seed, _VALIDATE, epoch):
            probability = partial(self.method.probability, model)
            probabilities = data.apply(probability, data.val.images)
        return macro_auroc(probabilities.cpu().numpy(), data.val_labels)

    def _judge(self, model: nn.Module, course: Course, loss: float, auroc: float) -> None:
        """Take an epoch into account; refuse to go on with what is no number."""
        if not math.isfinite(loss):
            raise InputError(
                f"training of {self.method.title}, seed {self.seed}, epoch {course.epochs + 1}",
                f"a loss of {loss}", "a finite loss",
                "lower the learning rate (lr) or the clipping of gradients (clip)",
            )  # fmt: skip
        course.epochs += 1
        if auroc > course.auroc:
            course.auroc, course.since = auroc, 0
            if not self.method.further_epochs:
                course.state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            course.since += 1

    def _write(
        self, model: nn.Module, optimiser: torch.optim.Optimizer, course: Course
    ) -> None:
        if self.checkpoint is None:
            return
        write_whole(
            self.checkpoint,
            self.fingerprint,
            {
                "course": {part.name: getattr(course, part.name) for part in fields(course)},
                "model": model.state_dict(),
                "optimiser": optimiser.state_dict(),
            },
        )

    def _resume(
        self, model: nn.Module, optimiser: torch.optim.Optimizer, device: torch.device
    ) -> Course:
        if self.checkpoint is None or not self.checkpoint.exists():
            return Course()
        saved = read_whole(self.checkpoint, self.fingerprint, device)
        model.load_state_dict(saved["model"])
        optimiser.load_state_dict(saved["optimiser"])
        return Course(**saved["course"])


def write_whole(path: Path, fingerprint: str, content: Mapping[str, Any]) -> None:
    """Save with torch, sealed, so that a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = BytesIO()
    torch.save(dict(content), whole)
    arrays = {"torch": np.frombuffer(whole.getvalue(), np.uint8)}
    facts = {"schema": SCHEMA, "fingerprint": fingerprint}
    codec.write_sealed(path, facts, arrays, packed=False)


def read_whole(path: Path, fingerprint: str, device: torch.device) -> dict[str, Any]:
    """Load what `write_whole` saved; refused if it changed or has another configuration."""
    facts, arrays = codec.read_sealed(content(path), ANEW)
    require_same(f"{path}", facts, fingerprint)
    whole = BytesIO(arrays["torch"].tobytes())
    saved: dict[str, Any] = torch.load(whole, map_location=device, weights_only=True)
    return {**saved, "content": facts["content"]}


def require_same(where: str, facts: Mapping[str, Any], fingerprint: str) -> None:
    """Refuse a file of another version, or that was made from something else."""
    for what, name, wanted in (
        ("version", "schema", SCHEMA), ("configuration", "fingerprint", fingerprint),
    ):  # fmt: skip
        if facts.get(name) != wanted:
            raise InputError(
                where, f"of another {what} ({facts.get(name)})",
                f"one of this {what} ({wanted})",
                "name another folder, or remove the file to make it anew",
            )  # fmt: skip


_BUILD, _SETTLE, _PREDICT = 0, 3, 4  # streams of random numbers; training has 1 and 2
_CHECKPOINT_SECONDS = 20.0
SEEDS = {"ood": 0, "val_ood": 100}  # of corruptions


class Bench:
    """Data on a device and the steps of a grid."""

    def __init__(
        self,
        plan: Plan,
        setup: Setup,
        folder: Folder,
        machine: Machine,
        sources: Sequence[ImageData],
    ) -> None:
        self.plan, self.setup, self.folder, self.machine = plan, setup, folder, machine
        self.data, self.other = sources[0], sources[1] if len(sources) > 1 else None
        self.configuration = self.setup.configuration(sources)
        self.renewed: dict[str, str] = {}  # why cells that were done are made anew

    @cached_property
    def there(self) -> DeviceData:
        """The data on the device."""
        there = DeviceData(self.data, self.setup.recipe, self.machine.device)
        if there.device.type == "cuda":
            torch.backends.cudnn.benchmark = True
            torch.set_float32_matmul_precision("high")
        return there

    def claim(self) -> None:
        """Check that all fits, claim the folder, and leave there what all cells share.

        Among it copies of images that take long to read, for workers.
        """
        self.plan.check(self.data)
        self.folder.claim(self.configuration)
        names = (self.setup.source, self.setup.ood)
        for name, data, copy in zip(
            names, (self.data, self.other), self.folder.copies, strict=True
        ):
            copy.parent.mkdir(exist_ok=True)
            if data is not None and Path(str(name)).suffix != ".npz" and not copy.exists():
                data.save(copy)
        self._save_labels()

    def is_done(self, cell: Cell) -> bool:
        """Whether a cell is done; not where its file is broken; another's is refused."""
        path = self.folder.run(cell)
        if not path.exists():
            return False
        try:
            facts, _ = codec.read_sealed(content(path), ANEW)
        except InputError as error:
            self.renewed[cell.name] = str(error)
            return False
        require_same(f"{path}", facts, self._fingerprint(cell))
        return True

    def require_time(self) -> None:
        """Stop where the time is over."""
        if time.time() >= self.machine.deadline:
            raise TimeoutError

    def train_baseline(self, cell: Cell, tell: Progress) -> None:
        """Train a baseline and keep its weights."""
        model, trained = self._trained(cell, [], tell)
        write_whole(
            self.folder.weights(cell),
            self._fingerprint(cell),
            {
                "model": model.state_dict(),
                "epochs": trained.epochs, "seconds": trained.seconds,
                "peak": self._peak(), "workers": self.machine.workers,
            },
        )  # fmt: skip
        self.folder.checkpoint(cell).unlink(missing_ok=True)

    def calibrate(self, tell: Progress) -> None:
        """Find the severities of corruptions by the mean AUROC of the reference baselines."""
        del tell
        loaded = [self._load(cell) for cell in self.plan.references()]
        models = [model.eval() for model, _ in loaded]
        labels = self.there.val_labels

        def auroc_of(images: Images) -> float:
            tensor = self.there.images(images)
            outputs = [self.there.apply(model, tensor).cpu().numpy() for model in models]
            return float(np.mean([macro_auroc(output, labels) for output in outputs]))

        severities = calibrate(auroc_of, self.data.part("val").images, drop=self.setup.drop)
        facts = {
            "schema": SCHEMA, "data": self.configuration["data"],
            "weights": [saved["content"] for _, saved in loaded],
            "corruptions": [asdict(severity) for severity in severities],
        }  # fmt: skip
        codec.write_facts(self.folder.corruptions, facts)

    def finish(self, cell: Cell, tell: Progress) -> None:
        """Train a cell (or take over what it stands on), predict, and write its file."""
        method, baselines = self.setup.method(cell.method), self.setup.stands_on(cell)
        stands_on = [self._load(baseline) for baseline in baselines]
        states = [model.state_dict() for model, _ in stands_on]
        model, trained = self._trained(cell, states, tell)
        parts, started = self.parts, time.time()
        with seeded(self.there.device, cell.seed, _SETTLE):
            method.settle(model.eval(), self.there)
        settled = time.time()
        arrays = self._predictions(cell, method, model, parts)
        cost = self._cost([saved for _, saved in stands_on], trained, settled - started)
        meta = {
            **self._facts(cell, method, model),
            "cost": {**cost, "prediction": time.time() - settled},
            "baselines": [baseline.seed for baseline in baselines],
            "weights": [saved["content"] for _, saved in stands_on],
            "ood": self._strange_facts(),
        }
        codec.write_sealed(self.folder.run(cell), meta, arrays, packed=True)
        self.folder.checkpoint(cell).unlink(missing_ok=True)
        for baseline in baselines:
            if baseline.seed not in self.plan.seeds:  # of no use to another cell
                self.folder.weights(baseline).unlink(missing_ok=True)

    def _cost(
        self, stands_on: list[dict[str, Any]], trained: Course, settle_seconds: float
    ) -> dict[str, Any]:
        """What a cell took, with all that it stands on."""
        peaks = [self._peak(), *(saved["peak"] for saved in stands_on)]
        return {
            "training": trained.seconds + settle_seconds
            + sum(saved["seconds"] for saved in stands_on),
            "epochs": trained.epochs + sum(saved["epochs"] for saved in stands_on),
            "workers": max([self.machine.workers, *(saved["workers"] for saved in stands_on)]),
            "memory": None if None in peaks else max(peaks),
        }  # fmt: skip

    def _fingerprint(self, cell: Cell) -> str:
        return self.setup.fingerprint(cell, self.configuration)

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
        saved = read_whole(path, self._fingerprint(cell), device)
        model = self._built(cell)
        model.load_state_dict(saved["model"])
        return model, saved

    def _trained(
        self, cell: Cell, states: list[dict[str, Tensor]], tell: Progress
    ) -> tuple[nn.Module, Course]:
        """A model, trained unless it only takes over baselines."""
        if self.there.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.there.device)
        method, model = self.setup.method(cell.method), self._built(cell)
        if states:
            method.start(model, states)
        if states and not method.further_epochs:
            return model.eval(), Course(auroc=math.nan)
        trainer = Trainer(
            method=method, recipe=self.setup.recipe, seed=cell.seed,
            checkpoint=self.folder.checkpoint(cell), fingerprint=self._fingerprint(cell),
            checkpoint_seconds=_CHECKPOINT_SECONDS, deadline=self.machine.deadline, tell=tell,
        )  # fmt: skip
        trained = trainer.train(model, self.there)
        return model.eval(), trained

    def _facts(self, cell: Cell, method: Method, model: nn.Module) -> dict[str, Any]:
        """What a file says of its run."""
        there = self.there
        gpu = there.device.type == "cuda"
        return {
            "schema": SCHEMA, "method": cell.method, "title": method.title,
            "architecture": cell.architecture,
            "seed": cell.seed, "settings": asdict(method),
            "score_is": method.score_is,
            "network": repr(architecture_of(cell.architecture)),
            "parameters": sum(weights.numel() for weights in model.parameters()),

            "configuration": self.configuration, "fingerprint": self._fingerprint(cell),
            "device": torch.cuda.get_device_name(there.device) if gpu else "cpu",
            "precision": (
                "trained in bfloat16 mixed, predicted in float32" if gpu else "float32"
            ),
            "versions": {"torch": torch.__version__, "numpy": np.__version__},
        }  # fmt: skip

    def _strange_facts(self) -> dict[str, Any]:
        """What the images out of distribution are."""
        if self.other is not None:
            return {"data": self.other.name, "fingerprint": self.configuration["ood"]}
        severities = [asdict(severity) for severity in self._severities()]
        return {"drop": self.setup.drop, "corruptions": severities}

    def _severities(self) -> tuple[Severity, ...]:
        return read_severities(self.folder.corruptions)

    def _predictions(
        self, cell: Cell, method: Method, model: nn.Module, parts: dict[str, Tensor]
    ) -> Arrays:
        """Arrays of every part; members are the same draws in each."""
        arrays: Arrays = {}
        for part, images in parts.items():
            with seeded(self.there.device, cell.seed, _PREDICT):
                forecast = method.predict(model, images, self.there)
            arrays |= {
                f"{part}_{name}": array for name, array in _forecast_arrays(forecast).items()
            }
        return arrays

    @cached_property
    def parts(self) -> dict[str, Tensor]:
        """Images of every part that is predicted, clean and strange."""
        clean = {part: self.data.part(part).images for part in ("val", "test")}
        if (other := self.other) is not None:
            strange = {"ood": other.part("test").images, "val_ood": other.part("val").images}
        else:
            severities = {row.corruption: row.severity for row in self._severities()}
            strange = {
                name: corrupt_all(clean[part], severities, seed=SEEDS[name])
                for name, part in (("ood", "test"), ("val_ood", "val"))
            }
        return {
            part: self.there.images(images) for part, images in {**clean, **strange}.items()
        }

    def _save_labels(self) -> None:
        """Write the labels of every part, and which corruption an image not as usual has."""
        arrays: Arrays = {"classes": np.array(self.data.classes)}
        parts = {"val": self.data.part("val"), "test": self.data.part("test")}
        for name, clean in (("ood", "test"), ("val_ood", "val")):
            if self.other is None:
                parts[name] = parts[clean]
                items = len(parts[name].items)
                arrays[f"{name}_corruptions"] = assigned(items, seed=SEEDS[name])
                continue
            part = self.other.part(clean)
            blank = np.full((len(part.items), len(self.data.classes)), np.nan, np.float32)
            same = self.other.classes == self.data.classes
            parts[name] = part if same else replace(part, labels=blank)
        for name, whole in parts.items():
            arrays[f"{name}_labels"] = np.asarray(whole.labels)
            arrays[f"{name}_items"] = np.array(whole.items)
            arrays[f"{name}_groups"] = np.array(whole.groups)
        facts = {"schema": SCHEMA, "data": self.configuration["data"]}
        codec.write_sealed(self.folder.labels, facts, arrays, packed=True)


def _forecast_arrays(forecast: Forecast) -> Arrays:
    """A forecast as arrays for a file."""
    arrays = {}
    for name, tensor in forecast._asdict().items():
        if tensor is not None:
            kind = np.float16 if name == "logits" else np.float32
            whole = tensor.float().cpu().numpy()
            arrays[name] = np.clip(whole, -6e4, 6e4).astype(kind) if name == "logits" else whole
    return arrays
