"""The training loop, one for all methods.

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
"""

import math
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, NamedTuple

import torch
from torch import nn

from equipoise.read.files import require_file
from equipoise.read.writing import whole_file
from equipoise.types.arrays import InputError, require_drawn, require_number, require_whole
from equipoise.uq.training.auroc import macro_auroc
from equipoise.uq.training.methods.method import Batch, Clock, Method
from equipoise.uq.training.resident import DeviceData, seeded

_TRAIN, _VALIDATE = 1, 2  # streams of random numbers
_AT_ONCE = 16  # batches that are gathered and augmented together


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How every network is trained."""

    lr: float = 1e-4
    weight_decay: float = 0.1
    epochs: int = 50
    patience: int = 5
    batch: int = 128
    clip: float = 1.0
    shift: int = 4
    flip: bool = True

    def __post_init__(self) -> None:
        """Refuse values that cannot train."""
        for name in ("epochs", "patience", "batch"):
            require_drawn(name, getattr(self, name), least=1)
        require_whole("shift", self.shift)
        for name in ("lr", "clip"):
            require_number(name, getattr(self, name), above=0)
        require_number("weight_decay", self.weight_decay, above=-1e-300)


class Epoch(NamedTuple):
    """What is told after an epoch."""

    done: int
    most: int
    loss: float
    auroc: float


TellEpoch = Callable[[Epoch], None]


class Trained(NamedTuple):
    """What a training came to."""

    auroc: float
    epochs: int
    seconds: float


class OutOfTimeError(Exception):
    """The time allowed is over; the checkpoint holds what was done."""


def augmented(images: torch.Tensor, shift: int, *, flip: bool) -> torch.Tensor:
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


@dataclass(slots=True)
class _Course:
    """How far a training is, and the best of it."""

    epoch: int = 0
    best: float = -math.inf
    since: int = 0
    seconds: float = 0.0
    state: dict[str, torch.Tensor] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trainer:
    """Trains the model of a method.

    Attributes
    ----------
    checkpoint
        Where to keep the state between epochs, and to go on from; None keeps nothing.
    fingerprint
        Of the configuration; a checkpoint of another is refused.
    every
        Seconds between checkpoints at least; 0 is after every epoch.
    deadline
        Time (of ``time.time``) after which no epoch begins: OutOfTimeError is raised.
    """

    method: Method
    recipe: Recipe
    seed: int
    checkpoint: Path | None = None
    fingerprint: str = ""
    every: float = 0.0
    deadline: float = math.inf
    tell: TellEpoch = lambda _: None

    def train(self, model: nn.Module, data: DeviceData) -> Trained:
        """Train to the end and leave the model with the weights to keep."""
        how = self.method.training
        most = self.recipe.epochs if how.epochs is None else how.epochs
        optimiser = torch.optim.AdamW(
            model.parameters(), lr=self.recipe.lr, weight_decay=self.recipe.weight_decay,
            fused=data.device.type == "cuda",
        )  # fmt: skip
        course = self._resume(model, optimiser, data.device)
        written = started = time.time()
        before = course.seconds
        while course.epoch < most and (
            how.keep == "last" or course.since < self.recipe.patience
        ):
            if time.time() > self.deadline:
                self._write(model, optimiser, course)
                raise OutOfTimeError
            loss = self._epoch(model, data, optimiser, course.epoch, most)
            auroc = self._validate(model, data, course.epoch)
            self._judge(model, course, loss, auroc)
            course.seconds = before + time.time() - started
            if self.checkpoint is not None and time.time() - written >= self.every:
                self._write(model, optimiser, course)
                written = time.time()
            self.tell(Epoch(course.epoch, most, loss, auroc))
        if how.keep == "best" and course.state:
            model.load_state_dict(course.state)
        last = self._validate(model, data, course.epoch) if how.keep == "last" else course.best
        return Trained(last, course.epoch, course.seconds)

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
                if self.method.training.schedule == "cosine":
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
            found = data.apply(probability, data.val.images)
        return macro_auroc(found.cpu().numpy(), data.val_labels)

    def _judge(self, model: nn.Module, course: _Course, loss: float, auroc: float) -> None:
        """Take an epoch into account; refuse to go on with what is no number."""
        if not math.isfinite(loss):
            raise InputError(
                f"training of {self.method.title}, seed {self.seed}, epoch {course.epoch + 1}",
                f"a loss of {loss}", "a finite loss",
                "lower the learning rate (lr) or the clipping of gradients (clip)",
            )  # fmt: skip
        course.epoch += 1
        if auroc > course.best:
            course.best, course.since = auroc, 0
            if self.method.training.keep == "best":
                course.state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            course.since += 1

    def _write(
        self, model: nn.Module, optimiser: torch.optim.Optimizer, course: _Course
    ) -> None:
        if self.checkpoint is None:
            return
        write_whole(
            self.checkpoint,
            {
                "fingerprint": self.fingerprint, "epoch": course.epoch, "best": course.best,
                "since": course.since, "seconds": course.seconds, "state": course.state,
                "model": model.state_dict(), "optimiser": optimiser.state_dict(),
            },
        )  # fmt: skip

    def _resume(
        self, model: nn.Module, optimiser: torch.optim.Optimizer, device: torch.device
    ) -> _Course:
        if self.checkpoint is None or not self.checkpoint.exists():
            return _Course()
        kept = read_whole(self.checkpoint, self.fingerprint, device)
        model.load_state_dict(kept["model"])
        optimiser.load_state_dict(kept["optimiser"])
        own = (kept[name] for name in ("epoch", "best", "since", "seconds", "state"))
        return _Course(*own)


def write_whole(path: Path, content: dict[str, Any]) -> None:
    """Save with torch so that a reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as out:
        torch.save(content, out)


def read_whole(path: Path, fingerprint: str, device: torch.device) -> dict[str, Any]:
    """Load what `write_whole` saved, and refuse what another configuration left there."""
    require_file(path)
    try:
        kept = torch.load(path, map_location=device, weights_only=True)
    except (OSError, EOFError, LookupError, ValueError, TypeError, AttributeError,
            AssertionError, RuntimeError, OverflowError, MemoryError, UnpicklingError,
            struct.error) as error:  # fmt: skip
        raise _damaged(path, type(error).__name__) from error
    if not isinstance(kept, dict) or not isinstance(kept.get("fingerprint"), str):
        raise _damaged(path, "something else")
    if kept["fingerprint"] != fingerprint:
        raise InputError(
            f"{path}", f"a checkpoint of another configuration ({kept['fingerprint']})",
            f"one of this configuration ({fingerprint})",
            "name another folder, or remove the file to train anew",
        )  # fmt: skip
    return kept


def _damaged(path: Path, why: str) -> InputError:
    return InputError(
        f"{path}", f"cannot be read ({why})", "tensors that a training left",
        "remove the file to train anew",
    )  # fmt: skip
