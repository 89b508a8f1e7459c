"""What is asked of an analysis: which metric, labels and task, and how it is resampled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from equipoise.arrays import (
    InputError,
    choice,
    require_keywords,
    require_number,
    require_whole,
    wrong_type,
)
from equipoise.evaluation import LABELS
from equipoise.evaluation.alignment import ON_MISSING
from equipoise.metrics import Metric, named

Progress = Callable[[int, int], None]
USUAL = "1,000 is usual"


class AnalysisKeywords(TypedDict, total=False):
    """Keywords of every analysis; see `AnalysisOptions`."""

    metric: str | Metric
    labels: str
    task: str | None
    level: float
    replicates: int
    seed: int
    on_missing: str
    progress: Progress | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisOptions:
    """What is asked of an analysis.

    Attributes
    ----------
    metric
        A name such as ``auroc``, or a `Metric`; one that meets draws of an aggregation model
        is refused, because these analyses look at votes.
    labels
        ``soft`` (mean vote) or ``hard`` (strict majority, a tie is negative).
    task
        Which question; None is the only one, or the average over all.
    level
        Level of the intervals.
    replicates, seed
        How many resamples, and from which seed.
    on_missing
        As in `equipoise.evaluation.Settings`.
    progress
        Called as ``progress(done, all)``.
    """

    metric: str | Metric = "auroc"
    labels: str = "soft"
    task: str | None = None
    level: float = 0.95
    replicates: int = 1000
    seed: int = 0
    on_missing: str = "error"
    progress: Progress | None = None

    def __post_init__(self) -> None:
        choice("labels", self.labels, LABELS)
        choice("on_missing", self.on_missing, ON_MISSING)
        require_number("level", self.level, above=0, below=1, do="try 0.95")
        require_whole("replicates", self.replicates, least=2, do=USUAL)
        require_whole("seed", self.seed, do="try 0")
        if not isinstance(self.metric, str | Metric):
            raise wrong_type("metric", self.metric, "the name of one metric", "try 'auroc'")
        if self.task is not None and not isinstance(self.task, str):
            raise wrong_type("task", self.task, "the name of a task", "leave it out")
        if self.progress is not None and not callable(self.progress):
            raise wrong_type("progress", self.progress, "a function, or None", "leave it out")

    @property
    def scored(self) -> Metric:
        """The metric itself."""
        found = named(self.metric) if isinstance(self.metric, str) else self.metric
        if found.labels == "draws":
            raise InputError(
                f"metric {found.name}",
                "votes",
                "draws of an aggregation model",
                "choose a metric of labels, such as auroc or accuracy",
            )
        return found

    def tell(self, done: int, whole: int) -> None:
        """Tell progress, where anyone listens."""
        if self.progress is not None:
            self.progress(done, whole)


def as_options(how: Mapping[str, Any]) -> AnalysisOptions:
    """Check the keywords given by a caller.

    Examples
    --------
    >>> as_options({"metric": "accuracy"}).scored.title
    'accuracy'
    """
    require_keywords(how, [item.name for item in fields(AnalysisOptions)])
    return AnalysisOptions(**how)
