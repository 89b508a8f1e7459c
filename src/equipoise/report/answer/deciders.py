"""Deciders: everybody as decisions at the operating point of a model that only says yes or no.

Such a model has no curve, so that it cannot be compared with scores by their order. The scores
of every other model are cut where as many items of a task are called positive as it calls (the
truth is not looked at), and all are compared as decisions, all pairs of models at once.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from equipoise.report.answer.card import decided_words
from equipoise.report.answer.models import Answer, standings_finding
from equipoise.study.competitors import BALANCED, SENSITIVITY, SPECIFICITY
from equipoise.study.study import Study
from equipoise.study.thresholds import Rule, with_thresholds
from equipoise.types import Annotations, Finding, InputError, Nouns, left_out, percent

KEY = "decisions"


def decider_findings(study: Study, nouns: Nouns) -> Iterator[Finding]:
    """Everybody at the operating point of each model that only decides."""
    for place, decider in enumerate(dict.fromkeys(model.model for model in study.deciders), 1):
        key, title = f"{KEY}-{place}", f"Everybody at the operating point of {decider}"
        try:
            answer = Answer(_cut_as(study, decider).evaluation, study.settings.labels)
        except InputError as error:
            yield left_out(key, title, error)
            continue
        called = np.mean([scores[decider].mean() for scores in answer.evaluation.scores])
        finding, front = standings_finding(answer, nouns), answer.front
        assert finding is not None
        yield replace(
            finding,
            key=key,
            title=title,
            sentence=f"By {front.title}, where {percent(float(called))} of the {nouns.items} "
            f"are called positive as by {decider}, {decided_words(answer, front)}.",
            nav="Decisions",
        )


def _cut_as(study: Study, decider: str) -> Study:
    """Everybody as decisions, scores cut where as many are called positive."""
    own = {model.task: model for model in study.deciders if model.model == decider}
    as_many, cut = Rule("prevalence"), []
    for model in study.predictions:
        called = own[model.task].aligned(model.items)
        threshold = np.asarray(as_many.choose(model.values, called))
        cut.append(replace(model, threshold=threshold))
    view = study.with_competitors((*cut, *study.deciders), deciders=(), used=())
    quick = "influence" if isinstance(study.truth, Annotations) else study.resampling
    view = view.with_metrics((BALANCED, SENSITIVITY, SPECIFICITY))
    return with_thresholds(replace(view, resampling=quick))
