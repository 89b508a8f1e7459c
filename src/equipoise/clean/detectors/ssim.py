r"""SSIM: how alike two images are in brightness, contrast and structure, window by window.

The mean over all windows of 7 x 7 pixels (scikit-image takes odd windows; CleanPatrick says
8 x 8) of

.. math:: \frac{(2 \mu_a \mu_b + C_1)(2 \sigma_{ab} + C_2)}
          {(\mu_a^2 + \mu_b^2 + C_1)(\sigma_a^2 + \sigma_b^2 + C_2)}

from -1 to 1. Images are compared in grey as squares of ``size`` pixels, or of the shorter side
of the smaller image where that is less: nothing is enlarged, except to the width of a window.

The pairs of the collection are scored. Without any, every image proposes the ``k`` whose
thumbnails of 8 x 8 pixels, less their mean brightness, are nearest by cosine; a copy that was
turned or mirrored is not proposed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equipoise.clean.collection import Collection, ImageSource, Pairs, Pixels
from equipoise.clean.detector import Detector, Need, Progress, Task, tell
from equipoise.clean.detectors._pairs import pairs_to_score
from equipoise.clean.neighbours import neighbours
from equipoise.types.arrays import Floats, InputError, Ints, require_whole
from equipoise.types.predictions import Predictions

REMEMBERED = 4096  # images at most that are kept in memory
THUMBNAIL = 8
Grey = NDArray[np.uint8]  # (side, side)


@dataclass(frozen=True)
class Ssim(Detector):
    """Mean structural similarity.

    Attributes
    ----------
    size
        Side of the squares that are compared, at most, in pixels.
    window
        Side of a window, odd.
    k
        How many images each image proposes where no pairs are given.
    """

    name: ClassVar[str] = "ssim"
    title: ClassVar[str] = "SSIM"
    task: ClassVar[Task] = "near_duplicates"
    needs: ClassVar[tuple[Need, ...]] = ("images",)
    packages: ClassVar[tuple[str, ...]] = ("skimage", "PIL")
    references: ClassVar[tuple[str, ...]] = ("wang2004",)
    size: int = 128
    window: int = 7
    k: int = 5

    def __post_init__(self) -> None:
        require_whole(f"detector {self.name}, k", self.k, least=1, do="try 5")
        require_whole(f"detector {self.name}, window", self.window, least=3, do="try 7")
        if self.window % 2 == 0 or self.size < self.window:
            raise InputError(
                f"detector {self.name}, window",
                f"{self.window} pixels of {self.size}",
                "an odd number, at most the size",
                "try a window of 7 and a size of 128",
            )

    def score(
        self, data: Collection, *, seed: int = 0, progress: Progress | None = None
    ) -> Predictions:
        """The mean over windows, for the pairs given or for those proposed."""
        del seed
        self.check(data)
        assert data.images is not None
        images = data.images

        def nearest(order: Ints) -> Ints:
            return neighbours(_thumbnails(images, order, progress), self.k)[1]

        pairs = pairs_to_score(data, nearest, f"detector {self.name}")
        values = self._similarities(images, pairs, progress)
        return self.of_items(pairs.names(data.items), values)

    def _similarities(
        self, images: ImageSource, pairs: Pairs, progress: Progress | None
    ) -> Floats:
        """Of every pair, worked on by first image so that few images are read twice."""
        from skimage.metrics import structural_similarity

        compare: Callable[..., float] = structural_similarity

        @lru_cache(maxsize=REMEMBERED)
        def grey(place: int) -> Grey:
            pixels = images.rgb(place)
            return _grey(pixels, max(min(self.size, *pixels.shape[:2]), self.window))

        made = np.empty(len(pairs))
        for done, pair in enumerate(np.lexsort((pairs.second, pairs.first)).tolist()):
            one, two = grey(int(pairs.first[pair])), grey(int(pairs.second[pair]))
            side = min(len(one), len(two))
            made[pair] = compare(
                _grey(one, side), _grey(two, side), win_size=self.window, data_range=255
            )
            tell(progress, done + 1, len(pairs))
        return made


def _grey(pixels: Pixels | Grey, side: int) -> Grey:
    """An image in grey, as a square of so many pixels."""
    from PIL import Image

    if pixels.shape == (side, side):
        return pixels
    picture = Image.fromarray(pixels).convert("L")
    return np.asarray(picture.resize((side, side), Image.Resampling.BOX), dtype=np.uint8)


def _thumbnails(images: ImageSource, order: Ints, progress: Progress | None) -> Floats:
    """Small images without their mean brightness; one feature more, so that none is zero."""
    made = np.ones((len(order), THUMBNAIL**2 + 1))
    for done, place in enumerate(order.tolist()):
        small = _grey(images.rgb(place), THUMBNAIL).ravel().astype(np.float64)
        made[done, 1:] = small - small.mean()
        tell(progress, done + 1, len(order))
    return made
