"""Corruptions: images as a bad acquisition would give them, for out-of-distribution detection.

A corruption takes 8-bit images (items, height, width, channels), a severity from 0 (almost
unchanged) to 1, at which next to nothing is left to see (of a turned image all is left, only
elsewhere), and a stream of random numbers; the same stream gives the same bytes.

`calibrate` finds, for each corruption, the least severity at which the validation AUROC of
given models falls by a chosen share (default 20 %, as the paper's "about 20 %"; relative to the
AUROC itself): on a grid, since a fall need not grow with severity (a half turn keeps left and
right lungs beside each other, a quarter turn does not), then by bisection. Where none does, the
severity with the largest fall is taken, and ``reached`` is false. `corrupt_all` gives every
image one corruption, in turn over a random order, so that there are as many corrupted as clean
images.

The AUROC, here and in early stopping, is the macro average over labels: for each the share
of (positive, negative) pairs in which the positive scores higher, ties counting half (from
mid-ranks). A label without both is undefined and left out of the mean, and so are labels of an
image that are -1 or blank.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equipoise.inference import mid_ranks
from equipoise.read import codec
from equipoise.types import Floats, InputError, ItemsByClasses, immutable, require_number
from equipoise.uq.training.data import Images, Words


def label_aurocs(scores: ItemsByClasses, labels: ItemsByClasses) -> Floats:
    """AUROC per label, nan where undefined.

    Examples
    --------
    >>> label_aurocs(np.array([[0.9], [0.2], [0.2], [0.7]]), np.array([[1], [0], [1], [-1]]))
    array([0.75])
    """
    values = np.full(labels.shape[1], np.nan)
    for label in range(labels.shape[1]):
        judged = np.isin(labels[:, label], (0, 1))
        truth, score = labels[judged, label] == 1, scores[judged, label]
        positives, negatives = int(truth.sum()), int((~truth).sum())
        if not positives or not negatives:
            continue
        below = mid_ranks(score)[truth].sum() - positives * (positives + 1) / 2
        values[label] = below / (positives * negatives)
    return values


def macro_auroc(scores: ItemsByClasses, labels: ItemsByClasses) -> float:
    """Mean AUROC of the labels that have one, nan if none has."""
    return macro(label_aurocs(scores, labels))


def macro(values: Floats) -> float:
    """Mean over the labels whose value is defined, nan if none is."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


Random = np.random.Generator
Corruption = Callable[[Floats, float, Random], Floats]
_GRID = 16  # severities that are tried
_AGAIN = "remove the file to calibrate anew"
_STEPS = 4  # of bisection between two of them: severities to within 1/256


def gaussian_noise(images: Floats, severity: float, random: Random) -> Floats:
    """Independent noise of a standard deviation up to eight times the grey range."""
    return images + 8 * severity**2 * random.standard_normal(images.shape, np.float32)


def motion_blur(images: Floats, severity: float, random: Random) -> Floats:
    """The mean along a line of up to twice the height, in one of four directions per image.

    Across it the image shakes by half as much.
    """
    directions = np.array([(0, 1), (1, 0), (1, 1), (1, -1)])
    across = directions[[1, 0, 3, 2]]
    chosen, height = random.integers(0, 4, len(images)), images.shape[1]
    blurred = np.empty_like(images)
    for code in range(4):
        rows = np.flatnonzero(chosen == code)
        along = _smeared(images[rows], directions[code], max(1, round(severity * height)))
        blurred[rows] = _smeared(along, across[code], round(severity * height / 2))
    return blurred


def _smeared(images: Floats, direction: NDArray[np.int64], steps: int) -> Floats:
    """The mean of images moved by up to some steps either way."""
    total = np.zeros_like(images)
    for step in range(-steps, steps + 1):
        total += _moved(images, *(direction * step))
    return total / (2 * steps + 1)


