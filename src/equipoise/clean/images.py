"""Images: files or arrays as upright RGB of eight bits, whatever they were, and nothing unsafe.

An image is read by these rules, with Pillow:

- turned upright by its EXIF orientation; colour profiles are not applied;
- grey, palette, CMYK, YCbCr and Lab become RGB; transparent parts are laid on white;
- RGB of 16 bits keeps its upper eight bits; a single channel of 16 or 32 bits, or of floating
  point, is stretched linearly so that its smallest finite value is 0 and its largest 255 (12
  bits in a file of 16 would else be black); values that are not finite become 0;
- of several frames or pages the first counts;
- more than 50 megapixels are refused by the header, before anything is decoded; only the
  formats of `FORMATS` are ever tried, so that no file starts another program.

A folder is looked through with its sub-folders, in the order of the names. Hidden files are
left aside. Whatever has an ending of an image, or begins like one, counts as an image. A link
to a file is followed inside the folder only; a link to a folder never: its images are there
already, or outside. Archives, DICOM and camera files are listed with what to do. A file that
cannot be used is listed, and never stops the others.
"""

import hashlib
import os
import stat
import struct
import warnings
import zlib
from collections.abc import Container, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

import numpy as np

from equipoise.clean.collection import (
    SEPARATOR,
    Collection,
    ImageSource,
    Pixels,
)
from equipoise.clean.detector import require_packages, silent
from equipoise.read.files import AnyPath, file_sha256
from equipoise.types import InputError, Names, Progress, immutable, notice, short_repr

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

Kind = Literal["image", "archive", "foreign", "other"]
MOST_PIXELS = 50_000_000
FORMATS = (
    "AVIF", "BMP", "GIF", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP",
)  # fmt: skip
ENDINGS = (
    ".avif", ".bmp", ".dib", ".gif", ".j2k", ".jfif", ".jp2", ".jpe", ".jpeg", ".jpg", ".mpo",
    ".pbm", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp",
)  # fmt: skip
ARCHIVES = (".7z", ".bz2", ".rar", ".tar", ".tar.gz", ".tgz", ".xz", ".zip", ".zst")
_FOREIGN = {
    **dict.fromkeys((".dcm", ".dicom"), "a DICOM file"),
    **dict.fromkeys((".heic", ".heif"), "a HEIF image"),
    **dict.fromkeys((".arw", ".cr2", ".cr3", ".dng", ".nef", ".orf", ".raf"), "a camera file"),
    **dict.fromkeys((".svs", ".ndpi", ".mrxs", ".scn"), "a whole-slide image"),
    **dict.fromkeys((".nii", ".nii.gz", ".nrrd", ".mha", ".mhd"), "a volume"),
}
_KINDS: tuple[tuple[Container[str], Kind], ...] = (
    (ENDINGS, "image"),
    (ARCHIVES, "archive"),
    (_FOREIGN, "foreign"),
)
_SIGNATURES = (
    *(b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*"),
    b"\x00\x00\x00\x0cjP  ",
)
_DEEP = ("I", "F", "I;16", "I;16L", "I;16B", "I;16N")
_FAILURES = (
    OSError, ValueError, SyntaxError, EOFError, TypeError, KeyError, IndexError, AttributeError,
    ArithmeticError, MemoryError, RuntimeError, AssertionError, struct.error, zlib.error,
)  # fmt: skip
_RULES = "1"  # changes whenever the rules above do, so that no embedding outlives them
_SPECIAL = "a pipe, socket or device"
_QUALITY = 85  # of thumbnails


@immutable(eq=False)
class ArrayImages:
    """Images in memory, all of one size.

    Attributes
    ----------
    array
        Eight bits, shape (images, height, width), or with 3 channels (RGB) or 4 (RGBA).

    Examples
    --------
    >>> ArrayImages(np.zeros((2, 8, 8), np.uint8)).rgb(0).shape
    (8, 8, 3)
    """

    array: Pixels

    __repr__ = short_repr

    def __post_init__(self) -> None:
        shape = np.shape(self.array)
        fits = len(shape) == 3 or (len(shape) == 4 and shape[3] in (3, 4))
        if not fits or np.asarray(self.array).dtype != np.uint8 or 0 in shape[1:]:
            raise InputError(
                "images",
                f"{np.asarray(self.array).dtype} of shape {shape}",
                "uint8 of shape (images, height, width) with 3 or 4 channels, or without",
                "scale them to 0 to 255 and put channels last",
            )

    def __len__(self) -> int:
        return len(self.array)

    def rgb(self, place: int) -> Pixels:
        """One image as RGB; transparent parts on white."""
        pixels = self.array[place]
        if pixels.ndim == 2:
            return np.repeat(pixels[:, :, None], 3, axis=2)
        if pixels.shape[2] == 3:
            return np.array(pixels)
        from PIL import Image

        return _pixels(Image.fromarray(pixels))

    def digest(self, place: int) -> str:
        """The SHA-256 of shape and values."""
        pixels = np.ascontiguousarray(self.array[place])
        return hashlib.sha256(repr(pixels.shape).encode() + pixels.tobytes()).hexdigest()


@immutable(eq=False)
class FileImages:
    """Images in files of one folder, read when they are asked for.

    Attributes
    ----------
    root
        The folder.
    paths
        Of the files inside it, with forward slashes.
    """

    root: Path
    paths: Names

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.paths)

    def rgb(self, place: int) -> Pixels:
        """One image, by the rules of this module; refused where they refuse it."""
        name = self.paths[place]
        return read_image(_path_inside(Path(self.root), name), name)

    def digest(self, place: int) -> str:
        """The SHA-256 of the file, and of the rules by which it is read."""
        path = _path_inside(Path(self.root), self.paths[place])
        return hashlib.sha256(f"{_RULES} {file_sha256(path)}".encode()).hexdigest()


