r"""Choosing: which aggregation models fit the annotations, and how far they can be trusted.

`suitable`, `recommended` and `companions` name models, `model` sets one up, `fitted` fits
several. Everything that is known about a model stands in its record in
`equipoise.truth.MODELS`. `held_out` scores models on votes they have not seen, `disagreement`,
`decisions` and `contested` show where they differ.

Two models decide an item differently when no class is most plausible in both; a tie agrees
with each of its classes.

For held-out votes, (item, annotator) pairs are split into folds; a model fitted to the other
folds gives each vote of a fold a probability. With confusion matrices :math:`\theta` it is
:math:`\sum_k P(\text{item is } k)\,\theta_{a,k,l}`, for GLAD :math:`\mathrm{sigmoid}(\pm E[c_a]
E[b_i])`, else the item's share of l. A probability of zero is minus infinity, never clipped.
Gold rows are never held out.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from equipoise.truth.catalogue import MODELS
from equipoise.truth.model import AggregationModel
from equipoise.truth.ranking_chains import Chain
from equipoise.types import (
    AT_LEAST,
    ONE_CLASS,
    Annotations,
    Bools,
    Floats,
    InputError,
    Ints,
    Names,
    Notice,
    Option,
    Plausibilities,
    choice,
    count,
    hint,
    joined,
    notice,
    refusing_wrong_types,
    vote_counts,
)

Model = Callable[..., Plausibilities]

ROOM = 500_000_000  # bytes of confusion matrices that `recommended` still accepts
MUCH = 0.05  # share of a class decided differently from which on the user is warned
TIE = 1e-9
NAMED = 5  # items to look at first
FOLDS = 5  # of held-out votes
RARE = 10  # items that a class of several must have


@refusing_wrong_types
def suitable(annotations: Annotations) -> Names:
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
    gold = bool(annotations.gold.any())
    return tuple(
        model.name
        for model in sorted(MODELS.values(), key=lambda model: model.rank)
        if annotations.kind in model.suits
        and (model.gold or not gold)
        and (model.weights or annotations.weight is None)
        and (fits or not model.annotators)
    )


@refusing_wrong_types
def recommended(annotations: Annotations) -> tuple[str, str]:
    """The model to start with, and why."""
    name = suitable(annotations)[0]
    why = MODELS[name].because
    if annotations.kind == "ranking" and name == "dirichlet":
        why = "gold rows settle first choices, not rankings"
    return name, f"{name}, because {why}."


@refusing_wrong_types
def companions(annotations: Annotations) -> Names:
    """Models to fit beside the recommended one: where they differ, look before trusting."""
    first, *others = suitable(annotations)
    people = len(annotations.annotators or ())
    return tuple(
        name
        for name in MODELS[first].companions
        if name in others and people >= MODELS[name].least_annotators
    )


@refusing_wrong_types
def model(
    name: str,
    annotations: Annotations,
    *,
    threshold: float | None = None,
    reliability: float | None = None,
    prior: str | float | None = None,
    chain: Chain | None = None,
) -> Model:
    """Set up a model: a function of annotations and task.

    Parameters
    ----------
    threshold
        Where ratings become "at least", for models of ratings, which need it.
    reliability
        How much a vote is worth; None is the model's own default.
    prior
        What is believed without votes, a number or a word; None is the model's own default.
    chain
        Draws, burn-in and seed of models with chains; no other draws as it is set up here.

    Raises
    ------
    InputError
        When a setting has no meaning for this model.
    """
    record = MODELS[choice("model", name, tuple(MODELS))]
    _refuse_annotations(record, annotations)
    _refuse_unused(record, {"reliability": reliability, "prior": prior})
    _refuse_threshold(record, annotations, threshold)
    how: dict[str, Any] = {}
    if record.threshold:
        how["threshold"] = threshold
    if reliability is not None:
        how["reliability"] = reliability
    if prior is not None and record.prior is not None:
        how["prior"] = _prior(record, prior)
    if record.chains and chain is not None:
        how["chain"] = chain
    return partial(record.fit, **how) if how else record.fit


def like(truth: Plausibilities, *, reliability: float | None = None) -> Model:
    """The model with the settings that made a truth, to be fitted again.

    Parameters
    ----------
    reliability
        How much a vote is worth; None is as much as there.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Annotations(kind="binary", items=("a",), classes=("no", "yes"),
    ...     item=np.array([0, 0]), label=np.array([1, 0]))
    >>> truth = MODELS["dirichlet"].fit(votes, reliability=2.0, prior=0.5)
    >>> like(truth)(votes).method == truth.method
    True
    """
    record = MODELS[choice("model", truth.model, tuple(MODELS))]
    facts, how = truth.parameters, dict[str, Any]()
    if record.prior is not None and "prior" in facts:
        how["prior"] = facts["prior"]
    if record.reliability is not None:
        how["reliability"] = facts["reliability"] if reliability is None else reliability
    if record.chains:
        names = ("draws", "burn_in", "thin", "seed")
        how["chain"] = Chain(**{name: facts[name] for name in names if name in facts})
    return partial(record.fit, **how) if how else record.fit


def _prior(record: AggregationModel, prior: str | float) -> str | float:
    """A prior as the model takes it: a number, or a word that it knows."""
    assert record.prior is not None
    try:
        value = float(prior)
    except ValueError:
        value = float("nan")
    if value == value and record.prior.numbers:
        return value
    if not record.prior.words or not isinstance(prior, str):
        do = "leave it out for the default, or give one of these"
        raise InputError(f"{record.name}, prior", f"{prior!r}", record.prior.expected, do)
    return prior


def _refuse_annotations(record: AggregationModel, annotations: Annotations) -> None:
    """Refuse annotations of a kind that the model cannot take, and name one that can."""
    kind = annotations.kind
    if kind in record.kinds:
        return
    best = suitable(annotations)[0]
    if kind == "interval":
        text = "choose {} with {}, or make a yes/no question with {}"
        do = hint(text, best, Option("threshold"), AT_LEAST)
        raise InputError(record.name, "ratings", "classes", do)
    if kind == "ranking" and record.threshold:
        raise InputError(record.name, "rankings", "ratings", f"choose {best}")
    if kind == "ranking":
        do = hint("choose {}, or ask about one class with {}", best, ONE_CLASS)
        raise InputError(record.name, "rankings", "one label per vote", do)
    if record.threshold:
        text = (
            "choose {}, or read the labels as numbers with {} and say where they become 'at "
            "least' with {}"
        )
        do = hint(text, best, Option("kind", "interval"), Option("threshold"))
        raise InputError(record.name, f"{kind} labels", "ratings", do)


def _refuse_unused(
    record: AggregationModel, settings: Mapping[str, float | str | None]
) -> None:
    """Refuse settings that the model has no use for."""
    for what, value in settings.items():
        if value is not None and getattr(record, what) is None:
            owners = [x.name for x in MODELS.values() if getattr(x, what) is not None]
            do = f"leave it out, or choose {joined(owners, 'or')}"
            none = "nothing: it has no such setting"
            raise InputError(f"{record.name}, {what}", f"{value}", none, do)


def _refuse_threshold(
    record: AggregationModel, annotations: Annotations, threshold: float | None
) -> None:
    """Refuse a threshold that the model has no use for, and none where it needs it."""
    where = f"{record.name}, threshold"
    if threshold is not None and not record.threshold:
        ratings = hint(
            "leave it out, or read the file as ratings with {}", Option("kind", "interval")
        )
        none = "nothing: it takes classes, not ratings"
        raise InputError(where, f"{threshold:g}", none, ratings)
    if record.threshold and threshold is None and annotations.value is not None:
        low, high = float(annotations.value.min()), float(annotations.value.max())
        midway = Option("threshold", float(f"{(low + high) / 2:g}"))
        do = hint("say where ratings become 'at least': {} is midway", midway)
        scale = f"a number on the scale, here {low:g} to {high:g}"
        raise InputError(where, "none", scale, do)


@refusing_wrong_types
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
    plain = tuple(name for name, model in MODELS.items() if not model.threshold)
    return {name: MODELS[choice("model", name, plain)].fit for name in models}


def confusion_bytes(annotations: Annotations) -> int:
    """Memory of one confusion matrix per annotator."""
    return len(annotations.annotators or ()) * len(annotations.classes) ** 2 * 8


# ---- where models differ -------------------------------------------------------------------


class Decisions(NamedTuple):
    """How many items two models decide differently.

    Attributes
    ----------
    first, second
        Names of the models.
    items, share
        How many items, and which share of all.
    rarer
        Which share of the items that either gives to the rarer class, that with the fewest
        items by the first model.
    """

    first: str
    second: str
    items: int
    share: float
    rarer: float


@refusing_wrong_types
def disagreement(fits: Mapping[str, Plausibilities]) -> Floats:
    """Largest total variation between any two models' means, shape (items,)."""
    means = [truth.mean for truth in fits.values()]
    gaps = [np.abs(a - b).sum(axis=1) / 2 for a, b in combinations(means, 2)]
    return np.asarray(np.max(gaps, axis=0)) if gaps else np.zeros(len(means[0]))


