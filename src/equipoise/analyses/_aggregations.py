"""Aggregations: which choices of model and reliability there are, and the truth of each."""

from collections.abc import Sequence
from dataclasses import replace

from equipoise.aggregate import MODELS
from equipoise.analyses._fit_notices import Said
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, positions, wrong_type
from equipoise.choosing import Settings, model, suitable
from equipoise.plausibilities import Plausibilities
from equipoise.resampling import Resampling

Choice = tuple[str, float | None]


def listed_choices(
    annotations: Annotations, models: Sequence[str] | None, reliabilities: Sequence[float]
) -> list[Choice]:
    """Every model, those with a reliability once for each.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
    ...     item=np.array([0, 0]), label=np.array([1, 0]))
    >>> listed_choices(votes, ["dirichlet", "mean_vote"], (1.0, 2.0))
    [('dirichlet', 1.0), ('dirichlet', 2.0), ('mean_vote', None)]
    """
    if models is not None and (
        isinstance(models, str)
        or not isinstance(models, Sequence)
        or not all(isinstance(one, str) for one in models)
    ):
        raise wrong_type(
            "aggregation models", models, "a list of names", "try ['mean_vote', 'dirichlet']"
        )
    names = suitable(annotations) if models is None else tuple(dict.fromkeys(models))
    worth: tuple[float | None, ...] = tuple(dict.fromkeys(reliabilities)) or (None,)
    reliable = [name for name, known in MODELS.items() if known.reliability is not None]
    found = [
        (name, each) for name in names for each in (worth if name in reliable else (None,))
    ]
    if not found:
        raise InputError("aggregation models", "none", "at least one", "leave models out")
    return found


def worded(choice: Choice) -> str:
    """A choice as one would say it.

    Examples
    --------
    >>> worded(("dirichlet", 0.5)), worded(("mean_vote", None))
    ('dirichlet 0.5', 'mean vote')
    """
    name, worth = choice
    return name.replace("_", " ") + ("" if worth is None else f" {worth:g}")


def aggregated(
    annotations: Annotations, name: str, settings: Settings, *, draws: int = 1
) -> tuple[tuple[Plausibilities, ...], list[Said]]:
    """The truth of every task under one choice, with draws where the model has a law.

    What the fits have to say comes apart from them, with the choice and the task it is about.
    """
    fit = model(name, annotations, settings)
    found, said = [], []
    for task in annotations.tasks:
        one = fit(annotations, task=task)
        own = [str(note) for note in one.notices if str(note) not in annotations.notices]
        said += [Said(worded((name, None)), task, note) for note in own]
        one = replace(one, notices=())
        found.append(
            one.drawn(draws, seed=settings.seed) if draws > 1 and one.law is not None else one
        )
    return tuple(found), said


def grouped(plan: Resampling, annotations: Annotations) -> Resampling:
    """The same plan, drawing groups of items as wholes where annotations have groups."""
    if annotations.group is None:
        return plan
    rows = positions(plan.items, annotations.items, where="plan, items")
    return replace(plan, group=annotations.group[rows])