def read_image(path: AnyPath, name: str = "") -> Pixels:
    """Read a file as upright RGB of eight bits; the module says by which rules.

    Parameters
    ----------
    name
        What messages call the file; its path otherwise.
    """
    return _decode(Path(path), name or str(path))[0]


def thumbnail(source: ImageSource, place: int, size: int) -> bytes:
    r"""One image as a JPEG that fits into a square of `size` pixels.

    Images that would fit several times are enlarged a whole number of times, pixel by pixel.

    Examples
    --------
    >>> thumbnail(ArrayImages(np.zeros((1, 8, 8), np.uint8)), 0, 64)[:3]
    b'\xff\xd8\xff'
    """
    from PIL import Image

    image = Image.fromarray(source.rgb(place))
    times = size // max(image.size)
    if times > 1:
        image = image.resize(
            (image.width * times, image.height * times), Image.Resampling.NEAREST
        )
    image.thumbnail((size, size), Image.Resampling.LANCZOS)
    out = BytesIO()
    image.save(out, "JPEG", quality=_QUALITY, subsampling=0)
    return out.getvalue()


def look_through(folder: AnyPath, *, progress: Progress = silent) -> Collection:
    """Find the images of a folder, in the order of their names, and try to read every one."""
    require_packages("images", ("PIL",))
    root = Path(folder).resolve()
    if not root.is_dir():
        raise InputError(
            str(folder),
            "a file" if root.exists() else "no such folder",
            "a folder of images",
            "check the path",
        )
    rejected: list[InputError] = []
    named = sorted(_walk(root, "", rejected))
    candidates = [name for name, kind in named if kind == "image"]
    paths, several = [], 0
    for number, name in enumerate(candidates):
        try:
            _, frames = _decode(_path_inside(root, name), name, trial=True)
        except InputError as error:
            rejected.append(error)
        else:
            paths.append(name)
            several += frames
        progress(number + 1, len(candidates))
    counts = (
        ("files_rejected", "cannot be used, see the list.", len(rejected)),
        ("first_frame", "have several frames or pages; the first one counts.", several),
        ("no_images", "are no images and left aside.", sum(k == "other" for _, k in named)),
    )
    return Collection(
        items=tuple(paths),
        images=FileImages(root, tuple(paths)),
        rejected=tuple(sorted(rejected, key=lambda error: error.where)),
        notices=tuple(
            notice(code, f"{{files:count}} files {text}", files=files)
            for code, text, files in counts
            if files
        ),
    )


def _walk(root: Path, under: str, rejected: list[InputError]) -> Iterator[tuple[str, Kind]]:
    """Files of a folder and its sub-folders with what they are; what is unusable is listed."""
    try:
        entries = list(os.scandir(root / under))
    except OSError as error:
        rejected.append(
            _refusal(under or ".", f"cannot be opened ({error.strerror})", "allow reading it")
        )
        return
    for entry in entries:
        name = f"{under}{entry.name}"
        if entry.name.startswith(".") or entry.name == "__MACOSX":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, f"{name}/", rejected)
            continue
        trouble = _why_unusable(root, name)
        if trouble is not None:
            rejected.append(trouble)
            continue
        kind = _kind(root / name)
        if kind == "archive":
            rejected.append(_refusal(name, "an archive", "unpack it into the folder"))
        elif kind == "foreign":
            what = _FOREIGN.get(_ending(name), "a DICOM file")
            rejected.append(_refusal(name, what, "convert it to PNG or JPEG"))
        else:
            yield name, kind