def differ(first: Plausibilities, second: Plausibilities) -> Bools:
    """Which items two models decide differently, shape (items,)."""
    return np.asarray(~(_tops(first.mean) & _tops(second.mean)).any(axis=1))


def _tops(mean: Floats) -> Bools:
    """Most plausible classes, ties included."""
    return np.asarray(mean >= mean.max(axis=1, keepdims=True) - TIE)


@refusing_wrong_types
def decisions(fits: Mapping[str, Plausibilities]) -> list[Decisions]:
    """Every pair of models with the number of items they decide differently."""
    pairs = []
    for (first, truth), (second, other) in combinations(fits.items(), 2):
        apart = differ(truth, other)
        number, share = int(apart.sum()), float(apart.mean())
        pairs.append(Decisions(first, second, number, share, _of_rarer(truth, other, apart)))
    return pairs


def _of_rarer(first: Plausibilities, second: Plausibilities, apart: Bools) -> float:
    """Of the items that either model gives to the rarer class, the share decided differently.

    The rarer class is that with the fewest items by the first model, of several classes among
    those with at least ten.
    """
    tops = first.mean.argmax(axis=1), second.mean.argmax(axis=1)
    many = np.bincount(tops[0], minlength=len(first.classes))
    able = many >= (1 if len(many) == 2 else RARE)
    if not able.any():
        return float(apart.mean())
    rare = int(np.where(able, many, len(apart) + 1).argmin())
    either = (tops[0] == rare) | (tops[1] == rare)
    return float((apart & either).sum() / either.sum())


