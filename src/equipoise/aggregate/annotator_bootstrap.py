r"""Annotator bootstrap: the same model refitted to other panels of the same people.

Annotators are drawn with replacement, each copy an annotator of its own, and the model is
fitted again; a draw is the fitted distribution. It turns any point model into draws over
plausible truths, :math:`\lambda^{(b)} = \mathrm{model}(\text{panel } b)`, and its average is
better calibrated than a single fit. An item that a panel did not rate keeps the fit to all
annotators.

Examples
--------
>>> from equipoise.aggregate import mean_vote
>>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
...     annotators=("x", "y"), item=np.array([0, 0]), annotator=np.array([0, 1]),
...     label=np.array([1, 0]))
>>> annotator_bootstrap(mean_vote, votes, draws=200, seed=0).mean.round(1)
array([[0.5, 0.5]])
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from equipoise.annotation_rules import COLUMNS
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, Ints
from equipoise.plausibilities import Plausibilities


def annotator_bootstrap(
    model: Callable[..., Plausibilities],
    annotations: Annotations,
    *,
    draws: int = 40,
    seed: int = 0,
    task: str = "",
) -> Plausibilities:
    """Draws of a model over panels of redrawn annotators.

    Parameters
    ----------
    model
        Any aggregation model ``model(annotations, task=...)``; set its parameters with
        `functools.partial`.
    draws, seed
        How many panels, and from which seed.
    """
    if annotations.annotators is None or len(annotations.annotators) < 2 or draws < 1:
        raise InputError(
            "annotator_bootstrap",
            f"{len(annotations.annotators or ())} annotators, {draws} draws",
            "at least two annotators with ids, and a draw", "choose a model of counts instead",
        )  # fmt: skip
    whole = model(annotations, task=task)
    random = np.random.default_rng(seed)
    values = np.repeat(whole.mean[None], draws, axis=0)
    for number in range(draws):
        chosen = random.integers(0, len(annotations.annotators), len(annotations.annotators))
        _fill(values[number], whole, model(_panel(annotations, chosen), task=task))
    made = Plausibilities.dense(
        values,
        items=whole.items,
        classes=whole.classes,
        method=f"annotator bootstrap of {whole.method} ({draws} draws)",
    )
    return replace(
        made,
        task=task,
        parameters={**whole.parameters, "draws": draws, "seed": seed},
        diagnostics={"whole": dict(whole.diagnostics)},
        skills=whole.skills,
    )


def _panel(annotations: Annotations, chosen: Ints) -> Annotations:
    """Annotations of a drawn panel; gold rows stay, copies get names of their own."""
    assert annotations.annotator is not None and annotations.annotators is not None
    gold = annotations.is_gold
    own = np.zeros(len(annotations), dtype=bool) if gold is None else gold
    rows, who = [np.flatnonzero(own)], [annotations.annotator[own]]
    names = list(annotations.annotators)
    for number, one in enumerate(chosen):
        mine = np.flatnonzero((annotations.annotator == one) & ~own)
        rows.append(mine)
        who.append(np.full(len(mine), len(names) + number))
    names += [f"{annotations.annotators[one]} #{number}" for number, one in enumerate(chosen)]
    keep = np.concatenate(rows)
    kept = {
        name: getattr(annotations, name)[keep]
        for name in COLUMNS
        if name != "group" and getattr(annotations, name) is not None
    }
    kept["annotator"] = np.concatenate(who)
    return replace(annotations, annotators=tuple(names), **kept)


def _fill(values: Floats, whole: Plausibilities, part: Plausibilities) -> None:
    """Write the items that the panel rated."""
    place = {name: number for number, name in enumerate(whole.items)}
    values[[place[name] for name in part.items]] = part.mean
