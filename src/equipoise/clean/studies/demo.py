"""A small study that needs nothing but the installed package.

The pictures are real: 500 of the hand-written digits that scikit-learn brings along, enlarged
to 32 pixels, and grey patches of its two photographs as what does not belong. The problems are
planted (`equipoise.clean.planting`), and the votes on them simulated: an annotator of skill
s and leaning l says yes to item i with log-odds +-s exp(0.4 z_i) + l, plus for problems and
minus for others, where z_i ~ N(0, 1) is how easy the item is. Embeddings are the pictures
themselves, 8 x 8 and grey.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from equipoise.clean.collection import TASKS, Collection, JudgedCollection, Pixels
from equipoise.clean.detector import require_packages
from equipoise.clean.encoders import GreyPixels
from equipoise.clean.images import ArrayImages
from equipoise.clean.planting import Alteration, Copies, Flips, OffTopic, contaminate
from equipoise.types import Annotations, Bools, Floats, Names

_PER_CLASS, _SIDE, _PATCH = 50, 32, 64
_SPREAD = 0.4  # of how easy items are
_ALTERATIONS = (
    Alteration("jpeg", 0.7),
    Alteration("crop", 0.2),
    Alteration("resize", 0.6),
    Alteration("rotate", 0.2),
    Alteration("mirror", 1.0),
    Alteration("brightness", 0.6),
    Alteration("noise", 0.4),
    Alteration("blur", 0.6),
)


_CROWD = {  # skill and leaning
    "annotator 1": (6.0, 0.0),
    "annotator 2": (5.5, -0.4),
    "annotator 3": (5.0, 0.3),
    "annotator 4": (4.5, -0.2),
    "annotator 5": (4.0, 0.0),
    "annotator 6": (3.5, 0.4),
    "annotator 7": (3.0, -0.3),
}
_People = Mapping[str, tuple[float, float]]


def load_demo(seed: int = 0) -> JudgedCollection:
    """Make the study.

    Examples
    --------
    >>> study = load_demo()
    >>> len(study.collection), sorted(study.truths)
    (623, ['label_errors', 'near_duplicates', 'off_topic'])
    """
    require_packages("study demo", ("PIL",))
    planted = contaminate(
        _digits(seed),
        off_topic=OffTopic(share=0.06, source=_patches(seed)),
        copies=Copies(share=0.12, alterations=_ALTERATIONS, largest=3, hard=2, random=1.0),
        flips=Flips(share=0.1, kind="feature", verified=0.2),
        encoder=GreyPixels(8),
        seed=seed,
    )
    truths = {}
    for number, task in enumerate(TASKS):
        gold = planted.truths[task]
        assert gold.label is not None
        truth = np.asarray(gold.label == 1)
        random = np.random.default_rng([seed, 11, number])
        ease = np.exp(_SPREAD * random.standard_normal(len(truth)))
        votes = _simulated_votes(truth, ease, _CROWD, random)
        truths[task] = _votes(gold.items, votes, _CROWD)
    return replace(
        planted,
        name="demo",
        title="Hand-written digits with planted problems and simulated votes",
        truths=truths,
        simulated=f"{planted.simulated} The votes of seven annotators are simulated; "
        "the pictures are real.",
    )


def _digits(seed: int) -> Collection:
    """Fifty digits of every class."""
    from sklearn.datasets import load_digits

    data = load_digits()
    random = np.random.default_rng([seed, 12])
    chosen = [
        random.choice(np.flatnonzero(data.target == digit), _PER_CLASS, replace=False)
        for digit in range(10)
    ]
    rows = np.sort(np.concatenate(chosen))
    values = np.rint(data.images[rows] * (255 / 16)).astype(np.uint8)
    parts = np.where(random.random(len(rows)) < 0.8, "train", "test")
    return Collection(
        items=tuple(f"digit-{row:04d}" for row in rows),
        images=ArrayImages(_enlarge(values)),
        labels=data.target[rows].astype(np.int64),
        classes=tuple(str(digit) for digit in range(10)),
        split=tuple(parts.tolist()),
    )


def _patches(seed: int) -> Collection:
    """Grey patches of two photographs, each from black to white."""
    from sklearn.datasets import load_sample_images

    random = np.random.default_rng([seed, 13])
    patches = []
    for photograph in load_sample_images().images:
        grey = photograph.mean(axis=2)
        for _ in range(20):
            top, left = (int(random.integers(0, side - _PATCH)) for side in grey.shape)
            patch = grey[top : top + _PATCH, left : left + _PATCH]
            span = max(float(np.ptp(patch)), 1.0)
            patches.append(np.rint((patch - patch.min()) / span * 255).astype(np.uint8))
    items = tuple(f"patch-{number:02d}" for number in range(len(patches)))
    return Collection(items=items, images=ArrayImages(_enlarge(np.stack(patches))))


def _enlarge(pictures: Pixels) -> Pixels:
    from PIL import Image

    size = (_SIDE, _SIDE)
    resized = [
        Image.fromarray(picture).resize(size, Image.Resampling.BICUBIC) for picture in pictures
    ]
    return np.stack([np.asarray(picture) for picture in resized])


def _simulated_votes(
    truth: Bools, ease: Floats, people: _People, random: np.random.Generator
) -> Bools:
    """Who says yes to what, shape (people, items)."""
    skill, leaning = np.array(list(people.values())).T[:, :, None]
    odds = skill * ease * np.where(truth, 1.0, -1.0) + leaning
    return np.asarray(random.random(odds.shape) < 1 / (1 + np.exp(-odds)))


def _votes(items: Names, yes: Bools, people: _People) -> Annotations:
    annotator, item = (axis.ravel() for axis in np.indices(yes.shape))
    return Annotations(
        kind="binary",
        items=items,
        classes=("no", "yes"),
        annotators=tuple(people),
        item=item,
        annotator=annotator,
        label=yes.ravel().astype(np.int64),
    )
