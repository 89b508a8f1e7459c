"""CIFAR-10H: about 51 human votes on each of the 10,000 CIFAR-10 test images, as counts."""

import numpy as np

from equipoise.datasets._store import Dataset, File, Source, fetched
from equipoise.types import Annotations, Nouns

CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)


def load_cifar10h() -> Dataset:
    """Load the counts; items are numbered as in the CIFAR-10 test set."""
    counts = np.load(fetched(SOURCE) / "cifar10h-counts.npy", allow_pickle=False)
    item, label = np.nonzero(counts)
    annotations = Annotations(
        kind="nominal",
        items=tuple(str(number) for number in range(len(counts))),
        classes=CLASSES,
        item=item,
        label=label,
        count=counts[item, label].astype(np.int64),
    )
    return Dataset(annotations, (), SOURCE)


SOURCE = Source(
    name="cifar10h",
    title="10,000 CIFAR-10 test images, about 51 anonymous votes each, 10 classes",
    files={
        "cifar10h-counts.npy": File(
            "https://raw.githubusercontent.com/jcpeterson/cifar-10h/"
            "597cbc5f07266c9405b830ee4a53463539124c4f/data/cifar10h-counts.npy",
            "9b36b4550349af56c79083356312eb4af856cc5fd3caf1f669d40b9d0bbb69ff",
        )
    },
    licence="CC BY-NC-SA 4.0",
    citation="Peterson et al. (2019), Human uncertainty makes classification more robust",
    load=load_cifar10h,
    references=("peterson2019",),
    nouns=Nouns("image", "annotator"),
)
