"""Aggregations: which choices of model and reliability there are, and the truth of each."""

from collections.abc import Sequence
from dataclasses import replace

from equipoise.aggregate import MODELS, model_title
from equipoise.analyses.words import as_notices
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, positions, wrong_type
from equipoise.choosing import Settings, model, suitable
from equipoise.notices import Notice
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


def choice_title(choice: Choice) -> str:
    """A choice as one would say it.

    Examples
    --------
    >>> choice_title(("dirichlet", 0.5)), choice_title(("mean_vote", None))
    ('Dirichlet 0.5', 'mean vote')
    """
    name, reliability = choice
    return model_title(name) + ("" if reliability is None else f" {reliability:g}")


def aggregated(
    annotations: Annotations, name: str, settings: Settings, *, draws: int = 1
) -> tuple[tuple[Plausibilities, ...], list[Notice]]:
    """The truth of every task under one choice, with draws where the model has a law.

    What the fits have to say comes apart from them, of the model and the task it is about.
    """
    fit, title = model(name, annotations, settings), choice_title((name, None))
    truths, notices, known = [], [], {str(note) for note in annotations.notices}
    for task in annotations.tasks:
        truth = fit(annotations, task=task)
        own = [note for note in truth.notices if str(note) not in known]
        about = f"{title} of {task}" if task else title
        notices += [notice.of(about) for notice in as_notices(own)]
        truth = replace(truth, notices=())
        drawn = draws > 1 and truth.law is not None
        truths.append(truth.drawn(draws, seed=settings.seed) if drawn else truth)
    return tuple(truths), notices


def grouped(plan: Resampling, annotations: Annotations) -> Resampling:
    """The same plan, drawing groups of items as wholes where annotations have groups."""
    if annotations.group is None:
        return plan
    rows = positions(plan.items, annotations.items, where="plan, items")
    return replace(plan, group=annotations.group[rows])
