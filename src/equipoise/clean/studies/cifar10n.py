"""CIFAR-10N: 10,000 CIFAR-10 training images with three human labels each, and two questions.

The data answer two questions that are easily taken for one another:

- ``cifar10n-wrong-labels``: an image carries the aggregate label of its three human readers; is
  that label wrong? The truth is known: it is wrong where it differs from the label of CIFAR-10.
- ``cifar10n-disagreement``: an image carries the label of CIFAR-10; do people disagree with it?
  Each of the three human labels is a vote, yes where it differs. The three columns of labels
  are slots, not persons, so that votes are anonymous.

Embeddings are features of EfficientNet-Lite2 at 128 pixels (1280, not normalised).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from equipoise.clean.collection import Collection, JudgedCollection, Pixels, known_truth
from equipoise.clean.images import ArrayImages
from equipoise.datasets import File, Source, fetched
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import Bools, Floats, Ints
from equipoise.types.words import Nouns

SOURCE = Source(
    name="cifar10n",
    title="10,000 CIFAR-10 training images, three human labels each, 10 classes",
    files={
        "images_10k.npz": File(
            "", "b94f6b5e58536cc5d814822cf723e25b852498fadcdab6a19a5e5fd3f4592b70"
        ),
        "features_10k.npz": File(
            "", "6398bb239dba41ed0d4465b9065043ce24aa8f3cf3638de3b024bdadc2f31295"
        ),
    },
    licence="CC BY-NC 4.0",
    citation="Wei et al. (2022), Learning with noisy labels revisited",
    references=("wei2022",),
    nouns=Nouns("image", "annotator"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Cifar10N:
    """The images with everything that was said of them.

    Attributes
    ----------
    items
        Numbers of the images in the CIFAR-10 training set.
    images, embeddings
        Shape (items, 32, 32, 3), and (items, features).
    classes
        Names of the ten classes.
    clean, aggregate
        Labels of CIFAR-10, and of the majority of three people (one of theirs at random where
        all three differ), shape (items,).
    slots
        The three human labels, shape (items, 3).
    """

    items: tuple[str, ...]
    images: Pixels
    embeddings: Floats
    classes: tuple[str, ...]
    clean: Ints
    aggregate: Ints
    slots: Ints

    @property
    def wrong(self) -> Bools:
        """Whether the aggregate label differs from that of CIFAR-10."""
        return np.asarray(self.aggregate != self.clean)

    def collection(self, labels: Ints) -> Collection:
        """What detectors see when images carry these labels."""
        return Collection(
            items=self.items,
            embeddings=self.embeddings,
            images=ArrayImages(self.images),
            labels=labels,
            classes=self.classes,
        )

    def known_errors(self) -> Annotations:
        """Which aggregate labels are wrong, as known truth."""
        return known_truth(self.items, self.wrong)

    def disagreement(self) -> Annotations:
        """Three anonymous votes per image on whether the label of CIFAR-10 is wrong."""
        differs = self.slots != self.clean[:, None]
        return Annotations(
            kind="binary",
            items=self.items,
            classes=("no", "yes"),
            item=np.repeat(np.arange(len(self.items)), differs.shape[1]),
            label=differs.ravel().astype(np.int64),
        )


def load_cifar10n() -> Cifar10N:
    """Read images, labels and features, put together by the number of the image."""
    folder = fetched(SOURCE)
    with np.load(folder / "images_10k.npz", allow_pickle=False) as seen:
        columns: Mapping[str, Ints] = {
            name: seen[name].astype(np.int64)
            for name in ("clean_label", "aggre_label", "worker_labels", "index")
        }
        images, classes = seen["images"], tuple(map(str, seen["class_names"]))
    with np.load(folder / "features_10k.npz", allow_pickle=False) as archive:
        place = {number: row for row, number in enumerate(archive["index"].tolist())}
        features = archive["features"].astype(np.float32)
    return Cifar10N(
        items=tuple(map(str, columns["index"].tolist())),
        images=images,
        embeddings=features[[place[number] for number in columns["index"].tolist()]],
        classes=classes,
        clean=columns["clean_label"],
        aggregate=columns["aggre_label"],
        slots=columns["worker_labels"],
    )


def wrong_labels() -> JudgedCollection:
    """Question A: which human labels are wrong?"""
    data = load_cifar10n()
    question = "which human labels are wrong?"
    return _study(
        "wrong-labels", question, data.collection(data.aggregate), data.known_errors()
    )


def disagreement() -> JudgedCollection:
    """Question B: on which images do people disagree with the label of CIFAR-10?"""
    data = load_cifar10n()
    question = "on which images do people disagree with the label?"
    return _study("disagreement", question, data.collection(data.clean), data.disagreement())


def _study(name: str, question: str, seen: Collection, votes: Annotations) -> JudgedCollection:
    return JudgedCollection(
        name=f"cifar10n-{name}",
        title=f"CIFAR-10N: {question}",
        collection=seen,
        truths={"label_errors": votes},
        source=SOURCE,
        nouns=SOURCE.nouns,
    )
