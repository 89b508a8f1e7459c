"""Models: which of them can take some annotations, and how to set one up."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from equipoise.aggregate import CATALOGUE, Chain, normal
from equipoise.annotations import Annotations
from equipoise.arrays import InputError, choice
from equipoise.plausibilities import Plausibilities
from equipoise.wording import AT_LEAST, ONE_CLASS, Option, hint

Model = Callable[..., Plausibilities]

RELIABLE = ("dirichlet", "probabilistic_inverse_rank", "plackett_luce")
OF_PEOPLE = ("dawid_skene", "dawid_skene_ordinal", "glad")
PRIORS = {
    "dirichlet": "a number of at least 0: what every class has without votes",
    "plackett_luce": "iid, notebook, or a positive number",
    "probabilistic_inverse_rank": "paper, full ties or notebook",
}
ROOM = 500_000_000  # bytes of confusion matrices that `recommended` still accepts


@dataclass(frozen=True, slots=True)
class Settings:
    """What a model is told besides the annotations.

    Attributes
    ----------
    threshold
        Where ratings become "at least"; for `normal`, which needs it.
    reliability
        How much a vote is worth; None is the model's own default.
    seed
        Of `plackett_luce`; no other model of the catalogue draws as it is set up here.
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
    if annotations.kind == "interval":
        return ("normal",)
    names = ["dirichlet", "mean_vote", "majority_vote"]
    if annotations.kind == "ranking":
        ranked = ["plackett_luce", "plackett_luce_ml", "probabilistic_inverse_rank"]
        ranked = ranked if annotations.weight is None else ranked[2:]
        return (*([] if gold(annotations) else [*ranked, "inverse_rank"]), *names)
    if _several(annotations) and confusion_bytes(annotations) <= ROOM:
        also = {"ordinal": ["dawid_skene_ordinal"], "binary": ["glad"]}
        names = ["dawid_skene", *also.get(annotations.kind, []), *names]
    return tuple(names)


def recommended(annotations: Annotations) -> tuple[str, str]:
    """The model to start with, and why."""
    name = suitable(annotations)[0]
    why = {
        "plackett_luce": "the annotations are rankings",
        "probabilistic_inverse_rank": "the annotations are rankings with weights",
        "dawid_skene": "annotators are known and differ in how they err",
        "normal": "the annotations are ratings",
    }
    return name, f"{name}, because {why.get(name) or _why_counts(annotations)}."


def _why_counts(annotations: Annotations) -> str:
    """Why no better model than one of counts is recommended."""
    if annotations.kind == "ranking":
        return "gold rows settle first choices, not rankings"
    if annotations.annotators is None:
        return "it is not known who voted"
    if not _several(annotations):
        return "there is only one annotator"
    return (
        f"confusion matrices of {len(annotations.annotators):,} annotators and "
        f"{len(annotations.classes):,} classes would need "
        f"{confusion_bytes(annotations) / 1e9:.1f} GB"
    )


def companions(annotations: Annotations) -> tuple[str, ...]:
    """Models to fit beside the recommended one: where they differ, look before trusting."""
    name = suitable(annotations)[0]
    if name == "dawid_skene":
        also = {"binary": ("glad",), "ordinal": ("dawid_skene_ordinal",)}
        return (*also.get(annotations.kind, ()), "mean_vote")
    return ("inverse_rank",) if name == "plackett_luce" else ()


def model(name: str, annotations: Annotations, settings: Settings | None = None) -> Model:
    """Set up a model: a function of annotations and task.

    Raises
    ------
    InputError
        When a setting has no meaning for this model.
    """
    told = settings or Settings()
    choice("model", name, (*CATALOGUE, "normal"))
    _refuse_annotations(name, annotations)
    _refuse(name, annotations, told)
    how: dict[str, Any] = {}
    if name == "normal":
        how["threshold"] = told.threshold
    if told.reliability is not None:
        how["reliability"] = told.reliability
    if told.prior is not None:
        how["preset" if name == "probabilistic_inverse_rank" else "prior"] = _prior(name, told)
    if name == "plackett_luce":
        how["chain"] = Chain(seed=told.seed)
    made: Model = CATALOGUE.get(name, normal)
    return partial(made, **how) if how else made


