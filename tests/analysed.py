"""A study with what is asked of it, in one call, for tests of reports and analyses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from equipoise.report.answer import analyse_study
from equipoise.study import Settings, Study
from equipoise.study.analyses import calibration_curves, components, panels, scoring
from equipoise.types.findings import Report


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


def panel_size(predictions: Any, votes: Any, **how: Any) -> panels.PanelSize:
    """Panels of the study that keywords ask about."""
    return panels.panel_size(scoring.study_of(predictions, votes, how))


def variance_components(
    predictions: Any, votes: Any, *, labels: str = "soft", **how: Any
) -> components.Components:
    """Components of an evaluation without redraws."""
    asked = {"kind": "influence", "labels": labels, **how}
    study = scoring.study_of(predictions, votes, asked)
    return components.variance_components(study.evaluation, labels)


def calibration(predictions: Any, votes: Any, **how: Any) -> calibration_curves.Calibration:
    """Calibration in the study that keywords ask about."""
    return calibration_curves.calibration(scoring.study_of(predictions, votes, how))