@refusing_wrong_types
def contested(fits: Mapping[str, Plausibilities]) -> list[str]:
    """Items that any two models decide differently, the widest gap first."""
    pairs = [differ(truth, other) for truth, other in combinations(fits.values(), 2)]
    if not pairs:
        return []
    apart, names = np.any(pairs, axis=0), next(iter(fits.values())).items
    order = np.argsort(-disagreement(fits), kind="stable")
    return [names[i] for i in order if apart[i]]


def verdict(fits: Mapping[str, Plausibilities]) -> list[Notice]:
    """A warning when models decide more than a few items differently.

    Models that only count votes decide alike, so one of them speaks for all.
    """
    first = next(iter(fits))
    alike = {name for name, record in MODELS.items() if record.decides_as and name != first}
    apart = {name: fit for name, fit in fits.items() if name not in alike}
    pairs = [pair for pair in decisions(apart) if pair.rarer > MUCH]
    if not pairs:
        return []
    size = len(fits[first].items)
    noun = "item" if size == 1 else "items"
    differing = "; ".join(
        f"{pair.first} and {pair.second} decide {count(pair.items)} of {count(size)} {noun} "
        "differently"
        for pair in pairs
    )
    text = "The models disagree: {pairs}. Look first at {items:names}."
    if any({pair.first, pair.second} == {"glad", "dawid_skene"} for pair in pairs):
        text += (
            " GLAD knows no lean to one answer: where annotators lean, dawid_skene does better."
        )
    named = tuple(contested(apart)[:NAMED])
    return [notice("models_disagree", text, pairs=differing, items=named)]


