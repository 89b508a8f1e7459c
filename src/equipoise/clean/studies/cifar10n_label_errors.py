"""CIFAR-10N: 10,000 CIFAR-10 training images with three human labels each, and two questions.

The data answer two questions that are easily taken for one another:

- ``cifar10n-wrong-labels``: an image carries the aggregate label of its three human readers; is
  that label wrong? The truth is known: it is wrong where it differs from the label of CIFAR-10.
- ``cifar10n-disagreement``: an image carries the label of CIFAR-10; do people disagree with it?
  Each of the three human labels is a vote, yes where it differs. The three columns of labels
  are slots, not persons, so that votes are anonymous.

Embeddings are features of EfficientNet-Lite2 at 128 pixels (1280, not normalised).

**Table 1 of CleanPatrick on CIFAR-10N**, and which of the two questions its figures answer.

The table's share of problems, 9.1 %, is that of human aggregate labels which differ from the
label of CIFAR-10. Two questions have just these positives: A, an image carries the human
label, is it wrong? B, an image carries the label of CIFAR-10, do people disagree with it?
Only what the detectors are given differs. Both are recomputed, on 10,000 of the 50,000 images
and with features of another network than the paper's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from equipoise.clean.collection import Collection, JudgedCollection, known_truth
from equipoise.clean.detector import Detector
from equipoise.clean.detectors import DETECTORS
from equipoise.clean.images import ArrayImages
from equipoise.datasets import File, Source, fetched
from equipoise.datasets.reproduce import Reproduction, silent
from equipoise.study import evaluate
from equipoise.types import Annotations, Ints, Names, Nouns, Progress, immutable, numbers

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


@immutable(eq=False)
class Cifar10N:
    """The images with everything that was said of them.

    Attributes
    ----------
    seen
        Images by their numbers in the CIFAR-10 training set, embeddings, labels of CIFAR-10.
    aggregate
        Labels of the majority of three people (one of theirs at random where all three differ),
        shape (items,).
    slots
        The three human labels, shape (items, 3).
    """

    seen: Collection
    aggregate: Ints
    slots: Ints

    @property
    def clean(self) -> Ints:
        """Labels of CIFAR-10, shape (items,)."""
        assert self.seen.labels is not None
        return self.seen.labels

    def known_errors(self) -> Annotations:
        """Which aggregate labels are wrong, as known truth."""
        return known_truth(self.seen.items, np.asarray(self.aggregate != self.clean))

    def subset(self, places: Ints) -> "Cifar10N":
        """Some images."""
        return Cifar10N(self.seen.subset(places), self.aggregate[places], self.slots[places])


def load_cifar10n() -> Cifar10N:
    """Read images, labels and features, put together by the number of the image."""
    folder = fetched(SOURCE)
    with np.load(folder / "images_10k.npz", allow_pickle=False) as archive:
        columns: Mapping[str, Ints] = {
            name: archive[name].astype(np.int64)
            for name in ("clean_label", "aggre_label", "worker_labels", "index")
        }
        images, classes = archive["images"], tuple(map(str, archive["class_names"]))
    with np.load(folder / "features_10k.npz", allow_pickle=False) as archive:
        place = {number: row for row, number in enumerate(archive["index"].tolist())}
        features = archive["features"].astype(np.float32)
    numbers = columns["index"].tolist()
    seen = Collection(
        items=tuple(map(str, numbers)),
        embeddings=features[[place[number] for number in numbers]],
        images=ArrayImages(images),
        labels=columns["clean_label"],
        classes=classes,
    )
    return Cifar10N(seen, columns["aggre_label"], columns["worker_labels"])


def wrong_labels() -> JudgedCollection:
    """Question A: which human labels are wrong?"""
    data = load_cifar10n()
    seen = replace(data.seen, labels=data.aggregate)
    question = "which human labels are wrong?"
    return _study("wrong-labels", question, seen, data.known_errors())


def disagreement() -> JudgedCollection:
    """Question B: on which images do people disagree with the label of CIFAR-10?

    The truth are three anonymous votes per image.
    """
    data = load_cifar10n()
    differs = data.slots != data.clean[:, None]
    votes = Annotations(
        kind="binary",
        items=data.seen.items,
        classes=("no", "yes"),
        item=np.repeat(np.arange(len(differs)), differs.shape[1]),
        label=differs.ravel().astype(np.int64),
    )
    question = "on which images do people disagree with the label?"
    return _study("disagreement", question, data.seen, votes)


def _study(name: str, question: str, seen: Collection, votes: Annotations) -> JudgedCollection:
    return JudgedCollection(
        name=f"cifar10n-{name}",
        title=f"CIFAR-10N: {question}",
        collection=seen,
        truths={"label_errors": votes},
        source=SOURCE,
        nouns=SOURCE.nouns,
    )


QUESTIONS = ("A: wrong labels", "B: disagreement")
METRICS = ("auroc", "average_precision")
SEED = 0
TOLERANCE = 5.0  # points: another network's features, a fifth of the images


_BY_NAME = {detector.name: detector for detector in DETECTORS}
_CONFIDENT = _BY_NAME["confident_learning_self_confidence"]
METHODS: Mapping[str, Detector] = {
    "confident learning, AdaBoost": _CONFIDENT.with_settings(classifier="adaboost"),
    "NoiseRank": _BY_NAME["noise_rank"],
    "SelfClean": _BY_NAME["selfclean_label_errors"],
    "kNN disagreement": _BY_NAME["knn_disagreement"],
    "confident learning, logistic regression": _CONFIDENT,
}
PUBLISHED: Mapping[str, tuple[float, float]] = {  # AUROC and average precision in the table
    "confident learning, AdaBoost": (55.5, 11.0),
    "NoiseRank": (57.3, 11.1),
    "SelfClean": (61.1, 13.4),
}


def reproduce(tell: Progress = silent, *, data: Cifar10N | None = None) -> Reproduction:
    """Run five detectors on both questions; `data` for fewer images."""
    data = load_cifar10n() if data is None else data
    rows = [row for place in range(len(QUESTIONS)) for row in _recomputed(data, place, tell)]
    ends = tuple(f"{metric}_{end}" for metric in METRICS for end in ("low", "high"))
    return Reproduction(
        title=f"CIFAR-10N label errors, {len(data.seen):,} images, in per cent",
        source="Gröger et al., CleanPatrick: A Benchmark for Image Data Cleaning, Table 1, "
        "columns CIFAR-10N",
        keys=("question", "method"),
        columns=(*METRICS, *ends),
        rows=rows,
        published={
            (question, name): dict(zip(METRICS, PUBLISHED[name], strict=True))
            for question in QUESTIONS
            for name in METHODS
            if name in PUBLISHED
        },
        tolerance=TOLERANCE,
        notes=_notes(rows, float(100 * (data.aggregate != data.clean).mean())),
        formats=dict.fromkeys((*METRICS, *ends), (".1f", ".1f")),
        figures=len(METRICS) * len(PUBLISHED.keys() & METHODS.keys()),
    )


def _recomputed(data: Cifar10N, place: int, tell: Progress) -> list[dict[str, str | float]]:
    """The rows of one question."""
    seen = replace(data.seen, labels=(data.aggregate, data.clean)[place])
    predictions = []
    for number, (name, detector) in enumerate(METHODS.items()):
        tell(place * len(METHODS) + number, len(QUESTIONS) * len(METHODS))
        scores = detector.score(seen, seed=SEED)
        predictions.append(replace(scores, model=name, task=""))
    truth = data.known_errors()
    table = evaluate(predictions, truth, metrics=METRICS).table()
    estimates = {(row.model, row.metric): row for row in table if row.labels == "hard"}
    rows = []
    for name in METHODS:
        row: dict[str, str | float] = {"question": QUESTIONS[place], "method": name}
        for metric in METRICS:
            estimate = estimates[name, metric]
            row[metric] = 100 * estimate.value
            row[f"{metric}_low"] = 100 * estimate.low
            row[f"{metric}_high"] = 100 * estimate.high
        rows.append(row)
    return rows


def _notes(rows: Sequence[Mapping[str, str | float]], share: float) -> Names:
    """Which question the published figures answer, and what differs from the paper."""
    apart = {
        question: [
            abs(float(row[metric]) - figure)
            for row in rows
            if row["question"] == question and row["method"] in PUBLISHED
            for metric, figure in zip(METRICS, PUBLISHED[str(row["method"])], strict=True)
        ]
        for question in QUESTIONS
    }
    near = min(QUESTIONS, key=lambda question: sum(apart[question]))
    far = next(question for question in QUESTIONS if question != near)
    near_by, far_by = numbers.number(max(apart[near]), 1), numbers.number(max(apart[far]), 1)
    return (
        f"The published table answers question {near}: its figures lie within {near_by} "
        f"points of ours there, and up to {far_by} points from ours on question {far}.",
        "A: an image carries the human aggregate label, is it wrong? B: it carries the label "
        "of CIFAR-10, do people disagree with it? Positives are the same images, where the "
        f"two labels differ ({numbers.number(share, 1)} % here, 9.1 % in the paper); only "
        "what detectors are given differs.",
        f"Tolerance: {TOLERANCE:g} points, because features come from EfficientNet-Lite2 at "
        "128 pixels instead of the paper's vision transformer, and images are 10,000 of "
        "50,000.",
        "Intervals are of 95 %, over images. Confident learning ranks by self-confidence.",
    )
