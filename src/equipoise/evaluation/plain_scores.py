"""Plain scores: one number per item answers yes or no, so that the votes must be yes or no too.

Where votes hold a class more, the message says which, and whether it looks like a slip: a class
with few votes next to the others.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from equipoise.annotations import Annotations
from equipoise.arrays import InputError
from equipoise.predictions import Predictions

SHOWN = 5  # classes that are named
FEW = 0.05  # of the votes for the next class, up to which a class may be a slip


def refuse_plain_scores(
    annotations: Annotations, predictions: Iterable[Predictions], where: str = "annotations"
) -> None:
    """Raise where a model gave one score per item and the votes have more than two classes.

    Parameters
    ----------
    where
        What the annotations are called: the name of their file.
    """
    plain = next((one for one in predictions if not one.classes), None)
    label = annotations.label
    if plain is None or label is None or annotations.kind == "binary":
        return
    counts = np.bincount(label, _weights(annotations), len(annotations.classes))
    held = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code]]
    if len(held) < 3:
        return
    rare, votes = held[-1], [float(one) for one in counts]
    item = annotations.items[int(annotations.item[np.flatnonzero(label == rare)[0]])]
    slip = votes[rare] <= max(1, FEW * votes[held[-2]])
    name = annotations.classes[rare]
    raise InputError(
        where, f"{len(held)} classes ({_told(annotations, held, votes)}; the rarest, {name!r}, "
        f"first for item {item!r})",
        f"two, because the predictions of {plain.model!r} are one score per item",
        (f"if {name!r} is a typo, correct it; else " if slip else "")
        + "give class probabilities, or ask about one class with positive=",
    )  # fmt: skip


def _weights(annotations: Annotations) -> Any:
    return None if annotations.count is None else annotations.count.astype(np.float64)


def _told(annotations: Annotations, held: list[int], votes: list[float]) -> str:
    """Classes with their votes, the most frequent first and the rarest last."""
    named = held if len(held) <= SHOWN else [*held[: SHOWN - 1], held[-1]]
    said = [
        f"{annotations.classes[code]!r} {votes[code]:,.0f} vote{'s' * (votes[code] != 1)}"
        for code in named
    ]
    gap = len(held) - len(named)
    return ", ".join([*said[:-1], *([f"{gap} more"] if gap else []), said[-1]])
