"""Study: what methods say of the images of each part, beside what is known of these images.

Parts are ``test``, on which methods are judged; ``val``, on which scores are chosen; ``ood``,
the out-of-distribution images of the test, and ``val_ood``, those of the validation. Labels are
1, 0, -1 where the reader was uncertain, and nan where nothing was said.

Examples
--------
>>> said = Outputs.of(Prediction(np.array([[[0.2, 0.9]], [[0.4, 0.9]]])))
>>> said.mean, sorted(said.scores), said.members
(array([[0.3, 0.9]]), ['AU', 'EU', 'PU'], 2)
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from equipoise.types.arrays import (
    Floats,
    InputError,
    Ints,
    choice,
    frozen,
    listed,
    name_order,
    require_unique,
    short_repr,
)
from equipoise.uq.decomposition import (
    Beta,
    as_members,
    decompose,
    decompose_beta,
    mean_probabilities,
)
from equipoise.uq.training.corruptions import Severity

PARTS = ("test", "val", "ood", "val_ood")
SCORES = ("PU", "AU", "EU", "own")
_ALLOWED = (0.0, 1.0, -1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What one run says of the images of a part.

    Attributes
    ----------
    members
        Probabilities (members, items, classes), (items, classes) of a single member, or `Beta`.
    score
        The method's own score of uncertainty, (items, classes), higher meaning less sure.
    logits
        Whether members are logits in place of probabilities.
    score_is
        ``own``, or ``EU`` where the score is the epistemic part (as the density of DDU), and
        the entropy of the prediction both the total and the aleatoric one.
    """

    members: Any
    score: Any = None
    logits: bool = False
    score_is: str = "own"

    def __post_init__(self) -> None:
        choice("score_is", self.score_is, ("own", "EU"))


@dataclass(frozen=True, slots=True, eq=False)
class Outputs:
    """The prediction and every score of uncertainty, all (items, classes).

    `members` is how many there were; 0 of a distribution in closed form. `own_epistemic` says
    that EU is a score of the method's own, and no part of PU.
    """

    mean: Floats
    scores: Mapping[str, Floats]
    members: int
    own_epistemic: bool = False

    __repr__ = short_repr

    @classmethod
    def of(
        cls, said: Prediction, decomposition: str = "information", where: str = "probs"
    ) -> "Outputs":
        """Decompose what a run says; one member has nothing but its total uncertainty."""
        if isinstance(said.members, Beta):
            mean, number = said.members.mean, 0
            parts = decompose_beta(said.members.a, said.members.b).by(decomposition)
        else:
            members = as_members(said.members, logits=said.logits, where=where)
            number = len(members)
            mean = mean_probabilities(members, logits=said.logits)
            parts = decompose(members, decomposition=decomposition, logits=said.logits)
        known = parts._asdict() if number != 1 else {"PU": parts.PU}
        own = None if said.score is None else _own_score(said.score, mean.shape, where)
        epistemic = own is not None and said.score_is == "EU"
        if own is not None and epistemic:
            entropy = parts.AU if decomposition == "reverse_mi" else parts.PU
            known = {"PU": entropy, "AU": entropy, "EU": own}
        elif own is not None:
            known["own"] = own
        scores = {name: frozen(one) for name, one in known.items()}
        return cls(frozen(mean), scores, number, epistemic)

    def taken(self, order: Ints | None) -> "Outputs":
        """The same of items in another order; None is this one."""
        if order is None:
            return self
        scores = {name: frozen(one[order]) for name, one in self.scores.items()}
        return replace(self, mean=frozen(self.mean[order]), scores=scores)


def _own_score(score: Any, shape: tuple[int, ...], where: str) -> Floats:
    own = np.asarray(score, dtype=np.float64)
    if own.shape != shape or not np.isfinite(own).all():
        got = f"shape {own.shape}" if own.shape != shape else "numbers that are not finite"
        do = "give a number for every item and class, or leave the score out"
        raise InputError(f"{where}, own score", got, f"finite numbers, shape {shape}", do)
    return own


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took: seconds of training and prediction, bytes at most; nan is unknown.

    Training counts what the method stands on, such as the members of an ensemble; `workers` is
    how many trainings shared the device.
    """

    training: float = math.nan
    prediction: float = math.nan
    memory: float = math.nan
    epochs: float = math.nan
    per_epoch: float = math.nan
    workers: float = math.nan


@dataclass(frozen=True, slots=True)
class Corruption(Severity):
    """What other images were made by; `goal` is the fall that was aimed at."""

    goal: float


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One method, architecture and seed: what it says of every part."""

    method: str
    architecture: str
    seed: str
    parts: Mapping[str, Outputs]
    cost: Cost = field(default_factory=Cost)

    __repr__ = short_repr

    @property
    def where(self) -> str:
        """How messages call it."""
        named = [self.method, self.architecture, f"seed {self.seed}" if self.seed else ""]
        return f"predictions of {', '.join(filter(None, named))}"


@dataclass(frozen=True, slots=True, eq=False)
class PartLabels:
    """Images of a part: names, labels (items, classes), and the patient of each, if known.

    Images of ``ood`` may have no labels; nothing looks at them.
    """

    items: tuple[str, ...]
    labels: Floats | None = None
    groups: tuple[str, ...] | None = None

    __repr__ = short_repr


def _in_order(known: PartLabels, order: Ints | None) -> PartLabels:
    """Images in another order; None is this one."""
    if order is None:
        return known
    people = known.groups
    return PartLabels(
        tuple(known.items[k] for k in order.tolist()),
        None if known.labels is None else frozen(known.labels[order]),
        None if people is None else tuple(people[k] for k in order.tolist()),
    )