@refusing_wrong_types
def held_out(
    annotations: Annotations,
    models: Iterable[str] | Mapping[str, Model],
    *,
    folds: int = FOLDS,
    seed: int = 0,
    task: str = "",
) -> dict[str, float]:
    """Mean log-likelihood of held-out votes, per vote, for each model.

    Votes on items that have none left to fit are passed over; nan when that leaves nothing.
    """
    single = annotations.label is not None and annotations.rank is None
    if not single or annotations.annotator is None:
        raise InputError(
            "held-out votes",
            f"{annotations.kind} annotations",
            "labels of known annotators",
            "compare what the models decide instead",
        )
    if folds < 2:
        raise InputError("held-out votes", f"{folds} folds", "at least 2", "5 is the default")
    chosen = by_name(models)
    rows, gold = annotations.in_task(task), annotations.gold
    pair = annotations.annotator.astype(np.int64) * len(annotations.items) + annotations.item
    pairs, code = np.unique(pair, return_inverse=True)
    fold = np.random.default_rng(seed).permutation(len(pairs))[code] % folds
    scores: dict[str, list[Floats]] = {name: [] for name in chosen}
    for number in range(folds):
        test = np.flatnonzero(rows & ~gold & (fold == number))
        train = rows & (gold | (fold != number))
        if not len(test) or not train.any():
            continue
        part = annotations.rows(train)
        for name, fit in chosen.items():
            scores[name].append(_log_chance(fit(part, task=task), part, annotations, test))
    return {name: _mean(parts) for name, parts in scores.items()}


def _mean(scores: list[Floats]) -> float:
    """Mean over votes, each counting as often as it was given; columns: log chance, times."""
    if not sum(map(len, scores)):
        return float("nan")
    both = np.concatenate(scores)
    return float(np.average(both[:, 0], weights=both[:, 1]))


def _log_chance(
    truth: Plausibilities, part: Annotations, annotations: Annotations, rows: Ints
) -> Floats:
    """Log chance of each held-out vote whose item was fitted, and how often it was given."""
    assert annotations.label is not None and annotations.annotator is not None
    place = {name: number for number, name in enumerate(truth.items)}
    number = np.array([place.get(annotations.items[i], -1) for i in annotations.item[rows]])
    rows, number = rows[number >= 0], number[number >= 0]
    chance, answer, who = (
        truth.mean[number],
        annotations.label[rows],
        annotations.annotator[rows],
    )
    if truth.skills is not None and truth.skills.confusion is not None:
        value = (chance * truth.skills.confusion[who, :, answer]).sum(axis=1)
    elif truth.skills is not None and truth.difficulty is not None:
        yes = truth.skills.value[who] * _signed_ease(truth, part)[number]
        value = np.exp(-np.logaddexp(0.0, np.where(answer == 1, -yes, yes)))
    else:
        value = chance[np.arange(len(rows)), answer]
    with np.errstate(divide="ignore"):
        return np.stack([np.log(value), vote_counts(annotations, rows)], axis=1)


def _signed_ease(truth: Plausibilities, part: Annotations) -> Floats:
    """E[b] of every item, from its difficulty sigmoid(-mean ability * |E[b]|) and its class."""
    assert truth.skills is not None and truth.difficulty is not None
    assert part.annotator is not None
    ability = np.abs(truth.skills.value)[part.annotator]
    weight = np.where(part.gold | ~part.in_task(truth.task), 0.0, 1.0)
    for column in (part.weight, part.count):
        weight = weight if column is None else weight * column
    mean = max(float((ability * weight).sum() / max(weight.sum(), 1e-300)), 1e-12)
    hard = np.clip(truth.difficulty, 1e-300, 0.5)
    size = (np.log1p(-hard) - np.log(hard)) / mean
    return np.where(truth.mean[:, 1] >= 0.5, size, -size)