def _why_unusable(root: Path, name: str) -> InputError | None:
    """Why a file must not be opened, or cannot be named."""
    path = root / name
    try:
        name.encode()
        target = path.resolve(strict=True)
        mode = target.stat().st_mode
    except UnicodeEncodeError:
        shown = name.encode(errors="replace").decode()
        return _refusal(shown, "a name that is no text", "rename the file")
    except (OSError, RuntimeError) as error:
        if path.is_symlink():
            return _refusal(name, "a link to nothing, or to itself", "mend or remove it")
        return _refusal(name, f"cannot be opened ({error})", "allow reading it")
    if SEPARATOR in name:
        got = f"a name with {SEPARATOR!r}, which stands between the items of a pair"
        return _refusal(name, got, "rename the file")
    if not target.is_relative_to(root):
        return _refusal(name, "a link out of the folder", "copy the file into the folder")
    if target.is_dir():
        do = "remove it: its images are read where they are"
        return _refusal(name, "a link to a folder", do)
    return None if stat.S_ISREG(mode) else _refusal(name, _SPECIAL, "remove it")


def _ending(name: str) -> str:
    """The ending in lower case, with that before ``.gz``."""
    endings = PurePosixPath(name.lower()).suffixes
    return "".join(endings[-2:] if endings[-1:] == [".gz"] else endings[-1:])


def _kind(path: Path) -> Kind:
    """What a file is, by its ending, or else by how it begins."""
    ending = _ending(path.name)
    for endings, kind in _KINDS:
        if ending in endings:
            return kind
    try:
        with path.open("rb") as file:
            start = file.read(132)
    except OSError:
        return "other"
    if start.startswith(_SIGNATURES) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP"):
        return "image"
    if start.startswith(b"PK\x03\x04") and not ending:
        return "archive"
    return "foreign" if start[128:132] == b"DICM" else "other"


def _refusal(name: str, got: str, do: str) -> InputError:
    return InputError(name, got, "a readable image", do)


def _path_inside(root: Path, name: str) -> Path:
    """The path of a file of a folder; refused where it leads out of the folder."""
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise InputError(name, "a path out of the folder", "one inside it", "copy the file")
    return path


def _decode(path: Path, name: str, *, trial: bool = False) -> tuple[Pixels, bool]:
    """An image, and whether its file has several frames, or a refusal.

    For a trial, a JPEG is decoded at an eighth of its size.
    """
    from PIL import Image, UnidentifiedImageError

    do = "export it again, or leave it out"
    try:
        if not path.stat().st_size:
            raise InputError(name, "an empty file", "a readable image", "fetch it again")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's remarks on metadata
            Image.init()
            formats = [
                name for name in FORMATS if name in Image.OPEN
            ]  # by this build of Pillow
            with Image.open(path, formats=formats) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise _too_large(name, f"{image.width} x {image.height} pixels")
                if trial:
                    image.draft("RGB", (max(image.width // 8, 1), max(image.height // 8, 1)))
                several = bool(getattr(image, "is_animated", False))
                image.seek(0)
                image.load()
                return _pixels(_turn_upright(image), name), several
    except Image.DecompressionBombError as error:
        raise _too_large(name, "far more than 50 megapixels") from error
    except InputError:
        raise
    except UnidentifiedImageError as error:
        got = "not an image, or of an unknown format"
        raise InputError(name, got, f"one of {', '.join(FORMATS)}", do) from error
    except _FAILURES as error:
        words = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(name, f"damaged or cut off ({words})", "a whole image", do) from error


def _too_large(name: str, got: str) -> InputError:
    return InputError(name, got, "at most 50 megapixels", "make it smaller, or leave it out")


def _turn_upright(image: "PillowImage") -> "PillowImage":
    """An image turned by its EXIF orientation; as stored where that cannot be read."""
    from PIL import ImageOps

    try:
        return ImageOps.exif_transpose(image)
    except _FAILURES:
        return image


def _pixels(image: "PillowImage", name: str = "image") -> Pixels:
    """An image of any mode as RGB of eight bits."""
    from PIL import Image

    if image.mode in _DEEP:
        grey = _stretch_to_bytes(np.asarray(image), name)
        return np.repeat(grey[:, :, None], 3, axis=2)
    if image.has_transparency_data or image.mode in ("PA", "La", "RGBa"):
        above = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", above.size, "white"), above)
    if image.mode == "LAB":
        image = _from_lab(image)
    return np.array(image.convert("RGB"))


def _from_lab(image: "PillowImage") -> "PillowImage":
    from PIL import ImageCms

    lab, rgb = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    converted = ImageCms.profileToProfile(image, lab, rgb, outputMode="RGB")
    return image if converted is None else converted


def _stretch_to_bytes(
    values: np.ndarray[tuple[int, ...], np.dtype[np.generic]], name: str
) -> Pixels:
    """A deep channel as eight bits: its smallest finite value becomes 0, its largest 255."""
    deep = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(deep)
    if not finite.any():
        raise InputError(name, "no finite value", "numbers", "leave the file out")
    low, high = deep[finite].min(), deep[finite].max()
    share = (np.where(finite, deep, low) - low) / (high - low if high > low else 1.0)
    return np.asarray(np.rint(share * 255), dtype=np.uint8)
