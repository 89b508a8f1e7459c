"""Models: which of them can take some annotations, and how to set one up.

Everything that is known about a model stands in its record in `equipoise.truth.MODELS`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from equipoise.truth import MODELS, AggregationModel, Chain
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, choice
from equipoise.types.plausibilities import Plausibilities
from equipoise.types.words import AT_LEAST, ONE_CLASS, Option, hint, joined

Model = Callable[..., Plausibilities]

ROOM = 500_000_000  # bytes of confusion matrices that `recommended` still accepts


@dataclass(frozen=True, slots=True)
class Settings:
    """What a model is told besides the annotations.

    Attributes
    ----------
    threshold
        Where ratings become "at least", for models of ratings, which need it.
    reliability
        How much a vote is worth; None is the model's own default.
    seed
        Of models with chains; no other draws as it is set up here.
    prior
        What is believed without votes, a number or a word; None is the model's own default.
    """

    threshold: float | None = None
    reliability: float | None = None
    seed: int = 0
    prior: str | float | None = None


def suitable(annotations: Annotations) -> tuple[str, ...]:
    """Names of the models that can take these annotations, the recommended one first.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
    ...     item=np.array([0, 0]), label=np.array([1, 0]))
    >>> suitable(votes)
    ('dirichlet', 'mean_vote', 'majority_vote')
    """
    several = len(annotations.annotators or ()) > 1
    fits = several and confusion_bytes(annotations) <= ROOM
    gold = annotations.is_gold is not None and bool(annotations.is_gold.any())
    return tuple(
        one.name
        for one in sorted(MODELS.values(), key=lambda one: one.rank)
        if annotations.kind in one.suits
        and (one.gold or not gold)
        and (one.weights or annotations.weight is None)
        and (fits or not one.annotators)
    )


def recommended(annotations: Annotations) -> tuple[str, str]:
    """The model to start with, and why."""
    name = suitable(annotations)[0]
    why = MODELS[name].because
    if annotations.kind == "ranking" and name == "dirichlet":
        why = "gold rows settle first choices, not rankings"
    return name, f"{name}, because {why}."


def companions(annotations: Annotations) -> tuple[str, ...]:
    """Models to fit beside the recommended one: where they differ, look before trusting."""
    first, *others = suitable(annotations)
    people = len(annotations.annotators or ())
    return tuple(
        name
        for name in MODELS[first].companions
        if name in others and people >= MODELS[name].least_annotators
    )


def model(name: str, annotations: Annotations, settings: Settings | None = None) -> Model:
    """Set up a model: a function of annotations and task.

    Raises
    ------
    InputError
        When a setting has no meaning for this model.
    """
    chosen = settings or Settings()
    known = MODELS[choice("model", name, tuple(MODELS))]
    _refuse_annotations(known, annotations)
    _refuse_settings(known, annotations, chosen)
    how: dict[str, Any] = {}
    if known.threshold:
        how["threshold"] = chosen.threshold
    if chosen.reliability is not None:
        how["reliability"] = chosen.reliability
    if chosen.prior is not None and known.prior is not None:
        how[known.prior.keyword] = _prior(known, chosen.prior)
    if known.chains:
        how["chain"] = Chain(seed=chosen.seed)
    return partial(known.fit, **how) if how else known.fit


def _prior(known: AggregationModel, prior: str | float) -> str | float:
    """A prior as the model takes it: a number, or a word that it knows."""
    assert known.prior is not None
    try:
        value = float(prior)
    except ValueError:
        value = float("nan")
    if value == value and known.prior.numbers:
        return value
    if not known.prior.words or not isinstance(prior, str):
        do = "leave it out for the default, or give one of these"
        raise InputError(f"{known.name}, prior", f"{prior!r}", known.prior.expected, do)
    return prior


def _refuse_annotations(known: AggregationModel, annotations: Annotations) -> None:
    """Refuse annotations of a kind that the model cannot take, and name one that can."""
    kind = annotations.kind
    if kind in known.kinds:
        return
    best = suitable(annotations)[0]
    if kind == "interval":
        text = "choose {} with {}, or make a yes/no question with {}"
        do = hint(text, best, Option("threshold"), AT_LEAST)
        raise InputError(known.name, "ratings", "classes", do)
    if kind == "ranking" and known.threshold:
        raise InputError(known.name, "rankings", "ratings", f"choose {best}")
    if kind == "ranking":
        do = hint("choose {}, or ask about one class with {}", best, ONE_CLASS)
        raise InputError(known.name, "rankings", "one label per vote", do)
    if known.threshold:
        text = (
            "choose {}, or read the labels as numbers with {} and say where they become 'at "
            "least' with {}"
        )
        do = hint(text, best, Option("kind", "interval"), Option("threshold"))
        raise InputError(known.name, f"{kind} labels", "ratings", do)


def _refuse_settings(
    known: AggregationModel, annotations: Annotations, chosen: Settings
) -> None:
    """Refuse settings that the model has no use for."""
    name, threshold = known.name, chosen.threshold
    for what in ("reliability", "prior"):
        value = getattr(chosen, what)
        if value is not None and getattr(known, what) is None:
            owners = [one.name for one in MODELS.values() if getattr(one, what) is not None]
            do = f"leave it out, or choose {joined(owners, 'or')}"
            none = "nothing: it has no such setting"
            raise InputError(f"{name}, {what}", f"{value}", none, do)
    if threshold is not None and not known.threshold:
        ratings = hint(
            "leave it out, or read the file as ratings with {}", Option("kind", "interval")
        )
        none = "nothing: it takes classes, not ratings"
        raise InputError(f"{name}, threshold", f"{threshold:g}", none, ratings)
    if known.threshold and threshold is None and annotations.value is not None:
        low, high = float(annotations.value.min()), float(annotations.value.max())
        midway = Option("threshold", float(f"{(low + high) / 2:g}"))
        where = hint("say where ratings become 'at least': {} is midway", midway)
        scale = f"a number on the scale, here {low:g} to {high:g}"
        raise InputError(f"{name}, threshold", "none", scale, where)
    if chosen.seed < 0:
        whole = "a whole number of at least 0"
        raise InputError(f"{name}, seed", f"{chosen.seed}", whole, "0 is the default")


def fitted(
    annotations: Annotations, models: Iterable[str] | Mapping[str, Model], task: str
) -> dict[str, Plausibilities]:
    """Fit several models to one task, given by name or set up."""
    chosen = by_name(models)
    return {name: fit(annotations, task=task) for name, fit in chosen.items()}


def by_name(models: Iterable[str] | Mapping[str, Model]) -> dict[str, Model]:
    """Models by name: those of the catalogue as they are, or as they were set up."""
    if isinstance(models, Mapping):
        return dict(models)
    plain = tuple(name for name, one in MODELS.items() if not one.threshold)
    return {name: MODELS[choice("model", name, plain)].fit for name in models}


def confusion_bytes(annotations: Annotations) -> int:
    """Memory of one confusion matrix per annotator."""
    return len(annotations.annotators or ()) * len(annotations.classes) ** 2 * 8
