"""Small worlds with a known truth: yes/no votes of a panel, and models of rising noise."""

import numpy as np

from equipoise.types import Annotations, Predictions
from tests.strategies import names

ITEMS, PANEL = 40, 4


def votes(label, tasks=("",), items=ITEMS):
    """Annotations of an array (tasks, items, annotators) of 0 and 1."""
    task, item, annotator = (axis.ravel() for axis in np.indices(label.shape))
    return Annotations(
        kind="binary", items=names(items), classes=("no", "yes"), tasks=tasks,
        annotators=names(label.shape[2], "reader"), item=item, annotator=annotator,
        task=task, label=label.ravel().astype(int),
    )  # fmt: skip


def world(seed=0, tasks=4, models=4, *, sure=False):
    """Votes drawn around a truth, and models that know it less and less."""
    random = np.random.default_rng(seed)
    truth = random.random((tasks, ITEMS))
    chance = np.round(truth) if sure else truth
    label = random.random((tasks, ITEMS, PANEL)) < chance[..., None]
    which = tuple(f"task-{t}" for t in range(tasks)) if tasks > 1 else ("",)
    given = [
        Predictions(
            f"model-{m}", names(ITEMS),
            np.clip(truth[t] + random.normal(0, 0.2 + 0.2 * m, ITEMS), 0, 1), task=task,
        )
        for t, task in enumerate(which)
        for m in range(models)
    ]  # fmt: skip
    return votes(label, which), given
