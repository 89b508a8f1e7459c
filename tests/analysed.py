"""A study with what is asked of it, in one call, for tests of reports and analyses."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from equipoise.report.answer import analyse_study
from equipoise.study import Settings, Study
from equipoise.study.analyses import calibration_curves, components, fragility, ranking
from equipoise.types import Report


def study_of(
    predictions: Any,
    votes: Any,
    *,
    metrics: Sequence[str] = ("auroc",),
    resampling: Any = None,
    attributes: Any = None,
    **settings: Any,
) -> Study:
    """A study with settings by name."""
    how = Settings(**settings)
    made = Study.of(predictions, votes, metrics=metrics, resampling=resampling, settings=how)
    return replace(made, attributes=attributes)


def of_task(study: Study, task: str) -> Study:
    """One task alone; the votes on the others stay, to tell who is a panel."""
    study.voted.in_task(task)  # refuses an unknown one
    models = tuple(model for model in study.predictions if model.task == task)
    view = study._view({"items", "plan", "task_votes"}, predictions=models)
    view.__dict__["truths"] = tuple(truth for truth in study.truths if truth.task == task)
    return view


def asked_study(predictions: Any, votes: Any, how: Mapping[str, Any]) -> Study:
    """The study that keywords ask about: settings, ``metric``, ``task`` and ``kind``."""
    names = {setting.name for setting in fields(Settings)} & how.keys()
    settings = how.get("settings", Settings())
    own = {"replicates": settings.replicates or 1000} | {name: how[name] for name in names}
    study = Study.of(
        predictions,
        votes,
        metrics=[how["metric"]] if "metric" in how else how.get("metrics", ("auroc",)),
        resampling=how.get("kind"),
        settings=replace(settings, **own),
    )
    return study if "task" not in how else of_task(study, how["task"])


def analysed(
    predictions: Any,
    votes: Any,
    *,
    only: Sequence[str] = (),
    pair: tuple[str, str] | None = None,
    **asked: Any,
) -> Report:
    """The report of a study."""
    return analyse_study(study_of(predictions, votes, **asked), only=only, pair=pair)


def rank_stability(predictions: Any, votes: Any, **how: Any) -> ranking.RankStability:
    """The order of the models of the study that keywords ask about."""
    usual = {"metrics": ("auroc", "average_precision")}
    return ranking.rank_stability(asked_study(predictions, votes, usual | how).evaluation)


def flips(predictions: Any, votes: Any, unit: str = "items", **how: Any) -> fragility.Flips:
    """Flips in the study that keywords ask about."""
    return fragility.flips(asked_study(predictions, votes, how), unit)


def variance_components(
    predictions: Any, votes: Any, *, labels: str = "soft", **how: Any
) -> components.Components:
    """Components of an evaluation without redraws."""
    asked = {"kind": "influence", "labels": labels, **how}
    study = asked_study(predictions, votes, asked)
    return components.variance_components(study.evaluation, labels)


def calibration(predictions: Any, votes: Any, **how: Any) -> SimpleNamespace:
    """Calibration in the study that keywords ask about: numbers by task and model."""
    finding = calibration_curves.analyse(asked_study(predictions, votes, how))
    rows = finding.tables[0].rows
    tasks = len({row["task"] for row in rows})
    numbers = {
        name: np.array([row[name] for row in rows]).reshape(tasks, -1)
        for name in calibration_curves.NUMBERS
    }
    return SimpleNamespace(
        **numbers, rows=lambda: rows, finding=finding.sentence, notices=finding.notices
    )
