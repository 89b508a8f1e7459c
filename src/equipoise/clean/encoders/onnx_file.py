"""Any image model in an ONNX file, run by onnxruntime on one thread.

Input: the model must have one, of four axes. Three channels first or last are told by where the
3 stands; the size is the model's own, and `size` where it leaves that open. Values are in
[0, 1], minus `mean`, divided by `sd` (of ImageNet, unless said otherwise); a model that takes
whole numbers of eight bits gets 0 to 255 as they are.

Output: `output` by name; else, of several, the first of two axes, (images, features), and else
the first. Maps are averaged over the picture, tokens over the sequence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.detector import require_packages
from equipoise.clean.encoders.encoder import (
    IMAGENET_MEAN,
    IMAGENET_SD,
    Encoder,
    as_rows,
    fingerprint_of,
    squeezed,
)
from equipoise.read.files import file_sha256, unreadable
from equipoise.types.arrays import Floats, InputError, listed

_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}


@dataclass(frozen=True)
class OnnxFile(Encoder):
    """A model in an ONNX file.

    Attributes
    ----------
    path
        Of the file; weights beside it are found by onnxruntime.
    size
        Of the input in pixels, where the model leaves it open.
    mean, sd
        By channel, of values in [0, 1].
    output
        Name of the output; empty chooses as the module says.
    """

    name: ClassVar[str] = "onnx"
    path: Path
    size: int = 224
    mean: tuple[float, float, float] = IMAGENET_MEAN
    sd: tuple[float, float, float] = IMAGENET_SD
    output: str = ""

    @property
    def fingerprint(self) -> str:
        """A hash of the settings, the file, weights beside it and the release."""
        require_packages(f"encoder {self.path}", ("onnxruntime",))
        import onnxruntime

        path = Path(self.path)
        try:
            beside = sorted(path.parent.glob(f"{path.name}*"))
            digests = [(one.name, file_sha256(one)) for one in beside if one.is_file()]
        except OSError as error:
            raise unreadable(path, error) from error
        return fingerprint_of(
            name=self.name, size=self.size, mean=self.mean, sd=self.sd, output=self.output,
            files=[digest for _, digest in digests], release=onnxruntime.__version__,
        )  # fmt: skip

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        require_packages(f"encoder {self.path}", ("onnxruntime",))
        model = _loaded(Path(self.path).resolve(), self.size, self.output)
        return as_rows([self._vector(model, images.rgb(int(one))) for one in places])

    def _vector(self, model: "_Model", pixels: Any) -> Floats:
        height, width = model.shape
        square = _resized(pixels, height, width)
        if model.dtype is np.uint8:
            values = np.rint(square * 255)
        else:
            values = (square - np.asarray(self.mean)) / np.asarray(self.sd)
        if model.channels_first:
            values = values.transpose(2, 0, 1)
        given = np.repeat(values[None].astype(model.dtype), model.batch, axis=0)
        made = model.session.run([model.output], {model.input: given})[0]
        return _pooled(np.asarray(made), model)


class _Model(NamedTuple):
    """A loaded model, and what it takes."""

    session: Any
    input: str
    output: str
    channels_first: bool
    shape: tuple[int, int]
    batch: int
    dtype: Any


def _loaded(path: Path, size: int, output: str) -> _Model:
    """The model in a file as it is now, loaded once."""
    try:
        now = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    session = _session(path, (now.st_mtime_ns, now.st_size))
    inputs = session.get_inputs()
    axes = list(inputs[0].shape) if len(inputs) == 1 else []
    dtype = _TYPES.get(inputs[0].type) if inputs else None
    if len(axes) != 4 or 3 not in (axes[1], axes[3]) or dtype is None:
        shown = [f"{one.name} {one.type} {list(one.shape)}" for one in inputs]
        raise InputError(
            f"{path.name}, inputs",
            ", ".join(shown) or "none",
            "one, (images, 3, height, width) or (images, height, width, 3)",
            "export a model that takes RGB images",
        )
    first = axes[1] == 3
    high, wide = (one if isinstance(one, int) else size for one in axes[1 + first : 3 + first])
    return _Model(
        session,
        inputs[0].name,
        _chosen_output(path.name, session.get_outputs(), output),
        first,
        (high, wide),
        axes[0] if isinstance(axes[0], int) else 1,
        dtype,
    )


@lru_cache(maxsize=2)
def _session(path: Path, _version: tuple[int, int]) -> Any:
    """A session of onnxruntime on one thread; another one when the file has changed."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            str(path), sess_options=options, providers=["CPUExecutionProvider"]
        )
    except _failures() as error:
        raise InputError(
            str(path),
            f"cannot be loaded ({str(error).splitlines()[0]})",
            "an ONNX model that onnxruntime runs",
            "export the model again",
        ) from error


def _failures() -> tuple[type[Exception], ...]:
    """What onnxruntime raises; its own errors have no common ancestor below Exception."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    found = (getattr(state, name) for name in dir(state))
    own = (one for one in found if isinstance(one, type) and issubclass(one, Exception))
    return (RuntimeError, ValueError, *own)


def _chosen_output(name: str, outputs: Sequence[Any], wanted: str) -> str:
    names = [str(one.name) for one in outputs]
    if wanted and wanted not in names:
        raise InputError(
            f"{name}, output {wanted!r}", "missing", f"one of {listed(names)}", "choose one"
        )
    flat = [str(one.name) for one in outputs if len(one.shape or ()) == 2]
    return wanted or (flat or names)[0]


def _resized(pixels: Any, height: int, width: int) -> Floats:
    if height == width:
        return squeezed(pixels, height)
    from PIL import Image

    small = Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def _pooled(made: Floats, model: _Model) -> Floats:
    """The first image's features: maps averaged over the picture, tokens over the sequence."""
    one = made[0] if made.ndim and len(made) == model.batch else made
    if one.ndim == 3:
        return np.asarray(one.mean(axis=(1, 2) if model.channels_first else (0, 1)))
    return np.asarray(one.mean(axis=0) if one.ndim == 2 else one.ravel())