@dataclass(frozen=True, slots=True, eq=False)
class UncertaintyStudy:
    """Runs and labels that fit each other.

    Attributes
    ----------
    classes
        Names of the labels.
    labels
        By part; ``test`` is always there.
    runs
        Every method, architecture and seed, each once.
    image
        How one score per image is made of those of its labels: mean, max or sum.
    lacking
        Parts that some have and others do not, which are left out for all: by part, who lacks
        them.
    corruptions
        What other images were made by, where that is known.
    """

    classes: tuple[str, ...]
    labels: Mapping[str, PartLabels]
    runs: tuple[Run, ...]
    image: str = "mean"
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    corruptions: tuple[Corruption, ...] = ()

    __repr__ = short_repr

    def __post_init__(self) -> None:
        require_unique(self.classes, where="classes")
        if "test" not in self.labels or self.labels["test"].labels is None:
            do = "give the labels of the test images"
            raise InputError("labels", f"parts {listed(self.labels)}", "the part test", do)
        for part, known in self.labels.items():
            _check_labels(part, known, len(self.classes))
        if not self.runs:
            raise InputError("methods", "none", "at least one", "give a file per method")
        names = [" ".join((one.method, one.architecture, one.seed)) for one in self.runs]
        require_unique(names, where="methods", do="name every run once, or give it its seed")
        for run in self.runs:
            self._check_run(run)

    def by_name(self) -> "UncertaintyStudy":
        """The same with the images of every part in the order of their names."""
        orders = {part: name_order(known.items) for part, known in self.labels.items()}
        moved = {part: order for part, order in orders.items() if order is not None}
        if not moved:
            return self
        labels = {p: _in_order(known, moved.get(p)) for p, known in self.labels.items()}
        runs = [
            replace(run, parts={p: one.taken(moved.get(p)) for p, one in run.parts.items()})
            for run in self.runs
        ]
        return replace(self, labels=labels, runs=tuple(runs))

    def _check_run(self, run: Run) -> None:
        """Refuse a run of another shape, or without a part that others have."""
        missing = [part for part in self.labels if part not in run.parts]
        if missing:
            got = f"nothing for {listed(missing)}"
            do = "predict these images too, or leave the part out of the labels"
            raise InputError(run.where, got, "predictions of every part", do)
        for part, known in self.labels.items():
            found, wanted = run.parts[part].mean.shape, (len(known.items), len(self.classes))
            if found != wanted:
                got = f"{found[0]:,} items and {found[1]:,} classes"
                do = "use the file of labels that the predictions were made with"
                expected = f"{wanted[0]:,} and {wanted[1]:,}, as the labels"
                raise InputError(f"{run.where}, part {part}", got, expected, do)

    @property
    def architectures(self) -> tuple[str, ...]:
        """In the order in which they come."""
        return tuple(dict.fromkeys(run.architecture for run in self.runs))

    def methods(self, architecture: str) -> dict[str, list[Run]]:
        """Runs of every method of an architecture, by their seeds."""
        found: dict[str, list[Run]] = {}
        for run in self.runs:
            if run.architecture == architecture:
                found.setdefault(run.method, []).append(run)
        return {name: sorted(each, key=lambda run: run.seed) for name, each in found.items()}

    def competitors(self) -> list[tuple[str, str, list[Run]]]:
        """Every architecture and method, with its runs."""
        every = [(one, self.methods(one)) for one in self.architectures]
        return [(one, name, runs) for one, each in every for name, runs in each.items()]


def _check_labels(part: str, known: PartLabels, classes: int) -> None:
    where = f"labels, part {part}"
    require_unique(known.items, where=f"{where}, items")
    if known.groups is not None and len(known.groups) != len(known.items):
        got = f"{len(known.groups):,} groups of {len(known.items):,} items"
        raise InputError(where, got, "the group of every item", "align them")
    if known.labels is None:
        return
    if known.labels.shape != (len(known.items), classes):
        got = f"shape {known.labels.shape}"
        expected = f"({len(known.items)}, {classes}): items and classes"
        raise InputError(where, got, expected, "align labels, items and classes")
    odd = ~(np.isin(known.labels, _ALLOWED) | np.isnan(known.labels))
    if odd.any():
        item, label = (int(one) for one in np.argwhere(odd)[0])
        spot = f"{where}, item {known.items[item]!r}, class {label}"
        expected = "1, 0, -1 (uncertain) or nan (blank)"
        raise InputError(spot, f"{known.labels[item, label]:g}", expected, "recode the labels")


def part_labels(
    labels: Any, items: Sequence[str] | None = None, groups: Sequence[Any] | None = None
) -> PartLabels:
    """Labels (items, classes) as a part, with numbers for names where there are none."""
    try:
        if np.iscomplexobj(labels):
            raise TypeError
        array = np.asarray(labels, dtype=np.float64)
    except (TypeError, ValueError):
        got, do = "values that are not numbers", "recode the labels"
        raise InputError("labels", got, "1, 0, -1 or nan", do) from None
    if array.ndim != 2 or 0 in array.shape:
        got, do = f"shape {array.shape}", "add a last axis where there is one label"
        raise InputError("labels", got, "(items, classes)", do)
    names = tuple(map(str, range(len(array)) if items is None else items))
    known = None if groups is None else tuple(map(str, groups))
    return PartLabels(names, frozen(array), known)


def other_images(number: int, test: PartLabels | None, name: str) -> PartLabels:
    """Images without names: those of the test transformed, where they are as many."""
    if test is not None and number == len(test.items):
        return PartLabels(test.items, None, test.groups)
    return PartLabels(tuple(f"{name} {k}" for k in range(number)))
