"""What a user should be told before trusting a number: thin votes, ties, undefined values."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from equipoise.inference.resampling import Resampling
from equipoise.metrics import Metric, Order, average_precision, tied_share
from equipoise.study.alignment import Aligned
from equipoise.study.blocks import every_class, hard_labels, majority
from equipoise.study.truth import TaskTruth
from equipoise.types import Bools, Floats, Notice, Option, listed, notice

PLUG_IN = ("total_variation", "jensen_shannon", "entropy_correlation")
FEW_ANNOTATORS = 5
FEW_GROUPS = 6
FEW_REPLICATES = 200
TIED = 0.01  # share of tied scores from which ties are worth a word
MOVED = 0.0005  # half a unit of the last printed digit
ROUGH = 0.005  # Monte Carlo error from which more draws are advised


def _plan(kind: str) -> Option:
    """A kind of resampling, as Python and the command line name it."""
    return Option("resample", kind.replace(" ", "-"), python=repr(kind))


def votes_notices(
    truths: Sequence[TaskTruth], plan: Resampling, metrics: Sequence[Metric]
) -> Iterator[Notice]:
    """What there is to say about the votes and the plan; nothing when all is well."""
    yield from _gold_notices(truths)
    yield from _ties_notices(truths, metrics)
    items = sum(len(truth.items) for truth in truths)
    single = sum(truth.single for truth in truths)
    if plan.kind == "votes" and single:
        text = (
            "{single:count} of {items:count} items have a single vote; drawing it again "
            "changes nothing, so resamples differ too little. {plan} counts what the votes "
            "cannot."
        )
        plain = _plan("items")
        yield notice("single_votes", text, single=single, items=items, plan=plain)
    if plan.truth == "panel" and plan.panel_size < FEW_ANNOTATORS:
        text = (
            "The panel has only {annotators:count} {people}: little can be said about others "
            "like them, and shares of resamples are rough."
        )
        people = "annotators" if plan.annotator_group is None else "groups of annotators"
        yield notice("small_panel", text, annotators=plan.panel_size, people=people)
    yield from _plug_in_notices(plan, metrics)
    if plan.over_items and items == len(truths):
        text = "There is a single item: intervals over items mean nothing."
        yield Notice("single_item", text)
    if plan.replicates < FEW_REPLICATES and plan.weights is None:
        text = (
            "Only {replicates:count} replicates: shares of resamples are rough; ask for 1,000 "
            "or more."
        )
        yield notice("few_replicates", text, replicates=plan.replicates)
    groups = 0 if plan.group is None else int(plan.group.max()) + 1
    if plan.over_items and 0 < groups < FEW_GROUPS:
        text = (
            "There are only {groups:count} groups of items: little can be said about others "
            "like them, and intervals are very wide."
        )
        yield notice("few_groups", text, groups=groups)
    if plan.group is not None and not plan.over_items and plan.kind != "influence":
        text = (
            "The groups of items are not used: items are held fixed. {plan} resamples whole "
            "groups."
        )
        yield notice("groups_unused", text, plan=_plan(f"items x {plan.truth}"))


def _gold_notices(truths: Sequence[TaskTruth]) -> Iterator[Notice]:
    """How many items are scored against gold, and how many against votes, by task."""
    for truth in truths:
        if truth.rated:  # results, which nobody judged
            continue
        gold = 0 if truth.votes is None else int(truth.votes.gold.sum())
        values = {"gold": gold, "votes": len(truth.items) - gold}
        if gold == len(truth.items):
            text = (
                "All {gold:count} items are scored by the reference standard; items like these."
            )
            yield notice("gold_truth", text, **values).of(truth.task)
        elif gold:
            text = (
                "{gold:count} items are scored by the reference standard, which annotators do "
                "not make uncertain, the other {votes:count} against their votes."
            )
            yield notice("some_gold", text, **values).of(truth.task)


def is_plug_in(metric: Metric) -> bool:
    """Whether a metric is a distance to the label distribution, which few votes make larger."""
    return metric.name in PLUG_IN or "plug_in" in metric.name


def _plug_in_notices(plan: Resampling, metrics: Sequence[Metric]) -> Iterator[Notice]:
    """Warn of metrics that take the noise of a few votes for disagreement."""
    noisy = [metric.name for metric in metrics if is_plug_in(metric)]
    if not noisy or plan.truth is None:
        return
    text = (
        "{metrics} compare with the label distribution itself: a few votes scatter around it, "
        "which counts as distance, and resampling the {drawn} adds more. Their values are "
        "too pessimistic and their intervals show scatter, not where the value with many "
        "votes lies."
    )
    yield notice("plug_in", text, metrics=listed(noisy), drawn=plan.truth)


_TIES = {
    "half": "they count 1/2 for hard labels",
    "shared": "these classes share them for hard labels",
    "negative": "they count as negative for hard labels",
    "drop": "they are left out for hard labels",
}


def _ties_notices(truths: Sequence[TaskTruth], metrics: Sequence[Metric]) -> Iterator[Notice]:
    """What hard labels make of tied items, and of items without a majority where that counts.

    An item that is tied in several tasks is one item.
    """
    if all(metric.labels == "draws" for metric in metrics) or truths[0].rated:
        return
    ties = truths[0].ties
    items = int((np.bincount(np.concatenate([truth.place for truth in truths])) > 0).sum())
    voted = any(truth.votes is not None for truth in truths)
    several = any(len(truth.classes) > 1 for truth in truths)
    tied = _number_of_items(truths, [truth.tied for truth in truths])
    if tied:
        text = "{tied:count} of {items:count} items have {what}: {how}."
        what = _tied_words(several=several, voted=voted)
        how = _TIES["shared" if several and ties != "drop" else ties]
        yield notice("tied_votes", text, tied=tied, items=items, what=what, how=how)
    open_ = [np.stack(majority(truth.shares)).max(axis=0) == 0 for truth in truths]
    none = _number_of_items(truths, open_)
    if none and several and ties == "negative" and any(m.labels == "classes" for m in metrics):
        text = (
            "{none:count} of {items:count} items have no class with more than half of the "
            "{of}: for hard labels of {metrics} they belong to none."
        )
        names = listed([metric.name for metric in metrics if metric.labels == "classes"])
        of = "votes" if voted else "mass"
        yield notice("no_majority", text, none=none, items=items, of=of, metrics=names)


def _tied_words(*, several: bool, voted: bool) -> str:
    if several:
        return f"several classes with most {'votes' if voted else 'mass'}"
    return "as many votes for as against" if voted else "one half as the mean of the draws"


def _number_of_items(truths: Sequence[TaskTruth], chosen: Sequence[Bools]) -> int:
    """How many items are chosen in any task."""
    places = [truth.place[some] for truth, some in zip(truths, chosen, strict=True)]
    return int((np.bincount(np.concatenate(places)) > 0).sum())


def tie_notices(
    aligned: Sequence[Aligned], orders: Sequence[Sequence[Sequence[Order]]]
) -> Iterator[Notice]:
    """Models whose average precision the rule for ties moves; orders by task, model, class."""
    moved: dict[str, float] = {}
    constant: dict[str, None] = {}
    for task, models in zip(aligned, orders, strict=True):
        truth = task.question.shares
        for (model, scores), model_orders in zip(task.scores.items(), models, strict=True):
            if max(tied_share(order) for order in model_orders) <= TIED:
                continue
            if np.ptp(scores, axis=0).max() == 0 and len(scores) > 1:
                constant[model] = None
                continue
            columns = (scores[:, None] if scores.ndim == 1 else scores).T
            pairs = [(p, s) for p, s in zip(truth, columns, strict=False) if p.sum() > 0]
            both = (
                [average_precision(*pair, ties=how) for how in ("block", "random")]
                for pair in pairs
            )
            far = max((abs(block - random) for block, random in both), default=0.0)
            moved[model] = max(moved.get(model, 0.0), far)
    many = {model: far for model, far in moved.items() if far >= MOVED}
    if constant:
        same = "All scores of {models} are the same: they tell no item from another."
        yield notice("constant_scores", same, models=listed(constant))
    if many:
        text = (
            "Tied scores: the rule for ties moves the average precision of {models} by up to "
            "{most:number} (ties=block unless chosen otherwise)."
        )
        most = max(many.values())
        yield notice("tied_scores", text, most=most, models=listed(many))


def value_notices(
    aligned: Aligned, metrics: Sequence[Metric], values: Floats, labels: Sequence[str]
) -> Iterator[Notice]:
    """Scores of one task, shape (metrics, labels, models), that are undefined or infinite."""
    truth = aligned.question
    text = "{metric} with {labels} labels is undefined: {reason}."
    for k, label in np.argwhere(np.isnan(values).all(axis=2)):
        yield notice(
            "undefined_score",
            text,
            metric=metrics[k].title,
            labels=labels[label],
            reason=_why_undefined(truth, metrics[k], labels[label]),
        ).of(truth.task)
    yield from _undecided_notices(aligned, metrics, values)
    yield from _infinite_notices(aligned, metrics, values, labels)


def _undecided_notices(
    aligned: Aligned, metrics: Sequence[Metric], values: Floats
) -> Iterator[Notice]:
    """Models that decide for one class alone, and have no value where others have one."""
    names, missing = list(aligned.scores), np.isnan(values)
    for k, metric in enumerate(metrics):
        some = missing[k].any(axis=0) & ~missing[k].all(axis=1).any()
        if metric.decides and some.any():
            text = "{metric} is undefined for {models}: some class is never decided for."
            models = listed([names[m] for m in np.flatnonzero(some)])
            message = notice("undefined_decisions", text, metric=metric.title, models=models)
            yield message.of(aligned.question.task)


def _why_undefined(truth: TaskTruth, metric: Metric, labels: str) -> str:
    """Why a score has no value for any model, as far as the truth says."""
    if metric.labels == "classes":
        return missing_classes(truth, labels)
    if metric.labels == "draws":
        _, within, group = metric.name.partition("|")
        if within:
            return f"no item can have its most plausible class where {group}"
        return "no possible truth of any item defines it (orders need two mentioned classes)"
    masses = _distributions(truth, labels)
    if np.allclose(masses, masses[:1]):
        return "all items have the same label"
    if metric.of_class and not masses.sum(axis=0).all():
        return missing_classes(truth, labels)
    if metric.of_class:
        return "a class is decided for no item, or for every item"
    return "labels or predictions do not vary enough between items to define it"


def missing_classes(truth: TaskTruth, labels: str) -> str:
    """Which classes no item, or every item, belongs to."""
    if len(truth.classes) == 1:
        return "every item is positive, or none is"
    mass = (truth.hard if labels == "hard" else truth.shares).sum(axis=1)
    empty = [
        name
        for name, total in zip(truth.classes, mass, strict=True)
        if total <= 0 or total >= len(truth.items)
    ]
    return f"no item, or every item, belongs to class {listed(empty)}"


def _infinite_notices(
    aligned: Aligned, metrics: Sequence[Metric], values: Floats, labels: Sequence[str]
) -> Iterator[Notice]:
    """Models that give no probability to what some items are, which makes a score infinite."""
    truth = aligned.question
    text = (
        "{metric} with {labels} labels{of_task} is infinite, because probability 0 is given to "
        "a class that {some:count} of {items:count} items have ({names})."
    )
    for k, metric in enumerate(metrics):
        if metric.labels != "distribution":
            continue
        for model, infinite in zip(aligned.scores, np.isinf(values[k]).T, strict=True):
            kinds = [labels[int(x)] for x in np.flatnonzero(infinite)]
            if not kinds:
                continue
            impossible = aligned.distributions(model) <= 0
            said = (_distributions(truth, kinds[-1]) > 0) & impossible
            items = [truth.items[i] for i in np.flatnonzero(said.any(axis=1))]
            yield notice(
                "infinite_score",
                text,
                metric=metric.name,
                labels=" and ".join(kinds),
                of_task=f" of task {truth.task!r}" if truth.task else "",
                some=len(items),
                items=len(truth.items),
                names=listed(items),
            ).of(model)


def _distributions(truth: TaskTruth, labels: str) -> Floats:
    """Labels as metrics of whole distributions take them, shape (items, classes)."""
    if labels == "soft":
        return np.stack(every_class(truth.shares), axis=1)
    return np.stack(hard_labels(truth.shares, truth.ties, whole=True), axis=1)


def draw_notices(metrics: Sequence[Metric], errors: Mapping[str, float]) -> Iterator[Notice]:
    """Monte Carlo errors of metrics of draws, by the name of the metric."""
    text = "The Monte Carlo error of its draws is {error:number}."
    rough = "The Monte Carlo error of its draws is {error:number}: raise {more}."
    more = Option("draws", python="the draws of the truth")
    for metric in metrics:
        error = errors.get(metric.name, 0.0)
        if error > ROUGH:
            yield notice("monte_carlo", rough, error=error, more=more).of(metric.name)
        elif error > 0:
            yield notice("monte_carlo", text, error=error).of(metric.name)
