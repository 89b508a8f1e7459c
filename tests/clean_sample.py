"""A small cleaning study with known problems, and detectors that are quick."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from equipoise import Annotations, InputError
from equipoise.clean import DETECTORS, Collection, Detector, Pairs
from equipoise.clean.collection import JudgedCollection

ITEMS, PAIRS, PEOPLE = 160, 130, 5


def catalogued(name, **hyper):
    """A detector of the catalogue, with some hyper-parameters of its own."""
    return {row.name: row for row in DETECTORS}[name].with_settings(**hyper)


def votes(names, latent, random, people=PEOPLE):
    """Yes or no of several people who lean a little."""
    lean = 0.3 * random.standard_normal(people)
    seen = latent[:, None] + lean + 0.7 * random.standard_normal((len(names), people))
    item, who = (axis.ravel() for axis in np.indices(seen.shape))
    return Annotations(
        kind="binary",
        items=tuple(names),
        classes=("no", "yes"),
        annotators=tuple(f"person {r}" for r in range(people)),
        item=item,
        annotator=who,
        label=(seen > 0.8).astype(np.int64).ravel(),
    )


def clean_study(seed=0):
    """All three tasks; the first columns of the embeddings tell the problems."""
    random = np.random.default_rng(seed)
    hidden = random.standard_normal((3, ITEMS))
    noise = random.standard_normal((ITEMS, 5))
    embeddings = np.column_stack([hidden.T, noise])
    items = tuple(f"image {i:03d}" for i in range(ITEMS))
    labels = random.integers(0, 3, ITEMS)
    labels[:4] = -1
    first = np.arange(0, ITEMS - 1)[:PAIRS]
    pairs = Pairs(first, first + 1)
    keep = first % 3 < 2  # chains of three images
    pairs = Pairs(pairs.first[keep], pairs.second[keep])
    close = (hidden[2][pairs.first] + hidden[2][pairs.second]) / np.sqrt(2)
    return JudgedCollection(
        name="sample",
        title="A sample",
        collection=Collection(
            items=items, embeddings=embeddings, labels=labels, classes=("a", "b", "c")
        ),
        truths={
            "off_topic": votes(items, hidden[0], random),
            "label_errors": votes(items, hidden[1], random),
            "near_duplicates": votes(pairs.names(items), close, random),
        },
        simulated="Problems were planted by a program.",
    )


@dataclass(frozen=True)
class Column(Detector):
    """The value of a column, and noise."""

    name: ClassVar[str] = "column"
    title: ClassVar[str] = "A column"
    task: ClassVar = "off_topic"
    needs: ClassVar = ("embeddings",)
    column: int = 0
    noise: float = 0.0

    def score(self, data, *, seed=0, progress=None):
        random = np.random.default_rng(seed)
        values = data.embeddings[:, self.column]
        if self.task == "near_duplicates":
            values = values[data.pairs.first] + values[data.pairs.second]
            items = data.pairs.names(data.items)
        else:
            items = data.items
        if progress is not None:
            progress(1, 1)
        return self.of_items(items, values + self.noise * random.standard_normal(len(items)))


@dataclass(frozen=True)
class Forest(Column):
    """One that chance has a part in."""

    name: ClassVar[str] = "forest"
    title: ClassVar[str] = "A forest"
    seeded: ClassVar[bool] = True
    noise: float = 0.7


@dataclass(frozen=True)
class Blind(Column):
    """One that sees nothing."""

    name: ClassVar[str] = "blind"
    title: ClassVar[str] = "Blind"
    column: int = 6


@dataclass(frozen=True)
class Broken(Column):
    """One that crashes."""

    name: ClassVar[str] = "broken"
    title: ClassVar[str] = "Broken"

    def score(self, data, **_):
        raise ZeroDivisionError(f"no trees for {len(data)} images")


@dataclass(frozen=True)
class Refusing(Column):
    """One that refuses."""

    name: ClassVar[str] = "refusing"
    title: ClassVar[str] = "Refusing"
    needs: ClassVar = ("images",)


@dataclass(frozen=True)
class Wrong(Column):
    """Finds wrong labels."""

    name: ClassVar[str] = "wrong"
    title: ClassVar[str] = "Wrong labels"
    task: ClassVar = "label_errors"
    column: int = 1
    noise: float = 0.3

    def score(self, data, *, seed=0, progress=None):
        if data.labels is None:
            raise InputError("wrong", "no labels", "labels", "give some")
        return super().score(data, seed=seed, progress=progress)


@dataclass(frozen=True)
class Close(Column):
    """Finds pairs."""

    name: ClassVar[str] = "close"
    title: ClassVar[str] = "Close pairs"
    task: ClassVar = "near_duplicates"
    column: int = 2
    noise: float = 0.4


@dataclass(frozen=True)
class Far(Close):
    """Finds pairs badly."""

    name: ClassVar[str] = "far"
    title: ClassVar[str] = "Far pairs"
    column: int = 5


FAKES = (Column(), Forest(), Blind(), Broken(), Refusing(), Wrong(), Close(), Far())
