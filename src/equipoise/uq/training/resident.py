"""The data on the device: images stay 8-bit there and become floats batch by batch.

Images are resident on the device when they take at most half of its free memory, else they
stay in (pinned) main memory and each batch travels. Every image is scaled by the mean and the
standard deviation of the training pixels.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from equipoise.types import Floats, InputError
from equipoise.uq.training.data import ImageData, Images, Recipe

_STREAM = 2**62  # seeds are whole numbers below this


class Batch(NamedTuple):
    """Images (channels first), labels in {0, 1} and 1 where a label is known.

    Those of a part are 8-bit, those of a batch are inputs; an unknown label means nothing.
    """

    images: Tensor
    labels: Tensor
    known: Tensor


class DeviceData:
    """Training and validation images on a device, and how images become inputs."""

    def __init__(self, data: ImageData, recipe: Recipe, device: str) -> None:
        self.device = require_device(device)
        self.classes = len(data.classes)
        train, val = data.part("train"), data.part("val")
        self.shape = data.shape
        pixels = train.images.reshape(-1, self.shape.channels)[
            :: max(1, len(train.images) // 2000)
        ]
        self._mean = self._channel(pixels.mean(0) / 255)
        self._spread = self._channel(np.maximum(pixels.std(0) / 255, 1e-3))
        gpu, size = self.device.type == "cuda", train.images.nbytes
        self.resident = not gpu or size < torch.cuda.mem_get_info(self.device)[0] / 2
        self.train = self._labelled(train.images, train.labels, recipe)
        self.val = self._labelled(val.images, val.labels, Recipe())
        self.val_labels = val.labels

    def _channel(self, values: Floats) -> Tensor:
        return torch.tensor(values, dtype=torch.float32, device=self.device).view(1, -1, 1, 1)

    def _labelled(self, images: Images, labels: Floats, recipe: Recipe) -> Batch:
        y, known = (torch.from_numpy(array).to(self.device) for array in recipe.targets(labels))
        return Batch(self.images(images), y, known)

    def images(self, images: Images) -> Tensor:
        """8-bit images, channels first, on the device if they fit, else pinned."""
        tensor = torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2)))
        return tensor.to(self.device) if self.resident else tensor.pin_memory()

    def inputs(self, images: Tensor) -> Tensor:
        """Scaled floats on the device, there in the memory format that is fast."""
        there = images.to(self.device, non_blocking=True)
        scaled = (there.float() / 255 - self._mean) / self._spread
        return scaled.contiguous(memory_format=self.memory_format)

    @property
    def memory_format(self) -> torch.memory_format:
        """Channels last on a GPU, first on a CPU, whichever is faster."""
        gpu = self.device.type == "cuda"
        return torch.channels_last if gpu else torch.contiguous_format

    def autocast(self) -> AbstractContextManager[None]:
        """Mixed precision (bfloat16) on a GPU, nothing elsewhere."""
        if self.device.type != "cuda":
            return nullcontext()
        return torch.autocast("cuda", torch.bfloat16)

    def apply(self, function: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
        """A function of inputs over all images, in batches, without gradients, in float32.

        Mixed precision is for training alone; what is validated, fitted or saved has none.
        """
        with torch.no_grad(), torch.autocast(self.device.type, enabled=False):
            batches = images.split(512)
            return torch.cat([function(self.inputs(batch)).float() for batch in batches])


def require_device(name: str) -> torch.device:
    """The device of a name, or a refusal if it is not there; ``"auto"`` takes a GPU if any.

    Examples
    --------
    >>> require_device("cpu")
    device(type='cpu')
    """
    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    if name == "auto":
        return torch.device(there[-1])
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError("device", repr(name), "cpu, cuda or auto", "choose one") from error
    if device.type not in there or (device.index or 0) >= max(1, torch.cuda.device_count()):
        raise InputError(
            "device", f"{name!r}, which is not there", f"one of {', '.join(there)}",
            "choose auto, or run on a machine with a GPU and a CUDA build of torch",
        )  # fmt: skip
    return device


@contextmanager
def seeded(device: torch.device, *numbers: int) -> Iterator[None]:
    """Draw from streams of these numbers inside, and leave the global streams as they were."""
    state = np.random.SeedSequence(numbers).generate_state(2, np.uint32)
    seed = (int(state[0]) << 32 | int(state[1])) % _STREAM
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
