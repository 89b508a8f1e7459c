r"""Studies of models next to readers, whose items and readers are drawn anew.

An item is a case (prevalence 0.35) of some evidence u and a feature v. Reader r says yes with
probability :math:`\Phi(k_r u - l_r + t_r v)`: skill k, leaning l and taste t are the reader's,
and a shared taste misleads all alike. A model scores u with noise and a share of v. Items of
one patient share half of the variance of u and v. A design says who reads what.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from equipoise.inference.intervals import simultaneous_widths
from equipoise.inference.reader_contrasts import (
    Gains,
    ReaderContrasts,
    Readings,
    compare_readers,
    decision_gains,
    matched_gains,
)

CASES, APART = 0.35, 1.3  # prevalence, and how far the evidence of cases lies from the rest
LOADS = np.array([1960, 935, 853, 593, 491, 296, 255, 212, 162, 99, 12])
CUT = 0.55
WHO = 25  # panels of readers


@dataclass(frozen=True)
class Panel:
    """Who reads what.

    Attributes
    ----------
    items, readers
        How many.
    votes
        Of an item; 0 means all readers.
    loads
        Whether readers have the loads of `LOADS`, the first reading nearly everything.
    patients
        Groups of items; 0 means none.
    shared
        How much the feature misleads all readers alike; `aligned` is the same of the models.
    aligned
        How much of the feature models see.
    """

    name: str
    items: int
    readers: int
    votes: int = 0
    loads: bool = False
    patients: int = 0
    shared: float = 0.0
    aligned: float = 0.0


PANELS = (
    Panel("200 items, 8 readers", 200, 8),
    Panel("200 items, 5 readers", 200, 5),
    Panel("400 items, 3 of 12 readers", 400, 12, votes=3),
    Panel(
        "1,962 items in 860 patients, 11 readers, 12 to 1,960 reads",
        1962,
        11,
        3,
        loads=True,
        patients=860,
    ),
    Panel("200 items, 8 readers, an error they share", 200, 8, shared=0.6),
    Panel("200 items, 8 readers, an error models share", 200, 8, shared=0.6, aligned=0.6),
)


def readers_of(random: np.random.Generator, panel: Panel) -> Any:
    """Skill, leaning and taste of every reader, (3, readers)."""
    number = panel.readers
    skill = np.exp(0.25 * random.standard_normal(number))
    lean = 0.6 + 0.35 * random.standard_normal(number)
    return np.stack([skill, lean, panel.shared + 0.3 * random.standard_normal(number)])


def draw(
    random: np.random.Generator, panel: Panel, who: Any, models: int = 6, items: int = 0
) -> tuple[Readings, Any]:
    """Readings, and scores of equal models, (models, items)."""
    number = items or panel.items
    group = np.arange(number)
    if panel.patients and not items:
        group = np.sort(
            np.append(
                np.arange(panel.patients),
                random.integers(0, panel.patients, number - panel.patients),
            )
        )

    def mixed() -> Any:
        alone = random.standard_normal(number)
        if group[-1] == number - 1:
            return alone
        return (random.standard_normal(group[-1] + 1)[group] + alone) / np.sqrt(2)

    evidence = APART * (random.random(number) < CASES) + mixed()
    feature = mixed()
    skill, lean, taste = who
    yes = random.random((number, len(skill))) < ndtr(
        np.outer(evidence, skill) - lean + np.outer(feature, taste)
    )
    read = np.ones(yes.shape, bool)
    if panel.votes:
        load = (LOADS / LOADS[0]) ** 1.35 if panel.loads else np.ones(panel.readers)
        key = random.random(yes.shape) ** (1 / load)
        if panel.loads:
            key[:, 0] = 2.0
        read = np.argsort(np.argsort(-key, axis=1), axis=1) < panel.votes
    item, reader = np.nonzero(read)
    noise = 0.9 * random.standard_normal((models, number))
    scores = evidence + panel.aligned * feature + noise
    answer = yes[item, reader][:, None] * 1.0
    return (
        Readings.of_votes(item, reader, group[item], np.ones(len(item)), answer),
        scores,
    )


def contrasts(readings: Readings, scores: Any, readers: int, measure: str) -> ReaderContrasts:
    """Models next to readers; ``balanced`` decides by a cut, ``matched`` has none."""
    gains: list[Gains | None] = []
    for reader in range(readers):
        votes = readings.reader == reader
        item, answer = readings.item[votes], readings.answer[votes, 0]
        truth, values = readings.truth[votes, 0], scores[:, readings.item[votes]]
        if not len(item):
            gains.append(None)
        elif measure == "matched":
            gains.append(matched_gains(values, answer, truth))
        else:
            found = decision_gains((values > CUT) * 1.0, answer, truth)
            gains.append(None if found is None else found[0])
    done = compare_readers([(readings, gains)], len(scores))
    assert done is not None
    return done


def mean_gain(panel: Panel, measure: str, panels: int = 150) -> float:
    """What the mean gain is over panels and items like these."""
    values = []
    for seed in range(panels):
        random = np.random.default_rng([41, seed])
        readings, scores = draw(random, panel, readers_of(random, panel), 3, 2000)
        values.append(contrasts(readings, scores, panel.readers, measure).these.values.mean())
    return float(np.mean(values))


COLUMNS = (
    "readers like these",
    "these readers",
    "leader above, alone",
    "leader above, at once",
    "half width",
)


@cache
def gains_on_many(panel: Panel, measure: str, who: int) -> Any:
    """What a model gains over each reader of a panel on 200,000 items.

    On as few as 10,000 the reader with 12 reads has 60, and the error of what should be covered
    takes three hundredths from the coverage.
    """
    people, gains = readers_of(np.random.default_rng([44, who]), panel), []
    for seed in range(20):
        many = draw(np.random.default_rng([43, who, seed]), panel, people, 1, 10_000)
        gains.append(contrasts(*many, panel.readers, measure).gain[0])
    return np.nan_to_num(np.nanmean(gains, axis=0))


def study_of(panel: Panel, measure: str, seed: int, true: float) -> Any:
    """Of a study: whether intervals cover, and whether the best of equal models is above.

    The columns are those of `COLUMNS`. For these readers there are `WHO` panels of them; what
    their mean is on other items is that on many of them, with the weights of the study.
    """
    done, again = (
        contrasts(*draw(random, panel, readers_of(who, panel)), panel.readers, measure)
        for random, who in (
            [np.random.default_rng([42, seed])] * 2,
            (np.random.default_rng([45, seed]), np.random.default_rng([44, seed % WHO])),
        )
    )
    these = gains_on_many(panel, measure, seed % WHO) @ again.weight
    values = done.these.values
    best = int(values.argmax())
    others = done.like_these.of(0).half_width()
    alone = done.like_these.of(best).half_width()
    return np.array(
        [
            abs(values[0] - true) < others,
            abs(again.these.values[0] - these) < again.these.of(0).half_width(),
            values[best] - alone > true,
            values[best] - simultaneous_widths(done.like_these)[best] > true,
            others,
        ]
    )