def vignette(images: Floats, severity: float, random: Random) -> Floats:
    """Darker away from a centre that varies, up to a spot in the dark."""
    y, x = _grid(images)
    centre = random.uniform(-0.2, 0.2, (2, len(images), 1, 1))
    far = (y - centre[0]) ** 2 + (x - centre[1]) ** 2
    return images * np.exp(-100 * severity**2 * far)[..., None].astype(np.float32)


def occlusion(images: Floats, severity: float, random: Random) -> Floats:
    """A black rectangle that covers up to the whole of each side."""
    y, x = _grid(images)
    half = np.minimum(1, severity * random.uniform(1.0, 1.1, (2, len(images), 1, 1)))
    centre = random.uniform(-1, 1, (2, len(images), 1, 1)) * (1 - half)
    hidden = (np.abs(y - centre[0]) <= half[0]) & (np.abs(x - centre[1]) <= half[1])
    return np.where(hidden[..., None], np.float32(0), images)


def low_contrast(images: Floats, severity: float, random: Random) -> Floats:
    """Grey values drawn towards the image's mean, up to a thirtieth of their spread."""
    del random
    mean = images.mean((1, 2), keepdims=True)
    return mean + (images - mean) * np.float32(30.0**-severity)


def pixelation(images: Floats, severity: float, random: Random) -> Floats:
    """Squares of equal grey, up to the whole height, their grid at random."""
    size = max(1, round(1 + severity * (images.shape[1] - 1)))
    start = random.integers(0, size, (2, len(images)))
    coarse = np.empty_like(images)
    for item, image in enumerate(images):
        groups = [
            (np.arange(n) + s) // size
            for n, s in zip(image.shape[:2], start[:, item], strict=True)
        ]
        rows, columns = (np.eye(g[-1] + 1, dtype=np.float32)[g] for g in groups)
        rows_mean, columns_mean = (members / members.sum(0) for members in (rows, columns))
        cells = np.einsum("yr,yxc,xk->rkc", rows_mean, image, columns_mean)
        coarse[item] = cells[groups[0]][:, groups[1]]
    return coarse


def rotation(images: Floats, severity: float, random: Random) -> Floats:
    """Turned by up to 180 degrees either way, nearest pixel, black outside."""
    y, x = _grid(images)
    height, width = images.shape[1:3]
    sign = random.choice([-1.0, 1.0], len(images))
    angle = (np.pi * severity * sign * random.uniform(0.8, 1.0, len(images)))[:, None, None]
    rows = np.rint(((np.cos(angle) * y - np.sin(angle) * x) + 1) * (height - 1) / 2).astype(int)
    columns = np.rint(((np.sin(angle) * y + np.cos(angle) * x) + 1) * (width - 1) / 2)
    columns = columns.astype(int)
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    item = np.arange(len(images))[:, None, None]
    turned = images[item, rows.clip(0, height - 1), columns.clip(0, width - 1)]
    return np.where(inside[..., None], turned, np.float32(0))


def overexposure(images: Floats, severity: float, random: Random) -> Floats:
    """Brighter by a gamma down to a five-hundredth, so that structure is lost in white."""
    del random
    return images ** np.float32(500.0**-severity)


CORRUPTIONS: dict[str, Corruption] = {
    "gaussian_noise": gaussian_noise,
    "motion_blur": motion_blur,
    "vignette": vignette,
    "occlusion": occlusion,
    "low_contrast": low_contrast,
    "pixelation": pixelation,
    "rotation": rotation,
    "overexposure": overexposure,
}


def _grid(images: Floats) -> tuple[Floats, Floats]:
    """Rows and columns from -1 to 1."""
    height, width = images.shape[1:3]
    return np.linspace(-1, 1, height)[:, None], np.linspace(-1, 1, width)[None]


def _moved(images: Floats, down: int, right: int) -> Floats:
    """Images moved, their edges repeated."""
    height, width = images.shape[1:3]
    rows = (np.arange(height) - down).clip(0, height - 1)
    columns = (np.arange(width) - right).clip(0, width - 1)
    return images[:, rows][:, :, columns]


