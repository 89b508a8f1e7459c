"""Studies whose items and annotators are both drawn anew: the truth is known.

An annotator r sees of item i the latent z_i + w_i'g_r + b_r + noise: b is a leaning, g a taste
in the directions w that items have beside z. A model sees z_i + w_i'u + noise. Models whose u
only differ in direction are equally good, but each suits other annotators. Grades are cuts of
what an annotator sees. Items of one group share half of the variance of everything.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from equipoise import Annotations, Predictions
from equipoise.metrics import named
from equipoise.study.blocks import pair

LEANING, TASTE, NOISE, AIM, BLUR = 0.5, 0.4, 0.8, 0.5, 0.8
EQUAL = 10  # models; one more differs
CUTS = {2: (0.55,), 4: (-0.7, 0.3, 1.2)}
BINARY = ("auroc", "average_precision", "accuracy", "brier_score", "log_score")
GRADES = (
    "accuracy",
    "quadratic_weighted_kappa",
    "ranked_probability_score",
    "brier_score",
    "log_score",
)


@dataclass(frozen=True)
class Design:
    """Who is asked what.

    Attributes
    ----------
    votes
        Votes of an item, fewest and most; () means of all annotators.
    loads
        How unequal annotators' loads are: 0 equal; the r-th has a share of about r^-loads.
    whole
        Whether annotators read whole groups.
    shift
        How much rarer high answers are.
    differ
        How much annotators differ beyond chance; 0 not at all.
    """

    name: str
    items: int
    annotators: int
    votes: tuple[int, ...] = ()
    classes: int = 2
    groups: int = 0
    loads: float = 0.0
    whole: bool = False
    shift: float = 0.0
    differ: float = 1.0

    @property
    def metrics(self) -> tuple[str, ...]:
        """What is measured."""
        return BINARY if self.classes == 2 else GRADES


def study(design: Design, seed: int) -> tuple[Annotations, list[Predictions]]:
    """One study: annotations, and predictions of ten equal models and one that is worse."""
    random = np.random.default_rng(seed)
    group = _groups(random, design)
    items = len(group)
    z, w, latent = _items(random, group)
    codes = _votes(random, design, z, w, group)
    read = _asked(random, design, group)
    at, who = np.nonzero(read)
    names = tuple(f"i{i}" for i in range(items))
    grades = tuple("abcd"[: design.classes])
    annotations = Annotations(
        kind="binary" if design.classes == 2 else "ordinal",
        items=names,
        classes=grades,
        annotators=tuple(f"r{r}" for r in range(design.annotators)),
        item=at,
        annotator=who,
        label=codes[at, who],
        groups=tuple(f"g{g}" for g in range(design.groups)) if design.groups else None,
        group=group if design.groups else None,
    )
    predictions = [
        Predictions(f"m{k:02d}", names, p, () if design.classes == 2 else grades)
        for k, p in enumerate(_predicted(design, x) for x in latent)
    ]
    return annotations, predictions


def _groups(random: Any, design: Design) -> Any:
    if not design.groups:
        return np.arange(design.items)
    size = random.dirichlet(np.full(design.groups, 3.0))
    more = random.choice(design.groups, design.items - design.groups, p=size)
    return np.sort(np.concatenate([np.arange(design.groups), more]))


def _mixed(random: Any, group: Any, *more: int) -> Any:
    """Standard normal, shared in part by the items of a group."""
    alone = random.standard_normal((len(group), *more))
    if len(group) == group[-1] + 1:
        return alone
    return (random.standard_normal((group[-1] + 1, *more))[group] + alone) / np.sqrt(2)


def _items(random: Any, group: Any) -> tuple[Any, Any, Any]:
    """What items are like, and what the models see of them, (models, items)."""
    z, w, shared = _mixed(random, group), _mixed(random, group, 2), _mixed(random, group)
    angle = 2 * np.pi * np.arange(EQUAL + 1) / EQUAL
    toward = AIM * np.stack([np.cos(angle), np.sin(angle)])
    blur = np.append(np.full(EQUAL, BLUR), 1.5 * BLUR)
    own = np.stack([_mixed(random, group) for _ in range(EQUAL + 1)])
    return z, w, z + (w @ toward).T + blur[:, None] * (shared + own) / np.sqrt(2)


def _votes(random: Any, design: Design, z: Any, w: Any, group: Any) -> Any:
    """What every annotator would say of every item."""
    lean = design.differ * LEANING * random.standard_normal(design.annotators)
    taste = design.differ * TASTE * random.standard_normal((2, design.annotators))
    noise = NOISE * _mixed(random, group, design.annotators)
    seen = z[:, None] + w @ taste + lean + noise - design.shift
    return np.searchsorted(CUTS[design.classes], seen)


def _asked(random: Any, design: Design, group: Any) -> Any:
    """Whom every item is shown to, shape (items, annotators)."""
    shape = (group[-1] + 1 if design.whole else len(group), design.annotators)
    if not design.votes:
        return np.ones((len(group), design.annotators), dtype=bool)
    weight = np.arange(1, design.annotators + 1) ** -design.loads
    key = random.exponential(size=shape) / weight
    number = random.integers(design.votes[0], design.votes[-1] + 1, shape[0])
    read = np.argsort(np.argsort(key, axis=1), axis=1) < number[:, None]
    return read[group] if design.whole else read


def _predicted(design: Design, latent: Any) -> Any:
    """Probability of the positive class, or of every grade."""
    below = [ndtr(cut + design.shift - 0.8 * latent) for cut in CUTS[design.classes]]
    if design.classes == 2:
        return 1 - below[0]
    edges = np.stack([np.zeros_like(latent), *below, np.ones_like(latent)], axis=1)
    return np.diff(edges, axis=1)


def truth(design: Design, *, panels: int = 400, items: int = 10_000, batches: int = 10) -> Any:
    """Expected values in large studies, of equal models and the worse: (metrics, labels, 2).

    Items are many, panels are drawn anew as large as the design has them: majorities, and soft
    AUROC a little, depend on the number of votes.
    """
    total, each = 0.0, panels // batches
    for random in (np.random.default_rng([3, seed]) for seed in range(batches)):
        alone = np.arange(items)
        z, w, latent = _items(random, alone)
        shares = [np.empty((items, each)) for _ in range(design.classes)]
        for panel in range(each):
            codes, read = _votes(random, design, z, w, alone), _asked(random, design, alone)
            for k in range(design.classes):
                shares[k][:, panel] = ((codes == k) & read).sum(axis=1) / read.sum(axis=1)
        total = total + _scored(design, latent, shares) / batches
    return total


def _scored(design: Design, latent: Any, shares: list[Any]) -> Any:
    """Mean over panels, (metrics, labels, 2)."""
    chosen = shares[1:] if design.classes == 2 else shares
    counts = np.ones(shares[0].shape, dtype=np.uint8)
    out = np.empty((len(design.metrics), 2, 2))
    models = [[_predicted(design, latent[k]) for k in ks] for ks in ((0, EQUAL // 2), (EQUAL,))]
    for k, metric in enumerate(map(named, design.metrics)):
        whole = metric.labels == "distribution"
        for label, block in enumerate(pair(chosen, counts, whole=whole)):
            for place, some in enumerate(models):
                given = [_whole(p) if whole else p for p in some]
                values = [metric.finish(metric.reduce(metric.prepare(p), block)) for p in given]
                out[k, label, place] = np.mean(values)
    return out


def _whole(predicted: Any) -> Any:
    return np.stack([1 - predicted, predicted], 1) if predicted.ndim == 1 else predicted


def seeds(design: Design, studies: int) -> Iterator[int]:
    """Seeds of a design's studies; adding a design changes no other's."""
    base = sum(ord(letter) * 31**k for k, letter in enumerate(design.name)) % 2**32
    return iter(np.random.SeedSequence(base).generate_state(studies).tolist())
