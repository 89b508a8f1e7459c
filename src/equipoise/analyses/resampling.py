"""Resampling: the same evaluation under several kinds of resampling, with one seed.

Which kinds the data allow is asked of `equipoise.resample`; what it refuses becomes a notice.
Ranks and orders are read from replicates as drawn, before their spread was widened, so that
ties stay ties. Annotators without a vote on the items that are scored are nobody's panel: they
are left aside before anybody is drawn.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from equipoise.analyses.options import ResamplingOptions
from equipoise.analyses.words import as_notices
from equipoise.annotations import Annotations
from equipoise.arrays import Floats, InputError, wrong_type
from equipoise.estimate import wilson
from equipoise.evaluation import MACRO, Evaluation, evaluate
from equipoise.evaluation.alignment import align
from equipoise.evaluation.result import narrowed
from equipoise.evaluation.truth import task_truths
from equipoise.metrics import Metric
from equipoise.notices import Notice
from equipoise.plausibilities import Plausibilities
from equipoise.predictions import Predictions
from equipoise.resampling import KINDS, Resampling, normalised, resample

Truths = Annotations | Plausibilities | Sequence[Plausibilities]
JOINT = ("items x votes", "items x panel")
WIDE = Notice(
    "wide_joint_resamples",
    "Items resampled together with votes or annotators err on the wide side, so that an order "
    "looks less stable than it is: resampled items already bring the noise of their votes "
    "along.",
)
REFUSED = "Not resampled by {kind}: {why}."
IDLE = (
    "{idle:count} of {annotators:count} annotators without a vote on the items that are scored "
    "cannot be resampled."
)


def possible_kinds(
    truth: Truths, kinds: Sequence[str] | None, plausibilities: Sequence[Plausibilities] = ()
) -> tuple[dict[str, Truths], list[Notice]]:
    """Kinds of resampling with the truth each of them draws from, and what was refused.

    Parameters
    ----------
    kinds
        Those asked for, refused with an error where the data do not allow them; None is all
        that the data allow, influence apart.
    plausibilities
        Possible truths beside annotations, one per task, for the kinds with posterior.
    """
    some = () if kinds is None else kinds
    many = isinstance(some, Iterable) and not isinstance(some, str)
    if not many or not all(isinstance(one, str) for one in some):
        raise wrong_type("kinds", kinds, f"a list of {', '.join(KINDS)}", "try ['items']")
    asked = KINDS[:-1] if kinds is None else tuple(dict.fromkeys(map(normalised, kinds)))
    if not asked:
        raise InputError("kinds", "none", f"some of {', '.join(KINDS)}", "leave kinds out")
    _first(truth)
    found: dict[str, Truths] = {}
    notices = []
    for kind in asked:
        drawn = plausibilities if plausibilities and kind.endswith("posterior") else truth
        try:
            resample(_first(drawn), kind)
        except InputError as error:
            if kinds is not None:
                raise
            if not (isinstance(drawn, Annotations) and kind.endswith("posterior")):
                values = {"kind": kind, "why": error.got}
                notices.append(Notice("not_resampled", REFUSED, (), values))
            continue
        found[kind] = drawn
    return found, notices


def voting(
    predictions: Sequence[Predictions], annotations: Annotations, on_missing: str
) -> tuple[Annotations, tuple[Notice, ...]]:
    """Annotations of those who voted on the items that are scored, and what was left aside."""
    names, by = annotations.annotators, annotations.annotator
    if names is None or by is None:
        return annotations, ()
    aligned, notices = align(predictions, task_truths(annotations), on_missing=on_missing)
    voted = np.zeros(len(names), dtype=bool)
    for one in aligned:
        if one.question.votes is not None:
            who = one.question.votes.annotator
            voted[who[who >= 0]] = True
    if voted.all() or not voted.any():
        return annotations, ()
    gold = False if annotations.is_gold is None else annotations.is_gold
    keep, number = voted[by] | gold, int((~voted).sum())
    code = np.where(voted, np.cumsum(voted) - 1, 0)[by][keep]
    those = tuple(name for name, yes in zip(names, voted, strict=True) if yes)
    kept = replace(annotations.rows(keep), annotators=those, annotator=code)
    idle = Notice("idle_annotators", IDLE, (), {"idle": number, "annotators": len(names)})
    return kept, as_notices(notices, [idle])


def evaluate_resampled(
    predictions: Iterable[Predictions],
    truth: Truths,
    *,
    metrics: Sequence[str | Metric],
    kind: str,
    options: ResamplingOptions,
) -> Evaluation:
    """Evaluate under one kind of resampling, with as many replicates as under any other."""
    plan = replace(plan_for(truth, kind, options), weights=None, replicates=options.replicates)
    return evaluate(
        predictions, truth, metrics=metrics, resampling=plan, settings=options.settings
    )


def plan_for(truth: Truths, kind: str, options: ResamplingOptions) -> Resampling:
    """One plan over the items of all tasks."""
    parts = [truth] if isinstance(truth, Annotations | Plausibilities) else list(truth)
    items = tuple(dict.fromkeys(name for part in parts for name in part.items))
    plan = resample(_first(truth), kind, replicates=options.replicates, seed=options.seed)
    return replace(plan, items=items)


def _first(truth: Truths) -> Annotations | Plausibilities:
    if isinstance(truth, Annotations | Plausibilities):
        return truth
    expected, do = "annotations, or plausibilities, one per task", "read annotations first"
    if isinstance(truth, str) or not isinstance(truth, Sequence):
        raise wrong_type("truth", truth, expected, do)
    if not truth:
        raise InputError("truth", "nothing", expected, do)
    for part in truth:
        if not isinstance(part, Plausibilities):
            raise wrong_type("truth", part, expected, do)
    return truth[0]


def as_drawn(done: Evaluation) -> Floats:
    """Replicates before their spread was widened, (tasks, metrics, labels, models, replicates).

    Where the value of any model is undefined, so are the replicates of all: models are
    compared on the same tasks or not at all.
    """
    factors = done.widening or (1.0,) * len(done.tasks)
    whole = len(done.tasks) - (done.tasks[-1] == MACRO)
    parts = [narrowed(done.replicates[t], factors[t], done.plan.weights) for t in range(whole)]
    tasks = np.stack(parts)
    lost = np.asarray(np.isnan(done.values).any(axis=-1))[..., None, None]
    if whole < len(done.tasks):
        use = np.broadcast_to(~lost[:whole], tasks.shape)
        number = np.maximum(use.sum(axis=0), 1)
        macro = np.where(use, tasks, 0.0).sum(axis=0) / number
        tasks = np.concatenate([tasks, macro[None]])
    return np.asarray(np.where(lost, np.nan, tasks))


def simulation_interval(share: float, number: int, level: float) -> tuple[float, float]:
    """How far a share of replicates can be off because their number is finite: Wilson's.

    Examples
    --------
    >>> simulation_interval(0.5, 1000, 0.95)
    (0.469, 0.531)
    """
    if not number or np.isnan(share):
        return float("nan"), float("nan")
    return wilson(share * number, number, level)
