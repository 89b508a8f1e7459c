r"""Annotator bootstrap: the same model refitted to other panels of the same people.

Annotators are drawn with replacement, each copy an annotator of its own, and the model is
fitted again; a draw is the fitted distribution. It turns any point model into draws over
plausible truths, :math:`\lambda^{(b)} = \mathrm{model}(\text{panel } b)`, and its average is
better calibrated than a single fit. An item that a panel did not rate keeps the fit to all
annotators. Gold rows stay in every panel.

Examples
--------
>>> from equipoise.truth import mean_vote
>>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
...     annotators=("x", "y"), item=np.array([0, 0]), annotator=np.array([0, 1]),
...     label=np.array([1, 0]))
>>> annotator_bootstrap(mean_vote, votes, draws=200, seed=0).mean.round(1)
array([[0.5, 0.5]])
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from equipoise.scale.engine import current
from equipoise.types import (
    COLUMNS,
    Annotations,
    Floats,
    InputError,
    Ints,
    Names,
    Plausibilities,
    notice,
    refusing_wrong_types,
    require_drawn,
    require_whole,
)


@refusing_wrong_types
def annotator_bootstrap(
    model: Callable[..., Plausibilities],
    annotations: Annotations,
    *,
    draws: int = 40,
    seed: int = 0,
    task: str = "",
) -> Plausibilities:
    """Draws of a model over panels of resampled annotators.

    Parameters
    ----------
    model
        Any aggregation model ``model(annotations, task=...)``; set its parameters with
        `functools.partial`.
    draws, seed
        How many panels, and from which seed.
    """
    require_drawn("annotator_bootstrap, draws", draws, least=1)
    require_whole("annotator_bootstrap, seed", seed)
    people: Ints = np.zeros(0, dtype=np.intp)  # none where votes are anonymous
    if annotations.annotator is not None:
        rows = annotations.opinions(task)
        people = np.unique(annotations.annotator[rows])
    if len(people) < 2:
        raise InputError(
            "annotator_bootstrap",
            f"{len(people)} annotators with ids",
            "at least two annotators with ids",
            "choose a model of counts instead",
        )
    whole = model(annotations, task=task)
    random = np.random.default_rng(seed)
    panels = [people[random.integers(0, len(people), len(people))] for _ in range(draws)]
    refits = current().map(partial(_refit, model, annotations, task, whole.items), panels)
    stuck = sum(not converged for _, _, converged in refits)
    values = np.repeat(whole.mean[None], draws, axis=0)
    for number in reversed(range(draws)):
        places, mean, _ = refits.pop()  # and let go of it: all draws are held once
        values[number][places] = mean
    truth = Plausibilities.dense(
        values,
        items=whole.items,
        classes=whole.classes,
        method=f"annotator bootstrap of {whole.method} ({draws} draws)",
    )
    text = "{stuck:count} of {draws:count} refits did not converge."
    caution = notice("refits_not_converged", text, stuck=stuck, draws=draws)
    return replace(
        truth,
        model="annotator_bootstrap",
        task=task,
        parameters={**whole.parameters, "draws": draws, "seed": seed},
        diagnostics={"whole": dict(whole.diagnostics)},
        skills=whole.skills,
        difficulty=whole.difficulty,
        ordered=whole.ordered,
        notices=(*whole.notices, caution) if stuck else whole.notices,
    )


def _refit(
    model: Callable[..., Plausibilities],
    annotations: Annotations,
    task: str,
    items: Names,
    chosen: Ints,
) -> tuple[Ints, Floats, bool]:
    """Fit a drawn panel; say that it was one if the model cannot take it.

    Returns the places of its items among all, their distributions, and whether it converged.
    """
    try:
        part = model(_panel(annotations, chosen, task), task=task)
    except InputError as error:
        raise InputError(
            f"annotator_bootstrap, a drawn panel: {error.where}",
            error.got,
            error.expected,
            "the model needs more than some panels of these annotators give; choose another",
        ) from error
    place = {name: number for number, name in enumerate(items)}
    places = np.array([place[name] for name in part.items], dtype=np.intp)
    return places, part.mean, part.diagnostics.get("converged") is not False


def _panel(annotations: Annotations, chosen: Ints, task: str) -> Annotations:
    """Annotations of a drawn panel; gold rows stay, copies are people of their own."""
    assert annotations.annotator is not None and annotations.annotators is not None
    rows, gold = annotations.in_task(task), annotations.gold
    gold_places, votes = np.flatnonzero(gold & rows), np.flatnonzero(~gold & rows)
    votes = votes[np.argsort(annotations.annotator[votes], kind="stable")]
    ends = np.searchsorted(annotations.annotator[votes], [chosen, chosen + 1])
    size = ends[1] - ends[0]
    copy = np.repeat(np.arange(len(chosen)), size)
    inside = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    keep = np.concatenate([gold_places, votes[np.repeat(ends[0], size) + inside]])
    who = np.concatenate([np.zeros(len(gold_places), dtype=copy.dtype), copy])
    columns = {
        name: getattr(annotations, name)[keep]
        for name in COLUMNS
        if name != "group" and getattr(annotations, name) is not None
    }
    columns["annotator"] = who
    if annotations.reading is not None:
        pair = annotations.reading[keep].astype(np.int64) * (len(chosen) + 1)
        pair += np.concatenate([np.zeros(len(gold_places), dtype=copy.dtype), copy + 1])
        columns["reading"] = np.unique(pair, return_inverse=True)[1]
    names = tuple(
        f"{annotations.annotators[annotator]} #{n}" for n, annotator in enumerate(chosen)
    )
    return replace(annotations, annotators=names, annotator_group=None, **columns)
