"""A threshold in use: how many items it makes positive, and how models score as it moves.

Where the experts' labels set no threshold, what would follow from it says so.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from equipoise.metrics import Metric
from equipoise.study.analyses.thresholds import (
    ExpertSample,
    Rule,
    Threshold,
    expert_threshold,
)
from equipoise.study.arguments import as_predictions
from equipoise.study.questions.answers import Question, answer
from equipoise.study.questions.label_rules import (
    FACTS,
    REACH,
    called,
    labels_around,
)
from equipoise.study.study import Settings, Study, silent
from equipoise.study.variants import YES_NO, Contest
from equipoise.types import (
    Annotations,
    Column,
    Finding,
    InputError,
    Ints,
    Names,
    PerItem,
    Predictions,
    Report,
    Table,
    as_notices,
    columns,
    count,
    estimate,
    exact_percent,
    percent,
    positions,
    require_number,
    rows_of,
)

NONE = "The experts' labels set no threshold that could be moved."
TERMS = (
    ("Bin", "Items of similar probability; bins are as equal in size as possible."),
    ("Threshold", "The probability from which on an item counts as positive."),
    ("Prevalence", "The share of all items that are positive at a threshold."),
)


class ItemProbabilities(NamedTuple):
    """The probability of every item.

    Attributes
    ----------
    items, values
        Names and probabilities.
    source, model
        Where the probabilities come from, in words, and the model of votes.
    group
        Which group (patient, night) each item belongs to, where that is known.
    """

    items: Names
    values: PerItem
    source: str
    model: str = ""
    group: Ints | None = None


def _prevalence_finding(threshold: Threshold, probabilities: ItemProbabilities) -> Finding:
    """How many items are positive at a threshold, and at its ends."""
    title = "How many items does that make positive?"
    if math.isnan(threshold.value):
        return Finding(key="prevalence", title=title, sentence=NONE, left_out=True)
    whole, ends = len(probabilities.items), [e for e in threshold.interval if not math.isnan(e)]
    at = sorted({*ends, threshold.value})
    positives = np.array([np.sum(called(probabilities.values, t)) for t in at])
    share = dict(zip(at, (positives / whole).tolist(), strict=True))
    here = share[threshold.value]
    low, high = sorted(share[end] for end in ends) if len(ends) == 2 else (math.nan, math.nan)
    written = estimate(here, low, high, lambda share: percent(share, 1))
    table = Table(
        name="prevalence",
        caption="Positive items at the threshold and at the ends of its interval",
        columns=(
            *columns(threshold="number", positives="count"),
            Column("prevalence", "share", "number"),
        ),
        rows=rows_of(
            {}, {"threshold": at}, {"positives": positives, "prevalence": positives / whole}
        ),
        brief=(),
    )
    return Finding(
        key="prevalence",
        title=title,
        sentence=f"At this threshold {count(round(here * whole))} of {count(whole)} items are "
        f"positive ({written}).",
        tables=(table,),
        note="An item is positive when its probability is at least the threshold.",
    )


class ModelsBeside(NamedTuple):
    """Models to score against the labels of each threshold.

    Attributes
    ----------
    predictions, metrics
        The models, and by what they are scored, the first in front.
    reach
        How far the threshold is moved on either side.
    settings
        How they are scored; resamples, seed and level are those of the threshold.
    """

    predictions: Sequence[Predictions] = ()
    metrics: Sequence[str] = ("auroc",)
    reach: float = REACH
    settings: Settings = Settings()


def threshold_report(
    probabilities: ItemProbabilities,
    sample: ExpertSample,
    votes: Annotations,
    rule: Rule | None = None,
    beside: ModelsBeside | None = None,
) -> Report:
    """Set a threshold, and say how many items it makes positive and how models score.

    Parameters
    ----------
    probabilities
        The probability of every item.
    sample, votes
        What was sent to the experts, and what they said.
    rule
        How the threshold is set.
    beside
        Models to score against the labels of each threshold; without any this is left out.

    Examples
    --------
    >>> from equipoise.study.analyses.thresholds import sampling_plan
    >>> items = tuple(f"i{k}" for k in range(40))
    >>> known = ItemProbabilities(items, np.linspace(0, 1, 40), "a model's")
    >>> sample = sampling_plan(known.values, items, bins=4, per_bin=10)
    >>> votes = Annotations(kind="binary", items=sample.items, classes=("no", "yes"),
    ...     annotators=("x", "y"), item=np.repeat(np.arange(40), 2),
    ...     annotator=np.tile([0, 1], 40), label=np.repeat(sample.bin > 1, 2).astype(int))
    >>> threshold_report(known, sample, votes).findings[1].sentence
    'At this threshold 20 of 40 items are positive (50.0% [42.5%, 50.0%]).'
    """
    how, beside = rule or Rule(), beside or ModelsBeside()
    require_number("threshold sweep, reach", beside.reach, above=0, below=1, do="try 0.15")
    threshold = expert_threshold(sample, votes, how)
    findings = [threshold.report(), _prevalence_finding(threshold, probabilities)]
    predictions = as_predictions(beside.predictions) if beside.predictions else []
    models = tuple(dict.fromkeys(prediction.model for prediction in predictions))
    scored: tuple[Metric, ...] = ()
    if models:
        finding, scored = _models_finding(threshold, probabilities, beside)
        findings.append(finding)
    experts = count(threshold.experts, "expert") if threshold.experts else "anonymous experts"
    drawn = sample.report()
    return Report(
        title="From where on is an item positive?",
        scope=f"Probabilities: {probabilities.source}.",
        findings=tuple(findings),
        models=models,
        known=(
            count(len(probabilities.items), "item"),
            f"{count(int(threshold.bin_items.sum()))} labelled by experts",
            experts,
            *([count(len(models), "model")] if models else []),
            count(how.replicates, "resample"),
        ),
        terms=(*TERMS, *((metric.title, metric.definition) for metric in scored)),
        settings=(
            ("Rule", how.name),
            ("Bins", count(len(sample.bin_mean))),
            ("Seed of the sample", str(sample.seed)),
            ("Resamples", count(how.replicates)),
            ("Level of the intervals", exact_percent(how.level)),
            ("Seed", str(how.seed)),
        ),
        notices=sample.notices,
        methods=(f"{drawn.methods} ({probabilities.source})",),
        references=drawn.references,
    )


def _models_finding(
    threshold: Threshold, probabilities: ItemProbabilities, beside: ModelsBeside
) -> tuple[Finding, tuple[Metric, ...]]:
    """Whether the verdict on models depends on the threshold, and by which metrics."""
    centre, items = threshold.value, probabilities.items
    if math.isnan(centre):
        title = "Does the verdict depend on the threshold?"
        return Finding(key="sweep", title=title, sentence=NONE, left_out=True), ()
    names: Names = ()
    group = None
    if probabilities.group is not None:
        codes, group = np.unique(probabilities.group, return_inverse=True)
        names = tuple(map(str, codes.tolist()))
    labels = Annotations(
        kind="binary",
        items=items,
        classes=YES_NO,
        item=np.arange(len(items)),
        label=called(probabilities.values, centre).astype(np.intp),
        groups=names or None,
        group=group,
    )
    settings = replace(
        beside.settings, level=threshold.rule.level, labels="hard", circular="keep"
    )
    try:
        study = Study.of(
            beside.predictions,
            labels,
            metrics=beside.metrics,
            resampling="influence",
            settings=settings,
        )
        contest = Contest.of(study)
    except InputError as error:
        where = f"models, {error.where}"
        raise InputError(where, error.got, error.expected, error.do) from None
    rows = positions(contest.tasks[0].question.items, items, where="probabilities")
    values = [probabilities.values[rows]]
    question = Question(
        key="sweep",
        about="the threshold",
        variants=lambda contest: labels_around(contest, values, centre, beside.reach),
        head="probability at least",
        over="thresholds",
        at="at a threshold of {}",
        reference="the labels of the threshold",
        annotators=False,
        facts=FACTS,
        note="Models are scored against the labels of each threshold, taken as known.",
        methods=f"We scored {count(len(contest.competitors), 'model')} by "
        f"{', '.join(metric.title for metric in study.metrics)} against the labels of "
        f"thresholds up to {beside.reach:g} below and above [@groger2025].",
        references=(
            "groger2025",
            *(key for metric in study.metrics for key in metric.references),
        ),
    )
    found = answer(question, contest, progress=beside.settings.progress or silent)
    notices = (*study.notices, *study.dropped, *found.notices)
    return replace(found, notices=as_notices(notices)).finding(), study.metrics
