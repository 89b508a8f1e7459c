"""Pictures that a program alters or makes up, the same for the same seed.

Strength is in (0, 1]. With strength s an alteration

- ``jpeg`` saves with quality 95 - 85 s;
- ``crop`` cuts away the share 0.5 s of each side, anywhere;
- ``resize`` shrinks both sides to the share 1 - 0.75 s;
- ``rotate`` turns by 45 s degrees, left or right, the corners filled with the mean colour;
- ``mirror`` swaps left and right (strength is 1, there is no half of it);
- ``brightness`` multiplies by 1 - 0.6 s or 1 + 0.6 s;
- ``noise`` adds normal noise of standard deviation 64 s;
- ``blur`` smooths with a radius of 0.05 s of the shorter side, at least half a pixel.

Made up are ``noise`` (every value by itself), ``gradient`` (from one colour to another),
``text`` (lines of dark strokes on light ground) and ``blank`` (one colour).
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import NamedTuple

import numpy as np

from equipoise.clean.collection import ImageSource, Pixels
from equipoise.types import choice, require_number, short_repr

Random = np.random.Generator


@dataclass(frozen=True)
class Alteration:
    """How a copy differs from what it was copied from.

    Attributes
    ----------
    kind
        One of `ALTERATIONS`.
    strength
        In (0, 1].
    """

    kind: str
    strength: float = 0.5

    def __post_init__(self) -> None:
        choice("alteration", self.kind, tuple(ALTERATIONS))
        where = f"alteration {self.kind}, strength"
        require_number(where, self.strength, above=0, below=1 + 1e-9, do="try 0.5")
        if self.kind == "mirror":
            require_number(where, self.strength, above=1 - 1e-9, do="a mirror has strength 1")


def alter(pixels: Pixels, how: Alteration, random: Random) -> Pixels:
    """An altered copy of a picture."""
    return np.ascontiguousarray(ALTERATIONS[how.kind](pixels, how.strength, random))


def _jpeg(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image

    del random
    out = BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=round(95 - 85 * strength))
    return np.asarray(Image.open(out))


def _crop(pixels: Pixels, strength: float, random: Random) -> Pixels:
    high, wide = (max(1, round(side * (1 - strength / 2))) for side in pixels.shape[:2])
    top = int(random.integers(0, pixels.shape[0] - high + 1))
    left = int(random.integers(0, pixels.shape[1] - wide + 1))
    return pixels[top : top + high, left : left + wide]


def _resize(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image

    del random
    high, wide = (max(1, round(side * (1 - 0.75 * strength))) for side in pixels.shape[:2])
    return np.asarray(
        Image.fromarray(pixels).resize((wide, high), Image.Resampling.LANCZOS), dtype=np.uint8
    )


def _rotate(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image

    angle = 45 * strength * random.choice((-1, 1))
    fill = tuple(int(channel) for channel in pixels.mean(axis=(0, 1)).round())
    image = Image.fromarray(pixels)
    return np.asarray(image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=fill))


def _mirror(pixels: Pixels, strength: float, random: Random) -> Pixels:
    del strength, random
    return pixels[:, ::-1]


def _brightness(pixels: Pixels, strength: float, random: Random) -> Pixels:
    factor = 1 + 0.6 * strength * random.choice((-1, 1))
    return np.asarray(np.clip(np.rint(pixels * factor), 0, 255), dtype=np.uint8)


def _noise(pixels: Pixels, strength: float, random: Random) -> Pixels:
    noisy = pixels + random.normal(0, 64 * strength, pixels.shape)
    return np.asarray(np.clip(np.rint(noisy), 0, 255), dtype=np.uint8)


def _blur(pixels: Pixels, strength: float, random: Random) -> Pixels:
    from PIL import Image, ImageFilter

    del random
    radius = max(0.5, 0.05 * strength * min(pixels.shape[:2]))
    return np.asarray(Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(radius)))


ALTERATIONS: Mapping[str, Callable[[Pixels, float, Random], Pixels]] = {
    "jpeg": _jpeg,
    "crop": _crop,
    "resize": _resize,
    "rotate": _rotate,
    "mirror": _mirror,
    "brightness": _brightness,
    "noise": _noise,
    "blur": _blur,
}


def _made_noise(shape: tuple[int, int], random: Random) -> Pixels:
    return random.integers(0, 256, (*shape, 3), dtype=np.uint8)


def _made_gradient(shape: tuple[int, int], random: Random) -> Pixels:
    angle = random.uniform(0, 2 * np.pi)
    down, across = np.mgrid[0 : shape[0], 0 : shape[1]]
    along = np.cos(angle) * across + np.sin(angle) * down
    share = (along - along.min()) / max(float(np.ptp(along)), 1e-9)
    start, stop = random.uniform(0, 256, (2, 3))
    ramp = start + share[..., None] * (stop - start)
    return np.asarray(np.clip(ramp, 0, 255), dtype=np.uint8)


def _made_text(shape: tuple[int, int], random: Random) -> Pixels:
    high, wide = shape
    page = np.full((high, wide, 3), 245, np.uint8)
    line = max(3, high // 10)
    for top in range(line // 2, high, line):
        stroke = random.random((max(1, line * 2 // 3), wide)) < 0.55
        words = np.repeat(random.random(wide // 3 + 1) < 0.8, 3)[:wide]
        ink = (stroke & words)[: high - top]
        page[top : top + len(ink)][ink] = 30
    return page


def _made_blank(shape: tuple[int, int], random: Random) -> Pixels:
    return np.broadcast_to(random.integers(0, 256, 3, dtype=np.uint8), (*shape, 3)).copy()


MADE_UP: Mapping[str, Callable[[tuple[int, int], Random], Pixels]] = {
    "noise": _made_noise,
    "gradient": _made_gradient,
    "text": _made_text,
    "blank": _made_blank,
}


class PlantedItem(NamedTuple):
    """An item that is put in.

    Attributes
    ----------
    name
        Of the item.
    original
        Place of the item of which it is a copy, or -1.
    place
        Whose picture, or size, or embedding it starts from.
    alteration
        Of a copy.
    invented
        Kind of a picture that is made up.
    """

    name: str
    original: int
    place: int
    alteration: Alteration | None = None
    invented: str = ""

    @property
    def is_foreign(self) -> bool:
        """Whether it comes from another collection."""
        return self.original < 0 and not self.invented


@dataclass(frozen=True, eq=False)
class PlantedImages:
    """Pictures of a source, altered copies of them, and others; nothing is kept in memory.

    Attributes
    ----------
    source, other
        Where pictures come from, and where off-topic ones do, if from anywhere.
    planted
        What comes after the pictures of the source.
    seed
        Of all random numbers.
    """

    source: ImageSource
    other: ImageSource | None
    planted: tuple[PlantedItem, ...]
    seed: int

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.source) + len(self.planted)

    def rgb(self, place: int) -> Pixels:
        """One picture."""
        number = place - len(self.source)
        if number < 0:
            return self.source.rgb(place)
        how = self.planted[number]
        pixels = self._origin(how).rgb(how.place)
        random = np.random.default_rng([self.seed, number + 1])
        if how.invented:
            return MADE_UP[how.invented]((pixels.shape[0], pixels.shape[1]), random)
        return pixels if how.alteration is None else alter(pixels, how.alteration, random)

    def digest(self, place: int) -> str:
        """A hash of the source's picture and of what is done to it."""
        number = place - len(self.source)
        if number < 0:
            return self.source.digest(place)
        how = self.planted[number]
        digest = self._origin(how).digest(how.place)
        if how.is_foreign:
            return digest
        text = f"{digest} {how.alteration} {how.invented} {self.seed} {number + 1}"
        return hashlib.sha256(text.encode()).hexdigest()

    def _origin(self, how: PlantedItem) -> ImageSource:
        if not how.is_foreign:
            return self.source
        assert self.other is not None
        return self.other
