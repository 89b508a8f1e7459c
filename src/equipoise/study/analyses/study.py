"""Study: everything that an analysis of a whole study needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from equipoise.inference.resampling import Resampling, resample, usual_replicates
from equipoise.metrics import DEFAULT, Metric
from equipoise.study import LABELS, Evaluation, Settings, Thresholds
from equipoise.study.analyses.options import AnalysisKeywords, ResamplingKeywords
from equipoise.types.annotations import Annotations
from equipoise.types.arrays import InputError, choice, short_repr
from equipoise.types.predictions import Predictions

if TYPE_CHECKING:
    from equipoise.study.analyses.subgroups import Attributes

Progress = Callable[[int, int], None]
MOST = 1000  # resamples that are made when nobody says


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """How a study is looked at.

    Attributes
    ----------
    metrics
        Names of metrics, or metrics; analyses of a single metric take the first.
    labels
        ``soft`` or ``hard``; rankings and choices of aggregation show both.
    replicates, seed, level, on_missing, ties, circular
        As in `evaluate`; by default 1,000 resamples, fewer for more than 20,000 items.
    attributes
        What is known of the items beside their labels, for subgroups.
    only
        Names of analyses; empty is all.
    thresholds
        By which metrics of decisions decide, as in `equipoise.study.Settings`.
    most
        Size at which the search for flips ends.
    progress
        Called as ``progress(done, all)``.
    base
        How the study was evaluated; None is by `level`, `on_missing` and `ties` alone.
    """

    metrics: Sequence[str | Metric] = DEFAULT
    labels: str = "soft"
    replicates: int | None = None
    seed: int = 0
    level: float = 0.95
    on_missing: str = "error"
    ties: str = "half"
    circular: str = "error"
    attributes: "Attributes | None" = None
    only: Sequence[str] = ()
    thresholds: Thresholds | None = None
    most: int = 50
    progress: Progress | None = None
    base: Settings | None = None

    def __post_init__(self) -> None:
        choice("stability, labels", self.labels, LABELS)
        if not self.metrics:
            raise InputError("stability", "no metric", "at least one", "try auroc")
        if self.replicates is not None and self.replicates < 1:
            raise InputError(
                "stability", f"{self.replicates} replicates", "at least 1", "1000 is usual"
            )

    @property
    def settings(self) -> Settings:
        """What evaluations of the study share; its predictions have their thresholds."""
        if self.base is not None:
            return self.base
        return Settings(
            level=self.level,
            on_missing=self.on_missing,
            ties=self.ties,
            circular=self.circular,
        )

    def number(self, items: int) -> int:
        """How many resamples are made of so many items."""
        return self.replicates or min(MOST, usual_replicates(items, "items"))

    def plan(self, annotations: Annotations, kind: str | None = None) -> Resampling:
        """What is resampled; without a kind, what fits the annotations."""
        number = self.number(len(annotations.items))
        return resample(annotations, kind, replicates=number, seed=self.seed)


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """Models and votes, what was asked, and the evaluation that analyses start from.

    Attributes
    ----------
    predictions, annotations, options
        What models and annotators say, and what was asked.
    evaluation
        The models on these annotations; what it says of them, every analysis says.
    tell
        Called as ``tell(done, all)`` within the analysis.
    """

    predictions: tuple[Predictions, ...]
    annotations: Annotations
    options: StudyOptions
    evaluation: Evaluation
    tell: Progress

    __repr__ = short_repr

    @property
    def replicates(self) -> int:
        """How many resamples there are."""
        return self.evaluation.plan.replicates

    def telling(self, tell: Progress) -> "Study":
        """The same, for an analysis that tells its progress elsewhere."""
        return replace(self, tell=tell)

    @property
    def single(self) -> AnalysisKeywords:
        """Keywords of analyses of one metric, the first."""
        asked = self.options
        return {
            "metric": asked.metrics[0],
            "labels": asked.labels,
            "level": asked.level,
            "replicates": self.replicates,
            "seed": asked.seed,
            "on_missing": asked.on_missing,
            "ties": asked.ties,
            "progress": self.tell,
        }

    @property
    def resampled(self) -> ResamplingKeywords:
        """Keywords of analyses that evaluate again under resampling."""
        asked = self.options
        return {
            "replicates": self.replicates,
            "seed": asked.seed,
            "settings": asked.settings,
            "progress": self.tell,
        }