def _prior(name: str, told: Settings) -> str | float:
    """A prior as the model takes it: a number, or a word that it knows."""
    prior = told.prior
    assert prior is not None
    try:
        value = float(prior)
    except ValueError:
        value = float("nan")
    number, word = value == value, isinstance(prior, str)
    if number and name != "probabilistic_inverse_rank":
        return value
    if name == "dirichlet" or not word:
        do = "leave it out for the default, or give one of these"
        raise InputError(f"{name}, prior", f"{prior!r}", PRIORS[name], do)
    return prior


def _refuse_annotations(name: str, annotations: Annotations) -> None:
    """Refuse annotations of a kind that the model cannot take, and name one that can."""
    kind, best = annotations.kind, suitable(annotations)[0]
    if name == "normal" and kind != "interval":
        ranked = kind == "ranking"
        numbers = hint(
            ", or read the labels as numbers with {} and say where they become 'at least' "
            "with {}",
            Option("kind", "interval"),
            Option("threshold"),
        )
        raise InputError(
            "normal",
            "rankings" if ranked else f"{kind} labels",
            "ratings",
            hint("choose {}{}", best, "" if ranked else numbers),
        )
    if name != "normal" and kind == "interval":
        raise InputError(
            name,
            "ratings",
            "classes",
            hint(
                "choose normal with {}, or make a yes/no question with {}",
                Option("threshold"),
                AT_LEAST,
            ),
        )
    if name in OF_PEOPLE and kind == "ranking":
        raise InputError(
            name,
            "rankings",
            "one label per vote",
            hint("choose {}, or ask about one class with {}", best, ONE_CLASS),
        )


def _refuse(name: str, annotations: Annotations, told: Settings) -> None:
    """Refuse settings that the model has no use for."""
    for what, owners in (("reliability", RELIABLE), ("prior", tuple(PRIORS))):
        given = getattr(told, what)
        if given is not None and name not in owners:
            raise InputError(
                f"{name}, {what}",
                f"{given}",
                "nothing: it has no such setting",
                f"leave it out, or choose {', '.join(owners[:-1])} or {owners[-1]}",
            )
    if told.threshold is not None and name != "normal":
        raise InputError(
            f"{name}, threshold",
            f"{told.threshold:g}",
            "nothing: it takes classes, not ratings",
            hint(
                "leave it out, or read the file as ratings with {}", Option("kind", "interval")
            ),
        )
    if name == "normal" and told.threshold is None and annotations.value is not None:
        low, high = float(annotations.value.min()), float(annotations.value.max())
        raise InputError(
            "normal, threshold",
            "none",
            f"a number on the scale, here {low:g} to {high:g}",
            hint(
                "say where ratings become 'at least': {} is midway",
                Option("threshold", float(f"{(low + high) / 2:g}")),
            ),
        )
    if told.seed < 0:
        raise InputError(
            f"{name}, seed", f"{told.seed}", "a whole number of at least 0", "0 is the default"
        )


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
    return {name: CATALOGUE[choice("model", name, tuple(CATALOGUE))] for name in models}


def confusion_bytes(annotations: Annotations) -> int:
    """Memory of one confusion matrix per annotator."""
    return len(annotations.annotators or ()) * len(annotations.classes) ** 2 * 8


def gold(annotations: Annotations) -> bool:
    """Whether any truth is known."""
    return annotations.is_gold is not None and bool(annotations.is_gold.any())


def _several(annotations: Annotations) -> bool:
    return annotations.annotators is not None and len(annotations.annotators) > 1