def corrupt(images: Images, name: str, severity: float, *, seed: int = 0) -> Images:
    """Images with one corruption.

    Examples
    --------
    >>> grey = np.full((1, 16, 16, 1), 100, np.uint8)
    >>> bool(corrupt(grey, "vignette", 0.5).min() < 100)
    True
    """
    require_number("severity", severity, above=-1e-12, below=1 + 1e-12)
    random = np.random.default_rng([seed, list(CORRUPTIONS).index(name)])
    changed = CORRUPTIONS[name](images.astype(np.float32) / 255, severity, random)
    return np.rint(np.clip(changed, 0, 1) * 255).astype(np.uint8)


@immutable
class Severity:
    """How severe a corruption was made, and what it did to the AUROC.

    Attributes
    ----------
    auroc, clean
        Macro AUROC of the corrupted and of the clean validation images.
    fall
        1 - auroc / clean.
    reached
        Whether some severity lowers it by the share asked for.
    goal
        That share.
    """

    corruption: str
    severity: float
    auroc: float
    clean: float
    fall: float
    reached: bool
    goal: float = 0.2


def calibrate(
    auroc_of: Callable[[Images], float],
    images: Images,
    *,
    drop: float = 0.2,
    names: Sequence[str] = tuple(CORRUPTIONS),
    seed: int = 0,
) -> tuple[Severity, ...]:
    """The severities at which an AUROC falls by a share.

    Parameters
    ----------
    auroc_of
        The AUROC of models on (validation) images.
    """
    require_number("drop", drop, above=0, below=1, do="try 0.2")
    clean = auroc_of(images)
    chosen = []
    for name in names:

        def value(severity: float, name: str = name) -> float:
            return auroc_of(corrupt(images, name, severity, seed=seed))

        severity, auroc, reached = _first_fall(value, clean * (1 - drop))
        chosen.append(Severity(name, severity, auroc, clean, 1 - auroc / clean, reached, drop))
    return tuple(chosen)


def _first_fall(value: Callable[[float], float], aim: float) -> tuple[float, float, bool]:
    """The least severity at which a value is about an aim, else that of the least value."""
    tried: list[tuple[float, float]] = []
    for step in range(1, _GRID + 1):
        tried.append((step / _GRID, value(step / _GRID)))
        if tried[-1][1] <= aim:
            break
    else:
        return (*min(tried, key=lambda tried_value: tried_value[1]), False)
    low, high = (step - 1) / _GRID, step / _GRID
    near = tried[-1:]
    for _ in range(_STEPS):
        middle = (low + high) / 2
        near.append((middle, value(middle)))
        low, high = (low, middle) if near[-1][1] <= aim else (middle, high)
    return (*min(near, key=lambda tried_value: abs(tried_value[1] - aim)), True)


def assigned(items: int, names: Sequence[str] = tuple(CORRUPTIONS), *, seed: int = 0) -> Words:
    """Which corruption each of some images has, each equally often."""
    order = np.random.default_rng([seed, 77]).permutation(items)
    which = np.empty(items, dtype=f"<U{max(map(len, names))}")
    for place, name in enumerate(names):
        which[order[place :: len(names)]] = name
    return which


def corrupt_all(images: Images, severities: Mapping[str, float], *, seed: int = 0) -> Images:
    """Every image with one of the corruptions, each used equally often."""
    which = assigned(len(images), tuple(severities), seed=seed)
    changed = np.empty_like(images)
    for name, severity in severities.items():
        rows = np.flatnonzero(which == name)
        changed[rows] = corrupt(images[rows], name, severity, seed=seed + 1)
    return changed


def read_severities(path: Path) -> tuple[Severity, ...]:
    """The severities that a grid wrote."""
    return severities_in(codec.read_facts(path, _AGAIN).get("corruptions"), path.name)


def severities_in(rows: object, where: str) -> tuple[Severity, ...]:
    """The severities of plain rows; refused where they are none."""
    if not isinstance(rows, list):
        got = f"a {type(rows).__name__}"
        raise InputError(where, got, "a list of corruptions", _AGAIN)
    return tuple(codec.read(Severity, row, where) for row in rows)
